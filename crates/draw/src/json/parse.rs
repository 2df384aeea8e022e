//! The JSON grammar, by recursive descent with a bounded depth.

use std::collections::BTreeSet;

use super::Json;
use crate::error::DrawError;

/// Longest document that is read, bytes.
pub const MAX_BYTES: usize = 16 << 20;
/// Deepest nesting that is read.
pub const MAX_DEPTH: usize = 64;

pub(super) fn document(bytes: &[u8]) -> Result<Json, DrawError> {
    let refuse = |at: usize, reason: String| {
        let before = bytes.get(..at).unwrap_or(bytes);
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        let column = 1 + before.iter().rev().take_while(|&&byte| byte != b'\n').count();
        DrawError::Json { line, column, reason }
    };
    if bytes.len() > MAX_BYTES {
        return Err(refuse(0, format!("{} bytes, at most {MAX_BYTES} are read", bytes.len())));
    }
    let text =
        std::str::from_utf8(bytes).map_err(|error| refuse(error.valid_up_to(), "not UTF-8".to_owned()))?;
    let mut parser = Parser { bytes: text.as_bytes(), text, at: 0 };
    let parsed = parser.value(0).and_then(|value| {
        parser.blanks();
        if parser.at == parser.bytes.len() { Ok(value) } else { Err("text after the document".to_owned()) }
    });
    parsed.map_err(|reason| refuse(parser.at, reason))
}

struct Parser<'a> {
    bytes: &'a [u8],
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), String> {
        if self.peek() == Some(byte) {
            self.at += 1;
            Ok(())
        } else {
            Err(format!("expected `{}`", char::from(byte)))
        }
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, String> {
        if self.bytes[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(value)
        } else {
            Err("expected a value".to_owned())
        }
    }

    fn value(&mut self, depth: usize) -> Result<Json, String> {
        if depth > MAX_DEPTH {
            return Err(format!("nested deeper than {MAX_DEPTH}"));
        }
        self.blanks();
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => self.string().map(Json::Text),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            _ => Err("expected a value".to_owned()),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, String> {
        self.expect(b'{')?;
        let mut members = Vec::new();
        let mut seen = BTreeSet::new();
        self.blanks();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Json::Map(members));
        }
        loop {
            self.blanks();
            let key = self.string()?;
            if !seen.insert(key.clone()) {
                return Err(format!("the key `{key}` stands twice in one object"));
            }
            self.blanks();
            self.expect(b':')?;
            members.push((key, self.value(depth + 1)?));
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Json::Map(members));
                }
                _ => return Err("expected `,` or `}`".to_owned()),
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Json, String> {
        self.expect(b'[')?;
        let mut items = Vec::new();
        self.blanks();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Json::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Json::List(items));
                }
                _ => return Err("expected `,` or `]`".to_owned()),
            }
        }
    }

    fn string(&mut self) -> Result<String, String> {
        self.expect(b'"')?;
        let mut out = String::new();
        loop {
            let start = self.at;
            while !matches!(self.peek(), None | Some(b'"' | b'\\' | 0..0x20)) {
                self.at += 1;
            }
            out.push_str(&self.text[start..self.at]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => {
                    self.at += 1;
                    out.push(self.escape()?);
                }
                Some(_) => return Err("a control character inside a string".to_owned()),
                None => return Err("the string does not end".to_owned()),
            }
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        let escaped = self.peek();
        self.at += 1;
        Ok(match escaped {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let first = self.hex4()?;
                let code = if (0xD800..0xDC00).contains(&first) {
                    self.expect(b'\\')?;
                    self.expect(b'u')?;
                    let second = self.hex4()?;
                    if !(0xDC00..0xE000).contains(&second) {
                        return Err("a lone surrogate".to_owned());
                    }
                    0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)
                } else {
                    first
                };
                char::from_u32(code).ok_or("a lone surrogate")?
            }
            _ => {
                self.at = self.at.min(self.bytes.len());
                return Err("an unknown escape".to_owned());
            }
        })
    }

    fn hex4(&mut self) -> Result<u32, String> {
        let digits = self.bytes.get(self.at..self.at + 4).filter(|d| d.iter().all(u8::is_ascii_hexdigit));
        let digits = digits.and_then(|d| std::str::from_utf8(d).ok()).ok_or("expected four hex digits")?;
        let code = u32::from_str_radix(digits, 16).map_err(|_| "expected four hex digits")?;
        self.at += 4;
        Ok(code)
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Result<Json, String> {
        let start = self.at;
        let mut integer = true;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let leading_zero = self.peek() == Some(b'0');
        match self.digits() {
            0 => return Err("expected a digit".to_owned()),
            1 => {}
            _ if leading_zero => return Err("a number with a leading zero".to_owned()),
            _ => {}
        }
        if self.peek() == Some(b'.') {
            integer = false;
            self.at += 1;
            if self.digits() == 0 {
                return Err("expected a digit after the point".to_owned());
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            integer = false;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if self.digits() == 0 {
                return Err("expected a digit in the exponent".to_owned());
            }
        }
        let text = &self.text[start..self.at];
        if integer {
            return text.parse().map(Json::Int).map_err(|_| format!("the integer {text} is too large"));
        }
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Json::Float(value)),
            _ => Err(format!("the number {text} is too large")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        Json::parse(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn numbers_keep_their_kind_and_their_last_bit() {
        let parsed = Json::parse(b"[1, 1.0, -0, 0.00015000000000000001, 1e3]").unwrap();
        let expected = [
            Json::Int(1),
            Json::Float(1.0),
            Json::Int(0),
            Json::Float(f64::from_bits(0x3F23_A92A_3055_3262)),
            Json::Float(1000.0),
        ];
        assert_eq!(parsed, Json::List(expected.to_vec()));
    }

    #[test]
    fn what_is_not_json_is_refused_with_its_place() {
        assert!(refused("{\"a\":1,\n \"a\":2}").contains("line 2"));
        for text in ["", "{", "[1,]", "01", "1.", "NaN", "Infinity", "1e999", "\"\\x\"", "\"\\ud800\"", "1 2"]
        {
            refused(text);
        }
        assert!(refused("99999999999999999999").contains("too large"));
        let deep = "[".repeat(100_000);
        assert!(refused(&deep).contains("nested deeper"));
    }

    #[test]
    fn escapes_and_surrogates_are_read() {
        let parsed = Json::parse(br#""\u00e9\ud83d\ude00\n\/""#).unwrap();
        assert_eq!(parsed, Json::text("é😀\n/"));
    }
}
