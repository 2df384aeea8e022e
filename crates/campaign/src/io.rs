//! What the runner is told in each loop and what it answers.

use std::borrow::Cow;
use std::sync::Arc;

use fieldlab_base::{ConfigError, Micros, OperatorSample, check};
use fieldlab_values::{DataType, ValueRef};

use crate::ActId;

/// The six states, as they stand on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Nothing was begun.
    Idle,
    /// A step runs.
    Running,
    /// A person is asked, or must enable.
    AwaitingOperator,
    /// The pack is too flat to go on.
    PausedBattery,
    /// Every procedure is banked.
    Done,
    /// A person ended it.
    Aborted,
}

impl State {
    /// The token on `/Catalyst/FieldLab/State`.
    #[must_use]
    pub const fn token(self) -> &'static str {
        match self {
            Self::Idle => "IDLE",
            Self::Running => "RUNNING",
            Self::AwaitingOperator => "AWAITING_OPERATOR",
            Self::PausedBattery => "PAUSED_BATTERY",
            Self::Done => "DONE",
            Self::Aborted => "ABORTED",
        }
    }
}

/// What the robot found where the checkpoint is kept, before the runner was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckpointState {
    /// Nothing was ever saved.
    Fresh,
    /// A checkpoint that [`checkpoint::parse`](crate::checkpoint::parse) takes.
    Loaded {
        /// Its text.
        text: String,
        /// When it is the backup: what was wrong with the file itself.
        from_backup: Option<String>,
    },
    /// Something is there that nobody can read.
    Unreadable {
        /// What was wrong.
        reason: String,
        /// Under which name it was set aside. `None` when that failed: then nothing is saved, since it would be lost.
        kept_as: Option<String>,
    },
}

/// What the robot knows when the runner is made.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// The checkpoint.
    pub checkpoint: CheckpointState,
    /// The text of the finished marker beside it, if any.
    pub finished: Option<String>,
    /// The loop's clock.
    pub now: Micros,
    /// Unix time, when anything set the clock at all.
    pub unix: Option<Micros>,
    /// Random bits of this boot, for the session id while the clock is not to be trusted.
    pub boot_random: u64,
    /// Sessions whose ids are taken: the log folders that are there.
    pub known_sessions: Vec<String>,
    /// What a later reader needs beside the plan, a JSON object: constants in force, versions, boot id, battery name.
    pub header: serde_json::Map<String, serde_json::Value>,
}

impl Start {
    /// A first start with nothing known; for tests and examples.
    #[must_use]
    pub fn fresh(now: Micros, unix: Option<Micros>) -> Self {
        Self {
            checkpoint: CheckpointState::Fresh,
            finished: None,
            now,
            unix,
            boot_random: 0,
            known_sessions: Vec::new(),
            header: serde_json::Map::new(),
        }
    }
}

/// The runner's own settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunnerConfig {
    /// Under load a step is invalid below this, V.
    pub loaded_floor_volts: f64,
    /// Under load a step is flagged below this, V.
    pub loaded_flag_volts: f64,
    /// A battery reading older than this does not count, seconds.
    pub battery_stale_secs: f64,
    /// How long the resting volts must stand above the resume mark, seconds.
    pub resume_hold_secs: f64,
}

impl Default for RunnerConfig {
    fn default() -> Self {
        Self {
            loaded_floor_volts: 9.0,
            loaded_flag_volts: 11.0,
            battery_stale_secs: 0.25,
            resume_hold_secs: 2.0,
        }
    }
}

impl RunnerConfig {
    /// Refuses what is not finite and positive.
    ///
    /// # Errors
    /// Names the first field that is wrong.
    pub fn check(&self) -> Result<(), ConfigError> {
        check::within("loaded_floor_volts", self.loaded_floor_volts, 4.0, 12.0)?;
        check::within("loaded_flag_volts", self.loaded_flag_volts, self.loaded_floor_volts, 13.0)?;
        check::positive("battery_stale_secs", self.battery_stale_secs)?;
        check::within("resume_hold_secs", self.resume_hold_secs, 0.0, 60.0)?;
        Ok(())
    }
}

/// One reading of the battery.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BatteryReading {
    /// At the robot controller, V; may be anything a broken sensor says.
    pub volts: f64,
    /// How old it is, seconds.
    pub age_secs: f64,
}

/// What must be so before the first motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PreArmItem {
    /// The log file is open and growing.
    Log,
    /// There is room for the session.
    FreeDisk,
    /// The battery can be read.
    Volts,
    /// The gyro answers.
    Gyro,
    /// Every swerve module answers.
    Modules,
    /// Every channel that the report needs is there.
    Channels,
    /// The wall clock was set; never more than a warning.
    Clock,
    /// The list of inputs is short enough for every dashboard; never more than a warning.
    Manifest,
}

impl PreArmItem {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Log,
        Self::FreeDisk,
        Self::Volts,
        Self::Gyro,
        Self::Modules,
        Self::Channels,
        Self::Clock,
        Self::Manifest,
    ];

    /// Whether it can stop anything; the others only ever warn.
    #[must_use]
    pub const fn blocks(self) -> bool {
        !matches!(self, Self::Clock | Self::Manifest)
    }

    /// Its name on the `PreArm` topic.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::FreeDisk => "disk",
            Self::Volts => "volts",
            Self::Gyro => "gyro",
            Self::Modules => "modules",
            Self::Channels => "channels",
            Self::Clock => "clock",
            Self::Manifest => "manifest",
        }
    }
}

