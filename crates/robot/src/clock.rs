//! The clock that a robot on a real floor runs by. Everything below is told the time.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fieldlab_base::Micros;

/// A clock for [`RobotLoop::run`](crate::robot_loop::RobotLoop::run).
pub trait Clock {
    /// Monotonic microseconds since some start.
    fn now(&mut self) -> Micros;
    /// Microseconds since 1970 by the wall clock, or nothing when there is none.
    fn unix(&mut self) -> Option<Micros>;
    /// Waits until that instant; returns at once when it has passed.
    fn wait_until(&mut self, at: Micros);
}

/// The machine's clocks.
#[derive(Debug, Clone)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// A clock that counts from now.
    #[must_use]
    pub fn new() -> Self {
        Self { start: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&mut self) -> Micros {
        Micros(i64::try_from(self.start.elapsed().as_micros()).unwrap_or(i64::MAX))
    }

    fn unix(&mut self) -> Option<Micros> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        i64::try_from(since.as_micros()).ok().map(Micros)
    }

    fn wait_until(&mut self, at: Micros) {
        let left = at.since(self.now()).0;
        if let Ok(micros @ 1..) = u64::try_from(left) {
            std::thread::sleep(Duration::from_micros(micros));
        }
    }
}
