//! The output-error fit: simulate the motor model, look at it as the sensor does, compare with the logged velocity.
//!
//! Free parameters are kS, ln kV, ln kA, the delay of the velocity behind the voltage, the width over which the sensor
//! averages, and the velocity at which each ramp starts. Noise never enters a regressor, so it does not bias the gains;
//! a delay no longer turns into kS. The interval is the sandwich for coloured residuals (Klein and Morelli): residual
//! autocovariance pooled over runs of one class, lags added until it first turns negative. It is statistical only: a
//! logged voltage that is not the applied voltage moves kA without widening it.

use nalgebra::{DMatrix, DVector};

use super::plant::{Motion, Plant};
use super::run::Run;

/// What came out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OutputErrorFit {
    /// kS, kV, kA.
    pub(crate) gains: [f64; 3],
    /// Standard errors.
    pub(crate) se: [f64; 3],
    /// Delay of the velocity behind the voltage, seconds; negative when the logged voltage lags.
    pub(crate) delay_secs: f64,
    /// Averaging width of the sensor, seconds.
    pub(crate) width_secs: f64,
    /// 1 − Σ(v − model)² / Σv²: squared and uncentred.
    pub(crate) velocity_r2: f64,
    /// Rows compared.
    pub(crate) samples: usize,
}

const DELAY: usize = 3;
const WIDTH: usize = 4;
const FIRST_START: usize = 5;
/// Nothing is compared in the first tenth of a second of a ramp: breakaway is not in the model.
const RAMP_MASK_SECS: f64 = 0.1;
const MAX_LAG: usize = 75;

struct Problem<'a> {
    runs: &'a [Run],
    /// For every ramp the parameter that holds its start velocity.
    start: Vec<Option<usize>>,
    mask: Vec<f64>,
    /// Where each run's rows start in the stacked vectors, and their end.
    spans: Vec<(usize, usize)>,
    steps: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
}

/// Fits edited runs together from a first guess of gains and delay.
///
/// # Errors
/// In words, when there are too few rows or the search does not end at finite gains.
pub(crate) fn fit(runs: &[Run], guess: [f64; 3], guess_delay_secs: f64) -> Result<OutputErrorFit, String> {
    let problem = Problem::new(runs);
    let rows: usize = problem.mask.iter().filter(|m| **m > 0.0).count();
    if rows < 4 * problem.low.len() {
        return Err(format!("{rows} rows are left, {} are needed", 4 * problem.low.len()));
    }
    let mut first = vec![guess[0], guess[1].max(1e-9).ln(), guess[2].max(1e-9).ln(), guess_delay_secs, 0.0];
    first
        .extend(runs.iter().filter(|r| r.test.is_ramp()).map(|r| r.velocity.first().copied().unwrap_or(0.0)));
    let mut best: Option<(f64, Vec<f64>)> = None;
    for width in [0.005, 0.06, 0.18] {
        first[WIDTH] = width;
        let (p, cost) = problem.search(first.clone(), &problem.mask, 20);
        if cost.is_finite() && best.as_ref().is_none_or(|(c, _)| cost < *c) {
            best = Some((cost, p));
        }
    }
    let (_, mut p) = best.ok_or("the search found no finite answer")?;
    let mut scale = [1.0; 2];
    for _ in 0..3 {
        scale = problem.noise_scale(&problem.residuals(&p));
        let weights: Vec<f64> = problem
            .per_row(|run| scale[usize::from(run.test.is_ramp())])
            .iter()
            .zip(&problem.mask)
            .map(|(s, m)| m / (s * s))
            .collect();
        p = problem.search(p, &weights, 15).0;
    }
    problem.finish(&p, scale, rows)
}

impl<'a> Problem<'a> {
    fn new(runs: &'a [Run]) -> Self {
        let mut spans = Vec::new();
        let mut start = Vec::new();
        let (mut at, mut next) = (0, FIRST_START);
        for run in runs {
            spans.push((at, at + run.len()));
            at += run.len();
            start.push(run.test.is_ramp().then(|| {
                next += 1;
                next - 1
            }));
        }
        let speeds: Vec<f64> = runs.iter().flat_map(|r| r.velocity.iter().map(|v| v.abs())).collect();
        let top = crate::stats::quantile(&speeds, 0.95).max(1e-9);
        let ramps = next - FIRST_START;
        let mut steps = vec![1e-4, 1e-4, 1e-4, 2e-4, 5e-4];
        let mut low = vec![-2.0, -12.0, -12.0, -0.06, 2e-3];
        let mut high = vec![6.0, 8.0, 8.0, 0.35, 0.40];
        steps.extend(std::iter::repeat_n(1e-4 * top, ramps));
        low.extend(std::iter::repeat_n(-top, ramps));
        high.extend(std::iter::repeat_n(top, ramps));
        let mask = runs
            .iter()
            .flat_map(|run| {
                let first = run.t.first().copied().unwrap_or(0.0);
                run.t
                    .iter()
                    .map(move |t| f64::from(u8::from(!run.test.is_ramp() || t - first >= RAMP_MASK_SECS)))
            })
            .collect();
        Self { runs, start, mask, spans, steps, low, high }
    }