/// How it stands with a [`PreArmItem`]. The reason is for a person and should not change while nothing changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PreArmVerdict {
    /// It is so.
    Pass,
    /// It is not, and that does not stop anything.
    Warn(Cow<'static, str>),
    /// It is not, and nothing moves until it is.
    Fail(Cow<'static, str>),
}

/// One line of the pre-arm list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreArmFact {
    /// What.
    pub item: PreArmItem,
    /// How it stands.
    pub verdict: PreArmVerdict,
}

impl PreArmFact {
    /// A list on which everything is well; for tests and for robots that have nothing to check.
    pub const ALL_PASS: [Self; 8] = {
        const fn pass(item: PreArmItem) -> PreArmFact {
            PreArmFact { item, verdict: PreArmVerdict::Pass }
        }
        let [a, b, c, d, e, f, g, h] = PreArmItem::ALL;
        [pass(a), pass(b), pass(c), pass(d), pass(e), pass(f), pass(g), pass(h)]
    };
}

/// How it stands with the act that the runner asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum ActReport {
    /// None runs.
    Idle,
    /// It runs.
    Running {
        /// Of which request.
        attempt: u32,
    },
    /// It did what it was for.
    Completed {
        /// Of which request.
        attempt: u32,
        /// What it found or reached, by name: a fitted radius, the speed at the shot. Logged with the event.
        results: Vec<(Cow<'static, str>, f64)>,
    },
    /// Something took it away.
    Interrupted {
        /// Of which request.
        attempt: u32,
        /// What.
        reason: String,
    },
    /// It could not start, or could not go on, or found nothing.
    Failed {
        /// Of which request.
        attempt: u32,
        /// Why.
        reason: String,
    },
}

/// What the storage answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaveReport {
    /// Of which [`Save`] or [`Finish`].
    pub seq: u64,
    /// Durable, or why not.
    pub result: Result<(), String>,
}

/// One loop's input.
#[derive(Debug, Clone, Copy)]
pub struct RunnerInput<'a> {
    /// The loop's clock.
    pub now: Micros,
    /// Unix time, when anything set the clock.
    pub unix: Option<Micros>,
    /// Whether the driver station enables this op mode.
    pub enabled: bool,
    /// A person ended the campaign by choosing another op mode on the driver station.
    pub ended: bool,
    /// The battery, when there is a reading at all.
    pub battery: Option<BatteryReading>,
    /// Whether the drive has no output, so that the volts are resting volts.
    pub drive_neutral: bool,
    /// The act.
    pub act: &'a ActReport,
    /// What reached the declared inputs since the last loop, in the order of arrival. Ids are those of
    /// [`inputs::declared`](crate::inputs::declared).
    pub operator: &'a [OperatorSample],
    /// What the storage answered since the last loop.
    pub saved: &'a [SaveReport],
    /// The pre-arm list.
    pub pre_arm: &'a [PreArmFact],
}

/// Which act shall run. It is a level, not an edge: said anew in every loop for as long as it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActRequest {
    /// None: whatever runs is dropped, which leaves its hardware neutral.
    None,
    /// This one. A new `attempt` is a new action, even of the same act; the old one is dropped first.
    Run {
        /// Whose payload.
        act: ActId,
        /// Counts the requests of this runner; reports name it.
        attempt: u32,
    },
}

/// A checkpoint to be made durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Save {
    /// Named in the [`SaveReport`].
    pub seq: u64,
    /// The file's whole contents. Let go of it before you report: the runner writes the next save into the same memory.
    pub bytes: Arc<Vec<u8>>,
    /// Set aside what is there first: it belongs to somebody else.
    pub set_aside_first: bool,
}

/// The campaign is done: leave this marker durably, then remove checkpoint, backup and temps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finish {
    /// Named in the [`SaveReport`].
    pub seq: u64,
    /// The marker's whole contents.
    pub marker: Arc<Vec<u8>>,
}

/// A key that records of a runner can have; see [`Runner::log_keys`](crate::Runner::log_keys).
#[derive(Debug, Clone, PartialEq)]
pub struct LogKey {
    /// The key under `/Catalyst/`, as in the log file: `FieldLab/6aa1f940/wheel-radius/caliper-diameter-in`.
    pub key: Arc<str>,
    /// The type of its values; `Json` and `String` carry the same ones.
    pub data_type: DataType,
    /// Its newest value belongs at the head of every file of the session.
    pub sticky: bool,
}

/// One record for the log, and for the live topic of the same key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogRecord<'a> {
    /// Which of the runner's [keys](crate::Runner::log_keys).
    pub key: usize,
    /// The value.
    pub value: ValueRef<'a>,
}

/// How much an alert matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AlertLevel {
    /// Data or function is lost.
    Error,
    /// Degraded, complete.
    Warning,
    /// For the operator.
    Info,
}

/// One alert of source `FieldLab`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alert {
    /// How much it matters.
    pub level: AlertLevel,
    /// What a person reads.
    pub text: String,
}

/// One loop's answer. What it has for the log is [`Runner::log`](crate::Runner::log).
#[derive(Debug, Clone, PartialEq)]
pub struct RunnerOutput {
    /// Which act shall run.
    pub act: ActRequest,
    /// A checkpoint to save. The next is not handed out before this one was reported.
    pub save: Option<Save>,
    /// The last thing of a campaign.
    pub finish: Option<Finish>,
}
