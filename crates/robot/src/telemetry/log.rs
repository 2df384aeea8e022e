//! The log file as a sink.

use std::sync::Arc;

use fieldlab_base::Micros;
use fieldlab_values::Root;
use fieldlab_wpilog::LogWriter;

use super::entries::Entries;
use super::frame::{Frame, Sink, SinkStats, Topic};

/// Writes every frame to a .wpilog file: changes, and the once-a-second repeats of steady numbers. Names are those of
/// [`Topic::log_name`], `int` is `int64`.
///
/// Sticky topics (schemas, the identity sheet, the session header) are repeated by the writer at the head of every further file. The entry of a
/// topic whose value was taken back is finished, and started again when it has one.
#[derive(Debug)]
pub struct LogSink {
    entries: Entries,
    now: Micros,
}

impl LogSink {
    /// A sink into `writer`, whose entries start at `now`.
    #[must_use]
    pub fn new(writer: Arc<LogWriter>, now: Micros) -> Self {
        Self { entries: Entries::new(writer, Topic::log_name, metadata), now }
    }

    /// By a virtual clock: says nothing of what waits for the disk, so that two runs of one seed log the same.
    #[must_use]
    pub const fn by_virtual_clock(mut self) -> Self {
        self.entries.tells_queue = false;
        self
    }
}

impl Sink for LogSink {
    fn declare(&mut self, index: u32, topic: &Topic) {
        self.entries.declare(index, topic, self.now);
    }

    fn frame(&mut self, frame: &Frame<'_>) {
        self.now = frame.at;
        self.entries.past_the_queue(frame);
        let mut batch = self.entries.writer.batch();
        for value in frame.entries() {
            if let Some(id) = self.entries.queued(value.topic) {
                batch.append(id, frame.at, value.value);
            }
        }
    }

    fn stats(&self) -> SinkStats {
        self.entries.stats()
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
