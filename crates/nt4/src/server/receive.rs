//! What a client sends.

use fieldlab_base::{ClientId, Micros};
use fieldlab_values::DataType;

use super::topics::{Delivery, Owner};
use super::{Server, at};
use crate::control::{self, ClientMessage, Properties};
use crate::error::Close;
use crate::msgpack::{Fault, Reader};
use crate::wire;

/// Topics that the control messages of one frame may visit before the client is closed. A dashboard that subscribes
/// 500 times over 5000 topics stays below it; it bounds the time that one frame can take.
const WORK_PER_FRAME: u64 = 4_000_000;

impl Server {
    /// A text message has arrived. Bad items are skipped and counted.
    ///
    /// # Errors
    /// The connection must be closed: the message is over the size limit or asks for unreasonable work.
    pub fn receive_text(&mut self, client: ClientId, text: &str, now: Micros) -> Result<(), Close> {
        self.see(now);
        if text.len() > self.limits.message_bytes {
            return Err(Close::too_big());
        }
        self.work = 0;
        let mut bad = 0;
        let read = control::items(text, |item| {
            match ClientMessage::parse(&item) {
                Ok(message) => self.control(client, message),
                Err(_) => bad += 1,
            }
            self.work <= WORK_PER_FRAME
        });
        self.stats.bad_messages += bad + u64::from(read.is_err());
        self.settle_work()
    }

    /// The messages of one text message have arrived, read by somebody who stands between client and server and let these
    /// pass ([`crate::inspect`]).
    ///
    /// # Errors
    /// The connection must be closed: they ask for unreasonable work.
    pub fn receive_messages(
        &mut self,
        client: ClientId,
        messages: impl IntoIterator<Item = ClientMessage>,
        now: Micros,
    ) -> Result<(), Close> {
        self.see(now);
        self.work = 0;
        for message in messages {
            self.control(client, message);
            if self.work > WORK_PER_FRAME {
                break;
            }
        }
        self.settle_work()
    }

    fn settle_work(&mut self) -> Result<(), Close> {
        self.settle_metas();
        if self.work > WORK_PER_FRAME {
            return Err(Close::policy("too many topics asked for in one message"));
        }
        Ok(())
    }

    fn control(&mut self, client: ClientId, message: ClientMessage) {
        match message {
            ClientMessage::Publish { name, type_name, pubuid, properties } => {
                self.publish(client, &name, &type_name, pubuid, properties);
            }
            ClientMessage::Unpublish { pubuid } => self.unpublish(client, pubuid),
            ClientMessage::SetProperties { name, update } => self.set_properties(client, &name, &update),
            ClientMessage::Subscribe { topics, subuid, options } => {
                self.subscribe(client, subuid, topics, options);
            }
            ClientMessage::Unsubscribe { subuid } => self.unsubscribe(client, subuid),
        }
        self.work += 1;
    }

    /// Creates or joins a topic and always answers, whatever the client was told before.
    fn publish(
        &mut self,
        client: ClientId,
        name: &str,
        type_name: &str,
        pubuid: i32,
        properties: Properties,
    ) {
        let Some(me) = self.slot_of(client) else { return };
        let Some(connection) = at(&mut self.clients, me) else { return };
        let before = connection.pubs.get(&pubuid).copied();
        let full = before.is_none() && connection.pubs.len() >= self.limits.publishers;
        let found = self.by_name.get(name).copied();
        let barred = found.is_none() && self.reserved.iter().any(|r| name.starts_with(r.as_str()));
        let size: usize = properties.iter().map(|(k, v)| k.len() + v.to_string().len()).sum();
        if full || barred || name.starts_with('$') || size > self.limits.properties_bytes {
            self.stats.refused += 1;
            return;
        }
        let slot = match found {
            Some(slot) => slot,
            None => match self.create(name, DataType::from_nt(type_name), properties) {
                Ok(slot) => slot,
                Err(_) => {
                    self.stats.refused += 1;
                    return;
                }
            },
        };
        if before != Some(slot) {
            // Held before the old one is let go, so that a publisher that moves cannot delete what it moves to.
            self.topics[slot as usize].publishers += 1;
            if before.is_some() {
                self.unpublish(client, pubuid);
            }
            if let Some(connection) = at(&mut self.clients, me) {
                connection.pubs.insert(pubuid, slot);
                connection.state(slot).pubs.push(pubuid);
            }
            if self.topics[slot as usize].persistent && found.is_none() {
                self.persistent_changes += 1;
            }
            self.touch_publisher(me, slot);
        }
        if let Some(connection) = at(&mut self.clients, me) {
            connection.announce(slot, &self.topics[slot as usize], Some(pubuid));
            super::outbound::wake(connection, &mut self.wakes);
        }
    }

    fn unpublish(&mut self, client: ClientId, pubuid: i32) {
        let Some(me) = self.slot_of(client) else { return };
        let Some(connection) = at(&mut self.clients, me) else { return };
        let Some(slot) = connection.pubs.remove(&pubuid) else { return };
        connection.state(slot).pubs.retain(|p| *p != pubuid);
        self.touch_publisher(me, slot);
        self.lose_publisher(slot);
    }

