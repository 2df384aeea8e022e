// What the run has and what is to come: the plan, what fits into the minutes left, measurements, notes, the pre-arm list.

import { h, kept, Refill, setText, show } from "../ui/dom";
import { clip, durationText } from "../ui/format";
import { Shape } from "../ui/shapes";
import { fits, leftOf, readMinutes, standings, type Minutes, type Standing } from "./plan";
import type { Campaign } from "./state";

const WORDS: Record<Standing, string> = { banked: "banked", current: "now", next: "next", later: "" };
/** Rows of measurements and notes on the page; the newest. */
const MOST_SHOWN = 300;
/** Notes that stand in the open; the rest is behind a word. */
const FRESH_NOTES = 8;

export class PlanList {
  private readonly list = h("ol", { class: "plan", testid: "plan-list" });
  private readonly refill = new Refill(this.list);
  private readonly none = h("p", { class: "quiet" }, "This robot does not publish its plan.");
  readonly element = h("section", { class: "card", "aria-label": "Plan" }, h("h3", {}, "Plan"), this.list, this.none);

  update(of: Campaign, standing: readonly Standing[]): void {
    const procedures = of.plan?.procedures ?? [];
    show(this.none, of.plan === undefined);
    const marks = procedures.map((p) => of.banked?.get(p.id)?.split(":")[0] ?? "");
    this.refill.with([standing, marks, procedures.map((p) => [p.id, p.title, p.estimateSecs])], () =>
      procedures.map((procedure, i) => {
        const at = standing[i] ?? "later";
        const mark = marks[i] === "good" || marks[i] === "" ? "" : `, ${clip(marks[i] ?? "", 20)}`;
        const word = at === "banked" ? WORDS.banked + mark : WORDS[at];
        return h(
          "li",
          {
            class: at,
            "data-standing": at,
            "data-id": procedure.id,
            ...(at === "current" ? { "aria-current": "step" } : {}),
          },
          new Shape(at).element,
          h("span", { class: "title" }, clip(procedure.title, 120)),
          h("span", { class: "standing" }, word),
          h("span", { class: "secs" }, durationText(procedure.estimateSecs)),
        );
      }),
    );
  }
}

export class FitsList {
  private readonly input = h("input", {
    id: "minutes",
    type: "text",
    inputmode: "decimal",
    autocomplete: "off",
    testid: "fits-minutes",
  });
  private readonly left = h("span", { class: "left", testid: "fits-left" });
  private readonly words = h("p", { role: "status", testid: "fits-words" });
  private readonly list = h("ol", { class: "fits", testid: "fits-list" });
  private readonly refill = new Refill(this.list);
  readonly element = h(
    "section",
    { class: "card", "aria-label": "What still fits" },
    h("h3", {}, "What still fits"),
    h("div", { class: "minutes" }, h("label", { for: "minutes" }, "Minutes left on the field"), this.input, this.left),
    this.words,
    this.list,
  );
  private minutes: Minutes | undefined;
  private bad = false;

  constructor(private readonly wall: () => number) {
    this.minutes = readMinutes(kept.get("minutes"), wall());
    if (this.minutes) this.input.value = String(Math.ceil(leftOf(this.minutes, wall()) / 60));
    this.input.addEventListener("input", () => this.typed());
  }

  private typed(): void {
    const text = this.input.value.trim().replace(",", ".");
    const minutes = Number(text);
    this.bad = text !== "" && !(minutes > 0 && minutes <= 1440);
    this.minutes = text === "" || this.bad ? undefined : { minutes, typedAt: this.wall() };
    kept.set("minutes", this.minutes ? JSON.stringify(this.minutes) : "");
  }

  update(of: Campaign, standing: readonly Standing[]): void {
    const plan = of.plan;
    if (!this.minutes || !plan) {
      setText(this.left, "");
      const ask = plan ? "Type them, and the plan is cut where it ends." : "Without a plan nothing can be said.";
      setText(this.words, this.bad ? "A number of minutes from 1 to 1440." : ask);
      this.refill.with("", () => []);
      return;
    }
    const leftSecs = leftOf(this.minutes, this.wall());
    const found = fits(plan, standing, of.remainingSecs, leftSecs);
    const inside = found.filter((fit) => fit.fits).length;
    setText(this.left, `${Math.floor(leftSecs / 60)} min left`);
    setText(
      this.words,
      found.length === 0
        ? "Everything is banked."
        : inside === found.length
          ? "Everything fits, battery swaps aside."
          : `${inside} of ${found.length} fit, battery swaps aside.`,
    );
    this.refill.with(
      found.map((fit) => [fit.procedure.title, fit.fits, Math.round(fit.secs / 15)]),
      () =>
        found.map((fit) =>
          h(
            "li",
            { class: fit.fits ? "fit" : "no-fit", "data-fits": fit.fits ? "yes" : "no", "data-id": fit.procedure.id },
            h("span", { class: "title" }, clip(fit.procedure.title, 120)),
            h("span", { class: "standing" }, fit.fits ? "fits" : "does not fit"),
            h("span", { class: "secs" }, durationText(fit.secs)),
          ),
        ),
    );
  }
}

