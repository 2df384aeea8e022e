// The sheet of three robots whose server is the official library's, through the relay and straight: both show the same.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { accessible, at, closeBrowser, consoleFor, goTo, officialRobot, open, screen, until } from "./harness.mjs";

after(closeBrowser);

async function sheet(page) {
  await goTo(page, "robot");
  await until("the robot's name", async () => ((await at(page, "robot-name").textContent()) ? true : undefined));
  // The sheet comes at once; the page draws it a moment later.
  return until("a sheet that stands", async () => {
    const before = await text(page);
    await new Promise((done) => setTimeout(done, 400));
    const now = await text(page);
    return before === now ? now : undefined;
  });
}

function text(page) {
  return page.evaluate(() => document.querySelector('[role="tabpanel"]:not([hidden])')?.innerText ?? "");
}

/** The page by both ways. */
async function both(t, kind, scheme) {
  const robot = await officialRobot(t, kind);
  const relay = await consoleFor(t, robot.address);
  const through = await open(t, relay.url, { scheme });
  const straight = await open(t, `${relay.url}?nt=${robot.address}`, { scheme });
  return { robot, relay, through, straight };
}

test("a full sheet", { timeout: 120_000 }, async (t) => {
  const { through, straight } = await both(t, "full", "light");
  const shown = await sheet(through);
  assert.equal(await sheet(straight), shown, "straight to an official server it is the same");
  for (const words of [
    "Ratchet & <b>Clank</b>",
    "1234",
    "2026",
    "roboRIO 2",
    "Physics Core",
    "BALANCED",
    "MK ES17-12",
    "Pigeon2",
  ]) {
    assert.ok(shown.includes(words), `${words} in:\n${shown}`);
  }
  assert.match(shown, /bumpers/i);
  assert.ok(await at(through, "robot-plan").locator("svg").count(), "a plan is drawn");
  // A published zero is a measurement.
  assert.match(await at(through, "robot-group-traction").innerText(), /\b0\b/);
  await accessible(through, "robot, full sheet, light");
  await screen(through, "robot-full-desk-light");
  const dark = await open(t, through.url(), { scheme: "dark" });
  await sheet(dark);
  await accessible(dark, "robot, full sheet, dark");
  await screen(dark, "robot-full-desk-dark");
});

test("a name only", { timeout: 120_000 }, async (t) => {
  const { through, straight } = await both(t, "name", "light");
  const shown = await sheet(through);
  assert.equal(await sheet(straight), shown);
  assert.ok(shown.includes("Plain"));
  const groups = through.locator('[data-testid^="robot-group-"]');
  assert.equal(await groups.count(), 0, `no group without a row: ${shown}`);
  assert.equal(await at(through, "robot-plan").locator("svg").count(), 0, "nothing to draw");
  await accessible(through, "robot, name only");
  await screen(through, "robot-name-desk-light");
});

test("sources that lie", { timeout: 120_000 }, async (t) => {
  const { through, straight } = await both(t, "lies", "dark");
  const shown = await sheet(through);
  assert.equal(await sheet(straight), shown);
  assert.ok(shown.includes("Pinocchio"));
  assert.doesNotMatch(shown, /NaN|Infinity|undefined|null/);
  for (const absent of ["Mass", "Odometry", "Cameras", "Serial", "Comment", "Max speed", "no fields"]) {
    assert.ok(!shown.includes(absent), `${absent} in:\n${shown}`);
  }
  await accessible(through, "robot, lying sources");
  await screen(through, "robot-lies-desk-dark");
});

test("a campaign on an official server is shown and answered both ways", { timeout: 120_000 }, async (t) => {
  for (const way of ["through", "straight"]) {
    const found = await both(t, "name", "light");
    const page = found[way];
    await goTo(page, "campaign");
    await until("the prompt", async () =>
      (await at(page, "prompt").textContent())?.includes("by the tape?") ? true : undefined,
    );
    const shown = await text(page);
    for (const words of ["Straight run", "Field Day", "wheel-radius/tape", "4.02", "resumed at 12.52 V"]) {
      assert.ok(shown.includes(words), `${way}: ${words} in:\n${shown}`);
    }
    await until("a connection that is not new", async () =>
      (await at(page, "answer-send").getAttribute("aria-disabled")) === "true" ? undefined : true,
    );
    await at(page, "answer-input").fill("2.47");
    await page.keyboard.press("Enter");
    await until(`the measurement, ${way}`, async () =>
      (await text(page)).includes("2.47") && (await at(page, "campaign-state").getAttribute("data-state")) === "RUNNING"
        ? true
        : undefined,
    );
    await accessible(page, `campaign, official server, ${way}`);
  }
});
