//! Bytes in, header and rows out.

use super::header::Collector;
use super::number::{c_number, strict_number, unsigned};
use super::{COLUMNS, Expected, Header, Mode, Row};
use crate::constants::generated;
use crate::findings::{Code, Finding, Findings, Place};

/// Longest line that is read, bytes.
pub const MAX_LINE_BYTES: usize = 4096;
/// Most header lines that are read.
pub const MAX_HEADER_LINES: u64 = 1000;

/// What the decoder has read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event<'a> {
    /// The header is complete. It may have been refused: the findings say so.
    Header(&'a Header),
    /// A row, counted from zero.
    Row(u64, &'a Row),
    /// A row that could not be read, counted from zero; the findings say why.
    BadRow(u64),
}

/// Where the decoder is.
///
/// ```text
/// Header ──columns line──▶ Rows ──250 000 rows──▶ Ended
///    └──wrong columns, too many lines──▶ Ended: what follows is not read
/// ```
#[derive(Debug)]
enum State {
    /// Collects `key,value` lines until the `columns` line. Input that stops here has no header.
    Header(Collector),
    /// Reads rows. Input that stops here is complete.
    Rows {
        /// 18 or 19.
        fields: usize,
    },
    /// Takes no more.
    Ended,
}

/// A reader of samples files that takes bytes in pieces of any size.
///
/// Whatever the bytes are, it does not panic, holds one line ([`MAX_LINE_BYTES`]) and the header ([`MAX_HEADER_LINES`]), and takes
/// time in proportion to the input. Rows past the planner's limit are not read.
///
/// ```
/// use fieldlab_draw::findings::{Code, Findings};
/// use fieldlab_draw::samples::{Decoder, Expected, Mode};
///
/// let mut findings = Findings::default();
/// let mut decoder = Decoder::new(Mode::Strict, Expected::default());
/// decoder.push(b"schema,tatbot.draw-samples/2\ncolumns,t_s\n", &mut findings, &mut |_| {});
/// decoder.finish(&mut findings, &mut |_| {});
/// assert!(findings.has(Code::Columns));
/// ```
#[derive(Debug)]
pub struct Decoder {
    mode: Mode,
    expected: Expected,
    state: State,
    partial: Vec<u8>,
    overlong: bool,
    line: u64,
    header_lines: u64,
    rows: u64,
}

type Sink<'a> = &'a mut dyn FnMut(Event<'_>);

impl Decoder {
    /// A reader at the start of a file.
    #[must_use]
    pub fn new(mode: Mode, expected: Expected) -> Self {
        Self {
            mode,
            expected,
            state: State::Header(Collector::default()),
            partial: Vec::new(),
            overlong: false,
            line: 0,
            header_lines: 0,
            rows: 0,
        }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, mut bytes: &[u8], findings: &mut Findings, on: Sink<'_>) {
        while let Some(end) = bytes.iter().position(|&byte| byte == b'\n') {
            let (line, rest) = bytes.split_at(end);
            bytes = &rest[1..];
            if self.partial.is_empty() && !self.overlong {
                self.whole_line(line, findings, on);
            } else {
                self.keep(line);
                let line = std::mem::take(&mut self.partial);
                self.whole_line(&line, findings, on);
                self.partial = line;
                self.partial.clear();
            }
        }
        self.keep(bytes);
    }

    /// Says that the file has ended; a last line without a line feed is a line.
    pub fn finish(&mut self, findings: &mut Findings, on: Sink<'_>) {
        if !self.partial.is_empty() || self.overlong {
            let line = std::mem::take(&mut self.partial);
            self.whole_line(&line, findings, on);
        }
        if matches!(self.state, State::Header(_)) {
            findings.push(Finding::wrong(
                Code::Columns,
                Place::File,
                "columns",
                "the file has no columns line",
            ));
            self.state = State::Ended;
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = (MAX_LINE_BYTES + 1).saturating_sub(self.partial.len());
        self.overlong |= bytes.len() > room;
        self.partial.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn whole_line(&mut self, line: &[u8], findings: &mut Findings, on: Sink<'_>) {
        self.line += 1;
        let overlong = std::mem::take(&mut self.overlong) || line.len() > MAX_LINE_BYTES;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match &mut self.state {
            State::Ended => {}
            _ if line.is_empty() => {}
            State::Header(_) => self.header_line(line, overlong, findings, on),
            State::Rows { fields } => {
                let fields = *fields;
                self.row(line, fields, overlong, findings, on);
            }
        }
    }

    fn header_line(&mut self, line: &[u8], overlong: bool, findings: &mut Findings, on: Sink<'_>) {
        let place = Place::Line(self.line);
        self.header_lines += 1;
        if self.header_lines > MAX_HEADER_LINES {
            let found = format!("more than {MAX_HEADER_LINES} lines before the columns");
            findings.push(Finding::wrong(Code::Header, place, "columns", found));
            self.state = State::Ended;
            return;
        }
        let text = match std::str::from_utf8(line) {
            Ok(text) if !overlong => text,
            _ => {
                findings.push(Finding::wrong(Code::Line, place, "header", "too long or not UTF-8"));
                return;
            }
        };
        let mut fields = text.split(',');
        let key = fields.next().unwrap_or_default();
        if key == "columns" {
            self.columns(&fields.collect::<Vec<_>>(), findings, on);
            return;
        }
        let State::Header(collector) = &mut self.state else { return };
        match (fields.next(), fields.next()) {
            (Some(_), Some(_)) if self.mode == Mode::Strict => {
                findings.push(Finding::wrong(Code::Header, place, key, "more than a key and a value"));
            }
            (Some(value), _) => collector.line(key, value, self.line, self.mode, findings),
            (None, _) => findings.push(Finding::wrong(Code::Header, place, key, "a key without a value")),
        }
    }

    fn columns(&mut self, names: &[&str], findings: &mut Findings, on: Sink<'_>) {
        let known = names == COLUMNS || names == &COLUMNS[..18];
        if !known {
            let found = names.iter().zip(COLUMNS).position(|(found, wanted)| *found != wanted);
            let found = found.map_or_else(
                || format!("{} columns", names.len()),
                |at| format!("column {at} is `{}`, expected `{}`", names[at], COLUMNS[at]),
            );
            findings.push(Finding::wrong(Code::Columns, Place::Line(self.line), "columns", found));
        }
        let next = if known { State::Rows { fields: names.len() } } else { State::Ended };
        if let State::Header(collector) = std::mem::replace(&mut self.state, next) {
            let header = collector.judge(self.mode, &self.expected, names.len() == COLUMNS.len(), findings);
            on(Event::Header(&header));
        }
    }

    fn row(&mut self, line: &[u8], fields: usize, overlong: bool, findings: &mut Findings, on: Sink<'_>) {
        let index = self.rows;
        let place = Place::Row(index);
        if index >= u64::try_from(generated::PLANNER_MAX_TICKS).unwrap_or(0) {
            let most = generated::PLANNER_MAX_TICKS;
            findings.push(Finding::wrong(Code::Ticks, place, "rows", format!("more than {most} rows")));
            self.state = State::Ended;
            return;
        }
        self.rows += 1;
        match self.read_row(line, fields, overlong, place, findings) {
            Some(row) => on(Event::Row(index, &row)),
            None => on(Event::BadRow(index)),
        }
    }

    fn read_row(
        &self,
        line: &[u8],
        fields: usize,
        overlong: bool,
        place: Place,
        findings: &mut Findings,
    ) -> Option<Row> {
        let found = line.iter().filter(|&&byte| byte == b',').count() + 1;
        if overlong || found != fields {
            let found = if overlong {
                "a line that is too long".to_owned()
            } else {
                format!("{found} fields, expected {fields}")
            };
            findings.push(Finding::wrong(Code::Line, place, "row", found));
            return None;
        }
        let mut good = true;
        let mut numbers = [0.0; 16];
        let mut counts = [0u32; 3];
        for (at, text) in line.split(|&byte| byte == b',').enumerate() {
            let name = COLUMNS.get(at).copied().unwrap_or_default();
            if let Some(slot) = numbers.get_mut(at) {
                let value = match self.mode {
                    Mode::Strict => strict_number(text),
                    Mode::Reference => c_number(text),
                };
                match value {
                    Some(value) => *slot = value,
                    None => {
                        good = false;
                        findings.push(Finding::wrong(Code::Number, place, name, lossy(text)));
                    }
                }
            } else if let Some(slot) = counts.get_mut(at - numbers.len()) {
                let (code, most) = match at {
                    16 => (Code::Pen, 1),
                    17 => (Code::CaptureOrder, u32::MAX),
                    _ => (Code::DipOrder, u32::MAX),
                };
                match self.small_count(text).filter(|&count| count <= most) {
                    Some(count) => *slot = count,
                    None => {
                        good = false;
                        findings.push(Finding::wrong(code, place, name, lossy(text)));
                    }
                }
            }
        }
        let n = &numbers;
        good.then(|| Row {
            t_s: n[0],
            p_m: [n[1], n[2], n[3]],
            v_m_s: [n[4], n[5], n[6]],
            r: [[n[7], n[8], n[9]], [n[10], n[11], n[12]], [n[13], n[14], n[15]]],
            pen: counts[0] == 1,
            capture: counts[1],
            dip: counts[2],
        })
    }

    fn small_count(&self, text: &[u8]) -> Option<u32> {
        match self.mode {
            Mode::Strict => unsigned(text).and_then(|value| u32::try_from(value).ok()),
            Mode::Reference => {
                let value = c_number(text)?;
                let whole = value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value);
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a whole number in range
                whole.then_some(value as u32)
            }
        }
    }
}

/// The text of a field for a report, short and printable.
fn lossy(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(40)]);
    format!("`{}`", text.escape_debug())
}
