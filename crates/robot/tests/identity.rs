//! The identity sheet through the loop: what reaches the door, the server and the logs, and when.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod common;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use common::FakeRobot;
use common::rig::site;
use fieldlab_base::{ConfigError, Feature, Micros};
use fieldlab_identity::{FactPart, FactSource, Source};
use fieldlab_nt4::Properties;
use fieldlab_nt4_net::{Hub, NetServer, NetServerConfig};
use fieldlab_robot::driver_station::DriverPanel;
use fieldlab_robot::hw::{
    CanDevice, DeviceClass, GyroInfo, HardwareFacts, Inputs, ModuleConstants, Outputs, PowerInfo,
    PowerModule, RobotDescription, RobotIo, SwerveConstants,
};
use fieldlab_robot::identity::{
    ControllerFacts, Machine, MeasuredFacts, Register, RobotIdentity, RuntimeFacts, SystemServer,
};
use fieldlab_robot::network;
use fieldlab_robot::operator::NoOperator;
use fieldlab_robot::opmode::{OpModeEntry, OpModeInfo, OpModeKind};
use fieldlab_robot::robot_loop::{LoopConfig, LoopParts, RobotLoop};
use fieldlab_robot::telemetry::{Door, MemorySink, NtSink};
use fieldlab_values::Value;
use fieldlab_wpilog::Log;

const ROOT: &str = "/Catalyst/Robot/";

/// The fake with facts that a test may change.
struct Told {
    robot: FakeRobot,
    facts: Rc<RefCell<(u64, HardwareFacts)>>,
}

impl RobotIo for Told {
    fn description(&self) -> RobotDescription {
        let drive = self.facts.borrow().1.drive.as_ref().map(SwerveConstants::geometry);
        RobotDescription { drive, ..self.robot.description() }
    }
    fn read(&mut self, now: Micros, inputs: &mut Inputs) {
        self.robot.read(now, inputs);
    }
    fn apply(&mut self, now: Micros, outputs: &Outputs) {
        self.robot.apply(now, outputs);
    }
    fn facts(&self) -> HardwareFacts {
        self.facts.borrow().1.clone()
    }
    fn facts_revision(&self) -> u64 {
        self.facts.borrow().0
    }
}

fn swerve() -> SwerveConstants {
    let device = |class, id, kind: &str| CanDevice::new("can_s0", class, id, kind);
    SwerveConstants {
        modules: std::array::from_fn(|i| ModuleConstants {
            position_m: common::MODULES_M[i],
            drive_gear_ratio: 6.75,
            steer_gear_ratio: 12.8,
            wheel_radius_m: 0.0508,
            slip_current_amps: Some(80.0),
            drive_motor: device(DeviceClass::Motor, 2 * i as u8, "TalonFX"),
            steer_motor: device(DeviceClass::Motor, 2 * i as u8 + 1, "TalonFX"),
            encoder: Some(device(DeviceClass::Encoder, i as u8, "CANcoder")),
        }),
        max_speed_mps: 4.5,
        max_angular_rate_rad_per_sec: 9.0,
        odometry_hz: Some(250.0),
        can_fd: Some(true),
    }
}

fn hardware() -> HardwareFacts {
    HardwareFacts {
        drive: Some(swerve()),
        gyro: Some(GyroInfo::Can(CanDevice::new("can_s0", DeviceClass::Gyro, 0, "Pigeon2"))),
        power: Some(PowerInfo { module: PowerModule::RevPdh, channels: 24, device: None }),
        cameras: vec!["rear".into(), "front".into()],
        devices: vec![CanDevice::new("can_s2", DeviceClass::Motor, 9, "TalonFX").named("Hood|left")],
        simulated: false,
    }
}

struct Bench {
    robot: RobotLoop,
    panel: DriverPanel,
    memory: MemorySink,
    hub: Hub,
    facts: Rc<RefCell<(u64, HardwareFacts)>>,
    now: Micros,
    folder: tempfile::TempDir,
}

impl Bench {
    fn new(facts: HardwareFacts, op_modes: Vec<OpModeEntry>) -> Self {
        Self::with(facts, op_modes, |_| ())
    }

