//! The server core: topics, the connections that watch and write them, and the robot's own side.
//!
//! A connection goes through: `connect` → any number of `receive_text`, `receive_binary`, `transmit` → `disconnect`.
//! Whoever owns the sockets asks [`Server::take_wakes`] after each call for the connections that have become ready to
//! transmit earlier than they last said, and calls [`Server::transmit`] for them once their socket can take bytes. The
//! core never holds more for one connection than its limits say: values above them are replaced by later ones.

mod connection;
mod inputs;
mod local;
mod meta;
mod outbound;
mod persist;
mod receive;
mod subscribe;
mod topics;

use std::collections::BTreeMap;
use std::sync::Arc;

use fieldlab_base::{ClientId, ConfigError, Micros};
use fieldlab_values::Value;

pub use connection::{ConnectInfo, Refused, Version};
pub use inputs::{Input, InputKind};
pub use local::{Encoded, LocalTopic};
pub use outbound::{Frame, Transmit};
pub use persist::Restored;
pub use receive::answer_time;

use self::connection::Connection;
use self::inputs::Inputs;
use self::local::LocalEntry;
use self::topics::Topic;
use crate::limits::Limits;
use crate::msgpack::Reader;
use crate::wire;

/// How a server behaves.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerConfig {
    /// What peers may cost.
    pub limits: Limits,
    /// Name prefixes under which only the robot may create topics; a client's publish there is ignored and counted.
    pub reserved: Vec<String>,
}

/// What happened so far, in counts that only grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ServerStats {
    /// Values taken from clients.
    pub values_in: u64,
    /// Values for topics that the robot owns, ignored.
    pub owned_ignored: u64,
    /// Values of another type than the topic's, ignored.
    pub type_ignored: u64,
    /// Values for publishers that do not exist, ignored.
    pub unknown_ignored: u64,
    /// Control messages or values that could not be read, skipped.
    pub bad_messages: u64,
    /// Control messages refused by a rule or a limit.
    pub refused: u64,
    /// Values that a slow client did not get because a later one replaced them.
    pub shed: u64,
    /// Values dropped because they or all stored values together were too large.
    pub too_large: u64,
    /// Operator samples dropped because the robot did not fetch them.
    pub samples_dropped: u64,
    /// Values set by the robot that had the wrong family or no topic.
    pub local_refused: u64,
}

/// A NetworkTables 4.1 server without sockets or clocks.
#[derive(Debug)]
pub struct Server {
    limits: Limits,
    reserved: Vec<String>,
    topics: Vec<Topic>,
    free_topics: Vec<u32>,
    by_name: BTreeMap<Arc<str>, u32>,
    next_topic_id: u32,
    ordinary_topics: usize,
    clients: Vec<Option<Box<Connection>>>,
    next_client: u64,
    local: Vec<LocalEntry>,
    inputs: Inputs,
    wakes: Vec<ClientId>,
    stale_metas: Vec<u32>,
    stored_bytes: usize,
    persistent_changes: u64,
    stats: ServerStats,
    scratch: Vec<u8>,
    work: u64,
    now: Micros,
    clients_meta: u32,
    server_pub_meta: u32,
    server_sub_meta: u32,
}

impl Server {
    /// A server without topics (but its own metatopics) or clients.
    ///
    /// # Errors
    /// Refuses a limit that is 0 or does not fit 32 bits, and an empty reserved prefix.
    pub fn new(config: ServerConfig) -> Result<Self, ConfigError> {
        config.limits.check()?;
        if config.reserved.iter().any(String::is_empty) {
            return Err(ConfigError::new("reserved", "prefixes that are not empty", "an empty one"));
        }
        let mut server = Self {
            inputs: Inputs::new(config.limits.operator_samples),
            limits: config.limits,
            reserved: config.reserved,
            topics: Vec::new(),
            free_topics: Vec::new(),
            by_name: BTreeMap::new(),
            next_topic_id: 1,
            ordinary_topics: 0,
            clients: Vec::new(),
            next_client: 1,
            local: Vec::new(),
            wakes: Vec::new(),
            stale_metas: Vec::new(),
            stored_bytes: 0,
            persistent_changes: 0,
            stats: ServerStats::default(),
            scratch: Vec::new(),
            work: 0,
            now: Micros::ZERO,
            clients_meta: 0,
            server_pub_meta: 0,
            server_sub_meta: 0,
        };
        server.clients_meta = server.create_meta("$clients", meta::Meta::Clients);
        server.server_pub_meta = server.create_meta("$serverpub", meta::Meta::ServerPub);
        server.server_sub_meta = server.create_meta("$serversub", meta::Meta::ServerSub);
        Ok(server)
    }

    /// The limits in force.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The counts so far.
    #[must_use]
    pub const fn stats(&self) -> ServerStats {
        self.stats
    }

    /// The stored value of a topic with its time; absent when the topic has none or keeps none.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<(Micros, Value)> {
        let stored = self.topics[*self.by_name.get(name)? as usize].stored.as_ref()?;
        let mut reader = Reader::new(&stored.bytes);
        let front = wire::read_front(&mut reader).ok()?;
        Some((front.time, wire::read_value(&mut reader, wire::family_of(front.code)?).ok()?))
    }

    /// The names of all topics in order, metatopics among them.
    pub fn topic_names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(AsRef::as_ref)
    }

    /// The type name of a topic.
    #[must_use]
    pub fn topic_type(&self, name: &str) -> Option<&str> {
        self.by_name.get(name).map(|slot| self.topics[*slot as usize].data_type.nt_name())
    }

    /// The shown names of the connected clients, `name@slot`.
    pub fn client_names(&self) -> impl Iterator<Item = &str> {
        self.clients.iter().flatten().map(|c| c.shown.as_ref())
    }

    /// Hands out the connections whose [`Server::transmit`] has become due earlier than it last said.
    pub fn take_wakes(&mut self, mut each: impl FnMut(ClientId)) {
        for client in self.wakes.drain(..) {
            each(client);
        }
    }

    fn see(&mut self, now: Micros) {
        self.now = self.now.max(now);
    }
}

/// The connection in a slot, when it is there.
fn at(clients: &mut [Option<Box<Connection>>], slot: u32) -> Option<&mut Connection> {
    clients.get_mut(slot as usize)?.as_deref_mut()
}
