//! Surfaces, samples, captures and constants of robots that draw, and a preflight that refuses.
//!
//! A drawing is a samples file: one row per control tick with the tip's place, speed and the final link's rotation. This crate
//! reads such files strictly, plans them with a reference law, and lists everything that speaks against running them.
//!
//! ```
//! use fieldlab_draw::constants::generated;
//!
//! assert_eq!(generated::SHA, "c36d529c2b43");
//! assert_eq!(generated::PERIOD_S, 0.0025);
//! ```
//!
//! Promises: no byte of any file makes a function here panic; memory and time grow with the length of the input and are
//! bounded by stated limits; the same input gives the same bytes. A file whose schema is not known is refused, and a path that
//! fails a check is refused whole: nothing is clamped, nothing is guessed. What is written atomically survives a power cut as
//! the old or the new file.
//!
//! Never does: move a robot, grant authority to move one, read a clock, open a socket, or take a value from another rig.

pub mod camera;
pub mod capture;
pub mod check;
pub mod constants;
mod error;
pub mod findings;
pub mod json;
pub mod math;
pub mod npz;
pub mod path;
pub mod path_plan_check;
pub mod plan;
pub mod plot;
pub mod profile;
pub mod rehearse;
pub mod samples;
pub mod surface;

pub use error::DrawError;
