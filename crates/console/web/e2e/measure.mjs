// How smoothly a page runs, and what its heap holds.

import { at, goTo, until } from "./harness.mjs";

/** Opens the live view with everything in it, and plots four topics. */
export async function watchEverything(page) {
  await goTo(page, "live");
  for (const name of ["topic001", "topic027", "topic260", "topic499"]) {
    await at(page, "live-search").fill(name);
    await page.getByRole("treeitem").filter({ hasText: name }).last().click();
    await at(page, "plot-add").first().click();
  }
  await at(page, "live-search").fill("");
  await until("four plots that draw", async () => ((await at(page, "plot").count()) === 4 ? true : undefined));
}

/** Starts to note the time between frames and every task above 50 ms. */
export async function startFrames(page) {
  await page.evaluate(() => {
    const seen = { gaps: [], tasks: [], on: true };
    globalThis.frames_seen = seen;
    let before;
    const next = (now) => {
      if (before !== undefined) seen.gaps.push(now - before);
      before = now;
      if (seen.on) requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
    seen.observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) seen.tasks.push(entry.duration);
    });
    seen.observer.observe({ type: "longtask" });
  });
}

/** What was noted, in milliseconds. */
export async function stopFrames(page) {
  const { gaps, tasks } = await page.evaluate(() => {
    const seen = globalThis.frames_seen;
    seen.on = false;
    for (const entry of seen.observer.takeRecords()) seen.tasks.push(entry.duration);
    seen.observer.disconnect();
    return { gaps: seen.gaps, tasks: seen.tasks };
  });
  gaps.sort((a, b) => a - b);
  const at = (share) => gaps[Math.min(gaps.length - 1, Math.floor(share * gaps.length))] ?? NaN;
  return {
    frames: gaps.length,
    p50: at(0.5),
    p99: at(0.99),
    worst: at(1),
    long: tasks.length,
    longest: Math.max(0, ...tasks),
  };
}

/** Bytes that the page holds after a collection: objects, and the buffers behind its arrays. */
export async function heap(session) {
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize, backingStorageSize = 0 } = await session.send("Runtime.getHeapUsage");
  return usedSize + backingStorageSize;
}

/** Least squares through [seconds, bytes]: megabytes a minute. */
export function slopeMbPerMin(samples) {
  const n = samples.length;
  const mean = (pick) => samples.reduce((sum, sample) => sum + pick(sample), 0) / n;
  const [meanX, meanY] = [mean(([x]) => x), mean(([, y]) => y)];
  const over = samples.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  const under = samples.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return (over / under) * (60 / 1e6);
}
