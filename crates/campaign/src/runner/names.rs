//! Names that are made once, so that saying them in a loop costs nothing: ids of the plan, and the keys of a session's
//! records.

use std::collections::BTreeMap;
use std::sync::Arc;

use fieldlab_values::DataType;

use crate::channels::{self, FIELD_LAB};
use crate::io::LogKey;
use crate::model::{Plan, StepKind};
use crate::text;

/// A question of the plan.
#[derive(Debug, Clone)]
pub(super) struct Question {
    /// `<procedure>/<key>`.
    pub(super) full: Arc<str>,
    pub(super) unit: Arc<str>,
}

/// A procedure of the plan.
#[derive(Debug)]
pub(super) struct ProcedureNames {
    pub(super) id: Arc<str>,
    pub(super) hash: Arc<str>,
    /// By step.
    questions: Vec<Option<Question>>,
}

/// The plan's names, by procedure.
#[derive(Debug)]
pub(super) struct PlanNames(Vec<ProcedureNames>);

impl PlanNames {
    pub(super) fn of(plan: &Plan) -> Self {
        let question = |id: &str, kind: &StepKind| match kind {
            StepKind::Measure { key, unit, .. } => {
                Some(Question { full: format!("{id}/{key}").into(), unit: unit.as_str().into() })
            }
            _ => None,
        };
        let names = plan.procedures.iter().map(|p| ProcedureNames {
            id: p.id.as_str().into(),
            hash: p.hash().into(),
            questions: p.steps.iter().map(|s| question(&p.id, &s.kind)).collect(),
        });
        Self(names.collect())
    }

    pub(super) fn procedure(&self, procedure: usize) -> Option<&ProcedureNames> {
        self.0.get(procedure)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &ProcedureNames> {
        self.0.iter()
    }

    pub(super) fn question(&self, procedure: usize, step: usize) -> Option<&Question> {
        self.0.get(procedure)?.questions.get(step)?.as_ref()
    }

    /// Where the question `<procedure>/<key>` stands in the plan.
    pub(super) fn locate(&self, full: &str) -> Option<(usize, usize)> {
        self.0.iter().enumerate().find_map(|(p, names)| {
            let is = |q: &Option<Question>| q.as_ref().is_some_and(|q| &*q.full == full);
            Some((p, names.questions.iter().position(is)?))
        })
    }
}

/// Every key that a record of this runner has had or can have; only ever added to.
#[derive(Debug, Default)]
pub(super) struct KeyTable {
    keys: Vec<LogKey>,
    known: BTreeMap<Arc<str>, u32>,
}

impl KeyTable {
    pub(super) fn keys(&self) -> &[LogKey] {
        &self.keys
    }

    pub(super) fn key(&mut self, key: String, data_type: DataType, sticky: bool) -> u32 {
        if let Some(known) = self.known.get(key.as_str()) {
            return *known;
        }
        let index = self.keys.len() as u32;
        let key: Arc<str> = key.into();
        self.known.insert(Arc::clone(&key), index);
        self.keys.push(LogKey { key, data_type, sticky });
        index
    }
}

/// One number under the reference's key and under the session's.
pub(super) type Both = [u32; 2];

/// Keys of what a procedure's step logs.
#[derive(Debug)]
pub(super) enum StepKeys {
    Nothing,
    Answer { value: u32, unit: u32 },
    Seconds(u32),
}

/// Keys of a sweep's setpoints.
#[derive(Debug)]
pub(super) struct ShotKeys {
    pub(super) at: Both,
    pub(super) values: [Both; 2],
    pub(super) row: u32,
}

#[derive(Debug)]
pub(super) struct ProcedureKeys {
    pub(super) started: Both,
    pub(super) finished: Both,
    pub(super) shot: Option<ShotKeys>,
    pub(super) steps: Vec<StepKeys>,
}

/// The keys of one session's records.
#[derive(Debug)]
pub(super) struct SessionKeys {
    pub(super) header: u32,
    pub(super) events: u32,
    pub(super) procedures: Vec<ProcedureKeys>,
}

impl SessionKeys {
    pub(super) fn of(plan: &Plan, session: &str, table: &mut KeyTable) -> Self {
        Self {
            header: table.key(channels::session(session, channels::HEADER), DataType::Json, true),
            events: table.key(channels::session(session, channels::EVENTS), DataType::Json, false),
            procedures: plan.procedures.iter().map(|p| procedure_keys(p, session, table)).collect(),
        }
    }
}

fn procedure_keys(of: &crate::ProcedurePlan, session: &str, table: &mut KeyTable) -> ProcedureKeys {
    let id = &of.id;
    let mut both = |what: &str| {
        [
            table.key(format!("{FIELD_LAB}/{id}/{what}"), DataType::Double, false),
            table.key(channels::session(session, &format!("{id}/{what}")), DataType::Double, false),
        ]
    };
    let (started, finished) = (both("Started"), both("Finished"));
    let shoots = of.steps.iter().any(|s| matches!(s.kind, StepKind::Act { shot: Some(_), .. }));
    let shot = shoots.then(|| (both("At"), [both("First"), both("Second")]));
    let shot = shot.map(|(at, values)| {
        let row = table.key(channels::session(session, &format!("{id}/Row")), DataType::Int, false);
        ShotKeys { at, values, row }
    });
    let steps = of.steps.iter().map(|step| match &step.kind {
        StepKind::Measure { key, .. } => answer_keys(&format!("{id}/{key}"), session, table),
        StepKind::Act { .. } => {
            let key = format!("{id}/{}.seconds", text::safe(&step.label));
            StepKeys::Seconds(table.key(channels::session(session, &key), DataType::Double, false))
        }
        _ => StepKeys::Nothing,
    });
    let steps = steps.collect();
    ProcedureKeys { started, finished, shot, steps }
}

/// The keys of the answer to `<procedure>/<key>`.
pub(super) fn answer_keys(full: &str, session: &str, table: &mut KeyTable) -> StepKeys {
    let key = channels::session(session, full);
    StepKeys::Answer {
        unit: table.key(format!("{key}.unit"), DataType::String, false),
        value: table.key(key, DataType::Double, false),
    }
}
