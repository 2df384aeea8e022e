// What a sheet says about itself: whether it is whole, where its facts come from, what is doubtful, what is not known.

import type { Sheet, Typed } from "./sheet";

const BASIS = 0xcbf29ce484222325n;
const PRIME = 0x100000001b3n;
const CODES: Record<string, number> = {
  boolean: 0,
  double: 1,
  int: 2,
  float: 3,
  string: 4,
  json: 4,
  raw: 5,
  "boolean[]": 16,
  "double[]": 17,
  "int[]": 18,
  "float[]": 19,
  "string[]": 20,
};

/** FNV-1a, 64 bits. */
export class Fnv {
  hash = BASIS;

  feed(bytes: Iterable<number>): this {
    for (const byte of bytes) this.hash = BigInt.asUintN(64, (this.hash ^ BigInt(byte)) * PRIME);
    return this;
  }

  private view(bytes: number, fill: (view: DataView) => void): void {
    const view = new DataView(new ArrayBuffer(bytes));
    fill(view);
    this.feed(new Uint8Array(view.buffer));
  }

  private length(length: number): void {
    this.view(4, (view) => view.setUint32(0, length, true));
  }

  private scalar(code: number, value: unknown): void {
    if (code === 0) this.feed([value === true ? 1 : 0]);
    else if (code === 2) this.view(8, (view) => view.setBigInt64(0, BigInt.asIntN(64, whole(value)), true));
    else if (code === 4) {
      const bytes = new TextEncoder().encode(String(value));
      this.length(bytes.length);
      this.feed(bytes);
    } else this.view(8, (view) => view.setFloat64(0, Number(value), true));
  }

  /** A fact: its key, a zero, its type, its value. */
  fact(key: string, { type, value }: Typed): void {
    const code = CODES[type] ?? 5;
    this.feed(new TextEncoder().encode(key)).feed([0, code]);
    if (value instanceof Uint8Array) {
      this.length(value.length);
      this.feed(value);
    } else if (Array.isArray(value)) {
      this.length(value.length);
      for (const item of value) this.scalar(code - 16, item);
    } else this.scalar(code, value);
  }
}

function whole(value: unknown): bigint {
  if (typeof value === "bigint") return value;
  return typeof value === "number" && Number.isFinite(value) ? BigInt(Math.trunc(value)) : 0n;
}

function byBytes(a: string, b: string): number {
  const [x, y] = [new TextEncoder().encode(a), new TextEncoder().encode(b)];
  for (let i = 0; i < Math.min(x.length, y.length); i += 1) if (x[i] !== y[i]) return (x[i] ?? 0) - (y[i] ?? 0);
  return x.length - y.length;
}

/** Count and hash of the facts, as the robot makes them: in the order of the keys' bytes. */
export function digest(facts: readonly (readonly [string, Typed])[]): { count: number; hash: string } {
  const fnv = new Fnv();
  for (const [key, fact] of [...facts].sort(([a], [b]) => byBytes(a, b))) fnv.fact(key, fact);
  return { count: facts.length, hash: fnv.hash.toString(16).padStart(16, "0") };
}

export type Whole = { is: "unsaid" } | { is: "whole"; count: number } | { is: "part"; have: number; said: number };

export interface Origin {
  readonly how: string;
  readonly source: string;
  /** The robot's clock when it was first known, microseconds. */
  readonly atUs: number;
}

export interface Account {
  readonly whole: Whole;
  readonly bootId: string | undefined;
  readonly origins: ReadonlyMap<string, Origin>;
  /** Key and reason of what is not known. */
  readonly absent: readonly (readonly [string, string])[];
  readonly disagreements: readonly string[];
  readonly warnings: readonly string[];
}

const MOST_ROWS = 200;

function entries(value: unknown): [string, unknown][] {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.entries(value).slice(0, MOST_ROWS * 2)
    : [];
}

function provenance(text: string | undefined): Record<string, unknown> {
  try {
    return Object.fromEntries(entries(JSON.parse(text ?? "")));
  } catch {
    return {};
  }
}

function disagreement(row: string): string {
  const [key, taken, value, other, otherValue, ...more] = row.split("|");
  if (otherValue === undefined || more.length > 0) return row;
  return `${key}: ${taken} says ${value}, ${other} says ${otherValue}; the first is shown`;
}

export function account(sheet: Sheet): Account {
  const said = sheet.number("Sheet/Count");
  const hash = sheet.text("Sheet/Hash");
  const found = digest(sheet.facts());
  const same = found.count === said && found.hash === hash;
  const json = provenance(sheet.text("Sheet/Provenance"));
  const origins = new Map<string, Origin>();
  for (const [key, fact] of entries(json["facts"])) {
    if (!Array.isArray(fact)) continue;
    const [how, source, atUs] = fact as unknown[];
    if (typeof how === "string" && typeof source === "string" && typeof atUs === "number")
      origins.set(key, { how, source, atUs });
  }
  const absent = entries(json["absent"]).flatMap(([key, why]): [string, string][] =>
    typeof why === "string" ? [[key, why]] : [],
  );
  return {
    whole:
      said === undefined || hash === undefined
        ? { is: "unsaid" }
        : same
          ? { is: "whole", count: found.count }
          : { is: "part", have: found.count, said },
    bootId: sheet.text("Sheet/BootId"),
    origins,
    absent,
    disagreements: (sheet.texts("Sheet/Disagreements") ?? []).slice(0, MOST_ROWS).map(disagreement),
    warnings: (sheet.texts("Sheet/Warnings") ?? []).slice(0, MOST_ROWS),
  };
}
