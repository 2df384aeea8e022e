//! The op mode's object: the runner, its storage, its log, and the act that runs.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::rc::Rc;

use fieldlab_base::{Action, ConfigError, Progress, Tick};
use fieldlab_campaign::inputs::{Control, InputSpec as Declared, MANIFEST_TOPIC, manifest};
use fieldlab_campaign::runner::Runner;
use fieldlab_campaign::{
    ActId, ActReport, ActRequest, AlertLevel as Level, BatteryReading, Campaign, RunnerConfig, RunnerInput,
    SaveReport, Start, State, StepKind, Topics,
};
use fieldlab_store::lock;
use fieldlab_values::{Publisher, Root};
use serde_json::{Value as Json, json};

use super::checkpoint;
use super::pre_arm::PreArm;
use super::records::Records;
use crate::acts::calibrations::{SLIP_AMPS, WHEEL_RADIUS};
use crate::acts::{ActTopics, RobotAct};
use crate::hw::Hardware;
use crate::identity::{MeasuredFacts, Register};
use crate::operator::{InputSeed, InputSpec};
use crate::opmode::{OpMode, Setup, Turn};
use crate::site::{Site, default_checkpoint};
use crate::storage::{Job, Storage};
use crate::telemetry::{AlertLevel, Scope};

const SOURCE: &str = "FieldLab";
/// Where the header names the pack that is in.
const PACK: &str = "battery";

/// See the [module](super).
pub(super) struct FieldLab {
    campaign: Rc<Campaign<RobotAct>>,
    /// What the acts are, by id.
    acts: Vec<ActFacts>,
    runner: Runner,
    topics: Topics,
    act_topics: Rc<ActTopics>,
    records: Records,
    manifest: Publisher<str>,
    site: Site,
    storage: Box<dyn Storage>,
    saved: Vec<SaveReport>,
    pre_arm: PreArm,
    act: Option<RunningAct>,
    report: ActReport,
    alerts_seen: Option<u32>,
    pack_seen: Option<u32>,
    log_failed: Option<String>,
    /// The session whose log was opened since the last enable.
    logged: String,
    scope: Scope,
    register: Register,
}

struct RunningAct {
    id: ActId,
    attempt: u32,
    /// `None` once it has ended.
    action: Option<Box<dyn Action>>,
}

impl FieldLab {
    /// `None` while the object before still finishes its last save: what it saves is where this one goes on.
    pub(super) fn build(
        campaign: &Rc<Campaign<RobotAct>>,
        config: RunnerConfig,
        setup: &mut Setup<'_>,
    ) -> Result<Option<Self>, ConfigError> {
        let site = setup.site.clone();
        if site.storage_at_work() {
            return Ok(None);
        }
        if site.checkpoint == default_checkpoint() {
            site.check_checkpoint_place()?;
        }
        let mut layer = (site.layers)();
        let folder = site.checkpoint.parent().unwrap_or(Path::new(""));
        let refuse = |e: &dyn std::fmt::Display| ConfigError::new("site.checkpoint", "a place to keep it", e);
        layer.create_dir_all(folder).map_err(|e| refuse(&format!("{}: {e}", folder.display())))?;
        let only = lock(&site.checkpoint)
            .map_err(|e| ConfigError::new("site.checkpoint", "one runner at a time", e))?;
        let (checkpoint, finished) = checkpoint::find(&mut *layer, &site.checkpoint);

        let start = Start {
            checkpoint,
            finished,
            now: setup.now,
            unix: setup.unix,
            boot_random: site.boot_random,
            known_sessions: site.known_sessions(),
            header: header(&site, &setup.hardware),
        };
        let runner = Runner::new(campaign.plan().clone(), config, start)?;
        setup.operator.declare(&input_specs(runner.inputs()))?;

        let mut scope = setup.door.scope();
        let topics = Topics::declare(&mut scope)?;
        let act_topics = Rc::new(ActTopics::declare(&mut scope)?);
        let key = MANIFEST_TOPIC.trim_start_matches("/Catalyst/");
        let manifest_topic = Publisher::<str>::declare(&mut scope, Root::Catalyst, key, "")?;
        let manifest_text = manifest(runner.inputs());
        manifest_topic.set(&mut scope, &manifest_text);
        let mut records = Records::default();
        records.declare(&mut scope, runner.log_keys());
        let lab = Self {
            acts: act_facts(campaign),
            campaign: Rc::clone(campaign),
            runner,
            topics,
            act_topics,
            records,
            manifest: manifest_topic,
            storage: site.storage(only)?,
            site,
            saved: Vec::with_capacity(8),
            pre_arm: PreArm::new(setup.hardware.geometry().is_some(), manifest_text.len()),
            act: None,
            report: ActReport::Idle,
            alerts_seen: None,
            pack_seen: None,
            log_failed: None,
            logged: String::new(),
            scope,
            register: setup.register.clone(),
        };
        if !lab.runner.board().session.as_str().is_empty() {
            // A session that goes on is logged from now, also while the robot waits for its battery.
            lab.open_log(setup)?;
            // By a virtual clock the disk is not on the robot's time, and the pre-arm list wants something durable.
            lab.site.settle_log();
        }
        Ok(Some(lab))
    }

