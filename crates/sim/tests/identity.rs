//! The simulated robot's sheet, as dashboards get it that connect in the middle of a match: raw frames with each one's
//! habits, read by another implementation of MessagePack.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test stops where it fails")]

use std::collections::BTreeMap;

use fieldlab_base::{ClientId, Micros};
use fieldlab_nt4::server::{ConnectInfo, Frame, Version};
use fieldlab_nt4_net::Hub;
use fieldlab_robot::driver_station::DriverPanel;
use fieldlab_robot::network::{self, NtOperator};
use fieldlab_robot::robot_loop::{LoopConfig, LoopParts, RobotLoop};
use fieldlab_robot::site::{Pace, Site};
use fieldlab_robot::telemetry::{Door, NtSink};
use fieldlab_sim::rehearsal::{self, Scope};
use fieldlab_sim::{World, WorldConfig, declaration};
use fieldlab_values::{DataType, Value};
use rmpv::Value as Pack;
use serde_json::{Value as Json, json};

const ROOT: &str = "/Catalyst/Robot/";
const PERIOD: Micros = Micros::from_millis(20);

/// A robot in a match: its server and its loop.
struct Match {
    robot: RobotLoop,
    hub: Hub,
    now: Micros,
    _folder: tempfile::TempDir,
}

impl Match {
    fn begin() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (panel, hub) = (DriverPanel::new(), network::hub().unwrap());
        let door = Door::new();
        door.attach(Box::new(NtSink::direct(hub.clone())));
        let mut site = Site::new(folder.path(), Pace::Virtual, 0xb007);
        site.checkpoint = folder.path().join("keep").join("c.json");
        let parts = LoopParts {
            io: Box::new(World::new(WorldConfig::seeded(5), 5).unwrap()),
            station: Box::new(panel.clone()),
            operator: Box::new(NtOperator::direct(hub.clone())),
            door,
            site,
            op_modes: vec![rehearsal::entry(Scope::Short).unwrap()],
        };
        let mut robot = RobotLoop::new(LoopConfig::default(), parts).unwrap();
        robot.declare(declaration());
        let mut it = Self { robot, hub, now: Micros::ZERO, _folder: folder };
        panel.select(it.robot.find(rehearsal::FIELD_LAB));
        panel.set_enabled(true);
        for _ in 0..150 {
            it.tick();
        }
        it
    }

    fn tick(&mut self) {
        self.now += PERIOD;
        self.robot.tick(self.now, None);
    }

    /// The sheet, as the server holds it.
    fn sheet(&self) -> BTreeMap<String, Value> {
        self.hub.with(|server| {
            let names: Vec<String> = server.topic_names().map(str::to_owned).collect();
            let ours = names.into_iter().filter(|name| name.starts_with(ROOT));
            ours.map(|name| (name.clone(), server.value(&name).unwrap().1)).collect()
        })
    }
}

/// A dashboard that speaks for itself.
struct Dashboard {
    hub: Hub,
    client: ClientId,
    /// id → name and type, as announced on this connection.
    topics: BTreeMap<i64, (String, String)>,
    values: BTreeMap<String, Pack>,
    clock_answers: usize,
}

impl Dashboard {
    fn connect(hub: &Hub, name: &str, version: Version, now: Micros) -> Self {
        let info =
            ConnectInfo { name: name.into(), address: "10.58.5.6:50000".into(), version, immediate: false };
        let client = hub.with(|server| server.connect(&info, now)).unwrap();
        Self { hub: hub.clone(), client, topics: BTreeMap::new(), values: BTreeMap::new(), clock_answers: 0 }
    }

    fn say(&mut self, items: &Json, now: Micros) {
        self.hub.with(|server| server.receive_text(self.client, &items.to_string(), now)).unwrap();
    }

    fn subscribe(&mut self, subuid: i64, topics: &[&str], options: Json, now: Micros) {
        let params = json!({"topics": topics, "subuid": subuid, "options": options});
        self.say(&json!([{"method": "subscribe", "params": params}]), now);
    }

    /// Asks for the time with a payload of this type number.
    fn ask_the_time(&mut self, code: i64, now: Micros) {
        let ask = Pack::Array(vec![(-1).into(), 0.into(), code.into(), now.0.into()]);
        let mut bytes = Vec::new();
        rmpv::encode::write_value(&mut bytes, &ask).unwrap();
        self.hub.with(|server| server.receive_binary(self.client, &bytes, now)).unwrap();
    }

    fn hear(&mut self, now: Micros) {
        let hub = self.hub.clone();
        hub.with(|server| {
            server.transmit(self.client, now, usize::MAX, |frame| match frame {
                Frame::Text(text) => self.told(text),
                Frame::Binary(bytes) => self.given(bytes),
            })
        });
    }

