//! System check: everything that can be told without a person, each with its reason.

use fieldlab_base::{ConfigError, Lease};
use fieldlab_campaign::calibration::{SystemCheck as Machine, SystemCheckInput, SystemCheckTopics};

use super::{ALIVE_SECS, info};
use crate::hw::{DriveCommand, Inputs, MODULE_NAMES, MODULES};
use crate::opmode::{OpMode, OpModeEntry, Setup, Turn};
use crate::telemetry::Scope;

/// Below this a pack is not fit for a check; the dashboards' preflight fails there too.
const LEAST_VOLTS: f64 = 11.8;
const PUSH_VOLTS: f64 = 1.0;
const PUSH_SECS: f64 = 0.4;
/// What a push must turn a wheel by, rad.
const LEAST_TURN_RAD: f64 = 0.05;
const TESTS: [&str; 7] = ["battery", "gyro", "module fl", "module fr", "module bl", "module br", "drive"];
const TIMEOUT_SECS: f64 = 3.0;

/// Checks battery, gyro and modules, and that every drive motor turns its wheel the way it is pushed. Topics under
/// `SystemCheck/Robot`. The robot moves some centimetres.
#[must_use]
pub fn system_check() -> OpModeEntry {
    let about = info(
        "System check",
        "Checks battery, gyro and modules and pushes each wheel; the robot moves a little",
    );
    OpModeEntry::new(about, SystemCheck::build)
}

struct SystemCheck {
    scope: Scope,
    topics: SystemCheckTopics,
    machine: Machine,
    asked: Option<usize>,
    drive: Option<Lease<DriveCommand>>,
    pushed_secs: f64,
    before: [Option<f64>; MODULES],
}

impl SystemCheck {
    fn build(setup: &mut Setup<'_>) -> Result<Self, ConfigError> {
        let machine = Machine::new(&TESTS, TIMEOUT_SECS)?;
        let mut scope = setup.door.scope();
        let topics = SystemCheckTopics::declare("Robot", &machine, &mut scope)?;
        Ok(Self {
            scope,
            topics,
            machine,
            asked: None,
            drive: None,
            pushed_secs: 0.0,
            before: [None; MODULES],
        })
    }

    /// One turn of a test; `None` while it runs.
    fn test(&mut self, test: usize, turn: &Turn<'_>) -> Option<Result<(), String>> {
        match test {
            0 => Some(battery(turn.inputs)),
            1 => Some(gyro(turn.inputs)),
            2..=5 => Some(check_module(turn.inputs, test - 2)),
            _ => self.push(turn),
        }
    }

    fn push(&mut self, turn: &Turn<'_>) -> Option<Result<(), String>> {
        let drive = match self.drive.take().map_or_else(|| turn.hardware.drive(), Ok) {
            Ok(lease) => self.drive.insert(lease),
            Err(busy) => return Some(Err(busy.to_string())),
        };
        if self.pushed_secs == 0.0 {
            self.before = positions(turn.inputs);
        }
        if self.pushed_secs < PUSH_SECS {
            drive.set(DriveCommand::straight_volts(PUSH_VOLTS, 0.0));
            self.pushed_secs += turn.tick.dt_secs;
            return None;
        }
        self.drive = None;
        Some(drive_test(&self.before, turn.inputs))
    }
}

impl OpMode for SystemCheck {
    fn start(&mut self, _turn: &mut Turn<'_>) {
        if let Ok(machine) = Machine::new(&TESTS, TIMEOUT_SECS) {
            self.machine = machine;
        }
        self.asked = None;
        self.pushed_secs = 0.0;
    }

    fn periodic(&mut self, turn: &mut Turn<'_>) {
        let verdict = self.asked.and_then(|test| self.test(test, turn));
        self.asked = self.machine.step(&SystemCheckInput { now: turn.tick.now, verdict });
        self.topics.publish(&self.machine, &mut self.scope);
        if self.asked.is_none() {
            self.drive = None;
        }
    }

    fn end(&mut self, _turn: &mut Turn<'_>) {
        self.drive = None;
    }
}

