//! What the robot's parts are, as plain data: the facts that the identity sheet is derived from.

use fieldlab_base::{ConfigError, Micros, check};

use fieldlab_identity::PowerModule;

use super::{CanDevice, DriveGeometry, MODULES, Reading};

/// Channels of the largest power distribution module.
pub const MAX_CHANNELS: usize = 24;

/// One swerve module, as its code was built.
#[derive(Debug, Clone, PartialEq)]
pub struct ModuleConstants {
    /// Its centre in the robot's frame, x forward and y left.
    pub position_m: (f64, f64),
    /// Drive motor turns per wheel turn.
    pub drive_gear_ratio: f64,
    /// Steering motor turns per module turn.
    pub steer_gear_ratio: f64,
    /// The wheel radius in force.
    pub wheel_radius_m: f64,
    /// Stator current at which the wheel slips; `None` when nobody has found it.
    pub slip_current_amps: Option<f64>,
    /// Its drive motor.
    pub drive_motor: CanDevice,
    /// Its steering motor.
    pub steer_motor: CanDevice,
    /// Its absolute encoder, when it has one on the bus.
    pub encoder: Option<CanDevice>,
}

/// The constants that a swerve drive was built from. Whoever builds a drive keeps them, so that what is published is what
/// drives.
#[derive(Debug, Clone, PartialEq)]
pub struct SwerveConstants {
    /// Its modules.
    pub modules: [ModuleConstants; MODULES],
    /// The speed that the drive is limited to.
    pub max_speed_mps: f64,
    /// The turning speed that it is limited to.
    pub max_angular_rate_rad_per_sec: f64,
    /// How often its odometry is integrated; `None` when the drive cannot say.
    pub odometry_hz: Option<f64>,
    /// Whether its bus runs CAN FD; `None` when the drive cannot say.
    pub can_fd: Option<bool>,
}

impl SwerveConstants {
    /// What the loop computes with, from the same numbers: the mean radius and reduction of the modules.
    #[must_use]
    pub fn geometry(&self) -> DriveGeometry {
        let mean =
            |of: fn(&ModuleConstants) -> f64| self.modules.iter().map(of).sum::<f64>() / MODULES as f64;
        DriveGeometry {
            module_positions_m: std::array::from_fn(|i| self.modules[i].position_m),
            wheel_radius_m: mean(|m| m.wheel_radius_m),
            drive_gearing: mean(|m| m.drive_gear_ratio),
        }
    }

    /// The drive's own devices: two motors and an encoder a module.
    pub fn devices(&self) -> impl Iterator<Item = &CanDevice> {
        self.modules.iter().flat_map(|m| [&m.drive_motor, &m.steer_motor].into_iter().chain(&m.encoder))
    }

    /// Refuses what no drive can be built from.
    ///
    /// # Errors
    /// A number that is not finite and positive where it must be, or a device id beyond 62; the path names the module.
    pub fn check(&self) -> Result<(), ConfigError> {
        check::positive("max_speed_mps", self.max_speed_mps)?;
        check::positive("max_angular_rate_rad_per_sec", self.max_angular_rate_rad_per_sec)?;
        if let Some(hz) = self.odometry_hz {
            check::positive("odometry_hz", hz)?;
        }
        for (i, module) in self.modules.iter().enumerate() {
            module.check().map_err(|e| e.within(&format!("modules[{i}]")))?;
        }
        Ok(())
    }
}

impl ModuleConstants {
    fn check(&self) -> Result<(), ConfigError> {
        check::finite("position_m.0", self.position_m.0)?;
        check::finite("position_m.1", self.position_m.1)?;
        check::positive("drive_gear_ratio", self.drive_gear_ratio)?;
        check::positive("steer_gear_ratio", self.steer_gear_ratio)?;
        check::positive("wheel_radius_m", self.wheel_radius_m)?;
        if let Some(amps) = self.slip_current_amps {
            check::positive("slip_current_amps", amps)?;
        }
        self.drive_motor.check()?;
        self.steer_motor.check()?;
        self.encoder.iter().try_for_each(CanDevice::check)
    }
}

/// A gyro, as its code was built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GyroInfo {
    /// One on a CAN bus.
    Can(CanDevice),
    /// One on the controller or a serial port: what it is.
    Onboard(String),
}

impl GyroInfo {
    /// What it is: `Pigeon2`.
    #[must_use]
    pub fn kind(&self) -> &str {
        match self {
            Self::Can(device) => &device.kind,
            Self::Onboard(kind) => kind,
        }
    }
}

/// A power distribution module, as its code was built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PowerInfo {
    /// What it is.
    pub module: PowerModule,
    /// How many channels it has, at most [`MAX_CHANNELS`].
    pub channels: u8,
    /// Itself on the bus.
    pub device: Option<CanDevice>,
}

