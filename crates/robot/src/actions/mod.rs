//! Actions: work that takes several turns, as a step machine or as an `async` routine, and the few ways to join them.
//!
//! A step machine implements [`Action`]; what reads better as a routine is an `async` block polled once a turn:
//!
//! ```
//! use fieldlab_base::{Action, Micros, Progress, Tick};
//! use fieldlab_robot::actions::routine;
//!
//! let mut act = routine(|ticks| async move {
//!     ticks.wait_secs(0.04).await;
//!     Ok(())
//! });
//! let mut turn = |millis| act.step(Tick { now: Micros::from_millis(millis), dt_secs: 0.02 });
//! assert_eq!(turn(0), Progress::Running);
//! assert_eq!(turn(20), Progress::Running);
//! assert_eq!(turn(40), Progress::Done);
//! ```
//!
//! Dropping an action, of either sort, drops its leases: the hardware is neutral.

mod join;
mod routine;

pub use fieldlab_base::{Action, Progress, Tick};
pub use join::{Sequence, Timeout};
pub use routine::{AsyncAction, Ticks, routine};
