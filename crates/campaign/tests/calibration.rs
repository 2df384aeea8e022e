//! Calibrations against closed forms and the reference's vectors.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use fieldlab_base::{ConfigError, Micros};
use fieldlab_campaign::calibration::{
    CalibrationInput, DriveRequest, FindMotor, FindMotorConfig, SlipCurrent, SlipCurrentTopics, Status,
    SysId, WheelRadius, WheelRadiusTopics, WheelReading, ZeroWheels, ZeroWheelsConfig,
};
use fieldlab_campaign::{SlipCurrentConfig, SpinDirection, SysIdConfig, SysIdTest, WheelRadiusConfig};
use fieldlab_values::{Publish, TopicSpec, Value, ValueRef};

const DT: f64 = 0.02;

/// Keeps the last value of every topic.
#[derive(Default)]
struct Wall {
    keys: Vec<String>,
    values: BTreeMap<String, Value>,
}

impl Publish for Wall {
    fn declare(&mut self, spec: &TopicSpec<'_>) -> Result<u32, ConfigError> {
        assert!(!self.keys.iter().any(|k| k == spec.key));
        self.keys.push(spec.key.into());
        Ok(self.keys.len() as u32 - 1)
    }

    fn put(&mut self, index: u32, value: ValueRef<'_>) {
        self.values.insert(self.keys[index as usize].clone(), value.to_value());
    }

    fn retract(&mut self, index: u32) {
        self.values.remove(&self.keys[index as usize]);
    }
}

impl Wall {
    fn text(&self, key: &str) -> &str {
        match &self.values[key] {
            Value::String(text) => text,
            other => panic!("{other:?}"),
        }
    }

    fn number(&self, key: &str) -> f64 {
        self.values[key].as_number().unwrap()
    }
}

/// A robot that does what it is told: wheels of these radii, turning about its centre.
struct Robot {
    now: f64,
    yaw: f64,
    travel: [f64; 4],
    radii: [f64; 4],
    base: f64,
}

impl Robot {
    fn input(&self) -> CalibrationInput {
        let wheels = self.travel.map(|t| WheelReading {
            travel_rad: Some(t),
            velocity_rad_per_sec: Some(0.0),
            stator_amps: Some(0.0),
        });
        CalibrationInput { now: Micros::from_secs(self.now), wheels, yaw_rad: Some(self.yaw) }
    }

    fn turn(&mut self, omega: f64) {
        self.now += DT;
        self.yaw += omega * DT;
        for (travel, radius) in self.travel.iter_mut().zip(self.radii) {
            *travel += omega * self.base * DT / radius;
        }
    }
}

fn spin(
    config: WheelRadiusConfig,
    radii: [f64; 4],
    change: impl Fn(f64, &mut CalibrationInput),
) -> (WheelRadius, f64) {
    let mut robot = Robot { now: 0.0, yaw: 3.0, travel: [1.0; 4], radii, base: config.drive_base_radius_m };
    let mut machine = WheelRadius::new(config).unwrap();
    for _ in 0..20_000 {
        let mut input = robot.input();
        change(robot.now, &mut input);
        let out = machine.step(&input);
        if out.over {
            assert_eq!(out.drive, DriveRequest::Neutral);
            assert!(machine.step(&input).over, "and it stays over");
            break;
        }
        let DriveRequest::Spin { omega_rad_per_sec } = out.drive else { panic!() };
        robot.turn(omega_rad_per_sec);
    }
    (machine, robot.now)
}

#[test]
fn wheel_radius_is_the_closed_form_both_ways_round() {
    for direction in [SpinDirection::CounterClockwise, SpinDirection::Clockwise] {
        let config = WheelRadiusConfig { direction, ..WheelRadiusConfig::default() };
        let (machine, took) = spin(config, [0.0489; 4], |_, _| {});
        let found = machine.found().unwrap();
        assert!((found.radius_m - 0.0489).abs() < 1e-9, "{found:?}");
        assert!((found.percent_change - (0.0489 / 0.0508 - 1.0) * 100.0).abs() < 1e-6);
        assert!(
            (took - 1.0 - 4.0 * TAU / 0.6).abs() < 0.1,
            "settles one second, then turns four times: {took}"
        );
    }
}

