//! A log file in AdvantageKit's shape, which its own tools and replay accept.

use std::borrow::Cow;
use std::sync::Arc;

use fieldlab_base::Micros;
use fieldlab_values::{DataType, Root, ValueRef};
use fieldlab_wpilog::{EntryId, LogError, LogWriter};

use super::entries::Entries;
use super::frame::{Frame, Sink, SinkStats, Topic};

/// Writes one cycle a frame: `/Timestamp`, then every field that changed, all with that one stamp. Everything that the
/// robot says stands under `/RealOutputs/`; schemas under `/.schema/`. What is sticky is repeated, and what was taken back
/// finished, as in [`LogSink`](super::LogSink)'s file.
#[derive(Debug)]
pub struct AkitSink {
    entries: Entries,
    timestamp: EntryId,
    now: Micros,
}

impl AkitSink {
    /// What must stand in the file's extra header, exactly; see
    /// [`WriterConfig::extra_header`](fieldlab_wpilog::WriterConfig::extra_header).
    pub const EXTRA_HEADER: &'static str = "AdvantageKit";

    /// A sink into `writer`, whose entries start at `now`.
    ///
    /// # Errors
    /// When the writer already has `/Timestamp` with another type.
    pub fn new(writer: Arc<LogWriter>, now: Micros) -> Result<Self, LogError> {
        let timestamp = writer.start(now, "/Timestamp", &DataType::Int, r#"{"source":"AdvantageKit"}"#)?;
        Ok(Self { entries: Entries::new(writer, name, metadata), timestamp, now })
    }

    /// By a virtual clock: says nothing of what waits for the disk, so that two runs of one seed log the same.
    #[must_use]
    pub const fn by_virtual_clock(mut self) -> Self {
        self.entries.tells_queue = false;
        self
    }
}

impl Sink for AkitSink {
    fn declare(&mut self, index: u32, topic: &Topic) {
        self.entries.declare(index, topic, self.now);
    }

    fn frame(&mut self, frame: &Frame<'_>) {
        self.now = frame.at;
        // A cycle begins with its stamp.
        self.entries.writer.append(self.timestamp, frame.at, ValueRef::Int(frame.at.0));
        self.entries.past_the_queue(frame);
        let mut batch = self.entries.writer.batch();
        for value in frame.entries().filter(|e| e.changed) {
            if let Some(id) = self.entries.queued(value.topic) {
                batch.append(id, frame.at, value.value);
            }
        }
    }

    fn stats(&self) -> SinkStats {
        self.entries.stats()
    }
}

fn name(topic: &Topic) -> Cow<'_, str> {
    let key = topic.key.trim_start_matches('/');
    Cow::Owned(match topic.root {
        Root::Catalyst | Root::Bare => format!("/RealOutputs/{key}"),
        Root::SmartDashboard => format!("/RealOutputs/SmartDashboard/{key}"),
        Root::Schema => format!("/.schema/{key}"),
    })
}

fn metadata(topic: &Topic) -> String {
    if topic.unit.is_empty() {
        return r#"{"source":"AdvantageKit"}"#.to_owned();
    }
    serde_json::json!({ "source": "AdvantageKit", "unit": &*topic.unit }).to_string()
}
