//! Numbers and labels as other programs expect to read them.

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
    let whole = if secs.is_finite() { secs.max(0.0).round() as u64 } else { 0 };
    let minutes = whole / 60;
    if minutes >= 60 { format!("{} h {} min", minutes / 60, minutes % 60) } else { format!("{minutes} min") }
}

/// `value` to `places` decimals, rounding half away from zero on its shortest decimal form.
///
/// That is what the reference's `%.2f` does, and measure keys are made from it: 2.125 is `2.13` there, while Rust's own
/// formatting, which rounds the exact binary value half to even, says `2.12`.
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
    if !value.is_finite() {
        return java_double(value);
    }
    let text = format!("{}", value.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let mut digits: Vec<u8> = whole
        .bytes()
        .chain(fraction.bytes().chain(std::iter::repeat(b'0')).take(places))
        .map(|b| b - b'0')
        .collect();
    if fraction.as_bytes().get(places).is_some_and(|b| *b >= b'5') {
        let mut carry = true;
        for digit in digits.iter_mut().rev() {
            *digit += 1;
            carry = *digit == 10;
            if !carry {
                break;
            }
            *digit = 0;
        }
        if carry {
            digits.insert(0, 1);
        }
    }
    let split = digits.len() - places;
    let mut out = String::from(if value.is_sign_negative() { "-" } else { "" });
    for (i, digit) in digits.iter().enumerate() {
        if i == split {
            out.push('.');
        }
        out.push(char::from(b'0' + digit));
    }
    out
}

/// A double as Java prints it: `4.0`, `1.0E16`, `NaN`. The rows of `Measurements` have this form.
///
/// ```
/// use fieldlab_campaign::text::java_double;
/// assert_eq!(java_double(4.0), "4.0");
/// assert_eq!(java_double(1e16), "1.0E16");
/// assert_eq!(java_double(0.00012), "1.2E-4");
/// ```
#[must_use]
pub fn java_double(value: f64) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity".into() } else { "-Infinity".into() };
    }
    let size = value.abs();
    if value == 0.0 || (1e-3..1e7).contains(&size) {
        return format!("{value:?}");
    }
    let text = format!("{value:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let point = if mantissa.contains('.') { "" } else { ".0" };
    format!("{mantissa}{point}E{exponent}")
}
