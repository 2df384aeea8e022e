// What the robot says about its campaign, read off the topics. A value that is no number, or of the wrong type, is absent.

import type { Topics } from "../nt/topics";
import { readPlan, unitsOf, type Plan } from "./plan";

const LAB = "/Catalyst/FieldLab/";
const TUNING = "/Catalyst/Tuning/FieldLab/";
/** Rows of a list that are read. */
const MOST_ROWS = 2000;

export interface Measurement {
  readonly key: string;
  readonly value: string;
  /** From the plan; empty when it does not say. */
  readonly unit: string;
}

export interface PreArm {
  readonly item: string;
  readonly verdict: string;
  readonly reason: string;
}

export interface Prompt {
  readonly text: string;
  readonly unit: string;
  /** `<procedure>/<key>`; undefined when the robot does not say such things. */
  readonly key: string | undefined;
  readonly seq: number | undefined;
  readonly min: number | undefined;
  readonly max: number | undefined;
}

export interface Campaign {
  /** Whether there is a Field Lab at all. */
  readonly present: boolean;
  readonly state: string;
  readonly enabled: boolean | undefined;
  readonly session: string;
  readonly campaign: string;
  readonly procedure: string;
  readonly procedureId: string;
  readonly procedureIndex: number | undefined;
  readonly procedureCount: number | undefined;
  readonly step: string;
  readonly stepKind: string;
  readonly stepIndex: number | undefined;
  readonly stepCount: number | undefined;
  readonly progress: number | undefined;
  readonly elapsedSecs: number | undefined;
  readonly remainingSecs: number | undefined;
  readonly estimatedSecs: number | undefined;
  readonly volts: number | undefined;
  readonly gateMin: number | undefined;
  readonly gateResume: number | undefined;
  readonly prompt: Prompt;
  readonly notes: readonly string[];
  readonly measurements: readonly Measurement[];
  readonly preArm: readonly PreArm[];
  readonly hold: string;
  readonly fault: string;
  readonly lastCommit: string | undefined;
  readonly plan: Plan | undefined;
  /** Quality by procedure id; undefined when the robot does not name what is banked. */
  readonly banked: ReadonlyMap<string, string> | undefined;
}

/** Reads the state; keeps the plan, which is long, until its topic changes. */
export class CampaignReader {
  private planSeen = -1;
  private planTopic: unknown;
  private plan: Plan | undefined;
  private units: ReadonlyMap<string, string> = new Map();

  constructor(private readonly topics: Topics) {}

  private text(key: string): string | undefined {
    const value = this.topics.get(LAB + key)?.value;
    return typeof value === "string" ? value : undefined;
  }

  private number(name: string): number | undefined {
    const topic = this.topics.get(name);
    return topic?.kind === "number" && Number.isFinite(topic.number) ? topic.number : undefined;
  }

  private count(key: string): number | undefined {
    const found = this.number(LAB + key);
    return found !== undefined && found >= 0 ? found : undefined;
  }

  private rows(key: string): string[] | undefined {
    const value = this.topics.get(LAB + key)?.value;
    if (!Array.isArray(value)) return undefined;
    return value.slice(0, MOST_ROWS).filter((row): row is string => typeof row === "string");
  }

  /**
   * Our clock at the robot's last word about the campaign, milliseconds. Robots that number their prompts repeat
   * themselves every second; of others nothing can be said.
   */
  get heardMs(): number | undefined {
    const seen = ["PromptSeq", "ElapsedSeconds", "BatteryVolts"].map(
      (key) => this.topics.get(LAB + key)?.seenMs ?? NaN,
    );
    return Number.isFinite(seen[0]) ? Math.max(...seen.filter(Number.isFinite)) : undefined;
  }

  private readPlan(): Plan | undefined {
    const topic = this.topics.get(`${LAB}Plan`);
    if (topic !== this.planTopic || topic?.count !== this.planSeen) {
      this.planTopic = topic;
      this.planSeen = topic?.count ?? -1;
      const value = topic?.value;
      this.plan = typeof value === "string" ? readPlan(value) : undefined;
      this.units = this.plan ? unitsOf(this.plan) : new Map();
    }
    return this.plan;
  }

  private flag(key: string): boolean | undefined {
    const topic = this.topics.get(LAB + key);
    return topic?.kind === "boolean" ? topic.number !== 0 : undefined;
  }

