// What the server announced and last said. Numbers are kept in place; texts, bytes and arrays are kept as bytes and made
// into values only when somebody looks, so that a topic that changes fifty times a second and is looked at ten times
// costs ten texts.

import type { Properties } from "./control";
import { Reader, Truncated, type Kind } from "./msgpack";

/** Topics beyond this many are counted, not kept; a robot of ours refuses more as well. */
export const MOST_TOPICS = 16384;
/** Bytes of one value that are kept; the rest is known by its length alone. */
export const VALUE_BYTES = 256 * 1024;
/** Bytes of all kept values together. */
export const ALL_BYTES = 64 * 1024 * 1024;

/** A value as it is looked at. A number that a double would round is a bigint. */
export type Scalar = boolean | number | bigint | string;
export type Value = Scalar | Uint8Array | readonly Scalar[] | undefined;

/** Takes every value of a topic, as plots do. */
export interface Probe {
  /** Element of an array; undefined for the number itself. */
  readonly index: number | undefined;
  /** How a number is found in the bytes of a struct. */
  readonly pick: ((bytes: Uint8Array) => number) | undefined;
  take(stampUs: number, value: number): void;
}

const NOTHING: Uint8Array = new Uint8Array(0);
const TEXT = new TextDecoder("utf-8");
const LOOK = new Reader();
/** Elements of an array that are made into values; a screen shows fewer. */
const MOST_ELEMENTS = 20000;

export class Topic {
  id = -1;
  generation = -1;
  kind: Kind = "nil";
  /** The latest number; of a boolean 0 or 1; NaN otherwise. */
  number = NaN;
  /** The server's clock at the latest value, microseconds. NaN before the first. */
  stampUs = NaN;
  /** Our clock when it came, milliseconds. NaN before the first. */
  seenMs = NaN;
  /** Values so far. */
  count = 0;
  /** Bytes of a text or binary, elements of an array, whether kept or not. */
  length = 0;
  readonly probes: Probe[] = [];
  private raw = NOTHING;
  private kept = 0;
  private wide = false;
  private cache: Value = undefined;
  private cached = 0;

  constructor(
    readonly name: string,
    public type: string,
    public properties: Properties,
  ) {}

  /** Whether it has a value at all. */
  get said(): boolean {
    return this.count > 0;
  }

  /** Whether less is kept than was sent. */
  get cut(): boolean {
    return (this.kind === "text" || this.kind === "binary") && this.kept < this.length;
  }

  /** Bytes set aside for this topic. */
  get room(): number {
    return this.raw.length;
  }

  /** Another type makes it another topic. */
  retype(type: string): void {
    if (type === this.type) return;
    this.type = type;
    this.kind = "nil";
    this.number = this.stampUs = this.seenMs = NaN;
    this.count = this.cached = this.length = this.kept = 0;
    this.cache = undefined;
  }

  /** Takes the value at the reader's place. `budget` is how many bytes more it may set aside. */
  take(reader: Reader, stampUs: number, nowMs: number, budget: number): void {
    const from = reader.at;
    const kind = reader.peek();
    let number = NaN;
    this.wide = false;
    switch (kind) {
      case "number":
        number = reader.number();
        if (!Number.isSafeInteger(number) && Number.isInteger(number)) {
          this.wide = true;
          this.keep(reader.since(from), budget);
        }
        break;
      case "boolean":
        number = reader.boolean() ? 1 : 0;
        break;
      case "text":
      case "binary": {
        const bytes = kind === "text" ? reader.textBytes() : reader.binary();
        this.length = bytes.length;
        this.keep(bytes, budget);
        break;
      }
      case "array": {
        const length = reader.array();
        const body = reader.at;
        reader.at = from;
        reader.skip();
        this.length = length;
        this.keep(reader.since(body), budget);
        break;
      }
      default:
        reader.skip();
    }
    this.kind = kind;
    this.number = number;
    this.stampUs = stampUs;
    this.seenMs = nowMs;
    this.count += 1;
    if (this.probes.length > 0) this.feed();
  }

  private keep(bytes: Uint8Array, budget: number): void {
    const wanted = Math.min(bytes.length, VALUE_BYTES);
    if (wanted > this.raw.length && wanted - this.raw.length <= budget) {
      this.raw = new Uint8Array(Math.max(16, wanted, Math.min(VALUE_BYTES, this.raw.length * 2)));
    }
    this.kept = Math.min(wanted, this.raw.length);
    this.raw.set(this.kept === bytes.length ? bytes : bytes.subarray(0, this.kept));
  }

