// 500 topics at 50 Hz: the page stays smooth for a minute.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Program, TRIALS, closeBrowser, consoleFor, open } from "./harness.mjs";
import { startFrames, stopFrames, watchEverything } from "./measure.mjs";

after(closeBrowser);

const SECS = 60;

test("500 topics at 50 Hz for a minute: frames and tasks", { timeout: 240_000 }, async (t) => {
  const robot = new Program(TRIALS, ["serve-topics", "500", "50"], { input: true });
  t.after(() => robot.kill());
  const [, address] = await robot.says(/^([0-9.]+:\d+)$/m);
  const relay = await consoleFor(t, address);
  const page = await open(t, relay.url, { lean: true, first: true });
  await watchEverything(page);
  // What is done once for each topic is not what a minute of watching costs.
  await new Promise((done) => setTimeout(done, 3000));
  await startFrames(page);
  await new Promise((done) => setTimeout(done, SECS * 1000));
  const found = await stopFrames(page);
  t.diagnostic(JSON.stringify(found));
  assert.ok(found.frames >= SECS * 50, `${found.frames} frames`);
  assert.ok(found.p99 <= 20, `p99 of the time between frames: ${found.p99.toFixed(1)} ms`);
  assert.equal(found.long, 0, `${found.long} tasks above 50 ms, the longest ${found.longest} ms`);
});
