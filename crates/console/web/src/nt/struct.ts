// Struct schemas and the values that they describe: packed, little endian, without alignment.

type Primitive =
  | "bool"
  | "char"
  | "int8"
  | "int16"
  | "int32"
  | "int64"
  | "uint8"
  | "uint16"
  | "uint32"
  | "uint64"
  | "float"
  | "double";

const SIZES: Record<Primitive, number> = {
  bool: 1,
  char: 1,
  int8: 1,
  int16: 2,
  int32: 4,
  int64: 8,
  uint8: 1,
  uint16: 2,
  uint32: 4,
  uint64: 8,
  float: 4,
  double: 8,
};
const ALIASES: Record<string, Primitive> = { float32: "float", float64: "double" };

/** Fields of a struct with everything nested, beyond which it is not decoded. */
const MOST_FIELDS = 512;
const DEEPEST = 16;

interface Declared {
  name: string;
  type: string;
  count: number;
  bits: number | undefined;
}

/** One number or text of a struct, wherever it stands in it. */
export interface Leaf {
  /** `translation.x`, `modules[2].speed`. */
  readonly path: string;
  readonly type: Primitive;
  readonly offset: number;
  /** Characters of a text. */
  readonly chars: number;
  /** Of a bit field. */
  readonly shift: number;
  readonly bits: number | undefined;
}

export interface Layout {
  readonly size: number;
  readonly leaves: readonly Leaf[];
}

function declarations(schema: string): Declared[] | undefined {
  const found: Declared[] = [];
  for (const part of schema.split(";")) {
    const text = part.replace(/^\s*(?:enum\s*)?\{[^}]*\}\s*/, "").trim();
    if (text === "") continue;
    const match = /^(\S+)\s+([^\s[\]:]+)\s*(?:\[\s*(\d{1,6})\s*\]|:\s*(\d{1,2}))?$/.exec(text);
    if (!match) return undefined;
    const [, type = "", name = "", count, bits] = match;
    found.push({
      name,
      type: ALIASES[type] ?? type,
      count: count === undefined ? -1 : Number(count),
      bits: bits === undefined ? undefined : Number(bits),
    });
  }
  return found;
}

/** The layout of `name`; undefined while a schema is missing or when one makes no sense. */
export function layout(name: string, schemaOf: (name: string) => string | undefined): Layout | undefined {
  const leaves: Leaf[] = [];

  function place(struct: string, prefix: string, start: number, depth: number): number | undefined {
    const schema = schemaOf(struct);
    const fields = schema === undefined || depth > DEEPEST ? undefined : declarations(schema);
    if (!fields) return undefined;
    let at = start;
    // The storage unit that bit fields share.
    let unit = 0;
    let used = 0;
    for (const field of fields) {
      const primitive = field.type in SIZES ? (field.type as Primitive) : undefined;
      if (field.bits !== undefined) {
        if (!primitive || primitive === "float" || primitive === "double" || primitive === "char") return undefined;
        let size = SIZES[primitive];
        if (field.bits < 1 || field.bits > size * 8) return undefined;
        const fits = unit > 0 && used + field.bits <= unit * 8 && (primitive === "bool" || size === unit);
        if (fits) size = unit;
        else {
          at += unit;
          unit = size;
          used = 0;
        }
        leaves.push({
          path: prefix + field.name,
          type: primitive,
          offset: at,
          chars: 0,
          shift: used,
          bits: field.bits,
        });
        used += field.bits;
        continue;
      }
      at += unit;
      unit = used = 0;
      if (field.count === 0 || leaves.length > MOST_FIELDS) return undefined;
      if (primitive === "char") {
        const chars = Math.max(1, field.count);
        leaves.push({ path: prefix + field.name, type: "char", offset: at, chars, shift: 0, bits: undefined });
        at += chars;
        continue;
      }
      const times = Math.max(1, field.count);
      if (times > MOST_FIELDS) return undefined;
      for (let i = 0; i < times; i += 1) {
        const path = prefix + field.name + (field.count < 0 ? "" : `[${i}]`);
        if (primitive) {
          leaves.push({ path, type: primitive, offset: at, chars: 0, shift: 0, bits: undefined });
          at += SIZES[primitive];
        } else {
          const next = place(field.type, `${path}.`, at, depth + 1);
          if (next === undefined) return undefined;
          at = next;
        }
        if (leaves.length > MOST_FIELDS) return undefined;
      }
    }
    return at + unit;
  }

  const size = place(name, "", 0, 0);
  return size === undefined || size === 0 ? undefined : { size, leaves };
}

/** The number of `leaf` in the struct that begins at `base`; NaN when the bytes end before it. */
export function readNumber(bytes: Uint8Array, base: number, leaf: Leaf): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const at = base + leaf.offset;
  const size = SIZES[leaf.type];
  if (at + size > bytes.length) return NaN;
  if (leaf.bits !== undefined) {
    // The unit may be wider than the field's own type: read what holds the bits.
    let unit = 0n;
    for (let i = Math.min(8, bytes.length - at, Math.ceil((leaf.shift + leaf.bits) / 8)) - 1; i >= 0; i -= 1) {
      unit = (unit << 8n) | BigInt(view.getUint8(at + i));
    }
    return Number((unit >> BigInt(leaf.shift)) & ((1n << BigInt(leaf.bits)) - 1n));
  }
  switch (leaf.type) {
    case "bool":
    case "uint8":
    case "char":
      return view.getUint8(at);
    case "int8":
      return view.getInt8(at);
    case "int16":
      return view.getInt16(at, true);
    case "uint16":
      return view.getUint16(at, true);
    case "int32":
      return view.getInt32(at, true);
    case "uint32":
      return view.getUint32(at, true);
    case "int64":
      return Number(view.getBigInt64(at, true));
    case "uint64":
      return Number(view.getBigUint64(at, true));
    case "float":
      return view.getFloat32(at, true);
    case "double":
      return view.getFloat64(at, true);
  }
}

const TEXT = new TextDecoder("utf-8");

/** The text of a `char` leaf without the zeros after it. */
export function readText(bytes: Uint8Array, base: number, leaf: Leaf): string {
  const from = base + leaf.offset;
  let end = Math.min(bytes.length, from + leaf.chars);
  while (end > from && bytes[end - 1] === 0) end -= 1;
  return TEXT.decode(bytes.subarray(from, end));
}
