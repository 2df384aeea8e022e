//! A sheet on paper and as JSON.

use fieldlab_base::Micros;
use fieldlab_identity::{Key, ReadSheet, SCHEMA, Units, Whole, card};
use fieldlab_values::{Value, ValueRef};
use serde_json::{Map, json};

use crate::out;

/// The page: name, team, season and controller, then the groups in the dashboards' order. Rows that are absent are absent.
pub(super) fn text(sheet: &ReadSheet, units: Units, why: bool, colour: bool) -> String {
    let card = card(sheet, units);
    let mut page = Page::new(colour);
    match &card.name {
        Some(name) => page.heading(name),
        None => page.heading("a robot without a name"),
    }
    if !card.subtitle.is_empty() {
        page.line(&card.subtitle.join(" · "));
    }
    for group in &card.groups {
        page.table(group.title, &group.rows);
    }
    for (title, key) in [("Sources that differ", Key::Disagreements), ("Hard to believe", Key::Warnings)] {
        page.list(title, sheet.list(key.name()).iter().map(|row| out::printable(row)));
    }
    if why {
        let said = sheet.provenance();
        let known: Vec<(String, String)> = sheet
            .facts()
            .iter()
            .filter_map(|(key, _, _)| {
                let (how, source, at) = said.facts.get(*key)?;
                let from = format!("{how}, {source}, at {:.3} s", Micros(*at).as_secs());
                let passed = said.passed_over.get(*key).map(|reason| format!(" (passed over: {reason})"));
                Some((out::printable(key), out::printable(&(from + &passed.unwrap_or_default()))))
            })
            .collect();
        page.table("Where facts come from", &known);
        let absent: Vec<(String, String)> =
            sheet.why().into_iter().map(|(key, reason)| (key.to_owned(), out::printable(&reason))).collect();
        page.table("Why the rest is absent", &absent);
        page.table("The sheet itself", &itself(sheet));
    }
    page.into_text()
}

/// Whether it is whole, and of which start of the program.
fn itself(sheet: &ReadSheet) -> Vec<(String, String)> {
    let facts = sheet.facts().len();
    let whole = match sheet.whole() {
        Whole::Yes => format!("{facts}, which is all"),
        Whole::No { said, .. } => format!("{facts} of {said}"),
        Whole::Unsaid => format!("{facts}, and the robot does not say how many there are"),
    };
    let boot = sheet.text(Key::BootId.name()).map(|id| ("Boot".to_owned(), out::printable(id)));
    [("Facts".to_owned(), whole)].into_iter().chain(boot).collect()
}

/// A text with headings that stand out where that is wanted.
pub(super) struct Page {
    text: String,
    colour: bool,
}

impl Page {
    pub(super) fn new(colour: bool) -> Self {
        Self { text: String::new(), colour }
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    pub(super) fn heading(&mut self, title: &str) {
        let (on, off) = if self.colour { ("\u{1b}[1m", "\u{1b}[0m") } else { ("", "") };
        self.line(&format!("{on}{title}{off}"));
    }

    pub(super) fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    pub(super) fn table(&mut self, title: &str, rows: &[(String, String)]) {
        if rows.is_empty() {
            return;
        }
        self.line("");
        self.heading(title);
        let width = rows.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
        for (label, value) in rows {
            self.line(&format!("  {label:<width$}  {value}"));
        }
    }

    fn list(&mut self, title: &str, rows: impl Iterator<Item = String>) {
        let mut rows = rows.peekable();
        if rows.peek().is_some() {
            self.line("");
            self.heading(title);
            rows.for_each(|row| self.line(&format!("  {row}")));
        }
    }
}

/// The sheet with everything that is known about it.
pub(super) fn json(from: &str, sheet: &ReadSheet) -> serde_json::Value {
    let facts: Map<String, serde_json::Value> =
        sheet.facts().iter().map(|(key, _, value)| ((*key).to_owned(), value_json(value))).collect();
    let said = sheet.provenance();
    let known: Map<String, serde_json::Value> = said
        .facts
        .iter()
        .map(|(key, (how, source, at))| (key.clone(), json!({ "how": how, "source": source, "at_us": at })))
        .collect();
    let absent: Map<String, serde_json::Value> =
        sheet.why().into_iter().map(|(key, reason)| (key.to_owned(), reason.into())).collect();
    let problems: Map<String, serde_json::Value> =
        sheet.problems().map(|(key, problem)| (key.to_owned(), problem.into())).collect();
    json!({
        "schema": SCHEMA,
        "from": from,
        "whole": match sheet.whole() {
            Whole::Yes => Some(true),
            Whole::No { .. } => Some(false),
            Whole::Unsaid => None,
        },
        "boot_id": sheet.text(Key::BootId.name()),
        "sheet": facts,
        "provenance": known,
        "passed_over": said.passed_over,
        "absent": absent,
        "disagreements": sheet.list(Key::Disagreements.name()).iter().map(|row| &**row).collect::<Vec<_>>(),
        "warnings": sheet.list(Key::Warnings.name()).iter().map(|row| &**row).collect::<Vec<_>>(),
        "problems": problems,
    })
}

/// A value as the schema has it.
pub(super) fn value_json(value: &Value) -> serde_json::Value {
    match value.as_ref() {
        ValueRef::Boolean(v) => v.into(),
        ValueRef::Int(v) => v.into(),
        ValueRef::Float(v) => v.into(),
        ValueRef::Double(v) => v.into(),
        ValueRef::String(v) => v.into(),
        ValueRef::Raw(v) => v.into(),
        ValueRef::BooleanArray(v) => v.into(),
        ValueRef::IntArray(v) => v.into(),
        ValueRef::FloatArray(v) => v.into(),
        ValueRef::DoubleArray(v) => v.into(),
        ValueRef::StringArray(v) => v.iter().map(|text| &**text).collect::<Vec<_>>().into(),
    }
}
