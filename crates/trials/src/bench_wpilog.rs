//! `bench wire`, the log half: our reader and writer beside WPILib's own C++ classes, on one file in one run.
//!
//! The official side is `interop/wpilog/official_bench.cpp`, compiled here against the headers and the library of the
//! peers' Python wheel. Each figure is the best of several runs, taken in turns so that a busy machine is busy for both.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use fieldlab_base::Micros;
use fieldlab_values::{DataType, Pose2d, Published, ValueRef};
use fieldlab_wpilog::{AnyColumn, Closed, EntryId, Log, LogWriter, Overflow, WriterConfig};

use crate::figures::{Aim, Figures};
use crate::options::Options;

/// The word that starts the child whose peak memory is measured; the log's path follows.
pub const DECODE: &str = "bench-wire-decode";
/// Fields decoded one by one in each turn.
const FIELDS: usize = 8;
const DOUBLES: usize = 160;
const INTS: usize = 30;
const BOOLEANS: usize = 30;
const ARRAYS: usize = 20;
const POSES: usize = 8;
const TEXTS: usize = 12;

/// The log half of `bench wire`.
///
/// # Errors
/// No peers, no C++ compiler, no room for the files, or counts that differ between the two sides.
pub fn run(options: &Options) -> Result<Figures> {
    let ticks = if options.quick { 5_000 } else { 50_000 };
    let turns = if options.quick { 3 } else { 5 };
    let folder = tempfile::tempdir()?;
    let official = compile(folder.path())?;
    let path = folder.path().join("ours.wpilog");
    let theirs = folder.path().join("theirs.wpilog");

    let mut write = Turns::default();
    let mut records = 0;
    for _ in 0..turns {
        remove(&path)?;
        remove(&theirs)?;
        let start = Instant::now();
        let closed = synthesise(&path, ticks)?;
        write.ours.push(start.elapsed().as_secs_f64());
        records = closed.stats.records;
        let (seconds, count) = ask(&official, &["write"], &theirs, &[&ticks.to_string()])?;
        write.theirs.push(seconds);
        ensure!(count == records, "the official writer made {count} records, ours {records}");
    }

    let mut index = Turns::default();
    let mut field = Turns::default();
    let mut full = Turns::default();
    let mut samples = 0;
    for _ in 0..turns {
        let start = Instant::now();
        let log = Log::open(&path)?;
        index.ours.push(start.elapsed().as_secs_f64());
        ensure!(
            log.report().records == records && log.report().is_whole(),
            "our own log reads back differently"
        );

        for entry in log.entries().iter().filter(|entry| entry.name.starts_with("Double/")).take(FIELDS) {
            let start = Instant::now();
            let column = log.numbers(entry)?;
            field.ours.push(start.elapsed().as_secs_f64());
            samples = column.len();
        }

        let start = Instant::now();
        let (columns, values) = decode(&log);
        full.ours.push(start.elapsed().as_secs_f64());
        drop(columns);

        let (seconds, count) = ask(&official, &["scan"], &path, &[])?;
        index.theirs.push(seconds);
        ensure!(count == records, "the official reader found {count} records, we {records}");
        let (seconds, count) = ask(&official, &["decode"], &path, &[])?;
        full.theirs.push(seconds);
        ensure!(count == values, "the official reader decoded {count} values, we {values}");
    }
    let memory = peak_of_child(&path)?;

    let mut figures = Figures::new("bench wire, logs");
    let bytes = std::fs::metadata(&path)?.len();
    figures.attached(format!(
        "a log of {:.1} MB, {records} records, {} entries; libwpiutil 2026.2.2; best of {turns} turns",
        bytes as f64 / 1e6,
        DOUBLES + INTS + BOOLEANS + ARRAYS + POSES + TEXTS
    ));
    figures.row("log: official scan", index.best_theirs(), "s", Aim::Shown);
    figures.row("log: our index", index.best_ours(), "s", Aim::Shown);
    figures.row("log: index beside scan", index.ratio(), "×", Aim::AtMost(0.7));
    figures.row("log: official full decode", full.best_theirs(), "s", Aim::Shown);
    figures.row("log: our full decode, index excluded", full.best_ours(), "s", Aim::Shown);
    figures.row(
        "log: index and full decode beside official decode",
        (index.best_ours() + full.best_ours()) / full.best_theirs(),
        "×",
        Aim::Shown,
    );
    figures.row(format!("log: one field of {samples} samples"), field.best_ours() * 1e3, "ms", Aim::Shown);
    figures.row(
        "log: one field beside official decode",
        field.best_ours() / full.best_theirs() * 100.0,
        "%",
        Aim::AtMost(1.0),
    );
    let limit = 8.0 * records as f64 + 1.5 * memory.payload_bytes as f64;
    figures.row("log: decoded payload", memory.payload_bytes as f64 / 1e6, "MB", Aim::Shown);
    figures.row(
        "log: peak memory, all columns kept",
        memory.peak_bytes as f64 / 1e6,
        "MB",
        Aim::AtMost(limit / 1e6),
    );
    figures.row("log: official writer", write.best_theirs(), "s", Aim::Shown);
    figures.row("log: our writer, made durable", write.best_ours(), "s", Aim::Shown);
    figures.row(
        "log: writer beside official",
        write.best_theirs() / write.best_ours(),
        "×",
        Aim::AtLeast(1.0),
    );
    Ok(figures)
}

/// Seconds of both sides, turn by turn.
#[derive(Default)]
struct Turns {
    ours: Vec<f64>,
    theirs: Vec<f64>,
}

