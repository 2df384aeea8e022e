//! What is asked of a person, and what an answer does.

use serde_json::json;

use super::{Phase, Runner};
use crate::channels::{self, event};
use crate::checkpoint::StepRecord;
use crate::desk::Press;
use crate::io::RunnerInput;
use crate::model::{StepKind, StepOutcome};

impl Runner {
    /// Shows a prompt. `question` names the step that a number is asked for.
    pub(super) fn prompt(&mut self, text: &str, question: Option<(usize, usize)>) {
        if self.board.prompt.as_str() == text && question.is_none() && !text.is_empty() && !self.enabled {
            return;
        }
        self.memory.prompt_seq += 1;
        self.board.prompt_seq = self.memory.prompt_seq;
        self.board.prompt.set(text);
        let (mut unit, mut key, mut bounds) = (String::new(), String::new(), (None, None));
        if let Some((p, s)) = question
            && let Some(procedure) = self.plan.procedures.get(p)
            && let Some(StepKind::Measure { key: k, unit: u, min, max, .. }) =
                procedure.steps.get(s).map(|s| &s.kind)
        {
            unit.clone_from(u);
            key = format!("{}/{k}", procedure.id);
            bounds = (*min, *max);
        }
        self.board.prompt_unit.set(&unit);
        self.board.prompt_key.set(&key);
        (self.board.prompt_min, self.board.prompt_max) = bounds;
        self.touched = true;
        if self.enabled {
            self.desk.show(self.now, question);
            let seq = self.memory.prompt_seq;
            self.event(
                event::PROMPT,
                &[("seq", json!(seq)), ("text", text.into()), ("key", key.into()), ("unit", unit.into())],
            );
        }
    }

    fn unprompt(&mut self) {
        self.desk.hide();
        if !self.board.prompt.as_str().is_empty() {
            self.board.prompt.set("");
            self.board.prompt_unit.set("");
            self.board.prompt_key.set("");
            (self.board.prompt_min, self.board.prompt_max) = (None, None);
            self.touched = true;
        }
    }

    /// Shows what the phase wants from a person, if anything.
    pub(super) fn show_phase(&mut self) {
        match self.phase {
            Phase::AskStart => {
                let text = self.ask_start.as_ref().map(|a| a.text.clone()).unwrap_or_default();
                self.prompt(&text, None);
            }
            Phase::Gate { gate, .. } if gate.paused => {
                let text = format!(
                    "Battery low: swap the pack. Goes on at {} V at rest",
                    crate::text::fixed(gate.resume_volts, 1)
                );
                self.prompt(&text, None);
                self.desk.hide();
            }
            Phase::Confirm { step, again } => {
                let text = self.confirm_text(step, again);
                self.prompt(&text, None);
            }
            Phase::Measure { procedure, step } => {
                let text = self.measure_text(procedure, step);
                self.prompt(&text, Some((procedure, step)));
            }
            Phase::Offer { .. } => {
                let text =
                    format!("{}. Advance: try again. SkipReason and Skip: leave it out", self.offer_reason);
                self.prompt(&text, None);
            }
            Phase::PreArm => {
                if let Some(text) = self.blocked.clone() {
                    self.prompt(&text, None);
                    self.desk.hide();
                } else {
                    self.unprompt();
                }
            }
            Phase::Idle | Phase::Done | Phase::Aborted | Phase::Finishing => self.unprompt(),
            Phase::Next | Phase::Act { .. } | Phase::Settle { .. } | Phase::Gate { .. } if !self.enabled => {
                let at =
                    self.procedure().map_or("the last save".to_owned(), |p| match p.steps.get(self.cursor) {
                        Some(step) => format!("{}: {}", p.title, step.label),
                        None => p.title.clone(),
                    });
                self.prompt(&format!("Disabled. Enable to go on with {at}"), None);
            }
            Phase::Next | Phase::Act { .. } | Phase::Settle { .. } | Phase::Gate { .. } => self.unprompt(),
        }
    }

    fn confirm_text(&self, step: Option<usize>, again: bool) -> String {
        let label = step.and_then(|s| self.step_at(s)).map(|s| s.label.clone());
        match (label, again) {
            (Some(label), false) => label,
            (Some(label), true) => format!("Again, before {}: {label}", self.label_at_cursor()),
            (None, _) => format!("Everybody clear of the robot? Next: {}", self.label_at_cursor()),
        }
    }

    fn label_at_cursor(&self) -> String {
        self.step_at(self.cursor).map(|s| s.label.clone()).unwrap_or_default()
    }

    fn measure_text(&self, procedure: usize, step: usize) -> String {
        let Some(of) = self.plan.procedures.get(procedure) else { return String::new() };
        let Some(found) = of.steps.get(step) else { return String::new() };
        let StepKind::Measure { key, .. } = &found.kind else { return String::new() };
        match self.memory.measurements.get(&format!("{}/{key}", of.id)) {
            Some(old) => format!("Again: {} (it was {old})", found.label),
            None => found.label.clone(),
        }
    }

