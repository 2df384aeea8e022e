//! What a server sends.

use std::sync::Arc;

use fieldlab_base::Micros;
use fieldlab_values::DataType;

use super::{Client, Event, RemoteTopic};
use crate::control::{self, Properties, ServerMessage};
use crate::error::Close;
use crate::msgpack::{Fault, Reader};
use crate::wire;

impl Client {
    /// A text message has arrived. Bad items are skipped and counted.
    ///
    /// # Errors
    /// The connection must be closed: the message is over the size limit.
    pub fn receive_text(&mut self, text: &str) -> Result<(), Close> {
        if text.len() > self.limits.message_bytes {
            return Err(Close::too_big());
        }
        let mut bad = 0;
        let read = control::items(text, |item| {
            match ServerMessage::parse(&item) {
                Ok(ServerMessage::Announce { name, id, type_name, properties, .. }) => {
                    self.announced(&name, id, &type_name, properties);
                }
                Ok(ServerMessage::Unannounce { name, id }) => self.unannounced(&name, id),
                Ok(ServerMessage::Properties { name, update, .. }) => self.properties(&name, update),
                Err(_) => bad += 1,
            }
            true
        });
        self.stats.bad_messages += bad + u64::from(read.is_err());
        Ok(())
    }

    /// Ids are reused by some servers: a new announcement overwrites by id and by name.
    fn announced(&mut self, name: &str, id: i64, type_name: &str, properties: Properties) {
        let known = self.by_name.contains_key(name);
        if name.len() > self.limits.name_bytes || (!known && self.topics.len() >= 4 * self.limits.topics) {
            self.stats.topics_refused += 1;
            return;
        }
        let name: Arc<str> = name.into();
        if let Some(old) = self.topics.remove(&id)
            && old.name != name
        {
            self.by_name.remove(&old.name);
            self.latest.remove(&old.name);
        }
        if let Some(old_id) = self.by_name.insert(name.clone(), id)
            && old_id != id
        {
            self.topics.remove(&old_id);
            self.latest.remove(&name);
        }
        let topic = Arc::new(RemoteTopic { name, id, data_type: DataType::from_nt(type_name), properties });
        self.topics.insert(id, topic.clone());
        self.push_event(Event::Announced(topic));
    }

    fn unannounced(&mut self, name: &str, id: i64) {
        if self.topics.get(&id).is_some_and(|t| t.name.as_ref() == name)
            && let Some(topic) = self.topics.remove(&id)
        {
            self.by_name.remove(&topic.name);
            self.latest.remove(&topic.name);
            self.push_event(Event::Unannounced(topic.name.clone()));
        }
    }

    fn properties(&mut self, name: &str, update: Properties) {
        let Some(topic) = self.by_name.get(name).and_then(|id| self.topics.get_mut(id)) else { return };
        let changed = Arc::make_mut(topic);
        for (key, value) in &update {
            if value.is_null() {
                changed.properties.remove(key);
            } else {
                changed.properties.insert(key.clone(), value.clone());
            }
        }
        let name = changed.name.clone();
        self.push_event(Event::Properties { name, update });
    }

    /// A binary message has arrived at the local time `now`.
    ///
    /// # Errors
    /// The connection must be closed: the message is over the size limit, or where its parts end is not known.
    pub fn receive_binary(&mut self, bytes: &[u8], now: Micros) -> Result<(), Close> {
        if bytes.len() > self.limits.message_bytes {
            return Err(Close::too_big());
        }
        let mut reader = Reader::new(bytes);
        while !reader.is_empty() {
            let start = reader.position();
            if self.one_value(&mut reader, now).is_err() {
                self.stats.bad_messages += 1;
                reader.seek(start);
                reader.skip().map_err(|_| Close::framing("truncated"))?;
            }
        }
        Ok(())
    }

    fn one_value(&mut self, reader: &mut Reader<'_>, now: Micros) -> Result<(), Fault> {
        let front = wire::read_front(reader)?;
        if front.id == wire::RTT_ID {
            let sent = reader.number()?;
            self.answered(Micros(sent as i64), front.time, now);
            return Ok(());
        }
        let Some(topic) = self.topics.get(&front.id) else {
            self.stats.unknown_ids += 1;
            return reader.skip();
        };
        let family = wire::family_of(front.code).ok_or(Fault::Kind)?;
        let value = wire::read_value(reader, family)?;
        self.stats.values_in += 1;
        self.stats.type_mismatches += u64::from(topic.data_type.family() != family);
        let name = topic.name.clone();
        match self.latest.get_mut(&name) {
            Some(latest) => {
                if front.time >= latest.0 || latest.0 == Micros::ZERO {
                    *latest = (front.time, value.clone());
                }
            }
            None => {
                self.latest.insert(name.clone(), (front.time, value.clone()));
            }
        }
        self.push_event(Event::Value { name, time: front.time, received: now, value });
        Ok(())
    }

    fn answered(&mut self, sent: Micros, server: Micros, now: Micros) {
        let before = self.sync.best();
        if self.sync.answer(sent, server, now)
            && let Some(estimate) = self.sync.best()
        {
            let step = before.map(|b| estimate.offset - b.offset);
            self.push_event(Event::Clock { estimate, step });
        }
    }
}
