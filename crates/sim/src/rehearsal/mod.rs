//! An afternoon, rehearsed: the world, the robot's code, the person, and what goes wrong, on one virtual clock.

mod campaign;
mod code;
mod disk;

use std::any::Any;
use std::path::PathBuf;

use fieldlab_base::{ConfigError, Micros};
use fieldlab_nt4_net::Hub;
use fieldlab_robot::driver_station::DriverPanel;
use fieldlab_robot::identity::Declaration;
use fieldlab_robot::opmode::OpModeEntry;

pub use campaign::{FIELD_LAB, Scope, campaign, drivetrain, entry};
use code::Code;

use crate::battery::BatteryConfig;
use crate::drive::DriveTruth;
use crate::faults::{Fault, FaultKind, Faults, Player, Trigger};
use crate::operator::{OperatorConfig, OperatorTally, Part, ScriptedOperator};
use crate::world::{SensorId, SharedWorld, World, WorldConfig, declaration};

/// What is rehearsed.
#[derive(Debug, Clone, PartialEq)]
pub struct RehearsalConfig {
    /// Where every chance comes from; print it.
    pub seed: u64,
    /// Log folders, checkpoint and everything else are made in here.
    pub out: PathBuf,
    /// How much of the campaign.
    pub scope: Scope,
    /// What goes wrong besides.
    pub faults: Faults,
    /// Whether the code reboots once in the middle of the campaign, as a matter of course.
    pub reboot: bool,
    /// The person.
    pub operator: OperatorConfig,
    /// Robot and field.
    pub world: WorldConfig,
    /// What the scripted person does; the rest is a human's, at a terminal or a dashboard.
    pub part: Part,
    /// What its team declares about the robot, for the identity sheet; `None` publishes none.
    pub identity: Option<Declaration>,
    /// Whether an AdvantageKit-shaped log is written beside each log.
    pub advantage_kit: bool,
    /// Given up after this much of the world's time, seconds.
    pub most_secs: f64,
    /// The wall clock when the robot is first switched on.
    pub unix_at_power_on: Micros,
}

impl RehearsalConfig {
    /// The full campaign with two flat packs and a reboot, everything drawn from `seed`.
    #[must_use]
    pub fn new(seed: u64, out: impl Into<PathBuf>) -> Self {
        let mut world = WorldConfig::seeded(seed);
        world.battery = campaign::tired_pack("pack 1", 1.5);
        Self {
            seed,
            out: out.into(),
            scope: Scope::Full,
            faults: Faults::default(),
            reboot: true,
            operator: OperatorConfig {
                packs: vec![campaign::tired_pack("pack 2", 0.4), BatteryConfig::healthy("pack 3")],
                ..OperatorConfig::default()
            },
            world,
            part: Part::Everything,
            identity: Some(declaration()),
            advantage_kit: false,
            most_secs: 4.0 * 3600.0,
            unix_at_power_on: Micros(1_789_000_000_000_000),
        }
    }
}

/// Why a rehearsal could not be held.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RehearsalError {
    /// A part refused its configuration.
    #[error("{0}")]
    Config(ConfigError),
    /// The robot's server refused its own dashboard.
    #[error("dashboard: expected to be let in, found {0}")]
    Refused(String),
    /// The robot's code has no Field Lab.
    #[error("op modes: expected one called Field Lab, found none")]
    NoFieldLab,
    /// The stage refused a boot, as when a port is taken.
    #[error("{0}")]
    Stage(String),
}

impl From<ConfigError> for RehearsalError {
    fn from(refused: ConfigError) -> Self {
        Self::Config(refused)
    }
}

/// How far it has come.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// The world's clock.
    pub now: Micros,
    /// Banked procedures, 0 to 1.
    pub done: f64,
    /// The campaign's state token; empty while the code is down.
    pub state: String,
    /// The procedure's title.
    pub procedure: String,
    /// The step's label.
    pub step: String,
    /// What is asked.
    pub prompt: String,
    /// What a tape would say to it, for a human who has none.
    pub hint: Option<f64>,
    /// Battery volts and whether the driver station enables.
    pub battery_volts: f64,
    /// Whether the driver station enables.
    pub enabled: bool,
    /// Whether the code runs.
    pub running: bool,
}

