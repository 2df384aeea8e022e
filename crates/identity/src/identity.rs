//! The sheet over time: derived again when something new is known, at most once a turn; only differences leave.

use std::borrow::Cow;
use std::collections::BTreeSet;

use fieldlab_base::{ConfigError, Feature, Micros};
use fieldlab_values::Value;

use crate::declaration::Declaration;
use crate::derive::derive;
use crate::facts::{FactPart, FactSource, Facts, Source};
use crate::features::Features;
use crate::keys::{Group, Key};
use crate::sheet::{How, Provenance, SpecSheet};

/// More keys than a robot takes back in one boot; what is beyond is not listed.
const MOST_RETRACTED: usize = 512;

/// What happens to one key.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Its row.
    pub key: Key,
    /// The key under [`keys::ROOT`](crate::keys::ROOT), with the feature's name in place.
    pub name: Cow<'static, str>,
    /// What is to be done.
    pub to: To,
}

/// What a key is to become.
#[derive(Debug, Clone, PartialEq)]
pub enum To {
    /// This value, on a publisher that is held for the life of the process.
    Set(Value),
    /// Nothing: the fact went away and its publisher goes too.
    Retract,
}

/// What turns the sheet `old` into `new`, in the table's order; the sheet's own count and hash come last.
#[must_use]
pub fn changes(old: &SpecSheet, new: &SpecSheet) -> Vec<Change> {
    let mut all = Vec::new();
    for entry in new.entries() {
        if old.at(entry.key, &entry.name).map(|before| &before.fact.value) != Some(&entry.fact.value) {
            let to = To::Set(entry.fact.value.clone());
            all.push(Change { key: entry.key, name: entry.name.clone(), to });
        }
    }
    for entry in old.entries() {
        if new.at(entry.key, &entry.name).is_none() {
            all.push(Change { key: entry.key, name: entry.name.clone(), to: To::Retract });
        }
    }
    all.sort_by(|a, b| (a.key, &a.name).cmp(&(b.key, &b.name)));
    all
}

/// The identity of a running robot.
///
/// Facts and features only gather until there is a declaration, which is what makes the order of a robot's construction
/// irrelevant. From then on each [`step`](Self::step) answers what changed since the one before.
///
/// ```
/// use fieldlab_base::{Feature, Micros};
/// use fieldlab_identity::{Identity, RobotIdentity, To};
///
/// let mut identity = Identity::new(0x1d);
/// identity.record(&Feature::campaign("Field Day"))?;
/// assert!(identity.step(Micros(1)).is_empty(), "nobody declared anything");
/// identity.declare(RobotIdentity::declare("Ratchet")?);
/// let first = identity.step(Micros(2));
/// assert_eq!((&*first[0].name, &first[0].to), ("Identity/Name", &To::Set("Ratchet".into())));
/// assert!(identity.step(Micros(3)).is_empty());
/// # Ok::<(), fieldlab_base::ConfigError>(())
/// ```
#[derive(Debug)]
pub struct Identity {
    boot_id: u64,
    declared: Option<Declaration>,
    facts: Facts,
    features: Features,
    dirty: bool,
    sheet: SpecSheet,
    retracted: BTreeSet<Cow<'static, str>>,
    alerts: Vec<String>,
    changes: Vec<Change>,
}

