//! One connection: who it is, what it publishes, what it asked for, what it has been told.

use std::collections::BTreeMap;
use std::sync::Arc;

use fieldlab_base::{ClientId, Micros};
use thiserror::Error;

use super::outbound::{Outbound, Pending};
use super::topics::{Owner, Topic};
use super::{Server, at};
use crate::control::{self, SubscribeOptions};
use crate::limits::Limits;
use crate::pattern;

/// The protocol that a connection speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// 4.0: no WebSocket pings; time synchronisation doubles as the sign of life.
    V40,
    /// 4.1.
    V41,
}

impl Version {
    pub(crate) const fn number(self) -> i64 {
        match self {
            Self::V40 => 0x0400,
            Self::V41 => 0x0401,
        }
    }
}

/// Who connects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectInfo {
    /// The name that the client gave itself, decoded.
    pub name: String,
    /// Where it is, `ip:port`, for people.
    pub address: String,
    /// What it speaks.
    pub version: Version,
    /// Values wait for no period. For clients in the same process, which are pumped until nothing is left.
    pub immediate: bool,
}

/// Why a connection was refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Refused {
    /// As many as are allowed are here.
    #[error("clients: expected at most {limit}")]
    Full {
        /// The limit.
        limit: usize,
    },
    /// The name is too long.
    #[error("client name: expected at most {limit} bytes, found {found}")]
    Name {
        /// The limit.
        limit: usize,
        /// The name's length.
        found: usize,
    },
}

#[derive(Debug)]
pub(super) struct Subscription {
    pub(super) patterns: Vec<Box<str>>,
    pub(super) options: SubscribeOptions,
}

impl Subscription {
    pub(super) fn means(&self, name: &str) -> bool {
        self.patterns.iter().any(|p| pattern::matches(p, self.options.prefix, name))
    }
}

/// What a connection has to do with the topic in a slot.
#[derive(Debug, Default)]
pub(super) struct TopicState {
    /// The topic id that was announced here, or 0.
    pub(super) announced: u32,
    pub(super) subs: Vec<i32>,
    pub(super) pubs: Vec<i32>,
    pub(super) wants: bool,
    pub(super) all: bool,
    pub(super) lane: u16,
    pub(super) pending: Pending,
}

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) id: ClientId,
    pub(super) shown: Arc<str>,
    pub(super) address: String,
    pub(super) version: Version,
    pub(super) connected_at: Micros,
    pub(super) pubs: BTreeMap<i32, u32>,
    pub(super) subs: BTreeMap<i32, Subscription>,
    pub(super) patterns: usize,
    pub(super) states: Vec<TopicState>,
    pub(super) out: Outbound,
    pub(super) sub_meta: u32,
    pub(super) pub_meta: u32,
}

impl Connection {
    pub(super) fn state(&mut self, slot: u32) -> &mut TopicState {
        let needed = slot as usize + 1;
        if self.states.len() < needed {
            self.states.resize_with(needed, TopicState::default);
        }
        &mut self.states[slot as usize]
    }

    pub(super) fn saw(&self, slot: u32, id: u32) -> bool {
        self.states.get(slot as usize).is_some_and(|s| s.announced == id && id != 0)
    }

    pub(super) fn forget_topic(&mut self, slot: u32) {
        if let Some(state) = self.states.get_mut(slot as usize) {
            // Publishers of a deleted topic cannot exist; subscriptions stay and meet the next topic of a slot anew.
            *state = TopicState::default();
        }
    }

    /// Announces a topic unless that was done; an answer to a publish is always given.
    pub(super) fn announce(&mut self, slot: u32, topic: &Topic, pubuid: Option<i32>) {
        let state = self.state(slot);
        if state.announced == topic.id && pubuid.is_none() {
            return;
        }
        state.announced = topic.id;
        let text =
            control::announce(&topic.name, topic.id, topic.data_type.nt_name(), &topic.properties, pubuid);
        self.out.push_text(&text);
    }

    /// Notes which subscriptions mean a new topic; true when any does.
    pub(super) fn match_topic(&mut self, slot: u32, name: &str) -> bool {
        let meant: Vec<i32> = self.subs.iter().filter(|(_, s)| s.means(name)).map(|(uid, _)| *uid).collect();
        let any = !meant.is_empty();
        if any {
            self.state(slot).subs = meant;
        }
        any
    }

