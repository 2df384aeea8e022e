//! The shipped motions, as data: what the robot's drop-in action is to run.

use fieldlab_base::{ConfigError, check};
use serde::Serialize;

/// Which way a spin turns, seen from above.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SpinDirection {
    /// Counter-clockwise, positive yaw.
    CounterClockwise,
    /// Clockwise.
    Clockwise,
}

impl SpinDirection {
    /// +1 for counter-clockwise.
    #[must_use]
    pub const fn sign(self) -> f64 {
        match self {
            Self::CounterClockwise => 1.0,
            Self::Clockwise => -1.0,
        }
    }
}

/// Which way round a closed lap is driven, seen from above.
pub type LapDirection = SpinDirection;

/// The four SysId tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SysIdTest {
    /// Slowly rising volts, forwards.
    QuasistaticForward,
    /// Slowly rising volts, backwards.
    QuasistaticReverse,
    /// A step of volts, forwards.
    DynamicForward,
    /// A step of volts, backwards.
    DynamicReverse,
}

impl SysIdTest {
    /// WPILib's name of the test, the value of the state channel.
    #[must_use]
    pub const fn state(self) -> &'static str {
        match self {
            Self::QuasistaticForward => "quasistatic-forward",
            Self::QuasistaticReverse => "quasistatic-reverse",
            Self::DynamicForward => "dynamic-forward",
            Self::DynamicReverse => "dynamic-reverse",
        }
    }

    /// +1 forwards.
    #[must_use]
    pub const fn sign(self) -> f64 {
        match self {
            Self::QuasistaticForward | Self::DynamicForward => 1.0,
            Self::QuasistaticReverse | Self::DynamicReverse => -1.0,
        }
    }

    /// Whether volts rise slowly.
    #[must_use]
    pub const fn is_quasistatic(self) -> bool {
        matches!(self, Self::QuasistaticForward | Self::QuasistaticReverse)
    }
}

/// Spins on the spot and compares wheel travel with the gyro.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WheelRadiusConfig {
    /// The radius that the robot believes, m.
    pub current_radius_m: f64,
    /// From the robot's centre to a module, m.
    pub drive_base_radius_m: f64,
    /// How many turns.
    pub rotations: f64,
    /// How fast, rad/s; always positive, the direction says which way.
    pub omega_rad_per_sec: f64,
    /// Which way.
    pub direction: SpinDirection,
}

impl Default for WheelRadiusConfig {
    fn default() -> Self {
        Self {
            current_radius_m: 0.0508,
            drive_base_radius_m: 0.4,
            rotations: 4.0,
            omega_rad_per_sec: 0.6,
            direction: SpinDirection::CounterClockwise,
        }
    }
}

impl WheelRadiusConfig {
    /// Refuses what is not finite and positive.
    ///
    /// # Errors
    /// Names the first field that is wrong.
    pub fn check(&self) -> Result<(), ConfigError> {
        check::positive("current_radius_m", self.current_radius_m)?;
        check::positive("drive_base_radius_m", self.drive_base_radius_m)?;
        check::positive("rotations", self.rotations)?;
        check::positive("omega_rad_per_sec", self.omega_rad_per_sec)?;
        Ok(())
    }

    /// Seconds that perfect tracking takes.
    #[must_use]
    pub fn nominal_secs(&self) -> f64 {
        self.rotations * std::f64::consts::TAU / self.omega_rad_per_sec
    }
}

/// Pushes against a wall with rising volts until a wheel breaks loose.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SlipCurrentConfig {
    /// The limit in force, A; only for the line to paste.
    pub current_amps: f64,
    /// How fast the volts rise, V/s, 0.1 to 2.
    pub ramp_volts_per_sec: f64,
    /// Where they stop, V, 1 to 8.
    pub cap_volts: f64,
    /// The radius that the robot believes, m, to tell a turning wheel's speed.
    pub wheel_radius_m: f64,
}

impl Default for SlipCurrentConfig {
    fn default() -> Self {
        Self { current_amps: 120.0, ramp_volts_per_sec: 0.5, cap_volts: 6.0, wheel_radius_m: 0.0508 }
    }
}

