//! The words every floor shares: instants, configuration errors, actions and leases, features, operator samples.
//!
//! Nothing here knows a file, a socket, a robot or a number's wire type. It is what lets a step machine on an upper
//! floor and a codec on a lower one speak of the same instant and refuse a bad configuration in the same words.
//!
//! ```
//! use fieldlab_base::{Micros, check};
//!
//! let start = Micros::from_secs(1.5);
//! assert_eq!((start + Micros::from_secs(0.5)).as_secs(), 2.0);
//! let refused = check::positive("drive.wheel_radius_m", f64::NAN).unwrap_err();
//! assert_eq!(refused.to_string(), "drive.wheel_radius_m: expected a finite number above 0, found NaN");
//! ```
//!
//! Promises: no function here panics, allocates in steady state, or asks for the time.

pub mod action;
pub mod check;
mod config;
mod feature;
mod lease;
mod operator;
mod time;

pub use action::{Action, Progress, Tick};
pub use config::ConfigError;
pub use feature::{Feature, PhysicsProfile};
pub use lease::{Busy, Claim, Command, Lease};
pub use operator::{ClientId, InputId, OperatorSample, OperatorValue};
pub use time::Micros;
