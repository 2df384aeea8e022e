//! Topics: made, found, retyped, forgotten; how a value is kept and handed on.

use std::sync::Arc;

use fieldlab_base::{ClientId, InputId, Micros};
use fieldlab_values::DataType;
use serde_json::Value as Json;

use super::meta::Meta;
use super::outbound::Pending;
use super::{Server, at};
use crate::control::{self, Properties};
use crate::error::NtError;

/// Who may set a topic's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// Any client that publishes it.
    Clients,
    /// The robot alone.
    Robot,
    /// The robot, and clients as operator input.
    Input(InputId),
    /// The server itself.
    Server,
}

/// The value that a late subscriber gets.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) time: Micros,
    /// The whole message, as it goes to clients.
    pub(super) bytes: Vec<u8>,
    /// It came from the persistence file and nobody has confirmed it since.
    pub(super) restored: bool,
}

#[derive(Debug)]
pub(super) struct Topic {
    pub(super) name: Arc<str>,
    /// 0 in a slot that is free. Never used twice, whatever becomes of the slot.
    pub(super) id: u32,
    pub(super) data_type: DataType,
    pub(super) code: u8,
    pub(super) properties: Properties,
    pub(super) cached: bool,
    pub(super) persistent: bool,
    pub(super) retained: bool,
    /// Client publishers; the robot's own is told by `owner`.
    pub(super) publishers: usize,
    pub(super) owner: Owner,
    pub(super) local: u32,
    pub(super) meta: Option<Meta>,
    pub(super) meta_stale: bool,
    /// Stands in the list of metatopics to be sent.
    pub(super) meta_queued: bool,
    pub(super) pub_meta: u32,
    pub(super) sub_meta: u32,
    pub(super) stored: Option<Stored>,
    /// The last message handed on that was not stored.
    pub(super) recent: Vec<u8>,
    /// Slots of the connections that want values.
    pub(super) subscribers: Vec<u32>,
}

/// A value on its way to the subscribers of a topic.
pub(super) struct Delivery<'a> {
    pub(super) slot: u32,
    pub(super) time: Micros,
    pub(super) bytes: &'a [u8],
    /// Not sent back to this connection.
    pub(super) except: Option<u32>,
    /// Stored whatever its time: the robot's word, and what an operator wrote last.
    pub(super) force: bool,
}

impl Topic {
    fn read_properties(&mut self) {
        let flag = |key: &str| self.properties.get(key).and_then(Json::as_bool);
        self.cached = flag("cached").unwrap_or(true);
        self.retained = flag("retained").unwrap_or(false);
        // A topic that keeps no value has nothing to save.
        self.persistent = self.cached && flag("persistent").unwrap_or(false);
    }
}

impl Server {
    /// A name that an ordinary topic may have.
    pub(super) fn check_name(&self, name: &str) -> Result<(), NtError> {
        let expected = if name.is_empty() {
            "one that is not empty"
        } else if name.starts_with('$') {
            "one that does not begin with $"
        } else if name.len() > self.limits.name_bytes {
            "one within the length limit"
        } else {
            return Ok(());
        };
        Err(NtError::BadName { name: name.chars().take(64).collect(), expected })
    }

    pub(super) fn new_slot(
        &mut self,
        name: &str,
        data_type: DataType,
        properties: Properties,
        meta: Option<Meta>,
    ) -> u32 {
        let name: Arc<str> = name.into();
        let mut topic = Topic {
            name: name.clone(),
            id: self.take_topic_id(),
            code: crate::wire::code_of(data_type.family()),
            data_type,
            properties,
            cached: true,
            persistent: false,
            retained: false,
            publishers: 0,
            owner: if meta.is_some() { Owner::Server } else { Owner::Clients },
            local: 0,
            meta,
            meta_stale: meta.is_some(),
            meta_queued: false,
            pub_meta: 0,
            sub_meta: 0,
            stored: None,
            recent: Vec::new(),
            subscribers: Vec::new(),
        };
        topic.read_properties();
        let slot = match self.free_topics.pop() {
            Some(slot) => {
                self.topics[slot as usize] = topic;
                slot
            }
            None => {
                self.topics.push(topic);
                (self.topics.len() - 1) as u32
            }
        };
        self.by_name.insert(name, slot);
        slot
    }

