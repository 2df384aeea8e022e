//! The findings as JSON: the offline tool's field names, and everything else beside them.

use fieldlab_analysis::findings::Findings;
use serde_json::{Map, Value, json};

const INCH_M: f64 = 0.0254;

/// One JSON object with sorted keys and a final newline. Numbers that are not finite are `null`.
///
/// The names of the reference tool (`session`, `campaign`, `procedures`, `measurements`, `units`, `notes`, `channels`,
/// `feedforward`, `odometry_drift`, `thermal`, `calibrations`, `wheel_radius_cross_check`, `sweeps`) keep their shapes;
/// `constants`, `problems`, `logs` and the details of each fit are additions.
#[must_use]
pub fn json(findings: &Findings) -> String {
    let mut text = serde_json::to_string_pretty(&value(findings)).unwrap_or_default();
    text.push('\n');
    text
}

/// The same as a JSON value, for a caller that puts it into an object of its own.
#[must_use]
pub fn json_value(findings: &Findings) -> Value {
    value(findings)
}

fn value(f: &Findings) -> Value {
    let mut out = Map::new();
    let mut put = |name: &str, value: Value| out.insert(name.to_owned(), value);
    put("schema", json!("fieldlab.findings/1"));
    put("session", json!(f.session.clone().unwrap_or_default()));
    put("campaign", json!(f.campaign.clone().unwrap_or_default()));
    let ran = f.procedures.iter().filter(|p| !p.windows.is_empty());
    put("procedures", ran.map(|p| json!(p.id)).collect());
    put("not_banked", f.procedures.iter().filter(|p| !p.banked()).map(|p| json!(p.id)).collect());
    put("measurements", measurements(f));
    put("units", units(f));
    put("notes", f.notes.iter().map(|n| json!(n.text)).collect());
    put("note_counts", f.notes.iter().map(|n| json!(n.count)).collect());
    put("channels", json!(f.channels));
    put("constants", plain(&f.constants));
    put("problems", plain(&f.problems));
    put("logs", plain(&f.logs));
    put("provenance", plain(&f.provenance));
    put("other_sessions", plain(&f.other_sessions));
    put("state", plain(&f.state));
    put("duration_secs", plain(&f.duration_secs));
    put("procedure_details", plain(&f.procedures));
    put("timeline", plain(&f.timeline));
    put("answers", plain(&f.measurements));
    for (name, value) in [
        ("feedforward", feedforward(f)),
        ("odometry_drift", drift(f)),
        ("thermal", thermal(f)),
        ("calibrations", calibrations(f)),
        ("wheel_radius_cross_check", cross_check(f)),
        ("sweeps", sweeps(f)),
        ("wheel_radius", f.wheel_radius.as_ref().map(plain)),
        ("slip_current", f.slip_current.as_ref().map(plain)),
        ("straight_run", f.straight.as_ref().map(plain)),
        ("vision_pose", f.vision.as_ref().map(plain)),
    ] {
        if let Some(value) = value {
            put(name, value);
        }
    }
    Value::Object(out)
}

fn plain<T: serde::Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or(Value::Null)
}

fn measurements(f: &Findings) -> Value {
    let pairs = f.measurements.iter().map(|m| (format!("{}/{}", m.procedure, m.key), json!(m.value)));
    Value::Object(pairs.collect())
}

fn units(f: &Findings) -> Value {
    let pairs = f
        .measurements
        .iter()
        .filter_map(|m| Some((format!("{}/{}", m.procedure, m.key), json!(m.unit.as_ref()?))));
    Value::Object(pairs.collect())
}

