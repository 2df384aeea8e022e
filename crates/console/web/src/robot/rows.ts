// The rows of the sheet, in the order in which people know them. A row whose key the robot never published does not exist.

import type { Value } from "../nt/topics";
import { clip, figure, plain } from "../ui/format";
import type { Sheet } from "./sheet";
import { bothLengths, inertiaText, lengthText, massText, speedText, type Units } from "./units";

export interface Row {
  readonly label: string;
  readonly value: string;
  /** The key that says so, for what the robot knows of its origin. */
  readonly key: string | undefined;
}

export interface Group {
  readonly id: string;
  readonly title: string;
  readonly rows: readonly Row[];
}

export interface Channel {
  readonly channel: string;
  readonly what: string;
}

export interface Bus {
  readonly name: string;
  readonly devices: readonly { readonly id: string; readonly type: string }[];
}

export interface RobotRows {
  /** Undefined when nobody declared one: then there is no sheet. */
  readonly name: string | undefined;
  readonly subtitle: string;
  readonly groups: readonly Group[];
  readonly channels: readonly Channel[];
  readonly buses: readonly Bus[];
  readonly more: readonly Row[];
}

/** Rows of one group, each only when its key says something. */
class Rows {
  readonly rows: Row[] = [];

  constructor(readonly sheet: Sheet) {}

  add(label: string, value: string | undefined, key?: string): void {
    if (value !== undefined) this.rows.push({ label, value: clip(value, 400), key });
  }

  /** The first of the keys that says something; all are read, for the others are its aliases. */
  text(label: string, ...keys: readonly string[]): void {
    const found = keys.map((key) => ({ key, value: this.sheet.text(key) })).find(({ value }) => value !== undefined);
    this.add(label, found?.value, found?.key);
  }

  number(label: string, key: string, say: (value: number) => string): number | undefined {
    const value = this.sheet.number(key);
    if (value !== undefined) this.add(label, say(value), key);
    return value;
  }
}

function build(id: string, title: string, sheet: Sheet, fill: (rows: Rows) => void): Group {
  const rows = new Rows(sheet);
  fill(rows);
  return { id, title, rows: rows.rows };
}

/** `1.11.0 (d604d51, dirty)`, as far as it is known. */
function versionText(sheet: Sheet): string | undefined {
  const version = sheet.text("Software/CatalystVersion");
  const sha = sheet.text("Software/CatalystGitSha");
  const dirty = sheet.flag("Software/CatalystGitDirty");
  if (version === undefined) return sha;
  return sha === undefined ? version : `${version} (${sha}${dirty ? ", dirty" : ""})`;
}

function features(sheet: Sheet): Group {
  return build("features", "Features", sheet, (rows) => {
    for (const feature of sheet.texts("Catalyst/InUse") ?? []) {
      const key = `Catalyst/${feature.replaceAll(" ", "")}`;
      const names = sheet.texts(`${key}/Names`);
      const count = sheet.number(`${key}/Count`);
      const instances = sheet.number(`${key}/Instances`);
      const more = instances !== undefined && instances !== (count ?? names?.length) ? ` (${instances} in all)` : "";
      const said = names && names.length <= 3 ? names.join(", ") : String(names?.length ?? count ?? "yes");
      rows.add(feature, said + more, `${key}/${names ? "Names" : "Count"}`);
    }
  });
}

function software(sheet: Sheet): Group {
  return build("software", "Software", sheet, (rows) => {
    rows.add(sheet.text("Software/Library") ?? "Catalyst", versionText(sheet), "Software/CatalystVersion");
    rows.text("Committed", "Software/CatalystCommitTime");
    rows.text("Robot code", "Software/RobotCodeVersion");
    rows.text("Robot code build", "Software/RobotCodeBuild");
    rows.text("WPILib", "Software/WPILibVersion");
    rows.text("Rust", "Software/RustVersion");
    rows.text("Java", "Software/JavaVersion");
    rows.text("Controller image", "Software/ControllerImage", "Software/RioImage");
    rows.number("FPGA version", "Software/FpgaVersion", String);
  });
}

function controller(sheet: Sheet): Group {
  return build("controller", "Controller", sheet, (rows) => {
    rows.text("Controller", "Identity/Controller");
    rows.text("Serial number", "Identity/ControllerSerial", "Identity/RioSerial");
    rows.text("Comment", "Identity/ControllerComment", "Identity/RioComment");
  });
}

function drivetrain(sheet: Sheet, units: Units): Group {
  const length = (metres: number) => lengthText(metres, units);
  return build("drivetrain", "Drivetrain", sheet, (rows) => {
    const number = (label: string, key: string, say: (value: number) => string) =>
      rows.number(label, `Drivetrain/${key}`, say);
    rows.text("Type", "Drivetrain/Type");
    number("Modules", "Modules", String);
    number("Track width", "TrackWidthMeters", length);
    number("Wheelbase", "WheelBaseMeters", length);
    number("Top speed", "MaxSpeedMps", (v) => speedText(v, units));
    number("Top turn rate", "MaxAngularRateRadPerSec", (v) => `${plain(v, 3)} rad/s`);
    number("Drive ratio", "DriveGearRatio", (v) => `${plain(v, 4)} : 1`);
    number("Steer ratio", "SteerGearRatio", (v) => `${plain(v, 4)} : 1`);
    number("Wheel radius", "WheelRadiusMeters", length);
    number("Odometry", "OdometryHz", (v) => `${plain(v, 1)} Hz`);
    const fd = sheet.flag("Drivetrain/CanFd");
    rows.add("CAN FD", fd === undefined ? undefined : fd ? "yes" : "no", "Drivetrain/CanFd");
  });
}

