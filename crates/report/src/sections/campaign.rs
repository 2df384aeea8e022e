//! The session itself: header, course of the afternoon, answers, notes, files.

use fieldlab_analysis::findings::{Findings, ProcedureFindings, Progress};

use super::heading;
use crate::document::{Block, Cell, Table, Tone, num, text};
use crate::figures;
use crate::text::{duration, fixed, typed, window};

pub(super) fn header(f: &Findings, out: &mut Vec<Block>) {
    heading(out, 1, &format!("Field Lab report: {}", f.campaign.as_deref().unwrap_or("unnamed campaign")));
    let ran = f.procedures.iter().filter(|p| !p.windows.is_empty()).count();
    let banked = f.procedures.iter().filter(|p| p.banked()).count();
    let p = &f.provenance;
    let clock = p.clock_trusted.map(|t| if t { "trusted" } else { "not trusted" }.to_owned());
    let rows: Vec<(&str, Option<String>)> = vec![
        ("session", f.session.clone()),
        ("campaign", f.campaign.clone()),
        ("state", f.state.clone()),
        ("procedures", Some(format!("{} planned, {ran} begun, {banked} banked", f.procedures.len()))),
        ("measurements", Some(f.measurements.len().to_string())),
        ("channels", Some(f.channels.to_string())),
        ("duration", Some(figures::span(f))),
        ("log files", Some(f.logs.len().to_string())),
        ("boots", (!p.boots.is_empty()).then(|| p.boots.len().to_string())),
        ("code", p.code_version.clone()),
        ("battery", p.battery.clone()),
        ("wall clock", clock),
        ("plan hash", p.plan_hash.as_ref().map(|h| h.chars().take(12).collect())),
    ];
    let rows = rows.into_iter().filter_map(|(k, v)| Some(vec![text(k), text(v?)])).collect();
    out.push(Block::Table(Table::with(&["", ""], rows)));
    if f.procedures.is_empty() && f.constants.is_empty() {
        out.push(Block::Alert(
            Tone::Warn,
            "Nothing of Field Lab is in these logs: no procedure, no answer, no calibration. Is it the right file, and \
             was the log sink recording FieldLab channels?"
                .to_owned(),
        ));
    }
}

fn progress(p: &ProcedureFindings) -> Cell {
    let (tone, word) = match p.progress {
        Progress::Banked if p.mark.is_some() => (Tone::Warn, "banked, marked"),
        Progress::Banked => (Tone::Good, "banked"),
        Progress::CutShort => (Tone::Bad, "cut short"),
        Progress::Skipped => (Tone::Warn, "skipped"),
        Progress::NotReached => (Tone::Plain, "not reached"),
    };
    Cell::Chip(tone, word.to_owned())
}

/// Procedures in run order, the timeline, the battery.
pub(super) fn course(f: &Findings, out: &mut Vec<Block>) {
    if f.procedures.is_empty() {
        return;
    }
    heading(out, 2, "The afternoon");
    let mut table = Table::new(&[
        "procedure",
        "progress",
        "when",
        "took",
        "acts",
        "gate V",
        "start V",
        "lowest V",
        "waited for battery",
    ]);
    for p in &f.procedures {
        let took: f64 = p.windows.iter().map(fieldlab_analysis::findings::Window::secs).sum();
        let when: Vec<String> = p.windows.iter().map(window).collect();
        let usable =
            p.acts.iter().filter(|a| matches!(a.outcome.as_str(), "completed" | "timed_out")).count();
        let acts = if p.acts.is_empty() { "-".to_owned() } else { format!("{usable} of {}", p.acts.len()) };
        let waited =
            if p.battery.paused_secs > 0.0 { duration(p.battery.paused_secs) } else { "-".to_owned() };
        table.rows.push(vec![
            text(&p.title),
            progress(p),
            text(if when.is_empty() { "-".to_owned() } else { when.join(", ") }),
            num(if p.windows.is_empty() { "-".to_owned() } else { duration(took) }),
            num(acts),
            num(fixed(p.battery.gate_volts, 1)),
            num(fixed(p.battery.start_volts, 2)),
            num(fixed(p.battery.min_volts, 2)),
            num(waited),
        ]);
    }
    out.push(Block::Table(table));
    let marks: Vec<String> =
        f.procedures.iter().filter_map(|p| Some(format!("{}: {}", p.title, p.mark.as_ref()?))).collect();
    if !marks.is_empty() {
        out.push(Block::List(marks));
    }
    let unknown: Vec<&str> = f
        .procedures
        .iter()
        .filter(|p| !p.understood && !p.windows.is_empty())
        .map(|p| p.id.as_str())
        .collect();
    if !unknown.is_empty() {
        out.push(Block::Text(format!(
            "No model is fitted to: {}. Their answers stand below as they were given.",
            unknown.join(", ")
        )));
    }
    out.extend(figures::timeline(f).map(Block::Figure));
    out.extend(figures::battery(f).map(Block::Figure));
}

