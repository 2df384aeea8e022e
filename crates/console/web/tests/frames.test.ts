// The reader against bytes of the official server, which the Rust codec reads as well, and against hostile ones.

import { describe, expect, it } from "vitest";
import golden from "../../../nt4/tests/golden/ntcore_frames.json";
import { readFrame } from "../src/nt/frames";
import { Reader, Truncated, Writer } from "../src/nt/msgpack";
import { ALL_BYTES, MOST_TOPICS, Topics, VALUE_BYTES, type Value } from "../src/nt/topics";
import { Bench, bytes } from "./support";

function written(value: Value): unknown {
  if (value instanceof Uint8Array) return [...value].map((b) => b.toString(16).padStart(2, "0")).join("");
  if (Array.isArray(value)) return value.map((item: Value) => written(item));
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "number") return value;
  if (Number.isNaN(value)) return "nan";
  return value === Infinity ? "inf" : Object.is(value, -0) ? "-0" : value;
}

describe("golden frames", () => {
  it("every value of the official server is what was set", () => {
    const bench = new Bench();
    bench.connect();
    for (const frame of golden.frames) {
      if (frame.text !== undefined) bench.text(frame.text);
      else if (frame.binary !== undefined) bench.binary(bytes(frame.binary));
    }
    expect(golden.expected).toHaveLength(34);
    for (const row of golden.expected) {
      const topic = bench.client.topics.get(row.name);
      expect(topic?.type, row.name).toBe(row.type);
      expect(written(topic?.value), row.name).toEqual(row.value);
    }
    expect(bench.client.broken).toBe(0);
  });
});

function one(hex: string): { value: Value; broken: number; topics: Topics } {
  const topics = new Topics();
  topics.announce("/a", 5, "double", new Map());
  const { broken } = readFrame(bytes(hex), topics, 0, () => undefined);
  return { value: topics.get("/a")?.value, broken, topics };
}

describe("broken frames", () => {
  it("an item of wrong arity costs itself; the next is read", () => {
    expect(one("93 05 01 01" + "94 05 02 01 cb 4008000000000000")).toMatchObject({ value: 3, broken: 1 });
    expect(one("95 05 01 01 02 03" + "94 05 02 01 07")).toMatchObject({ value: 7, broken: 1 });
    expect(one("90" + "94 05 02 01 07")).toMatchObject({ value: 7, broken: 1 });
  });

  it("an id, a time or a type that is no number costs its item", () => {
    expect(one("94 a1 61 01 01 07" + "94 05 02 01 08")).toMatchObject({ value: 8, broken: 1 });
    expect(one("94 05 c0 01 07" + "94 05 02 01 08")).toMatchObject({ value: 8, broken: 1 });
    expect(one("94 05 01 90 07" + "94 05 02 01 08")).toMatchObject({ value: 8, broken: 1 });
  });

  it("something that is no array is passed by", () => {
    expect(one("81 a1 61 01" + "94 05 02 01 08")).toMatchObject({ value: 8, broken: 1 });
    expect(one("c0 c1 c7 01 02 03" + "94 05 02 01 08")).toMatchObject({ value: 8, broken: 3 });
  });

  it("lost framing ends the frame and keeps what came before", () => {
    expect(one("94 05 02 01 08" + "94 05 02 01 cb 4008")).toMatchObject({ value: 8, broken: 1 });
    expect(one("94 05 02 04 db ffffffff 61")).toMatchObject({ value: undefined, broken: 1 });
    expect(one("94 05 02 11 dd ffffffff")).toMatchObject({ value: undefined, broken: 1 });
  });

  it("values of ids that nobody announced are passed by", () => {
    const topics = new Topics();
    const result = readFrame(bytes("94 09 02 01 08 94 fe 02 01 08"), topics, 0, () => undefined);
    expect(result).toEqual({ broken: 0, unknown: 2 });
  });

  it("a value of another type than announced is that value, and no number for those who want one", () => {
    const { value, topics } = one("94 05 02 04 a2 6869");
    expect(value).toBe("hi");
    expect(topics.get("/a")?.number).toBeNaN();
  });

  it("two million open arrays cost their length and nothing else", () => {
    const frame = new Uint8Array(2_000_000).fill(0x91);
    const topics = new Topics();
    expect(readFrame(frame, topics, 0, () => undefined).broken).toBe(1);
  });

  it("no bytes throw: every prefix and every single changed byte of real frames", () => {
    const topics = new Topics();
    for (let id = 0; id < 128; id += 1) topics.announce(`/t${id}`, id, "double", new Map());
    const frames = golden.frames.flatMap((frame) => (frame.binary === undefined ? [] : [bytes(frame.binary)]));
    let read = 0;
    for (const frame of frames) {
      for (let cut = 0; cut < frame.length; cut += 1) {
        readFrame(frame.subarray(0, cut), topics, 0, () => undefined);
        const changed = frame.slice();
        changed[cut] = (changed[cut] ?? 0) ^ (0x80 | (cut & 0x7f));
        readFrame(changed, topics, 0, () => undefined);
        read += 2;
      }
    }
    for (const topic of topics.all()) void topic.value;
    expect(read).toBeGreaterThan(2000);
  });

  it("no bytes throw: noise of a fixed seed, through the client", () => {
    const bench = new Bench();
    bench.connect();
    for (let id = 1; id < 100; id += 1) bench.announce(`/noise/${id}`, "double");
    let seed = 20261130;
    const next = () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) >>> 24;
    for (let frame = 0; frame < 4000; frame += 1) {
      const noise = new Uint8Array(8 + next()).map(next);
      noise[0] = 0x94;
      noise[1] = next() & 0x7f;
      bench.binary(noise);
    }
    for (const topic of bench.client.topics.all()) void topic.value;
    for (const text of [
      "",
      "{",
      "[",
      "null",
      "[null]",
      "[[]]",
      '[{"method":"announce"}]',
      '[{"method":"announce","params":{"name":"/x","id":1.5,"type":"int"}}]',
      '{"method":1}',
    ])
      bench.text(text);
    bench.socket.onmessage?.({ data: { blob: true } });
    expect(bench.client.broken).toBeGreaterThan(3000);
    expect(bench.client.link).toBe("live");
  });
});

