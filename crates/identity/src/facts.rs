//! What sources say about the robot: plain data, every field absent until somebody says otherwise.

use std::collections::BTreeMap;

use fieldlab_base::Micros;
use fieldlab_values::Translation2d;

use crate::devices::{Device, GyroFact};

/// Who says something, and how early it is asked.
///
/// When two sources give one fact, the one with the lower rank is published, and a difference between them is an alert.
/// Equal ranks go by name, so that the order in which sources came up changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source {
    /// Its place in the order; lower is asked first.
    pub rank: u8,
    /// What provenance and alerts call it.
    pub name: &'static str,
}

impl Source {
    /// A source.
    #[must_use]
    pub const fn new(rank: u8, name: &'static str) -> Self {
        Self { rank, name }
    }
}

/// Something that can be asked about the robot.
pub trait FactSource {
    /// Who it is; always the same answer.
    fn source(&self) -> Source;

    /// What it knows, when that may have changed since the last call; `None` in steady state, at no cost. The first call
    /// answers `Some`, if only to say what it looked for in vain. Called by the loop, so it neither blocks nor waits.
    fn read(&mut self, now: Micros) -> Option<FactPart>;
}

/// Everything that one source knows at one time. It replaces what the source said before.
///
/// A status-blind binding may put zeros, blanks, NaN, -1 or a known constant into any field: [`derive`](crate::derive)
/// takes them for no reading. An honest source leaves the field `None` and says why in [`silent`](Self::silent).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FactPart {
    /// About the controller.
    pub controller: ControllerFacts,
    /// About the control system's software.
    pub runtime: RuntimeFacts,
    /// About the drive, when there is one.
    pub swerve: Option<SwerveFacts>,
    /// The constants that the modules were built from, one for each.
    pub module_constants: Vec<ModuleConstants>,
    /// PathPlanner's deployed settings; `Err` with the reason when they are there and invalid, which counts as none.
    pub path_planner: Option<Result<PathPlannerSettings, String>>,
    /// The attached power distribution.
    pub power: Option<PowerFacts>,
    /// What is known to hang on buses.
    pub devices: Vec<Device>,
    /// A gyro that is not the drive's.
    pub gyro: Option<GyroFact>,
    /// Names of cameras.
    pub cameras: Vec<String>,
    /// What experiments found.
    pub measured: MeasuredFacts,
    /// Keys about which it was asked and has nothing to say, with the reason: shown by `fieldlab identity --why`.
    pub silent: Vec<(crate::Key, String)>,
}

impl FactPart {
    /// Whether both say the same, NaN for NaN: a source that lies the same way every turn says nothing new.
    fn says_the_same(&self, other: &Self) -> bool {
        *self == *other || (self.without_numbers() == other.without_numbers() && self.bits().eq(other.bits()))
    }

    fn without_numbers(&self) -> Self {
        let mut rest = self.clone();
        if let Some(swerve) = &mut rest.swerve {
            swerve.modules.iter_mut().for_each(|place| *place = Translation2d::default());
            (swerve.max_speed_mps, swerve.max_angular_rate_rad_per_sec, swerve.odometry_hz) =
                (None, None, None);
        }
        rest.module_constants.iter_mut().for_each(|constants| *constants = ModuleConstants::default());
        if let Some(Ok(settings)) = &mut rest.path_planner {
            *settings = PathPlannerSettings::default();
        }
        rest.measured = MeasuredFacts::default();
        rest
    }

    /// Every number, as the bits that it is made of.
    fn bits(&self) -> impl Iterator<Item = Option<u64>> {
        let swerve = self.swerve.iter().flat_map(|swerve| {
            let places = swerve.modules.iter().flat_map(|place| [Some(place.x_m), Some(place.y_m)]);
            places.chain([swerve.max_speed_mps, swerve.max_angular_rate_rad_per_sec, swerve.odometry_hz])
        });
        let constants = self
            .module_constants
            .iter()
            .flat_map(|c| [c.drive_gear_ratio, c.steer_gear_ratio, c.wheel_radius_m, c.slip_current_amps]);
        let settings = self.path_planner.iter().flatten().flat_map(|s| {
            [s.mass_kg, s.moi_kg_m2, s.wheel_radius_m, s.wheel_cof, s.drive_current_limit_amps]
        });
        let measured = [self.measured.wheel_radius_m, self.measured.slip_current_amps];
        swerve.chain(constants).chain(settings).chain(measured).map(|number| number.map(f64::to_bits))
    }
}

/// About the controller.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ControllerFacts {
    /// Which one.
    pub model: Option<Controller>,
    /// The team's number.
    pub team_number: Option<i64>,
    /// Its serial number.
    pub serial: Option<String>,
    /// What was written on it while imaging.
    pub comment: Option<String>,
    /// Its system image.
    pub image: Option<String>,
    /// The version of its FPGA.
    pub fpga_version: Option<i64>,
    /// Below this it switches outputs off, in millivolts.
    pub brownout_millivolts: Option<i64>,
}

