// What a person types, read as a number or refused with the reason.

export type Typed =
  | { readonly kind: "number"; readonly value: number; readonly outside: string | undefined }
  | { readonly kind: "refused"; readonly why: string };

function refused(why: string): Typed {
  return { kind: "refused", why };
}

/** Reads `text`. A decimal comma is understood; a number outside the range is a number, and `outside` says so. */
export function readAnswer(text: string, unit: string, min: number | undefined, max: number | undefined): Typed {
  let typed = text.trim().replace(/[\u2212\u2013]/g, "-");
  if (unit !== "" && typed.toLowerCase().endsWith(unit.toLowerCase())) {
    typed = typed.slice(0, typed.length - unit.length).trim();
  }
  if (typed === "") return refused("Type a number first.");
  if (/^[+-]?(nan|inf|infinity|∞)$/i.test(typed)) return refused("That is not a finite number.");
  if ((typed.match(/[.,]/g) ?? []).length > 1) {
    return refused("More than one separator: write 1234.5, without one for the thousands.");
  }
  if (!/^[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d{1,3})?$/i.test(typed)) {
    return refused("That is not a number: digits and one point or comma.");
  }
  const value = Number(typed.replace(",", "."));
  if (!Number.isFinite(value)) return refused("That is not a finite number.");
  return { kind: "number", value, outside: outside(value, unit, min, max) };
}

/** How `value` misses the range; undefined when it does not, or when there is none. */
function outside(value: number, unit: string, min: number | undefined, max: number | undefined): string | undefined {
  const low = min !== undefined && value < min;
  const high = max !== undefined && value > max;
  if (!low && !high) return undefined;
  const bound = low ? `below ${min}` : `above ${max}`;
  return `${value} is ${bound}${unit === "" ? "" : ` ${unit}`}.`;
}

/** `3 to 4.5 in`, `at least 3 in`; empty when the robot has no opinion. */
export function rangeText(unit: string, min: number | undefined, max: number | undefined): string {
  const tail = unit === "" ? "" : ` ${unit}`;
  if (min !== undefined && max !== undefined) return `${min} to ${max}${tail}`;
  if (min !== undefined) return `at least ${min}${tail}`;
  return max === undefined ? "" : `at most ${max}${tail}`;
}
