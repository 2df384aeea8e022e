// Metric or imperial is a choice of whoever looks; on the wire everything is SI.

import { plain } from "../ui/format";

export type Units = "metric" | "imperial";

const INCH = 0.0254;
const FOOT = 0.3048;
const POUND = 0.45359237;

export function lengthText(metres: number, units: Units): string {
  return units === "metric" ? `${plain(metres, 4)} m` : `${plain(metres / INCH, 2)} in`;
}

export function speedText(mps: number, units: Units): string {
  return units === "metric" ? `${plain(mps, 3)} m/s` : `${plain(mps / FOOT, 2)} ft/s`;
}

export function massText(kg: number, units: Units): string {
  return units === "metric" ? `${plain(kg, 2)} kg` : `${plain(kg / POUND, 1)} lb`;
}

export function inertiaText(kgM2: number, units: Units): string {
  return units === "metric" ? `${plain(kgM2, 3)} kg m²` : `${plain(kgM2 / (POUND * FOOT * FOOT), 1)} lb ft²`;
}

/** Both at once: the rule that it is for is written in inches. */
export function bothLengths(metres: number): string {
  return `${plain(metres, 3)} m · ${plain(metres / INCH, 1)} in`;
}