pub(super) fn measurements(f: &Findings, out: &mut Vec<Block>) {
    if f.measurements.is_empty() {
        return;
    }
    heading(out, 2, "Every measurement");
    let mut table = Table::new(&["procedure", "key", "value", "unit", "when", ""]);
    for m in &f.measurements {
        let flag = if m.out_of_range {
            Cell::Chip(Tone::Warn, "out of range".to_owned())
        } else if m.value.is_none() {
            Cell::Chip(Tone::Bad, "not a number".to_owned())
        } else {
            text("")
        };
        table.rows.push(vec![
            text(&m.procedure),
            text(&m.key),
            num(m.value.map_or("-".to_owned(), typed)),
            text(m.unit.clone().unwrap_or_default()),
            num(m.at_secs.map_or("-".to_owned(), crate::text::clock)),
            flag,
        ]);
    }
    out.push(Block::Table(table));
}

pub(super) fn notes(f: &Findings, out: &mut Vec<Block>) {
    if f.notes.is_empty() {
        return;
    }
    heading(out, 2, "Notes");
    let line = |n: &fieldlab_analysis::findings::Note| {
        if n.count > 1 { format!("{} ({} times)", n.text, n.count) } else { n.text.clone() }
    };
    out.push(Block::List(f.notes.iter().map(line).collect()));
}

pub(super) fn files(f: &Findings, out: &mut Vec<Block>) {
    if f.logs.is_empty() {
        return;
    }
    heading(out, 2, "Logs");
    let mut table = Table::new(&["file", "boot", "from", "to", "records", "clock", "end"]);
    for log in &f.logs {
        let end = match &log.torn {
            Some(torn) => Cell::Chip(Tone::Bad, torn.clone()),
            None => text("whole"),
        };
        table.rows.push(vec![
            text(&log.path),
            text(log.boot.clone().unwrap_or_else(|| "-".to_owned())),
            num(crate::text::clock(log.from_secs)),
            num(crate::text::clock(log.to_secs)),
            num(log.records.to_string()),
            text(&log.clock),
            end,
        ]);
    }
    out.push(Block::Table(table));
    if !f.provenance.constants_in_force.is_empty() {
        heading(out, 3, "Constants in force while it ran");
        let rows = f
            .provenance
            .constants_in_force
            .iter()
            .map(|(name, value)| vec![text(name), num(typed(*value))])
            .collect();
        out.push(Block::Table(Table::with(&["name", "value"], rows)));
    }
    // Constants of one fit share their evidence: one row for all of them.
    let mut evidence: Vec<(Vec<&str>, &fieldlab_analysis::findings::Evidence)> = Vec::new();
    for (name, e) in f.constants.iter().flat_map(|c| c.evidence.iter().map(move |e| (c.name.as_str(), e))) {
        match evidence.iter_mut().find(|(_, known)| *known == e) {
            Some((names, _)) => names.push(name),
            None => evidence.push((vec![name], e)),
        }
    }
    let evidence: Vec<Vec<Cell>> = evidence
        .into_iter()
        .map(|(names, e)| {
            vec![text(names.join(", ")), text(&e.file), text(window(&e.window)), text(e.channels.join(", "))]
        })
        .collect();
    if !evidence.is_empty() {
        heading(out, 3, "Evidence");
        out.push(Block::Table(Table::with(&["constant", "file", "stretch", "channels"], evidence)));
    }
}
