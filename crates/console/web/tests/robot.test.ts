// The rows of three sheets: a full one, one with a name alone, and one whose every source lied.

import { describe, expect, it } from "vitest";
import { account, digest, Fnv } from "../src/robot/account";
import { robotPlan } from "../src/robot/plan";
import { robotRows, type RobotRows } from "../src/robot/rows";
import { Sheet } from "../src/robot/sheet";
import type { Value } from "../src/nt/topics";
import { Bench } from "./support";

const FULL: Record<string, Value> = {
  "Identity/Name": "Ratchet",
  "Identity/TeamNumber": 1234,
  "Identity/Season": 2027,
  "Identity/Controller": "Systemcore",
  "Identity/ControllerSerial": "0123",
  "Identity/RioSerial": "0123",
  "Software/CatalystVersion": "1.11.0",
  "Software/CatalystGitSha": "d604d51",
  "Software/CatalystGitDirty": true,
  "Software/CatalystCommitTime": "2026-09-01T12:00:00Z",
  "Software/RobotCodeVersion": "abc1234",
  "Software/WPILibVersion": "2027.1.1",
  "Software/JavaVersion": "21",
  "Drivetrain/Type": "Swerve",
  "Drivetrain/Modules": 4,
  "Drivetrain/ModuleLocations": [0.3, 0.3, 0.3, -0.3, -0.3, 0.3, -0.3, -0.3],
  "Drivetrain/TrackWidthMeters": 0.6,
  "Drivetrain/WheelBaseMeters": 0.6,
  "Drivetrain/MaxSpeedMps": 4.5,
  "Drivetrain/WheelRadiusMeters": 0.0508,
  "Drivetrain/DriveGearRatio": 6.746,
  "Drivetrain/CanFd": false,
  "Drivetrain/SlipCurrentAmps": 60,
  "Drivetrain/WheelCof": 1.2,
  "Chassis/MassKg": 50,
  "Chassis/FrameLengthMeters": 0.74,
  "Chassis/FrameWidthMeters": 0.7,
  "Chassis/BumperThicknessMeters": 0.08,
  "Chassis/BumperLengthMeters": 0.9,
  "Chassis/BumperWidthMeters": 0.86,
  "Chassis/HeightMeters": 0.52,
  "Power/BrownoutVolts": 6.8,
  "Power/Module": "REV PDH",
  "Power/Channels": 24,
  "Power/ChannelsInUse": ["0|Front left drive", "1|Front right drive"],
  "Power/Battery": "MK ES17-12",
  "Hardware/CanDevices": 9,
  "Hardware/Inventory": ["CANcoder|4", "TalonFX (Falcon 500)|5"],
  "Hardware/Devices": ["can_s2|4|TalonFX (Falcon 500)", "can_s0|0|Pigeon2", "can_s2|5|CANcoder"],
  "Hardware/Gyro": "Pigeon2",
  "Hardware/GyroCanId": 0,
  "Hardware/Cameras": ["back", "front"],
  "Catalyst/InUse": ["Goal Director", "Physics Core", "Sequence", "Strategist"],
  "Catalyst/GoalDirector/Count": 1,
  "Catalyst/PhysicsCore/Count": 1,
  "Catalyst/PhysicsCore/Names": ["BALANCED"],
  "Catalyst/Sequence/Count": 4,
  "Catalyst/Sequence/Names": ["a", "b", "c", "d"],
};

function typeOf(value: Value): string {
  if (Array.isArray(value)) return `${typeOf(value[0] as Value)}[]`;
  return typeof value === "number" ? (Number.isInteger(value) ? "int" : "double") : typeof value;
}

const sheet = (values: Record<string, Value>) =>
  new Sheet(new Map(Object.entries(values).map(([key, value]) => [key, { type: typeOf(value), value }])));
const group = (of: RobotRows, id: string) =>
  Object.fromEntries(of.groups.find((g) => g.id === id)?.rows.map((r) => [r.label, r.value]) ?? []);

