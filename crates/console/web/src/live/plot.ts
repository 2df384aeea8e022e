// One plotted number: a picture for eyes, a sentence and a table for everybody else.

import uPlot from "uplot";
import type { Probe, Topic } from "../nt/topics";
import { h, Refill, setText } from "../ui/dom";
import { breakable, clip, figure } from "../ui/format";
import { Ring, summary } from "./ring";
import type { Part } from "./values";

/** Three hundred seconds at a hundred a second. */
const SAMPLES = 30000;
const HEIGHT = 180;
/** Rows of the table twin. */
const TABLE_ROWS = 20;
const TABLE_MS = 1000;
/** A picture is drawn no more often than eyes follow, and less often while only time goes on in it. */
const DRAW_MS = 30;
const SCROLL_MS = 80;

export class Plot implements Probe {
  readonly index: number | undefined;
  readonly pick: ((bytes: Uint8Array) => number) | undefined;
  readonly key: string;
  private readonly ring = new Ring(SAMPLES);
  private readonly title: string;
  private readonly box = h("div", { class: "plot-box", "aria-hidden": "true" });
  private readonly words = h("p", { class: "plot-words", testid: "plot-summary" });
  private readonly rows = h("tbody");
  private readonly refill = new Refill(this.rows);
  private readonly table: HTMLDetailsElement;
  readonly remove: HTMLButtonElement;
  readonly element: HTMLElement;
  private chart: uPlot | undefined;
  private drawn = -1;
  private drawnSecs = NaN;
  private drawnMs = -Infinity;
  private toldMs = -Infinity;
  private width = 0;
  private frozen: { xs: Float64Array; ys: Float64Array } | undefined;

