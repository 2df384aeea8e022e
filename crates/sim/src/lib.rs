//! Robots that are not there.
#![allow(missing_docs)]
mod battery;
mod drive;
pub mod faults;
mod motor;
mod rng;
mod sensors;
mod shooter;
mod world;
pub use battery::*;
pub use drive::*;
pub use motor::*;
pub use rng::*;
pub use sensors::{SensorConfig, SensorFault};
pub use shooter::{ShooterConfig, Shot};
pub use world::*;