    fn told(&mut self, text: &str) {
        let items: Json = serde_json::from_str(text).unwrap();
        for item in items.as_array().unwrap() {
            let params = &item["params"];
            let name = params["name"].as_str().unwrap().to_owned();
            match item["method"].as_str().unwrap() {
                "announce" => {
                    let properties = params["properties"].as_object();
                    let properties = properties.expect("AdvantageScope and Elastic crash without");
                    // A crashed boot must not serve what this one said.
                    let kept = properties.contains_key("persistent") || properties.contains_key("retained");
                    assert!(!(kept && name.starts_with(ROOT)), "{name}: {properties:?}");
                    let kind = params["type"].as_str().unwrap().to_owned();
                    self.topics.insert(params["id"].as_i64().unwrap(), (name, kind));
                }
                "unannounce" => {
                    self.topics.remove(&params["id"].as_i64().unwrap());
                    self.values.remove(&name);
                }
                "properties" => {}
                other => panic!("{other}"),
            }
        }
    }

    /// Elastic drops the rest of a frame at an id that it does not know, and so every id must be known.
    fn given(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let message = rmpv::decode::read_value(&mut bytes).unwrap();
            let parts = message.as_array().unwrap();
            assert_eq!(parts.len(), 4);
            match parts[0].as_i64().unwrap() {
                -1 => self.clock_answers += 1,
                id => {
                    let (name, _) = self.topics.get(&id).unwrap_or_else(|| panic!("{id} was not announced"));
                    self.values.insert(name.clone(), parts[3].clone());
                }
            }
        }
    }

    /// The sheet as this dashboard has it.
    fn sheet(&self) -> BTreeMap<String, Value> {
        let types: BTreeMap<&str, &str> =
            self.topics.values().map(|(name, kind)| (name.as_str(), kind.as_str())).collect();
        let ours = self.values.iter().filter(|(name, _)| name.starts_with(ROOT));
        ours.map(|(name, value)| (name.clone(), as_value(types[name.as_str()], value))).collect()
    }
}

fn as_value(kind: &str, pack: &Pack) -> Value {
    let text = |p: &Pack| -> std::sync::Arc<str> { p.as_str().unwrap().into() };
    match kind {
        "boolean" => Value::Boolean(pack.as_bool().unwrap()),
        "int" => Value::Int(pack.as_i64().unwrap()),
        "double" => Value::Double(pack.as_f64().unwrap()),
        "string" | "json" => Value::String(text(pack)),
        "double[]" => {
            Value::DoubleArray(pack.as_array().unwrap().iter().map(|p| p.as_f64().unwrap()).collect())
        }
        "string[]" => Value::StringArray(pack.as_array().unwrap().iter().map(text).collect()),
        other => panic!("{other} is no type of the sheet"),
    }
}

