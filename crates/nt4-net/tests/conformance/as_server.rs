//! Our server under the official client.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};

use fieldlab_base::{Micros, OperatorValue};
use fieldlab_nt4::Properties;
use fieldlab_nt4::server::InputKind;
use fieldlab_values::{DataType, Value, ValueRef};
use serde_json::json;

use crate::Case;
use crate::peer::{Official, clock, every_type, serve, serve_with, until, values_of};

pub(crate) const CASES: &[Case] = &[
    ("connects with an empty Host and a + in its path, within a second", connects),
    ("every type from the robot", every_type_down),
    ("every type to the server", every_type_up),
    ("topics, types and properties as announced", announcements),
    ("subscriptions with negative and positive numbers, and its metatopics", metatopics),
    ("a value above 2 MiB is refused without a loop of connections", too_large),
    ("reconnects after the server was killed", server_killed),
    ("a client killed is gone with its topics, and comes back without a phantom answer", client_killed),
    ("its stamps are the server's time", offset),
];

fn connects(peers: &Path) {
    let (hub, _server, port) = serve();
    let mut official = Official::start(peers);
    official.call(&json!({"do": "connected"}));
    let began = std::time::Instant::now();
    official.client(port, "name with spaces & more/\u{e9}");
    assert!(began.elapsed().as_secs_f64() < 1.0, "{:?}", began.elapsed());
    let names: Vec<String> = hub.with(|s| s.client_names().map(str::to_owned).collect());
    assert_eq!(names, ["name with spaces & more/\u{e9}@1"]);
}

fn every_type_down(peers: &Path) {
    let (hub, _server, port) = serve();
    let topics: Vec<_> = every_type()
        .into_iter()
        .map(|(kind, value, _)| {
            let name = format!("/robot/{kind}");
            let topic =
                hub.with(|s| s.publish_local(&name, &DataType::from_nt(kind), &Properties::new())).unwrap();
            (topic, value)
        })
        .collect();
    for (topic, value) in &topics[..6] {
        hub.with(|s| s.set_local(*topic, Micros(7), value.as_ref()));
    }
    let mut official = Official::start(peers);
    official.client(port, "official");
    official.call(&json!({"do": "subscribe", "id": 1, "prefixes": ["/robot/"], "all": true, "keep": true}));
    let mut events = Vec::new();
    official.collect(&mut events, "the first half, stored before", |e| {
        e.iter().filter(|e| e[0] == "value").count() >= 6
    });
    for (topic, value) in &topics[6..] {
        hub.with(|s| s.set_local(*topic, Micros(8), value.as_ref()));
    }
    official.collect(&mut events, "the second half, set now", |e| {
        e.iter().filter(|e| e[0] == "value").count() >= topics.len()
    });
    for (kind, _, expect) in every_type() {
        assert_eq!(values_of(&events, &format!("/robot/{kind}")), [&expect], "{kind}");
    }
}

fn every_type_up(peers: &Path) {
    let (hub, _server, port) = serve();
    let mut official = Official::start(peers);
    official.client(port, "official");
    for (n, (kind, _, say)) in every_type().iter().enumerate() {
        official.call(&json!({"do": "publish", "id": n, "name": format!("/up/{kind}"), "type": kind}));
        official.call(&json!({"do": "set", "id": n, "value": say}));
    }
    for (kind, value, _) in every_type() {
        let name = format!("/up/{kind}");
        until(&name, || hub.with(|s| s.value(&name)).is_some_and(|(_, v)| v == value));
        assert_eq!(hub.with(|s| s.topic_type(&name).map(str::to_owned)).as_deref(), Some(kind));
    }
    // Two official clients see each other through us.
    let mut other = Official::start(peers);
    other.client(port, "other");
    other.call(&json!({"do": "subscribe", "id": 1, "prefixes": ["/up/"], "all": true}));
    let mut events = Vec::new();
    let count = every_type().len();
    other.collect(&mut events, "the other client's values", |e| {
        e.iter().filter(|e| e[0] == "value").count() >= count
    });
    for (kind, _, expect) in every_type() {
        assert_eq!(values_of(&events, &format!("/up/{kind}")), [&expect], "{kind}");
    }
}

