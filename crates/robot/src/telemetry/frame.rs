//! What a turn had to say, and who hears it.

use std::borrow::Cow;

use fieldlab_base::Micros;
use fieldlab_values::{DataType, Root, ValueRef};

use super::door::Cell;
use super::events::Events;

/// A declared topic. Its index never changes while the door lives.
#[derive(Debug, Clone, PartialEq)]
pub struct Topic {
    /// Where it stands.
    pub root: Root,
    /// Its key under the root.
    pub key: Box<str>,
    /// What it holds.
    pub data_type: DataType,
    /// The unit of its numbers; empty when it has none.
    pub unit: Box<str>,
    /// A log that starts another file repeats the newest value of this topic in it: schemas, identity, session header.
    pub sticky: bool,
}

impl Topic {
    /// The topic's name on NetworkTables; `None` for a topic that is written to files only.
    #[must_use]
    pub fn nt_name(&self) -> Option<String> {
        match self.root {
            Root::Catalyst => Some(format!("/Catalyst/{}", self.key)),
            Root::SmartDashboard => Some(format!("/SmartDashboard/{}", self.key)),
            Root::Schema => Some(format!("/.schema/{}", self.key)),
            Root::Bare => self.key.starts_with('/').then(|| self.key.to_string()),
        }
    }

    /// The entry's name in our log file: the key alone for a Catalyst topic.
    #[must_use]
    pub fn log_name(&self) -> Cow<'_, str> {
        match self.root {
            Root::Catalyst => Cow::Borrowed(&self.key),
            Root::SmartDashboard => format!("NT:/SmartDashboard/{}", self.key).into(),
            Root::Schema => format!("/.schema/{}", self.key).into(),
            Root::Bare if self.key.starts_with('/') => format!("NT:{}", self.key).into(),
            Root::Bare => Cow::Borrowed(&self.key),
        }
    }
}

/// One value of a frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrameEntry<'a> {
    /// The topic's index.
    pub topic: u32,
    /// The value.
    pub value: ValueRef<'a>,
    /// `false` for a value that is only repeated, once a second, to say that its source still lives.
    pub changed: bool,
}

/// Everything that one turn had to say.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// The turn's instant; every entry carries it.
    pub at: Micros,
    /// Whether any entry is of a sticky topic; most frames have none.
    pub has_sticky: bool,
    /// Whether any value was taken back in this turn, or came back; most frames have neither.
    pub has_moved: bool,
    pub(super) topics: &'a [Topic],
    pub(super) cells: &'a [Cell],
    pub(super) dirty: &'a [(u32, bool)],
    pub(super) events: &'a Events,
}

impl<'a> Frame<'a> {
    /// The entries: first the events in the order in which they happened, then each topic that was set, once.
    pub fn entries(&self) -> impl Iterator<Item = FrameEntry<'a>> + use<'a> {
        let cells = self.cells;
        let events = self.events.iter().map(|(topic, value)| FrameEntry { topic, value, changed: true });
        events.chain(self.dirty.iter().filter_map(move |&(topic, changed)| {
            let cell = cells.get(topic as usize).filter(|cell| !cell.retracted)?;
            Some(FrameEntry { topic, value: cell.slot.get(), changed })
        }))
    }

    /// The topics whose values were taken back in this turn. Each is gone until an entry sets it again.
    pub fn retracted(&self) -> impl Iterator<Item = u32> + use<'a> {
        let cells = self.cells;
        let gone = move |topic: u32| cells.get(topic as usize).is_some_and(|cell| cell.retracted);
        let moved = if self.has_moved { self.dirty } else { &[] };
        moved.iter().map(|&(topic, _)| topic).filter(move |topic| gone(*topic))
    }

    /// The newest value of a topic, set in this turn or before and not taken back since.
    #[must_use]
    pub fn newest(&self, topic: u32) -> Option<ValueRef<'a>> {
        self.cells.get(topic as usize).filter(|cell| !cell.retracted).map(|cell| cell.slot.get())
    }

    /// The topic of this index.
    #[must_use]
    pub fn topic(&self, topic: u32) -> Option<&'a Topic> {
        self.topics.get(topic as usize)
    }
}

/// What a sink says of itself; the loop publishes the sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SinkStats {
    /// Values that were not delivered, since the start.
    pub dropped: u64,
    /// Frames or bytes that wait for the sink's own thread.
    pub queued: u64,
}

/// Somebody who hears every frame. No call may wait.
pub trait Sink {
    /// A topic was declared. Topics come in the order of their indices, each once.
    fn declare(&mut self, index: u32, topic: &Topic);
    /// A turn ended.
    fn frame(&mut self, frame: &Frame<'_>);
    /// What became of the frames before.
    fn stats(&self) -> SinkStats;
}