  private feed(): void {
    for (const probe of this.probes) {
      let value = this.number;
      if (probe.pick) value = this.kind === "binary" && !this.cut ? probe.pick(this.raw.subarray(0, this.kept)) : NaN;
      else if (probe.index !== undefined) value = this.element(probe.index);
      probe.take(this.stampUs, value);
    }
  }

  /** The number at `index` of an array; NaN when there is none. */
  private element(index: number): number {
    if (this.kind !== "array" || index >= this.length) return NaN;
    LOOK.reset(this.raw.subarray(0, this.kept));
    try {
      for (let i = 0; i < index; i += 1) LOOK.skip();
      const kind = LOOK.peek();
      return kind === "number" ? LOOK.number() : kind === "boolean" ? Number(LOOK.boolean()) : NaN;
    } catch {
      return NaN;
    }
  }

  /** The latest value, as much of it as is kept. */
  get value(): Value {
    if (this.cached !== this.count) {
      this.cached = this.count;
      this.cache = this.make();
    }
    return this.cache;
  }

  private make(): Value {
    const bytes = this.raw.subarray(0, this.kept);
    switch (this.kind) {
      case "boolean":
        return this.number !== 0;
      case "number":
        if (!this.wide) return this.number;
        LOOK.reset(bytes);
        return LOOK.exact();
      case "text":
        return TEXT.decode(bytes);
      case "binary":
        return bytes.slice();
      case "array":
        return this.elements(bytes);
      default:
        return undefined;
    }
  }

  private elements(bytes: Uint8Array): readonly Scalar[] {
    const found: Scalar[] = [];
    LOOK.reset(bytes);
    try {
      while (!LOOK.end && found.length < MOST_ELEMENTS) {
        const kind = LOOK.peek();
        if (kind === "number") found.push(LOOK.exact());
        else if (kind === "boolean") found.push(LOOK.boolean());
        else if (kind === "text") found.push(LOOK.text());
        else {
          LOOK.skip();
          found.push("(no value)");
        }
      }
    } catch (error) {
      if (!(error instanceof Truncated)) throw error;
    }
    return found;
  }
}

/** Hears of topics that come and go. */
export interface Watcher {
  added(topic: Topic): void;
  removed(topic: Topic): void;
}

export class Topics {
  watcher: Watcher | undefined;
  private readonly names = new Map<string, Topic>();
  private readonly ids = new Map<number, Topic>();
  private generation = 0;
  private room = 0;
  /** Counts topics that came and went. */
  structure = 0;
  /** Counts values. */
  values = 0;
  /** Topics that were too many. */
  refused = 0;

  get size(): number {
    return this.names.size;
  }

  get(name: string): Topic | undefined {
    return this.names.get(name);
  }

  byId(id: number): Topic | undefined {
    return this.ids.get(id);
  }

  all(): IterableIterator<Topic> {
    return this.names.values();
  }

  /** A new connection: ids mean nothing any more, and what is not announced again will be swept. */
  begin(): void {
    this.ids.clear();
    this.generation += 1;
  }

  /** Removes what the server of this connection has not announced. */
  sweep(): void {
    for (const topic of this.names.values()) if (topic.generation !== this.generation) this.remove(topic);
  }

  announce(name: string, id: number, type: string, properties: Properties): Topic | undefined {
    let topic = this.names.get(name);
    if (!topic) {
      if (this.names.size >= MOST_TOPICS) {
        this.refused += 1;
        return undefined;
      }
      topic = new Topic(name, type, properties);
      this.names.set(name, topic);
      this.structure += 1;
      this.watcher?.added(topic);
    } else if (topic.type !== type) {
      topic.retype(type);
      this.structure += 1;
    }
    if (topic.id !== id && this.ids.get(topic.id) === topic) this.ids.delete(topic.id);
    topic.properties = properties;
    topic.id = id;
    topic.generation = this.generation;
    this.ids.set(id, topic);
    return topic;
  }

  unannounce(name: string, id: number): void {
    const topic = this.names.get(name);
    if (topic?.id === id && topic.generation === this.generation) this.remove(topic);
  }

  private remove(topic: Topic): void {
    this.names.delete(topic.name);
    if (this.ids.get(topic.id) === topic) this.ids.delete(topic.id);
    this.room -= topic.room;
    this.structure += 1;
    this.watcher?.removed(topic);
  }

  /** Takes the value at the reader's place for `topic`. */
  take(topic: Topic, reader: Reader, stampUs: number, nowMs: number): void {
    const before = topic.room;
    topic.take(reader, stampUs, nowMs, ALL_BYTES - this.room);
    this.room += topic.room - before;
    this.values += 1;
  }
}
