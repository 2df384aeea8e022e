// What the robot wants of a person, in type that is read at arm's length, and the one way to answer it.

import { REASON_CHARS, type Operator } from "../operator";
import { h, setAttribute, setText, show } from "../ui/dom";
import { ageText, agoText, clip, figure } from "../ui/format";
import { rangeText, readAnswer } from "./answer";
import { wants, type Campaign, type CampaignReader, type Wants } from "./state";

/** After so long without another word, the robot's last word is shown as it stands. */
const ANSWER_MS = 2500;
const PROMPT_CHARS = 400;

export class Ask {
  private readonly title = h("h2", { class: "prompt", testid: "prompt", id: "prompt", tabindex: -1 });
  private readonly facts = h("dl", { class: "facts" });
  private readonly unit = this.fact("Unit", "prompt-unit");
  private readonly range = this.fact("Range", "prompt-range");
  private readonly key = this.fact("For", "prompt-key");
  private readonly last = this.fact("Last value", "prompt-last");
  private readonly age = this.fact("Asked", "prompt-age");
  private readonly label = h("label", { for: "answer" });
  private readonly input = h("input", {
    id: "answer",
    type: "text",
    inputmode: "decimal",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    enterkeyhint: "send",
    "aria-describedby": "answer-message",
    testid: "answer-input",
  });
  private readonly sign = h("button", { type: "button", class: "sign", "aria-label": "Change the sign" }, "±");
  private readonly send = h("button", { type: "submit", class: "primary", testid: "answer-send" }, "Send");
  private readonly form = h(
    "form",
    { class: "answer", novalidate: true, testid: "answer-form" },
    this.label,
    h("div", { class: "answer-row" }, this.input, this.sign, this.send),
  );
  private readonly confirm = h(
    "button",
    { type: "button", class: "primary confirm", testid: "confirm" },
    "Done, go on",
  );
  private readonly same = h("button", { type: "button", testid: "same-again" }, "Same number again");
  private readonly redo = h("button", { type: "button", testid: "redo" }, "Redo the last answer");
  private readonly reason = h("input", {
    id: "skip-reason",
    type: "text",
    maxlength: REASON_CHARS,
    autocomplete: "off",
    enterkeyhint: "send",
    testid: "skip-reason",
  });
  private readonly skip = h("button", { type: "submit", testid: "skip" }, "Skip it");
  private readonly skipForm = h(
    "form",
    { class: "skip-form", novalidate: true },
    h("label", { for: "skip-reason" }, "Reason"),
    h("div", { class: "answer-row" }, this.reason, this.skip),
  );
  private readonly skipBox = h(
    "details",
    { class: "skip", testid: "skip-box" },
    h("summary", {}, "Skip…"),
    this.skipForm,
  );
  private readonly others = h("div", { class: "others" }, this.same, this.redo, this.skipBox);
  private readonly message = h("p", {
    class: "message",
    id: "answer-message",
    role: "status",
    testid: "answer-message",
  });
  private readonly robotSays = h("p", { class: "robot-says", testid: "last-commit" });
  readonly element = h(
    "section",
    { class: "card ask", "aria-labelledby": "prompt", testid: "ask" },
    this.title,
    this.facts,
    this.form,
    this.confirm,
    this.message,
    this.others,
    this.robotSays,
  );

  private now: Campaign | undefined;
  private asked = "";
  /** The text that was told to be outside the range; the same text once more is meant. */
  private warned: string | undefined;
  private refusal = "";
  private clearedMs = NaN;
  /** Whether somebody works here by keyboard: then the focus stays here when a control goes away. */
  private byKeyboard = false;