impl Turns {
    fn best_ours(&self) -> f64 {
        self.ours.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn best_theirs(&self) -> f64 {
        self.theirs.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn ratio(&self) -> f64 {
        self.best_ours() / self.best_theirs()
    }
}

/// The same records in the same order as the official program's `write`.
fn synthesise(path: &Path, ticks: i64) -> Result<Closed> {
    let log = LogWriter::create(path, WriterConfig { overflow: Overflow::Wait, ..WriterConfig::default() })?;
    let start = |count: usize, name: &str, kind: &DataType| -> Result<Vec<EntryId>> {
        let ids = (0..count).map(|i| log.start(Micros(1), &format!("{name}/{i}"), kind, ""));
        Ok(ids.collect::<Result<_, _>>()?)
    };
    let doubles = start(DOUBLES, "Double", &DataType::Double)?;
    let ints = start(INTS, "Int", &DataType::Int)?;
    let booleans = start(BOOLEANS, "Boolean", &DataType::Boolean)?;
    let arrays = start(ARRAYS, "Array", &DataType::DoubleArray)?;
    let poses = start(POSES, "Pose", &Pose2d::data_type())?;
    let texts = start(TEXTS, "Text", &DataType::String)?;
    log.schemas_of::<Pose2d>(Micros(1))?;
    for tick in 0..ticks {
        let now = Micros(20_000 * (tick + 1));
        let value = tick as f64 * 0.001;
        let mut batch = log.batch();
        let mut all =
            |ids: &[EntryId], value: ValueRef<'_>| ids.iter().all(|id| batch.append(*id, now, value));
        let mut taken = all(&doubles, ValueRef::Double(value)) && all(&ints, ValueRef::Int(tick));
        if tick % 5 == 0 {
            taken &= all(&booleans, ValueRef::Boolean(tick % 2 == 0));
        }
        if tick % 2 == 0 {
            taken &= all(&arrays, ValueRef::DoubleArray(&[value, value + 1.0, value + 2.0, value + 3.0]));
        }
        Pose2d::new(value, -value, 0.5).with_value(&mut |pose| taken &= all(&poses, pose));
        if tick % 8 < 5 {
            taken &= all(&texts, ValueRef::String("a line of text as a robot prints it"));
        }
        if !taken {
            bail!("the log stopped: {:?}", log.stop_reason());
        }
    }
    let closed = log.close();
    match &closed.stopped {
        Some(reason) => bail!("{reason}"),
        None => Ok(closed),
    }
}

/// Every column of a log; the official program decodes the same records.
fn decode(log: &Log) -> (Vec<AnyColumn<'_>>, u64) {
    let columns = log.decode_all(log.entries());
    let schemas = log.entries().iter().filter(|entry| entry.data_type.log_name() == "structschema");
    let values = columns.iter().map(|column| column.len() as u64).sum::<u64>()
        - schemas.map(|e| e.records).sum::<u64>();
    (columns, values)
}

struct Memory {
    peak_bytes: u64,
    payload_bytes: u64,
}

/// Opens and decodes in a process of its own, whose peak is nobody else's.
fn peak_of_child(path: &Path) -> Result<Memory> {
    let output = Command::new(std::env::current_exe()?).arg(DECODE).arg(path).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<u64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [peak_bytes, payload_bytes] = numbers[..] else {
        bail!("the child that decodes: {}{text}", String::from_utf8_lossy(&output.stderr))
    };
    Ok(Memory { peak_bytes, payload_bytes })
}

/// The child: opens a log, decodes all of it, prints its peak memory and the payload's bytes.
///
/// # Errors
/// A log that cannot be opened, or no `/proc`.
#[expect(clippy::print_stdout, reason = "how the child answers")]
pub fn decode_in_child(path: &Path) -> Result<()> {
    let log = Log::open(path)?;
    let (columns, _) = decode(&log);
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM in the status")?;
    let kib: u64 = peak.trim().trim_end_matches("kB").trim().parse()?;
    println!("{} {}", kib * 1024, log.entries().iter().map(|entry| entry.payload_bytes).sum::<u64>());
    drop(columns);
    Ok(())
}

/// Compiles the official program into `folder`.
fn compile(folder: &Path) -> Result<PathBuf> {
    let peers = std::env::var_os("FIELDLAB_PEERS").context("FIELDLAB_PEERS names no folder of peers")?;
    let libraries = Path::new(&peers).join("venv/lib");
    let wheel = std::fs::read_dir(&libraries)
        .with_context(|| libraries.display().to_string())?
        .filter_map(|python| Some(python.ok()?.path().join("site-packages/native/wpiutil")))
        .find(|wheel| wheel.join("include").is_dir())
        .with_context(|| format!("{}: no robotpy-native-wpiutil", libraries.display()))?;
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../interop/wpilog/official_bench.cpp");
    let program = folder.join("official_bench");
    let library = wheel.join("lib");
    let status = Command::new("g++")
        .args(["-std=c++20", "-O2", "-I"])
        .arg(wheel.join("include"))
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(&library)
        .arg("-lwpiutil")
        .arg(format!("-Wl,-rpath,{}", library.display()))
        .status()
        .context("starting g++")?;
    ensure!(status.success(), "g++ could not compile {}", source.display());
    Ok(program)
}

/// Runs the official program and reads its seconds and its count.
fn ask(program: &Path, before: &[&str], path: &Path, after: &[&str]) -> Result<(f64, u64)> {
    let output = Command::new(program).args(before).arg(path).args(after).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut words = text.split_whitespace();
    let (Some(seconds), Some(count)) = (words.next(), words.next()) else {
        bail!("official_bench {before:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    Ok((seconds.parse()?, count.parse()?))
}

fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}
