//! A campaign end to end: robot loop, Field Lab, server, an operator who is its client; disables, reboots, full disks.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod common;

use common::rig::{Operator, Rig, site};
use common::{FakeRobot, TRUE_RADIUS_M};
use fieldlab_base::Micros;
use fieldlab_campaign::Campaign;
use fieldlab_campaign::procedures::{self, Drivetrain};
use fieldlab_robot::acts::RobotAct;
use fieldlab_wpilog::Log;

fn drivetrain() -> Drivetrain {
    Drivetrain {
        wheel_radius_m: common::RADIUS_M,
        drive_base_radius_m: 0.3_f64.hypot(0.3),
        ..Drivetrain::default()
    }
}

fn basics() -> Campaign<RobotAct> {
    let procedures = procedures::drivetrain_basics(&drivetrain()).unwrap();
    Campaign::builder("Field Day").add_all(procedures).build().unwrap()
}

/// What a person would type and do.
fn person(robot: &FakeRobot) -> impl FnMut(&str, &str) -> Option<f64> {
    let robot = robot.clone();
    move |prompt, key| {
        robot.0.borrow_mut().wall_break_volts = prompt.to_lowercase().contains("wall").then_some(2.5);
        match key.rsplit_once('/')?.1 {
            "caliper-diameter-in" => Some(3.94),
            other if other.ends_with("-error-m") => Some(0.05),
            other if other.ends_with("-m") => Some(0.03),
            _ => None,
        }
    }
}

/// Runs until `done` or `minutes` have passed.
fn run(rig: &mut Rig, operator: &mut Operator, minutes: f64, mut done: impl FnMut(&Rig) -> bool) {
    let robot = rig.robot.clone();
    let mut answer = person(&robot);
    let end = rig.now + Micros::from_secs(60.0 * minutes);
    while rig.now < end {
        operator.turn(rig.now, &mut answer);
        rig.tick();
        if done(rig) {
            return;
        }
    }
    panic!(
        "not done: state {} procedure {} step {} prompt {:?} hold {:?} fault {:?} notes {:?} prearm {:?} alerts {:?}",
        rig.text("State"),
        rig.text("ProcedureId"),
        rig.text("Step"),
        rig.text("Prompt"),
        rig.text("Hold"),
        rig.text("Fault"),
        rig.rows("Notes"),
        rig.rows("PreArm"),
        rig.memory.last("/Catalyst/Alerts/Errors"),
    );
}

#[test]
fn a_campaign_of_the_first_four_procedures_is_done_and_leaves_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut rig = Rig::boot(FakeRobot::new(), basics(), site(folder.path(), 7), Micros::ZERO, true);
    let mut operator = Operator::new(&rig.hub, rig.now);
    rig.enable("Field Lab");
    run(&mut rig, &mut operator, 40.0, |rig| rig.text("State") == "DONE");

    let measured = rig.rows("Measurements");
    assert!(measured.iter().any(|row| row == "wheel-radius/caliper-diameter-in|3.94"), "{measured:?}");
    assert!(rig.robot_loop.outputs().is_neutral());
    assert!(!folder.path().join("keep/c.json").exists(), "a finished campaign leaves no checkpoint");
    assert!(folder.path().join("keep/c.json.finished").exists());

    let session = rig.text("Session");
    rig.robot_loop.site().close_log();
    let log = Log::open(folder.path().join(format!("out/{session}/{session}_b1.wpilog"))).unwrap();
    let entry =
        |name: &str| log.entries().iter().find(|e| e.name == name).unwrap_or_else(|| panic!("no {name}"));
    assert!(entry("systemTime").range.unwrap().0 < Micros::from_secs(1.0));
    assert_eq!(entry(&format!("FieldLab/{session}/Header")).records, 1);
    let radius = log.numbers(entry("Calibration/WheelRadius/CorrectedRadiusMeters")).unwrap();
    let found = radius.values.iter().copied().rfind(|v| v.is_finite()).unwrap();
    assert!((found / TRUE_RADIUS_M - 1.0).abs() < 0.002, "{found}");
    let slip = log.numbers(entry("Calibration/SlipCurrent/SlipAmps")).unwrap();
    let amps = slip.values.iter().copied().rfind(|v| v.is_finite()).unwrap();
    assert!((amps - 50.0).abs() < 2.0, "{amps}");
    let states = log.texts(entry("sysid-test-state-drive")).unwrap();
    let states: Vec<_> = states.values.iter().map(AsRef::as_ref).filter(|s| *s != "none").collect();
    let tests = ["quasistatic-forward", "quasistatic-reverse", "dynamic-forward", "dynamic-reverse"];
    assert_eq!(states, tests);
    assert!(entry("voltage-fl-drive").records > 100);
    assert_eq!(entry("velocity-br-drive").last_metadata(), r#"{"unit":"m/s"}"#);
    assert!(log.report().salvage.is_none(), "{:?}", log.report());
}