/// What a person at a terminal does beside the driver station.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// Selects Field Lab, or nothing when it is selected.
    Select,
    /// Puts a fresh pack in.
    SwapPack,
    /// Cuts the power; it is back two seconds later.
    CutPower,
    /// Goes home.
    Quit,
}

/// Where a rehearsal is held: who watches, and at which pace. Every method has an empty answer.
pub trait Stage {
    /// The code is up on `hub`. What is answered is dropped when that code goes down: a server on sockets, say.
    ///
    /// # Errors
    /// A reason that ends the rehearsal, such as a port that is taken.
    fn booted(&mut self, hub: &Hub) -> Result<Option<Box<dyn Any>>, String> {
        let _: &Hub = hub;
        Ok(None)
    }

    /// Waits until the world's clock may show `at`. A virtual stage returns at once.
    fn wait_until(&mut self, at: Micros) {
        let _: Micros = at;
    }

    /// About ten times a second of the world's time: how far it has come. Answers what the person does.
    fn progress(&mut self, progress: &Progress) -> Vec<Deed> {
        let _: &Progress = progress;
        Vec::new()
    }
}

/// Nobody watches and nothing waits.
#[derive(Debug, Clone, Copy, Default)]
pub struct EmptyStage;

impl Stage for EmptyStage {}

/// How one procedure ended.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ProcedureResult {
    /// Its id.
    pub id: String,
    /// `good`, or `flagged`, `partial`, `empty` with what there is to say about it.
    pub outcome: String,
}

/// What a rehearsal left behind.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Rehearsal {
    /// The seed.
    pub seed: u64,
    /// The session's id.
    pub session: String,
    /// The last state token: `DONE` when all went well.
    pub state: String,
    /// Log files, in the order of their names.
    pub files: Vec<PathBuf>,
    /// Banked procedures, in the order in which they were.
    pub procedures: Vec<ProcedureResult>,
    /// The world's constants.
    pub truth: DriveTruth,
    /// Pack swaps, boots beyond the first, and world seconds.
    pub swaps: u32,
    /// Boots beyond the first.
    pub reboots: u32,
    /// World seconds.
    pub secs: f64,
    /// What the person counted.
    pub operator: OperatorTally,
    /// What went wrong for the code, if anything ended it early.
    pub fault: Option<String>,
}

/// The robot's period.
const PERIOD: Micros = Micros::from_millis(20);

/// A robot's program: its op modes, made anew at every boot.
pub type OpModes<'a> = dyn Fn() -> Result<Vec<OpModeEntry>, ConfigError> + 'a;

/// Holds a rehearsal on an empty stage.
///
/// # Errors
/// As [`run_on`].
pub fn run(config: &RehearsalConfig) -> Result<Rehearsal, RehearsalError> {
    run_on(config, &DriverPanel::new(), &mut EmptyStage)
}

/// Holds a rehearsal. `panel` is the driver station: a human's when [`RehearsalConfig::part`] leaves it to one.
///
/// # Errors
/// Refuses a robot, a person or a campaign that cannot be, and passes on what the stage refuses.
pub fn run_on(
    config: &RehearsalConfig,
    panel: &DriverPanel,
    stage: &mut dyn Stage,
) -> Result<Rehearsal, RehearsalError> {
    run_with(config, panel, stage, &|| Ok(vec![entry(config.scope)?]))
}

/// As [`run_on`], with a team's own op modes: `op_modes` is the robot's program, called at every boot. One of them must be
/// called [`FIELD_LAB`]; the scripted person selects that one.
///
/// # Errors
/// As [`run_on`], and what `op_modes` refuses.
pub fn run_with(
    config: &RehearsalConfig,
    panel: &DriverPanel,
    stage: &mut dyn Stage,
    op_modes: &OpModes<'_>,
) -> Result<Rehearsal, RehearsalError> {
    let world = World::new(config.world.clone(), config.seed)?;
    let mut afternoon = Afternoon {
        operator: ScriptedOperator::new(config.operator.clone(), config.seed)?.doing(config.part),
        world: SharedWorld::new(world),
        player: Player::new(&with_usual(config), config.seed),
        panel,
        config,
        op_modes,
        stage,
        code: None,
        guard: None,
        boots: 0,
        boot_at: Some(Micros::ZERO),
        online_at: Micros::ZERO,
        enable_at: None,
        healing: Vec::new(),
        disk_well_at: None,
        done_at: None,
        quit: false,
        fault: None,
    };
    afternoon.hold()?;
    Ok(afternoon.result())
}

