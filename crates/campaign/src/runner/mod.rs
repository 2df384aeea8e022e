//! The runner: one step a loop, from the first enable to the finished marker.
//!
//! ```text
//!            enable                 pre-arm passes           next undone step
//!   IDLE ───────────▶ ask to start ───────────────▶ next ──────────────────────┐
//!                     (only after a finished, foreign or unreadable session)   │
//!     ┌─────────────────────────────────────────────────────────────────────────┘
//!     ├─▶ gate ── low ──▶ PAUSED_BATTERY ── sustained ──▶ next
//!     ├─▶ confirm, measure ── AWAITING_OPERATOR ── Advance ──▶ next
//!     ├─▶ settle ──▶ next
//!     ├─▶ act ── completed ──▶ next        (needs, in this order: a Confirm, the pre-arm list, resting volts)
//!     │       └─ anything else, and required ──▶ offer: retry (through a Confirm) or skip with a reason
//!     └─▶ all banked and durable ──▶ finish ──▶ DONE
//! ```
//!
//! A disable drops the act, freezes a settle and keeps everything else; the next enable enters the procedure in flight at
//! its gate and repeats only what has no banked result. A new object with the same checkpoint does the same, and so does
//! the next boot. Only [`RunnerInput::ended`] leads to ABORTED.

mod answers;
mod board;
mod logbook;
mod names;
mod session;
mod show;
mod start;
mod steps;
mod storage;

use std::fmt::{self, Write as _};
use std::sync::Arc;

use fieldlab_base::{ConfigError, Micros};
use serde_json::{Map, Value as Json};

use crate::channels::event;
use crate::checkpoint::{Checkpoint, StepRecord};
use crate::desk::Desk;
use crate::gate::{self, Gate, LoadedVolts, RestingVolts};
use crate::inputs::{self, InputSpec};
use crate::io::{
    ActRequest, Alert, Finish, LogKey, LogRecord, PreArmFact, RunnerConfig, RunnerInput, RunnerOutput, Start,
};
use crate::model::{Plan, ProcedurePlan, Step};

pub use board::{Board, Rows, Text};
pub use session::{clock_trusted, session_id};

use logbook::{EVENT_BYTES, Event, Fact, Facts, Logbook};
use names::{KeyTable, PlanNames, SessionKeys, StepKeys};
use start::{AskStart, Marker};
use storage::{Answer, Storage};

/// Where the run stands. What each is left by stands in the [module's](self) picture.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    /// Nothing was begun; the next enable begins.
    Idle,
    /// Asks whether to begin.
    AskStart,
    /// Waits for the pre-arm list.
    PreArm,
    /// Looks for the next step.
    Next,
    /// At a gate: the step's own, or the check before the act at the cursor.
    Gate { gate: Gate, before_act: bool },
    /// Asks that something is so: the plan's step, or again before the act at the cursor.
    Confirm { step: Option<usize>, again: bool },
    /// Asks for a number.
    Measure { procedure: usize, step: usize },
    /// The act runs.
    Act { step: usize, attempt: u32, started: Micros, loaded: LoadedVolts },
    /// Nothing moves.
    Settle { step: usize, left: Micros },
    /// Offers to try again or to leave it out.
    Offer { step: usize },
    /// The finish is on its way.
    Finishing,
    /// Over.
    Done,
    /// Ended by a person.
    Aborted,
}

/// See the [module](self).
#[derive(Debug)]
pub struct Runner {
    plan: Arc<Plan>,
    plan_hash: String,
    names: Arc<PlanNames>,
    config: RunnerConfig,
    inputs: Vec<InputSpec>,
    boot_random: u64,
    known_sessions: Vec<String>,
    header: Map<String, Json>,
    birth: Micros,

    memory: Checkpoint,
    begun: bool,
    resumed: bool,
    ask_start: Option<AskStart>,
    /// Why nothing may be saved, and so nothing begins.
    blocked: Option<String>,

    phase: Phase,
    /// The procedure in flight.
    current: Option<usize>,
    cursor: usize,
    /// Per step of the procedure in flight.
    done: Vec<bool>,
    /// Nobody is near the robot: a person said so and nothing has called one there since.
    clear: bool,
    /// The failed act at the cursor is to be run again: the operator said so, or the rule about sagging did.
    approved: bool,
    /// The next Confirm is asked even before an act that does not move: a retry.
    confirm_retry: bool,
    /// The pre-arm list passed since the last enable.
    armed: bool,
    /// The resting volts were judged for the act at the cursor.
    gate_passed: bool,
    /// This object has said that the session goes on.
    resume_told: bool,
    attempt: u32,
    sags: u32,
    settle_left: Option<(usize, usize, Micros)>,
    offer_reason: String,
    /// What a redo goes back to.
    redo_from: Option<Phase>,

