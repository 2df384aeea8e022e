//! The sheet: what is known, in the table's order, each fact with where it came from.

use std::borrow::Cow;
use std::sync::Arc;

use fieldlab_base::Micros;
use fieldlab_values::Value;

use crate::keys::{Group, Key};

/// How a fact came to be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum How {
    /// Asked of the thing itself, or of the object that it was built from.
    Read,
    /// Computed from other facts.
    Derived,
    /// Said by a person, in code or in a settings file.
    Declared,
    /// Found by an experiment.
    Measured,
}

impl How {
    /// Its word in the provenance topic.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Derived => "derived",
            Self::Declared => "declared",
            Self::Measured => "measured",
        }
    }
}

/// Where a fact came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provenance {
    /// How it came to be known.
    pub how: How,
    /// Who said so: a source's name, `declaration`.
    pub source: Cow<'static, str>,
    /// When it was first known with this value from this source, by the robot's clock.
    pub at: Micros,
}

impl Provenance {
    /// A provenance.
    #[must_use]
    pub fn new(how: How, source: impl Into<Cow<'static, str>>, at: Micros) -> Self {
        Self { how, source: source.into(), at }
    }
}

/// One thing that is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// The value as it stands on the wire.
    pub value: Value,
    /// Where it came from.
    pub provenance: Provenance,
}

/// One line of the sheet.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The row of the table.
    pub key: Key,
    /// The key under [`keys::ROOT`](crate::keys::ROOT), with the feature's name in place.
    pub name: Cow<'static, str>,
    /// What is known.
    pub fact: Fact,
}

/// Two sources that differ about one fact. Neither wins silently: the first is published, and this is an alert.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Disagreement {
    /// Which fact.
    pub key: Key,
    /// Whose word was taken.
    pub taken: Cow<'static, str>,
    /// Its word.
    pub taken_value: String,
    /// Whose word was not.
    pub other: Cow<'static, str>,
    /// Its word.
    pub other_value: String,
}

impl Disagreement {
    /// As one row `key|source|value|source|value`.
    #[must_use]
    pub fn row(&self) -> String {
        let field = crate::text::field;
        format!(
            "{}|{}|{}|{}|{}",
            self.key,
            field(&self.taken),
            field(&self.taken_value),
            field(&self.other),
            field(&self.other_value)
        )
    }

    /// As a sentence for an alert.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!(
            "{}: {} says {}, {} says {}; the first is published",
            self.key, self.taken, self.taken_value, self.other, self.other_value
        )
    }
}

/// A fact that is hard to believe. It is published all the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Warning {
    /// Which fact.
    pub key: Key,
    /// What is odd, as a sentence without the key.
    pub text: String,
}

impl Warning {
    /// With the key before it.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!("{}: {}", self.key, self.text)
    }
}

/// What is known of a robot.
///
/// Every setter takes an `Option` and there is none for a bare value: to write a placeholder takes more effort than to
/// write the truth. What is blank, not finite or empty is dropped, and so is a value of another type than the key's.
///
/// ```
/// use fieldlab_base::Micros;
/// use fieldlab_identity::{How, Key, Provenance, SpecSheet};
///
/// let tape = Provenance::new(How::Declared, "declaration", Micros::ZERO);
/// let mut sheet = SpecSheet::default();
/// sheet.text(Key::Name, Some("  Ratchet "), &tape);
/// sheet.positive(Key::HeightMeters, Some(f64::NAN), &tape);
/// sheet.positive(Key::BrownoutVolts, Some(0.0), &tape);
/// assert_eq!(sheet.value("Identity/Name"), Some(&"Ratchet".into()));
/// assert_eq!(sheet.len(), 1);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SpecSheet {
    entries: Vec<Entry>,
    /// Why each absent key is absent: `source: reason` parts joined by `; `. In the table's order.
    pub(crate) absent: Vec<(Key, String)>,
    /// Readings that were none although the key has a value from elsewhere, in the table's order.
    pub(crate) passed_over: Vec<(Key, String)>,
    pub(crate) disagreements: Vec<Disagreement>,
    pub(crate) warnings: Vec<Warning>,
}

impl SpecSheet {
    /// A text, trimmed; a blank one is dropped.
    pub fn text(&mut self, key: Key, value: Option<&str>, from: &Provenance) {
        let value = value.map(str::trim).filter(|text| !text.is_empty());
        self.set(key, None, value.map(Value::from), from);
    }

    /// A number; one that is not finite is dropped. Zero is a number.
    pub fn number(&mut self, key: Key, value: Option<f64>, from: &Provenance) {
        self.set(key, None, value.filter(|v| v.is_finite()).map(Value::from), from);
    }

    /// A number that can only be above zero; any other is dropped.
    pub fn positive(&mut self, key: Key, value: Option<f64>, from: &Provenance) {
        self.number(key, value.filter(|v| *v > 0.0), from);
    }

    /// An integer. Zero and negative ones are numbers too: filter what is no reading before.
    pub fn integer(&mut self, key: Key, value: Option<i64>, from: &Provenance) {
        self.set(key, None, value.map(Value::from), from);
    }

