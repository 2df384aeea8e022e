//! Topics that the robot owns, and the inputs that it declares.

use crate::common::{Got, Net, announced};
use fieldlab_base::{Micros, OperatorValue};
use fieldlab_nt4::server::{Input, InputKind, ServerConfig};
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