  constructor(
    private readonly operator: Operator,
    private readonly reader: CampaignReader,
    private readonly ageMs: (stampUs: number, seenMs: number) => number,
  ) {
    this.facts.append(
      ...[this.unit, this.range, this.key, this.last, this.age].map((fact) => fact.parentElement ?? fact),
    );
    this.element.addEventListener("keydown", (event) => {
      this.byKeyboard = true;
      // A key that is held down is one press.
      if (event.repeat && event.key === "Enter") event.preventDefault();
    });
    addEventListener("pointerdown", () => (this.byKeyboard = false), { capture: true });
    this.element.addEventListener("focusout", (event) => {
      // The next place is known when somebody chose it; a control that vanished leaves none.
      if (event.relatedTarget !== null) this.byKeyboard = this.element.contains(event.relatedTarget as Node);
    });
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.input.addEventListener("input", () => {
      this.warned = undefined;
      this.refusal = "";
      this.redraw();
    });
    this.sign.addEventListener("click", () => {
      const typed = this.input.value.trim();
      this.input.value = /^[-\u2212]/.test(typed) ? typed.slice(1) : `-${typed}`;
      this.refusal = "";
      this.input.focus();
      this.redraw();
    });
    this.confirm.addEventListener("click", () => this.did(this.operator.confirm()));
    this.same.addEventListener("click", () => this.did(this.operator.sameAgain()));
    this.redo.addEventListener("click", () => this.did(this.operator.redo()));
    this.skipForm.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.reason.value.trim() === "") {
        this.refusal = "Skipping needs a reason: it goes into the log.";
        this.reason.focus();
      } else this.did(this.operator.skip(this.reason.value));
      this.redraw();
    });
  }

  private fact(name: string, testid: string): HTMLElement {
    const value = h("dd", { testid });
    h("div", {}, h("dt", {}, name), value);
    return value;
  }

  private did(sent: boolean): void {
    this.refusal = sent ? "" : `${this.operator.blocked ?? "It could not be sent"}. Press again.`;
    this.redraw();
  }

  private submit(): void {
    const prompt = this.now?.prompt;
    if (!prompt) return;
    const typed = readAnswer(this.input.value, prompt.unit, prompt.min, prompt.max);
    if (typed.kind === "refused") {
      this.refusal = typed.why;
      this.input.focus();
    } else if (typed.outside !== undefined && this.warned !== this.input.value) {
      this.warned = this.input.value;
      this.refusal = `${typed.outside} The robot records it with a warning: press Send once more if it is meant.`;
    } else this.did(this.operator.answer(typed.value));
    this.redraw();
  }

  private redraw(): void {
    if (this.now) this.update(this.now);
  }

  update(of: Campaign): void {
    this.now = of;
    const want = wants(of);
    const asked = `${of.prompt.seq ?? ""} ${of.prompt.text}`;
    if (asked !== this.asked) {
      this.asked = asked;
      this.warned = undefined;
      this.refusal = "";
      this.input.value = this.reason.value = "";
      this.skipBox.open = false;
    }
    setText(this.title, this.heading(of));
    this.element.classList.toggle("wanted", want !== "nothing");
    this.facts.hidden = want === "nothing";
    this.showFacts(of, want);
    this.showControls(of, want);
    this.showWords(of, want);
    this.keepFocus(want);
  }

  /**
   * A keyboard's focus that a vanished control left behind goes to the next box for a number, else to the prompt. Never to
   * the button that lets the robot go on: Enter pressed twice after a number must not be what starts it.
   */
  private keepFocus(want: Wants): void {
    const at = document.activeElement;
    if (!this.byKeyboard || (at !== document.body && at !== this.title)) return;
    const next = want === "number" ? this.input : this.title;
    if (next !== at) next.focus();
  }

  private heading(of: Campaign): string {
    if (of.prompt.text !== "") return clip(of.prompt.text, PROMPT_CHARS);
    switch (of.state) {
      case "IDLE":
        return "To start: on the driver station choose Utility, group Data, Field Lab; then enable.";
      case "RUNNING":
        return of.hold === "" ? "Nothing to do: the robot works." : `Waiting: ${clip(of.hold, PROMPT_CHARS)}`;
      case "DONE":
        return "The campaign is done.";
      case "ABORTED":
        return "The campaign was stopped. Enable to go on.";
      default:
        return of.hold === "" ? "Nothing is asked." : `Waiting: ${clip(of.hold, PROMPT_CHARS)}`;
    }
  }

  private put(fact: HTMLElement, text: string): void {
    setText(fact, text);
    if (fact.parentElement) show(fact.parentElement, text !== "");
  }

  private showFacts(of: Campaign, want: Wants): void {
    const number = want === "number" || want === "either";
    const { unit, min, max, key } = of.prompt;
    this.put(this.unit, number ? clip(unit, 40) : "");
    this.put(this.range, number ? rangeText(clip(unit, 40), min, max) : "");
    this.put(this.key, number ? clip(key ?? "", 80) : "");
    this.put(this.last, number ? this.lastValue(of, clip(unit, 40)) : "");
    this.put(this.age, want === "nothing" ? "" : this.askedText());
  }

  private askedText(): string {
    const { ms, early } = this.operator.promptAge;
    return early ? `more than ${ageText(Math.max(1000, ms))} ago` : agoText(ms);
  }

  /** What is recorded for the question, else what stands in its input, and how old that is. */
  private lastValue(of: Campaign, unit: string): string {
    const tail = unit === "" ? "" : ` ${unit}`;
    const recorded = of.measurements.find((row) => row.key === of.prompt.key);
    if (recorded) return `${clip(recorded.value, 40)}${tail}, recorded`;
    const standing = this.reader.standing(of.prompt);
    return standing
      ? `${figure(standing.value)}${tail}, ${agoText(this.ageMs(standing.stampUs, standing.seenMs))}`
      : "";
  }

  private showControls(of: Campaign, want: Wants): void {
    const { unit, min } = of.prompt;
    show(this.form, want === "number" || want === "either");
    show(this.confirm, want === "press" || want === "either");
    show(this.same, want === "number" && this.operator.declares("SameAgain"));
    show(this.redo, want !== "nothing" && this.operator.declares("Redo"));
    show(this.skipBox, want !== "nothing" && this.operator.declares("Skip"));
    show(this.others, want !== "nothing");
    show(this.sign, min === undefined || min < 0);
    setText(this.label, unit === "" ? "Your answer" : `Your answer (${clip(unit, 40)})`);
    setText(
      this.confirm,
      of.stepKind === "act" ? "Try it again" : want === "either" ? "Done, without a number" : "Done, go on",
    );
    const press = this.operator.press;
    if (of.prompt.seq === undefined && press?.stage === "sent" && press.atMs !== this.clearedMs) {
      // A robot that numbers no prompt may ask the same again: then the old number must not stand ready.
      this.clearedMs = press.atMs;
      this.input.value = "";
    }
    const off = this.operator.blocked === undefined ? undefined : "true";
    for (const button of [this.send, this.confirm, this.same, this.redo, this.skip]) {
      setAttribute(button, "aria-disabled", off);
    }
  }

  private showWords(of: Campaign, want: Wants): void {
    const press = this.operator.press;
    const blocked = want === "nothing" ? undefined : this.operator.blocked;
    let words = this.refusal;
    if (words === "" && press?.stage === "settling") words = "Sending";
    else if (words === "" && press?.stage === "lost")
      words = "Not sent: something else is asked now, or the connection broke.";
    else if (words === "" && blocked !== undefined && !blocked.startsWith("Ready in a moment")) words = `${blocked}.`;
    setText(this.message, words);
    this.message.classList.toggle("bad", this.refusal !== "");
    setText(this.robotSays, this.lastWord(of));
    show(this.robotSays, this.robotSays.textContent !== "");
  }

  private lastWord(of: Campaign): string {
    const press = this.operator.press;
    const said = of.lastCommit === undefined || of.lastCommit === "" ? undefined : clip(of.lastCommit, 300);
    if (
      press?.stage === "sent" &&
      this.operator.pressStands &&
      (said === undefined || of.lastCommit === press.before)
    ) {
      const waited = this.operator.sinceMs(press.atMs);
      if (of.lastCommit === undefined)
        return "Sent. This robot does not say what it accepted: see the measurements and notes.";
      if (waited < ANSWER_MS) return "Sent. Waiting for the robot.";
      return `Sent ${agoText(waited)}. The robot's last word: ${said ?? "none"}`;
    }
    return said === undefined ? "" : `Robot: ${said}`;
  }
}
