// Every topic of the robot, its value and age, and plots of the numbers that somebody wants to see move.

import type { Client } from "../nt/client";
import type { Topic } from "../nt/topics";
import { h, Refill, setAttribute, setText, show } from "../ui/dom";
import { agoText, breakable, clip } from "../ui/format";
import { TopicList } from "./list";
import { Plot } from "./plot";
import { Tree } from "./tree";
import { fullText, plottable, Structs, type Part } from "./values";

const MOST_PLOTS = 8;
const WINDOWS = [5, 10, 30, 60, 300];
/** A frame's share that plots may take; the rest of them is drawn in the next one. */
const DRAW_MS = 6;
/** Between two values of a topic in the table, and of one that is plotted, seconds. */
const [TABLE_SECS, PLOT_SECS] = [0.1, 0.02];

export class LiveView {
  private readonly structs: Structs;
  private readonly tree: Tree;
  private readonly list: TopicList;
  private readonly search = h("input", {
    id: "search",
    type: "search",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "words of the name",
    testid: "live-search",
  });
  private readonly count = h("p", { class: "quiet count", role: "status", testid: "live-count" });
  private readonly detail = h("section", {
    class: "card detail",
    "aria-label": "Chosen topic",
    testid: "live-detail",
    hidden: true,
  });
  private readonly detailName = h("h2", { testid: "detail-name" });
  private readonly detailFacts = h("p", { class: "quiet", testid: "detail-facts" });
  private readonly detailValue = h("pre", {
    class: "value",
    role: "region",
    tabindex: 0,
    testid: "detail-value",
    "aria-label": "Value",
  });
  private readonly detailParts = h("ul", { class: "parts" });
  private readonly refillParts = new Refill(this.detailParts);
  private readonly pause = h("button", { type: "button", "aria-pressed": "false", testid: "plots-pause" }, "Pause");
  private readonly secs = h("select", { id: "plot-secs", testid: "plots-secs" });
  private readonly plotBar = h(
    "div",
    { class: "plot-bar" },
    this.pause,
    h("label", { for: "plot-secs" }, "Show the last"),
    this.secs,
  );
  private readonly plotList = h("div", { class: "plots", testid: "plots" });
  private readonly noPlots = h("p", { class: "quiet" }, "Choose a topic with numbers, then plot it.");
  readonly element = h(
    "div",
    { id: "panel-live", class: "panel live", tabindex: -1, hidden: true },
    h("h1", { class: "unseen" }, "Live"),
  );
  private readonly plots: Plot[] = [];
  private readonly subs = new Map<string, number>();
  private chosen: Topic | undefined;
  private parts: Part[] = [];
  private everything: number | undefined;
  private paused = false;
  private next = 0;