/// What each channel of the power distribution carries.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ChannelAmps {
    /// By channel; `None` where the module has no channel or no reading.
    pub amps: [Option<f64>; MAX_CHANNELS],
}

/// A power distribution module.
pub trait PowerDistribution {
    /// What it is.
    fn info(&self) -> PowerInfo;
    /// What its channels carry, or nothing when it is silent.
    fn read(&mut self, now: Micros) -> Option<Reading<ChannelAmps>>;
}

/// Everything that the robot's parts say of themselves. What a robot has not, or cannot say, is `None` or empty.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HardwareFacts {
    /// The constants that the drive was built from.
    pub drive: Option<SwerveConstants>,
    /// The gyro.
    pub gyro: Option<GyroInfo>,
    /// The power distribution module.
    pub power: Option<PowerInfo>,
    /// The cameras' names.
    pub cameras: Vec<String>,
    /// What the mechanisms claimed; see [`CanRegistry`](super::CanRegistry).
    pub devices: Vec<CanDevice>,
    /// None of it is there: a simulation says all this, and no controller runs the code.
    pub simulated: bool,
}

impl HardwareFacts {
    /// Refuses facts that no robot has, and a drive that is not the one that the loop computes with.
    ///
    /// # Errors
    /// As [`SwerveConstants::check`]; constants that differ from `geometry`; too many channels.
    pub fn check(&self, geometry: Option<DriveGeometry>) -> Result<(), ConfigError> {
        if let Some(drive) = &self.drive {
            drive.check().map_err(|e| e.within("drive"))?;
            if geometry != Some(drive.geometry()) {
                let expected = "the constants that the robot's drive was built from";
                let found = format!("{:?} beside {geometry:?}", drive.geometry());
                return Err(ConfigError::new("drive.constants", expected, found));
            }
        }
        if let Some(power) = &self.power
            && usize::from(power.channels) > MAX_CHANNELS
        {
            let expected = format!("at most {MAX_CHANNELS} channels");
            return Err(ConfigError::new("power.channels", expected, power.channels));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::DeviceClass;
    use super::*;

    fn constants() -> SwerveConstants {
        let device = |class, id, kind: &str| CanDevice::new("can_s0", class, id, kind);
        let module = |i: u8, position_m| ModuleConstants {
            position_m,
            drive_gear_ratio: 6.75,
            steer_gear_ratio: 150.0 / 7.0,
            wheel_radius_m: 0.0508,
            slip_current_amps: Some(80.0),
            drive_motor: device(DeviceClass::Motor, 2 * i + 1, "TalonFX"),
            steer_motor: device(DeviceClass::Motor, 2 * i + 2, "TalonFX"),
            encoder: Some(device(DeviceClass::Encoder, i, "CANcoder")),
        };
        SwerveConstants {
            modules: [
                module(0, (0.3, 0.25)),
                module(1, (0.3, -0.25)),
                module(2, (-0.3, 0.25)),
                module(3, (-0.3, -0.25)),
            ],
            max_speed_mps: 4.2,
            max_angular_rate_rad_per_sec: 9.0,
            odometry_hz: None,
            can_fd: None,
        }
    }

    #[test]
    fn the_loop_and_the_sheet_have_one_source() {
        let drive = constants();
        let geometry = drive.geometry();
        assert_eq!((geometry.wheel_radius_m, geometry.drive_gearing), (0.0508, 6.75));
        assert_eq!(geometry.module_positions_m[1], (0.3, -0.25));
        assert_eq!(drive.devices().count(), 12);
        let facts = HardwareFacts { drive: Some(drive), ..HardwareFacts::default() };
        facts.check(Some(geometry)).unwrap();
        let other = DriveGeometry { wheel_radius_m: 0.0506, ..geometry };
        assert_eq!(facts.check(Some(other)).unwrap_err().path, "drive.constants");
        assert_eq!(facts.check(None).unwrap_err().path, "drive.constants");
    }

    #[test]
    fn constants_that_are_none_are_refused_with_their_module() {
        let mut drive = constants();
        drive.modules[2].wheel_radius_m = f64::NAN;
        assert_eq!(drive.check().unwrap_err().path, "modules[2].wheel_radius_m");
        let mut drive = constants();
        drive.modules[3].drive_motor.id = 63;
        assert_eq!(drive.check().unwrap_err().path, "modules[3].can.can_s0");
        let power = PowerInfo { module: PowerModule::RevPdh, channels: 25, device: None };
        let facts = HardwareFacts { power: Some(power), ..HardwareFacts::default() };
        assert_eq!(facts.check(None).unwrap_err().path, "power.channels");
    }
}