    desk: Desk,
    resting: RestingVolts,
    storage: Storage,
    /// The revision that holds the bank made last.
    bank_revision: u64,
    book: Logbook,
    keys: KeyTable,
    /// Of the session that has begun.
    session_keys: Option<SessionKeys>,
    /// What was accepted and is to be told once this revision is durable.
    echoes: Vec<(u64, Box<str>)>,
    /// Where texts are put together.
    scratch: String,

    now: Micros,
    enabled: bool,
    fault_save: Option<String>,
    fault_start: Option<String>,
    battery_blind: bool,
    storage_silent: bool,
    clock_warned: bool,
    warning: Option<Arc<str>>,
    board: Board,
    /// The first so many of these stand; the rest is room for others.
    alerts: Vec<Alert>,
    alerts_shown: usize,
    alerts_changes: u32,
    /// What the board's `PreArm` rows were made of.
    pre_arm_shown: Vec<PreArmFact>,
    /// Something changed that the board shows.
    touched: bool,
    board_changes: u32,
    act: ActRequest,
}

impl Runner {
    /// A runner for `plan` that goes on where `start`'s checkpoint stands.
    ///
    /// # Errors
    /// Refuses settings that are not finite or out of range, and a plan with more than 60000 inputs.
    pub fn new(plan: Plan, config: RunnerConfig, start: Start) -> Result<Self, ConfigError> {
        config.check().map_err(|e| e.within("runner"))?;
        let inputs = inputs::declared(&plan);
        if inputs.len() > 60_000 {
            return Err(ConfigError::new("plan", "at most 60000 inputs", inputs.len()));
        }
        let mut runner = Self {
            plan_hash: plan.hash(),
            names: Arc::new(PlanNames::of(&plan)),
            desk: Desk::new(&inputs),
            resting: RestingVolts::new(config.battery_stale_secs),
            inputs,
            plan: Arc::new(plan),
            config,
            boot_random: start.boot_random,
            known_sessions: start.known_sessions,
            header: start.header,
            birth: start.now,
            memory: Checkpoint::default(),
            begun: false,
            resumed: false,
            ask_start: None,
            blocked: None,
            phase: Phase::Idle,
            current: None,
            cursor: 0,
            done: Vec::new(),
            clear: false,
            approved: false,
            confirm_retry: false,
            armed: false,
            gate_passed: false,
            resume_told: false,
            attempt: 0,
            sags: 0,
            settle_left: None,
            offer_reason: String::new(),
            redo_from: None,
            storage: Storage::default(),
            bank_revision: 0,
            book: Logbook::default(),
            keys: KeyTable::default(),
            session_keys: None,
            echoes: Vec::with_capacity(8),
            scratch: String::with_capacity(256),
            now: start.now,
            enabled: false,
            fault_save: None,
            fault_start: None,
            battery_blind: false,
            storage_silent: false,
            clock_warned: false,
            warning: None,
            board: Board::new(),
            alerts: Vec::new(),
            alerts_shown: 0,
            alerts_changes: 0,
            pre_arm_shown: Vec::new(),
            touched: true,
            board_changes: 0,
            act: ActRequest::None,
        };
        runner.fresh_memory(start.unix);
        runner.take_up(start.checkpoint, start.finished.as_deref());
        runner.write_plan();
        runner.show_phase();
        runner.refresh();
        Ok(runner)
    }

    /// What the dashboards show now.
    #[must_use]
    pub const fn board(&self) -> &Board {
        &self.board
    }

    /// Another number than before when anything on the board may be other than before, but for the clocks and the volts.
    pub(crate) const fn board_changes(&self) -> u32 {
        self.board_changes
    }

    /// The session's id: of the session that goes on, or that the next start begins. Log files carry it.
    #[must_use]
    pub fn session_id(&self) -> &str {
        &self.memory.session
    }

    /// What the session remembers, as the next save will hold it.
    #[must_use]
    pub const fn memory(&self) -> &Checkpoint {
        &self.memory
    }

    /// The declared inputs, in the order of their ids.
    #[must_use]
    pub fn inputs(&self) -> &[InputSpec] {
        &self.inputs
    }

    /// The plan that is run.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The keys that records can have, those of a session from its beginning on. More may come, none goes: the robot
    /// declares their topics when they come, and no step of the run has to.
    #[must_use]
    pub fn log_keys(&self) -> &[LogKey] {
        self.keys.keys()
    }

