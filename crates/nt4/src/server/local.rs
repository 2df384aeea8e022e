//! The robot's own side: topics that it owns and sets.

use fieldlab_base::Micros;
use fieldlab_values::{DataType, ValueRef};

use super::Server;
use super::topics::{Delivery, Owner};
use crate::control::Properties;
use crate::error::NtError;
use crate::wire;

/// A topic that the robot publishes. The number is dense and is not given to another topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalTopic(pub(super) u32);

impl LocalTopic {
    /// Its number, for tables beside the server.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Debug)]
pub(super) struct LocalEntry {
    pub(super) slot: u32,
    pub(super) live: bool,
}

/// A value in wire form, made away from the server so that its lock is held for a copy only. The buffer is reused.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Encoded {
    code: u8,
    bytes: Vec<u8>,
}

impl Encoded {
    /// Replaces the value.
    pub fn set(&mut self, value: ValueRef<'_>) {
        self.bytes.clear();
        self.code = Self::append(&mut self.bytes, value);
    }

    /// Appends a value's MessagePack to a buffer of somebody else's; answers the wire's number of its type.
    pub fn append(out: &mut Vec<u8>, value: ValueRef<'_>) -> u8 {
        wire::write_value(out, value);
        wire::code_of(value.family())
    }

    /// The wire's number of its type.
    #[must_use]
    pub const fn code(&self) -> u8 {
        self.code
    }

    /// The value in MessagePack.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Server {
    /// Publishes a topic as the robot. From then on the name is the robot's: what clients send to it is ignored and
    /// counted, and a value that a client had left there is gone. Only a value restored from the persistence file stays,
    /// and only when the robot publishes the topic as persistent.
    /// Publishing again what the robot already publishes with this type answers the same handle.
    ///
    /// # Errors
    /// A bad name, a full table, or a topic that the robot already publishes with another type or as an input.
    pub fn publish_local(
        &mut self,
        name: &str,
        data_type: &DataType,
        properties: &Properties,
    ) -> Result<LocalTopic, NtError> {
        let slot = match self.by_name.get(name).copied() {
            None => {
                let slot = self.create(name, data_type.clone(), properties.clone())?;
                self.persistent_changes += u64::from(self.topics[slot as usize].persistent);
                slot
            }
            Some(slot) => {
                let topic = &self.topics[slot as usize];
                let same = topic.data_type == *data_type;
                match topic.owner {
                    Owner::Robot if same => return Ok(LocalTopic(topic.local)),
                    Owner::Clients => {}
                    Owner::Robot | Owner::Input(_) | Owner::Server => {
                        return Err(NtError::Taken {
                            name: name.to_owned(),
                            expected: format!("a topic of type {data_type}"),
                            found: format!("one of the robot's own, of type {}", topic.data_type),
                        });
                    }
                }
                if !same {
                    self.retype(slot, data_type.clone());
                } else {
                    let persistent = properties.get("persistent").and_then(serde_json::Value::as_bool);
                    let restored = self.topics[slot as usize].stored.as_ref().is_some_and(|s| s.restored);
                    // What a file holds under a name that the robot does not keep in the file was a stranger's.
                    if !(restored && persistent == Some(true)) {
                        self.drop_value(slot);
                    }
                }
                // Owned first: an update may clear what kept the topic alive. A stranger's properties go with its value.
                let topic = &mut self.topics[slot as usize];
                topic.owner = Owner::Robot;
                let mut update = properties.clone();
                for key in topic.properties.keys().filter(|k| !properties.contains_key(*k)) {
                    update.insert(key.clone(), serde_json::Value::Null);
                }
                if update.iter().any(|(k, v)| topic.properties.get(k) != Some(v)) {
                    self.update_properties(slot, &update, None);
                }
                slot
            }
        };
        let handle = LocalTopic(self.local.len() as u32);
        self.local.push(LocalEntry { slot, live: true });
        let topic = &mut self.topics[slot as usize];
        topic.owner = Owner::Robot;
        topic.local = handle.0;
        let meta = topic.pub_meta;
        self.touch_meta(meta);
        self.touch_meta(self.server_pub_meta);
        self.settle_metas();
        Ok(handle)
    }

    /// The robot no longer publishes the topic; it stays while clients publish it or its properties keep it.
    pub fn unpublish_local(&mut self, topic: LocalTopic) {
        let Some(entry) = self.local.get_mut(topic.index()).filter(|e| e.live) else { return };
        entry.live = false;
        let slot = entry.slot;
        let found = &mut self.topics[slot as usize];
        found.owner = Owner::Clients;
        let meta = found.pub_meta;
        self.touch_meta(meta);
        self.touch_meta(self.server_pub_meta);
        self.delete_if_unkept(slot);
        self.settle_metas();
    }

    /// Changes properties of a topic of the robot's; null deletes a key.
    pub fn set_local_properties(&mut self, topic: LocalTopic, update: &Properties) {
        if let Some(entry) = self.local.get(topic.index()).filter(|e| e.live) {
            let slot = entry.slot;
            self.update_properties(slot, update, None);
            self.settle_metas();
        }
    }

    /// Sets a topic's value. No allocation once the topic has held a value of that length.
    ///
    /// A value of the wrong family, or above the message limit, or for a topic that is gone is dropped and counted.
    pub fn set_local(&mut self, topic: LocalTopic, time: Micros, value: ValueRef<'_>) {
        let code = wire::code_of(value.family());
        if wire::size_bound(value) > self.limits.message_bytes.saturating_sub(32) {
            self.stats.too_large += 1;
            return;
        }
        self.set_local_with(topic, time, code, |out| wire::write_value(out, value));
    }

    /// Sets a topic's value from its wire form, as [`Server::set_local`].
    pub fn set_local_encoded(&mut self, topic: LocalTopic, time: Micros, code: u8, value: &[u8]) {
        if value.len() > self.limits.message_bytes.saturating_sub(32) {
            self.stats.too_large += 1;
            return;
        }
        self.set_local_with(topic, time, code, |out| out.extend_from_slice(value));
    }

    fn set_local_with(
        &mut self,
        topic: LocalTopic,
        time: Micros,
        code: u8,
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        let entry = self.local.get(topic.index()).filter(|e| e.live);
        let Some(slot) = entry.map(|e| e.slot).filter(|s| self.topics[*s as usize].code == code) else {
            self.stats.local_refused += 1;
            return;
        };
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        wire::write_front(&mut scratch, i64::from(self.topics[slot as usize].id), time, code);
        write(&mut scratch);
        self.deliver(&Delivery { slot, time, bytes: &scratch, except: None, force: true });
        self.scratch = scratch;
        self.scratch.shrink_to(64 << 10);
    }
}
