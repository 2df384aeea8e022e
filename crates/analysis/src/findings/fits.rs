//! What each fit found, as plain data.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Window;
use crate::stats::Interval;

/// kS, kV, kA with their intervals.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Gains {
    /// Static friction, volts.
    pub ks: Interval,
    /// Volts per unit of velocity.
    pub kv: Interval,
    /// Volts per unit of acceleration.
    pub ka: Interval,
}

/// The feedforward fit.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Feedforward {
    /// One fit per motor, in channel order.
    pub motors: Vec<MotorFit>,
    /// The mean over the motors, in the unit that the log used.
    pub mean: Option<Gains>,
    /// The mean of WPILib SysId's own gains over the motors (it gives no interval): kS, kV, kA.
    pub sysid_mean: Option<[f64; 3]>,
    /// Length unit of the log: `m`, `rad` or `rotation`.
    pub unit: String,
    /// Gains per true metre: `mean` times radius in force over the radius measured in this session.
    pub per_true_metre: Option<Gains>,
    /// How that conversion was made, in words.
    pub conversion: Option<String>,
    /// Residual of the voltage balance over windows of ten rows, all motors, volts RMS. Row by row it would mostly be the
    /// noise of a differentiated velocity (T5).
    pub residual_volts_rms: Option<f64>,
    /// The same row by row under SysId's gains, as the reference tool has it.
    pub row_residual_volts_rms: Option<f64>,
    /// Rows behind the fit.
    pub samples: usize,
    /// `good`, or a text that starts `poor`.
    pub confidence: String,
    /// The runs found, usable or not.
    pub runs: Vec<RunFacts>,
    /// Tests that are not in the data.
    pub missing_tests: Vec<String>,
    /// Why there is no fit, when there is none.
    pub refused: Option<String>,
    /// Sentences a reader should see.
    pub remarks: Vec<String>,
}

/// One run of one test.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunFacts {
    /// `quasistatic-forward`, …
    pub test: String,
    /// When.
    pub window: Window,
    /// In which file.
    pub file: String,
    /// Rows recorded, of the first motor.
    pub rows: usize,
    /// Why it was left out, when it was.
    pub left_out: Option<String>,
}

/// The fit of one motor.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MotorFit {
    /// `<motor>-<log>` as in the channel names.
    pub name: String,
    /// Gains of the preferred method, with intervals.
    pub gains: Option<Gains>,
    /// Which method that was.
    pub method: String,
    /// WPILib SysId's gains: kS, kV, kA.
    pub sysid: Option<[f64; 3]>,
    /// Residual of the voltage balance over windows of ten rows, volts RMS.
    pub residual_volts_rms: Option<f64>,
    /// Residual row by row under SysId's gains, volts RMS; most of it is the noise of the differentiated velocity.
    pub row_residual_volts_rms: Option<f64>,
    /// SysId's adjusted R² of the acceleration.
    pub acceleration_r2: Option<f64>,
    /// Squared, uncentred R² of the simulated velocity.
    pub velocity_r2: Option<f64>,
    /// Delay of the logged velocity behind the logged voltage, seconds.
    pub delay_secs: Option<f64>,
    /// Averaging width of the velocity sensor, seconds.
    pub width_secs: Option<f64>,
    /// Rows behind the fit.
    pub samples: usize,
    /// Rows taken out, by reason.
    pub edits: BTreeMap<String, usize>,
    /// Why there are no gains, when there are none.
    pub refused: Option<String>,
    /// Warnings that do not refuse.
    pub flags: Vec<String>,
    /// (velocity, voltage without its acceleration part, residual volts) for the picture.
    #[serde(skip)]
    pub points: Vec<(f64, f64, f64)>,
}

/// One spin.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Spin {
    /// `CCW` or `CW`.
    pub direction: String,
    /// The part used.
    pub window: Window,
    /// Turns in it.
    pub turns: f64,
    /// Radius per wheel, metres.
    pub wheels_m: Vec<Interval>,
}

