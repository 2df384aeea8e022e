// Where the campaign stands: one word, one shape, how far, how long, and the battery against its gate.

import { h, setAttribute, setText, show, svg } from "../ui/dom";
import { agoText, clip, clockText, durationText, plain } from "../ui/format";
import { Shape } from "../ui/shapes";
import type { Campaign } from "./state";

const WORDS: Record<string, string> = {
  IDLE: "Idle",
  RUNNING: "Running",
  AWAITING_OPERATOR: "Waiting for you",
  PAUSED_BATTERY: "Paused: battery",
  DONE: "Done",
  ABORTED: "Stopped",
};

/** A robot that repeats itself every second and has not for so long is not well, or runs something else. */
const SILENT_MS = 3500;

export class StateLine {
  private readonly shape = new Shape();
  private readonly word = h("span", { class: "word", testid: "state-word" });
  private readonly hold = h("p", { class: "hold", testid: "hold" });
  private readonly silence = h("p", { class: "hold", testid: "silence" });
  private readonly fault = h("p", { class: "fault", role: "alert", testid: "fault" });
  private readonly line = h("p", { class: "state", testid: "campaign-state" }, this.shape.element, this.word);
  readonly element = h("div", { class: "state-block" }, this.line, this.hold, this.silence, this.fault);

  /** `silentMs` is how long the robot has said nothing of the campaign, when it should have. */
  update(of: Campaign, silentMs: number | undefined): void {
    const known = Object.hasOwn(WORDS, of.state);
    const disabled = of.state === "AWAITING_OPERATOR" && of.enabled === false;
    this.shape.set(disabled ? "DISABLED" : known ? of.state : "");
    setAttribute(this.line, "data-state", clip(of.state, 40));
    setText(this.word, disabled ? "Disabled" : known ? (WORDS[of.state] ?? "") : `State ${clip(of.state, 40)}`);
    const hold = of.hold !== "" && of.hold !== "the operator" && !(disabled && of.hold === "disabled");
    setText(this.hold, hold ? `Held by: ${clip(of.hold, 200)}` : "");
    show(this.hold, hold);
    const silent = silentMs !== undefined && silentMs > SILENT_MS;
    setText(this.silence, silent ? `The campaign's last word was ${agoText(silentMs)}` : "");
    show(this.silence, silent);
    setText(this.fault, of.fault === "" ? "" : `Fault: ${clip(of.fault, 300)}`);
    show(this.fault, of.fault !== "");
  }
}

export class Progress {
  private readonly procedure = h("dd", { testid: "procedure" });
  private readonly step = h("dd", { testid: "step" });
  private readonly bar = h("progress", { max: 1, value: 0, "aria-label": "Procedures banked", testid: "progress" });
  private readonly percent = h("span", { class: "percent", testid: "progress-text" });
  private readonly elapsed = h("dd", { testid: "elapsed" });
  private readonly remaining = h("dd", { testid: "remaining" });
  private readonly session = h("dd", { testid: "session" });
  readonly element = h(
    "section",
    { class: "card progress-card", "aria-label": "Progress" },
    h(
      "dl",
      { class: "where" },
      h("div", {}, h("dt", {}, "Procedure"), this.procedure),
      h("div", {}, h("dt", {}, "Step"), this.step),
    ),
    h("div", { class: "bar" }, this.bar, this.percent),
    h(
      "dl",
      { class: "times" },
      h("div", {}, h("dt", {}, "Elapsed"), this.elapsed),
      h("div", {}, h("dt", {}, "Remaining"), this.remaining),
      h("div", {}, h("dt", {}, "Session"), this.session),
    ),
  );

