//! The table of places where implementations differ: what ours does, row by row. Row numbers are those of the project's
//! compatibility table; rows 11 and 17 concern the handshake and are tested with sockets.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed step is the test's failure")]

mod common;

use common::{Got, Net, announced, message};
use fieldlab_base::Micros;
use fieldlab_nt4::SubscribeOptions;
use fieldlab_nt4::client::{Client, ClientConfig, PublishOptions};
use fieldlab_nt4::server::{Frame, Version};
use fieldlab_values::{DataType, Value, ValueRef};
use rmpv::Value as Pack;
use serde_json::json;

fn time_answer(client: &mut Client, asked: i64, server: i64, now: i64) {
    let mut bytes = Vec::new();
    rmpv::encode::write_value(&mut bytes, &message(-1, server, 2, asked)).unwrap();
    client.receive_binary(&bytes, Micros(now)).unwrap();
}

#[test]
fn row_1_on_4_0_every_time_answer_counts() {
    let mut client = Client::new(ClientConfig::default()).unwrap();
    client.connected(Version::V40);
    let mut asked = 0;
    for second in 0..20_i64 {
        let now = second * 1_000_000;
        client.transmit(Micros(now), |frame| asked += i32::from(matches!(frame, Frame::Binary(_))));
        time_answer(&mut client, now, now + 500 + second, now + 1000 - second);
        assert_eq!(client.clock().unwrap().measured, Micros(now + 1000 - second));
    }
    assert_eq!(asked, 20, "asked again each second, which is also the sign of life");
}

#[test]
fn row_2_every_publish_is_answered() {
    let mut net = Net::new();
    let one = net.connect("one");
    net.subscribe(one, 1, &["/"], json!({"prefix": true}));
    let other = net.connect("other");
    net.publish(other, "/a", "double", 1);
    assert!(announced(&net.read(one), "/a").is_some());
    for pubuid in [7, 8] {
        net.publish(one, "/a", "double", pubuid);
        let got = net.read_now(one);
        assert!(
            matches!(&got[..], [Got::Announce(n, _, _, _, Some(u))] if n == "/a" && *u == pubuid),
            "{got:?}"
        );
    }
    let mut client = Client::new(ClientConfig::default()).unwrap();
    client.connected(Version::V41);
    let topic = client.publish("/mine", &DataType::Int, PublishOptions::default()).unwrap();
    client.set(topic, Micros(50), ValueRef::Int(4));
    client.transmit(Micros(60), |_| ());
    time_answer(&mut client, 60, 1060, 80);
    let mut sent = 0;
    client.transmit(Micros(80), |_| sent += 1);
    assert_eq!(sent, 1, "our client sends without having seen an announcement");
}

#[test]
fn row_3_a_client_that_only_publishes_is_answered_at_once() {
    let mut net = Net::new();
    let one = net.connect("one");
    net.publish(one, "/a", "double", 1);
    let mut woken = Vec::new();
    net.server.take_wakes(|c| woken.push(c));
    assert_eq!(woken, [one]);
    assert!(announced(&net.read_now(one), "/a").is_some());
}

#[test]
fn row_4_the_requester_gets_ack() {
    let mut net = Net::new();
    let (one, two) = (net.connect("one"), net.connect("two"));
    net.publish(one, "/a", "double", 1);
    net.subscribe(two, 1, &["/a"], json!({"topicsonly": true}));
    net.read(one);
    net.read(two);
    net.text(
        one,
        json!([{"method": "setproperties", "params": {"name": "/a", "update": {"retained": true}}}]),
    );
    let update = json!({"retained": true});
    assert_eq!(net.read(one), [Got::Properties("/a".into(), update.clone(), true)]);
    assert_eq!(net.read(two), [Got::Properties("/a".into(), update, false)]);
}

#[test]
fn row_5_a_value_of_another_type_is_ignored() {
    let mut net = Net::new();
    let (one, two) = (net.connect("one"), net.connect("two"));
    net.publish(one, "/a", "double", 1);
    net.subscribe(two, 1, &["/a"], json!({"all": true}));
    net.set(one, 1, 5, 4, "text");
    net.set(one, 1, 6, 2, 3);
    net.set(one, 1, 7, 1, 2.5);
    assert_eq!(net.values(two), [Pack::from(2.5)]);
    assert_eq!(net.server.stats().type_ignored, 2);
}

#[test]
fn row_6_unsubscribing_stops_values() {
    let mut net = Net::new();
    let (one, two) = (net.connect("one"), net.connect("two"));
    net.publish(one, "/a", "int", 1);
    net.publish(one, "/b", "int", 2);
    net.subscribe(two, 1, &["/a"], json!({"all": true}));
    net.subscribe(two, 2, &["/b"], json!({"all": true}));
    net.set(one, 1, 1, 2, 10);
    net.unsubscribe(two, 1);
    net.set(one, 1, 2, 2, 11);
    net.set(one, 2, 2, 2, 20);
    let values = net.values(two);
    assert!(values.contains(&Pack::from(20)) && !values.contains(&Pack::from(11)), "{values:?}");
}

