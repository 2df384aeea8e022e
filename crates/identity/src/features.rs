//! Which components came up.

use std::collections::BTreeMap;

use fieldlab_base::{ConfigError, Feature};

/// More kinds of components than any robot has.
const MOST_FEATURES: usize = 64;
/// More names of one kind than a sheet should list.
const MOST_NAMES: usize = 64;

/// The features of components that came up. It lists what came up; it says nothing about what did not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Features {
    /// By topic segment, which is the name without spaces.
    recorded: BTreeMap<String, Recorded>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Recorded {
    name: String,
    instances: u32,
    /// Label → how many with it.
    labels: BTreeMap<String, u32>,
}

/// One kind of component that came up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Present<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its name in topics.
    pub segment: &'a str,
    /// How many came up.
    pub instances: u32,
    recorded: &'a Recorded,
}

impl<'a> Present<'a> {
    /// The different labels, by name.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &'a str> + use<'a> {
        self.recorded.labels.keys().map(String::as_str)
    }

    /// How many different labels there are, and at least 1.
    #[must_use]
    pub fn count(&self) -> usize {
        self.recorded.labels.len().max(1)
    }
}

impl Features {
    /// Records a component that came up.
    ///
    /// # Errors
    /// Refuses a name that differs from a recorded one in its spaces only, since both would be one topic; and what goes
    /// beyond 64 kinds, or 64 labels of one kind.
    pub fn record(&mut self, feature: &Feature) -> Result<(), ConfigError> {
        let segment = feature.segment();
        let full = self.recorded.len() >= MOST_FEATURES;
        match self.recorded.get(&segment) {
            Some(known) if known.name != feature.name() => {
                let expected = format!("a name that differs from `{}` in more than spaces", known.name);
                return Err(ConfigError::new("feature.name", expected, feature.name()));
            }
            None if full => {
                let expected = format!("at most {MOST_FEATURES} kinds of components");
                return Err(ConfigError::new("feature.name", expected, feature.name()));
            }
            _ => {}
        }
        let known = self.recorded.entry(segment).or_insert_with(|| Recorded {
            name: feature.name().to_owned(),
            instances: 0,
            labels: BTreeMap::new(),
        });
        if let Some(label) = feature.label() {
            if known.labels.len() >= MOST_NAMES && !known.labels.contains_key(label) {
                let expected = format!("at most {MOST_NAMES} labels of {}", known.name);
                return Err(ConfigError::new("feature.label", expected, label));
            }
            *known.labels.entry(label.to_owned()).or_default() += 1;
        }
        known.instances += 1;
        Ok(())
    }

    /// Takes one component back that is gone, such as one of an op mode that was closed. Answers whether it was known.
    pub fn remove(&mut self, feature: &Feature) -> bool {
        let segment = feature.segment();
        let Some(known) = self.recorded.get_mut(&segment).filter(|known| known.name == feature.name()) else {
            return false;
        };
        if let Some(label) = feature.label() {
            let Some(count) = known.labels.get_mut(label) else { return false };
            *count -= 1;
            if *count == 0 {
                known.labels.remove(label);
            }
        } else if known.labels.values().sum::<u32>() == known.instances {
            return false;
        }
        known.instances -= 1;
        if known.instances == 0 {
            self.recorded.remove(&segment);
        }
        true
    }

    /// What came up, by name.
    #[must_use]
    pub fn present(&self) -> Vec<Present<'_>> {
        let mut all: Vec<Present<'_>> = self
            .recorded
            .iter()
            .map(|(segment, known)| Present {
                name: &known.name,
                segment,
                instances: known.instances,
                recorded: known,
            })
            .collect();
        all.sort_unstable_by_key(|present| present.name);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(features: &Features) -> Vec<(&str, usize, u32, Vec<&str>)> {
        features.present().iter().map(|p| (p.name, p.count(), p.instances, p.names().collect())).collect()
    }

    #[test]
    fn i4_i5_names_are_sorted_and_instances_stand_beside_the_count() {
        let mut features = Features::default();
        for feature in [
            Feature::sequence("Zig"),
            Feature::sequence("ThreePiece"),
            Feature::sequence("ThreePiece"),
            Feature::sequence(" "),
            Feature::goal_director(None),
        ] {
            features.record(&feature).unwrap();
        }
        assert_eq!(
            counts(&features),
            [("Goal Director", 1, 1, vec![]), ("Sequence", 2, 4, vec!["ThreePiece", "Zig"])]
        );
    }

    #[test]
    fn i8_names_that_differ_in_spaces_only_are_refused() {
        let mut features = Features::default();
        features.record(&Feature::goal_director(None)).unwrap();
        let near = Feature::own("GoalDirector", "").unwrap();
        assert!(features.record(&near).is_err());
        assert_eq!(counts(&features).len(), 1);
    }

    #[test]
    fn a_component_that_is_gone_is_taken_back() {
        let mut features = Features::default();
        let (named, unnamed) = (Feature::campaign("Field Day"), Feature::campaign(""));
        features.record(&named).unwrap();
        assert!(!features.remove(&unnamed), "no unnamed one came up");
        features.record(&unnamed).unwrap();
        assert!(features.remove(&named));
        assert!(!features.remove(&named));
        assert_eq!(counts(&features), [("Campaign", 1, 1, vec![])]);
        assert!(features.remove(&unnamed));
        assert!(features.present().is_empty());
    }

    #[test]
    fn it_does_not_grow_without_end() {
        let mut features = Features::default();
        for i in 0..200 {
            drop(features.record(&Feature::sequence(&format!("auto {i}"))));
            drop(features.record(&Feature::own(&format!("Kind{i}"), "").unwrap()));
        }
        let present = features.present();
        assert_eq!(present.len(), MOST_FEATURES);
        assert!(present.iter().all(|p| p.count() <= MOST_NAMES));
    }
}