    fn set_properties(&mut self, client: ClientId, name: &str, update: &Properties) {
        let Some(me) = self.slot_of(client) else { return };
        // A topic that nobody published has no properties; a metatopic's are the server's.
        let Some(slot) = self.by_name.get(name).copied() else { return };
        if self.topics[slot as usize].meta.is_some() {
            return;
        }
        if self.open_to_clients(slot) {
            self.update_properties(slot, update, Some(me));
        } else {
            self.stats.owned_ignored += u64::from(!update.is_empty());
            if let Some(connection) = at(&mut self.clients, me) {
                connection.out.push_text(&control::properties(name, &Properties::new(), true));
                super::outbound::wake(connection, &mut self.wakes);
            }
        }
    }

    /// A binary message has arrived: values and time synchronisation, one after another.
    ///
    /// A message that cannot be used is skipped and counted as long as its end is known.
    ///
    /// # Errors
    /// The connection must be closed: the message is over the size limit, or where its parts end is not known.
    pub fn receive_binary(&mut self, client: ClientId, bytes: &[u8], now: Micros) -> Result<(), Close> {
        self.see(now);
        if bytes.len() > self.limits.message_bytes {
            return Err(Close::too_big());
        }
        let Some(me) = self.slot_of(client) else { return Ok(()) };
        let mut reader = Reader::new(bytes);
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut outcome = Ok(());
        while !reader.is_empty() {
            let start = reader.position();
            scratch.clear();
            if self.one_value(me, bytes, &mut reader, &mut scratch, now).is_err() {
                self.stats.bad_messages += 1;
                reader.seek(start);
                if reader.skip().is_err() {
                    outcome = Err(Close::framing("truncated"));
                    break;
                }
            }
        }
        self.scratch = scratch;
        self.scratch.shrink_to(64 << 10);
        outcome
    }

    fn one_value(
        &mut self,
        me: u32,
        frame: &[u8],
        reader: &mut Reader<'_>,
        scratch: &mut Vec<u8>,
        now: Micros,
    ) -> Result<(), Fault> {
        let front = wire::read_front(reader)?;
        if front.id == wire::RTT_ID {
            return self.answer_rtt(me, frame, reader, front.code, scratch, now);
        }
        let Some(connection) = at(&mut self.clients, me) else { return reader.skip() };
        let found = i32::try_from(front.id).ok().and_then(|uid| connection.pubs.get(&uid)).copied();
        let Some(slot) = found else {
            self.stats.unknown_ignored += 1;
            return reader.skip();
        };
        let topic = &self.topics[slot as usize];
        let family = wire::family_of(front.code).ok_or(Fault::Kind)?;
        match topic.owner {
            Owner::Robot | Owner::Server => {
                self.stats.owned_ignored += 1;
                return reader.skip();
            }
            Owner::Input(input) => {
                return self.operator_write(me, slot, input, family, reader, front.time, now);
            }
            Owner::Clients => {}
        }
        if i64::from(topic.code) != front.code {
            self.stats.type_ignored += 1;
            return reader.skip();
        }
        wire::write_front(scratch, i64::from(topic.id), front.time, topic.code);
        wire::transcode(reader, family, scratch)?;
        if scratch.len() > self.limits.message_bytes {
            self.stats.too_large += 1;
            return Ok(());
        }
        self.stats.values_in += 1;
        self.deliver(&Delivery { slot, time: front.time, bytes: scratch, except: Some(me), force: false });
        Ok(())
    }

    /// Answers outside the queue, with the value as it came: peers send integers under the number type of doubles.
    fn answer_rtt(
        &mut self,
        me: u32,
        frame: &[u8],
        reader: &mut Reader<'_>,
        code: i64,
        scratch: &mut Vec<u8>,
        now: Micros,
    ) -> Result<(), Fault> {
        let code = u8::try_from(code).ok().filter(|c| *c < 0x80).ok_or(Fault::Kind)?;
        let from = reader.position();
        reader.skip()?;
        wire::write_front(scratch, wire::RTT_ID, now, code);
        scratch.extend_from_slice(&frame[from..reader.position()]);
        if let Some(connection) = at(&mut self.clients, me) {
            if connection.out.push_urgent(scratch) {
                super::outbound::wake(connection, &mut self.wakes);
            } else {
                self.stats.refused += 1;
            }
        }
        Ok(())
    }
}

/// Answers a message on a socket that only synchronises time: every well-formed time message in `frame` is answered
/// into `out`, everything else ignored.
pub fn answer_time(frame: &[u8], now: Micros, out: &mut Vec<u8>) {
    let mut reader = Reader::new(frame);
    while !reader.is_empty() {
        let start = reader.position();
        let front = wire::read_front(&mut reader);
        let from = reader.position();
        reader.seek(start);
        if reader.skip().is_err() {
            return;
        }
        if let Ok(front) = front
            && front.id == wire::RTT_ID
            && let Ok(code) = u8::try_from(front.code)
            && code < 0x80
        {
            wire::write_front(out, wire::RTT_ID, now, code);
            out.extend_from_slice(&frame[from..reader.position()]);
        }
    }
}
