//! Wheel radius from turning on the spot: what the wheels rolled against what the gyro turned.

use std::borrow::Cow;
use std::f64::consts::TAU;

use fieldlab_base::{ConfigError, Micros};
use fieldlab_values::{Publish, Publisher};

use super::{CalibrationInput, CalibrationOutput, DriveRequest, Silence, Status, all, known};
use crate::channels::MODULE_COUNT;
use crate::routine::WheelRadiusConfig;

/// It turns this long before it measures, so that the steering of the modules is not measured as rolling.
const SETTLE: Micros = Micros::from_millis(1000);
/// Less progress than this in [`STUCK`] is no progress.
const STUCK_RAD: f64 = 2.0 * TAU / 360.0;
const STUCK: Micros = Micros::from_millis(3000);
/// A wheel that is further than this from the median of all is not believed.
const OUTLIER: f64 = 0.05;
const INCH_M: f64 = 0.0254;

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WheelRadiusFound {
    /// The radius with which odometry would have agreed with the gyro, m: the mean of the wheels that agree.
    pub radius_m: f64,
    /// Change against the radius in force, per cent.
    pub percent_change: f64,
    /// Each wheel's own radius, m.
    pub module_radii_m: [f64; MODULE_COUNT],
    /// Largest less smallest of the wheels that agree, in per cent of the radius.
    pub spread_percent: f64,
    /// How many wheels were not believed.
    pub outliers: usize,
}

/// Where it stands.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    /// Before the first loop.
    Start,
    /// Turning, not measuring yet.
    Settling { since: Micros },
    /// Measuring.
    Turning(Turning),
    /// Over.
    Over,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Turning {
    began: Micros,
    travel_at_start: [f64; MODULE_COUNT],
    travel: [f64; MODULE_COUNT],
    last_yaw: f64,
    turned_rad: f64,
    progress_at: Micros,
    progress_rad: f64,
}

/// The machine. See [`WheelRadiusConfig`] for what it is told.
#[derive(Debug, Clone)]
pub struct WheelRadius {
    config: WheelRadiusConfig,
    phase: Phase,
    status: Status,
    status_text: Cow<'static, str>,
    snippet: String,
    turns: f64,
    found: Option<WheelRadiusFound>,
    silence: Silence,
}

impl WheelRadius {
    /// A machine at its start.
    ///
    /// # Errors
    /// Refuses a config that [`WheelRadiusConfig::check`] refuses.
    pub fn new(config: WheelRadiusConfig) -> Result<Self, ConfigError> {
        config.check().map_err(|e| e.within("wheel_radius"))?;
        Ok(Self {
            config,
            phase: Phase::Start,
            status: Status::Waiting,
            status_text: Cow::Borrowed(""),
            snippet: String::new(),
            turns: 0.0,
            found: None,
            silence: Silence::default(),
        })
    }

    /// How it stands.
    #[must_use]
    pub const fn status(&self) -> &Status {
        &self.status
    }

    /// What was found, once it is done.
    #[must_use]
    pub const fn found(&self) -> Option<&WheelRadiusFound> {
        self.found.as_ref()
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
        self.set(status);
        self.phase = Phase::Over;
        CalibrationOutput::OVER
    }

    /// One loop. From the loop in which it is over the drive stays neutral.
    pub fn step(&mut self, input: &CalibrationInput) -> CalibrationOutput {
        if self.phase == Phase::Over {
            return CalibrationOutput::OVER;
        }
        if self.phase == Phase::Start {
            self.set(Status::Running);
            self.phase = Phase::Settling { since: input.now };
        }
        let spin = self.config.omega_rad_per_sec * self.config.direction.sign();
        let drive = DriveRequest::Spin { omega_rad_per_sec: spin };
        let read = all(&input.wheels, |w| w.travel_rad).zip(known(input.yaw_rad));
        if !self.silence.bear(input.now, read.is_some()) {
            return self.end(Status::Stopped("no reading".into()));
        }
        let Some((travel, yaw)) = read else { return CalibrationOutput::go_on(drive) };
        match self.phase {
            Phase::Settling { since } if input.now.since(since) >= SETTLE => {
                self.phase = Phase::Turning(Turning {
                    began: input.now,
                    travel_at_start: travel,
                    travel,
                    last_yaw: yaw,
                    turned_rad: 0.0,
                    progress_at: input.now,
                    progress_rad: 0.0,
                });
            }
            Phase::Turning(mut t) => {
                // A gyro that wraps and one that does not read alike from loop to loop.
                let step = (yaw - t.last_yaw + TAU / 2.0).rem_euclid(TAU) - TAU / 2.0;
                t.turned_rad += step;
                t.last_yaw = yaw;
                t.travel = travel;
                self.turns = t.turned_rad.abs() / TAU;
                if t.turned_rad.abs() >= t.progress_rad + STUCK_RAD {
                    t.progress_at = input.now;
                    t.progress_rad = t.turned_rad.abs();
                }
                self.phase = Phase::Turning(t);
                return self.judge(input.now, t, drive);
            }
            _ => {}
        }
        CalibrationOutput::go_on(drive)
    }