impl Identity {
    /// An identity of which nothing is known. `boot_id` are random bits of this start of the program.
    #[must_use]
    pub fn new(boot_id: u64) -> Self {
        Self {
            boot_id,
            declared: None,
            facts: Facts::default(),
            features: Features::default(),
            dirty: false,
            sheet: SpecSheet::default(),
            retracted: BTreeSet::new(),
            alerts: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// Declares the robot; a second declaration replaces the first, and what it no longer says is retracted.
    pub fn declare(&mut self, declared: Declaration) {
        self.dirty |= self.declared.as_ref() != Some(&declared);
        self.declared = Some(declared);
    }

    /// Takes what a source says now, instead of what it said before.
    pub fn put(&mut self, source: Source, now: Micros, part: FactPart) {
        self.dirty |= self.facts.put(source, now, part);
    }

    /// Asks a source.
    pub fn ask(&mut self, source: &mut dyn FactSource, now: Micros) {
        if let Some(part) = source.read(now) {
            self.put(source.source(), now, part);
        }
    }

    /// Forgets a source that went away.
    pub fn forget(&mut self, source: Source) {
        self.dirty |= self.facts.forget(source);
    }

    /// Records a component that came up.
    ///
    /// # Errors
    /// As [`Features::record`].
    pub fn record(&mut self, feature: &Feature) -> Result<(), ConfigError> {
        self.features.record(feature)?;
        self.dirty = true;
        Ok(())
    }

    /// Takes back a component that is gone.
    pub fn remove(&mut self, feature: &Feature) {
        self.dirty |= self.features.remove(feature);
    }

    /// What changed since the step before, in the order in which it should leave. Empty at no cost when nothing new is
    /// known.
    pub fn step(&mut self, now: Micros) -> &[Change] {
        self.changes.clear();
        let Some(declared) = self.declared.as_ref().filter(|_| self.dirty) else { return &self.changes };
        self.dirty = false;
        let mut sheet = derive(declared, &self.facts, &self.features, now);
        keep_instants(&self.sheet, &mut sheet);
        self.note_retractions(&sheet);
        self.alerts = sheet.disagreements().iter().map(crate::Disagreement::sentence).collect();
        self.alerts.extend(sheet.warnings().iter().map(crate::Warning::sentence));
        self.describe_itself(&mut sheet, now);
        self.changes = changes(&self.sheet, &sheet);
        self.sheet = sheet;
        &self.changes
    }

    /// The sheet as of the last step, with its own keys: what every new log file begins with.
    #[must_use]
    pub fn sheet(&self) -> &SpecSheet {
        &self.sheet
    }

    /// What a person should be told as of the last step: sources that differ, and what is hard to believe. It only ever
    /// changes in a step that answered changes.
    #[must_use]
    pub fn alerts(&self) -> &[String] {
        &self.alerts
    }

    /// What all sources said last.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Which components came up.
    #[must_use]
    pub fn features(&self) -> &Features {
        &self.features
    }

    fn note_retractions(&mut self, new: &SpecSheet) {
        for entry in self.sheet.entries().iter().filter(|entry| entry.key.row().group != Group::Sheet) {
            if new.at(entry.key, &entry.name).is_none() && self.retracted.len() < MOST_RETRACTED {
                self.retracted.insert(entry.name.clone());
            }
        }
        self.retracted.retain(|name| new.get(name).is_none());
    }

    /// Adds the keys under `Sheet/`. A list that was ever published goes on as an empty one: a reader that keeps old
    /// values must see that it is.
    fn describe_itself(&self, sheet: &mut SpecSheet, now: Micros) {
        let from = Provenance::new(How::Derived, "robot program", now);
        let digest = sheet.digest();
        let provenance = provenance(sheet);
        sheet.text(Key::BootId, Some(&format!("{:016x}", self.boot_id)), &from);
        sheet.integer(Key::SheetCount, i64::try_from(digest.count).ok(), &from);
        sheet.text(Key::SheetHash, Some(&digest.hex()), &from);
        sheet.text(Key::Provenance, Some(&provenance), &from);
        let disagreements: Vec<String> = sheet.disagreements.iter().map(crate::Disagreement::row).collect();
        let warnings: Vec<String> = sheet.warnings.iter().map(crate::Warning::sentence).collect();
        let retracted: Vec<&str> = self.retracted.iter().map(|name| &**name).collect();
        let ever = |key: Key| self.sheet.has(key);
        sheet.rows(Key::Retracted, &retracted, ever(Key::Retracted), &from);
        sheet.rows(Key::Disagreements, &disagreements, ever(Key::Disagreements), &from);
        sheet.rows(Key::Warnings, &warnings, ever(Key::Warnings), &from);
    }
}

/// A fact that stays as it is keeps the instant at which it was first known.
fn keep_instants(old: &SpecSheet, new: &mut SpecSheet) {
    for entry in new.entries_mut() {
        let Some(before) = old.at(entry.key, &entry.name).map(|entry| &entry.fact) else { continue };
        let (was, is) = (&before.provenance, &entry.fact.provenance);
        if before.value == entry.fact.value && was.how == is.how && was.source == is.source {
            entry.fact.provenance.at = was.at;
        }
    }
}

/// `{"facts": {key: [how, source, microseconds]}, "absent": {key: reason}, "passed_over": {key: reason}}`, written in one
/// pass: it is the largest part of what a change costs.
fn provenance(sheet: &SpecSheet) -> String {
    let mut json = String::with_capacity(sheet.len() * 64 + sheet.absent().len() * 128);
    json.push_str("{\"facts\":{");
    for (i, entry) in sheet.entries().iter().enumerate() {
        let from = &entry.fact.provenance;
        json.push_str(if i == 0 { "" } else { "," });
        quote(&mut json, &entry.name);
        json.push_str(":[");
        quote(&mut json, from.how.word());
        json.push(',');
        quote(&mut json, &from.source);
        json.push(',');
        json.push_str(&from.at.0.to_string());
        json.push(']');
    }
    for (part, reasons) in [("absent", sheet.absent()), ("passed_over", sheet.passed_over())] {
        json.push_str("},\"");
        json.push_str(part);
        json.push_str("\":{");
        for (i, (key, reason)) in reasons.iter().enumerate() {
            json.push_str(if i == 0 { "" } else { "," });
            quote(&mut json, key.name());
            json.push(':');
            quote(&mut json, reason);
        }
    }
    json.push_str("}}");
    json
}

/// A JSON text.
fn quote(json: &mut String, text: &str) {
    json.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                json.push('\\');
                json.push(c);
            }
            c if c < ' ' => json.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => json.push(c),
        }
    }
    json.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_text_is_what_a_json_reader_reads() {
        for text in ["", "plain", "a\"b\\c", "\u{0}\n\t\u{1f}\u{7f}", "ü → \u{2028}\u{1f600}"] {
            let mut json = String::new();
            quote(&mut json, text);
            assert_eq!(serde_json::from_str::<String>(&json).ok().as_deref(), Some(text), "{json}");
        }
    }
}
