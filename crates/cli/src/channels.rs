//! `fieldlab channels`: what is in a log, whatever it is.

use std::path::{Path, PathBuf};

use clap::Args;
use fieldlab_base::Micros;
use fieldlab_wpilog::{Entry, Log, Report};
use serde_json::{Value, json};

use crate::exit::{End, Failure};
use crate::out;

/// The words of `channels`.
#[derive(Debug, Args)]
pub(crate) struct Words {
    /// .wpilog files, each listed by itself
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
    /// Write to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Exit with 3 when anything was lost, such as the tail of a torn log
    #[arg(long)]
    strict: bool,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(words: &Words) -> Result<End, Failure> {
    let bar = out::bar("reading", words.logs.len() as u64);
    let mut files = Vec::new();
    for path in &words.logs {
        files.push((path.as_path(), Log::open(path).map_err(Failure::input)?));
        bar.inc(1);
    }
    bar.finish_and_clear();
    let mut lost = false;
    for (path, log) in &files {
        lost |= !log.report().is_whole();
        conversation(path, log.report());
    }
    let text = if words.json {
        let listed: Vec<Value> = files.iter().map(|(path, log)| machine(path, log)).collect();
        serde_json::to_string_pretty(&json!({ "files": listed }))?
    } else {
        files.iter().map(|(path, log)| listing(path, log, files.len() > 1)).collect::<Vec<_>>().join("\n")
    };
    out::result_or_file(&text, words.output.as_deref())?;
    Ok(if lost && words.strict { End::Partial } else { End::Complete })
}

/// Most records first; what is equal by name, then by start.
fn sorted(log: &Log) -> Vec<&Entry> {
    let mut entries: Vec<&Entry> = log.entries().iter().collect();
    entries.sort_by(|a, b| {
        b.records
            .cmp(&a.records)
            .then_with(|| a.name.cmp(&b.name))
            .then_with(|| (a.start, a.index).cmp(&(b.start, b.index)))
    });
    entries
}

fn listing(path: &Path, log: &Log, named: bool) -> String {
    let rows: Vec<Vec<String>> = sorted(log)
        .into_iter()
        .map(|entry| {
            let (first, last) =
                entry.range.map_or_else(|| ("-".into(), "-".into()), |(a, b)| (secs(a), secs(b)));
            vec![
                entry.records.to_string(),
                first,
                last,
                entry.data_type.log_name().to_owned(),
                out::printable(&entry.name),
            ]
        })
        .collect();
    let report = log.report();
    let mut text = if named { format!("{}\n", path.display()) } else { String::new() };
    text.push_str(&out::table(&["count", "first s", "last s", "type", "name"], &rows, &[0, 1, 2]));
    text.push_str(&format!(
        "{} records, {} of them control records; {} entries, {} ids\n",
        report.records,
        report.control_records,
        log.entries().len(),
        report.started_ids
    ));
    text
}

fn machine(path: &Path, log: &Log) -> Value {
    let report = log.report();
    let entries: Vec<Value> = sorted(log)
        .into_iter()
        .map(|entry| {
            json!({
                "name": entry.name,
                "type": entry.data_type.log_name(),
                "id": entry.id,
                "count": entry.records,
                "payload_bytes": entry.payload_bytes,
                "first_s": entry.range.map(|range| range.0.as_secs()),
                "last_s": entry.range.map(|range| range.1.as_secs()),
                "started_s": entry.start.as_secs(),
                "finished_s": entry.finish.map(Micros::as_secs),
                "out_of_order": entry.out_of_order,
                "metadata": entry.last_metadata(),
            })
        })
        .collect();
    json!({
        "path": path.display().to_string(),
        "version": format!("{}.{}", report.version >> 8, report.version & 0xff),
        "records": report.records,
        "control_records": report.control_records,
        "started_ids": report.started_ids,
        "out_of_order": report.out_of_order,
        "warnings": report.warnings,
        "salvage": report.salvage.map(|salvage| json!({
            "offset": salvage.offset,
            "bytes_lost": salvage.bytes_lost,
            "records_lost": salvage.records_lost,
            "what": salvage.to_string(),
        })),
        "entries": entries,
    })
}

/// What a reader of the table should know besides.
fn conversation(path: &Path, report: &Report) {
    for warning in &report.warnings {
        out::say(&format!("{}: {warning}", path.display()));
    }
    if report.more_warnings > 0 {
        out::say(&format!("{}: and {} more like these", path.display(), report.more_warnings));
    }
    let orphans: u64 = report.orphans.values().sum::<u64>() + report.uncounted_orphans;
    if orphans > 0 {
        out::say(&format!(
            "{}: {orphans} data records of ids that were never started are not listed",
            path.display()
        ));
    }
    if report.out_of_order > 0 {
        out::say(&format!("{}: {} data records out of time order", path.display(), report.out_of_order));
    }
    if let Some(salvage) = &report.salvage {
        out::say(&format!("{}: {salvage}; everything before it was used", path.display()));
    }
}

fn secs(at: Micros) -> String {
    format!("{:.6}", at.as_secs())
}