    /// 32 bits of ids outlast any server: a million new topics a second would take an hour to use them up.
    fn take_topic_id(&mut self) -> u32 {
        let id = self.next_topic_id;
        self.next_topic_id = if id == i32::MAX as u32 { 1 } else { id + 1 };
        id
    }

    /// Creates an ordinary topic with its two metatopics and announces all three to those who asked for such names.
    pub(super) fn create(
        &mut self,
        name: &str,
        data_type: DataType,
        properties: Properties,
    ) -> Result<u32, NtError> {
        self.check_name(name)?;
        if data_type.nt_name().is_empty() || data_type.nt_name().len() > self.limits.name_bytes {
            let expected = "a type name that is not empty and within the length limit";
            return Err(NtError::BadName { name: data_type.nt_name().chars().take(64).collect(), expected });
        }
        if self.ordinary_topics >= self.limits.topics {
            return Err(NtError::Limit { what: "topics", limit: self.limits.topics });
        }
        self.ordinary_topics += 1;
        let slot = self.new_slot(name, data_type, properties, None);
        self.adopt(slot);
        let pub_meta = self.create_meta(&format!("$pub${name}"), Meta::Pub(slot));
        let sub_meta = self.create_meta(&format!("$sub${name}"), Meta::Sub(slot));
        let topic = &mut self.topics[slot as usize];
        (topic.pub_meta, topic.sub_meta) = (pub_meta, sub_meta);
        Ok(slot)
    }

    /// Finds the subscriptions that mean a new topic and announces it to their clients.
    pub(super) fn adopt(&mut self, slot: u32) {
        let topic = &mut self.topics[slot as usize];
        for (index, client) in self.clients.iter_mut().enumerate() {
            let Some(client) = client else { continue };
            if client.match_topic(slot, &topic.name) {
                client.announce(slot, topic, None);
                client.settle_interest(index as u32, slot, topic, &self.limits);
                super::outbound::wake(client, &mut self.wakes);
            }
        }
    }

    /// Deletes a topic that nothing keeps.
    pub(super) fn delete_if_unkept(&mut self, slot: u32) {
        let topic = &self.topics[slot as usize];
        let kept =
            topic.publishers > 0 || topic.owner != Owner::Clients || topic.persistent || topic.retained;
        if topic.id != 0 && !kept {
            let (pub_meta, sub_meta) = (topic.pub_meta, topic.sub_meta);
            self.ordinary_topics -= 1;
            self.delete(slot);
            self.delete(pub_meta);
            self.delete(sub_meta);
        }
    }

    pub(super) fn delete(&mut self, slot: u32) {
        self.tell_gone(slot);
        let topic = &mut self.topics[slot as usize];
        if topic.persistent {
            self.persistent_changes += 1;
        }
        self.by_name.remove(&topic.name);
        let held = topic.stored.take().map_or(0, |s| s.bytes.len()) + topic.recent.len();
        self.stored_bytes -= held;
        topic.recent = Vec::new();
        topic.subscribers.clear();
        topic.id = 0;
        self.free_topics.push(slot);
        for client in self.clients.iter_mut().flatten() {
            client.forget_topic(slot);
        }
    }

    /// Tells all who saw the announcement, after the values that still wait for them.
    fn tell_gone(&mut self, slot: u32) {
        let topic = &self.topics[slot as usize];
        let text = control::unannounce(&topic.name, topic.id);
        for client in self.clients.iter_mut().flatten() {
            if client.saw(slot, topic.id) {
                client.flush_before_gone(slot, topic, &self.limits);
                client.out.push_text(&text);
                super::outbound::wake(client, &mut self.wakes);
            }
        }
    }

    /// Gives a topic another type: to every client that is one topic gone and another come.
    pub(super) fn retype(&mut self, slot: u32, data_type: DataType) {
        self.tell_gone(slot);
        self.drop_value(slot);
        let id = self.take_topic_id();
        let topic = &mut self.topics[slot as usize];
        let old = topic.id;
        topic.id = id;
        topic.code = crate::wire::code_of(data_type.family());
        topic.data_type = data_type;
        for client in self.clients.iter_mut().flatten() {
            if client.saw(slot, old) {
                client.announce(slot, topic, None);
                super::outbound::wake(client, &mut self.wakes);
            }
        }
    }