export class Records {
  private readonly rows = h("tbody", { testid: "measurements" });
  private readonly refillRows = new Refill(this.rows);
  private readonly table = h(
    "table",
    {},
    h("caption", { class: "unseen" }, "Measurements"),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "What"), h("th", { scope: "col", class: "number" }, "Value"))),
    this.rows,
  );
  private readonly noRows = h("p", { class: "quiet" }, "None yet.");
  private readonly notes = h("ul", { class: "notes", testid: "notes" });
  private readonly refillNotes = new Refill(this.notes);
  private readonly older = h("ul", { class: "notes" });
  private readonly refillOlder = new Refill(this.older);
  private readonly olderWord = h("summary", {});
  private readonly olderBox = h("details", {}, this.olderWord, this.older);
  private readonly noNotes = h("p", { class: "quiet" }, "None yet.");
  readonly measurements = h(
    "section",
    { class: "card", "aria-label": "Measurements" },
    h("h3", {}, "Measurements"),
    this.table,
    this.noRows,
  );
  readonly noteCard = h(
    "section",
    { class: "card", "aria-label": "Notes" },
    h("h3", {}, "Notes"),
    this.notes,
    this.olderBox,
    this.noNotes,
  );

  update(of: Campaign): void {
    const rows = of.measurements.slice(-MOST_SHOWN);
    show(this.noRows, rows.length === 0);
    show(this.table, rows.length > 0);
    this.refillRows.with(rows, () =>
      rows.map((row) =>
        h(
          "tr",
          {},
          h("td", {}, clip(row.key, 120)),
          h("td", { class: "number" }, `${clip(row.value, 40)}${row.unit === "" ? "" : ` ${clip(row.unit, 20)}`}`),
        ),
      ),
    );
    // The newest is what somebody looks for.
    const notes = of.notes.slice(-MOST_SHOWN).reverse();
    show(this.noNotes, notes.length === 0);
    const items = (some: readonly string[]) => some.map((note) => h("li", {}, clip(note, 300)));
    const [fresh, older] = [notes.slice(0, FRESH_NOTES), notes.slice(FRESH_NOTES)];
    this.refillNotes.with(fresh, () => items(fresh));
    show(this.olderBox, older.length > 0);
    setText(this.olderWord, `${older.length} older`);
    this.refillOlder.with(older, () => items(older));
  }
}

export class PreArmList {
  private readonly list = h("ul", { class: "pre-arm", testid: "pre-arm" });
  private readonly refill = new Refill(this.list);
  readonly element = h(
    "section",
    { class: "card", "aria-label": "Before it starts" },
    h("h3", {}, "Before it starts"),
    this.list,
  );

  /** Shown only when something is wrong with it: a list of well is no news. */
  update(of: Campaign): void {
    const wrong = of.preArm.filter((row) => row.verdict !== "pass");
    show(this.element, wrong.length > 0);
    this.refill.with(wrong, () =>
      wrong.map((row) =>
        h(
          "li",
          { class: row.verdict === "fail" ? "fail" : "warn" },
          new Shape(row.verdict === "fail" ? "lost" : "stale").element,
          h(
            "span",
            {},
            `${row.verdict === "fail" ? "Stops it" : "Warning"}: ${clip(row.item, 80)}${row.reason === "" ? "" : `: ${clip(row.reason, 300)}`}`,
          ),
        ),
      ),
    );
  }
}

/** Where each procedure of the plan stands; empty without a plan. */
export function standingOf(of: Campaign): Standing[] {
  if (!of.plan) return [];
  const running = of.state !== "IDLE" && of.state !== "DONE";
  return standings(of.plan, of.banked, of.progress, running ? of.procedureIndex : undefined);
}
