//! The NetworkTables server as a sink.

use fieldlab_nt4::Properties;
use fieldlab_nt4::server::LocalTopic;
use fieldlab_nt4_net::{FramePublisher, Hub};

use super::frame::{Frame, Sink, SinkStats, Topic};

/// Sets every changed value on the server, under the names of [`Topic::nt_name`].
///
/// Queued, for a robot: values are encoded here and handed to the server's thread; when it is behind, later values
/// replace earlier ones and are counted. Direct, for a virtual clock: the server has the values when the turn ends.
#[derive(Debug)]
pub struct NtSink {
    hub: Hub,
    queue: Option<FramePublisher>,
    topics: Vec<Option<LocalTopic>>,
    refused: u64,
}

impl NtSink {
    /// A sink that hands values to the server's own thread and never waits for it.
    #[must_use]
    pub fn queued(hub: Hub) -> Self {
        let queue = Some(hub.publisher());
        Self { hub, queue, topics: Vec::new(), refused: 0 }
    }

    /// A sink that sets values at once, on the caller's thread.
    #[must_use]
    pub const fn direct(hub: Hub) -> Self {
        Self { hub, queue: None, topics: Vec::new(), refused: 0 }
    }
}

impl Sink for NtSink {
    fn declare(&mut self, index: u32, topic: &Topic) {
        self.topics.resize(index as usize + 1, None);
        let Some(name) = topic.nt_name() else { return };
        let mut properties = Properties::new();
        if !topic.unit.is_empty() {
            properties.insert("unit".to_owned(), serde_json::Value::String(topic.unit.to_string()));
        }
        match self.hub.with(|server| server.publish_local(&name, &topic.data_type, &properties)) {
            Ok(local) => {
                if let Some(queue) = &mut self.queue {
                    queue.reserve(local);
                }
                self.topics[index as usize] = Some(local);
            }
            // A name that an operator input has; the server keeps count of what it refuses later.
            Err(_) => self.refused += 1,
        }
    }

    fn frame(&mut self, frame: &Frame<'_>) {
        let topics = &self.topics;
        let local = |topic: u32| topics.get(topic as usize).copied().flatten();
        let changed = frame.entries().filter(|e| e.changed);
        let values = changed.filter_map(|e| Some((local(e.topic)?, e.value)));
        match &mut self.queue {
            Some(queue) => {
                for (topic, value) in values {
                    queue.put(topic, frame.at, value);
                }
                // What could not be handed over waits for the next turn, latest values only.
                queue.send();
            }
            None => self.hub.with(|server| {
                for (topic, value) in values {
                    server.set_local(topic, frame.at, value);
                }
            }),
        }
    }

    fn stats(&self) -> SinkStats {
        let queue = self.queue.as_ref().map(FramePublisher::stats).unwrap_or_default();
        SinkStats { dropped: queue.replaced.saturating_add(self.refused), queued: queue.depth as u64 }
    }
}
