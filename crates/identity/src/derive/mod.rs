//! From a declaration, facts and features to the sheet: pure, deterministic, and silent about what nobody knows.

mod chassis;
mod choose;
mod drivetrain;
mod hardware;
mod rectangle;
mod who;

use fieldlab_base::Micros;
use fieldlab_values::Value;

use crate::declaration::Declaration;
use crate::facts::Facts;
use crate::features::Features;
use crate::keys::{self, Group, Key, Origin, Row};
use crate::sheet::{How, Provenance, SpecSheet, Warning};

use choose::Deriving;
pub use rectangle::{Rectangle, rectangle};

/// What provenance calls the declaration.
pub const DECLARATION: &str = "declaration";

/// The sheet of a robot: what is known, where it came from, why the rest is absent, which sources differ and what is hard
/// to believe.
///
/// The same arguments give the same sheet. The order in which facts came in changes nothing; sources are asked by rank.
/// `now` is the instant of what was declared or derived; [`Identity`](crate::Identity) keeps the first instant of a fact
/// that stays as it is.
#[must_use]
pub fn derive(declared: &Declaration, facts: &Facts, features: &Features, now: Micros) -> SpecSheet {
    let mut it = Deriving { sheet: SpecSheet::default(), facts, now };
    it.who(declared);
    it.software(declared);
    it.drivetrain(declared);
    it.chassis(declared);
    it.power(declared);
    it.hardware();
    it.features(features);
    it.remaining_reasons();
    it.sheet.passed_over.sort();
    it.doubts();
    it.sheet
}

impl Deriving<'_> {
    fn declared(&self) -> Provenance {
        Provenance::new(How::Declared, DECLARATION, self.now)
    }

    fn features(&mut self, features: &Features) {
        let from = Provenance::new(How::Read, "components", self.now);
        let present = features.present();
        let names: Vec<&str> = present.iter().map(|p| p.name).collect();
        self.sheet.list(Key::InUse, Some(&names), &from);
        for feature in &present {
            let count = i64::try_from(feature.count()).ok();
            let names: Vec<&str> = feature.names().collect();
            let instances = Some(i64::from(feature.instances));
            self.sheet.feature_integer(Key::FeatureCount, feature.segment, count, &from);
            self.sheet.feature_integer(Key::FeatureInstances, feature.segment, instances, &from);
            self.sheet.feature_list(Key::FeatureNames, feature.segment, Some(&names), &from);
        }
        if present.is_empty() {
            self.absent(Key::InUse, &["components: none came up and said so".to_owned()]);
        }
    }

    /// Every key that nobody spoke of gets a reason too.
    fn remaining_reasons(&mut self) {
        let due = keys::table().iter().filter(|row| row.group != Group::Sheet && !row.is_pattern());
        for row in due {
            if self.sheet.has(row.key) {
                self.sheet.absent.retain(|(key, _)| *key != row.key);
            } else if row.origin == Origin::Foreign {
                self.absent(row.key, &[row.rule.to_owned()]);
            } else {
                self.absent(row.key, &[]);
            }
        }
    }

    /// What lies outside of what can be believed is published and told.
    fn doubts(&mut self) {
        let mut doubts = Vec::new();
        for entry in self.sheet.entries() {
            let row = entry.key.row();
            let Some(range) = row.plausible else { continue };
            let odd = match &entry.fact.value {
                Value::DoubleArray(all) => all.iter().copied().find(|v| !within(*v, range)),
                other => other.as_number().filter(|v| !within(*v, range)),
            };
            if let Some(odd) = odd {
                doubts.push(Warning { key: entry.key, text: doubt(row, range, odd) });
            }
        }
        self.sheet.warnings.extend(doubts);
        self.sheet.warnings.sort();
        self.sheet.warnings.dedup();
    }
}

fn within(value: f64, (low, high): (f64, f64)) -> bool {
    value >= low && value <= high
}

fn doubt(row: &Row, range: (f64, f64), odd: f64) -> String {
    let unit = if row.unit.is_empty() { String::new() } else { format!(" {}", row.unit) };
    let mut text = format!("{odd}{unit} is hard to believe, {} to {}{unit} is usual", range.0, range.1);
    // Which unit was meant can only be guessed when exactly one guess lands in the range.
    let guesses: &[(&str, f64)] = match row.unit {
        "m" => &[("millimetres", 0.001), ("centimetres", 0.01), ("inches", 0.0254)],
        "kg" => &[("pounds", 0.453_592_37), ("grams", 0.001)],
        "V" => &[("millivolts", 0.001)],
        "m/s" => &[("feet a second", 0.3048)],
        "rad/s" => &[("degrees a second", 0.017_453_292_519_943_295)],
        _ => &[],
    };
    let fitting: Vec<&str> =
        guesses.iter().filter(|(_, factor)| within(odd * factor, range)).map(|(name, _)| *name).collect();
    if !fitting.is_empty() {
        text.push_str(&format!("; in {} it would be", fitting.join(" or ")));
    }
    text
}
