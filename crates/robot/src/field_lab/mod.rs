//! Field Lab as an op mode: everything between a campaign and a robot.
//!
//! All that a team writes is its campaign:
//!
//! ```
//! use fieldlab_campaign::{Campaign, Measure, Procedure};
//! use fieldlab_robot::acts::RobotAct;
//! use fieldlab_robot::field_lab::FieldLabOpMode;
//! use fieldlab_robot::opmode::OpModeEntry;
//!
//! let tape = Procedure::<RobotAct>::builder("tape-check", "Tape check")
//!     .measure(Measure::new("length of the mark", "mark-m", "m").range(0.0, 2.0))
//!     .build()?;
//! let campaign = Campaign::builder("Field Day").add(tape).build()?;
//! let entry: OpModeEntry = FieldLabOpMode::new(campaign).into();
//! assert_eq!((entry.info.group, entry.info.name), ("Data", "Field Lab"));
//! # Ok::<(), fieldlab_base::ConfigError>(())
//! ```
//!
//! The op mode's object may be kept, built anew at a disable, or vanish with the power: the checkpoint carries the run
//! across all three. A second one on the same checkpoint is refused.

mod checkpoint;
mod pre_arm;
mod records;
mod run;

use std::rc::Rc;

use fieldlab_base::Feature;
use fieldlab_campaign::{Campaign, RunnerConfig};

use crate::acts::RobotAct;
use crate::opmode::{OpModeEntry, OpModeInfo, OpModeKind};

pub use checkpoint::find as find_checkpoint;

/// How Field Lab appears on the driver station.
pub const INFO: OpModeInfo = OpModeInfo {
    kind: OpModeKind::Utility,
    name: "Field Lab",
    group: "Data",
    description: "The field-day measurement campaign; needs an operator with a tape measure",
};

/// Field Lab with one campaign, to be registered with the robot loop.
#[derive(Debug, Clone)]
pub struct FieldLabOpMode {
    campaign: Rc<Campaign<RobotAct>>,
    config: RunnerConfig,
}

impl FieldLabOpMode {
    /// Field Lab that runs `campaign`.
    #[must_use]
    pub fn new(campaign: Campaign<RobotAct>) -> Self {
        Self { campaign: Rc::new(campaign), config: RunnerConfig::default() }
    }

    /// With other limits than the usual ones. They are checked when the op mode is selected.
    #[must_use]
    pub const fn config(mut self, config: RunnerConfig) -> Self {
        self.config = config;
        self
    }
}

impl From<FieldLabOpMode> for OpModeEntry {
    fn from(lab: FieldLabOpMode) -> Self {
        let feature = Feature::campaign(&lab.campaign.plan().name);
        Self::when_ready(INFO, move |setup| run::FieldLab::build(&lab.campaign, lab.config, setup))
            .feature(feature)
    }
}
