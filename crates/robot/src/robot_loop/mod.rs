//! The 20 ms loop: one snapshot, one op mode, one set of outputs, one frame. It waits for nothing and nobody.
//!
//! ```
//! use fieldlab_base::Micros;
//! use fieldlab_robot::driver_station::DriverPanel;
//! use fieldlab_robot::hw::Parts;
//! use fieldlab_robot::operator::NoOperator;
//! use fieldlab_robot::robot_loop::{LoopConfig, LoopParts, RobotLoop};
//! use fieldlab_robot::site::{Pace, Site};
//! use fieldlab_robot::telemetry::Door;
//!
//! let panel = DriverPanel::new();
//! let mut robot = RobotLoop::new(
//!     LoopConfig::default(),
//!     LoopParts {
//!         io: Box::new(Parts::default()),
//!         station: Box::new(panel.clone()),
//!         operator: Box::new(NoOperator),
//!         door: Door::new(),
//!         site: Site::new("logs", Pace::Virtual, 1),
//!         op_modes: Vec::new(),
//!     },
//! )?;
//! for turn in 0..50 {
//!     robot.tick(Micros::from_millis(20 * turn), None);
//! }
//! assert!(robot.outputs().is_neutral()); // nothing is selected, nothing moves
//! # Ok::<(), fieldlab_base::ConfigError>(())
//! ```

mod channels;
mod selection;

use fieldlab_base::{ConfigError, Micros, OperatorSample, Tick};

use crate::clock::Clock;
use crate::driver_station::{DriverState, DriverStation, OpModeId};
use crate::hw::{Hardware, Inputs, MODULES, Outputs, RobotIo};
use crate::identity::{Declaration, Register, SheetPublisher};
use crate::operator::OperatorPort;
use crate::opmode::{OpModeEntry, OpModeInfo};
use crate::site::Site;
use crate::telemetry::{AlertLevel, Alerts, Door};

use channels::LoopChannels;
use selection::{Environment, Selection};

/// How the loop runs.
#[derive(Debug, Clone, PartialEq)]
pub struct LoopConfig {
    /// The loop's period.
    pub period: Micros,
    /// Whether an op mode's object is dropped and built anew at every disable, as WPILib 2027 does, or kept.
    pub rebuild_on_disable: bool,
}

impl Default for LoopConfig {
    fn default() -> Self {
        Self { period: Micros::from_millis(20), rebuild_on_disable: true }
    }
}

/// What a loop is put together from.
pub struct LoopParts {
    /// The robot's hardware, or a simulation of it.
    pub io: Box<dyn RobotIo>,
    /// Where the enable signal comes from.
    pub station: Box<dyn DriverStation>,
    /// Where operator inputs come from.
    pub operator: Box<dyn OperatorPort>,
    /// Where numbers go.
    pub door: Door,
    /// Where files are kept.
    pub site: Site,
    /// What a person may select.
    pub op_modes: Vec<OpModeEntry>,
}

/// The loop and everything it owns. It lives on one plain thread.
pub struct RobotLoop {
    config: LoopConfig,
    io: Box<dyn RobotIo>,
    station: Box<dyn DriverStation>,
    operator: Box<dyn OperatorPort>,
    site: Site,
    hardware: Hardware,
    door: Door,
    alerts: Alerts,
    channels: LoopChannels,
    selection: Selection,
    sheet: SheetPublisher,
    simulated: bool,
    samples: Vec<OperatorSample>,
    before: Option<Micros>,
    outputs: Outputs,
    overruns: u64,
    odometry: Option<channels::WheelOdometry>,
}

