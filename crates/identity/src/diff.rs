//! What two sheets say differently: two robots, two builds, two logs.

use std::collections::BTreeSet;
use std::sync::Arc;

use fieldlab_values::Value;

use crate::keys::{self, Row};
use crate::read::ReadSheet;

/// One key about which two sheets differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The key under [`keys::ROOT`].
    pub key: String,
    /// Its row, when the table knows it.
    pub row: Option<&'static Row>,
    /// What the first sheet says; absent when it says nothing.
    pub a: Option<Value>,
    /// What the second says.
    pub b: Option<Value>,
}

impl Difference {
    /// For two lists: what only the first has, and what only the second has, each in its list's order.
    #[must_use]
    pub fn lists(&self) -> Option<[Vec<Arc<str>>; 2]> {
        let (Some(Value::StringArray(a)), Some(Value::StringArray(b))) = (&self.a, &self.b) else {
            return None;
        };
        let only = |these: &[Arc<str>], those: &[Arc<str>]| {
            let those: BTreeSet<&Arc<str>> = those.iter().collect();
            these.iter().filter(|text| !those.contains(text)).cloned().collect()
        };
        Some([only(a, b), only(b, a)])
    }
}

/// Every fact about which `a` and `b` differ, in the table's order, then unknown keys by name. What sheets say about
/// themselves (boot, hash, provenance) is no fact about a robot and not compared.
#[must_use]
pub fn diff(a: &ReadSheet, b: &ReadSheet) -> Vec<Difference> {
    let (left, right) = (a.facts(), b.facts());
    let all: BTreeSet<(usize, &str)> = left
        .iter()
        .chain(&right)
        .map(|(key, row, _)| (row.map_or(usize::MAX, |row| row.key as usize), *key))
        .collect();
    all.into_iter()
        .filter_map(|(_, key)| {
            let (a, b) = (a.value(key), b.value(key));
            (a != b).then(|| Difference {
                key: key.to_owned(),
                row: keys::find(key),
                a: a.cloned(),
                b: b.cloned(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(facts: &[(&str, Value)]) -> ReadSheet {
        let mut sheet = ReadSheet::default();
        for (key, value) in facts {
            assert!(sheet.take(&format!("Robot/{key}"), &value.data_type(), value));
        }
        sheet
    }

    #[test]
    fn differences_stand_in_the_tables_order() {
        let rows = |all: &[&str]| Value::StringArray(all.iter().map(|r| Arc::from(*r)).collect());
        let a = sheet(&[
            ("Identity/Name", "Ratchet".into()),
            ("Chassis/MassKg", 52.0.into()),
            ("Catalyst/InUse", rows(&["Campaign", "Strategist"])),
            ("Sheet/BootId", "01".into()),
            ("Aaa/Unknown", 1.into()),
        ]);
        let b = sheet(&[
            ("Identity/Name", "Clank".into()),
            ("Catalyst/InUse", rows(&["Autopilot", "Campaign"])),
            ("Sheet/BootId", "02".into()),
        ]);
        let found = diff(&a, &b);
        let keys: Vec<&str> = found.iter().map(|d| &*d.key).collect();
        assert_eq!(keys, ["Identity/Name", "Chassis/MassKg", "Catalyst/InUse", "Aaa/Unknown"]);
        assert_eq!((&found[1].a, &found[1].b), (&Some(52.0.into()), &None));
        let [only_a, only_b] = found[2].lists().unwrap();
        assert_eq!((&*only_a[0], &*only_b[0]), ("Strategist", "Autopilot"));
        assert!(diff(&a, &a).is_empty());
    }
}
