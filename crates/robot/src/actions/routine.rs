//! An `async` block as an action: polled once a turn, never woken, dropped to cancel.

use std::cell::Cell;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use fieldlab_base::{Action, Micros, Progress, Tick};

/// The turns, as a routine sees them: the only thing that it can wait for.
#[derive(Clone, Debug)]
pub struct Ticks {
    now: Rc<Cell<(u64, Tick)>>,
}

impl Ticks {
    /// The turn that runs now.
    #[must_use]
    pub fn tick(&self) -> Tick {
        self.now.get().1
    }

    /// Waits for the next turn.
    pub async fn next_tick(&self) -> Tick {
        let (turn, _) = self.now.get();
        poll_fn(|_| match self.now.get() {
            (now, tick) if now != turn => Poll::Ready(tick),
            _ => Poll::Pending,
        })
        .await
    }

    /// Waits until at least `secs` have passed by the loop's clock. NaN and what is not above zero wait for nothing.
    pub async fn wait_secs(&self, secs: f64) {
        let end = self.tick().now + Micros::from_secs(secs);
        self.until(|tick| tick.now >= end).await;
    }

    /// Waits until `done` says so; asked at once and then every turn.
    pub async fn until(&self, mut done: impl FnMut(Tick) -> bool) {
        while !done(self.tick()) {
            self.next_tick().await;
        }
    }

    /// Waits until `done` says so, at most `secs`; answers whether it did.
    pub async fn until_or_secs(&self, secs: f64, mut done: impl FnMut(Tick) -> bool) -> bool {
        let end = self.tick().now + Micros::from_secs(secs);
        loop {
            if done(self.tick()) {
                return true;
            }
            if self.tick().now >= end {
                return false;
            }
            self.next_tick().await;
        }
    }
}

/// A routine as an [`Action`]. The future is polled once a turn; one that waits for anything but its [`Ticks`] never
/// finishes, since nobody wakes it.
pub struct AsyncAction {
    future: Pin<Box<dyn Future<Output = Result<(), String>>>>,
    ticks: Ticks,
}

/// Makes an action of a routine. It begins in the first turn, not before; `Err` is the reason why it failed, for a person.
pub fn routine<F>(make: impl FnOnce(Ticks) -> F) -> AsyncAction
where
    F: Future<Output = Result<(), String>> + 'static,
{
    let first = Tick { now: Micros::ZERO, dt_secs: 0.0 };
    let ticks = Ticks { now: Rc::new(Cell::new((0, first))) };
    AsyncAction { future: Box::pin(make(ticks.clone())), ticks }
}

impl Action for AsyncAction {
    fn step(&mut self, tick: Tick) -> Progress {
        let (turn, _) = self.ticks.now.get();
        self.ticks.now.set((turn.wrapping_add(1), tick));
        match self.future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => Progress::Running,
            Poll::Ready(Ok(())) => Progress::Done,
            Poll::Ready(Err(reason)) => Progress::Failed(reason),
        }
    }
}

impl fmt::Debug for AsyncAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AsyncAction")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_turn_is_one_poll() {
        let seen = Rc::new(Cell::new(0));
        let count = Rc::clone(&seen);
        let mut act = routine(move |ticks| async move {
            for _ in 0..3 {
                count.set(count.get() + 1);
                ticks.next_tick().await;
            }
            Err("no more".into())
        });
        assert_eq!(seen.get(), 0, "it begins with the first turn");
        let mut step = || act.step(Tick { now: Micros::ZERO, dt_secs: 0.02 });
        assert_eq!(step(), Progress::Running);
        assert_eq!(seen.get(), 1);
        assert_eq!(step(), Progress::Running);
        assert_eq!(step(), Progress::Running);
        assert_eq!(step(), Progress::Failed("no more".into()));
    }

    #[test]
    fn a_wait_that_is_no_number_waits_for_nothing() {
        let mut act = routine(|ticks| async move {
            ticks.wait_secs(f64::NAN).await;
            ticks.wait_secs(-1.0).await;
            assert!(!ticks.until_or_secs(0.0, |_| false).await);
            assert!(ticks.until_or_secs(0.0, |_| true).await);
            Ok(())
        });
        assert_eq!(act.step(Tick { now: Micros(5), dt_secs: 0.0 }), Progress::Done);
    }
}
