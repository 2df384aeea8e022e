//! Finds the characterisation runs in the log and hands them to the feedforward estimators, motor by motor.

use rayon::prelude::*;
use serde_json::Value;

use crate::feedforward::{self, GOOD_RESIDUAL_VOLTS, Run, Test};
use crate::findings::{Feedforward, Gains, MotorFit, RunFacts, WheelRadius, Window};
use crate::logset::Watch;
use crate::series::Series;
use crate::stats;
use crate::story::Story;
use crate::view::View;
use fieldlab_campaign::channels;

const PROCEDURE: &str = "drive-ff";
const STATE: &str = "sysid-test-state";

struct Motor {
    name: String,
    volts: Series,
    position: Series,
    velocity: Series,
}

pub(crate) fn fit(view: &View<'_>, story: &Story, watch: &mut Watch<'_>) -> Option<Feedforward> {
    let states = state_channels(view);
    let procedure = story.procedure(PROCEDURE);
    let expected = procedure.is_some_and(|p| !p.windows.is_empty());
    let mut found = Feedforward { unit: "m".to_owned(), ..Feedforward::default() };
    let Some((state_key, log)) = states.first() else {
        if !expected {
            return None;
        }
        // T10: name what was looked for.
        found.refused = Some(format!(
            "no test state in the log: looked for a text channel `{STATE}-<log>`, found none. Runs cannot be told apart without it"
        ));
        return Some(found);
    };
    if let [_, others @ ..] = states.as_slice()
        && !others.is_empty()
    {
        let names: Vec<&str> = others.iter().map(|(k, _)| k.as_str()).collect();
        found.remarks.push(format!("other characterisations in this log are left out: {}", names.join(", ")));
    }
    let spans = test_spans(view, story, &view.texts(state_key), &mut found);
    let motors = motors(view, log, &mut found);
    if motors.is_empty() {
        found.refused = Some(format!(
            "the test state is there but no motor's data: looked for voltage-<motor>-{log}, position-<motor>-{log} and \
             velocity-<motor>-{log} (a routine without a log callback writes none of them)"
        ));
        return Some(found);
    }
    let used: Vec<(Test, Window)> =
        spans.iter().filter(|(_, _, out)| out.is_none()).map(|(t, w, _)| (*t, *w)).collect();
    record_runs(view, &motors[0], spans, &mut found);
    found.missing_tests = Test::ALL
        .iter()
        .filter(|t| !used.iter().any(|(u, _)| u == *t))
        .map(|t| t.name().to_owned())
        .collect();
    watch("fitting feedforward", 0.0);
    found.motors = motors
        .par_iter()
        .map(|m| {
            let runs: Vec<Run> =
                used.iter().map(|(test, w)| rows(m, *test, *w)).filter(|r| !r.is_empty()).collect();
            feedforward::fit_motor(&m.name, &runs)
        })
        .collect();
    watch("fitting feedforward", 1.0);
    conclude(&mut found);
    Some(found)
}

/// Text channels that say which test runs, with the log name that their motors carry.
fn state_channels(view: &View<'_>) -> Vec<(String, String)> {
    view.keys()
        .into_iter()
        .filter(|k| view.is_text(k))
        .filter_map(|key| {
            let last = key.rsplit('/').next()?;
            let lower = last.to_ascii_lowercase();
            if let Some(rest) = lower.strip_prefix(STATE) {
                let log = last.get(last.len() - rest.len()..)?.trim_start_matches('-');
                return Some((key.to_owned(), log.to_owned()));
            }
            (lower.contains("sysid") && lower.contains("state")).then(|| (key.to_owned(), String::new()))
        })
        .collect()
}

/// Half-open stretches of one test each, with the reason when it is left out.
fn test_spans(
    view: &View<'_>,
    story: &Story,
    states: &[(f64, String)],
    found: &mut Feedforward,
) -> Vec<(Test, Window, Option<String>)> {
    let end = view.window().map_or(0.0, |w| w.to_secs);
    let mut spans: Vec<(Test, Window, Option<String>)> = Vec::new();
    let mut open: Option<(Test, f64)> = None;
    let mut unknown: Vec<String> = Vec::new();
    let mut close = |open: &mut Option<(Test, f64)>, at: f64| {
        if let Some((test, from)) = open.take() {
            spans.push((test, Window { from_secs: from, to_secs: at }, None));
        }
    };
    for (t, text) in states {
        let test = Test::parse(text);
        if test.is_none() && !text.is_empty() && !text.eq_ignore_ascii_case("none") && !unknown.contains(text)
        {
            unknown.push(text.clone());
        }
        if open.map(|(o, _)| o) != test {
            close(&mut open, *t);
            open = test.map(|test| (test, *t));
        }
    }
    close(&mut open, end + 1e-6);
    if !unknown.is_empty() {
        found.remarks.push(format!("test states not known and passed over: {}", unknown.join(", ")));
    }
    let dark = view.dark();
    for (_, window, out) in &mut spans {
        if let Some(gap) =
            dark.iter().find(|d| d.from_secs >= window.from_secs && d.from_secs < window.to_secs)
        {
            window.to_secs = gap.from_secs;
        }
        let acts = story.procedure(PROCEDURE).map(|p| p.acts.as_slice()).unwrap_or_default();
        let overlap = |w: &Window| w.to_secs.min(window.to_secs) - w.from_secs.max(window.from_secs);
        let act = acts.iter().max_by(|a, b| overlap(&a.window).total_cmp(&overlap(&b.window)));
        if let Some(act) = act.filter(|a| overlap(&a.window) > 0.0 && !a.usable()) {
            *out = Some(format!("the act ended as {}", act.outcome));
        }
    }
    spans
}

