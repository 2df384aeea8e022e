//! The official client at a campaign: looks, answers, dies, comes back, and answers to the end.

use std::path::Path;

use fieldlab_identity::{ReadSheet, Whole};
use fieldlab_sim::rehearsal::Rehearsal;
use fieldlab_values::Value;
use serde_json::{Value as Json, json};

use crate::live::Live;
use crate::peer::{Peer, script};
use crate::{Cases, surface};

/// What the client saw, and what the robot was left with.
pub(crate) struct Seen {
    /// Prompts and commits before it was killed.
    before: Vec<Json>,
    /// What it had written when it was killed.
    typing: Json,
    /// What the robot showed while the client was back with its last values.
    watched: Json,
    /// Prompts and commits after that.
    after: Vec<Json>,
    done: Json,
    rehearsal: Rehearsal,
}

pub(crate) const CASES: Cases<Seen> = &[
    ("every topic is there, with exactly its type", |seen| surface::check(&seen.done)),
    ("connected in mid-campaign, it has the whole identity sheet with exactly its types", whole_sheet),
    ("the manifest has every input, with absolute keys and whole ranges", manifest),
    ("a confirmation and an answer in Value are accepted and echoed", answers),
    ("killed at a prompt and back with its last values: no phantom answer in more than 4 s", no_phantom),
    ("what was typed on the dead connection is not committed by Advance alone", advance_alone),
    ("after it came back it answers, in Value and in the question's own key", answers_again),
    ("DONE, with the right rows and nothing asked any more", ends),
];

pub(crate) fn run(peers: &Path) -> Seen {
    let live = Live::begin(41);
    let python = peers.join("venv/bin/python");
    let start = |words: &[String]| {
        let all = [&[live.port.to_string()], words].concat();
        Peer::start(python.as_os_str(), &script("answer.py"), &all, peers)
    };
    let mut first = start(&["first".to_owned()]);
    first.hear("connected");
    live.enable();
    let mut before = first.hear_until("typing");
    first.kill();
    let typing = before.pop().unwrap();
    let last = |key: &str| typing[key].to_string();
    let mut again = start(&["again".to_owned(), last("value"), last("advance")]);
    again.hear("connected");
    let watched = again.hear("watched");
    let mut after = again.hear_until("done");
    let done = after.pop().unwrap();
    Seen { before, typing, watched, after, done, rehearsal: live.end() }
}

fn prompt(seq: &Json, key: &str, text: &str, unit: &str, range: Option<(f64, f64)>) -> Json {
    let (min, max) = range.unzip();
    json!({"event": "prompt", "seq": seq, "key": key, "text": text, "unit": unit, "min": min, "max": max})
}

fn commit(said: &str, measurements: &[&str]) -> Json {
    json!({"event": "commit", "said": said, "measurements": measurements})
}

fn answers(seen: &Seen) {
    // Which number a session's first prompt has is the robot's to choose.
    let seq = |at: usize| &seen.before[at]["seq"];
    let expect = [
        prompt(seq(0), "", "Tape laid out, everybody clear", "", None),
        commit(&format!("prompt {} confirmed", seq(0)), &[]),
        prompt(seq(2), "tape-check/mark-m", "Length of the first mark", "m", Some((0.0, 2.0))),
        commit("tape-check/mark-m = 0.75 m", &["tape-check/mark-m|0.75"]),
        prompt(seq(4), "tape-check/second-m", "Length of the second mark", "m", Some((0.0, 2.0))),
    ];
    assert_eq!(seen.before, expect);
}

fn no_phantom(seen: &Seen) {
    assert_eq!((&seen.typing["value"], &seen.typing["advance"]), (&json!(1.25), &json!(2.0)));
    let watched = &seen.watched;
    assert!(watched["secs"].as_f64().unwrap() > 4.0, "{watched}");
    assert_eq!(watched["states"], json!(["AWAITING_OPERATOR"]));
    // One prompt, the one that it left: it was neither answered nor asked anew.
    assert_eq!(watched["prompts"], json!([seen.before.last().unwrap()["seq"]]));
    assert_eq!(watched["rows"], json!(["tape-check/mark-m|0.75"]));
    let said = watched["commits"].as_array().unwrap();
    assert!(said.iter().all(|s| !s.as_str().unwrap().starts_with("tape-check/second-m")), "{watched}");
}

