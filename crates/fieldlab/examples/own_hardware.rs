//! A robot put together from parts: what a team writes to bring its own hardware to the loop. The parts here are a bench
//! with a battery monitor and one flywheel; `SwerveDrive`, `Gyro` and `Vision` are traits of the same kind.
//!
//! `cargo run -p fieldlab --example own_hardware`
#![allow(clippy::print_stdout, reason = "an example talks to the person who runs it")]

use std::cell::Cell;
use std::rc::Rc;

use fieldlab::prelude::*;
use fieldlab::robot::hw::{Battery, Mechanism, MechanismInfo, MechanismReading, Reading};
use fieldlab::robot::operator::NoOperator;

/// Whatever reads the pack.
struct PowerBoard;

impl Battery for PowerBoard {
    fn volts(&mut self, now: Micros) -> Option<Reading<f64>> {
        Some(Reading::new(12.6, now))
    }
}

/// Whatever drives the flywheel; here it creeps up to its setpoint.
struct Flywheel {
    rpm: Rc<Cell<f64>>,
    command: MechanismCommand,
}

impl Mechanism for Flywheel {
    fn info(&self) -> MechanismInfo {
        MechanismInfo { name: "flywheel", unit: "rpm", min: 0.0, max: 6000.0 }
    }

    fn read(&mut self, now: Micros) -> Option<Reading<MechanismReading>> {
        let target = match self.command {
            MechanismCommand::Setpoint(rpm) => rpm,
            _ => 0.0,
        };
        self.rpm.set(self.rpm.get() + (target - self.rpm.get()) * 0.05);
        let at_setpoint = (self.rpm.get() - target).abs() < 20.0;
        Some(Reading::new(
            MechanismReading { value: Some(self.rpm.get()), at_setpoint, ..Default::default() },
            now,
        ))
    }

    fn apply(&mut self, _now: Micros, command: MechanismCommand) {
        self.command = command;
    }
}

/// An op mode that spins the flywheel up for as long as a person enables it.
struct SpinUp {
    action: Option<Box<dyn Action>>,
}

impl OpMode for SpinUp {
    fn start(&mut self, turn: &mut Turn<'_>) {
        let robot = turn.hardware.clone();
        let spin = routine(|ticks| async move {
            let flywheel = robot.mechanism("flywheel").ok_or("no flywheel")?;
            let lease = flywheel.lease().map_err(|busy| busy.to_string())?;
            loop {
                lease.set(MechanismCommand::Setpoint(3000.0));
                ticks.next_tick().await;
            }
        });
        self.action = Some(Box::new(spin));
    }

    fn periodic(&mut self, turn: &mut Turn<'_>) {
        if let Some(action) = &mut self.action {
            action.step(turn.tick);
        }
    }

    fn end(&mut self, _turn: &mut Turn<'_>) {
        self.action = None; // drops the lease: the flywheel is neutral
    }
}

/// Two seconds enabled, two disabled; answers the speed at the end of each, rpm.
///
/// # Errors
/// What the robot loop refuses.
pub fn up_and_down() -> Result<(f64, f64), ConfigError> {
    let rpm = Rc::new(Cell::new(0.0));
    let flywheel = Flywheel { rpm: Rc::clone(&rpm), command: MechanismCommand::Neutral };
    let panel = DriverPanel::new();
    let info =
        OpModeInfo { kind: OpModeKind::Utility, name: "Spin up", group: "Data", description: "3000 rpm" };
    let parts = LoopParts {
        io: Box::new(Parts {
            name: "bench".into(),
            battery: Some(Box::new(PowerBoard)),
            mechanisms: vec![Box::new(flywheel)],
            ..Parts::default()
        }),
        station: Box::new(panel.clone()),
        operator: Box::new(NoOperator),
        door: Door::new(),
        site: Site::new("logs", Pace::Virtual, 1),
        op_modes: vec![OpModeEntry::new(info, |_| Ok(SpinUp { action: None }))],
    };
    let mut robot = RobotLoop::new(LoopConfig::default(), parts)?;
    panel.select(robot.find("Spin up"));
    panel.set_enabled(true);
    let mut after = [0.0; 2];
    for (phase, speed) in after.iter_mut().enumerate() {
        for turn in 0..100 {
            // A robot runs `robot.run(&mut SystemClock::new(), …)` instead.
            robot.tick(Micros::from_millis(20 * (100 * phase as i64 + turn)), None);
        }
        *speed = rpm.get();
        panel.set_enabled(false);
    }
    Ok((after[0], after[1]))
}

fn main() -> anyhow::Result<()> {
    let (enabled, disabled) = up_and_down()?;
    println!("enabled {enabled:.0} rpm, disabled {disabled:.0} rpm");
    Ok(())
}
