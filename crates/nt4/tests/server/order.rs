//! Times, equal values, slow clients, and what leaves first.

use crate::common::{Got, Net, announced, message};
use fieldlab_nt4::Limits;
use fieldlab_nt4::server::ServerConfig;
use rmpv::Value as Pack;
use serde_json::json;

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
