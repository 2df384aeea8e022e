//! The few statistics the fits share: intervals, Student's t, Wilson, medians. Closed forms, no dependency.

use serde::Serialize;

/// A value with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Interval {
    /// The estimate.
    pub value: f64,
    /// Lower end; equal to `value` when no interval can be given.
    pub lo: f64,
    /// Upper end; equal to `value` when no interval can be given.
    pub hi: f64,
    /// Independent values or samples behind it.
    pub n: usize,
}

impl Interval {
    /// A value and the half-width of its symmetric interval.
    #[must_use]
    pub fn new(value: f64, half_width: f64, n: usize) -> Self {
        Self { value, lo: value - half_width, hi: value + half_width, n }
    }

    /// A value without an interval.
    #[must_use]
    pub fn bare(value: f64, n: usize) -> Self {
        Self { value, lo: value, hi: value, n }
    }

    /// Half the interval's width.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        0.5 * (self.hi - self.lo)
    }

    /// Whether it has a width.
    #[must_use]
    pub fn has_width(&self) -> bool {
        self.hi > self.lo
    }

    /// Whether the interval holds `x`.
    #[must_use]
    pub fn contains(&self, x: f64) -> bool {
        x >= self.lo && x <= self.hi
    }

    /// Value and interval times `factor`, whose own relative half-width is `relative` (independent errors add in squares).
    #[must_use]
    pub fn scaled(&self, factor: f64, relative: f64) -> Self {
        let value = self.value * factor;
        let half = (self.half_width() * factor).hypot(value * relative);
        Self::new(value, half, self.n)
    }
}

/// Mean of finite values with Student's 95 % interval (none below two values); `None` when there is no value.
#[must_use]
pub fn mean_t(values: &[f64]) -> Option<Interval> {
    let n = values.len();
    if n == 0 {
        return None;
    }
    let mean = mean(values);
    if n == 1 {
        return Some(Interval::bare(mean, 1));
    }
    Some(Interval::new(mean, t_975(n - 1) * sample_sd(values) / (n as f64).sqrt(), n))
}

/// Arithmetic mean; NaN of nothing.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Standard deviation with n − 1; zero below two values.
#[must_use]
pub fn sample_sd(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let m = mean(values);
    (values.iter().map(|v| (v - m).powi(2)).sum::<f64>() / (values.len() - 1) as f64).sqrt()
}

/// Root of the mean square; NaN of nothing.
#[must_use]
pub fn rms(values: &[f64]) -> f64 {
    (values.iter().map(|v| v * v).sum::<f64>() / values.len() as f64).sqrt()
}

/// The 97.5 % quantile of Student's t. Table to 30 degrees of freedom (NIST/SEMATECH handbook 1.3.6.7.2), then
/// Cornish-Fisher about the normal quantile, which is right to three decimals there.
#[must_use]
pub fn t_975(degrees: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
        2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
        2.045, 2.042,
    ];
    match degrees {
        0 => f64::INFINITY,
        d if d <= TABLE.len() => TABLE[d - 1],
        d => {
            let z: f64 = 1.959_964;
            let d = d as f64;
            z + (z.powi(3) + z) / (4.0 * d) + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * d * d)
        }
    }
}

/// Wilson's 95 % score interval for a success rate; `successes` may be fractional (a rim shot counts half).
#[must_use]
pub fn wilson(successes: f64, n: usize) -> Option<Interval> {
    if n == 0 || !successes.is_finite() {
        return None;
    }
    let (z2, n_f) = (1.959_964_f64.powi(2), n as f64);
    let p = (successes / n_f).clamp(0.0, 1.0);
    let centre = (p + z2 / (2.0 * n_f)) / (1.0 + z2 / n_f);
    let half = (z2 * (p * (1.0 - p) / n_f + z2 / (4.0 * n_f * n_f))).sqrt() / (1.0 + z2 / n_f);
    Some(Interval { value: p, lo: (centre - half).max(0.0), hi: (centre + half).min(1.0), n })
}

/// The `q` quantile with linear interpolation; NaN of nothing. Order is total, so NaN sorts last instead of panicking.
#[must_use]
pub fn quantile(values: &[f64], q: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = q.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let (fraction, above) = (place - below as f64, (below + 1).min(last));
    if fraction == 0.0 { sorted[below] } else { sorted[below] + (sorted[above] - sorted[below]) * fraction }
}

/// The median.
#[must_use]
pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64, tol: f64) {
        assert!((a - b).abs() <= tol, "{a} is not {b} within {tol}");
    }

    #[test]
    fn student_meets_the_table_and_the_normal() {
        close(t_975(2), 4.303, 0.0);
        close(t_975(60), 2.000, 5e-4);
        close(t_975(120), 1.980, 5e-4);
        close(t_975(1_000_000), 1.959_96, 1e-4);
        assert_eq!(t_975(0), f64::INFINITY);
    }

    #[test]
    fn wilson_meets_published_values() {
        // 8 of 10: 0.4902 .. 0.9433 (Newcombe 1998, method 3).
        let i = wilson(8.0, 10).unwrap();
        close(i.lo, 0.4902, 1e-4);
        close(i.hi, 0.9433, 1e-4);
        let none = wilson(0.0, 10).unwrap();
        close(none.lo, 0.0, 0.0);
        close(none.hi, 0.2775, 1e-4);
        assert!(wilson(1.0, 0).is_none());
    }

    #[test]
    fn three_repeats_carry_t_of_4_30() {
        let i = mean_t(&[48.0, 50.0, 52.0]).unwrap();
        close(i.value, 50.0, 1e-12);
        close(i.half_width(), 4.303 * 2.0 / 3f64.sqrt(), 1e-9);
        assert!(!mean_t(&[1.0]).unwrap().has_width());
        assert!(mean_t(&[]).is_none());
    }

    #[test]
    fn quantiles_interpolate_and_survive_nan() {
        close(median(&[3.0, 1.0, 2.0, 4.0]), 2.5, 0.0);
        close(quantile(&[0.0, 10.0], 0.9), 9.0, 1e-12);
        assert!(median(&[]).is_nan());
        assert!(median(&[f64::NAN, 1.0, 2.0]).is_finite());
    }
}