    /// A flag; false is an answer.
    pub fn flag(&mut self, key: Key, value: Option<bool>, from: &Provenance) {
        self.set(key, None, value.map(Value::from), from);
    }

    /// Texts, each trimmed and the blank ones left out; an empty list is dropped.
    pub fn list<T: AsRef<str>>(&mut self, key: Key, value: Option<&[T]>, from: &Provenance) {
        self.set(key, None, value.and_then(texts), from);
    }

    /// Numbers; the whole list is dropped when it is empty or any of them is not finite.
    pub fn numbers(&mut self, key: Key, value: Option<&[f64]>, from: &Provenance) {
        let value = value.filter(|all| !all.is_empty() && all.iter().all(|v| v.is_finite()));
        self.set(key, None, value.map(|all| Value::DoubleArray(all.into())), from);
    }

    /// As [`Self::integer`], for a key with a place for a feature's name without spaces.
    pub fn feature_integer(&mut self, key: Key, feature: &str, value: Option<i64>, from: &Provenance) {
        self.set(key, Some(feature), value.map(Value::from), from);
    }

    /// As [`Self::list`], for a key with a place for a feature's name without spaces.
    pub fn feature_list<T: AsRef<str>>(
        &mut self,
        key: Key,
        feature: &str,
        value: Option<&[T]>,
        from: &Provenance,
    ) {
        self.set(key, Some(feature), value.and_then(texts), from);
    }

    /// Rows of the sheet about itself, which stay as an empty list when they were `ever` there.
    pub(crate) fn rows<T: AsRef<str>>(&mut self, key: Key, rows: &[T], ever: bool, from: &Provenance) {
        let empty = || ever.then(|| Value::StringArray(Arc::from([])));
        self.set(key, None, texts(rows).or_else(empty), from);
    }

    fn set(&mut self, key: Key, feature: Option<&str>, value: Option<Value>, from: &Provenance) {
        let row = key.row();
        let Some(value) = value.filter(|v| v.family() == row.data_type.family()) else { return };
        if row.is_pattern() != feature.is_some() {
            return;
        }
        let name = match feature {
            Some(feature) if feature.is_empty() || feature.contains('/') => return,
            Some(feature) => Cow::Owned(row.name.replace("<Feature>", feature)),
            None => Cow::Borrowed(row.name),
        };
        let entry = Entry { key, name, fact: Fact { value, provenance: from.clone() } };
        match self.place(key, &entry.name) {
            Ok(at) => self.entries[at] = entry,
            Err(at) => self.entries.insert(at, entry),
        }
    }

    fn place(&self, key: Key, name: &str) -> Result<usize, usize> {
        self.entries.binary_search_by(|entry| (entry.key, &*entry.name).cmp(&(key, name)))
    }

    /// The lines, in the table's order; those of features by name within their row.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(crate) fn entries_mut(&mut self) -> &mut [Entry] {
        &mut self.entries
    }

    /// The line of a key as it stands under the root: `Identity/Name`, `Catalyst/GoalDirector/Count`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.at(crate::keys::find(name)?.key, name)
    }

    /// As [`Self::get`] for whoever knows the row.
    pub(crate) fn at(&self, key: Key, name: &str) -> Option<&Entry> {
        self.place(key, name).ok().and_then(|at| self.entries.get(at))
    }

    /// The value of a key.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.get(name).map(|entry| &entry.fact.value)
    }

    /// Whether any line belongs to this row of the table.
    #[must_use]
    pub fn has(&self, key: Key) -> bool {
        let at = self.entries.partition_point(|entry| entry.key < key);
        self.entries.get(at).is_some_and(|entry| entry.key == key)
    }

    /// How many lines it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing at all is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Why each absent key is absent, in the table's order.
    #[must_use]
    pub fn absent(&self) -> &[(Key, String)] {
        &self.absent
    }

    /// Why this key is absent; `None` when it is there.
    #[must_use]
    pub fn why(&self, key: Key) -> Option<&str> {
        self.absent.iter().find(|(absent, _)| *absent == key).map(|(_, reason)| &**reason)
    }

    /// For keys that are there: which sources were passed over for theirs, and why.
    #[must_use]
    pub fn passed_over(&self) -> &[(Key, String)] {
        &self.passed_over
    }

    /// Where two sources differ.
    #[must_use]
    pub fn disagreements(&self) -> &[Disagreement] {
        &self.disagreements
    }

    /// What is hard to believe.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Count and digest of the facts: see [`digest`](crate::digest).
    #[must_use]
    pub fn digest(&self) -> crate::Digest {
        let facts = self.entries.iter().filter(|entry| entry.key.row().group != Group::Sheet);
        crate::digest(facts.map(|entry| (&*entry.name, entry.fact.value.as_ref())))
    }
}

fn texts<T: AsRef<str>>(all: &[T]) -> Option<Value> {
    let kept: Vec<Arc<str>> =
        all.iter().map(|t| t.as_ref().trim()).filter(|t| !t.is_empty()).map(Arc::from).collect();
    (!kept.is_empty()).then(|| Value::StringArray(kept.into()))
}
