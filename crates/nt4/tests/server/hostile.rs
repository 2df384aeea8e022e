//! Broken frames, limits, and bursts.

use crate::common::{Got, Net, message};
use fieldlab_base::Micros;
use fieldlab_nt4::server::{ConnectInfo, ServerConfig, Version};
use fieldlab_nt4::{Limits, Properties};
use fieldlab_values::{DataType, Value, ValueRef};
use rmpv::Value as Pack;
use serde_json::json;

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
