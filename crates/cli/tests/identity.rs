//! `fieldlab identity` from outside: robots are servers in this process, logs are written by hand.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod common;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;

use common::{outcome, record, start, write};
use fieldlab_base::{Feature, Micros};
use fieldlab_identity::{
    ControllerFacts, Declaration, FactPart, Identity, Key, RobotIdentity, Source, SpecSheet,
};
use fieldlab_nt4::Properties;
use fieldlab_nt4::server::{Server, ServerConfig};
use fieldlab_nt4_net::{Hub, NetServer, NetServerConfig};
use fieldlab_values::{DataType, Value, ValueRef};
use serde_json::Value as Json;

fn ratchet() -> Declaration {
    RobotIdentity::named("Ratchet")
        .frame_m(0.762, 0.6858)
        .bumper_thickness_m(0.08)
        .battery("MK ES17-12")
        .channel(0, "Front left drive")
        .declare()
        .unwrap()
}

fn sheet(declared: Declaration) -> SpecSheet {
    let mut identity = Identity::new(0xb007);
    identity.declare(declared);
    let controller = ControllerFacts { team_number: Some(0), ..ControllerFacts::default() };
    identity.put(Source::new(1, "HAL"), Micros(5), FactPart { controller, ..FactPart::default() });
    identity.record(&Feature::campaign("Field Day")).unwrap();
    identity.step(Micros(7));
    identity.sheet().clone()
}

/// A robot whose server says these topics.
struct Robot {
    _hub: Hub,
    server: NetServer,
}

impl Robot {
    fn saying<'a>(topics: impl IntoIterator<Item = (&'a str, DataType, Value)>) -> Self {
        let hub = Hub::new(Server::new(ServerConfig::default()).unwrap());
        hub.with(|server| {
            for (key, kind, value) in topics {
                let name = format!("/Catalyst/Robot/{key}");
                let topic = server.publish_local(&name, &kind, &Properties::new()).unwrap();
                server.set_local(topic, Micros(1), value.as_ref());
            }
        });
        let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let server =
            NetServer::bind(hub.clone(), NetServerConfig::new(addr, Arc::new(|| Micros(9)))).unwrap();
        Self { _hub: hub, server }
    }

    /// A robot of this library.
    fn with(sheet: &SpecSheet) -> Self {
        Self::saying(
            sheet
                .entries()
                .iter()
                .map(|entry| (&*entry.name, entry.key.row().data_type.clone(), entry.fact.value.clone())),
        )
    }

    fn at(&self) -> String {
        self.server.local_addr().to_string()
    }
}

/// A log in which the sheet stands under this prefix.
fn log(prefix: &str, sheet: &SpecSheet) -> Vec<u8> {
    let mut bytes = b"WPILOG\x00\x01\x00\x00\x00\x00".to_vec();
    for (id, entry) in (1u32..).zip(sheet.entries()) {
        bytes.extend(start(id, &format!("{prefix}{}", entry.name), entry.key.row().data_type.log_name()));
        bytes.extend(record(id, 1_000, &payload(entry.fact.value.as_ref())));
    }
    bytes
}

/// The value as the log format has it.
fn payload(value: ValueRef<'_>) -> Vec<u8> {
    match value {
        ValueRef::Boolean(v) => vec![u8::from(v)],
        ValueRef::Int(v) => v.to_le_bytes().to_vec(),
        ValueRef::Double(v) => v.to_le_bytes().to_vec(),
        ValueRef::String(v) => v.as_bytes().to_vec(),
        ValueRef::DoubleArray(all) => all.iter().flat_map(|v| v.to_le_bytes()).collect(),
        ValueRef::StringArray(all) => {
            let mut bytes = (all.len() as u32).to_le_bytes().to_vec();
            for text in all {
                bytes.extend((text.len() as u32).to_le_bytes());
                bytes.extend(text.as_bytes());
            }
            bytes
        }
        other => panic!("no sheet holds {other:?}"),
    }
}

const CARD: &str = "\
Ratchet

Features
  Campaign  Field Day
";

