//! The first guess: the voltage balance integrated over windows of ten rows, with the delay found on a grid.

use super::run::Run;
use crate::ols;

const WINDOW_ROWS: usize = 10;

/// kS, kV, kA and the delay in seconds.
pub(crate) fn guess(runs: &[Run]) -> Option<([f64; 3], f64)> {
    let speeds: Vec<f64> = runs.iter().flat_map(|r| r.velocity.iter().map(|v| v.abs())).collect();
    let moving = 0.04 * crate::stats::quantile(&speeds, 0.95);
    let mut best: Option<(f64, [f64; 3], f64)> = None;
    for step in -2..=20 {
        let delay = f64::from(step) * 0.01;
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for run in runs {
            windows(run, delay, moving, &mut x, &mut y);
        }
        let Some(fit) = ols::solve(&x, &y) else { continue };
        let sse: f64 = fit.residuals.iter().map(|r| r * r).sum();
        if best.as_ref().is_none_or(|(least, _, _)| sse < *least) {
            best = Some((sse, [fit.beta[0], fit.beta[1], fit.beta[2]], delay));
        }
    }
    let (_, gains, delay) = best?;
    (gains[1] > 0.0).then(|| {
        // A negative kA from noise is no place to start from.
        let ka = if gains[2] > 0.0 { gains[2] } else { 0.1 * gains[1] };
        ([gains[0], gains[1], ka], delay)
    })
}

/// What is left of the voltage balance over windows of ten rows, volts. The derivative's noise, most of a row-by-row
/// residual, averages out; a model that does not hold stays.
pub(crate) fn residuals(runs: &[Run], gains: [f64; 3], delay: f64) -> Vec<f64> {
    let speeds: Vec<f64> = runs.iter().flat_map(|r| r.velocity.iter().map(|v| v.abs())).collect();
    let moving = 0.04 * crate::stats::quantile(&speeds, 0.95);
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for run in runs {
        windows(run, delay, moving, &mut x, &mut y);
    }
    let balance = |row: &[f64]| row.iter().zip(gains).map(|(x, g)| x * g).sum::<f64>();
    x.iter().zip(&y).map(|(row, volts)| volts - balance(row)).collect()
}

fn windows(run: &Run, delay: f64, moving: f64, x: &mut Vec<Vec<f64>>, y: &mut Vec<f64>) {
    let Some(first) = run.velocity.iter().position(|v| v.abs() > moving) else { return };
    let mut travelled = vec![0.0; run.len()];
    let mut volt_secs = vec![0.0; run.len()];
    for i in 1..run.len() {
        let dt = run.t[i] - run.t[i - 1];
        travelled[i] = travelled[i - 1] + 0.5 * (run.velocity[i] + run.velocity[i - 1]) * dt;
        volt_secs[i] = volt_secs[i - 1] + run.volts[i - 1] * dt;
    }
    let held = |at: f64| {
        let i = run.t.partition_point(|t| *t <= at);
        i.checked_sub(1).map_or(0.0, |i| volt_secs[i] + run.volts[i] * (at - run.t[i]))
    };
    let sign = crate::stats::median(&run.velocity[first..]).signum();
    for i in first..run.len().saturating_sub(WINDOW_ROWS) {
        let j = i + WINDOW_ROWS;
        let span = run.t[j] - run.t[i];
        x.push(vec![sign, (travelled[j] - travelled[i]) / span, (run.velocity[j] - run.velocity[i]) / span]);
        y.push((held(run.t[j] - delay) - held(run.t[i] - delay)) / span);
    }
}
