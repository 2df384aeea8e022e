//! A robot's server, a console in front of it with a clock that a test can move, and viewers on raw sockets.
#![allow(dead_code, reason = "each test target uses its own part")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use fieldlab_base::{Micros, OperatorSample};
use fieldlab_console::{Console, ConsoleConfig};
use fieldlab_nt4::Properties;
use fieldlab_nt4::server::{InputKind, Server, ServerConfig};
use fieldlab_nt4_net::{Clock, Hub, NetServer, NetServerConfig};
use fieldlab_values::{DataType, Value, ValueRef};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Message, WebSocket, client::client_with_config};

pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
pub(crate) const V41: &str = "v4.1.networktables.first.wpi.edu";
pub(crate) const ROOT: &str = "/Catalyst/Tuning/FieldLab";
/// Ahead of the console's clock.
pub(crate) const ROBOT_AHEAD: i64 = 500_000_000;

/// Waits until `found` answers something; panics when it takes too long.
#[track_caller]
pub(crate) fn until<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "not seen in time: {what}");
        std::thread::yield_now();
    }
}

pub(crate) struct Robot {
    pub(crate) hub: Hub,
    pub(crate) server: Option<NetServer>,
    pub(crate) addr: SocketAddr,
}

fn clock_from(began: i64) -> Clock {
    let started = Instant::now();
    Arc::new(move || Micros(began + started.elapsed().as_micros() as i64))
}

impl Robot {
    /// With the usual inputs, one topic of each kind that matters here, and no viewers.
    pub(crate) fn new() -> Self {
        Self::on(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
    }

    pub(crate) fn on(addr: SocketAddr) -> Self {
        Self::with_clock(addr, clock_from(ROBOT_AHEAD))
    }

    /// The robot that was there before: its clock begins anew, far behind what it was.
    pub(crate) fn rebooted(addr: SocketAddr) -> Self {
        Self::with_clock(addr, clock_from(0))
    }

    /// Switches the robot off. What is answered keeps its port, so that no server of another test comes to stand there.
    pub(crate) fn switch_off(&mut self) -> TcpListener {
        self.server = None;
        TcpListener::bind(self.addr).unwrap()
    }

    fn with_clock(addr: SocketAddr, clock: Clock) -> Self {
        let hub = Hub::new(Server::new(ServerConfig::default()).unwrap());
        hub.with(|server| {
            for name in ["Value", "Advance", "SameAgain", "Redo", "Skip", "Answers/wheel-radius/tape"] {
                server
                    .declare_input(&format!("{ROOT}/{name}"), InputKind::Number, &Value::Double(0.0))
                    .unwrap();
            }
            server.declare_input(&format!("{ROOT}/SkipReason"), InputKind::Text, &Value::from("")).unwrap();
            let speed = server.publish_local("/robot/speed", &DataType::Double, &Properties::new()).unwrap();
            server.set_local(speed, Micros(7), ValueRef::Double(1.5));
        });
        let server = NetServer::bind(hub.clone(), NetServerConfig::new(addr, clock)).unwrap();
        let addr = server.local_addr();
        Self { hub, server: Some(server), addr }
    }

    pub(crate) fn samples(&self) -> Vec<OperatorSample> {
        let mut samples = Vec::new();
        self.hub.with(|server| server.drain_inputs(&mut samples));
        samples
    }

    pub(crate) fn publish(&self, name: &str, value: &Value) {
        self.hub.with(|server| {
            let topic = server.publish_local(name, &value.data_type(), &Properties::new()).unwrap();
            server.set_local(topic, Micros(9), value.as_ref());
        });
    }

    pub(crate) fn has_client(&self) -> bool {
        self.hub.with(|server| server.client_names().any(|name| name.starts_with("fieldlab-console@")))
    }
}

/// A console and its clock.
pub(crate) struct Stage {
    pub(crate) console: Console,
    jump: Arc<AtomicI64>,
}

impl Stage {
    pub(crate) fn watching(addr: SocketAddr) -> Self {
        Self::with(addr, |_| ())
    }

    pub(crate) fn with(addr: SocketAddr, change: impl FnOnce(&mut ConsoleConfig)) -> Self {
        let jump = Arc::new(AtomicI64::new(0));
        let (started, jumped) = (Instant::now(), jump.clone());
        let clock: Clock =
            Arc::new(move || Micros(started.elapsed().as_micros() as i64 + jumped.load(Ordering::SeqCst)));
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let mut config = ConsoleConfig::new(listen, vec![addr.to_string()], clock);
        change(&mut config);
        Self { console: Console::start(config).unwrap(), jump }
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.console.local_addr()
    }

    /// Moves the console's clock past the three seconds in which a new viewer writes nothing.
    pub(crate) fn settle(&self) {
        self.jump.fetch_add(3_100_000, Ordering::SeqCst);
    }

