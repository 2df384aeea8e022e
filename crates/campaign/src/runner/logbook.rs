//! Records on their way to the log.

use std::borrow::Cow;
use std::collections::VecDeque;

use fieldlab_values::ValueRef;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::io::LogRecord;

/// One value of an event, borrowed: an event is written where it happens and costs no allocation.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fact<'a> {
    Nothing,
    Flag(bool),
    Int(i64),
    Number(f64),
    Text(&'a str),
    Numbers(&'a [(Cow<'static, str>, f64)]),
}

impl Serialize for Fact<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Nothing => to.serialize_none(),
            Self::Flag(flag) => to.serialize_bool(*flag),
            Self::Int(number) => to.serialize_i64(*number),
            Self::Number(number) => to.serialize_f64(*number),
            Self::Text(text) => to.serialize_str(text),
            Self::Numbers(numbers) => to.collect_map(numbers.iter().map(|(name, number)| (name, number))),
        }
    }
}

impl From<f64> for Fact<'_> {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<Option<f64>> for Fact<'_> {
    fn from(number: Option<f64>) -> Self {
        number.map_or(Self::Nothing, Self::Number)
    }
}

impl From<usize> for Fact<'_> {
    fn from(count: usize) -> Self {
        Self::Int(i64::try_from(count).unwrap_or(i64::MAX))
    }
}

impl From<bool> for Fact<'_> {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl<'a> From<&'a str> for Fact<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

/// The facts of an event, by name.
pub(super) type Facts<'a> = [(&'static str, Fact<'a>)];

/// One event of the run.
pub(super) struct Event<'a> {
    /// The loop's clock, seconds.
    pub(super) t: f64,
    pub(super) name: &'a str,
    /// Id of the procedure in flight.
    pub(super) procedure: Option<&'a str>,
    pub(super) facts: [&'a Facts<'a>; 2],
}

impl Serialize for Event<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("t", &self.t)?;
        map.serialize_entry("event", self.name)?;
        if let Some(procedure) = self.procedure {
            map.serialize_entry("procedure", procedure)?;
        }
        for (name, fact) in self.facts.into_iter().flatten() {
            map.serialize_entry(name, fact)?;
        }
        map.end()
    }
}

#[derive(Debug)]
enum Value {
    Number(f64),
    Int(i64),
    /// A text or a JSON document, UTF-8.
    Text(Vec<u8>),
}

#[derive(Debug)]
struct Record {
    key: u32,
    value: Value,
}

/// Records that may wait without growing anything: what a busy loop says at once.
const ROOM: usize = 32;
/// Most events are shorter.
pub(super) const EVENT_BYTES: usize = 512;

/// Keeps records in order and hands out, in each loop, as many as have different keys: a topic has one value a loop, and
/// no event may be lost to the next. Buffers are used again.
#[derive(Debug)]
pub(super) struct Logbook {
    waiting: VecDeque<Record>,
    /// What this loop hands out.
    out: Vec<Record>,
    spare: Vec<Vec<u8>>,
}

impl Default for Logbook {
    fn default() -> Self {
        Self {
            waiting: VecDeque::with_capacity(ROOM),
            out: Vec::with_capacity(ROOM),
            spare: (0..ROOM).map(|_| Vec::with_capacity(EVENT_BYTES)).collect(),
        }
    }
}

impl Logbook {
    pub(super) fn number(&mut self, key: u32, number: f64) {
        self.waiting.push_back(Record { key, value: Value::Number(number) });
    }

    pub(super) fn int(&mut self, key: u32, number: i64) {
        self.waiting.push_back(Record { key, value: Value::Int(number) });
    }

    pub(super) fn text(&mut self, key: u32, text: &str) {
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.extend_from_slice(text.as_bytes());
        self.waiting.push_back(Record { key, value: Value::Text(bytes) });
    }

    /// `length` is about how long the document is.
    pub(super) fn json(&mut self, key: u32, document: &impl Serialize, length: usize) {
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.reserve(length);
        // Into memory, and of types that always serialise.
        serde_json::to_writer(&mut bytes, document).ok();
        self.waiting.push_back(Record { key, value: Value::Text(bytes) });
    }

    /// Begins a loop: what the last one handed out is gone.
    pub(super) fn begin(&mut self) {
        for record in self.out.drain(..) {
            if let Value::Text(mut bytes) = record.value
                && self.spare.len() < ROOM
            {
                bytes.clear();
                self.spare.push(bytes);
            }
        }
    }

    /// Ends a loop: says what it hands out.
    pub(super) fn end(&mut self) {
        while let Some(next) = self.waiting.front() {
            if self.out.iter().any(|r| r.key == next.key) {
                break;
            }
            self.out.extend(self.waiting.pop_front());
        }
    }

    pub(super) fn handed_out(&self) -> impl Iterator<Item = LogRecord<'_>> {
        self.out.iter().map(|record| LogRecord {
            key: record.key as usize,
            value: match &record.value {
                Value::Number(number) => ValueRef::Double(*number),
                Value::Int(number) => ValueRef::Int(*number),
                // Nothing but text was written.
                Value::Text(bytes) => ValueRef::String(std::str::from_utf8(bytes).unwrap_or_default()),
            },
        })
    }
}
