//! Numbers and labels as other programs expect to read them.

use std::fmt::{self, Write as _};

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// Every maximal run of characters outside `A-Za-z0-9._-` becomes one `_`.
///
/// ```
/// assert_eq!(fieldlab_campaign::text::safe("2.0 m / far!"), "2.0_m_far_");
/// ```
#[must_use]
pub fn safe(label: &str) -> String {
    let mut out = String::with_capacity(label.len());
    let mut in_run = false;
    for c in label.chars() {
        if is_safe(c) {
            out.push(c);
            in_run = false;
        } else if !in_run {
            out.push('_');
            in_run = true;
        }
    }
    out
}

pub(crate) fn is_safe(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

/// A span for people: whole seconds rounded, then hours and whole minutes.
///
/// ```
/// use fieldlab_campaign::text::duration;
/// assert_eq!(duration(720.0), "12 min");
/// assert_eq!(duration(4320.0), "1 h 12 min");
/// assert_eq!(duration(59.4), "0 min");
/// ```
#[must_use]
pub fn duration(secs: f64) -> String {
    Duration(secs).to_string()
}

/// A span of so many seconds, as [`duration`] puts it. Writing it does not allocate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Duration(pub f64);

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = if self.0.is_finite() { self.0.max(0.0).round() as u64 } else { 0 };
        match whole / 60 {
            minutes @ 0..60 => write!(f, "{minutes} min"),
            minutes => write!(f, "{} h {} min", minutes / 60, minutes % 60),
        }
    }
}

/// `value` to `places` decimals; see [`Fixed`].
///
/// ```
/// use fieldlab_campaign::text::fixed;
/// assert_eq!(fixed(2.125, 2), "2.13");
/// assert_eq!(fixed(1.005, 2), "1.01");
/// assert_eq!(fixed(-0.004, 2), "-0.00");
/// assert_eq!(fixed(9.999, 2), "10.00");
/// ```
#[must_use]
pub fn fixed(value: f64, places: usize) -> String {
    Fixed(value, places).to_string()
}

/// A number to so many decimals, rounding half away from zero on its shortest decimal form. Writing it does not allocate.
///
/// That is what the reference's `%.2f` does, and measure keys are made from it: 2.125 is `2.13` there, while Rust's own
/// formatting, which rounds the exact binary value half to even, says `2.12`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fixed(pub f64, pub usize);

impl fmt::Display for Fixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(value, places) = *self;
        if !value.is_finite() {
            return JavaDouble(value).fmt(f);
        }
        let mut text = Digits::default();
        // One more in front, for a carry out of the first digit.
        write!(text, "0{}", value.abs())?;
        let whole = text.as_str().find('.').unwrap_or(text.len);
        let end = whole + 1 + places;
        if whole == text.len {
            text.write_str(".")?;
        }
        let half_up = text.bytes.get(end).filter(|_| end < text.len).is_some_and(|b| *b >= b'5');
        if half_up {
            for digit in text.bytes[..end].iter_mut().rev().filter(|b| **b != b'.') {
                if *digit < b'9' {
                    *digit += 1;
                    break;
                }
                *digit = b'0';
            }
        }
        let shown = &text.as_str()[..end.min(text.len)];
        let shown = if shown.starts_with("0") && whole > 1 { &shown[1..] } else { shown };
        let missing = end.saturating_sub(text.len);
        let sign = if value.is_sign_negative() { "-" } else { "" };
        let shown = if places == 0 { shown.trim_end_matches('.') } else { shown };
        write!(f, "{sign}{shown}{:0<missing$}", "")
    }
}

/// A double as Java prints it; see [`JavaDouble`].
///
/// ```
/// use fieldlab_campaign::text::java_double;
/// assert_eq!(java_double(4.0), "4.0");
/// assert_eq!(java_double(1e16), "1.0E16");
/// assert_eq!(java_double(0.00012), "1.2E-4");
/// ```
#[must_use]
pub fn java_double(value: f64) -> String {
    JavaDouble(value).to_string()
}

/// A double as Java prints it: `4.0`, `1.0E16`, `NaN`. The rows of `Measurements` have this form. Writing it does not
/// allocate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JavaDouble(pub f64);

impl fmt::Display for JavaDouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(value) = *self;
        let size = value.abs();
        if value.is_nan() {
            f.write_str("NaN")
        } else if value.is_infinite() {
            f.write_str(if value > 0.0 { "Infinity" } else { "-Infinity" })
        } else if value == 0.0 || (1e-3..1e7).contains(&size) {
            write!(f, "{value:?}")
        } else {
            let mut text = Digits::default();
            write!(text, "{value:e}")?;
            let (mantissa, exponent) = text.as_str().split_once('e').unwrap_or((text.as_str(), "0"));
            let point = if mantissa.contains('.') { "" } else { ".0" };
            write!(f, "{mantissa}{point}E{exponent}")
        }
    }
}

/// Room for the longest decimal form of a double, 5e-324 written out, and a little more.
struct Digits {
    bytes: [u8; 352],
    len: usize,
}

impl Default for Digits {
    fn default() -> Self {
        Self { bytes: [0; 352], len: 0 }
    }
}

impl Digits {
    fn as_str(&self) -> &str {
        // Only whole `str`s are written.
        std::str::from_utf8(&self.bytes[..self.len]).unwrap_or_default()
    }
}

impl fmt::Write for Digits {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len + text.len();
        self.bytes.get_mut(self.len..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fixed_at_its_edges() {
        for (value, places, expect) in [
            (0.0, 0, "0"),
            (-0.0, 1, "-0.0"),
            (9.5, 0, "10"),
            (0.5, 0, "1"),
            (99.95, 1, "100.0"),
            (12.0, 3, "12.000"),
            (5e-324, 2, "0.00"),
            (1e22, 1, "10000000000000000000000.0"),
            (f64::NAN, 2, "NaN"),
            (f64::NEG_INFINITY, 2, "-Infinity"),
        ] {
            assert_eq!(fixed(value, places), expect, "{value:?} {places}");
        }
        assert_eq!(fixed(f64::MAX, 2).len(), 309 + 3);
    }

    proptest! {
        #[test]
        fn fixed_is_never_further_than_half_a_last_place(value in -1e9_f64..1e9, places in 0_usize..6) {
            let text = fixed(value, places);
            let read: f64 = text.parse().unwrap();
            prop_assert!((read - value).abs() <= 0.5 * 10_f64.powi(-(places as i32)) * (1.0 + 1e-9) + 1e-6 * value.abs() * 1e-9);
            prop_assert_eq!(text.split_once('.').map_or(0, |(_, f)| f.len()), places);
        }
    }
}
