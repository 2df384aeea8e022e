// The rules of answering, and that there is one way to write.

import { describe, expect, it } from "vitest";
import { readAnswer } from "../src/campaign/answer";
import { APART_MS, ARM_MS, Operator, SETTLE_MS, YOUNG_MS } from "../src/operator";
import licences from "../src/licences.txt?raw";
import uplotLicence from "../node_modules/uplot/LICENSE?raw";
import { asking, Bench } from "./support";

function ready(over: Parameters<typeof asking>[1] = {}): { bench: Bench; operator: Operator } {
  const bench = new Bench();
  const operator = new Operator(bench.client, bench.later);
  bench.connect();
  asking(bench, over);
  operator.look();
  bench.pass(YOUNG_MS + 100);
  return { bench, operator };
}

describe("an answer", () => {
  it("is the value and its own key at once, then the prompt's number on Advance when it has stood", () => {
    const { bench, operator } = ready();
    expect(operator.blocked).toBeUndefined();
    expect(operator.answer(4.02)).toBe(true);
    expect(bench.written().map((w) => [w.topic, w.value])).toEqual([
      ["Value", 4.02],
      ["Answers/wheel-radius/caliper-diameter-in", 4.02],
    ]);
    bench.pass(SETTLE_MS - 100);
    expect(bench.written()).toHaveLength(2);
    bench.pass(200);
    expect(bench.written().at(-1)).toMatchObject({ topic: "Advance", value: 7, code: 1 });
    expect(operator.press?.stage).toBe("sent");
  });

  it("is stamped with the server's time, later each time", () => {
    const { bench, operator } = ready();
    operator.answer(4);
    const [first, second] = bench.written();
    expect(first?.stampUs).toBe(bench.ms * 1000 + 10_000_000);
    expect(second?.stampUs).toBe((first?.stampUs ?? 0) + 1);
  });

  it("is never a number that is not finite", () => {
    const { bench, operator } = ready();
    for (const value of [NaN, Infinity, -Infinity]) expect(operator.answer(value)).toBe(false);
    expect(bench.written()).toEqual([]);
  });

  it("f8_a prompt that changed before Advance gets none", () => {
    const { bench, operator } = ready();
    operator.answer(4.02);
    bench.put("/Catalyst/FieldLab/PromptSeq", "int", 8);
    bench.pass(1000);
    expect(bench.written().map((w) => w.topic)).not.toContain("Advance");
    expect(operator.press?.stage).toBe("lost");
  });

  it("goes to Value alone where the robot has no keys of its own, and Advance is a change", () => {
    const bench = new Bench();
    const operator = new Operator(bench.client, bench.later);
    bench.connect();
    bench.put("/Catalyst/FieldLab/State", "string", "AWAITING_OPERATOR");
    bench.put("/Catalyst/FieldLab/Prompt", "string", "Diameter by caliper");
    bench.put("/Catalyst/Tuning/FieldLab/Value", "double", 0);
    bench.put("/Catalyst/Tuning/FieldLab/Advance", "double", 41);
    operator.look();
    bench.pass(YOUNG_MS + 100);
    operator.answer(4.02);
    bench.pass(1000);
    expect(bench.written().map((w) => [w.topic, w.value])).toEqual([
      ["Value", 4.02],
      ["Advance", 42],
    ]);
    operator.answer(4.03);
    bench.pass(1000);
    expect(bench.written().at(-1)).toMatchObject({ topic: "Advance", value: 43 });
  });

  it("is written as the type that the robot declared", () => {
    const { bench, operator } = ready();
    bench.put("/Catalyst/Tuning/FieldLab/Advance", "int", 7);
    operator.answer(4);
    bench.pass(1000);
    expect(bench.written().at(-1)).toMatchObject({ topic: "Advance", code: 2, value: 8 });
  });
});

