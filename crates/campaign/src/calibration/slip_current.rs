//! Slip current: pushed against a wall with rising volts, at which current does the first wheel break loose.
//!
//! The rule, version 2. Each wheel's current goes through a median of three loops. A wheel breaks when it first turns
//! faster than 0.3 m/s; its break current is the largest of its last 15 filtered loops, latched then. A wheel that breaks
//! below 15 A carries no load and is ignored; when every wheel does, the robot is rolling. The first wheel that breaks
//! under load is the answer.

use std::borrow::Cow;

use fieldlab_base::{ConfigError, Micros};
use fieldlab_values::{Publish, Publisher};

use super::{CalibrationInput, CalibrationOutput, DriveRequest, Status, all};
use crate::channels::MODULE_COUNT;
use crate::routine::SlipCurrentConfig;

const SLIP_MPS: f64 = 0.3;
const HELD_AMPS: f64 = 15.0;
const LOOPS: usize = 15;

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlipFound {
    /// Which wheel broke loose first under load.
    pub wheel: usize,
    /// At which current, A.
    pub slip_amps: f64,
    /// The limit to set: rounded down to 5 A.
    pub recommended_amps: f64,
    /// Wheels that carried no load.
    pub light: [bool; MODULE_COUNT],
}

/// One wheel's currents.
#[derive(Debug, Clone, Copy, Default)]
struct Wheel {
    raw: [f64; 3],
    filtered: [f64; LOOPS],
    loops: usize,
    peak: f64,
    break_amps: Option<f64>,
}

impl Wheel {
    fn push(&mut self, amps: f64) {
        self.raw = [self.raw[1], self.raw[2], amps];
        self.loops += 1;
        let [a, b, c] = self.raw;
        let median = a.max(b).min(c).max(a.min(b));
        self.filtered.rotate_left(1);
        self.filtered[LOOPS - 1] = median;
        self.peak = self.peak.max(median);
    }

    fn recent(&self) -> f64 {
        self.filtered.iter().copied().fold(0.0, f64::max)
    }
}

/// The machine. See [`SlipCurrentConfig`] for what it is told.
#[derive(Debug, Clone)]
pub struct SlipCurrent {
    config: SlipCurrentConfig,
    began: Option<Micros>,
    wheels: [Wheel; MODULE_COUNT],
    volts: f64,
    amps: [f64; MODULE_COUNT],
    mps: [f64; MODULE_COUNT],
    break_amps: [f64; MODULE_COUNT],
    status: Status,
    status_text: Cow<'static, str>,
    result: String,
    snippet: String,
    found: Option<SlipFound>,
}

impl SlipCurrent {
    /// A machine at its start.
    ///
    /// # Errors
    /// Refuses a config that [`SlipCurrentConfig::check`] refuses.
    pub fn new(config: SlipCurrentConfig) -> Result<Self, ConfigError> {
        config.check().map_err(|e| e.within("slip_current"))?;
        Ok(Self {
            config,
            began: None,
            wheels: [Wheel::default(); MODULE_COUNT],
            volts: 0.0,
            amps: [0.0; MODULE_COUNT],
            mps: [0.0; MODULE_COUNT],
            break_amps: [f64::NAN; MODULE_COUNT],
            status: Status::Waiting,
            status_text: Cow::Borrowed(""),
            result: String::new(),
            snippet: String::new(),
            found: None,
        })
    }

    /// How it stands.
    #[must_use]
    pub const fn status(&self) -> &Status {
        &self.status
    }

    /// What was found, once it is done.
    #[must_use]
    pub const fn found(&self) -> Option<&SlipFound> {
        self.found.as_ref()
    }

    /// Each wheel's break current, A; NaN for one that never turned.
    #[must_use]
    pub const fn break_amps(&self) -> &[f64; MODULE_COUNT] {
        &self.break_amps
    }

    /// Somebody took it away.
    pub fn interrupt(&mut self) {
        if !self.status.is_over() {
            self.end(Status::Stopped("interrupted".into()));
        }
    }

    fn set(&mut self, status: Status) {
        self.status_text = status.token();
        self.status = status;
    }

    fn end(&mut self, status: Status) -> CalibrationOutput {
        for (slot, wheel) in self.break_amps.iter_mut().zip(&self.wheels) {
            *slot = wheel.break_amps.unwrap_or(f64::NAN);
        }
        self.volts = 0.0;
        self.set(status);
        CalibrationOutput::OVER
    }

    fn stop(&mut self, reason: &str) -> CalibrationOutput {
        self.end(Status::Stopped(reason.into()))
    }

