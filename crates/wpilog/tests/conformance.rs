//! WPILib's own writer and reader on the other side: its logs are read by us, ours are read by it, record for record.
//!
//! Runs when `FIELDLAB_CONFORMANCE=1` asks for it and `FIELDLAB_PEERS` names the folder of peers; then an absent peer is
//! a failure.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a test program that prints its own counts")]

#[path = "../../base/tests/support/peers.rs"]
mod peers;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Duration;

use fieldlab_base::Micros;
use fieldlab_values::schema::Tree;
use fieldlab_values::{DataType, Pose2d, Published, Value, ValueRef};
use fieldlab_wpilog::{Column, Control, Decoder, Encoder, Event, Log, LogWriter, WriterConfig};

type Outcome = Result<(), String>;
/// A case is given the peer and an empty folder.
type Case = (&'static str, fn(&Peer, &Path) -> Outcome);

const CASES: [Case; 6] = [
    ("official writer, every type → our reader", |peer, folder| theirs(peer, folder, "types", 23)),
    ("official struct packer → our schemas", |peer, folder| theirs(peer, folder, "structs", 2)),
    ("ntcore's entry log → our reader", |peer, folder| theirs(peer, folder, "network", 11)),
    ("our writer → official reader", ours),
    ("our writer, rolled files → official reader", rolled),
    ("our encoder, edges → official reader", edges),
];

fn main() -> ExitCode {
    let Some(python) = peers::python() else {
        println!("not asked for (FIELDLAB_CONFORMANCE=1 asks)\n0 passed, 0 failed, 1 skipped");
        return ExitCode::SUCCESS;
    };
    let (mut passed, mut failed) = (0, 0);
    match Peer::find(python) {
        Err(reason) => {
            eprintln!("{reason}");
            failed += 1;
        }
        Ok(peer) => {
            for (name, case) in CASES {
                let folder = tempfile::tempdir().map_err(|error| error.to_string());
                match folder.and_then(|folder| case(&peer, folder.path())) {
                    Ok(()) => passed += 1,
                    Err(reason) => {
                        failed += 1;
                        eprintln!("{name}: {reason}");
                    }
                }
            }
        }
    }
    println!("wpiutil 2026.2.2 (Python): {passed} of {} cases", CASES.len());
    println!("{passed} passed, {failed} failed, 0 skipped");
    if failed == 0 && passed == CASES.len() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

struct Peer {
    python: PathBuf,
    scripts: PathBuf,
}

impl Peer {
    fn find(python: PathBuf) -> Result<Self, String> {
        if !python.exists() {
            return Err(format!("{}: expected the peers' Python, found none", python.display()));
        }
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../interop/wpilog");
        Ok(Self { python, scripts })
    }

    fn run(&self, script: &str, words: &[&str], path: &Path) -> Result<String, String> {
        let output = Command::new(&self.python)
            .arg(self.scripts.join(script))
            .args(words)
            .arg(path)
            .output()
            .map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(format!("{script} {words:?}: {}", String::from_utf8_lossy(&output.stderr)));
        }
        String::from_utf8(output.stdout).map_err(|error| error.to_string())
    }

    /// The records as the official reader finds them are the records as we find them.
    fn agrees(&self, path: &Path) -> Outcome {
        let theirs = self.run("official_read.py", &[], path)?;
        let ours = dump(path)?;
        for (line, (ours, theirs)) in ours.lines().zip(theirs.lines()).enumerate() {
            if ours != theirs {
                return Err(format!("record {line}: official reader {theirs:.200}, ours {ours:.200}"));
            }
        }
        same("records", ours.lines().count(), theirs.lines().count())
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, ours: T, theirs: T) -> Outcome {
    if ours == theirs { Ok(()) } else { Err(format!("{what}: official {theirs:?}, ours {ours:?}")) }
}

fn json(text: &str) -> String {
    // Python escapes what is not ASCII; so does this.
    serde_json::Value::from(text).to_string().chars().fold(String::new(), |mut out, c| {
        if c.is_ascii() {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}").ok();
            }
        }
        out
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        write!(out, "{byte:02x}").ok();
        out
    })
}

