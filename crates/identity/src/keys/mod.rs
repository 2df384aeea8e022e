//! The one table of keys: code, JSON Schema, docs and every "why is this absent" come from it.

mod table;

use std::fmt;

use fieldlab_values::DataType;

pub use table::Key;

/// Where a sheet stands: `/Catalyst/Robot/<key>` on the network, `Robot/<key>` in our log files.
pub const ROOT: &str = "Robot";

/// The groups of keys, in the order of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// Who it is and what runs it.
    Identity,
    /// What runs on it.
    Software,
    /// How it moves.
    Drivetrain,
    /// How large and heavy it is.
    Chassis,
    /// What feeds it.
    Power,
    /// What hangs on its buses.
    Hardware,
    /// Which components came up.
    Catalyst,
    /// The sheet about itself: no fact about the robot, and so not in its count and hash.
    Sheet,
}

impl Group {
    /// The first segment of its keys.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Identity => "Identity",
            Self::Software => "Software",
            Self::Drivetrain => "Drivetrain",
            Self::Chassis => "Chassis",
            Self::Power => "Power",
            Self::Hardware => "Hardware",
            Self::Catalyst => "Catalyst",
            Self::Sheet => "Sheet",
        }
    }
}

/// Who defined a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// A key of the published contract.
    Catalyst,
    /// A key of ours beside them.
    FieldLab,
    /// A key of the contract that a Rust robot cannot truthfully give; it is read from other robots.
    Foreign,
}

/// One row of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Which.
    pub key: Key,
    /// The key under [`ROOT`]; `<Feature>` stands for a feature's name without spaces.
    pub name: &'static str,
    /// Its type on both wires.
    pub data_type: DataType,
    /// Its group.
    pub group: Group,
    /// The unit of its numbers; empty when they have none.
    pub unit: &'static str,
    /// What it means, in one sentence without an end.
    pub means: &'static str,
    /// When it is there.
    pub rule: &'static str,
    /// Who may give it, best first.
    pub sources: &'static [&'static str],
    /// The closed interval, in its unit, outside of which a value earns a warning and is published all the same.
    pub plausible: Option<(f64, f64)>,
    /// Who defined it.
    pub origin: Origin,
}

impl Row {
    /// Whether the name holds a place for a feature's name.
    #[must_use]
    pub fn is_pattern(&self) -> bool {
        matches!(self.key, Key::FeatureCount | Key::FeatureInstances | Key::FeatureNames)
    }

    /// Whether `key` is this row's key.
    #[must_use]
    pub fn is(&self, key: &str) -> bool {
        if !self.is_pattern() {
            return self.name == key;
        }
        let Some((before, after)) = self.name.split_once("<Feature>") else { return false };
        key.strip_prefix(before)
            .and_then(|rest| rest.strip_suffix(after))
            .is_some_and(|feature| !feature.is_empty() && !feature.contains('/'))
    }
}

/// Every row, in the order in which a sheet lists its keys.
#[must_use]
pub fn table() -> &'static [Row] {
    &table::TABLE
}

/// The table for whoever writes a dashboard, in Markdown: a heading and a table for each group.
#[must_use]
pub fn markdown() -> String {
    let mut text = String::new();
    let mut group = None;
    for row in table() {
        if group != Some(row.group) {
            text.push_str(if group.is_some() { "\n### " } else { "### " });
            text.push_str(row.group.name());
            text.push_str("\n\n| key | type | unit | meaning | when it is there | sources, best first |\n");
            text.push_str("|---|---|---|---|---|---|\n");
            group = Some(row.group);
        }
        let cell = |text: &str| text.replace('|', "\\|");
        text.push_str(&format!(
            "| `{}` | {} | {} | {} | {} | {} |\n",
            row.name,
            row.data_type,
            row.unit,
            cell(row.means),
            cell(row.rule),
            row.sources.join(", ")
        ));
    }
    text
}

/// The row of a key as it stands under [`ROOT`]: `Identity/Name`, `Catalyst/GoalDirector/Count`.
#[must_use]
pub fn find(key: &str) -> Option<&'static Row> {
    table::TABLE.iter().find(|row| row.is(key))
}

impl Key {
    /// The key whose older name this is: both carry one text, until no dashboard asks for the older one.
    #[must_use]
    pub const fn newer(self) -> Option<Self> {
        match self {
            Self::RioSerial => Some(Self::ControllerSerial),
            Self::RioComment => Some(Self::ControllerComment),
            Self::RioImage => Some(Self::ControllerImage),
            _ => None,
        }
    }

    /// Its row.
    #[must_use]
    pub fn row(self) -> &'static Row {
        &table::TABLE[self as usize]
    }

    /// Its name under [`ROOT`].
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_stands_at_its_own_place_once() {
        for (at, row) in table().iter().enumerate() {
            assert_eq!(row.key as usize, at, "{}", row.name);
            assert_eq!(row.key.name(), row.name);
            assert_eq!(row.is_pattern(), row.name.contains("<Feature>"));
            assert!(row.name.starts_with(&format!("{}/", row.group.name())), "{}", row.name);
            assert_eq!(table().iter().filter(|other| other.name == row.name).count(), 1, "{}", row.name);
            assert!(!row.means.is_empty() && !row.rule.is_empty() && !row.sources.is_empty(), "{}", row.name);
            if let Some((low, high)) = row.plausible {
                assert!(low < high && row.data_type != DataType::String, "{}", row.name);
            }
        }
        assert!(table().windows(2).all(|pair| pair[0].group <= pair[1].group));
    }

    #[test]
    fn the_page_of_keys_is_current() {
        let page = include_str!("../../../../docs/identity.md");
        assert!(page.contains(&markdown()), "`fieldlab identity keys` prints the current tables");
    }

    #[test]
    fn a_pattern_matches_one_segment() {
        assert_eq!(find("Catalyst/GoalDirector/Count").map(|r| r.key), Some(Key::FeatureCount));
        assert_eq!(find("Catalyst/InUse").map(|r| r.key), Some(Key::InUse));
        for no in ["Catalyst//Count", "Catalyst/A/B/Count", "Catalyst/A/Other", "Identity", ""] {
            assert_eq!(find(no), None, "{no}");
        }
    }
}