    fn with(
        facts: HardwareFacts,
        op_modes: Vec<OpModeEntry>,
        change: impl FnOnce(&mut fieldlab_robot::site::Site),
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (panel, memory, hub) = (DriverPanel::new(), MemorySink::new(), network::hub().unwrap());
        let door = Door::new();
        door.attach(Box::new(memory.clone()));
        door.attach(Box::new(NtSink::direct(hub.clone())));
        let facts = Rc::new(RefCell::new((0, facts)));
        let mut site = site(folder.path(), 0x1d);
        change(&mut site);
        let parts = LoopParts {
            io: Box::new(Told { robot: FakeRobot::new(), facts: Rc::clone(&facts) }),
            station: Box::new(panel.clone()),
            operator: Box::new(NoOperator),
            door,
            site,
            op_modes,
        };
        let robot = RobotLoop::new(LoopConfig::default(), parts).unwrap();
        Self { robot, panel, memory, hub, facts, now: Micros::ZERO, folder }
    }

    /// A robot on a machine of which nothing can be read.
    fn bare(facts: HardwareFacts) -> Self {
        let bench = Self::new(facts, Vec::new());
        bench.robot.register().machine(&Machine::at(bench.folder.path().join("no machine"), None));
        bench
    }

    fn tick(&mut self) {
        self.now += Micros::from_millis(20);
        self.robot.tick(self.now, None);
    }

    fn declare(&mut self) {
        self.robot.declare(RobotIdentity::declare("Ratchet").unwrap());
    }

    fn value(&self, key: &str) -> Option<Value> {
        self.memory.last(&format!("{ROOT}{key}"))
    }

    fn text(&self, key: &str) -> String {
        match self.value(key) {
            Some(Value::String(text)) => text.to_string(),
            other => panic!("{key}: {other:?}"),
        }
    }

    fn alerts(&self, level: &str) -> Vec<String> {
        match self.memory.last(&format!("/Catalyst/Alerts/{level}")) {
            Some(Value::StringArray(rows)) => rows.iter().map(ToString::to_string).collect(),
            other => panic!("{level}: {other:?}"),
        }
    }

    /// The sheet as the server has it now.
    fn on_the_server(&self) -> BTreeMap<String, Value> {
        self.hub.with(|server| {
            let names: Vec<String> = server.topic_names().map(str::to_owned).collect();
            let ours = names.into_iter().filter(|name| name.starts_with(ROOT));
            ours.filter_map(|name| server.value(&name).map(|(_, value)| (name, value))).collect()
        })
    }
}

fn text(value: &str) -> Option<Value> {
    Some(value.into())
}

fn list(rows: &[&str]) -> Option<Value> {
    Some(Value::StringArray(rows.iter().map(|row| (*row).into()).collect()))
}

#[test]
fn a_robot_that_is_not_declared_publishes_nothing_and_forgets_nothing() {
    let mut bench = Bench::bare(hardware());
    bench.robot.register().record(&Feature::sequence("ThreePiece")).unwrap();
    bench.tick();
    assert!(bench.on_the_server().is_empty());
    bench.declare();
    bench.tick();
    assert_eq!(bench.value("Identity/Name"), text("Ratchet"));
    assert_eq!(bench.value("Catalyst/InUse"), list(&["Sequence"]));
    assert_eq!(bench.value("Drivetrain/Type"), text("Swerve"));
    assert_eq!(bench.value("Drivetrain/WheelRadiusMeters"), Some(Value::Double(0.0508)));
    assert_eq!(bench.value("Drivetrain/SteerGearRatio"), Some(Value::Double(12.8)));
    assert_eq!(bench.value("Drivetrain/OdometryHz"), Some(Value::Double(250.0)));
    assert_eq!(bench.value("Drivetrain/CanFd"), Some(Value::Boolean(true)));
    assert_eq!(bench.value("Power/Module"), text("REV PDH"));
    assert_eq!(bench.value("Hardware/Gyro"), text("Pigeon2"));
    assert_eq!(bench.value("Hardware/GyroCanId"), Some(Value::Int(0)), "0 is an id");
    // Eight motors, four encoders, the gyro and the claimed one: motor 0 and encoder 0 are two devices.
    assert_eq!(bench.value("Hardware/CanDevices"), Some(Value::Int(14)));
    assert_eq!(bench.value("Hardware/Cameras"), list(&["front", "rear"]));
    let Some(Value::StringArray(rows)) = bench.memory.last("/Catalyst/CAN/Devices") else {
        panic!("no rows")
    };
    assert_eq!(rows.len(), 14);
    assert!(rows.contains(&"can_s2|9|TalonFX|Hood/left".into()), "{rows:?}");
}