#[test]
fn row_7_everybody_who_saw_a_topic_is_told_that_it_is_gone() {
    let mut net = Net::new();
    let (one, two, three) = (net.connect("one"), net.connect("two"), net.connect("three"));
    net.publish(one, "/a", "int", 1);
    net.publish(two, "/a", "int", 1);
    net.subscribe(three, 1, &["/a"], json!({}));
    net.unsubscribe(three, 1);
    net.unpublish(two, 1);
    net.unpublish(one, 1);
    for client in [one, two, three] {
        let got = net.read(client);
        assert!(got.iter().any(|g| matches!(g, Got::Unannounce(n, _) if n == "/a")), "{got:?}");
    }
}

#[test]
fn row_8_no_value_without_its_announcement_before() {
    let mut net = Net::new();
    let (one, two) = (net.connect("one"), net.connect("two"));
    net.publish(one, "/a", "int", 1);
    net.set(one, 1, 1, 2, 1);
    net.subscribe(two, 1, &["/a"], json!({}));
    net.unsubscribe(two, 1);
    net.unpublish(one, 1);
    net.publish(one, "/a", "int", 1);
    net.set(one, 1, 2, 2, 2);
    net.subscribe(two, 2, &["/"], json!({"prefix": true, "topicsonly": true}));
    net.subscribe(two, 3, &["/a"], json!({"all": true}));
    net.set(one, 1, 3, 2, 3);
    let got = net.read(two);
    let mut known = std::collections::BTreeSet::new();
    let mut values = 0;
    for item in &got {
        match item {
            Got::Announce(_, id, ..) => assert!(known.insert(*id), "one announcement each: {got:?}"),
            Got::Unannounce(_, id) => assert!(known.remove(id), "{got:?}"),
            Got::Value(id, ..) => {
                assert!(known.contains(id), "{got:?}");
                values += 1;
            }
            Got::Properties(..) => {}
        }
    }
    assert!(values >= 2, "{got:?}");
}

#[test]
fn row_9_the_cache_keeps_the_larger_time_and_everything_is_handed_on() {
    let mut net = Net::new();
    let (one, two, three) = (net.connect("one"), net.connect("two"), net.connect("three"));
    net.publish(one, "/a", "int", 1);
    net.publish(two, "/a", "int", 1);
    net.subscribe(three, 1, &["/a"], json!({"all": true}));
    let stored = |net: &Net| net.server.value("/a").map(|(t, v)| (t.0, v));
    // (who, time, value, what is stored afterwards)
    for (who, time, value, kept) in [
        (one, 0, 1, (0, 1)),
        (two, -500, 2, (-500, 2)),
        (one, 100, 3, (100, 3)),
        (one, 50, 4, (100, 3)),
        (two, 100, 5, (100, 5)),
        (two, 0, 6, (100, 5)),
        (one, 101, 7, (101, 7)),
    ] {
        net.set(who, 1, time, 2, value);
        assert_eq!(stored(&net), Some((kept.0, Value::Int(kept.1))));
    }
    let all: Vec<Pack> = (1..=7).map(Pack::from).collect();
    assert_eq!(net.values(three), all);
    net.set(one, 1, 60, 2, 8);
    assert_eq!(net.values(three), [Pack::from(8)], "an older value alone is handed on too");
}

#[test]
fn row_10_names_always_carry_the_slot() {
    let mut net = Net::new();
    let first = net.connect("twin");
    net.connect("twin");
    assert_eq!(net.server.client_names().collect::<Vec<_>>(), ["twin@1", "twin@2"]);
    net.server.disconnect(first, net.now);
    net.connect("other");
    assert_eq!(net.server.client_names().collect::<Vec<_>>(), ["other@1", "twin@2"]);
}

#[test]
fn row_12_names_that_begin_with_a_dollar_are_refused() {
    let mut net = Net::new();
    let one = net.connect("one");
    net.publish(one, "$mine", "int", 1);
    net.publish(one, "", "int", 2);
    net.publish(one, "/a", "", 3);
    assert_eq!(net.read(one), []);
    assert_eq!(net.server.stats().refused, 3);
}

#[test]
fn row_13_a_default_is_sent_again_with_time_zero() {
    let mut client = Client::new(ClientConfig::default()).unwrap();
    let weak = client.publish("/weak", &DataType::Int, PublishOptions::default()).unwrap();
    let strong = client.publish("/strong", &DataType::Int, PublishOptions::default()).unwrap();
    client.subscribe(&["/"], SubscribeOptions::prefix()).unwrap();
    client.set_default(weak, ValueRef::Int(1));
    client.set(strong, Micros(500), ValueRef::Int(2));
    for offset in [1_000_000, -1_000_000_i64] {
        client.connected(Version::V41);
        // A value of the network's for the weak topic does not become ours.
        let text = json!([{"method": "announce",
            "params": {"name": "/weak", "id": 9, "type": "int", "properties": {}}}]);
        client.receive_text(&text.to_string()).unwrap();
        let mut bytes = Vec::new();
        rmpv::encode::write_value(&mut bytes, &message(9, 77, 2, 99)).unwrap();
        client.receive_binary(&bytes, Micros(900)).unwrap();
        let mut sent = Vec::new();
        client.transmit(Micros(1000), |f| sent.extend(values(f)));
        assert_eq!(sent.iter().filter(|v| v.0 != -1).collect::<Vec<_>>(), [&(1, 0, 1)], "only the default");
        time_answer(&mut client, 1000, 1000 + offset, 1000);
        sent.clear();
        client.transmit(Micros(1001), |f| sent.extend(values(f)));
        assert_eq!(sent, [(2, 500 + offset, 2)], "the original time by the new clock, negative or not");
        client.disconnected();
    }
}

