//! WPILib SysId's estimator for a simple mechanism: a = α v + β u + γ sgn(v) over trimmed, pooled rows.
//!
//! Rebuilt from its described behaviour (allwpilib caf0fb2): the same trims, the same three-point central difference
//! over twice the mean step, the same zero-acceleration rule, so that a team finds the gains it knows. Two things are
//! ours: every run of a test is used, not only the first, and a central difference never straddles a gap.

use super::run::{Run, Test};
use crate::ols::{self, Ols};

/// A gap: rows further apart than this many usual steps do not see each other.
const GAP_STEPS: f64 = 3.5;
/// Points of the moving average that the velocity threshold is taken from.
const NOISE_WINDOW: usize = 9;

/// SysId's gains.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SysidFit {
    /// kS, kV, kA.
    pub(crate) gains: [f64; 3],
    /// Standard errors for independent residuals (delta method); a lower bound on the truth.
    pub(crate) se: [f64; 3],
    /// The regression.
    pub(crate) ols: Ols,
    /// Its rows.
    pub(crate) rows: Vec<Row>,
}

/// One row of the regression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Row {
    pub(crate) volts: f64,
    pub(crate) velocity: f64,
    pub(crate) acceleration: f64,
}

impl Row {
    /// volts − (kS sgn v + kV v + kA a).
    pub(crate) fn residual_volts(&self, [ks, kv, ka]: [f64; 3]) -> f64 {
        self.volts - ks * sgn(self.velocity) - kv * self.velocity - ka * self.acceleration
    }
}

/// Fits all runs together.
///
/// # Errors
/// In words: which preparation step left nothing, or why the columns cannot be told apart.
pub(crate) fn fit(runs: &[Run]) -> Result<SysidFit, String> {
    let threshold = runs
        .iter()
        .filter(|r| r.test.is_ramp() && r.len() > NOISE_WINDOW)
        .map(|r| noise_floor(&r.velocity[..r.len() - 1], NOISE_WINDOW))
        .fold(f64::INFINITY, f64::min);
    let threshold = if threshold.is_finite() { threshold } else { 0.0 };
    let longest_step = runs
        .iter()
        .filter(|r| !r.test.is_ramp() && r.len() >= 2)
        .map(|r| r.t[r.len() - 2] - r.t[0])
        .fold(0.0, f64::max);
    let mut duration = None;
    let mut rows = Vec::new();
    for test in Test::ALL {
        for run in runs.iter().filter(|r| r.test == test) {
            let prepared = if test.is_ramp() {
                prepare_ramp(run, threshold)
            } else {
                prepare_step(run, &mut duration, longest_step)
            };
            rows.extend(prepared.into_iter().filter(|r| r.acceleration != 0.0));
        }
    }
    from_rows(rows)
}

/// The regression alone.
pub(crate) fn from_rows(rows: Vec<Row>) -> Result<SysidFit, String> {
    if rows.len() < 10 {
        return Err(format!("{} rows are left after trimming, 10 are needed", rows.len()));
    }
    check_coverage(&rows)?;
    let x: Vec<Vec<f64>> = rows.iter().map(|r| vec![r.velocity, r.volts, sgn(r.velocity)]).collect();
    let y: Vec<f64> = rows.iter().map(|r| r.acceleration).collect();
    let ols =
        ols::solve(&x, &y).ok_or("velocity, voltage and direction cannot be told apart in this data")?;
    let [alpha, beta, gamma] = [ols.beta[0], ols.beta[1], ols.beta[2]];
    if beta <= 0.0 {
        return Err(format!(
            "kA comes out as {:.4}: more voltage slows this motor down, so a sign is wrong",
            1.0 / beta
        ));
    }
    let gains = [-gamma / beta, -alpha / beta, 1.0 / beta];
    let se = [
        (ols.se[2] / beta).hypot(gamma * ols.se[1] / (beta * beta)),
        (ols.se[0] / beta).hypot(alpha * ols.se[1] / (beta * beta)),
        ols.se[1] / (beta * beta),
    ];
    Ok(SysidFit { gains, se, ols, rows })
}

/// Data at one speed fits any mixture of kS and kV; data at one acceleration hides kA. Both limits are free of units.
fn check_coverage(rows: &[Row]) -> Result<(), String> {
    let speeds: Vec<f64> = rows.iter().map(|r| r.velocity.abs()).collect();
    let (low, high) = (crate::stats::quantile(&speeds, 0.02), crate::stats::quantile(&speeds, 0.98));
    if high <= 0.0 {
        return Err("nothing moved".to_owned());
    }
    if (high - low) / high < 0.2 {
        return Err(format!(
            "the speed hardly varies ({low:.3} to {high:.3}): kS and kV cannot be told apart at constant speed"
        ));
    }
    Ok(())
}

fn prepare_ramp(run: &Run, threshold: f64) -> Vec<Row> {
    let keep: Vec<usize> = (0..run.len().saturating_sub(1))
        .filter(|&i| run.volts[i].abs() > 0.0 && run.velocity[i].abs() >= threshold)
        .collect();
    differentiate(run, &keep).into_iter().map(|(_, row)| row).collect()
}