/// The wheel radius.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct WheelRadius {
    /// Spins used.
    pub spins: Vec<Spin>,
    /// Per wheel over all spins, metres.
    pub wheels_m: Vec<Interval>,
    /// The mean, metres.
    pub mean_m: Option<Interval>,
    /// Mean of the clockwise spins, metres.
    pub cw_m: Option<f64>,
    /// Mean of the counter-clockwise spins, metres.
    pub ccw_m: Option<f64>,
    /// The distance from centre to module that the ratio was multiplied by, metres.
    pub base_radius_m: Option<f64>,
    /// What the robot's own routine concluded, metres.
    pub robot_m: Option<f64>,
    /// Change against the radius in force, percent.
    pub percent_change: Option<f64>,
    /// The radius in force, metres.
    pub in_force_m: Option<f64>,
    /// The caliper's radius (unloaded), metres.
    pub caliper_m: Option<f64>,
    /// (rolling − caliper) / caliper, percent; some compression is expected.
    pub caliper_percent: Option<f64>,
    /// Reading of the caliper comparison.
    pub caliper_reading: Option<String>,
    /// Spread between the wheels, percent of the mean.
    pub spread_percent: Option<f64>,
    /// Why there is no number, when there is none.
    pub refused: Option<String>,
    /// Sentences a reader should see.
    pub remarks: Vec<String>,
}

/// One slip-current run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SlipRun {
    /// When.
    pub window: Window,
    /// The routine's last status.
    pub status: String,
    /// The robot's own result, amps.
    pub robot_amps: Option<f64>,
    /// The robot's recommendation, amps.
    pub recommended_amps: Option<f64>,
    /// Break current per wheel as the robot published it, amps.
    pub break_amps: Vec<Option<f64>>,
    /// Slip current per wheel recomputed from the log, amps.
    pub recomputed_amps: Vec<Option<f64>>,
    /// Seconds since the run's start, amps, per wheel, for the picture.
    #[serde(skip)]
    pub ramps: Vec<Vec<(f64, f64)>>,
    /// Seconds since the run's start at which each wheel broke loose.
    #[serde(skip)]
    pub breaks_secs: Vec<Option<f64>>,
}

/// The slip current.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct SlipCurrent {
    /// The runs.
    pub runs: Vec<SlipRun>,
    /// The result, amps.
    pub amps: Option<Interval>,
    /// What to set the stator limit to, amps.
    pub recommended_amps: Option<f64>,
    /// Where the value comes from.
    pub source: String,
    /// Why there is no number, when there is none.
    pub refused: Option<String>,
    /// Sentences a reader should see.
    pub remarks: Vec<String>,
}

/// One closed lap.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lap {
    /// The lap's name (the key without its suffix).
    pub name: String,
    /// `CCW`, `CW` or unknown.
    pub direction: Option<String>,
    /// Distance from the mark, metres.
    pub error_m: Option<f64>,
    /// Signed error, field x, metres.
    pub x_m: Option<f64>,
    /// Signed error, field y, metres.
    pub y_m: Option<f64>,
    /// What odometry believed its closure error was, metres.
    pub odometry_m: Option<(f64, f64)>,
    /// Path length by odometry, metres.
    pub path_m: Option<f64>,
}

/// Odometry drift.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Drift {
    /// The laps.
    pub laps: Vec<Lap>,
    /// Mean distance, metres, with a t interval.
    pub mean_m: Option<Interval>,
    /// Largest minus smallest distance, metres.
    pub spread_m: Option<f64>,
    /// Mean distance as percent of the path.
    pub percent_of_path: Option<f64>,
    /// Systematic part of the signed error: mean vector per direction, metres.
    pub centroids_m: BTreeMap<String, (f64, f64)>,
    /// Scatter of the signed error about its centroid, metres RMS.
    pub scatter_m: Option<f64>,
    /// What it means.
    pub reading: String,
}

/// The taped straight run.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StraightRun {
    /// One row per leg: name, taped metres, wheel radians (mean of the wheels), radius implied in metres.
    pub legs: Vec<StraightLeg>,
    /// The radius implied, metres.
    pub radius_m: Option<Interval>,
    /// Why there is no number, when there is none.
    pub refused: Option<String>,
    /// Sentences a reader should see.
    pub remarks: Vec<String>,
}

