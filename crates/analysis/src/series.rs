//! Samples on the stitched clock, held between records.

/// A number over time: seconds since the session's first record, rising; finite values only.
///
/// Logs that write changes only say nothing between two records, so a value holds until the next one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// Seconds.
    pub t: Vec<f64>,
    /// Values.
    pub v: Vec<f64>,
    /// Samples left out because they were not finite.
    pub dropped: usize,
}

impl Series {
    /// Sorts samples by time (files need not be in order) and drops, with a count, what is not finite.
    #[must_use]
    pub fn new(mut samples: Vec<(f64, f64)>) -> Self {
        samples.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut series = Self::default();
        for (t, v) in samples {
            if v.is_finite() && t.is_finite() {
                series.t.push(t);
                series.v.push(v);
            } else {
                series.dropped += 1;
            }
        }
        series
    }

    /// Number of samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.t.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.t.is_empty()
    }

    /// The value that holds at `at`; `None` before the first record.
    #[must_use]
    pub fn at(&self, at: f64) -> Option<f64> {
        let next = self.t.partition_point(|t| *t <= at);
        next.checked_sub(1).map(|i| self.v[i])
    }

    /// The samples in `from ..= to`, led by the value that holds at `from` when no record stands there.
    #[must_use]
    pub fn within(&self, from: f64, to: f64) -> Self {
        let (first, last) = (self.t.partition_point(|t| *t < from), self.t.partition_point(|t| *t <= to));
        let mut part = Self { t: Vec::new(), v: Vec::new(), dropped: 0 };
        if (first >= self.len() || self.t[first] > from)
            && let Some(held) = self.at(from)
        {
            part.t.push(from);
            part.v.push(held);
        }
        if first < last {
            part.t.extend_from_slice(&self.t[first..last]);
            part.v.extend_from_slice(&self.v[first..last]);
        }
        part
    }

    /// Straight line between the records about `at`; ends are held.
    #[must_use]
    pub fn interpolate(&self, at: f64) -> Option<f64> {
        let next = self.t.partition_point(|t| *t <= at);
        let Some(before) = next.checked_sub(1) else { return self.v.first().copied() };
        let (t0, v0) = (self.t[before], self.v[before]);
        let Some((t1, v1)) = self.t.get(next).zip(self.v.get(next)) else { return Some(v0) };
        Some(v0 + (v1 - v0) * (at - t0) / (t1 - t0))
    }

    /// Lowest value.
    #[must_use]
    pub fn min(&self) -> Option<f64> {
        self.v.iter().copied().min_by(f64::total_cmp)
    }

    /// Highest value.
    #[must_use]
    pub fn max(&self) -> Option<f64> {
        self.v.iter().copied().max_by(f64::total_cmp)
    }

    /// Largest distance from zero.
    #[must_use]
    pub fn max_abs(&self) -> Option<f64> {
        self.v.iter().map(|v| v.abs()).max_by(f64::total_cmp)
    }

    /// Mean over time of the held value up to `to`; of one instant, its value.
    #[must_use]
    pub fn held_mean(&self, to: f64) -> Option<f64> {
        let (mut sum, mut span) = (0.0, 0.0);
        for i in 0..self.len() {
            let dt = self.t.get(i + 1).copied().unwrap_or(to) - self.t[i];
            if dt > 0.0 {
                sum += self.v[i] * dt;
                span += dt;
            }
        }
        if span > 0.0 { Some(sum / span) } else { self.v.last().copied() }
    }

    /// At most `n` samples for a picture: of each stretch the lowest and the highest, so that no dip is lost.
    #[must_use]
    pub fn thinned(&self, n: usize) -> Vec<(f64, f64)> {
        if self.len() <= n {
            return self.t.iter().copied().zip(self.v.iter().copied()).collect();
        }
        let chunk = self.len().div_ceil((n / 2).max(1));
        let mut out = Vec::with_capacity(n);
        for (t, v) in self.t.chunks(chunk).zip(self.v.chunks(chunk)) {
            let by = |a: &usize, b: &usize| v[*a].total_cmp(&v[*b]);
            let (low, high) = ((0..v.len()).min_by(by).unwrap_or(0), (0..v.len()).max_by(by).unwrap_or(0));
            for i in [low.min(high), low.max(high)] {
                if out.last().is_none_or(|(last, _)| *last < t[i]) {
                    out.push((t[i], v[i]));
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t15_order_is_by_time_and_nan_is_dropped_and_counted() {
        let s = Series::new(vec![(2.0, 20.0), (1.0, 10.0), (1.5, f64::NAN), (3.0, f64::INFINITY)]);
        assert_eq!(s.t, [1.0, 2.0]);
        assert_eq!(s.dropped, 2);
        assert_eq!(s.max(), Some(20.0));
        assert_eq!(s.at(0.5), None);
        assert_eq!(s.at(1.9), Some(10.0));
        assert_eq!(s.at(99.0), Some(20.0));
    }

    #[test]
    fn change_only_values_hold() {
        let s = Series::new(vec![(0.0, 1.0), (10.0, 3.0)]);
        assert_eq!(s.within(4.0, 5.0).v, [1.0]);
        assert_eq!(s.within(4.0, 12.0).v, [1.0, 3.0]);
        assert_eq!(s.within(10.0, 12.0).v, [3.0]);
        assert_eq!(s.held_mean(20.0), Some(2.0));
        assert_eq!(s.interpolate(5.0), Some(2.0));
        assert!(Series::default().within(0.0, 1.0).is_empty());
    }

    #[test]
    fn thinning_keeps_the_dip() {
        let mut samples: Vec<(f64, f64)> = (0..10_000).map(|i| (f64::from(i), 12.0)).collect();
        samples[5_000].1 = 6.5;
        let thin = Series::new(samples).thinned(200);
        assert!(thin.len() <= 201);
        assert!(thin.iter().any(|(_, v)| *v == 6.5));
    }
}
