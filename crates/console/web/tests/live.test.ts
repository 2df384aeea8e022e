// The tree, the ring, struct layouts, and values as text.

import { describe, expect, it } from "vitest";
import { Ring, summary } from "../src/live/ring";
import { Tree } from "../src/live/tree";
import { fullText, lineText, plottable, Structs } from "../src/live/values";
import { layout, readNumber, readText } from "../src/nt/struct";
import { Writer } from "../src/nt/msgpack";
import type { Topic } from "../src/nt/topics";
import { ageText, clockText, durationText, figure, plain } from "../src/ui/format";
import { Bench, bytes } from "./support";

function topicOf(bench: Bench, name: string): Topic {
  const topic = bench.client.topics.get(name);
  if (!topic) throw new Error(`${name} is not there`);
  return topic;
}

function putBytes(bench: Bench, name: string, type: string, data: Uint8Array): Topic {
  const id = bench.announce(name, type);
  const head = new Writer().array(4).int(id).int(1).int(5).take();
  bench.binary(new Uint8Array([...head, 0xc5, data.length >> 8, data.length & 0xff, ...data]));
  return topicOf(bench, name);
}

describe("tree", () => {
  const names = (tree: Tree) => tree.rows().map((row) => `${" ".repeat(row.depth)}${row.node.segment}`);
  it("opens one level at a time and orders numbers by size", () => {
    const bench = new Bench();
    bench.connect();
    const tree = new Tree(bench.client.topics);
    for (const name of ["/b/10", "/b/9", "/a", "plain", "/b"]) bench.announce(name, "int");
    expect(names(tree)).toEqual(["a", "b", "plain"]);
    const b = tree.find("/b");
    if (b) tree.toggle(b, true);
    expect(names(tree)).toEqual(["a", "b", " 9", " 10", "plain"]);
    expect(b?.topic?.name).toBe("/b");
  });
  it("forgets what went, and keeps a branch while something is below it", () => {
    const bench = new Bench();
    bench.connect();
    const tree = new Tree(bench.client.topics);
    const id = bench.announce("/b/x/y", "int");
    bench.announce("/b/z", "int");
    bench.text(JSON.stringify([{ method: "unannounce", params: { name: "/b/x/y", id } }]));
    expect(tree.find("/b/x")).toBeUndefined();
    expect(tree.find("/b/z")?.topic).toBeDefined();
  });
  it("finds by every word, in any order, whatever the case", () => {
    const bench = new Bench();
    bench.connect();
    for (const name of ["/Swerve/Modules/0/AngleRadians", "/Swerve/Modules/1/StatorAmps", "/Gyro"])
      bench.announce(name, "double");
    const tree = new Tree(bench.client.topics);
    expect(tree.found("amps module").map((row) => row.node.topic?.name)).toEqual(["/Swerve/Modules/1/StatorAmps"]);
    expect(tree.found("nothing")).toEqual([]);
  });
  it("takes names without end, without parts and with odd parts", () => {
    const bench = new Bench();
    bench.connect();
    const deep = `/${"a/".repeat(200)}b`;
    for (const name of [deep, "/", "//", "/__proto__/constructor", "/toString"]) bench.announce(name, "int");
    const tree = new Tree(bench.client.topics);
    expect(tree.find(deep)?.topic?.name).toBe(deep);
    expect(tree.find("/__proto__/constructor")?.topic?.name).toBe("/__proto__/constructor");
    expect(tree.rows().length).toBe(4);
  });
});

