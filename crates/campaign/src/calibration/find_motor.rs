//! Find motor: each drive motor in turn gets a short, gentle push, so that a person sees which wheel answers to which
//! name, and the encoders say whether it was the right one.

use std::borrow::Cow;

use fieldlab_base::{ConfigError, Micros, check};
use fieldlab_values::{Publish, Publisher};

use super::{CalibrationInput, CalibrationOutput, DriveRequest, Silence, Status, all};
use crate::channels::{MODULE_COUNT, MODULE_NAMES};

/// How hard and how long it pushes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FindMotorConfig {
    /// Of the push, V.
    pub volts: f64,
    /// Of the push, seconds.
    pub push_secs: f64,
    /// Between pushes, seconds.
    pub pause_secs: f64,
}

impl Default for FindMotorConfig {
    fn default() -> Self {
        Self { volts: 1.0, push_secs: 1.0, pause_secs: 1.0 }
    }
}

/// A wheel that turned at least this much has moved.
const MOVED_RAD: f64 = 0.2;

/// The machine.
#[derive(Debug, Clone)]
pub struct FindMotor {
    config: FindMotorConfig,
    module: usize,
    since: Option<(Micros, [f64; MODULE_COUNT])>,
    rows: Vec<String>,
    report: String,
    status: Status,
    status_text: Cow<'static, str>,
    silence: Silence,
}

impl FindMotor {
    /// A machine at its start.
    ///
    /// # Errors
    /// Refuses more than 3 V, and times that are not positive.
    pub fn new(config: FindMotorConfig) -> Result<Self, ConfigError> {
        check::within("find_motor.volts", config.volts, 0.1, 3.0)?;
        check::positive("find_motor.push_secs", config.push_secs)?;
        check::positive("find_motor.pause_secs", config.pause_secs)?;
        Ok(Self {
            config,
            module: 0,
            since: None,
            rows: Vec::new(),
            report: String::new(),
            status: Status::Waiting,
            status_text: Cow::Borrowed(""),
            silence: Silence::default(),
        })
    }

    /// How it stands.
    #[must_use]
    pub const fn status(&self) -> &Status {
        &self.status
    }

    /// A line per module that was pushed.
    #[must_use]
    pub fn report(&self) -> &str {
        &self.report
    }

    /// Somebody took it away.
    pub fn interrupt(&mut self) {
        if !self.status.is_over() {
            self.set(Status::Interrupted);
        }
    }

    fn set(&mut self, status: Status) {
        self.status_text = status.token();
        self.status = status;
    }

    /// One loop. From the loop in which it is over the drive stays neutral.
    pub fn step(&mut self, input: &CalibrationInput) -> CalibrationOutput {
        if self.status.is_over() {
            return CalibrationOutput::OVER;
        }
        if self.status == Status::Waiting {
            self.set(Status::Running);
        }
        let travel = all(&input.wheels, |w| w.travel_rad);
        if !self.silence.bear(input.now, travel.is_some()) {
            self.set(Status::Stopped("no reading".into()));
            return CalibrationOutput::OVER;
        }
        let Some(travel) = travel else { return CalibrationOutput::go_on(DriveRequest::Neutral) };
        let (since, from) = *self.since.get_or_insert((input.now, travel));
        let push = Micros::from_secs(self.config.push_secs);
        let elapsed = input.now.since(since);
        if elapsed < push {
            let drive = DriveRequest::One { module: self.module, volts: self.config.volts };
            return CalibrationOutput::go_on(drive);
        }
        if elapsed < push + Micros::from_secs(self.config.pause_secs) {
            return CalibrationOutput::go_on(DriveRequest::Neutral);
        }
        self.judge(&from, &travel);
        self.module += 1;
        self.since = None;
        if self.module == MODULE_COUNT {
            self.set(Status::Done);
            return CalibrationOutput::OVER;
        }
        CalibrationOutput::go_on(DriveRequest::Neutral)
    }

    fn judge(&mut self, from: &[f64; MODULE_COUNT], to: &[f64; MODULE_COUNT]) {
        let name = |i: usize| MODULE_NAMES.get(i).copied().unwrap_or("?");
        let moved: Vec<&str> =
            (0..MODULE_COUNT).filter(|i| (to[*i] - from[*i]).abs() >= MOVED_RAD).map(name).collect();
        let forwards = to[self.module] > from[self.module];
        let row = match moved.as_slice() {
            [] => "nothing moved".to_owned(),
            [one] if *one == name(self.module) && forwards => "moved forwards".to_owned(),
            [one] if *one == name(self.module) => "moved backwards: inverted".to_owned(),
            others => format!("{} moved", others.join(" and ")),
        };
        self.rows.push(format!("{}: {row}", name(self.module)));
        self.report = self.rows.join("\n");
    }
}

/// The topics under `/Catalyst/Calibration/FindMotor/`.
#[derive(Debug)]
pub struct FindMotorTopics {
    status: Publisher<str>,
    module: Publisher<str>,
    result: Publisher<str>,
}

impl FindMotorTopics {
    /// Declares them.
    ///
    /// # Errors
    /// When one was declared before.
    pub fn declare(to: &mut dyn Publish) -> Result<Self, ConfigError> {
        Ok(Self {
            status: Publisher::catalyst(to, "Calibration/FindMotor/Status")?,
            module: Publisher::catalyst(to, "Calibration/FindMotor/Module")?,
            result: Publisher::catalyst(to, "Calibration/FindMotor/Result")?,
        })
    }

    /// Writes what the machine shows, `Status` last.
    pub fn publish(&self, of: &FindMotor, to: &mut dyn Publish) {
        self.module.set(to, MODULE_NAMES.get(of.module).copied().unwrap_or(""));
        self.result.set(to, &of.report);
        self.status.set(to, &of.status_text);
    }
}