    fn per_row(&self, value: impl Fn(&Run) -> f64) -> Vec<f64> {
        self.runs.iter().flat_map(|r| std::iter::repeat_n(value(r), r.len())).collect()
    }

    fn residuals(&self, p: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.mask.len()];
        for run in 0..self.runs.len() {
            self.residuals_of(run, p, &mut out);
        }
        out
    }

    /// Logged minus modelled velocity of one run: the model's mean velocity over the width, centred on the delay.
    fn residuals_of(&self, index: usize, p: &[f64], out: &mut [f64]) {
        let run = &self.runs[index];
        if run.is_empty() {
            return;
        }
        let plant = Plant { ks: p[0], kv: p[1].exp(), ka: p[2].exp() };
        let (delay, width) = (p[DELAY], p[WIDTH].max(2e-3));
        let v0 = self.start[index].map_or(0.0, |i| p[i]);
        let mut late = Motion::new(plant, &run.t, &run.volts, v0);
        let mut early = Motion::new(plant, &run.t, &run.volts, v0);
        let (from, _) = self.spans[index];
        for (i, t) in run.t.iter().enumerate() {
            let centre = t - delay;
            let modelled = (late.at(centre + 0.5 * width).1 - early.at(centre - 0.5 * width).1) / width;
            out[from + i] = run.velocity[i] - modelled;
        }
    }

    /// Derivatives of the residuals by forward differences.
    fn jacobian(&self, p: &[f64], at: &[f64]) -> DMatrix<f64> {
        let mut jacobian = DMatrix::zeros(at.len(), p.len());
        let mut moved = at.to_vec();
        for j in 0..p.len() {
            let mut q = p.to_vec();
            q[j] += self.steps[j];
            for run in 0..self.runs.len() {
                let (from, to) = self.spans[run];
                if j >= FIRST_START && self.start[run] != Some(j) {
                    continue;
                }
                self.residuals_of(run, &q, &mut moved);
                for i in from..to {
                    jacobian[(i, j)] = (moved[i] - at[i]) / self.steps[j];
                }
            }
        }
        jacobian
    }

    /// Levenberg-Marquardt inside the bounds.
    fn search(&self, mut p: Vec<f64>, weights: &[f64], rounds: usize) -> (Vec<f64>, f64) {
        let cost = |r: &[f64]| r.iter().zip(weights).map(|(r, w)| w * r * r).sum::<f64>();
        self.clamp(&mut p);
        let mut r = self.residuals(&p);
        let mut f = cost(&r);
        let mut damping = 1e-3;
        for _ in 0..rounds {
            let jacobian = self.jacobian(&p, &r);
            let mut weighted = jacobian.clone();
            for (mut row, w) in weighted.row_iter_mut().zip(weights) {
                row *= *w;
            }
            let gradient = weighted.transpose() * DVector::from_column_slice(&r);
            let normal = jacobian.transpose() * weighted;
            let mut accepted = None;
            for _ in 0..8 {
                let mut damped = normal.clone();
                for k in 0..p.len() {
                    damped[(k, k)] += damping * (normal[(k, k)] + 1e-12);
                }
                if let Some(step) = damped.lu().solve(&gradient) {
                    let mut q: Vec<f64> = p.iter().zip(step.iter()).map(|(p, s)| p - s).collect();
                    self.clamp(&mut q);
                    let trial = self.residuals(&q);
                    let g = cost(&trial);
                    if g < f {
                        accepted = Some((q, trial, g));
                        break;
                    }
                }
                damping *= 10.0;
            }
            let Some((q, trial, g)) = accepted else { break };
            let done = f - g < 1e-8 * f;
            (p, r, f) = (q, trial, g);
            damping = (damping / 10.0).max(1e-9);
            if done {
                break;
            }
        }
        (p, f)
    }

    fn clamp(&self, p: &mut [f64]) {
        for ((x, low), high) in p.iter_mut().zip(&self.low).zip(&self.high) {
            *x = if x.is_nan() { *low } else { x.clamp(*low, *high) };
        }
    }

    /// RMS residual of steps and of ramps; neither below 0.3 of the larger, so that a quiet class does not silence the other.
    fn noise_scale(&self, residuals: &[f64]) -> [f64; 2] {
        let mut scale = [0.0_f64; 2];
        for (class, ramp) in [(0, false), (1, true)] {
            let (mut sum, mut n) = (0.0, 0.0);
            for (run, (from, to)) in self.runs.iter().zip(&self.spans) {
                if run.test.is_ramp() == ramp {
                    for (mask, residual) in self.mask[*from..*to].iter().zip(&residuals[*from..*to]) {
                        sum += mask * residual.powi(2);
                        n += mask;
                    }
                }
            }
            scale[class] = if n > 0.0 { (sum / n).sqrt() } else { 0.0 };
        }
        let floor = 0.3 * scale[0].max(scale[1]) + 1e-15;
        scale.map(|s| s.max(floor))
    }

    fn finish(&self, p: &[f64], scale: [f64; 2], rows: usize) -> Result<OutputErrorFit, String> {
        let raw = self.residuals(p);
        let factor: Vec<f64> = self
            .per_row(|run| 1.0 / scale[usize::from(run.test.is_ramp())])
            .iter()
            .zip(&self.mask)
            .map(|(s, m)| s * m)
            .collect();
        let mut jacobian = self.jacobian(p, &raw);
        for (mut row, f) in jacobian.row_iter_mut().zip(&factor) {
            row *= *f;
        }
        let residuals: Vec<f64> = raw.iter().zip(&factor).map(|(r, f)| r * f).collect();
        let bread = (jacobian.transpose() * &jacobian)
            .pseudo_inverse(1e-12)
            .map_err(|e| format!("the fit's curvature cannot be inverted: {e}"))?;
        let covariance = &bread * self.coloured(&jacobian, &residuals) * &bread;
        let gains = [p[0], p[1].exp(), p[2].exp()];
        let log_factor = [1.0, gains[1], gains[2]];
        let se: Vec<f64> = (0..3).map(|i| covariance[(i, i)].max(0.0).sqrt() * log_factor[i]).collect();
        if gains.iter().chain(&se).any(|x| !x.is_finite()) {
            return Err("the search did not end at finite gains".to_owned());
        }
        let (mut sse, mut ssv) = (0.0, 0.0);
        let velocity = self.runs.iter().flat_map(|r| r.velocity.iter());
        for ((r, v), m) in raw.iter().zip(velocity).zip(&self.mask) {
            sse += m * r * r;
            ssv += m * v * v;
        }
        Ok(OutputErrorFit {
            gains,
            se: [se[0], se[1], se[2]],
            delay_secs: p[DELAY],
            width_secs: p[WIDTH],
            velocity_r2: 1.0 - sse / ssv,
            samples: rows,
        })
    }

    /// Σ over lags of R(lag) · Σ J_i J_{i+lag}ᵀ, per class.
    fn coloured(&self, jacobian: &DMatrix<f64>, residuals: &[f64]) -> DMatrix<f64> {
        let mut total = DMatrix::zeros(jacobian.ncols(), jacobian.ncols());
        for ramp in [false, true] {
            let spans: Vec<(usize, usize)> = self
                .runs
                .iter()
                .zip(&self.spans)
                .filter(|(run, _)| run.test.is_ramp() == ramp)
                .map(|(_, span)| *span)
                .collect();
            for lag in 0..=MAX_LAG {
                let (mut sum, mut n) = (0.0, 0_usize);
                let mut products = DMatrix::zeros(jacobian.ncols(), jacobian.ncols());
                for (from, to) in &spans {
                    let Some(len) = (to - from).checked_sub(lag).filter(|l| *l > 0) else { continue };
                    let head = jacobian.rows(*from, len);
                    let tail = jacobian.rows(from + lag, len);
                    products += tail.transpose() * head;
                    sum += (0..len).map(|i| residuals[from + i] * residuals[from + lag + i]).sum::<f64>();
                    n += len;
                }
                if n == 0 {
                    break;
                }
                let covariance = sum / n as f64;
                if lag > 0 && covariance < 0.0 {
                    break;
                }
                if lag == 0 {
                    total += products * covariance;
                } else {
                    total += (&products + products.transpose()) * covariance;
                }
            }
        }
        total
    }
}
