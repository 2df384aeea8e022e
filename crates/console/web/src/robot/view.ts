// The robot's sheet: the plan first, then the name, then what it said, group by group.

import type { Topics } from "../nt/topics";
import { Absence } from "../ui/absence";
import { h, kept, Refill, setText, show, svg } from "../ui/dom";
import { agoText, clip } from "../ui/format";
import { Shape } from "../ui/shapes";
import { account, type Account } from "./account";
import { robotPlan, type RobotPlan } from "./plan";
import { robotRows, type Bus, type Channel, type RobotRows, type Row } from "./rows";
import { ROOT, Sheet } from "./sheet";
import { lengthText, type Units } from "./units";

export class RobotView {
  private readonly name = h("h2", { testid: "robot-name", id: "robot-name" });
  private readonly subtitle = h("p", { class: "subtitle", testid: "robot-subtitle" });
  private readonly drawing = h("figure", { class: "drawing", testid: "robot-plan" });
  private readonly refillDrawing = new Refill(this.drawing);
  private readonly groups = h("div", { class: "groups", testid: "robot-groups" });
  private readonly refillGroups = new Refill(this.groups);
  private readonly units: Record<Units, HTMLInputElement> = {
    metric: h("input", { type: "radio", name: "units", value: "metric", testid: "units-metric" }),
    imperial: h("input", { type: "radio", name: "units", value: "imperial", testid: "units-imperial" }),
  };
  private readonly choice = h(
    "fieldset",
    { class: "units" },
    h("legend", {}, "Units"),
    h("label", {}, this.units.metric, "metric"),
    h("label", {}, this.units.imperial, "imperial"),
  );
  private readonly origins = h("input", { type: "checkbox", testid: "show-origins" });
  private readonly originsLabel = h("label", {}, this.origins, "where each fact comes from");
  private readonly whole = h("p", { class: "whole", testid: "sheet-whole" });
  private readonly doubts = h("div", { class: "doubts", testid: "sheet-doubts" });
  private readonly refillDoubts = new Refill(this.doubts);
  private readonly absent = new Absence(
    "no-robot",
    "This robot has not said who it is",
    "There is no /Catalyst/Robot/Identity/Name. A robot that declares its name shows up here, with whatever else it knows of itself.",
  );
  private readonly body = h(
    "div",
    { class: "robot" },
    h(
      "div",
      { class: "robot-head" },
      this.drawing,
      h("div", { class: "robot-title" }, this.name, this.subtitle, this.whole, this.choice, this.originsLabel),
    ),
    this.doubts,
    this.groups,
  );
  readonly element = h(
    "div",
    { id: "panel-robot", class: "panel", tabindex: 0, hidden: true },
    h("h1", { class: "unseen" }, "Robot"),
    this.absent.element,
    this.body,
  );
  private shown: Units = kept.get("units") === "imperial" ? "imperial" : "metric";
  private seen = "";
  private nobody = true;

  constructor(
    private readonly topics: Topics,
    private readonly ageMs: (stampUs: number) => number | undefined,
    private readonly linked: () => boolean,
  ) {
    this.originsLabel.className = "check";
    this.origins.addEventListener("change", () => {
      this.seen = "";
      this.update();
    });
    this.units[this.shown].checked = true;
    for (const units of ["metric", "imperial"] as const) {
      this.units[units].addEventListener("change", () => {
        this.shown = units;
        kept.set("units", units);
        this.seen = "";
        this.update();
      });
    }
  }

  /** The sheet changes at boot and hardly ever after: it is read again only when one of its topics came, went or spoke. */
  private changed(): boolean {
    let count = 0;
    let values = 0;
    for (const topic of this.topics.all()) {
      if (!topic.name.startsWith(ROOT)) continue;
      count += 1;
      values += topic.count;
    }
    const now = `${this.topics.structure} ${count} ${values}`;
    if (now === this.seen) return false;
    this.seen = now;
    return true;
  }

  private showWhole({ whole }: Account): void {
    show(this.whole, whole.is !== "unsaid");
    this.whole.setAttribute("data-whole", whole.is);
    if (whole.is === "whole") setText(this.whole, `The whole sheet: ${whole.count} facts.`);
    else if (whole.is === "part")
      setText(this.whole, `Not the whole sheet: ${whole.have} facts here, the robot has ${whole.said}.`);
  }

  private origin(about: Account, key: string | undefined): string {
    const origin = key === undefined ? undefined : about.origins.get(key);
    if (!origin) return "";
    const age = this.ageMs(origin.atUs);
    const since = age === undefined ? "" : `, ${agoText(age)}`;
    const source = origin.how === "declared" && origin.source === "declaration" ? "" : `, ${clip(origin.source, 80)}`;
    return clip(origin.how, 40) + source + since;
  }

  update(): void {
    this.absent.update(this.nobody, this.linked());
    if (!this.changed()) return;
    const sheet = Sheet.of(this.topics);
    const plan = robotPlan(sheet);
    const rows = robotRows(sheet, this.shown);
    this.nobody = rows.name === undefined;
    this.absent.update(this.nobody, this.linked());
    show(this.body, rows.name !== undefined);
    if (rows.name === undefined) return;
    setText(this.name, rows.name);
    setText(this.subtitle, rows.subtitle);
    show(this.drawing, plan !== undefined);
    this.refillDrawing.with([plan, this.shown, rows.name], () =>
      plan ? drawing(plan, this.shown, rows.name ?? "") : [],
    );
    const about = account(sheet);
    this.showWhole(about);
    show(this.originsLabel, about.origins.size > 0);
    const doubts = [...about.disagreements, ...about.warnings];
    show(this.doubts, doubts.length > 0);
    this.refillDoubts.with(doubts, () =>
      doubts.map((text) => h("p", {}, new Shape("stale").element, h("span", {}, clip(text, 300)))),
    );
    const origins = this.origins.checked ? [...about.origins] : [];
    this.refillGroups.with([rows, origins, about.absent], () =>
      groups(rows, about, this.origins.checked ? (key) => this.origin(about, key) : () => ""),
    );
  }
}

