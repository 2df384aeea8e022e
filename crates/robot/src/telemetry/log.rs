//! The log file as a sink.

use std::sync::Arc;

use fieldlab_base::Micros;
use fieldlab_values::Root;
use fieldlab_wpilog::{EntryId, LogWriter};

use super::frame::{Frame, Sink, SinkStats, Topic};

/// Writes every frame to a .wpilog file: changes, and the once-a-second repeats of steady numbers. Names are those of
/// [`Topic::log_name`], `int` is `int64`.
///
/// Sticky topics (schemas, the session header) are repeated by the writer at the head of every further file.
#[derive(Debug)]
pub struct LogSink {
    writer: Arc<LogWriter>,
    /// By topic index: `None` for one that the writer refused, and whether it is sticky.
    entries: Vec<(Option<EntryId>, bool)>,
    now: Micros,
    refused: u64,
    /// Whether what waits for the disk is worth telling: by a virtual clock it only says how fast this machine is.
    tells_queue: bool,
}

impl LogSink {
    /// A sink into `writer`, whose entries start at `now`.
    #[must_use]
    pub const fn new(writer: Arc<LogWriter>, now: Micros) -> Self {
        Self { writer, entries: Vec::new(), now, refused: 0, tells_queue: true }
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
        self.entries.resize(at + 1, (None, false));
        // The writer refuses only a name that it has under another type, which the door refused before.
        let started = self.writer.start(self.now, &topic.log_name(), &topic.data_type, &metadata(topic));
        self.refused += u64::from(started.is_err());
        self.entries[at] = (started.ok(), topic.sticky);
    }

    fn frame(&mut self, frame: &Frame<'_>) {
        self.now = frame.at;
        let entry = |topic: u32| self.entries.get(topic as usize).copied().unwrap_or((None, false));
        // Sticky records go past the queue.
        if frame.has_sticky {
            for value in frame.entries() {
                if let (Some(id), true) = entry(value.topic) {
                    self.writer.append_sticky(id, frame.at, value.value);
                }
            }
        }
        let mut batch = self.writer.batch();
        for value in frame.entries() {
            if let (Some(id), false) = entry(value.topic) {
                batch.append(id, frame.at, value.value);
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
