//! The declared inputs: the only topics whose writes reach the campaign.
//!
//! Every one is a plain number or text that a dashboard can set, none is a command. Their order is the order of
//! [`InputId`]; the robot declares them on the server and publishes the manifest, from which dashboards learn ranges.

use fieldlab_base::InputId;
use serde::Serialize;

use crate::model::{Plan, StepKind};

/// Where the manifest is published; a string topic.
pub const MANIFEST_TOPIC: &str = "/Catalyst/Tunables/.manifest";
/// A tablet reads the manifest into a buffer of so many bytes, its terminator included, and shows no input of one that does
/// not fit.
pub const MANIFEST_BYTES: usize = 8192;
/// What every input's topic begins with.
pub const ROOT: &str = "/Catalyst/Tuning/FieldLab";
/// The group that dashboards show the inputs in.
pub const GROUP: &str = "Field Lab";

/// What an input is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The number typed, whatever the question.
    Value,
    /// A change commits.
    Advance,
    /// A change says that what stands in the input is meant once more.
    SameAgain,
    /// A change asks for the last answer again.
    Redo,
    /// A change gives up what is asked for, with the reason that stands in `SkipReason`.
    Skip,
    /// Why.
    SkipReason,
    /// The number typed for one question alone.
    Answer {
        /// Index of the procedure.
        procedure: usize,
        /// Index of the step.
        step: usize,
    },
}

/// What a dashboard shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Control {
    /// A double.
    Number {
        /// What the robot publishes before anybody wrote; inside the range and on its step.
        initial: f64,
        /// Lowest.
        min: f64,
        /// Highest.
        max: f64,
        /// Of a slider.
        step: f64,
    },
    /// A string, empty at first.
    Text,
}

/// One declared input.
#[derive(Debug, Clone, PartialEq)]
pub struct InputSpec {
    /// Absolute topic.
    pub topic: String,
    /// What a dashboard calls it.
    pub name: String,
    /// Unit of its number; empty when it has none.
    pub unit: String,
    /// What it is for.
    pub role: Role,
    /// How it is set.
    pub control: Control,
}

/// Half the range of `Value`, and of a question that has no range of its own.
const WIDE: f64 = 1000.0;
const TOGGLE: Control = Control::Number { initial: 0.0, min: 0.0, max: 1.0, step: 1.0 };

/// The declared inputs of a plan, in the order of their [`InputId`]s.
#[must_use]
pub fn declared(plan: &Plan) -> Vec<InputSpec> {
    let fixed = |name: &str, role, control| InputSpec {
        topic: format!("{ROOT}/{name}"),
        name: name.to_owned(),
        unit: String::new(),
        role,
        control,
    };
    let wide = Control::Number { initial: 0.0, min: -WIDE, max: WIDE, step: 0.001 };
    let mut all = vec![
        fixed("Value", Role::Value, wide),
        fixed("Advance", Role::Advance, TOGGLE),
        fixed("SameAgain", Role::SameAgain, TOGGLE),
        fixed("Redo", Role::Redo, TOGGLE),
        fixed("Skip", Role::Skip, TOGGLE),
        fixed("SkipReason", Role::SkipReason, Control::Text),
    ];
    for (p, procedure) in plan.procedures.iter().enumerate() {
        for (s, step) in procedure.steps.iter().enumerate() {
            if let StepKind::Measure { key, unit, min, max, step: grain, .. } = &step.kind {
                let low = min.unwrap_or(max.map_or(-WIDE, |m| m - 2.0 * WIDE));
                let high = max.unwrap_or(min.map_or(WIDE, |m| m + 2.0 * WIDE));
                let initial = if min.is_none() && max.is_none() { 0.0 } else { low };
                all.push(InputSpec {
                    topic: format!("{ROOT}/Answers/{}/{key}", procedure.id),
                    name: format!("{}/{key}", procedure.id),
                    unit: unit.clone(),
                    role: Role::Answer { procedure: p, step: s },
                    control: Control::Number { initial, min: low, max: high, step: *grain },
                });
            }
        }
    }
    all
}

/// The id of the input at `index`.
#[must_use]
pub fn id(index: usize) -> InputId {
    InputId(u16::try_from(index).unwrap_or(u16::MAX))
}

#[derive(Serialize)]
struct Row<'a> {
    key: &'a str,
    name: &'a str,
    group: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<f64>,
    #[serde(skip_serializing_if = "str::is_empty")]
    unit: &'a str,
}

/// The rows of the tunables manifest for these inputs, a JSON array with absolute keys.
#[must_use]
pub fn manifest(inputs: &[InputSpec]) -> String {
    let rows: Vec<Row<'_>> = inputs
        .iter()
        .map(|input| {
            let (min, max, step) = match input.control {
                Control::Number { min, max, step, .. } => (Some(min), Some(max), Some(step)),
                Control::Text => (None, None, None),
            };
            Row { key: &input.topic, name: &input.name, group: GROUP, min, max, step, unit: &input.unit }
        })
        .collect();
    // Texts and finite numbers only: it cannot fail.
    serde_json::to_string(&rows).unwrap_or_default()
}
