//! The two number grammars.

/// A finite decimal number `-?digits[.digits][e[+-]digits]`, and nothing else.
///
/// ```
/// use fieldlab_draw::samples::strict_number;
/// assert_eq!(strict_number(b"-1.5e-3"), Some(-0.0015));
/// for refused in ["", " 1", "1 ", "+1", "1.", ".5", "0x1p3", "nan", "1e999", "1,5"] {
///     assert_eq!(strict_number(refused.as_bytes()), None, "{refused}");
/// }
/// ```
#[must_use]
pub fn strict_number(text: &[u8]) -> Option<f64> {
    let digits = |from: usize| text[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = usize::from(text.first() == Some(&b'-'));
    let mut run = digits(at);
    if run == 0 {
        return None;
    }
    at += run;
    if text.get(at) == Some(&b'.') {
        run = digits(at + 1);
        if run == 0 {
            return None;
        }
        at += 1 + run;
    }
    if let Some(b'e' | b'E') = text.get(at) {
        at += 1 + usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        run = text.get(at..).map_or(0, |rest| rest.iter().take_while(|byte| byte.is_ascii_digit()).count());
        if run == 0 {
            return None;
        }
        at += run;
    }
    if at != text.len() {
        return None;
    }
    let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    value.is_finite().then_some(value)
}

/// A finite number as C's `strtod` reads it in the C locale when the whole text must be used: leading blanks, a plus sign and
/// hex floats pass.
///
/// ```
/// use fieldlab_draw::samples::c_number;
/// assert_eq!(c_number(b" +1."), Some(1.0));
/// assert_eq!(c_number(b"0x1.8p1"), Some(3.0));
/// assert_eq!(c_number(b"1 "), None);
/// assert_eq!(c_number(b"inf"), None);
/// ```
#[must_use]
pub fn c_number(text: &[u8]) -> Option<f64> {
    let blanks = text.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == 0x0B).count();
    let (sign, text) = match text.get(blanks..)? {
        [b'-', rest @ ..] => (-1.0, rest),
        [b'+', rest @ ..] => (1.0, rest),
        rest => (1.0, rest),
    };
    if let [b'0', b'x' | b'X', rest @ ..] = text {
        return hex_float(rest).map(|value| sign * value);
    }
    // What is left is decimal: Rust reads the same grammar but for words, which begin with a letter, and signs.
    if !text.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.') {
        return None;
    }
    let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    value.is_finite().then_some(sign * value)
}

fn hex_float(text: &[u8]) -> Option<f64> {
    let (mut value, mut scale, mut seen, mut point) = (0.0f64, 0i32, false, false);
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match char::from(byte).to_digit(16) {
            Some(digit) => {
                seen = true;
                value = value * 16.0 + f64::from(digit);
                scale -= if point { 4 } else { 0 };
            }
            None if byte == b'.' && !point => point = true,
            None => break,
        }
        at += 1;
    }
    if !seen {
        return None;
    }
    if let Some(b'p' | b'P') = text.get(at) {
        let exponent: i32 = std::str::from_utf8(text.get(at + 1..)?).ok()?.parse().ok()?;
        scale = scale.checked_add(exponent)?;
    } else if at != text.len() {
        return None;
    }
    let value = value * 2f64.powi(scale);
    value.is_finite().then_some(value)
}

/// An unsigned decimal integer without sign, blanks or superfluous zeros.
pub(super) fn unsigned(text: &[u8]) -> Option<u64> {
    let plain = !text.is_empty()
        && text.len() <= 19
        && text.iter().all(u8::is_ascii_digit)
        && (text[0] != b'0' || text.len() == 1);
    plain.then(|| std::str::from_utf8(text).ok()?.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d15_the_strict_grammar_takes_plain_decimals_only() {
        for (text, value) in [("0", 0.0), ("-0.5", -0.5), ("12e3", 12e3), ("1.25E+2", 125.0)] {
            assert_eq!(strict_number(text.as_bytes()), Some(value), "{text}");
        }
        for text in ["-", "e5", "1e", "1e+", "1_0", "١", "1e5 ", "--1", "infinity"] {
            assert_eq!(strict_number(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn d6_counts_are_unsigned_decimal_integers() {
        assert_eq!(unsigned(b"250000"), Some(250_000));
        for text in ["", "-1", "+1", "2.9", "01", "1e3", "99999999999999999999"] {
            assert_eq!(unsigned(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn the_grammar_of_c_takes_what_strtod_takes() {
        // Each checked against glibc's strtod with the end pointer at the end of the text.
        for (text, value) in [("\t1e3", 1e3), (".5", 0.5), ("-0x10", -16.0), ("0x.8", 0.5), ("0x1p-2", 0.25)]
        {
            assert_eq!(c_number(text.as_bytes()), Some(value), "{text}");
        }
        for text in ["", "1.5x", "0x", "nan", "+-1", "1,5", "1e"] {
            assert_eq!(c_number(text.as_bytes()), None, "{text}");
        }
    }
}
