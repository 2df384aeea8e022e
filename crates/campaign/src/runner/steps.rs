//! What each phase does in one turn.

use fieldlab_base::Micros;
use serde_json::{Value as Json, json};

use super::{Phase, Runner};
use crate::channels::{self, event};
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
            Phase::Act { step, attempt, started, loaded } => {
                self.turn_act(input, step, attempt, started, loaded, volts)
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
                let faults = Self::pre_arm_faults(input.pre_arm, &PreArmItem::ALL).join("; ");
                self.prompt(&format!("Not ready: {faults}"), None);
                self.desk.hide();
            }
            return false;
        }
        self.armed = true;
        let clock = input.pre_arm.iter().find(|f| f.item == PreArmItem::Clock);
        if clock.is_some_and(|f| f.verdict != crate::PreArmVerdict::Pass) && !self.clock_warned {
            self.clock_warned = true;
            self.note("the wall clock is not to be trusted; the session id says so".into());
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
        let records = self.memory.outcomes.get(&procedure.id);
        let outcome =
            |step: usize| records.and_then(|r| r.iter().find(|r| r.step == step)).map(|r| r.outcome);
        let finished =
            |step: usize| matches!(outcome(step), Some(StepOutcome::Completed | StepOutcome::Skipped));
        let mut done = Vec::with_capacity(procedure.steps.len());
        for (i, step) in procedure.steps.iter().enumerate() {
            done.push(match &step.kind {
                StepKind::BatteryGate { .. } => false,
                StepKind::Measure { key, .. } => {
                    finished(i) || self.memory.measurements.contains_key(&format!("{}/{key}", procedure.id))
                }
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
        let Some(procedure) = self.plan.procedures.get(index) else { return };
        let (id, why) = (procedure.id.clone(), procedure.why.clone());
        if self.memory.hashes.contains_key(&id) {
            return;
        }
        let hash = self.hashes.get(index).cloned().unwrap_or_default();
        self.memory.hashes.insert(id.clone(), hash);
        self.memory.outcomes.entry(id.clone()).or_default();
        self.stamp(&id, "Started");
        self.event(event::PROCEDURE_STARTED, &[("why", why.into())]);
        self.storage.changed(self.now);
    }

    fn stamp(&mut self, id: &str, what: &str) {
        let now = self.now.as_secs();
        self.book.put(format!("{}/{id}/{what}", channels::FIELD_LAB), now);
        self.book.put(channels::session(&self.memory.session, &format!("{id}/{what}")), now);
    }

    /// Remembers where the run stands; saved with the next boundary.
    fn place(&mut self, step: usize, paused: bool) {
        let Some(procedure) = self.procedure().map(|p| p.id.clone()) else { return };
        let at = InFlight { procedure, step, attempt: self.sags, paused };
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
                    self.note(format!("resumed at {} V", text::fixed(volts, 2)));
                    self.event(event::GATE_RESUMED, &[("volts", json!(volts))]);
                }
                if let Some(at) = &mut self.memory.in_flight {
                    at.paused = false;
                }
                if before_act {
                    self.gate_passed = !gate.paused;
                } else {
                    self.event(
                        event::GATE_PASSED,
                        &[("volts", json!(volts)), ("minVolts", json!(gate.min_volts))],
                    );
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
                let seen =
                    volts.map_or("an unknown voltage".to_owned(), |v| format!("{} V", text::fixed(v, 2)));
                self.note(format!("paused at {seen}, goes on from {} V", text::fixed(gate.resume_volts, 2)));
                self.event(
                    event::GATE_PAUSED,
                    &[("volts", json!(volts)), ("resumeVolts", json!(gate.resume_volts))],
                );
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
        let mut facts = self.step_facts(step);
        facts.push(("attempt", json!(attempt)));
        self.event(event::ACT_STARTED, &facts);
        self.go(Phase::Act { step, attempt, started: self.now, loaded: LoadedVolts::default() });
        false
    }

    /// A sweep's setpoint, under the reference's names and with the row that joins it to its score.
    fn log_shot(&mut self, step: usize) {
        let Some(procedure) = self.procedure() else { return };
        let Some(StepKind::Act { shot: Some(shot), prepares: true, .. }) =
            procedure.steps.get(step).map(|s| &s.kind)
        else {
            return;
        };
        let id = procedure.id.clone();
        let mut named = vec![("At", shot.at)];
        named.extend(["First", "Second"].into_iter().zip(shot.values.iter().copied()));
        let row = i64::from(shot.row);
        for (name, value) in named {
            self.book.put(format!("{}/{id}/{name}", channels::FIELD_LAB), value);
            self.book.put(channels::session(&self.memory.session, &format!("{id}/{name}")), value);
        }
        self.book.put(channels::session(&self.memory.session, &format!("{id}/Row")), row);
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
        mut loaded: LoadedVolts,
        volts: Option<f64>,
    ) -> bool {
        loaded.push(volts);
        let took = self.now.since(started).as_secs();
        let Some(StepKind::Act { timeout_secs, .. }) = self.step_at(step).map(|s| &s.kind) else {
            return false;
        };
        let cap = *timeout_secs;
        let mut results: &[(String, f64)] = &[];
        let ended = match input.act {
            ActReport::Completed { attempt: of, results: found } if *of == attempt => {
                results = found;
                Some((StepOutcome::Completed, String::new()))
            }
            ActReport::Interrupted { attempt: of, reason } if *of == attempt => {
                Some((StepOutcome::Interrupted, reason.clone()))
            }
            ActReport::Failed { attempt: of, reason } if *of == attempt => {
                Some((StepOutcome::Failed, reason.clone()))
            }
            _ if took >= cap => Some((
                StepOutcome::TimedOut,
                format!("hit its cap of {} s; its data is incomplete", text::fixed(cap, 1)),
            )),
            _ => None,
        };
        let sagged = loaded.lowest().filter(|v| *v < self.config.loaded_floor_volts);
        if let Some(lowest) = sagged {
            let reason = format!(
                "the battery sagged to {} V under load, below {} V",
                text::fixed(lowest, 2),
                text::fixed(self.config.loaded_floor_volts, 2)
            );
            self.end_act(step, StepOutcome::Failed, &reason, took, loaded, results);
            self.sags += 1;
            if self.sags <= MOST_SAGS {
                self.note(format!(
                    "{reason}: {} is done again ({} of {MOST_SAGS})",
                    self.label(step),
                    self.sags
                ));
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
        self.note(format!("{} {}: {reason}", self.label(step), outcome.token()));
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

    fn label(&self, step: usize) -> String {
        self.step_at(step).map(|s| s.label.clone()).unwrap_or_default()
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
        let reason = self.record_of(step).map(|r| r.reason.clone()).unwrap_or_default();
        self.offer_reason = format!("{}: {reason}", self.label(step));
    }

    fn offer(&mut self, step: usize) {
        self.name_offer(step);
        self.cursor = step;
        self.go(Phase::Offer { step });
    }

    /// Banks an outcome of the procedure in flight.
    pub(super) fn record(&mut self, record: StepRecord) {
        let Some(id) = self.procedure().map(|p| p.id.clone()) else { return };
        let records = self.memory.outcomes.entry(id).or_default();
        records.retain(|r| r.step != record.step);
        records.push(record);
        records.sort_by_key(|r| r.step);
        self.storage.changed(self.now);
    }

    fn end_act(
        &mut self,
        step: usize,
        outcome: StepOutcome,
        reason: &str,
        took: f64,
        loaded: LoadedVolts,
        results: &[(String, f64)],
    ) {
        let low = loaded.lowest().filter(|v| *v < self.config.loaded_flag_volts);
        let mut reason = reason.to_owned();
        if outcome == StepOutcome::Completed
            && let Some(low) = low
        {
            reason = format!("sagged to {} V under load", text::fixed(low, 2));
            self.note(format!("{} {reason}: its data is flagged", self.label(step)));
        }
        let label = self.label(step);
        if let Some(id) = self.procedure().map(|p| p.id.clone()) {
            let key = format!("{id}/{}.seconds", text::safe(&label));
            self.book.put(channels::session(&self.memory.session, &key), took);
        }
        let results: serde_json::Map<String, Json> =
            results.iter().map(|(k, v)| (k.clone(), json!(v))).collect();
        let mut facts = self.step_facts(step);
        facts.extend([
            ("outcome", outcome.token().into()),
            ("seconds", json!(took)),
            ("minVolts", json!(loaded.lowest())),
            ("reason", reason.clone().into()),
            ("results", results.into()),
        ]);
        self.event(event::ACT_ENDED, &facts);
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
    fn quality(&self, procedure: usize) -> String {
        let Some(procedure) = self.plan.procedures.get(procedure) else { return String::new() };
        let records = self.memory.outcomes.get(&procedure.id).map(Vec::as_slice).unwrap_or_default();
        let mut marks = Vec::new();
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
                marks.push(format!("{} {}: {}", step.label, record.outcome.token(), record.reason));
            }
            if let StepKind::Measure { key, .. } = &step.kind {
                let answer = self.memory.measurements.get(&format!("{}/{key}", procedure.id));
                if let Some(value) = answer.filter(|v| !step.kind.plausible(**v)) {
                    marks.push(format!("{key} {value} is out of its range"));
                }
            }
        }
        let word = match (required, completed) {
            _ if marks.is_empty() => return "good".into(),
            (1.., 0) => "empty",
            (r, c) if c < r => "partial",
            _ => "flagged",
        };
        format!("{word}: {}", marks.join("; "))
    }

    fn bank_procedure(&mut self) {
        let Some(index) = self.current else { return };
        let Some(id) = self.plan.procedures.get(index).map(|p| p.id.clone()) else { return };
        let quality = self.quality(index);
        self.stamp(&id, "Finished");
        self.event(event::PROCEDURE_BANKED, &[("quality", quality.clone().into())]);
        self.memory.quality.insert(id.clone(), quality);
        self.memory.completed.push(id);
        self.memory.in_flight = None;
        self.bank_revision = self.storage.changed(self.now);
        self.sags = 0;
        self.cursor = 0;
        self.touched = true;
    }
}