  constructor(
    private readonly client: Client,
    private readonly now: () => number,
  ) {
    this.structs = new Structs(client.topics);
    this.tree = new Tree(client.topics);
    const age = (stampUs: number, seenMs: number) => client.ageMs(stampUs, seenMs);
    this.list = new TopicList(this.tree, this.structs, age, (row) => this.choose(row.node.topic));
    for (const secs of WINDOWS)
      this.secs.append(
        h("option", { value: secs, selected: secs === 30 }, secs < 120 ? `${secs} s` : `${secs / 60} min`),
      );
    this.search.addEventListener("input", () => this.list.find(this.search.value));
    this.search.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowDown") return;
      event.preventDefault();
      this.list.element.focus();
    });
    this.pause.addEventListener("click", () => this.setPaused(!this.paused));
    this.detail.append(this.detailName, this.detailFacts, this.detailValue, this.detailParts);
    this.element.append(
      h(
        "section",
        { class: "topics", "aria-label": "Topics" },
        h("div", { class: "search" }, h("label", { for: "search" }, "Search"), this.search, this.count),
        this.list.element,
      ),
      h(
        "div",
        { class: "looks" },
        this.detail,
        h("section", { class: "card", "aria-label": "Plots" }, this.plotBar, this.noPlots, this.plotList),
      ),
    );
    addEventListener("resize", () => this.list.measure());
  }

  /** In front or not: only what is looked at is asked for. */
  shown(on: boolean): void {
    if (on && this.everything === undefined) {
      this.everything = this.client.subscribe({ topics: [""], prefix: true, periodic: TABLE_SECS, all: false });
      this.list.measure();
    } else if (!on && this.everything !== undefined) {
      this.client.unsubscribe(this.everything);
      this.everything = undefined;
    }
  }

  /** Colours changed. */
  restyle(): void {
    for (const plot of this.plots) plot.stale();
  }

  private get window(): number {
    return Number(this.secs.value);
  }

  private setPaused(on: boolean): void {
    this.paused = on;
    setAttribute(this.pause, "aria-pressed", String(on));
    setText(this.pause, on ? "Go on" : "Pause");
    for (const plot of this.plots) plot.freeze(on, this.window);
  }

  private choose(topic: Topic | undefined): void {
    this.chosen = topic;
    show(this.detail, topic !== undefined);
    this.updateDetail();
  }

  private updateDetail(): void {
    const topic = this.chosen;
    if (!topic) return;
    const gone = this.client.topics.get(topic.name) !== topic;
    setText(this.detailName, breakable(clip(topic.name, 400)));
    const age = topic.said
      ? `, ${agoText(this.client.ageMs(topic.stampUs, topic.seenMs))}, ${topic.count} ${topic.count === 1 ? "value" : "values"}`
      : "";
    const more = [...topic.properties].map(([key, value]) => `${key} ${value}`).join(", ");
    setText(
      this.detailFacts,
      gone
        ? "gone: the robot took it back"
        : `${clip(topic.type, 80)}${age}${more === "" ? "" : `; ${clip(more, 200)}`}`,
    );
    setText(this.detailValue, fullText(topic, this.structs));
    this.parts = plottable(topic, this.structs);
    const plotted = new Set(this.plots.map((plot) => plot.key));
    this.refillParts.with(
      [topic.name, topic.type, this.parts.map((part) => [part.label, plotted.has(`${topic.name} ${part.label}`)])],
      () => this.parts.map((part) => this.partRow(topic, part, plotted.has(`${topic.name} ${part.label}`))),
    );
    this.parts.forEach((part, i) => {
      const cell = this.detailParts.children[i]?.querySelector(".part-value");
      if (cell && part.label !== "") setText(cell, part.text);
    });
  }

  private partRow(topic: Topic, part: Part, plotted: boolean): HTMLElement {
    const name = part.label === "" ? "this number" : part.label;
    const button = h(
      "button",
      {
        type: "button",
        class: "small",
        testid: "plot-add",
        "aria-label": plotted ? `${name} is plotted` : `Plot ${name}`,
      },
      plotted ? "Plotted" : "Plot",
    );
    button.disabled = plotted;
    button.addEventListener("click", () => this.add(topic, part));
    return h("li", {}, h("span", { class: "part-name" }, part.label), h("span", { class: "part-value" }), button);
  }

  private add(topic: Topic, part: Part): void {
    if (this.plots.length >= MOST_PLOTS) this.drop(this.plots[0]);
    const plot = new Plot(topic, part);
    plot.remove.addEventListener("click", () => this.drop(plot));
    this.plots.push(plot);
    this.plotList.append(plot.element);
    if (!this.subs.has(topic.name)) {
      this.subs.set(
        topic.name,
        this.client.subscribe({ topics: [topic.name], prefix: false, periodic: PLOT_SECS, all: true }),
      );
    }
    this.updateDetail();
  }

  private drop(plot: Plot | undefined): void {
    const at = plot ? this.plots.indexOf(plot) : -1;
    if (!plot || at < 0) return;
    this.plots.splice(at, 1);
    plot.close();
    const sub = this.subs.get(plot.topic.name);
    if (sub !== undefined && !this.plots.some((other) => other.topic === plot.topic)) {
      this.client.unsubscribe(sub);
      this.subs.delete(plot.topic.name);
    }
    this.updateDetail();
  }

  /** A topic that came back under its name is another one; its plots go on with it. */
  private follow(): void {
    for (const plot of this.plots) {
      const topic = this.client.topics.get(plot.topic.name);
      if (topic && topic !== plot.topic) plot.move(topic);
    }
    if (this.chosen) this.chosen = this.client.topics.get(this.chosen.name) ?? this.chosen;
  }

  /** Texts, a few times a second. */
  update(): void {
    this.follow();
    this.list.update();
    this.updateDetail();
    show(this.noPlots, this.plots.length === 0);
    show(this.plotBar, this.plots.length > 0);
    const total = this.client.topics.size;
    setText(this.count, this.search.value.trim() === "" ? `${total} topics` : `${this.list.length} of ${total} topics`);
  }

  /** Pictures, once a frame; what does not fit into the frame's share comes first in the next. */
  frame(): void {
    if (this.element.hidden || this.plots.length === 0) return;
    const start = this.now();
    // While the robot is heard, a value that does not come again still holds.
    const server = this.client.link === "live" ? this.client.clock.serverUs(start * 1000) : undefined;
    const robotNow = server === undefined ? undefined : server / 1e6;
    for (let i = 0; i < this.plots.length; i += 1) {
      const plot = this.plots[(this.next + i) % this.plots.length];
      if (plot?.draw(this.window, start, robotNow) && this.now() - start > DRAW_MS) {
        this.next = (this.next + i + 1) % this.plots.length;
        return;
      }
    }
  }
}
