//! Who the robot is: one declaration of what nobody can measure; everything else is read from the objects that the robot
//! is made of. The drive and the power distribution here are stand-ins for a team's own.
//!
//! `cargo run -p fieldlab --example identity`
#![allow(clippy::print_stdout, reason = "an example talks to the person who runs it")]

use fieldlab::identity::ReadSheet;
use fieldlab::prelude::*;
use fieldlab::robot::hw::{
    CanDevice, ChannelAmps, DeviceClass, DriveGeometry, ModuleConstants, ModuleReading, PowerDistribution,
    PowerInfo, PowerModule, Reading, SwerveConstants, SwerveDrive,
};
use fieldlab::robot::operator::NoOperator;

/// The drive's constants, written once: the drive is built from them, and so is what the robot says about itself.
fn tuner_constants() -> SwerveConstants {
    let module = |first_id: u8, x_m: f64, y_m: f64| ModuleConstants {
        position_m: (x_m, y_m),
        drive_gear_ratio: 6.75,
        steer_gear_ratio: 150.0 / 7.0,
        wheel_radius_m: 0.0508,
        slip_current_amps: Some(80.0),
        drive_motor: CanDevice::new("can_s2", DeviceClass::Motor, first_id, "TalonFX"),
        steer_motor: CanDevice::new("can_s2", DeviceClass::Motor, first_id + 1, "TalonFX"),
        encoder: Some(CanDevice::new("can_s2", DeviceClass::Encoder, first_id, "CANcoder")),
    };
    SwerveConstants {
        modules: [
            module(1, 0.29, 0.27),
            module(3, 0.29, -0.27),
            module(5, -0.29, 0.27),
            module(7, -0.29, -0.27),
        ],
        max_speed_mps: 4.7,
        max_angular_rate_rad_per_sec: 9.4,
        odometry_hz: Some(250.0),
        can_fd: Some(true),
    }
}

/// Whatever drives.
struct Drive(SwerveConstants);

impl SwerveDrive for Drive {
    fn geometry(&self) -> DriveGeometry {
        self.0.geometry()
    }
    fn module(&mut self, _module: usize, _now: Micros) -> Option<Reading<ModuleReading>> {
        None
    }
    fn apply(&mut self, _now: Micros, _command: DriveCommand) {}
    fn zero_module(&mut self, _module: usize) -> bool {
        false
    }
    fn constants(&self) -> Option<SwerveConstants> {
        Some(self.0.clone())
    }
}

/// The power distribution knows how many channels it has, and not what is wired to them.
struct Pdh;

impl PowerDistribution for Pdh {
    fn info(&self) -> PowerInfo {
        let device = CanDevice::new("can_s0", DeviceClass::Power, 1, "REV PDH");
        PowerInfo { module: PowerModule::RevPdh, channels: 24, device: Some(device) }
    }
    fn read(&mut self, _now: Micros) -> Option<Reading<ChannelAmps>> {
        None
    }
}

/// What nothing on the robot can measure.
///
/// # Errors
/// A blank name, a length that is none, a channel named twice.
pub fn ratchet(drive: &SwerveConstants) -> Result<Declaration, ConfigError> {
    RobotIdentity::named("Ratchet")
        .robot_code_version(option_env!("GIT_SHA")) // your build's stamp, not a typed text; absent when it made none
        .frame_m(0.74, 0.70) // tape measure, without bumpers
        .bumper_thickness_m(0.08)
        .height_m(0.52)
        .battery("MK ES17-12")
        .swerve_modules(&drive.modules) // the very objects that the drive is built from
        .channel(0, "Front left drive")
        .channel(1, "Front right drive")
        .channel(2, "") // nothing is wired here
        .declare()
}

/// What the robot says about itself after its first turn.
///
/// # Errors
/// What the declaration or the robot loop refuses.
pub fn first_turn() -> Result<ReadSheet, ConfigError> {
    let constants = tuner_constants();
    let declared = ratchet(&constants)?;
    let (door, said) = (Door::new(), MemorySink::new());
    door.attach(Box::new(said.clone()));
    let parts = LoopParts {
        io: Box::new(Parts {
            name: "Ratchet".into(),
            drive: Some(Box::new(Drive(constants))),
            power: Some(Box::new(Pdh)),
            ..Parts::default()
        }),
        station: Box::new(DriverPanel::new()),
        operator: Box::new(NoOperator),
        door,
        site: Site::new("logs", Pace::Virtual, 1),
        op_modes: Vec::new(),
    };
    let mut robot = RobotLoop::new(LoopConfig::default(), parts)?;
    robot.declare(declared);
    robot.tick(Micros::from_millis(20), None);

    // What a dashboard does with the topics that it is sent.
    let mut sheet = ReadSheet::default();
    for topic in said.topics() {
        let Some(name) = topic.nt_name() else { continue };
        if let Some(value) = said.last(&name) {
            sheet.take(&name, &topic.data_type, &value);
        }
    }
    Ok(sheet)
}

fn main() -> anyhow::Result<()> {
    let sheet = first_turn()?;
    for (key, _, value) in sheet.facts() {
        println!("{key}: {value:?}");
    }
    println!("and {} keys that nobody knows, among them:", sheet.why().len());
    for (key, reason) in sheet.why().iter().take(3) {
        println!("{key}: {reason}");
    }
    Ok(())
}
