//! Laws that hold after any sequence of what clients and robot may do.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed step is the test's failure")]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{Got, Net};
use fieldlab_base::{ClientId, Micros};
use fieldlab_nt4::server::{LocalTopic, ServerConfig};
use fieldlab_nt4::{Limits, Properties};
use fieldlab_values::{DataType, ValueRef};
use proptest::prelude::*;
use serde_json::json;

#[derive(Debug, Clone)]
enum Step {
    Connect,
    Disconnect(usize),
    Publish(usize, usize, i64, bool),
    Unpublish(usize, i64),
    Subscribe(usize, i64, usize, bool, bool, bool),
    Unsubscribe(usize, i64),
    Set(usize, i64, i64, i64),
    Property(usize, usize, &'static str, Option<bool>),
    RobotPublish(usize),
    RobotSet(usize, i64),
    RobotEnd(usize),
    Read(usize),
}

const NAMES: [&str; 5] = ["/a", "/a/b", "/c", "", "$clients"];

fn step() -> impl Strategy<Value = Step> {
    let client = 0..3_usize;
    let uid = 0..4_i64;
    prop_oneof![
        2 => Just(Step::Connect),
        1 => client.clone().prop_map(Step::Disconnect),
        4 => (client.clone(), 0..5_usize, uid.clone(), any::<bool>()).prop_map(|(c, n, u, r)| Step::Publish(c, n, u, r)),
        2 => (client.clone(), uid.clone()).prop_map(|(c, u)| Step::Unpublish(c, u)),
        4 => (client.clone(), uid.clone(), 0..5_usize, any::<bool>(), any::<bool>(), any::<bool>())
            .prop_map(|(c, u, n, p, a, t)| Step::Subscribe(c, u, n, p, a, t)),
        2 => (client.clone(), uid.clone()).prop_map(|(c, u)| Step::Unsubscribe(c, u)),
        8 => (client.clone(), uid, -3..9_i64, any::<i64>()).prop_map(|(c, u, t, v)| Step::Set(c, u, t, v)),
        2 => (client.clone(), 0..3_usize, prop_oneof![Just("retained"), Just("cached"), Just("persistent")], any::<Option<bool>>())
            .prop_map(|(c, n, k, v)| Step::Property(c, n, k, v)),
        1 => (0..3_usize).prop_map(Step::RobotPublish),
        2 => (0..3_usize, any::<i64>()).prop_map(|(n, v)| Step::RobotSet(n, v)),
        1 => (0..3_usize).prop_map(Step::RobotEnd),
        3 => client.prop_map(Step::Read),
    ]
}

/// What one connection has been told must make sense by itself, and be all that it asked for.
#[derive(Default)]
struct Told {
    by_id: BTreeMap<i64, String>,
    /// Ids of which a value came since they were announced.
    heard: BTreeSet<i64>,
    /// What it asked for: name, prefix, topics only.
    asked: BTreeMap<i64, (&'static str, bool, bool)>,
    /// Names that it published at some time: what it set itself does not come back.
    own: BTreeSet<&'static str>,
}

impl Told {
    fn take(&mut self, got: Vec<Got>) {
        for item in got {
            match item {
                Got::Announce(name, id, ..) => {
                    let before = self.by_id.insert(id, name.clone());
                    assert!(before.is_none_or(|b| b == name), "an id means one topic");
                    let same = self.by_id.values().filter(|n| **n == name).count();
                    assert_eq!(same, 1, "a name has one id: {name}");
                }
                Got::Unannounce(name, id) => {
                    self.heard.remove(&id);
                    assert_eq!(self.by_id.remove(&id), Some(name));
                }
                Got::Value(id, ..) => {
                    self.heard.insert(id);
                    assert!(self.by_id.contains_key(&id), "announced before");
                }
                Got::Properties(name, ..) => assert!(!name.is_empty()),
            }
        }
    }

    /// Whether a subscription of its asks for the values of a topic.
    fn wants(&self, name: &str) -> bool {
        self.asked.values().any(|(asked, prefix, topics_only)| {
            let meant = if *prefix { name.starts_with(asked) } else { name == *asked };
            meant && !topics_only && name.starts_with('$') == asked.starts_with('$')
        })
    }

