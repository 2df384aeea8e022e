//! A server core and peers that speak raw JSON and MessagePack made by another implementation (`rmpv`).

#![allow(dead_code, reason = "each test file uses its part")]

use fieldlab_base::{ClientId, Micros};
use fieldlab_nt4::Close;
use fieldlab_nt4::server::{ConnectInfo, Frame, Server, ServerConfig, Version};
use rmpv::Value as Pack;
use serde_json::{Value as Json, json};

/// What a peer received.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Got {
    /// name, id, type, properties, pubuid
    Announce(String, i64, String, Json, Option<i64>),
    /// name, id
    Unannounce(String, i64),
    /// name, update, ack
    Properties(String, Json, bool),
    /// id, time, type number, value
    Value(i64, i64, i64, Pack),
}

pub(crate) struct Net {
    pub(crate) server: Server,
    pub(crate) now: Micros,
}

impl Net {
    pub(crate) fn new() -> Self {
        Self::with(ServerConfig::default())
    }

    pub(crate) fn with(config: ServerConfig) -> Self {
        Self { server: Server::new(config).unwrap(), now: Micros(10_000_000) }
    }

    pub(crate) fn connect(&mut self, name: &str) -> ClientId {
        let info = ConnectInfo {
            name: name.to_owned(),
            address: "10.0.0.7:1234".to_owned(),
            version: Version::V41,
            immediate: false,
        };
        self.server.connect(&info, self.now).unwrap()
    }

    pub(crate) fn text(&mut self, from: ClientId, items: Json) {
        self.server.receive_text(from, &items.to_string(), self.now).unwrap();
    }

    pub(crate) fn publish(&mut self, from: ClientId, name: &str, kind: &str, pubuid: i64) {
        self.text(
            from,
            json!([{"method": "publish",
            "params": {"name": name, "type": kind, "pubuid": pubuid, "properties": {}}}]),
        );
    }

    pub(crate) fn unpublish(&mut self, from: ClientId, pubuid: i64) {
        self.text(from, json!([{"method": "unpublish", "params": {"pubuid": pubuid}}]));
    }

    pub(crate) fn subscribe(&mut self, from: ClientId, subuid: i64, topics: &[&str], options: Json) {
        self.text(
            from,
            json!([{"method": "subscribe",
            "params": {"topics": topics, "subuid": subuid, "options": options}}]),
        );
    }

    pub(crate) fn unsubscribe(&mut self, from: ClientId, subuid: i64) {
        self.text(from, json!([{"method": "unsubscribe", "params": {"subuid": subuid}}]));
    }

    pub(crate) fn raw(&mut self, from: ClientId, value: Pack) -> Result<(), Close> {
        let mut bytes = Vec::new();
        rmpv::encode::write_value(&mut bytes, &value).unwrap();
        self.server.receive_binary(from, &bytes, self.now)
    }

    pub(crate) fn set(&mut self, from: ClientId, pubuid: i64, time: i64, code: i64, value: impl Into<Pack>) {
        self.raw(from, message(pubuid, time, code, value)).unwrap();
    }

    /// Everything that is due at this instant.
    pub(crate) fn read_now(&mut self, to: ClientId) -> Vec<Got> {
        let mut got = Vec::new();
        loop {
            let told = self.server.transmit(to, self.now, 64 << 10, |frame| unpack(frame, &mut got));
            if told.next.is_none_or(|next| next > self.now) {
                return got;
            }
        }
    }

    /// Everything that is due within the next second.
    pub(crate) fn read(&mut self, to: ClientId) -> Vec<Got> {
        let mut got = self.read_now(to);
        self.now += Micros(1_000_000);
        got.extend(self.read_now(to));
        got
    }

    pub(crate) fn values(&mut self, to: ClientId) -> Vec<Pack> {
        self.read(to)
            .into_iter()
            .filter_map(|g| if let Got::Value(_, _, _, value) = g { Some(value) } else { None })
            .collect()
    }
}

pub(crate) fn message(id: i64, time: i64, code: i64, value: impl Into<Pack>) -> Pack {
    Pack::Array(vec![id.into(), time.into(), code.into(), value.into()])
}

fn unpack(frame: Frame<'_>, got: &mut Vec<Got>) {
    match frame {
        Frame::Text(text) => {
            let Json::Array(items) = serde_json::from_str(text).unwrap() else { panic!("no array: {text}") };
            for item in items {
                let p = &item["params"];
                let name = p["name"].as_str().unwrap().to_owned();
                got.push(match item["method"].as_str().unwrap() {
                    "announce" => Got::Announce(
                        name,
                        p["id"].as_i64().unwrap(),
                        p["type"].as_str().unwrap().to_owned(),
                        p["properties"].clone(),
                        p.get("pubuid").map(|u| u.as_i64().unwrap()),
                    ),
                    "unannounce" => Got::Unannounce(name, p["id"].as_i64().unwrap()),
                    "properties" => {
                        Got::Properties(name, p["update"].clone(), p.get("ack").is_some_and(|a| a == true))
                    }
                    other => panic!("{other}"),
                });
            }
        }
        Frame::Binary(mut bytes) => {
            while !bytes.is_empty() {
                let value = rmpv::decode::read_value(&mut bytes).unwrap();
                let parts = value.as_array().unwrap();
                assert_eq!(parts.len(), 4, "{value}");
                let int = |i: usize| parts[i].as_i64().unwrap();
                got.push(Got::Value(int(0), int(1), int(2), parts[3].clone()));
            }
        }
    }
}

/// The id under which a topic was announced.
pub(crate) fn announced(got: &[Got], name: &str) -> Option<i64> {
    got.iter().find_map(|g| match g {
        Got::Announce(of, id, ..) if of == name => Some(*id),
        _ => None,
    })
}