fn prepare_step(run: &Run, duration: &mut Option<f64>, longest: f64) -> Vec<Row> {
    let all: Vec<usize> = (0..run.len().saturating_sub(1)).collect();
    let rows = differentiate(run, &all);
    let speeds: Vec<f64> = rows.iter().map(|(_, r)| r.velocity).collect();
    let accelerations: Vec<f64> = rows.iter().map(|(_, r)| r.acceleration).collect();
    let times: Vec<f64> = rows.iter().map(|(t, _)| *t).collect();
    let (start, this_duration) = step_trim(&times, &speeds, &accelerations, longest);
    let limit = *duration.get_or_insert(this_duration);
    let Some(first) = times.get(start).copied() else { return Vec::new() };
    rows.into_iter().skip(start).take_while(|(t, _)| t - first <= limit).map(|(_, r)| r).collect()
}

/// Where the step starts (the row of the largest sgn(v)·a) and how long until 90 % of the top speed is passed.
pub(crate) fn step_trim(t: &[f64], v: &[f64], a: &[f64], longest: f64) -> (usize, f64) {
    let start = (0..a.len())
        .fold((0, f64::NEG_INFINITY), |best, i| {
            let push = sgn_or_zero(v[i]) * a[i];
            if push > best.1 { (i, push) } else { best }
        })
        .0;
    let top = v.iter().skip(start).fold(0.0_f64, |m, x| m.max(x.abs()));
    let reached = (start..v.len()).find(|&i| v[i].abs() > 0.9 * top);
    (start, reached.map_or(longest, |i| (t[i] - t[start]).min(longest)))
}

/// Three-point central difference over twice the mean step. As SysId has it, the first row gets half the forward
/// difference and the last row zero (which its zero rule then removes). A row beside a gap is left out.
fn differentiate(run: &Run, kept: &[usize]) -> Vec<(f64, Row)> {
    let steps: Vec<f64> =
        kept.iter().map(|&i| run.t[i + 1] - run.t[i]).filter(|dt| *dt > 0.0 && *dt < 0.5).collect();
    if kept.len() < 3 || steps.is_empty() {
        return Vec::new();
    }
    let h = crate::stats::mean(&steps);
    let gap = GAP_STEPS * crate::stats::median(&steps);
    let last = kept.len() - 1;
    (0..kept.len())
        .filter_map(|k| {
            let i = kept[k];
            let (before, after) = (k.checked_sub(1).map(|b| kept[b]), kept.get(k + 1).copied());
            // Rows that trimming took out leave no gap: SysId differentiates across them. A hole in the recording does.
            let hole = |from: usize, to: usize| (from..to).any(|j| run.t[j + 1] - run.t[j] > gap);
            if before.is_some_and(|b| hole(b, i)) || after.is_some_and(|a| hole(i, a)) {
                return None;
            }
            let acceleration = match (before, after) {
                (Some(b), Some(a)) if k < last => (run.velocity[a] - run.velocity[b]) / (2.0 * h),
                (None, Some(a)) => (run.velocity[a] - run.velocity[i]) / (2.0 * h),
                _ => 0.0,
            };
            Some((run.t[i], Row { volts: run.volts[i], velocity: run.velocity[i], acceleration }))
        })
        .collect()
}

/// RMS distance of the series from its moving average, zero-filled at the start: SysId's automatic threshold.
pub(crate) fn noise_floor(v: &[f64], window: usize) -> f64 {
    let back = window / 2;
    if v.len() <= back || window == 0 {
        return f64::INFINITY;
    }
    let sum: f64 = (back..v.len())
        .map(|i| {
            let average = v[i.saturating_sub(window - 1)..=i].iter().sum::<f64>() / window as f64;
            (v[i - back] - average).powi(2)
        })
        .sum();
    (sum / (v.len() - back) as f64).sqrt()
}

/// SysId's sign: zero counts as forwards.
pub(crate) fn sgn(v: f64) -> f64 {
    if v < 0.0 { -1.0 } else { 1.0 }
}

