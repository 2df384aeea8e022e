//! How it drives.

use std::borrow::Cow;

use fieldlab_values::Translation2d;

use crate::declaration::Declaration;
use crate::facts::{FactPart, ModuleConstants, PathPlannerSettings};
use crate::keys::{self, Group, Key};
use crate::sheet::{How, Provenance, Warning};

use super::choose::{Candidate, Deriving, Reading, near, positive};
use super::rectangle::rectangle;

/// What provenance calls the module constants that a team declared.
const CONSTANTS: &str = "module constants";
/// Two radii that differ by less are one radius typed with fewer digits.
const SAME_RADIUS: f64 = 0.005;
/// Constants of modules that differ by less are one constant.
const SAME_CONSTANT: f64 = 1e-9;
/// A measured current is one to a few amperes; less is no difference.
const SAME_CURRENT: f64 = 0.1;

impl Deriving<'_> {
    pub(super) fn drivetrain(&mut self, declared: &Declaration) {
        if !self.facts.parts().any(|(_, _, part)| part.swerve.is_some()) {
            for row in keys::table().iter().filter(|row| row.group == Group::Drivetrain) {
                self.absent(row.key, &["no swerve drive came up".to_owned()]);
            }
            return;
        }
        self.modules();
        self.positive(Key::MaxSpeedMps, |part| part.swerve.as_ref()?.max_speed_mps);
        self.positive(Key::MaxAngularRateRadPerSec, |part| {
            part.swerve.as_ref()?.max_angular_rate_rad_per_sec
        });
        self.positive(Key::OdometryHz, |part| part.swerve.as_ref()?.odometry_hz);
        let candidates = self.ask(How::Read, |part| part.swerve.as_ref()?.can_fd.map(Ok));
        let fd = self.choose(&[Key::CanFd], candidates, |a, b| a == b, bool::to_string);
        if let Some((fd, from)) = fd {
            self.sheet.flag(Key::CanFd, Some(fd), &from);
        }

        self.constant(declared, Key::DriveGearRatio, |c| c.drive_gear_ratio, SAME_CONSTANT, Vec::new());
        self.constant(declared, Key::SteerGearRatio, |c| c.steer_gear_ratio, SAME_CONSTANT, Vec::new());
        let mut radii = self.path_planner(|settings| settings.wheel_radius_m);
        radii.extend(self.ask(How::Measured, |part| part.measured.wheel_radius_m.map(positive)));
        self.constant(declared, Key::WheelRadiusMeters, |c| c.wheel_radius_m, SAME_RADIUS, radii);
        let amps = self.ask(How::Measured, |part| part.measured.slip_current_amps.map(positive));
        self.constant(declared, Key::SlipCurrentAmps, |c| c.slip_current_amps, SAME_CURRENT, amps);

        self.setting(Key::WheelCof, |settings| settings.wheel_cof);
        self.setting(Key::DriveCurrentLimitAmps, |settings| settings.drive_current_limit_amps);
    }

    fn modules(&mut self) {
        let candidates = self.ask(How::Read, |part| {
            let count = part.swerve.as_ref()?.modules.len();
            Some(if count > 0 { Ok(count) } else { Err(Cow::Borrowed("it names no module")) })
        });
        let count = self.choose(&[Key::Modules], candidates, |a, b| a == b, usize::to_string);
        if let Some((count, from)) = count {
            let kind = Provenance { how: How::Derived, ..from.clone() };
            self.sheet.text(Key::DriveType, Some("Swerve"), &kind);
            self.sheet.integer(Key::Modules, i64::try_from(count).ok(), &from);
        } else if let Some((source, at, _)) = self.facts.parts().find(|(_, _, part)| part.swerve.is_some()) {
            let from = Provenance::new(How::Derived, source.name, at);
            self.sheet.text(Key::DriveType, Some("Swerve"), &from);
        }

        let candidates = self.ask(How::Read, |part| Some(locations(&part.swerve.as_ref()?.modules)));
        let same = |a: &Vec<Translation2d>, b: &Vec<Translation2d>| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a.x_m - b.x_m).hypot(a.y_m - b.y_m) <= 1e-3)
        };
        let show = |all: &Vec<Translation2d>| {
            all.iter().map(|m| format!("({}, {})", m.x_m, m.y_m)).collect::<Vec<_>>().join(" ")
        };
        let Some((modules, from)) = self.choose(&[Key::ModuleLocations], candidates, same, show) else {
            for key in [Key::TrackWidthMeters, Key::WheelBaseMeters] {
                self.absent(key, &["Drivetrain/ModuleLocations is absent".to_owned()]);
            }
            return;
        };
        let flat: Vec<f64> = modules.iter().flat_map(|m| [m.x_m, m.y_m]).collect();
        self.sheet.numbers(Key::ModuleLocations, Some(&flat), &from);
        let from = Provenance { how: How::Derived, ..from };
        let found = rectangle(&modules);
        self.sheet.positive(Key::TrackWidthMeters, found.map(|r| r.track_width_m), &from);
        self.sheet.positive(Key::WheelBaseMeters, found.map(|r| r.wheel_base_m), &from);
        if found.is_none() {
            for key in [Key::TrackWidthMeters, Key::WheelBaseMeters] {
                self.absent(key, &["the modules do not sit on the four corners of one rectangle".to_owned()]);
            }
        }
    }

    /// A constant of the modules: what was declared, then what sources read, then `others`.
    fn constant(
        &mut self,
        declared: &Declaration,
        key: Key,
        field: impl Fn(&ModuleConstants) -> Option<f64>,
        same: f64,
        others: Vec<Candidate<f64>>,
    ) {
        let mut candidates: Vec<Candidate<f64>> = agreed(&declared.module_constants, &field)
            .map(|reading| Candidate { from: Provenance::new(How::Read, CONSTANTS, self.now), reading })
            .into_iter()
            .collect();
        candidates.extend(self.ask(How::Read, |part| agreed(&part.module_constants, &field)));
        // Constants that speak against each other are a slip of somebody's, whatever stands in for them.
        for reason in candidates.iter().filter_map(|candidate| candidate.reading.as_ref().err()) {
            self.sheet.warnings.push(Warning { key, text: format!("module constants: {reason}") });
        }
        candidates.extend(others);
        let chosen = self.choose(&[key], candidates, |a, b| near(*a, *b, same), f64::to_string);
        if let Some((value, from)) = chosen {
            self.sheet.positive(key, Some(value), &from);
        }
    }

    /// A number of PathPlanner's deployed settings, which a person typed there.
    pub(super) fn setting(&mut self, key: Key, field: impl Fn(&PathPlannerSettings) -> Option<f64>) {
        let candidates = self.path_planner(field);
        let chosen = self.choose(&[key], candidates, |a, b| near(*a, *b, SAME_CONSTANT), f64::to_string);
        if let Some((value, from)) = chosen {
            self.sheet.positive(key, Some(value), &from);
        }
    }

    fn path_planner(&self, field: impl Fn(&PathPlannerSettings) -> Option<f64>) -> Vec<Candidate<f64>> {
        self.ask(How::Declared, |part: &FactPart| match part.path_planner.as_ref()? {
            Ok(settings) => field(settings).map(positive),
            Err(reason) => Some(Err(format!("PathPlanner's settings are invalid: {reason}").into())),
        })
    }
}

fn locations(modules: &[Translation2d]) -> Reading<Vec<Translation2d>> {
    if modules.is_empty() {
        return Err(Cow::Borrowed("it names no module"));
    }
    match modules.iter().position(|m| !(m.x_m.is_finite() && m.y_m.is_finite())) {
        Some(at) => Err(format!("the place of module {at} is not finite").into()),
        None => Ok(modules.to_vec()),
    }
}

/// The constant on which all modules agree; `None` when none of them has it.
fn agreed(
    modules: &[ModuleConstants],
    field: &impl Fn(&ModuleConstants) -> Option<f64>,
) -> Option<Reading<f64>> {
    let values: Vec<Option<f64>> = modules.iter().map(field).collect();
    let first = values.iter().find_map(|v| *v)?;
    for (at, value) in values.iter().enumerate() {
        let Some(value) = value else { return Some(Err(format!("module {at} has none").into())) };
        if let Err(reason) = positive(*value) {
            return Some(Err(format!("module {at}: {reason}").into()));
        }
        if !near(first, *value, SAME_CONSTANT) {
            return Some(Err(format!("modules differ: {first} and, in module {at}, {value}").into()));
        }
    }
    Some(Ok(first))
}
