//! What a session taught us, with the evidence beside every number.
//!
//! Plain data: the fits fill it, the report prints it. Everything is SI and radians unless a field's name says otherwise.
//! Lists keep the order in which a reader wants them (procedures in run order, wheels front-left, front-right, back-left,
//! back-right); nothing here depends on a hash map. `None` means *not known*, never zero.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::stats::Interval;

/// Everything that `analyse` found in one session.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Findings {
    /// The session id, when the logs name one.
    pub session: Option<String>,
    /// Other session ids in the same logs, which these findings leave out.
    pub other_sessions: Vec<String>,
    /// The campaign's name.
    pub campaign: Option<String>,
    /// The last runner state logged (`DONE`, `ABORTED`, …).
    pub state: Option<String>,
    /// What the session header said about the robot and its code.
    pub provenance: Provenance,
    /// The files that were read, in stitched order.
    pub logs: Vec<LogFacts>,
    /// From the session's first to its last record, on the stitched clock.
    pub duration_secs: Option<f64>,
    /// How many distinct channels the logs hold, duplicates of one channel counted once.
    pub channels: usize,
    /// Every procedure of the plan, then whatever ran without being planned, in run order.
    pub procedures: Vec<ProcedureFindings>,
    /// What happened when, for the timeline picture.
    pub timeline: Vec<TimelineSpan>,
    /// Battery volts over the session, thinned for the picture.
    #[serde(skip)]
    pub battery: Vec<(f64, f64)>,
    /// The constants, each with interval, evidence and verdict.
    pub constants: Vec<Constant>,
    /// The feedforward fit, when its data or its absence can be spoken of.
    pub feedforward: Option<Feedforward>,
    /// The wheel radius from spins, caliper and tape.
    pub wheel_radius: Option<WheelRadius>,
    /// The slip current.
    pub slip_current: Option<SlipCurrent>,
    /// Odometry drift over closed laps.
    pub drift: Option<Drift>,
    /// The taped straight run.
    pub straight: Option<StraightRun>,
    /// Sweeps by procedure, in run order.
    pub sweeps: Vec<Sweep>,
    /// The thermal soak.
    pub thermal: Option<Thermal>,
    /// Vision poses against taped poses.
    pub vision: Option<Vision>,
    /// Every answer a person typed.
    pub measurements: Vec<Measurement>,
    /// Every note, first-seen order, repeats counted.
    pub notes: Vec<Note>,
    /// Losses, contradictions and refusals a reader must know before trusting the rest.
    pub problems: Vec<Problem>,
}

impl Findings {
    /// The constant of that name.
    #[must_use]
    pub fn constant(&self, name: &str) -> Option<&Constant> {
        self.constants.iter().find(|c| c.name == name)
    }

    /// Whether anything was lost on the way here: a torn log, bytes not understood. `--strict` turns this into exit 3.
    #[must_use]
    pub fn finished_with_loss(&self) -> bool {
        self.problems.iter().any(|p| p.severity == Severity::Loss)
            || self.logs.iter().any(|l| l.torn.is_some())
    }

    /// The titles of planned procedures that banked nothing usable.
    #[must_use]
    pub fn not_banked(&self) -> Vec<&str> {
        self.procedures.iter().filter(|p| !p.banked()).map(|p| p.title.as_str()).collect()
    }
}

/// What the session header said.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Provenance {
    /// Version of the robot's code.
    pub code_version: Option<String>,
    /// The plan's hash.
    pub plan_hash: Option<String>,
    /// The battery's name.
    pub battery: Option<String>,
    /// Whether the robot's wall clock was to be trusted.
    pub clock_trusted: Option<bool>,
    /// The boots seen, in stitched order.
    pub boots: Vec<String>,
    /// The constants the robot believed while it ran.
    pub constants_in_force: BTreeMap<String, f64>,
}

/// One log file.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct LogFacts {
    /// The path as given.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Records read, control records included.
    pub records: u64,
    /// Which boot wrote it, when it says.
    pub boot: Option<String>,
    /// First record on the stitched clock.
    pub from_secs: f64,
    /// Last record on the stitched clock.
    pub to_secs: f64,
    /// How its clock was placed beside the others.
    pub clock: String,
    /// What its torn end cost, when it has one.
    pub torn: Option<String>,
}

/// How far a procedure got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// It finished and its result was saved.
    Banked,
    /// It was started; the logs end, or the run was ended, before it finished.
    CutShort,
    /// A person skipped it.
    Skipped,
    /// The plan names it, no log shows it.
    NotReached,
}

