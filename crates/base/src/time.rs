//! One instant for wire, file and loop: signed microseconds.

use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// An instant or a span in whole microseconds, signed.
///
/// Used for every instant on the wire and on disk. Real logs hold negative instants and instants out of order, so
/// neither is refused here; arithmetic saturates instead of wrapping. Which zero it counts from (program start, Unix
/// epoch) is the business of whoever made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Micros(pub i64);

impl Micros {
    /// The zero of whatever clock this is.
    pub const ZERO: Self = Self(0);
    /// The earliest instant that can be written.
    pub const MIN: Self = Self(i64::MIN);
    /// The latest instant that can be written.
    pub const MAX: Self = Self(i64::MAX);

    /// From seconds, rounded to the nearest microsecond; NaN becomes zero and what does not fit saturates.
    #[must_use]
    pub fn from_secs(secs: f64) -> Self {
        // `as` saturates and maps NaN to zero, which is what the sentence above promises.
        Self((secs * 1e6).round() as i64)
    }

    /// From whole milliseconds.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis.saturating_mul(1000))
    }

    /// In seconds. Exact for spans below about 285 years.
    #[must_use]
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The span from `earlier` to `self`, saturating.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Micros {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Micros {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl AddAssign for Micros {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Micros {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.6} s", self.as_secs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_round_and_saturate() {
        assert_eq!(Micros::from_secs(0.000_000_6), Micros(1));
        assert_eq!(Micros::from_secs(-587.25), Micros(-587_250_000));
        assert_eq!(Micros::from_secs(f64::NAN), Micros::ZERO);
        assert_eq!(Micros::from_secs(f64::INFINITY), Micros::MAX);
        assert_eq!(Micros::MIN - Micros(1), Micros::MIN);
        assert_eq!(Micros::MAX + Micros(1), Micros::MAX);
    }
}
