//! Metatopics: what the server says about itself. Their values are made only when somebody subscribed to them.

use fieldlab_values::DataType;
use serde_json::Value as Json;

use super::topics::{Delivery, Owner};
use super::{Server, at};
use crate::control::{Properties, SubscribeOptions};
use crate::msgpack::{write_array, write_binary, write_f32, write_int, write_json, write_map, write_text};
use crate::wire;

/// Which metatopic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meta {
    Clients,
    ServerSub,
    ServerPub,
    ClientSub(u32),
    ClientPub(u32),
    /// Subscribers of the topic in a slot.
    Sub(u32),
    /// Publishers of the topic in a slot.
    Pub(u32),
}

impl Server {
    pub(super) fn create_meta(&mut self, name: &str, meta: Meta) -> u32 {
        let mut properties = Properties::new();
        properties.insert("retained".to_owned(), Json::Bool(true));
        let slot = self.new_slot(name, DataType::from_nt("msgpack"), properties, Some(meta));
        self.adopt(slot);
        self.touch_meta(slot);
        slot
    }

    /// The metatopic's content has changed.
    pub(super) fn touch_meta(&mut self, slot: u32) {
        let topic = &mut self.topics[slot as usize];
        if topic.id == 0 || topic.meta.is_none() {
            return;
        }
        topic.meta_stale = true;
        if !topic.subscribers.is_empty() && !topic.meta_queued {
            topic.meta_queued = true;
            self.stale_metas.push(slot);
        }
    }

    /// Sends the metatopics that changed, once each, after a call has done all its changes.
    pub(super) fn settle_metas(&mut self) {
        while let Some(slot) = self.stale_metas.pop() {
            let topic = &mut self.topics[slot as usize];
            topic.meta_queued = false;
            if topic.meta_stale {
                self.rebuild_meta(slot);
            }
        }
    }

    pub(super) fn rebuild_meta(&mut self, slot: u32) {
        let topic = &mut self.topics[slot as usize];
        let Some(meta) = topic.meta.filter(|_| topic.id != 0) else { return };
        topic.meta_stale = false;
        let (id, code) = (topic.id, topic.code);
        let mut content = Vec::new();
        match meta {
            Meta::Clients => self.write_clients(&mut content),
            Meta::ServerPub => self.write_server_pub(&mut content),
            Meta::ServerSub => self.write_server_sub(&mut content),
            Meta::ClientSub(client) => self.write_client_sub(client, &mut content),
            Meta::ClientPub(client) => self.write_client_pub(client, &mut content),
            Meta::Sub(topic) => self.write_subscribers(topic, &mut content),
            Meta::Pub(topic) => self.write_publishers(topic, &mut content),
        }
        let mut bytes = Vec::with_capacity(content.len() + 24);
        wire::write_front(&mut bytes, i64::from(id), self.now, code);
        write_binary(&mut bytes, &content);
        if bytes.len() <= self.limits.message_bytes {
            self.deliver(&Delivery { slot, time: self.now, bytes: &bytes, except: None, force: true });
        } else {
            self.stats.too_large += 1;
        }
    }

    fn write_clients(&self, out: &mut Vec<u8>) {
        write_array(out, self.clients.iter().flatten().count());
        for client in self.clients.iter().flatten() {
            write_map(out, 3);
            key(out, "id");
            write_text(out, client.shown.as_bytes());
            key(out, "conn");
            write_text(out, client.address.as_bytes());
            key(out, "ver");
            write_int(out, client.version.number());
        }
    }

    fn write_server_pub(&self, out: &mut Vec<u8>) {
        let live = || self.local.iter().enumerate().filter(|(_, l)| l.live);
        write_array(out, live().count());
        for (index, entry) in live() {
            write_map(out, 2);
            key(out, "uid");
            write_int(out, index as i64);
            key(out, "topic");
            write_text(out, self.topics[entry.slot as usize].name.as_bytes());
        }
    }

    /// The server itself subscribes to the declared inputs.
    fn write_server_sub(&self, out: &mut Vec<u8>) {
        let inputs: Vec<_> = self.inputs.declared().collect();
        write_array(out, inputs.len());
        for (index, slot) in inputs {
            write_map(out, 3);
            key(out, "uid");
            write_int(out, i64::from(index));
            key(out, "topics");
            write_array(out, 1);
            write_text(out, self.topics[slot as usize].name.as_bytes());
            key(out, "options");
            write_map(out, 0);
        }
    }

