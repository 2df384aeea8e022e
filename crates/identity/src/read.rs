//! A sheet as a reader sees it: from topics or from a log, of any robot that publishes one.

use std::collections::{BTreeMap, BTreeSet};

use fieldlab_values::{DataType, Value, ValueRef};

use crate::keys::{self, Group, Key, Row};
use crate::sheet::SpecSheet;

/// More keys than any sheet has.
const MOST_KEYS: usize = 512;
/// The longest key, in bytes.
const LONGEST_KEY: usize = 256;
/// The largest value, in bytes of its texts or numbers.
const LARGEST_VALUE: usize = 64 << 10;
/// Problems that are kept one by one.
const MOST_PROBLEMS: usize = 128;

/// Whether a reader has the whole sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whole {
    /// Count and hash are those of what is here.
    Yes,
    /// Something is missing, changed on the way, or not yet here.
    No {
        /// Keys that are here.
        have: u64,
        /// Keys that there should be.
        said: u64,
    },
    /// The robot does not say how many keys its sheet has: robots of other libraries do not.
    Unsaid,
}

/// A sheet that came over the network or out of a log.
///
/// It takes values in any order and any number of times; the last one of a key counts. A value of the wrong type, one that
/// is no reading, and a row with the wrong number of fields cost that key and leave a problem. Memory is bounded: 512
/// keys of 64 KiB.
///
/// ```
/// use fieldlab_identity::ReadSheet;
/// use fieldlab_values::DataType;
///
/// let mut sheet = ReadSheet::default();
/// assert!(sheet.take("/Catalyst/Robot/Identity/Name", &DataType::String, &"Ratchet".into()));
/// assert!(sheet.take("NT:/Catalyst/Robot/Identity/TeamNumber", &DataType::String, &"none".into()));
/// assert!(!sheet.take("/Catalyst/Swerve/X", &DataType::Double, &1.5.into()), "no key of a sheet");
/// assert_eq!(sheet.text("Identity/Name"), Some("Ratchet"));
/// assert_eq!(sheet.problems().next(), Some(("Identity/TeamNumber", "expected int, found string")));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadSheet {
    entries: BTreeMap<String, Value>,
    problems: BTreeMap<String, String>,
    more_problems: u64,
}

impl ReadSheet {
    /// The key of a sheet that a topic or a log entry carries, in every spelling that robots and their log writers use.
    #[must_use]
    pub fn key_of(name: &str) -> Option<&str> {
        let rest = name.strip_prefix("NT:").unwrap_or(name);
        let rest = rest.strip_prefix('/').unwrap_or(rest);
        let rest = rest.strip_prefix("AdvantageKit/").unwrap_or(rest);
        let rest = rest.strip_prefix("RealOutputs/").unwrap_or(rest);
        let rest = rest.strip_prefix("Catalyst/").unwrap_or(rest);
        rest.strip_prefix(keys::ROOT)?.strip_prefix('/').filter(|key| !key.is_empty())
    }

    /// Takes a value of a topic or of a log entry. Answers whether the name is a sheet's at all.
    pub fn take(&mut self, name: &str, data_type: &DataType, value: &Value) -> bool {
        let Some(key) = Self::key_of(name) else { return false };
        match self.judge(key, data_type, value) {
            Ok(()) => {
                self.problems.remove(key);
                self.entries.insert(key.to_owned(), value.clone());
            }
            Err(problem) => {
                self.entries.remove(key);
                self.problem(key, problem);
            }
        }
        true
    }

    /// Forgets a topic that is gone.
    pub fn retract(&mut self, name: &str) {
        if let Some(key) = Self::key_of(name) {
            self.entries.remove(key);
            self.problems.remove(key);
        }
    }

