//! Our client under the official server, whose departures from its own words it must bear.

use std::path::Path;
use std::time::{Duration, Instant};

use fieldlab_base::Micros;
use fieldlab_nt4::SubscribeOptions;
use fieldlab_nt4::client::{Event, PublishOptions, PublisherId};
use fieldlab_nt4_net::{NetClient, NetClientConfig};
use fieldlab_values::{DataType, Value};
use serde_json::json;

use crate::Case;
use crate::peer::{Official, clock, every_type, free_port, until, values_of};

pub(crate) const CASES: &[Case] = &[
    ("every type both ways", every_type_both_ways),
    ("row 2: publishes without waiting for an announcement that does not come", row_2),
    ("row 3: stays connected although a client that only publishes is never pinged", row_3),
    ("row 5: values of another type are tolerated", row_5),
    ("row 6: values after unsubscribing do no harm", row_6),
    ("rows 7 and 8: an unannounced new number does no harm", rows_7_and_8),
    ("numbers used again after deletions", ids_again),
    ("a snapshot of 1000 topics", snapshot),
    ("a server that goes away and comes back", restart),
];

fn official(peers: &Path) -> (Official, u16) {
    let mut official = Official::start(peers);
    let port = free_port();
    official.call(&json!({"do": "server", "port": port, "file": ""}));
    (official, port)
}

fn connect(port: u16) -> NetClient {
    let client =
        NetClient::start(NetClientConfig::new(format!("127.0.0.1:{port}"), "ours", clock())).unwrap();
    until("our client is connected", || client.state().connected.is_some());
    client
}

fn publish(client: &NetClient, name: &str, kind: &str) -> PublisherId {
    client.with(|c| c.publish(name, &DataType::from_nt(kind), PublishOptions::default())).unwrap()
}

fn latest(client: &NetClient, name: &str) -> Option<Value> {
    client.with(|c| c.value(name).map(|(_, v)| v.clone()))
}

fn every_type_both_ways(peers: &Path) {
    let (mut official, port) = official(peers);
    let client = connect(port);
    official.call(&json!({"do": "subscribe", "id": "s", "prefixes": ["/ours/"], "all": true, "keep": true}));
    client.with(|c| c.subscribe(&["/theirs/"], SubscribeOptions::prefix().all())).unwrap();
    for (n, (kind, value, say)) in every_type().iter().enumerate() {
        let topic = publish(&client, &format!("/ours/{kind}"), kind);
        client.with(|c| c.set(topic, Micros(6_000_000), value.as_ref()));
        official.call(&json!({"do": "publish", "id": n, "name": format!("/theirs/{kind}"), "type": kind}));
        official.call(&json!({"do": "set", "id": n, "value": say}));
    }
    let mut events = Vec::new();
    let count = every_type().len();
    official.collect(&mut events, "our values", |e| e.iter().filter(|e| e[0] == "value").count() >= count);
    for (kind, value, say) in every_type() {
        assert_eq!(values_of(&events, &format!("/ours/{kind}")), [&say], "{kind}");
        let name = format!("/theirs/{kind}");
        until(&name, || latest(&client, &name).as_ref() == Some(&value));
        let announced = client.with(|c| c.topic(&name).map(|t| t.data_type.nt_name().to_owned()));
        assert_eq!(announced.as_deref(), Some(kind));
    }
    assert_eq!(client.with(|c| c.stats()).bad_messages, 0);
}

fn row_2(peers: &Path) {
    let (mut official, port) = official(peers);
    official.call(&json!({"do": "publish", "id": 1, "name": "/a", "type": "double"}));
    official.call(&json!({"do": "set", "id": 1, "value": ["double", 1.0]}));
    official.call(&json!({"do": "subscribe", "id": 2, "prefixes": ["/a"], "all": true, "keep": true}));
    let client = connect(port);
    client.with(|c| c.subscribe(&["/"], SubscribeOptions::prefix())).unwrap();
    until("the topic", || client.with(|c| c.topic("/a").is_some()));
    let (one, two) = (publish(&client, "/a", "double"), publish(&client, "/a", "double"));
    client.with(|c| c.set(one, Micros(900_000_000_000_000_000), Value::Double(2.0).as_ref()));
    client.with(|c| c.set(two, Micros(900_000_000_000_000_001), Value::Double(3.0).as_ref()));
    let mut events = Vec::new();
    official.collect(&mut events, "both values", |e| {
        values_of(e, "/a").contains(&&json!(["double", 2.0]))
            && values_of(e, "/a").contains(&&json!(["double", 3.0]))
    });
}