    pub(super) fn take_operator(&mut self, input: &RunnerInput<'_>) {
        for sample in input.operator {
            if let Some(press) = self.desk.take(sample) {
                self.pressed(press, input);
            }
        }
        if let Some(press) = self.desk.poll(self.now) {
            self.pressed(press, input);
        }
    }

    fn refuse(&mut self, why: &str) {
        self.board.last_commit.set(why);
        self.touched = true;
    }

    fn pressed(&mut self, press: Press, input: &RunnerInput<'_>) {
        match (press, self.phase) {
            (Press::Refused(why), _) => self.refuse(why),
            (Press::Advance(None), Phase::AskStart) => self.begin_asked(input.unix),
            (Press::Advance(None), Phase::Confirm { step, again }) => self.confirmed(step, again),
            (Press::Advance(None), Phase::Offer { step }) => {
                self.event(event::RETRY, &[("step", json!(step))]);
                self.sags = 0;
                self.again(step);
                self.confirm_retry = true;
                self.go(Phase::Next);
            }
            (Press::Advance(Some(value)), Phase::Measure { procedure, step }) => {
                self.answer(procedure, step, value)
            }
            (Press::Redo, Phase::Confirm { .. } | Phase::Measure { .. } | Phase::Offer { .. }) => self.redo(),
            (Press::Skip(reason), Phase::Measure { step, .. }) => match self.redo_from.take() {
                Some(back) => {
                    self.refuse("the answer stays as it was");
                    self.go(back);
                }
                None => self.skip_measure(step, &reason),
            },
            (Press::Skip(reason), Phase::Confirm { .. }) => self.skip_rest(&reason),
            (Press::Skip(reason), Phase::Offer { step }) => self.skip_group(step, &reason),
            // A press that the prompt on show has no use for; the prompt stays.
            (_, phase) => {
                self.refuse("that does not answer this prompt");
                self.go(phase);
            }
        }
    }

    /// An answer that is echoed when it is durable.
    fn echo(&mut self, text: String) {
        let revision = self.storage.changed(self.now);
        self.echoes.push((revision, text));
        self.touched = true;
    }

    fn confirmed(&mut self, step: Option<usize>, again: bool) {
        self.clear = true;
        self.confirm_retry = false;
        let label = self.confirm_text(step, again);
        self.event(event::CONFIRMED, &[("step", json!(step)), ("label", label.into())]);
        if let Some(step) = step.filter(|_| !again) {
            let (outcome, reason) = (StepOutcome::Completed, String::new());
            self.record(StepRecord { step, outcome, seconds: 0.0, min_volts: None, reason });
            self.set_step_done(step);
            self.cursor = step + 1;
        }
        let seq = self.memory.prompt_seq;
        self.echo(format!("prompt {seq} confirmed"));
        self.go(Phase::Next);
    }

    fn set_step_done(&mut self, step: usize) {
        if let Some(done) = self.done.get_mut(step) {
            *done = true;
        }
    }

    fn answer(&mut self, procedure: usize, step: usize, value: f64) {
        let Some(of) = self.plan.procedures.get(procedure) else { return };
        let Some(found) = of.steps.get(step) else { return };
        let StepKind::Measure { key, unit, min, max, near_robot, .. } = &found.kind else { return };
        let (id, key, unit, near) = (of.id.clone(), key.clone(), unit.clone(), *near_robot);
        let plausible = found.kind.plausible(value);
        let bound = |b: &Option<f64>| b.map_or("any".to_owned(), |b| b.to_string());
        let range = format!("{} to {}", bound(min), bound(max));
        let full = format!("{id}/{key}");
        let old = self.memory.measurements.insert(full.clone(), value);
        self.memory.units.insert(full.clone(), unit.clone());
        self.memory.answered_at.insert(full.clone(), self.memory.elapsed_secs);
        self.log_answer(&full, value, &unit);
        let seq = self.memory.prompt_seq;
        self.event(
            event::ANSWER,
            &[
                ("seq", json!(seq)),
                ("key", full.clone().into()),
                ("value", json!(value)),
                ("unit", unit.clone().into()),
                ("plausible", plausible.into()),
                ("replaces", json!(old)),
            ],
        );
        if let Some(old) = old {
            self.note(format!("{full} was {old} and is now {value} {unit}"));
        }
        self.warning = None;
        if !plausible {
            let text = format!("{full} = {value} {unit} is outside {range}: recorded all the same");
            self.note(text.clone());
            self.warning = Some(text);
        }
        self.echo(format!("{full} = {value} {unit}"));
        // Somebody stood at the robot for it.
        self.clear &= !near;
        match self.redo_from.take() {
            Some(back) => self.go(back),
            None => {
                self.set_step_done(step);
                self.cursor = step + 1;
                self.go(Phase::Next);
            }
        }
    }

    fn log_answer(&mut self, full: &str, value: f64, unit: &str) {
        let key = channels::session(&self.memory.session, full);
        self.book.put(format!("{key}.unit"), unit);
        self.book.put(key, value);
    }

