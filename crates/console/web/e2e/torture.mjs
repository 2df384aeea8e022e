// torture.mjs URL SECONDS: watches a console that somebody else keeps busy, and says as its last line what the page's heap
// did. Started by `cargo xtask torture console`.

import { chromium } from "playwright-core";
import { heap, slopeMbPerMin, startFrames, stopFrames, watchEverything } from "./measure.mjs";

const [url, seconds] = [process.argv[2], Number(process.argv[3])];
const EVERY_SECS = seconds > 120 ? 15 : 5;
/** Until then tables and buffers find their size. */
const WARM_SECS = Math.min(60, seconds / 4);

const browser = await chromium.launch({
  executablePath: process.env.FIELDLAB_CHROMIUM ?? "/usr/bin/chromium",
  args: ["--disable-gpu"],
});
const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
const session = await page.context().newCDPSession(page);
const errors = [];
page.on("pageerror", (error) => errors.push(String(error)));
let frames = 0;
let bytes = 0;
page.on("websocket", (socket) => {
  socket.on("framereceived", ({ payload }) => {
    frames += 1;
    if (typeof payload !== "string") bytes += payload.length;
  });
});
await page.goto(url);
await watchEverything(page);
await session.send("HeapProfiler.enable");
await startFrames(page);
bytes = frames = 0;
const began = performance.now();
const elapsed = () => (performance.now() - began) / 1000;
const samples = [];
let held = 0;
while (elapsed() < seconds) {
  await new Promise((done) => setTimeout(done, EVERY_SECS * 1000));
  held = await heap(session);
  if (elapsed() >= WARM_SECS) samples.push([elapsed(), held]);
  process.stderr.write(`${elapsed().toFixed(0)} s: ${(held / 1e6).toFixed(2)} MB\n`);
}
const smooth = await stopFrames(page);
// A value of a double is 16 to 18 bytes on the wire.
const values = bytes / 17 / elapsed();
await browser.close();
if (errors.length > 0) {
  console.error(errors.join("\n"));
  process.exit(1);
}
console.log(
  JSON.stringify({
    heap_slope_mb_per_min: slopeMbPerMin(samples),
    heap_mb: held / 1e6,
    samples: samples.length,
    values_per_sec: values,
    frame_p99_ms: smooth.p99,
    longest_task_ms: smooth.longest,
  }),
);