#[test]
fn f16_a_wheel_that_disagrees_is_left_out_and_two_are_too_many() {
    let (machine, _) = spin(WheelRadiusConfig::default(), [0.05, 0.0501, 0.0499, 0.06], |_, _| {});
    let found = machine.found().unwrap();
    assert_eq!(found.outliers, 1);
    assert!((found.radius_m - 0.05).abs() < 2e-5, "{found:?}");
    assert!((found.module_radii_m[3] - 0.06).abs() < 1e-9);
    let (machine, _) = spin(WheelRadiusConfig::default(), [0.05, 0.05, 0.06, 0.07], |_, _| {});
    assert_eq!(machine.status().token(), "stopped: the wheels disagree by more than 5 %");
    assert!(machine.found().is_none());
}

#[test]
fn f16_a_wrapping_gyro_and_a_short_silence_change_nothing_and_a_long_one_stops() {
    let (machine, _) = spin(WheelRadiusConfig::default(), [0.05; 4], |now, input| {
        input.yaw_rad = input.yaw_rad.map(|y| (y + TAU / 2.0).rem_euclid(TAU) - TAU / 2.0);
        if (10.0..10.2).contains(&now) {
            input.wheels[2].travel_rad = None;
        }
    });
    assert!((machine.found().unwrap().radius_m - 0.05).abs() < 1e-9);
    let (machine, took) = spin(WheelRadiusConfig::default(), [0.05; 4], |now, input| {
        if now > 10.0 {
            input.yaw_rad = Some(f64::NAN);
        }
    });
    assert_eq!(machine.status().token(), "stopped: no reading");
    assert!((10.0..10.5).contains(&took));
}

#[test]
fn wheel_radius_gives_up_when_nothing_turns() {
    let mut machine = WheelRadius::new(WheelRadiusConfig::default()).unwrap();
    let mut robot = Robot { now: 0.0, yaw: 0.0, travel: [0.0; 4], radii: [0.05; 4], base: 0.4 };
    while !machine.step(&robot.input()).over {
        robot.now += DT;
    }
    assert_eq!(machine.status().token(), "stopped: the robot does not turn");
    assert!((robot.now - 4.0).abs() < 0.1, "one second to settle, three without 2 degrees: {}", robot.now);
    // The gyro turns and the wheels do not.
    let (machine, _) = spin(WheelRadiusConfig::default(), [1e12; 4], |_, _| {});
    assert_eq!(machine.status(), &Status::NoMotion);
    assert_eq!(machine.status().token(), "no motion measured");
}

#[test]
fn f16_the_result_of_an_earlier_run_does_not_stay_when_a_later_one_is_interrupted() {
    let mut wall = Wall::default();
    let topics = WheelRadiusTopics::declare(&mut wall).unwrap();
    let (done, _) = spin(WheelRadiusConfig::default(), [0.05; 4], |_, _| {});
    topics.publish(&done, &mut wall);
    assert_eq!(wall.text("Calibration/WheelRadius/Status"), "done");
    assert!((wall.number("Calibration/WheelRadius/CorrectedRadiusInches") - 0.05 / 0.0254).abs() < 1e-9);
    assert_eq!(wall.text("Calibration/WheelRadius/Snippet"), "const WHEEL_RADIUS_M: f64 = 0.05000;");
    let mut next = WheelRadius::new(WheelRadiusConfig::default()).unwrap();
    let robot = Robot { now: 0.0, yaw: 0.0, travel: [0.0; 4], radii: [0.05; 4], base: 0.4 };
    next.step(&robot.input());
    topics.publish(&next, &mut wall);
    assert_eq!(wall.text("Calibration/WheelRadius/Status"), "running");
    assert!(wall.number("Calibration/WheelRadius/CorrectedRadiusMeters").is_nan());
    next.interrupt();
    topics.publish(&next, &mut wall);
    assert_eq!(wall.text("Calibration/WheelRadius/Status"), "interrupted");
    assert!(wall.number("Calibration/WheelRadius/PercentChange").is_nan());
}

#[test]
fn f32_a_config_that_is_not_finite_is_refused() {
    for bad in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
        assert!(
            WheelRadius::new(WheelRadiusConfig { omega_rad_per_sec: bad, ..Default::default() }).is_err()
        );
        assert!(SlipCurrent::new(SlipCurrentConfig { cap_volts: bad, ..Default::default() }).is_err());
    }
}