    /// A viewer that has seen the robot's inputs come through.
    pub(crate) fn viewer(&self, name: &str) -> Viewer {
        let mut viewer = Viewer::connect(self.addr(), name);
        viewer.text(r#"[{"method":"subscribe","params":{"topics":[""],"subuid":1,"options":{"prefix":true,"periodic":0.01}}}]"#);
        viewer.read_until(|text| text.contains(&format!("{ROOT}/SkipReason\"")));
        viewer
    }

    /// Plain HTTP: the whole answer.
    pub(crate) fn http(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.addr()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}

pub(crate) struct Viewer {
    socket: WebSocket<TcpStream>,
    rounds: i64,
    /// Everything that came as text.
    pub(crate) heard: String,
    /// Every binary message but answers to time requests.
    pub(crate) values: Vec<u8>,
}

impl Viewer {
    pub(crate) fn connect(addr: SocketAddr, name: &str) -> Self {
        Self::try_connect(addr, name, Some(V41), None).unwrap()
    }

    pub(crate) fn try_connect(
        addr: SocketAddr,
        name: &str,
        protocol: Option<&str>,
        origin: Option<&str>,
    ) -> Result<Self, String> {
        let stream = TcpStream::connect(addr).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut request = format!("ws://{addr}/nt/{name}").into_client_request().unwrap();
        if let Some(protocol) = protocol {
            request.headers_mut().insert("Sec-WebSocket-Protocol", HeaderValue::from_str(protocol).unwrap());
        }
        if let Some(origin) = origin {
            request.headers_mut().insert("Origin", HeaderValue::from_str(origin).unwrap());
        }
        let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
        match client_with_config(request, stream, Some(config)) {
            Ok((socket, _)) => Ok(Self { socket, rounds: 0, heard: String::new(), values: Vec::new() }),
            Err(error) => Err(error.to_string()),
        }
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.socket.send(Message::text(text.to_owned())).unwrap();
    }

    pub(crate) fn binary(&mut self, bytes: &[u8]) {
        self.socket.send(Message::binary(bytes.to_vec())).unwrap();
    }

    /// Sends what the console may stop reading in the middle of.
    pub(crate) fn binary_while_read(&mut self, bytes: &[u8]) {
        self.socket.send(Message::binary(bytes.to_vec())).ok();
    }

    pub(crate) fn publish(&mut self, name: &str, kind: &str, uid: i32) {
        self.text(&format!(
            r#"[{{"method":"publish","params":{{"name":"{name}","type":"{kind}","pubuid":{uid},"properties":{{}}}}}}]"#
        ));
    }

    /// A double for a publisher.
    pub(crate) fn double(&mut self, uid: u8, value: f64) {
        let mut bytes = vec![0x94, uid, 0, 1, 0xcb];
        bytes.extend(value.to_be_bytes());
        self.binary(&bytes);
    }

    /// Waits until the console has dealt with all that was sent: its answers to time requests come in order. Answers its
    /// time.
    pub(crate) fn barrier(&mut self) -> i64 {
        self.rounds += 1;
        let mut ask = vec![0x94, 0xff, 0, 2, 0xd3];
        ask.extend((1_000_000 + self.rounds).to_be_bytes());
        self.binary(&ask);
        loop {
            if let Some((answer, time)) = self.read_one()
                && answer == 1_000_000 + self.rounds
            {
                return time;
            }
        }
    }

    /// Reads one message; the number and time of an answer to a time request.
    fn read_one(&mut self) -> Option<(i64, i64)> {
        match self.socket.read().unwrap() {
            Message::Text(text) => self.heard.push_str(&text),
            Message::Binary(bytes) if bytes.starts_with(&[0x94, 0xff]) => {
                let mut at = 2;
                let time = int(&bytes, &mut at);
                at += 1;
                return Some((int(&bytes, &mut at), time));
            }
            Message::Binary(bytes) => self.values.extend_from_slice(&bytes),
            _ => {}
        }
        None
    }

    pub(crate) fn read_until(&mut self, found: impl Fn(&str) -> bool) {
        let began = Instant::now();
        while !found(&self.heard) {
            assert!(began.elapsed() < PATIENCE, "not heard in time; heard {}", self.heard);
            self.read_one();
        }
    }

    /// Reads until these bytes have come as part of a value.
    pub(crate) fn read_until_bytes(&mut self, wanted: &[u8]) {
        let began = Instant::now();
        let mut looked = 0;
        while !self.values[looked..].windows(wanted.len()).any(|part| part == wanted) {
            assert!(began.elapsed() < PATIENCE, "not seen in time");
            looked = self.values.len().saturating_sub(wanted.len());
            self.read_one();
        }
    }

    /// Reads until the connection ends; the close code when one was given.
    pub(crate) fn read_to_end(&mut self) -> Option<u16> {
        loop {
            match self.socket.read() {
                Ok(Message::Close(Some(frame))) => return Some(u16::from(frame.code)),
                Ok(_) => {}
                Err(_) => return None,
            }
        }
    }
}

/// A MessagePack integer.
fn int(bytes: &[u8], at: &mut usize) -> i64 {
    let first = bytes[*at];
    *at += 1;
    let width = match first {
        0..=0x7f => return i64::from(first),
        0xcc | 0xd0 => 1,
        0xcd | 0xd1 => 2,
        0xce | 0xd2 => 4,
        _ => 8,
    };
    let number = bytes[*at..*at + width].iter().fold(0_i64, |sum, byte| sum << 8 | i64::from(*byte));
    *at += width;
    number
}

impl Viewer {
    /// One round to the console; whether a text has been heard by then.
    pub(crate) fn barrier_hears(&mut self, text: &str) -> Option<()> {
        self.barrier();
        self.heard.contains(text).then_some(())
    }
}

impl Viewer {
    /// Whether the next message is anything but the end.
    pub(crate) fn is_alive(&mut self) -> bool {
        !matches!(self.socket.read(), Ok(Message::Close(_)) | Err(_))
    }
}