/// A log in the words of `official_read.py`, by the streaming decoder.
fn dump(path: &Path) -> Result<String, String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let mut decoder = Decoder::new(path.display().to_string());
    decoder.push(&bytes);
    let mut out = String::new();
    while let Some(event) = decoder.next().map_err(|error| error.to_string())? {
        let line = match event {
            Event::Header { version, extra } => {
                format!("header {version} {}", json(&String::from_utf8_lossy(extra)))
            }
            Event::Control { time, control: Control::Start { id, name, type_name, metadata } } => {
                let texts = [name, type_name, metadata].map(|text| json(&text.lossy())).join(" ");
                format!("start {} {id} {texts}", time.0)
            }
            Event::Control { time, control: Control::Finish { id } } => format!("finish {} {id}", time.0),
            Event::Control { time, control: Control::SetMetadata { id, metadata } } => {
                format!("metadata {} {id} {}", time.0, json(&metadata.lossy()))
            }
            Event::Odd { time, odd } => format!("odd {} {odd}", time.0),
            Event::Data { id, time, payload } => format!("data {} {id} {}", time.0, hex(payload)),
        };
        out.push_str(&line);
        out.push('\n');
    }
    match decoder.finish().map_err(|error| error.to_string())? {
        None => Ok(out),
        Some(tail) => Err(tail.to_string()),
    }
}

/// A log by an official writer: both readers find the same records, and our values are those that were meant.
fn theirs(peer: &Peer, folder: &Path, case: &str, at_least: usize) -> Outcome {
    let path = folder.join("theirs.wpilog");
    let meant = peer.run("official_write.py", &[case], &path)?;
    peer.agrees(&path)?;
    let meant: BTreeMap<String, serde_json::Value> =
        serde_json::from_str(&meant).map_err(|error| error.to_string())?;
    let log = Log::open(&path).map_err(|error| error.to_string())?;
    let mut checked = 0;
    for (name, meant) in &meant {
        let entry = log.named(name).next().ok_or(format!("no entry {name}"))?;
        same(name, entry.data_type.log_name(), meant["type"].as_str().unwrap_or(""))?;
        if let Some(metadata) = meant["metadata"].as_str() {
            same(name, entry.last_metadata(), metadata)?;
        }
        let shown: Vec<(Micros, serde_json::Value)> = match entry.data_type.struct_name() {
            Some((_, array)) => {
                let column = log.struct_values(entry).map_err(|error| error.to_string())?;
                let show = |items: &Vec<Tree>| {
                    let mut items: Vec<_> = items.iter().map(flat).collect();
                    if array { items.into() } else { items.pop().unwrap_or_default() }
                };
                column.iter().map(|(time, items)| (time, show(items))).collect()
            }
            None => {
                let column: Column<Value> = log.values(entry);
                column.iter().map(|(time, value)| (time, plain(value))).collect()
            }
        };
        let meant = meant["values"].as_array().ok_or("no values")?;
        same(&format!("{name}: values"), shown.len(), meant.len())?;
        for ((time, value), meant) in shown.iter().zip(meant) {
            if let Some(meant) = meant[0].as_i64() {
                same(&format!("{name}: time"), time.0, meant)?;
            }
            // Floats came through 32 bits on the way.
            let equal = match (value.as_f64(), meant[1].as_f64()) {
                (Some(ours), Some(theirs)) => ours == theirs || ours == f64::from(theirs as f32),
                _ => *value == meant[1],
            };
            if !equal {
                return Err(format!("{name}: official wrote {:.200}, we read {value:.200}", meant[1]));
            }
            checked += 1;
        }
    }
    if checked < at_least {
        return Err(format!("expected at least {at_least} values, checked {checked}"));
    }
    Ok(())
}

fn plain(value: &Value) -> serde_json::Value {
    match value {
        Value::Boolean(v) => (*v).into(),
        Value::Int(v) => (*v).into(),
        Value::Float(v) => f64::from(*v).into(),
        Value::Double(v) => (*v).into(),
        Value::String(v) => v.as_ref().into(),
        Value::Raw(v) => v.to_vec().into(),
        Value::BooleanArray(v) => v.to_vec().into(),
        Value::IntArray(v) => v.to_vec().into(),
        Value::FloatArray(v) => v.iter().map(|v| f64::from(*v)).collect::<Vec<_>>().into(),
        Value::DoubleArray(v) => v.to_vec().into(),
        Value::StringArray(v) => v.iter().map(|v| v.as_ref()).collect::<Vec<_>>().into(),
    }
}

