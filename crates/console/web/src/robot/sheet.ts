// The robot's own account of itself, as the topics under /Catalyst/Robot/ hold it. What has no value, or none of the type
// that its name promises, is absent; nothing is ever put in its place.

import type { Topics, Value } from "../nt/topics";

export const ROOT = "/Catalyst/Robot/";
/** Keys beyond this many are not read; the whole key table has fewer than a hundred. */
const MOST_KEYS = 2000;

/** A value with the type that it was announced as. */
export interface Typed {
  readonly type: string;
  readonly value: Value;
}

export class Sheet {
  private readonly used = new Set<string>();
  private readonly retracted: ReadonlySet<unknown>;

  constructor(private readonly values: ReadonlyMap<string, Typed>) {
    // A robot says what it took back, for readers that keep old values; then it is not there, whatever is kept.
    const list = values.get("Sheet/Retracted")?.value;
    this.retracted = new Set(Array.isArray(list) ? list : []);
  }

  static of(topics: Topics): Sheet {
    const values = new Map<string, Typed>();
    for (const topic of topics.all()) {
      if (values.size >= MOST_KEYS) break;
      if (topic.said && topic.name.startsWith(ROOT)) {
        values.set(topic.name.slice(ROOT.length), { type: topic.type, value: topic.value });
      }
    }
    return new Sheet(values);
  }

  /** Facts by key; what the sheet says about itself is none. */
  facts(): [string, Typed][] {
    const facts = [...this.values].filter(([key]) => !key.startsWith("Sheet/") && !this.retracted.has(key));
    return facts.sort(([a], [b]) => (a < b ? -1 : 1));
  }

  private at(key: string): Value {
    return this.retracted.has(key) ? undefined : this.values.get(key)?.value;
  }

  /** A text; a number is accepted where a text is asked for. */
  text(key: string): string | undefined {
    const value = this.at(key);
    const text = typeof value === "number" && Number.isFinite(value) ? String(value) : value;
    return this.use(key, typeof text === "string" && text.trim() !== "" ? text.trim() : undefined);
  }

  /** A finite number; zero is one. */
  number(key: string): number | undefined {
    const value = this.at(key);
    const number = typeof value === "bigint" ? Number(value) : value;
    return this.use(key, typeof number === "number" && Number.isFinite(number) ? number : undefined);
  }

  flag(key: string): boolean | undefined {
    const value = this.at(key);
    return this.use(key, typeof value === "boolean" ? value : undefined);
  }

  /** Texts that say something. */
  texts(key: string): readonly string[] | undefined {
    const value = this.at(key);
    if (!Array.isArray(value)) return undefined;
    const texts = value.filter((item): item is string => typeof item === "string" && item.trim() !== "");
    return this.use(key, texts.length > 0 && texts.length === value.length ? texts : undefined);
  }

  /** Numbers, all of them finite, or nothing. */
  numbers(key: string): readonly number[] | undefined {
    const value = this.at(key);
    if (!Array.isArray(value)) return undefined;
    const good = value.length > 0 && value.every((item) => typeof item === "number" && Number.isFinite(item));
    return this.use(key, good ? (value as number[]) : undefined);
  }

  private use<T>(key: string, value: T | undefined): T | undefined {
    if (value !== undefined) this.used.add(key);
    return value;
  }

  /** What nobody has asked for, or what was not of the type that its name promises; what says nothing is left out. */
  rest(): [string, Value][] {
    return this.facts().flatMap(([key, { value }]) => (this.used.has(key) || isSilent(value) ? [] : [[key, value]]));
  }
}

/** A source that had nothing to say: blank, no number, an empty list or one with such an item in it. */
function isSilent(value: Value): boolean {
  if (Array.isArray(value)) return value.length === 0 || value.some((item: Value) => isSilent(item));
  if (typeof value === "string") return value.trim() === "";
  return value === undefined || (typeof value === "number" && !Number.isFinite(value));
}
