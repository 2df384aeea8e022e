//! What the run looks like from outside: the board and the alerts.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use serde_json::Value as Json;

use super::{Phase, Runner};
use crate::checkpoint::Answer;
use crate::io::{Alert, AlertLevel, PreArmFact, PreArmItem, PreArmVerdict, State};
use crate::text;

impl Runner {
    pub(super) fn write_plan(&mut self) {
        let mut plan = serde_json::to_value(&*self.plan).unwrap_or(Json::Null);
        if let Json::Object(map) = &mut plan {
            map.insert("hash".into(), self.plan_hash.clone().into());
        }
        self.board.plan.set(&plan.to_string());
        self.board.estimated_secs = self.plan.estimate_secs();
        self.board.procedure_count = i64::try_from(self.plan.procedures.len()).unwrap_or(i64::MAX);
    }

    /// What is wrong on the pre-arm list, in words; empty when nothing is. An item that nobody reports is wrong.
    pub(super) fn pre_arm_faults(facts: &[PreArmFact], only: &[PreArmItem]) -> String {
        let mut faults = String::new();
        for item in only.iter().filter(|i| i.blocks()) {
            let reason = match facts.iter().find(|f| f.item == *item).map(|f| &f.verdict) {
                None => "not reported",
                Some(PreArmVerdict::Fail(reason)) => reason,
                Some(PreArmVerdict::Pass | PreArmVerdict::Warn(_)) => continue,
            };
            let between = if faults.is_empty() { "" } else { "; " };
            // Writing into memory does not fail.
            write!(faults, "{between}{}: {reason}", item.name()).ok();
        }
        faults
    }

    pub(super) fn pre_arm_passes(facts: &[PreArmFact], only: &[PreArmItem]) -> bool {
        only.iter()
            .filter(|i| i.blocks())
            .all(|item| facts.iter().any(|f| f.item == *item && !matches!(f.verdict, PreArmVerdict::Fail(_))))
    }

    /// Keeps the `PreArm` rows; facts are compared with facts, since most turns change none.
    pub(super) fn check_pre_arm_board(&mut self, facts: &[PreArmFact]) {
        if self.pre_arm_shown != facts {
            facts.clone_into(&mut self.pre_arm_shown);
            self.board.pre_arm.write(facts.iter().map(Row));
            self.touched = true;
        }
    }

    /// Writes what changed to the board.
    pub(super) fn refresh(&mut self) {
        let tenths = (self.memory.elapsed_secs * 10.0).floor() / 10.0;
        self.board.elapsed_secs = tenths;
        self.board.enabled = self.enabled;
        if !std::mem::take(&mut self.touched) {
            return;
        }
        self.board_changes = self.board_changes.wrapping_add(1);
        let board = &mut self.board;
        board.campaign.set(&self.plan.name);
        let shown = if self.begun || self.phase != Phase::Idle { self.memory.session.as_str() } else { "" };
        board.session.set(if self.blocked.is_some() { "" } else { shown });
        board.notes.share(self.memory.notes.iter());
        board.last_note.set(self.memory.notes.last().map_or("", |note| note));
        if board.measurements.rows().len() != self.memory.answers.len() || !self.echoes.is_empty() {
            board.measurements.write(self.memory.answers.iter().map(AnswerRow));
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

    pub(super) fn refresh_progress(&mut self) {
        let total = self.plan.procedures.len();
        let banked = (0..total).filter(|i| self.is_banked(*i)).count();
        // The procedure banked last counts once its save came back.
        let durable = banked.saturating_sub(usize::from(self.bank_revision > self.storage.durable()));
        self.board.progress = if total == 0 { 1.0 } else { durable as f64 / total as f64 };
        let pending = if durable < banked { self.memory.completed.last() } else { None };
        let shown = self.plan.procedures.iter().map(|procedure| &procedure.id);
        let shown = shown.filter(|id| self.memory.completed.contains(id) && Some(*id) != pending);
        let quality = |id: &str| self.memory.quality.get(id).map_or("", String::as_str);
        self.board.banked.write(shown.map(|id| BankedRow(id, quality(id))));
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

    pub(super) fn refresh_step(&mut self) {
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

    pub(super) fn refresh_state(&mut self) {
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
            Phase::Finishing => State::Running,
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

    /// Writes the list where it stands; most loops that touch the board change no alert.
    pub(super) fn refresh_alerts(&mut self) {
        let mut alerts = std::mem::take(&mut self.alerts);
        let (mut changed, mut count) = (false, 0);
        self.each_alert(&mut |level, parts| {
            if count == alerts.len() {
                alerts.push(Alert { level, text: String::with_capacity(160) });
            }
            if let Some(alert) = alerts.get_mut(count)
                && (count >= self.alerts_shown || alert.level != level || !is_joined(&alert.text, parts))
            {
                alert.level = level;
                alert.text.clear();
                parts.iter().for_each(|part| alert.text.push_str(part));
                changed = true;
            }
            count += 1;
        });
        changed |= count < self.alerts_shown;
        (self.alerts, self.alerts_shown) = (alerts, count);
        self.alerts_changes += u32::from(changed);
    }

    /// Every alert that stands, its text in parts.
    pub(super) fn each_alert(&self, put: &mut dyn FnMut(AlertLevel, &[&str])) {
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
}

/// A row of `Measurements`.
struct AnswerRow<'a>((&'a Arc<str>, &'a Answer));

impl fmt::Display for AnswerRow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self((key, answer)) = self;
        write!(f, "{key}|{}", text::JavaDouble(answer.value))
    }
}

/// A row of `Banked`.
struct BankedRow<'a>(&'a str, &'a str);

impl fmt::Display for BankedRow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(id, quality) = self;
        write!(f, "{id}|{quality}")
    }
}

/// A row of `PreArm`.
struct Row<'a>(&'a PreArmFact);

impl fmt::Display for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(fact) = self;
        match &fact.verdict {
            PreArmVerdict::Pass => write!(f, "{}|pass", fact.item.name()),
            PreArmVerdict::Warn(reason) => write!(f, "{}|warn|{reason}", fact.item.name()),
            PreArmVerdict::Fail(reason) => write!(f, "{}|fail|{reason}", fact.item.name()),
        }
    }
}

/// Whether `text` is these parts, one after another.
fn is_joined(text: &str, parts: &[&str]) -> bool {
    parts.iter().try_fold(text, |left, part| left.strip_prefix(part)).is_some_and(str::is_empty)
}