/// The script, with the reboot that every rehearsal has.
fn with_usual(config: &RehearsalConfig) -> Faults {
    let mut script = config.faults.clone();
    if config.reboot {
        let (procedure, step_kind) = config.scope.reboots_in();
        script.faults.push(Fault {
            trigger: Trigger::Step {
                procedure: procedure.to_owned(),
                step: None,
                step_kind: Some(step_kind.to_owned()),
                after_secs: 1.0,
            },
            within_secs: 2.0,
            for_secs: 8.0,
            kind: FaultKind::Reboot,
        });
    }
    script
}

/// What stands in the session header beside the plan.
fn header(config: &RehearsalConfig, world: &SharedWorld) -> serde_json::Map<String, serde_json::Value> {
    let world = world.world().borrow();
    let mut header = serde_json::Map::new();
    header.insert("simulated".into(), true.into());
    header.insert("seed".into(), config.seed.into());
    header.insert("battery".into(), (&**world.battery().name()).into());
    header
}

struct Afternoon<'a> {
    config: &'a RehearsalConfig,
    op_modes: &'a OpModes<'a>,
    stage: &'a mut dyn Stage,
    panel: &'a DriverPanel,
    world: SharedWorld,
    operator: ScriptedOperator,
    player: Player,
    code: Option<Code>,
    guard: Option<Box<dyn Any>>,
    boots: u64,
    /// When the code comes up.
    boot_at: Option<Micros>,
    /// From when on the dashboard is connected.
    online_at: Micros,
    /// When a fault that disabled enables again.
    enable_at: Option<Micros>,
    healing: Vec<(Micros, SensorId)>,
    disk_well_at: Option<Micros>,
    done_at: Option<Micros>,
    quit: bool,
    fault: Option<String>,
}

