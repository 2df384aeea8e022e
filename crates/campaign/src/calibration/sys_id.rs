//! One SysId test straight ahead, stopped by distance, by speed and by time, whichever comes first.

use std::borrow::Cow;

use fieldlab_base::{ConfigError, Micros};
use fieldlab_values::{Publish, Publisher};

use super::{CalibrationInput, CalibrationOutput, DriveRequest, Silence, Status, all};
use crate::channels::MODULE_COUNT;
use crate::routine::{SysIdConfig, SysIdTest};

/// The wheels get this long to point straight ahead before the test begins.
const ALIGN: Micros = Micros::from_millis(500);
/// A test that moved less than this measured nothing.
const LEAST_M: f64 = 0.05;

/// The machine. See [`SysIdConfig`] for what it is told.
#[derive(Debug, Clone)]
pub struct SysId {
    test: SysIdTest,
    config: SysIdConfig,
    aligning_since: Option<Micros>,
    began: Option<(Micros, [f64; MODULE_COUNT])>,
    moved_m: f64,
    volts: f64,
    status: Status,
    status_text: Cow<'static, str>,
    stopped_by: &'static str,
    silence: Silence,
}

impl SysId {
    /// A machine at its start.
    ///
    /// # Errors
    /// Refuses a config that [`SysIdConfig::check`] refuses.
    pub fn new(test: SysIdTest, config: SysIdConfig) -> Result<Self, ConfigError> {
        config.check().map_err(|e| e.within("sys_id"))?;
        Ok(Self {
            test,
            config,
            aligning_since: None,
            began: None,
            moved_m: 0.0,
            volts: 0.0,
            status: Status::Waiting,
            status_text: Cow::Borrowed(""),
            stopped_by: "",
            silence: Silence::default(),
        })
    }

    /// How it stands.
    #[must_use]
    pub const fn status(&self) -> &Status {
        &self.status
    }

    /// WPILib's name of the test while volts are applied, `none` before and after: the value of the state channel.
    #[must_use]
    pub const fn state(&self) -> &'static str {
        if self.began.is_some() && !self.status.is_over() { self.test.state() } else { "none" }
    }

    /// Which limit ended it: `distance`, `speed` or `time`; empty before.
    #[must_use]
    pub const fn stopped_by(&self) -> &'static str {
        self.stopped_by
    }

    /// How far the wheels rolled, m.
    #[must_use]
    pub const fn moved_m(&self) -> f64 {
        self.moved_m
    }

    /// Somebody took it away.
    pub fn interrupt(&mut self) {
        if !self.status.is_over() {
            self.end(Status::Interrupted);
        }
    }

    fn set(&mut self, status: Status) {
        self.status_text = status.token();
        self.status = status;
    }

    fn end(&mut self, status: Status) -> CalibrationOutput {
        self.volts = 0.0;
        self.set(status);
        CalibrationOutput::OVER
    }

    /// One loop. From the loop in which it is over the drive stays neutral.
    pub fn step(&mut self, input: &CalibrationInput) -> CalibrationOutput {
        if self.status.is_over() {
            return CalibrationOutput::OVER;
        }
        if self.aligning_since.is_none() {
            self.set(Status::Running);
        }
        let since = *self.aligning_since.get_or_insert(input.now);
        let read = all(&input.wheels, |w| w.travel_rad).zip(all(&input.wheels, |w| w.velocity_rad_per_sec));
        if !self.silence.bear(input.now, read.is_some()) {
            return self.end(Status::Stopped("no reading".into()));
        }
        // A silent wheel cannot say when to stop: hold the volts where they are for the moment that is borne.
        let Some((travel, speed)) = read else {
            return CalibrationOutput::go_on(DriveRequest::Straight { volts: self.volts });
        };
        if self.began.is_none() && input.now.since(since) < ALIGN {
            return CalibrationOutput::go_on(DriveRequest::Straight { volts: 0.0 });
        }
        let (began, from) = *self.began.get_or_insert((input.now, travel));
        let mean = |values: [f64; MODULE_COUNT]| values.iter().sum::<f64>() / MODULE_COUNT as f64;
        let radius = self.config.wheel_radius_m;
        self.moved_m = mean(std::array::from_fn(|i| (travel[i] - from[i]).abs())) * radius;
        let speed_mps = mean(speed.map(f64::abs)) * radius;
        let elapsed = input.now.since(began).as_secs();
        self.stopped_by = if self.moved_m >= self.config.stop_distance_m {
            "distance"
        } else if speed_mps >= self.config.stop_speed_mps {
            "speed"
        } else if elapsed >= self.config.stop_secs {
            "time"
        } else {
            let rise = self.config.ramp_volts_per_sec * elapsed;
            let size = if self.test.is_quasistatic() { rise } else { self.config.step_volts };
            self.volts = size.min(12.0) * self.test.sign();
            return CalibrationOutput::go_on(DriveRequest::Straight { volts: self.volts });
        };
        self.end(if self.moved_m < LEAST_M { Status::NoMotion } else { Status::Done })
    }
}

/// The topics under `/Catalyst/Calibration/SysId/`.
#[derive(Debug)]
pub struct SysIdTopics {
    status: Publisher<str>,
    test: Publisher<str>,
    volts: Publisher<f64>,
    moved: Publisher<f64>,
    stopped_by: Publisher<str>,
}

impl SysIdTopics {
    /// Declares them.
    ///
    /// # Errors
    /// When one was declared before.
    pub fn declare(to: &mut dyn Publish) -> Result<Self, ConfigError> {
        let root = "Calibration/SysId";
        Ok(Self {
            status: Publisher::catalyst(to, &format!("{root}/Status"))?,
            test: Publisher::catalyst(to, &format!("{root}/Test"))?,
            volts: Publisher::catalyst(to, &format!("{root}/Volts"))?,
            moved: Publisher::catalyst(to, &format!("{root}/MovedMeters"))?,
            stopped_by: Publisher::catalyst(to, &format!("{root}/StoppedBy"))?,
        })
    }

    /// Writes what the machine shows, `Status` last.
    pub fn publish(&self, of: &SysId, to: &mut dyn Publish) {
        self.test.set(to, of.test.state());
        self.volts.set(to, &of.volts);
        self.moved.set(to, &of.moved_m);
        self.stopped_by.set(to, of.stopped_by);
        self.status.set(to, &of.status_text);
    }
}
