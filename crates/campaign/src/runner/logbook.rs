//! Records on their way to the log.

use std::collections::VecDeque;

use fieldlab_values::{DataType, Value};
use serde_json::{Map, Value as Json};

use crate::channels;
use crate::io::LogRecord;

/// Keeps records in order and hands out, in each loop, as many as have different keys: a topic has one value a loop, and
/// no event may be lost to the next.
#[derive(Debug, Default)]
pub(super) struct Logbook {
    waiting: VecDeque<LogRecord>,
}

impl Logbook {
    pub(super) fn put(&mut self, key: String, value: impl Into<Value>) {
        let value = value.into();
        self.waiting.push_back(LogRecord { key, data_type: value.data_type(), value, sticky: false });
    }

    pub(super) fn json(&mut self, key: String, json: &Map<String, Json>, sticky: bool) {
        // A map of JSON values always serialises.
        let text = serde_json::to_string(json).unwrap_or_default();
        self.waiting.push_back(LogRecord {
            key,
            data_type: DataType::Json,
            value: Value::from(text),
            sticky,
        });
    }

    /// One event of the run.
    pub(super) fn event(&mut self, session: &str, event: &Map<String, Json>) {
        self.json(channels::session(session, channels::EVENTS), event, false);
    }

    pub(super) fn hand_out(&mut self) -> Vec<LogRecord> {
        let mut out: Vec<LogRecord> = Vec::new();
        while let Some(next) = self.waiting.pop_front() {
            if out.iter().any(|r| r.key == next.key) {
                self.waiting.push_front(next);
                break;
            }
            out.push(next);
        }
        out
    }
}
