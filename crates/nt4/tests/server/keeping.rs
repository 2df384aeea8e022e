//! What outlives its publisher: cached, retained and persistent topics.

use crate::common::Net;
use fieldlab_base::Micros;
use fieldlab_nt4::{NtError, Properties};
use fieldlab_values::{DataType, Value, ValueRef};
use rmpv::Value as Pack;
use serde_json::json;

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
