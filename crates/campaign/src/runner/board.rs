//! What the dashboards show, kept so that an unchanged loop copies nothing.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use crate::io::State;

/// A text that counts its changes.
#[derive(Debug, Clone)]
pub struct Text {
    text: String,
    changes: u32,
}

impl Default for Text {
    fn default() -> Self {
        // Room for most prompts, so that the loop seldom makes any.
        Self { text: String::with_capacity(160), changes: 0 }
    }
}

impl Text {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) const fn changes(&self) -> u32 {
        self.changes
    }

    pub(super) fn set(&mut self, text: &str) {
        if self.text != text {
            self.text.clear();
            self.text.push_str(text);
            self.changes += 1;
        }
    }
}

/// Rows that count their changes.
#[derive(Debug, Clone)]
pub struct Rows {
    rows: Vec<Arc<str>>,
    changes: u32,
    scratch: String,
}

impl Default for Rows {
    fn default() -> Self {
        Self { rows: Vec::with_capacity(64), changes: 0, scratch: String::with_capacity(160) }
    }
}

impl Rows {
    /// The rows.
    #[must_use]
    pub fn rows(&self) -> &[Arc<str>] {
        &self.rows
    }

    pub(crate) const fn changes(&self) -> u32 {
        self.changes
    }

    /// Makes these the rows. Rows that are the same text are kept.
    pub(super) fn share<'a>(&mut self, rows: impl Iterator<Item = &'a Arc<str>> + Clone) {
        if !self.rows.iter().eq(rows.clone()) {
            self.rows.clear();
            self.rows.extend(rows.cloned());
            self.changes += 1;
        }
    }

    /// Makes these the rows; only those that say something else than before are made anew.
    pub(super) fn write(&mut self, rows: impl Iterator<Item = impl fmt::Display>) {
        let (mut changed, mut count) = (false, 0);
        for row in rows {
            self.scratch.clear();
            // Writing into memory does not fail.
            write!(self.scratch, "{row}").ok();
            match self.rows.get_mut(count) {
                Some(old) if **old == *self.scratch => {}
                Some(old) => {
                    *old = Arc::from(self.scratch.as_str());
                    changed = true;
                }
                None => {
                    self.rows.push(Arc::from(self.scratch.as_str()));
                    changed = true;
                }
            }
            count += 1;
        }
        changed |= count < self.rows.len();
        self.rows.truncate(count);
        self.changes += u32::from(changed);
    }
}

/// Everything under `/Catalyst/FieldLab/`, as it stands after the last step.
#[derive(Debug, Clone)]
pub struct Board {
    /// `State`.
    pub state: State,
    /// `Enabled`.
    pub enabled: bool,
    /// `Session`; empty before a session began.
    pub session: Text,
    /// `Campaign`.
    pub campaign: Text,
    /// `Procedure`: the title.
    pub procedure: Text,
    /// `ProcedureId`.
    pub procedure_id: Text,
    /// `ProcedureIndex`, from zero.
    pub procedure_index: i64,
    /// `ProcedureCount`.
    pub procedure_count: i64,
    /// `Step`: the label.
    pub step: Text,
    /// `StepKind`: `act`, `measure`, `confirm`, `settle`, `battery_gate` or empty.
    pub step_kind: Text,
    /// `StepIndex`, from zero.
    pub step_index: i64,
    /// `StepCount`.
    pub step_count: i64,
    /// `Progress`: durably banked procedures of this plan, 0 to 1.
    pub progress: f64,
    /// `ElapsedSeconds`: enabled time of the session over all boots, in tenths.
    pub elapsed_secs: f64,
    /// `RemainingSeconds`: estimates of what is not banked and not done.
    pub remaining_secs: f64,
    /// `EstimatedSeconds` of the whole campaign.
    pub estimated_secs: f64,
    /// `BatteryVolts`, when a finite reading was ever seen.
    pub battery_volts: Option<f64>,
    /// `Notes`.
    pub notes: Rows,
    /// `LastNote`.
    pub last_note: Text,
    /// `Measurements`: `<procedure>/<key>|<value>`.
    pub measurements: Rows,
    /// `Banked`: `<procedure>|<quality>` of what `Progress` counts, in the plan's order.
    pub banked: Rows,
    /// `Prompt`: what is wanted from a person; empty when nothing is.
    pub prompt: Text,
    /// `PromptUnit`.
    pub prompt_unit: Text,
    /// `PromptKey`: `<procedure>/<key>` of a question.
    pub prompt_key: Text,
    /// `PromptSeq`: counts prompts over the whole session; a page commits by writing it to `Advance`.
    pub prompt_seq: i64,
    /// `PromptMin`, when a question has one.
    pub prompt_min: Option<f64>,
    /// `PromptMax`, when a question has one.
    pub prompt_max: Option<f64>,
    /// `LastCommit`: what was accepted, once it is durable, or why not.
    pub last_commit: Text,
    /// `Plan`: JSON.
    pub plan: Text,
    /// `GateMinVolts`, of the gate in force when there is one.
    pub gate_min_volts: Option<f64>,
    /// `GateResumeVolts`, of the gate in force when there is one.
    pub gate_resume_volts: Option<f64>,
    /// `PreArm`: `<name>|pass`, `<name>|warn|<reason>`, `<name>|fail|<reason>`.
    pub pre_arm: Rows,
    /// `Hold`: why nothing goes on; empty while something does.
    pub hold: Text,
    /// `Fault`: what is broken and needs somebody; empty when nothing is.
    pub fault: Text,
}

impl Board {
    pub(super) fn new() -> Self {
        Self {
            state: State::Idle,
            enabled: false,
            session: Text::default(),
            campaign: Text::default(),
            procedure: Text::default(),
            procedure_id: Text::default(),
            procedure_index: 0,
            procedure_count: 0,
            step: Text::default(),
            step_kind: Text::default(),
            step_index: 0,
            step_count: 0,
            progress: 0.0,
            elapsed_secs: 0.0,
            remaining_secs: 0.0,
            estimated_secs: 0.0,
            battery_volts: None,
            notes: Rows::default(),
            last_note: Text::default(),
            measurements: Rows::default(),
            prompt: Text::default(),
            prompt_unit: Text::default(),
            prompt_key: Text::default(),
            prompt_seq: 0,
            prompt_min: None,
            prompt_max: None,
            last_commit: Text::default(),
            plan: Text::default(),
            gate_min_volts: None,
            gate_resume_volts: None,
            banked: Rows::default(),
            pre_arm: Rows::default(),
            hold: Text::default(),
            fault: Text::default(),
        }
    }
}