/// One thing that happens while a robot comes up.
type Event = fn(&mut Bench);

fn declared(bench: &mut Bench) {
    bench.declare();
}
fn parts_up(bench: &mut Bench) {
    let mut facts = bench.facts.borrow_mut();
    facts.0 += 1;
    facts.1 = hardware();
}
fn features_up(bench: &mut Bench) {
    bench.robot.register().record(&Feature::autopilot("Ace")).unwrap();
    bench.robot.register().record(&Feature::sequence("Zig")).unwrap();
}
fn more_features_up(bench: &mut Bench) {
    bench.robot.register().record(&Feature::sequence("Zag")).unwrap();
}
fn hal_speaks(bench: &mut Bench) {
    let runtime = RuntimeFacts { wpilib_version: Some("2027.0.0-alpha-6".into()) };
    let controller = ControllerFacts { team_number: Some(5805), ..ControllerFacts::default() };
    bench.robot.register().hal(controller, runtime);
}

#[test]
fn order_does_not_matter() {
    let events: [Event; 5] = [declared, parts_up, features_up, more_features_up, hal_speaks];
    let sheet = |order: &[usize], turns_between: bool| {
        let mut bench = Bench::bare(HardwareFacts { drive: Some(swerve()), ..HardwareFacts::default() });
        for at in order {
            events[*at](&mut bench);
            if turns_between {
                bench.tick();
            }
        }
        bench.tick();
        let mut sheet = bench.on_the_server();
        // When a fact was first known depends on the order, and nothing else may.
        sheet.remove(&format!("{ROOT}Sheet/Provenance"));
        // A key that never stood on the sheet was never taken back.
        sheet.retain(|name, _| !name.ends_with("Sheet/Retracted"));
        sheet
    };
    let expected = sheet(&[0, 1, 2, 3, 4], false);
    assert_eq!(expected.get(&format!("{ROOT}Identity/Season")), Some(&Value::Int(2027)));
    assert_eq!(expected.get(&format!("{ROOT}Catalyst/Sequence/Names")), list(&["Zag", "Zig"]).as_ref());
    let mut tried = 0;
    for first in 0..5 {
        for second in (0..5).filter(|s| *s != first) {
            let mut order = vec![first, second];
            order.extend((0..5).rev().filter(|e| *e != first && *e != second));
            assert_eq!(sheet(&order, true), expected, "{order:?}");
            tried += 1;
        }
    }
    assert_eq!(tried, 20);
}

#[test]
fn i9_many_facts_in_one_turn_are_one_sheet_and_a_quiet_turn_writes_nothing() {
    let mut bench = Bench::bare(hardware());
    bench.declare();
    for i in 0..30 {
        bench.robot.register().record(&Feature::sequence(&format!("auto {i}"))).unwrap();
        parts_up(&mut bench);
    }
    bench.tick();
    let hashes = bench.memory.all(&format!("{ROOT}Sheet/Hash"));
    assert_eq!(hashes.len(), 1, "one derivation for thirty facts");
    let before = bench.memory.records().iter().filter(|r| r.name.starts_with(ROOT)).count();
    for _ in 0..100 {
        bench.tick();
    }
    let after = bench.memory.records().iter().filter(|r| r.name.starts_with(ROOT)).count();
    assert_eq!(after, before);
    bench.robot.register().record(&Feature::strategist("co-pilot")).unwrap();
    bench.tick();
    let written: Vec<_> = bench.memory.records().drain(..).filter(|r| r.name.starts_with(ROOT)).collect();
    let names: Vec<&str> = written[before..].iter().map(|r| &r.name[ROOT.len()..]).collect();
    let expected = [
        "Catalyst/InUse",
        "Catalyst/Strategist/Count",
        "Catalyst/Strategist/Instances",
        "Catalyst/Strategist/Names",
        "Sheet/Count",
        "Sheet/Hash",
        "Sheet/Provenance",
    ];
    assert_eq!(names, expected, "only changed keys, the sheet's own count and hash last");
}

