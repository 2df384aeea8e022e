//! What the report says, section by section, in the order of the reference tool: header, empty-log hint, feedforward,
//! calibrations, cross-check, drift, sweeps, peaks, every measurement, notes. Constants and problems stand before them,
//! because a reader who stops early must have seen those.

mod campaign;
mod fits;

use fieldlab_analysis::findings::{Constant, Findings, Severity, Verdict};

use crate::document::{Block, Cell, Table, Tone, num, text};
use crate::text::{ends, number};

/// The whole report.
pub(crate) fn all(f: &Findings) -> Vec<Block> {
    let mut out = Vec::new();
    campaign::header(f, &mut out);
    constants(f, &mut out);
    problems(f, &mut out);
    campaign::course(f, &mut out);
    fits::feedforward(f, &mut out);
    fits::calibrations(f, &mut out);
    fits::drift(f, &mut out);
    fits::sweeps(f, &mut out);
    fits::thermal(f, &mut out);
    fits::vision(f, &mut out);
    campaign::measurements(f, &mut out);
    campaign::notes(f, &mut out);
    campaign::files(f, &mut out);
    out
}

fn heading(out: &mut Vec<Block>, level: u8, words: &str) {
    out.push(Block::Heading(level, words.to_owned()));
}

/// The plan's own reason for a procedure, under its section's heading.
fn why(f: &Findings, id: &str, out: &mut Vec<Block>) {
    if let Some(why) =
        f.procedures.iter().find(|p| p.id == id).and_then(|p| p.why.clone()).filter(|w| !w.is_empty())
    {
        out.push(Block::Text(format!("Why: {why}")));
    }
}

fn chip(verdict: &Verdict) -> Cell {
    let tone = match verdict {
        Verdict::Measured => Tone::Good,
        Verdict::StartingPoint { .. } => Tone::Plain,
        Verdict::Flagged { .. } => Tone::Warn,
        Verdict::Refused { .. } => Tone::Bad,
    };
    Cell::Chip(tone, verdict.word().to_owned())
}

fn constants(f: &Findings, out: &mut Vec<Block>) {
    if f.constants.is_empty() {
        return;
    }
    heading(out, 2, "Constants");
    let mut table =
        Table::new(&["constant", "value", "verdict", "95 % interval", "unit", "n", "in force", "method"]);
    for c in &f.constants {
        let half = c.lo.zip(c.hi).map_or(0.0, |(a, b)| 0.5 * (b - a));
        let in_force = f.provenance.constants_in_force.get(&c.name);
        table.rows.push(vec![
            text(format!("{} ({})", c.name, c.label)),
            num(c.value.map_or("-".to_owned(), |v| number(v, half))),
            chip(&c.verdict),
            num(ends(c.lo, c.hi)),
            text(&c.unit),
            num(c.n.to_string()),
            num(in_force.map_or("-".to_owned(), |v| number(*v, half))),
            text(&c.method),
        ]);
    }
    out.push(Block::Table(table));
    let lines: Vec<String> = f.constants.iter().flat_map(remarks).collect();
    if !lines.is_empty() {
        out.push(Block::List(lines));
    }
}

fn remarks(c: &Constant) -> Vec<String> {
    let reason = c.verdict.reason().map(|r| format!("{}: {}, {r}", c.name, c.verdict.word()));
    reason.into_iter().chain(c.remarks.iter().map(|r| format!("{}: {r}", c.name))).collect()
}

fn problems(f: &Findings, out: &mut Vec<Block>) {
    let shown: Vec<_> = f.problems.iter().filter(|p| p.severity != Severity::Refusal).collect();
    if shown.is_empty() {
        return;
    }
    heading(out, 2, "Read this first");
    for problem in shown {
        let tone = match problem.severity {
            Severity::Loss => Tone::Bad,
            Severity::Warning | Severity::Refusal => Tone::Warn,
            Severity::Info => Tone::Plain,
        };
        out.push(Block::Alert(tone, problem.text.clone()));
    }
}
