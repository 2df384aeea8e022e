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
mod session;
mod steps;
mod storage;

use fieldlab_base::{ConfigError, Micros};
use serde_json::{Map, Value as Json, json};

use crate::channels::event;
use crate::checkpoint::{self, Checkpoint, StepRecord};
use crate::desk::Desk;
use crate::gate::{self, Gate, LoadedVolts, RestingVolts};
use crate::inputs::{self, InputSpec};
use crate::io::{
    ActRequest, Alert, AlertLevel, CheckpointState, Finish, PreArmFact, PreArmItem, PreArmVerdict,
    RunnerConfig, RunnerInput, RunnerOutput, Start, State,
};
use crate::model::{Plan, ProcedurePlan, Step};
use crate::text;

pub use board::{Board, Rows, Text};
pub use session::{clock_trusted, session_id};

use logbook::Logbook;
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

/// Why a start is asked for before a session begins.
#[derive(Debug, Clone, PartialEq)]
struct AskStart {
    text: String,
    set_aside_first: bool,
}

/// See the [module](self).
#[derive(Debug)]
pub struct Runner {
    plan: Plan,
    plan_hash: String,
    hashes: Vec<String>,
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
    /// The header was written since this object began.
    header_written: bool,
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
    echoes: Vec<(u64, String)>,

