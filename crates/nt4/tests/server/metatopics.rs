//! Metatopics: the official shapes, and their end.

use crate::common::{Got, Net};
use fieldlab_nt4::Properties;
use fieldlab_values::{DataType, Value};
use rmpv::Value as Pack;
use serde_json::json;

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
