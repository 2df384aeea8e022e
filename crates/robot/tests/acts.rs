//! The shipped motions on a robot that does exactly what it is told.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod common;

use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::rc::Rc;

use common::{FakeRobot, RADIUS_M};
use fieldlab_base::{Action as _, Micros, Progress, Tick};
use fieldlab_campaign::{Routine, SpinDirection};
use fieldlab_robot::acts::{ActTopics, RobotAct};
use fieldlab_robot::hw::{DriveCommand, Hardware, Inputs, RobotIo as _};
use fieldlab_robot::telemetry::Door;

struct Run {
    end: Progress,
    secs: f64,
    results: BTreeMap<String, f64>,
    commands: Vec<DriveCommand>,
}

/// Runs a routine for at most two minutes; `meddle` may break the robot at any turn.
fn run(routine: Routine, mut meddle: impl FnMut(f64, &FakeRobot)) -> Run {
    let mut robot = FakeRobot::new();
    let hardware = Hardware::new(robot.description()).unwrap();
    let mut scope = Door::new().scope();
    let topics = Rc::new(ActTopics::declare(&mut scope).unwrap());
    let mut action = RobotAct::from(routine).build(&hardware, &topics).unwrap();
    let mut commands = Vec::new();
    for turn in 0..6000_i64 {
        let tick = Tick { now: Micros::from_millis(20 * turn), dt_secs: 0.02 };
        let secs = tick.now.as_secs();
        meddle(secs, &robot);
        let mut inputs = Inputs { now: tick.now, dt_secs: tick.dt_secs, enabled: true, ..Inputs::NONE };
        robot.read(tick.now, &mut inputs);
        hardware.set_inputs(inputs);
        let end = action.step(tick);
        robot.apply(tick.now, &hardware.outputs());
        commands.push(hardware.outputs().drive);
        if end != Progress::Running {
            drop(action);
            assert!(hardware.outputs().is_neutral(), "letting go is stopping");
            return Run {
                end,
                secs,
                results: hardware.take_results().into_iter().map(|(k, v)| (k.into_owned(), v)).collect(),
                commands,
            };
        }
    }
    panic!("it never ended");
}

fn fine(routine: Routine) -> Run {
    let run = run(routine, |_, _| {});
    assert_eq!(run.end, Progress::Done);
    run
}

#[test]
fn straight_ends_where_the_wheels_say_and_stands() {
    for distance_m in [3.0, -2.0] {
        let done = fine(Routine::Straight { distance_m, speed_mps: 1.0, wheel_radius_m: RADIUS_M });
        assert!((done.results["odometry_x_m"] - distance_m).abs() < 0.02, "{:?}", done.results);
        assert!(done.results["odometry_y_m"].abs() < 0.005);
        // Speed up and brake at 1 m/s2 to 1 m/s: 1 s each, half a metre each; 0.2 s to stand.
        let closed_form = distance_m.abs() - 1.0 + 2.0 + 0.2;
        assert!((done.secs - closed_form).abs() < 0.4, "{} for {closed_form}", done.secs);
        let fastest = done.commands.iter().filter_map(|c| match c {
            DriveCommand::Chassis { vx_mps, .. } => Some(vx_mps.abs()),
            _ => None,
        });
        assert!(fastest.fold(0.0, f64::max) <= 1.0 + 1e-9);
    }
}

#[test]
fn a_lap_ends_where_it_began_and_turns_the_way_it_was_told() {
    for (direction, sign) in [(SpinDirection::CounterClockwise, 1.0), (SpinDirection::Clockwise, -1.0)] {
        let lap = Routine::Lap { direction, side_m: 1.5, speed_mps: 1.0, wheel_radius_m: RADIUS_M };
        let done = fine(lap);
        let (x, y) = (done.results["odometry_x_m"], done.results["odometry_y_m"]);
        assert!(x.hypot(y) < 0.02, "({x}, {y})");
        assert!(done.results["turned_rad"].abs() < 0.01);
        // First ahead, then to the left when counter-clockwise.
        let sideways = done.commands.iter().find_map(|c| match c {
            DriveCommand::Chassis { vy_mps, .. } if vy_mps.abs() > 0.5 => Some(*vy_mps),
            _ => None,
        });
        assert!(sideways.unwrap() * sign > 0.0);
    }
}

#[test]
fn a_soak_lasts_its_time_and_comes_home() {
    let done = fine(Routine::Soak { stroke_m: 1.0, speed_mps: 1.0, secs: 20.0, wheel_radius_m: RADIUS_M });
    assert!((20.0..27.0).contains(&done.secs), "{}", done.secs);
    assert!(done.results["odometry_x_m"].abs() < 0.02);
}

#[test]
fn a_spin_turns_by_the_raw_gyro() {
    for (direction, sign) in [(SpinDirection::CounterClockwise, 1.0), (SpinDirection::Clockwise, -1.0)] {
        let done = fine(Routine::Spin { direction, rotations: 2.0, omega_rad_per_sec: 1.0 });
        assert!((done.results["turned_rad"] - sign * 2.0 * TAU).abs() < 0.02, "{:?}", done.results);
    }
}

#[test]
fn observing_moves_nothing() {
    let done = fine(Routine::Observe { secs: 3.0 });
    assert!((done.secs - 3.0).abs() < 0.03);
    assert!(done.commands.iter().all(DriveCommand::is_neutral));
}

#[test]
fn a_sensor_that_goes_silent_ends_the_act_and_a_short_gap_does_not() {
    let straight = Routine::Straight { distance_m: 3.0, speed_mps: 1.0, wheel_radius_m: RADIUS_M };
    let gap = run(straight, |secs, robot| {
        robot.0.borrow_mut().gyro_alive = !(1.0..1.15).contains(&secs);
    });
    assert_eq!(gap.end, Progress::Done);
    let dead = run(straight, |secs, robot| robot.0.borrow_mut().modules_alive[3] = secs < 1.0);
    assert_eq!(dead.end, Progress::Failed("no reading from module 3 (br)".into()));
    assert!((1.2..1.4).contains(&dead.secs), "{}", dead.secs);
}

#[test]
fn what_another_holds_is_refused_with_its_name() {
    let robot = FakeRobot::new();
    let hardware = Hardware::new(robot.description()).unwrap();
    let mut scope = Door::new().scope();
    let topics = Rc::new(ActTopics::declare(&mut scope).unwrap());
    let _held = hardware.drive().unwrap();
    let spin = Routine::Spin { direction: SpinDirection::Clockwise, rotations: 1.0, omega_rad_per_sec: 1.0 };
    let refused = RobotAct::from(spin).build(&hardware, &topics).err().unwrap();
    assert_eq!(refused, "drive is in use by another action");
    let refused = RobotAct::hold([("hood", 75.0)]).build(&hardware, &topics).err().unwrap();
    assert_eq!(refused, "hood: expected 20 to 60 deg, found 75");
    let refused = RobotAct::hold([("arm", 1.0)]).build(&hardware, &topics).err().unwrap();
    assert_eq!(refused, "this robot has no arm");
}
