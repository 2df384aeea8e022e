//! A planned afternoon of measurements: campaigns, procedures, calibrations and the runner, as step machines.
//!
//! A [`Campaign`] is plain data, checked when it is built. The [`Runner`] takes one [`RunnerInput`] a
//! loop and answers one [`RunnerOutput`]: what to run, what to save, what to log. It survives every battery swap because
//! nothing counts as banked before its save came back.
//!
//! ```
//! use fieldlab_campaign::{Act, Campaign, Measure, Procedure, Routine};
//!
//! let tape = Procedure::<Routine>::builder("tape-check", "Tape check")
//!     .why("is the tape the right way round")
//!     .measure(Measure::new("length of the mark", "mark-m", "m").range(0.0, 2.0))
//!     .build()?;
//! let campaign = Campaign::builder("Field Day").add(tape).build()?;
//! assert_eq!(campaign.plan().estimate_text(), "1 min");
//! # let _ = Act::new("unused", 1.0, ());
//! # Ok::<(), fieldlab_base::ConfigError>(())
//! ```
//!
//! Promises: no byte of a checkpoint, no operator sample and no reading, however wrong, makes anything here panic; an
//! answer whose commit was echoed survives a power cut; no prompt and no gate ever times out; nothing that arrives over
//! a network starts a motion by itself.
//!
//! Never does: open a file or a socket, ask for the time, or know which hardware it runs on.

mod builder;
pub mod calibration;
pub mod channels;
pub mod checkpoint;
mod desk;
mod error;
mod gate;
pub mod inputs;
mod io;
mod model;
pub mod procedures;
mod routine;
pub mod runner;
pub mod sweep;
pub mod text;
mod topics;

pub use builder::{Act, CampaignBuilder, Measure, ProcedureBuilder};
pub use error::CampaignError;
pub use io::{
    ActReport, ActRequest, Alert, AlertLevel, BatteryReading, CheckpointState, Finish, LogKey, LogRecord,
    PreArmFact, PreArmItem, PreArmVerdict, RunnerConfig, RunnerInput, RunnerOutput, Save, SaveReport, Start,
    State,
};
pub use model::{ActId, Campaign, Plan, Procedure, ProcedurePlan, Shot, Step, StepKind, StepOutcome};
pub use routine::{
    LapDirection, Routine, SlipCurrentConfig, SpinDirection, SysIdConfig, SysIdTest, WheelRadiusConfig,
};
pub use runner::Runner;
pub use topics::Topics;