#[test]
fn a_reader_knows_when_it_has_the_whole_sheet() {
    let mut bench = Bench::bare(hardware());
    bench.declare();
    bench.tick();
    let sheet = bench.on_the_server();
    assert_eq!(bench.text("Sheet/BootId"), "000000000000001d");
    let facts: Vec<(&str, _)> = sheet
        .iter()
        .map(|(name, value)| (&name[ROOT.len()..], value.as_ref()))
        .filter(|(name, _)| !name.starts_with("Sheet/"))
        .collect();
    let digest = fieldlab_identity::digest(facts.iter().copied());
    assert_eq!(bench.value("Sheet/Count"), Some(Value::Int(digest.count as i64)));
    assert_eq!(bench.text("Sheet/Hash"), digest.hex());
    let partial = fieldlab_identity::digest(facts.iter().copied().skip(1));
    assert_ne!(bench.text("Sheet/Hash"), partial.hex());
}

#[test]
fn every_source_lies_and_none_of_it_is_published() {
    let nothing = || Some(String::new());
    let lies = [
        ControllerFacts {
            team_number: Some(0),
            serial: nothing(),
            comment: nothing(),
            image: Some("  ".into()),
            fpga_version: Some(0),
            brownout_millivolts: Some(0),
            model: None,
        },
        ControllerFacts {
            team_number: Some(-1),
            serial: Some("UNKNOWN".into()),
            comment: Some("null".into()),
            image: Some("0".into()),
            fpga_version: Some(-1),
            brownout_millivolts: Some(3300),
            model: None,
        },
    ];
    for (round, controller) in lies.into_iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let put = |file: &str, text: &str| {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put("home/systemcore/deploy/pathplanner/settings.json", "{\"robotMass\": 0, \"robotMOI\": -1}");
        put("etc/os-release", "PRETTY_NAME=\"\"\n");
        put("etc/hostname", "robot-0-x\n");
        let facts = HardwareFacts {
            cameras: vec![String::new(), "  ".into()],
            gyro: Some(GyroInfo::Onboard(" ".into())),
            power: Some(PowerInfo { module: PowerModule::Other(String::new()), channels: 0, device: None }),
            ..HardwareFacts::default()
        };
        let mut bench = Bench::new(facts, Vec::new());
        bench.robot.register().machine(&Machine::at(folder.path(), Some(" ".into())));
        let runtime = RuntimeFacts { wpilib_version: Some(["", "0.0.0"][round].into()) };
        bench.robot.register().hal(controller, runtime);
        bench.declare();
        bench.tick();
        let sheet = bench.on_the_server();
        let known = [
            "Identity/Name",
            // The folder of a Systemcore is there: that much is true.
            "Identity/Controller",
            "Software/CatalystVersion",
            "Software/CatalystGitSha",
            "Software/CatalystGitDirty",
            "Software/CatalystCommitTime",
            "Software/Library",
            "Software/RustVersion",
        ];
        let lied: Vec<&str> = sheet
            .keys()
            .map(|name| &name[ROOT.len()..])
            .filter(|name| !name.starts_with("Sheet/") && !known.contains(name))
            .collect();
        assert!(lied.is_empty(), "round {round}: {lied:?}");
        let warnings = bench.alerts("Warnings").join("\n");
        assert!(warnings.contains("driveGearing"), "invalid settings are told: {warnings}");
        let provenance: serde_json::Value = serde_json::from_str(&bench.text("Sheet/Provenance")).unwrap();
        for key in ["Identity/TeamNumber", "Power/BrownoutVolts", "Chassis/MassKg", "Hardware/Cameras"] {
            assert!(provenance["absent"][key].is_string(), "{key}: {}", provenance["absent"]);
        }
    }
}

