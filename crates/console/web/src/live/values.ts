// A topic's value as text, and the numbers in it that can be plotted.

import { layout, readNumber, readText, type Layout, type Leaf } from "../nt/struct";
import type { Scalar, Topic, Topics } from "../nt/topics";
import { bytesText, clip, figure } from "../ui/format";

const LINE_CHARS = 120;
const FULL_CHARS = 4000;
/** Elements of an array, fields of a struct that get a row of their own. */
const MOST_PARTS = 64;

/** The layouts of struct topics, made when first asked for and again when a schema comes. */
export class Structs {
  private readonly layouts = new Map<string, Layout | undefined>();
  private structure = -1;

  constructor(private readonly topics: Topics) {}

  layout(name: string): Layout | undefined {
    if (this.structure !== this.topics.structure || !this.layouts.get(name)) {
      this.structure = this.topics.structure;
      this.layouts.clear();
      this.layouts.set(
        name,
        layout(name, (of) => this.schema(of)),
      );
    }
    return this.layouts.get(name);
  }

  private schema(name: string): string | undefined {
    const value = this.topics.get(`/.schema/struct:${name}`)?.value;
    if (value instanceof Uint8Array) return new TextDecoder().decode(value);
    return typeof value === "string" ? value : undefined;
  }
}

/** `struct:Pose2d[]` is the struct `Pose2d`, many of them. */
function structOf(type: string): { name: string; many: boolean } | undefined {
  if (!type.startsWith("struct:")) return undefined;
  const many = type.endsWith("[]");
  return { name: type.slice(7, many ? -2 : undefined), many };
}

function scalarText(value: Scalar): string {
  if (typeof value === "string") return JSON.stringify(clip(value, 40));
  return typeof value === "boolean" ? String(value) : figure(value);
}

function arrayText(value: readonly Scalar[], length: number, most: number): string {
  const shown = value.slice(0, most).map(scalarText).join(", ");
  return length > most ? `[${length}] ${shown}, …` : `[${length}] ${shown}`;
}

function leafText(bytes: Uint8Array, base: number, leaf: Leaf): string {
  if (leaf.type === "char") return JSON.stringify(readText(bytes, base, leaf));
  const value = readNumber(bytes, base, leaf);
  return leaf.type === "bool" ? String(value !== 0) : figure(value);
}

function binaryText(topic: Topic, bytes: Uint8Array, structs: Structs, most: number): string {
  const struct = structOf(topic.type);
  const of = struct && structs.layout(struct.name);
  if (!struct || !of || topic.cut || bytes.length < of.size) {
    if (topic.type === "structschema") return new TextDecoder().decode(bytes);
    return bytesText(topic.length);
  }
  const times = struct.many ? Math.floor(bytes.length / of.size) : 1;
  const parts: string[] = [];
  for (let i = 0; i < times && parts.length < most; i += 1) {
    for (const leaf of of.leaves) {
      if (parts.length >= most) break;
      parts.push(`${struct.many ? `[${i}].` : ""}${leaf.path} ${leafText(bytes, i * of.size, leaf)}`);
    }
  }
  return (struct.many ? `[${times}] ` : "") + parts.join(", ");
}

/** The value in one line. */
export function lineText(topic: Topic, structs: Structs): string {
  return text(topic, structs, 8, LINE_CHARS);
}

/** The value at length; still bounded. */
export function fullText(topic: Topic, structs: Structs): string {
  return text(topic, structs, MOST_PARTS, FULL_CHARS);
}

function text(topic: Topic, structs: Structs, parts: number, chars: number): string {
  if (!topic.said) return "no value yet";
  if (topic.kind === "number" || topic.kind === "boolean") {
    const wanted = topic.kind === "boolean" ? topic.type === "boolean" : NUMBERS.has(topic.type);
    return scalarText(topic.value as Scalar) + (wanted ? "" : ` (sent where ${clip(topic.type, 40)} was announced)`);
  }
  const value = topic.value;
  if (typeof value === "string") {
    const cut = clip(value.slice(0, chars * 4), chars);
    return topic.length > chars * 4 ? `${value.slice(0, chars)}… (${topic.length} bytes)` : cut;
  }
  if (value instanceof Uint8Array) return clip(binaryText(topic, value, structs, parts), chars);
  if (Array.isArray(value)) return clip(arrayText(value as readonly Scalar[], topic.length, parts), chars);
  return "a value of no known kind";
}

const NUMBERS = new Set(["double", "float", "int"]);

/** A number of a topic that can be plotted. */
export interface Part {
  readonly label: string;
  readonly text: string;
  readonly index: number | undefined;
  readonly pick: ((bytes: Uint8Array) => number) | undefined;
}

/** What of the topic can be plotted, in order; empty when nothing can. */
export function plottable(topic: Topic, structs: Structs): Part[] {
  if (topic.kind === "number" || topic.kind === "boolean") {
    return [{ label: "", text: lineText(topic, structs), index: undefined, pick: undefined }];
  }
  const value = topic.value;
  if (value instanceof Uint8Array) {
    const struct = structOf(topic.type);
    const of = struct && structs.layout(struct.name);
    if (!of || topic.cut) return [];
    const times = struct.many ? Math.floor(value.length / of.size) : 1;
    const parts: Part[] = [];
    for (let i = 0; i < times; i += 1) {
      for (const leaf of of.leaves) {
        if (leaf.type === "char" || parts.length >= MOST_PARTS) continue;
        const base = i * of.size;
        const label = struct.many ? `[${i}].${leaf.path}` : leaf.path;
        const pick = (bytes: Uint8Array) => readNumber(bytes, base, leaf);
        parts.push({ label, text: leafText(value, base, leaf), index: undefined, pick });
      }
    }
    return parts;
  }
  if (!Array.isArray(value)) return [];
  return (value as readonly Scalar[])
    .slice(0, MOST_PARTS)
    .flatMap((item, index) =>
      typeof item === "string" ? [] : [{ label: `[${index}]`, text: scalarText(item), index, pick: undefined }],
    );
}
