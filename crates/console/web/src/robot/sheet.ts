// The robot's own account of itself, as the topics under /Catalyst/Robot/ hold it. What has no value, or none of the type
// that its name promises, is absent; nothing is ever put in its place.

import type { Topics, Value } from "../nt/topics";

export const ROOT = "/Catalyst/Robot/";
/** Keys beyond this many are not read; the whole key table has fewer than a hundred. */
const MOST_KEYS = 2000;

export class Sheet {
  private readonly used = new Set<string>();

  constructor(private readonly values: ReadonlyMap<string, Value>) {}

  static of(topics: Topics): Sheet {
    const values = new Map<string, Value>();
    for (const topic of topics.all()) {
      if (values.size >= MOST_KEYS) break;
      if (topic.said && topic.name.startsWith(ROOT)) values.set(topic.name.slice(ROOT.length), topic.value);
    }
    return new Sheet(new Map([...values].sort(([a], [b]) => (a < b ? -1 : 1))));
  }

  /** A text; a number is accepted where a text is asked for. */
  text(key: string): string | undefined {
    const value = this.values.get(key);
    const text = typeof value === "number" && Number.isFinite(value) ? String(value) : value;
    return this.use(key, typeof text === "string" && text.trim() !== "" ? text.trim() : undefined);
  }

  /** A finite number; zero is one. */
  number(key: string): number | undefined {
    const value = this.values.get(key);
    const number = typeof value === "bigint" ? Number(value) : value;
    return this.use(key, typeof number === "number" && Number.isFinite(number) ? number : undefined);
  }

  flag(key: string): boolean | undefined {
    const value = this.values.get(key);
    return this.use(key, typeof value === "boolean" ? value : undefined);
  }

  /** Texts that say something. */
  texts(key: string): readonly string[] | undefined {
    const value = this.values.get(key);
    if (!Array.isArray(value)) return undefined;
    const texts = value.filter((item): item is string => typeof item === "string" && item.trim() !== "");
    return this.use(key, texts.length > 0 && texts.length === value.length ? texts : undefined);
  }

  /** Numbers, all of them finite, or nothing. */
  numbers(key: string): readonly number[] | undefined {
    const value = this.values.get(key);
    if (!Array.isArray(value)) return undefined;
    const good = value.length > 0 && value.every((item) => typeof item === "number" && Number.isFinite(item));
    return this.use(key, good ? (value as number[]) : undefined);
  }

  private use<T>(key: string, value: T | undefined): T | undefined {
    if (value !== undefined) this.used.add(key);
    return value;
  }

  /** What nobody has asked for, or what was not of the type that its name promises; what says nothing is left out. */
  rest(): readonly (readonly [string, Value])[] {
    return [...this.values].filter(([key, value]) => {
      if (this.used.has(key) || value === undefined || value === "") return false;
      if (typeof value === "number" && !Number.isFinite(value)) return false;
      return !(Array.isArray(value) && value.length === 0);
    });
  }
}