#[test]
fn sources_that_differ_and_units_that_were_mixed_up_are_told() {
    let mut bench = Bench::bare(hardware());
    let controller = |team, millivolts| ControllerFacts {
        team_number: Some(team),
        brownout_millivolts: Some(millivolts),
        ..ControllerFacts::default()
    };
    bench.robot.register().hal(controller(5805, 6750), RuntimeFacts::default());
    let root = bench.folder.path().join("rio");
    for (file, words) in [
        ("etc/natinst/share/scs_imagemetadata.ini", "IMAGEVERSION=\"roboRIO_2026_v1\""),
        ("etc/hostname", "roboRIO-254-FRC"),
    ] {
        std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
        std::fs::write(root.join(file), words).unwrap();
    }
    bench.robot.register().machine(&Machine::at(root, None));
    let typed = RobotIdentity::named("Ratchet").frame_m(740.0, 0.70).declare().unwrap();
    bench.robot.declare(typed);
    bench.tick();
    assert_eq!(bench.value("Identity/TeamNumber"), Some(Value::Int(5805)), "the first one asked");
    assert_eq!(
        bench.value("Chassis/FrameLengthMeters"),
        Some(Value::Double(740.0)),
        "published all the same"
    );
    let warnings = bench.alerts("Warnings");
    assert!(warnings.iter().all(|w| w.starts_with("[Identity] ")), "{warnings:?}");
    assert!(warnings.iter().any(|w| w.contains("5805") && w.contains("254")), "{warnings:?}");
    assert!(warnings.iter().any(|w| w.contains("millimetres")), "{warnings:?}");
    // The doubts go when their reasons do.
    bench.robot.declare(RobotIdentity::named("Ratchet").frame_m(0.74, 0.70).declare().unwrap());
    bench.robot.register().hal(controller(254, 6750), RuntimeFacts::default());
    bench.tick();
    assert_eq!(bench.alerts("Warnings"), Vec::<String>::new());
}

fn mode(
    name: &'static str,
    build: impl FnMut() -> Result<common::rig::Idle, ConfigError> + 'static,
) -> OpModeEntry {
    let info = OpModeInfo { kind: OpModeKind::Teleop, name, group: "", description: "" };
    let mut build = build;
    OpModeEntry::new(info, move |_| build())
}

#[test]
fn a_component_that_came_up_is_on_the_sheet_and_one_that_was_refused_is_not() {
    let refuse = Rc::new(std::cell::Cell::new(false));
    let asked = Rc::clone(&refuse);
    let drive = mode("Drive", move || {
        if asked.get() {
            return Err(ConfigError::new("gyro", "one that speaks", "nothing"));
        }
        Ok(common::rig::Idle)
    });
    let op_modes = vec![drive.feature(Feature::approach("Reef")), mode("Other", || Ok(common::rig::Idle))];
    let mut bench = Bench::new(hardware(), op_modes);
    bench.declare();
    bench.tick();
    assert_eq!(bench.value("Catalyst/Approach/Names"), list(&["Reef"]));
    let select = |bench: &Bench, name: &str| bench.panel.select(Some(bench.robot.find(name).unwrap()));
    refuse.set(true);
    select(&bench, "Drive");
    bench.tick();
    assert!(bench.robot.fault().is_some());
    assert_eq!(bench.value("Catalyst/InUse"), None, "nothing else came up");
    let gone = [
        "Catalyst/Approach/Count",
        "Catalyst/Approach/Instances",
        "Catalyst/Approach/Names",
        "Catalyst/InUse",
    ];
    assert_eq!(bench.value("Sheet/Retracted"), list(&gone));
    assert!(!bench.on_the_server().keys().any(|name| name.contains("/Catalyst/Approach/")));
    refuse.set(false);
    select(&bench, "Other");
    bench.tick();
    select(&bench, "Drive");
    bench.tick();
    assert_eq!(bench.value("Catalyst/Approach/Names"), list(&["Reef"]), "and it is back");
}