    fn judge(&self, key: &str, data_type: &DataType, value: &Value) -> Result<(), String> {
        if key.len() > LONGEST_KEY {
            return Err(format!("a key of {} bytes, {LONGEST_KEY} are read", key.len()));
        }
        if !self.entries.contains_key(key) && self.entries.len() >= MOST_KEYS {
            return Err(format!("beyond the {MOST_KEYS} keys that are read"));
        }
        let size = size(value);
        if size > LARGEST_VALUE {
            return Err(format!("a value of {size} bytes, {LARGEST_VALUE} are read"));
        }
        if let Some(row) = keys::find(key)
            && (row.data_type.family() != data_type.family() || row.data_type.family() != value.family())
        {
            let found = if data_type.family() == value.family() { data_type } else { &value.data_type() };
            return Err(format!("expected {}, found {found}", row.data_type));
        }
        readable(key, value)
    }

    fn problem(&mut self, key: &str, what: String) {
        let end = (0..=key.len().min(LONGEST_KEY)).rev().find(|at| key.is_char_boundary(*at)).unwrap_or(0);
        let key = key.get(..end).unwrap_or_default();
        if self.problems.len() < MOST_PROBLEMS || self.problems.contains_key(key) {
            self.problems.insert(key.to_owned(), what);
        } else {
            self.more_problems += 1;
        }
    }

    /// What cost a key: (key, what was wrong), by key.
    pub fn problems(&self) -> impl Iterator<Item = (&str, &str)> {
        self.problems.iter().map(|(key, what)| (&**key, &**what))
    }

    /// Problems beyond those that are kept.
    #[must_use]
    pub fn more_problems(&self) -> u64 {
        self.more_problems
    }

    /// Keys that the robot took back in this boot; a reader may still hold their old values.
    fn retracted(&self) -> BTreeSet<&str> {
        match self.entries.get(Key::Retracted.name()) {
            Some(Value::StringArray(all)) => all.iter().map(|key| &**key).collect(),
            _ => BTreeSet::new(),
        }
    }

    /// What the robot says of itself: the facts, in the table's order, then keys that the table does not know, by name.
    /// What it took back is left out, and so is the sheet's word about itself.
    #[must_use]
    pub fn facts(&self) -> Vec<(&str, Option<&'static Row>, &Value)> {
        let retracted = self.retracted();
        let mut all: Vec<_> = self
            .entries
            .iter()
            .filter(|(key, _)| !retracted.contains(key.as_str()) && !is_about_itself(key))
            .map(|(key, value)| (key.as_str(), keys::find(key), value))
            .collect();
        all.sort_by_key(|(key, row, _)| (row.map_or(usize::MAX, |row| row.key as usize), *key));
        all
    }

    /// The value of a fact.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<&Value> {
        self.entries.get(key).filter(|_| !self.retracted().contains(key))
    }

    /// The value of a text.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.value(key)?.as_ref() {
            ValueRef::String(text) => Some(text),
            _ => None,
        }
    }

    /// The value of a number of any type.
    #[must_use]
    pub fn number(&self, key: &str) -> Option<f64> {
        self.value(key)?.as_number()
    }

    /// The texts of a list; empty when it is absent.
    #[must_use]
    pub fn list(&self, key: &str) -> &[std::sync::Arc<str>] {
        match self.value(key) {
            Some(Value::StringArray(all)) => all,
            _ => &[],
        }
    }

    /// Whether there is a sheet at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.keys().all(|key| is_about_itself(key))
    }

    /// Whether this is the whole sheet.
    #[must_use]
    pub fn whole(&self) -> Whole {
        let (Some(Value::Int(said)), Some(Value::String(hash))) =
            (self.entries.get(Key::SheetCount.name()), self.entries.get(Key::SheetHash.name()))
        else {
            return Whole::Unsaid;
        };
        let facts = self.facts();
        let digest = crate::digest(facts.iter().map(|(key, _, value)| (*key, value.as_ref())));
        let said = u64::try_from(*said).unwrap_or(0);
        if digest.count == said && digest.hex() == **hash {
            Whole::Yes
        } else {
            Whole::No { have: digest.count, said }
        }
    }

    /// Where facts came from and why others are absent, in the robot's own words; empty for robots that do not say.
    #[must_use]
    pub fn provenance(&self) -> ReadProvenance {
        self.text(Key::Provenance.name()).map(ReadProvenance::parse).unwrap_or_default()
    }

    /// For each key of the table that is absent, the reason: the robot's own, or who could have given it.
    #[must_use]
    pub fn why(&self) -> Vec<(&'static str, String)> {
        let said = self.provenance();
        let absent = keys::table()
            .iter()
            .filter(|row| row.group != Group::Sheet && !row.is_pattern() && self.value(row.name).is_none());
        absent
            .map(|row| {
                let reason = match (self.problems.get(row.name), said.absent.get(row.name)) {
                    (Some(problem), _) => format!("published, but unreadable: {problem}"),
                    (None, Some(reason)) => reason.clone(),
                    (None, None) => {
                        format!("the robot does not say why; sources: {}", row.sources.join(", "))
                    }
                };
                (row.name, reason)
            })
            .collect()
    }
}

