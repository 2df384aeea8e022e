//! A straight line through samples whose residuals are not independent.

use crate::stats::Interval;

/// Slope of `y` on `x` with a 95 % interval from the residuals' own autocovariance: pooled lags are added until the
/// first negative one (Klein and Morelli's correction for coloured residuals). `None` below ten samples or without
/// spread in `x`.
pub(crate) fn slope(x: &[f64], y: &[f64]) -> Option<Interval> {
    const MAX_LAG: usize = 100;
    let n = x.len().min(y.len());
    if n < 10 {
        return None;
    }
    let (mx, my) = (crate::stats::mean(&x[..n]), crate::stats::mean(&y[..n]));
    let sxx: f64 = x[..n].iter().map(|a| (a - mx).powi(2)).sum();
    if sxx <= 0.0 || !sxx.is_finite() {
        return None;
    }
    let sxy: f64 = x.iter().zip(y).take(n).map(|(a, b)| (a - mx) * (b - my)).sum();
    let slope = sxy / sxx;
    let centred: Vec<f64> = x[..n].iter().map(|a| a - mx).collect();
    let residuals: Vec<f64> = centred.iter().zip(y).map(|(a, b)| b - my - slope * a).collect();
    let mut meat = 0.0;
    for lag in 0..=MAX_LAG.min(n - 1) {
        let len = n - lag;
        let covariance = (0..len).map(|i| residuals[i] * residuals[i + lag]).sum::<f64>() / len as f64;
        if lag > 0 && covariance < 0.0 {
            break;
        }
        let pairs: f64 = (0..len).map(|i| centred[i] * centred[i + lag]).sum();
        meat += covariance * pairs * if lag == 0 { 1.0 } else { 2.0 };
    }
    Some(Interval::new(slope, 1.96 * meat.max(0.0).sqrt() / sxx, n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_line_and_alternating_noise() {
        let x: Vec<f64> = (0..100).map(f64::from).collect();
        let y: Vec<f64> = x.iter().map(|x| 3.0 * x - 2.0).collect();
        let exact = slope(&x, &y).unwrap();
        assert!((exact.value - 3.0).abs() < 1e-12 && exact.half_width() < 1e-9);
        let noisy: Vec<f64> =
            y.iter().enumerate().map(|(i, y)| y + if i % 2 == 0 { 0.5 } else { -0.5 }).collect();
        assert!(slope(&x, &noisy).unwrap().contains(3.0));
        assert!(slope(&[1.0; 20], &[2.0; 20]).is_none());
        assert!(slope(&x[..5], &y[..5]).is_none());
    }
}
