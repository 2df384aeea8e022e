//! The robot side: the 20 ms loop, op modes, hardware traits, and the one door through which numbers leave.
//!
//! A team gives the loop its hardware (or the simulated one), its driver station and its op modes; the loop takes one
//! snapshot a turn, runs the op mode that a person selected, carries out what its leases ask for, and hands one frame of
//! changes to every sink. [Field Lab](field_lab) is such an op mode. One more line makes the robot say [who it is](identity).
//!
//! ```
//! use fieldlab_base::Micros;
//! use fieldlab_robot::driver_station::DriverPanel;
//! use fieldlab_robot::hw::Parts;
//! use fieldlab_robot::operator::NoOperator;
//! use fieldlab_robot::robot_loop::{LoopConfig, LoopParts, RobotLoop};
//! use fieldlab_robot::site::{Pace, Site};
//! use fieldlab_robot::telemetry::{Door, MemorySink};
//!
//! let (door, memory) = (Door::new(), MemorySink::new());
//! door.attach(Box::new(memory.clone()));
//! let parts = LoopParts {
//!     io: Box::new(Parts { name: "bench".into(), ..Parts::default() }),
//!     station: Box::new(DriverPanel::new()),
//!     operator: Box::new(NoOperator),
//!     door,
//!     site: Site::new("logs", Pace::Virtual, 1),
//!     op_modes: Vec::new(),
//! };
//! let mut robot = RobotLoop::new(LoopConfig::default(), parts)?;
//! robot.tick(Micros::from_millis(20), None);
//! assert_eq!(memory.last("/Catalyst/OpMode/Active"), Some("".into()));
//! # Ok::<(), fieldlab_base::ConfigError>(())
//! ```
//!
//! Promises: while the robot is disabled, has no op mode selected, or after an op mode panicked, every output is neutral;
//! nothing that arrives over a network reaches hardware except as a sample that an op mode reads. The loop waits for no
//! disk and no socket; what a sink could not take is counted and published. Power may go at any moment: a checkpoint is
//! the old one or the new one, a log is whole up to its last quarter second.
//!
//! Never does: know a particular robot, start a motion by itself, or overwrite a log or evidence.

pub mod actions;
pub mod acts;
pub mod clock;
pub mod driver_station;
pub mod field_lab;
pub mod hw;
pub mod identity;
pub mod network;
pub mod operator;
pub mod opmode;
pub mod robot_loop;
pub mod site;
pub mod storage;
pub mod telemetry;
pub mod utility;
