//! What is asked of the robot in one turn.

use fieldlab_base::Command;

use super::{MAX_MECHANISMS, MODULES};

/// What is asked of a swerve drive.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum DriveCommand {
    /// No output.
    #[default]
    Neutral,
    /// Closed-loop chassis speeds in the robot's frame: x forward, y left, rotation counter-clockwise.
    Chassis {
        /// Forward speed.
        vx_mps: f64,
        /// Speed to the left.
        vy_mps: f64,
        /// Turning speed.
        omega_rad_per_sec: f64,
    },
    /// Open-loop volts on the drive motors while each module holds a steering angle.
    Volts {
        /// Drive volts per module.
        volts: [f64; MODULES],
        /// Steering angle per module.
        angle_rad: [f64; MODULES],
    },
    /// Wheels turned to an X, no drive output.
    XLock,
}

impl Command for DriveCommand {
    const NEUTRAL: Self = Self::Neutral;
}

impl DriveCommand {
    /// The same volts on every module, all steered to `angle_rad`: a straight line.
    #[must_use]
    pub const fn straight_volts(volts: f64, angle_rad: f64) -> Self {
        Self::Volts { volts: [volts; MODULES], angle_rad: [angle_rad; MODULES] }
    }

    /// Whether it asks for nothing that could move the robot.
    #[must_use]
    pub fn is_neutral(&self) -> bool {
        matches!(self, Self::Neutral)
    }

    /// The command, or neutral when any of its numbers is not finite: NaN is never an output.
    #[must_use]
    pub fn finite_or_neutral(self) -> Self {
        let finite = match &self {
            Self::Neutral | Self::XLock => true,
            Self::Chassis { vx_mps, vy_mps, omega_rad_per_sec } => {
                vx_mps.is_finite() && vy_mps.is_finite() && omega_rad_per_sec.is_finite()
            }
            Self::Volts { volts, angle_rad } => volts.iter().chain(angle_rad).all(|v| v.is_finite()),
        };
        if finite { self } else { Self::Neutral }
    }
}

/// What is asked of a named mechanism.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum MechanismCommand {
    /// No output.
    #[default]
    Neutral,
    /// Go to, or turn at, this value in the mechanism's own unit.
    Setpoint(f64),
    /// Open-loop volts.
    Volts(f64),
}

impl Command for MechanismCommand {
    const NEUTRAL: Self = Self::Neutral;
}

impl MechanismCommand {
    /// The command, or neutral when its number is not finite.
    #[must_use]
    pub fn finite_or_neutral(self) -> Self {
        match self {
            Self::Setpoint(v) | Self::Volts(v) if !v.is_finite() => Self::Neutral,
            other => other,
        }
    }
}

/// Everything that is asked in one turn. Every number in it is finite.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Outputs {
    /// The drive.
    pub drive: DriveCommand,
    /// The named mechanisms, in the order of the robot's description.
    pub mechanisms: [MechanismCommand; MAX_MECHANISMS],
}

impl Outputs {
    /// Nothing is asked.
    pub const NEUTRAL: Self =
        Self { drive: DriveCommand::Neutral, mechanisms: [MechanismCommand::Neutral; MAX_MECHANISMS] };

    /// Whether nothing is asked of anything.
    #[must_use]
    pub fn is_neutral(&self) -> bool {
        *self == Self::NEUTRAL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_none_commands_nothing() {
        assert_eq!(DriveCommand::straight_volts(f64::NAN, 0.0).finite_or_neutral(), DriveCommand::Neutral);
        assert_eq!(
            DriveCommand::straight_volts(1.0, f64::INFINITY).finite_or_neutral(),
            DriveCommand::Neutral
        );
        let spin = DriveCommand::Chassis { vx_mps: 0.0, vy_mps: 0.0, omega_rad_per_sec: 0.6 };
        assert_eq!(spin.finite_or_neutral(), spin);
        assert_eq!(MechanismCommand::Setpoint(f64::NAN).finite_or_neutral(), MechanismCommand::Neutral);
        assert!(Outputs::default().is_neutral());
    }
}
