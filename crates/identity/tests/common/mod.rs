//! Robots for tests: one that knows everything about itself, and parts of others.
#![allow(dead_code, unreachable_pub, reason = "each test target uses its own part")]

use std::sync::Arc;

use fieldlab_base::{Feature, Micros, PhysicsProfile};
use fieldlab_identity::{
    Controller, ControllerFacts, Declaration, Device, FactPart, Facts, Features, GyroFact, Key,
    MeasuredFacts, ModuleConstants, PathPlannerSettings, PowerFacts, PowerModule, RobotIdentity,
    RuntimeFacts, Source, SpecSheet, SwerveFacts, derive,
};
use fieldlab_values::{Translation2d, Value};

pub const HAL: Source = Source::new(1, "HAL");
pub const SERVER: Source = Source::new(2, "system server");
pub const DRIVE: Source = Source::new(3, "drivetrain");
pub const OTHER: Source = Source::new(9, "other");

pub fn constants() -> ModuleConstants {
    ModuleConstants {
        drive_gear_ratio: Some(6.75),
        steer_gear_ratio: Some(21.43),
        wheel_radius_m: Some(0.0508),
        slip_current_amps: Some(80.0),
    }
}

pub fn ratchet() -> Declaration {
    RobotIdentity::named("Ratchet")
        .robot_code_version("abc1234")
        .robot_code_build("2026-11-30T09:00:00Z")
        .frame_m(0.74, 0.70)
        .bumper_thickness_m(0.08)
        .height_m(0.52)
        .battery("MK ES17-12")
        .swerve_modules([&constants(); 4])
        .channel(0, "Front left drive")
        .channel(1, "Front right drive")
        .declare()
        .unwrap()
}

pub fn corners(x_m: f64, y_m: f64) -> Vec<Translation2d> {
    [(x_m, y_m), (x_m, -y_m), (-x_m, y_m), (-x_m, -y_m)].map(|(x_m, y_m)| Translation2d { x_m, y_m }).to_vec()
}

pub fn pigeon(can_id: i64) -> GyroFact {
    GyroFact { kind: Some("Pigeon2".into()), can_id: Some(can_id), bus: Some("can_s2".into()) }
}

pub fn swerve() -> SwerveFacts {
    SwerveFacts {
        modules: corners(0.35, 0.28),
        max_speed_mps: Some(4.7),
        max_angular_rate_rad_per_sec: Some(9.4),
        odometry_hz: Some(250.0),
        can_fd: Some(true),
        gyro: Some(pigeon(20)),
    }
}

pub fn controller() -> ControllerFacts {
    ControllerFacts {
        model: Some(Controller::RoboRio2),
        team_number: Some(1234),
        serial: Some("031E3A2F".into()),
        comment: Some("practice bot".into()),
        image: Some("FRC_roboRIO2_2026_v1.2".into()),
        fpga_version: Some(2026),
        brownout_millivolts: Some(6750),
    }
}

pub fn settings() -> PathPlannerSettings {
    PathPlannerSettings {
        mass_kg: Some(52.5),
        moi_kg_m2: Some(4.8),
        wheel_radius_m: Some(0.0508),
        wheel_cof: Some(1.2),
        drive_current_limit_amps: Some(60.0),
    }
}

/// Everything that the HAL says about a healthy robot.
pub fn hal() -> FactPart {
    FactPart {
        controller: controller(),
        runtime: RuntimeFacts { wpilib_version: Some("2026.2.1".into()) },
        power: Some(PowerFacts { module: Some(PowerModule::RevPdh), channels: Some(24) }),
        ..FactPart::default()
    }
}

pub fn drive() -> FactPart {
    let motors = [1, 2, 3, 4].map(|id| Device::new("can_s2", id, "TalonFX"));
    let encoders = [1, 2, 3, 4].map(|id| Device::new("can_s2", id, "CANcoder"));
    FactPart {
        swerve: Some(swerve()),
        path_planner: Some(Ok(settings())),
        devices: [&motors[..], &encoders[..], &[Device::new("can_s2", 20, "Pigeon2")]].concat(),
        cameras: vec!["rear".into(), "front".into()],
        measured: MeasuredFacts { wheel_radius_m: Some(0.0507), slip_current_amps: Some(78.0) },
        ..FactPart::default()
    }
}

pub fn features() -> Features {
    let mut features = Features::default();
    for feature in [
        Feature::strategist("X1 co-pilot"),
        Feature::physics_core(PhysicsProfile::Balanced),
        Feature::sequence("ThreePiece"),
        Feature::sequence("ThreePiece"),
        Feature::goal_director(None),
    ] {
        features.record(&feature).unwrap();
    }
    features
}

/// Facts of the given parts, in this order.
pub fn facts(parts: Vec<(Source, FactPart)>) -> Facts {
    let mut facts = Facts::default();
    for (at, (source, part)) in parts.into_iter().enumerate() {
        facts.put(source, Micros(at as i64), part);
    }
    facts
}

/// The sheet of the robot that knows everything.
pub fn full() -> SpecSheet {
    derive(&ratchet(), &facts(vec![(HAL, hal()), (DRIVE, drive())]), &features(), Micros(7))
}

/// The sheet of a robot of which only a name and these parts are known.
pub fn of(parts: Vec<(Source, FactPart)>) -> SpecSheet {
    derive(&RobotIdentity::declare("Ratchet").unwrap(), &facts(parts), &Features::default(), Micros(7))
}

/// As [`of`], from one source.
pub fn of_hal(part: FactPart) -> SpecSheet {
    of(vec![(HAL, part)])
}

/// As [`of`], with a controller only.
pub fn of_controller(controller: ControllerFacts) -> SpecSheet {
    of_hal(FactPart { controller, ..FactPart::default() })
}

/// As [`of`], with a drive only.
pub fn of_drive(swerve: SwerveFacts) -> SpecSheet {
    of(vec![(DRIVE, FactPart { swerve: Some(swerve), ..FactPart::default() })])
}

pub fn rows(all: &[&str]) -> Value {
    Value::StringArray(all.iter().map(|row| Arc::from(*row)).collect())
}

/// What stands at a key.
pub fn at(sheet: &SpecSheet, key: Key) -> Option<Value> {
    sheet.value(key.name()).cloned()
}