    /// Works out anew whether and how the connection wants a topic's values, after its subscriptions to it changed.
    /// A topic newly wanted brings its stored value at once.
    pub(super) fn settle_interest(&mut self, me: u32, slot: u32, topic: &mut Topic, limits: &Limits) {
        let Some(state) = self.states.get(slot as usize) else { return };
        let (mut wants, mut all, mut period) = (false, false, Micros::MAX);
        for options in state.subs.iter().filter_map(|uid| self.subs.get(uid)).map(|s| &s.options) {
            if !options.topics_only {
                wants = true;
                all |= options.all;
                period = period.min(options.period);
            }
        }
        let lane = if wants { self.out.lane_for(period) } else { 0 };
        let state = self.state(slot);
        let newly = wants && !state.wants;
        let over = !wants && state.wants;
        (state.wants, state.all) = (wants, all);
        if wants {
            state.lane = lane;
        }
        if over {
            state.pending = Pending::Nothing;
            topic.subscribers.retain(|s| *s != me);
        }
        if newly {
            topic.subscribers.push(me);
            let waits = state.pending != Pending::Nothing;
            if let Some(stored) = topic.stored.as_ref().filter(|_| !waits) {
                // Who wants every value gets this one too, even when the next follows at once.
                if !(all && self.out.push_lane(lane, &stored.bytes, limits.queue_bytes)) {
                    self.states[slot as usize].pending = Pending::Stored;
                    self.out.push_dirty(lane, slot);
                }
                self.out.hurry(lane);
            }
        }
        debug_assert!(self.patterns <= limits.patterns, "patterns are limited where they come in");
    }
}

impl Server {
    /// A client has connected.
    ///
    /// # Errors
    /// Refused when the table is full or the name too long.
    pub fn connect(&mut self, info: &ConnectInfo, now: Micros) -> Result<ClientId, Refused> {
        self.see(now);
        if info.name.len() > self.limits.name_bytes {
            return Err(Refused::Name { limit: self.limits.name_bytes, found: info.name.len() });
        }
        let free = self.clients.iter().position(Option::is_none).unwrap_or(self.clients.len());
        if free >= self.limits.clients.min(0xffff) {
            return Err(Refused::Full { limit: self.limits.clients });
        }
        let id = ClientId(self.next_client << 16 | free as u64);
        self.next_client += 1;
        // Slot 0 in a shown name is the server itself.
        let shown: Arc<str> = format!("{}@{}", info.name, free + 1).into();
        let connection = Connection {
            id,
            shown: shown.clone(),
            address: info.address.clone(),
            version: info.version,
            connected_at: now,
            pubs: BTreeMap::new(),
            subs: BTreeMap::new(),
            patterns: 0,
            states: Vec::new(),
            out: Outbound::new(info.immediate),
            sub_meta: 0,
            pub_meta: 0,
        };
        if free == self.clients.len() {
            self.clients.push(Some(Box::new(connection)));
        } else {
            self.clients[free] = Some(Box::new(connection));
        }
        let sub_meta =
            self.create_meta(&format!("$clientsub${shown}"), super::meta::Meta::ClientSub(free as u32));
        let pub_meta =
            self.create_meta(&format!("$clientpub${shown}"), super::meta::Meta::ClientPub(free as u32));
        if let Some(client) = at(&mut self.clients, free as u32) {
            (client.sub_meta, client.pub_meta) = (sub_meta, pub_meta);
        }
        self.touch_meta(self.clients_meta);
        self.settle_metas();
        Ok(id)
    }

    /// A client is gone: everything that it published and asked for goes with it.
    pub fn disconnect(&mut self, client: ClientId, now: Micros) {
        self.see(now);
        let Some(slot) = self.slot_of(client) else { return };
        let Some(gone) = self.clients[slot as usize].take() else { return };
        for (index, state) in gone.states.iter().enumerate() {
            if state.wants {
                self.topics[index].subscribers.retain(|s| *s != slot);
            }
            if !state.subs.is_empty() {
                self.touch_meta(self.topics[index].sub_meta);
            }
        }
        self.delete(gone.sub_meta);
        self.delete(gone.pub_meta);
        for topic in gone.pubs.into_values() {
            self.lose_publisher(topic);
        }
        self.touch_meta(self.clients_meta);
        self.settle_metas();
    }

    /// One client publisher of a topic less.
    pub(super) fn lose_publisher(&mut self, slot: u32) {
        let topic = &mut self.topics[slot as usize];
        topic.publishers = topic.publishers.saturating_sub(1);
        let meta = topic.pub_meta;
        self.touch_meta(meta);
        self.delete_if_unkept(slot);
    }

    /// Whether clients may change the topic's properties.
    pub(super) fn open_to_clients(&self, slot: u32) -> bool {
        self.topics[slot as usize].owner == Owner::Clients
    }
}