describe("a full sheet", () => {
  const rows = robotRows(sheet(FULL), "metric");
  it("has name, team, season and controller, then the groups in their order", () => {
    expect([rows.name, rows.subtitle]).toEqual(["Ratchet", "Team 1234 · Season 2027 · Systemcore"]);
    expect(rows.groups.map((g) => g.id)).toEqual([
      "features",
      "software",
      "controller",
      "drivetrain",
      "chassis",
      "traction",
      "power",
      "hardware",
    ]);
  });
  it("lists features: up to three names, then the number, then the count, then yes", () => {
    expect(group(rows, "features")).toEqual({
      "Goal Director": "1",
      "Physics Core": "BALANCED",
      Sequence: "4",
      Strategist: "yes",
    });
  });
  it("writes the version as the library describes itself", () => {
    expect(group(rows, "software")["Catalyst"]).toBe("1.11.0 (d604d51, dirty)");
  });
  it("i11_shows a zero that was published, and both answers of a flag", () => {
    expect(group(rows, "hardware")["Gyro CAN id"]).toBe("0");
    expect(group(rows, "drivetrain")["CAN FD"]).toBe("no");
  });
  it("adds diagonal and perimeters, the perimeters in both units", () => {
    const chassis = group(rows, "chassis");
    expect(chassis["Diagonal"]).toBe("1.2448 m");
    expect(chassis["Frame perimeter"]).toBe("2.88 m · 113.4 in");
    expect(chassis["Bumper perimeter"]).toBe("3.52 m · 138.6 in");
  });
  it("counts channels of all, and maps them", () => {
    expect(group(rows, "power")).toEqual({
      Distribution: "REV PDH",
      "Channels in use": "2 of 24",
      Battery: "MK ES17-12",
      Brownout: "6.8 V",
    });
    expect(rows.channels).toEqual([
      { channel: "0", what: "Front left drive" },
      { channel: "1", what: "Front right drive" },
    ]);
  });
  it("keeps the order in which buses and devices were published", () => {
    expect(rows.buses).toEqual([
      {
        name: "can_s2",
        devices: [
          { id: "4", type: "TalonFX (Falcon 500)" },
          { id: "5", type: "CANcoder" },
        ],
      },
      { name: "can_s0", devices: [{ id: "0", type: "Pigeon2" }] },
    ]);
  });
  it("leaves nothing over", () => {
    expect(rows.more).toEqual([]);
  });
  it("is imperial when somebody wants it", () => {
    const imperial = robotRows(sheet(FULL), "imperial");
    expect(group(imperial, "chassis")).toMatchObject({
      "Frame length": "29.13 in",
      Mass: "110.2 lb",
      "Frame perimeter": "2.88 m · 113.4 in",
    });
    expect(group(imperial, "drivetrain")).toMatchObject({ "Top speed": "14.76 ft/s", "Wheel radius": "2 in" });
  });
  it("is drawn from bumpers, frame and modules", () => {
    expect(robotPlan(sheet(FULL))).toMatchObject({
      outer: { length: 0.9, width: 0.86 },
      wheelLength: 0.1016,
      caption: "Drawn to scale from bumpers, frame and 4 module positions.",
    });
  });
});

describe("a sheet with a name alone", () => {
  it("has no group, no drawing and nothing made up", () => {
    const rows = robotRows(sheet({ "Identity/Name": "Ratchet" }), "metric");
    expect(rows).toEqual({ name: "Ratchet", subtitle: "", groups: [], channels: [], buses: [], more: [] });
    expect(robotPlan(sheet({ "Identity/Name": "Ratchet" }))).toBeUndefined();
  });
  it("without a name there is no sheet", () => {
    expect(robotRows(sheet({ "Chassis/MassKg": 5 }), "metric").name).toBeUndefined();
    expect(robotRows(sheet({ "Identity/Name": "  " }), "metric").name).toBeUndefined();
  });
});