  /**
   * The number that stands in the input for `key`, with what is known of when it was written. What the robot puts there
   * itself, zero or the range's lower end, is nobody's number.
   */
  standing({ key, min }: Prompt): { value: number; stampUs: number; seenMs: number } | undefined {
    const names = [`${TUNING}Value`, ...(key ? [`${TUNING}Answers/${key}`] : [])];
    let newest: { value: number; stampUs: number; seenMs: number } | undefined;
    for (const name of names) {
      const topic = this.topics.get(name);
      if (topic?.kind !== "number" || !Number.isFinite(topic.number)) continue;
      if (topic.number === 0 || (topic.number === min && name !== `${TUNING}Value`)) continue;
      if (!newest || topic.stampUs > newest.stampUs) {
        newest = { value: topic.number, stampUs: topic.stampUs, seenMs: topic.seenMs };
      }
    }
    return newest;
  }

  read(): Campaign {
    const plan = this.readPlan();
    const banked = this.rows("Banked")?.map((row): [string, string] => {
      const bar = row.indexOf("|");
      return bar < 0 ? [row, ""] : [row.slice(0, bar), row.slice(bar + 1)];
    });
    const volts = [
      "FieldLab/BatteryVolts",
      "Status/BatteryVolts",
      "Brownout/MeasuredVoltage",
      "Systemcore/BatteryVolts",
    ]
      .map((key) => this.number(`/Catalyst/${key}`))
      .find((found) => found !== undefined);
    return {
      present: this.text("State") !== undefined,
      state: this.text("State") ?? "",
      enabled: this.flag("Enabled"),
      session: this.text("Session") ?? "",
      campaign: this.text("Campaign") ?? "",
      procedure: this.text("Procedure") ?? "",
      procedureId: this.text("ProcedureId") ?? "",
      procedureIndex: this.count("ProcedureIndex"),
      procedureCount: this.count("ProcedureCount"),
      step: this.text("Step") ?? "",
      stepKind: this.text("StepKind") ?? "",
      stepIndex: this.count("StepIndex"),
      stepCount: this.count("StepCount"),
      progress: this.number(`${LAB}Progress`),
      elapsedSecs: this.count("ElapsedSeconds"),
      remainingSecs: this.count("RemainingSeconds"),
      estimatedSecs: this.count("EstimatedSeconds"),
      volts,
      gateMin: this.number(`${LAB}GateMinVolts`),
      gateResume: this.number(`${LAB}GateResumeVolts`),
      prompt: {
        text: this.text("Prompt") ?? "",
        unit: this.text("PromptUnit") ?? "",
        key: this.text("PromptKey"),
        seq: this.number(`${LAB}PromptSeq`),
        min: this.number(`${LAB}PromptMin`),
        max: this.number(`${LAB}PromptMax`),
      },
      notes: this.rows("Notes") ?? [],
      measurements: (this.rows("Measurements") ?? []).map((row) => {
        const bar = row.lastIndexOf("|");
        const key = bar < 0 ? row : row.slice(0, bar);
        return { key, value: bar < 0 ? "" : row.slice(bar + 1), unit: this.units.get(key) ?? "" };
      }),
      preArm: (this.rows("PreArm") ?? []).map((row) => {
        const [item = "", verdict = "", ...reason] = row.split("|");
        return { item, verdict, reason: reason.join("|") };
      }),
      hold: this.text("Hold") ?? "",
      fault: this.text("Fault") ?? "",
      lastCommit: this.text("LastCommit"),
      plan,
      banked: banked && new Map(banked),
    };
  }
}

/** What the prompt wants of a person. */
export type Wants = "number" | "press" | "either" | "nothing";

/** `either`: the robot asks, and says neither a unit nor whether it wants a number. */
export function wants(of: Campaign): Wants {
  if (of.prompt.text === "" || of.state !== "AWAITING_OPERATOR" || of.enabled === false) return "nothing";
  if (of.prompt.key !== undefined) {
    if (of.prompt.key !== "") return "number";
    // A list that is not passed, or a checkpoint that cannot be kept: nothing that a press would mend.
    return of.hold === "the pre-arm list" || of.hold === "the checkpoint cannot be kept" ? "nothing" : "press";
  }
  return of.prompt.unit === "" ? "either" : "number";
}