    now: Micros,
    enabled: bool,
    fault_save: Option<String>,
    fault_start: Option<String>,
    battery_blind: bool,
    storage_silent: bool,
    clock_warned: bool,
    warning: Option<String>,
    board: Board,
    alerts: Vec<Alert>,
    alerts_changes: u32,
    touched: bool,
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
            hashes: plan.procedures.iter().map(ProcedurePlan::hash).collect(),
            desk: Desk::new(&inputs),
            resting: RestingVolts::new(config.battery_stale_secs),
            inputs,
            plan,
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
            header_written: false,
            attempt: 0,
            sags: 0,
            settle_left: None,
            offer_reason: String::new(),
            redo_from: None,
            storage: Storage::default(),
            bank_revision: 0,
            book: Logbook::default(),
            echoes: Vec::new(),
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
            alerts_changes: 0,
            touched: true,
            act: ActRequest::None,
        };
        runner.fresh_memory(start.unix);
        runner.take_up(start.checkpoint, start.finished.as_deref());
        runner.write_plan();
        runner.show_phase();
        runner.refresh();
        Ok(runner)
    }

    fn fresh_memory(&mut self, unix: Option<Micros>) {
        let session = session_id(unix, self.boot_random, &self.known_sessions);
        self.known_sessions.push(session.clone());
        self.memory = Checkpoint {
            session,
            campaign: self.plan.name.clone(),
            campaign_hash: self.plan_hash.clone(),
            clock_trusted: clock_trusted(unix),
            started_unix_ms: unix.filter(|u| clock_trusted(Some(*u))).map(|u| u.0 / 1000),
            // Above what a toggle between 0 and 1 writes, so that a page's `Advance` = `PromptSeq` is always a change.
            prompt_seq: self.memory.prompt_seq.max(1),
            ..Checkpoint::default()
        };
    }

    /// Decides what becomes of what was found on disk.
    fn take_up(&mut self, found: CheckpointState, finished: Option<&str>) {
        let marker = finished.map(|text| Marker::read(text, &self.plan.name));
        match found {
            CheckpointState::Fresh => {}
            CheckpointState::Unreadable { reason, kept_as } => self.unreadable(&reason, kept_as.as_deref()),
            CheckpointState::Loaded { text, from_backup } => match checkpoint::parse(text.as_bytes()) {
                Err(error) => self.foreign(&format!("The checkpoint could not be read ({error})")),
                Ok(old) if marker.as_ref().is_some_and(|m| m.session == old.session) => {}
                Ok(old) if old.session.is_empty() => {}
                Ok(old) if !session::is_session_id(&old.session) => {
                    self.foreign(&format!("The checkpoint's session {:?} is no session id", old.session));
                }
                Ok(old) if old.campaign != self.plan.name => {
                    let whose = format!(
                        "An unfinished session {} of campaign {:?} is there",
                        old.session, old.campaign
                    );
                    self.foreign(&whose);
                }
                Ok(old) => self.resume(old, from_backup),
            },
        }
        if !self.begun
            && self.ask_start.is_none()
            && let Some(marker) = marker
        {
            self.ask_start = Some(AskStart { text: marker.question(), set_aside_first: false });
        }
    }

    fn unreadable(&mut self, reason: &str, kept_as: Option<&str>) {
        match kept_as {
            Some(name) => {
                let text = format!("The checkpoint could not be read ({reason}). It is kept as {name}.");
                self.fault_start = Some(text.clone());
                self.memory.notes.push(text.clone());
                self.ask_start = Some(AskStart {
                    text: format!("{text} Advance: start a new session"),
                    set_aside_first: false,
                });
            }
            None => {
                let text = format!(
                    "The checkpoint could not be read ({reason}) and could not be set aside. Nothing starts, so that \
                     nothing is overwritten: copy and remove it by hand."
                );
                self.fault_start = Some(text.clone());
                self.blocked = Some(text);
            }
        }
    }

    fn foreign(&mut self, what: &str) {
        self.memory.notes.push(format!("{what}; it was set aside when this session began"));
        self.fault_start = Some(what.to_owned());
        self.ask_start = Some(AskStart {
            text: format!("{what}. Advance: set it aside and start a new session of {}", self.plan.name),
            set_aside_first: true,
        });
    }

    fn resume(&mut self, old: Checkpoint, from_backup: Option<String>) {
        self.memory = old;
        // Prompts that were shown after the last save are not in it: skip over their numbers.
        self.memory.prompt_seq = self.memory.prompt_seq.clamp(1, 1 << 40) + 100;
        let mut notes = session::fit_to_plan(&mut self.memory, &self.plan, &self.hashes);
        if let Some(reason) = from_backup {
            let text = format!("the checkpoint's backup was used: {reason}");
            self.warning = Some(text.clone());
            notes.push(text);
        }
        self.memory.notes.extend(notes);
        self.memory.campaign_hash.clone_from(&self.plan_hash);
        self.begun = true;
        self.resumed = true;
        self.phase = Phase::Next;
        self.storage.changed(self.now);
        let in_flight = self.memory.in_flight.clone();
        self.current = in_flight.as_ref().and_then(|f| self.plan.find(&f.procedure)).map(|(i, _)| i);
        if self.current.is_some_and(|i| self.is_banked(i)) || self.current.is_none() {
            self.current = self.next_procedure();
        }
        let Some(index) = self.current else { return };
        self.rebuild_done();
        self.cursor = in_flight.as_ref().map_or(0, |f| f.step.min(self.done.len().saturating_sub(1)));
        // What was asked for goes on being shown until somebody enables.
        let paused = in_flight.is_some_and(|f| f.paused);
        self.phase =
            match self.plan.procedures.get(index).and_then(|p| p.steps.get(self.cursor)).map(|s| &s.kind) {
                _ if paused => {
                    let (min, resume) = self.gate_in_force().unwrap_or_default();
                    Phase::Gate { gate: Gate::new(self.now, min, resume, true), before_act: false }
                }
                Some(crate::StepKind::Measure { key, .. }) if !self.is_answered(index, key) => {
                    Phase::Measure { procedure: index, step: self.cursor }
                }
                Some(crate::StepKind::Confirm { .. }) => {
                    Phase::Confirm { step: Some(self.cursor), again: false }
                }
                Some(crate::StepKind::Act { .. }) if self.failed(self.cursor) => {
                    self.name_offer(self.cursor);
                    Phase::Offer { step: self.cursor }
                }
                _ => Phase::Next,
            };
    }

    /// What the dashboards show now.
    #[must_use]
    pub const fn board(&self) -> &Board {
        &self.board
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
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The alerts that stand now, all of source `FieldLab`; and a number that changes when they do.
    #[must_use]
    pub fn alerts(&self) -> (&[Alert], u32) {
        (&self.alerts, self.alerts_changes)
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
        let save = (may_save && self.storage.wants(self.now)).then(|| {
            let text = self.memory.to_text();
            self.storage.hand_out(text)
        });
        let finish = (self.phase == Phase::Finishing && save.is_none()).then(|| self.finish()).flatten();
        RunnerOutput { act: self.act, save, finish, log: self.book.hand_out() }
    }

    fn finish(&mut self) -> Option<Finish> {
        if !self.begun || self.storage.holds(self.now) {
            return None;
        }
        self.begun = false;
        let marker = Marker::of(&self.memory, &self.plan.name);
        Some(Finish { seq: self.storage.close(), marker: marker.text().into_bytes().into() })
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
                Phase::Act { .. } | Phase::Settle { .. } | Phase::PreArm => self.go(Phase::Next),
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

    /// A new session.
    fn begin(&mut self) {
        self.begun = true;
        let revision = self.storage.changed(self.now);
        self.echoes.push((revision, format!("session {} began", self.memory.session)));
        self.write_header();
        self.event(event::SESSION_STARTED, &[]);
        self.current = self.next_procedure();
        self.enter_again();
    }

    /// The session asked for by [`AskStart`].
    fn begin_asked(&mut self, unix: Option<Micros>) {
        let ask = self.ask_start.take();
        // Who pressed has read it; the notes keep it.
        self.fault_start = None;
        if self.storage.durable() > 0 || self.phase == Phase::Done || self.memory.elapsed_secs > 0.0 {
            // This object has already run a session: everything of it is forgotten.
            self.storage = Storage::default();
            self.bank_revision = 0;
            self.fresh_memory(unix);
            self.echoes.clear();
            self.header_written = false;
            self.resumed = false;
        }
        self.storage.set_aside_first = ask.is_some_and(|a| a.set_aside_first);
        self.begin();
    }

    /// From the gate of the procedure in flight.
    fn enter_again(&mut self) {
        if self.resumed && !self.header_written {
            self.write_header();
            self.event(event::SESSION_RESUMED, &[]);
            self.log_kept_answers();
        }
        if self.procedure().is_some_and(|p| self.memory.hashes.contains_key(&p.id)) {
            self.event(event::PROCEDURE_RESUMED, &[]);
        }
        self.rebuild_done();
        self.cursor = 0;
        self.sags = 0;
        self.go(Phase::PreArm);
    }

    fn write_header(&mut self) {
        self.header_written = true;
        let m = &self.memory;
        let header =
            session::header(&self.plan, &self.plan_hash, &self.hashes, m, &self.header, self.resumed);
        self.book.json(crate::channels::session(&m.session, crate::channels::HEADER), &header, true);
    }

    fn write_plan(&mut self) {
        let mut plan = serde_json::to_value(&self.plan).unwrap_or(Json::Null);
        if let Json::Object(map) = &mut plan {
            map.insert("hash".into(), self.plan_hash.clone().into());
        }
        self.board.plan.set(&plan.to_string());
        self.board.estimated_secs = self.plan.estimate_secs();
        self.board.procedure_count = i64::try_from(self.plan.procedures.len()).unwrap_or(i64::MAX);
    }

    /// What is wrong on the pre-arm list, in words; empty when nothing is. An item that nobody reports is wrong.
    fn pre_arm_faults(facts: &[PreArmFact], only: &[PreArmItem]) -> Vec<String> {
        let mut faults = Vec::new();
        for item in only.iter().filter(|i| **i != PreArmItem::Clock) {
            match facts.iter().find(|f| f.item == *item).map(|f| &f.verdict) {
                None => faults.push(format!("{}: not reported", item.name())),
                Some(PreArmVerdict::Fail(reason)) => faults.push(format!("{}: {reason}", item.name())),
                Some(PreArmVerdict::Pass | PreArmVerdict::Warn(_)) => {}
            }
        }
        faults
    }

    fn pre_arm_passes(facts: &[PreArmFact], only: &[PreArmItem]) -> bool {
        only.iter()
            .filter(|i| **i != PreArmItem::Clock)
            .all(|item| facts.iter().any(|f| f.item == *item && !matches!(f.verdict, PreArmVerdict::Fail(_))))
    }

    /// Keeps the `PreArm` rows; compares before it writes.
    fn check_pre_arm_board(&mut self, facts: &[PreArmFact]) {
        let same = self.board.pre_arm.rows().len() == facts.len()
            && self.board.pre_arm.rows().iter().zip(facts).all(|(row, fact)| row_is(row, fact));
        if same {
            return;
        }
        let rows: Vec<String> = facts.iter().map(row).collect();
        self.board.pre_arm.set(rows.iter().map(String::as_str));
        self.touched = true;
    }

    fn note(&mut self, text: String) {
        self.event(event::NOTE, &[("text", text.clone().into())]);
        self.memory.notes.push(text);
        self.storage.changed(self.now);
        self.touched = true;
    }

    /// Writes an event with the place where it happened.
    fn event(&mut self, name: &str, more: &[(&str, Json)]) {
        let mut record = Map::new();
        record.insert("t".into(), self.now.as_secs().into());
        record.insert("event".into(), name.into());
        if let Some(p) = self.current.and_then(|i| self.plan.procedures.get(i)) {
            record.insert("procedure".into(), p.id.clone().into());
        }
        for (key, value) in more {
            record.insert((*key).into(), value.clone());
        }
        self.book.event(&self.memory.session, &record);
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

    fn is_answered(&self, procedure: usize, key: &str) -> bool {
        self.plan
            .procedures
            .get(procedure)
            .is_some_and(|p| self.memory.measurements.contains_key(&format!("{}/{key}", p.id)))
    }

    fn next_procedure(&self) -> Option<usize> {
        (0..self.plan.procedures.len()).find(|i| !self.is_banked(*i))
    }

    fn record_of(&self, step: usize) -> Option<&StepRecord> {
        self.memory.outcomes.get(&self.procedure()?.id)?.iter().find(|r| r.step == step)
    }

    /// Writes what changed to the board.
    fn refresh(&mut self) {
        let tenths = (self.memory.elapsed_secs * 10.0).floor() / 10.0;
        self.board.elapsed_secs = tenths;
        self.board.enabled = self.enabled;
        if !std::mem::take(&mut self.touched) {
            return;
        }
        let board = &mut self.board;
        board.campaign.set(&self.plan.name);
        let shown = if self.begun || self.phase != Phase::Idle { self.memory.session.as_str() } else { "" };
        board.session.set(if self.blocked.is_some() { "" } else { shown });
        board.notes.set(self.memory.notes.iter().map(String::as_str));
        board.last_note.set(self.memory.notes.last().map_or("", String::as_str));
        if board.measurements.rows().len() != self.memory.measurements.len() || !self.echoes.is_empty() {
            let rows: Vec<String> = self
                .memory
                .measurements
                .iter()
                .map(|(k, v)| format!("{k}|{}", text::java_double(*v)))
                .collect();
            board.measurements.set(rows.iter().map(String::as_str));
        }
        let procedure = self.current.and_then(|i| self.plan.procedures.get(i));
        if let (Some(procedure), Some(index)) = (procedure, self.current) {
            board.procedure.set(&procedure.title);
            board.procedure_id.set(&procedure.id);
            board.procedure_index = i64::try_from(index).unwrap_or(i64::MAX);
            board.step_count = i64::try_from(procedure.steps.len()).unwrap_or(i64::MAX);
        }
        self.refresh_progress();
        self.refresh_step();
        self.refresh_state();
        self.refresh_alerts();
    }

    fn refresh_progress(&mut self) {
        let total = self.plan.procedures.len();
        let banked = (0..total).filter(|i| self.is_banked(*i)).count();
        // The procedure banked last counts once its save came back.
        let durable = banked.saturating_sub(usize::from(self.bank_revision > self.storage.durable()));
        self.board.progress = if total == 0 { 1.0 } else { durable as f64 / total as f64 };
        let mut remaining = 0.0;
        for (i, procedure) in self.plan.procedures.iter().enumerate().filter(|(i, _)| !self.is_banked(*i)) {
            let in_flight = self.current == Some(i) && self.begun;
            remaining += procedure
                .steps
                .iter()
                .enumerate()
                .filter(|(s, _)| !(in_flight && self.done.get(*s).copied().unwrap_or(false)))
                .map(|(_, s)| s.kind.estimate_secs())
                .sum::<f64>();
        }
        self.board.remaining_secs = remaining;
    }

    fn refresh_step(&mut self) {
        let at = match self.phase {
            Phase::Gate { .. } | Phase::Act { .. } | Phase::Settle { .. } | Phase::Offer { .. } => {
                Some(self.cursor)
            }
            Phase::Confirm { step, .. } => Some(step.unwrap_or(self.cursor)),
            Phase::Measure { step, .. } => Some(step),
            Phase::Next | Phase::PreArm if self.begun && !self.enabled => Some(self.cursor),
            _ => None,
        };
        let steps = self.current.and_then(|i| self.plan.procedures.get(i)).map_or(&[][..], |p| &p.steps);
        let step = at.and_then(|s| steps.get(s));
        self.board.step.set(step.map_or("", |step| &step.label));
        self.board.step_kind.set(step.map_or("", |step| step.kind.word()));
        if let Some(at) = at {
            self.board.step_index = i64::try_from(at).unwrap_or(i64::MAX);
        }
        let gate = self.gate_in_force();
        self.board.gate_min_volts = gate.map(|g| g.0);
        self.board.gate_resume_volts = gate.map(|g| g.1);
    }

    fn refresh_state(&mut self) {
        let state = match self.phase {
            Phase::Idle => State::Idle,
            Phase::Done => State::Done,
            Phase::Aborted => State::Aborted,
            Phase::Gate { gate, .. } if gate.paused => State::PausedBattery,
            Phase::AskStart
            | Phase::PreArm
            | Phase::Confirm { .. }
            | Phase::Measure { .. }
            | Phase::Offer { .. } => State::AwaitingOperator,
            _ if !self.enabled => State::AwaitingOperator,
            _ => State::Running,
        };
        self.board.state = state;
        let hold = match self.phase {
            Phase::Idle | Phase::Done | Phase::Aborted => "",
            _ if self.blocked.is_some() => "the checkpoint cannot be kept",
            Phase::Gate { gate, .. } if gate.paused && self.battery_blind => "no fresh battery reading",
            Phase::Gate { gate, .. } if gate.paused => "the battery is low",
            _ if !self.enabled => "disabled",
            Phase::PreArm => "the pre-arm list",
            Phase::AskStart | Phase::Confirm { .. } | Phase::Measure { .. } | Phase::Offer { .. } => {
                "the operator"
            }
            Phase::Gate { .. } => "measuring the battery at rest",
            Phase::Finishing => "saving",
            Phase::Next if self.storage.holds(self.now) => "saving",
            _ => "",
        };
        self.board.hold.set(hold);
        let fault = match (&self.fault_save, &self.fault_start) {
            (Some(save), _) => save.as_str(),
            _ if self.storage_silent => "the storage does not answer: nothing new is banked",
            (_, Some(start)) => start.as_str(),
            _ if self.battery_blind => "the battery reading is stale or no number",
            _ => "",
        };
        self.board.fault.set(fault);
    }

    /// Makes the list anew only when it says something else: most loops that touch the board change no alert.
    fn refresh_alerts(&mut self) {
        let mut known = self.alerts.iter();
        let mut same = true;
        self.each_alert(&mut |level, parts| {
            same &= known.next().is_some_and(|alert| alert.level == level && is_joined(&alert.text, parts));
        });
        if same && known.next().is_none() {
            return;
        }
        let mut alerts = Vec::new();
        self.each_alert(&mut |level, parts| alerts.push(Alert { level, text: parts.concat() }));
        self.alerts = alerts;
        self.alerts_changes += 1;
    }

    /// Every alert that stands, its text in parts.
    fn each_alert(&self, put: &mut dyn FnMut(AlertLevel, &[&str])) {
        for fault in [&self.fault_save, &self.fault_start].into_iter().flatten() {
            put(AlertLevel::Error, &[fault]);
        }
        if self.storage_silent {
            put(AlertLevel::Error, &["the storage does not answer: nothing new is banked"]);
        }
        if matches!(self.phase, Phase::Offer { .. }) {
            put(AlertLevel::Error, &[&self.offer_reason]);
        }
        if self.battery_blind {
            put(AlertLevel::Warning, &["the battery reading is stale or no number"]);
        }
        if let Some(warning) = &self.warning {
            put(AlertLevel::Warning, &[warning]);
        }
        for row in self.board.pre_arm.rows() {
            if let Some((item, reason)) = row.split_once("|warn|") {
                put(AlertLevel::Warning, &[item, ": ", reason]);
            }
        }
        if !self.board.prompt.as_str().is_empty() {
            put(AlertLevel::Info, &[self.board.prompt.as_str()]);
        }
        if self.phase == Phase::Done {
            put(AlertLevel::Info, &["session ", &self.memory.session, " is done"]);
        }
    }

    /// For events: the step's place and label.
    fn step_facts(&self, step: usize) -> Vec<(&'static str, Json)> {
        let Some(of) = self.step_at(step) else { return Vec::new() };
        vec![("step", json!(step)), ("kind", of.kind.word().into()), ("label", of.label.clone().into())]
    }
}

fn row(fact: &PreArmFact) -> String {
    match &fact.verdict {
        PreArmVerdict::Pass => format!("{}|pass", fact.item.name()),
        PreArmVerdict::Warn(reason) => format!("{}|warn|{reason}", fact.item.name()),
        PreArmVerdict::Fail(reason) => format!("{}|fail|{reason}", fact.item.name()),
    }
}

/// `row(fact) == text` without making the row.
fn row_is(text: &str, fact: &PreArmFact) -> bool {
    let Some(rest) = text.strip_prefix(fact.item.name()) else { return false };
    match &fact.verdict {
        PreArmVerdict::Pass => rest == "|pass",
        PreArmVerdict::Warn(reason) => rest.strip_prefix("|warn|") == Some(reason),
        PreArmVerdict::Fail(reason) => rest.strip_prefix("|fail|") == Some(reason),
    }
}

/// The finished marker: which session is over, and what the next start tells of it.
#[derive(Debug, Clone, PartialEq, Default)]
struct Marker {
    session: String,
    campaign: String,
    summary: String,
}

impl Marker {
    fn of(memory: &Checkpoint, campaign: &str) -> Self {
        let summary = format!(
            "{} procedures, {} measurements, {}",
            memory.completed.len(),
            memory.measurements.len(),
            text::duration(memory.elapsed_secs)
        );
        Self { session: memory.session.clone(), campaign: campaign.to_owned(), summary }
    }

    fn text(&self) -> String {
        let marker = json!({ "session": self.session, "campaign": self.campaign, "summary": self.summary });
        format!("{marker}\n")
    }

    /// Any text is some marker: one that cannot be read names no session and still asks before a start.
    fn read(text: &str, campaign: &str) -> Self {
        let json: Json = serde_json::from_str(text).unwrap_or(Json::Null);
        let field = |key: &str| json.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
        let read = Self { session: field("session"), campaign: field("campaign"), summary: field("summary") };
        if read.campaign.is_empty() { Self { campaign: campaign.to_owned(), ..read } } else { read }
    }

    fn question(&self) -> String {
        format!(
            "Session {} of {} is done ({}). Advance: start a new session",
            self.session, self.campaign, self.summary
        )
    }
}

/// Whether `text` is these parts, one after another.
fn is_joined(text: &str, parts: &[&str]) -> bool {
    parts.iter().try_fold(text, |left, part| left.strip_prefix(part)).is_some_and(str::is_empty)
}
