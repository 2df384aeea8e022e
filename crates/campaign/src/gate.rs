//! Volts: at rest for the gate, under load for the floor.

use std::collections::VecDeque;

use fieldlab_base::Micros;

use crate::BatteryReading;

/// The gate judges the median over this long.
pub(crate) const WINDOW: Micros = Micros::from_millis(1000);
/// More samples than this in a window are thinned by age.
const MOST: usize = 512;

/// Resting volts: the median of one second without drive output and without a gap.
#[derive(Debug)]
pub(crate) struct RestingVolts {
    samples: VecDeque<(Micros, f64)>,
    sorted: Vec<f64>,
    /// Since when readings have come without a gap and with the drive neutral.
    since: Option<Micros>,
    last: Option<Micros>,
    stale: Micros,
}

/// A reading that counts: finite and fresh.
pub(crate) fn fresh(reading: Option<BatteryReading>, stale_secs: f64) -> Option<f64> {
    reading.filter(|r| r.volts.is_finite() && r.age_secs >= 0.0 && r.age_secs <= stale_secs).map(|r| r.volts)
}

impl RestingVolts {
    pub(crate) fn new(stale_secs: f64) -> Self {
        Self {
            samples: VecDeque::with_capacity(MOST),
            sorted: Vec::with_capacity(MOST),
            since: None,
            last: None,
            stale: Micros::from_secs(stale_secs),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.samples.clear();
        self.since = None;
        self.last = None;
    }

    /// One loop. `volts` is `None` when no reading counts.
    pub(crate) fn push(&mut self, now: Micros, volts: Option<f64>, drive_neutral: bool) {
        if !drive_neutral || self.last.is_some_and(|last| now.since(last) > self.stale) {
            self.clear();
        }
        let Some(volts) = volts.filter(|_| drive_neutral) else { return };
        self.since.get_or_insert(now);
        self.last = Some(now);
        if self.samples.len() == MOST {
            self.samples.pop_front();
        }
        self.samples.push_back((now, volts));
        while self.samples.front().is_some_and(|(at, _)| now.since(*at) > WINDOW) {
            self.samples.pop_front();
        }
    }

    /// The median, once a whole window was seen and the last reading still counts.
    pub(crate) fn median(&mut self, now: Micros) -> Option<f64> {
        let whole = self.since.is_some_and(|since| now.since(since) >= WINDOW);
        let live = self.last.is_some_and(|last| now.since(last) <= self.stale);
        if !whole || !live {
            return None;
        }
        self.sorted.clear();
        self.sorted.extend(self.samples.iter().map(|(_, v)| *v));
        self.sorted.sort_unstable_by(f64::total_cmp);
        let half = self.sorted.len() / 2;
        let upper = *self.sorted.get(half)?;
        if self.sorted.len() % 2 == 1 {
            return Some(upper);
        }
        self.sorted.get(half.checked_sub(1)?).map(|lower| (lower + upper) / 2.0)
    }
}

/// What the gate says in this loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Verdict {
    /// Not known yet: less than a window of readings.
    Unknown,
    /// Go on.
    Pass {
        /// The median.
        volts: f64,
    },
    /// Hold. `volts` is `None` when nothing fresh is read.
    Low {
        /// The median.
        volts: Option<f64>,
    },
}

/// One visit to a gate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Gate {
    pub(crate) min_volts: f64,
    pub(crate) resume_volts: f64,
    pub(crate) paused: bool,
    entered: Micros,
    above_since: Option<Micros>,
}

impl Gate {
    pub(crate) const fn new(now: Micros, min_volts: f64, resume_volts: f64, paused: bool) -> Self {
        Self { min_volts, resume_volts, paused, entered: now, above_since: None }
    }

    /// Judges. A pack between the two marks passes when it is first looked at and does not lift a pause.
    pub(crate) fn judge(&mut self, now: Micros, volts: &mut RestingVolts, hold_secs: f64) -> Verdict {
        let Some(median) = volts.median(now) else {
            self.above_since = None;
            // Half a second of grace beyond the window, then the lack of readings is itself a reason to hold.
            let waited = now.since(self.entered);
            return if self.paused || waited > WINDOW + Micros::from_millis(500) {
                Verdict::Low { volts: None }
            } else {
                Verdict::Unknown
            };
        };
        if !self.paused {
            return if median >= self.min_volts {
                Verdict::Pass { volts: median }
            } else {
                Verdict::Low { volts: Some(median) }
            };
        }
        if median < self.resume_volts {
            self.above_since = None;
            return Verdict::Low { volts: Some(median) };
        }
        let since = *self.above_since.get_or_insert(now);
        if now.since(since) >= Micros::from_secs(hold_secs) {
            Verdict::Pass { volts: median }
        } else {
            Verdict::Low { volts: Some(median) }
        }
    }
}

/// The lowest volts under load, without single-sample spikes: the lowest median of three.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct LoadedVolts {
    last: [Option<f64>; 2],
    lowest: Option<f64>,
    blind: Micros,
}

impl LoadedVolts {
    /// One loop of `dt`. `volts` is `None` when no reading counts.
    pub(crate) fn push(&mut self, volts: Option<f64>, dt: Micros) {
        let Some(c) = volts else {
            self.blind += dt;
            return;
        };
        if let [Some(a), Some(b)] = self.last {
            let median = a.max(b).min(c).max(a.min(b));
            self.lowest = Some(self.lowest.map_or(median, |l| l.min(median)));
        }
        self.last = [self.last[1], Some(c)];
    }

    pub(crate) const fn lowest(&self) -> Option<f64> {
        self.lowest
    }

    /// For how long nothing was read that counts.
    pub(crate) const fn blind(&self) -> Micros {
        self.blind
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_low_sample_is_no_sag_and_two_are() {
        let mut volts = LoadedVolts::default();
        for v in [12.0, 12.0, 3.0, 12.0, 12.0] {
            volts.push(Some(v), Micros::from_millis(20));
        }
        assert_eq!(volts.lowest(), Some(12.0));
        for v in [8.0, 8.5] {
            volts.push(Some(v), Micros::from_millis(20));
        }
        assert_eq!(volts.lowest(), Some(8.5));
        assert_eq!(LoadedVolts::default().lowest(), None);
    }

    #[test]
    fn a_median_needs_a_whole_window_without_a_gap() {
        let mut volts = RestingVolts::new(0.25);
        let at = |ms| Micros::from_millis(ms);
        for ms in (0..1000).step_by(20) {
            volts.push(at(ms), Some(if ms == 500 { 3.0 } else { 12.5 }), true);
            assert_eq!(volts.median(at(ms)), None);
        }
        volts.push(at(1000), Some(12.5), true);
        assert_eq!(volts.median(at(1000)), Some(12.5));
        assert_eq!(volts.median(at(1300)), None, "the last reading is stale");
        volts.push(at(1020), Some(12.5), false);
        assert_eq!(volts.median(at(1020)), None, "the drive has output");
    }
}