    /// Report 5: pings flow, the topic is announced, and its value never comes. Call it with nothing left to read.
    fn lacks_nothing(&self, net: &Net) {
        for name in NAMES {
            if net.server.value(name).is_none() || !self.wants(name) || self.own.contains(name) {
                continue;
            }
            let id = self.by_id.iter().find(|(_, told)| *told == name).map(|(id, _)| id);
            let Some(id) = id else { panic!("{name} was asked for and never announced") };
            assert!(self.heard.contains(id), "{name} was announced and never sent");
        }
    }
}

fn run(steps: Vec<Step>) {
    let limits = Limits { topics: 4, queue_bytes: 300, stored_bytes: 4000, ..Limits::default() };
    let mut net = Net::with(ServerConfig { limits, ..ServerConfig::default() });
    let mut clients: Vec<(ClientId, Told)> = Vec::new();
    let mut robot: BTreeMap<usize, LocalTopic> = BTreeMap::new();
    let mut said: BTreeMap<usize, (Micros, i64)> = BTreeMap::new();
    for (now, step) in steps.into_iter().enumerate() {
        net.now = Micros(10_000_000 + now as i64 * 1000);
        let of = |clients: &[(ClientId, Told)], c: usize| clients.get(c).map(|(id, _)| *id);
        match step {
            Step::Connect if clients.len() < 3 => {
                let id = net.connect("peer");
                clients.push((id, Told::default()));
            }
            Step::Connect => {}
            Step::Disconnect(c) if c < clients.len() => {
                let (id, _) = clients.remove(c);
                net.server.disconnect(id, net.now);
            }
            Step::Publish(c, n, uid, retained) => {
                if let Some((id, told)) = clients.get_mut(c) {
                    told.own.insert(NAMES[n]);
                    net.text(
                        *id,
                        json!([{"method": "publish", "params": {"name": NAMES[n], "type": "int", "pubuid": uid,
                            "properties": {"retained": retained}}}]),
                    );
                }
            }
            Step::Unpublish(c, uid) => {
                if let Some(id) = of(&clients, c) {
                    net.unpublish(id, uid);
                }
            }
            Step::Subscribe(c, uid, n, prefix, all, topics_only) => {
                if let Some((id, told)) = clients.get_mut(c) {
                    told.asked.insert(uid, (NAMES[n], prefix, topics_only));
                    let options =
                        json!({"prefix": prefix, "all": all, "topicsonly": topics_only, "periodic": 0.01});
                    net.subscribe(*id, uid, &[NAMES[n]], options);
                }
            }
            Step::Unsubscribe(c, uid) => {
                if let Some((id, told)) = clients.get_mut(c) {
                    told.asked.remove(&uid);
                    net.unsubscribe(*id, uid);
                }
            }
            Step::Set(c, uid, time, value) => {
                if let Some(id) = of(&clients, c) {
                    net.set(id, uid, time, 2, value);
                }
            }
            Step::Property(c, n, key, value) => {
                if let Some(id) = of(&clients, c) {
                    net.text(
                        id,
                        json!([{"method": "setproperties", "params": {"name": NAMES[n], "update": {key: value}}}]),
                    );
                }
            }
            Step::RobotPublish(n) => {
                if let Ok(topic) = net.server.publish_local(NAMES[n], &DataType::Int, &Properties::new())
                    && robot.insert(n, topic) != Some(topic)
                {
                    said.remove(&n);
                }
            }
            Step::RobotSet(n, value) => {
                if let Some(topic) = robot.get(&n) {
                    net.server.set_local(*topic, net.now, ValueRef::Int(value));
                    said.insert(n, (net.now, value));
                }
            }
            Step::RobotEnd(n) => {
                if let Some(topic) = robot.remove(&n) {
                    net.server.unpublish_local(topic);
                    said.remove(&n);
                }
            }
            Step::Read(c) => {
                if let Some((id, told)) = clients.get_mut(c) {
                    told.take(net.read_now(*id));
                }
            }
            Step::Disconnect(_) => {}
        }
        for (n, (time, value)) in &said {
            let stored = net.server.value(NAMES[*n]);
            assert_eq!(stored, Some((*time, fieldlab_values::Value::Int(*value))), "the robot's word stands");
        }
    }
    for (id, told) in &mut clients {
        told.take(net.read(*id));
        told.lacks_nothing(&net);
        let known: BTreeSet<String> = told.by_id.values().cloned().collect();
        for name in &known {
            assert!(net.server.topic_type(name).is_some(), "{name} is gone and the client was told");
        }
    }
    for (id, _) in clients {
        net.server.disconnect(id, net.now);
    }
    for topic in robot.into_values() {
        net.server.unpublish_local(topic);
    }
    let own = ["$clients", "$serverpub", "$serversub"];
    let ordinary = net.server.topic_names().filter(|n| !n.starts_with('$')).count();
    let metas = net.server.topic_names().filter(|n| n.starts_with('$') && !own.contains(n)).count();
    assert!(ordinary <= 4);
    assert_eq!(metas, 2 * ordinary, "metatopics go with their topics and clients");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]
    #[test]
    fn report_5_what_each_client_is_told_makes_sense_lacks_nothing_and_the_robots_word_stands(steps in prop::collection::vec(step(), 1..120)) {
        run(steps);
    }
}
