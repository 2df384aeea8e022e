//! The client core: what it says on each connection, what it keeps, what it takes from odd servers.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed step is the test's failure")]

use fieldlab_base::Micros;
use fieldlab_nt4::client::{Client, ClientConfig, Event, PublishOptions};
use fieldlab_nt4::server::{Frame, Version};
use fieldlab_nt4::{Limits, NtError, SubscribeOptions};
use fieldlab_values::{DataType, Value, ValueRef};
use rmpv::Value as Pack;
use serde_json::{Value as Json, json};

fn client() -> Client {
    let mut client = Client::new(ClientConfig::default()).unwrap();
    client.connected(Version::V41);
    client
}

/// Each sent item in order: control messages as JSON, values as `[id, time, type, value]` in JSON.
fn sent(client: &mut Client, now: i64) -> Vec<Json> {
    let mut found = Vec::new();
    client.transmit(Micros(now), |frame| match frame {
        Frame::Text(text) => {
            let Json::Array(items) = serde_json::from_str(text).unwrap() else { panic!("{text}") };
            found.extend(items);
        }
        Frame::Binary(mut bytes) => {
            while !bytes.is_empty() {
                let value = rmpv::decode::read_value(&mut bytes).unwrap();
                found.push(serde_json::from_str(&value.to_string()).unwrap());
            }
        }
    });
    found
}

fn binary(client: &mut Client, items: &[(i64, i64, i64, Pack)], now: i64) {
    let mut bytes = Vec::new();
    for (id, time, code, value) in items {
        let item = Pack::Array(vec![(*id).into(), (*time).into(), (*code).into(), value.clone()]);
        rmpv::encode::write_value(&mut bytes, &item).unwrap();
    }
    client.receive_binary(&bytes, Micros(now)).unwrap();
}

fn synced(client: &mut Client) {
    sent(client, 1000);
    binary(client, &[(-1, 1000, 2, 1000.into())], 1000);
}

fn announce(client: &mut Client, name: &str, id: i64, kind: &str) {
    let text =
        json!([{"method": "announce", "params": {"name": name, "id": id, "type": kind, "properties": {}}}]);
    client.receive_text(&text.to_string()).unwrap();
}

#[test]
fn what_was_said_leaves_in_that_order() {
    let mut client = client();
    synced(&mut client);
    let topic = client.publish("/a", &DataType::Int, PublishOptions::default()).unwrap();
    client.set(topic, Micros(2000), ValueRef::Int(1));
    client.set(topic, Micros(2001), ValueRef::Int(2));
    client.unpublish(topic);
    client.set(topic, Micros(2002), ValueRef::Int(3));
    let got = sent(&mut client, 2002);
    assert_eq!(got[0]["method"], "publish");
    assert_eq!(got[1..3], [json!([1, 2000, 2, 1]), json!([1, 2001, 2, 2])]);
    assert_eq!(got[3]["method"], "unpublish");
    assert_eq!((got.len(), client.stats().refused), (4, 1));
}

#[test]
fn report_11_everything_is_said_again_and_maps_are_rebuilt() {
    let mut client = client();
    let topic = client.publish("/a", &DataType::Double, PublishOptions::default()).unwrap();
    client.subscribe(&["/x", "/y"], SubscribeOptions::default().all()).unwrap();
    synced(&mut client);
    announce(&mut client, "/x", 5, "int");
    binary(&mut client, &[(5, 7, 2, 1.into())], 1100);
    assert!(client.value("/x").is_some());
    client.disconnected();
    assert!(client.value("/x").is_some(), "shown until the next connection stands");
    client.set(topic, Micros(1500), ValueRef::Double(1.0));
    client.set(topic, Micros(1600), ValueRef::Double(2.5));
    assert_eq!(sent(&mut client, 1700), Vec::<Json>::new());
    client.connected(Version::V41);
    assert!(client.value("/x").is_none() && client.topic("/x").is_none());
    let got = sent(&mut client, 2000);
    assert_eq!(got[0], json!([-1, 0, 2, 2000]));
    assert_eq!(got[1]["method"], "publish");
    assert_eq!(got[2]["params"]["topics"], json!(["/x", "/y"]));
    binary(&mut client, &[(-1, 1_002_000, 2, 2000.into())], 2000);
    assert_eq!(
        sent(&mut client, 2100),
        [json!([1, 1_001_600, 1, 2.5])],
        "only the last value set while away"
    );
}

#[test]
fn ids_used_again_overwrite_by_id_and_by_name() {
    let mut client = client();
    announce(&mut client, "/a", 3, "int");
    announce(&mut client, "/b", 3, "double");
    assert!(client.topic("/a").is_none());
    binary(&mut client, &[(3, 1, 1, 2.5.into())], 1);
    assert_eq!(client.value("/b"), Some((Micros(1), &Value::Double(2.5))));
    announce(&mut client, "/b", 9, "double");
    binary(&mut client, &[(3, 2, 1, 3.5.into()), (9, 2, 1, 4.5.into())], 1);
    assert_eq!(client.value("/b"), Some((Micros(2), &Value::Double(4.5))));
    assert_eq!(client.stats().unknown_ids, 1);
    // A late end of the old id does not end the new one.
    let text = json!([{"method": "unannounce", "params": {"name": "/b", "id": 3}}]);
    client.receive_text(&text.to_string()).unwrap();
    assert!(client.topic("/b").is_some());
}

