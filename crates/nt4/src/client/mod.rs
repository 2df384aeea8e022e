//! The client core: publishers and subscriptions that outlive connections.
//!
//! Publish, subscribe and set at any time; `connected` and `disconnected` say when there is a socket. On each new
//! connection everything is said again: publishers with their last value at its original time (a default keeps time
//! 0), then subscriptions. No call waits for the server's announcement of our own topic, since some servers never send
//! it.

mod publish;
mod receive;
mod sync;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use fieldlab_base::{ConfigError, Micros};
use fieldlab_values::{DataType, Value};

pub use publish::{PublishOptions, PublisherId};
pub use sync::ClockEstimate;

use self::publish::{Publisher, Waiting};
use self::sync::TimeSync;
use crate::control::{ClientMessage, Properties, SubscribeOptions};
use crate::error::NtError;
use crate::limits::Limits;
use crate::msgpack::write_int;
use crate::server::{Frame, Version};
use crate::wire;

/// How a client behaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientConfig {
    /// What the server may cost.
    pub limits: Limits,
    /// Events that wait for [`Client::poll_event`]; above it the oldest values are dropped and counted.
    pub events: usize,
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self { limits: Limits::default(), events: 65_536 }
    }
}

/// A subscription of this client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubscriptionId(i32);

/// A topic as the server announced it.
#[derive(Debug, Clone, PartialEq)]
pub struct RemoteTopic {
    /// Its name.
    pub name: Arc<str>,
    /// The server's number for it on this connection.
    pub id: i64,
    /// What it holds.
    pub data_type: DataType,
    /// Its properties, kept up to date.
    pub properties: Properties,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A connection stands.
    Connected,
    /// It is gone. Topics are forgotten when the next one stands.
    Disconnected,
    /// The estimate of the server's clock has changed, by `step` when there was one before.
    Clock {
        /// The new estimate.
        estimate: ClockEstimate,
        /// How far the offset jumped.
        step: Option<Micros>,
    },
    /// A topic was announced.
    Announced(Arc<RemoteTopic>),
    /// A topic is gone.
    Unannounced(Arc<str>),
    /// Properties of a topic changed; null means deleted.
    Properties {
        /// The topic.
        name: Arc<str>,
        /// The change.
        update: Properties,
    },
    /// A value, in the order of arrival, also when its time is older than the one before.
    Value {
        /// The topic.
        name: Arc<str>,
        /// Its time by the server's clock, as it stands on the wire.
        time: Micros,
        /// When it arrived by the local clock.
        received: Micros,
        /// The value, in the family that was sent.
        value: Value,
    },
}

/// Counts that only grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ClientStats {
    /// Values received.
    pub values_in: u64,
    /// Values of another type than the announced one; delivered all the same.
    pub type_mismatches: u64,
    /// Values with an id that was not announced; dropped.
    pub unknown_ids: u64,
    /// Messages that could not be read; skipped.
    pub bad_messages: u64,
    /// Events dropped because nobody fetched them.
    pub events_dropped: u64,
    /// Values not sent because a later one of the same publisher replaced them.
    pub replaced: u64,
    /// Values not taken: no such publisher, wrong family, or too large.
    pub refused: u64,
    /// Topics announced above the limit; ignored.
    pub topics_refused: u64,
}

/// What waits to be sent, in the order in which it was said.
#[derive(Debug)]
enum Out {
    /// Items of an array that is still open.
    Control(String),
    Value(Waiting),
}

#[derive(Debug)]
struct Subscription {
    topics: Vec<String>,
    options: SubscribeOptions,
}

/// A NetworkTables 4.1 client without sockets or clocks.
#[derive(Debug)]
pub struct Client {
    limits: Limits,
    event_limit: usize,
    publishers: BTreeMap<i32, Publisher>,
    subscriptions: BTreeMap<i32, Subscription>,
    next_pub: i32,
    next_sub: i32,
    version: Option<Version>,
    topics: BTreeMap<i64, Arc<RemoteTopic>>,
    by_name: BTreeMap<Arc<str>, i64>,
    latest: BTreeMap<Arc<str>, (Micros, Value)>,
    sync: TimeSync,
    out: VecDeque<Out>,
    value_bytes: usize,
    events: VecDeque<Event>,
    stats: ClientStats,
}

impl Client {
    /// A client without publishers or subscriptions.
    ///
    /// # Errors
    /// Refuses a limit of 0.
    pub fn new(config: ClientConfig) -> Result<Self, ConfigError> {
        config.limits.check()?;
        if config.events == 0 {
            return Err(ConfigError::new("events", "at least 1", 0));
        }
        Ok(Self {
            limits: config.limits,
            event_limit: config.events,
            publishers: BTreeMap::new(),
            subscriptions: BTreeMap::new(),
            next_pub: 1,
            next_sub: 1,
            version: None,
            topics: BTreeMap::new(),
            by_name: BTreeMap::new(),
            latest: BTreeMap::new(),
            sync: TimeSync::default(),
            out: VecDeque::new(),
            value_bytes: 0,
            events: VecDeque::new(),
            stats: ClientStats::default(),
        })
    }