impl RobotLoop {
    /// A loop around this robot, with nothing selected.
    ///
    /// # Errors
    /// A period that is not positive, two op modes of one name, a robot that [cannot be described](
    /// crate::hw::RobotDescription::check) or whose [facts](crate::hw::HardwareFacts::check) contradict it, or topics that
    /// were declared before.
    pub fn new(config: LoopConfig, parts: LoopParts) -> Result<Self, ConfigError> {
        let LoopParts { io, station, operator, mut door, site, op_modes } = parts;
        if config.period <= Micros::ZERO {
            return Err(ConfigError::new("loop.period", "a span above 0", config.period));
        }
        let hardware = Hardware::new(io.description())?;
        let alerts = Alerts::new(&mut door)?;
        let mut channels = LoopChannels::new(&mut door, hardware.description())?;
        let facts = io.facts();
        facts.check(hardware.geometry())?;
        if let Some(power) = &facts.power {
            channels.add_power(&mut door, power.channels)?;
        }
        let odometry = hardware.geometry().map(channels::WheelOdometry::new).transpose()?;
        let register = Register::new(site.boot_random);
        Ok(Self {
            selection: Selection::new(op_modes, &register)?,
            sheet: SheetPublisher::new(register, hardware.geometry(), &mut door)?,
            simulated: facts.simulated,
            config,
            io,
            station,
            operator,
            site,
            hardware,
            door,
            alerts,
            channels,
            // Room for a burst of writes, so that an ordinary one does not allocate.
            samples: Vec::with_capacity(256),
            before: None,
            outputs: Outputs::NEUTRAL,
            overruns: 0,
            odometry,
        })
    }

    /// One turn at `now`; `unix` is the wall clock, when there is one.
    pub fn tick(&mut self, now: Micros, unix: Option<Micros>) {
        let dt_secs = self.before.map_or(0.0, |before| now.since(before).as_secs().max(0.0));
        self.before = Some(now);
        let tick = Tick { now, dt_secs };
        self.door.begin(now);

        let station = self.station.poll(now);
        let enabled = station.may_move();
        let inputs = self.snapshot(tick, enabled);
        self.samples.clear();
        self.operator.drain(now, &mut self.samples);
        if let Some(refused) = self.operator.refused() {
            self.alerts.raise(AlertLevel::Error, "Inputs", &refused.to_string());
        }

        let mut environment = Environment {
            tick,
            unix,
            rebuild_on_disable: self.config.rebuild_on_disable,
            inputs: &inputs,
            hardware: &self.hardware,
            door: &mut self.door,
            alerts: &mut self.alerts,
            site: &self.site,
            operator: &mut *self.operator,
            samples: &self.samples,
            register: self.sheet.register(),
        };
        let running = self.selection.turn(station, &mut environment);

        if !running {
            self.hardware.release_kept();
            self.hardware.neutralise();
        }
        self.outputs = if running { self.hardware.outputs() } else { Outputs::NEUTRAL };
        self.io.apply(now, &self.outputs);
        self.zero_modules(enabled);
        self.channels.clock(&mut self.door, now, unix);
        self.sheet.turn(now, &*self.io, &mut self.door, &mut self.alerts);
        self.publish(&inputs, station, running);
        self.door.end();
    }

    /// Says which robot this is, and publishes its identity sheet from the next turn on. May be called before or after
    /// anything else that the sheet tells of; a second declaration replaces the first.
    ///
    /// A robot that is not simulated reads the machine that it runs on, unless [`Register::machine`] named another: a few
    /// files, once, here.
    pub fn declare(&mut self, declaration: Declaration) {
        let register = self.sheet.register();
        if !self.simulated && !register.has_machine() {
            register.this_machine(self.site.pace);
        }
        register.declare(declaration);
    }

    /// Where facts about the robot are handed in.
    #[must_use]
    pub fn register(&self) -> &Register {
        self.sheet.register()
    }

    /// Runs by a clock until `stop` says so. A turn that took longer than the period is counted; the next begins at once,
    /// and whole turns that were missed are left out rather than made up for.
    pub fn run(&mut self, clock: &mut dyn Clock, stop: &mut dyn FnMut() -> bool) {
        let mut due = clock.now();
        while !stop() {
            clock.wait_until(due);
            let now = clock.now();
            let unix = clock.unix();
            self.tick(now, unix);
            self.note_duration(clock.now().since(now));
            due += self.config.period;
            let late = clock.now().since(due).0 / self.config.period.0;
            if late > 0 {
                due += Micros(late.saturating_mul(self.config.period.0));
            }
        }
        self.stop(clock.now());
    }

