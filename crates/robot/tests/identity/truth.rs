//! Sources that lie, differ, panic, or mix up their units, and what experiments found.

use crate::bench::{Bench, ROOT, hardware, list, swerve, text};
use fieldlab_base::{Feature, Micros};
use fieldlab_identity::{FactPart, FactSource, Source};
use fieldlab_nt4::Properties;
use fieldlab_nt4_net::{NetServer, NetServerConfig};
use fieldlab_robot::hw::{GyroInfo, HardwareFacts, PowerInfo, PowerModule};
use fieldlab_robot::identity::{
    ControllerFacts, Machine, MeasuredFacts, Register, RobotIdentity, RuntimeFacts, SystemServer,
};
use fieldlab_robot::network;
use fieldlab_values::Value;
use std::rc::Rc;

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