fn announcements(peers: &Path) {
    let (hub, _server, port) = serve();
    let mut properties = Properties::new();
    properties.insert("unit".into(), "m".into());
    hub.with(|s| s.publish_local("/with unit", &DataType::Double, &properties)).unwrap();
    for (kind, ..) in every_type() {
        hub.with(|s| s.publish_local(&format!("/t/{kind}"), &DataType::from_nt(kind), &Properties::new()))
            .unwrap();
    }
    for n in 0..1000 {
        hub.with(|s| s.publish_local(&format!("/many/{n}"), &DataType::Int, &Properties::new())).unwrap();
    }
    let mut official = Official::start(peers);
    official.client(port, "official");
    official.call(&json!({"do": "subscribe", "id": 1, "prefixes": [""], "topicsonly": true}));
    let count = 1001 + every_type().len();
    until("all topics", || official.call(&json!({"do": "topics"})).as_array().unwrap().len() >= count);
    let topics = official.call(&json!({"do": "topics"}));
    assert_eq!(topics.as_array().unwrap().len(), count, "no metatopics under the empty prefix");
    for (kind, ..) in every_type() {
        assert!(topics.as_array().unwrap().contains(&json!([format!("/t/{kind}"), kind])), "{kind}");
    }
    assert_eq!(official.call(&json!({"do": "properties", "name": "/with unit"})), json!({"unit": "m"}));
}

fn metatopics(peers: &Path) {
    let (hub, _server, port) = serve();
    let mut official = Official::start(peers);
    official.client(port, "official");
    official.call(&json!({"do": "subscribe", "id": 1, "prefixes": ["", "$"], "all": true}));
    official.call(&json!({"do": "subscribe_one", "id": 2, "name": "/one", "all": false}));
    let subs = "$clientsub$official@1";
    // Two rows: an array of two maps. Its numbers are -1 for the first multi-subscriber, positive for the other.
    let rows = || hub.with(|s| s.value(subs)).map(|(_, v)| v);
    until(
        "both subscriptions in the metatopic",
        || matches!(rows(), Some(Value::Raw(bytes)) if bytes.first() == Some(&0x92) && bytes.windows(5).any(|w| w == b"\xa3uid\xff")),
    );
    let mut events = Vec::new();
    official.collect(&mut events, "the metatopic as a value", |e| {
        ["$clients", subs, "$serverpub"].iter().all(|name| !values_of(e, name).is_empty())
    });
    let announced = |name: &str| events.iter().any(|e| e[0] == "topic" && e[1] == name && e[2] == "msgpack");
    assert!(announced("$clients") && announced(subs));
}

/// The official client drops such a value itself, and sends nothing more on that connection (its own defect, seen in
/// 2026.2.2). What we owe is that it is not thrown into a loop, that our own such value is refused where it is set, and
/// that others do not notice.
fn too_large(peers: &Path) {
    let (hub, _server, port) = serve();
    let mut official = Official::start(peers);
    official.client(port, "big");
    official.call(&json!({"do": "publish", "id": 1, "name": "/big", "type": "raw"}));
    official.call(&json!({"do": "subscribe", "id": 3, "prefixes": ["/robot", "/small"], "all": true}));
    let base64_of_3_mib = "AAAA".repeat(1 << 20);
    official.call(&json!({"do": "set", "id": 1, "value": ["raw", base64_of_3_mib]}));
    let big = hub.with(|s| s.publish_local("/robot/big", &DataType::Raw, &Properties::new())).unwrap();
    hub.with(|s| s.set_local(big, Micros(1), ValueRef::Raw(&vec![0; 3 << 20])));
    assert!(hub.with(|s| s.value("/robot/big")).is_none(), "refused where it was set");
    assert_eq!(hub.with(|s| s.stats()).too_large, 1);
    let mut other = Official::start(peers);
    other.client(port, "small");
    other.call(&json!({"do": "publish", "id": 2, "name": "/small", "type": "int", "keep": true}));
    let mut events = Vec::new();
    // Two and a half seconds of other traffic; a peer in a loop would reconnect every second.
    for n in 1..=25 {
        other.call(&json!({"do": "set", "id": 2, "value": ["int", n]}));
        official.collect(&mut events, "small values pass", |e| {
            values_of(e, "/small").contains(&&json!(["int", n]))
        });
        std::thread::park_timeout(std::time::Duration::from_millis(100));
    }
    assert_eq!(events.iter().filter(|e| e[0] == "connected").count(), 1);
    assert_eq!(events.iter().filter(|e| e[0] == "disconnected").count(), 0);
    // The largest value that fits passes.
    let fits = vec![7; (2 << 20) - 40];
    hub.with(|s| s.set_local(big, Micros(2), ValueRef::Raw(&fits)));
    official.collect(&mut events, "the largest value", |e| !values_of(e, "/robot/big").is_empty());
}

struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// This program again, as a server that can be killed. It says its port on its first line.
fn start_server(port: u16) -> (Served, u16) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--serve", &port.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (Served(child), line.trim().parse().unwrap())
}

