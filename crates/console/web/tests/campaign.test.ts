// The campaign as it is read, the plan, and what fits.

import { describe, expect, it } from "vitest";
import { fits, leftOf, readMinutes, readPlan, standings } from "../src/campaign/plan";
import { CampaignReader, wants } from "../src/campaign/state";
import { standingOf } from "../src/campaign/lists";
import { asking, Bench } from "./support";

const PLAN = {
  name: "Field Day",
  hash: "00",
  procedures: [
    {
      id: "wheel-radius",
      title: "Wheel radius",
      why: "everything else",
      steps: [
        { label: "12.3 V", group: 0, kind: "battery_gate", min_volts: 12, resume_volts: 12.3 },
        { label: "clear", group: 0, kind: "confirm", estimate_secs: 30 },
        { label: "turn", group: 0, kind: "act", act: 0, timeout_secs: 200, estimate_secs: 90, moves: true },
        { label: "caliper", group: 0, kind: "measure", key: "d", unit: "in", min: 3, max: 4.5, estimate_secs: 60 },
      ],
    },
    {
      id: "slip",
      title: "Slip current",
      why: "",
      steps: [
        { label: "rest", group: 0, kind: "settle", secs: 20 },
        { label: "push", kind: "act", estimate_secs: 100 },
      ],
    },
    { id: "drift", title: "", why: "", steps: [{ label: "lap", kind: "act", estimate_secs: 600 }] },
    { id: "soak", title: "Soak", why: "", steps: [{ label: "soak", kind: "act", estimate_secs: 60 }] },
  ],
};

const plan = readPlan(JSON.stringify(PLAN));
if (!plan) throw new Error("the plan of the test is one");

describe("plan", () => {
  it("estimates as the robot does: a gate takes none, a settle its seconds", () => {
    expect(plan.procedures.map((p) => p.estimateSecs)).toEqual([180, 120, 600, 60]);
    expect(plan.procedures.map((p) => p.needsOperator)).toEqual([true, false, false, false]);
    expect(plan.procedures[2]?.title).toBe("drift");
  });

  it("of nonsense is none, or what of it makes sense", () => {
    for (const text of ["", "null", "[]", "{}", '{"procedures":7}', "{".repeat(5000)])
      expect(readPlan(text), text.slice(0, 20)).toBeUndefined();
    expect(
      readPlan(
        '{"procedures":[null,7,{"steps":[{"kind":"act","estimate_secs":-5},{"kind":"act","estimate_secs":"9"}]}]}',
      )?.procedures.map((p) => p.estimateSecs),
    ).toEqual([0, 0, 0]);
  });
});

describe("standings", () => {
  it("follow the names that the robot says are banked", () => {
    expect(
      standings(
        plan,
        new Map([
          ["wheel-radius", "good"],
          ["drift", "partial: x"],
        ]),
        0.5,
        1,
      ),
    ).toEqual(["banked", "current", "banked", "next"]);
  });
  it("follow the count where there are no names", () => {
    expect(standings(plan, undefined, 0.25, 1)).toEqual(["banked", "current", "next", "later"]);
    expect(standings(plan, undefined, 0, undefined)).toEqual(["next", "later", "later", "later"]);
    expect(standings(plan, undefined, 1, undefined)).toEqual(["banked", "banked", "banked", "banked"]);
    expect(standings(plan, undefined, undefined, 0)).toEqual(["current", "next", "later", "later"]);
  });
});

describe("what fits", () => {
  const standing = standings(plan, undefined, 0.25, 1);
  it("is cut where the time ends, in order, though something shorter comes after", () => {
    const found = fits(plan, standing, undefined, 200);
    expect(found.map((fit) => [fit.procedure.id, fit.endSecs, fit.fits])).toEqual([
      ["slip", 120, true],
      ["drift", 720, false],
      ["soak", 780, false],
    ]);
  });
  it("takes off what of the one in hand is done, as the robot counts it", () => {
    // 780 s are open by the plan, the robot says 700: 80 of the current one are done.
    expect(fits(plan, standing, 700, 45).map((fit) => [fit.secs, fit.fits])).toEqual([
      [40, true],
      [600, false],
      [60, false],
    ]);
    expect(fits(plan, standing, 0, 1e9).map((fit) => fit.secs)).toEqual([0, 600, 60]);
  });
  it("includes what ends on the second", () => {
    expect(fits(plan, standing, undefined, 780).map((fit) => fit.fits)).toEqual([true, true, true]);
  });
});