describe("ring", () => {
  it("gives the last stretch in one piece, across its seam", () => {
    const ring = new Ring(5);
    for (let i = 1; i <= 13; i += 1) ring.push(i, i * 10);
    expect([...ring.since(0).xs]).toEqual([9, 10, 11, 12, 13]);
    // The one before is in force where the stretch begins.
    expect([...ring.since(11.5).ys]).toEqual([110, 120, 130]);
    expect([...ring.since(99).xs]).toEqual([13]);
    expect([...new Ring(3).since(0).xs]).toEqual([]);
    expect([ring.length, ring.taken, ring.lastX, ring.lastY]).toEqual([5, 13, 13, 130]);
  });
  it("holds the last value up to now, and the next push is none the wiser", () => {
    const ring = new Ring(3);
    for (let i = 1; i <= 4; i += 1) ring.push(i, i * 10);
    expect([...ring.since(0, 7).xs]).toEqual([2, 3, 4, 7]);
    expect([...ring.since(0, 7).ys]).toEqual([20, 30, 40, 40]);
    expect([...ring.since(0, 1).xs]).toEqual([2, 3, 4]);
    ring.push(9, 90);
    expect([...ring.since(0).ys]).toEqual([30, 40, 90]);
  });
  it("replaces a value of the same time, and starts anew when time went back", () => {
    const ring = new Ring(4);
    ring.push(1, 1);
    ring.push(2, 2);
    ring.push(2, 3);
    expect([...ring.since(0).ys]).toEqual([1, 3]);
    ring.push(0.5, 9);
    ring.push(NaN, 9);
    expect([...ring.since(0).xs]).toEqual([0.5]);
  });
  it("sums up what is finite", () => {
    expect(summary(new Float64Array([1, NaN, 5, -2, Infinity]))).toEqual({ count: 3, min: -2, max: 5, last: -2 });
    expect(summary(new Float64Array([NaN]))).toBeUndefined();
  });
  it("is fed by every value, by an element, and by a field of a struct", () => {
    const bench = new Bench();
    bench.connect();
    const rings = [new Ring(10), new Ring(10), new Ring(10)];
    const probe = (ring: Ring | undefined, index?: number, pick?: (b: Uint8Array) => number) => ({
      index,
      pick,
      take: (t: number, v: number) => ring?.push(t, v),
    });
    bench.announce("/n", "double");
    topicOf(bench, "/n").probes.push(probe(rings[0]));
    bench.announce("/l", "double[]");
    topicOf(bench, "/l").probes.push(probe(rings[1], 2));
    bench.announce("/s", "struct:X");
    topicOf(bench, "/s").probes.push(probe(rings[2], undefined, (b) => b[1] ?? NaN));
    for (let i = 1; i <= 3; i += 1) {
      bench.ms += 10;
      bench.put("/n", "double", i);
      bench.putNumbers("/l", [0, 0, i * 2]);
    }
    bench.putNumbers("/l", [0]);
    putBytes(bench, "/s", "struct:X", bytes("0a0b"));
    expect([...(rings[0]?.since(0).ys ?? [])]).toEqual([1, 2, 3]);
    expect([...(rings[1]?.since(0).ys ?? [])].slice(0, 2)).toEqual([2, 4]);
    expect(rings[1]?.lastY).toBeNaN();
    expect(rings[2]?.lastY).toBe(11);
  });
});

describe("struct", () => {
  const of = (schemas: Record<string, string>, name = "X") => layout(name, (asked) => schemas[asked]);
  it("is packed, with nested structs and arrays", () => {
    const pose = of({
      X: "Translation2d translation;Rotation2d rotation",
      Translation2d: "double x;double y",
      Rotation2d: "double value",
    });
    expect(pose?.size).toBe(24);
    expect(pose?.leaves.map((leaf) => [leaf.path, leaf.offset])).toEqual([
      ["translation.x", 0],
      ["translation.y", 8],
      ["rotation.value", 16],
    ]);
    expect(of({ X: "uint8 a; int16 b[2]; float32 c" })?.leaves.map((leaf) => [leaf.path, leaf.offset])).toEqual([
      ["a", 0],
      ["b[0]", 1],
      ["b[1]", 3],
      ["c", 5],
    ]);
  });
  it("reads every kind of number, little endian", () => {
    const made = of({ X: "bool a;int8 b;uint16 c;int32 d;float e;double f;int64 g" });
    const data = new DataView(new ArrayBuffer(28));
    data.setUint8(0, 1);
    data.setInt8(1, -5);
    data.setUint16(2, 65000, true);
    data.setInt32(4, -70000, true);
    data.setFloat32(8, 0.5, true);
    data.setFloat64(12, 0.1, true);
    data.setBigInt64(20, -9n, true);
    const all = new Uint8Array(data.buffer);
    expect(made?.size).toBe(28);
    expect(made?.leaves.map((leaf) => readNumber(all, 0, leaf))).toEqual([1, -5, 65000, -70000, 0.5, 0.1, -9]);
    expect(made?.leaves.map((leaf) => readNumber(all.subarray(0, 3), 0, leaf))).toEqual([
      1,
      -5,
      NaN,
      NaN,
      NaN,
      NaN,
      NaN,
    ]);
  });
  it("shares a unit between bit fields, and closes it at another size or field", () => {
    const made = of({ X: "int8 a:4;int8 b:2;bool c:1;int16 d:5;uint8 e" });
    expect(made?.leaves.map((leaf) => [leaf.path, leaf.offset, leaf.shift])).toEqual([
      ["a", 0, 0],
      ["b", 0, 4],
      ["c", 0, 6],
      ["d", 1, 0],
      ["e", 3, 0],
    ]);
    const all = bytes("6f 1f 00 07");
    expect(made?.leaves.map((leaf) => readNumber(all, 0, leaf))).toEqual([15, 2, 1, 31, 7]);
  });
  it("takes enums and texts", () => {
    const made = of({ X: "enum {a=1, b=2} int8 kind; {x=0} uint8 other; char name[4]" });
    expect(made?.size).toBe(6);
    const leaf = made?.leaves[2];
    expect(leaf && readText(bytes("0000 68690000"), 0, leaf)).toBe("hi");
  });
  it("is none while a schema is missing, and for what makes no sense", () => {
    expect(of({})).toBeUndefined();
    expect(of({ X: "Y y" })).toBeUndefined();
    expect(of({ X: "Y y", Y: "X x" })).toBeUndefined();
    for (const bad of ["", "double", "double x[0]", "float a:3", "int8 a:9", "double x[999999]", "Y y[512]"]) {
      expect(of({ X: bad, Y: "double a[500]" }), bad).toBeUndefined();
    }
  });
});

