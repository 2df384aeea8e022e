//! What is asked of a person, and what an answer does.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use super::names::{self, StepKeys};
use super::{Fact, Phase, Runner};
use crate::channels::event;
use crate::checkpoint::{Answer, StepRecord};
use crate::desk::Press;
use crate::io::RunnerInput;
use crate::model::{StepKind, StepOutcome};
use crate::text;

/// One end of a range, for a person.
struct Bound(Option<f64>);

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(bound) => write!(f, "{bound}"),
            None => f.write_str("any"),
        }
    }
}

/// What a phase wants from a person.
enum Want {
    /// Nothing.
    Nothing,
    /// To read the text; nothing that is pressed answers it.
    Read,
    /// To press Advance, or what else the text names.
    Press,
    /// A number, for this procedure and step.
    Number(usize, usize),
}

impl Runner {
    /// Shows a prompt. `question` names the step that a number is asked for.
    pub(super) fn prompt(&mut self, text: &str, question: Option<(usize, usize)>) {
        if self.board.prompt.as_str() == text && question.is_none() && !text.is_empty() && !self.enabled {
            return;
        }
        self.memory.prompt_seq += 1;
        self.board.prompt_seq = self.memory.prompt_seq;
        self.board.prompt.set(text);
        let (plan, names) = (Arc::clone(&self.plan), Arc::clone(&self.names));
        let (mut unit, mut key, mut bounds) = ("", "", (None, None));
        if let Some((p, s)) = question
            && let Some(asked) = names.question(p, s)
            && let Some(StepKind::Measure { min, max, .. }) =
                plan.procedures.get(p).and_then(|p| p.steps.get(s)).map(|s| &s.kind)
        {
            (unit, key, bounds) = (&asked.unit, &asked.full, (*min, *max));
        }
        self.board.prompt_unit.set(unit);
        self.board.prompt_key.set(key);
        (self.board.prompt_min, self.board.prompt_max) = bounds;
        self.touched = true;
        if self.enabled {
            self.desk.show(self.now, question);
            let seq = Fact::Int(self.memory.prompt_seq);
            let facts = [("seq", seq), ("text", text.into()), ("key", key.into()), ("unit", unit.into())];
            self.event(event::PROMPT, &facts);
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
        let mut text = std::mem::take(&mut self.scratch);
        text.clear();
        match self.want(&mut text) {
            Want::Nothing => self.unprompt(),
            Want::Read => {
                self.prompt(&text, None);
                self.desk.hide();
            }
            Want::Press => self.prompt(&text, None),
            Want::Number(procedure, step) => self.prompt(&text, Some((procedure, step))),
        }
        self.scratch = text;
    }

    /// Writes what is wanted into `text`. Writing into memory does not fail.
    fn want(&self, text: &mut String) -> Want {
        match self.phase {
            Phase::AskStart => {
                text.push_str(self.ask_start.as_ref().map_or("", |ask| &ask.text));
                Want::Press
            }
            Phase::Gate { gate, .. } if gate.paused => {
                let volts = text::Fixed(gate.resume_volts, 1);
                write!(text, "Battery low: swap the pack. Goes on at {volts} V at rest").ok();
                Want::Read
            }
            Phase::Confirm { step, again } => {
                self.confirm_text(step, again, text);
                Want::Press
            }
            Phase::Measure { procedure, step } => {
                let label = self.plan.procedures.get(procedure).and_then(|p| p.steps.get(step));
                let label = label.map_or("", |s| &s.label);
                match self.answer_to(procedure, step) {
                    Some(old) => write!(text, "Again: {label} (it was {old})").ok(),
                    None => write!(text, "{label}").ok(),
                };
                Want::Number(procedure, step)
            }
            Phase::Offer { .. } => {
                let reason = &self.offer_reason;
                write!(text, "{reason}. Advance: try again. SkipReason and Skip: leave it out").ok();
                Want::Press
            }
            Phase::PreArm => match &self.blocked {
                Some(blocked) => {
                    text.push_str(blocked);
                    Want::Read
                }
                None => Want::Nothing,
            },
            Phase::Idle | Phase::Done | Phase::Aborted | Phase::Finishing => Want::Nothing,
            Phase::Next | Phase::Act { .. } | Phase::Settle { .. } | Phase::Gate { .. } if !self.enabled => {
                match self.procedure().map(|p| (p, p.steps.get(self.cursor))) {
                    Some((p, Some(step))) => {
                        write!(text, "Disabled. Enable to go on with {}: {}", p.title, step.label).ok()
                    }
                    Some((p, None)) => write!(text, "Disabled. Enable to go on with {}", p.title).ok(),
                    None => write!(text, "Disabled. Enable to go on with the last save").ok(),
                };
                Want::Press
            }
            Phase::Next | Phase::Act { .. } | Phase::Settle { .. } | Phase::Gate { .. } => Want::Nothing,
        }
    }

    fn confirm_text(&self, step: Option<usize>, again: bool, text: &mut String) {
        let next = self.step_at(self.cursor).map_or("", |s| &s.label);
        match (step.and_then(|s| self.step_at(s)), again) {
            (Some(step), false) => text.push_str(&step.label),
            (Some(step), true) => drop(write!(text, "Again, before {next}: {}", step.label)),
            (None, _) => drop(write!(text, "Everybody clear of the robot? Next: {next}")),
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
                self.event(event::RETRY, &[("step", step.into())]);
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
    fn echo(&mut self, text: fmt::Arguments<'_>) {
        let revision = self.storage.changed(self.now);
        self.with_text(text, |runner, text| runner.echoes.push((revision, text.into())));
        self.touched = true;
    }

    fn confirmed(&mut self, step: Option<usize>, again: bool) {
        self.clear = true;
        self.confirm_retry = false;
        let mut label = std::mem::take(&mut self.scratch);
        label.clear();
        self.confirm_text(step, again, &mut label);
        let which = step.map_or(Fact::Nothing, Fact::from);
        self.event(event::CONFIRMED, &[("step", which), ("label", label.as_str().into())]);
        self.scratch = label;
        if let Some(step) = step.filter(|_| !again) {
            let (outcome, reason) = (StepOutcome::Completed, String::new());
            self.record(StepRecord { step, outcome, seconds: 0.0, min_volts: None, reason });
            self.set_step_done(step);
            self.cursor = step + 1;
        }
        let seq = self.memory.prompt_seq;
        self.echo(format_args!("prompt {seq} confirmed"));
        self.go(Phase::Next);
    }

    fn set_step_done(&mut self, step: usize) {
        if let Some(done) = self.done.get_mut(step) {
            *done = true;
        }
    }

    fn answer(&mut self, procedure: usize, step: usize, value: f64) {
        let (plan, names) = (Arc::clone(&self.plan), Arc::clone(&self.names));
        let Some(found) = plan.procedures.get(procedure).and_then(|of| of.steps.get(step)) else { return };
        let StepKind::Measure { min, max, near_robot, .. } = &found.kind else { return };
        let Some(question) = names.question(procedure, step) else { return };
        let (full, unit) = (&*question.full, &*question.unit);
        let answer =
            Answer { value, unit: Some(Arc::clone(&question.unit)), at_secs: Some(self.memory.elapsed_secs) };
        let old = self.memory.answers.insert(Arc::clone(&question.full), answer).map(|old| old.value);
        if let Some(StepKeys::Answer { value: key, unit: unit_key }) = self.step_keys(procedure, step) {
            let (key, unit_key) = (*key, *unit_key);
            self.log_answer([unit_key, key], unit, value);
        }
        let plausible = found.kind.plausible(value);
        let facts = [
            ("seq", Fact::Int(self.memory.prompt_seq)),
            ("key", full.into()),
            ("value", value.into()),
            ("unit", unit.into()),
            ("plausible", plausible.into()),
            ("replaces", old.into()),
        ];
        self.event(event::ANSWER, &facts);
        if let Some(old) = old {
            self.note(format_args!("{full} was {old} and is now {value} {unit}"));
        }
        self.warning = None;
        if !plausible {
            let (low, high) = (Bound(*min), Bound(*max));
            self.note(format_args!(
                "{full} = {value} {unit} is outside {low} to {high}: recorded all the same"
            ));
            self.warning = self.memory.notes.last().cloned();
        }
        self.echo(format_args!("{full} = {value} {unit}"));
        // Somebody stood at the robot for it.
        self.clear &= !near_robot;
        match self.redo_from.take() {
            Some(back) => self.go(back),
            None => {
                self.set_step_done(step);
                self.cursor = step + 1;
                self.go(Phase::Next);
            }
        }
    }

    fn log_answer(&mut self, [unit_key, key]: [u32; 2], unit: &str, value: f64) {
        self.book.text(unit_key, unit);
        self.book.number(key, value);
    }

    /// A battery swap starts a new log file; it gets what is already known.
    pub(super) fn log_kept_answers(&mut self) {
        let kept = self.memory.answers.clone();
        for (key, Answer { value, unit, .. }) in kept {
            // Of a procedure that is in the plan no more, too.
            let keys = names::answer_keys(&key, &self.memory.session, &mut self.keys);
            if let StepKeys::Answer { value: value_key, unit: unit_key } = keys {
                self.log_answer([unit_key, value_key], unit.as_deref().unwrap_or_default(), value);
            }
            let facts = [("key", (&*key).into()), ("value", value.into()), ("resumed", true.into())];
            self.event(event::ANSWER, &facts);
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
            .answers
            .iter()
            .filter_map(|(key, answer)| Some((key, answer.at_secs.filter(|at| *at < before)?)))
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .and_then(|(key, _)| self.names.locate(key));
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
        let question = self.names.question(procedure, step);
        let answer = question.and_then(|q| self.memory.answers.get(&q.full));
        answer.and_then(|answer| answer.at_secs).unwrap_or(f64::INFINITY)
    }

    fn skipped(&mut self, step: usize, reason: &str) {
        self.step_event(event::STEP_SKIPPED, step, &[("reason", reason.into())]);
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
        let plan = Arc::clone(&self.plan);
        let label = self.label_in(&plan, step);
        self.note(format_args!("{label} was not measured: {reason}"));
        self.echo(format_args!("skipped: {reason}"));
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
        self.note(format_args!("the rest of {title} was skipped: {reason}"));
        self.echo(format_args!("skipped: {reason}"));
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
        let failed = std::mem::take(&mut self.offer_reason);
        self.note(format_args!("{failed}; skipped: {reason}"));
        self.offer_reason = failed;
        self.echo(format_args!("skipped: {reason}"));
        self.cursor = step + 1;
        self.go(Phase::Next);
    }
}