    fn write_client_sub(&self, client: u32, out: &mut Vec<u8>) {
        let Some(Some(client)) = self.clients.get(client as usize) else { return write_array(out, 0) };
        write_array(out, client.subs.len());
        for (uid, sub) in &client.subs {
            write_map(out, 3);
            key(out, "uid");
            write_int(out, i64::from(*uid));
            key(out, "topics");
            write_array(out, sub.patterns.len());
            for pattern in &sub.patterns {
                write_text(out, pattern.as_bytes());
            }
            key(out, "options");
            options(out, &sub.options);
        }
    }

    fn write_client_pub(&self, client: u32, out: &mut Vec<u8>) {
        let Some(Some(client)) = self.clients.get(client as usize) else { return write_array(out, 0) };
        write_array(out, client.pubs.len());
        for (uid, slot) in &client.pubs {
            write_map(out, 2);
            key(out, "uid");
            write_int(out, i64::from(*uid));
            key(out, "topic");
            write_text(out, self.topics[*slot as usize].name.as_bytes());
        }
    }

    fn write_subscribers(&self, topic: u32, out: &mut Vec<u8>) {
        let input = match self.topics[topic as usize].owner {
            Owner::Input(input) => Some(input),
            _ => None,
        };
        let mut rows = usize::from(input.is_some());
        let count = self.clients.iter().flatten().filter_map(|c| c.states.get(topic as usize));
        rows += count.map(|s| s.subs.len()).sum::<usize>();
        write_array(out, rows);
        if let Some(input) = input {
            write_map(out, 3);
            key(out, "client");
            write_text(out, b"");
            key(out, "subuid");
            write_int(out, i64::from(input.0));
            key(out, "options");
            write_map(out, 0);
        }
        for client in self.clients.iter().flatten() {
            let Some(state) = client.states.get(topic as usize) else { continue };
            for uid in &state.subs {
                write_map(out, 3);
                key(out, "client");
                write_text(out, client.shown.as_bytes());
                key(out, "subuid");
                write_int(out, i64::from(*uid));
                key(out, "options");
                match client.subs.get(uid) {
                    Some(sub) => options(out, &sub.options),
                    None => write_map(out, 0),
                }
            }
        }
    }

    fn write_publishers(&self, topic: u32, out: &mut Vec<u8>) {
        let found = &self.topics[topic as usize];
        let local = matches!(found.owner, Owner::Robot | Owner::Input(_));
        let count = self.clients.iter().flatten().filter_map(|c| c.states.get(topic as usize));
        write_array(out, usize::from(local) + count.map(|s| s.pubs.len()).sum::<usize>());
        if local {
            write_map(out, 2);
            key(out, "client");
            write_text(out, b"");
            key(out, "pubuid");
            write_int(out, i64::from(found.local));
        }
        for client in self.clients.iter().flatten() {
            let Some(state) = client.states.get(topic as usize) else { continue };
            for uid in &state.pubs {
                write_map(out, 2);
                key(out, "client");
                write_text(out, client.shown.as_bytes());
                key(out, "pubuid");
                write_int(out, i64::from(*uid));
            }
        }
    }

    /// The metatopics of a connection's publishers and of a topic's.
    pub(super) fn touch_publisher(&mut self, client: u32, topic: u32) {
        if let Some(client) = at(&mut self.clients, client) {
            let meta = client.pub_meta;
            self.touch_meta(meta);
        }
        let meta = self.topics[topic as usize].pub_meta;
        self.touch_meta(meta);
    }
}

fn key(out: &mut Vec<u8>, name: &str) {
    write_text(out, name.as_bytes());
}

/// Options as official servers show them: only what differs from the defaults.
fn options(out: &mut Vec<u8>, options: &SubscribeOptions) {
    let flags = [("all", options.all), ("topicsonly", options.topics_only), ("prefix", options.prefix)];
    let period = options.period != SubscribeOptions::default().period;
    let set = flags.iter().filter(|(_, on)| *on).count();
    write_map(out, set + usize::from(period) + options.others.len());
    for (name, _) in flags.iter().filter(|(_, on)| *on) {
        key(out, name);
        out.push(0xc3);
    }
    if period {
        key(out, "periodic");
        write_f32(out, options.period.as_secs() as f32);
    }
    for (name, value) in &options.others {
        key(out, name);
        write_json(out, value, 8);
    }
}