/// Wheels that hold until their current is reached, behind 0.05 ohm.
fn push(breaks: [f64; 4], change: impl Fn(usize, &mut CalibrationInput)) -> SlipCurrent {
    let config = SlipCurrentConfig::default();
    let mut machine = SlipCurrent::new(config).unwrap();
    let mut volts = 0.0;
    for tick in 0..1000_usize {
        let wheels = breaks.map(|at| {
            let amps = volts / 0.05;
            let (amps, mps) = if amps > at { (at * 0.4, 1.0) } else { (amps, 0.0) };
            WheelReading {
                travel_rad: Some(0.0),
                velocity_rad_per_sec: Some(mps / config.wheel_radius_m),
                stator_amps: Some(amps),
            }
        });
        let mut input = CalibrationInput { now: Micros::from_secs(tick as f64 * DT), wheels, yaw_rad: None };
        change(tick, &mut input);
        match machine.step(&input).drive {
            DriveRequest::Straight { volts: v } => volts = v,
            DriveRequest::Neutral => return machine,
            other => panic!("{other:?}"),
        }
    }
    panic!("never over");
}

#[test]
fn slip_rule_v2_finds_the_reference_s_vectors() {
    for (breaks, wheel, amps, recommended, light) in [
        ([55.0, 52.0, 48.3, 60.0], 2, 48.3, 45.0, [false; 4]),
        ([55.0, 52.0, 48.3, 3.0], 2, 48.3, 45.0, [false, false, false, true]),
        ([12.3, 2.0, 12.4, 27.0], 3, 27.0, 25.0, [true, true, true, false]),
    ] {
        let machine = push(breaks, |_, _| {});
        let found = machine.found().unwrap_or_else(|| panic!("{breaks:?}: {:?}", machine.status()));
        assert_eq!(
            (found.wheel, found.recommended_amps, found.light),
            (wheel, recommended, light),
            "{breaks:?}"
        );
        assert!((found.slip_amps - amps).abs() <= 0.5, "{found:?}");
        assert_eq!(machine.status().token(), "done");
    }
}

#[test]
fn slip_rule_v2_ignores_a_spike_and_names_why_it_stops() {
    // One loop of 29 A on a wheel that then turns at 2 A: light all the same.
    let machine = push([2.0, 2.0, 2.0, 2.0], |tick, input| {
        if tick == 8 {
            input.wheels[0].stator_amps = Some(29.0);
        }
    });
    assert!(machine.status().token().starts_with("stopped: the robot is rolling"), "{:?}", machine.status());
    assert!(machine.break_amps().iter().all(|b| *b < 15.0));
    assert_eq!(push([500.0; 4], |_, _| {}).status().token(), "stopped: no slip by cap");
    let machine = push([500.0; 4], |tick, input| {
        if tick == 50 {
            input.wheels[1].velocity_rad_per_sec = Some(f64::NAN);
        }
    });
    assert_eq!(machine.status().token(), "stopped: no reading");
    assert!(machine.break_amps().iter().all(|b| b.is_nan()), "NaN: never turned");
}

#[test]
fn slip_topics_begin_empty_and_end_with_a_sentence() {
    let mut wall = Wall::default();
    let topics = SlipCurrentTopics::declare(&mut wall).unwrap();
    topics.publish(&SlipCurrent::new(SlipCurrentConfig::default()).unwrap(), &mut wall);
    assert!(wall.number("Calibration/SlipCurrent/SlipAmps").is_nan());
    assert_eq!(wall.text("Calibration/SlipCurrent/Result"), "");
    assert_eq!(wall.values["Calibration/SlipCurrent/BreakAmps"], Value::DoubleArray([].into()));
    topics.publish(&push([55.0, 52.0, 48.3, 3.0], |_, _| {}), &mut wall);
    assert_eq!(wall.text("Calibration/SlipCurrent/Status"), "done");
    assert_eq!(wall.number("Calibration/SlipCurrent/RecommendedAmps"), 45.0);
    assert!(wall.text("Calibration/SlipCurrent/Result").contains("1 wheel carries no load"));
    assert_eq!(wall.number("Calibration/SlipCurrent/Volts"), 0.0);
}