fn sgn_or_zero(v: f64) -> f64 {
    if v == 0.0 { 0.0 } else { v.signum() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SysId's own test of its noise floor: window 2 gives 0.953 ± 0.001.
    #[test]
    fn noise_floor_of_sysids_own_test() {
        let v = [0.0, 1.0, 2.0, 5.0, 0.35, 0.15, 0.0, 0.02, 0.01, 0.0];
        assert!((noise_floor(&v, 2) - 0.953).abs() < 1e-3, "{}", noise_floor(&v, 2));
    }

    /// SysId's three step-trim cases: start 2 each; start + duration 3, 3, 4. The −12 of the last is a stop, not a start.
    #[test]
    fn step_trim_of_sysids_own_tests() {
        let cases: [(&[f64], f64); 3] = [
            (&[0.0, 0.25, 10.0, 0.45, 0.0, 0.15, 0.0, 0.02, 0.0, 0.0], 3.0),
            (&[0.0, -0.46, -8.0, -0.32, -0.12, -0.08, -0.06, -0.02, 0.0, 0.0], 3.0),
            (&[0.0, 0.41, 11.5, 1.2, 0.34, 0.25, 0.11, -0.08, -12.0, 0.0], 4.0),
        ];
        for (a, expect) in cases {
            let t: Vec<f64> = (0..a.len()).map(|i| i as f64).collect();
            let mut v = vec![0.0; a.len()];
            for i in 1..a.len() {
                v[i] = v[i - 1] + a[i - 1];
            }
            let (start, duration) = step_trim(&t, &v, a, 9.0);
            assert_eq!(start, 2);
            assert_eq!(t[start] + duration, expect);
        }
    }

    /// Rows of SysId's feedforward tests: every 5 ms for 5 s, ramp 0.25 V/s, step ±7 V with its first row at 0 V, exact
    /// zero-order-hold motion with the sign of the velocity frozen over a step, true acceleration.
    fn movement(test: Test, [ks, kv, ka]: [f64; 3]) -> Vec<Row> {
        let dt = 0.005;
        let (decay, mut v, mut rows) = ((-kv / ka * dt).exp(), 0.0, Vec::new());
        for i in 0..1000 {
            let t = f64::from(i) * dt;
            let volts = match (test.is_ramp(), i) {
                (true, _) => test.sign() * 0.25 * t,
                (false, 0) => 0.0,
                (false, _) => test.sign() * 7.0,
            };
            let sign = if v == 0.0 { 0.0 } else { f64::signum(v) };
            rows.push(Row { volts, velocity: v, acceleration: (volts - ks * sgn(v) - kv * v) / ka });
            let settle = (volts - ks * sign) / kv;
            v = settle + (v - settle) * decay;
        }
        rows
    }

    /// All sixteen subsets of the four movements: what is accepted is right to SysId's tolerance, all four are accepted,
    /// and a single movement at one speed is not.
    #[test]
    fn subsets_of_sysids_own_feedforward_tests() {
        for truth in [[1.01, 3.060, 0.327], [0.547, 0.0693, 0.1170]] {
            for subset in 0..16_u8 {
                let rows: Vec<Row> = Test::ALL
                    .iter()
                    .enumerate()
                    .filter(|(i, _)| subset & (1 << i) != 0)
                    .flat_map(|(_, test)| movement(*test, truth))
                    .collect();
                match from_rows(rows) {
                    Ok(fit) => {
                        for (got, want) in fit.gains.iter().zip(truth) {
                            assert!(
                                (got - want).abs() < 8e-3,
                                "{truth:?} subset {subset:04b}: {:?}",
                                fit.gains
                            );
                        }
                    }
                    Err(reason) => assert_ne!(subset, 15, "{reason}"),
                }
            }
        }
    }

    #[test]
    fn central_difference_of_known_functions() {
        let h = 0.005;
        type Function = fn(f64) -> f64;
        let functions: [(Function, Function); 3] =
            [(|x| x * x, |x| 2.0 * x), (f64::sin, f64::cos), (f64::ln, |x| 1.0 / x)];
        for (f, slope) in functions {
            let mut run = Run::new(Test::DynamicForward);
            for i in 0..200 {
                let t = 1.0 + f64::from(i) * h;
                run.push(t, 7.0, 0.0, f(t));
            }
            let kept: Vec<usize> = (0..199).collect();
            for (t, row) in &differentiate(&run, &kept)[1..198] {
                assert!((row.acceleration - slope(*t)).abs() < h * h, "{} at {t}", row.acceleration);
            }
        }
    }

    /// T4: near-constant speed gave (94, −45, 0.2) and was called good.
    #[test]
    fn t4_constant_speed_is_refused() {
        let rows: Vec<Row> = (0..400)
            .map(|i| {
                let wiggle = 1e-3 * f64::from(i).sin();
                let velocity = 2.0 + wiggle;
                Row {
                    volts: 0.2 + 2.4 * velocity + 1e-2 * f64::from(i * 7 % 13),
                    velocity,
                    acceleration: 0.3 * wiggle,
                }
            })
            .collect();
        let reason = from_rows(rows).unwrap_err();
        assert!(reason.contains("constant speed"), "{reason}");
    }

    /// T3: a gap inside a run makes no sample.
    #[test]
    fn t3_gap_creates_no_sample() {
        let mut run = Run::new(Test::QuasistaticForward);
        for i in 0..50 {
            run.push(f64::from(i) * 0.02, 1.0, 0.0, 1.0);
        }
        for i in 0..50 {
            run.push(4.0 + f64::from(i) * 0.02, 5.0, 0.0, 5.0);
        }
        let kept: Vec<usize> = (0..99).collect();
        let rows = differentiate(&run, &kept);
        assert_eq!(rows.len(), 97, "the two rows beside the gap are gone");
        assert!(rows.iter().all(|(_, r)| r.acceleration == 0.0));
    }
}