/// T2: voltage, position and velocity are paired by `<motor>-<log>`; without such channels the signed module channels
/// are taken. A speed without a sign never is.
fn motors(view: &View<'_>, log: &str, found: &mut Feedforward) -> Vec<Motor> {
    let keys = view.keys();
    let mut motors = Vec::new();
    if !log.is_empty() {
        for key in &keys {
            let Some(last) = key.rsplit('/').next() else { continue };
            let root = &key[..key.len() - last.len()];
            let Some(rest) = last.strip_prefix("voltage-") else { continue };
            let Some(motor) = rest.strip_suffix(log).and_then(|m| m.strip_suffix('-')) else { continue };
            let (position, velocity) =
                (format!("{root}position-{motor}-{log}"), format!("{root}velocity-{motor}-{log}"));
            if !keys.contains(position.as_str()) || !keys.contains(velocity.as_str()) {
                found.remarks.push(format!("{key} has no position or velocity beside it and is left out"));
                continue;
            }
            found.unit = unit_of(view.metadata(&velocity));
            motors.push(Motor {
                name: format!("{motor}-{log}"),
                volts: view.numbers(key),
                position: view.numbers(&position),
                velocity: view.numbers(&velocity),
            });
        }
    }
    let wanted =
        |name: &str| channels::MODULE_NAMES.iter().position(|m| name.starts_with(m)).unwrap_or(usize::MAX);
    motors.sort_by(|a, b| (wanted(&a.name), &a.name).cmp(&(wanted(&b.name), &b.name)));
    if motors.is_empty() {
        for (i, name) in channels::MODULE_NAMES.iter().enumerate() {
            let motor = Motor {
                name: format!("{name}-module"),
                volts: view.numbers(&channels::module(i, channels::APPLIED_VOLTS)),
                position: view.numbers(&channels::module(i, channels::POSITION_RADIANS)),
                velocity: view.numbers(&channels::module(i, channels::VELOCITY_RAD_PER_SEC)),
            };
            if !motor.volts.is_empty() && !motor.position.is_empty() && !motor.velocity.is_empty() {
                motors.push(motor);
            }
        }
        if !motors.is_empty() {
            "rad".clone_into(&mut found.unit);
            found.remarks.push("no SysId channels: the swerve modules' own channels were used".to_owned());
        }
    }
    motors
}

/// The length unit that an entry's metadata tells: plain text or JSON with a `unit`.
fn unit_of(metadata: Option<&str>) -> String {
    let text = metadata.unwrap_or_default();
    let unit = serde_json::from_str::<Value>(text)
        .ok()
        .and_then(|v| v.get("unit").and_then(Value::as_str).map(str::to_owned))
        .unwrap_or_else(|| text.to_owned())
        .to_ascii_lowercase();
    let unit = if unit.contains("rot") {
        "rotation"
    } else if unit.contains("rad") {
        "rad"
    } else if unit.contains("deg") {
        "deg"
    } else {
        "m"
    };
    unit.to_owned()
}

/// Rows on the records of whichever of voltage and velocity speaks more often; the others are held, never extrapolated.
fn rows(motor: &Motor, test: Test, window: Window) -> Run {
    let inside = |s: &Series| {
        (s.t.partition_point(|t| *t < window.from_secs), s.t.partition_point(|t| *t < window.to_secs))
    };
    let (v, u) = (inside(&motor.velocity), inside(&motor.volts));
    let base = if v.1 - v.0 > u.1 - u.0 { &motor.velocity.t[v.0..v.1] } else { &motor.volts.t[u.0..u.1] };
    let mut run = Run::new(test);
    for t in base {
        if let (Some(volts), Some(position), Some(velocity)) =
            (motor.volts.at(*t), motor.position.at(*t), motor.velocity.at(*t))
        {
            run.push(*t, volts, position, velocity);
        }
    }
    run
}

fn record_runs(
    view: &View<'_>,
    first: &Motor,
    spans: Vec<(Test, Window, Option<String>)>,
    found: &mut Feedforward,
) {
    for (test, window, left_out) in spans {
        let run = rows(first, test, window);
        found.runs.push(RunFacts {
            test: test.name().to_owned(),
            window,
            file: view.file_at(window.from_secs).to_owned(),
            rows: run.len(),
            left_out,
        });
    }
}

