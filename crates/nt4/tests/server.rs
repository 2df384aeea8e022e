//! The server core beyond the table of rows: owned topics, inputs, metatopics, limits, slow clients, reports.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed step is the test's failure")]

mod common;

use common::{Got, Net, announced, message};
use fieldlab_base::{Micros, OperatorValue};
use fieldlab_nt4::server::{ConnectInfo, Input, InputKind, ServerConfig, Version};
use fieldlab_nt4::{Limits, NtError, Properties};
use fieldlab_values::{DataType, Value, ValueRef};
use rmpv::Value as Pack;
use serde_json::json;

fn input(net: &mut Net, name: &str, kind: InputKind, seed: &Value) -> Input {
    net.server.declare_input(name, kind, seed).unwrap()
}

fn samples(net: &mut Net) -> Vec<fieldlab_base::OperatorSample> {
    let mut found = Vec::new();
    net.server.drain_inputs(&mut found);
    found
}

#[test]
fn what_clients_send_to_a_topic_of_the_robots_is_ignored_and_counted() {
    let mut net = Net::new();
    let topic = net.server.publish_local("/robot", &DataType::Double, &Properties::new()).unwrap();
    net.server.set_local(topic, Micros(1), ValueRef::Double(1.0));
    let (one, two) = (net.connect("one"), net.connect("two"));
    net.subscribe(two, 1, &["/robot"], json!({"all": true}));
    net.publish(one, "/robot", "double", 1);
    net.set(one, 1, 99, 1, 66.0);
    net.text(
        one,
        json!([{"method": "setproperties", "params": {"name": "/robot", "update": {"cached": false}}}]),
    );
    assert_eq!(net.values(two), [Pack::from(1.0)]);
    assert_eq!(net.server.value("/robot"), Some((Micros(1), Value::Double(1.0))));
    assert_eq!(net.server.stats().owned_ignored, 2);
    let got = net.read(one);
    assert!(announced(&got, "/robot").is_some(), "the publish is answered all the same");
    assert!(got.contains(&Got::Properties("/robot".into(), json!({}), true)), "{got:?}");
    assert!(samples(&mut net).is_empty());
}

#[test]
fn the_robot_takes_a_name_over_from_a_stranger() {
    let mut net = Net::new();
    let (one, two) = (net.connect("one"), net.connect("two"));
    net.subscribe(two, 1, &["/"], json!({"prefix": true, "all": true}));
    net.text(
        one,
        json!([{"method": "publish", "params": {"name": "/same", "type": "double", "pubuid": 1,
            "properties": {"cached": false, "unit": "lies"}}}]),
    );
    net.publish(one, "/other", "string", 2);
    net.set(one, 1, 500, 1, 66.0);
    net.set(one, 2, 500, 4, "forged");
    net.read(two);
    let same = net.server.publish_local("/same", &DataType::Double, &Properties::new()).unwrap();
    let other = net.server.publish_local("/other", &DataType::Int, &Properties::new()).unwrap();
    assert_eq!((net.server.value("/same"), net.server.value("/other")), (None, None));
    let taken = net.read(two);
    assert!(taken.contains(&Got::Properties("/same".into(), json!({"cached": null, "unit": null}), false)));
    net.server.set_local(same, Micros(1), ValueRef::Double(1.0));
    net.server.set_local(other, Micros(1), ValueRef::Int(2));
    net.set(one, 1, 900, 1, 67.0);
    net.set(one, 2, 900, 4, "again");
    let id = announced(&taken, "/other").unwrap();
    assert!(taken.iter().any(|g| matches!(g, Got::Unannounce(n, _) if n == "/other")));
    let got = net.read(two);
    assert!(got.contains(&Got::Value(id, 1, 2, 2.into())), "{got:?}");
    assert_eq!(net.server.value("/same"), Some((Micros(1), Value::Double(1.0))));
    net.server.disconnect(one, net.now);
    assert_eq!(net.server.topic_type("/same"), Some("double"), "the robot's topic outlives the stranger");
}

#[test]
fn reserved_prefixes_are_the_robots_alone() {
    let config = ServerConfig { reserved: vec!["/Catalyst/FieldLab/".into()], ..ServerConfig::default() };
    let mut net = Net::with(config);
    let one = net.connect("one");
    net.publish(one, "/Catalyst/FieldLab/Forged", "double", 1);
    net.publish(one, "/Catalyst/Tuning/kP", "double", 2);
    assert_eq!(net.server.topic_type("/Catalyst/FieldLab/Forged"), None);
    assert_eq!(net.server.topic_type("/Catalyst/Tuning/kP"), Some("double"));
    net.server.publish_local("/Catalyst/FieldLab/Real", &DataType::Int, &Properties::new()).unwrap();
}

