//! What a subscription brings, and in which order.

use crate::common::{Got, Net, announced};
use fieldlab_nt4::Limits;
use fieldlab_nt4::server::ServerConfig;
use rmpv::Value as Pack;
use serde_json::json;

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
