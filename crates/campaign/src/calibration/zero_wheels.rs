//! Zero wheels: a person points every wheel straight ahead by hand; this reads where the encoders stand.
//!
//! Nothing moves: the drive stays neutral from the first loop to the last.

use std::borrow::Cow;
use std::f64::consts::TAU;

use fieldlab_base::{ConfigError, Micros, check};
use fieldlab_values::{Publish, Publisher};

use super::Status;
use crate::channels::MODULE_COUNT;

/// How it reads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ZeroWheelsConfig {
    /// For how long the wheels must stand still, seconds.
    pub still_secs: f64,
    /// How much an angle may move in that time, rad.
    pub still_rad: f64,
    /// When it gives up, seconds.
    pub timeout_secs: f64,
}

impl Default for ZeroWheelsConfig {
    fn default() -> Self {
        Self { still_secs: 1.0, still_rad: 0.01, timeout_secs: 20.0 }
    }
}

/// The machine.
#[derive(Debug, Clone)]
pub struct ZeroWheels {
    config: ZeroWheelsConfig,
    began: Option<Micros>,
    /// Since when, and where, the wheels stand still; the sum and count make the mean.
    still: Option<(Micros, [f64; MODULE_COUNT])>,
    sum: [f64; MODULE_COUNT],
    count: u32,
    offsets: Option<[f64; MODULE_COUNT]>,
    status: Status,
    status_text: Cow<'static, str>,
    snippet: String,
}

/// `angle` taken into -pi to pi.
fn wrap(angle: f64) -> f64 {
    (angle + TAU / 2.0).rem_euclid(TAU) - TAU / 2.0
}

impl ZeroWheels {
    /// A machine at its start.
    ///
    /// # Errors
    /// Refuses numbers that are not finite and positive.
    pub fn new(config: ZeroWheelsConfig) -> Result<Self, ConfigError> {
        check::positive("zero_wheels.still_secs", config.still_secs)?;
        check::positive("zero_wheels.still_rad", config.still_rad)?;
        check::positive("zero_wheels.timeout_secs", config.timeout_secs)?;
        Ok(Self {
            config,
            began: None,
            still: None,
            sum: [0.0; MODULE_COUNT],
            count: 0,
            offsets: None,
            status: Status::Waiting,
            status_text: Cow::Borrowed(""),
            snippet: String::new(),
        })
    }

    /// How it stands.
    #[must_use]
    pub const fn status(&self) -> &Status {
        &self.status
    }

    /// What to subtract from each encoder, rad, -pi to pi, once it is done.
    #[must_use]
    pub const fn offsets_rad(&self) -> Option<&[f64; MODULE_COUNT]> {
        self.offsets.as_ref()
    }

    fn set(&mut self, status: Status) -> bool {
        self.status_text = status.token();
        self.status = status;
        self.status.is_over()
    }

    /// One loop with each module's raw angle; whether it is over.
    pub fn step(&mut self, now: Micros, angles_rad: &[Option<f64>; MODULE_COUNT]) -> bool {
        if self.status.is_over() {
            return true;
        }
        if self.began.is_none() {
            self.set(Status::Running);
        }
        let began = *self.began.get_or_insert(now);
        if now.since(began) >= Micros::from_secs(self.config.timeout_secs) {
            return self.set(Status::Stopped("the wheels did not stand still".into()));
        }
        let mut angles = [0.0; MODULE_COUNT];
        for (slot, angle) in angles.iter_mut().zip(angles_rad) {
            let Some(angle) = super::known(*angle) else {
                self.still = None;
                return false;
            };
            *slot = angle;
        }
        let (since, at) = match self.still {
            Some((since, at))
                if at.iter().zip(&angles).all(|(a, b)| wrap(a - b).abs() <= self.config.still_rad) =>
            {
                (since, at)
            }
            _ => {
                self.still = Some((now, angles));
                self.sum = [0.0; MODULE_COUNT];
                self.count = 0;
                (now, angles)
            }
        };
        for ((sum, angle), from) in self.sum.iter_mut().zip(angles).zip(at) {
            *sum += wrap(angle - from);
        }
        self.count += 1;
        if now.since(since) < Micros::from_secs(self.config.still_secs) {
            return false;
        }
        let mean: [f64; MODULE_COUNT] =
            std::array::from_fn(|i| wrap(at[i] + self.sum[i] / f64::from(self.count)));
        self.offsets = Some(mean);
        let rows: Vec<String> = mean.iter().map(|o| format!("{o:.4}")).collect();
        self.snippet = format!("const MODULE_OFFSETS_RAD: [f64; 4] = [{}];", rows.join(", "));
        self.set(Status::Done)
    }
}

/// The topics under `/Catalyst/Calibration/ZeroWheels/`.
#[derive(Debug)]
pub struct ZeroWheelsTopics {
    status: Publisher<str>,
    offsets: Publisher<[f64]>,
    snippet: Publisher<str>,
}

impl ZeroWheelsTopics {
    /// Declares them.
    ///
    /// # Errors
    /// When one was declared before.
    pub fn declare(to: &mut dyn Publish) -> Result<Self, ConfigError> {
        Ok(Self {
            status: Publisher::catalyst(to, "Calibration/ZeroWheels/Status")?,
            offsets: Publisher::catalyst(to, "Calibration/ZeroWheels/OffsetsRadians")?,
            snippet: Publisher::catalyst(to, "Calibration/ZeroWheels/Snippet")?,
        })
    }

    /// Writes what the machine shows, `Status` last.
    pub fn publish(&self, of: &ZeroWheels, to: &mut dyn Publish) {
        self.offsets.set(to, of.offsets.as_ref().map_or(&[][..], |o| o));
        self.snippet.set(to, &of.snippet);
        self.status.set(to, &of.status_text);
    }
}
