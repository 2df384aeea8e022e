//! What a rehearsal found, beside what it should have found.

use std::path::PathBuf;

use fieldlab_analysis::findings::Findings;
use fieldlab_sim::rehearsal::Rehearsal;
use serde_json::{Value, json};

use crate::out;

/// A fitted constant beside the simulator's own.
struct Row {
    name: &'static str,
    unit: String,
    fitted: Option<f64>,
    lo: Option<f64>,
    hi: Option<f64>,
    truth: f64,
    verdict: String,
    reason: Option<String>,
}

impl Row {
    fn error_percent(&self) -> Option<f64> {
        self.fitted
            .filter(|_| self.truth != 0.0)
            .map(|fitted| (fitted - self.truth) / self.truth.abs() * 100.0)
    }
}

fn rows(rehearsal: &Rehearsal, findings: Option<&Findings>) -> Vec<Row> {
    let truth = &rehearsal.truth;
    [
        ("kS", "V", truth.ks_volts),
        ("kV", "V/(m/s)", truth.kv_volts_per_mps),
        ("kA", "V/(m/s²)", truth.ka_volts_per_mps2),
        ("wheel_radius_m", "m", truth.wheel_radius_m),
        ("slip_current_a", "A", truth.slip_current_a),
    ]
    .into_iter()
    .map(|(name, unit, truth)| match findings.and_then(|findings| findings.constant(name)) {
        Some(constant) => Row {
            name,
            unit: constant.unit.clone(),
            fitted: constant.value,
            lo: constant.lo,
            hi: constant.hi,
            truth,
            verdict: constant.verdict.word().to_owned(),
            reason: constant.verdict.reason().map(str::to_owned),
        },
        None => Row {
            name,
            unit: unit.to_owned(),
            fitted: None,
            lo: None,
            hi: None,
            truth,
            verdict: "missing".to_owned(),
            reason: Some("the logs hold nothing to fit it to".to_owned()),
        },
    })
    .collect()
}

/// The one JSON object of `--json`.
pub(super) fn machine(rehearsal: &Rehearsal, findings: Option<&Findings>, reports: &[PathBuf]) -> Value {
    let constants: Vec<Value> = rows(rehearsal, findings)
        .iter()
        .map(|row| {
            json!({
                "name": row.name, "unit": row.unit, "fitted": row.fitted, "lo": row.lo, "hi": row.hi,
                "truth": row.truth, "error_percent": row.error_percent(), "verdict": row.verdict,
                "reason": row.reason,
            })
        })
        .collect();
    json!({
        "seed": rehearsal.seed,
        "session": rehearsal.session,
        "state": rehearsal.state,
        "files": rehearsal.files,
        "reports": reports,
        "procedures": rehearsal.procedures,
        "not_banked": findings.map(Findings::not_banked).unwrap_or_default(),
        "pack_swaps": rehearsal.swaps,
        "reboots": rehearsal.reboots,
        "simulated_secs": rehearsal.secs,
        "fault": rehearsal.fault,
        "constants": constants,
    })
}

/// The table under the report, then every file's name.
pub(super) fn table(rehearsal: &Rehearsal, findings: &Findings, reports: &[PathBuf]) -> String {
    let cells: Vec<Vec<String>> = rows(rehearsal, Some(findings))
        .iter()
        .map(|row| {
            let interval = match (row.lo, row.hi) {
                (Some(lo), Some(hi)) => format!("{lo:.5} … {hi:.5}"),
                _ => "-".to_owned(),
            };
            vec![
                row.name.to_owned(),
                row.unit.clone(),
                row.fitted.map_or_else(|| "-".to_owned(), |fitted| format!("{fitted:.5}")),
                interval,
                format!("{:.5}", row.truth),
                row.error_percent().map_or_else(|| "-".to_owned(), |percent| format!("{percent:+.2} %")),
                row.verdict.clone(),
            ]
        })
        .collect();
    let mut text = String::from("\n## Beside the simulator's own truth\n\n");
    let head = ["constant", "unit", "fitted", "95 % interval", "truth", "error", "verdict"];
    text.push_str(&out::table(&head, &cells, &[2, 3, 4, 5]));
    text.push_str("\n## Files\n\n");
    for file in rehearsal.files.iter().chain(reports) {
        text.push_str(&format!("- {}\n", file.display()));
    }
    text
}