/// One leg of the straight run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StraightLeg {
    /// The answer's key.
    pub key: String,
    /// What the tape said, metres.
    pub taped_m: f64,
    /// How far the wheels turned, radians, mean of the wheels.
    pub wheel_rad: f64,
    /// taped / wheel.
    pub radius_m: f64,
    /// When.
    pub window: Window,
}

/// One setpoint of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Setpoint {
    /// What the setpoint is for, usually a distance: the number in the label.
    pub at: Option<f64>,
    /// The label.
    pub label: String,
    /// First commanded value.
    pub first: Option<f64>,
    /// Second commanded value.
    pub second: Option<f64>,
    /// The answers in the order given.
    pub answers: Vec<f64>,
    /// Mean answer.
    pub mean: Option<f64>,
    /// Wilson 95 % interval of the success rate; absent below two shots.
    pub probability: Option<Interval>,
    /// Mean of commanded minus measured at the shot, first and second, when both are logged.
    pub settled_error: (Option<f64>, Option<f64>),
    /// When the commands were given.
    pub windows: Vec<Window>,
}

/// A sweep.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sweep {
    /// The procedure's id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The unit of its answers.
    pub unit: String,
    /// Name and unit of what `first` and `second` set, when the plan tells.
    pub axes: Vec<(String, String)>,
    /// The setpoints, numeric order of `at`.
    pub setpoints: Vec<Setpoint>,
    /// Whether the answers are scores between 0 and 1.
    pub scores: bool,
    /// Sentences a reader should see.
    pub remarks: Vec<String>,
}

/// One temperature channel during the soak.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThermalChannel {
    /// The channel.
    pub name: String,
    /// First temperature, °C.
    pub start_c: f64,
    /// Highest temperature, °C.
    pub peak_c: f64,
    /// Highest minus first, K.
    pub rise_k: f64,
    /// Slope over the last quarter, K per minute.
    pub slope_k_per_min: Option<f64>,
    /// RMS current of the same motor, amps.
    pub rms_amps: Option<f64>,
    /// Largest absolute current, amps.
    pub peak_amps: Option<f64>,
    /// Time constant, seconds, when identifiable.
    pub tau_secs: Option<Interval>,
    /// Steady temperature at the soak's load, °C, when identifiable.
    pub steady_c: Option<f64>,
    /// What can be said.
    pub reading: String,
    /// (seconds since the soak's start, °C) for the picture.
    #[serde(skip)]
    pub curve: Vec<(f64, f64)>,
    /// The model's curve, when fitted.
    #[serde(skip)]
    pub model: Vec<(f64, f64)>,
}

/// The thermal soak.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Thermal {
    /// The channels, hottest first.
    pub channels: Vec<ThermalChannel>,
    /// Peak |current| of channels without a temperature, amps.
    pub currents: BTreeMap<String, f64>,
    /// The window.
    pub window: Window,
    /// Whether the window is a soak procedure or, for want of one, the whole session.
    pub whole_session: bool,
}

/// One parked pose.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VisionPose {
    /// The pose's name.
    pub name: String,
    /// The taped truth: x, y metres, heading radians (absent when it was not asked).
    pub truth: (f64, f64, Option<f64>),
    /// Mean of the vision pose.
    pub seen: (f64, f64, f64),
    /// Standard deviation of the vision pose: x, y metres, heading radians.
    pub spread: (f64, f64, f64),
    /// Samples.
    pub n: usize,
}

/// Vision against tape.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Vision {
    /// The poses.
    pub poses: Vec<VisionPose>,
    /// Mean error x, metres.
    pub bias_x_m: Option<Interval>,
    /// Mean error y, metres.
    pub bias_y_m: Option<Interval>,
    /// RMS distance error, metres.
    pub rms_m: Option<f64>,
    /// Sentences a reader should see.
    pub remarks: Vec<String>,
}
