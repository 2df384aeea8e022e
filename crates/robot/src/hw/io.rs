//! The traits that hardware, or a simulation of it, fulfils.

use std::sync::Arc;

use fieldlab_base::{ConfigError, Micros, check};

use super::{
    CanRegistry, DriveCommand, GyroInfo, GyroReading, HardwareFacts, Inputs, MAX_MECHANISMS, MODULES,
    MechanismCommand, MechanismReading, ModuleReading, Outputs, PowerDistribution, Reading, SwerveConstants,
    VisionReading,
};

/// The whole robot, as the loop talks to it: read once, apply once.
pub trait RobotIo {
    /// What the robot is; asked once, before the first turn.
    fn description(&self) -> RobotDescription;

    /// Fills the sensor fields of `inputs`. The loop has set `now`, `dt_secs` and `enabled`; `odometry` is the loop's own.
    /// A sensor with nothing to say leaves `None`.
    fn read(&mut self, now: Micros, inputs: &mut Inputs);

    /// Carries out `outputs` until the next call. While disabled the loop passes [`Outputs::NEUTRAL`].
    fn apply(&mut self, now: Micros, outputs: &Outputs);

    /// Takes the module's present steering angle as straight forward: what the Zero wheels op mode asks for, wheels
    /// aligned by hand. Answers whether it could.
    fn zero_module(&mut self, module: usize) -> bool {
        let _: usize = module;
        false
    }

    /// The name of the pack that is in, when the robot can tell. Asked every turn, so it must be cheap.
    fn pack(&self) -> Option<Arc<str>> {
        None
    }

    /// What the parts say of themselves, for the identity sheet. Asked before the first turn, and again when
    /// [`RobotIo::facts_revision`] has changed.
    fn facts(&self) -> HardwareFacts {
        HardwareFacts::default()
    }

    /// Changes whenever [`RobotIo::facts`] would answer something new; asked every turn, so it must be cheap.
    fn facts_revision(&self) -> u64 {
        0
    }
}

/// Constants of a swerve drive that others compute with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DriveGeometry {
    /// Module centres in the robot's frame, x forward and y left.
    pub module_positions_m: [(f64, f64); MODULES],
    /// The wheel radius in force.
    pub wheel_radius_m: f64,
    /// Drive motor turns per wheel turn.
    pub drive_gearing: f64,
}

impl DriveGeometry {
    /// The mean distance from the robot's centre to a module.
    #[must_use]
    pub fn drive_base_radius_m(&self) -> f64 {
        self.module_positions_m.iter().map(|(x, y)| x.hypot(*y)).sum::<f64>() / MODULES as f64
    }
}

/// A named mechanism, as it is declared.
#[derive(Debug, Clone, PartialEq)]
pub struct MechanismInfo {
    /// Its name: `hood`.
    pub name: &'static str,
    /// The unit of its setpoint and value: `deg`, `rpm`.
    pub unit: &'static str,
    /// The least setpoint it accepts.
    pub min: f64,
    /// The greatest setpoint it accepts.
    pub max: f64,
}

/// What a robot is, said once before the first turn.
#[derive(Debug, Clone, PartialEq)]
pub struct RobotDescription {
    /// The robot's name.
    pub name: String,
    /// Its drive; `None` for a bench with mechanisms only.
    pub drive: Option<DriveGeometry>,
    /// Its named mechanisms, at most [`MAX_MECHANISMS`].
    pub mechanisms: Vec<MechanismInfo>,
}

impl RobotDescription {
    /// Refuses what the loop could not work with.
    ///
    /// # Errors
    /// A geometry that is not finite and positive, a mechanism without a name, with a name used twice, with limits that
    /// are no interval, or one too many.
    pub fn check(&self) -> Result<(), ConfigError> {
        if let Some(drive) = &self.drive {
            check::positive("drive.wheel_radius_m", drive.wheel_radius_m)?;
            check::positive("drive.drive_gearing", drive.drive_gearing)?;
            check::positive("drive.module_positions_m", drive.drive_base_radius_m())?;
        }
        if self.mechanisms.len() > MAX_MECHANISMS {
            let expected = format!("at most {MAX_MECHANISMS} mechanisms");
            return Err(ConfigError::new("mechanisms", expected, self.mechanisms.len()));
        }
        for (i, info) in self.mechanisms.iter().enumerate() {
            let path = format!("mechanisms[{i}]");
            let twice = self.mechanisms.iter().take(i).any(|m| m.name == info.name);
            if info.name.is_empty() || twice {
                let found = format!("{:?}", info.name);
                return Err(ConfigError::new(format!("{path}.name"), "a name used once", found));
            }
            check::finite(&format!("{path}.min"), info.min)?;
            check::within(&format!("{path}.max"), info.max, info.min, f64::MAX)?;
        }
        Ok(())
    }
}

/// The pack's voltage.
pub trait Battery {
    /// Volts at the power distribution, or nothing when it cannot be read.
    fn volts(&mut self, now: Micros) -> Option<Reading<f64>>;
}