    fn judge(&mut self, now: Micros, t: Turning, drive: DriveRequest) -> CalibrationOutput {
        let target = self.config.rotations * TAU;
        let longest = (4.0 * target / self.config.omega_rad_per_sec + 5.0).min(120.0);
        if t.turned_rad.abs() >= target {
            self.conclude(t)
        } else if now.since(t.progress_at) >= STUCK {
            self.end(Status::Stopped("the robot does not turn".into()))
        } else if now.since(t.began) >= Micros::from_secs(longest) {
            self.end(Status::Stopped(format!("not done after {longest:.0} s")))
        } else {
            CalibrationOutput::go_on(drive)
        }
    }

    fn conclude(&mut self, t: Turning) -> CalibrationOutput {
        let current = self.config.current_radius_m;
        let gyro_arc = t.turned_rad.abs() * self.config.drive_base_radius_m;
        let mut radii = [0.0; MODULE_COUNT];
        let mut rolled = 0.0;
        for ((radius, end), start) in radii.iter_mut().zip(t.travel).zip(t.travel_at_start) {
            let wheel_rad = (end - start).abs();
            rolled += wheel_rad * current / MODULE_COUNT as f64;
            *radius = gyro_arc / wheel_rad;
        }
        if rolled < 1e-6 {
            return self.end(Status::NoMotion);
        }
        let mut sorted = radii;
        sorted.sort_by(f64::total_cmp);
        let median = (sorted[1] + sorted[2]) / 2.0;
        let agree = |r: &f64| (r / median - 1.0).abs() <= OUTLIER;
        let agreeing: Vec<f64> = radii.iter().copied().filter(agree).collect();
        if agreeing.len() < 3 {
            return self.end(Status::Stopped("the wheels disagree by more than 5 %".into()));
        }
        // The mean of the arcs, not of the radii: what odometry itself averages.
        let radius_m = agreeing.len() as f64 / agreeing.iter().map(|r| 1.0 / r).sum::<f64>();
        let (low, high) = agreeing.iter().fold((f64::MAX, f64::MIN), |(l, h), r| (l.min(*r), h.max(*r)));
        self.found = Some(WheelRadiusFound {
            radius_m,
            percent_change: (radius_m / current - 1.0) * 100.0,
            module_radii_m: radii,
            spread_percent: (high - low) / radius_m * 100.0,
            outliers: MODULE_COUNT - agreeing.len(),
        });
        self.snippet = format!("const WHEEL_RADIUS_M: f64 = {radius_m:.5};");
        self.end(Status::Done)
    }
}

/// The topics under `/Catalyst/Calibration/WheelRadius/`.
#[derive(Debug)]
pub struct WheelRadiusTopics {
    status: Publisher<str>,
    turns: Publisher<f64>,
    meters: Publisher<f64>,
    inches: Publisher<f64>,
    percent: Publisher<f64>,
    snippet: Publisher<str>,
    radii: Publisher<[f64]>,
    spread: Publisher<f64>,
}

impl WheelRadiusTopics {
    /// Declares them.
    ///
    /// # Errors
    /// When one was declared before.
    pub fn declare(to: &mut dyn Publish) -> Result<Self, ConfigError> {
        let root = "Calibration/WheelRadius";
        Ok(Self {
            status: Publisher::catalyst(to, &format!("{root}/Status"))?,
            turns: Publisher::catalyst(to, &format!("{root}/AccumRotations"))?,
            meters: Publisher::catalyst(to, &format!("{root}/CorrectedRadiusMeters"))?,
            inches: Publisher::catalyst(to, &format!("{root}/CorrectedRadiusInches"))?,
            percent: Publisher::catalyst(to, &format!("{root}/PercentChange"))?,
            snippet: Publisher::catalyst(to, &format!("{root}/Snippet"))?,
            radii: Publisher::catalyst(to, &format!("{root}/ModuleRadiiMeters"))?,
            spread: Publisher::catalyst(to, &format!("{root}/SpreadPercent"))?,
        })
    }

    /// Writes what the machine shows: `Status` last, so that who sees `done` sees the numbers. While it has no result the
    /// numbers are NaN and the texts empty, so that an earlier run's cannot be taken for this one's.
    pub fn publish(&self, of: &WheelRadius, to: &mut dyn Publish) {
        let found = of.found.as_ref();
        let number = |n: fn(&WheelRadiusFound) -> f64| found.map_or(f64::NAN, n);
        self.turns.set(to, &of.turns);
        self.meters.set(to, &number(|f| f.radius_m));
        self.inches.set(to, &number(|f| f.radius_m / INCH_M));
        self.percent.set(to, &number(|f| f.percent_change));
        self.spread.set(to, &number(|f| f.spread_percent));
        self.radii.set(to, found.map_or(&[][..], |f| &f.module_radii_m));
        self.snippet.set(to, &of.snippet);
        self.status.set(to, &of.status_text);
    }
}
