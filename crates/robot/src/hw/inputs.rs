//! The snapshot: everything that is read in one turn.

use fieldlab_base::Micros;
use fieldlab_values::Pose2d;

use super::{ChannelAmps, MAX_MECHANISMS, MODULES};

/// A value and the instant it was measured, by the loop's clock.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading<T> {
    /// What was measured; may hold NaN, as a broken sensor does.
    pub value: T,
    /// When it was measured. A sensor that froze keeps its old instant.
    pub at: Micros,
}

impl<T> Reading<T> {
    /// A value measured at `at`.
    pub const fn new(value: T, at: Micros) -> Self {
        Self { value, at }
    }

    /// Seconds from the measurement to `now`; never negative.
    #[must_use]
    pub fn age_secs(&self, now: Micros) -> f64 {
        now.since(self.at).as_secs().max(0.0)
    }
}

/// The raw gyro.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GyroReading {
    /// Yaw since power on, counter-clockwise positive, unwrapped: it passes pi and keeps counting. Never reset, never
    /// fused with vision.
    pub yaw_rad: f64,
    /// Yaw rate, counter-clockwise positive.
    pub rate_rad_per_sec: Option<f64>,
}

/// One swerve module. Wheel quantities are of the wheel, after the gearbox.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ModuleReading {
    /// Steering angle, zero forward, counter-clockwise positive.
    pub angle_rad: Option<f64>,
    /// Wheel rotation since power on.
    pub position_rad: Option<f64>,
    /// Wheel speed.
    pub velocity_rad_per_sec: Option<f64>,
    /// Volts that the controller applies to the drive motor.
    pub applied_volts: Option<f64>,
    /// Stator current of the drive motor.
    pub stator_amps: Option<f64>,
    /// Temperature of the drive motor.
    pub temperature_c: Option<f64>,
}

/// Where the cameras believe that the robot stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VisionReading {
    /// The robot in the field's frame.
    pub robot_in_field: Pose2d,
    /// Tags it was computed from.
    pub tags: u8,
}

/// A mechanism that follows a setpoint in a unit of its own: a hood, a flywheel, a feeder.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MechanismReading {
    /// Where it is, or how fast it turns, in the unit of its [setpoint](super::MechanismCommand::Setpoint).
    pub value: Option<f64>,
    /// Whether it says that it has reached the setpoint commanded.
    pub at_setpoint: bool,
    /// Stator current.
    pub stator_amps: Option<f64>,
    /// Motor temperature.
    pub temperature_c: Option<f64>,
}

/// Everything that is read in one turn of the loop. Plain and copied whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inputs {
    /// The loop's clock at the start of this turn.
    pub now: Micros,
    /// Seconds since the turn before; zero in the first.
    pub dt_secs: f64,
    /// Whether the driver station enables motion in this turn.
    pub enabled: bool,
    /// Pack voltage at the power distribution, volts.
    pub battery_volts: Option<Reading<f64>>,
    /// The raw gyro.
    pub gyro: Option<Reading<GyroReading>>,
    /// The swerve modules.
    pub modules: [Option<Reading<ModuleReading>>; MODULES],
    /// The newest vision pose.
    pub vision: Option<Reading<VisionReading>>,
    /// What the channels of the power distribution carry.
    pub power: Option<Reading<ChannelAmps>>,
    /// The named mechanisms, in the order of [`RobotDescription::mechanisms`](super::RobotDescription::mechanisms).
    pub mechanisms: [Option<Reading<MechanismReading>>; MAX_MECHANISMS],
    /// Wheel and gyro odometry, integrated by the loop since it started: the robot in the frame of where it stood then.
    pub odometry: Option<Pose2d>,
}

impl Inputs {
    /// A snapshot in which nothing is known yet.
    pub const NONE: Self = Self {
        now: Micros::ZERO,
        dt_secs: 0.0,
        enabled: false,
        battery_volts: None,
        gyro: None,
        modules: [None; MODULES],
        vision: None,
        power: None,
        mechanisms: [None; MAX_MECHANISMS],
        odometry: None,
    };

    /// The module's reading if it was measured within `max_age_secs`.
    #[must_use]
    pub fn fresh_module(&self, index: usize, max_age_secs: f64) -> Option<ModuleReading> {
        fresh(self.modules.get(index).copied().flatten(), self.now, max_age_secs)
    }

    /// The gyro's reading if it was measured within `max_age_secs`.
    #[must_use]
    pub fn fresh_gyro(&self, max_age_secs: f64) -> Option<GyroReading> {
        fresh(self.gyro, self.now, max_age_secs)
    }
}

impl Default for Inputs {
    fn default() -> Self {
        Self::NONE
    }
}

fn fresh<T: Copy>(reading: Option<Reading<T>>, now: Micros, max_age_secs: f64) -> Option<T> {
    reading.filter(|r| r.age_secs(now) <= max_age_secs).map(|r| r.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frozen_sensor_grows_old() {
        let mut inputs = Inputs { now: Micros::from_secs(2.0), ..Inputs::NONE };
        let gyro = GyroReading { yaw_rad: 1.0, rate_rad_per_sec: None };
        inputs.gyro = Some(Reading::new(gyro, Micros::from_secs(1.9)));
        assert_eq!(inputs.fresh_gyro(0.2), Some(gyro));
        inputs.now = Micros::from_secs(2.2);
        assert_eq!(inputs.fresh_gyro(0.2), None);
        assert_eq!(inputs.fresh_module(7, 1.0), None);
    }

    #[test]
    fn a_reading_from_the_future_is_new() {
        assert_eq!(Reading::new(1.0, Micros::from_secs(5.0)).age_secs(Micros::ZERO), 0.0);
    }
}
