//! The samples planner: a closed-loop inverse kinematics law, tick for tick the reference's, and what watches over it.

mod ik;
mod law;
mod solve;
mod surroundings;
mod trajectory;
mod watch;

pub use ik::{Reached, reach};
pub use law::{Law, Planner, Start, Tick, sine_error};
pub use trajectory::{PlanAbout, Trajectory, TrajectoryPoint, ros_json, ros_yaml};
pub use watch::{Peak, PlanConfig, PlanReport, Watch};