fn feedforward(f: &Findings) -> Option<Value> {
    let ff = f.feedforward.as_ref()?;
    let mut out = match plain(ff) {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    let gains = ff.per_true_metre.or(ff.mean);
    for (name, value) in [
        ("kS", gains.map(|g| g.ks.value)),
        ("kV", gains.map(|g| g.kv.value)),
        ("kA", gains.map(|g| g.ka.value)),
    ] {
        out.insert(name.to_owned(), json!(value));
    }
    Some(Value::Object(out))
}

fn drift(f: &Findings) -> Option<Value> {
    let drift = f.drift.as_ref()?;
    let laps: Map<String, Value> = f
        .measurements
        .iter()
        .filter(|m| m.procedure == "odometry-drift" && m.key.contains("error"))
        .map(|m| (m.key.clone(), json!(m.value)))
        .collect();
    Some(json!({
        "laps": laps,
        "mean_error_m": drift.mean_m.map(|m| m.value),
        "spread_m": drift.spread_m,
        "reading": drift.reading,
        "mean": drift.mean_m,
        "percent_of_path": drift.percent_of_path,
        "centroids_m": drift.centroids_m,
        "scatter_m": drift.scatter_m,
        "lap_details": drift.laps,
    }))
}

fn thermal(f: &Findings) -> Option<Value> {
    let thermal = f.thermal.as_ref()?;
    let temperatures: Map<String, Value> =
        thermal.channels.iter().map(|c| (c.name.clone(), json!(c.peak_c))).collect();
    let mut currents: Map<String, Value> =
        thermal.currents.iter().map(|(k, v)| (k.clone(), json!(v))).collect();
    for channel in &thermal.channels {
        if let (Some(peak), Some((parent, _))) = (channel.peak_amps, channel.name.rsplit_once('/')) {
            currents.insert(format!("{parent}/StatorAmps"), json!(peak));
        }
    }
    Some(json!({
        "temperature_c": temperatures,
        "current_a": currents,
        "channels": thermal.channels,
        "window": thermal.window,
        "whole_session": thermal.whole_session,
    }))
}

fn calibrations(f: &Findings) -> Option<Value> {
    let mut out = Map::new();
    if let Some(wheel) = &f.wheel_radius {
        if let Some(mean) = wheel.mean_m {
            out.insert("wheel_radius_in".to_owned(), json!(mean.value / INCH_M));
        }
        if let Some(percent) = wheel.percent_change {
            out.insert("wheel_radius_percent_change".to_owned(), json!(percent));
        }
    }
    if let Some(amps) = f.slip_current.as_ref().and_then(|s| s.amps) {
        out.insert("slip_current_a".to_owned(), json!(amps.value));
    }
    (!out.is_empty()).then_some(Value::Object(out))
}

fn cross_check(f: &Findings) -> Option<Value> {
    let wheel = f.wheel_radius.as_ref()?;
    let (caliper, mean) = (wheel.caliper_m?, wheel.mean_m?);
    Some(json!({
        "caliper_radius_in": caliper / INCH_M,
        "calibrated_radius_in": mean.value / INCH_M,
        "disagreement_in": (mean.value - caliper).abs() / INCH_M,
        "disagreement_percent": wheel.caliper_percent,
        "reading": wheel.caliper_reading,
    }))
}

fn sweeps(f: &Findings) -> Option<Value> {
    if f.sweeps.is_empty() {
        return None;
    }
    let all = f.sweeps.iter().map(|sweep| {
        let rows: Vec<Value> = sweep
            .setpoints
            .iter()
            .flat_map(|s| s.answers.iter().map(move |a| json!({"setpoint": s.label, "score": a})))
            .collect();
        let commanded: Vec<Value> = sweep
            .setpoints
            .iter()
            .flat_map(|s| {
                let times: Vec<Option<f64>> = if s.windows.is_empty() {
                    vec![None; s.answers.len()]
                } else {
                    s.windows.iter().map(|w| Some(w.from_secs)).collect()
                };
                times
                    .into_iter()
                    .map(move |t| json!({"at": s.at, "first": s.first, "second": s.second, "t": t}))
            })
            .collect();
        let value = json!({
            "rows": rows,
            "commanded": commanded,
            "title": sweep.title,
            "unit": sweep.unit,
            "setpoints": sweep.setpoints,
            "remarks": sweep.remarks,
        });
        (sweep.id.clone(), value)
    });
    Some(Value::Object(all.collect()))
}
