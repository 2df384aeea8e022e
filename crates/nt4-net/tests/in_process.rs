//! The client core and the server core joined in one process, in virtual time.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed step is the test's failure")]

use std::sync::Arc;

use fieldlab_base::{Micros, OperatorSample, OperatorValue};
use fieldlab_nt4::client::{Client, ClientConfig, Event, PublishOptions};
use fieldlab_nt4::server::{InputKind, Server, ServerConfig};
use fieldlab_nt4::{Properties, SubscribeOptions};
use fieldlab_nt4_net::Hub;
use fieldlab_values::{DataType, Value, ValueRef};

fn hub() -> Hub {
    Hub::new(Server::new(ServerConfig::default()).unwrap())
}

fn client() -> Client {
    Client::new(ClientConfig::default()).unwrap()
}

fn values(client: &mut Client, name: &str) -> Vec<Value> {
    let mut found = Vec::new();
    while let Some(event) = client.poll_event() {
        if let Event::Value { name: of, value, .. } = event
            && of.as_ref() == name
        {
            found.push(value);
        }
    }
    found
}

#[test]
fn an_operator_in_process_answers_and_others_see_the_answer() {
    let hub = hub();
    let input =
        hub.with(|s| s.declare_input("/Catalyst/Tuning/x", InputKind::Number, &Value::Double(0.5))).unwrap();
    let (mut operator, mut watcher) = (client(), client());
    let mut pipe = hub.connect_local("operator", Micros(1_000_000)).unwrap();
    let mut other = hub.connect_local("watcher", Micros(1_100_000)).unwrap();
    watcher.subscribe(&["/"], SubscribeOptions::prefix()).unwrap();
    let x = operator.publish("/Catalyst/Tuning/x", &DataType::Int, PublishOptions::default()).unwrap();
    pipe.pump(&mut operator, Micros(1_200_000));
    other.pump(&mut watcher, Micros(1_200_000));
    assert_eq!(operator.clock().map(|c| c.offset), Some(Micros::ZERO));
    operator.set(x, Micros(1_300_000), ValueRef::Int(4));
    pipe.pump(&mut operator, Micros(1_300_000));
    other.pump(&mut watcher, Micros(1_300_000));
    let mut samples = Vec::new();
    hub.with(|s| s.drain_inputs(&mut samples));
    let expect = OperatorSample {
        input: input.id,
        value: OperatorValue::Number(4.0),
        arrival: 1,
        received: Micros(1_300_000),
        client: pipe.client_id(),
        connected_at: Micros(1_000_000),
    };
    assert_eq!(samples, [expect]);
    assert_eq!(values(&mut watcher, "/Catalyst/Tuning/x"), [Value::Double(0.5), Value::Double(4.0)]);
}

#[test]
fn a_dropped_pipe_is_a_disconnect_and_the_next_one_says_everything_again() {
    let hub = hub();
    let (mut one, mut two) = (client(), client());
    let topic = one.publish("/a", &DataType::StringArray, PublishOptions::default()).unwrap();
    two.subscribe(&["/a"], SubscribeOptions::default()).unwrap();
    let mut first = hub.connect_local("one", Micros(1)).unwrap();
    let mut second = hub.connect_local("two", Micros(1)).unwrap();
    let text: [Arc<str>; 2] = ["x".into(), "y".into()];
    one.set(topic, Micros(5), ValueRef::StringArray(&text));
    first.pump(&mut one, Micros(10));
    second.pump(&mut two, Micros(10));
    assert!(two.topic("/a").is_some());
    first.close(&mut one, Micros(20));
    second.pump(&mut two, Micros(20));
    assert!(two.topic("/a").is_none(), "a topic without publishers is gone");
    let mut again = hub.connect_local("one", Micros(30)).unwrap();
    again.pump(&mut one, Micros(30));
    second.pump(&mut two, Micros(30));
    assert_eq!(values(&mut two, "/a").len(), 2, "the last value is said again");
    assert_eq!(two.value("/a").map(|(t, _)| t), Some(Micros(5)), "at its original time");
}

#[test]
fn robot_values_reach_a_client_in_process() {
    let hub = hub();
    let mut watcher = client();
    watcher.subscribe(&[""], SubscribeOptions::prefix().all()).unwrap();
    let mut pipe = hub.connect_local("w", Micros(1)).unwrap();
    pipe.pump(&mut watcher, Micros(1));
    let mut frames = hub.publisher();
    let topic = frames.declare("/r".into(), DataType::Double, Properties::new());
    for tick in 0..5 {
        frames.put(topic, Micros(100 + tick), ValueRef::Double(tick as f64));
        frames.send();
        pipe.pump(&mut watcher, Micros(100 + tick));
    }
    let expect: Vec<Value> = (0..5).map(|t| Value::Double(f64::from(t))).collect();
    assert_eq!(values(&mut watcher, "/r"), expect);
}
