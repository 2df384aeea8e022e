//! Calibrations as step machines: wheel radius, slip current, SysId, and the three that look before they leap.
//!
//! Each takes one [`CalibrationInput`] a loop, answers what the drive shall do, and keeps what its topics show under the
//! names and status tokens that dashboards know. A topic struct is declared once for the life of the process; machines
//! come and go.
//!
//! ```
//! use fieldlab_base::Micros;
//! use fieldlab_campaign::calibration::{CalibrationInput, DriveRequest, WheelRadius, WheelReading};
//! use fieldlab_campaign::WheelRadiusConfig;
//!
//! let mut machine = WheelRadius::new(WheelRadiusConfig::default())?;
//! let still = WheelReading { travel_rad: Some(0.0), velocity_rad_per_sec: Some(0.0), stator_amps: Some(0.0) };
//! let input = CalibrationInput { now: Micros::ZERO, wheels: [still; 4], yaw_rad: Some(0.0) };
//! let output = machine.step(&input);
//! assert!(matches!(output.drive, DriveRequest::Spin { omega_rad_per_sec } if omega_rad_per_sec > 0.0));
//! # Ok::<(), fieldlab_base::ConfigError>(())
//! ```

mod find_motor;
mod slip_current;
mod sys_id;
mod system_check;
mod wheel_radius;
mod zero_wheels;

use std::borrow::Cow;

use fieldlab_base::Micros;

use crate::channels::MODULE_COUNT;

pub use find_motor::{FindMotor, FindMotorConfig, FindMotorTopics};
pub use slip_current::{SlipCurrent, SlipCurrentTopics, SlipFound};
pub use sys_id::{SysId, SysIdTopics};
pub use system_check::{SystemCheck, SystemCheckInput, SystemCheckTopics};
pub use wheel_radius::{WheelRadius, WheelRadiusFound, WheelRadiusTopics};
pub use zero_wheels::{ZeroWheels, ZeroWheelsConfig, ZeroWheelsTopics};

/// One module, as a calibration reads it. A field that is `None` is silent; one that is not finite counts as silent too.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct WheelReading {
    /// Travel of the wheel after the gearbox, rad.
    pub travel_rad: Option<f64>,
    /// Speed of the wheel, rad/s.
    pub velocity_rad_per_sec: Option<f64>,
    /// Stator current of the drive motor, A.
    pub stator_amps: Option<f64>,
}

/// One loop's input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CalibrationInput {
    /// The loop's clock.
    pub now: Micros,
    /// Front left, front right, back left, back right.
    pub wheels: [WheelReading; MODULE_COUNT],
    /// Raw gyro yaw, unwrapped, counter-clockwise positive, never fused with anything.
    pub yaw_rad: Option<f64>,
}

/// What the drive shall do in this loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DriveRequest {
    /// No output.
    Neutral,
    /// Turn on the spot, closed loop; counter-clockwise positive.
    Spin {
        /// How fast.
        omega_rad_per_sec: f64,
    },
    /// The same volts on every drive motor, wheels pointing straight ahead.
    Straight {
        /// Volts, forwards positive.
        volts: f64,
    },
    /// Volts on one drive motor, wheels pointing straight ahead.
    One {
        /// Which module.
        module: usize,
        /// Volts, forwards positive.
        volts: f64,
    },
}

/// How a calibration stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// Not begun.
    Waiting,
    /// At work.
    Running,
    /// It found what it was for.
    Done,
    /// Somebody took it away.
    Interrupted,
    /// Nothing moved.
    NoMotion,
    /// It gave up, and why.
    Stopped(String),
}

impl Status {
    /// The token on the `Status` topic: `running`, `done`, `interrupted`, `no motion measured`, `stopped: <reason>`.
    #[must_use]
    pub fn token(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Waiting => "",
            Self::Running => "running",
            Self::Done => "done",
            Self::Interrupted => "interrupted",
            Self::NoMotion => "no motion measured",
            Self::Stopped(reason) => return Cow::Owned(format!("stopped: {reason}")),
        })
    }

    /// Whether it is over.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        !matches!(self, Self::Waiting | Self::Running)
    }
}

/// One loop's answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CalibrationOutput {
    /// What the drive shall do; neutral from the loop in which it is over.
    pub drive: DriveRequest,
    /// Whether it is over; [`Status`] says how.
    pub over: bool,
}

impl CalibrationOutput {
    const OVER: Self = Self { drive: DriveRequest::Neutral, over: true };

    const fn go_on(drive: DriveRequest) -> Self {
        Self { drive, over: false }
    }
}

/// A value that counts: there and finite.
fn known(value: Option<f64>) -> Option<f64> {
    value.filter(|v| v.is_finite())
}

/// All wheels' values, or `None` when one is silent.
fn all(
    wheels: &[WheelReading; MODULE_COUNT],
    of: impl Fn(&WheelReading) -> Option<f64>,
) -> Option<[f64; MODULE_COUNT]> {
    let mut out = [0.0; MODULE_COUNT];
    for (slot, wheel) in out.iter_mut().zip(wheels) {
        *slot = known(of(wheel))?;
    }
    Some(out)
}

/// Bridges short silences of a sensor.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Silence {
    since: Option<Micros>,
}

impl Silence {
    /// Longer than this is a dead sensor.
    const LONGEST: Micros = Micros::from_millis(300);

    /// Whether it is still to be borne.
    fn bear(&mut self, now: Micros, heard: bool) -> bool {
        if heard {
            self.since = None;
            return true;
        }
        now.since(*self.since.get_or_insert(now)) <= Self::LONGEST
    }
}