describe("a press", () => {
  it("f10_is not taken from a connection that is new, here or behind the relay", () => {
    const bench = new Bench();
    const operator = new Operator(bench.client, bench.later);
    bench.connect();
    asking(bench, { key: "" });
    bench.put("/FieldLabConsole/Connected", "boolean", true);
    operator.look();
    bench.pass(1000);
    expect(operator.blocked).toBe("Ready in a few seconds: the connection is new");
    expect(operator.confirm()).toBe(false);
    bench.pass(YOUNG_MS);
    expect(operator.blocked).toBeUndefined();
    bench.put("/FieldLabConsole/Connected", "boolean", false);
    expect(operator.blocked).toBe("The console has no robot");
    bench.put("/FieldLabConsole/Connected", "boolean", true);
    expect(operator.blocked).toMatch(/the connection is new/);
    bench.pass(YOUNG_MS + 100);
    expect(operator.confirm()).toBe(true);
  });

  it("waits until the prompt is armed, and keeps apart from the one before", () => {
    const { bench, operator } = ready({ key: "" });
    bench.put("/Catalyst/FieldLab/PromptSeq", "int", 8);
    expect(operator.confirm()).toBe(false);
    bench.pass(ARM_MS + 100);
    expect(operator.confirm()).toBe(true);
    expect(operator.confirm()).toBe(false);
    bench.pass(APART_MS + 100);
    expect(operator.confirm()).toBe(true);
    // The same prompt again: the robot takes changes alone.
    expect(bench.written().map((w) => w.value)).toEqual([8, 8.5]);
  });

  it("takes into account what somebody else has written meanwhile", () => {
    const { bench, operator } = ready({ key: "" });
    bench.put("/Catalyst/Tuning/FieldLab/Advance", "double", 7);
    operator.confirm();
    expect(bench.written().at(-1)?.value).toBe(7.5);
  });

  it("is not taken while nothing is asked, while disabled, and while there is no connection", () => {
    const { bench, operator } = ready({ enabled: false });
    expect(operator.blocked).toBe("The robot is disabled");
    bench.put("/Catalyst/FieldLab/Enabled", "boolean", true);
    expect(operator.blocked).toBeUndefined();
    bench.put("/Catalyst/FieldLab/State", "string", "RUNNING");
    expect(operator.blocked).toBe("Nothing is asked");
    bench.put("/Catalyst/FieldLab/State", "string", "AWAITING_OPERATOR");
    bench.socket.onclose?.();
    expect(operator.blocked).toBe("No connection");
    expect([operator.answer(1), operator.confirm(), operator.redo(), operator.skip("x"), operator.sameAgain()]).toEqual(
      [false, false, false, false, false],
    );
    expect(bench.written()).toEqual([]);
  });

  it("publishes again on another connection, and sends nothing again by itself", () => {
    const { bench, operator } = ready({ key: "" });
    operator.confirm();
    bench.socket.onclose?.();
    bench.ms += 500;
    bench.connect();
    asking(bench, { key: "", seq: 9 });
    operator.look();
    bench.pass(YOUNG_MS + 500);
    expect(bench.written()).toEqual([]);
    operator.confirm();
    expect(bench.written()).toMatchObject([{ topic: "Advance", value: 9 }]);
  });
});

describe("the age of a prompt", () => {
  it("is from when it came, and says so when it was there before the page", () => {
    const { bench, operator } = ready({ key: "" });
    expect(operator.promptAge).toEqual({ ms: YOUNG_MS + 100, early: true });
    bench.put("/Catalyst/FieldLab/PromptSeq", "int", 8);
    operator.look();
    bench.pass(1500);
    expect(operator.promptAge).toEqual({ ms: 1500, early: false });
    // Another connection shows the same prompt: it is disarmed, and as old as before.
    bench.socket.onclose?.();
    bench.ms += 500;
    bench.connect();
    asking(bench, { key: "", seq: 8 });
    operator.look();
    expect(operator.promptAge).toEqual({ ms: 2000, early: false });
    expect(operator.confirm()).toBe(false);
  });
});

describe("the other controls", () => {
  it("say the reason first, then Skip", () => {
    const { bench, operator } = ready();
    expect(operator.skip("   ")).toBe(false);
    expect(operator.skip("  no caliper here ")).toBe(true);
    bench.pass(1000);
    expect(bench.written().map((w) => [w.topic, w.value])).toEqual([
      ["SkipReason", "no caliper here"],
      ["Skip", 7],
    ]);
  });

  it("say the same again, then Advance", () => {
    const { bench, operator } = ready();
    operator.sameAgain();
    bench.pass(1000);
    expect(bench.written().map((w) => w.topic)).toEqual(["SameAgain", "Advance"]);
  });

  it("exist only where the robot declares them", () => {
    const bench = new Bench();
    const operator = new Operator(bench.client, bench.later);
    bench.connect();
    bench.put("/Catalyst/FieldLab/State", "string", "AWAITING_OPERATOR");
    bench.put("/Catalyst/FieldLab/Prompt", "string", "x");
    operator.look();
    bench.pass(YOUNG_MS + 100);
    expect([operator.redo(), operator.skip("why"), operator.sameAgain()]).toEqual([false, false, false]);
    expect(bench.written()).toEqual([]);
  });
});

