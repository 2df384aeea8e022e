//! Work that takes several loops.

use crate::Micros;

/// One turn of the robot loop, as an action sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tick {
    /// The loop's clock at the start of this turn.
    pub now: Micros,
    /// Seconds since the turn before; what integrators use.
    pub dt_secs: f64,
}

/// How far an action has come.
#[derive(Debug, Clone, PartialEq)]
pub enum Progress {
    /// Call again on the next turn.
    Running,
    /// It did what it was for.
    Done,
    /// It could not; the reason is for a person.
    Failed(String),
}

/// Something that runs for a while, one call a loop.
///
/// An action owns the [leases](crate::Lease) of what it moves. Dropping it, at any moment, leaves that hardware neutral:
/// cancelling an action *is* dropping it, so there is no cancel hook to forget.
pub trait Action {
    /// One turn. Not called again after it answered anything but [`Progress::Running`].
    fn step(&mut self, tick: Tick) -> Progress;
}

impl<A: Action + ?Sized> Action for Box<A> {
    fn step(&mut self, tick: Tick) -> Progress {
        (**self).step(tick)
    }
}
