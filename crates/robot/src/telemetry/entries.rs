//! A log's entries, by topic: started when a topic is declared, finished when its value is taken back, and started again
//! when it has one.

use std::borrow::Cow;
use std::sync::Arc;

use fieldlab_base::Micros;
use fieldlab_wpilog::{EntryId, LogWriter};

use super::frame::{Frame, SinkStats, Topic};

/// The entries of one log file.
#[derive(Debug)]
pub(super) struct Entries {
    pub(super) writer: Arc<LogWriter>,
    name: fn(&Topic) -> Cow<'_, str>,
    metadata: fn(&Topic) -> String,
    /// By topic index.
    entries: Vec<Entry>,
    refused: u64,
    /// Whether what waits for the disk is worth telling: by a virtual clock it only says how fast this machine is.
    pub(super) tells_queue: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    /// `None` for one that the writer refused.
    id: Option<EntryId>,
    sticky: bool,
    /// The entry was finished: its value was taken back.
    finished: bool,
}

impl Entries {
    pub(super) const fn new(
        writer: Arc<LogWriter>,
        name: fn(&Topic) -> Cow<'_, str>,
        metadata: fn(&Topic) -> String,
    ) -> Self {
        Self { writer, name, metadata, entries: Vec::new(), refused: 0, tells_queue: true }
    }

    pub(super) fn declare(&mut self, index: u32, topic: &Topic, now: Micros) {
        let at = index as usize;
        self.entries.resize(at + 1, Entry::default());
        self.entries[at] = self.start(topic, now);
    }

    /// The writer refuses only a name that it has under another type, which the door refused before.
    fn start(&mut self, topic: &Topic, now: Micros) -> Entry {
        let (name, metadata) = ((self.name)(topic), (self.metadata)(topic));
        let started = self.writer.start(now, &name, &topic.data_type, &metadata);
        self.refused += u64::from(started.is_err());
        Entry { id: started.ok(), sticky: topic.sticky, finished: false }
    }

    /// Finishes what was taken back in this frame, starts again what has a value, and writes the sticky values: starts and
    /// sticky records go past the writer's queue.
    pub(super) fn past_the_queue(&mut self, frame: &Frame<'_>) {
        for topic in frame.retracted() {
            if let Some(Entry { id: Some(id), finished, .. }) = self.entries.get_mut(topic as usize)
                && !std::mem::replace(finished, true)
            {
                self.writer.finish(frame.at, *id);
            }
        }
        if !frame.has_sticky && !frame.has_moved {
            return;
        }
        for value in frame.entries() {
            let at = value.topic as usize;
            if self.entries.get(at).is_some_and(|entry| entry.finished)
                && let Some(topic) = frame.topic(value.topic)
            {
                self.entries[at] = self.start(topic, frame.at);
            }
            if let Some(Entry { id: Some(id), sticky: true, .. }) = self.entries.get(at) {
                self.writer.append_sticky(*id, frame.at, value.value);
            }
        }
    }

    /// The entry of a topic whose values go through the writer's queue.
    pub(super) fn queued(&self, topic: u32) -> Option<EntryId> {
        let entry = self.entries.get(topic as usize)?;
        entry.id.filter(|_| !entry.sticky)
    }

    /// Values and topics that the file does not have, and what waits for the disk.
    pub(super) fn stats(&self) -> SinkStats {
        let stats = self.writer.stats();
        SinkStats {
            dropped: stats.dropped.saturating_add(stats.misfits).saturating_add(self.refused),
            queued: if self.tells_queue { stats.queue_bytes as u64 } else { 0 },
        }
    }
}