    fn open_log(&self, setup: &Setup<'_>) -> Result<(), ConfigError> {
        self.site
            .open_log(self.runner.session_id(), setup.now, &setup.door)
            .map_err(|e| ConfigError::new("site.out_dir", "a place for the session's log", e))
    }

    /// One turn, enabled or not.
    fn turn(&mut self, turn: &mut Turn<'_>, ended: bool) {
        if turn.enabled {
            self.log_session(turn);
        }
        if self.pack_seen.replace(turn.hardware.pack_changes()) != Some(turn.hardware.pack_changes())
            && let Some(pack) = turn.hardware.pack()
        {
            self.runner.amend_header(PACK, &pack);
        }
        self.storage.poll(&mut self.saved);
        let free = self.storage.free_bytes(turn.tick.now);
        self.pre_arm.look(turn.inputs, turn.unix, &self.site, free);
        if let Some(reason) = self.pre_arm.log_stopped() {
            turn.alerts.raise(AlertLevel::Error, "Log", reason);
        }
        let battery = turn
            .inputs
            .battery_volts
            .map(|r| BatteryReading { volts: r.value, age_secs: r.age_secs(turn.tick.now) });
        let output = self.runner.step(&RunnerInput {
            now: turn.tick.now,
            unix: turn.unix,
            enabled: turn.enabled,
            ended,
            battery,
            drive_neutral: turn.hardware.outputs().drive.is_neutral(),
            act: &self.report,
            operator: turn.operator,
            saved: &self.saved,
            pre_arm: self.pre_arm.facts(),
        });
        self.saved.clear();
        if let Some(save) = output.save {
            self.storage.submit(Job::Save(save));
        }
        if let Some(finish) = output.finish {
            self.storage.submit(Job::Finish(finish));
        }
        self.records.declare(&mut self.scope, self.runner.log_keys());
        for record in self.runner.log() {
            self.records.write(&self.scope, record);
        }
        self.follow(output.act, turn.hardware, turn.tick);
        self.show(turn);
    }

    /// Opens the log of the session that is about to run, or says why it cannot.
    fn log_session(&mut self, turn: &mut Turn<'_>) {
        if self.log_failed.is_some() || self.logged == self.runner.session_id() {
            return;
        }
        self.runner.session_id().clone_into(&mut self.logged);
        let fresh = self.site.log_stats().is_none();
        match self.site.open_log(self.runner.session_id(), turn.tick.now, turn.door) {
            Ok(()) if fresh => self.site.settle_log(),
            Ok(()) => {}
            Err(error) => {
                self.logged.clear();
                turn.alerts.raise(AlertLevel::Error, "Log", &error.to_string());
                self.log_failed = Some(error.to_string());
            }
        }
    }

    /// Does what the runner asks for: starts, goes on with, or drops an act.
    fn follow(&mut self, request: ActRequest, hardware: &Hardware, tick: Tick) {
        match request {
            ActRequest::None => {
                if self.act.take().is_some() {
                    self.report = ActReport::Idle;
                }
                if self.runner.board().state != State::Running {
                    hardware.release_kept();
                }
            }
            ActRequest::Run { act, attempt } => {
                if self.act.as_ref().is_none_or(|running| running.attempt != attempt) {
                    self.start(act, attempt, hardware);
                }
                self.go_on(hardware, tick);
            }
        }
    }

    fn start(&mut self, id: ActId, attempt: u32, hardware: &Hardware) {
        // The old one lets go first.
        self.act = None;
        drop(hardware.take_results());
        // A shot is judged by what the axes really had when it was fired.
        for axis in self.acts.get(id.0 as usize).map_or(&[][..], |facts| &facts.notes) {
            let reading = hardware.mechanism(axis).and_then(|m| m.reading()).and_then(|r| r.value.value);
            if let Some(value) = reading {
                hardware.report(format!("{axis}.achieved"), value);
            }
        }
        let payload = self.campaign.act(id);
        let built = catch_unwind(AssertUnwindSafe(|| match payload {
            Some(payload) => payload.build(hardware, &self.act_topics),
            None => Err("this act is not in the campaign".to_owned()),
        }));
        let action = match built {
            Ok(Ok(action)) => Some(action),
            Ok(Err(reason)) => {
                self.report = ActReport::Failed { attempt, reason };
                None
            }
            Err(_) => {
                self.report =
                    ActReport::Failed { attempt, reason: "its code panicked when it was built".into() };
                None
            }
        };
        if action.is_some() {
            self.report = ActReport::Running { attempt };
        }
        self.act = Some(RunningAct { id, attempt, action });
    }