fn advance_alone(seen: &Seen) {
    let refused = &seen.after[0];
    assert_eq!(refused["measurements"], json!(["tape-check/mark-m|0.75"]), "{refused}");
    assert!(refused["said"].as_str().unwrap().starts_with("no new number"), "{refused}");
}

fn answers_again(seen: &Seen) {
    let said: Vec<&str> = seen.after.iter().filter_map(|e| e["said"].as_str()).skip(1).collect();
    let confirmed =
        seen.after.iter().find(|e| e["key"] == "").map(|e| format!("prompt {} confirmed", e["seq"]));
    assert_eq!(
        said,
        ["tape-check/second-m = 1.5 m", &confirmed.unwrap(), "spin/caliper-diameter-in = 4.02 in"]
    );
}

fn ends(seen: &Seen) {
    let mut rows: Vec<&str> =
        seen.done["measurements"].as_array().unwrap().iter().filter_map(Json::as_str).collect();
    rows.sort_unstable();
    assert_eq!(rows, ["spin/caliper-diameter-in|4.02", "tape-check/mark-m|0.75", "tape-check/second-m|1.5"]);
    assert_eq!((&seen.done["prompt"], &seen.done["step"]), (&json!(""), &json!("")));
    assert_eq!(seen.rehearsal.state, "DONE", "{:?}", seen.rehearsal);
    assert_eq!(seen.rehearsal.session, seen.done["session"]);
    assert!(seen.rehearsal.procedures.iter().all(|p| p.outcome == "good"), "{:?}", seen.rehearsal);
    assert_eq!((seen.rehearsal.procedures.len(), seen.rehearsal.files.len()), (2, 1));
}

fn whole_sheet(seen: &Seen) {
    let lines = seen.done["sheet"].as_object().unwrap();
    let mut sheet = ReadSheet::default();
    for (name, line) in lines {
        let kind = line[0].as_str().unwrap();
        let key = ReadSheet::key_of(name).unwrap();
        let row =
            fieldlab_identity::keys::find(key).unwrap_or_else(|| panic!("{key} is no key of the table"));
        assert_eq!(kind, row.data_type.nt_name(), "{key}");
        assert!(sheet.take(name, &row.data_type, &value(kind, &line[1])), "{key}");
    }
    assert_eq!(sheet.problems().collect::<Vec<_>>(), []);
    assert_eq!(sheet.whole(), Whole::Yes, "count and hash over {} lines", lines.len());
    assert_eq!(sheet.text("Identity/Name"), Some("Nowhere"));
    assert_eq!(sheet.text("Identity/Controller"), Some("Simulation"));
    assert!(lines.len() > 40, "{}", lines.len());
}

/// A value as the official library hands it out.
fn value(kind: &str, json: &Json) -> Value {
    let text = |json: &Json| -> std::sync::Arc<str> { json.as_str().unwrap().into() };
    let list = || json.as_array().unwrap().iter();
    match kind {
        "boolean" => Value::Boolean(json.as_bool().unwrap()),
        "int" => Value::Int(json.as_i64().unwrap()),
        "double" => Value::Double(json.as_f64().unwrap()),
        "string" | "json" => Value::String(text(json)),
        "double[]" => Value::DoubleArray(list().map(|n| n.as_f64().unwrap()).collect()),
        "string[]" => Value::StringArray(list().map(text).collect()),
        other => panic!("{other} is no type of the sheet"),
    }
}

fn manifest(seen: &Seen) {
    let topics = seen.done["topics"].as_object().unwrap();
    let rows = seen.done["manifest"].as_array().unwrap();
    let key = |row: &Json| row["key"].as_str().unwrap().to_owned();
    let mut keys: Vec<String> = rows.iter().map(key).collect();
    keys.sort_unstable();
    let mut inputs: Vec<String> =
        topics.keys().filter(|name| name.starts_with("/Catalyst/Tuning/FieldLab/")).cloned().collect();
    inputs.sort_unstable();
    assert_eq!(keys, inputs);
    for row in rows {
        assert_eq!(row["group"], "Field Lab", "{row}");
        if topics[&key(row)] == "double" {
            let [min, max, step] = ["min", "max", "step"].map(|name| row[name].as_f64().unwrap());
            assert!(min < max && step > 0.0, "{row}");
        }
    }
}
