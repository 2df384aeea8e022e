// A rehearsal is answered to its end through the page alone, by keyboard.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { BIN, PHONE, Program, accessible, at, closeBrowser, folder, goTo, open, screen, until } from "./harness.mjs";

after(closeBrowser);

/** What the page wants of a person now. */
async function asked(page) {
  return page.evaluate(() => {
    const find = (id) => document.querySelector(`[data-testid="${id}"]`);
    const usable = (id) => {
      const element = find(id);
      return Boolean(element?.checkVisibility()) && element.getAttribute("aria-disabled") !== "true";
    };
    return {
      state: find("campaign-state")?.dataset.state ?? "",
      prompt: find("prompt")?.textContent ?? "",
      number: usable("answer-send"),
      press: usable("confirm"),
      range: find("prompt-range")?.textContent ?? "",
    };
  });
}

/** A number in the middle of what the robot takes for plausible. */
function middle(range) {
  const numbers = (range.match(/-?\d+(\.\d+)?/g) ?? []).map(Number);
  return numbers.length === 2 ? (numbers[0] + numbers[1]) / 2 : (numbers[0] ?? 1);
}

test("a rehearsal is answered to its end through the page alone", { timeout: 600_000 }, async (t) => {
  const out = folder(t);
  const words = ["--plan", "short", "--dashboard", "--nt-port", "0", "--console-port", "0", "--json", "--out", out];
  const robot = new Program(BIN, ["rehearse", ...words]);
  t.after(() => robot.kill());
  const [, url] = await robot.says(/console on (http:\S+)/);
  const page = await open(t, url);
  await until("the campaign", async () => ((await asked(page)).state !== "" ? true : undefined));
  let answers = 0;
  let presses = 0;
  let last = "";
  let shown = false;
  await until(
    "the end",
    async () => {
      const now = await asked(page).catch(() => undefined);
      if (now?.state === "DONE" || robot.over) return true;
      if (now?.number && now.prompt !== last) {
        if (!shown) {
          shown = true;
          await screen(page, "campaign-desk-light");
          await accessible(page, "campaign with a question");
        }
        await at(page, "answer-input").fill(String(middle(now.range)));
        await page.keyboard.press("Enter");
        answers += 1;
        last = now.prompt;
      } else if (now?.press) {
        await at(page, "confirm").focus();
        await page.keyboard.press("Enter");
        presses += 1;
      }
      return undefined;
    },
    560_000,
  );
  assert.equal(await robot.ended, 0, robot.output);
  const told = JSON.parse(robot.stdout);
  assert.equal(told.state, "DONE");
  assert.equal(told.procedures.length, 2);
  assert.ok(answers >= 7 && presses >= 3, `${answers} answers, ${presses} presses`);
  t.diagnostic(`${answers} answers and ${presses} presses for ${told.simulated_secs.toFixed(0)} s of afternoon`);
});

test(
  "what is asked is readable on a phone, dark and light, by a screen reader too",
  { timeout: 120_000 },
  async (t) => {
    const out = folder(t);
    const words = ["--plan", "short", "--dashboard", "--nt-port", "0", "--console-port", "0", "--out", out];
    const robot = new Program(BIN, ["rehearse", ...words]);
    t.after(() => robot.kill());
    const [, url] = await robot.says(/console on (http:\S+)/);
    for (const scheme of ["dark", "light"]) {
      const page = await open(t, url, { viewport: PHONE, scheme, touch: true });
      await until("a prompt", async () => ((await asked(page)).press ? true : undefined));
      await screen(page, `campaign-phone-${scheme}`);
      await accessible(page, `campaign, phone, ${scheme}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `nothing stands out of the phone's width, found ${wide} px`);
      for (const tab of ["robot", "live"]) {
        await goTo(page, tab);
        await accessible(page, `${tab}, phone, ${scheme}`);
        await screen(page, `${tab}-phone-${scheme}`);
      }
    }
  },
);