/// A drivetrain of kS 0.2, kV 2.4, no inertia: what F15 is computed with.
fn drive(test: SysIdTest, config: SysIdConfig) -> (SysId, f64, f64) {
    let mut machine = SysId::new(test, config).unwrap();
    let (mut travel, mut speed, mut now, mut most) = (0.0, 0.0, 0.0, 0.0_f64);
    let mut seen = Vec::new();
    loop {
        let wheel =
            WheelReading { travel_rad: Some(travel), velocity_rad_per_sec: Some(speed), stator_amps: None };
        let out = machine.step(&CalibrationInput {
            now: Micros::from_secs(now),
            wheels: [wheel; 4],
            yaw_rad: None,
        });
        if seen.last() != Some(&machine.state()) {
            seen.push(machine.state());
        }
        let DriveRequest::Straight { volts } = out.drive else { break };
        assert!(volts == 0.0 || volts.signum() == test.sign());
        let mps = (volts.abs() - 0.2).max(0.0) / 2.4 * volts.signum();
        speed = mps / config.wheel_radius_m;
        travel += speed * DT;
        now += DT;
        most = most.max(volts.abs());
    }
    assert_eq!(seen, ["none", test.state(), "none"]);
    (machine, now, most)
}

#[test]
fn f15_a_sysid_test_stops_on_distance_on_speed_and_on_time() {
    let config = SysIdConfig {
        ramp_volts_per_sec: 1.0,
        step_volts: 7.0,
        stop_distance_m: 6.5,
        stop_speed_mps: 4.5,
        stop_secs: 12.0,
        wheel_radius_m: 0.0508,
    };
    for test in [SysIdTest::QuasistaticForward, SysIdTest::QuasistaticReverse, SysIdTest::DynamicForward] {
        let (machine, took, _) = drive(test, config);
        assert_eq!((machine.status(), machine.stopped_by()), (&Status::Done, "distance"));
        assert!(
            (6.5..6.7).contains(&machine.moved_m()),
            "an 8 m runway is not driven into its wall: {}",
            machine.moved_m()
        );
        assert!(took < 12.0);
    }
    let (machine, ..) = drive(SysIdTest::QuasistaticForward, SysIdConfig { stop_speed_mps: 1.0, ..config });
    assert_eq!(machine.stopped_by(), "speed");
    let (machine, took, most) =
        drive(SysIdTest::QuasistaticForward, SysIdConfig { stop_secs: 2.0, ..config });
    assert_eq!(machine.stopped_by(), "time");
    assert!(
        (took - 2.5).abs() < 0.05 && (most - 2.0).abs() < 0.05,
        "half a second to align, then 1 V/s: {took} {most}"
    );
    let (machine, ..) = drive(SysIdTest::QuasistaticForward, SysIdConfig { stop_secs: 0.1, ..config });
    assert_eq!(machine.status(), &Status::NoMotion);
}

#[test]
fn find_motor_says_which_wheel_moved_and_which_is_inverted() {
    // Wheel 1 is inverted, 2 and 3 are swapped.
    let wired = [(0, 1.0), (1, -1.0), (3, 1.0), (2, 1.0)];
    let mut machine = FindMotor::new(FindMotorConfig::default()).unwrap();
    let mut travel = [0.0; 4];
    let mut now = 0.0;
    loop {
        let wheels = travel.map(|t| WheelReading { travel_rad: Some(t), ..Default::default() });
        let out = machine.step(&CalibrationInput { now: Micros::from_secs(now), wheels, yaw_rad: None });
        if out.over {
            break;
        }
        if let DriveRequest::One { module, volts } = out.drive {
            assert!(volts <= 3.0);
            let (wheel, sign) = wired[module];
            travel[wheel] += sign * volts * 2.0 * DT;
        }
        now += DT;
    }
    assert_eq!(
        machine.report(),
        "fl: moved forwards\nfr: moved backwards: inverted\nbl: br moved\nbr: bl moved"
    );
}

#[test]
fn zero_wheels_waits_until_they_stand_and_averages_across_the_wrap() {
    let mut machine = ZeroWheels::new(ZeroWheelsConfig::default()).unwrap();
    let mut now = 0.0;
    let mut over = false;
    while !over {
        let jitter = if (now * 50.0) as i64 % 2 == 0 { 0.002 } else { -0.002 };
        let turning = if now < 3.0 { now } else { 3.0 };
        let angles = [turning, TAU / 2.0 - 0.001 + jitter, -1.0 + jitter, 0.5];
        let wrapped = angles.map(|a| Some((a + TAU / 2.0).rem_euclid(TAU) - TAU / 2.0));
        over = machine.step(Micros::from_secs(now), &wrapped);
        now += DT;
    }
    assert!((now - 4.0).abs() < 0.1, "{now}");
    let offsets = machine.offsets_rad().unwrap();
    for (found, expected) in offsets.iter().zip([3.0, TAU / 2.0 - 0.001, -1.0, 0.5]) {
        assert!((found - expected).abs() < 1e-3, "{offsets:?}");
    }
}