  update(of: Campaign): void {
    const idle = of.state === "IDLE";
    setText(this.procedure, nOfM(of.procedure, of.procedureIndex, of.procedureCount, idle));
    setText(this.step, nOfM(of.step, of.stepIndex, of.stepCount, idle || of.step === ""));
    const share = Math.min(1, Math.max(0, of.progress ?? 0));
    if (of.progress === undefined) setAttribute(this.bar, "value", undefined);
    else setAttribute(this.bar, "value", share.toFixed(3));
    setText(this.percent, of.progress === undefined ? "not known" : `${Math.round(share * 100)} %`);
    setText(this.elapsed, of.elapsedSecs === undefined ? "–" : clockText(of.elapsedSecs));
    setText(this.remaining, of.remainingSecs === undefined ? "–" : `about ${durationText(of.remainingSecs)}`);
    setText(this.session, of.session === "" ? "–" : clip(of.session, 40));
  }
}

function nOfM(label: string, index: number | undefined, count: number | undefined, quiet: boolean): string {
  const name = label === "" ? "–" : clip(label, 120);
  if (quiet || index === undefined || count === undefined || count === 0) return name;
  return `${name} · ${index + 1} of ${count}`;
}

/** Volts that the gauge spans; a 12 V pack of FRC lives between them. */
const [LOW, HIGH] = [10, 13.5];
const WIDE = 300;

export class Battery {
  private readonly volts = h("span", { class: "volts", testid: "battery-volts" });
  private readonly fill = svg("rect", { x: 0, y: 10, height: 16, width: 0, class: "gauge-fill" });
  private readonly min = svg("path", { class: "gauge-min", d: "" });
  private readonly resume = svg("path", { class: "gauge-resume", d: "" });
  private readonly gauge = svg(
    "svg",
    { viewBox: `0 0 ${WIDE} 36`, class: "gauge", role: "img", "aria-label": "Battery" },
    svg("rect", { x: 0.5, y: 10.5, height: 15, width: WIDE - 1, class: "gauge-box" }),
    this.fill,
    this.min,
    this.resume,
  );
  private readonly words = h("p", { class: "gate", testid: "battery-gate" });
  readonly element = h(
    "section",
    { class: "card battery", "aria-label": "Battery", testid: "battery" },
    h("h3", {}, "Battery"),
    this.volts,
    this.gauge,
    this.words,
  );

  update(of: Campaign): void {
    const { volts, gateMin, gateResume } = of;
    setText(this.volts, volts === undefined ? "not known" : `${volts.toFixed(2)} V`);
    setAttribute(this.fill, "width", volts === undefined ? "0" : at(volts).toFixed(1));
    setAttribute(this.min, "d", gateMin === undefined ? "" : `M${at(gateMin).toFixed(1)} 36V4`);
    const x = gateResume === undefined ? 0 : at(gateResume);
    setAttribute(this.resume, "d", gateResume === undefined ? "" : `M${x.toFixed(1)} 32V0m-5 0h10l-5 6z`);
    const parts: string[] = [];
    if (gateMin !== undefined) parts.push(`pauses below ${plain(gateMin, 2)} V`);
    if (gateResume !== undefined) parts.push(`goes on from ${plain(gateResume, 2)} V`);
    const gate = parts.length > 0 ? `Gate: ${parts.join(", ")} at rest.` : "No gate in force.";
    const verdict = gateWord(of);
    setText(this.words, verdict === "" ? gate : `${gate} ${verdict}`);
    this.element.classList.toggle("low", verdict.startsWith("Below"));
    setAttribute(
      this.gauge,
      "aria-label",
      volts === undefined ? "Battery: not known" : `Battery ${volts.toFixed(2)} volts. ${gate}`,
    );
  }
}

function gateWord({ volts, gateMin, gateResume, state }: Campaign): string {
  if (volts === undefined || gateMin === undefined) return "";
  if (state === "PAUSED_BATTERY") {
    return volts < (gateResume ?? gateMin)
      ? "Below the gate: swap the pack."
      : "Charged enough: hold still for a moment.";
  }
  return volts < gateMin ? "Below the gate under load." : "";
}

function at(volts: number): number {
  return ((Math.min(HIGH, Math.max(LOW, volts)) - LOW) / (HIGH - LOW)) * WIDE;
}
