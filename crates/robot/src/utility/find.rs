//! Find motor: each drive motor in turn gives a short push, and what moved stands on the dashboard.

use fieldlab_base::{ConfigError, Lease};
use fieldlab_campaign::calibration::{FindMotor as Machine, FindMotorConfig, FindMotorTopics};

use super::info;
use crate::acts::calibrations::{command, reading};
use crate::hw::DriveCommand;
use crate::opmode::{OpMode, OpModeEntry, Setup, Turn};
use crate::telemetry::{AlertLevel, Scope};

const NAME: &str = "Find motor";

/// Pushes each drive motor once per enable and says which wheel moved. Topics under `Calibration/FindMotor`. For a robot
/// on blocks.
#[must_use]
pub fn find_motor(config: FindMotorConfig) -> OpModeEntry {
    let about = info(NAME, "Pushes one drive motor after another and says what moved; robot on blocks");
    OpModeEntry::new(about, move |setup| FindMotor::build(config, setup))
}

struct FindMotor {
    scope: Scope,
    topics: FindMotorTopics,
    config: FindMotorConfig,
    machine: Machine,
    drive: Option<Lease<DriveCommand>>,
}

impl FindMotor {
    fn build(config: FindMotorConfig, setup: &mut Setup<'_>) -> Result<Self, ConfigError> {
        let mut scope = setup.door.scope();
        let topics = FindMotorTopics::declare(&mut scope)?;
        Ok(Self { scope, topics, config, machine: Machine::new(config)?, drive: None })
    }
}

impl OpMode for FindMotor {
    fn start(&mut self, turn: &mut Turn<'_>) {
        turn.alerts.clear_source(NAME);
        if let Ok(machine) = Machine::new(self.config) {
            self.machine = machine;
        }
        match turn.hardware.drive() {
            Ok(lease) => self.drive = Some(lease),
            Err(busy) => turn.alerts.raise(AlertLevel::Error, NAME, &busy.to_string()),
        }
    }

    fn periodic(&mut self, turn: &mut Turn<'_>) {
        let Some(drive) = &self.drive else { return };
        let output = self.machine.step(&reading(turn.inputs, turn.tick));
        drive.set(command(output.drive, turn.inputs));
        self.topics.publish(&self.machine, &mut self.scope);
        if output.over {
            self.drive = None;
        }
    }

    fn end(&mut self, _turn: &mut Turn<'_>) {
        if self.drive.take().is_some() {
            self.machine.interrupt();
            self.topics.publish(&self.machine, &mut self.scope);
        }
    }
}
