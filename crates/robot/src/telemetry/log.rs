//! The log file as a sink.

use std::sync::Arc;

use fieldlab_base::Micros;
use fieldlab_values::Root;
use fieldlab_wpilog::{EntryId, LogWriter};

use super::frame::{Frame, FrameEntry, Sink, SinkStats, Topic};

/// Writes every frame to a .wpilog file: changes, and the once-a-second repeats of steady numbers. Names are those of
/// [`Topic::log_name`], `int` is `int64`.
///
/// Sticky topics (schemas, the session header) are repeated by the writer at the head of every further file. The entry of a
/// topic whose value was taken back is finished, and started again when it has one.
#[derive(Debug)]
pub struct LogSink {
    writer: Arc<LogWriter>,
    /// By topic index.
    entries: Vec<Entry>,
    /// How many of them are finished.
    finished: usize,
    now: Micros,
    refused: u64,
    /// Whether what waits for the disk is worth telling: by a virtual clock it only says how fast this machine is.
    tells_queue: bool,
}

#[derive(Debug, Clone, Default)]
struct Entry {
    /// `None` for one that the writer refused.
    id: Option<EntryId>,
    sticky: bool,
    /// The entry was finished: its value was taken back.
    finished: bool,
}

impl LogSink {
    /// A sink into `writer`, whose entries start at `now`.
    #[must_use]
    pub const fn new(writer: Arc<LogWriter>, now: Micros) -> Self {
        Self { writer, entries: Vec::new(), finished: 0, now, refused: 0, tells_queue: true }
    }

    /// Starts the topic's entry. The writer refuses only a name that it has under another type, which the door refused before.
    fn start(&mut self, topic: &Topic) -> Option<EntryId> {
        let started = self.writer.start(self.now, &topic.log_name(), &topic.data_type, &metadata(topic));
        self.refused += u64::from(started.is_err());
        started.ok()
    }

    fn past_the_queue(&mut self, frame: &Frame<'_>, value: &FrameEntry<'_>) {
        let at = value.topic as usize;
        if self.entries.get(at).is_some_and(|entry| entry.finished)
            && let Some(topic) = frame.topic(value.topic)
        {
            let id = self.start(topic);
            self.entries[at] = Entry { id, sticky: topic.sticky, finished: false };
            self.finished -= 1;
        }
        if let Some(Entry { id: Some(id), sticky: true, .. }) = self.entries.get(at) {
            self.writer.append_sticky(*id, frame.at, value.value);
        }
    }

    /// By a virtual clock: says nothing of what waits for the disk, so that two runs of one seed log the same.
    #[must_use]
    pub const fn by_virtual_clock(mut self) -> Self {
        self.tells_queue = false;
        self
    }
}

impl Sink for LogSink {
    fn declare(&mut self, index: u32, topic: &Topic) {
        let at = index as usize;
        self.entries.resize(at + 1, Entry::default());
        self.entries[at] = Entry { id: self.start(topic), sticky: topic.sticky, finished: false };
    }

    fn frame(&mut self, frame: &Frame<'_>) {
        self.now = frame.at;
        for topic in frame.retracted() {
            if let Some(Entry { id: Some(id), finished, .. }) = self.entries.get_mut(topic as usize)
                && !std::mem::replace(finished, true)
            {
                self.finished += 1;
                self.writer.finish(frame.at, *id);
            }
        }
        // Starts and sticky records go past the queue.
        if frame.has_sticky || self.finished > 0 {
            for value in frame.entries() {
                self.past_the_queue(frame, &value);
            }
        }
        let mut batch = self.writer.batch();
        for value in frame.entries() {
            if let Some(Entry { id: Some(id), sticky: false, .. }) = self.entries.get(value.topic as usize) {
                batch.append(*id, frame.at, value.value);
            }
        }
    }

    fn stats(&self) -> SinkStats {
        let stats = self.writer.stats();
        SinkStats {
            dropped: stats.dropped.saturating_add(stats.misfits).saturating_add(self.refused),
            queued: if self.tells_queue { stats.queue_bytes as u64 } else { 0 },
        }
    }
}

/// What stands in the entry's metadata: the unit, as JSON; for WPILib's wall clock entry what WPILib writes there.
pub(super) fn metadata(topic: &Topic) -> String {
    if topic.root == Root::Bare && &*topic.key == "systemTime" {
        return r#"{"source":"DataLogManager","format":"time_t_us"}"#.to_owned();
    }
    if topic.unit.is_empty() {
        return String::new();
    }
    serde_json::json!({ "unit": &*topic.unit }).to_string()
}