fn values(frame: Frame<'_>) -> Vec<(i64, i64, i64)> {
    let Frame::Binary(mut bytes) = frame else { return Vec::new() };
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let value = rmpv::decode::read_value(&mut bytes).unwrap();
        found.push((value[0].as_i64().unwrap(), value[1].as_i64().unwrap(), value[3].as_i64().unwrap()));
    }
    found
}

#[test]
fn row_14_the_clock_is_measured_again_and_the_best_round_trip_wins() {
    let mut client = Client::new(ClientConfig::default()).unwrap();
    client.connected(Version::V41);
    for (now, round_trip, offset) in
        [(0, 80_000, 40_000), (500_000, 1_000, 9_000), (1_000_000, 50_000, 33_000)]
    {
        let mut asked = 0;
        client.transmit(Micros(now), |_| asked += 1);
        assert_eq!(asked, 1);
        time_answer(&mut client, now, now + round_trip / 2 + offset, now + round_trip);
    }
    let best = client.clock().unwrap();
    assert_eq!((best.offset, best.round_trip), (Micros(9_000), Micros(1_000)));
    // After the window of 30 s the measurement no longer counts.
    client.transmit(Micros(40_000_000), |_| ());
    time_answer(&mut client, 40_000_000, 40_013_000, 40_004_000);
    assert_eq!(client.clock().unwrap().offset, Micros(11_000));
}

#[test]
fn row_15_a_publisher_number_used_again_moves_to_the_new_topic() {
    let mut net = Net::new();
    let (one, two) = (net.connect("one"), net.connect("two"));
    net.subscribe(two, 1, &["/"], json!({"prefix": true, "all": true}));
    net.publish(one, "/a", "int", 1);
    net.set(one, 1, 1, 2, 1);
    net.publish(one, "/b", "int", 1);
    net.set(one, 1, 2, 2, 2);
    let got = net.read(two);
    let (a, b) = (announced(&got, "/a").unwrap(), announced(&got, "/b").unwrap());
    let order: Vec<&Got> = got.iter().filter(|g| !matches!(g, Got::Announce(..))).collect();
    assert_eq!(
        order,
        [&Got::Value(a, 1, 2, 1.into()), &Got::Unannounce("/a".into(), a), &Got::Value(b, 2, 2, 2.into())]
    );
    assert_eq!(net.server.topic_type("/a"), None);
}

#[test]
fn row_16_unknown_subscription_options_are_kept() {
    let mut net = Net::new();
    let (one, two) = (net.connect("one"), net.connect("two"));
    net.subscribe(one, 1, &["/a"], json!({"prefix": true, "colour": "blue", "n": [1, {"x": null}]}));
    net.subscribe(two, 1, &["$clientsub$one@1"], json!({}));
    let seen = net.values(two);
    let Pack::Binary(bytes) = &seen[0] else { panic!("{seen:?}") };
    let rows = rmpv::decode::read_value(&mut bytes.as_slice()).unwrap();
    assert_eq!(rows[0]["options"]["colour"].as_str(), Some("blue"));
    assert_eq!(rows[0]["options"]["n"][0].as_i64(), Some(1));
    assert_eq!(rows[0]["options"]["prefix"].as_bool(), Some(true));
}

#[test]
fn row_18_periods_are_at_least_five_milliseconds_and_absurd_ones_refused() {
    let mut net = Net::new();
    let (one, two) = (net.connect("one"), net.connect("two"));
    net.publish(one, "/a", "int", 1);
    net.subscribe(two, 1, &["/a"], json!({"periodic": 0, "all": true}));
    net.set(one, 1, 1, 2, 1);
    net.read(two);
    net.set(one, 1, 2, 2, 2);
    let first = net.read_now(two).len();
    net.set(one, 1, 3, 2, 3);
    assert_eq!((first, net.read_now(two).len()), (1, 0), "the second waits for the period");
    net.now += Micros(4_999);
    assert_eq!(net.read_now(two).len(), 0);
    net.now += Micros(1);
    assert_eq!(net.read_now(two).len(), 1);
    let bad = net.server.stats().bad_messages;
    net.subscribe(two, 9, &["/"], json!({"prefix": true, "periodic": 1e10}));
    net.subscribe(two, 10, &["/a"], json!({"periodic": -3}));
    assert_eq!(net.server.stats().bad_messages, bad + 1, "a negative period is the shortest one");
}
