//! Peers as child processes, and what both sides of every case share.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use fieldlab_base::Micros;
use fieldlab_nt4::server::{Server, ServerConfig};
use fieldlab_nt4_net::{Clock, Hub, NetServer, NetServerConfig};
use fieldlab_values::Value;
use serde_json::{Value as Json, json};

/// How long anything may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(15);

/// The repository's folder of peers.
pub(crate) fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../interop/nt4")
}

/// The official library in a Python process, driven line by line.
pub(crate) struct Official {
    child: Child,
    stdin: ChildStdin,
    answers: Receiver<String>,
}

impl Official {
    pub(crate) fn start(peers: &Path) -> Self {
        let python = peers.join("venv/bin/python");
        let mut child = Command::new(&python)
            .arg(scripts().join("official.py"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("{}: {e}", python.display()));
        let stdin = child.stdin.take().unwrap();
        let stdout = child.stdout.take().unwrap();
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, stdin, answers }
    }

    /// One command; answers what the peer answered.
    pub(crate) fn call(&mut self, command: &Json) -> Json {
        writeln!(self.stdin, "{command}").unwrap();
        let line = self.answers.recv_timeout(PATIENCE).unwrap_or_else(|e| panic!("{command}: {e}"));
        let answer: Json = serde_json::from_str(&line).unwrap();
        assert!(answer.get("error").is_none(), "{command}: {answer}");
        answer["ok"].clone()
    }

    pub(crate) fn client(&mut self, port: u16, name: &str) {
        self.call(&json!({"do": "client", "port": port, "name": name}));
        self.connected();
    }

    pub(crate) fn connected(&mut self) {
        until("the official client is connected", || self.call(&json!({"do": "connected"})) == json!(true));
    }

    pub(crate) fn take(&mut self) -> Vec<Json> {
        let Json::Array(events) = self.call(&json!({"do": "take"})) else { panic!("no list") };
        events
    }

    /// Collects events into `into` until `done` says so of all so far.
    pub(crate) fn collect(&mut self, into: &mut Vec<Json>, what: &str, done: impl Fn(&[Json]) -> bool) {
        until(what, || {
            into.extend(self.take());
            done(into)
        });
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Official {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Asks again until it is so.
pub(crate) fn until(what: &str, mut so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(began.elapsed() < PATIENCE, "not in time: {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

pub(crate) fn clock() -> Clock {
    let start = Instant::now();
    Arc::new(move || Micros(5_000_000 + i64::try_from(start.elapsed().as_micros()).unwrap()))
}

/// A server of ours on a free port.
pub(crate) fn serve() -> (Hub, NetServer, u16) {
    serve_with(0, clock())
}

pub(crate) fn serve_with(port: u16, clock: Clock) -> (Hub, NetServer, u16) {
    let hub = Hub::new(Server::new(ServerConfig::default()).unwrap());
    let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let server = NetServer::bind(hub.clone(), NetServerConfig::new(addr, clock)).unwrap();
    let port = server.local_addr().port();
    (hub, server, port)
}

/// A port that was free a moment ago, for peers that cannot say which one they took.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

/// Every wire type: name, value, and the value as the official peer says it.
pub(crate) fn every_type() -> Vec<(&'static str, Value, Json)> {
    vec![
        ("boolean", Value::Boolean(true), json!(["boolean", true])),
        ("int", Value::Int(i64::MIN), json!(["int", i64::MIN])),
        ("float", Value::Float(0.5), json!(["float", 0.5])),
        ("double", Value::Double(f64::NEG_INFINITY), json!(["double", "-inf"])),
        ("string", Value::from("gr\u{fc}\u{df}\u{1F916}"), json!(["string", "gr\u{fc}\u{df}\u{1F916}"])),
        ("json", Value::from("{\"a\":1}"), json!(["string", "{\"a\":1}"])),
        ("raw", Value::Raw([0, 255, 7].as_slice().into()), json!(["raw", "AP8H"])),
        (
            "struct:Pose2d",
            Value::Raw([1; 24].as_slice().into()),
            json!(["raw", "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB"]),
        ),
        (
            "boolean[]",
            Value::BooleanArray([true, false].as_slice().into()),
            json!(["boolean[]", [true, false]]),
        ),
        ("int[]", Value::IntArray([1, i64::MAX, -1].as_slice().into()), json!(["int[]", [1, i64::MAX, -1]])),
        ("float[]", Value::FloatArray([0.5, -2.0].as_slice().into()), json!(["float[]", [0.5, -2.0]])),
        (
            "double[]",
            Value::DoubleArray([0.1, f64::INFINITY].as_slice().into()),
            json!(["double[]", [0.1, "inf"]]),
        ),
        (
            "string[]",
            Value::StringArray(["a".into(), "".into()].as_slice().into()),
            json!(["string[]", ["a", ""]]),
        ),
    ]
}

/// The values of one topic among events of the official peer.
pub(crate) fn values_of<'e>(events: &'e [Json], name: &str) -> Vec<&'e Json> {
    events.iter().filter(|e| e[0] == "value" && e[1] == name).map(|e| &e[2]).collect()
}
