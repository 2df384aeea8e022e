//! The official server in the part of a Systemcore's own: the robot's code asks it who the controller is.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fieldlab_base::Micros;
use fieldlab_identity::{FactPart, FactSource};
use fieldlab_robot::identity::SystemServer;
use serde_json::{Value as Json, json};

use crate::Cases;
use crate::peer::{Peer, script};

const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Heard {
    connected: Json,
    /// What the robot knew, each time that it changed.
    parts: Vec<FactPart>,
}

pub(crate) const CASES: Cases<Heard> = &[
    ("the robot's client is let in under its name", named),
    ("its zero is no team, its millivolts are a threshold, and a team that comes later is heard", facts),
];

pub(crate) fn run(peers: &Path) -> Heard {
    let python = peers.join("venv/bin/python");
    let mut peer = Peer::start(python.as_os_str(), &script("system.py"), &[], peers);
    let port = peer.hear("serving")["port"].as_u64().and_then(|port| u16::try_from(port).ok()).unwrap();
    let began = Instant::now();
    let clock = move || Micros(i64::try_from(began.elapsed().as_micros()).unwrap());
    let mut server = SystemServer::start(([127, 0, 0, 1], port).into(), Arc::new(clock)).unwrap();
    let connected = peer.hear("connected");
    let mut parts = Vec::new();
    while began.elapsed() < PATIENCE
        && parts.last().is_none_or(|part: &FactPart| part.controller.team_number.is_none())
    {
        parts.extend(server.read(clock()));
        std::thread::yield_now();
    }
    peer.hear("named");
    peer.kill();
    Heard { connected, parts }
}

fn named(heard: &Heard) {
    // That server numbers the clients of one name.
    assert_eq!(heard.connected["names"], json!(["fieldlab-identity@1"]));
}

fn facts(heard: &Heard) {
    let last = &heard.parts.last().unwrap().controller;
    assert_eq!((last.team_number, last.brownout_millivolts), (Some(5805), Some(6750)));
    let before = &heard.parts[..heard.parts.len() - 1];
    assert!(before.iter().all(|part| part.controller.team_number.is_none()), "0 is no team: {before:?}");
    assert!(before.iter().any(|part| part.controller.brownout_millivolts == Some(6750)), "{before:?}");
}
