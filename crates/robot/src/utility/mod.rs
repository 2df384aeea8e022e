//! Op modes that stand alone in the driver station's group `Data`: each of the shipped calibrations, and three checks.
//!
//! They write the topics of a campaign's acts, and a log of their own while they run.

mod check;
mod find;
mod routine;
mod zero;

use crate::opmode::{OpModeInfo, OpModeKind};

pub use check::system_check;
pub use find::find_motor;
pub use routine::{slip_current, sys_id, wheel_radius};
pub use zero::zero_wheels;

/// Readings older than this, seconds, come from a sensor that is gone.
const ALIVE_SECS: f64 = 0.25;

const fn info(name: &'static str, description: &'static str) -> OpModeInfo {
    OpModeInfo { kind: OpModeKind::Utility, name, group: "Data", description }
}