fn battery(inputs: &Inputs) -> Result<(), String> {
    match inputs.battery_volts {
        Some(r) if r.age_secs(inputs.now) > ALIVE_SECS => {
            Err(format!("no reading for {:.1} s", r.age_secs(inputs.now)))
        }
        Some(r) if r.value >= LEAST_VOLTS => Ok(()),
        Some(r) => Err(format!("{:.2} V, needs {LEAST_VOLTS} V", r.value)),
        None => Err("no reading".into()),
    }
}

fn gyro(inputs: &Inputs) -> Result<(), String> {
    match inputs.fresh_gyro(ALIVE_SECS) {
        Some(gyro) if gyro.yaw_rad.is_finite() => Ok(()),
        Some(gyro) => Err(format!("says {}", gyro.yaw_rad)),
        None => Err("no reading".into()),
    }
}

fn check_module(inputs: &Inputs, module: usize) -> Result<(), String> {
    let reading = inputs.fresh_module(module, ALIVE_SECS).ok_or("no reading")?;
    let channels = [
        ("angle", reading.angle_rad),
        ("position", reading.position_rad),
        ("velocity", reading.velocity_rad_per_sec),
        ("applied volts", reading.applied_volts),
        ("stator amps", reading.stator_amps),
    ];
    match channels.iter().find(|(_, value)| value.is_none_or(|v| !v.is_finite())) {
        Some((what, None)) => Err(format!("does not say its {what}")),
        Some((what, Some(value))) => Err(format!("says {value} for its {what}")),
        None => Ok(()),
    }
}

fn positions(inputs: &Inputs) -> [Option<f64>; MODULES] {
    std::array::from_fn(|i| inputs.fresh_module(i, ALIVE_SECS)?.position_rad.filter(|p| p.is_finite()))
}

fn drive_test(before: &[Option<f64>; MODULES], inputs: &Inputs) -> Result<(), String> {
    for (module, (before, after)) in before.iter().zip(positions(inputs)).enumerate() {
        let name = MODULE_NAMES[module];
        let (Some(before), Some(after)) = (before, after) else {
            return Err(format!("{name} says no position"));
        };
        let turned = after - before;
        if turned < LEAST_TURN_RAD {
            let way = if turned < -LEAST_TURN_RAD { "turned backwards" } else { "did not turn" };
            return Err(format!("{name} {way} when pushed forwards ({turned:.3} rad)"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use fieldlab_base::Micros;

    use super::*;
    use crate::hw::{ModuleReading, Reading};

    #[test]
    fn an_old_voltage_is_no_reading_and_is_not_called_low() {
        let mut inputs = Inputs { now: Micros::from_secs(2.0), ..Inputs::NONE };
        assert_eq!(battery(&inputs), Err("no reading".into()));
        inputs.battery_volts = Some(Reading::new(12.6, Micros::from_secs(1.0)));
        assert_eq!(battery(&inputs), Err("no reading for 1.0 s".into()));
        inputs.battery_volts = Some(Reading::new(11.5, inputs.now));
        assert_eq!(battery(&inputs), Err("11.50 V, needs 11.8 V".into()));
        inputs.battery_volts = Some(Reading::new(f64::NAN, inputs.now));
        assert!(battery(&inputs).is_err());
        inputs.battery_volts = Some(Reading::new(11.8, inputs.now));
        assert_eq!(battery(&inputs), Ok(()));
    }

    #[test]
    fn a_wheel_whose_position_is_no_number_has_not_turned() {
        let at = |position_rad| {
            let module = ModuleReading { position_rad: Some(position_rad), ..ModuleReading::default() };
            Inputs { modules: [Some(Reading::new(module, Micros::ZERO)); MODULES], ..Inputs::NONE }
        };
        let before = positions(&at(1.0));
        assert_eq!(drive_test(&before, &at(1.1)), Ok(()));
        assert_eq!(
            drive_test(&before, &at(1.0)),
            Err("fl did not turn when pushed forwards (0.000 rad)".into())
        );
        assert_eq!(
            drive_test(&before, &at(0.9)),
            Err("fl turned backwards when pushed forwards (-0.100 rad)".into())
        );
        assert_eq!(drive_test(&before, &at(f64::NAN)), Err("fl says no position".into()));
        assert_eq!(drive_test(&positions(&at(f64::NAN)), &at(1.1)), Err("fl says no position".into()));
    }
}