function chassis(sheet: Sheet, units: Units): Group {
  const length = (metres: number) => lengthText(metres, units);
  return build("chassis", "Chassis", sheet, (rows) => {
    const number = (label: string, key: string, say: (value: number) => string) =>
      rows.number(label, `Chassis/${key}`, say);
    number("Mass", "MassKg", (v) => massText(v, units));
    number("Moment of inertia", "MoiKgM2", (v) => inertiaText(v, units));
    const frameLength = number("Frame length", "FrameLengthMeters", length);
    const frameWidth = number("Frame width", "FrameWidthMeters", length);
    if (frameLength !== undefined && frameWidth !== undefined) {
      rows.add("Frame perimeter", bothLengths(2 * (frameLength + frameWidth)));
    }
    number("Bumper thickness", "BumperThicknessMeters", length);
    const bumperLength = number("Bumper length", "BumperLengthMeters", length);
    const bumperWidth = number("Bumper width", "BumperWidthMeters", length);
    if (bumperLength !== undefined && bumperWidth !== undefined) {
      rows.add("Bumper perimeter", bothLengths(2 * (bumperLength + bumperWidth)));
      rows.add("Diagonal", length(Math.hypot(bumperLength, bumperWidth)));
    }
    number("Height", "HeightMeters", length);
  });
}

function traction(sheet: Sheet): Group {
  return build("traction", "Traction", sheet, (rows) => {
    rows.number("Wheel friction", "Drivetrain/WheelCof", (v) => plain(v, 3));
    rows.number("Slip current", "Drivetrain/SlipCurrentAmps", (v) => `${plain(v, 1)} A`);
    rows.number("Drive current limit", "Drivetrain/DriveCurrentLimitAmps", (v) => `${plain(v, 1)} A`);
  });
}

function power(sheet: Sheet, channels: readonly Channel[]): Group {
  return build("power", "Power", sheet, (rows) => {
    rows.text("Distribution", "Power/Module");
    const total = rows.number("Channels in use", "Power/Channels", (v) => `${channels.length} of ${v}`);
    if (total === undefined && channels.length > 0)
      rows.add("Channels in use", String(channels.length), "Power/ChannelsInUse");
    rows.text("Battery", "Power/Battery");
    rows.number("Brownout", "Power/BrownoutVolts", (v) => `${plain(v, 2)} V`);
  });
}

function hardware(sheet: Sheet): Group {
  return build("hardware", "Hardware", sheet, (rows) => {
    rows.number("CAN devices", "Hardware/CanDevices", String);
    for (const row of sheet.texts("Hardware/Inventory") ?? []) {
      const bar = row.lastIndexOf("|");
      rows.add(bar < 0 ? row : row.slice(0, bar), bar < 0 ? "" : row.slice(bar + 1), "Hardware/Inventory");
    }
    rows.text("Gyro", "Hardware/Gyro");
    rows.number("Gyro CAN id", "Hardware/GyroCanId", String);
    rows.text("Gyro bus", "Hardware/GyroBus");
    rows.add("Cameras", sheet.texts("Hardware/Cameras")?.join(", "), "Hardware/Cameras");
  });
}

/** The rows of a list that have exactly `count` fields. */
function split(rows: readonly string[] | undefined, count: number): string[][] {
  return (rows ?? []).map((row) => row.split("|").map((part) => part.trim())).filter((parts) => parts.length === count);
}

function restText(value: Value): string {
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (typeof value === "number" || typeof value === "bigint") return figure(value);
  if (typeof value === "object") return clip(value.slice(0, 20).map(String).join(", "), 200);
  return clip(String(value), 200);
}

export function robotRows(sheet: Sheet, units: Units): RobotRows {
  const channels = split(sheet.texts("Power/ChannelsInUse"), 2).map(([channel = "", what = ""]) => ({ channel, what }));
  const buses: { name: string; devices: { id: string; type: string }[] }[] = [];
  for (const [name = "", id = "", type = ""] of split(sheet.texts("Hardware/Devices"), 3)) {
    let bus = buses.find((known) => known.name === name);
    if (!bus) buses.push((bus = { name, devices: [] }));
    bus.devices.push({ id, type });
  }
  const team = sheet.number("Identity/TeamNumber");
  const season = sheet.number("Identity/Season");
  const subtitle = [
    team === undefined ? "" : `Team ${team}`,
    season === undefined ? "" : `Season ${season}`,
    sheet.text("Identity/Controller") ?? "",
  ];
  // The plan is drawn from them.
  sheet.numbers("Drivetrain/ModuleLocations");
  const groups = [
    features(sheet),
    software(sheet),
    controller(sheet),
    drivetrain(sheet, units),
    chassis(sheet, units),
    traction(sheet),
    power(sheet, channels),
    hardware(sheet),
  ].filter((group) => group.rows.length > 0);
  const name = sheet.text("Identity/Name");
  return {
    name: name === undefined ? undefined : clip(name, 120),
    subtitle: subtitle.filter((part) => part !== "").join(" · "),
    groups,
    channels,
    buses,
    more: sheet.rest().map(([key, value]) => ({ label: clip(key, 120), value: restText(value), key })),
  };
}
