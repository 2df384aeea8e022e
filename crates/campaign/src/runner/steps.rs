//! What each phase does in one turn.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use fieldlab_base::Micros;

use super::names::{Both, ShotKeys, StepKeys};
use super::{Fact, Phase, Runner};
use crate::channels::event;
use crate::checkpoint::{InFlight, StepRecord};
use crate::gate::{Gate, LoadedVolts, Verdict};
use crate::io::{ActReport, ActRequest, PreArmItem, RunnerInput};
use crate::model::{StepKind, StepOutcome};
use crate::text;

/// A step that sagged below the loaded floor is redone this often.
const MOST_SAGS: u32 = 2;
/// What must go on being well during the run, not only before it.
const ALWAYS: [PreArmItem; 2] = [PreArmItem::Log, PreArmItem::FreeDisk];

impl Runner {
    /// One turn; whether another may follow in the same loop.
    pub(super) fn turn(&mut self, input: &RunnerInput<'_>, volts: Option<f64>, dt: Micros) -> bool {
        match self.phase {
            Phase::PreArm => self.turn_pre_arm(input),
            Phase::Next => self.turn_next(input),
            Phase::Gate { gate, before_act } => self.turn_gate(gate, before_act),
            Phase::Act { step, attempt, started, mut loaded } => {
                loaded.push(volts, dt);
                self.turn_act(input, step, attempt, started, loaded)
            }
            Phase::Settle { step, left } => self.turn_settle(step, left, dt),
            Phase::Idle
            | Phase::AskStart
            | Phase::Confirm { .. }
            | Phase::Measure { .. }
            | Phase::Offer { .. }
            | Phase::Finishing
            | Phase::Done
            | Phase::Aborted => false,
        }
    }

    fn turn_pre_arm(&mut self, input: &RunnerInput<'_>) -> bool {
        if self.blocked.is_some() {
            return false;
        }
        if !Self::pre_arm_passes(input.pre_arm, &PreArmItem::ALL) {
            // The prompt was made when the rows last changed; `touched` says that they just did.
            if self.touched {
                let faults = Self::pre_arm_faults(input.pre_arm, &PreArmItem::ALL);
                self.with_text(format_args!("Not ready: {faults}"), |runner, text| runner.prompt(text, None));
                self.desk.hide();
            }
            return false;
        }
        self.armed = true;
        let clock = input.pre_arm.iter().find(|f| f.item == PreArmItem::Clock);
        if clock.is_some_and(|f| f.verdict != crate::PreArmVerdict::Pass) && !self.clock_warned {
            self.clock_warned = true;
            self.note(format_args!("the wall clock is not to be trusted; the session id says so"));
        }
        self.go(Phase::Next);
        true
    }

    /// Which steps of the procedure in flight need no repeating: those with a banked result.
    pub(super) fn rebuild_done(&mut self) {
        let Some(index) = self.current else {
            self.done.clear();
            return;
        };
        let Some(procedure) = self.plan.procedures.get(index) else { return };
        let records = self.memory.outcomes.get(procedure.id.as_str());
        let outcome =
            |step: usize| records.and_then(|r| r.iter().find(|r| r.step == step)).map(|r| r.outcome);
        let finished =
            |step: usize| matches!(outcome(step), Some(StepOutcome::Completed | StepOutcome::Skipped));
        let mut done = std::mem::take(&mut self.done);
        done.clear();
        for (i, step) in procedure.steps.iter().enumerate() {
            done.push(match &step.kind {
                StepKind::BatteryGate { .. } => false,
                StepKind::Measure { .. } => finished(i) || self.answer_to(index, i).is_some(),
                // What prepares is worth nothing once its setpoints are gone.
                StepKind::Act { prepares: true, .. } => finished(i) && finished(i + 1),
                // An optional act that failed was banked as such when the run went past it.
                StepKind::Act { required: false, .. } => {
                    outcome(i).is_some_and(|o| o != StepOutcome::Interrupted)
                }
                StepKind::Act { .. } | StepKind::Settle { .. } | StepKind::Confirm { .. } => finished(i),
            });
        }
        self.done = done;
    }

