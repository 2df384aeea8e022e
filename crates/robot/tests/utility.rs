//! The op modes that stand alone, with the topics and tokens that dashboards know.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod common;

use common::rig::{UNIX, site};
use common::{FakeRobot, RADIUS_M, TRUE_RADIUS_M};
use fieldlab_base::Micros;
use fieldlab_campaign::calibration::{FindMotorConfig, ZeroWheelsConfig};
use fieldlab_campaign::{SlipCurrentConfig, SysIdConfig, WheelRadiusConfig};
use fieldlab_robot::driver_station::DriverPanel;
use fieldlab_robot::operator::NoOperator;
use fieldlab_robot::opmode::{OpModeEntry, OpModeKind};
use fieldlab_robot::robot_loop::{LoopConfig, LoopParts, RobotLoop};
use fieldlab_robot::site::Site;
use fieldlab_robot::telemetry::{Door, MemorySink};
use fieldlab_robot::utility;
use fieldlab_values::Value;

struct Rig {
    robot: FakeRobot,
    panel: DriverPanel,
    memory: MemorySink,
    site: Site,
    robot_loop: RobotLoop,
    now: Micros,
    _folder: tempfile::TempDir,
}

impl Rig {
    fn new(entry: OpModeEntry) -> Self {
        assert_eq!((entry.info.kind, entry.info.group), (OpModeKind::Utility, "Data"));
        let folder = tempfile::tempdir().unwrap();
        let (robot, panel, memory, door) =
            (FakeRobot::new(), DriverPanel::new(), MemorySink::new(), Door::new());
        door.attach(Box::new(memory.clone()));
        let name = entry.info.name;
        let site = site(folder.path(), 7);
        let parts = LoopParts {
            io: Box::new(robot.clone()),
            station: Box::new(panel.clone()),
            operator: Box::new(NoOperator),
            door,
            site: site.clone(),
            op_modes: vec![entry],
        };
        let robot_loop = RobotLoop::new(LoopConfig::default(), parts).unwrap();
        panel.select(robot_loop.find(name));
        let mut rig = Self { robot, panel, memory, site, robot_loop, now: Micros::ZERO, _folder: folder };
        rig.go(0.2);
        rig.robot.take_applied();
        rig
    }

    fn go(&mut self, secs: f64) {
        let end = self.now + Micros::from_secs(secs);
        while self.now < end {
            self.now += Micros::from_millis(20);
            self.robot_loop.tick(self.now, Some(UNIX + self.now));
        }
    }

    /// One enable of so many seconds; the robot must be neutral afterwards.
    fn enable(&mut self, secs: f64) {
        self.panel.set_enabled(true);
        self.go(secs);
        self.panel.set_enabled(false);
        self.go(0.2);
        assert!(self.robot_loop.outputs().is_neutral());
        assert_eq!(self.robot_loop.fault(), None);
    }

    fn text(&self, topic: &str) -> String {
        match self.memory.last(&format!("/Catalyst/{topic}")) {
            Some(Value::String(text)) => text.to_string(),
            other => panic!("{topic}: {other:?}"),
        }
    }

    fn number(&self, topic: &str) -> f64 {
        match self.memory.last(&format!("/Catalyst/{topic}")) {
            Some(Value::Double(number)) => number,
            other => panic!("{topic}: {other:?}"),
        }
    }

    fn moved(&self) -> bool {
        self.robot.take_applied().iter().any(|o| !o.is_neutral())
    }
}

#[test]
fn wheel_radius_alone() {
    let config = WheelRadiusConfig {
        current_radius_m: RADIUS_M,
        drive_base_radius_m: 0.3_f64.hypot(0.3),
        rotations: 2.0,
        ..WheelRadiusConfig::default()
    };
    let mut rig = Rig::new(utility::wheel_radius(config));
    rig.enable(40.0);
    assert_eq!(rig.text("Calibration/WheelRadius/Status"), "done");
    let metres = rig.number("Calibration/WheelRadius/CorrectedRadiusMeters");
    assert!((metres / TRUE_RADIUS_M - 1.0).abs() < 0.002, "{metres}");
    let inches = rig.number("Calibration/WheelRadius/CorrectedRadiusInches");
    assert!((inches * 0.0254 - metres).abs() < 1e-12);
    assert!(rig.site.log_health().unwrap().path.exists(), "its data is logged");
    // F16: an interrupted run leaves no number of the run before.
    rig.enable(3.0);
    assert_eq!(rig.text("Calibration/WheelRadius/Status"), "interrupted");
    assert!(rig.number("Calibration/WheelRadius/CorrectedRadiusMeters").is_nan());
}

