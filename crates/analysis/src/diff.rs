//! What the robot believes against what the field measured.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::AnalysisError;
use crate::findings::{Constant, Findings, Verdict};

/// What to do about a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Advice {
    /// The difference is larger than tolerance and uncertainty together.
    Change,
    /// The difference is inside the tolerance, and the measurement is good enough to say so.
    Keep,
    /// The measurement's own uncertainty hides the answer.
    CannotTell,
    /// Believed, and nothing measured under that name.
    NotMeasured,
    /// Measured, and nothing believed under that name.
    NotBelieved,
}

impl Advice {
    /// The words for a table.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Change => "change",
            Self::Keep => "keep",
            Self::CannotTell => "cannot tell",
            Self::NotMeasured => "not measured",
            Self::NotBelieved => "not in the constants",
        }
    }
}

/// One line of the comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DiffRow {
    /// The constant's name.
    pub name: String,
    /// What the constants say.
    pub believed: Option<f64>,
    /// What the field says.
    pub measured: Option<f64>,
    /// Half-width of the measurement's 95 % interval.
    pub uncertainty: Option<f64>,
    /// The difference that does not matter, in the constant's unit.
    pub tolerance: Option<f64>,
    /// (measured − believed) / |believed|, percent.
    pub percent: Option<f64>,
    /// The constant's unit, when it was measured.
    pub unit: Option<String>,
    /// What to do.
    pub advice: Advice,
    /// Why, where that is not plain.
    pub reason: Option<String>,
}

/// Difference that does not matter, relative to the measured value, by name.
const TOLERANCES: [(&str, f64); 7] = [
    ("kS", 0.10),
    ("kV", 0.01),
    ("kA", 0.20),
    ("wheel_radius_m", 0.005),
    ("wheel_radius_taped_m", 0.005),
    ("wheel_radius_in", 0.005),
    ("slip_current_a", 0.10),
];
const OTHER_TOLERANCE: f64 = 0.02;
const INCH_M: f64 = 0.0254;

/// Reads a constants file: a flat JSON object of numbers. Anything that is not a number, `true` included, is an error
/// that names the key.
///
/// # Errors
/// [`AnalysisError::Constants`].
pub fn parse_constants(path: &str, text: &str) -> Result<BTreeMap<String, f64>, AnalysisError> {
    let wrong = |found: String| AnalysisError::Constants { path: path.to_owned(), found };
    let json: serde_json::Value = serde_json::from_str(text).map_err(|e| wrong(e.to_string()))?;
    let object = json.as_object().ok_or_else(|| wrong("something that is not an object".to_owned()))?;
    object
        .iter()
        .map(|(name, value)| match value.as_f64() {
            Some(number) => Ok((name.clone(), number)),
            None => Err(wrong(format!("{name}: {value}"))),
        })
        .collect()
}

/// Compares `believed` (a constants file, or the constants in force) with the findings. Rows are sorted by name; nothing
/// on either side vanishes.
#[must_use]
pub fn diff(findings: &Findings, believed: &BTreeMap<String, f64>) -> Vec<DiffRow> {
    let mut measured: BTreeMap<String, Constant> =
        findings.constants.iter().map(|c| (c.name.clone(), c.clone())).collect();
    if let Some(metres) = measured.get("wheel_radius_m").filter(|_| believed.contains_key("wheel_radius_in"))
    {
        let mut inches = metres.clone();
        "wheel_radius_in".clone_into(&mut inches.name);
        "in".clone_into(&mut inches.unit);
        for slot in [&mut inches.value, &mut inches.lo, &mut inches.hi] {
            *slot = slot.map(|m| m / INCH_M);
        }
        if !believed.contains_key("wheel_radius_m") {
            measured.remove("wheel_radius_m");
        }
        measured.insert(inches.name.clone(), inches);
    }
    let mut names: Vec<&String> = believed.keys().chain(measured.keys()).collect();
    names.sort();
    names.dedup();
    names.into_iter().map(|name| row(name, believed.get(name).copied(), measured.get(name))).collect()
}