impl From<&SpecSheet> for ReadSheet {
    fn from(sheet: &SpecSheet) -> Self {
        let entries = sheet.entries().iter();
        Self {
            entries: entries.map(|e| (e.name.clone().into_owned(), e.fact.value.clone())).collect(),
            ..Self::default()
        }
    }
}

fn is_about_itself(key: &str) -> bool {
    key.strip_prefix(Group::Sheet.name()).is_some_and(|rest| rest.starts_with('/'))
}

fn size(value: &Value) -> usize {
    match value.as_ref() {
        ValueRef::Boolean(_) | ValueRef::Int(_) | ValueRef::Float(_) | ValueRef::Double(_) => 8,
        ValueRef::String(text) => text.len(),
        ValueRef::Raw(bytes) => bytes.len(),
        ValueRef::BooleanArray(all) => all.len(),
        ValueRef::IntArray(all) => all.len() * 8,
        ValueRef::FloatArray(all) => all.len() * 4,
        ValueRef::DoubleArray(all) => all.len() * 8,
        ValueRef::StringArray(all) => all.iter().map(|text| text.len() + size_of::<usize>()).sum(),
    }
}

/// Numbers that are none, and rows that a dashboard would drop.
fn readable(key: &str, value: &Value) -> Result<(), String> {
    let finite = match value {
        Value::Double(v) => v.is_finite(),
        Value::Float(v) => v.is_finite(),
        Value::DoubleArray(all) => all.iter().all(|v| v.is_finite()),
        _ => true,
    };
    if !finite {
        return Err("a number that is not finite".to_owned());
    }
    let fields = match keys::find(key).map(|row| row.key) {
        Some(Key::ChannelsInUse | Key::Inventory) => 2,
        Some(Key::Devices) => 3,
        Some(Key::ModuleLocations) => match value {
            Value::DoubleArray(all) if !all.len().is_multiple_of(2) => {
                return Err(format!("{} numbers are no pairs", all.len()));
            }
            _ => return Ok(()),
        },
        _ => return Ok(()),
    };
    let Value::StringArray(rows) = value else { return Ok(()) };
    match rows.iter().position(|row| row.split('|').count() != fields) {
        Some(at) => Err(format!("row {at} does not have {fields} fields")),
        None => Ok(()),
    }
}

/// The provenance topic, read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadProvenance {
    /// Key → (how, source, microseconds of the robot's clock).
    pub facts: BTreeMap<String, (String, String, i64)>,
    /// Key → why it is absent.
    pub absent: BTreeMap<String, String>,
    /// Key that is there → which sources were passed over.
    pub passed_over: BTreeMap<String, String>,
}

