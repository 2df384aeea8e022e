//! The long programs behind `cargo xtask bench` and `cargo xtask torture`: each measures something that the project promises,
//! prints its figures last, and says whether every aim was met.
//!
//! ```
//! use fieldlab_trials::figures::{Aim, Figures};
//!
//! let mut figures = Figures::new("loop");
//! figures.attached("200 topics, NT and log sinks");
//! figures.row("median of one tick", 31.0, "µs", Aim::AtMost(50.0));
//! assert!(figures.met());
//! ```
//!
//! These programs write only below the folder that they are given or a temporary one, kill only processes that they started,
//! and print the seed of everything random. They are no part of a team's build and no test of CI.

pub mod bench_draw;
pub mod bench_loop;
pub mod bench_nt4;
pub mod bench_rehearse;
pub mod bench_wpilog;
pub mod console_load;
pub mod figures;
pub mod options;
pub mod torture_campaign;
pub mod torture_console;
pub mod torture_kill;
