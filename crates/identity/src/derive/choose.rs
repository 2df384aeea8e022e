//! One fact, several sources: the first good reading is taken, a different one is told, and every silence has a reason.

use std::borrow::Cow;

use fieldlab_base::Micros;

use crate::facts::{FactPart, Facts, Source};
use crate::keys::Key;
use crate::sheet::{Disagreement, How, Provenance, SpecSheet};

/// A value, or why what the source gave is none.
pub(super) type Reading<T> = Result<T, Cow<'static, str>>;

/// What one source says about one fact.
pub(super) struct Candidate<T> {
    pub(super) from: Provenance,
    pub(super) reading: Reading<T>,
}

/// A sheet in the making.
pub(super) struct Deriving<'a> {
    pub(super) sheet: SpecSheet,
    pub(super) facts: &'a Facts,
    pub(super) now: Micros,
}

impl<'a> Deriving<'a> {
    /// What every source says, in the order in which they are asked. `None` from `read` is silence.
    pub(super) fn ask<T>(
        &self,
        how: How,
        read: impl Fn(&'a FactPart) -> Option<Reading<T>>,
    ) -> Vec<Candidate<T>> {
        self.facts
            .parts()
            .filter_map(|(source, at, part)| {
                let reading = read(part)?;
                Some(Candidate { from: Provenance::new(how, source.name, at), reading })
            })
            .collect()
    }

    /// Takes the first good reading. Sources that differ from it by `same`'s account are told, by `show`; why other readings
    /// were none is kept for each of `keys`.
    pub(super) fn choose<T>(
        &mut self,
        keys: &[Key],
        candidates: Vec<Candidate<T>>,
        same: impl Fn(&T, &T) -> bool,
        show: impl Fn(&T) -> String,
    ) -> Option<(T, Provenance)> {
        let mut chosen: Option<(T, Provenance)> = None;
        let mut reasons = Vec::new();
        for Candidate { from, reading } in candidates {
            match (reading, &chosen) {
                (Ok(value), None) => chosen = Some((value, from)),
                (Ok(value), Some((taken, by))) => {
                    if !same(taken, &value)
                        && let Some(key) = keys.first()
                    {
                        self.sheet.disagreements.push(Disagreement {
                            key: *key,
                            taken: by.source.clone(),
                            taken_value: show(taken),
                            other: from.source,
                            other_value: show(&value),
                        });
                    }
                }
                (Err(reason), _) => reasons.push(format!("{}: {reason}", from.source)),
            }
        }
        for key in keys {
            if chosen.is_none() {
                self.absent(*key, &reasons);
            } else if !reasons.is_empty() {
                self.sheet.passed_over.push((*key, reasons.join("; ")));
            }
        }
        chosen
    }

    /// A text of which several sources may know.
    pub(super) fn text(&mut self, keys: &[Key], read: impl Fn(&FactPart) -> Option<&String>) {
        let candidates = self.ask(How::Read, |part| {
            read(part).map(|text| crate::text::telling(text).map(str::to_owned).map_err(Cow::Borrowed))
        });
        let chosen = self.choose(keys, candidates, |a, b| a == b, |text| format!("`{text}`"));
        if let Some((text, from)) = chosen {
            for key in keys {
                self.sheet.text(*key, Some(&text), &from);
            }
        }
    }

    /// A number above zero of which several sources may know.
    pub(super) fn positive(&mut self, key: Key, read: impl Fn(&FactPart) -> Option<f64>) {
        let candidates = self.ask(How::Read, |part| read(part).map(positive));
        let chosen = self.choose(&[key], candidates, |a, b| near(*a, *b, 1e-6), f64::to_string);
        if let Some((value, from)) = chosen {
            self.sheet.positive(key, Some(value), &from);
        }
    }

    /// Notes why `key` is absent: the readings that were none, what sources say of their silence, and without any of these
    /// who could have given it.
    pub(super) fn absent(&mut self, key: Key, reasons: &[String]) {
        let silences = self.facts.parts().flat_map(|(source, _, part)| silences(source, part, key));
        let mut all: Vec<String> = reasons.to_vec();
        all.extend(silences);
        if all.is_empty() {
            all.push(format!("nobody says; it could come from: {}", key.row().sources.join(", ")));
        }
        match self.sheet.absent.binary_search_by_key(&key, |(absent, _)| *absent) {
            Ok(_) => {}
            Err(at) => self.sheet.absent.insert(at, (key, all.join("; "))),
        }
    }
}

fn silences(source: Source, part: &FactPart, key: Key) -> impl Iterator<Item = String> {
    part.silent
        .iter()
        .filter(move |(silent, _)| *silent == key || key.newer() == Some(*silent))
        .map(move |(_, reason)| format!("{}: {reason}", source.name))
}

/// A number above zero, or why it is no reading.
pub(super) fn positive(value: f64) -> Reading<f64> {
    if !value.is_finite() {
        Err(format!("{value} is no reading").into())
    } else if value <= 0.0 {
        Err(format!("{value} is no reading, it can only be above 0").into())
    } else {
        Ok(value)
    }
}

/// An integer above zero, or why it is no reading.
pub(super) fn above_zero(value: i64) -> Reading<i64> {
    if value > 0 { Ok(value) } else { Err(format!("{value} is no reading, it can only be above 0").into()) }
}

/// Whether two numbers are the same but for `relative` of the larger.
pub(super) fn near(a: f64, b: f64, relative: f64) -> bool {
    (a - b).abs() <= relative * a.abs().max(b.abs())
}