    fn is_done(&self, step: usize) -> bool {
        self.done.get(step).copied().unwrap_or(true)
    }

    fn set_done(&mut self, step: usize, is: bool) {
        if let Some(done) = self.done.get_mut(step) {
            *done = is;
        }
    }

    /// Whether the act at `step` failed, and nobody has said yet what to do about it.
    pub(super) fn failed(&self, step: usize) -> bool {
        let needed = matches!(
            self.step_at(step).map(|s| &s.kind),
            Some(StepKind::Act { required, prepares, .. }) if *required || *prepares
        );
        let outcome = self.record_of(step).map(|r| r.outcome);
        needed && !self.approved && matches!(outcome, Some(StepOutcome::Failed | StepOutcome::TimedOut))
    }

    /// Whether an act that moves is to be run before the next Confirm; not when it is first to be offered again.
    fn guards_motion(&self, confirm: usize) -> bool {
        let Some(procedure) = self.procedure() else { return false };
        let after = procedure.steps.iter().enumerate().skip(confirm + 1);
        after
            .take_while(|(_, s)| !matches!(s.kind, StepKind::Confirm { .. }))
            .find(|(i, s)| matches!(s.kind, StepKind::Act { moves: true, .. }) && !self.is_done(*i))
            .is_some_and(|(i, _)| !self.failed(i))
    }

    fn turn_next(&mut self, input: &RunnerInput<'_>) -> bool {
        if self.storage.holds(self.now) {
            self.touched |= self.board.hold.as_str() != "saving";
            return false;
        }
        if self.current.is_none_or(|i| self.is_banked(i)) {
            self.current = self.next_procedure();
            self.cursor = 0;
            self.rebuild_done();
        }
        let Some(index) = self.current else {
            self.go(Phase::Finishing);
            return false;
        };
        self.start_procedure(index);
        let Some(procedure) = self.plan.procedures.get(index) else { return false };
        let Some(step) = procedure.steps.get(self.cursor) else {
            self.bank_procedure();
            return true;
        };
        let cursor = self.cursor;
        match &step.kind {
            StepKind::BatteryGate { min_volts, resume_volts } => {
                let paused = self.memory.in_flight.as_ref().is_some_and(|f| f.paused);
                let gate = Gate::new(self.now, *min_volts, *resume_volts, paused);
                self.place(cursor, paused);
                self.go(Phase::Gate { gate, before_act: false });
            }
            StepKind::Confirm { .. } if !self.is_done(cursor) || self.guards_motion(cursor) => {
                self.place(cursor, false);
                self.go(Phase::Confirm { step: Some(cursor), again: false });
            }
            _ if self.is_done(cursor) => self.cursor += 1,
            StepKind::Measure { .. } => {
                self.place(cursor, false);
                self.go(Phase::Measure { procedure: index, step: cursor });
            }
            StepKind::Settle { secs } => {
                let whole = Micros::from_secs(*secs);
                let left = match self.settle_left.take() {
                    Some((p, s, left)) if (p, s) == (index, cursor) => left,
                    _ => whole,
                };
                self.place(cursor, false);
                self.go(Phase::Settle { step: cursor, left });
            }
            StepKind::Confirm { .. } => self.cursor += 1,
            StepKind::Act { .. } if self.failed(cursor) => self.offer(cursor),
            StepKind::Act { moves, .. } => {
                let moves = *moves;
                return self.start_act(input, cursor, moves);
            }
        }
        true
    }

    fn start_procedure(&mut self, index: usize) {
        let (plan, names) = (Arc::clone(&self.plan), Arc::clone(&self.names));
        let (Some(procedure), Some(named)) = (plan.procedures.get(index), names.procedure(index)) else {
            return;
        };
        if self.memory.hashes.contains_key(&named.id) {
            return;
        }
        self.memory.hashes.insert(Arc::clone(&named.id), Arc::clone(&named.hash));
        let records = self.memory.outcomes.entry(Arc::clone(&named.id)).or_default();
        records.reserve(procedure.steps.len());
        self.stamp(index, |keys| keys.started);
        self.event(event::PROCEDURE_STARTED, &[("why", procedure.why.as_str().into())]);
        self.storage.changed(self.now);
    }