describe("minutes", () => {
  it("run down from when they were typed", () => {
    expect(leftOf({ minutes: 45, typedAt: 1_000_000 }, 1_000_000 + 12 * 60_000)).toBe(33 * 60);
    expect(leftOf({ minutes: 1, typedAt: 0 }, 600_000)).toBe(0);
    // A clock that was set back does not make time.
    expect(leftOf({ minutes: 5, typedAt: 100_000 }, 0)).toBe(300);
  });
  it("are kept for a day and read with care", () => {
    expect(readMinutes('{"minutes":45,"typedAt":1000}', 2000)).toEqual({ minutes: 45, typedAt: 1000 });
    for (const bad of [
      null,
      "",
      "{}",
      "7",
      '{"minutes":-1,"typedAt":1000}',
      '{"minutes":1e9,"typedAt":1000}',
      '{"minutes":"4","typedAt":1000}',
      '{"minutes":45,"typedAt":1e15}',
    ]) {
      expect(readMinutes(bad, 2000), String(bad)).toBeUndefined();
    }
    expect(readMinutes('{"minutes":45,"typedAt":1000}', 90_000_000)).toBeUndefined();
  });
});

describe("state", () => {
  it("of our robot asks for a number with unit, range and key", () => {
    const bench = new Bench();
    bench.connect();
    asking(bench);
    const of = new CampaignReader(bench.client.topics).read();
    expect(of).toMatchObject({ present: true, state: "AWAITING_OPERATOR", enabled: true });
    expect(of.prompt).toEqual({
      text: "Diameter by caliper",
      unit: "in",
      key: "wheel-radius/caliper-diameter-in",
      seq: 7,
      min: 3,
      max: 4.5,
    });
    expect(wants(of)).toBe("number");
  });

  it("tells a press from a number, and nothing from both", () => {
    const bench = new Bench();
    bench.connect();
    const reader = new CampaignReader(bench.client.topics);
    asking(bench, { key: "", unit: "" });
    expect(wants(reader.read())).toBe("press");
    bench.put("/Catalyst/FieldLab/Hold", "string", "the checkpoint cannot be kept");
    expect(wants(reader.read())).toBe("nothing");
    bench.put("/Catalyst/FieldLab/Hold", "string", "the operator");
    bench.put("/Catalyst/FieldLab/Enabled", "boolean", false);
    expect(wants(reader.read())).toBe("nothing");
    bench.put("/Catalyst/FieldLab/Enabled", "boolean", true);
    bench.put("/Catalyst/FieldLab/State", "string", "PAUSED_BATTERY");
    expect(wants(reader.read())).toBe("nothing");
  });

  it("of a Java robot goes by the unit, and offers both where there is none", () => {
    const bench = new Bench();
    bench.connect();
    const reader = new CampaignReader(bench.client.topics);
    bench.put("/Catalyst/FieldLab/State", "string", "AWAITING_OPERATOR");
    bench.put("/Catalyst/FieldLab/Prompt", "string", "did it score?");
    bench.put("/Catalyst/FieldLab/PromptUnit", "string", "");
    expect(wants(reader.read())).toBe("either");
    bench.put("/Catalyst/FieldLab/PromptUnit", "string", "m");
    expect(wants(reader.read())).toBe("number");
    expect(reader.read().plan).toBeUndefined();
    expect(standingOf(reader.read())).toEqual([]);
  });

  it("takes NaN and values of the wrong type for absent", () => {
    const bench = new Bench();
    bench.connect();
    const lab = "/Catalyst/FieldLab/";
    bench.put(`${lab}State`, "string", "RUNNING");
    bench.put(`${lab}PromptMin`, "double", NaN);
    bench.put(`${lab}Progress`, "double", "half");
    bench.put(`${lab}StepIndex`, "int", -3);
    bench.put(`${lab}Notes`, "string[]", "no list");
    bench.put(`${lab}Plan`, "json", 7);
    bench.putNumbers(`${lab}Measurements`, [1, 2]);
    const of = new CampaignReader(bench.client.topics).read();
    expect(of.prompt.min).toBeUndefined();
    expect([of.progress, of.stepIndex, of.plan]).toEqual([undefined, undefined, undefined]);
    expect([of.notes, of.measurements]).toEqual([[], []]);
  });

  it("splits rows at the bar that the robot put last, and pre-arm reasons not at all", () => {
    const bench = new Bench();
    bench.connect();
    bench.put("/Catalyst/FieldLab/Plan", "json", JSON.stringify(PLAN));
    bench.putTexts("/Catalyst/FieldLab/Banked", ["wheel-radius|partial: a|b", "slip"]);
    bench.putTexts("/Catalyst/FieldLab/Measurements", ["wheel-radius/d|4.02", "odd|key|1.0E16", "none"]);
    bench.putTexts("/Catalyst/FieldLab/PreArm", ["log|fail|a|b", "clock|warn|not set", "disk|pass"]);
    const of = new CampaignReader(bench.client.topics).read();
    expect(of.measurements).toEqual([
      { key: "wheel-radius/d", value: "4.02", unit: "in" },
      { key: "odd|key", value: "1.0E16", unit: "" },
      { key: "none", value: "", unit: "" },
    ]);
    expect([...(of.banked ?? [])]).toEqual([
      ["wheel-radius", "partial: a|b"],
      ["slip", ""],
    ]);
    expect(of.preArm).toEqual([
      { item: "log", verdict: "fail", reason: "a|b" },
      { item: "clock", verdict: "warn", reason: "not set" },
      { item: "disk", verdict: "pass", reason: "" },
    ]);
  });

  it("knows when a robot that repeats itself has stopped, and of others that it does not know", () => {
    const bench = new Bench();
    bench.connect();
    const reader = new CampaignReader(bench.client.topics);
    bench.put("/Catalyst/FieldLab/ElapsedSeconds", "double", 1);
    expect(reader.heardMs).toBeUndefined();
    bench.put("/Catalyst/FieldLab/PromptSeq", "int", 1);
    bench.ms += 700;
    bench.put("/Catalyst/FieldLab/ElapsedSeconds", "double", 1.7);
    bench.ms += 5000;
    expect(bench.ms - (reader.heardMs ?? 0)).toBe(5000);
  });

  it("knows the last number of an input, and that the robot's own is nobody's", () => {
    const bench = new Bench();
    bench.connect();
    const reader = new CampaignReader(bench.client.topics);
    asking(bench);
    const standing = () => reader.standing(reader.read().prompt)?.value;
    expect(standing()).toBeUndefined();
    bench.put("/Catalyst/Tuning/FieldLab/Value", "double", 4.02);
    expect(standing()).toBe(4.02);
    bench.ms += 1000;
    bench.put("/Catalyst/Tuning/FieldLab/Answers/wheel-radius/caliper-diameter-in", "double", 4.03);
    expect(standing()).toBe(4.03);
  });

  it("takes the battery from the first place that has it", () => {
    const bench = new Bench();
    bench.connect();
    const reader = new CampaignReader(bench.client.topics);
    expect(reader.read().volts).toBeUndefined();
    bench.put("/Catalyst/Status/BatteryVolts", "double", 12.1);
    expect(reader.read().volts).toBe(12.1);
    bench.put("/Catalyst/FieldLab/BatteryVolts", "double", NaN);
    expect(reader.read().volts).toBe(12.1);
    bench.put("/Catalyst/FieldLab/BatteryVolts", "double", 12.6);
    expect(reader.read().volts).toBe(12.6);
  });

  it("reads the plan anew when its topic changes, and only then", () => {
    const bench = new Bench();
    bench.connect();
    const reader = new CampaignReader(bench.client.topics);
    bench.put("/Catalyst/FieldLab/Plan", "json", JSON.stringify(PLAN));
    const first = reader.read().plan;
    expect(first?.procedures).toHaveLength(4);
    expect(reader.read().plan).toBe(first);
    bench.put("/Catalyst/FieldLab/Plan", "json", "{}");
    expect(reader.read().plan).toBeUndefined();
  });
});