    /// Tells the loop how long its last turn took, by a clock that the caller reads. [`RobotLoop::run`] does this.
    pub fn note_duration(&mut self, took: Micros) {
        self.channels.note_duration(took);
        if took > self.config.period {
            self.overruns = self.overruns.saturating_add(1);
        }
    }

    /// Ends the op mode that runs, if any, and leaves the robot neutral. The loop may tick again.
    pub fn stop(&mut self, now: Micros) {
        let inputs = self.hardware.inputs();
        self.door.begin(now);
        let mut environment = Environment {
            tick: Tick { now, dt_secs: 0.0 },
            unix: None,
            rebuild_on_disable: true,
            inputs: &Inputs { enabled: false, ..inputs },
            hardware: &self.hardware,
            door: &mut self.door,
            alerts: &mut self.alerts,
            site: &self.site,
            operator: &mut *self.operator,
            samples: &[],
            register: self.sheet.register(),
        };
        self.selection.clear(&mut environment, false);
        self.outputs = Outputs::NEUTRAL;
        self.io.apply(now, &self.outputs);
        self.door.end();
    }

    /// The op mode called `name`.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<OpModeId> {
        self.selection.find(name)
    }

    /// The op modes registered, by id.
    pub fn op_modes(&self) -> impl Iterator<Item = (OpModeId, &OpModeInfo)> {
        self.selection.infos()
    }

    /// What was asked of the hardware in the last turn.
    #[must_use]
    pub fn outputs(&self) -> Outputs {
        self.outputs
    }

    /// The robot.
    #[must_use]
    pub fn hardware(&self) -> &Hardware {
        &self.hardware
    }

    /// Where files are kept.
    #[must_use]
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// The door, to attach sinks and to declare topics of one's own.
    #[must_use]
    pub fn door(&self) -> &Door {
        &self.door
    }

    /// The reason why the selected op mode does not run, when it panicked or could not be built.
    #[must_use]
    pub fn fault(&self) -> Option<&str> {
        self.selection.fault()
    }

    fn snapshot(&mut self, tick: Tick, enabled: bool) -> Inputs {
        let mut inputs = Inputs { now: tick.now, dt_secs: tick.dt_secs, enabled, ..Inputs::NONE };
        self.io.read(tick.now, &mut inputs);
        // Whatever the hardware wrote there, these are the loop's.
        (inputs.now, inputs.dt_secs, inputs.enabled) = (tick.now, tick.dt_secs, enabled);
        inputs.odometry = self.odometry.as_mut().and_then(|o| o.step(&inputs));
        self.hardware.set_inputs(inputs);
        self.hardware.set_pack(self.io.pack());
        inputs
    }

    fn zero_modules(&mut self, enabled: bool) {
        for (module, asked) in self.hardware.take_zero_requests().into_iter().enumerate() {
            if asked && enabled && module < MODULES && !self.io.zero_module(module) {
                self.alerts.raise(AlertLevel::Error, "ZeroWheels", "this drive cannot take a new zero");
            }
        }
    }

    fn publish(&mut self, inputs: &Inputs, station: DriverState, running: bool) {
        let name = self.selection.active_name();
        let kind = self.selection.active_kind();
        self.channels.inputs(&mut self.door, inputs);
        self.channels.station(&mut self.door, station, name, kind, running);
        self.channels.outputs(&mut self.door, &self.outputs);
        self.channels.health(&mut self.door, inputs.now, self.overruns);
        self.alerts.publish(&mut self.door);
    }
}

impl std::fmt::Debug for LoopParts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoopParts").field("site", &self.site).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for RobotLoop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RobotLoop").field("hardware", &self.hardware).finish_non_exhaustive()
    }
}