impl SlipCurrentConfig {
    /// Refuses what is not finite or out of range.
    ///
    /// # Errors
    /// Names the first field that is wrong.
    pub fn check(&self) -> Result<(), ConfigError> {
        check::positive("current_amps", self.current_amps)?;
        check::within("ramp_volts_per_sec", self.ramp_volts_per_sec, 0.1, 2.0)?;
        check::within("cap_volts", self.cap_volts, 1.0, 8.0)?;
        check::positive("wheel_radius_m", self.wheel_radius_m)?;
        Ok(())
    }

    /// When it gives up, seconds: one and a half times the ramp.
    #[must_use]
    pub fn timeout_secs(&self) -> f64 {
        1.5 * self.cap_volts / self.ramp_volts_per_sec
    }
}

/// One SysId test on the whole drivetrain, straight ahead, that stops on distance, on speed and on time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SysIdConfig {
    /// Quasistatic: how fast the volts rise, V/s.
    pub ramp_volts_per_sec: f64,
    /// Dynamic: the step, V.
    pub step_volts: f64,
    /// Stops when the robot has come this far from where the test began, m: the runway less what braking needs.
    pub stop_distance_m: f64,
    /// Stops at this speed, m/s.
    pub stop_speed_mps: f64,
    /// Stops after this long, seconds.
    pub stop_secs: f64,
    /// The radius that the robot believes, m.
    pub wheel_radius_m: f64,
}

impl SysIdConfig {
    /// Refuses what is not finite and positive.
    ///
    /// # Errors
    /// Names the first field that is wrong.
    pub fn check(&self) -> Result<(), ConfigError> {
        check::positive("ramp_volts_per_sec", self.ramp_volts_per_sec)?;
        check::within("step_volts", self.step_volts, 0.1, 12.0)?;
        check::positive("stop_distance_m", self.stop_distance_m)?;
        check::positive("stop_speed_mps", self.stop_speed_mps)?;
        check::positive("stop_secs", self.stop_secs)?;
        check::positive("wheel_radius_m", self.wheel_radius_m)?;
        Ok(())
    }
}

/// A shipped motion. A robot's act payload is made from one by `From<Routine>`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "routine", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Routine {
    /// [`WheelRadiusConfig`]: the calibration that publishes under `Calibration/WheelRadius`.
    WheelRadius(WheelRadiusConfig),
    /// [`SlipCurrentConfig`]: the calibration that publishes under `Calibration/SlipCurrent`.
    SlipCurrent(SlipCurrentConfig),
    /// One SysId test.
    SysId {
        /// Which.
        test: SysIdTest,
        /// How.
        config: SysIdConfig,
    },
    /// Turns on the spot by the raw gyro.
    Spin {
        /// Which way.
        direction: SpinDirection,
        /// How many turns.
        rotations: f64,
        /// How fast, rad/s.
        omega_rad_per_sec: f64,
    },
    /// Drives straight along the robot's own x axis by wheel travel, holding its heading by the raw gyro, and stops.
    Straight {
        /// How far by the wheels, m; negative is backwards.
        distance_m: f64,
        /// How fast at most, m/s.
        speed_mps: f64,
        /// The radius that the robot believes, m.
        wheel_radius_m: f64,
    },
    /// Drives a closed square without turning, by wheel travel, and ends where it believes that it began.
    Lap {
        /// Which way round.
        direction: LapDirection,
        /// Side of the square, m.
        side_m: f64,
        /// How fast at most, m/s.
        speed_mps: f64,
        /// The radius that the robot believes, m.
        wheel_radius_m: f64,
    },
    /// Works the drivetrain forwards and backwards to warm it.
    Soak {
        /// Half the stroke, m.
        stroke_m: f64,
        /// How fast at most, m/s.
        speed_mps: f64,
        /// For how long, seconds.
        secs: f64,
        /// The radius that the robot believes, m.
        wheel_radius_m: f64,
    },
    /// Stands still while the log fills: a parked pose, a resting battery.
    Observe {
        /// For how long, seconds.
        secs: f64,
    },
}
