//! Zero wheels: wheels pointed straight ahead by hand, then this.

use fieldlab_base::ConfigError;
use fieldlab_campaign::calibration::{Status, ZeroWheels as Machine, ZeroWheelsConfig, ZeroWheelsTopics};

use super::{ALIVE_SECS, info};
use crate::hw::MODULES;
use crate::opmode::{OpMode, OpModeEntry, Setup, Turn};
use crate::telemetry::Scope;

/// Reads where the encoders stand while the wheels are still, publishes the offsets under `Calibration/ZeroWheels`, and
/// takes the present angles as straight forward where the drive can. Nothing moves.
#[must_use]
pub fn zero_wheels(config: ZeroWheelsConfig) -> OpModeEntry {
    let about =
        info("Zero wheels", "Takes the wheels' present angles as straight ahead; point them by hand first");
    OpModeEntry::new(about, move |setup| ZeroWheels::build(config, setup))
}

struct ZeroWheels {
    scope: Scope,
    topics: ZeroWheelsTopics,
    config: ZeroWheelsConfig,
    machine: Machine,
}

impl ZeroWheels {
    fn build(config: ZeroWheelsConfig, setup: &mut Setup<'_>) -> Result<Self, ConfigError> {
        let mut scope = setup.door.scope();
        let topics = ZeroWheelsTopics::declare(&mut scope)?;
        Ok(Self { scope, topics, config, machine: Machine::new(config)? })
    }
}

impl OpMode for ZeroWheels {
    fn start(&mut self, _turn: &mut Turn<'_>) {
        if let Ok(machine) = Machine::new(self.config) {
            self.machine = machine;
        }
    }

    fn periodic(&mut self, turn: &mut Turn<'_>) {
        if self.machine.status().is_over() {
            return;
        }
        let angles = std::array::from_fn(|i| {
            turn.inputs.fresh_module(i, ALIVE_SECS).and_then(|module| module.angle_rad)
        });
        self.machine.step(turn.tick.now, &angles);
        self.topics.publish(&self.machine, &mut self.scope);
        if *self.machine.status() == Status::Done {
            for module in 0..MODULES {
                turn.hardware.zero_module(module);
            }
        }
    }
}