pub(crate) fn serve_until_killed(port: u16) -> ExitCode {
    let (hub, _server, port) = serve_with(port, clock());
    let topic = hub.with(|s| s.publish_local("/robot/pid", &DataType::Int, &Properties::new())).unwrap();
    hub.with(|s| s.set_local(topic, Micros(1), ValueRef::Int(i64::from(std::process::id()))));
    println!("{port}");
    loop {
        std::thread::park();
    }
}

fn server_killed(peers: &Path) {
    let (first, port) = start_server(0);
    let mut official = Official::start(peers);
    official.client(port, "official");
    official.call(&json!({"do": "publish", "id": 1, "name": "/kept", "type": "int"}));
    official.call(&json!({"do": "set", "id": 1, "value": ["int", 41]}));
    official.call(&json!({"do": "subscribe", "id": 2, "prefixes": ["/robot/"], "all": true}));
    let mut events = Vec::new();
    official.collect(&mut events, "the first server's value", |e| !values_of(e, "/robot/pid").is_empty());
    drop(first);
    until("the client notices", || official.call(&json!({"do": "connected"})) == json!(false));
    let (_second, _) = start_server(port);
    official.connected();
    official.collect(&mut events, "the second server's value", |e| values_of(e, "/robot/pid").len() == 2);
    // What it had published is there again for somebody new.
    let mut other = Official::start(peers);
    other.client(port, "other");
    other.call(&json!({"do": "subscribe", "id": 1, "prefixes": ["/kept"], "all": true}));
    let mut seen = Vec::new();
    other.collect(&mut seen, "the value published again", |e| !values_of(e, "/kept").is_empty());
    assert_eq!(values_of(&seen, "/kept"), [&json!(["int", 41])]);
}

fn client_killed(peers: &Path) {
    let (hub, _server, port) = serve();
    let input = hub.with(|s| s.declare_input("/in", InputKind::Number, &Value::Double(0.0))).unwrap();
    let mut samples = Vec::new();
    let mut drain = || {
        hub.with(|s| s.drain_inputs(&mut samples));
        samples.iter().map(|s| (s.input, s.value.clone(), s.client)).collect::<Vec<_>>()
    };
    let mut official = Official::start(peers);
    official.client(port, "operator");
    official.call(&json!({"do": "publish", "id": 1, "name": "/in", "type": "double"}));
    official.call(&json!({"do": "publish", "id": 2, "name": "/other", "type": "double"}));
    official.call(&json!({"do": "set", "id": 1, "value": ["double", 2.5]}));
    until("the answer", || !drain().is_empty());
    until("its topic", || hub.with(|s| s.topic_type("/other").is_some()));
    official.kill();
    until("its end", || hub.with(|s| s.client_names().count() == 0 && s.topic_type("/other").is_none()));
    assert!(hub.with(|s| s.topic_type("/in").is_some()), "the input is the robot's");
    let mut again = Official::start(peers);
    again.client(port, "operator");
    again.call(&json!({"do": "publish", "id": 1, "name": "/in", "type": "double"}));
    again.call(&json!({"do": "publish", "id": 2, "name": "/other", "type": "double"}));
    until("its publisher", || hub.with(|s| s.topic_type("/other").is_some()));
    let before = drain();
    assert_eq!(before.len(), 1, "no answer without a person: {before:?}");
    again.call(&json!({"do": "set", "id": 1, "value": ["double", 3.5]}));
    until("the next answer", || drain().len() == 2);
    let all = drain();
    assert_eq!((all[1].0, &all[1].1), (input.id, &OperatorValue::Number(3.5)));
    assert_ne!(all[0].2, all[1].2, "another connection, another client");
}

fn offset(peers: &Path) {
    let now = clock();
    let (hub, _server, port) = serve_with(0, now.clone());
    let mut official = Official::start(peers);
    official.client(port, "official");
    official.call(&json!({"do": "publish", "id": 1, "name": "/stamp", "type": "int"}));
    until("its clock", || !official.call(&json!({"do": "offset"})).is_null());
    let before = now();
    official.call(&json!({"do": "set", "id": 1, "value": ["int", 1]}));
    until("a stamped value", || hub.with(|s| s.value("/stamp")).is_some());
    let after = now();
    let (time, _) = hub.with(|s| s.value("/stamp")).unwrap();
    // It was set between the two readings of the server's clock; the peer's estimate may be off by half its round trip.
    let slack = Micros(50_000);
    assert!(before - slack <= time && time <= after + slack, "{before} {time} {after}");
}
