//! Texts on their way to the wire.

use std::borrow::Cow;

/// A field of a row whose fields are parted by `|`: no `|` inside, on one line, trimmed. Readers drop rows with another
/// number of fields than they expect.
pub(crate) fn field(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if text.chars().any(|c| c == '|' || c.is_control()) {
        let clean = |c: char| match c {
            '|' => '/',
            c if c.is_control() => ' ',
            c => c,
        };
        Cow::Owned(text.chars().map(clean).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// What programs write where they know nothing.
const PLACEHOLDERS: [&str; 11] =
    ["unknown", "none", "null", "n/a", "na", "nil", "undefined", "default", "-1", "todo", "unset"];

/// A text that says something: trimmed, and neither blank nor a placeholder nor nothing but zeros.
pub(crate) fn telling(text: &str) -> Result<&str, &'static str> {
    let text = text.trim();
    if text.is_empty() {
        return Err("blank");
    }
    if PLACEHOLDERS.iter().any(|placeholder| text.eq_ignore_ascii_case(placeholder)) {
        return Err("a placeholder");
    }
    if text.bytes().all(|b| matches!(b, b'0' | b'.' | b'-' | b' ')) {
        return Err("nothing but zeros");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i6_no_bar_inside_a_field() {
        assert_eq!(field(" Front | left\ndrive "), "Front / left drive");
        assert_eq!(field("plain"), "plain");
    }

    #[test]
    fn placeholders_say_nothing() {
        for nothing in ["", "  ", "UNKNOWN", "None", "0", "0.0.0", "00000000", "-1", "n/a", "\t"] {
            assert!(telling(nothing).is_err(), "{nothing:?}");
        }
        for something in ["031E3A2F", "1", "2027.0.0-alpha-6", " d604d51 "] {
            assert_eq!(telling(something), Ok(something.trim()));
        }
    }
}
