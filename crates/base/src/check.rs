//! Checks that a configuration's numbers must pass. Each refuses NaN and the infinities.

use crate::ConfigError;

/// `value` if it is finite.
///
/// # Errors
/// Refuses NaN and the infinities.
pub fn finite(path: &str, value: f64) -> Result<f64, ConfigError> {
    if value.is_finite() { Ok(value) } else { Err(ConfigError::new(path, "a finite number", value)) }
}

/// `value` if it is finite and above zero.
///
/// # Errors
/// Refuses everything else.
pub fn positive(path: &str, value: f64) -> Result<f64, ConfigError> {
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(ConfigError::new(path, "a finite number above 0", value))
    }
}

/// `value` if it lies in the closed interval `min ..= max`.
///
/// # Errors
/// Refuses everything else.
pub fn within(path: &str, value: f64, min: f64, max: f64) -> Result<f64, ConfigError> {
    if value >= min && value <= max {
        Ok(value)
    } else {
        Err(ConfigError::new(path, format!("a number from {min} to {max}"), value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_passes_no_check() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(finite("x", bad).is_err());
            assert!(positive("x", bad).is_err());
            assert!(within("x", bad, -1.0, 1.0).is_err());
        }
        assert!(positive("x", 0.0).is_err());
        assert_eq!(within("x", 1.0, -1.0, 1.0), Ok(1.0));
    }
}
