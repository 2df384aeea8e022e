//! A component that came up says so.

use std::borrow::Cow;

use crate::ConfigError;

/// The proof that a component was built and its configuration accepted; the robot records it on the identity sheet.
///
/// A component whose configuration was refused returns no feature, and so is absent from the sheet. Make one at the end
/// of a constructor, never before the last check.
///
/// The label is the thing that changes the answer: the same robot is another machine under another profile.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Feature {
    name: Cow<'static, str>,
    label: String,
}

/// How much of its physics a Physics Core runs; on the wire the name in capitals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PhysicsProfile {
    /// `MINIMAL`
    Minimal,
    /// `BALANCED`
    Balanced,
    /// `ADVANCED`
    Advanced,
    /// `SYSTEMCORE`
    Systemcore,
}

impl PhysicsProfile {
    /// The name on the wire.
    #[must_use]
    pub const fn wire(self) -> &'static str {
        match self {
            Self::Minimal => "MINIMAL",
            Self::Balanced => "BALANCED",
            Self::Advanced => "ADVANCED",
            Self::Systemcore => "SYSTEMCORE",
        }
    }
}

impl Feature {
    /// The longest name and the longest label, in bytes: readers keep 127 for a whole topic.
    pub const LONGEST: usize = 64;

    /// `Autopilot`, by the builder's name; one without a name is called `Autopilot`.
    #[must_use]
    pub fn autopilot(name: &str) -> Self {
        Self::known("Autopilot", if name.trim().is_empty() { "Autopilot" } else { name })
    }

    /// `Strategist`, by its name.
    #[must_use]
    pub fn strategist(name: &str) -> Self {
        Self::known("Strategist", name)
    }

    /// `Sequence`, by its name.
    #[must_use]
    pub fn sequence(name: &str) -> Self {
        Self::known("Sequence", name)
    }

    /// `Goal Director`, by its default goal when it has one.
    #[must_use]
    pub fn goal_director(default_goal: Option<&str>) -> Self {
        Self::known("Goal Director", default_goal.unwrap_or_default())
    }

    /// `Physics Core`, by its profile.
    #[must_use]
    pub fn physics_core(profile: PhysicsProfile) -> Self {
        Self::known("Physics Core", profile.wire())
    }

    /// `Campaign`, by the campaign's name.
    #[must_use]
    pub fn campaign(name: &str) -> Self {
        Self::known("Campaign", name)
    }

    /// `Autos`, by the name of one that can be chosen.
    #[must_use]
    pub fn autos(name: &str) -> Self {
        Self::known("Autos", name)
    }

    /// `Approach`, by what it approaches.
    #[must_use]
    pub fn approach(target: &str) -> Self {
        Self::known("Approach", target)
    }

    /// `Guards`, by the name of one guard.
    #[must_use]
    pub fn guards(name: &str) -> Self {
        Self::known("Guards", name)
    }

    /// A team's own kind of component. Its name becomes part of a topic without its spaces, so each word begins with a
    /// capital; the label may be blank.
    ///
    /// # Errors
    /// Refuses a name that is blank, longer than [`Self::LONGEST`] bytes, holds anything but ASCII letters, digits and
    /// single spaces, or has a word that begins with a small letter.
    pub fn own(name: &str, label: &str) -> Result<Self, ConfigError> {
        let name = name.trim();
        let word = |w: &str| {
            w.starts_with(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit())
                && w.bytes().all(|b| b.is_ascii_alphanumeric())
        };
        if name.is_empty() || name.len() > Self::LONGEST || !name.split(' ').all(word) {
            let expected = "words of ASCII letters and digits, each with a capital first, one space between, 64 bytes in all";
            return Err(ConfigError::new("feature.name", expected, format!("{name:?}")));
        }
        Ok(Self { name: Cow::Owned(name.to_owned()), label: clean(label) })
    }

    fn known(name: &'static str, label: &str) -> Self {
        Self { name: Cow::Borrowed(name), label: clean(label) }
    }

    /// The kind of component: `Campaign`, `Goal Director`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Which one; absent when it has no name of its own.
    #[must_use]
    pub fn label(&self) -> Option<&str> {
        Some(&*self.label).filter(|label| !label.is_empty())
    }

    /// The name as it stands in topics: without its spaces.
    #[must_use]
    pub fn segment(&self) -> String {
        self.name.replace(' ', "")
    }
}

/// Trimmed, on one line, not too long.
fn clean(label: &str) -> String {
    let one_line: String = label.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let end = (0..=one_line.len().min(Feature::LONGEST)).rev().find(|at| one_line.is_char_boundary(*at));
    one_line.get(..end.unwrap_or(0)).unwrap_or_default().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_rules_of_the_five() {
        for (feature, name, segment, label) in [
            (Feature::autopilot(" Ace "), "Autopilot", "Autopilot", Some("Ace")),
            (Feature::autopilot(" "), "Autopilot", "Autopilot", Some("Autopilot")),
            (Feature::strategist("X1 co-pilot"), "Strategist", "Strategist", Some("X1 co-pilot")),
            (Feature::sequence("ThreePiece"), "Sequence", "Sequence", Some("ThreePiece")),
            (Feature::goal_director(Some("STOW")), "Goal Director", "GoalDirector", Some("STOW")),
            (Feature::goal_director(None), "Goal Director", "GoalDirector", None),
            (
                Feature::physics_core(PhysicsProfile::Balanced),
                "Physics Core",
                "PhysicsCore",
                Some("BALANCED"),
            ),
        ] {
            assert_eq!((feature.name(), &*feature.segment(), feature.label()), (name, segment, label));
        }
        let profiles = [
            PhysicsProfile::Minimal,
            PhysicsProfile::Balanced,
            PhysicsProfile::Advanced,
            PhysicsProfile::Systemcore,
        ];
        assert_eq!(profiles.map(PhysicsProfile::wire), ["MINIMAL", "BALANCED", "ADVANCED", "SYSTEMCORE"]);
    }

    #[test]
    fn i8_a_name_that_would_break_its_topic_is_refused() {
        for bad in
            ["", "  ", "A/B", "A|B", "Goal  Director", "Goal director", "Ünder", "A\nB", &"A".repeat(65)]
        {
            assert!(Feature::own(bad, "x").is_err(), "{bad:?}");
        }
        let own = Feature::own(" Climb Helper 2 ", " left ").unwrap();
        assert_eq!(
            (own.name(), &*own.segment(), own.label()),
            ("Climb Helper 2", "ClimbHelper2", Some("left"))
        );
    }

    #[test]
    fn a_label_is_one_short_line() {
        assert_eq!(Feature::campaign("a\nb").label(), Some("a b"));
        assert_eq!(Feature::campaign(&"ü".repeat(40)).label(), Some(&*"ü".repeat(32)));
        assert_eq!(Feature::campaign("\n\t").label(), None);
    }
}