impl Afternoon<'_> {
    fn hold(&mut self) -> Result<(), RehearsalError> {
        let most = Micros::from_secs(self.config.most_secs);
        let mut turn = 0_i64;
        let mut now = Micros::ZERO;
        while now < most && !self.is_over(now) {
            let jitter = self.world.world().borrow_mut().loop_jitter();
            let due = Micros(turn.saturating_mul(PERIOD.0)) + jitter;
            now = due.max(now + Micros::from_millis(1));
            turn += 1;
            self.stage.wait_until(now);
            self.step(now, turn)?;
        }
        if let Some(code) = self.code.take() {
            code.shut_down(&mut self.operator, now);
        }
        self.guard = None;
        Ok(())
    }

    fn is_over(&mut self, now: Micros) -> bool {
        if self.done_at.is_none() && matches!(self.operator.state(), "DONE" | "ABORTED") {
            self.done_at = Some(now);
        }
        self.quit
            || self.fault.is_some()
            || self.done_at.is_some_and(|at| now.since(at) > Micros::from_secs(1.0))
    }

    fn step(&mut self, now: Micros, turn: i64) -> Result<(), RehearsalError> {
        if self.boot_at.is_some_and(|at| now >= at) {
            self.boot(now)?;
        }
        self.heal(now);
        let place = self.operator.place().filter(|_| self.code.is_some());
        for fault in self.player.due(now.as_secs(), place.as_ref()) {
            self.begin(&fault, now);
        }
        let online = now >= self.online_at;
        match &mut self.code {
            Some(code) => {
                code.carry(&mut self.operator, now, online)?;
                let clock = code.clock(now);
                let mut world = self.world.world().borrow_mut();
                world.advance_to(now);
                self.operator.step(now, clock, &mut world, self.panel, code.field_lab);
                drop(world);
                code.carry(&mut self.operator, now, online)?;
                code.tick(now, self.config.unix_at_power_on + now);
                self.fault = code.fault().map(str::to_owned);
            }
            None => self.world.world().borrow_mut().advance_to(now),
        }
        if self.operator.takes_restart() {
            self.go_down(now, now + Micros::from_secs(3.0), false);
        }
        if turn % 5 == 0 {
            self.report(now);
        }
        Ok(())
    }

    fn boot(&mut self, now: Micros) -> Result<(), RehearsalError> {
        self.boot_at = None;
        self.boots += 1;
        let code = Code::boot(&self.world, self.panel, self.config, self.op_modes, self.boots, now)?;
        self.guard = self.stage.booted(&code.hub).map_err(RehearsalError::Stage)?;
        self.code = Some(code);
        self.online_at = self.online_at.max(now + Micros::from_secs(1.0));
        Ok(())
    }

    fn heal(&mut self, now: Micros) {
        let mut world = self.world.world().borrow_mut();
        self.healing.retain(|(at, sensor)| {
            let heals = now >= *at;
            if heals {
                world.set_fault(*sensor, None);
            }
            !heals
        });
        if self.disk_well_at.is_some_and(|at| now >= at) {
            self.disk_well_at = None;
            if let Some(code) = &self.code {
                code.set_disk_full(false);
            }
        }
        if self.enable_at.is_some_and(|at| now >= at) {
            self.enable_at = None;
            self.panel.set_enabled(true);
        }
    }

    fn begin(&mut self, fault: &Fault, now: Micros) {
        let until = now + Micros::from_secs(fault.for_secs);
        match &fault.kind {
            FaultKind::Disable => {
                self.panel.set_enabled(false);
                self.operator.lock_station(until);
                self.enable_at = Some(until);
            }
            FaultKind::Reboot => self.go_down(now, until, false),
            FaultKind::Kill => self.go_down(now, until, true),
            FaultKind::NtDrop => self.online_at = self.online_at.max(until),
            FaultKind::Brownout { volts } => self.world.world().borrow_mut().dip(*volts, fault.for_secs),
            FaultKind::Sensor { sensor, mode } => {
                self.world.world().borrow_mut().set_fault(*sensor, Some(*mode));
                self.healing.push((until, *sensor));
            }
            FaultKind::DiskFull => {
                if let Some(code) = &self.code {
                    code.set_disk_full(true);
                    self.disk_well_at = Some(until);
                }
            }
        }
    }

    fn go_down(&mut self, now: Micros, until: Micros, at_once: bool) {
        let Some(code) = self.code.take() else { return };
        if at_once {
            code.kill(&mut self.operator, now);
        } else {
            code.shut_down(&mut self.operator, now);
        }
        self.guard = None;
        // Motor controllers go neutral without their master, and a driver station without a robot disables.
        self.world.world().borrow_mut().go_neutral();
        self.panel.set_enabled(false);
        self.boot_at = Some(until);
    }

    fn report(&mut self, now: Micros) {
        let (battery_volts, _) = self.world.world().borrow().bus();
        let mut progress = self.operator.progress(&self.world.world().borrow());
        progress.now = now;
        progress.battery_volts = battery_volts;
        progress.enabled = self.panel.state().enabled;
        progress.running = self.code.is_some();
        for deed in self.stage.progress(&progress) {
            match deed {
                Deed::Select => {
                    let selected = self.panel.state().selected;
                    let field_lab = self.code.as_ref().map(|code| code.field_lab);
                    self.panel.select(field_lab.filter(|_| selected != field_lab));
                }
                Deed::SwapPack => {
                    let pack = BatteryConfig::healthy("fresh pack");
                    // A healthy pack is never refused.
                    self.world.world().borrow_mut().swap_battery(pack).ok();
                }
                Deed::CutPower => self.go_down(now, now + Micros::from_secs(2.0), true),
                Deed::Quit => self.quit = true,
            }
        }
    }

    fn result(self) -> Rehearsal {
        let world = self.world.world().borrow();
        let session = self.operator.session().to_owned();
        Rehearsal {
            seed: self.config.seed,
            files: logs(&self.config.out, &session),
            state: self.operator.state().to_owned(),
            procedures: self.operator.banked().to_vec(),
            truth: world.truth(),
            swaps: world.swaps(),
            reboots: u32::try_from(self.boots.saturating_sub(1)).unwrap_or(u32::MAX),
            secs: world.now().as_secs(),
            operator: self.operator.tally(),
            fault: self.fault,
            session,
        }
    }
}

/// The log files of a session, sorted.
fn logs(out: &std::path::Path, session: &str) -> Vec<PathBuf> {
    let found = std::fs::read_dir(out.join(session)).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = found
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "wpilog"))
        .collect();
    files.sort();
    files
}
