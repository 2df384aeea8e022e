//! A server with a robot's topic, an input and a watcher, for the two NetworkTables targets.
#![allow(dead_code, reason = "each of the two targets uses its own half")]

use fieldlab_base::{ClientId, Micros};
use fieldlab_nt4::client::{Client, ClientConfig};
use fieldlab_nt4::server::{ConnectInfo, Frame, InputKind, Server, ServerConfig, Version};
use fieldlab_nt4::{Properties, SubscribeOptions};
use fieldlab_values::{DataType, Value, ValueRef};

/// The robot's own topic and what it says for ever.
const OWNED: &str = "/Catalyst/FieldLab/State";
const STATE: &str = "IDLE";
const NOW: Micros = Micros(1_000_000);

/// Server, the hostile client's connection, and a watcher of ours with its connection.
pub(crate) struct Stage {
    server: Server,
    hostile: ClientId,
    watching: ClientId,
    watcher: Client,
}

impl Stage {
    /// Everything connected, nothing said yet.
    pub(crate) fn new() -> Self {
        let mut server = Server::new(ServerConfig::default()).expect("the default is a good config");
        let topic = server.publish_local(OWNED, &DataType::String, &Properties::new()).expect("a good name");
        server.set_local(topic, NOW, ValueRef::String(STATE));
        let seed = Value::Double(0.0);
        server
            .declare_input("/Catalyst/Tuning/FieldLab/Value", InputKind::Number, &seed)
            .expect("a good name");
        let mut connect = |name: &str| {
            let info = ConnectInfo {
                name: name.to_owned(),
                address: "127.0.0.1:1".to_owned(),
                version: Version::V41,
                immediate: true,
            };
            server.connect(&info, NOW).expect("two clients fit")
        };
        let (hostile, watching) = (connect("hostile"), connect("watcher"));
        let mut watcher = Client::new(ClientConfig::default()).expect("the default is a good config");
        watcher.connected(Version::V41);
        watcher.subscribe(&["", "$"], SubscribeOptions::prefix().all()).expect("a good pattern");
        let mut stage = Self { server, hostile, watching, watcher };
        stage.pump();
        stage
    }

    /// A text message from the hostile client; false when the server closed the connection.
    pub(crate) fn text(&mut self, text: &str) -> bool {
        self.server.receive_text(self.hostile, text, NOW).is_ok()
    }

    /// A binary message from the hostile client; false when the server closed the connection.
    pub(crate) fn binary(&mut self, bytes: &[u8]) -> bool {
        self.server.receive_binary(self.hostile, bytes, NOW).is_ok()
    }

    /// What the same bytes do to a client.
    pub(crate) fn watcher(&mut self) -> &mut Client {
        &mut self.watcher
    }

    /// Carries everything both ways until nothing is left. Our client must accept whatever our server sends.
    pub(crate) fn pump(&mut self) {
        for _ in 0..64 {
            let mut up = Vec::new();
            self.watcher.transmit(NOW, |frame| up.push(own(frame)));
            for message in &up {
                match message {
                    Message::Text(text) => self.server.receive_text(self.watching, text, NOW),
                    Message::Binary(bytes) => self.server.receive_binary(self.watching, bytes, NOW),
                }
                .expect("our server accepts what our client sends");
            }
            let mut down = Vec::new();
            self.server.transmit(self.watching, NOW, usize::MAX, |frame| down.push(own(frame)));
            for message in &down {
                match message {
                    Message::Text(text) => self.watcher.receive_text(text),
                    Message::Binary(bytes) => self.watcher.receive_binary(bytes, NOW),
                }
                .expect("our client accepts what our server sends");
            }
            if up.is_empty() && down.is_empty() {
                break;
            }
        }
        self.server.transmit(self.hostile, NOW, usize::MAX, |_| {});
        while self.watcher.poll_event().is_some() {}
    }

    /// Whatever was sent, the robot's topic says what the robot said, at the server and at the watcher.
    pub(crate) fn check(mut self) {
        self.pump();
        assert_eq!(self.server.value(OWNED), Some((NOW, Value::String(STATE.into()))));
        let seen = self.watcher.value(OWNED).map(|(_, value)| value.clone());
        assert_eq!(seen, Some(Value::String(STATE.into())));
        self.server.disconnect(self.hostile, NOW);
        self.pump();
        drop(self.server.persistent_json());
    }
}

enum Message {
    Text(String),
    Binary(Vec<u8>),
}

fn own(frame: Frame<'_>) -> Message {
    match frame {
        Frame::Text(text) => Message::Text(text.to_owned()),
        Frame::Binary(bytes) => Message::Binary(bytes.to_vec()),
    }
}
