//! The two dashboards with their own habits on the wire, in Node: each answers a whole campaign with what its controls can
//! express.

use std::ffi::OsStr;
use std::path::Path;

use fieldlab_sim::rehearsal::Rehearsal;
use serde_json::{Value as Json, json};

use crate::Cases;
use crate::live::Live;
use crate::peer::{Peer, script};

pub(crate) struct Answered {
    habit: &'static str,
    connected: Json,
    /// Prompts and what was said to their answers, in turn.
    heard: Vec<Json>,
    done: Json,
    rehearsal: Rehearsal,
}

pub(crate) const CASES: Cases<Answered> = &[
    ("its version of the protocol, and as many writes as its controls make", writes),
    ("every prompt answered at its first press, and DONE", answers),
];

pub(crate) fn run(peers: &Path, habit: &'static str) -> Answered {
    let live = Live::begin(42);
    let words = [habit.to_owned(), live.port.to_string()];
    let modules = peers.join("npm/node_modules");
    let mut peer = Peer::start(OsStr::new("node"), &script("dashboards.cjs"), &words, &modules);
    let connected = peer.hear("connected");
    live.enable();
    let mut heard = peer.hear_until("done");
    let done = heard.pop().unwrap();
    Answered { habit, connected, heard, done, rehearsal: live.end() }
}

fn writes(of: &Answered) {
    let made = of.done["writes"].as_u64().unwrap();
    if of.habit == "console" {
        assert_eq!(of.connected["protocol"], "networktables.first.wpi.edu");
        // Three answers and five presses: one write on release each.
        assert_eq!(made, 8, "{}", of.done);
    } else {
        assert_eq!(of.connected["protocol"], "v4.1.networktables.first.wpi.edu");
        // Three drags of a dozen values and three taps, five presses.
        assert!(made > 40, "{}", of.done);
    }
}

fn answers(of: &Answered) {
    let (mut asked, mut said) = (Vec::new(), Vec::new());
    for pair in of.heard.chunks_exact(2) {
        let (prompt, commit) = (&pair[0], pair[1]["said"].as_str().unwrap());
        asked.push(prompt["key"].as_str().unwrap());
        said.push(commit.replace(&format!("prompt {} ", prompt["seq"]), "this "));
    }
    let [first, second, third] = ["tape-check/mark-m", "tape-check/second-m", "spin/caliper-diameter-in"];
    assert_eq!(asked, ["", first, second, "", third], "each prompt once");
    let [a, b, c] = [format!("{first} = 0.75 m"), format!("{second} = 1.5 m"), format!("{third} = 4.02 in")];
    assert_eq!(said, ["this confirmed", &a, &b, "this confirmed", &c]);
    assert_eq!(of.done["confirms"], json!(2));
    let rows = of.done["measurements"].as_array().unwrap();
    assert_eq!(rows.len(), 3, "{}", of.done);
    assert_eq!(of.rehearsal.state, "DONE", "{:?}", of.rehearsal);
    assert!(of.rehearsal.procedures.iter().all(|p| p.outcome == "good"), "{:?}", of.rehearsal);
}
