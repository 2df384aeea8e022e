//! A log file in AdvantageKit's shape, which its own tools and replay accept.

use std::sync::Arc;

use fieldlab_base::Micros;
use fieldlab_values::{DataType, Root, ValueRef};
use fieldlab_wpilog::{EntryId, LogError, LogWriter};

use super::frame::{Frame, Sink, SinkStats, Topic};

/// Writes one cycle a frame: `/Timestamp`, then every field that changed, all with that one stamp. Everything that the
/// robot says stands under `/RealOutputs/`; schemas under `/.schema/`.
#[derive(Debug)]
pub struct AkitSink {
    writer: Arc<LogWriter>,
    timestamp: EntryId,
    entries: Vec<Option<EntryId>>,
    now: Micros,
    refused: u64,
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
        Ok(Self { writer, timestamp, entries: Vec::new(), now, refused: 0 })
    }
}

impl Sink for AkitSink {
    fn declare(&mut self, index: u32, topic: &Topic) {
        self.entries.resize(index as usize + 1, None);
        let started = self.writer.start(self.now, &name(topic), &topic.data_type, &metadata(topic));
        self.refused += u64::from(started.is_err());
        self.entries[index as usize] = started.ok();
    }

    fn frame(&mut self, frame: &Frame<'_>) {
        self.now = frame.at;
        let entry = |topic: u32| self.entries.get(topic as usize).copied().flatten();
        let is_schema = |topic: u32| frame.topic(topic).is_some_and(|t| t.root == Root::Schema);
        for value in frame.entries().filter(|e| is_schema(e.topic)) {
            if let Some(id) = entry(value.topic) {
                self.writer.append_sticky(id, frame.at, value.value);
            }
        }
        let mut batch = self.writer.batch();
        batch.append(self.timestamp, frame.at, ValueRef::Int(frame.at.0));
        for value in frame.entries().filter(|e| e.changed && !is_schema(e.topic)) {
            if let Some(id) = entry(value.topic) {
                batch.append(id, frame.at, value.value);
            }
        }
    }

    fn stats(&self) -> SinkStats {
        let stats = self.writer.stats();
        SinkStats {
            dropped: stats.dropped.saturating_add(stats.misfits).saturating_add(self.refused),
            queued: stats.queue_bytes as u64,
        }
    }
}

fn name(topic: &Topic) -> String {
    let key = topic.key.trim_start_matches('/');
    match topic.root {
        Root::Catalyst | Root::Bare => format!("/RealOutputs/{key}"),
        Root::SmartDashboard => format!("/RealOutputs/SmartDashboard/{key}"),
        Root::Schema => format!("/.schema/{key}"),
    }
}

fn metadata(topic: &Topic) -> String {
    if topic.unit.is_empty() {
        return r#"{"source":"AdvantageKit"}"#.to_owned();
    }
    serde_json::json!({ "source": "AdvantageKit", "unit": &*topic.unit }).to_string()
}