    fn go_on(&mut self, hardware: &Hardware, tick: Tick) {
        let Some(running) = &mut self.act else { return };
        let (id, attempt) = (running.id, running.attempt);
        let Some(action) = &mut running.action else { return };
        let stepped = catch_unwind(AssertUnwindSafe(|| action.step(tick)));
        self.report = match stepped {
            Ok(Progress::Running) => return,
            Ok(Progress::Done) => ActReport::Completed { attempt, results: hardware.take_results() },
            Ok(Progress::Failed(reason)) => ActReport::Failed { attempt, reason },
            Err(_) => ActReport::Failed { attempt, reason: "its code panicked".into() },
        };
        running.action = None;
        if let ActReport::Completed { results, .. } = &self.report {
            tell_identity(results, &self.register);
        }
        let prepared = matches!(self.report, ActReport::Completed { .. })
            && self.acts.get(id.0 as usize).is_some_and(|facts| facts.prepares);
        if !prepared {
            hardware.release_kept();
        }
    }

    fn show(&mut self, turn: &mut Turn<'_>) {
        let (alerts, changes) = self.runner.alerts();
        if self.alerts_seen != Some(changes) {
            self.alerts_seen = Some(changes);
            turn.alerts.clear_source(SOURCE);
            for alert in alerts {
                let level = match alert.level {
                    Level::Error => AlertLevel::Error,
                    Level::Warning => AlertLevel::Warning,
                    Level::Info => AlertLevel::Info,
                };
                turn.alerts.raise(level, SOURCE, &alert.text);
            }
        }
        if self.records.refused() > 0 {
            turn.alerts.raise(
                AlertLevel::Error,
                "Log",
                "a session record's topic is published by another part too",
            );
        }
        self.topics.publish(&self.runner, &mut self.scope);
    }
}

impl OpMode for FieldLab {
    fn start(&mut self, turn: &mut Turn<'_>) {
        // A log that could not be opened is tried again at every enable.
        self.log_failed = None;
        self.logged.clear();
        turn.alerts.clear_source("Log");
    }

    fn periodic(&mut self, turn: &mut Turn<'_>) {
        self.turn(turn, false);
    }

    fn disabled_periodic(&mut self, turn: &mut Turn<'_>) {
        self.turn(turn, false);
    }

    fn end(&mut self, turn: &mut Turn<'_>) {
        self.turn(turn, false);
    }

    fn deselected(&mut self, turn: &mut Turn<'_>) {
        self.turn(turn, true);
        self.manifest.set(&mut self.scope, "[]");
        turn.alerts.clear_source(SOURCE);
    }
}

/// What the plan says of an act, as far as the robot needs it.
#[derive(Debug, Clone, Default)]
struct ActFacts {
    /// What it leased is kept for the next one.
    prepares: bool,
    /// Mechanisms of a sweep whose values are noted when it begins.
    notes: Vec<String>,
}

fn act_facts(campaign: &Campaign<RobotAct>) -> Vec<ActFacts> {
    let mut all = Vec::new();
    for procedure in &campaign.plan().procedures {
        for step in &procedure.steps {
            let StepKind::Act { act, prepares, shot, .. } = &step.kind else { continue };
            let at = act.0 as usize;
            all.resize(all.len().max(at + 1), ActFacts::default());
            let fires = shot.is_some() && !prepares;
            let notes =
                if fires { procedure.axes.iter().map(|(name, _)| name.clone()).collect() } else { vec![] };
            all[at] = ActFacts { prepares: *prepares, notes };
        }
    }
    all
}

fn input_specs(declared: &[Declared]) -> Vec<InputSpec> {
    declared
        .iter()
        .map(|input| InputSpec {
            topic: input.topic.clone(),
            seed: match input.control {
                Control::Number { initial, .. } => InputSeed::Number(initial),
                Control::Text => InputSeed::Text(String::new()),
            },
        })
        .collect()
}

/// What a calibration found is a fact about the robot.
fn tell_identity(results: &[(Cow<'static, str>, f64)], register: &Register) {
    let result = |name: &str| results.iter().find(|(of, _)| of == name).map(|(_, value)| *value);
    let found = MeasuredFacts { wheel_radius_m: result(WHEEL_RADIUS), slip_current_amps: result(SLIP_AMPS) };
    if found != MeasuredFacts::default() {
        register.measured(found);
    }
}

/// What the robot adds to the session header.
fn header(site: &Site, hardware: &Hardware) -> serde_json::Map<String, Json> {
    let mut header = site.header.clone();
    header.insert("bootId".into(), format!("{:016x}", site.boot_random).into());
    header.insert("robot".into(), hardware.description().name.clone().into());
    header.insert("fieldlabVersion".into(), env!("CARGO_PKG_VERSION").into());
    if let Some(drive) = hardware.geometry() {
        let constants = header.entry("constants").or_insert_with(|| json!({}));
        if let Json::Object(constants) = constants {
            constants.insert("wheel_radius_m".into(), drive.wheel_radius_m.into());
            constants.insert("drive_base_radius_m".into(), drive.drive_base_radius_m().into());
            constants.insert("drive_gearing".into(), drive.drive_gearing.into());
            constants.insert("module_positions_m".into(), json!(drive.module_positions_m));
        }
    }
    header
}
