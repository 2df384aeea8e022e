//! A sink that remembers, for tests and for the shop.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use fieldlab_base::Micros;
use fieldlab_values::Value;

use super::frame::{Frame, Sink, SinkStats, Topic};

/// One value that left through the door.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// When.
    pub at: Micros,
    /// The topic's name on NetworkTables, or its name in the log for a topic that is not shown there.
    pub name: Rc<str>,
    /// The value.
    pub value: Value,
}

/// Keeps every changed value. Clones share what they keep.
#[derive(Debug, Clone, Default)]
pub struct MemorySink {
    kept: Rc<RefCell<Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    names: Vec<Rc<str>>,
    topics: Vec<Topic>,
    records: Vec<Record>,
    /// By topic index: whether its value was taken back.
    retracted: Vec<bool>,
}

impl MemorySink {
    /// An empty memory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Everything kept, oldest first.
    #[must_use]
    pub fn records(&self) -> Vec<Record> {
        self.kept.borrow().records.clone()
    }

    /// The newest value of the topic of this name; none while it is retracted.
    #[must_use]
    pub fn last(&self, name: &str) -> Option<Value> {
        let kept = self.kept.borrow();
        if kept.names.iter().zip(&kept.retracted).any(|(known, gone)| *gone && &**known == name) {
            return None;
        }
        kept.records.iter().rev().find(|r| &*r.name == name).map(|r| r.value.clone())
    }

    /// Every value of the topic of this name.
    #[must_use]
    pub fn all(&self, name: &str) -> Vec<Value> {
        let kept = self.kept.borrow();
        kept.records.iter().filter(|r| &*r.name == name).map(|r| r.value.clone()).collect()
    }

    /// The declared topics, in the order of their indices.
    #[must_use]
    pub fn topics(&self) -> Vec<Topic> {
        self.kept.borrow().topics.clone()
    }

    /// Forgets all but the newest value of each topic.
    pub fn clear_but_last(&self) {
        let mut kept = self.kept.borrow_mut();
        let mut seen = BTreeSet::new();
        let mut newest: Vec<_> = std::mem::take(&mut kept.records)
            .into_iter()
            .rev()
            .filter(|r| seen.insert(Rc::clone(&r.name)))
            .collect();
        newest.reverse();
        kept.records = newest;
    }

    /// Forgets the values.
    pub fn clear(&self) {
        self.kept.borrow_mut().records.clear();
    }
}

impl Sink for MemorySink {
    fn declare(&mut self, _index: u32, topic: &Topic) {
        let mut kept = self.kept.borrow_mut();
        kept.names.push(topic.nt_name().unwrap_or_else(|| topic.log_name().into_owned()).into());
        kept.topics.push(topic.clone());
        kept.retracted.push(false);
    }

    fn frame(&mut self, frame: &Frame<'_>) {
        let kept = &mut *self.kept.borrow_mut();
        let mut mark = |topic: u32, gone: bool| {
            if let Some(slot) = kept.retracted.get_mut(topic as usize) {
                *slot = gone;
            }
        };
        frame.retracted().for_each(|topic| mark(topic, true));
        frame.entries().for_each(|entry| mark(entry.topic, false));
        for entry in frame.entries().filter(|e| e.changed) {
            if let Some(name) = kept.names.get(entry.topic as usize).cloned() {
                kept.records.push(Record { at: frame.at, name, value: entry.value.to_value() });
            }
        }
    }

    fn stats(&self) -> SinkStats {
        SinkStats::default()
    }
}
