// The robot from above, to scale, from what it said of itself.

import type { Sheet } from "./sheet";

export interface Box {
  /** Along +x, metres. */
  readonly length: number;
  /** Along +y, metres. */
  readonly width: number;
}

export interface RobotPlan {
  readonly outer: Box;
  readonly bumper: Box | undefined;
  readonly frame: Box | undefined;
  readonly modules: readonly { readonly x: number; readonly y: number }[];
  /** Metres; undefined when the wheel's radius is not known. */
  readonly wheelLength: number | undefined;
  readonly caption: string;
}

/** Nothing that drives in FRC is longer; a robot this long was measured in another unit. */
const LONGEST_M = 5;
const MOST_MODULES = 16;

function box(length: number | undefined, width: number | undefined): Box | undefined {
  return length !== undefined && width !== undefined && length > 0 && width > 0 ? { length, width } : undefined;
}

export function robotPlan(sheet: Sheet): RobotPlan | undefined {
  const bumper = box(sheet.number("Chassis/BumperLengthMeters"), sheet.number("Chassis/BumperWidthMeters"));
  const frame = box(sheet.number("Chassis/FrameLengthMeters"), sheet.number("Chassis/FrameWidthMeters"));
  const flat = sheet.numbers("Drivetrain/ModuleLocations") ?? [];
  const modules: { x: number; y: number }[] = [];
  for (let i = 0; i + 1 < flat.length && modules.length < MOST_MODULES; i += 2) {
    modules.push({ x: flat[i] ?? 0, y: flat[i + 1] ?? 0 });
  }
  const reach = (of: (m: { x: number; y: number }) => number) =>
    2 * Math.max(0, ...modules.map((m) => Math.abs(of(m))));
  const outer =
    bumper ??
    frame ??
    box(
      reach((m) => m.x),
      reach((m) => m.y),
    );
  if (!outer) return undefined;
  const radius = sheet.number("Drivetrain/WheelRadiusMeters");
  const from = [
    bumper ? "bumpers" : "",
    frame ? "frame" : "",
    modules.length > 0 ? `${modules.length} module position${modules.length === 1 ? "" : "s"}` : "",
  ].filter((part) => part !== "");
  const last = from.pop() ?? "";
  let caption = `Drawn to scale from ${from.length > 0 ? `${from.join(", ")} and ` : ""}${last}.`;
  if (!bumper && !frame) caption += " The outline is the modules' extent, not the robot's.";
  if (Math.max(outer.length, outer.width) > LONGEST_M) caption += " Metres? No robot is this large.";
  return {
    outer,
    bumper,
    frame,
    modules,
    wheelLength: radius !== undefined && radius > 0 && radius < outer.length ? 2 * radius : undefined,
    caption,
  };
}