/// A yaw gyro.
pub trait Gyro {
    /// Raw yaw, or nothing when the gyro is silent.
    fn read(&mut self, now: Micros) -> Option<Reading<GyroReading>>;
    /// What it is, when it can say.
    fn info(&self) -> Option<GyroInfo> {
        None
    }
}

/// A drive with four steered wheels.
pub trait SwerveDrive {
    /// Its constants.
    fn geometry(&self) -> DriveGeometry;
    /// One module's reading, or nothing when it is silent.
    fn module(&mut self, module: usize, now: Micros) -> Option<Reading<ModuleReading>>;
    /// Carries out a command until the next one.
    fn apply(&mut self, now: Micros, command: DriveCommand);
    /// Takes the module's present steering angle as straight forward; answers whether it could.
    fn zero_module(&mut self, module: usize) -> bool;
    /// What it was built from, when it kept that; [`SwerveConstants::geometry`] must be its [geometry](Self::geometry).
    fn constants(&self) -> Option<SwerveConstants> {
        None
    }
}

/// A camera system that knows the field.
pub trait Vision {
    /// The newest pose, or nothing when no tag is seen.
    fn pose(&mut self, now: Micros) -> Option<Reading<VisionReading>>;
    /// The names of its cameras; empty when it cannot say.
    fn cameras(&self) -> Vec<String> {
        Vec::new()
    }
    /// Changes whenever [`Vision::cameras`] would answer something new: cameras that come up late.
    fn cameras_revision(&self) -> u64 {
        0
    }
}

/// A mechanism that follows a setpoint.
pub trait Mechanism {
    /// Its name, unit and limits.
    fn info(&self) -> MechanismInfo;
    /// Its reading, or nothing when it is silent.
    fn read(&mut self, now: Micros) -> Option<Reading<MechanismReading>>;
    /// Carries out a command until the next one.
    fn apply(&mut self, now: Micros, command: MechanismCommand);
}

/// A [`RobotIo`] put together from parts.
#[derive(Default)]
pub struct Parts {
    /// The robot's name.
    pub name: String,
    /// Its battery monitor.
    pub battery: Option<Box<dyn Battery>>,
    /// Its gyro.
    pub gyro: Option<Box<dyn Gyro>>,
    /// Its drive.
    pub drive: Option<Box<dyn SwerveDrive>>,
    /// Its cameras.
    pub vision: Option<Box<dyn Vision>>,
    /// Its power distribution.
    pub power: Option<Box<dyn PowerDistribution>>,
    /// The registry in which its mechanisms claimed their devices.
    pub can: CanRegistry,
    /// Its mechanisms; those beyond [`MAX_MECHANISMS`] are refused by [`RobotDescription::check`].
    pub mechanisms: Vec<Box<dyn Mechanism>>,
}

impl RobotIo for Parts {
    fn description(&self) -> RobotDescription {
        RobotDescription {
            name: self.name.clone(),
            drive: self.drive.as_ref().map(|d| d.geometry()),
            mechanisms: self.mechanisms.iter().map(|m| m.info()).collect(),
        }
    }

    fn read(&mut self, now: Micros, inputs: &mut Inputs) {
        inputs.battery_volts = self.battery.as_mut().and_then(|b| b.volts(now));
        inputs.gyro = self.gyro.as_mut().and_then(|g| g.read(now));
        inputs.vision = self.vision.as_mut().and_then(|v| v.pose(now));
        inputs.power = self.power.as_mut().and_then(|p| p.read(now));
        for (i, slot) in inputs.modules.iter_mut().enumerate() {
            *slot = self.drive.as_mut().and_then(|d| d.module(i, now));
        }
        for (slot, mechanism) in inputs.mechanisms.iter_mut().zip(&mut self.mechanisms) {
            *slot = mechanism.read(now);
        }
    }

    fn apply(&mut self, now: Micros, outputs: &Outputs) {
        if let Some(drive) = &mut self.drive {
            drive.apply(now, outputs.drive);
        }
        for (command, mechanism) in outputs.mechanisms.iter().zip(&mut self.mechanisms) {
            mechanism.apply(now, *command);
        }
    }

    fn zero_module(&mut self, module: usize) -> bool {
        self.drive.as_mut().is_some_and(|d| d.zero_module(module))
    }

    fn facts(&self) -> HardwareFacts {
        HardwareFacts {
            drive: self.drive.as_ref().and_then(|d| d.constants()),
            gyro: self.gyro.as_ref().and_then(|g| g.info()),
            power: self.power.as_ref().map(|p| p.info()),
            cameras: self.vision.as_ref().map(|v| v.cameras()).unwrap_or_default(),
            devices: self.can.devices(),
            simulated: false,
        }
    }

    fn facts_revision(&self) -> u64 {
        let cameras = self.vision.as_ref().map_or(0, |v| v.cameras_revision());
        // Both only count upwards, so their sum stands still only when both do.
        self.can.revision().wrapping_add(cameras)
    }
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts").field("name", &self.name).finish_non_exhaustive()
    }
}