    fn stamp(&mut self, procedure: usize, which: fn(&super::names::ProcedureKeys) -> Both) {
        let keys = self.session_keys.as_ref().and_then(|k| k.procedures.get(procedure)).map(which);
        self.log_both(keys, self.now.as_secs());
    }

    fn log_both(&mut self, keys: Option<Both>, number: f64) {
        for key in keys.into_iter().flatten() {
            self.book.number(key, number);
        }
    }

    /// Remembers where the run stands; saved with the next boundary.
    fn place(&mut self, step: usize, paused: bool) {
        let Some(named) = self.current.and_then(|p| self.names.procedure(p)) else { return };
        let at = InFlight { procedure: Arc::clone(&named.id), step, attempt: self.sags, paused };
        if self.memory.in_flight.as_ref() != Some(&at) {
            self.memory.in_flight = Some(at);
            self.storage.changed(self.now);
        }
    }

    /// The gate that rules the step at the cursor: the last one above it, or the procedure's first.
    pub(super) fn gate_in_force(&self) -> Option<(f64, f64)> {
        let steps = &self.procedure()?.steps;
        let volts = |s: &crate::Step| match s.kind {
            StepKind::BatteryGate { min_volts, resume_volts } => Some((min_volts, resume_volts)),
            _ => None,
        };
        let above = steps.iter().take(self.cursor + 1).rev().find_map(volts);
        above.or_else(|| steps.iter().find_map(volts))
    }

    fn turn_gate(&mut self, mut gate: Gate, before_act: bool) -> bool {
        let verdict = gate.judge(self.now, &mut self.resting, self.config.resume_hold_secs);
        let blind = matches!(verdict, Verdict::Low { volts: None });
        if blind != self.battery_blind {
            self.battery_blind = blind;
            self.touched = true;
        }
        match verdict {
            Verdict::Unknown => {
                self.phase = Phase::Gate { gate, before_act };
                false
            }
            Verdict::Pass { volts } => {
                if gate.paused {
                    self.note(format_args!("resumed at {} V", text::Fixed(volts, 2)));
                    self.event(event::GATE_RESUMED, &[("volts", volts.into())]);
                }
                if let Some(at) = &mut self.memory.in_flight {
                    at.paused = false;
                }
                if before_act {
                    self.gate_passed = !gate.paused;
                } else {
                    let facts = [("volts", volts.into()), ("minVolts", gate.min_volts.into())];
                    self.event(event::GATE_PASSED, &facts);
                    self.cursor += 1;
                }
                self.go(Phase::Next);
                true
            }
            Verdict::Low { volts } => {
                if gate.paused {
                    self.phase = Phase::Gate { gate, before_act };
                    return false;
                }
                gate.paused = true;
                let from = text::Fixed(gate.resume_volts, 2);
                match volts.map(|v| text::Fixed(v, 2)) {
                    Some(seen) => self.note(format_args!("paused at {seen} V, goes on from {from} V")),
                    None => self.note(format_args!("paused at an unknown voltage, goes on from {from} V")),
                }
                let facts = [("volts", volts.into()), ("resumeVolts", gate.resume_volts.into())];
                self.event(event::GATE_PAUSED, &facts);
                // People come to swap the pack: the next motion needs their word first.
                self.clear = false;
                self.place(self.cursor, true);
                self.go(Phase::Gate { gate, before_act });
                false
            }
        }
    }

