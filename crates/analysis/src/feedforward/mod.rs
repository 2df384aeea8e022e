//! Feedforward: kS, kV, kA of one motor from the runs of a characterisation.
//!
//! Two estimators stand side by side. WPILib SysId's is computed as a team knows it. The output-error fit is preferred
//! for the numbers in the report, because it knows a sensor's delay and width and because its interval covers the truth.

mod edit;
mod output_error;
mod plant;
mod run;
mod sysid;
mod weak;

use std::collections::BTreeMap;

pub use run::{Run, Test};

use crate::findings::{Gains, MotorFit};
use crate::stats::{self, Interval};

/// Residual below which a fit is called good, volts RMS (seed of the offline tool).
pub const GOOD_RESIDUAL_VOLTS: f64 = 0.25;
/// Standard errors in a half-width. Under field conditions (sag, stale frames, load) the plain 1.96 holds the truth in
/// about 88 of 100 runs instead of 95; the difference is made up here.
const COVERAGE: f64 = 1.96 * 1.2;
/// A velocity that stays within so many counts of its sensor tells of no motion.
const DEAD_QUANTA: f64 = 5.0;
/// Rows kept for the picture.
const PICTURE_ROWS: usize = 400;
/// Name of the preferred method.
pub const OUTPUT_ERROR: &str = "output error with delay and width";
/// Name of the first method.
pub const SYSID: &str = "WPILib SysId";

/// Fits one motor. Never fails: what cannot be fitted says why in `refused`.
#[must_use]
pub fn fit_motor(name: &str, runs: &[Run]) -> MotorFit {
    let mut fit = MotorFit {
        name: name.to_owned(),
        gains: None,
        method: String::new(),
        sysid: None,
        residual_volts_rms: None,
        row_residual_volts_rms: None,
        acceleration_r2: None,
        velocity_r2: None,
        delay_secs: None,
        width_secs: None,
        samples: 0,
        edits: BTreeMap::new(),
        refused: None,
        flags: Vec::new(),
        points: Vec::new(),
    };
    if let Err(reason) = sanity(runs) {
        fit.refused = Some(reason);
        return fit;
    }
    scale_and_direction(runs, &mut fit.flags);
    let sysid = match sysid::fit(runs) {
        Ok(sysid) => sysid,
        Err(reason) => {
            fit.refused = Some(reason);
            return fit;
        }
    };
    fit.sysid = Some(sysid.gains);
    fit.acceleration_r2 = Some(sysid.ols.adjusted_r2).filter(|r| r.is_finite());
    let edited: Vec<Run> =
        runs.iter().map(|r| edit::edit(r.clone(), &mut fit.edits)).filter(|r| r.len() > 3).collect();
    let guess = weak::guess(&edited).unwrap_or((sysid.gains, 0.02));
    match output_error::fit(&edited, guess.0, guess.1) {
        Ok(found) => {
            let n = found.samples;
            let interval = |i: usize| Interval::new(found.gains[i], COVERAGE * found.se[i], n);
            fit.gains = Some(Gains { ks: interval(0), kv: interval(1), ka: interval(2) });
            OUTPUT_ERROR.clone_into(&mut fit.method);
            fit.velocity_r2 = Some(found.velocity_r2);
            fit.delay_secs = Some(found.delay_secs);
            fit.width_secs = Some(found.width_secs);
            fit.samples = n;
        }
        Err(reason) => {
            let n = sysid.rows.len();
            let interval = |i: usize| Interval::new(sysid.gains[i], 1.96 * sysid.se[i], n);
            fit.gains = Some(Gains { ks: interval(0), kv: interval(1), ka: interval(2) });
            SYSID.clone_into(&mut fit.method);
            fit.samples = n;
            fit.flags
                .push(format!("only SysId's estimator ran ({reason}); its interval ignores sensor delay"));
        }
    }
    judge(&mut fit, &edited);
    picture(&mut fit, &sysid, &edited);
    fit
}

