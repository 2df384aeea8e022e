//! One after another, and not longer than.

use fieldlab_base::{Action, ConfigError, Micros, Progress, Tick, check};

/// Runs actions one after another; the first that fails ends it. A finished action is dropped, and so lets go of its
/// leases, before the next one begins, in the same turn.
pub struct Sequence {
    left: std::vec::IntoIter<Box<dyn Action>>,
    current: Option<Box<dyn Action>>,
}

impl Sequence {
    /// These, in this order. Without any it is done at once.
    #[must_use]
    pub fn new(actions: Vec<Box<dyn Action>>) -> Self {
        let mut left = actions.into_iter();
        let current = left.next();
        Self { left, current }
    }
}

impl Action for Sequence {
    fn step(&mut self, tick: Tick) -> Progress {
        while let Some(action) = &mut self.current {
            match action.step(tick) {
                Progress::Done => {
                    self.current = None;
                    self.current = self.left.next();
                }
                other => return other,
            }
        }
        Progress::Done
    }
}

impl std::fmt::Debug for Sequence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sequence({} left)", self.left.len() + usize::from(self.current.is_some()))
    }
}

/// Runs an action for at most so long; then drops it, which leaves its hardware neutral, and fails.
pub struct Timeout<A> {
    action: Option<A>,
    secs: f64,
    since: Option<Micros>,
}

impl<A: Action> Timeout<A> {
    /// `action`, for at most `secs` from its first turn.
    ///
    /// # Errors
    /// A time that is not finite and above zero.
    pub fn new(secs: f64, action: A) -> Result<Self, ConfigError> {
        Ok(Self { action: Some(action), secs: check::positive("timeout.secs", secs)?, since: None })
    }
}

impl<A: Action> Action for Timeout<A> {
    fn step(&mut self, tick: Tick) -> Progress {
        let since = *self.since.get_or_insert(tick.now);
        let Some(action) = &mut self.action else {
            return Progress::Failed(format!("not finished after {} s", self.secs));
        };
        match action.step(tick) {
            Progress::Running if tick.now.since(since).as_secs() >= self.secs => {
                self.action = None;
                Progress::Failed(format!("not finished after {} s", self.secs))
            }
            other => other,
        }
    }
}

impl<A> std::fmt::Debug for Timeout<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Timeout({} s)", self.secs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::routine;
    use crate::hw::{Hardware, MechanismCommand, MechanismInfo, RobotDescription};

    fn turns(action: &mut dyn Action, limit: usize) -> (usize, Progress) {
        for turn in 0..limit {
            let progress = action.step(Tick { now: Micros::from_millis(20 * turn as i64), dt_secs: 0.02 });
            if progress != Progress::Running {
                return (turn, progress);
            }
        }
        (limit, Progress::Running)
    }

    fn wait(secs: f64) -> Box<dyn Action> {
        Box::new(routine(move |ticks| async move {
            ticks.wait_secs(secs).await;
            Ok(())
        }))
    }

    #[test]
    fn a_sequence_runs_in_order_and_stops_at_the_first_failure() {
        assert_eq!(turns(&mut Sequence::new(vec![wait(0.1), wait(0.1)]), 100), (10, Progress::Done));
        assert_eq!(turns(&mut Sequence::new(vec![]), 100), (0, Progress::Done));
        let fail = Box::new(routine(|_| async { Err("jammed".to_owned()) }));
        let mut broken = Sequence::new(vec![wait(0.1), fail, wait(9.0)]);
        assert_eq!(turns(&mut broken, 100), (5, Progress::Failed("jammed".into())));
    }

    #[test]
    fn what_times_out_is_neutral() {
        let hood = MechanismInfo { name: "hood", unit: "deg", min: 0.0, max: 60.0 };
        let robot =
            Hardware::new(RobotDescription { name: String::new(), drive: None, mechanisms: vec![hood] })
                .unwrap();
        let lease = robot.mechanism("hood").unwrap().lease().unwrap();
        let forever = routine(move |ticks| async move {
            loop {
                lease.set(MechanismCommand::Setpoint(30.0));
                ticks.next_tick().await;
            }
        });
        let mut action = Timeout::new(0.2, forever).unwrap();
        action.step(Tick { now: Micros::ZERO, dt_secs: 0.0 });
        assert!(!robot.outputs().is_neutral());
        let (_, end) = turns(&mut action, 100);
        assert_eq!(end, Progress::Failed("not finished after 0.2 s".into()));
        assert!(robot.outputs().is_neutral());
        assert!(Timeout::new(f64::NAN, Sequence::new(vec![])).is_err());
    }
}