#[test]
fn i8_two_features_of_one_topic_are_refused_with_their_op_mode() {
    let near = Feature::own("GoalDirector", "").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let parts = LoopParts {
        io: Box::new(FakeRobot::new()),
        station: Box::new(DriverPanel::new()),
        operator: Box::new(NoOperator),
        door: Door::new(),
        site: site(folder.path(), 1),
        op_modes: vec![
            mode("A", || Ok(common::rig::Idle)).feature(Feature::goal_director(Some("STOW"))),
            mode("B", || Ok(common::rig::Idle)).feature(near),
        ],
    };
    let refused = RobotLoop::new(LoopConfig::default(), parts).unwrap_err();
    assert_eq!(refused.path, "op_modes[1].feature.name");
}

#[test]
fn i2_a_fact_that_went_away_is_gone_from_the_server_and_listed() {
    let mut bench = Bench::bare(hardware());
    bench.declare();
    bench.tick();
    assert!(bench.on_the_server().contains_key(&format!("{ROOT}Hardware/Cameras")));
    bench.facts.borrow_mut().1.cameras.clear();
    bench.facts.borrow_mut().0 += 1;
    bench.tick();
    assert!(!bench.on_the_server().contains_key(&format!("{ROOT}Hardware/Cameras")));
    assert_eq!(bench.value("Sheet/Retracted"), list(&["Hardware/Cameras"]));
    parts_up(&mut bench);
    bench.tick();
    assert_eq!(
        bench.on_the_server().get(&format!("{ROOT}Hardware/Cameras")),
        list(&["front", "rear"]).as_ref()
    );
    assert_eq!(bench.value("Sheet/Retracted"), list(&[]), "a reader that kept the list sees that it is over");
}

#[test]
fn a_restart_serves_nothing_of_the_boot_before() {
    let mut first = Bench::bare(hardware());
    first.declare();
    first.tick();
    assert!(first.on_the_server().len() > 20);
    let kept = first.hub.with(|server| server.persistent_json());
    assert!(!kept.contains("Robot"), "{kept}");
    // The next boot has the file of the one before, and breaks down before its declaration.
    let mut second = Bench::bare(hardware());
    second.hub.with(|server| server.restore(kept.as_bytes(), Micros::ZERO)).unwrap();
    second.tick();
    assert!(second.on_the_server().is_empty());
}

/// The sheet in a log file: every key's values, in order.
fn logged(path: &std::path::Path) -> BTreeMap<String, Vec<Value>> {
    let log = Log::open(path).unwrap();
    let sheet = log.entries().iter().filter(|entry| entry.name.starts_with("Robot/"));
    sheet.map(|entry| (entry.name.clone(), log.values(entry).values)).collect()
}