/// A struct's values without names, depth first.
fn flat(tree: &Tree) -> serde_json::Value {
    fn collect(tree: &Tree, out: &mut Vec<serde_json::Value>) {
        match tree {
            Tree::Bool(v) => out.push((*v).into()),
            Tree::Int(v) => out.push((*v).into()),
            Tree::UInt(v) => out.push((*v).into()),
            Tree::Float(v) => out.push(f64::from(*v).into()),
            Tree::Double(v) => out.push((*v).into()),
            Tree::Text(v) => out.push(v.as_str().into()),
            Tree::Array(items) => items.iter().for_each(|item| collect(item, out)),
            Tree::Struct(fields) => fields.iter().for_each(|(_, field)| collect(field, out)),
        }
    }
    let mut out = Vec::new();
    collect(tree, &mut out);
    out.into()
}

/// Appends one value of every type, the extreme times among them.
fn fill(log: &LogWriter, turns: i64) -> Outcome {
    let texts: [Arc<str>; 2] = ["".into(), "ü€".into()];
    let long = "x".repeat(70_000);
    let poses = [Pose2d::new(1.0, 2.0, 3.0), Pose2d::new(4.0, 5.0, 6.0)];
    let values = [
        ("boolean", ValueRef::Boolean(true)),
        ("int64", ValueRef::Int(i64::MIN)),
        ("float", ValueRef::Float(-0.5)),
        ("double", ValueRef::Double(f64::NAN)),
        ("string", ValueRef::String(&long)),
        ("json", ValueRef::String("{}")),
        ("raw", ValueRef::Raw(&[])),
        ("boolean[]", ValueRef::BooleanArray(&[true, false])),
        ("int64[]", ValueRef::IntArray(&[1, -1])),
        ("float[]", ValueRef::FloatArray(&[0.5])),
        ("double[]", ValueRef::DoubleArray(&[0.1, f64::INFINITY])),
        ("string[]", ValueRef::StringArray(&texts)),
    ];
    let text = |error: fieldlab_wpilog::LogError| error.to_string();
    log.schemas_of::<Pose2d>(Micros(3)).map_err(text)?;
    let pose = log.start(Micros(3), "poses", &<[Pose2d]>::data_type(), "").map_err(text)?;
    for turn in 0..turns {
        for (kind, value) in values {
            let entry = log.start(Micros(4), kind, &DataType::from_log(kind), "{\"ü\":1}").map_err(text)?;
            for time in [turn, -turn - 1, i64::MAX - turn, i64::MIN + turn] {
                log.append(entry, Micros(time), value);
            }
        }
        poses[..].with_value(&mut |value| {
            log.append(pose, Micros(turn), value);
        });
        log.set_metadata(Micros(turn), pose, &format!("{{\"turn\":{turn}}}"));
        log.flush_and_wait().map_err(|reason| reason.to_string())?;
    }
    log.finish(Micros(5), pose);
    Ok(())
}

fn ours(peer: &Peer, folder: &Path) -> Outcome {
    let path = folder.join("ours.wpilog");
    let config = WriterConfig {
        extra_header: "ü".into(),
        free_floor_bytes: 0,
        flush_every: Duration::from_millis(5),
        ..WriterConfig::default()
    };
    let log = LogWriter::create(&path, config).map_err(|error| error.to_string())?;
    fill(&log, 3)?;
    same("stopped", log.close().stopped, None)?;
    peer.agrees(&path)
}

fn rolled(peer: &Peer, folder: &Path) -> Outcome {
    let config = WriterConfig { roll_bytes: 400_000, free_floor_bytes: 0, ..WriterConfig::default() };
    let log = LogWriter::create(folder.join("roll.wpilog"), config).map_err(|error| error.to_string())?;
    fill(&log, 4)?;
    let files = log.close().files;
    if files.len() < 3 {
        return Err(format!("expected at least 3 files, found {files:?}"));
    }
    files.iter().try_for_each(|path| peer.agrees(path))
}

fn edges(peer: &Peer, folder: &Path) -> Outcome {
    let mut log = Encoder::new("");
    log.value(Micros(1), 7, ValueRef::Double(1.0));
    log.start(Micros(2), 7, "late", &DataType::Double, "");
    for id in [1, 255, 256, 65_535, 65_536, 0x00ff_ffff, 0x0100_0000, 0x7fff_ffff] {
        log.start(Micros(2), id, &format!("id/{id}"), &DataType::Raw, "");
        for size in [0, 1, 255, 256, 65_535, 65_536] {
            log.data(Micros(1 << (size % 63)), id, &vec![7; size]);
        }
    }
    log.finish(Micros(3), 256);
    log.start(Micros(4), 256, "id again", &DataType::Int, "");
    log.value(Micros(0), 256, ValueRef::Int(0));
    let path = folder.join("edges.wpilog");
    std::fs::write(&path, log.bytes()).map_err(|error| error.to_string())?;
    peer.agrees(&path)
}