    /// A battery swap starts a new log file; it gets what is already known.
    pub(super) fn log_kept_answers(&mut self) {
        let kept: Vec<(String, f64)> =
            self.memory.measurements.iter().map(|(k, v)| (k.clone(), *v)).collect();
        for (key, value) in kept {
            let unit = self.memory.units.get(&key).cloned().unwrap_or_default();
            self.log_answer(&key, value, &unit);
            self.event(
                event::ANSWER,
                &[("key", key.into()), ("value", json!(value)), ("resumed", true.into())],
            );
        }
    }

    /// Asks for the last answer again; when that is being asked for, for the one before it.
    fn redo(&mut self) {
        let before = match (self.phase, &self.redo_from) {
            (Phase::Measure { procedure, step }, Some(_)) => self.answered_at(procedure, step),
            _ => f64::INFINITY,
        };
        let last = self
            .memory
            .answered_at
            .iter()
            .filter(|(_, at)| **at < before)
            .max_by(|a, b| a.1.total_cmp(b.1))
            .and_then(|(key, _)| self.locate(key));
        let Some((procedure, step)) = last else {
            self.refuse("there is no answer before this to do again");
            self.go(self.phase);
            return;
        };
        if self.redo_from.is_none() {
            self.redo_from = Some(self.phase);
        }
        self.go(Phase::Measure { procedure, step });
    }

    fn answered_at(&self, procedure: usize, step: usize) -> f64 {
        let key = self.plan.procedures.get(procedure).and_then(|p| match &p.steps.get(step)?.kind {
            StepKind::Measure { key, .. } => Some(format!("{}/{key}", p.id)),
            _ => None,
        });
        key.and_then(|k| self.memory.answered_at.get(&k)).copied().unwrap_or(f64::INFINITY)
    }

    fn locate(&self, full: &str) -> Option<(usize, usize)> {
        let (id, key) = full.split_once('/')?;
        let (index, procedure) = self.plan.find(id)?;
        let step = procedure
            .steps
            .iter()
            .position(|s| matches!(&s.kind, StepKind::Measure { key: k, .. } if k == key));
        Some((index, step?))
    }

    fn skipped(&mut self, step: usize, reason: &str) {
        let facts = self.step_facts(step);
        self.event(event::STEP_SKIPPED, &[facts.as_slice(), &[("reason", reason.into())]].concat());
        let reason = reason.to_owned();
        self.record(StepRecord {
            step,
            outcome: StepOutcome::Skipped,
            seconds: 0.0,
            min_volts: None,
            reason,
        });
        self.set_step_done(step);
    }

    fn skip_measure(&mut self, step: usize, reason: &str) {
        self.skipped(step, reason);
        let label = self.step_at(step).map(|s| s.label.clone()).unwrap_or_default();
        self.note(format!("{label} was not measured: {reason}"));
        self.echo(format!("skipped: {reason}"));
        self.cursor = step + 1;
        self.go(Phase::Next);
    }

    /// Leaves out every step for which `which` holds and that has no result.
    fn skip_all(&mut self, reason: &str, which: impl Fn(usize, u32) -> bool) {
        let Some(procedure) = self.procedure() else { return };
        let steps: Vec<(usize, bool)> = procedure
            .steps
            .iter()
            .enumerate()
            .filter(|(i, s)| which(*i, s.group) && !self.done.get(*i).copied().unwrap_or(true))
            .map(|(i, s)| (i, matches!(s.kind, StepKind::Act { .. } | StepKind::Measure { .. })))
            .collect();
        for (step, has_result) in steps {
            if has_result {
                self.skipped(step, reason);
            } else {
                self.set_step_done(step);
            }
        }
    }

    /// At a Confirm: nothing of the procedure that is left will be done.
    fn skip_rest(&mut self, reason: &str) {
        self.redo_from = None;
        self.skip_all(reason, |_, _| true);
        let (title, end) = self.procedure().map(|p| (p.title.clone(), p.steps.len())).unwrap_or_default();
        self.note(format!("the rest of {title} was skipped: {reason}"));
        self.echo(format!("skipped: {reason}"));
        self.confirm_retry = false;
        self.cursor = end;
        self.go(Phase::Next);
    }

    /// At an offer: the failed step's own record stays, what stands or falls with it is skipped.
    fn skip_group(&mut self, step: usize, reason: &str) {
        let Some(group) = self.step_at(step).map(|s| s.group) else { return };
        self.set_step_done(step);
        if let Some(mut record) = self.record_of(step).cloned() {
            record.reason = format!("{}; skipped: {reason}", record.reason);
            self.record(record);
        }
        self.skip_all(reason, |i, g| i > step && g == group);
        let why = format!("{}; skipped: {reason}", self.offer_reason);
        self.note(why);
        self.echo(format!("skipped: {reason}"));
        self.cursor = step + 1;
        self.go(Phase::Next);
    }
}
