//! Op modes, as in WPILib 2027: a person selects one on the driver station, and only that one runs.

use std::fmt;

use fieldlab_base::{ConfigError, Feature, Micros, OperatorSample, Tick};

use crate::hw::{Hardware, Inputs};
use crate::identity::Register;
use crate::operator::OperatorPort;
use crate::site::Site;
use crate::telemetry::{Alerts, Door};

/// The list of the driver station in which an op mode appears.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OpModeKind {
    /// Runs by itself at the start of a match.
    Autonomous,
    /// Driven by people.
    Teleop,
    /// Everything else: calibrations, checks, Field Lab.
    Utility,
}

/// How an op mode appears on the driver station.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpModeInfo {
    /// Its list.
    pub kind: OpModeKind,
    /// Its name, unique on this robot.
    pub name: &'static str,
    /// The group under which it is listed; may be empty.
    pub group: &'static str,
    /// One sentence for the person who selects it.
    pub description: &'static str,
}

/// What an op mode is built from. It is built while the robot is disabled, and may be built again at every disable.
pub struct Setup<'a> {
    /// The robot.
    pub hardware: Hardware,
    /// The door; an op mode declares its topics in a [scope](Door::scope) of it.
    pub door: Door,
    /// Where the robot keeps its files.
    pub site: &'a Site,
    /// Where operator inputs are declared.
    pub operator: &'a mut dyn OperatorPort,
    /// The loop's clock now.
    pub now: Micros,
    /// The wall clock, when there is one.
    pub unix: Option<Micros>,
    /// Where a component that came up is recorded, for the identity sheet.
    pub register: Register,
}

/// One turn of the loop, as an op mode sees it.
pub struct Turn<'a> {
    /// The loop's clock and the time since the turn before.
    pub tick: Tick,
    /// Microseconds since 1970 by the wall clock, if there is one; it may be wrong by decades on a robot.
    pub unix: Option<Micros>,
    /// Whether anything may move in this turn.
    pub enabled: bool,
    /// The snapshot of this turn; [`Hardware::inputs`] is the same one.
    pub inputs: &'a Inputs,
    /// The robot.
    pub hardware: &'a Hardware,
    /// The door.
    pub door: &'a mut Door,
    /// The alert registry.
    pub alerts: &'a mut Alerts,
    /// What people wrote to the declared inputs since the turn before, in order of arrival.
    pub operator: &'a [OperatorSample],
}

/// A program that a person selects.
///
/// The loop builds the object when it is selected, calls [`OpMode::disabled_periodic`] while disabled, then
/// [`OpMode::start`] and [`OpMode::periodic`] while enabled, and [`OpMode::end`] once when the robot is disabled. After
/// that the same object may be started again, or be dropped and built anew: an op mode must be right either way.
/// Whatever it leased, the loop sends neutral outputs whenever the robot is disabled.
pub trait OpMode {
    /// The robot was enabled with this op mode selected.
    fn start(&mut self, turn: &mut Turn<'_>) {
        let _: &mut Turn<'_> = turn;
    }
    /// A turn while enabled.
    fn periodic(&mut self, turn: &mut Turn<'_>);
    /// A turn while disabled, selected but not enabled.
    fn disabled_periodic(&mut self, turn: &mut Turn<'_>) {
        let _: &mut Turn<'_> = turn;
    }
    /// A person selected another op mode, or none: the last call before the object is dropped. Not called when the
    /// object is dropped for another reason: a disable after which it is built anew, the end of the program.
    fn deselected(&mut self, turn: &mut Turn<'_>) {
        let _: &mut Turn<'_> = turn;
    }
    /// The robot was disabled, or another op mode selected. Leases should be let go here.
    fn end(&mut self, turn: &mut Turn<'_>) {
        let _: &mut Turn<'_> = turn;
    }
}

/// Builds an op mode's object; `None` says that it cannot be had yet and that the next turn may ask again.
pub type Build = Box<dyn FnMut(&mut Setup<'_>) -> Result<Option<Box<dyn OpMode>>, ConfigError>>;

/// An op mode as the robot registers it.
pub struct OpModeEntry {
    /// How it appears.
    pub info: OpModeInfo,
    /// How its object is built.
    pub build: Build,
    /// What came up with it: recorded when the robot loop is made, and taken back while its object is refused.
    pub features: Vec<Feature>,
}

impl OpModeEntry {
    /// An op mode that is built by `build`.
    pub fn new<M: OpMode + 'static>(
        info: OpModeInfo,
        mut build: impl FnMut(&mut Setup<'_>) -> Result<M, ConfigError> + 'static,
    ) -> Self {
        Self::when_ready(info, move |setup| build(setup).map(Some))
    }

    /// An op mode that may have to be asked for over several turns, because the loop does not wait for what it needs.
    pub fn when_ready<M: OpMode + 'static>(
        info: OpModeInfo,
        mut build: impl FnMut(&mut Setup<'_>) -> Result<Option<M>, ConfigError> + 'static,
    ) -> Self {
        let boxed = |mode: M| -> Box<dyn OpMode> { Box::new(mode) };
        Self { info, build: Box::new(move |setup| Ok(build(setup)?.map(boxed))), features: Vec::new() }
    }

    /// With a component that came up for it.
    #[must_use]
    pub fn feature(mut self, feature: Feature) -> Self {
        self.features.push(feature);
        self
    }
}

impl fmt::Debug for OpModeEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpModeEntry").field("info", &self.info).finish_non_exhaustive()
    }
}

impl fmt::Debug for Setup<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup")
            .field("hardware", &self.hardware)
            .field("now", &self.now)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Turn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn")
            .field("tick", &self.tick)
            .field("enabled", &self.enabled)
            .finish_non_exhaustive()
    }
}
