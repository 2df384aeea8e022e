//! What the robot's parts say of themselves, as facts.

use fieldlab_identity::{
    Controller, Device, FactPart, GyroFact, Key, ModuleConstants, PowerFacts, Source, SwerveFacts,
};
use fieldlab_values::Translation2d;

use crate::hw::{self, CanDevice, DriveGeometry, GyroInfo, HardwareFacts, SwerveConstants};

use super::{CAN_REGISTRY, DRIVETRAIN, GYRO, MODULES, POWER, SIMULATION, VISION};

/// What every part says; one that has nothing to say gives its reason. `geometry` is the drive that the loop computes with.
pub(super) fn parts(facts: &HardwareFacts, geometry: Option<DriveGeometry>) -> Vec<(Source, FactPart)> {
    let mut parts = vec![
        (CAN_REGISTRY, registry(facts)),
        (DRIVETRAIN, drivetrain(facts.drive.as_ref(), geometry)),
        (MODULES, modules(facts.drive.as_ref(), geometry)),
        (GYRO, gyro(facts.gyro.as_ref())),
        (POWER, power(facts)),
        (VISION, vision(facts)),
    ];
    if facts.simulated {
        parts.push((SIMULATION, simulation()));
    }
    parts
}

/// Every device that is known, whoever knows it: the claims first.
pub(super) fn devices(facts: &HardwareFacts) -> Vec<CanDevice> {
    let gyro = match &facts.gyro {
        Some(GyroInfo::Can(device)) => Some(device),
        Some(GyroInfo::Onboard(_)) | None => None,
    };
    let power = facts.power.iter().filter_map(|power| power.device.as_ref());
    let drive = facts.drive.iter().flat_map(SwerveConstants::devices);
    let mut all: Vec<CanDevice> = facts.devices.clone();
    for device in drive.chain(gyro).chain(power) {
        if !all.iter().any(|known| known.is_same_place(device)) {
            all.push(device.clone());
        }
    }
    all
}

fn silent(keys: &[Key], reason: &str) -> FactPart {
    let silent = keys.iter().map(|key| (*key, reason.to_owned())).collect();
    FactPart { silent, ..FactPart::default() }
}

fn registry(facts: &HardwareFacts) -> FactPart {
    if facts.devices.is_empty() {
        return silent(&[Key::CanDevices, Key::Inventory, Key::Devices], "no mechanism claimed a device");
    }
    FactPart { devices: facts.devices.iter().map(Device::from).collect(), ..FactPart::default() }
}

fn drivetrain(constants: Option<&SwerveConstants>, geometry: Option<DriveGeometry>) -> FactPart {
    let Some(geometry) = geometry else {
        return silent(&[Key::DriveType, Key::Modules, Key::ModuleLocations], "this robot has none");
    };
    let modules = geometry.module_positions_m.map(|(x, y)| Translation2d::new(x, y)).to_vec();
    let mut swerve = SwerveFacts { modules, ..SwerveFacts::default() };
    let Some(constants) = constants else {
        let keys = [Key::MaxSpeedMps, Key::MaxAngularRateRadPerSec, Key::OdometryHz, Key::CanFd];
        return FactPart { swerve: Some(swerve), ..silent(&keys, "it does not say what it was built from") };
    };
    swerve.max_speed_mps = Some(constants.max_speed_mps);
    swerve.max_angular_rate_rad_per_sec = Some(constants.max_angular_rate_rad_per_sec);
    swerve.odometry_hz = constants.odometry_hz;
    swerve.can_fd = constants.can_fd;
    let devices = constants.devices().map(Device::from).collect();
    FactPart { swerve: Some(swerve), devices, ..FactPart::default() }
}

/// The constants of each module; of a drive that does not keep them, what the loop itself computes with.
fn modules(constants: Option<&SwerveConstants>, geometry: Option<DriveGeometry>) -> FactPart {
    let module_constants = match (constants, geometry) {
        (Some(constants), _) => constants.modules.iter().map(ModuleConstants::from).collect(),
        (None, Some(geometry)) => {
            let in_force = ModuleConstants {
                drive_gear_ratio: Some(geometry.drive_gearing),
                wheel_radius_m: Some(geometry.wheel_radius_m),
                ..ModuleConstants::default()
            };
            vec![in_force; hw::MODULES]
        }
        (None, None) => Vec::new(),
    };
    FactPart { module_constants, ..FactPart::default() }
}

impl From<&hw::ModuleConstants> for ModuleConstants {
    fn from(constants: &hw::ModuleConstants) -> Self {
        Self {
            drive_gear_ratio: Some(constants.drive_gear_ratio),
            steer_gear_ratio: Some(constants.steer_gear_ratio),
            wheel_radius_m: Some(constants.wheel_radius_m),
            slip_current_amps: constants.slip_current_amps,
        }
    }
}

fn gyro(info: Option<&GyroInfo>) -> FactPart {
    let gyro = match info {
        Some(GyroInfo::Can(device)) => GyroFact {
            kind: Some(device.kind.clone()),
            can_id: Some(i64::from(device.id)),
            bus: Some(device.bus.clone()),
        },
        Some(GyroInfo::Onboard(kind)) => GyroFact { kind: Some(kind.clone()), ..GyroFact::default() },
        None => return silent(&[Key::Gyro, Key::GyroCanId], "none that says what it is"),
    };
    let devices = match info {
        Some(GyroInfo::Can(device)) => vec![device.into()],
        Some(GyroInfo::Onboard(_)) | None => Vec::new(),
    };
    FactPart { gyro: Some(gyro), devices, ..FactPart::default() }
}

fn power(facts: &HardwareFacts) -> FactPart {
    let Some(info) = &facts.power else {
        return silent(&[Key::PowerModule, Key::PowerChannels], "none is attached");
    };
    let power = PowerFacts { module: Some(info.module.clone()), channels: Some(i64::from(info.channels)) };
    FactPart {
        power: Some(power),
        devices: info.device.iter().map(Device::from).collect(),
        ..FactPart::default()
    }
}

fn vision(facts: &HardwareFacts) -> FactPart {
    if facts.cameras.is_empty() {
        return silent(&[Key::Cameras], "no camera was named");
    }
    FactPart { cameras: facts.cameras.clone(), ..FactPart::default() }
}

fn simulation() -> FactPart {
    let mut part = FactPart::default();
    part.controller.model = Some(Controller::Simulation);
    let keys =
        [Key::TeamNumber, Key::ControllerSerial, Key::ControllerImage, Key::FpgaVersion, Key::BrownoutVolts];
    part.silent = keys.map(|key| (key, "a simulation has no controller".to_owned())).to_vec();
    part
}