    /// What the last [step](Runner::step) had for the log, in order, no two of one key.
    pub fn log(&self) -> impl Iterator<Item = LogRecord<'_>> {
        self.book.handed_out()
    }

    /// The alerts that stand now, all of source `FieldLab`; and a number that changes when they do.
    #[must_use]
    pub fn alerts(&self) -> (&[Alert], u32) {
        (self.alerts.get(..self.alerts_shown).unwrap_or_default(), self.alerts_changes)
    }

    /// Distinguishes this object's board from another's.
    pub(crate) const fn birth(&self) -> Micros {
        self.birth
    }

    pub(crate) const fn now(&self) -> Micros {
        self.now
    }

    /// One loop.
    pub fn step(&mut self, input: &RunnerInput<'_>) -> RunnerOutput {
        let dt = input.now.since(self.now).max(Micros::ZERO);
        self.now = input.now;
        self.book.begin();
        self.take_reports(input);
        let volts = gate::fresh(input.battery, self.config.battery_stale_secs);
        // While an act is asked for, the volts are volts under load whatever the drive says.
        let resting = input.drive_neutral && self.act == ActRequest::None;
        self.resting.push(input.now, volts, resting);
        if let Some(reading) = input.battery.filter(|b| b.volts.is_finite()) {
            self.board.battery_volts = Some(reading.volts);
        }
        self.take_enable(input);
        self.take_operator(input);
        self.check_pre_arm_board(input.pre_arm);
        if self.enabled {
            if self.begun && !matches!(self.phase, Phase::Done | Phase::Aborted) {
                self.memory.elapsed_secs += dt.as_secs();
            }
            // Several short turns in one loop, but never unboundedly many.
            for _ in 0..16 {
                if !self.turn(input, volts, dt) {
                    break;
                }
            }
        }
        let silent = self.storage.is_silent(self.now);
        if silent != self.storage_silent {
            self.storage_silent = silent;
            self.touched = true;
        }
        self.act = match self.phase {
            Phase::Act { step, attempt, .. } if self.enabled => self.request(step, attempt),
            _ => ActRequest::None,
        };
        self.refresh();
        self.hand_out()
    }

    fn hand_out(&mut self) -> RunnerOutput {
        let may_save = self.begun && self.blocked.is_none();
        let memory = &self.memory;
        let save = (may_save && self.storage.wants(self.now))
            .then(|| self.storage.hand_out(|out| memory.write_to(out)));
        let finish = (self.phase == Phase::Finishing && save.is_none()).then(|| self.finish()).flatten();
        self.book.end();
        RunnerOutput { act: self.act, save, finish }
    }

    fn finish(&mut self) -> Option<Finish> {
        if !self.begun || self.storage.holds(self.now) {
            return None;
        }
        self.begun = false;
        let marker = Marker::of(&self.memory, &self.plan.name);
        Some(self.storage.close(|out| marker.write_to(out)))
    }

    fn take_reports(&mut self, input: &RunnerInput<'_>) {
        for report in input.saved {
            match self.storage.report(report, self.now) {
                Answer::Unknown => continue,
                Answer::Durable(revision) => {
                    self.fault_save = None;
                    let durable = self.echoes.iter().take_while(|(r, _)| *r <= revision).count();
                    if let Some((_, text)) = self.echoes.drain(..durable).next_back() {
                        self.board.last_commit.set(&text);
                    }
                }
                Answer::Failed(reason) => {
                    self.fault_save = Some(format!("the checkpoint is not saved: {reason}"))
                }
                Answer::Finished(result) => {
                    self.fault_save = result
                        .err()
                        .map(|e| format!("the session is done, but its checkpoint was not removed: {e}"));
                    self.phase = Phase::Done;
                    self.event(event::FINISHED, &[]);
                    let marker = Marker::of(&self.memory, &self.plan.name);
                    self.ask_start = Some(AskStart { text: marker.question(), set_aside_first: false });
                }
            }
            self.touched = true;
        }
    }

    fn take_enable(&mut self, input: &RunnerInput<'_>) {
        if input.ended && self.begun && !matches!(self.phase, Phase::Done | Phase::Aborted | Phase::Finishing)
        {
            self.drop_act("ended by a person");
            self.event(event::ABORTED, &[]);
            self.go(Phase::Aborted);
        }
        let enabled = input.enabled && !input.ended;
        if enabled == self.enabled {
            return;
        }
        self.enabled = enabled;
        self.touched = true;
        if !enabled {
            self.drop_act("disabled");
            self.desk.hide();
            if let Phase::Settle { step, left } = self.phase {
                self.settle_left = self.current.map(|p| (p, step, left));
            }
            if self.begun {
                self.event(event::DISABLED, &[]);
            }
            match self.phase {
                Phase::AskStart => self.phase = Phase::Idle,
                Phase::Gate { gate, .. } if !gate.paused => self.go(Phase::Next),
                Phase::Next | Phase::Act { .. } | Phase::Settle { .. } | Phase::PreArm => {
                    self.go(Phase::Next)
                }
                _ => {}
            }
            return;
        }
        self.armed = false;
        self.clear = false;
        self.approved = false;
        self.confirm_retry = false;
        self.gate_passed = false;
        self.redo_from = None;
        self.resting.clear();
        if self.begun {
            self.event(event::ENABLED, &[]);
            self.enter_again();
        } else if self.phase != Phase::Finishing {
            match &self.ask_start {
                _ if self.blocked.is_some() => self.go(Phase::PreArm),
                Some(_) => self.go(Phase::AskStart),
                None => self.begin(),
            }
        }
    }

    /// Calls `then` with a text, put together in memory that is used again.
    fn with_text(&mut self, text: fmt::Arguments<'_>, then: impl FnOnce(&mut Self, &str)) {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        // Writing into memory does not fail.
        scratch.write_fmt(text).ok();
        then(self, &scratch);
        self.scratch = scratch;
    }

    fn note(&mut self, text: fmt::Arguments<'_>) {
        self.with_text(text, |runner, text| {
            runner.event(event::NOTE, &[("text", text.into())]);
            runner.memory.notes.push(text.into());
        });
        self.storage.changed(self.now);
        self.touched = true;
    }

    /// Writes an event with the place where it happened.
    fn event(&mut self, name: &str, facts: &Facts<'_>) {
        self.event_at(name, &[], facts);
    }

    /// Writes an event of a step of the procedure in flight.
    fn step_event(&mut self, name: &str, step: usize, facts: &Facts<'_>) {
        let plan = Arc::clone(&self.plan);
        let of = self.current.and_then(|p| plan.procedures.get(p)?.steps.get(step));
        let kind_and_label = of.map(|of| {
            [("step", step.into()), ("kind", of.kind.word().into()), ("label", of.label.as_str().into())]
        });
        self.event_at(name, kind_and_label.as_ref().map_or(&[], |facts| facts), facts);
    }

    fn event_at(&mut self, name: &str, place: &Facts<'_>, facts: &Facts<'_>) {
        let Some(keys) = &self.session_keys else { return };
        let procedure = self.current.and_then(|i| self.plan.procedures.get(i)).map(|p| p.id.as_str());
        let event = Event { t: self.now.as_secs(), name, procedure, facts: [place, facts] };
        self.book.json(keys.events, &event, EVENT_BYTES);
    }

    fn go(&mut self, phase: Phase) {
        self.phase = phase;
        self.touched = true;
        self.show_phase();
    }

    fn procedure(&self) -> Option<&ProcedurePlan> {
        self.plan.procedures.get(self.current?)
    }

    fn step_at(&self, step: usize) -> Option<&Step> {
        self.procedure()?.steps.get(step)
    }

    fn is_banked(&self, procedure: usize) -> bool {
        self.plan.procedures.get(procedure).is_some_and(|p| self.memory.completed.contains(&p.id))
    }

    /// The label of a step of the procedure in flight.
    fn label_in<'p>(&self, plan: &'p Plan, step: usize) -> &'p str {
        let steps = self.current.and_then(|p| plan.procedures.get(p)).map_or(&[][..], |p| &p.steps);
        steps.get(step).map_or("", |s| &s.label)
    }

    fn step_keys(&self, procedure: usize, step: usize) -> Option<&StepKeys> {
        self.session_keys.as_ref()?.procedures.get(procedure)?.steps.get(step)
    }

    /// The answer to a question of the plan.
    fn answer_to(&self, procedure: usize, step: usize) -> Option<f64> {
        self.memory.answer(&self.names.question(procedure, step)?.full)
    }

    fn next_procedure(&self) -> Option<usize> {
        (0..self.plan.procedures.len()).find(|i| !self.is_banked(*i))
    }

    fn record_of(&self, step: usize) -> Option<&StepRecord> {
        self.memory.outcomes.get(self.procedure()?.id.as_str())?.iter().find(|r| r.step == step)
    }
}