/// Which controller runs the robot.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Controller {
    /// The first roboRIO.
    RoboRio,
    /// The roboRIO 2.
    RoboRio2,
    /// A Systemcore.
    Systemcore,
    /// A simulated robot.
    Simulation,
    /// Any other machine, by the model that it says it is.
    Other(String),
}

impl Controller {
    /// Its name on the wire.
    #[must_use]
    pub fn wire(&self) -> &str {
        match self {
            Self::RoboRio => "roboRIO",
            Self::RoboRio2 => "roboRIO 2",
            Self::Systemcore => "Systemcore",
            Self::Simulation => "Simulation",
            Self::Other(model) => model,
        }
    }

    /// Whether it has an FPGA whose version is a reading.
    pub(crate) fn has_fpga(&self) -> bool {
        matches!(self, Self::RoboRio | Self::RoboRio2)
    }
}

/// About the control system's software.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RuntimeFacts {
    /// The WPILib that a HAL or the system server reports: `2027.0.0-alpha-6`. Never a build's own pin.
    pub wpilib_version: Option<String>,
}

/// About a swerve drive, read from the object that drives.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SwerveFacts {
    /// Where the modules stand, in metres from the robot's origin, x forward, y left; one for each module.
    pub modules: Vec<Translation2d>,
    /// The fastest that it may go, metres a second.
    pub max_speed_mps: Option<f64>,
    /// The fastest that it may turn, radians a second.
    pub max_angular_rate_rad_per_sec: Option<f64>,
    /// How often its odometry is updated.
    pub odometry_hz: Option<f64>,
    /// Whether its bus is CAN FD.
    pub can_fd: Option<bool>,
    /// Its gyro.
    pub gyro: Option<GyroFact>,
}

/// What one module was built with. The objects that the drive is built from give it (`From<&TheirConstants>`), so that
/// the sheet cannot fall out of step with the drive.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ModuleConstants {
    /// Drive motor turns per wheel turn.
    pub drive_gear_ratio: Option<f64>,
    /// Steer motor turns per turn of the module.
    pub steer_gear_ratio: Option<f64>,
    /// Wheel radius in metres.
    pub wheel_radius_m: Option<f64>,
    /// Stator current at which the wheel slips, in amperes.
    pub slip_current_amps: Option<f64>,
}

impl From<&ModuleConstants> for ModuleConstants {
    fn from(constants: &ModuleConstants) -> Self {
        *constants
    }
}

/// The part of PathPlanner's deployed settings that describes the robot.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PathPlannerSettings {
    /// Mass in kilograms.
    pub mass_kg: Option<f64>,
    /// Moment of inertia about the vertical axis.
    pub moi_kg_m2: Option<f64>,
    /// Radius of the drive wheels in metres.
    pub wheel_radius_m: Option<f64>,
    /// Grip of the wheels.
    pub wheel_cof: Option<f64>,
    /// Current limit of a drive motor, in amperes.
    pub drive_current_limit_amps: Option<f64>,
}

/// An attached power distribution.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PowerFacts {
    /// Which.
    pub module: Option<PowerModule>,
    /// How many channels it has.
    pub channels: Option<i64>,
}

/// Which power distribution.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PowerModule {
    /// CTRE's.
    CtrePdp,
    /// REV's.
    RevPdh,
    /// Another, by its name.
    Other(String),
}

impl PowerModule {
    /// Its name on the wire.
    #[must_use]
    pub fn wire(&self) -> &str {
        match self {
            Self::CtrePdp => "CTRE PDP",
            Self::RevPdh => "REV PDH",
            Self::Other(name) => name,
        }
    }
}

/// What experiments on this robot found. The constants in force go before them; a difference is an alert.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MeasuredFacts {
    /// Wheel radius in metres.
    pub wheel_radius_m: Option<f64>,
    /// Slip current in amperes.
    pub slip_current_amps: Option<f64>,
}

/// What all sources said last, in the order in which they are asked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Facts {
    parts: BTreeMap<Source, (Micros, FactPart)>,
}

impl Facts {
    /// Takes what a source says now, instead of what it said before. Answers whether that made a difference; what it
    /// repeats keeps the instant at which it first said so.
    pub fn put(&mut self, source: Source, now: Micros, part: FactPart) -> bool {
        if self.parts.get(&source).is_some_and(|(_, before)| before.says_the_same(&part)) {
            return false;
        }
        self.parts.insert(source, (now, part));
        true
    }

    /// Forgets a source that went away; its facts are retracted. Answers whether there was one.
    pub fn forget(&mut self, source: Source) -> bool {
        self.parts.remove(&source).is_some()
    }

    /// Every source with what it said and when.
    pub fn parts(&self) -> impl Iterator<Item = (Source, Micros, &FactPart)> {
        self.parts.iter().map(|(source, (at, part))| (*source, *at, part))
    }
}