  constructor(
    public topic: Topic,
    part: Part,
  ) {
    this.index = part.index;
    this.pick = part.pick;
    this.key = `${topic.name} ${part.label}`;
    this.title = part.label === "" ? topic.name : `${topic.name} ${part.label}`;
    const name = clip(this.title, 160);
    this.remove = h(
      "button",
      { type: "button", class: "small", "aria-label": `Remove the plot of ${name}`, testid: "plot-remove" },
      "Remove",
    );
    this.table = h(
      "details",
      { class: "plot-table" },
      h("summary", {}, "Values as a table"),
      h(
        "table",
        {},
        h("caption", { class: "unseen" }, `Values of ${name}`),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", { scope: "col" }, "Seconds before the last"),
            h("th", { scope: "col", class: "number" }, "Value"),
          ),
        ),
        this.rows,
      ),
    );
    this.element = h(
      "section",
      { class: "plot", "aria-label": `Plot of ${name}`, testid: "plot", "data-key": this.key.slice(0, 400) },
      h("div", { class: "plot-head" }, h("h3", {}, breakable(name)), this.remove),
      this.box,
      this.words,
      this.table,
    );
    topic.probes.push(this);
    if (topic.said && part.index === undefined && !part.pick) this.take(topic.stampUs, topic.number);
  }

  take(stampUs: number, value: number): void {
    this.ring.push(stampUs / 1e6, value);
  }

  private deaf(): void {
    const at = this.topic.probes.indexOf(this);
    if (at >= 0) this.topic.probes.splice(at, 1);
  }

  /** Goes on with another topic of the same name. */
  move(topic: Topic): void {
    this.deaf();
    this.topic = topic;
    topic.probes.push(this);
  }

  /** Stops listening and takes the picture away. */
  close(): void {
    this.deaf();
    this.chart?.destroy();
    this.element.remove();
  }

  /** Colours or size changed: the picture is made anew when it is next drawn. */
  stale(): void {
    this.chart?.destroy();
    this.chart = undefined;
    this.drawn = -1;
  }

  /** Holds the picture while values go on arriving. */
  freeze(on: boolean, secs: number): void {
    if (!on) this.frozen = undefined;
    else {
      const { xs, ys } = this.window(secs);
      this.frozen = { xs: xs.slice(), ys: ys.slice() };
    }
    this.drawn = -1;
  }

  private window(secs: number, until?: number): { xs: Float64Array; ys: Float64Array } {
    return this.frozen ?? this.ring.since((until ?? this.ring.lastX ?? 0) - secs, until);
  }

  /** Draws if there is anything new. `until` is the robot's clock, seconds, while it is heard. True when it did. */
  draw(secs: number, nowMs: number, until: number | undefined): boolean {
    const width = this.box.clientWidth;
    if (width === 0) return false;
    const same = secs === this.drawnSecs && width === this.width && this.drawn >= 0;
    if (same && this.frozen) return false;
    const quiet = this.drawn === this.ring.taken;
    if (same && ((quiet && until === undefined) || nowMs - this.drawnMs < (quiet ? SCROLL_MS : DRAW_MS))) return false;
    if (width !== this.width) {
      this.width = width;
      this.chart?.setSize({ width, height: HEIGHT });
    }
    this.drawn = this.ring.taken;
    this.drawnSecs = secs;
    this.drawnMs = nowMs;
    const { xs, ys } = this.window(secs, until);
    const chart = (this.chart ??= this.make(width));
    const end = xs.at(-1) ?? 0;
    chart.setData([xs, ys] as unknown as uPlot.AlignedData, false);
    chart.batch(() => {
      chart.setScale("x", { min: end - secs, max: end });
      chart.setScale("y", range(ys));
    });
    if (nowMs - this.toldMs >= TABLE_MS || xs.length < 2) {
      this.toldMs = nowMs;
      this.tell(xs, ys, secs, until !== undefined && !this.frozen);
    }
    return true;
  }

  private tell(xs: Float64Array, ys: Float64Array, secs: number, held: boolean): void {
    const found = summary(ys);
    // The value that is held to the end was counted when it came.
    const count = (found?.count ?? 0) - (held && xs.length > 1 ? 1 : 0);
    setText(
      this.words,
      found
        ? `Last ${figure(found.last)}, min ${figure(found.min)}, max ${figure(found.max)}; ${count} ${count === 1 ? "value" : "values"} in ${secs} s.`
        : "No number has arrived yet.",
    );
    if (!this.table.open) return;
    const step = Math.max(1, Math.floor(xs.length / TABLE_ROWS));
    const last = xs[xs.length - 1] ?? 0;
    const rows: string[][] = [];
    for (let i = xs.length - 1; i >= 0 && rows.length < TABLE_ROWS; i -= step) {
      rows.push([(last - (xs[i] ?? 0)).toFixed(2), figure(ys[i] ?? NaN)]);
    }
    this.refill.with(rows, () =>
      rows.map(([at = "", value = ""]) =>
        h("tr", {}, h("td", { class: "number" }, at), h("td", { class: "number" }, value)),
      ),
    );
  }

  private make(width: number): uPlot {
    const style = getComputedStyle(this.element);
    const colour = (name: string) => style.getPropertyValue(name).trim();
    const font = `12px ${style.fontFamily}`;
    const axis: uPlot.Axis = {
      stroke: colour("--quiet"),
      font,
      grid: { stroke: colour("--line"), width: 1 },
      ticks: { stroke: colour("--line"), width: 1 },
    };
    return new uPlot(
      {
        width,
        height: HEIGHT,
        legend: { show: false },
        cursor: { drag: { x: false, y: false }, points: { show: false } },
        scales: { x: { time: false, auto: false }, y: { auto: false } },
        axes: [
          {
            ...axis,
            splits: (_chart, _axis, min, max, step) => backwards(min, max, step),
            values: (chart, splits) => splits.map((at) => `${(at - (chart.scales["x"]?.max ?? at)).toFixed(0)} s`),
          },
          { ...axis, size: 62, values: (_, splits) => splits.map((value) => figure(value)) },
        ],
        series: [{}, { stroke: colour("--accent"), width: 2, points: { show: false }, spanGaps: false, paths }],
      },
      [[], []],
      this.box,
    );
  }
}

const [STEPPED, LINEAR] = [uPlot.paths.stepped?.({ align: 1 }), uPlot.paths.linear?.()];

/** A value holds until the next one; where there are more of them than pixels, a line shows the same and costs less. */
const paths: uPlot.Series.PathBuilder = (chart, series, from, to) =>
  (to - from > 2 * chart.width ? LINEAR : STEPPED)?.(chart, series, from, to) ?? null;

/** Marks that count back from the end. */
function backwards(min: number, max: number, step: number): number[] {
  const marks: number[] = [];
  for (let back = 0; max - back >= min && marks.length < 40; back += step) marks.unshift(max - back);
  return marks;
}

/** A range around the finite values, never empty. */
function range(ys: Float64Array): { min: number; max: number } {
  const found = summary(ys);
  if (!found) return { min: 0, max: 1 };
  const room = (found.max - found.min) * 0.08 || Math.max(Math.abs(found.max) * 0.05, 0.5);
  return { min: found.min - room, max: found.max + room };
}