describe("limits", () => {
  it("a huge text is cut and its length is told", () => {
    const topics = new Topics();
    topics.announce("/a", 5, "string", new Map());
    const text = "x".repeat(VALUE_BYTES + 5000);
    readFrame(new Writer().array(4).int(5).int(1).int(4).text(text).take(), topics, 0, () => undefined);
    const topic = topics.get("/a");
    expect(topic?.length).toBe(VALUE_BYTES + 5000);
    expect((topic?.value as string).length).toBe(VALUE_BYTES);
    expect(topic?.cut).toBe(true);
  });

  it("topics beyond the limit are counted, not kept", () => {
    const topics = new Topics();
    for (let id = 0; id < MOST_TOPICS + 10; id += 1) topics.announce(`/t/${id}`, id, "int", new Map());
    expect([topics.size, topics.refused]).toEqual([MOST_TOPICS, 10]);
  });

  it("all values together stay below the budget", () => {
    const topics = new Topics();
    const text = "x".repeat(VALUE_BYTES);
    const count = ALL_BYTES / VALUE_BYTES + 20;
    for (let id = 0; id < count; id += 1) {
      topics.announce(`/t/${id}`, id, "string", new Map());
      readFrame(new Writer().array(4).int(id).int(1).int(4).text(text).take(), topics, 0, () => undefined);
    }
    let room = 0;
    for (const topic of topics.all()) room += topic.room;
    expect(room).toBeLessThanOrEqual(ALL_BYTES);
    expect(topics.get(`/t/${count - 1}`)?.cut).toBe(true);
  });
});

describe("the reader alone", () => {
  it("reads what the writer wrote", () => {
    const reader = new Reader();
    for (const value of [0, 127, 128, 70000, 4294967295, 4294967296, 1e15, -1, -32, -33, -70000, -1e15]) {
      reader.reset(new Writer().int(value).take());
      expect(reader.number()).toBe(value);
      expect(reader.end).toBe(true);
    }
    for (const text of ["", "é".repeat(10), "y".repeat(100), "z".repeat(70000)]) {
      reader.reset(new Writer().text(text).take());
      expect(reader.text()).toBe(text);
    }
  });

  it("passes one whole item of every kind", () => {
    const items = [
      "07",
      "ff",
      "c0",
      "c2",
      "c3",
      "81a16101",
      "9201 02".replace(" ", ""),
      "a161",
      "c40101",
      "c5000101",
      "c60000000101",
      "c7010201",
      "c800010201",
      "c90000000102 01".replace(" ", ""),
      "ca00000000",
      "cb0000000000000000",
      "cc01",
      "cd0001",
      "ce00000001",
      "cf0000000000000001",
      "d0ff",
      "d1ffff",
      "d2ffffffff",
      "d3ffffffffffffffff",
      "d40101",
      "d5010101",
      "d60101010101",
      "d7010101010101010101",
      "d801" + "01".repeat(16),
      "d90161",
      "da000161",
      "db0000000161",
      "dc000101",
      "dd0000000101",
      "de0001a16101",
      "df00000001a16101",
    ];
    const reader = new Reader();
    for (const item of items) {
      reader.reset(bytes(`${item}2a`));
      reader.skip();
      expect(reader.number(), item).toBe(42);
      for (let cut = 0; cut < item.length / 2; cut += 1) {
        reader.reset(bytes(item.slice(0, cut * 2)));
        expect(() => reader.skip(), `${item} cut at ${cut}`).toThrow(Truncated);
      }
    }
  });
});