    /// A connection stands: everything is said again.
    pub fn connected(&mut self, version: Version) {
        self.version = Some(version);
        self.topics.clear();
        self.by_name.clear();
        self.latest.clear();
        self.sync.reset();
        self.clear_out();
        self.push_event(Event::Connected);
        let said: Vec<ClientMessage> = self
            .publishers
            .iter()
            .map(|(uid, p)| p.message(*uid))
            .chain(self.subscriptions.iter().map(|(uid, s)| ClientMessage::Subscribe {
                topics: s.topics.clone(),
                subuid: *uid,
                options: s.options.clone(),
            }))
            .collect();
        for message in &said {
            self.say(message);
        }
        self.queue_retained();
    }

    /// The connection is gone.
    pub fn disconnected(&mut self) {
        if self.version.take().is_some() {
            self.clear_out();
            self.push_event(Event::Disconnected);
        }
    }

    /// Whether a connection stands.
    #[must_use]
    pub const fn is_connected(&self) -> bool {
        self.version.is_some()
    }

    /// Subscribes to names, or to prefixes of names when the options say so.
    ///
    /// # Errors
    /// A full table.
    pub fn subscribe(
        &mut self,
        topics: &[&str],
        options: SubscribeOptions,
    ) -> Result<SubscriptionId, NtError> {
        if self.subscriptions.len() >= self.limits.subscriptions {
            return Err(NtError::Limit { what: "subscriptions", limit: self.limits.subscriptions });
        }
        let subuid = self.next_sub;
        self.next_sub = self.next_sub.wrapping_add(1).max(1);
        let topics: Vec<String> = topics.iter().map(|t| (*t).to_owned()).collect();
        if self.is_connected() {
            self.say(&ClientMessage::Subscribe { topics: topics.clone(), subuid, options: options.clone() });
        }
        self.subscriptions.insert(subuid, Subscription { topics, options });
        Ok(SubscriptionId(subuid))
    }

    /// Ends a subscription.
    pub fn unsubscribe(&mut self, subscription: SubscriptionId) {
        if self.subscriptions.remove(&subscription.0).is_some() && self.is_connected() {
            self.say(&ClientMessage::Unsubscribe { subuid: subscription.0 });
        }
    }

    /// Asks for a change of a topic's properties; null deletes a key. Said only while connected.
    pub fn set_properties(&mut self, name: &str, update: &Properties) {
        if self.is_connected() {
            self.say(&ClientMessage::SetProperties { name: name.to_owned(), update: update.clone() });
        }
    }

    /// The oldest event that was not fetched yet.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Whether an event waits.
    #[must_use]
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// The latest value received for a topic on this connection, with its time by the server's clock.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<(Micros, &Value)> {
        self.latest.get(name).map(|(time, value)| (*time, value))
    }

    /// The announced topic of that name.
    #[must_use]
    pub fn topic(&self, name: &str) -> Option<&RemoteTopic> {
        self.topics.get(self.by_name.get(name)?).map(AsRef::as_ref)
    }

    /// All announced topics, in the order of names.
    pub fn topics(&self) -> impl Iterator<Item = &RemoteTopic> {
        self.by_name.values().filter_map(|id| self.topics.get(id)).map(AsRef::as_ref)
    }

    /// What is known of the server's clock; absent before the first answer of a connection.
    #[must_use]
    pub fn clock(&self) -> Option<ClockEstimate> {
        self.sync.best()
    }

    /// The counts so far.
    #[must_use]
    pub const fn stats(&self) -> ClientStats {
        self.stats
    }

    /// When [`Client::transmit`] has something to say next: [`Micros::MIN`] at once, `None` when there is no
    /// connection.
    #[must_use]
    pub fn next_due(&self) -> Option<Micros> {
        self.version?;
        let ready = self.out.iter().any(|o| match o {
            Out::Control(_) => true,
            Out::Value(waiting) => self.sendable(waiting),
        });
        Some(if ready { Micros::MIN } else { self.sync.due() })
    }

    /// Hands `sink` everything that is to be sent at `now`.
    pub fn transmit(&mut self, now: Micros, mut sink: impl FnMut(Frame<'_>)) {
        if self.version.is_none() {
            return;
        }
        if now >= self.sync.due() {
            let mut ask = Vec::with_capacity(16);
            wire::write_front(&mut ask, wire::RTT_ID, Micros::ZERO, 2);
            write_int(&mut ask, now.0);
            self.sync.asked(now);
            sink(Frame::Binary(&ask));
        }
        self.transmit_queue(&mut sink);
    }

    /// Queues a control message. What waits is bounded by the tables of publishers and subscriptions, and by how often
    /// the owner changes them between two calls of `transmit`.
    fn say(&mut self, message: &ClientMessage) {
        if let Some(Out::Control(open)) = self.out.back_mut() {
            open.push(',');
            message.write(open);
        } else {
            let mut open = "[".to_owned();
            message.write(&mut open);
            self.out.push_back(Out::Control(open));
        }
    }

    fn push_event(&mut self, event: Event) {
        if self.events.len() >= self.event_limit {
            self.make_room();
        }
        self.events.push_back(event);
    }

    /// Drops the oldest values, an eighth of the queue at once: who never drains it pays little for each event. Where there
    /// are no values, the oldest event of any kind goes.
    fn make_room(&mut self) {
        let before = self.events.len();
        let mut left = (self.event_limit / 8).max(1);
        self.events.retain(|event| {
            let goes = left > 0 && matches!(event, Event::Value { .. });
            left -= usize::from(goes);
            !goes
        });
        if self.events.len() == before {
            self.events.pop_front();
        }
        self.stats.events_dropped += (before - self.events.len()) as u64;
    }
}
