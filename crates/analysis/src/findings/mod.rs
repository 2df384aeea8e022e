//! What a session taught us, with the evidence beside every number.
//!
//! Plain data: the fits fill it, the report prints it. Everything is SI and radians unless a field's name says otherwise.
//! Lists keep the order in which a reader wants them (procedures in run order, wheels front-left, front-right, back-left,
//! back-right); nothing here depends on a hash map. `None` means *not known*, never zero.

use std::collections::BTreeMap;

use serde::Serialize;

mod fits;

pub use fits::{
    Drift, Feedforward, Gains, Lap, MotorFit, RunFacts, Setpoint, SlipCurrent, SlipRun, Spin, StraightLeg,
    StraightRun, Sweep, Thermal, ThermalChannel, Vision, VisionPose, WheelRadius,
};

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
    /// The question, in the plan's words.
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