#[test]
fn every_log_file_begins_with_the_sheet() {
    let mut bench = Bench::with(hardware(), Vec::new(), |site| {
        site.log.roll_bytes = 30_000;
        site.log.queue_bytes = 8 << 10;
        site.advantage_kit = true;
    });
    bench.declare();
    bench.tick();
    // A session that begins long after the declaration.
    let door = bench.robot.door().clone();
    bench.robot.site().open_log("6aa1f940", bench.now, &door).unwrap();
    for turn in 0..2000 {
        bench.tick();
        if turn == 1000 {
            bench.robot.register().record(&Feature::sequence("Late")).unwrap();
        }
        if turn % 50 == 0 {
            bench.robot.site().settle_log();
        }
    }
    bench.robot.site().close_log();
    bench.facts.borrow_mut().1.cameras.clear();
    bench.facts.borrow_mut().0 += 1;
    bench.tick();
    bench.robot.site().open_log("6aa1f941", bench.now, &door).unwrap();
    bench.tick();
    bench.robot.site().close_log();

    let out = bench.folder.path().join("out");
    let mut all: Vec<_> =
        std::fs::read_dir(out.join("6aa1f940")).unwrap().map(|e| e.unwrap().path()).collect();
    all.sort();
    let is_akit = |path: &std::path::PathBuf| path.to_string_lossy().contains("_akit");
    let (akit, mut files): (Vec<_>, Vec<_>) = all.into_iter().partition(is_akit);
    assert!(files.len() > 1 && akit.len() > 1, "they rolled: {files:?}, {akit:?}");
    for file in &akit {
        let log = Log::open(file).unwrap();
        let name = log.named("/RealOutputs/Robot/Identity/Name").next().unwrap();
        assert_eq!(log.values(name).values, [Value::from("Ratchet")], "{file:?}");
    }
    files.push(out.join("6aa1f941/6aa1f941_b1.wpilog"));
    let on_the_server = bench.on_the_server();
    for file in &files {
        let sheet = logged(file);
        assert_eq!(sheet["Robot/Identity/Name"].last(), text("Ratchet").as_ref(), "{file:?}");
        assert_eq!(sheet["Robot/Drivetrain/Type"].last(), text("Swerve").as_ref(), "{file:?}");
        let log = Log::open(file).unwrap();
        // Control records have id 0: the Starts of everything stand before the first value.
        let is_sheet = |id: u32| log.entries().iter().any(|e| e.id == id && e.name.starts_with("Robot/"));
        let is_schema = |id: u32| log.entries().iter().any(|e| e.id == id && e.name.starts_with("/.schema/"));
        let mut ids = log.all_records().map(|record| record.id).skip_while(|id| *id == 0 || is_schema(*id));
        assert!(ids.next().is_some_and(is_sheet), "{file:?}: the sheet comes first");
    }
    let cameras = |file: &std::path::Path| logged(file)["Robot/Hardware/Cameras"].len();
    assert_eq!(
        (cameras(&files[0]), cameras(files.last().unwrap())),
        (1, 0),
        "what went away is in no later file"
    );
    // The last file has the sheet of its time, key for key.
    for (name, value) in &on_the_server {
        let key = name.strip_prefix("/Catalyst/").unwrap();
        assert_eq!(logged(files.last().unwrap())[key], std::slice::from_ref(value), "{key}");
    }
}

#[test]
fn what_an_experiment_found_stands_beside_the_constants_in_force() {
    let mut bench = Bench::bare(HardwareFacts {
        drive: Some({
            let mut drive = swerve();
            drive.modules.iter_mut().for_each(|module| module.slip_current_amps = None);
            drive
        }),
        ..HardwareFacts::default()
    });
    bench.declare();
    bench.tick();
    assert_eq!(bench.value("Drivetrain/SlipCurrentAmps"), None, "nobody has found it");
    let register = bench.robot.register().clone();
    register.measured(MeasuredFacts { slip_current_amps: Some(63.0), ..MeasuredFacts::default() });
    register.measured(MeasuredFacts { wheel_radius_m: Some(0.0493), ..MeasuredFacts::default() });
    bench.tick();
    assert_eq!(bench.value("Drivetrain/SlipCurrentAmps"), Some(Value::Double(63.0)));
    assert_eq!(
        bench.value("Drivetrain/WheelRadiusMeters"),
        Some(Value::Double(0.0508)),
        "the one that drives"
    );
    let told = bench.alerts("Warnings").join("\n");
    assert!(told.contains("0.0508") && told.contains("0.0493"), "{told}");
    let provenance: serde_json::Value = serde_json::from_str(&bench.text("Sheet/Provenance")).unwrap();
    assert_eq!(provenance["facts"]["Drivetrain/SlipCurrentAmps"][0], "measured");
}

/// A team's own source: it records a component while it is asked, and breaks when it is told to.
struct Own {
    register: Register,
    breaks: Rc<std::cell::Cell<bool>>,
    said: bool,
}

impl FactSource for Own {
    fn source(&self) -> Source {
        Source::new(7, "own source")
    }
    fn read(&mut self, _now: Micros) -> Option<FactPart> {
        assert!(!self.breaks.get(), "as it was told to");
        if std::mem::replace(&mut self.said, true) {
            return None;
        }
        self.register.record(&Feature::own("Climber", "left").unwrap()).unwrap();
        let controller = ControllerFacts { serial: Some("OWN-1".into()), ..ControllerFacts::default() };
        Some(FactPart { controller, ..FactPart::default() })
    }
}

