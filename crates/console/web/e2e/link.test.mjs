// What the page says of its connection, and that it finds its way back by itself.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  BIN,
  Program,
  accessible,
  at,
  closeBrowser,
  consoleFor,
  goTo,
  officialRobot,
  open,
  screen,
  until,
} from "./harness.mjs";

after(closeBrowser);

function link(page) {
  return at(page, "link").getAttribute("data-link");
}

async function becomes(page, word) {
  await until(`a link that is ${word}`, async () => ((await link(page)) === word ? true : undefined));
}

test("the robot's server is killed and comes back: straight to it", { timeout: 120_000 }, async (t) => {
  const robot = await officialRobot(t, "name");
  const relay = await consoleFor(t, robot.address);
  const page = await open(t, `${relay.url}?nt=${robot.address}`);
  await becomes(page, "live");
  await robot.program.kill();
  await becomes(page, "lost");
  assert.match((await at(page, "link-word").textContent()) ?? "", /lost/i);
  await screen(page, "lost-desk-light");
  await accessible(page, "lost");
  await officialRobot(t, "full", robot.port);
  await becomes(page, "live");
  await goTo(page, "robot");
  await until("the other robot's name", async () =>
    (await at(page, "robot-name").textContent())?.includes("Ratchet") ? true : undefined,
  );
});

test(
  "the robot is killed and comes back: through the relay, whose word the page shows",
  { timeout: 120_000 },
  async (t) => {
    const robot = await officialRobot(t, "full");
    const relay = await consoleFor(t, robot.address);
    const page = await open(t, relay.url);
    await becomes(page, "live");
    await goTo(page, "robot");
    const name = async (part) => ((await at(page, "robot-name").textContent())?.includes(part) ? true : undefined);
    await until("the name", () => name("Ratchet"));
    await robot.program.kill();
    await until("that the console has no robot", async () =>
      /no robot|not connected|away|lost/i.test(
        `${await at(page, "relay-robot").textContent()} ${await at(page, "link").textContent()}`,
      )
        ? true
        : undefined,
    );
    assert.equal(await name("Ratchet"), true, "what was known stays");
    await officialRobot(t, "name", robot.port);
    await until("the other robot", () => name("Plain"));
    await until("that what the first had is gone", async () =>
      (await page.locator('[data-testid^="robot-group-"]').count()) === 0 ? true : undefined,
    );
  },
);

test("the console is killed and comes back on its port", { timeout: 120_000 }, async (t) => {
  const robot = await officialRobot(t, "name");
  const relay = await consoleFor(t, robot.address);
  const page = await open(t, relay.url);
  await becomes(page, "live");
  await relay.program.kill();
  await becomes(page, "lost");
  const again = new Program(BIN, ["console", "--port", new URL(relay.url).port, "--robot", robot.address]);
  t.after(() => again.kill());
  await becomes(page, "live");
  assert.equal(await again.stop(), 0, "it ends well when asked to");
});

test("the live view finds, shows and plots a topic", { timeout: 120_000 }, async (t) => {
  const robot = await officialRobot(t, "full");
  const relay = await consoleFor(t, robot.address);
  const page = await open(t, relay.url);
  await becomes(page, "live");
  await goTo(page, "live");
  await at(page, "live-search").fill("ElapsedSeconds");
  const row = page.getByRole("treeitem").filter({ hasText: "ElapsedSeconds" });
  await row.last().click();
  await at(page, "plot-add").first().click();
  await until("a summary that moves", async () =>
    /\d/.test((await at(page, "plot-summary").first().textContent()) ?? "") ? true : undefined,
  );
  await accessible(page, "live with a plot, light");
  await screen(page, "live-desk-light");
});

test("what the console refuses is counted and shown to whoever watches", { timeout: 120_000 }, async (t) => {
  const robot = await officialRobot(t, "name");
  const relay = await consoleFor(t, robot.address);
  const page = await open(t, relay.url);
  await becomes(page, "live");
  await page.evaluate(async () => {
    const socket = new WebSocket(`ws://${location.host}/nt/stranger`, ["networktables.first.wpi.edu"]);
    await new Promise((done) => (socket.onopen = done));
    const params = { name: "/SmartDashboard/Auto", type: "string", pubuid: 1, properties: {} };
    socket.send(JSON.stringify([{ method: "publish", params }]));
  });
  await until("the count", async () => {
    const shown = await at(page, "relay-refused").textContent();
    return shown?.includes("1") ? true : undefined;
  });
});