/// Connects by `habit` mid-match, lets the match go on for half a second, and compares.
fn sees_the_whole_sheet(
    name: &str,
    version: Version,
    habit: impl FnOnce(&mut Dashboard, &BTreeMap<String, Value>, Micros),
) -> Dashboard {
    let mut game = Match::begin();
    let expected = game.sheet();
    assert!(expected.len() > 40, "{}", expected.len());
    let mut dashboard = Dashboard::connect(&game.hub, name, version, game.now);
    habit(&mut dashboard, &expected, game.now);
    for _ in 0..25 {
        game.tick();
        dashboard.hear(game.now);
    }
    let seen = dashboard.sheet();
    assert_eq!(seen.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{name}");
    assert_eq!(seen, expected, "{name}");
    // It can tell by itself that nothing is missing.
    let facts = seen.iter().map(|(name, value)| (&name[ROOT.len()..], value.as_ref()));
    let digest = fieldlab_identity::digest(facts.filter(|(name, _)| !name.starts_with("Sheet/")));
    assert_eq!(seen[&format!("{ROOT}Sheet/Count")], Value::Int(digest.count as i64));
    assert_eq!(seen[&format!("{ROOT}Sheet/Hash")], Value::from(digest.hex().as_str()));
    dashboard
}

#[test]
fn advantagescope_in_logging_mode_sees_the_whole_sheet() {
    let all = |dashboard: &mut Dashboard, _: &BTreeMap<String, Value>, now| {
        dashboard.ask_the_time(2, now);
        let options = json!({"periodic": 0.02, "all": true, "topicsonly": false, "prefix": true});
        dashboard.subscribe(91_234_567, &[""], options, now);
    };
    let dashboard = sees_the_whole_sheet("AdvantageScope", Version::V41, all);
    assert_eq!(dashboard.clock_answers, 1);
    let types: BTreeMap<&str, &str> =
        dashboard.topics.values().map(|(name, kind)| (name.as_str(), kind.as_str())).collect();
    for row in fieldlab_identity::keys::table() {
        if let Some(kind) = types.get(&*format!("{ROOT}{}", row.name)) {
            let expected = if row.data_type == DataType::Json { "json" } else { row.data_type.nt_name() };
            assert_eq!(*kind, expected, "{}", row.name);
        }
    }
}

#[test]
fn advantagescope_with_low_bandwidth_asks_for_each_field() {
    let each = |dashboard: &mut Dashboard, sheet: &BTreeMap<String, Value>, now| {
        dashboard.subscribe(1_000_001, &[""], json!({"topicsonly": true, "prefix": true}), now);
        for (i, name) in sheet.keys().enumerate() {
            let options = json!({"periodic": 0.02, "all": true, "prefix": true});
            dashboard.subscribe(70_000_000 + 31 * i as i64, &[name], options, now);
        }
    };
    sees_the_whole_sheet("AdvantageScope", Version::V41, each);
}

#[test]
fn glass_asks_the_time_first_and_counts_its_subscriptions_downwards() {
    let multi = |dashboard: &mut Dashboard, _: &BTreeMap<String, Value>, now| {
        dashboard.ask_the_time(2, now);
        dashboard.hear(now);
        assert_eq!(dashboard.clock_answers, 1, "it says nothing more until it has this");
        dashboard.subscribe(-1, &["", "$"], json!({"prefix": true, "periodic": 0.1}), now);
    };
    sees_the_whole_sheet("glass@2", Version::V41, multi);
}

#[test]
fn elastic_asks_by_prefix_for_every_widget() {
    let widgets = |dashboard: &mut Dashboard, sheet: &BTreeMap<String, Value>, now| {
        dashboard.subscribe(500, &["/"], json!({"topicsonly": true, "prefix": true}), now);
        for (i, name) in sheet.keys().enumerate() {
            // A pub of its own without properties stands between, as its switches make them.
            let publish = json!({"name": format!("/Elastic/{i}"), "type": "boolean", "pubuid": i});
            dashboard.say(&json!([{"method": "publish", "params": publish}]), now);
            let options = json!({"periodic": 0.1, "prefix": true});
            dashboard.subscribe(501 + i as i64, &[name], options, now);
        }
    };
    sees_the_whole_sheet("elastic", Version::V41, widgets);
}

#[test]
fn the_console_speaks_4_0_and_asks_for_everything_once() {
    let console = |dashboard: &mut Dashboard, _: &BTreeMap<String, Value>, now| {
        dashboard.ask_the_time(1, now);
        dashboard.subscribe(1, &["/"], json!({"periodic": 0.02, "prefix": true}), now);
    };
    let dashboard = sees_the_whole_sheet("catalyst-console", Version::V40, console);
    assert_eq!(dashboard.clock_answers, 1, "an integer under the number of a double is answered");
}

#[test]
fn the_tablet_asks_by_prefixes_and_has_room_for_every_line() {
    let tab = |dashboard: &mut Dashboard, _: &BTreeMap<String, Value>, now| {
        dashboard.ask_the_time(2, now);
        let prefixes =
            ["/Catalyst/", "/FMSInfo/", "/Auto Selector/", "/SmartDashboard/", "/limelight", "/PathPlanner/"];
        dashboard.subscribe(1, &prefixes, json!({"periodic": 0.05, "prefix": true}), now);
    };
    let dashboard = sees_the_whole_sheet("catalyst-tab", Version::V41, tab);
    let under = dashboard.topics.values().filter(|(name, _)| name.starts_with("/Catalyst/"));
    assert!(under.count() <= 512);
    for (name, value) in dashboard.sheet() {
        assert!(name.len() <= 127, "{name}");
        if let Value::StringArray(rows) = value {
            let bytes: usize = rows.iter().map(|row| row.len() + 1).sum();
            assert!(bytes <= 2048, "{name}: {bytes} bytes");
        }
    }
}

#[test]
fn the_rehearsed_robot_is_whole_and_simulated() {
    let game = Match::begin();
    let sheet = game.sheet();
    let value = |key: &str| sheet.get(&format!("{ROOT}{key}")).cloned();
    assert_eq!(value("Identity/Name"), Some("Nowhere".into()));
    assert_eq!(value("Identity/Controller"), Some("Simulation".into()));
    assert_eq!(value("Drivetrain/TrackWidthMeters"), Some(Value::Double(0.6)));
    assert_eq!(value("Chassis/BumperLengthMeters"), Some(Value::Double(0.74 + 2.0 * 0.08)));
    assert_eq!(value("Hardware/CanDevices"), Some(Value::Int(17)));
    let inventory = ["CANcoder|4", "PDH|1", "Pigeon2|1", "TalonFX|11"].map(Into::into);
    assert_eq!(value("Hardware/Inventory"), Some(Value::StringArray(inventory.into())));
    assert_eq!(value("Catalyst/Campaign/Names"), Some(Value::StringArray(["Short Day".into()].into())));
    for nowhere in ["Identity/RioSerial", "Software/RioImage", "Software/JavaVersion", "Identity/TeamNumber"]
    {
        assert_eq!(value(nowhere), None, "{nowhere}");
    }
    assert_eq!(value("Sheet/Warnings"), None, "nothing about it is hard to believe");
    assert_eq!(value("Sheet/Disagreements"), None);
}