    fn start_act(&mut self, input: &RunnerInput<'_>, step: usize, moves: bool) -> bool {
        if (moves && !self.clear) || self.confirm_retry {
            let confirm = self.procedure().and_then(|p| {
                let above = p.steps.iter().enumerate().take(step).rev();
                above.filter(|(_, s)| matches!(s.kind, StepKind::Confirm { .. })).map(|(i, _)| i).next()
            });
            self.go(Phase::Confirm { step: confirm, again: true });
            return false;
        }
        if !Self::pre_arm_passes(input.pre_arm, &ALWAYS) {
            self.armed = false;
            self.clear = false;
            self.go(Phase::PreArm);
            return true;
        }
        // What follows its preparation is one act to the gate: a spinning flywheel is a load.
        let prepared = step
            .checked_sub(1)
            .and_then(|s| self.step_at(s))
            .is_some_and(|s| matches!(s.kind, StepKind::Act { prepares: true, .. }));
        if !prepared
            && !self.gate_passed
            && let Some((min, resume)) = self.gate_in_force()
        {
            self.go(Phase::Gate { gate: Gate::new(self.now, min, resume, false), before_act: true });
            return true;
        }
        self.gate_passed = false;
        self.approved = false;
        self.place(step, false);
        self.attempt += 1;
        let attempt = self.attempt;
        self.log_shot(step);
        self.step_event(event::ACT_STARTED, step, &[("attempt", Fact::Int(attempt.into()))]);
        self.go(Phase::Act { step, attempt, started: self.now, loaded: LoadedVolts::default() });
        false
    }

    /// A sweep's setpoint, under the reference's names and with the row that joins it to its score.
    fn log_shot(&mut self, step: usize) {
        let plan = Arc::clone(&self.plan);
        let Some(index) = self.current else { return };
        let kind = plan.procedures.get(index).and_then(|p| p.steps.get(step)).map(|s| &s.kind);
        let Some(StepKind::Act { shot: Some(shot), prepares: true, .. }) = kind else { return };
        let keys = self.session_keys.as_ref().and_then(|k| k.procedures.get(index)?.shot.as_ref());
        let Some(&ShotKeys { at, values, row }) = keys else { return };
        self.log_both(Some(at), shot.at);
        for (keys, value) in values.into_iter().zip(&shot.values) {
            self.log_both(Some(keys), *value);
        }
        self.book.int(row, i64::from(shot.row));
    }

    pub(super) fn request(&self, step: usize, attempt: u32) -> ActRequest {
        match self.step_at(step).map(|s| &s.kind) {
            Some(StepKind::Act { act, .. }) => ActRequest::Run { act: *act, attempt },
            _ => ActRequest::None,
        }
    }

