//! A motion of one's own, written as an `async` routine, in a campaign of one procedure, run turn by turn on the
//! simulated robot: what a team would write for anything that the shipped routines do not do.
//!
//! `cargo run -p fieldlab --example own_action`
#![allow(clippy::print_stdout, reason = "an example talks to the person who runs it")]

use std::borrow::Cow;

use fieldlab::prelude::*;
use fieldlab::sim::{World, WorldConfig};

/// Two gentle pushes, forwards and back, with the fastest wheel speed of each reported as a result of the act.
fn nudge() -> RobotAct {
    RobotAct::routine(|robot, ticks| async move {
        // Nobody else can move the drive while this lease lives. Whatever ends the routine ends the lease, and the drive
        // is neutral.
        let drive = robot.drive().map_err(|busy| busy.to_string())?;
        for (name, volts) in [("forwards", 2.0), ("backwards", -2.0)] {
            let mut fastest = 0.0_f64;
            let end = ticks.tick().now + Micros::from_secs(0.8);
            while ticks.tick().now < end {
                drive.set(DriveCommand::straight_volts(volts, 0.0));
                ticks.next_tick().await;
                let module = robot.inputs().fresh_module(0, 0.1).ok_or("the front left module is silent")?;
                fastest = fastest.max(module.velocity_rad_per_sec.unwrap_or(0.0).abs());
            }
            robot.report(format!("{name}_rad_per_sec"), fastest);
            drive.set(DriveCommand::Neutral);
            ticks.wait_secs(0.5).await;
        }
        Ok(())
    })
}

/// The procedure that uses it, as a campaign would.
///
/// # Errors
/// Names what cannot be.
pub fn procedure() -> Result<Procedure<RobotAct>, ConfigError> {
    Procedure::builder("nudge", "Nudge")
        .why("does every wheel answer two volts alike")
        .needs_battery(12.0)
        .confirm("one metre clear ahead and behind")
        .act(Act::new("nudge both ways", 10.0, nudge()))
        .build()
}

/// Runs the action alone, without loop or op mode: a test bench. Answers its results.
///
/// # Errors
/// Why it failed.
pub fn on_the_bench() -> Result<Vec<(Cow<'static, str>, f64)>, String> {
    let mut world = World::new(WorldConfig::seeded(3), 3).map_err(|e| e.to_string())?;
    let robot = Hardware::new(world.description()).map_err(|e| e.to_string())?;
    let mut action = match nudge() {
        RobotAct::Custom(make) => make(&robot)?,
        _ => return Err("this act is custom".into()),
    };
    for turn in 1..500_i64 {
        let tick = Tick { now: Micros::from_millis(20 * turn), dt_secs: 0.02 };
        let mut inputs = Inputs { now: tick.now, dt_secs: tick.dt_secs, enabled: true, ..Inputs::NONE };
        world.read(tick.now, &mut inputs);
        robot.set_inputs(inputs);
        let progress = action.step(tick);
        world.apply(tick.now, &robot.outputs());
        match progress {
            Progress::Running => {}
            Progress::Done => return Ok(robot.take_results()),
            Progress::Failed(reason) => return Err(reason),
        }
    }
    Err("it never ended".into())
}

fn main() -> anyhow::Result<()> {
    let plan = procedure()?;
    println!("{}: {}", plan.plan().title, plan.plan().why);
    for (name, value) in on_the_bench().map_err(anyhow::Error::msg)? {
        println!("  {name} = {value:.2}");
    }
    Ok(())
}
