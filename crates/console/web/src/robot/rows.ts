// The rows of the sheet, in the order in which people know them. A row whose key the robot never published does not exist.

import type { Value } from "../nt/topics";
import { clip, figure, plain } from "../ui/format";
import type { Sheet } from "./sheet";
import { bothLengths, inertiaText, lengthText, massText, speedText, type Units } from "./units";

export interface Row {
  readonly label: string;
  readonly value: string;
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

class Rows {
  readonly rows: Row[] = [];

  add(label: string, value: string | undefined): void {
    if (value !== undefined) this.rows.push({ label, value: clip(value, 400) });
  }

  number(label: string, value: number | undefined, say: (value: number) => string): void {
    if (value !== undefined) this.add(label, say(value));
  }
}

function build(id: string, title: string, fill: (rows: Rows) => void): Group {
  const rows = new Rows();
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
  return build("features", "Features", (rows) => {
    for (const feature of sheet.texts("Catalyst/InUse") ?? []) {
      const key = `Catalyst/${feature.replaceAll(" ", "")}`;
      const names = sheet.texts(`${key}/Names`);
      const count = sheet.number(`${key}/Count`);
      const instances = sheet.number(`${key}/Instances`);
      const more = instances !== undefined && instances !== (count ?? names?.length) ? ` (${instances} in all)` : "";
      if (names && names.length <= 3) rows.add(feature, names.join(", ") + more);
      else rows.add(feature, (names ? String(names.length) : count === undefined ? "yes" : String(count)) + more);
    }
  });
}

function software(sheet: Sheet): Group {
  return build("software", "Software", (rows) => {
    const library = sheet.text("Software/Library");
    rows.add("Library", library);
    rows.add(library === undefined ? "Catalyst" : "Library version", versionText(sheet));
    rows.add("Committed", sheet.text("Software/CatalystCommitTime"));
    rows.add("Robot code", sheet.text("Software/RobotCodeVersion"));
    rows.add("Robot code build", sheet.text("Software/RobotCodeBuild"));
    rows.add("WPILib", sheet.text("Software/WPILibVersion"));
    rows.add("Rust", sheet.text("Software/RustVersion"));
    rows.add("Java", sheet.text("Software/JavaVersion"));
    // The older name is an alias of the newer one: reading both keeps it out of the rest.
    const rio = sheet.text("Software/RioImage");
    rows.add("Controller image", sheet.text("Software/ControllerImage") ?? rio);
    rows.number("FPGA version", sheet.number("Software/FpgaVersion"), String);
  });
}

function controller(sheet: Sheet): Group {
  return build("controller", "Controller", (rows) => {
    const serial = sheet.text("Identity/RioSerial");
    const comment = sheet.text("Identity/RioComment");
    rows.add("Controller", sheet.text("Identity/Controller"));
    rows.add("Serial number", sheet.text("Identity/ControllerSerial") ?? serial);
    rows.add("Comment", sheet.text("Identity/ControllerComment") ?? comment);
  });
}

function drivetrain(sheet: Sheet, units: Units): Group {
  const length = (metres: number) => lengthText(metres, units);
  return build("drivetrain", "Drivetrain", (rows) => {
    const at = (key: string) => sheet.number(`Drivetrain/${key}`);
    rows.add("Type", sheet.text("Drivetrain/Type"));
    rows.number("Modules", at("Modules"), String);
    rows.number("Track width", at("TrackWidthMeters"), length);
    rows.number("Wheelbase", at("WheelBaseMeters"), length);
    rows.number("Top speed", at("MaxSpeedMps"), (v) => speedText(v, units));
    rows.number("Top turn rate", at("MaxAngularRateRadPerSec"), (v) => `${plain(v, 3)} rad/s`);
    rows.number("Drive ratio", at("DriveGearRatio"), (v) => `${plain(v, 4)} : 1`);
    rows.number("Steer ratio", at("SteerGearRatio"), (v) => `${plain(v, 4)} : 1`);
    rows.number("Wheel radius", at("WheelRadiusMeters"), length);
    rows.number("Odometry", at("OdometryHz"), (v) => `${plain(v, 1)} Hz`);
    const fd = sheet.flag("Drivetrain/CanFd");
    rows.add("CAN FD", fd === undefined ? undefined : fd ? "yes" : "no");
  });
}

function chassis(sheet: Sheet, units: Units): Group {
  const length = (metres: number) => lengthText(metres, units);
  return build("chassis", "Chassis", (rows) => {
    const at = (key: string) => sheet.number(`Chassis/${key}`);
    const [frameLength, frameWidth] = [at("FrameLengthMeters"), at("FrameWidthMeters")];
    const [bumperLength, bumperWidth] = [at("BumperLengthMeters"), at("BumperWidthMeters")];
    rows.number("Mass", at("MassKg"), (v) => massText(v, units));
    rows.number("Moment of inertia", at("MoiKgM2"), (v) => inertiaText(v, units));
    rows.number("Frame length", frameLength, length);
    rows.number("Frame width", frameWidth, length);
    if (frameLength !== undefined && frameWidth !== undefined) {
      rows.add("Frame perimeter", bothLengths(2 * (frameLength + frameWidth)));
    }
    rows.number("Bumper thickness", at("BumperThicknessMeters"), length);
    rows.number("With bumpers, length", bumperLength, length);
    rows.number("With bumpers, width", bumperWidth, length);
    if (bumperLength !== undefined && bumperWidth !== undefined) {
      rows.add("Bumper perimeter", bothLengths(2 * (bumperLength + bumperWidth)));
      rows.add("Diagonal", length(Math.hypot(bumperLength, bumperWidth)));
    }
    rows.number("Height", at("HeightMeters"), length);
  });
}

function traction(sheet: Sheet): Group {
  return build("traction", "Traction", (rows) => {
    rows.number("Wheel friction", sheet.number("Drivetrain/WheelCof"), (v) => plain(v, 3));
    rows.number("Slip current", sheet.number("Drivetrain/SlipCurrentAmps"), (v) => `${plain(v, 1)} A`);
    rows.number("Drive current limit", sheet.number("Drivetrain/DriveCurrentLimitAmps"), (v) => `${plain(v, 1)} A`);
  });
}

function power(sheet: Sheet, channels: readonly Channel[]): Group {
  return build("power", "Power", (rows) => {
    const total = sheet.number("Power/Channels");
    rows.add("Distribution", sheet.text("Power/Module"));
    if (total !== undefined) rows.add("Channels in use", `${channels.length} of ${total}`);
    else if (channels.length > 0) rows.add("Channels in use", String(channels.length));
    rows.add("Battery", sheet.text("Power/Battery"));
    rows.number("Brownout", sheet.number("Power/BrownoutVolts"), (v) => `${plain(v, 2)} V`);
  });
}

function hardware(sheet: Sheet): Group {
  return build("hardware", "Hardware", (rows) => {
    rows.number("CAN devices", sheet.number("Hardware/CanDevices"), String);
    for (const row of sheet.texts("Hardware/Inventory") ?? []) {
      const bar = row.lastIndexOf("|");
      rows.add(bar < 0 ? row : row.slice(0, bar), bar < 0 ? "" : row.slice(bar + 1));
    }
    rows.add("Gyro", sheet.text("Hardware/Gyro"));
    rows.number("Gyro CAN id", sheet.number("Hardware/GyroCanId"), String);
    rows.add("Gyro bus", sheet.text("Hardware/GyroBus"));
    rows.add("Cameras", sheet.texts("Hardware/Cameras")?.join(", "));
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
    more: sheet.rest().map(([key, value]) => ({ label: clip(key, 120), value: restText(value) })),
  };
}