describe("a sheet that lies", () => {
  const LIES: Record<string, Value> = {
    "Identity/Name": "Liar",
    "Identity/TeamNumber": "none",
    "Identity/Season": NaN,
    "Identity/Controller": "",
    "Software/RobotCodeVersion": 7,
    "Software/CatalystGitDirty": "yes",
    "Drivetrain/MaxSpeedMps": NaN,
    "Drivetrain/Modules": 0,
    "Drivetrain/ModuleLocations": [0.3, NaN, 0.3, -0.3],
    "Drivetrain/CanFd": 1,
    "Chassis/MassKg": Infinity,
    "Chassis/BumperLengthMeters": 0,
    "Chassis/BumperWidthMeters": -1,
    "Chassis/FrameLengthMeters": 740,
    "Chassis/FrameWidthMeters": 700,
    "Power/ChannelsInUse": ["0|a|b", "x", "1|Arm"],
    "Hardware/Devices": ["one|two", "can|3|Motor|extra", "can|4|Motor"],
    "Hardware/Inventory": [],
    "Hardware/Cameras": ["front", ""],
    "Catalyst/InUse": [1, 2],
    "Odd/Key": "<b>bold</b>",
    "Odd/Bytes": new Uint8Array(3),
    "Odd/Huge": "x".repeat(5000),
  };
  const rows = robotRows(sheet(LIES), "metric");
  it("drops what is no number, no flag, no list of what it should be", () => {
    expect(rows.subtitle).toBe("");
    expect(group(rows, "drivetrain")).toEqual({ Modules: "0" });
    expect(group(rows, "hardware")).toEqual({});
    expect(group(rows, "features")).toEqual({});
    expect(group(rows, "chassis")["Mass"]).toBeUndefined();
  });
  it("takes a number where a text is wanted", () => {
    expect(group(rows, "software")).toEqual({ "Robot code": "7" });
  });
  it("i6_drops rows that do not have exactly their fields", () => {
    expect(rows.channels).toEqual([{ channel: "1", what: "Arm" }]);
    expect(rows.buses).toEqual([{ name: "can", devices: [{ id: "4", type: "Motor" }] }]);
  });
  it("i13_draws millimetres to scale and asks about them", () => {
    expect(robotPlan(sheet(LIES))).toMatchObject({
      outer: { length: 740, width: 700 },
      modules: [],
      caption: "Drawn to scale from frame. Metres? No robot is this large.",
    });
  });
  it("puts under More what was not of its type and what nobody knows, as text and cut", () => {
    const more = Object.fromEntries(rows.more.map((row) => [row.label, row.value]));
    expect(more["Identity/TeamNumber"]).toBe("none");
    expect(more["Drivetrain/CanFd"]).toBe("1");
    expect(more["Odd/Key"]).toBe("<b>bold</b>");
    expect(more["Odd/Bytes"]).toBe("3 bytes");
    expect(more["Odd/Huge"]).toMatch(/^x{200}… \(5000 characters\)$/);
    expect(more).not.toHaveProperty("Identity/Season");
    expect(more).not.toHaveProperty("Hardware/Inventory");
  });
});

describe("the drawing", () => {
  it("of modules alone says that its outline is theirs", () => {
    const plan = robotPlan(sheet({ "Drivetrain/ModuleLocations": [0.3, 0.2, -0.3, -0.2] }));
    expect(plan?.outer).toEqual({ length: 0.6, width: 0.4 });
    expect(plan?.caption).toBe(
      "Drawn to scale from 2 module positions. The outline is the modules' extent, not the robot's.",
    );
    expect(plan?.wheelLength).toBeUndefined();
  });
  it("needs both sides", () => {
    expect(robotPlan(sheet({ "Chassis/FrameLengthMeters": 0.7 }))).toBeUndefined();
    expect(robotPlan(sheet({ "Drivetrain/ModuleLocations": [0.3, 0, -0.3, 0] }))).toBeUndefined();
  });
});

describe("the sheet on the wire", () => {
  it("is what stands under its root, and a retracted key is gone", () => {
    const bench = new Bench();
    bench.connect();
    bench.put("/Catalyst/Robot/Identity/Name", "string", "Ratchet");
    bench.put("/Catalyst/Robot/Power/Battery", "string", "MK");
    bench.put("/Catalyst/Robotics", "string", "no");
    bench.announce("/Catalyst/Robot/Power/Module", "string");
    expect(robotRows(Sheet.of(bench.client.topics), "metric").groups.map((g) => g.id)).toEqual(["power"]);
    const id = bench.client.topics.get("/Catalyst/Robot/Power/Battery")?.id;
    bench.text(JSON.stringify([{ method: "unannounce", params: { name: "/Catalyst/Robot/Power/Battery", id } }]));
    expect(robotRows(Sheet.of(bench.client.topics), "metric").groups).toEqual([]);
  });
});