fn row_3(peers: &Path) {
    let (mut official, port) = official(peers);
    let client = connect(port);
    let topic = publish(&client, "/a", "int");
    official.call(&json!({"do": "subscribe", "id": 1, "prefixes": ["/a"], "all": true, "keep": true}));
    let began = Instant::now();
    let (mut n, now) = (0, clock());
    while began.elapsed() < Duration::from_secs(3) {
        n += 1;
        client.with(|c| c.set(topic, now(), Value::Int(n).as_ref()));
        std::thread::park_timeout(Duration::from_millis(300));
    }
    assert_eq!(client.state().connections, 1, "{:?}", client.state());
    let mut events = Vec::new();
    official.collect(&mut events, "the last value", |e| values_of(e, "/a").contains(&&json!(["int", n])));
}

fn row_5(peers: &Path) {
    let (mut official, port) = official(peers);
    let (one, two) = (connect(port), connect(port));
    let a = publish(&one, "/a", "double");
    one.with(|c| c.set(a, Micros(6_000_000), Value::Double(1.0).as_ref()));
    two.with(|c| c.subscribe(&["/a"], SubscribeOptions::default().all())).unwrap();
    until("the first value", || latest(&two, "/a").is_some());
    let wrong = publish(&one, "/a", "string");
    one.with(|c| c.set(wrong, Micros(7_000_000_000), Value::from("text").as_ref()));
    until("the wrong one", || two.with(|c| c.stats()).type_mismatches == 1);
    one.with(|c| c.set(a, Micros(8_000_000_000), Value::Double(2.0).as_ref()));
    until("the next right one", || latest(&two, "/a") == Some(Value::Double(2.0)));
    assert_eq!(two.state().connections, 1);
    official.take();
}

fn row_6(peers: &Path) {
    let (mut official, port) = official(peers);
    for (n, name) in ["/a", "/b"].iter().enumerate() {
        official.call(&json!({"do": "publish", "id": n, "name": name, "type": "int", "keep": true}));
        official.call(&json!({"do": "set", "id": n, "value": ["int", 1]}));
    }
    let client = connect(port);
    let sub = client.with(|c| c.subscribe(&["/a"], SubscribeOptions::default().all())).unwrap();
    client.with(|c| c.subscribe(&["/b"], SubscribeOptions::default().all())).unwrap();
    until("both", || latest(&client, "/a").is_some() && latest(&client, "/b").is_some());
    client.with(|c| c.unsubscribe(sub));
    for value in 2..20 {
        official.call(&json!({"do": "set", "id": 0, "value": ["int", value]}));
        official.call(&json!({"do": "set", "id": 1, "value": ["int", value]}));
    }
    until("the end of /b", || latest(&client, "/b") == Some(Value::Int(19)));
    assert_eq!((client.state().connections, client.with(|c| c.stats()).bad_messages), (1, 0));
}

fn rows_7_and_8(peers: &Path) {
    let (mut official, port) = official(peers);
    let client = connect(port);
    client.with(|c| c.subscribe(&["/other"], SubscribeOptions::default())).unwrap();
    for round in 0..5 {
        official.call(&json!({"do": "publish", "id": 1, "name": "/a", "type": "int", "keep": true}));
        official.call(&json!({"do": "set", "id": 1, "value": ["int", round]}));
        let sub = client.with(|c| c.subscribe(&["/a"], SubscribeOptions::default().all())).unwrap();
        let unknown = client.with(|c| c.stats()).unknown_ids;
        until("the value, or the number that nobody announced", || {
            latest(&client, "/a") == Some(Value::Int(round))
                || client.with(|c| c.stats()).unknown_ids > unknown
        });
        client.with(|c| c.unsubscribe(sub));
        official.call(&json!({"do": "close", "id": 1}));
        official.call(&json!({"do": "flush"}));
    }
    assert_eq!(client.state().connections, 1);
}

