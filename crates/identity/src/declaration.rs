//! What only the team knows.

use std::collections::BTreeMap;

use fieldlab_base::{ConfigError, check};

use crate::facts::ModuleConstants;

/// What a team says about its robot: plain data. Nothing that can be read has a field here, because what is typed drifts
/// out of date.
///
/// Numbers that are not above zero and blank texts never reach the sheet, however they came in here.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Declaration {
    /// The robot's name.
    pub name: String,
    /// The stamp of the robot code's build.
    pub robot_code_version: Option<String>,
    /// When or by whom it was built.
    pub robot_code_build: Option<String>,
    /// The frame along x without bumpers, metres.
    pub frame_length_m: Option<f64>,
    /// The frame along y without bumpers, metres.
    pub frame_width_m: Option<f64>,
    /// How far the bumpers stand out on each side, metres.
    pub bumper_thickness_m: Option<f64>,
    /// Height in the starting configuration, metres.
    pub height_m: Option<f64>,
    /// The model of battery.
    pub battery: Option<String>,
    /// The constants that the modules were built from.
    pub module_constants: Vec<ModuleConstants>,
    /// What is wired to each channel of the power distribution; blank for nothing.
    pub channels: BTreeMap<u8, String>,
}

/// Where a declaration begins.
#[derive(Debug, Clone, Copy)]
pub struct RobotIdentity;

impl RobotIdentity {
    /// The whole declaration in one line: everything else is read.
    ///
    /// # Errors
    /// Refuses a blank name.
    pub fn declare(name: &str) -> Result<Declaration, ConfigError> {
        Self::named(name).declare()
    }

    /// Begins a declaration with more than the name.
    ///
    /// ```
    /// use fieldlab_identity::{ModuleConstants, RobotIdentity};
    ///
    /// let module = ModuleConstants { drive_gear_ratio: Some(6.75), ..ModuleConstants::default() };
    /// let ratchet = RobotIdentity::named("Ratchet")
    ///     .robot_code_version(option_env!("GIT_SHA"))
    ///     .frame_m(0.74, 0.70)
    ///     .bumper_thickness_m(0.08)
    ///     .swerve_modules([&module; 4])
    ///     .channel(0, "Front left drive")
    ///     .declare()?;
    /// assert_eq!(ratchet.frame_width_m, Some(0.70));
    /// assert!(RobotIdentity::named("Ratchet").height_m(f64::NAN).declare().is_err());
    /// # Ok::<(), fieldlab_base::ConfigError>(())
    /// ```
    pub fn named(name: &str) -> Builder {
        Builder {
            declared: Declaration { name: name.trim().to_owned(), ..Declaration::default() },
            twice: None,
        }
    }
}

/// A declaration in the making.
#[derive(Debug, Clone)]
#[must_use = "a builder declares nothing until `declare` is called"]
pub struct Builder {
    declared: Declaration,
    twice: Option<u8>,
}

impl Builder {
    /// The stamp of the robot code's build: what its build wrote, not a typed text. `None` where the build wrote none.
    pub fn robot_code_version<'a>(mut self, stamp: impl Into<Option<&'a str>>) -> Self {
        self.declared.robot_code_version = stamp.into().map(str::to_owned);
        self
    }

    /// When or by whom the robot code was built, as its build wrote it.
    pub fn robot_code_build<'a>(mut self, stamp: impl Into<Option<&'a str>>) -> Self {
        self.declared.robot_code_build = stamp.into().map(str::to_owned);
        self
    }

    /// The frame by tape measure, without bumpers, metres: along x, then along y.
    pub fn frame_m(mut self, length_m: f64, width_m: f64) -> Self {
        (self.declared.frame_length_m, self.declared.frame_width_m) = (Some(length_m), Some(width_m));
        self
    }

    /// How far the bumpers stand out on each side, metres.
    pub fn bumper_thickness_m(mut self, thickness_m: f64) -> Self {
        self.declared.bumper_thickness_m = Some(thickness_m);
        self
    }

    /// Height in the starting configuration, metres.
    pub fn height_m(mut self, height_m: f64) -> Self {
        self.declared.height_m = Some(height_m);
        self
    }

    /// The model of battery: `MK ES17-12`.
    pub fn battery(mut self, model: &str) -> Self {
        self.declared.battery = Some(model.to_owned());
        self
    }

    /// The very objects that the drive's modules are built from: the only way to the gear ratios that cannot fall out of
    /// step with the robot.
    pub fn swerve_modules<T: Into<ModuleConstants>>(mut self, modules: impl IntoIterator<Item = T>) -> Self {
        self.declared.module_constants = modules.into_iter().map(Into::into).collect();
        self
    }

    /// What is wired to a channel of the power distribution. A blank label is a channel in which nothing is wired.
    pub fn channel(mut self, channel: u8, what: &str) -> Self {
        if self.declared.channels.insert(channel, what.to_owned()).is_some() {
            self.twice = self.twice.or(Some(channel));
        }
        self
    }

    /// The declaration.
    ///
    /// # Errors
    /// Refuses a blank name, lengths that are not finite and above zero, and a channel that was named twice.
    pub fn declare(self) -> Result<Declaration, ConfigError> {
        let it = self.declared;
        if it.name.is_empty() {
            return Err(ConfigError::new("identity.name", "a name that is not blank", "a blank one"));
        }
        for (path, value) in [
            ("identity.frame_length_m", it.frame_length_m),
            ("identity.frame_width_m", it.frame_width_m),
            ("identity.bumper_thickness_m", it.bumper_thickness_m),
            ("identity.height_m", it.height_m),
        ] {
            value.map(|value| check::positive(path, value)).transpose()?;
        }
        if let Some(channel) = self.twice {
            let path = format!("identity.channels[{channel}]");
            return Err(ConfigError::new(path, "one label for a channel", "two"));
        }
        Ok(it)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_is_a_whole_declaration() {
        assert_eq!(RobotIdentity::declare("  Ratchet ").map(|d| d.name), Ok("Ratchet".to_owned()));
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_its_place() {
        let named = || RobotIdentity::named("Ratchet");
        for (refused, path) in [
            (RobotIdentity::declare("  "), "identity.name"),
            (named().frame_m(0.0, 0.7).declare(), "identity.frame_length_m"),
            (named().frame_m(0.7, -1.0).declare(), "identity.frame_width_m"),
            (named().bumper_thickness_m(f64::INFINITY).declare(), "identity.bumper_thickness_m"),
            (named().height_m(f64::NAN).declare(), "identity.height_m"),
            (named().channel(3, "a").channel(3, "b").declare(), "identity.channels[3]"),
        ] {
            assert_eq!(refused.map_err(|e| e.path), Err(path.to_owned()));
        }
    }

    #[test]
    fn a_stamp_may_be_absent() {
        let built = RobotIdentity::named("R").robot_code_version(None).robot_code_build("monday").declare();
        let built = built.unwrap();
        assert_eq!((built.robot_code_version, built.robot_code_build.as_deref()), (None, Some("monday")));
    }
}
