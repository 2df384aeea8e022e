//! Robots that are not there.
#![allow(missing_docs)]
mod battery;
mod drive;
mod motor;
mod rng;
pub use battery::*;
pub use drive::*;
pub use motor::*;
pub use rng::*;