#[test]
fn slip_current_alone() {
    let mut rig =
        Rig::new(utility::slip_current(SlipCurrentConfig { wheel_radius_m: RADIUS_M, ..Default::default() }));
    rig.robot.0.borrow_mut().wall_break_volts = Some(2.5);
    rig.enable(12.0);
    assert_eq!(rig.text("Calibration/SlipCurrent/Status"), "done");
    assert!((rig.number("Calibration/SlipCurrent/SlipAmps") - 50.0).abs() < 2.0);
    rig.robot.0.borrow_mut().modules_alive[1] = false;
    rig.enable(2.0);
    assert_eq!(rig.text("Calibration/SlipCurrent/Status"), "stopped: no reading");
    assert!(rig.text("Calibration/SlipCurrent/Result").is_empty());
}

#[test]
fn f15_sysid_alone_runs_the_next_test_at_each_enable_and_stops_on_distance() {
    let config = SysIdConfig {
        ramp_volts_per_sec: 1.0,
        step_volts: 4.0,
        stop_distance_m: 3.0,
        stop_speed_mps: 4.0,
        stop_secs: 10.0,
        wheel_radius_m: RADIUS_M,
    };
    let mut rig = Rig::new(utility::sys_id(config));
    let states = ["quasistatic-forward", "quasistatic-reverse", "dynamic-forward", "dynamic-reverse"];
    for state in states.iter().chain(&states[..1]) {
        rig.enable(11.0);
        assert_eq!(rig.text("Calibration/SysId/Test"), *state);
        assert_eq!(rig.text("Calibration/SysId/Status"), "done");
        assert_eq!(rig.text("Calibration/SysId/StoppedBy"), "distance");
        let moved = rig.number("Calibration/SysId/MovedMeters");
        assert!((3.0..3.2).contains(&moved), "{moved}");
    }
    let log: Vec<Value> = rig.memory.all("sysid-test-state-drive");
    assert_eq!(log.last(), Some(&"none".into()), "the last word of a test");
}

#[test]
fn system_check_says_pass_or_why_not() {
    let mut rig = Rig::new(utility::system_check());
    rig.enable(3.0);
    assert!(rig.moved());
    assert_eq!(rig.memory.last("/Catalyst/SystemCheck/Robot/Ready"), Some(Value::Boolean(true)));
    assert!(rig.text("SystemCheck/Robot/Report").lines().all(|line| line.starts_with("PASS  ")));
    rig.robot.0.borrow_mut().gyro_alive = false;
    rig.robot.0.borrow_mut().volts = Some(11.5);
    rig.enable(3.0);
    assert_eq!(rig.text("SystemCheck/Robot/battery"), "FAIL: 11.50 V, needs 11.8 V");
    assert_eq!(rig.text("SystemCheck/Robot/gyro"), "FAIL: no reading");
    assert_eq!(rig.text("SystemCheck/Robot/module fl"), "PASS");
    assert_eq!(rig.memory.last("/Catalyst/SystemCheck/Robot/Ready"), Some(Value::Boolean(false)));
}

#[test]
fn zero_wheels_moves_nothing_and_zeroes_once() {
    let mut rig = Rig::new(utility::zero_wheels(ZeroWheelsConfig::default()));
    rig.enable(3.0);
    assert!(!rig.moved());
    assert_eq!(rig.text("Calibration/ZeroWheels/Status"), "done");
    assert_eq!(rig.robot.0.borrow().zeroed, [0, 1, 2, 3]);
}

#[test]
fn find_motor_pushes_one_after_another() {
    let mut rig = Rig::new(utility::find_motor(FindMotorConfig::default()));
    rig.enable(20.0);
    assert!(rig.moved());
    assert_eq!(rig.text("Calibration/FindMotor/Status"), "done");
    let result = rig.text("Calibration/FindMotor/Result");
    assert_eq!(result.lines().filter(|line| line.ends_with("moved forwards")).count(), 4, "{result}");
}
