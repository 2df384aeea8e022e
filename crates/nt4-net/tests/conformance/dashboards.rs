//! The independent TypeScript client and the habits of dashboards, in Node, against our server.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fieldlab_base::{Micros, OperatorValue};
use fieldlab_nt4::Properties;
use fieldlab_nt4::server::{InputKind, LocalTopic};
use fieldlab_nt4_net::Hub;
use fieldlab_values::{DataType, Value};
use serde_json::{Value as Json, json};

use crate::Case;
use crate::peer::{every_type, scripts, serve, until};

pub(crate) const TYPESCRIPT: &[Case] = &[("every type that it knows, both ways", typescript)];

pub(crate) const HABITS: &[Case] = &[
    ("AdvantageScope: probe, time socket, everything at 20 ms", |p| habit(p, "advantagescope")),
    ("Elastic: 4.0 listed first, publish without properties", |p| habit(p, "elastic")),
    ("the console: 4.0 only, integer time, value right after publish", |p| habit(p, "console")),
    ("the tablet: prefixes, a drag that streams", |p| habit(p, "tab")),
];

fn node(peers: &Path, script: &str, words: &[&str]) -> Child {
    Command::new("node")
        .arg(scripts().join(script))
        .args(words)
        .env("NODE_PATH", peers.join("npm/node_modules"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The robot's topics, one of each type.
fn robot(hub: &Hub) -> Vec<(LocalTopic, Value)> {
    every_type()
        .into_iter()
        .map(|(kind, value, _)| {
            let name =
                if kind == "struct:Pose2d" { "/robot/struct".to_owned() } else { format!("/robot/{kind}") };
            let data_type = DataType::from_nt(kind);
            (hub.with(|s| s.publish_local(&name, &data_type, &Properties::new())).unwrap(), value)
        })
        .collect()
}

fn typescript(peers: &Path) {
    let (hub, _server, port) = serve();
    let own = [
        ("boolean", Value::Boolean(true), json!(true)),
        ("int", Value::Int(-7), json!(-7)),
        ("double", Value::Double(3.0), json!(3)),
        ("string", Value::from("gr\u{fc}\u{df}\u{1F916}"), json!("gr\u{fc}\u{df}\u{1F916}")),
        ("boolean[]", Value::BooleanArray([true, false].as_slice().into()), json!([true, false])),
        ("int[]", Value::IntArray([1, -2].as_slice().into()), json!([1, -2])),
        ("double[]", Value::DoubleArray([1.0, 2.5].as_slice().into()), json!([1, 2.5])),
        ("string[]", Value::StringArray(["a".into(), "".into()].as_slice().into()), json!(["a", ""])),
    ];
    for (kind, value, _) in &own {
        let name = format!("/robot/{kind}");
        let topic =
            hub.with(|s| s.publish_local(&name, &DataType::from_nt(kind), &Properties::new())).unwrap();
        hub.with(|s| s.set_local(topic, Micros(7), value.as_ref()));
    }
    let child = node(peers, "ntcore-ts.cjs", &[&port.to_string()]);
    for (kind, value, _) in &own {
        let name = format!("/ts/{kind}");
        until(&name, || hub.with(|s| s.value(&name)).is_some_and(|(_, v)| v == *value));
    }
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let seen: Json = serde_json::from_str(text.trim().lines().last().unwrap()).unwrap();
    for (kind, _, expect) in &own {
        assert_eq!(seen[kind].to_string().replace(".0", ""), expect.to_string(), "{kind}");
    }
}

/// Runs a script while the robot's topics change every few milliseconds and what is written to `/in` is shown as `/out`.
fn habit(peers: &Path, name: &str) {
    let (hub, _server, port) = serve();
    let topics = robot(&hub);
    let input = hub.with(|s| s.declare_input("/in", InputKind::Number, &Value::Double(0.5))).unwrap();
    let out = hub.with(|s| s.publish_local("/out", &DataType::Double, &Properties::new())).unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let robot = std::thread::spawn({
        let (hub, done) = (hub.clone(), done.clone());
        move || {
            let mut samples = Vec::new();
            let mut tick = 0;
            while !done.load(Ordering::Relaxed) {
                tick += 1;
                hub.with(|s| {
                    for (topic, value) in &topics {
                        s.set_local(*topic, Micros(tick), value.as_ref());
                    }
                    s.drain_inputs(&mut samples);
                    for sample in samples.drain(..) {
                        assert_eq!(sample.input, input.id);
                        if let OperatorValue::Number(number) = sample.value {
                            s.set_local(out, Micros(tick), Value::Double(number).as_ref());
                        }
                    }
                });
                std::thread::park_timeout(std::time::Duration::from_millis(5));
            }
        }
    });
    let output = node(peers, "dashboards.cjs", &[name, &port.to_string()]).wait_with_output().unwrap();
    done.store(true, Ordering::Relaxed);
    robot.join().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.trim().ends_with("seen"), "{name}: {text}");
}
