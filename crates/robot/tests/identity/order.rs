//! Facts come in any order, many at once, and a reader knows when it has them all.

use crate::bench::{Bench, ROOT, hardware, list, parts_up, swerve, text};
use fieldlab_base::Feature;
use fieldlab_robot::hw::HardwareFacts;
use fieldlab_robot::identity::{ControllerFacts, RuntimeFacts};
use fieldlab_values::Value;

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
