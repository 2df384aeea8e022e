// The plan as the robot publishes it, and what of it fits into the time that is left.

export interface PlanStep {
  readonly label: string;
  readonly kind: string;
  readonly estimateSecs: number;
  /** Of a question: its name under the procedure, and its unit. */
  readonly key: string;
  readonly unit: string;
}

export interface PlanProcedure {
  readonly id: string;
  readonly title: string;
  readonly why: string;
  readonly steps: readonly PlanStep[];
  readonly estimateSecs: number;
  readonly needsOperator: boolean;
}

export interface Plan {
  readonly name: string;
  readonly procedures: readonly PlanProcedure[];
}

const MOST_PROCEDURES = 200;
const MOST_STEPS = 2000;

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function secs(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

function step(value: unknown): PlanStep {
  const of = record(value);
  const kind = text(of["kind"]);
  return {
    label: text(of["label"]),
    kind,
    key: text(of["key"]),
    unit: text(of["unit"]),
    estimateSecs: kind === "settle" ? secs(of["secs"]) : kind === "battery_gate" ? 0 : secs(of["estimate_secs"]),
  };
}

/** Reads the text of the topic `Plan`; undefined when it is none. */
export function readPlan(json: string): Plan | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    return undefined;
  }
  const of = record(parsed);
  if (!Array.isArray(of["procedures"])) return undefined;
  const procedures = of["procedures"].slice(0, MOST_PROCEDURES).map((item: unknown) => {
    const p = record(item);
    const steps = Array.isArray(p["steps"]) ? p["steps"].slice(0, MOST_STEPS).map(step) : [];
    return {
      id: text(p["id"]),
      title: text(p["title"]) || text(p["id"]),
      why: text(p["why"]),
      steps,
      estimateSecs: steps.reduce((sum, s) => sum + s.estimateSecs, 0),
      needsOperator: steps.some((s) => s.kind === "measure" || s.kind === "confirm"),
    };
  });
  return { name: text(of["name"]), procedures };
}

/** The unit of each question, by `<procedure>/<key>`. */
export function unitsOf(plan: Plan): ReadonlyMap<string, string> {
  const asked = plan.procedures.flatMap((procedure) =>
    procedure.steps
      .filter((step) => step.kind === "measure")
      .map((step): [string, string] => [`${procedure.id}/${step.key}`, step.unit]),
  );
  return new Map(asked);
}

export type Standing = "banked" | "current" | "next" | "later";

/** Where each procedure stands. The robot runs them in order and says which is in hand. */
export function standings(
  plan: Plan,
  banked: ReadonlyMap<string, string> | undefined,
  progress: number | undefined,
  current: number | undefined,
): Standing[] {
  const total = plan.procedures.length;
  const done = Math.round((progress ?? 0) * total);
  const isBanked = plan.procedures.map((p, i) =>
    // A robot that does not name them has banked as many as it says, in order.
    banked ? banked.has(p.id) : done >= total || i < Math.min(done, current ?? done),
  );
  let seen = false;
  return plan.procedures.map((_, i) => {
    if (isBanked[i]) return "banked";
    if (i === current) return "current";
    if (seen || (current !== undefined && i < current)) return "later";
    seen = true;
    return "next";
  });
}

export interface Fit {
  readonly procedure: PlanProcedure;
  /** What is still to do of it, seconds. */
  readonly secs: number;
  /** When it would end, seconds from now. */
  readonly endSecs: number;
  readonly fits: boolean;
}

/**
 * What fits into `leftSecs`, in the plan's order: after the first that does not fit, none does, for the robot does not
 * run them in another order. `remainingSecs` is the robot's own sum, from which follows what is left of the one in hand.
 */
export function fits(
  plan: Plan,
  standing: readonly Standing[],
  remainingSecs: number | undefined,
  leftSecs: number,
): Fit[] {
  const open = plan.procedures.filter((_, i) => standing[i] !== "banked");
  const whole = open.reduce((sum, p) => sum + p.estimateSecs, 0);
  const current = plan.procedures.find((_, i) => standing[i] === "current");
  const spent = remainingSecs === undefined ? 0 : Math.max(0, whole - remainingSecs);
  let endSecs = 0;
  return open.map((procedure) => {
    const secs = procedure === current ? Math.max(0, procedure.estimateSecs - spent) : procedure.estimateSecs;
    endSecs += secs;
    return { procedure, secs, endSecs, fits: endSecs <= leftSecs };
  });
}

/** Minutes as they were typed, and when. */
export interface Minutes {
  readonly minutes: number;
  /** Milliseconds since 1970. */
  readonly typedAt: number;
}

/** Seconds that are left of `of` at `nowMs`; never below zero. */
export function leftOf(of: Minutes, nowMs: number): number {
  return Math.max(0, of.minutes * 60 - Math.max(0, nowMs - of.typedAt) / 1000);
}

/** What was kept, if it is whole and less than a day old. */
export function readMinutes(kept: string | null, nowMs: number): Minutes | undefined {
  try {
    const of = record(JSON.parse(kept ?? ""));
    const { minutes, typedAt } = of;
    if (typeof minutes !== "number" || typeof typedAt !== "number") return undefined;
    const sane = minutes > 0 && minutes <= 1440 && typedAt <= nowMs + 60_000 && nowMs - typedAt < 86_400_000;
    return sane ? { minutes, typedAt } : undefined;
  } catch {
    return undefined;
  }
}
