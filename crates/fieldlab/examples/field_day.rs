//! A field day: the four drivetrain procedures and a shot map, planned by a team and run on the simulated robot.
//!
//! `cargo run --release -p fieldlab --example field_day`
#![allow(clippy::print_stdout, reason = "an example talks to the person who runs it")]

use std::path::Path;

use fieldlab::prelude::*;
use fieldlab::sim::rehearsal::{EmptyStage, Rehearsal, RehearsalConfig, RehearsalError, run_with};

/// The campaign. Order is priority: what everything else depends on comes first, because the campaign will be cut short.
/// It always is.
///
/// # Errors
/// Names the number that cannot be.
pub fn field_day() -> Result<Campaign<RobotAct>, ConfigError> {
    let drive = Drivetrain {
        wheel_radius_m: 0.0508,
        drive_base_radius_m: 0.3 * std::f64::consts::SQRT_2,
        slip_amps: 120.0,
        runway_m: 8.0,
        step_volts: 4.0,
        ..Drivetrain::default()
    };
    // Any closed path will do for the laps; a team that has none drives the shipped square.
    let closed_loop = |way| RobotAct::from(drive.lap(way));
    let basics = procedures::drivetrain_basics_with(&drive, drive.lap_secs(), closed_loop)?;
    Campaign::builder("Field Day").add_all(basics).add(shot_map()?).build()
}

/// Hood and flywheel are this team's own mechanisms. A setpoint names its axes and each axis has its limits, so that a
/// hood is never sent to 1800 degrees.
fn shot_map() -> Result<Procedure<RobotAct>, ConfigError> {
    Sweep::new("shot-map", "Shot map")
        .why("which hood angle and flywheel speed score from where")
        .axis(Axis::new("hood", "deg", 20.0, 80.0))
        .axis(Axis::new("flywheel", "rpm", 0.0, 5000.0))
        .setpoint(Setpoint::at(2.0).set("flywheel", 1800.0).set("hood", 42.0))
        .setpoint(Setpoint::at(3.0).set("flywheel", 2100.0).set("hood", 38.0))
        .setpoint(Setpoint::at(4.0).set("flywheel", 2400.0).set("hood", 34.0))
        .question("did it score? 1 = in, 0.5 = rim, 0 = miss", "score", 0.0, 1.0)
        .build(
            |shot| RobotAct::hold(["hood", "flywheel"].into_iter().zip(shot.values.iter().copied())),
            |_shot| RobotAct::routine(fire_once),
        )
}

/// Feeds one ball.
async fn fire_once(robot: Hardware, ticks: Ticks) -> Result<(), String> {
    let feeder = robot.mechanism("feeder").ok_or("this robot has no feeder")?;
    let lease = feeder.lease().map_err(|busy| busy.to_string())?;
    lease.set(MechanismCommand::Volts(8.0));
    ticks.next_tick().await;
    if !ticks.until_or_secs(4.0, |_| feeder.reading().is_some_and(|r| r.value.at_setpoint)).await {
        return Err("the feeder did not feed".into());
    }
    Ok(()) // the lease ends here, and the feeder with it
}

/// What the driver station lists. On a real robot this very list goes to the robot loop.
///
/// # Errors
/// As [`field_day`].
pub fn op_modes() -> Result<Vec<OpModeEntry>, ConfigError> {
    Ok(vec![FieldLabOpMode::new(field_day()?).into(), utility::system_check()])
}

/// The afternoon on the simulated robot, with a scripted person who swaps packs, measures and answers.
///
/// # Errors
/// When the rehearsal cannot be held at all.
pub fn rehearse(out: &Path) -> Result<Rehearsal, RehearsalError> {
    let config = RehearsalConfig::new(7, out);
    run_with(&config, &DriverPanel::new(), &mut EmptyStage, &op_modes)
}

fn main() -> anyhow::Result<()> {
    let out = std::env::temp_dir().join(format!("field_day_{}", std::process::id()));
    let day = rehearse(&out)?;
    println!("session {}: {} after {:.0} min", day.session, day.state, day.secs / 60.0);
    for procedure in &day.procedures {
        println!("  {}: {}", procedure.id, procedure.outcome);
    }
    println!("{} pack swaps, {} reboots; the logs:", day.swaps, day.reboots);
    for file in &day.files {
        println!("  {}", file.display());
    }
    Ok(())
}
