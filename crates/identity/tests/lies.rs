//! A robot whose every source lies: zeros, blanks, NaN, -1 and known constants. Its sheet is empty of those facts.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

mod common;

use common::{DRIVE, HAL, SERVER, of};
use fieldlab_identity::keys::{Group, table};
use fieldlab_identity::{
    Controller, ControllerFacts, Device, FactPart, GyroFact, Key, MeasuredFacts, ModuleConstants,
    PathPlannerSettings, PowerFacts, PowerModule, RuntimeFacts, SpecSheet, SwerveFacts,
};
use fieldlab_values::Translation2d;

/// Everything that one lie can say.
fn lying(number: f64, integer: i64, text: &str) -> FactPart {
    let constants = ModuleConstants {
        drive_gear_ratio: Some(number),
        steer_gear_ratio: Some(number),
        wheel_radius_m: Some(number),
        slip_current_amps: Some(number),
    };
    let gyro = GyroFact { kind: Some(text.into()), can_id: Some(integer), bus: Some(text.into()) };
    FactPart {
        controller: ControllerFacts {
            model: Some(Controller::Other(text.into())),
            team_number: Some(integer),
            serial: Some(text.into()),
            comment: Some(text.into()),
            image: Some(text.into()),
            fpga_version: Some(integer),
            brownout_millivolts: Some(integer),
        },
        runtime: RuntimeFacts { wpilib_version: Some(text.into()) },
        swerve: Some(SwerveFacts {
            modules: vec![Translation2d { x_m: f64::NAN, y_m: number }; 4],
            max_speed_mps: Some(number),
            max_angular_rate_rad_per_sec: Some(number),
            odometry_hz: Some(number),
            can_fd: None,
            gyro: Some(gyro.clone()),
        }),
        module_constants: vec![constants; 4],
        path_planner: Some(Ok(PathPlannerSettings {
            mass_kg: Some(number),
            moi_kg_m2: Some(number),
            wheel_radius_m: Some(number),
            wheel_cof: Some(number),
            drive_current_limit_amps: Some(number),
        })),
        power: Some(PowerFacts { module: Some(PowerModule::Other(text.into())), channels: Some(integer) }),
        devices: vec![Device::new("", -1, text)],
        gyro: Some(gyro),
        cameras: vec![String::new(), "  ".into()],
        measured: MeasuredFacts { wheel_radius_m: Some(number), slip_current_amps: Some(number) },
        silent: Vec::new(),
    }
}

/// What stands on the sheet although every source lied: what was compiled in and declared, and that there is a drive.
fn only_what_is_true(sheet: &SpecSheet) {
    let stamps = [
        Key::CatalystVersion,
        Key::CatalystGitSha,
        Key::CatalystGitDirty,
        Key::CatalystCommitTime,
        Key::Library,
        Key::RustVersion,
    ];
    let others: Vec<Key> =
        sheet.entries().iter().map(|entry| entry.key).filter(|key| !stamps.contains(key)).collect();
    assert_eq!(others, [Key::Name, Key::DriveType, Key::Modules]);
    for row in table().iter().filter(|row| row.group != Group::Sheet && !row.is_pattern()) {
        assert_eq!(sheet.has(row.key), sheet.why(row.key).is_none(), "{} has a reason", row.name);
    }
}

#[test]
fn zeros_blanks_nan_and_minus_one_leave_nothing() {
    for (number, integer, text) in [
        (0.0, 0, ""),
        (-0.0, 0, "   "),
        (-1.0, -1, "-1"),
        (f64::NAN, i64::MIN, "UNKNOWN"),
        (f64::INFINITY, 0, "null"),
        (f64::NEG_INFINITY, -1, "0.0.0"),
    ] {
        only_what_is_true(&of(vec![(HAL, lying(number, integer, text))]));
    }
}

#[test]
fn several_liars_together_leave_nothing_and_disagree_about_nothing() {
    let sheet = of(vec![
        (HAL, lying(0.0, 0, "")),
        (SERVER, lying(f64::NAN, -1, "n/a")),
        (DRIVE, lying(-1.0, 0, "none")),
    ]);
    only_what_is_true(&sheet);
    assert!(sheet.disagreements().is_empty());
}

#[test]
fn known_constants_are_no_reading() {
    let with = |model, fpga_version, brownout_millivolts| {
        let controller = ControllerFacts {
            model: Some(model),
            fpga_version,
            brownout_millivolts,
            ..ControllerFacts::default()
        };
        common::of_controller(controller)
    };
    // The simulated HAL's FPGA, and the rail voltage that the Systemcore's HAL hands out for anything.
    let sheet = with(Controller::Simulation, Some(2018), Some(3300));
    assert_eq!((sheet.has(Key::FpgaVersion), sheet.has(Key::BrownoutVolts)), (false, false));
    assert_eq!(sheet.why(Key::FpgaVersion), Some("HAL: 2018 is a constant, this controller has no FPGA"));
    assert!(!with(Controller::Systemcore, Some(2027), None).has(Key::FpgaVersion));
    assert!(with(Controller::RoboRio, Some(2026), Some(6300)).has(Key::FpgaVersion));
}

#[test]
fn one_honest_source_among_liars_is_heard() {
    let sheet = of(vec![
        (HAL, lying(0.0, 0, "")),
        (SERVER, common::hal()),
        (DRIVE, FactPart { module_constants: vec![common::constants(); 4], ..common::drive() }),
    ]);
    let honest = common::full();
    for key in [
        Key::TeamNumber,
        Key::ControllerSerial,
        Key::MassKg,
        Key::TrackWidthMeters,
        Key::Gyro,
        Key::DriveGearRatio,
    ] {
        assert_eq!(common::at(&sheet, key), common::at(&honest, key), "{key}");
    }
}

#[test]
fn the_same_lie_every_turn_is_nothing_new() {
    let mut facts = fieldlab_identity::Facts::default();
    let lie = lying(f64::NAN, -1, "none");
    assert!(facts.put(HAL, fieldlab_base::Micros(1), lie.clone()));
    assert!(!facts.put(HAL, fieldlab_base::Micros(2), lie.clone()), "NaN for NaN");
    let mut other = lie.clone();
    other.measured.wheel_radius_m = Some(0.05);
    assert!(facts.put(HAL, fieldlab_base::Micros(3), other));
    let mut other = lie;
    other.controller.team_number = Some(1234);
    assert!(facts.put(HAL, fieldlab_base::Micros(4), other));
}

#[test]
fn an_older_name_is_absent_for_the_newer_ones_reason() {
    let silent = vec![(Key::ControllerSerial, "a simulation has no controller".to_owned())];
    let sheet = common::of_hal(FactPart { silent, ..FactPart::default() });
    for key in [Key::ControllerSerial, Key::RioSerial] {
        assert_eq!(sheet.why(key), Some("HAL: a simulation has no controller"), "{key}");
    }
}
