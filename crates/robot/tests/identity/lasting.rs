//! Features that came up, facts that went away, restarts, and the head of every log.

use crate::bench::{Bench, ROOT, hardware, list, parts_up, text};
use crate::common::FakeRobot;
use crate::common::rig::{Idle, site};
use fieldlab_base::{ConfigError, Feature, Micros};
use fieldlab_robot::driver_station::DriverPanel;
use fieldlab_robot::operator::NoOperator;
use fieldlab_robot::opmode::{OpModeEntry, OpModeInfo, OpModeKind};
use fieldlab_robot::robot_loop::{LoopConfig, LoopParts, RobotLoop};
use fieldlab_robot::telemetry::Door;
use fieldlab_values::Value;
use fieldlab_wpilog::Log;
use std::collections::BTreeMap;
use std::rc::Rc;

fn mode(name: &'static str, build: impl FnMut() -> Result<Idle, ConfigError> + 'static) -> OpModeEntry {
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
        Ok(Idle)
    });
    let op_modes = vec![drive.feature(Feature::approach("Reef")), mode("Other", || Ok(Idle))];
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
            mode("A", || Ok(Idle)).feature(Feature::goal_director(Some("STOW"))),
            mode("B", || Ok(Idle)).feature(near),
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
