//! Who it is and what runs on it.

use std::borrow::Cow;

use crate::declaration::Declaration;
use crate::facts::Controller;
use crate::keys::Key;
use crate::sheet::{How, Provenance};
use crate::text::telling;
use crate::version;

use super::choose::{Candidate, Deriving, above_zero};

/// Years in which a WPILib can have been made.
const YEARS: std::ops::RangeInclusive<i64> = 2015..=2099;

impl Deriving<'_> {
    pub(super) fn who(&mut self, declared: &Declaration) {
        let from = self.declared();
        self.sheet.text(Key::Name, Some(&declared.name), &from);

        let candidates = self.ask(How::Read, |part| part.controller.team_number.map(above_zero));
        let team = self.choose(&[Key::TeamNumber], candidates, |a, b| a == b, i64::to_string);
        if let Some((team, from)) = team {
            self.sheet.integer(Key::TeamNumber, Some(team), &from);
        }

        let candidates = self.ask(How::Read, |part| {
            let model = part.controller.model.as_ref()?;
            Some(telling(model.wire()).map(|_| model.clone()).map_err(Cow::Borrowed))
        });
        let model = self.choose(&[Key::Controller], candidates, |a, b| a == b, |m| m.wire().to_owned());
        if let Some((model, from)) = &model {
            self.sheet.text(Key::Controller, Some(model.wire()), from);
        }

        self.text(&[Key::ControllerSerial, Key::RioSerial], |part| part.controller.serial.as_ref());
        self.text(&[Key::ControllerComment, Key::RioComment], |part| part.controller.comment.as_ref());
        self.text(&[Key::ControllerImage, Key::RioImage], |part| part.controller.image.as_ref());
        self.fpga(model.map(|(model, _)| model));
    }

    /// Only a roboRIO has an FPGA whose version is a reading; simulated and later ones hand out a constant.
    fn fpga(&mut self, model: Option<Controller>) {
        let has_one = model.as_ref().is_none_or(Controller::has_fpga);
        let candidates = self.ask(How::Read, |part| {
            let version = part.controller.fpga_version?;
            Some(if has_one {
                above_zero(version)
            } else {
                Err(format!("{version} is a constant, this controller has no FPGA").into())
            })
        });
        let version = self.choose(&[Key::FpgaVersion], candidates, |a, b| a == b, i64::to_string);
        if let Some((version, from)) = version {
            self.sheet.integer(Key::FpgaVersion, Some(version), &from);
        }
    }

    pub(super) fn software(&mut self, declared: &Declaration) {
        self.library();
        for (key, stamp) in [
            (Key::RobotCodeVersion, &declared.robot_code_version),
            (Key::RobotCodeBuild, &declared.robot_code_build),
        ] {
            let from = self.declared();
            match stamp.as_deref().map(telling) {
                Some(Ok(stamp)) => self.sheet.text(key, Some(stamp), &from),
                Some(Err(reason)) => self.absent(key, &[format!("declaration: the stamp is {reason}")]),
                None => self.absent(key, &["declaration: not declared".to_owned()]),
            }
        }
        self.text(&[Key::WpilibVersion], |part| part.runtime.wpilib_version.as_ref());
        let wpilib = self.sheet.get(Key::WpilibVersion.name()).map(|entry| entry.fact.clone());
        match wpilib {
            Some(fact) => {
                let season = match &fact.value {
                    fieldlab_values::Value::String(version) => season(version),
                    _ => None,
                };
                let from = Provenance { how: How::Derived, ..fact.provenance };
                if season.is_none() {
                    self.absent(
                        Key::Season,
                        &["Software/WPILibVersion does not begin with a year".to_owned()],
                    );
                }
                self.sheet.integer(Key::Season, season, &from);
            }
            None => self.absent(Key::Season, &["Software/WPILibVersion is absent".to_owned()]),
        }
    }

    /// What was compiled in.
    fn library(&mut self) {
        let from = Provenance::new(How::Read, "the library's build", self.now);
        self.sheet.text(Key::CatalystVersion, Some(version::version()), &from);
        self.sheet.text(Key::Library, Some(version::LIBRARY), &from);
        self.sheet.text(Key::RustVersion, version::rust_version(), &from);
        self.sheet.text(Key::CatalystGitSha, version::git_sha(), &from);
        self.sheet.flag(Key::CatalystGitDirty, version::git_dirty(), &from);
        self.sheet.text(Key::CatalystCommitTime, version::commit_time(), &from);
        for key in [Key::CatalystGitSha, Key::CatalystGitDirty, Key::CatalystCommitTime] {
            self.absent(key, &["the library's build: made outside of its repository".to_owned()]);
        }
    }

    /// One thing that a person declared: a number above zero, or the reason why it is none.
    pub(super) fn declared_length(&mut self, key: Key, value: Option<f64>) -> Option<f64> {
        let from = self.declared();
        let Some(value) = value else {
            self.absent(key, &["declaration: not declared".to_owned()]);
            return None;
        };
        let candidates = vec![Candidate { from, reading: super::choose::positive(value) }];
        let (value, from) = self.choose(&[key], candidates, |a, b| a == b, f64::to_string)?;
        self.sheet.positive(key, Some(value), &from);
        Some(value)
    }
}

/// The year that begins a version: four digits, and a year in which there was a WPILib.
fn season(version: &str) -> Option<i64> {
    let year = version.get(..4).filter(|year| year.bytes().all(|b| b.is_ascii_digit()))?;
    year.parse().ok().filter(|year| YEARS.contains(year))
}

#[cfg(test)]
mod tests {
    use super::season;

    #[test]
    fn the_season_is_the_year_that_begins_the_version() {
        for (version, expect) in [
            ("2026.2.1", Some(2026)),
            ("2027.0.0-alpha-6", Some(2027)),
            ("2027", Some(2027)),
            ("v2027.1", None),
            ("1.0.0", None),
            ("0000.1", None),
            ("202", None),
            ("20é7.1", None),
        ] {
            assert_eq!(season(version), expect, "{version}");
        }
    }
}
