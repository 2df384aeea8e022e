//! Schema text to declarations: the official grammar, tokens separated by any blanks.

use super::{MAX_TEXT, SchemaError};

/// One field as the text declares it. Names and types are not checked against anything yet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Declaration {
    /// The type's name.
    pub type_name: String,
    /// The field's name.
    pub name: String,
    /// Array size, when it is an array.
    pub count: Option<u64>,
    /// Bits, when it is a bit-field.
    pub bits: Option<u32>,
    /// Names of the field's values, in the order of the text.
    pub enum_values: Vec<(String, i64)>,
}

/// Parses a schema. An empty text, and stray semicolons, declare nothing and are fine.
///
/// # Errors
/// [`SchemaError::Syntax`] with the place, [`SchemaError::TooLarge`] for a text beyond [`MAX_TEXT`] bytes.
pub fn parse(text: &str) -> Result<Vec<Declaration>, SchemaError> {
    if text.len() > MAX_TEXT {
        return Err(SchemaError::TooLarge { name: String::new(), what: "bytes of schema", limit: MAX_TEXT });
    }
    let mut parser = Parser { text, at: 0, token: Token::End, start: 0 };
    let mut declarations = Vec::new();
    loop {
        parser.next();
        match parser.token {
            Token::Mark(b';') => {}
            Token::End => return Ok(declarations),
            _ => {
                declarations.push(parser.declaration()?);
                match parser.token {
                    Token::Mark(b';') => {}
                    Token::End => return Ok(declarations),
                    _ => return Err(parser.expected("; or the end")),
                }
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Token<'a> {
    Name(&'a str),
    Integer(&'a str),
    Mark(u8),
    Unknown,
    End,
}

struct Parser<'a> {
    text: &'a str,
    /// After the current token.
    at: usize,
    token: Token<'a>,
    /// Where the current token begins.
    start: usize,
}

impl<'a> Parser<'a> {
    fn next(&mut self) {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        self.start = self.at;
        let Some(&first) = bytes.get(self.at) else {
            self.token = Token::End;
            return;
        };
        self.at += 1;
        self.token = match first {
            b'[' | b']' | b'{' | b'}' | b':' | b';' | b',' | b'=' => Token::Mark(first),
            b'-' | b'0'..=b'9' => Token::Integer(self.run(|b| b.is_ascii_digit())),
            _ if starts_name(first) => Token::Name(self.run(|b| starts_name(b) || b.is_ascii_digit())),
            _ => Token::Unknown,
        };
    }

    /// Extends the current token as long as its bytes satisfy `more`.
    fn run(&mut self, more: impl Fn(u8) -> bool) -> &'a str {
        while self.text.as_bytes().get(self.at).is_some_and(|b| more(*b)) {
            self.at += 1;
        }
        // Bytes from 0x80 up belong to names, so a token never ends inside a character.
        self.text.get(self.start..self.at).unwrap_or_default()
    }

    fn declaration(&mut self) -> Result<Declaration, SchemaError> {
        let mut declared = Declaration::default();
        if self.token == Token::Name("enum") {
            self.next();
            if self.token != Token::Mark(b'{') {
                return Err(self.expected("{ after enum"));
            }
        }
        if self.token == Token::Mark(b'{') {
            self.enumeration(&mut declared.enum_values)?;
        }
        declared.type_name = self.name("a type's name")?;
        declared.name = self.name("a field's name")?;
        match self.token {
            Token::Mark(b'[') => {
                self.next();
                declared.count = Some(self.positive("an array size above 0")?);
                self.mark(b']', "]")?;
            }
            Token::Mark(b':') => {
                self.next();
                declared.bits = Some(self.positive("a number of bits above 0")?);
            }
            _ => {}
        }
        Ok(declared)
    }

    fn enumeration(&mut self, values: &mut Vec<(String, i64)>) -> Result<(), SchemaError> {
        self.next();
        while self.token != Token::Mark(b'}') {
            let name = self.name("an enum value's name or }")?;
            self.mark(b'=', "=")?;
            let Token::Integer(digits) = self.token else { return Err(self.expected("an integer")) };
            let value = digits.parse().map_err(|_| self.expected("an integer of 64 bits"))?;
            values.push((name, value));
            self.next();
            match self.token {
                Token::Mark(b'}') => {}
                Token::Mark(b',') => self.next(),
                _ => return Err(self.expected(", or }")),
            }
        }
        self.next();
        Ok(())
    }

    fn name(&mut self, expected: &'static str) -> Result<String, SchemaError> {
        let Token::Name(name) = self.token else { return Err(self.expected(expected)) };
        self.next();
        Ok(name.to_owned())
    }

    fn positive<T: std::str::FromStr + PartialOrd + Default>(
        &mut self,
        expected: &'static str,
    ) -> Result<T, SchemaError> {
        let Token::Integer(digits) = self.token else { return Err(self.expected(expected)) };
        match digits.parse::<T>() {
            Ok(value) if value > T::default() => {
                self.next();
                Ok(value)
            }
            _ => Err(self.expected(expected)),
        }
    }

    fn mark(&mut self, mark: u8, expected: &'static str) -> Result<(), SchemaError> {
        if self.token != Token::Mark(mark) {
            return Err(self.expected(expected));
        }
        self.next();
        Ok(())
    }

    fn expected(&self, expected: &'static str) -> SchemaError {
        let found = match self.text.get(self.start..) {
            Some("") | None => "the end".to_owned(),
            Some(rest) => format!("{:?}", rest.chars().take(16).collect::<String>()),
        };
        SchemaError::Syntax { offset: self.start, expected, found }
    }
}

/// ASCII letters, `_`, and every byte of a character outside ASCII, as the official lexers have it.
fn starts_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Result<&str, &str>) {
        let found = parse(text);
        let found = match &found {
            Ok(declarations) => Ok(declarations.iter().map(show).collect::<Vec<_>>().join("; ")),
            Err(error) => Err(error.to_string()),
        };
        assert_eq!(found.as_deref().map_err(String::as_str), expect, "{text:?}");
    }

    fn show(d: &Declaration) -> String {
        let mut out = String::new();
        if !d.enum_values.is_empty() {
            out.push_str(&format!("{:?} ", d.enum_values));
        }
        out.push_str(&format!("{} {}", d.type_name, d.name));
        if let Some(count) = d.count {
            out.push_str(&format!("[{count}]"));
        }
        if let Some(bits) = d.bits {
            out.push_str(&format!(":{bits}"));
        }
        out
    }

    // The forms named in WPILib's struct specification, valid and invalid.
    #[test]
    fn the_official_grammar() {
        check("", Ok(""));
        check(";;", Ok(""));
        check("bool value", Ok("bool value"));
        check("double arr[4]", Ok("double arr[4]"));
        check("double  arr [ 4 ] ;", Ok("double arr[4]"));
        check("enum {a=1, b=2} int8 val", Ok("[(\"a\", 1), (\"b\", 2)] int8 val"));
        check("enum{a=1,b=-2,}int8 val", Ok("[(\"a\", 1), (\"b\", -2)] int8 val"));
        check("{a=1}int8 val", Ok("[(\"a\", 1)] int8 val"));
        check("enum {} int8 val", Ok("int8 val"));
        check("int8 a:4;int16 b : 4", Ok("int8 a:4; int16 b:4"));
        check("enum{a=1}int8 v:2", Ok("[(\"a\", 1)] int8 v:2"));
        check("double x;\n\tdouble y\r\n", Ok("double x; double y"));
        check("double größe", Ok("double größe"));
        check("bool", Err("schema byte 4: expected a field's name, found the end"));
        check("enum int8 v", Err("schema byte 5: expected { after enum, found \"int8 v\""));
        check("int8 a[0]", Err("schema byte 7: expected an array size above 0, found \"0]\""));
        check("int8 a[-1]", Err("schema byte 7: expected an array size above 0, found \"-1]\""));
        check("int8 a[]", Err("schema byte 7: expected an array size above 0, found \"]\""));
        check("int8 a[2]:1", Err("schema byte 9: expected ; or the end, found \":1\""));
        check("int8 a:0", Err("schema byte 7: expected a number of bits above 0, found \"0\""));
        check("{=1} int8 a", Err("schema byte 1: expected an enum value's name or }, found \"=1} int8 a\""));
        check("{a} int8 a", Err("schema byte 2: expected =, found \"} int8 a\""));
        check("{a=1 b=2} int8 a", Err("schema byte 5: expected , or }, found \"b=2} int8 a\""));
        check("double x double y", Err("schema byte 9: expected ; or the end, found \"double y\""));
        check("1a b", Err("schema byte 0: expected a type's name, found \"1a b\""));
        check(
            "{a=9223372036854775808} int8 a",
            Err("schema byte 3: expected an integer of 64 bits, found \"9223372036854775\""),
        );
    }

    #[test]
    fn a_text_beyond_the_limit_is_refused_before_it_is_read() {
        let fits = format!("double x{}", ";".repeat(MAX_TEXT - 8));
        assert_eq!(parse(&fits).map(|d| d.len()), Ok(1));
        assert!(matches!(parse(&(fits + ";")), Err(SchemaError::TooLarge { .. })));
    }
}