#[test]
fn row_5_values_of_another_type_are_tolerated_and_counted() {
    let mut client = client();
    announce(&mut client, "/a", 1, "double");
    binary(&mut client, &[(1, 1, 2, 7.into()), (1, 2, 1, 3.into())], 5);
    let values: Vec<Value> = std::iter::from_fn(|| client.poll_event())
        .filter_map(|e| if let Event::Value { value, .. } = e { Some(value) } else { None })
        .collect();
    assert_eq!(values, [Value::Int(7), Value::Double(3.0)]);
    assert_eq!(client.stats().type_mismatches, 1);
}

#[test]
fn samples_out_of_order_are_kept() {
    let mut client = client();
    announce(&mut client, "/a", 1, "int");
    binary(&mut client, &[(1, 10, 2, 1.into()), (1, 5, 2, 2.into()), (1, -3, 2, 3.into())], 20);
    let times: Vec<i64> = std::iter::from_fn(|| client.poll_event())
        .filter_map(|e| if let Event::Value { time, .. } = e { Some(time.0) } else { None })
        .collect();
    assert_eq!(times, [10, 5, -3]);
    assert_eq!(client.value("/a"), Some((Micros(10), &Value::Int(1))), "the latest by time");
}

#[test]
fn report_13_duplicates_are_compared_with_the_last_value_of_ours() {
    let mut client = client();
    synced(&mut client);
    let options = PublishOptions { skip_duplicates: true, ..PublishOptions::default() };
    let topic = client.publish("/a", &DataType::Int, options).unwrap();
    for (now, value) in [(1, 5), (2, 5), (3, 6), (4, 5)] {
        client.set(topic, Micros(now), ValueRef::Int(value));
    }
    let times: Vec<i64> = sent(&mut client, 1000).iter().filter_map(|v| v[1].as_i64()).collect();
    assert_eq!(times, [1, 3, 4]);
}

#[test]
fn a_server_that_sends_rubbish_costs_messages_and_then_the_connection() {
    let mut client = client();
    announce(&mut client, "/a", 1, "int");
    client.receive_text("no json").unwrap();
    client.receive_text(r#"[5, {"method": "announce"}, {"method": "dance", "params": {}}]"#).unwrap();
    binary(&mut client, &[(1, 1, 2, "text".into()), (1, 2, 2, 8.into())], 1);
    assert_eq!(client.value("/a"), Some((Micros(2), &Value::Int(8))));
    assert_eq!(client.stats().bad_messages, 5);
    assert_eq!(client.receive_binary(&[0x94, 1], Micros(1)).unwrap_err().code, 1001);
    assert_eq!(client.receive_binary(&vec![0; (2 << 20) + 1], Micros(1)).unwrap_err().code, 1009);
}

#[test]
fn queues_are_bounded() {
    let limits = Limits { queue_bytes: 2000, topics: 2, ..Limits::default() };
    let mut client = Client::new(ClientConfig { limits, events: 10 }).unwrap();
    client.connected(Version::V41);
    let (a, b) = (
        client.publish("/a", &DataType::Int, PublishOptions::default()).unwrap(),
        client.publish("/b", &DataType::Int, PublishOptions::default()).unwrap(),
    );
    client.set(b, Micros(1), ValueRef::Int(1));
    for n in 0..1000 {
        client.set(a, Micros(n), ValueRef::Int(n));
    }
    synced(&mut client);
    let got = sent(&mut client, 1000);
    assert!(got.len() < 100);
    assert_eq!(got[0], json!([2, 1, 2, 1]), "the only value of its publisher is not the one to go");
    assert_eq!(got.last(), Some(&json!([1, 999, 2, 999])));
    for n in 0..20 {
        announce(&mut client, &format!("/{n}"), n, "int");
    }
    assert_eq!(client.topics().count(), 8, "four times the topics, for metatopics");
    for n in 0..50 {
        binary(&mut client, &[(1, n, 2, n.into())], 1);
    }
    assert_eq!(std::iter::from_fn(|| client.poll_event()).count(), 10);
    assert!(client.stats().events_dropped > 0);
    assert!(matches!(
        client.publish("$x", &DataType::Int, PublishOptions::default()),
        Err(NtError::BadName { .. })
    ));
    client.set(a, Micros(1), ValueRef::Double(1.0));
    assert_eq!(client.stats().refused, 1);
}

#[test]
fn report_15_a_change_of_the_clock_is_told() {
    let mut client = client();
    sent(&mut client, 0);
    binary(&mut client, &[(-1, 5_050, 2, 0.into())], 100);
    sent(&mut client, 200_000);
    binary(&mut client, &[(-1, 205_010, 2, 200_000.into())], 200_010);
    let clocks: Vec<_> = std::iter::from_fn(|| client.poll_event())
        .filter_map(|e| {
            if let Event::Clock { estimate, step } = e { Some((estimate.offset.0, step)) } else { None }
        })
        .collect();
    assert_eq!(clocks, [(5_000, None), (5_005, Some(Micros(5)))]);
}