#[test]
fn a_robots_sheet_is_printed_in_the_dashboards_groups() {
    let robot = Robot::with(&sheet(ratchet()));
    let (code, stdout, stderr) = outcome(&["identity", "--robot", &robot.at()]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert!(stdout.starts_with(CARD), "{stdout}");
    assert!(stdout.contains("\nSoftware\n  Library"), "{stdout}");
    let end = "\
Chassis
  Frame length           0.762 m
  Frame width            0.6858 m
  Bumper thickness       0.08 m
  Length over bumpers    0.922 m
  Width over bumpers     0.8458 m
  Diagonal over bumpers  1.2512 m
  Frame perimeter        2.896 m (114 in)

Power
  Battery  MK ES17-12

Power channels
  0  Front left drive
";
    assert!(stdout.ends_with(end), "{stdout}");
    assert!(
        !stdout.contains("team") && !stdout.contains('\u{1b}'),
        "a pipe is plain and absent rows are absent"
    );
    let (code, stdout, _) = outcome(&["identity", "--robot", &robot.at(), "--imperial"]);
    assert_eq!(code, 0);
    assert!(stdout.contains("Frame length           30 in\n  Frame width            27 in"), "{stdout}");
}

#[test]
fn why_names_the_source_that_was_silent() {
    let robot = Robot::with(&sheet(ratchet()));
    let (code, stdout, _) = outcome(&["identity", "--robot", &robot.at(), "--why"]);
    assert_eq!(code, 0);
    for line in [
        "Identity/Name                      declared, declaration, at 0.000 s",
        "Chassis/BumperLengthMeters         derived, declaration, at 0.000 s",
        "Identity/TeamNumber                 HAL: 0 is no reading, it can only be above 0",
        "Chassis/MassKg                      nobody says; it could come from: PathPlanner settings",
        "Boot 000000000000b007",
        "Software/JavaVersion                never from a Rust robot; read from Java robots",
    ] {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(stdout.lines().any(|found| words(found) == words(line)), "{line}\n{stdout}");
    }
    assert!(stdout.contains(&format!("{}, which is all\n", sheet(ratchet()).digest().count)), "{stdout}");
}

#[test]
fn json_is_as_the_schema_says() {
    let sheet = sheet(ratchet());
    let robot = Robot::with(&sheet);
    let (code, stdout, _) = outcome(&["identity", "--robot", &robot.at(), "--json"]);
    assert_eq!(code, 0);
    let found: Json = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&found["schema"], &found["whole"]), (&"fieldlab.identity/1".into(), &true.into()));
    assert_eq!(found["boot_id"], "000000000000b007");
    assert_eq!(found["sheet"]["Chassis/FrameLengthMeters"], 0.762);
    assert_eq!(found["sheet"]["Power/ChannelsInUse"], serde_json::json!(["0|Front left drive"]));
    assert_eq!(found["provenance"]["Identity/Name"]["how"], "declared");
    assert!(found["absent"]["Identity/TeamNumber"].as_str().unwrap().starts_with("HAL"));
    let (code, stdout, _) = outcome(&["identity", "schema"]);
    let schema: Json = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, &schema["$id"]), (0, &"fieldlab.identity/1".into()));
    let (code, tables, _) = outcome(&["identity", "keys"]);
    assert_eq!(code, 0);
    assert!(tables.contains("| `Chassis/MassKg` | double | kg |"), "{tables}");
    for (key, value) in found["sheet"].as_object().unwrap() {
        let property = &schema["properties"][key];
        let of_feature = ["Count", "Instances", "Names"].map(|leaf| format!("^Catalyst/[^/]+/{leaf}$"));
        let said = of_feature.iter().map(|pattern| &schema["patternProperties"][pattern]);
        let kinds: Vec<&Json> = [property].into_iter().chain(said).map(|of| &of["type"]).collect();
        let kind = match value {
            Json::String(_) => "string",
            Json::Bool(_) => "boolean",
            Json::Array(_) => "array",
            Json::Number(n) if n.is_i64() => "integer",
            _ => "number",
        };
        assert!(kinds.iter().any(|of| *of == kind), "{key}: {value}");
    }
}