fn ids_again(peers: &Path) {
    let (mut official, port) = official(peers);
    let client = connect(port);
    client.with(|c| c.subscribe(&["/cycle/"], SubscribeOptions::prefix().all())).unwrap();
    let mut numbers = std::collections::BTreeSet::new();
    for round in 0..40 {
        let name = format!("/cycle/{round}");
        official.call(&json!({"do": "publish", "id": 1, "name": name, "type": "int"}));
        official.call(&json!({"do": "set", "id": 1, "value": ["int", round]}));
        until(&name, || latest(&client, &name) == Some(Value::Int(round)));
        numbers.insert(client.with(|c| c.topic(&name).map(|t| t.id)));
        official.call(&json!({"do": "close", "id": 1}));
        until("its end", || client.with(|c| c.topic(&name).is_none()));
    }
    assert!(numbers.len() < 40, "the official server uses numbers again: {numbers:?}");
    assert_eq!(client.with(|c| c.topics().count()), 0);
}

fn snapshot(peers: &Path) {
    let (mut official, port) = official(peers);
    for n in 0..1000 {
        official.call(&json!({"do": "publish", "id": n, "name": format!("/many/{n}"), "type": "double"}));
        official.call(&json!({"do": "set", "id": n, "value": ["double", n]}));
    }
    let client = connect(port);
    client.with(|c| c.subscribe(&[""], SubscribeOptions::prefix().all())).unwrap();
    let mut values = 0;
    let mut known = std::collections::BTreeSet::new();
    let began = Instant::now();
    while values < 1000 {
        assert!(began.elapsed() < Duration::from_secs(10), "{values} values");
        match client.next_event(Duration::from_millis(100)) {
            Some(Event::Announced(topic)) => assert!(known.insert(topic.name.clone())),
            Some(Event::Value { name, value, .. }) => {
                assert!(known.contains(&name));
                let n: f64 = name.trim_start_matches("/many/").parse().unwrap();
                assert_eq!(value, Value::Double(n));
                values += 1;
            }
            _ => {}
        }
    }
    assert_eq!(client.with(|c| c.stats()).unknown_ids, 0);
}

fn restart(peers: &Path) {
    let (mut first, port) = official(peers);
    let client = connect(port);
    let topic = publish(&client, "/kept", "int");
    client.with(|c| c.set(topic, Micros(6_000_000), Value::Int(5).as_ref()));
    client.with(|c| c.subscribe(&["/theirs"], SubscribeOptions::default())).unwrap();
    first.call(&json!({"do": "subscribe", "id": 1, "prefixes": ["/kept"], "all": true}));
    let mut events = Vec::new();
    first.collect(&mut events, "the value", |e| !values_of(e, "/kept").is_empty());
    first.kill();
    until("the loss is noticed", || client.state().connected.is_none());
    assert!(client.state().last_problem.is_some());
    let mut second = Official::start(peers);
    second.call(&json!({"do": "server", "port": port, "file": ""}));
    second.call(&json!({"do": "publish", "id": 2, "name": "/theirs", "type": "int"}));
    second.call(&json!({"do": "set", "id": 2, "value": ["int", 9]}));
    second.call(&json!({"do": "subscribe", "id": 1, "prefixes": ["/kept"], "all": true}));
    let mut events = Vec::new();
    second.collect(&mut events, "the value again", |e| values_of(e, "/kept") == [&json!(["int", 5])]);
    until("their value", || latest(&client, "/theirs") == Some(Value::Int(9)));
    assert_eq!(client.state().connections, 2);
}