/// Refusals that need no fit: nothing logged, nothing moved, a sign wrong.
fn sanity(runs: &[Run]) -> Result<(), String> {
    let rows: usize = runs.iter().map(Run::len).sum();
    if rows < 20 {
        return Err(format!("{rows} rows of voltage, position and velocity inside the tests; 20 are needed"));
    }
    let (low, high) = range(runs.iter().flat_map(|r| r.velocity.iter()));
    let steps: Vec<f64> = runs
        .iter()
        .flat_map(|r| r.velocity.windows(2).map(|w| (w[1] - w[0]).abs()))
        .filter(|s| *s > 0.0)
        .collect();
    // The smallest step that was seen is the sensor's count, or less where its values are not counted at all.
    let quantum = if steps.is_empty() { f64::INFINITY } else { stats::quantile(&steps, 0.0) };
    if high - low < DEAD_QUANTA * quantum {
        return Err(format!(
            "the velocity never moves (it stays within {low:.4} to {high:.4}): a dead sensor or no motion"
        ));
    }
    let (low_u, high_u) = range(runs.iter().flat_map(|r| r.volts.iter()));
    if high_u - low_u <= 0.0 {
        return Err(format!("the voltage never changes (it is {low_u:.3} V throughout)"));
    }
    let product: f64 = runs.iter().flat_map(|r| r.volts.iter().zip(&r.velocity).map(|(u, v)| u * v)).sum();
    if product < 0.0 {
        return Err("voltage and velocity have opposite signs: invert the voltage or the encoder".to_owned());
    }
    Ok(())
}

fn range<'a>(values: impl Iterator<Item = &'a f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)))
}

/// Velocity against the slope of position, and which directions are there.
fn scale_and_direction(runs: &[Run], flags: &mut Vec<String>) {
    let (mut moved, mut integrated) = (0.0, 0.0);
    for run in runs.iter().filter(|r| r.test.is_ramp()) {
        for i in 1..run.len() {
            let dt = run.t[i] - run.t[i - 1];
            if dt < 0.5 {
                let sign = run.test.sign();
                moved += sign * (run.position[i] - run.position[i - 1]);
                integrated += sign * 0.5 * (run.velocity[i] + run.velocity[i - 1]) * dt;
            }
        }
    }
    if integrated.abs() > 0.0 && moved.abs() > 0.0 {
        let ratio = integrated / moved;
        if !(0.95..=1.05).contains(&ratio) {
            let likely = [
                (60.0, "velocity per minute, position per second"),
                (1.0 / 60.0, "velocity per second, position per minute"),
                (std::f64::consts::TAU, "velocity in radians, position in rotations"),
                (1.0 / std::f64::consts::TAU, "velocity in rotations, position in radians"),
                (-1.0, "opposite signs"),
            ]
            .iter()
            .find(|(factor, _)| (ratio / factor - 1.0).abs() < 0.03)
            .map_or(String::new(), |(_, name)| format!(" ({name})"));
            flags.push(format!("velocity is {ratio:.3} times the slope of position{likely}"));
        }
    }
    let has = |sign: f64| runs.iter().any(|r| r.test.sign() == sign && !r.is_empty());
    if !has(-1.0) || !has(1.0) {
        flags.push("one direction only: kS cannot be told from a constant offset of the voltage".to_owned());
    }
    if !runs.iter().any(|r| !r.test.is_ramp()) {
        flags.push("no step in the data: kA comes from the ramp's start alone".to_owned());
    }
    if !runs.iter().any(|r| r.test.is_ramp()) {
        flags.push("no ramp in the data: kS and kV come from the steps alone".to_owned());
    }
}