/// One procedure: what was planned, what happened, at which battery.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProcedureFindings {
    /// The id, which is contract.
    pub id: String,
    /// The title for people.
    pub title: String,
    /// Why it is done, in the plan's words.
    pub why: Option<String>,
    /// How far it got.
    pub progress: Progress,
    /// The runner's quality mark or the reason it was skipped.
    pub mark: Option<String>,
    /// When it ran on the stitched clock; one window per time it was entered.
    pub windows: Vec<Window>,
    /// What its acts did.
    pub acts: Vec<ActFindings>,
    /// When it waited for a battery.
    pub pauses: Vec<Window>,
    /// At which battery.
    pub battery: BatteryFacts,
    /// Whether a model was fitted to it, or its numbers are only printed.
    pub understood: bool,
}

impl ProcedureFindings {
    /// Whether it finished.
    #[must_use]
    pub fn banked(&self) -> bool {
        self.progress == Progress::Banked
    }
}

/// A stretch of the stitched clock.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Window {
    /// Start, seconds since the session's first record.
    pub from_secs: f64,
    /// End.
    pub to_secs: f64,
}

impl Window {
    /// How long it is.
    #[must_use]
    pub fn secs(&self) -> f64 {
        self.to_secs - self.from_secs
    }
}

/// One run of one act.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ActFindings {
    /// The step's label.
    pub label: String,
    /// When.
    pub window: Window,
    /// How it ended: `completed`, `timed out`, `interrupted`, `failed`, `skipped`, or `open` when no log shows its end.
    pub outcome: String,
    /// Lowest battery volts during it.
    pub min_volts: Option<f64>,
}

/// The battery during one procedure.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct BatteryFacts {
    /// The gate the plan asked for.
    pub gate_volts: Option<f64>,
    /// Volts when the procedure started.
    pub start_volts: Option<f64>,
    /// Lowest volts during it.
    pub min_volts: Option<f64>,
    /// Mean volts during it.
    pub mean_volts: Option<f64>,
    /// How long it waited for a pack.
    pub paused_secs: f64,
    /// The pack's name, when the log has one.
    pub pack: Option<String>,
}

/// What a stretch of the timeline was spent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SpanKind {
    /// A procedure as a whole.
    Procedure,
    /// The robot moved.
    Act,
    /// A person was asked.
    Operator,
    /// Waiting for a battery.
    Battery,
    /// No log covers it: a reboot, a cut, a missing file.
    Dark,
}

/// One bar of the timeline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimelineSpan {
    /// What for.
    pub kind: SpanKind,
    /// Words for it.
    pub label: String,
    /// When.
    pub window: Window,
}

/// Where a number comes from.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Evidence {
    /// The log file.
    pub file: String,
    /// The stretch used, on the stitched clock.
    pub window: Window,
    /// The channels used.
    pub channels: Vec<String>,
}

/// May the number be used?
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Verdict {
    /// Yes.
    Measured,
    /// As a first value for tuning, not as a measurement.
    StartingPoint {
        /// Why not more.
        reason: String,
    },
    /// A number came out, and something about it is wrong enough that a person must look first.
    Flagged {
        /// What is wrong.
        reason: String,
    },
    /// No: no number is given.
    Refused {
        /// Why.
        reason: String,
    },
}

impl Verdict {
    /// The word for a table cell.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::StartingPoint { .. } => "starting point",
            Self::Flagged { .. } => "flagged",
            Self::Refused { .. } => "refused",
        }
    }

    /// The reason, when there is one.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Measured => None,
            Self::StartingPoint { reason } | Self::Flagged { reason } | Self::Refused { reason } => {
                Some(reason)
            }
        }
    }
}

/// One constant a team may paste into its code.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Constant {
    /// Its name: `kS`, `kV`, `kA`, `wheel_radius_m`, `slip_current_a`, …
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// The value; absent when refused.
    pub value: Option<f64>,
    /// Lower end of the 95 % interval.
    pub lo: Option<f64>,
    /// Upper end of the 95 % interval.
    pub hi: Option<f64>,
    /// Unit of value and interval.
    pub unit: String,
    /// How many independent values or samples stand behind it.
    pub n: usize,
    /// How it was found.
    pub method: String,
    /// Where it comes from.
    pub evidence: Vec<Evidence>,
    /// May it be used?
    pub verdict: Verdict,
    /// Sentences a reader should see beside it.
    pub remarks: Vec<String>,
}

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

/// One answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measurement {
    /// The procedure's id.
    pub procedure: String,
    /// The key.
    pub key: String,
    /// The value; absent when what was logged was not finite.
    pub value: Option<f64>,
    /// Its unit.
    pub unit: Option<String>,
    /// When it was committed.
    pub at_secs: Option<f64>,
    /// Set when the plan's range does not hold it.
    pub out_of_range: bool,
    /// The unit that the question uses, in words of the plan.
    pub label: Option<String>,
}

/// One note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// Its text.
    pub text: String,
    /// How often it was noted.
    pub count: usize,
}

/// How bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Something is degraded.
    Warning,
    /// Data was lost or could not be read.
    Loss,
    /// A number is not given, for this reason.
    Refusal,
}

/// One thing to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// How bad.
    pub severity: Severity,
    /// In words: place, value, limit.
    pub text: String,
}