describe("what was typed", () => {
  const read = (text: string) => readAnswer(text, "in", 3, 4.5);
  it("is a number with a point or a comma, the unit behind it or not", () => {
    for (const text of ["4.02", "4,02", " 4.02 ", "+4.02", "4.02 in", "4.02IN", "402e-2"]) {
      expect(read(text), text).toEqual({ kind: "number", value: 4.02, outside: undefined });
    }
    expect(readAnswer("\u22120,5", "", undefined, undefined)).toMatchObject({ value: -0.5 });
    expect(readAnswer(",5", "m", undefined, undefined)).toMatchObject({ value: 0.5 });
  });
  it("f9_is refused when it is blank, no number, or not finite", () => {
    for (const text of [
      "",
      "  ",
      "in",
      "abc",
      "NaN",
      "Infinity",
      "-inf",
      "1e999",
      "0x10",
      "1 2",
      "4.0.2",
      "1,234.5",
      "1.234,5",
      "--1",
      "4.02 m",
      ".",
    ]) {
      expect(read(text).kind, text).toBe("refused");
    }
  });
  it("is told when it is outside, and is a number all the same", () => {
    expect(read("5")).toEqual({ kind: "number", value: 5, outside: "5 is above 4.5 in." });
    expect(read("2,5")).toEqual({ kind: "number", value: 2.5, outside: "2.5 is below 3 in." });
    expect(readAnswer("9", "m", 10, undefined)).toMatchObject({ outside: "9 is below 10 m." });
    expect(read("3")).toMatchObject({ outside: undefined });
  });
});

describe("the source", () => {
  const raw = import.meta.glob<string>("../src/**/*.ts", { query: "?raw", import: "default", eager: true });
  const source = new Map(Object.entries(raw).map(([path, text]) => [path.replace("../src/", ""), text]));
  const having = (pattern: RegExp) =>
    [...source]
      .filter(([, text]) => pattern.test(text))
      .map(([name]) => name)
      .sort();

  it("has one module that publishes", () => {
    expect(source.size).toBeGreaterThan(20);
    expect(having(/["'`]publish["'`]|"method":\s*"publish/)).toEqual(["operator.ts"]);
    expect(having(/["'`](un|set)?publish|setproperties/)).toEqual(["operator.ts"]);
    expect(having(/\.transmit\(/)).toEqual(["operator.ts"]);
    expect(having(/\btransmit\b/)).toEqual(["nt/client.ts", "operator.ts"]);
  });

  it("has one module that holds the socket, and it sends questions about time and subscriptions alone", () => {
    expect(having(/\.send\(|new WebSocket/).sort()).toEqual(["main.ts", "nt/client.ts"]);
    expect(having(/\.send\(/)).toEqual(["nt/client.ts"]);
    expect(having(/XMLHttpRequest|fetch\(|sendBeacon|EventSource|importScripts|new Worker/)).toEqual([]);
    const client = source.get("nt/client.ts") ?? "";
    expect(
      client
        .match(/this\.text\([^)]*\)/g)
        ?.every((call) => /subscribeText|unsubscribeText|this\.text\(text\)/.test(call)),
    ).toBe(true);
    expect(client.match(/socket\?\.send/g)).toHaveLength(2);
  });

  it("carries the licence of what it is built with", () => {
    expect(uplotLicence).toContain("Permission is hereby granted");
    expect(licences.endsWith(uplotLicence)).toBe(true);
  });

  it("makes no markup of anything", () => {
    expect(
      having(
        /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|srcdoc|\beval\(|new Function/,
      ),
    ).toEqual([]);
    expect(having(/setAttribute\(\s*["']style|\bstyle:\s*["'`]/)).toEqual([]);
  });

  it("writes under the operator's root alone", () => {
    const operator = source.get("operator.ts") ?? "";
    expect(operator.match(/const ROOT|export const ROOT = "\/Catalyst\/Tuning\/FieldLab\/"/g)).toHaveLength(1);
    expect(operator.match(/const name = ROOT \+ key;/g)).toHaveLength(1);
  });
});