#[test]
fn a_log_says_the_same_in_every_spelling() {
    let folder = tempfile::tempdir().unwrap();
    let sheet = sheet(ratchet());
    let robot = Robot::with(&sheet);
    let (_, live, _) = outcome(&["identity", "--robot", &robot.at()]);
    for prefix in ["Robot/", "NT:/Catalyst/Robot/", "/RealOutputs/Robot/"] {
        let path = write(folder.path(), "robot.wpilog", &log(prefix, &sheet));
        let (code, stdout, stderr) = outcome(&["identity", &path]);
        assert_eq!((code, stdout.as_str(), stderr.as_str()), (0, live.as_str(), ""), "{prefix}");
    }
}

#[test]
fn a_sheet_that_is_not_whole_is_shown_and_is_three() {
    let sheet = sheet(ratchet());
    let without = |gone: Key| {
        let kept = sheet.entries().iter().filter(move |entry| entry.key != gone);
        kept.map(|e| (&*e.name, e.key.row().data_type.clone(), e.fact.value.clone()))
    };
    let robot = Robot::saying(without(Key::Battery));
    let (code, stdout, stderr) = outcome(&["identity", "--robot", &robot.at(), "--wait", "0.7"]);
    assert_eq!(code, 3);
    assert!(stdout.starts_with("Ratchet\n") && !stdout.contains("MK ES17-12"), "{stdout}");
    let facts = sheet.digest().count;
    assert!(stderr.contains(&format!("{} keys are here, the robot has {facts}", facts - 1)), "{stderr}");
}

#[test]
fn a_wrong_type_costs_its_row_and_is_three() {
    let robot = Robot::saying([
        ("Identity/Name", DataType::String, "Clank".into()),
        ("Identity/TeamNumber", DataType::Double, 1234.0.into()),
        ("Identity/Controller", DataType::String, "\u{1b}[31mred".into()),
    ]);
    let (code, stdout, stderr) = outcome(&["identity", "--robot", &robot.at()]);
    assert_eq!(code, 3);
    assert_eq!(stdout, "Clank\n\\u{1b}[31mred\n");
    assert!(stderr.contains("Identity/TeamNumber: expected int, found double"), "{stderr}");
}