fn conclude(found: &mut Feedforward) {
    found.mean = feedforward::mean_gains(&found.motors);
    let sysid: Vec<[f64; 3]> = found.motors.iter().filter_map(|m| m.sysid).collect();
    if !sysid.is_empty() {
        found.sysid_mean =
            Some([0, 1, 2].map(|i| stats::mean(&sysid.iter().map(|g| g[i]).collect::<Vec<_>>())));
    }
    let together = |pick: fn(&MotorFit) -> Option<f64>| {
        let all: Vec<f64> = found.motors.iter().filter_map(pick).collect();
        (!all.is_empty()).then(|| stats::rms(&all))
    };
    let residuals = (together(|m| m.residual_volts_rms), together(|m| m.row_residual_volts_rms));
    (found.residual_volts_rms, found.row_residual_volts_rms) = residuals;
    found.samples = found.motors.iter().map(|m| m.samples).sum();
    let Some(mean) = found.mean else {
        let mut reasons: Vec<String> = Vec::new();
        for motor in &found.motors {
            if let Some(reason) = motor.refused.as_ref().filter(|r| !reasons.contains(r)) {
                reasons.push(reason.clone());
            }
        }
        let missing = if found.missing_tests.is_empty() {
            String::new()
        } else {
            format!(" (not in the log: {})", found.missing_tests.join(", "))
        };
        found.refused = Some(format!("{}{missing}", reasons.join("; ")));
        return;
    };
    found.confidence = confidence(found.residual_volts_rms, &mean);
    if !found.missing_tests.is_empty() {
        found.remarks.push(format!("tests not in the log: {}", found.missing_tests.join(", ")));
    }
    found.remarks.push(
        "the intervals are statistical: a logged voltage that is not the applied voltage moves kA without widening them"
            .to_owned(),
    );
}

/// T5: the seed's limit on the residual, and the interval of kV beside it.
fn confidence(residual: Option<f64>, mean: &Gains) -> String {
    match residual {
        None => "poor - no residual could be computed".to_owned(),
        Some(r) if r >= GOOD_RESIDUAL_VOLTS => "poor - a line through a mess, not a measurement".to_owned(),
        Some(_) if mean.kv.half_width() > 0.05 * mean.kv.value.abs() => {
            "poor - the residual is small, but kV is not known to 5 %".to_owned()
        }
        Some(_) => "good".to_owned(),
    }
}

/// Re-expresses the gains per true metre with the mean radius measured in the same session. The mean, because a spin
/// tells single radii only as far as the robot turns about its very centre; their mean it tells well.
pub(crate) fn per_true_metre(found: &mut Feedforward, wheel: Option<&WheelRadius>) {
    let (Some(mean), Some(wheel)) = (found.mean, wheel) else { return };
    let Some(radius) = wheel.mean_m.filter(|r| r.value > 0.0) else { return };
    let (factor, words) = match (found.unit.as_str(), wheel.in_force_m) {
        ("m", Some(in_force)) => {
            let factor = in_force / radius.value;
            let percent = (factor - 1.0) * 100.0;
            (
                factor,
                format!(
                    "the log's metres (radius in force {in_force:.5} m) re-expressed with the radius {:.5} m measured in this session, {percent:+.2} %",
                    radius.value
                ),
            )
        }
        ("rad", _) => (
            1.0 / radius.value,
            format!("per radian, divided by the radius {:.5} m measured in this session", radius.value),
        ),
        ("rotation", _) => (
            1.0 / (std::f64::consts::TAU * radius.value),
            format!(
                "per rotation, divided by the circumference of the radius {:.5} m measured in this session",
                radius.value
            ),
        ),
        _ => return,
    };
    let relative = radius.half_width() / radius.value;
    found.per_true_metre = Some(Gains {
        ks: mean.ks,
        kv: mean.kv.scaled(factor, relative),
        ka: mean.ka.scaled(factor, relative),
    });
    found.conversion = Some(format!("per true metre: {words}"));
}

/// Flags of all motors, each once.
pub(crate) fn flags(motors: &[MotorFit]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for motor in motors {
        for flag in &motor.flags {
            let text = if motors.len() > 1 { format!("{}: {flag}", motor.name) } else { flag.clone() };
            if !all.contains(&text) {
                all.push(text);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Interval;

    #[test]
    fn t5_a_small_residual_alone_is_not_good() {
        let gains = |half: f64| {
            let i = Interval::new(2.5, half, 400);
            Gains { ks: i, kv: i, ka: i }
        };
        assert_eq!(confidence(Some(0.1), &gains(0.02)), "good");
        assert!(confidence(Some(0.1), &gains(0.5)).starts_with("poor - the residual is small"));
        assert!(confidence(Some(0.25), &gains(0.02)).starts_with("poor - a line through a mess"));
        assert!(confidence(None, &gains(0.02)).starts_with("poor"));
    }

    #[test]
    fn units_are_read_from_json_and_from_plain_metadata() {
        for (metadata, unit) in [
            (r#"{"unit":"m/s"}"#, "m"),
            ("Meter per Second", "m"),
            ("Rotation per Second", "rotation"),
            (r#"{"unit":"rad/s"}"#, "rad"),
            ("", "m"),
        ] {
            assert_eq!(unit_of(Some(metadata)), unit, "{metadata}");
        }
    }
}