describe("values as text", () => {
  it("say what they are, shortly and at length", () => {
    const bench = new Bench();
    bench.connect();
    const structs = new Structs(bench.client.topics);
    const line = (name: string) => lineText(topicOf(bench, name), structs);
    bench.announce("/none", "double");
    expect(line("/none")).toBe("no value yet");
    bench.put("/n", "double", 0.123456);
    expect(line("/n")).toBe("0.1235");
    bench.put("/wrong", "string", 4);
    expect(line("/wrong")).toBe("4 (sent where string was announced)");
    bench.put("/t", "string", "z".repeat(5000));
    expect(line("/t")).toMatch(/^z{120}… \(.*5000 bytes\)$/);
    bench.putNumbers("/l", [1, 2.5, NaN]);
    expect(line("/l")).toBe("[3] 1, 2.500, NaN");
    bench.putTexts("/s", ["a", "<i>"]);
    expect(line("/s")).toBe('[2] "a", "<i>"');
    putBytes(bench, "/p", "struct:P", bytes("000000000000f03f 0000000000000040"));
    expect(line("/p")).toBe("16 bytes");
    putBytes(bench, "/.schema/struct:P", "structschema", new TextEncoder().encode("double x;double y"));
    expect(line("/p")).toBe("x 1, y 2");
    expect(plottable(topicOf(bench, "/p"), structs).map((part) => part.label)).toEqual(["x", "y"]);
    putBytes(bench, "/ps", "struct:P[]", bytes("000000000000f03f 0000000000000040".repeat(2) + "00"));
    expect(fullText(topicOf(bench, "/ps"), structs)).toBe("[2] [0].x 1, [0].y 2, [1].x 1, [1].y 2");
    expect(plottable(topicOf(bench, "/s"), structs)).toEqual([]);
    expect(plottable(topicOf(bench, "/l"), structs).map((part) => part.index)).toEqual([0, 1, 2]);
  });
  it("are numbers and times as people read them", () => {
    expect([0, 5, 12.3456, 123.456, 12345.6, 1e7 + 0.5, 0.00001, -0.5, NaN, -Infinity, 2n ** 60n].map(figure)).toEqual([
      "0",
      "5",
      "12.346",
      "123.46",
      "12345.6",
      "1.000e+7",
      "1.000e-5",
      "-0.5000",
      "NaN",
      "-∞",
      "1152921504606846976",
    ]);
    expect([plain(1, 3), plain(100, 0), plain(0.7, 4), plain(0.0254, 3)]).toEqual(["1", "100", "0.7", "0.025"]);
    expect([0, 65, 3909, -5].map(clockText)).toEqual(["0:00", "1:05", "1:05:09", "0:00"]);
    expect([40, 59.6, 540, 4320].map(durationText)).toEqual(["40 s", "1 min", "9 min", "1 h 12 min"]);
    expect([10, 1500, 99_999, 120_000, 7_200_000].map(ageText)).toEqual(["now", "1 s", "99 s", "2 min", "2 h"]);
  });
});
