//! Bringing mechanisms to their setpoints, and keeping them there for the act that follows.

use std::any::Any;
use std::rc::Rc;

use fieldlab_base::{Action, Lease, Progress, Tick};

use crate::hw::{Hardware, MechanismCommand, MechanismHandle};

/// Turns after the first command before "at setpoint" is believed: until then it speaks of the setpoint before.
const SETTLE_TURNS: u32 = 3;

pub(super) struct Hold {
    hardware: Hardware,
    /// Shared with the hardware once it is kept for the next act.
    held: Rc<Vec<(MechanismHandle, Lease<MechanismCommand>, f64)>>,
    turns: u32,
}

impl Hold {
    pub(super) fn new(hardware: &Hardware, setpoints: &[(String, f64)]) -> Result<Self, String> {
        let mut held = Vec::with_capacity(setpoints.len());
        for (name, value) in setpoints {
            let mechanism = hardware.mechanism(name).ok_or_else(|| format!("this robot has no {name}"))?;
            let info = mechanism.info();
            if !(info.min..=info.max).contains(value) {
                let (unit, min, max) = (info.unit, info.min, info.max);
                return Err(format!("{name}: expected {min} to {max} {unit}, found {value}"));
            }
            let lease = mechanism.lease().map_err(|busy| busy.to_string())?;
            held.push((mechanism, lease, *value));
        }
        Ok(Self { hardware: hardware.clone(), held: Rc::new(held), turns: 0 })
    }
}

impl Action for Hold {
    fn step(&mut self, _tick: Tick) -> Progress {
        for (_, lease, value) in self.held.iter() {
            lease.set(MechanismCommand::Setpoint(*value));
        }
        self.turns = self.turns.saturating_add(1);
        let there = self.held.iter().all(|(m, ..)| m.reading().is_some_and(|r| r.value.at_setpoint));
        if self.turns <= SETTLE_TURNS || !there {
            return Progress::Running;
        }
        let held: Rc<dyn Any> = self.held.clone();
        self.hardware.keep_shared(held);
        Progress::Done
    }
}
