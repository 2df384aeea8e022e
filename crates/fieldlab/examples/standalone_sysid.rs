//! SysId without a campaign: the Utility op mode on the simulated robot, one test per enable, its data in a log that
//! WPILib's SysId reads too.
//!
//! `cargo run -p fieldlab --example standalone_sysid`
#![allow(clippy::print_stdout, reason = "an example talks to the person who runs it")]

use std::path::{Path, PathBuf};

use fieldlab::campaign::SysIdConfig;
use fieldlab::prelude::*;
use fieldlab::robot::operator::NoOperator;
use fieldlab::sim::{SharedWorld, World, WorldConfig};

/// Stops after 5 m, at 4 m/s, or after 8 s, whichever comes first.
const TEST: SysIdConfig = SysIdConfig {
    ramp_volts_per_sec: 1.0,
    step_volts: 4.0,
    stop_distance_m: 5.0,
    stop_speed_mps: 4.0,
    stop_secs: 8.0,
    wheel_radius_m: 0.0508,
};

/// Runs the four tests and answers the log's path.
///
/// # Errors
/// What the robot loop refuses.
pub fn four_tests(out: &Path) -> anyhow::Result<PathBuf> {
    let world = SharedWorld::new(World::new(WorldConfig::seeded(7), 7)?);
    let panel = DriverPanel::new();
    let site = Site::new(out, Pace::Virtual, 7);
    let parts = LoopParts {
        io: Box::new(world.clone()),
        station: Box::new(panel.clone()),
        operator: Box::new(NoOperator),
        door: Door::new(),
        site: site.clone(),
        op_modes: vec![utility::sys_id(TEST)],
    };
    let mut robot = RobotLoop::new(LoopConfig::default(), parts)?;
    panel.select(robot.find("SysId"));
    let mut now = Micros::ZERO;
    let mut run = |robot: &mut RobotLoop, secs: f64| {
        let end = now + Micros::from_secs(secs);
        while now < end {
            now += Micros::from_millis(20);
            robot.tick(now, Some(Micros(1_789_000_000_000_000) + now));
        }
    };
    for x_m in [2.0, 8.0, 2.0, 8.0] {
        // A person carries the robot to its end of the runway, then enables.
        world.world().borrow_mut().place(x_m, 4.0, 0.0);
        panel.set_enabled(true);
        run(&mut robot, 12.0);
        panel.set_enabled(false);
        run(&mut robot, 1.0);
    }
    let path = site.log_health().map(|health| health.path);
    site.close_log();
    path.ok_or_else(|| anyhow::anyhow!("nothing was logged"))
}

fn main() -> anyhow::Result<()> {
    let out = std::env::temp_dir().join(format!("standalone_sysid_{}", std::process::id()));
    println!("{}", four_tests(&out)?.display());
    Ok(())
}
