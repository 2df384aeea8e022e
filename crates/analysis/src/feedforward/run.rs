//! One run of one test: what a state entry brackets, as equal-length columns.

/// The four tests of a characterisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Test {
    /// Step, forwards.
    DynamicForward,
    /// Step, backwards.
    DynamicReverse,
    /// Slow ramp, forwards.
    QuasistaticForward,
    /// Slow ramp, backwards.
    QuasistaticReverse,
}

impl Test {
    /// All of them, in the alphabetical order that WPILib SysId stores them in.
    pub const ALL: [Self; 4] =
        [Self::DynamicForward, Self::DynamicReverse, Self::QuasistaticForward, Self::QuasistaticReverse];

    /// The name in a state entry.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::DynamicForward => "dynamic-forward",
            Self::DynamicReverse => "dynamic-reverse",
            Self::QuasistaticForward => "quasistatic-forward",
            Self::QuasistaticReverse => "quasistatic-reverse",
        }
    }

    /// Reads a state value in any case and with any separator (`Quasistatic_Forward`, `kDynamicReverse`), because
    /// loggers other than WPILib's write their own spellings (allwpilib#6188). `none`, empty and unknown give `None`.
    #[must_use]
    pub fn parse(state: &str) -> Option<Self> {
        let letters: String =
            state.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase()).collect();
        let letters = letters.strip_prefix('k').unwrap_or(&letters);
        match letters {
            "dynamicforward" | "fastforward" => Some(Self::DynamicForward),
            "dynamicreverse" | "fastbackward" => Some(Self::DynamicReverse),
            "quasistaticforward" | "slowforward" => Some(Self::QuasistaticForward),
            "quasistaticreverse" | "slowbackward" => Some(Self::QuasistaticReverse),
            _ => None,
        }
    }

    /// Whether it is a ramp.
    #[must_use]
    pub fn is_ramp(self) -> bool {
        matches!(self, Self::QuasistaticForward | Self::QuasistaticReverse)
    }

    /// +1 forwards, −1 backwards.
    #[must_use]
    pub fn sign(self) -> f64 {
        match self {
            Self::DynamicForward | Self::QuasistaticForward => 1.0,
            Self::DynamicReverse | Self::QuasistaticReverse => -1.0,
        }
    }
}

/// The rows of one run of one test.
///
/// All columns have the same length. Time is in seconds and rises; position and velocity are in one length unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Which test.
    pub test: Test,
    /// Seconds.
    pub t: Vec<f64>,
    /// Applied volts.
    pub volts: Vec<f64>,
    /// Position.
    pub position: Vec<f64>,
    /// Velocity, as logged: later than the voltage by the sensor's delay, smoothed over its width.
    pub velocity: Vec<f64>,
}

impl Run {
    /// An empty run.
    #[must_use]
    pub fn new(test: Test) -> Self {
        Self { test, t: Vec::new(), volts: Vec::new(), position: Vec::new(), velocity: Vec::new() }
    }

    /// Appends one row; a row with a number that is not finite, or that does not move time on, is left out and `false`
    /// comes back.
    pub fn push(&mut self, t: f64, volts: f64, position: f64, velocity: f64) -> bool {
        let finite = t.is_finite() && volts.is_finite() && position.is_finite() && velocity.is_finite();
        if !finite || self.t.last().is_some_and(|last| t <= *last) {
            return false;
        }
        self.t.push(t);
        self.volts.push(volts);
        self.position.push(position);
        self.velocity.push(velocity);
        true
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.t.len()
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.t.is_empty()
    }

    /// Keeps the rows for which `keep` says so.
    pub(crate) fn retain(&mut self, keep: &[bool]) {
        for column in [&mut self.t, &mut self.volts, &mut self.position, &mut self.velocity] {
            let mut flags = keep.iter();
            column.retain(|_| flags.next().copied().unwrap_or(false));
        }
    }

    /// The usual spacing of its rows, seconds: the median. `None` below two rows.
    #[must_use]
    pub fn period_secs(&self) -> Option<f64> {
        (self.len() >= 2).then(|| {
            let steps: Vec<f64> = self.t.windows(2).map(|w| w[1] - w[0]).collect();
            crate::stats::median(&steps)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_names_are_read_in_any_spelling() {
        for test in Test::ALL {
            assert_eq!(Test::parse(test.name()), Some(test));
            assert_eq!(Test::parse(&test.name().to_uppercase().replace('-', "_")), Some(test));
        }
        assert_eq!(Test::parse("kDynamicReverse"), Some(Test::DynamicReverse));
        assert_eq!(Test::parse("none"), None);
        assert_eq!(Test::parse(""), None);
        assert_eq!(Test::parse("quasistatic-sideways"), None);
    }

    #[test]
    fn rows_that_are_not_numbers_or_go_back_are_left_out() {
        let mut run = Run::new(Test::DynamicForward);
        assert!(run.push(0.0, 7.0, 0.0, 0.0));
        assert!(!run.push(0.0, 7.0, 0.0, 0.0));
        assert!(!run.push(0.1, f64::NAN, 0.0, 0.0));
        assert!(run.push(0.2, 7.0, 0.1, 1.0));
        assert_eq!(run.len(), 2);
    }
}