describe("what a sheet says about itself", () => {
  const facts: Record<string, Value> = { "Identity/Name": "Ratchet", "Identity/TeamNumber": 1234 };
  const all = (more: Record<string, Value>) => sheet({ ...facts, ...more });

  it("is hashed by FNV-1a, whose published vectors these are", () => {
    const of = (text: string) => new Fnv().feed(new TextEncoder().encode(text)).hash.toString(16);
    expect([of(""), of("a"), of("foobar")]).toEqual(["cbf29ce484222325", "af63dc4c8601ec8c", "85944171f73967e8"]);
  });

  it("hashes key, zero, type and value, in the order of the keys", () => {
    const bytes = [
      ...new TextEncoder().encode("A"),
      0,
      2,
      1,
      0,
      0,
      0,
      0,
      0,
      0,
      0,
      ...new TextEncoder().encode("B"),
      0,
      0,
      1,
      ...new TextEncoder().encode("C"),
      0,
      4,
      2,
      0,
      0,
      0,
      0x68,
      0x69,
      ...new TextEncoder().encode("D"),
      0,
      17,
      1,
      0,
      0,
      0,
      0,
      0,
      0,
      0,
      0,
      0,
      0xf0,
      0x3f,
      ...new TextEncoder().encode("E"),
      0,
      20,
      1,
      0,
      0,
      0,
      1,
      0,
      0,
      0,
      0x78,
    ];
    const expected = new Fnv().feed(bytes).hash.toString(16).padStart(16, "0");
    expect(
      digest([
        ["E", { type: "string[]", value: ["x"] }],
        ["B", { type: "boolean", value: true }],
        ["A", { type: "int", value: 1 }],
        ["D", { type: "double[]", value: [1] }],
        ["C", { type: "string", value: "hi" }],
      ]),
    ).toEqual({ count: 5, hash: expected });
  });

  it("is whole when count and hash agree, a part when they do not, and unsaid without them", () => {
    const { hash } = digest(all({}).facts());
    expect(account(all({})).whole).toEqual({ is: "unsaid" });
    expect(account(all({ "Sheet/Count": 2, "Sheet/Hash": hash })).whole).toEqual({ is: "whole", count: 2 });
    expect(account(all({ "Sheet/Count": 5, "Sheet/Hash": hash })).whole).toEqual({ is: "part", have: 2, said: 5 });
    expect(account(all({ "Sheet/Count": 2, "Sheet/Hash": "0" })).whole.is).toBe("part");
  });

  it("i2_what was taken back is not there, whatever a relay still holds", () => {
    const of = all({ "Power/Battery": "MK", "Sheet/Retracted": ["Power/Battery"] });
    expect(robotRows(of, "metric").groups.map((g) => g.id)).toEqual([]);
    expect(robotRows(of, "metric").more).toEqual([]);
    expect(of.facts()).toHaveLength(2);
  });

  it("says where facts come from, why others are absent, and who disagrees", () => {
    const json = {
      facts: { "Identity/Name": ["declared", "declaration", 5], odd: 7, "Identity/X": ["a"] },
      absent: { "Power/Module": "no HAL", y: 1 },
    };
    const of = account(
      all({
        "Sheet/Provenance": JSON.stringify(json),
        "Sheet/Disagreements": ["Identity/TeamNumber|controller|1234|host name|4321", "odd"],
        "Sheet/Warnings": ["Chassis/FrameLengthMeters: 740 is outside 0.2 to 1.3"],
      }),
    );
    expect([...of.origins]).toEqual([["Identity/Name", { how: "declared", source: "declaration", atUs: 5 }]]);
    expect(of.absent).toEqual([["Power/Module", "no HAL"]]);
    expect(of.disagreements).toEqual([
      "Identity/TeamNumber: controller says 1234, host name says 4321; the first is shown",
      "odd",
    ]);
    expect(of.warnings).toHaveLength(1);
    for (const bad of ["", "7", "[]", "{", '{"facts":[]}', '{"facts":{"a":null},"absent":7}']) {
      expect(account(all({ "Sheet/Provenance": bad })).origins.size, bad).toBe(0);
    }
  });
});
