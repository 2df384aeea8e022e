//! Real logs, when their folder stands beside the project: the official reader's counts, and every payload decoded.
//!
//! Counts are those of the official 2026.2.2 reader on the same files.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a test program that prints its own counts")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use fieldlab_base::Micros;
use fieldlab_values::{DataType, Value};
use fieldlab_wpilog::{AnyColumn, Log, LogError};

struct Expected {
    file: &'static str,
    records: u64,
    starts: u64,
    started_ids: u64,
    out_of_order: Option<u64>,
    extra: &'static str,
    range: Option<(f64, f64)>,
}

const LOGS: [Expected; 3] = [
    Expected {
        file: "oh-yes-0-fps__test.wpilog",
        records: 117_458,
        starts: 275,
        started_ids: 275,
        out_of_order: None,
        extra: "",
        range: Some((0.2, 309.8)),
    },
    Expected {
        file: "HuskieRobotics__Log_23-06-23_19-38-49.wpilog",
        records: 12_880,
        starts: 214,
        started_ids: 214,
        out_of_order: None,
        extra: "AdvantageKit",
        range: Some((0.85, 8.47)),
    },
    Expected {
        file: "frclib-datalog__test_read.wpilog",
        records: 681_107,
        starts: 400,
        started_ids: 398,
        out_of_order: Some(22_673),
        extra: "",
        range: Some((0.53, 326.57)),
    },
];

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/logs");
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    let mut check = |name: &str, run: &dyn Fn(&Path) -> Result<(), String>| {
        let path: PathBuf = folder.join(name);
        if !path.exists() {
            skipped += 1;
            return;
        }
        match run(&path) {
            Ok(()) => passed += 1,
            Err(reason) => {
                failed += 1;
                eprintln!("{name}: {reason}");
            }
        }
    };
    for expected in &LOGS {
        check(expected.file, &|path| counts(path, expected));
    }
    check("nukkeldev__spec_example_a.wpilog", &|path| spec_example(path, "", "int6\0"));
    check("nukkeldev__spec_example_b.wpilog", &|path| spec_example(path, "test", "int64"));
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what}: expected {expected:?}, found {found:?}")) }
}

fn text(error: LogError) -> String {
    error.to_string()
}

fn counts(path: &Path, expected: &Expected) -> Result<(), String> {
    let log = Log::open(path).map_err(text)?;
    let report = log.report();
    same("records", report.records, expected.records)?;
    same("starts", report.starts, expected.starts)?;
    same("started entries", report.started_ids, expected.started_ids)?;
    same("extra header", report.extra_header.as_str(), expected.extra)?;
    same("whole", report.salvage, None)?;
    same("orphans", report.orphans.len(), 0)?;
    if let Some(out_of_order) = expected.out_of_order {
        same("out of order", report.out_of_order, out_of_order)?;
    }
    same("records one by one", log.all_records().count() as u64, expected.records)?;
    let mut data_records = 0;
    let together = log.decode_all(log.entries());
    for (entry, all) in log.entries().iter().zip(&together) {
        same(&format!("{}: in one pass", entry.name), all.len() as u64, entry.records)?;
        if let AnyColumn::Numbers(column) = all {
            same(&format!("{}: in one pass", entry.name), column, &log.numbers(entry).map_err(text)?)?;
        }
        if let Some((name, array)) = entry.data_type.struct_name() {
            let columns = log.struct_columns(entry).map_err(text)?;
            let read = columns.times.len() as u64;
            // An array record may be empty and then has no first item.
            if !array && read != entry.records {
                return Err(format!("{}: struct {name}: {} records, read {read}", entry.name, entry.records));
            }
        }
        let column = log.values(entry);
        same(&format!("{}: values", entry.name), column.len() as u64 + column.skipped, entry.records)?;
        same(&format!("{}: misfits", entry.name), column.skipped, 0)?;
        if !column.times.is_sorted() {
            return Err(format!("{}: times not sorted", entry.name));
        }
        data_records += entry.records;
    }
    same("data records", data_records + report.control_records, expected.records)?;
    if let Some((first, last)) = expected.range {
        let range = log.entries().iter().filter_map(|e| e.range);
        let (min, max) = range.fold((Micros::MAX, Micros::MIN), |(a, b), (c, d)| (a.min(c), b.max(d)));
        if (min.as_secs() - first).abs() > 0.051 || (max.as_secs() - last).abs() > 0.051 {
            return Err(format!("range: expected {first} to {last}, found {min} to {max}"));
        }
    }
    Ok(())
}

/// The specification's walk-through: a data record, then the Start of its entry, a Finish, and a SetMetadata.
fn spec_example(path: &Path, extra: &str, type_name: &str) -> Result<(), String> {
    let log = Log::open(path).map_err(text)?;
    let report = log.report();
    same("extra header", report.extra_header.as_str(), extra)?;
    let records: Vec<_> = log.all_records().map(|r| (r.id, r.time, r.payload.len())).collect();
    let at = Micros(1_000_000);
    same("records", records, vec![(1, at, 8), (0, at, 26), (0, at, 5), (0, at, 24)])?;
    let [entry] = log.entries() else { return Err(format!("one entry, found {}", log.entries().len())) };
    same("name", entry.name.as_str(), "test")?;
    same("type", &entry.data_type, &DataType::from_log(type_name))?;
    same("start", entry.start, at)?;
    same("finish", entry.finish, Some(at))?;
    same("metadata", entry.last_metadata(), "{\"source\":\"NT\"}")?;
    same("before start", entry.before_start, 1)?;
    let raw = log.raws(entry);
    same("payload", raw.values.as_slice(), &[&3_i64.to_le_bytes()[..]])?;
    if type_name == "int64" {
        same("value", log.values(entry).values, vec![Value::Int(3)])?;
    }
    Ok(())
}