#[test]
fn inputs_take_every_number_type_in_order_of_arrival_with_client_and_time() {
    let mut net = Net::new();
    let early = net.connect("early");
    net.publish(early, "/in", "double", 1);
    net.set(early, 1, 1, 1, 66.0);
    let value = input(&mut net, "/in", InputKind::Number, &Value::Int(3));
    let text = input(&mut net, "/why", InputKind::Text, &Value::from(""));
    assert_eq!(
        net.server.value("/in").map(|v| v.1),
        Some(Value::Double(3.0)),
        "the seed, not what stood there"
    );
    net.now = Micros(20_000_000);
    let late = net.connect("late");
    for (pubuid, kind) in [(1, "int"), (2, "float"), (3, "double"), (4, "boolean")] {
        net.publish(late, "/in", kind, pubuid);
    }
    net.publish(late, "/why", "string", 5);
    net.set(late, 1, -5, 2, 4);
    net.set(late, 2, 0, 3, Pack::F32(0.5));
    net.set(late, 3, 7, 1, f64::NAN);
    net.set(late, 3, 7, 1, 5);
    net.set(late, 4, 7, 0, true);
    net.set(late, 5, 7, 4, "rain");
    net.set(early, 1, 7, 1, 8.5);
    let found = samples(&mut net);
    let numbers: Vec<f64> = found
        .iter()
        .filter(|s| s.input == value.id)
        .map(|s| if let OperatorValue::Number(n) = s.value { n } else { panic!() })
        .collect();
    assert_eq!(numbers[..2], [4.0, 0.5]);
    assert!(numbers[2].is_nan());
    assert_eq!(numbers[3..], [5.0, 8.5]);
    assert_eq!(found.iter().map(|s| s.arrival).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(found[4].value, OperatorValue::Text("rain".into()));
    assert_eq!(found[4].input, text.id);
    assert_eq!((found[0].client, found[0].connected_at), (late, Micros(20_000_000)));
    assert_eq!((found[5].client, found[5].connected_at), (early, Micros(10_000_000)));
    assert_eq!(net.server.stats().type_ignored, 1);
}

#[test]
fn an_input_is_echoed_to_others_as_the_topics_type_whatever_its_time() {
    let mut net = Net::new();
    let value = input(&mut net, "/in", InputKind::Number, &Value::Double(1.0));
    let (one, two) = (net.connect("one"), net.connect("two"));
    net.publish(one, "/in", "int", 1);
    for client in [one, two] {
        net.subscribe(client, 1, &["/in"], json!({"all": true}));
        net.read(client);
    }
    net.set(one, 1, -77, 2, 9);
    let got = net.read(two);
    assert!(matches!(&got[..], [Got::Value(_, -77, 1, Pack::F64(9.0))]), "{got:?}");
    assert_eq!(net.read(one), [], "not back to the writer");
    // The robot may show what it made of it.
    net.server.set_local(value.topic, net.now, ValueRef::Double(2.0));
    assert_eq!(net.values(one), [Pack::from(2.0)]);
}

#[test]
fn samples_above_the_limit_push_out_the_oldest_of_their_input() {
    let limits = Limits { operator_samples: 3, ..Limits::default() };
    let mut net = Net::with(ServerConfig { limits, ..ServerConfig::default() });
    input(&mut net, "/a", InputKind::Number, &Value::Double(0.0));
    input(&mut net, "/b", InputKind::Number, &Value::Double(0.0));
    let one = net.connect("one");
    net.publish(one, "/a", "double", 1);
    net.publish(one, "/b", "double", 2);
    net.set(one, 2, 1, 1, 100.0);
    for n in 1..=5 {
        net.set(one, 1, 1, 1, f64::from(n));
    }
    let kept: Vec<OperatorValue> = samples(&mut net).into_iter().map(|s| s.value).collect();
    assert_eq!(kept, [100.0, 4.0, 5.0].map(OperatorValue::Number));
    assert_eq!(net.server.stats().samples_dropped, 3);
}

#[test]
fn retracted_inputs_reach_nobody() {
    let mut net = Net::new();
    input(&mut net, "/in", InputKind::Number, &Value::Double(1.0));
    let one = net.connect("one");
    net.publish(one, "/in", "double", 1);
    net.set(one, 1, 5, 1, 2.0);
    net.server.retract_inputs();
    net.set(one, 1, 6, 1, 3.0);
    assert!(samples(&mut net).is_empty());
    let again = input(&mut net, "/in", InputKind::Number, &Value::Double(1.0));
    assert_eq!(again.id.0, 0);
    net.set(one, 1, 7, 1, 4.0);
    assert_eq!(samples(&mut net).len(), 1, "a publisher from before is one of the new input");
}

#[test]
fn a_topic_of_the_robots_is_no_input_and_the_other_way_round() {
    let mut net = Net::new();
    net.server.publish_local("/r", &DataType::Double, &Properties::new()).unwrap();
    input(&mut net, "/in", InputKind::Number, &Value::Double(1.0));
    for name in ["/r", "/in", "$clients", ""] {
        assert!(net.server.declare_input(name, InputKind::Number, &Value::Double(0.0)).is_err(), "{name}");
    }
    assert!(matches!(
        net.server.publish_local("/in", &DataType::Double, &Properties::new()),
        Err(NtError::Taken { .. })
    ));
    assert!(matches!(
        net.server.publish_local("/r", &DataType::Int, &Properties::new()),
        Err(NtError::Taken { .. })
    ));
    assert!(net.server.declare_input("/t", InputKind::Text, &Value::Double(0.0)).is_err());
}

fn unpacked(net: &Net, name: &str) -> Pack {
    let Some((_, Value::Raw(bytes))) = net.server.value(name) else { panic!("{name} has no value") };
    rmpv::decode::read_value(&mut &bytes[..]).unwrap()
}

fn pack(json: serde_json::Value) -> Pack {
    match json {
        serde_json::Value::String(s) => s.into(),
        serde_json::Value::Number(n) => {
            n.as_i64().map_or_else(|| Pack::F32(n.as_f64().unwrap() as f32), Pack::from)
        }
        serde_json::Value::Bool(b) => b.into(),
        serde_json::Value::Array(items) => Pack::Array(items.into_iter().map(pack).collect()),
        serde_json::Value::Object(map) => {
            Pack::Map(map.into_iter().map(|(k, v)| (k.into(), pack(v))).collect())
        }
        serde_json::Value::Null => Pack::Nil,
    }
}

/// Maps compared without their order.
fn sorted(value: Pack) -> Pack {
    match value {
        Pack::Array(items) => Pack::Array(items.into_iter().map(sorted).collect()),
        Pack::Map(mut rows) => {
            rows.sort_by_key(|(k, _)| k.to_string());
            Pack::Map(rows.into_iter().map(|(k, v)| (k, sorted(v))).collect())
        }
        other => other,
    }
}

#[test]
fn metatopics_have_the_official_shapes() {
    let mut net = Net::new();
    let watcher = net.connect("glass");
    net.subscribe(watcher, 1, &["", "$"], json!({"prefix": true, "periodic": 0.1}));
    let one = net.connect("one");
    net.subscribe(one, -3, &["/a", "/b"], json!({"all": true, "periodic": 0.02, "topicsonly": false}));
    net.publish(one, "/a", "double", 7);
    net.server.publish_local("/r", &DataType::Int, &Properties::new()).unwrap();
    let got = net.read(watcher);
    for (name, rows) in [
        (
            "$clients",
            json!([
                {"id": "glass@1", "conn": "10.0.0.7:1234", "ver": 0x0401},
                {"id": "one@2", "conn": "10.0.0.7:1234", "ver": 0x0401}
            ]),
        ),
        (
            "$clientsub$one@2",
            json!([{"uid": -3, "topics": ["/a", "/b"], "options": {"all": true, "periodic": 0.02}}]),
        ),
        ("$clientsub$glass@1", json!([{"uid": 1, "topics": ["", "$"], "options": {"prefix": true}}])),
        ("$clientpub$one@2", json!([{"uid": 7, "topic": "/a"}])),
        ("$clientpub$glass@1", json!([])),
        ("$serverpub", json!([{"uid": 0, "topic": "/r"}])),
        ("$serversub", json!([])),
        ("$pub$/a", json!([{"client": "one@2", "pubuid": 7}])),
        (
            "$sub$/a",
            json!([
                {"client": "glass@1", "subuid": 1, "options": {"prefix": true}},
                {"client": "one@2", "subuid": -3, "options": {"all": true, "periodic": 0.02}}
            ]),
        ),
        ("$pub$/r", json!([{"client": "", "pubuid": 0}])),
    ] {
        assert_eq!(sorted(unpacked(&net, name)), sorted(pack(rows)), "{name}");
        let (of, id, kind, properties) = got
            .iter()
            .find_map(|g| match g {
                Got::Announce(of, id, kind, properties, _) if of == name => Some((of, *id, kind, properties)),
                _ => None,
            })
            .unwrap();
        assert_eq!((kind.as_str(), properties), ("msgpack", &json!({"retained": true})), "{of}");
        assert!(got.iter().any(|g| matches!(g, Got::Value(i, _, 5, _) if *i == id)), "{name} was sent");
    }
    let order: Vec<&str> = got
        .iter()
        .filter_map(|g| if let Got::Announce(n, ..) = g { Some(n.as_str()) } else { None })
        .filter(|n| n.ends_with("/a"))
        .collect();
    assert_eq!(order, ["/a", "$pub$/a", "$sub$/a"], "metatopics right after their topic");
}

#[test]
fn metatopics_belong_to_the_server() {
    let mut net = Net::new();
    let one = net.connect("one");
    net.publish(one, "$clients", "msgpack", 1);
    net.set(one, 1, 9, 5, vec![0x90_u8]);
    net.text(
        one,
        json!([{"method": "setproperties", "params": {"name": "$clients", "update": {"retained": null}}}]),
    );
    net.subscribe(one, 1, &["$clients"], json!({}));
    net.read(one);
    assert_eq!(unpacked(&net, "$clients").as_array().map(Vec::len), Some(1));
    assert_eq!(net.server.persistent_json(), "[]\n");
}

#[test]
fn report_12_a_topic_goes_with_its_last_publisher_and_takes_its_metatopics_along() {
    let mut net = Net::new();
    let watcher = net.connect("watcher");
    net.subscribe(watcher, 1, &["", "$"], json!({"prefix": true}));
    let one = net.connect("one");
    net.publish(one, "/a", "int", 1);
    net.read(watcher);
    net.server.disconnect(one, net.now);
    let gone: Vec<String> = net
        .read(watcher)
        .into_iter()
        .filter_map(|g| if let Got::Unannounce(n, _) = g { Some(n) } else { None })
        .collect();
    for name in ["/a", "$pub$/a", "$sub$/a", "$clientpub$one@2", "$clientsub$one@2"] {
        assert!(gone.iter().any(|g| g == name), "{name} in {gone:?}");
        assert_eq!(net.server.topic_type(name), None);
    }
}

#[test]
fn a_burst_arrives_as_announcement_values_and_end() {
    let mut net = Net::new();
    let (one, two, three) = (net.connect("one"), net.connect("two"), net.connect("three"));
    net.subscribe(two, 1, &["/a"], json!({"all": true, "periodic": 10}));
    net.subscribe(three, 1, &["/a"], json!({"periodic": 10}));
    for _ in 0..2 {
        net.publish(one, "/a", "int", 1);
        net.set(one, 1, 1, 2, 1);
        net.set(one, 1, 2, 2, 2);
        net.unpublish(one, 1);
        let short = |got: Vec<Got>| {
            got.iter()
                .map(|g| match g {
                    Got::Announce(..) => "announce".to_owned(),
                    Got::Unannounce(..) => "unannounce".to_owned(),
                    Got::Value(.., v) => v.to_string(),
                    Got::Properties(..) => "properties".to_owned(),
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(short(net.read_now(two)), ["announce", "1", "2", "unannounce"]);
        assert_eq!(short(net.read_now(three)), ["announce", "2", "unannounce"]);
    }
}

#[test]
fn values_still_queued_after_unsubscribing_leave_before_the_end_of_their_topic() {
    for queue_bytes in [1 << 20, 60] {
        let limits = Limits { queue_bytes, ..Limits::default() };
        let mut net = Net::with(ServerConfig { limits, ..ServerConfig::default() });
        let (one, two) = (net.connect("one"), net.connect("two"));
        net.publish(one, "/a", "int", 1);
        net.publish(one, "/b", "int", 2);
        net.subscribe(two, 1, &["/"], json!({"prefix": true, "all": true}));
        for n in 0..3 {
            net.set(one, 1, n, 2, n);
            net.set(one, 2, n, 2, n);
        }
        net.subscribe(two, 1, &["/b"], json!({"all": true}));
        net.unpublish(one, 1);
        let got = net.read(two);
        let (a, b) = (announced(&got, "/a").unwrap(), announced(&got, "/b").unwrap());
        let end = got.iter().position(|g| matches!(g, Got::Unannounce(_, id) if *id == a)).unwrap();
        assert!(!got[end..].iter().any(|g| matches!(g, Got::Value(id, ..) if *id == a)), "{got:?}");
        assert!(got.iter().any(|g| matches!(g, Got::Value(id, 2, ..) if *id == b)), "{got:?}");
    }
}

#[test]
fn report_2_a_snapshot_is_all_announcements_then_all_values() {
    let mut net = Net::new();
    let one = net.connect("one");
    for n in 0..1000 {
        net.publish(one, &format!("/t/{n:04}"), "int", n);
        net.set(one, n, 1, 2, n);
    }
    let two = net.connect("two");
    net.text(
        two,
        json!([
            {"method": "subscribe", "params": {"topics": ["/t/"], "subuid": 1, "options": {"prefix": true, "topicsonly": true}}},
            {"method": "subscribe", "params": {"topics": ["/"], "subuid": 2, "options": {"prefix": true, "all": true}}},
            {"method": "subscribe", "params": {"topics": ["/t/0500"], "subuid": 3}},
        ]),
    );
    let got = net.read_now(two);
    let first_value = got.iter().position(|g| matches!(g, Got::Value(..))).unwrap();
    let last_announce = got.iter().rposition(|g| matches!(g, Got::Announce(..))).unwrap();
    assert!(last_announce < first_value);
    assert_eq!(got.len(), 2000, "one announcement and one value each, overlapping or not");
}

#[test]
fn overlapping_subscriptions_bring_one_copy_and_an_upgrade_brings_the_value() {
    let mut net = Net::new();
    let (one, two) = (net.connect("one"), net.connect("two"));
    net.publish(one, "/a", "int", 1);
    net.set(one, 1, 1, 2, 1);
    net.subscribe(two, 1, &["/a"], json!({"topicsonly": true}));
    assert_eq!(net.values(two), []);
    net.subscribe(two, 2, &["/"], json!({"prefix": true}));
    assert_eq!(net.values(two), [Pack::from(1)]);
    net.subscribe(two, 3, &["/a"], json!({"all": true}));
    assert_eq!(net.values(two), [], "the stored value is not sent again");
    net.set(one, 1, 2, 2, 2);
    assert_eq!(net.values(two), [Pack::from(2)]);
    net.subscribe(two, 2, &["/b"], json!({}));
    net.unsubscribe(two, 3);
    net.set(one, 1, 3, 2, 3);
    assert_eq!(net.values(two), [], "a subscription sent again replaces the one before");
}

#[test]
fn uncached_topics_keep_nothing() {
    let mut net = Net::new();
    let (one, two, three) = (net.connect("one"), net.connect("two"), net.connect("three"));
    net.text(
        one,
        json!([{"method": "publish", "params": {"name": "/a", "type": "int", "pubuid": 1,
            "properties": {"cached": false, "persistent": true}}}]),
    );
    net.subscribe(two, 1, &["/a"], json!({}));
    net.set(one, 1, 5, 2, 5);
    assert_eq!(net.values(two), [Pack::from(5)]);
    net.subscribe(three, 1, &["/a"], json!({}));
    assert_eq!(net.values(three), []);
    assert_eq!(net.server.value("/a"), None);
    assert_eq!(net.server.persistent_json(), "[]\n", "nothing kept, nothing saved");
}

#[test]
fn retained_topics_stay_until_the_property_goes() {
    let mut net = Net::new();
    let (one, two) = (net.connect("one"), net.connect("two"));
    net.text(
        one,
        json!([{"method": "publish", "params": {"name": "/a", "type": "int", "pubuid": 1,
            "properties": {"retained": true}}}]),
    );
    net.set(one, 1, 5, 2, 5);
    net.server.disconnect(one, net.now);
    net.subscribe(two, 1, &["/a"], json!({}));
    assert_eq!(net.values(two), [Pack::from(5)]);
    net.text(
        two,
        json!([{"method": "setproperties", "params": {"name": "/a", "update": {"retained": null}}}]),
    );
    assert_eq!(net.server.topic_type("/a"), None);
    net.text(
        two,
        json!([{"method": "setproperties", "params": {"name": "/nobody", "update": {"retained": true}}}]),
    );
    assert_eq!(net.server.topic_type("/nobody"), None);
}

#[test]
fn persistent_topics_survive_with_every_type_and_non_finite_numbers() {
    let mut net = Net::new();
    let mut properties = Properties::new();
    properties.insert("persistent".into(), true.into());
    let every = [
        ("boolean", Value::Boolean(true)),
        ("int", Value::Int(i64::MIN)),
        ("float", Value::Float(f32::NEG_INFINITY)),
        ("double", Value::Double(f64::NAN)),
        ("string", Value::from("a \"b\" \u{1F916}")),
        ("json", Value::from("{\"x\":1}")),
        ("raw", Value::Raw([0, 255, 7].as_slice().into())),
        ("struct:Pose2d", Value::Raw([1_u8; 24].as_slice().into())),
        ("boolean[]", Value::BooleanArray([true, false].as_slice().into())),
        ("int[]", Value::IntArray([1, i64::MAX].as_slice().into())),
        ("float[]", Value::FloatArray([0.1, f32::INFINITY].as_slice().into())),
        ("double[]", Value::DoubleArray([0.1, f64::NEG_INFINITY].as_slice().into())),
        ("string[]", Value::StringArray(["x".into(), "".into()].as_slice().into())),
    ];
    for (kind, value) in &every {
        let topic =
            net.server.publish_local(&format!("/p/{kind}"), &DataType::from_nt(kind), &properties).unwrap();
        net.server.set_local(topic, Micros(3), value.as_ref());
    }
    let saved = net.server.persistent_json();
    assert!(saved.starts_with("[\n  {\n    \"name\": \"/p/boolean\","), "{saved}");
    let mut again = Net::new();
    let done = again.server.restore(saved.as_bytes(), Micros(77)).unwrap();
    assert_eq!((done.topics, done.refused), (every.len(), 0));
    for (kind, value) in &every {
        let (time, back) = again.server.value(&format!("/p/{kind}")).unwrap();
        assert_eq!(time, Micros(77));
        // NaN equals nothing, so the words are compared.
        assert_eq!(format!("{back:?}"), format!("{value:?}"));
    }
    assert_eq!(again.server.persistent_json(), saved);
    assert_eq!(again.server.persistent_changes(), 0, "what was read need not be saved");
    // The robot finds its value again when it publishes.
    let topic = again.server.publish_local("/p/int", &DataType::Int, &properties).unwrap();
    assert_eq!(again.server.value("/p/int").map(|v| v.1), Some(Value::Int(i64::MIN)));
    again.server.set_local(topic, Micros(78), ValueRef::Int(1));
    assert!(again.server.persistent_changes() > 0);
}

#[test]
fn a_strangers_persistent_topic_does_not_become_the_robots_value() {
    let mut net = Net::new();
    let row = json!([{"name": "/state", "type": "int", "value": 5, "properties": {"persistent": true}}]);
    net.server.restore(row.to_string().as_bytes(), Micros(1)).unwrap();
    assert!(net.server.value("/state").is_some());
    net.server.publish_local("/state", &DataType::Int, &Properties::new()).unwrap();
    assert_eq!(net.server.value("/state"), None);
    assert_eq!(net.server.persistent_json(), "[]\n");
}

#[test]
fn entries_that_cannot_be_restored_cost_themselves() {
    let mut net = Net::new();
    let rows = json!([
        {"name": "/ok", "type": "int", "value": 5, "properties": {"persistent": true}},
        {"name": "/not persistent", "type": "int", "value": 5, "properties": {}},
        {"name": "/no properties", "type": "int", "value": 5},
        {"name": "/fraction", "type": "int", "value": 5.5, "properties": {"persistent": true}},
        {"name": "/null", "type": "double", "value": null, "properties": {"persistent": true}},
        {"name": "$meta", "type": "int", "value": 5, "properties": {"persistent": true}},
        {"name": "/base64", "type": "raw", "value": "!!", "properties": {"persistent": true}},
        {"name": "/ok", "type": "int", "value": 6, "properties": {"persistent": true}},
        7,
    ]);
    let done = net.server.restore(rows.to_string().as_bytes(), Micros(1)).unwrap();
    assert_eq!((done.topics, done.refused), (1, 8));
    for bad in ["", "{}", "[", "null"] {
        assert!(
            matches!(net.server.restore(bad.as_bytes(), Micros(1)), Err(NtError::BadFile { .. })),
            "{bad}"
        );
    }
}

#[test]
fn report_10_a_default_never_beats_a_value_of_negative_time() {
    let mut net = Net::new();
    let (one, two) = (net.connect("one"), net.connect("two"));
    net.publish(one, "/a", "int", 1);
    net.publish(two, "/a", "int", 1);
    net.set(one, 1, -900_000, 2, 7);
    net.set(two, 1, -900_001, 2, 0);
    assert_eq!(net.server.value("/a"), Some((Micros(-900_000), Value::Int(7))));
    let mut fresh = Net::new();
    let one = fresh.connect("one");
    fresh.publish(one, "/a", "int", 1);
    fresh.set(one, 1, 0, 2, 0);
    fresh.set(one, 1, -900_000, 2, 7);
    assert_eq!(fresh.server.value("/a"), Some((Micros(-900_000), Value::Int(7))));
}

#[test]
fn report_13_equal_values_are_never_suppressed() {
    let mut net = Net::new();
    let (one, two) = (net.connect("one"), net.connect("two"));
    net.publish(one, "/a", "int", 1);
    net.subscribe(two, 1, &["/a"], json!({"all": true}));
    for time in 1..=5 {
        net.set(one, 1, time, 2, 4);
    }
    assert_eq!(net.values(two).len(), 5);
}

#[test]
fn report_4_and_7_a_slow_client_gets_the_latest_and_stalls_nobody() {
    let limits = Limits { queue_bytes: 10_000, ..Limits::default() };
    let mut net = Net::with(ServerConfig { limits, ..ServerConfig::default() });
    let (one, slow, quick) = (net.connect("one"), net.connect("slow"), net.connect("quick"));
    for (n, name) in ["/a", "/b", "/c"].iter().enumerate() {
        net.publish(one, name, "int", n as i64);
    }
    for client in [slow, quick] {
        net.subscribe(client, 1, &[""], json!({"prefix": true, "all": true, "periodic": 0}));
    }
    let mut quick_got = 0;
    for round in 0..10_000_i64 {
        net.set(one, round % 3, round, 2, round);
        if round % 50 == 0 {
            quick_got += net.values(quick).len();
        }
    }
    quick_got += net.values(quick).len();
    assert_eq!(quick_got, 10_000);
    let got = net.read(slow);
    let values: Vec<(i64, i64)> = got
        .iter()
        .filter_map(|g| if let Got::Value(id, t, ..) = g { Some((*id, *t)) } else { None })
        .collect();
    assert!(values.len() < 1200, "{}", values.len());
    for name in ["/a", "/b", "/c"] {
        let id = announced(&got, name).unwrap();
        let times: Vec<i64> = values.iter().filter(|v| v.0 == id).map(|v| v.1).collect();
        assert!(times.is_sorted(), "late, but in order");
        assert!(*times.last().unwrap() >= 9_997);
    }
    assert_eq!(net.server.stats().shed as usize, 10_000 - (values.len() - 3));
    net.set(one, 0, 20_000, 2, 1);
    net.set(one, 0, 20_001, 2, 2);
    assert_eq!(net.values(slow).len(), 2, "and every value again once it keeps up");
}

#[test]
fn a_client_that_reads_no_announcements_is_closed_at_the_limit() {
    let limits = Limits { control_bytes: 100_000, ..Limits::default() };
    let mut net = Net::with(ServerConfig { limits, ..ServerConfig::default() });
    let (one, slow) = (net.connect("one"), net.connect("slow"));
    net.subscribe(slow, 1, &[""], json!({"prefix": true}));
    for n in 0..2000 {
        net.publish(one, &format!("/{n}"), "int", 1);
        net.read(one);
    }
    let told = net.server.transmit(slow, net.now, 1, |_| ());
    assert_eq!(told.close.map(|c| c.code), Some(1008));
}

#[test]
fn report_14_a_value_after_a_pause_leaves_at_once() {
    let mut net = Net::new();
    let (one, two) = (net.connect("one"), net.connect("two"));
    net.publish(one, "/a", "int", 1);
    net.subscribe(two, 1, &["/a"], json!({"periodic": 0.5}));
    net.read(two);
    net.set(one, 1, 1, 2, 1);
    let mut woken = Vec::new();
    net.server.take_wakes(|c| woken.push(c));
    assert!(woken.contains(&two));
    assert_eq!(net.read_now(two).len(), 1);
}

#[test]
fn time_requests_are_answered_first_with_any_type() {
    let mut net = Net::new();
    let one = net.connect("one");
    net.publish(one, "/a", "int", 1);
    // 4.0 dashboards send an integer under the number of doubles.
    for (code, value) in [(2, Pack::from(55)), (1, 55.into()), (1, 5.5.into()), (4, "x".into())] {
        net.raw(one, message(-1, 0, code, value.clone())).unwrap();
        let now = net.now.0;
        assert_eq!(net.read_now(one).first(), Some(&Got::Value(-1, now, code, value)));
    }
}

#[test]
fn bad_values_cost_themselves_and_only_lost_framing_the_client() {
    let mut net = Net::new();
    let one = net.connect("one");
    net.publish(one, "/a", "double", 1);
    net.publish(one, "/i", "int", 2);
    let bad = [
        Pack::Nil,
        Pack::Array(vec![1.into(), 2.into()]),
        message(1, 1, 99, 1.0),
        message(1, 1, 1, "text"),
        message(2, 1, 2, 1.5),
        Pack::Array(vec![1.into(), 1.5.into(), 1.into(), 1.0.into()]),
        Pack::Array(vec![1.into(), u64::MAX.into(), 1.into(), 1.0.into()]),
        Pack::Map(vec![(1.into(), Pack::Array(vec![Pack::Nil; 40]))]),
    ];
    let count = bad.len() as u64;
    let mut bytes = Vec::new();
    for value in bad {
        rmpv::encode::write_value(&mut bytes, &value).unwrap();
    }
    rmpv::encode::write_value(&mut bytes, &message(1, 1, 1, 7)).unwrap();
    rmpv::encode::write_value(&mut bytes, &message(77, 1, 1, 7)).unwrap();
    rmpv::encode::write_value(&mut bytes, &message(-7, 1, 1, 7)).unwrap();
    net.server.receive_binary(one, &bytes, net.now).unwrap();
    assert_eq!(net.server.value("/a").map(|v| v.1), Some(Value::Double(7.0)), "an int for a double is taken");
    let stats = net.server.stats();
    assert_eq!((stats.bad_messages, stats.unknown_ignored), (count, 2));
    net.server.receive_binary(one, &[], net.now).unwrap();
    let close = net.server.receive_binary(one, &bytes[..bytes.len() - 1], net.now).unwrap_err();
    assert_eq!(close.code, 1001);
    assert_eq!(net.server.receive_binary(one, &vec![0; (2 << 20) + 1], net.now).unwrap_err().code, 1009);
    let long = format!("[{}]", " ".repeat(2 << 20));
    assert_eq!(net.server.receive_text(one, &long, net.now).unwrap_err().code, 1009);
}

#[test]
fn a_frame_cut_anywhere_applies_what_is_whole_and_closes_for_the_rest() {
    let items = [
        message(1, 5, 1, 1.5),
        message(2, -70_000, 2, i64::MAX),
        message(3, 5, 4, "grüß"),
        message(4, 5, 20, Pack::Array(vec!["a".into(), "b".into()])),
        message(5, 5, 5, vec![9_u8; 300]),
    ];
    let mut bytes = Vec::new();
    let mut ends = vec![0];
    for item in &items {
        rmpv::encode::write_value(&mut bytes, item).unwrap();
        ends.push(bytes.len());
    }
    for cut in 0..=bytes.len() {
        let mut net = Net::new();
        let one = net.connect("one");
        for (n, kind) in ["double", "int", "string", "string[]", "raw"].iter().enumerate() {
            net.publish(one, &format!("/{n}"), kind, n as i64 + 1);
        }
        let taken = net.server.receive_binary(one, &bytes[..cut], net.now);
        assert_eq!(taken.is_ok(), ends.contains(&cut), "cut at {cut}");
        let whole = ends.iter().filter(|end| **end > 0 && **end <= cut).count();
        let stored = (0..5).filter(|n| net.server.value(&format!("/{n}")).is_some()).count();
        assert_eq!(stored, whole, "cut at {cut}");
    }
}

#[test]
fn invalid_utf8_is_not_forwarded() {
    let mut net = Net::new();
    let one = net.connect("one");
    net.publish(one, "/s", "string", 1);
    net.server.receive_binary(one, &[0x94, 1, 1, 4, 0xa2, 0xff, 0xfe], net.now).unwrap();
    assert_eq!(net.server.value("/s"), None);
    assert_eq!(net.server.stats().bad_messages, 1);
}

#[test]
fn tables_are_limited_before_they_grow() {
    let limits = Limits {
        topics: 3,
        name_bytes: 20,
        clients: 2,
        publishers: 4,
        subscriptions: 2,
        patterns: 5,
        stored_bytes: 1000,
        ..Limits::default()
    };
    let mut net = Net::with(ServerConfig { limits, ..ServerConfig::default() });
    let (one, _two) = (net.connect("one"), net.connect("two"));
    let third =
        ConnectInfo { name: "three".into(), address: String::new(), version: Version::V41, immediate: false };
    assert!(net.server.connect(&third, net.now).is_err());
    for n in 0..6 {
        net.publish(one, &format!("/{n}"), "raw", n);
    }
    net.publish(one, "/0", "raw", 10);
    net.publish(one, "/0", "raw", 11);
    net.publish(one, &"/".repeat(21), "raw", 0);
    let ordinary = net.server.topic_names().filter(|n| !n.starts_with('$')).count();
    assert_eq!(ordinary, 3);
    assert_eq!(net.server.stats().refused, 3 + 1 + 1);
    net.set(one, 0, 1, 5, vec![0_u8; 900]);
    net.set(one, 1, 1, 5, vec![0_u8; 900]);
    assert!(net.server.value("/0").is_some() && net.server.value("/1").is_none());
    net.set(one, 0, 2, 5, vec![0_u8; 10]);
    net.set(one, 1, 2, 5, vec![0_u8; 900]);
    assert!(net.server.value("/1").is_some(), "room given back is room again");
    let before = net.server.stats().refused;
    net.subscribe(one, 1, &["a", "b", "c"], json!({}));
    net.subscribe(one, 2, &["a", "b", "c"], json!({}));
    net.subscribe(one, 2, &["a", "b"], json!({}));
    net.subscribe(one, 3, &[], json!({}));
    net.subscribe(one, 1, &["a", "b", "c"], json!({}));
    assert_eq!(net.server.stats().refused, before + 2);
    assert!(
        ServerConfig { limits: Limits { topics: 0, ..Limits::default() }, ..ServerConfig::default() }
            .limits
            .topics
            == 0
    );
    let none = Limits { topics: 0, ..Limits::default() };
    let refused = fieldlab_nt4::server::Server::new(ServerConfig { limits: none, ..ServerConfig::default() });
    assert_eq!(refused.unwrap_err().path, "limits.topics");
}

#[test]
fn one_message_cannot_ask_for_endless_work() {
    let mut net = Net::new();
    let one = net.connect("one");
    for n in 0..4000 {
        net.publish(one, &format!("/{n}"), "int", n);
        net.read(one);
    }
    let item = r#"{"method":"subscribe","params":{"topics":[""],"subuid":1,"options":{"prefix":true}}}"#;
    let frame = format!("[{}]", vec![item; 5000].join(","));
    assert_eq!(net.server.receive_text(one, &frame, net.now).unwrap_err().code, 1008);
}

#[test]
fn report_8_hundreds_of_subscriptions_in_one_burst() {
    let mut net = Net::new();
    let one = net.connect("one");
    for n in 0..500 {
        net.publish(one, &format!("/SmartDashboard/{n}"), "double", n);
    }
    let elastic = net.connect("elastic");
    let items: Vec<_> = (0..500)
        .map(|n| {
            json!({"method": "subscribe", "params": {"topics": [format!("/SmartDashboard/{n}")], "subuid": n,
            "options": {"prefix": true, "all": false, "topicsonly": false, "periodic": 0.1}}})
        })
        .collect();
    net.text(elastic, items.into());
    let announced = net.read_now(elastic).iter().filter(|g| matches!(g, Got::Announce(..))).count();
    assert_eq!(announced, 500);
}

#[test]
fn local_values_of_the_wrong_family_are_dropped_and_counted() {
    let mut net = Net::new();
    let topic = net.server.publish_local("/r", &DataType::Double, &Properties::new()).unwrap();
    net.server.set_local(topic, Micros(1), ValueRef::Int(1));
    net.server.unpublish_local(topic);
    net.server.set_local(topic, Micros(1), ValueRef::Double(1.0));
    assert_eq!(net.server.value("/r"), None);
    assert_eq!(net.server.stats().local_refused, 2);
    let raw = net.server.publish_local("/raw", &DataType::Raw, &Properties::new()).unwrap();
    net.server.set_local(raw, Micros(1), ValueRef::Raw(&vec![0; 2 << 20]));
    assert_eq!(net.server.stats().too_large, 1, "above the message limit no peer could take it");
}

#[test]
fn a_client_that_never_was_or_is_gone_does_nothing() {
    let mut net = Net::new();
    let one = net.connect("one");
    net.server.disconnect(one, net.now);
    net.server.disconnect(one, net.now);
    net.publish(one, "/a", "int", 1);
    net.set(one, 1, 1, 2, 1);
    assert_eq!(net.server.topic_type("/a"), None);
    assert!(net.server.transmit(one, net.now, 100, |_| ()).close.is_some());
}