    fn turn_act(
        &mut self,
        input: &RunnerInput<'_>,
        step: usize,
        attempt: u32,
        started: Micros,
        loaded: LoadedVolts,
    ) -> bool {
        let took = self.now.since(started).as_secs();
        let Some(StepKind::Act { timeout_secs, .. }) = self.step_at(step).map(|s| &s.kind) else {
            return false;
        };
        let cap = *timeout_secs;
        let plan = Arc::clone(&self.plan);
        let mut results: &[(Cow<'static, str>, f64)] = &[];
        let ended = match input.act {
            ActReport::Completed { attempt: of, results: found } if *of == attempt => {
                // What was not logged was not measured.
                let unlogged = Self::pre_arm_faults(input.pre_arm, &[PreArmItem::Log]);
                if unlogged.is_empty() {
                    results = found;
                    Some((StepOutcome::Completed, unlogged))
                } else {
                    Some((StepOutcome::Failed, format!("its data may not be in the log ({unlogged})")))
                }
            }
            ActReport::Interrupted { attempt: of, reason } if *of == attempt => {
                Some((StepOutcome::Interrupted, reason.clone()))
            }
            ActReport::Failed { attempt: of, reason } if *of == attempt => {
                Some((StepOutcome::Failed, reason.clone()))
            }
            _ if took >= cap => Some((
                StepOutcome::TimedOut,
                format!("hit its cap of {} s; its data is incomplete", text::Fixed(cap, 1)),
            )),
            _ => None,
        };
        let sagged = loaded.lowest().filter(|v| *v < self.config.loaded_floor_volts);
        if let Some(lowest) = sagged {
            let reason = format!(
                "the battery sagged to {} V under load, below {} V",
                text::Fixed(lowest, 2),
                text::Fixed(self.config.loaded_floor_volts, 2)
            );
            self.end_act(step, StepOutcome::Failed, &reason, took, loaded, results);
            self.sags += 1;
            let sags = self.sags;
            if sags <= MOST_SAGS {
                let label = self.label_in(&plan, step);
                self.note(format_args!("{reason}: {label} is done again ({sags} of {MOST_SAGS})"));
                self.again(step);
                self.go(Phase::Next);
            } else {
                self.offer(step);
            }
            return false;
        }
        let Some((outcome, reason)) = ended else {
            self.phase = Phase::Act { step, attempt, started, loaded };
            return false;
        };
        self.end_act(step, outcome, &reason, took, loaded, results);
        if outcome == StepOutcome::Completed {
            self.sags = 0;
            self.set_done(step, true);
            self.cursor = step + 1;
            self.go(Phase::Next);
            return false;
        }
        let label = self.label_in(&plan, step);
        self.note(format_args!("{label} {}: {reason}", outcome.token()));
        let needed = matches!(
            self.step_at(step).map(|s| &s.kind),
            Some(StepKind::Act { required, prepares, .. }) if *required || *prepares
        );
        if needed {
            self.offer(step);
        } else {
            self.set_done(step, true);
            self.cursor = step + 1;
            self.go(Phase::Next);
        }
        false
    }

    /// The step, and what prepares it, is to be done again; only after somebody said that the field is clear.
    pub(super) fn again(&mut self, step: usize) {
        self.set_done(step, false);
        self.cursor = step;
        if let Some(before) = step.checked_sub(1)
            && matches!(self.step_at(before).map(|s| &s.kind), Some(StepKind::Act { prepares: true, .. }))
        {
            self.set_done(before, false);
            self.cursor = before;
        }
        self.clear = false;
        self.approved = true;
        self.gate_passed = false;
    }

    pub(super) fn name_offer(&mut self, step: usize) {
        let reason = self.record_of(step).map_or("", |r| &r.reason);
        self.offer_reason = format!("{}: {reason}", self.label_in(&self.plan, step));
    }

    fn offer(&mut self, step: usize) {
        self.name_offer(step);
        self.cursor = step;
        self.go(Phase::Offer { step });
    }

    /// Banks an outcome of the procedure in flight.
    pub(super) fn record(&mut self, record: StepRecord) {
        let Some(id) = self.current.and_then(|p| self.names.procedure(p)).map(|p| &p.id) else { return };
        let records = match self.memory.outcomes.get_mut(id) {
            Some(records) => records,
            None => self.memory.outcomes.entry(Arc::clone(id)).or_default(),
        };
        match records.binary_search_by_key(&record.step, |r| r.step) {
            Ok(known) => records[known] = record,
            Err(place) => records.insert(place, record),
        }
        self.storage.changed(self.now);
    }

    fn end_act(
        &mut self,
        step: usize,
        outcome: StepOutcome,
        reason: &str,
        took: f64,
        loaded: LoadedVolts,
        results: &[(Cow<'static, str>, f64)],
    ) {
        let plan = Arc::clone(&self.plan);
        let low = loaded.lowest().filter(|v| *v < self.config.loaded_flag_volts);
        let mut reason = reason.to_owned();
        if outcome == StepOutcome::Completed
            && let Some(low) = low
        {
            reason = format!("sagged to {} V under load", text::Fixed(low, 2));
        } else if outcome == StepOutcome::Completed && loaded.blind() > Micros::ZERO {
            let blind = text::Fixed(loaded.blind().as_secs(), 2);
            reason = format!("ran {blind} s without a fresh battery reading");
        }
        if outcome == StepOutcome::Completed && !reason.is_empty() {
            let label = self.label_in(&plan, step);
            self.note(format_args!("{label} {reason}: its data is flagged"));
        }
        if let Some(StepKeys::Seconds(key)) = self.current.and_then(|p| self.step_keys(p, step)) {
            let key = *key;
            self.book.number(key, took);
        }
        let facts = [
            ("outcome", outcome.token().into()),
            ("seconds", took.into()),
            ("minVolts", loaded.lowest().into()),
            ("reason", reason.as_str().into()),
            ("results", Fact::Numbers(results)),
        ];
        self.step_event(event::ACT_ENDED, step, &facts);
        self.record(StepRecord { step, outcome, seconds: took, min_volts: loaded.lowest(), reason });
    }

    /// A disable or an end: the act in flight is dropped and will be repeated.
    pub(super) fn drop_act(&mut self, reason: &str) {
        if let Phase::Act { step, started, loaded, .. } = self.phase {
            let took = self.now.since(started).as_secs();
            self.end_act(step, StepOutcome::Interrupted, reason, took, loaded, &[]);
        }
    }

    fn turn_settle(&mut self, step: usize, left: Micros, dt: Micros) -> bool {
        let left = left - dt;
        if left > Micros::ZERO {
            self.phase = Phase::Settle { step, left };
            return false;
        }
        let seconds = match self.step_at(step).map(|s| &s.kind) {
            Some(StepKind::Settle { secs }) => *secs,
            _ => 0.0,
        };
        self.record(StepRecord {
            step,
            outcome: StepOutcome::Completed,
            seconds,
            min_volts: None,
            reason: String::new(),
        });
        self.set_done(step, true);
        self.cursor = step + 1;
        self.go(Phase::Next);
        true
    }

    /// The mark that the report prints beside a procedure.
    fn quality(&self, index: usize) -> String {
        let Some(procedure) = self.plan.procedures.get(index) else { return String::new() };
        let records = self.memory.outcomes.get(procedure.id.as_str()).map_or(&[][..], Vec::as_slice);
        let mut marks = String::new();
        let mut mark = |text: std::fmt::Arguments<'_>| {
            let between = if marks.is_empty() { "" } else { "; " };
            // Writing into memory does not fail.
            write!(marks, "{between}{text}").ok();
        };
        let (mut required, mut completed) = (0, 0);
        for (i, step) in procedure.steps.iter().enumerate() {
            let record = records.iter().find(|r| r.step == i);
            if matches!(step.kind, StepKind::Act { required: true, .. }) {
                required += 1;
                completed += usize::from(record.is_some_and(|r| r.outcome == StepOutcome::Completed));
            }
            if let Some(record) =
                record.filter(|r| r.outcome != StepOutcome::Completed || !r.reason.is_empty())
            {
                mark(format_args!("{} {}: {}", step.label, record.outcome.token(), record.reason));
            }
            if let StepKind::Measure { key, .. } = &step.kind
                && let Some(value) = self.answer_to(index, i).filter(|v| !step.kind.plausible(*v))
            {
                mark(format_args!("{key} {value} is out of its range"));
            }
        }
        let word = match (required, completed) {
            _ if marks.is_empty() => return "good".into(),
            (1.., 0) => "empty",
            (r, c) if c < r => "partial",
            _ => "flagged",
        };
        format!("{word}: {marks}")
    }

    fn bank_procedure(&mut self) {
        let names = Arc::clone(&self.names);
        let Some((index, named)) = self.current.and_then(|i| Some((i, names.procedure(i)?))) else { return };
        let quality = self.quality(index);
        self.stamp(index, |keys| keys.finished);
        self.event(event::PROCEDURE_BANKED, &[("quality", quality.as_str().into())]);
        self.memory.quality.insert(Arc::clone(&named.id), quality);
        self.memory.completed.push(named.id.to_string());
        self.memory.in_flight = None;
        self.bank_revision = self.storage.changed(self.now);
        self.sags = 0;
        self.cursor = 0;
        self.touched = true;
    }
}
