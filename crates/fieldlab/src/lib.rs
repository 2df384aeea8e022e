//! Field Lab for robot programmers: one import.
//!
//! A team plans its afternoon as a [`Campaign`](prelude::Campaign), wraps it in a
//! [`FieldLabOpMode`](prelude::FieldLabOpMode) and registers that with its robot loop; the same program runs on the
//! simulated robot first.
//!
//! ```
//! use fieldlab::prelude::*;
//!
//! let drive = Drivetrain { wheel_radius_m: 0.0508, runway_m: 8.0, ..Drivetrain::default() };
//! let campaign: Campaign<RobotAct> =
//!     Campaign::builder("Field Day").add_all(procedures::drivetrain_basics(&drive)?).build()?;
//! let op_modes: Vec<OpModeEntry> = vec![FieldLabOpMode::new(campaign).into()];
//! assert_eq!(op_modes[0].info.group, "Data");
//! # Ok::<(), ConfigError>(())
//! ```
//!
//! The examples are where to begin: `field_day` is a whole campaign on the simulated robot, `own_action` writes a motion
//! as an `async` routine, `standalone_sysid` runs one calibration without a campaign, `own_hardware` puts a robot
//! together from parts, `identity` says who the robot is.
//!
//! Promises and limits are those of the crates behind it, each on its own front page: [`campaign`], [`robot`], [`sim`],
//! [`identity`], [`motion`], [`values`], [`base`]. It adds no code of its own, and so never does anything that they do not say.

pub use fieldlab_base as base;
pub use fieldlab_campaign as campaign;
pub use fieldlab_identity as identity;
pub use fieldlab_motion as motion;
pub use fieldlab_robot as robot;
pub use fieldlab_sim as sim;
pub use fieldlab_values as values;

/// What a robot program names every day.
pub mod prelude {
    pub use fieldlab_base::{Action, ConfigError, Lease, Micros, Progress, Tick};
    pub use fieldlab_campaign::procedures::{self, Drivetrain};
    pub use fieldlab_campaign::sweep::{Axis, Setpoint, Sweep};
    pub use fieldlab_campaign::{Act, Campaign, Measure, Procedure, Routine, Shot};
    pub use fieldlab_identity::{Declaration, RobotIdentity};
    pub use fieldlab_robot::actions::{Ticks, routine};
    pub use fieldlab_robot::acts::RobotAct;
    pub use fieldlab_robot::clock::{Clock, SystemClock};
    pub use fieldlab_robot::driver_station::{DriverPanel, DriverStation};
    pub use fieldlab_robot::field_lab::FieldLabOpMode;
    pub use fieldlab_robot::hw::{DriveCommand, Hardware, Inputs, MechanismCommand, Outputs, Parts, RobotIo};
    pub use fieldlab_robot::opmode::{OpMode, OpModeEntry, OpModeInfo, OpModeKind, Setup, Turn};
    pub use fieldlab_robot::robot_loop::{LoopConfig, LoopParts, RobotLoop};
    pub use fieldlab_robot::site::{Pace, Site};
    pub use fieldlab_robot::telemetry::{Door, MemorySink, NtSink};
    pub use fieldlab_robot::{network, operator, utility};
    pub use fieldlab_values::{Publish, Publisher};
}
