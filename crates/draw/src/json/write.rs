//! JSON out: the canonical form of the digest, one line, or indented for people.

use std::fmt::Write as _;

use super::Json;

/// `value` as Python's `repr` writes it: shortest digits that read back exactly, exponent form below 1e-4 and from 1e16.
///
/// ```
/// use fieldlab_draw::json::python_float;
/// assert_eq!(python_float(0.03), "0.03");
/// assert_eq!(python_float(1.0), "1.0");
/// assert_eq!(python_float(0.00001), "1e-05");
/// assert_eq!(python_float(1.5e16), "1.5e+16");
/// ```
#[must_use]
pub fn python_float(value: f64) -> String {
    if !value.is_finite() {
        return if value.is_nan() {
            "nan"
        } else if value > 0.0 {
            "inf"
        } else {
            "-inf"
        }
        .to_owned();
    }
    let (sign, digits, exponent) = scientific(&format!("{value:e}"));
    if (-4..16).contains(&exponent) {
        let plain = positional(sign, &digits, exponent);
        return if plain.contains('.') { plain } else { plain + ".0" };
    }
    exponential(sign, &digits, exponent)
}

/// `value` as C's `%.12g` writes it: twelve significant digits, trailing zeros dropped.
///
/// ```
/// use fieldlab_draw::json::twelve_digits;
/// assert_eq!(twelve_digits(0.0025), "0.0025");
/// assert_eq!(twelve_digits(1.0 / 3.0), "0.333333333333");
/// assert_eq!(twelve_digits(1e-7), "1e-07");
/// ```
#[must_use]
pub fn twelve_digits(value: f64) -> String {
    if !value.is_finite() {
        return python_float(value);
    }
    let (sign, mut digits, exponent) = scientific(&format!("{value:.11e}"));
    digits.truncate(digits.trim_end_matches('0').len().max(1));
    if (-4..12).contains(&exponent) {
        positional(sign, &digits, exponent)
    } else {
        exponential(sign, &digits, exponent)
    }
}

/// Sign, digits without a point, decimal exponent of Rust's `d.ddde±x`.
fn scientific(text: &str) -> (&'static str, String, i32) {
    let (sign, text) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    (sign, mantissa.replace('.', ""), exponent.parse().unwrap_or(0))
}

fn positional(sign: &str, digits: &str, exponent: i32) -> String {
    let length = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
    if exponent < 0 {
        return format!("{sign}0.{}{digits}", zeros(-exponent - 1));
    }
    if length <= exponent + 1 {
        return format!("{sign}{digits}{}", zeros(exponent + 1 - length));
    }
    let (whole, part) = digits.split_at(usize::try_from(exponent + 1).unwrap_or(0));
    format!("{sign}{whole}.{part}")
}

fn exponential(sign: &str, digits: &str, exponent: i32) -> String {
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    let exponent_sign = if exponent < 0 { '-' } else { '+' };
    format!("{sign}{first}{point}{rest}e{exponent_sign}{:02}", exponent.abs())
}

impl Json {
    /// The form that digests are taken of: keys sorted by code point, no blanks, ASCII only, numbers as [`python_float`].
    #[must_use]
    pub fn canonical(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, None, true, 0);
        out
    }

    /// One line, members in their order. A float that is not finite is written as `null`.
    #[must_use]
    pub fn line(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, None, false, 0);
        out
    }

    /// Two blanks of indent, keys sorted, a final line feed.
    #[must_use]
    pub fn pretty(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, Some(2), true, 0);
        out.push('\n');
        out
    }

    fn write(&self, out: &mut String, indent: Option<usize>, sorted: bool, depth: usize) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Int(value) => {
                let _infallible = write!(out, "{value}");
            }
            Self::Float(value) if value.is_finite() => out.push_str(&python_float(*value)),
            Self::Float(_) => out.push_str("null"),
            Self::Text(text) => quote(out, text),
            Self::List(items) => {
                let flat = items.iter().all(|item| !matches!(item, Self::List(_) | Self::Map(_)));
                let indent = indent.filter(|_| !flat);
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    separate(out, index, indent, depth);
                    item.write(out, indent, sorted, depth + 1);
                }
                close(out, items.is_empty(), indent, depth, ']');
            }
            Self::Map(members) => {
                let mut order: Vec<&(String, Self)> = members.iter().collect();
                if sorted {
                    order.sort_by(|a, b| a.0.cmp(&b.0));
                }
                out.push('{');
                for (index, (key, value)) in order.into_iter().enumerate() {
                    separate(out, index, indent, depth);
                    quote(out, key);
                    out.push_str(if indent.is_some() { ": " } else { ":" });
                    value.write(out, indent, sorted, depth + 1);
                }
                close(out, members.is_empty(), indent, depth, '}');
            }
        }
    }
}

fn separate(out: &mut String, index: usize, indent: Option<usize>, depth: usize) {
    if index > 0 {
        out.push(',');
    }
    if let Some(width) = indent {
        out.push('\n');
        out.push_str(&" ".repeat(width * (depth + 1)));
    }
}

fn close(out: &mut String, empty: bool, indent: Option<usize>, depth: usize, bracket: char) {
    if let (Some(width), false) = (indent, empty) {
        out.push('\n');
        out.push_str(&" ".repeat(width * depth));
    }
    out.push(bracket);
}

fn quote(out: &mut String, text: &str) {
    out.push('"');
    for unit in text.encode_utf16() {
        match unit {
            0x22 => out.push_str("\\\""),
            0x5C => out.push_str("\\\\"),
            0x0A => out.push_str("\\n"),
            0x0D => out.push_str("\\r"),
            0x09 => out.push_str("\\t"),
            0x08 => out.push_str("\\b"),
            0x0C => out.push_str("\\f"),
            0x20..0x7F => out.extend(char::from_u32(u32::from(unit))),
            _ => {
                let _infallible = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_as_python_writes_them() {
        // Each pair printed by CPython 3.11, 2026-11.
        let pairs = [
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (0.000_150_000_000_000_000_01, "0.00015000000000000001"),
            (-0.0, "-0.0"),
            (1e16, "1e+16"),
            (123_456_789_012_345_680.0, "1.2345678901234568e+17"),
            (9_007_199_254_740_993.0, "9007199254740992.0"),
            (5e-324, "5e-324"),
            (1.797_693_134_862_315_7e308, "1.7976931348623157e+308"),
        ];
        for (value, text) in pairs {
            assert_eq!(python_float(value), text);
        }
    }

    #[test]
    fn twelve_digits_are_those_of_c() {
        let pairs = [
            (0.458_630_899_188_049_95, "0.458630899188"),
            (999_999_999_999.5, "1e+12"),
            (123_456_789_012.34, "123456789012"),
            (0.000_099_999_999_999_99, "0.0001"),
            (1.25e-5, "1.25e-05"),
            (-2.0, "-2"),
            (0.0, "0"),
        ];
        for (value, text) in pairs {
            assert_eq!(twelve_digits(value), text);
        }
    }

    #[test]
    fn the_canonical_form_is_sorted_and_ascii() {
        let value =
            Json::map([("b", Json::text("é😀")), ("a", Json::List(vec![Json::Float(0.5), Json::Null]))]);
        assert_eq!(value.canonical(), r#"{"a":[0.5,null],"b":"\u00e9\ud83d\ude00"}"#);
        assert_eq!(
            Json::parse(value.canonical().as_bytes()).unwrap(),
            Json::map([("a", value.get("a").unwrap().clone()), ("b", value.get("b").unwrap().clone()),])
        );
    }
}
