//! Any bytes as a binary message, from a client that publishes one topic of every family and tries for the robot's.

use fieldlab_base::Micros;

#[path = "nt.rs"]
mod nt;

const TYPES: [&str; 12] = [
    "boolean",
    "double",
    "int",
    "float",
    "string",
    "raw",
    "boolean[]",
    "double[]",
    "int[]",
    "float[]",
    "string[]",
    "struct:Pose2d",
];

/// One input: one message.
pub(crate) fn run(data: &[u8]) {
    let mut stage = nt::Stage::new();
    let mut publish: Vec<String> =
        TYPES.iter().enumerate().map(|(id, kind)| message(id, &format!("/topic/{id}"), kind)).collect();
    publish.push(message(20, "/Catalyst/FieldLab/State", "string"));
    publish.push(message(21, "/Catalyst/Tuning/FieldLab/Value", "double"));
    assert!(stage.text(&format!("[{}]", publish.join(","))));
    stage.pump();
    if stage.binary(data) {
        stage.binary(data);
    }
    stage.check();
    let mut stage = nt::Stage::new();
    drop(stage.watcher().receive_binary(data, Micros(2_000_000)));
}

fn message(id: usize, name: &str, kind: &str) -> String {
    format!(
        r#"{{"method":"publish","params":{{"name":"{name}","type":"{kind}","pubuid":{id},"properties":{{"persistent":true}}}}}}"#
    )
}