#[test]
fn a_robot_of_another_library_has_no_hash_and_is_read_all_the_same() {
    let robot = Robot::saying([
        ("Identity/Name", DataType::String, "Catalyst X1".into()),
        ("Identity/Season", DataType::Int, 2027.into()),
        ("Software/JavaVersion", DataType::String, "25".into()),
    ]);
    let (code, stdout, stderr) = outcome(&["identity", "--robot", &robot.at(), "--why"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert!(stdout.starts_with("Catalyst X1\nseason 2027\n\nSoftware\n  Java  25\n"), "{stdout}");
    assert!(stdout.contains("the robot does not say why; sources: PathPlanner settings"), "{stdout}");
}

#[test]
fn the_newest_value_of_a_log_counts_and_one_that_is_none_costs_its_row() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = b"WPILOG\x00\x01\x00\x00\x00\x00".to_vec();
    bytes.extend(start(1, "Robot/Identity/Name", "string"));
    bytes.extend(start(2, "Robot/Identity/TeamNumber", "int64"));
    bytes.extend(record(1, 2_000, b"Ratchet"));
    bytes.extend(record(1, 1_000, b"yesterday's name"));
    bytes.extend(record(2, 1_000, b"abc"));
    let path = write(folder.path(), "robot.wpilog", &bytes);
    let (code, stdout, stderr) = outcome(&["identity", &path]);
    assert_eq!((code, stdout.as_str()), (3, "Ratchet\n"));
    assert!(stderr.contains("Identity/TeamNumber: expected int, found raw"), "{stderr}");
}

#[test]
fn a_fact_that_went_away_in_a_log_is_absent() {
    let folder = tempfile::tempdir().unwrap();
    let name = |finishes: &[(u32, i64)]| {
        let mut bytes = b"WPILOG\x00\x01\x00\x00\x00\x00".to_vec();
        bytes.extend(start(1, "Robot/Identity/Name", "string"));
        bytes.extend(start(2, "Robot/Identity/TeamNumber", "int64"));
        bytes.extend(record(1, 1_000, b"Ratchet"));
        bytes.extend(record(2, 3_000, &5805i64.to_le_bytes()));
        for (id, at) in finishes {
            bytes.extend(record(0, *at, &[&[1], &id.to_le_bytes()[..]].concat()));
        }
        let path = write(folder.path(), "robot.wpilog", &bytes);
        let (code, stdout, stderr) = outcome(&["identity", "--json", &path]);
        assert_eq!((code, stderr.as_str()), (0, ""));
        let sheet = serde_json::from_str::<Json>(&stdout).unwrap()["sheet"].clone();
        (sheet["Identity/Name"].clone(), sheet["Identity/TeamNumber"].clone())
    };
    let (ratchet, team) = (Json::from("Ratchet"), Json::from(5805));
    assert_eq!(name(&[]), (ratchet.clone(), team.clone()));
    assert_eq!(name(&[(1, 2_000)]), (Json::Null, team.clone()));
    assert_eq!(name(&[(1, 4_000), (2, 4_000)]), (ratchet, team), "the writer closed its file");
}

#[test]
fn no_sheet_is_three_and_no_robot_is_two() {
    let robot = Robot::saying([]);
    let (code, stdout, stderr) = outcome(&["identity", "--robot", &robot.at()]);
    assert_eq!((code, stdout.as_str()), (3, ""));
    assert!(stderr.contains("no robot said here who it is"), "{stderr}");

    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "small.wpilog", &common::small_log());
    assert_eq!(outcome(&["identity", &path]).0, 3);
    let stranger = write(folder.path(), "stranger.wpilog", b"surely no log");
    assert_eq!(outcome(&["identity", &stranger]).0, 2);

    // A port at which nobody listens any more.
    let gone = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().to_string();
    let (code, stdout, stderr) = outcome(&["identity", "--robot", &gone, "--wait", "0.3"]);
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(stderr.contains(&format!("no robot at {gone}")), "{stderr}");
    for bad in
        [&["identity", "--wait", "0"][..], &["identity", "--robot", "a b"], &["identity", "--wait", "NaN"]]
    {
        assert_eq!(outcome(bad).0, 2, "{bad:?}");
    }
}

#[test]
fn diff_compares_a_robot_with_a_log() {
    let folder = tempfile::tempdir().unwrap();
    let before = sheet(ratchet());
    let path = write(folder.path(), "before.wpilog", &log("Robot/", &before));
    let mut declared = ratchet();
    declared.frame_length_m = Some(0.8);
    declared.battery = None;
    declared.channels.insert(7, "Climber".to_owned());
    let robot = Robot::with(&sheet(declared));
    let at = robot.at();
    let (code, stdout, stderr) = outcome(&["identity", "diff", &path, &at]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    let expect = format!(
        "- {path}\n+ {at}\n\nChassis/FrameLengthMeters\n  - 0.762 m\n  + 0.8 m\n\nChassis/BumperLengthMeters\n  - \
         {} m\n  + {} m\n\nPower/ChannelsInUse\n  + 7|Climber\n\nPower/Battery\n  - MK ES17-12\n  + (absent)\n",
        0.762 + 2.0 * 0.08,
        0.8 + 2.0 * 0.08
    );
    assert_eq!(stdout, expect);
    assert_eq!(outcome(&["identity", "diff", "--strict", &path, &at]).0, 3);
    let (code, stdout, stderr) = outcome(&["identity", "diff", "--strict", &path, &path]);
    assert_eq!((code, stdout.as_str()), (0, ""));
    assert!(stderr.contains("they say the same"), "{stderr}");

    let (code, stdout, _) = outcome(&["identity", "diff", "--json", &path, &at]);
    let found: Json = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, found["differences"].as_array().unwrap().len()), (0, 4));
    assert_eq!(
        found["differences"][3],
        serde_json::json!({ "key": "Power/Battery", "a": "MK ES17-12", "b": null })
    );
}