type OriginOf = (key: string | undefined) => string;

function rowList(rows: readonly Row[], originOf: OriginOf): HTMLElement {
  return h(
    "dl",
    { class: "rows" },
    ...rows.map((row) => {
      const origin = originOf(row.key);
      const small = origin === "" ? undefined : h("span", { class: "origin" }, origin);
      return h("div", {}, h("dt", {}, row.label), h("dd", {}, row.value, small));
    }),
  );
}

function groupCard(id: string, title: string, ...children: HTMLElement[]): HTMLElement {
  return h(
    "section",
    { class: "card group", "aria-label": title, testid: `robot-group-${id}` },
    h("h2", {}, title),
    ...children,
  );
}

function groups(of: RobotRows, about: Account, originOf: OriginOf): HTMLElement[] {
  const cards = of.groups.map((group) => groupCard(group.id, group.title, rowList(group.rows, originOf)));
  if (of.channels.length > 0) cards.push(groupCard("channels", "Power channels", channelTable(of.channels)));
  if (of.buses.length > 0) cards.push(groupCard("devices", "Devices", ...of.buses.map(busTable)));
  if (of.more.length > 0) cards.push(groupCard("more", "More", rowList(of.more, originOf)));
  if (about.absent.length > 0) cards.push(groupCard("unknown", "Not known", unknown(about)));
  return cards;
}

/** What the robot does not know, and whose silence that is. */
function unknown(about: Account): HTMLElement {
  const rows = about.absent.map(([key, why]) => ({ label: clip(key, 120), value: clip(why, 300), key: undefined }));
  return h(
    "details",
    {},
    h("summary", {}, `${rows.length} facts, and why`),
    rowList(rows, () => ""),
  );
}

function table(
  caption: string,
  hideCaption: boolean,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): HTMLElement {
  return h(
    "table",
    {},
    h("caption", { class: hideCaption ? "unseen" : "bus" }, caption),
    h("thead", {}, h("tr", {}, ...head.map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map((cell) => h("td", {}, clip(cell, 120)))))),
  );
}

function channelTable(channels: readonly Channel[]): HTMLElement {
  return table(
    "Power channels",
    true,
    ["Channel", "What"],
    channels.map((c) => [c.channel, c.what]),
  );
}

function busTable(bus: Bus): HTMLElement {
  return table(
    `Bus ${clip(bus.name, 60)}`,
    false,
    ["Id", "Device"],
    bus.devices.map((d) => [d.id, d.type]),
  );
}

/** Pixels of the drawing's longer side. */
const SIDE = 300;
const MARGIN = 34;

function drawing(plan: RobotPlan, units: Units, name: string): (HTMLElement | SVGElement)[] {
  const scale = SIDE / Math.max(plan.outer.length, plan.outer.width);
  // The robot's +x is up, its +y is to the left.
  const [wide, high] = [plan.outer.width * scale, plan.outer.length * scale];
  const rect = (length: number, width: number, kind: string, radius: number) =>
    svg("rect", {
      x: (-width * scale) / 2,
      y: (-length * scale) / 2,
      width: width * scale,
      height: length * scale,
      rx: radius,
      class: kind,
    });
  const wheelLength = (plan.wheelLength ?? Math.min(plan.outer.length, plan.outer.width) * 0.12) * scale;
  const wheelWidth = wheelLength * 0.42;
  const shapes = [
    plan.bumper
      ? rect(plan.bumper.length, plan.bumper.width, "bumper", 10)
      : rect(plan.outer.length, plan.outer.width, "outline", 6),
    plan.frame ? rect(plan.frame.length, plan.frame.width, "deck", 2) : undefined,
    ...plan.modules.map((module) =>
      svg("rect", {
        x: -module.y * scale - wheelWidth / 2,
        y: -module.x * scale - wheelLength / 2,
        width: wheelWidth,
        height: wheelLength,
        rx: wheelWidth * 0.25,
        class: "wheel",
      }),
    ),
    svg("path", { d: "M0 -26 l9 14 h-6 v30 h-6 v-30 h-6z", class: "front" }),
    svg("path", {
      d: `M${-wide / 2} ${high / 2 + 14}h${wide}m0 -5v10m${-wide} 0v-10M${wide / 2 + 14} ${-high / 2}v${high}m-5 0h10m0 ${-high}h-10`,
      class: "measure",
    }),
    svg(
      "text",
      { x: 0, y: high / 2 + 30, class: "size", "text-anchor": "middle" },
      lengthText(plan.outer.width, units),
    ),
    svg(
      "text",
      { x: 0, y: 0, class: "size", "text-anchor": "middle", transform: `translate(${wide / 2 + 28} 0) rotate(-90)` },
      lengthText(plan.outer.length, units),
    ),
  ];
  const box = [-wide / 2 - MARGIN, -high / 2 - 8, wide + 2 * MARGIN, high + 8 + MARGIN];
  const picture = svg(
    "svg",
    {
      viewBox: box.map((v) => v.toFixed(1)).join(" "),
      role: "img",
      "aria-label": `${name} from above, front up. ${plan.caption}`,
    },
    ...shapes,
  );
  return [picture, h("figcaption", {}, plan.caption)];
}