    /// One loop. From the loop in which it is over the drive stays neutral.
    pub fn step(&mut self, input: &CalibrationInput) -> CalibrationOutput {
        if self.status.is_over() {
            return CalibrationOutput::OVER;
        }
        if self.began.is_none() {
            self.set(Status::Running);
        }
        let began = *self.began.get_or_insert(input.now);
        let read = all(&input.wheels, |w| w.stator_amps).zip(all(&input.wheels, |w| w.velocity_rad_per_sec));
        let Some((amps, speed)) = read else { return self.stop("no reading") };
        for (i, wheel) in self.wheels.iter_mut().enumerate() {
            self.amps[i] = amps[i].abs();
            self.mps[i] = (speed[i] * self.config.wheel_radius_m).abs();
            wheel.push(self.amps[i]);
        }
        let mut broke: Option<(usize, f64)> = None;
        for (i, wheel) in self.wheels.iter_mut().enumerate() {
            if wheel.break_amps.is_none() && self.mps[i] > SLIP_MPS {
                let at = wheel.recent();
                wheel.break_amps = Some(at);
                if at >= HELD_AMPS && broke.is_none_or(|(_, least)| at < least) {
                    broke = Some((i, at));
                }
            }
        }
        if self.wheels.iter().all(|w| w.break_amps.is_some_and(|b| b < HELD_AMPS)) {
            return self.stop("the robot is rolling: is it against a wall?");
        }
        if let Some((wheel, slip_amps)) = broke {
            return self.conclude(wheel, slip_amps);
        }
        let elapsed = input.now.since(began).as_secs();
        let volts = self.config.ramp_volts_per_sec * elapsed;
        if volts >= self.config.cap_volts || elapsed >= self.config.timeout_secs() {
            return self.stop("no slip by cap");
        }
        self.volts = volts;
        CalibrationOutput::go_on(DriveRequest::Straight { volts })
    }

    fn conclude(&mut self, wheel: usize, slip_amps: f64) -> CalibrationOutput {
        let recommended_amps = (slip_amps / 5.0).floor() * 5.0;
        let light = self.wheels.map(|w| w.break_amps.is_some_and(|b| b < HELD_AMPS));
        let unloaded = light.iter().filter(|l| **l).count();
        self.found = Some(SlipFound { wheel, slip_amps, recommended_amps, light });
        let name = crate::channels::MODULE_NAMES.get(wheel).copied().unwrap_or("?");
        let rest = match unloaded {
            0 => String::new(),
            1 => "; 1 wheel carries no load".into(),
            n => format!("; {n} wheels carry no load"),
        };
        self.result = format!(
            "Wheel {name} slipped at {slip_amps:.1} A; limit {recommended_amps:.0} A, in force {:.0} A{rest}",
            self.config.current_amps
        );
        self.snippet = format!("const SLIP_CURRENT_A: f64 = {recommended_amps:.1};");
        self.end(Status::Done)
    }
}

/// The topics under `/Catalyst/Calibration/SlipCurrent/`.
#[derive(Debug)]
pub struct SlipCurrentTopics {
    status: Publisher<str>,
    volts: Publisher<f64>,
    peak: Publisher<f64>,
    wheel_amps: Publisher<[f64]>,
    wheel_mps: Publisher<[f64]>,
    break_amps: Publisher<[f64]>,
    slip: Publisher<f64>,
    recommended: Publisher<f64>,
    result: Publisher<str>,
    snippet: Publisher<str>,
}

impl SlipCurrentTopics {
    /// Declares them.
    ///
    /// # Errors
    /// When one was declared before.
    pub fn declare(to: &mut dyn Publish) -> Result<Self, ConfigError> {
        let root = "Calibration/SlipCurrent";
        Ok(Self {
            status: Publisher::catalyst(to, &format!("{root}/Status"))?,
            volts: Publisher::catalyst(to, &format!("{root}/Volts"))?,
            peak: Publisher::catalyst(to, &format!("{root}/PeakAmps"))?,
            wheel_amps: Publisher::catalyst(to, &format!("{root}/WheelAmps"))?,
            wheel_mps: Publisher::catalyst(to, &format!("{root}/WheelMps"))?,
            break_amps: Publisher::catalyst(to, &format!("{root}/BreakAmps"))?,
            slip: Publisher::catalyst(to, &format!("{root}/SlipAmps"))?,
            recommended: Publisher::catalyst(to, &format!("{root}/RecommendedAmps"))?,
            result: Publisher::catalyst(to, &format!("{root}/Result"))?,
            snippet: Publisher::catalyst(to, &format!("{root}/Snippet"))?,
        })
    }

    /// Writes what the machine shows, `Status` last.
    pub fn publish(&self, of: &SlipCurrent, to: &mut dyn Publish) {
        let found = of.found.as_ref();
        self.volts.set(to, &of.volts);
        self.peak.set(to, &of.wheels.iter().map(|w| w.peak).fold(0.0, f64::max));
        self.wheel_amps.set(to, &of.amps);
        self.wheel_mps.set(to, &of.mps);
        self.break_amps.set(to, if of.status.is_over() { &of.break_amps[..] } else { &[] });
        self.slip.set(to, &found.map_or(f64::NAN, |f| f.slip_amps));
        self.recommended.set(to, &found.map_or(f64::NAN, |f| f.recommended_amps));
        self.result.set(to, &of.result);
        self.snippet.set(to, &of.snippet);
        self.status.set(to, &of.status_text);
    }
}