impl ReadProvenance {
    /// Reads what can be read; what is no provenance is as good as none.
    fn parse(text: &str) -> Self {
        let Ok(json) = serde_json::from_str::<serde_json::Value>(text) else { return Self::default() };
        let part = |name: &str| json.get(name).and_then(serde_json::Value::as_object).into_iter().flatten();
        let texts = |name: &str| {
            part(name).filter_map(|(key, text)| Some((key.clone(), text.as_str()?.to_owned()))).collect()
        };
        let facts = part("facts").filter_map(|(key, fact)| {
            let (how, source, at) = (fact.get(0)?.as_str()?, fact.get(1)?.as_str()?, fact.get(2)?.as_i64()?);
            Some((key.clone(), (how.to_owned(), source.to_owned(), at)))
        });
        Self { facts: facts.collect(), absent: texts("absent"), passed_over: texts("passed_over") }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn rows(all: &[&str]) -> Value {
        Value::StringArray(all.iter().map(|row| Arc::from(*row)).collect())
    }

    #[test]
    fn every_spelling_of_a_name() {
        for name in [
            "/Catalyst/Robot/Identity/Name",
            "NT:/Catalyst/Robot/Identity/Name",
            "Robot/Identity/Name",
            "/RealOutputs/Robot/Identity/Name",
            "/RealOutputs/Catalyst/Robot/Identity/Name",
            "NT:/AdvantageKit/RealOutputs/Robot/Identity/Name",
        ] {
            assert_eq!(ReadSheet::key_of(name), Some("Identity/Name"), "{name}");
        }
        for name in ["", "Robot", "Robot/", "/Catalyst/RobotX/Name", "/CatalystX/Robot/Name", "Identity/Name"]
        {
            assert_eq!(ReadSheet::key_of(name), None, "{name}");
        }
    }

    #[test]
    fn a_wrong_type_is_a_problem_and_the_right_one_mends_it() {
        let mut sheet = ReadSheet::default();
        let topic = "Robot/Identity/TeamNumber";
        for (kind, value, problem) in [
            (DataType::Double, Value::Double(1234.0), Some("expected int, found double")),
            (DataType::Int, Value::Int(1234), None),
            (DataType::Int, Value::Boolean(true), Some("expected int, found boolean")),
        ] {
            sheet.take(topic, &kind, &value);
            assert_eq!(sheet.problems().next().map(|(_, what)| what), problem);
            assert_eq!(sheet.number("Identity/TeamNumber"), problem.is_none().then_some(1234.0));
        }
    }

    #[test]
    fn rows_and_numbers_that_say_nothing_are_problems() {
        let mut sheet = ReadSheet::default();
        for (key, value, problem) in [
            ("Power/ChannelsInUse", rows(&["1|a", "2|b|c"]), "row 1 does not have 2 fields"),
            ("Hardware/Devices", rows(&["rio|1"]), "row 0 does not have 3 fields"),
            ("Chassis/MassKg", Value::Double(f64::NAN), "a number that is not finite"),
            ("Drivetrain/ModuleLocations", Value::DoubleArray([1.0].into()), "1 numbers are no pairs"),
        ] {
            let kind = value.data_type();
            sheet.take(&format!("Robot/{key}"), &kind, &value);
            assert_eq!(sheet.problems().find(|(k, _)| *k == key), Some((key, problem)));
        }
        assert!(sheet.is_empty());
    }

    #[test]
    fn a_strangers_sheet_is_bounded() {
        let mut sheet = ReadSheet::default();
        for i in 0..2000 {
            sheet.take(&format!("Robot/Extra/{i}"), &DataType::Int, &Value::Int(i));
            let huge = Value::String("x".repeat(LARGEST_VALUE + 1).into());
            sheet.take(&format!("Robot/Huge/{i}"), &DataType::String, &huge);
        }
        sheet.take(&format!("Robot/{}", "ü".repeat(300)), &DataType::Int, &Value::Int(1));
        assert_eq!(sheet.facts().len(), MOST_KEYS);
        assert_eq!(sheet.problems().count(), MOST_PROBLEMS);
        assert_eq!(sheet.more_problems(), 2000 + (2000 - MOST_KEYS as u64) + 1 - MOST_PROBLEMS as u64);
        assert!(sheet.problems().all(|(key, _)| key.len() <= LONGEST_KEY));
    }

    #[test]
    fn provenance_of_a_stranger_is_read_as_far_as_it_goes() {
        for text in [
            "",
            "[]",
            "null",
            "{\"facts\":7,\"absent\":[1]}",
            &"[".repeat(10_000),
            "{\"facts\":{\"A\":[1,2]}}",
        ] {
            assert_eq!(ReadProvenance::parse(text), ReadProvenance::default(), "{text}");
        }
    }
}
