//! From the logs of a Field Lab session to constants that can be trusted: log sets, sessions, fits with intervals,
//! findings with evidence.
//!
//! ```
//! use fieldlab_analysis::feedforward::{Run, Test, fit_motor};
//!
//! let fit = fit_motor("fl-drive", &[Run::new(Test::QuasistaticForward)]);
//! assert!(fit.gains.is_none());
//! assert!(fit.refused.unwrap().contains("0 rows"));
//! ```
//!
//! Promises: no byte of a log makes it panic; numbers that are not finite are dropped and counted; what cannot be
//! known is `None` or refused with a reason; the same logs give the same findings, bit for bit.
//! It never asks for the time, prints, or knows the simulator.

mod error;
pub mod feedforward;
pub mod findings;
mod logset;
pub mod names;
mod ols;
mod series;
pub mod stats;
mod view;

pub use error::AnalysisError;
pub use logset::{LogSet, Watch};
pub use series::Series;
mod analyse;
mod chronicle;
mod constants;
mod fits;
mod regress;
mod story;

pub use analyse::{Options, analyse};
mod diff;
pub use diff::{Advice, DiffRow, diff, parse_constants};
