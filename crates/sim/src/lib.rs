//! Robots that are not there: battery, motors, swerve, carpet, a shooter, a person with a tape measure, and whatever
//! goes wrong on a field. Everything is deterministic from one printed seed and runs by a virtual clock, so that an
//! afternoon takes seconds and can be had again byte for byte.
//!
//! ```
//! use fieldlab_base::Micros;
//! use fieldlab_robot::hw::{DriveCommand, Inputs, Outputs, RobotIo};
//! use fieldlab_sim::{World, WorldConfig};
//!
//! let mut world = World::new(WorldConfig::seeded(7), 7)?;
//! world.place(2.0, 4.0, 0.0);
//! let forward = Outputs { drive: DriveCommand::straight_volts(3.0, 0.0), ..Outputs::NEUTRAL };
//! world.apply(Micros::ZERO, &forward);
//! let mut inputs = Inputs::NONE;
//! world.read(Micros::from_secs(1.0), &mut inputs);
//!
//! let truth = world.truth(); // closed forms, not fits
//! let settled = (3.0 - truth.ks_volts) / truth.kv_volts_per_mps;
//! assert!((world.body().vx_mps / settled - 1.0).abs() < 0.05);
//! # Ok::<(), fieldlab_base::ConfigError>(())
//! ```
//!
//! Promises: the same seed and the same calls give the same bits on one target; non-finite commands brake; a fault
//! script, whatever its bytes, is refused with its place and never panics.
//!
//! Never does: read a clock of its own, open a socket, or tell robot code anything that a real robot could not know.

mod battery;
mod drive;
pub mod faults;
mod motor;
pub mod operator;
pub mod rehearsal;
mod rng;
mod sensors;
mod shooter;
mod world;

pub use battery::{Battery, BatteryConfig};
pub use drive::{BodyState, Drive, DriveConfig, DriveTruth, LoopGains, ModuleCommand, STEP_SECS, Walls};
pub use motor::{MotorConfig, Winding};
pub use rng::Rng;
pub use sensors::{SensorConfig, SensorFault};
pub use shooter::{ShooterConfig, Shot};
pub use world::{Field, MAX_SPEED_MPS, MECHANISMS, SensorId, SharedWorld, World, WorldConfig, declaration};
