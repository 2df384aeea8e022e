//! The topics under `/Catalyst/FieldLab/`, at the names and types that dashboards know.

use std::sync::Arc;

use fieldlab_base::{ConfigError, Micros};
use fieldlab_values::{DataType, Publish, Published, Publisher, Root, TopicSpec, ValueRef};

use crate::runner::{Board, Rows, Runner, Text};

/// Numbers and texts are repeated this often even when nothing changes, so that a log of any stretch holds them.
const HEARTBEAT: Micros = Micros::from_millis(1000);

/// How a topic's value is read off the board.
type Read<T> = fn(&Board) -> T;
type ReadRef<T> = for<'a> fn(&'a Board) -> &'a T;

/// (key, how to read it, whether it is too long for the heartbeat).
const TEXTS: [(&str, ReadRef<Text>, bool); 13] = [
    ("Session", |b| &b.session, false),
    ("Campaign", |b| &b.campaign, false),
    ("Procedure", |b| &b.procedure, false),
    ("ProcedureId", |b| &b.procedure_id, false),
    ("Step", |b| &b.step, false),
    ("StepKind", |b| &b.step_kind, false),
    ("LastNote", |b| &b.last_note, true),
    ("Prompt", |b| &b.prompt, false),
    ("PromptUnit", |b| &b.prompt_unit, false),
    ("PromptKey", |b| &b.prompt_key, false),
    ("LastCommit", |b| &b.last_commit, false),
    ("Hold", |b| &b.hold, false),
    ("Fault", |b| &b.fault, false),
];
const ROWS: [(&str, ReadRef<Rows>); 4] = [
    ("Notes", |b| &b.notes),
    ("Measurements", |b| &b.measurements),
    ("Banked", |b| &b.banked),
    ("PreArm", |b| &b.pre_arm),
];
const INTS: [(&str, Read<i64>); 5] = [
    ("ProcedureIndex", |b| b.procedure_index),
    ("ProcedureCount", |b| b.procedure_count),
    ("StepIndex", |b| b.step_index),
    ("StepCount", |b| b.step_count),
    ("PromptSeq", |b| b.prompt_seq),
];
/// What is not known is not there: the topic is retracted until there is a number again.
const DOUBLES: [(&str, Read<Option<f64>>); 9] = [
    ("Progress", |b| Some(b.progress)),
    ("ElapsedSeconds", |b| Some(b.elapsed_secs)),
    ("RemainingSeconds", |b| Some(b.remaining_secs)),
    ("EstimatedSeconds", |b| Some(b.estimated_secs)),
    ("BatteryVolts", |b| b.battery_volts),
    ("PromptMin", |b| b.prompt_min),
    ("PromptMax", |b| b.prompt_max),
    ("GateMinVolts", |b| b.gate_min_volts),
    ("GateResumeVolts", |b| b.gate_resume_volts),
];

/// A declared topic and what was last written to it.
#[derive(Debug)]
struct Slot<T: ?Sized, L> {
    topic: Publisher<T>,
    last: Option<L>,
}

fn declare<T: Published + ?Sized, L, R>(
    to: &mut dyn Publish,
    table: &[(&str, R)],
) -> Result<Vec<Slot<T, L>>, ConfigError> {
    let one = |(key, _): &(&str, R)| {
        Ok(Slot { topic: Publisher::catalyst(to, &format!("FieldLab/{key}"))?, last: None })
    };
    table.iter().map(one).collect()
}

/// Every topic of the campaign, declared once for the life of the process; runners come and go.
///
/// [`Topics::publish`] writes what changed, and once a second everything but the long texts and the lists. In a loop in
/// which nothing changes it neither allocates nor copies a text.
#[derive(Debug)]
pub struct Topics {
    state: Slot<str, crate::State>,
    /// Index and changes of the plan, which is of type json.
    plan: (u32, Option<u32>),
    enabled: Slot<bool, bool>,
    texts: Vec<Slot<str, u32>>,
    rows: Vec<Slot<[Arc<str>], u32>>,
    ints: Vec<Slot<i64, i64>>,
    /// Last is the number's bits, or that it was retracted.
    doubles: Vec<Slot<f64, Option<u64>>>,
    birth: Option<Micros>,
    beat: Micros,
    /// Of the board that was written last.
    seen: Option<u32>,
}

impl Topics {
    /// Declares them.
    ///
    /// # Errors
    /// When one was declared before.
    pub fn declare(to: &mut dyn Publish) -> Result<Self, ConfigError> {
        let texts: Vec<(&str, ())> = TEXTS.iter().map(|(key, ..)| (*key, ())).collect();
        let plan =
            TopicSpec { root: Root::Catalyst, key: "FieldLab/Plan", data_type: DataType::Json, unit: "" };
        Ok(Self {
            plan: (to.declare(&plan)?, None),
            state: Slot { topic: Publisher::catalyst(to, "FieldLab/State")?, last: None },
            enabled: Slot { topic: Publisher::catalyst(to, "FieldLab/Enabled")?, last: None },
            texts: declare(to, &texts)?,
            rows: declare(to, &ROWS)?,
            ints: declare(to, &INTS)?,
            doubles: declare(to, &DOUBLES)?,
            birth: None,
            beat: Micros::MIN,
            seen: None,
        })
    }

    /// Writes what the runner shows now.
    pub fn publish(&mut self, runner: &Runner, to: &mut dyn Publish) {
        let board = runner.board();
        let other = self.birth != Some(runner.birth());
        let all = other || runner.now().since(self.beat) >= HEARTBEAT;
        if all {
            self.birth = Some(runner.birth());
            self.beat = runner.now();
        }
        if all || self.seen != Some(runner.board_changes()) {
            self.seen = Some(runner.board_changes());
            self.words(board, (other, all), to);
        }
        for (slot, (_, read)) in self.doubles.iter_mut().zip(&DOUBLES) {
            let value = read(board);
            let bits = value.map(f64::to_bits);
            if all || slot.last != Some(bits) {
                slot.last = Some(bits);
                match &value {
                    Some(value) => slot.topic.set(to, value),
                    None => slot.topic.retract(to),
                }
            }
        }
    }

    /// What changes seldom. `other` says that it is another runner's board, `all` that it is time to repeat.
    fn words(&mut self, board: &Board, (other, all): (bool, bool), to: &mut dyn Publish) {
        if all || self.state.last != Some(board.state) {
            self.state.last = Some(board.state);
            self.state.topic.set(to, board.state.token());
        }
        if all || self.enabled.last != Some(board.enabled) {
            self.enabled.last = Some(board.enabled);
            self.enabled.topic.set(to, &board.enabled);
        }
        if other || self.plan.1 != Some(board.plan.changes()) {
            self.plan.1 = Some(board.plan.changes());
            to.put(self.plan.0, ValueRef::String(board.plan.as_str()));
        }
        for (slot, (_, read, long)) in self.texts.iter_mut().zip(&TEXTS) {
            let text = read(board);
            if other || (all && !long) || slot.last != Some(text.changes()) {
                slot.last = Some(text.changes());
                slot.topic.set(to, text.as_str());
            }
        }
        for (slot, (_, read)) in self.rows.iter_mut().zip(&ROWS) {
            let rows = read(board);
            if other || slot.last != Some(rows.changes()) {
                slot.last = Some(rows.changes());
                slot.topic.set(to, rows.rows());
            }
        }
        for (slot, (_, read)) in self.ints.iter_mut().zip(&INTS) {
            let value = read(board);
            if all || slot.last != Some(value) {
                slot.last = Some(value);
                slot.topic.set(to, &value);
            }
        }
    }
}
