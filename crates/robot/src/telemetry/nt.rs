//! The NetworkTables server as a sink.

use fieldlab_nt4::Properties;
use fieldlab_nt4::server::{LocalTopic, Server};
use fieldlab_nt4_net::{FramePublisher, FrameTopic, Hub};
use fieldlab_values::DataType;

use super::frame::{Frame, Sink, SinkStats, Topic};

/// Sets every changed value on the server, under the names of [`Topic::nt_name`]. A topic whose value was taken back is
/// unpublished until it has one again.
///
/// Queued, for a robot: topics and values are handed to the server's thread, and nothing here waits for it; when it is
/// behind, later values replace earlier ones and are counted. Direct, for a virtual clock: the server has the values when
/// the turn ends.
#[derive(Debug)]
pub struct NtSink {
    way: Way,
}

#[derive(Debug)]
enum Way {
    Queued {
        queue: FramePublisher,
        /// By topic index; `None` for a topic that is not shown on the network.
        topics: Vec<Option<FrameTopic>>,
    },
    Direct {
        hub: Hub,
        topics: Vec<Option<Direct>>,
        refused: u64,
    },
}

#[derive(Debug)]
struct Direct {
    name: String,
    data_type: DataType,
    properties: Properties,
    local: Option<LocalTopic>,
}

impl Direct {
    /// The topic on the server, made anew when it was retracted.
    fn on(&mut self, server: &mut Server) -> Option<LocalTopic> {
        if self.local.is_none() {
            self.local = server.publish_local(&self.name, &self.data_type, &self.properties).ok();
        }
        self.local
    }
}

impl NtSink {
    /// A sink that hands topics and values to the server's own thread and never waits for it.
    #[must_use]
    pub fn queued(hub: &Hub) -> Self {
        Self { way: Way::Queued { queue: hub.publisher(), topics: Vec::new() } }
    }

    /// A sink that sets values at once, on the caller's thread.
    #[must_use]
    pub const fn direct(hub: Hub) -> Self {
        Self { way: Way::Direct { hub, topics: Vec::new(), refused: 0 } }
    }
}

impl Sink for NtSink {
    fn declare(&mut self, index: u32, topic: &Topic) {
        let at = index as usize;
        let name = topic.nt_name();
        let data_type = topic.data_type.clone();
        let mut properties = Properties::new();
        if !topic.unit.is_empty() {
            properties.insert("unit".to_owned(), serde_json::Value::String(topic.unit.to_string()));
        }
        match &mut self.way {
            Way::Queued { queue, topics } => {
                topics.resize(at + 1, None);
                topics[at] = name.map(|name| queue.declare(name, data_type, properties));
            }
            Way::Direct { hub, topics, refused } => {
                topics.resize_with(at + 1, || None);
                let Some(name) = name else { return };
                let mut direct = Direct { name, data_type, properties, local: None };
                match hub.with(|server| direct.on(server)) {
                    Some(_) => topics[at] = Some(direct),
                    // A name that an operator input has.
                    None => *refused += 1,
                }
            }
        }
    }

    fn frame(&mut self, frame: &Frame<'_>) {
        let changed = frame.entries().filter(|e| e.changed);
        match &mut self.way {
            Way::Queued { queue, topics } => {
                let shown = |topic: u32| topics.get(topic as usize).copied().flatten();
                for topic in frame.retracted().filter_map(shown) {
                    queue.retract(topic);
                }
                for (topic, value) in changed.filter_map(|e| Some((shown(e.topic)?, e.value))) {
                    queue.put(topic, frame.at, value);
                }
                // What could not be handed over waits for the next turn, latest values only.
                queue.send();
            }
            Way::Direct { hub, topics, .. } => hub.with(|server| {
                let at = |topic: u32| topic as usize;
                for topic in frame.retracted() {
                    let local =
                        topics.get_mut(at(topic)).and_then(Option::as_mut).and_then(|t| t.local.take());
                    if let Some(local) = local {
                        server.unpublish_local(local);
                    }
                }
                for entry in changed {
                    let topic = topics.get_mut(at(entry.topic)).and_then(Option::as_mut);
                    if let Some(local) = topic.and_then(|t| t.on(server)) {
                        server.set_local(local, frame.at, entry.value);
                    }
                }
            }),
        }
    }

    fn stats(&self) -> SinkStats {
        match &self.way {
            Way::Queued { queue, .. } => {
                let stats = queue.stats();
                let dropped = stats.replaced.saturating_add(stats.refused);
                SinkStats { dropped, queued: stats.depth as u64 }
            }
            Way::Direct { refused, .. } => SinkStats { dropped: *refused, queued: 0 },
        }
    }
}
