//! The campaign that is rehearsed, and the acts that a team with this robot would have written.

use fieldlab_base::ConfigError;
use fieldlab_campaign::procedures::{self, Drivetrain};
use fieldlab_campaign::sweep::{Axis, Setpoint, Sweep};
use fieldlab_campaign::{Campaign, Procedure, Routine, Shot};
use fieldlab_robot::acts::RobotAct;
use fieldlab_robot::field_lab::FieldLabOpMode;
use fieldlab_robot::hw::MechanismCommand;
use fieldlab_robot::opmode::OpModeEntry;

use crate::battery::BatteryConfig;
use crate::shooter::ShooterConfig;

/// The op mode's name on the driver station.
pub const FIELD_LAB: &str = "Field Lab";

/// How much of the campaign is rehearsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Nine procedures: the drivetrain basics, straight run, vision pose, two sweeps, thermal soak.
    Full,
    /// Two of them, for tests of the rehearsal itself and for tortures.
    Short,
}

impl Scope {
    /// Where the usual reboot happens: procedure and step kind.
    pub(super) const fn reboots_in(self) -> (&'static str, &'static str) {
        match self {
            Self::Full => ("odometry-drift", "act"),
            Self::Short => ("straight-run", "act"),
        }
    }
}

/// The robot as its team believes it to be: the drawing's numbers.
#[must_use]
pub fn drivetrain() -> Drivetrain {
    Drivetrain {
        wheel_radius_m: 0.0508,
        drive_base_radius_m: 0.3 * std::f64::consts::SQRT_2,
        slip_amps: 120.0,
        // Of a field of 16.5 m. The ramp must get fast: with 10 m the carpet's own scatter hides kV by 1 % in one run of ten.
        runway_m: 14.0,
        // At 7 V this robot's wheels slip from standstill; at 3.5 V they hold.
        step_volts: 3.5,
        ..Drivetrain::default()
    }
}

/// A pack that has seen better days: charged full, holding only this much.
pub(super) fn tired_pack(name: &str, capacity_ah: f64) -> BatteryConfig {
    BatteryConfig { capacity_ah, ..BatteryConfig::healthy(name) }
}

/// Field Lab with the rehearsed campaign, for a robot loop.
///
/// # Errors
/// Never for the shipped campaign; the type says so for the sake of the caller's `?`.
pub fn entry(scope: Scope) -> Result<OpModeEntry, ConfigError> {
    Ok(FieldLabOpMode::new(campaign(scope)?).into())
}

/// The campaign.
///
/// # Errors
/// As [`entry`].
pub fn campaign(scope: Scope) -> Result<Campaign<RobotAct>, ConfigError> {
    let drive = drivetrain();
    match scope {
        Scope::Full => Campaign::builder("Field Day")
            .add_all(procedures::drivetrain_basics(&drive)?)
            .add(procedures::straight_run(&drive, 2)?)
            .add(procedures::vision_pose(3)?)
            .add(shot_map()?)
            .add(carry()?)
            .add(procedures::thermal_soak(2.0, 30.0, || soak(&drive, 24.0).into())?)
            .build(),
        Scope::Short => Campaign::builder("Short Day")
            .add(procedures::straight_run(&Drivetrain { runway_m: 4.0, ..drive }, 1)?)
            .add(shot_map()?)
            .build(),
    }
}

fn soak(drive: &Drivetrain, secs: f64) -> Routine {
    Routine::Soak { stroke_m: 1.5, speed_mps: 1.5, secs, wheel_radius_m: drive.wheel_radius_m }
}

fn axes(sweep: Sweep) -> Sweep {
    sweep.axis(Axis::new("hood", "deg", 20.0, 80.0)).axis(Axis::new("flywheel", "rpm", 0.0, 5000.0))
}

/// The first sweep: does it score?
fn shot_map() -> Result<Procedure<RobotAct>, ConfigError> {
    let mut sweep = axes(Sweep::new("shot-map", "Shot map").why("which flywheel speed scores from where"));
    for (at, hood) in [(2.0, 68.0), (3.0, 65.0)] {
        let best = ShooterConfig::standard().rpm_for(at, hood).unwrap_or(2000.0);
        for off in [-60.0, 0.0, 60.0] {
            let rpm = (best + off).round();
            sweep = sweep.setpoint(Setpoint::at(at).set("hood", hood).set("flywheel", rpm));
        }
    }
    sweep.build(aim, |_| fire())
}

/// The second sweep: how far does it carry? A number instead of a score.
fn carry() -> Result<Procedure<RobotAct>, ConfigError> {
    let mut sweep =
        axes(Sweep::new("carry", "Carry").why("how far a ball carries, whatever it was aimed at"));
    for rpm in [2000.0, 2200.0, 2400.0] {
        let label = format!("{rpm:.0}-rpm");
        let setpoint = Setpoint::at(3.0).label(label).set("hood", 62.0).set("flywheel", rpm);
        sweep = sweep.setpoint(setpoint);
    }
    sweep
        .question("how far from the muzzle did it come down through the height of the hub?", "m", 0.5, 8.0)
        .build(aim, |_| fire())
}

/// Sets hood and flywheel, waits until both are there, and keeps them for the shot.
fn aim(shot: &Shot) -> RobotAct {
    let values = shot.values.clone();
    RobotAct::routine(move |robot, ticks| {
        let values = values.clone();
        async move {
            let mut leases = Vec::new();
            for (name, value) in ["hood", "flywheel"].into_iter().zip(&values) {
                let mechanism = robot.mechanism(name).ok_or_else(|| format!("this robot has no {name}"))?;
                let lease = mechanism.lease().map_err(|busy| busy.to_string())?;
                lease.set(MechanismCommand::Setpoint(*value));
                leases.push((mechanism, lease));
            }
            let ready = || {
                leases.iter().all(|(mechanism, _)| mechanism.reading().is_some_and(|r| r.value.at_setpoint))
            };
            ticks.wait_secs(0.3).await;
            while !ready() {
                ticks.next_tick().await;
            }
            for (_, lease) in leases {
                robot.keep(lease);
            }
            Ok(())
        }
    })
}

/// Feeds one ball, and is done when it has left.
fn fire() -> RobotAct {
    RobotAct::routine(|robot, ticks| async move {
        let feeder = robot.mechanism("feeder").ok_or("this robot has no feeder")?;
        let lease = feeder.lease().map_err(|busy| busy.to_string())?;
        lease.set(MechanismCommand::Volts(8.0));
        ticks.next_tick().await;
        while !feeder.reading().is_some_and(|r| r.value.at_setpoint) {
            ticks.next_tick().await;
        }
        Ok(())
    })
}