/// What the numbers themselves say against being believed.
fn judge(fit: &mut MotorFit, runs: &[Run]) {
    let Some(gains) = &fit.gains else { return };
    if gains.kv.hi <= 0.0 || gains.kv.value <= 0.0 || gains.ka.value <= 0.0 {
        fit.refused = Some(format!(
            "kV {:.4} and kA {:.4} must both be above 0; the data do not follow the motor model",
            gains.kv.value, gains.ka.value
        ));
        fit.gains = None;
        return;
    }
    if gains.ks.hi < 0.0 {
        fit.flags.push(format!(
            "kS is below zero ({:.3} V): something pushes along or a sign is wrong",
            gains.ks.value
        ));
    } else if gains.ks.lo <= 0.0 {
        fit.flags.push(format!("kS cannot be told from 0 (±{:.2} V)", gains.ks.half_width()));
    }
    if gains.ka.half_width() > 0.5 * gains.ka.value {
        fit.flags.push("kA is not identifiable: its interval is wider than half of it".to_owned());
    }
    let tau = gains.ka.value / gains.kv.value;
    if let Some(width) = fit.width_secs.filter(|w| tau < w / 4.0) {
        fit.flags.push(format!(
            "kA hides behind the sensor: time constant {:.0} ms, averaging {:.0} ms",
            tau * 1e3,
            width * 1e3
        ));
    }
    let rise = runs
        .iter()
        .filter(|r| !r.test.is_ramp())
        .map(|r| {
            let top = r.velocity.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            r.velocity.iter().filter(|v| (0.1 * top..=0.8 * top).contains(&v.abs())).count()
        })
        .max();
    if rise.is_some_and(|rows| rows < 5) {
        fit.flags.push("fewer than 5 rows while the step speeds up: kA rests on almost nothing".to_owned());
    }
}

/// Residuals in volts, and the thinned points of the picture.
fn picture(fit: &mut MotorFit, sysid: &sysid::SysidFit, edited: &[Run]) {
    let Some(g) = &fit.gains else { return };
    let gains = [g.ks.value, g.kv.value, g.ka.value];
    // SysId's rows carry the sensor's delay; row by row they are judged with the gains SysId itself found, so that the
    // figure means what its users think it means.
    let rows: Vec<f64> = sysid.rows.iter().map(|r| r.residual_volts(sysid.gains)).collect();
    fit.row_residual_volts_rms = Some(stats::rms(&rows));
    let windows = weak::residuals(edited, gains, fit.delay_secs.unwrap_or(0.0));
    fit.residual_volts_rms =
        Some(stats::rms(&windows)).filter(|r| r.is_finite()).or(fit.row_residual_volts_rms);
    let every = sysid.rows.len().div_ceil(PICTURE_ROWS).max(1);
    fit.points = sysid
        .rows
        .iter()
        .step_by(every)
        .map(|r| (r.velocity, r.volts - gains[2] * r.acceleration, r.residual_volts(gains)))
        .collect();
}

/// The mean over these motors. They share floor, battery and test, so their errors move together and do not shrink with
/// their number: the half-width is the mean of the single ones. How far the motors differ is a fact about them (treads,
/// gearboxes), not an error of the mean; the table shows it.
#[must_use]
pub fn mean_gains(fits: &[MotorFit]) -> Option<Gains> {
    let gains: Vec<Gains> = fits.iter().filter_map(|f| f.gains).collect();
    let pick = |get: fn(&Gains) -> Interval| {
        let all: Vec<Interval> = gains.iter().map(get).collect();
        let values: Vec<f64> = all.iter().map(|i| i.value).collect();
        let halves: Vec<f64> = all.iter().map(Interval::half_width).collect();
        Interval::new(stats::mean(&values), stats::mean(&halves), all.iter().map(|i| i.n).sum())
    };
    (!gains.is_empty()).then(|| Gains { ks: pick(|g| g.ks), kv: pick(|g| g.kv), ka: pick(|g| g.ka) })
}

#[cfg(test)]
mod scenario;
#[cfg(test)]
mod tests;