fn row(name: &str, believed: Option<f64>, constant: Option<&Constant>) -> DiffRow {
    let value = constant.and_then(|c| c.value);
    let half = constant.and_then(|c| Some(0.5 * (c.hi? - c.lo?)));
    let relative = TOLERANCES.iter().find(|(n, _)| *n == name).map_or(OTHER_TOLERANCE, |(_, t)| *t);
    let mut row = DiffRow {
        name: name.to_owned(),
        believed,
        measured: value,
        uncertainty: half,
        tolerance: value.map(|v| v.abs() * relative),
        percent: believed.zip(value).filter(|(b, _)| *b != 0.0).map(|(b, v)| (v - b) / b.abs() * 100.0),
        unit: constant.map(|c| c.unit.clone()),
        advice: Advice::CannotTell,
        reason: None,
    };
    match (believed, value) {
        (None, _) => row.advice = Advice::NotBelieved,
        (Some(_), None) => {
            row.advice = Advice::NotMeasured;
            row.reason = constant.and_then(|c| c.verdict.reason().map(str::to_owned));
        }
        (Some(believed), Some(value)) => {
            let (distance, tolerance) = ((value - believed).abs(), value.abs() * relative);
            let flagged = constant.and_then(|c| match &c.verdict {
                Verdict::Flagged { reason } => Some(reason.clone()),
                _ => None,
            });
            (row.advice, row.reason) = match (half, flagged) {
                (_, Some(reason)) => (Advice::CannotTell, Some(reason)),
                (None, None) => (Advice::CannotTell, Some("the measurement has no interval".to_owned())),
                (Some(half), None) if distance - half > tolerance => (Advice::Change, None),
                (Some(half), None) if distance <= tolerance && half <= tolerance.max(distance) => {
                    (Advice::Keep, None)
                }
                (Some(_), None) => (
                    Advice::CannotTell,
                    Some("the difference is inside tolerance and uncertainty together".to_owned()),
                ),
            };
        }
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(name: &str, value: f64, half: f64) -> Findings {
        let constant = Constant {
            name: name.to_owned(),
            label: String::new(),
            value: Some(value),
            lo: Some(value - half),
            hi: Some(value + half),
            unit: "V".to_owned(),
            n: 3,
            method: String::new(),
            evidence: Vec::new(),
            verdict: Verdict::Measured,
            remarks: Vec::new(),
        };
        Findings { constants: vec![constant], ..Findings::default() }
    }

    fn advice(value: f64, half: f64, believed: f64) -> Advice {
        diff(&measured("kV", value, half), &BTreeMap::from([("kV".to_owned(), believed)]))[0].advice
    }

    #[test]
    fn t17_change_keep_and_cannot_tell() {
        assert_eq!(advice(2.50, 0.01, 2.70), Advice::Change);
        assert_eq!(advice(2.50, 0.01, 2.51), Advice::Keep);
        assert_eq!(advice(2.50, 0.10, 2.58), Advice::CannotTell);
        assert_eq!(advice(2.50, 0.10, 2.50), Advice::CannotTell, "agreement by luck is not agreement");
    }

    #[test]
    fn t17_nothing_vanishes_on_either_side() {
        let rows = diff(&measured("kV", 2.5, 0.01), &BTreeMap::from([("kv".to_owned(), 2.5)]));
        let told: Vec<(&str, Advice)> = rows.iter().map(|r| (r.name.as_str(), r.advice)).collect();
        assert_eq!(told, [("kV", Advice::NotBelieved), ("kv", Advice::NotMeasured)]);
        assert_eq!(rows[1].percent, None);
    }

    #[test]
    fn inches_are_compared_as_inches() {
        let rows = diff(
            &measured("wheel_radius_m", 0.0508, 1e-4),
            &BTreeMap::from([("wheel_radius_in".to_owned(), 2.0)]),
        );
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].advice, Advice::Keep);
        assert!((rows[0].measured.unwrap() - 2.0).abs() < 1e-9);
    }

    #[test]
    fn t16_bad_constants_are_typed_errors_that_name_the_key() {
        assert_eq!(parse_constants("c.json", r#"{"kV": 2}"#).unwrap()["kV"], 2.0);
        for (text, word) in [("[1]", "not an object"), (r#"{"kV": true}"#, "kV: true"), ("{", "EOF")] {
            let error = parse_constants("c.json", text).unwrap_err().to_string();
            assert!(error.contains("c.json") && error.contains(word), "{error}");
        }
    }
}