#[test]
fn a_source_may_use_the_register_and_one_that_panics_costs_its_facts_only() {
    let mut bench = Bench::bare(hardware());
    bench.declare();
    let breaks = Rc::new(std::cell::Cell::new(false));
    let register = bench.robot.register().clone();
    let own = Own { register: register.clone(), breaks: Rc::clone(&breaks), said: false };
    register.source(Box::new(own));
    bench.tick();
    assert_eq!(bench.value("Identity/ControllerSerial"), text("OWN-1"));
    assert_eq!(bench.value("Catalyst/Climber/Names"), list(&["left"]));
    breaks.set(true);
    bench.tick();
    assert_eq!(bench.value("Identity/ControllerSerial"), None);
    assert_eq!(bench.value("Identity/Name"), text("Ratchet"), "the rest stands");
    assert_eq!(bench.alerts("Errors"), ["[Identity] the source own source panicked and is left out"]);
    bench.tick();
}

#[test]
fn the_registers_clones_are_one_register() {
    let bench = Bench::bare(hardware());
    let register: Register = bench.robot.register().clone();
    register.declare(RobotIdentity::declare("Ratchet").unwrap());
    let mut bench = bench;
    bench.tick();
    assert_eq!(bench.value("Identity/Name"), text("Ratchet"));
    assert!(format!("{register:?}").starts_with("Register("));
    assert!(register.sheet().len() > 20);
}

/// Ticks until `so`, as a robot does while a server on a socket takes its time.
fn until(bench: &mut Bench, what: &str, so: impl Fn(&Bench) -> bool) {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !so(bench) {
        assert!(std::time::Instant::now() < end, "not in time: {what}");
        bench.tick();
        std::thread::yield_now();
    }
}

#[test]
fn i12_the_systemcores_own_server_says_team_and_brownout_and_its_zeros_are_none() {
    let system = network::hub().unwrap();
    let began = std::time::Instant::now();
    let clock: fieldlab_nt4_net::Clock =
        std::sync::Arc::new(move || Micros(i64::try_from(began.elapsed().as_micros()).unwrap()));
    let config = NetServerConfig::new(([127, 0, 0, 1], 0).into(), clock.clone());
    let server = NetServer::bind(system.clone(), config).unwrap();
    let publish = |name: &str, value: Value| {
        system.with(|s| {
            let topic = s.publish_local(name, &value.data_type(), &Properties::new()).unwrap();
            s.set_local(topic, Micros(1), value.as_ref());
            topic
        })
    };
    let team = publish("/sys/team", Value::Int(0));
    publish("/sys/vbrownout", Value::Double(6750.0));
    publish("/sys/battery", Value::Double(12.5));

    let mut bench = Bench::bare(HardwareFacts::default());
    bench.tick();
    assert_eq!(bench.memory.last("/Catalyst/CAN/Devices"), None, "nobody knows of a device");
    bench.robot.register().source(Box::new(SystemServer::start(server.local_addr(), clock).unwrap()));
    bench.declare();
    until(&mut bench, "the threshold", |b| b.value("Power/BrownoutVolts").is_some());
    assert_eq!(bench.value("Power/BrownoutVolts"), Some(Value::Double(6.75)), "millivolts there, volts here");
    assert_eq!(bench.value("Identity/TeamNumber"), None, "0 is a controller that was never told");
    system.with(|s| s.set_local(team, Micros(2), Value::Int(5805).as_ref()));
    until(&mut bench, "the team", |b| b.value("Identity/TeamNumber").is_some());
    assert_eq!(bench.value("Identity/TeamNumber"), Some(Value::Int(5805)));
    let provenance: serde_json::Value = serde_json::from_str(&bench.text("Sheet/Provenance")).unwrap();
    assert_eq!(provenance["facts"]["Identity/TeamNumber"][1], "system server");
    drop(server);
    for _ in 0..50 {
        bench.tick();
    }
    assert_eq!(
        bench.value("Identity/TeamNumber"),
        Some(Value::Int(5805)),
        "who it is does not end with a socket"
    );
}