    pub(super) fn drop_value(&mut self, slot: u32) {
        let topic = &mut self.topics[slot as usize];
        let held = topic.stored.take().map_or(0, |s| s.bytes.len()) + topic.recent.len();
        topic.recent.clear();
        self.stored_bytes -= held;
    }

    /// Applies an update of properties (null deletes a key) and tells those who know the topic.
    ///
    /// `by` is the connection that asked, which alone gets `ack`.
    pub(super) fn update_properties(&mut self, slot: u32, update: &Properties, by: Option<u32>) {
        let topic = &mut self.topics[slot as usize];
        let was_persistent = topic.persistent;
        let mut merged = topic.properties.clone();
        for (key, value) in update {
            if value.is_null() {
                merged.remove(key);
            } else {
                merged.insert(key.clone(), value.clone());
            }
        }
        let size: usize = merged.iter().map(|(k, v)| k.len() + v.to_string().len()).sum();
        if size > self.limits.properties_bytes {
            self.stats.refused += 1;
            return;
        }
        topic.properties = merged;
        topic.read_properties();
        if was_persistent || topic.persistent {
            self.persistent_changes += 1;
        }
        let (id, name, keeps) = (topic.id, topic.name.clone(), topic.cached);
        let text = control::properties(&name, update, false);
        for (index, client) in self.clients.iter_mut().enumerate() {
            let Some(client) = client else { continue };
            let asked = by == Some(index as u32);
            if asked {
                client.out.push_text(&control::properties(&name, update, true));
            } else if client.saw(slot, id) {
                client.out.push_text(&text);
            }
            super::outbound::wake(client, &mut self.wakes);
        }
        if !keeps {
            self.drop_value(slot);
        }
        self.delete_if_unkept(slot);
    }

    /// Keeps a value by the cache rule and hands it to every subscriber but its sender.
    ///
    /// The rule: kept when the topic keeps values and has none, or one of time 0, or one that is not later. It is
    /// handed on in any case, since a recorder wants samples that arrive out of order too.
    pub(super) fn deliver(&mut self, value: &Delivery<'_>) {
        let topic = &mut self.topics[value.slot as usize];
        let keeps = topic.cached
            && (value.force
                || topic.stored.as_ref().is_none_or(|s| s.time == Micros::ZERO || value.time >= s.time));
        let held =
            if keeps { topic.stored.as_ref().map_or(0, |s| s.bytes.len()) } else { topic.recent.len() };
        let total = self.stored_bytes - held + value.bytes.len();
        if total > self.limits.stored_bytes && value.bytes.len() > held {
            self.stats.too_large += 1;
            return;
        }
        self.stored_bytes = total;
        if keeps {
            let stored = topic.stored.get_or_insert_with(|| Stored {
                time: value.time,
                bytes: Vec::new(),
                restored: false,
            });
            stored.time = value.time;
            stored.restored = false;
            stored.bytes.clear();
            stored.bytes.extend_from_slice(value.bytes);
            if topic.persistent {
                self.persistent_changes += 1;
            }
        } else {
            topic.recent.clear();
            topic.recent.extend_from_slice(value.bytes);
        }
        let pending = if keeps { Pending::Stored } else { Pending::Recent };
        for index in &topic.subscribers {
            if value.except == Some(*index) {
                continue;
            }
            if let Some(client) = at(&mut self.clients, *index) {
                self.stats.shed +=
                    u64::from(client.queue_value(value.slot, value.bytes, pending, self.limits.queue_bytes));
                super::outbound::wake(client, &mut self.wakes);
            }
        }
    }

    pub(super) fn slot_of(&self, client: ClientId) -> Option<u32> {
        let slot = (client.0 & 0xffff) as u32;
        let there = self.clients.get(slot as usize)?.as_ref()?;
        (there.id == client).then_some(slot)
    }
}
