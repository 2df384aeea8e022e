//! The loop and its op modes: when they are built, told, stopped, and what reaches the hardware.
#![allow(clippy::unwrap_used, reason = "a test")]

mod common;

use std::cell::RefCell;
use std::rc::Rc;

use common::FakeRobot;
use fieldlab_base::{Lease, Micros};
use fieldlab_robot::clock::Clock;
use fieldlab_robot::driver_station::DriverPanel;
use fieldlab_robot::hw::DriveCommand;
use fieldlab_robot::operator::NoOperator;
use fieldlab_robot::opmode::{OpMode, OpModeEntry, OpModeInfo, OpModeKind, Turn};
use fieldlab_robot::robot_loop::{LoopConfig, LoopParts, RobotLoop};
use fieldlab_robot::site::{Pace, Site};
use fieldlab_robot::telemetry::{Door, MemorySink};
use fieldlab_values::Value;

type Story = Rc<RefCell<Vec<&'static str>>>;

/// An op mode that tells what was called, and holds the drive for as long as it lives.
struct Teller {
    story: Story,
    drive: Lease<DriveCommand>,
    panic_at: Option<&'static str>,
}

const SPIN: DriveCommand = DriveCommand::Chassis { vx_mps: 0.0, vy_mps: 0.0, omega_rad_per_sec: 1.0 };

impl Teller {
    fn say(&self, what: &'static str) {
        self.story.borrow_mut().push(what);
        assert!(self.panic_at != Some(what), "told to");
    }
}

impl OpMode for Teller {
    fn start(&mut self, _: &mut Turn<'_>) {
        self.say("start");
    }
    fn periodic(&mut self, _: &mut Turn<'_>) {
        self.drive.set(SPIN);
        self.say("periodic");
    }
    fn disabled_periodic(&mut self, _: &mut Turn<'_>) {
        self.say("disabled");
    }
    fn end(&mut self, _: &mut Turn<'_>) {
        self.say("end");
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        self.story.borrow_mut().push("drop");
    }
}

struct Rig {
    robot: FakeRobot,
    panel: DriverPanel,
    memory: MemorySink,
    story: Story,
    robot_loop: RobotLoop,
    turns: i64,
}

impl Rig {
    fn new(rebuild_on_disable: bool, panic_at: Option<&'static str>) -> Self {
        let (robot, panel, memory) = (FakeRobot::new(), DriverPanel::new(), MemorySink::new());
        let door = Door::new();
        door.attach(Box::new(memory.clone()));
        let story = Story::default();
        let entries = ["Spin", "Other"].map(|name| {
            let story = Rc::clone(&story);
            let info = OpModeInfo { kind: OpModeKind::Utility, name, group: "Data", description: "" };
            OpModeEntry::new(info, move |setup| {
                story.borrow_mut().push("build");
                let drive = setup
                    .hardware
                    .drive()
                    .map_err(|busy| fieldlab_base::ConfigError::new("drive", "a free drive", busy))?;
                Ok(Teller { story: Rc::clone(&story), drive, panic_at })
            })
        });
        let config = LoopConfig { rebuild_on_disable, ..LoopConfig::default() };
        let robot_loop = RobotLoop::new(
            config,
            LoopParts {
                io: Box::new(robot.clone()),
                station: Box::new(panel.clone()),
                operator: Box::new(NoOperator),
                door,
                site: Site::new("nowhere", Pace::Virtual, 1),
                op_modes: entries.into(),
            },
        )
        .unwrap();
        Self { robot, panel, memory, story, robot_loop, turns: 0 }
    }

    fn turns(&mut self, count: i64) {
        for _ in 0..count {
            self.robot_loop.tick(Micros::from_millis(20 * self.turns), None);
            self.turns += 1;
        }
    }

    fn story(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.story.borrow_mut())
    }

    fn select(&self, name: &str) {
        self.panel.select(self.robot_loop.find(name));
    }

    fn last_drive(&self) -> DriveCommand {
        self.robot.0.borrow().applied.last().unwrap().drive
    }
}

#[test]
fn an_op_mode_hears_the_hooks_of_wpilib_2027() {
    let mut rig = Rig::new(true, None);
    rig.turns(2);
    assert!(rig.story().is_empty());
    rig.select("Spin");
    rig.turns(2);
    assert_eq!(rig.story(), ["build", "disabled", "disabled"]);
    rig.panel.set_enabled(true);
    rig.turns(2);
    assert_eq!(rig.story(), ["start", "periodic", "periodic"]);
    assert_eq!(rig.last_drive(), SPIN);
    assert_eq!(rig.memory.last("/Catalyst/OpMode/Active"), Some("Spin".into()));
    assert_eq!(rig.memory.last("/Catalyst/OpMode/Running"), Some(Value::Boolean(true)));
    rig.panel.set_enabled(false);
    rig.turns(2);
    assert_eq!(rig.story(), ["end", "drop", "build", "disabled"]);
    assert!(rig.last_drive().is_neutral());
    assert_eq!(rig.memory.last("/Catalyst/OpMode/Running"), Some(Value::Boolean(false)));
    rig.panel.select(None);
    rig.turns(1);
    assert_eq!(rig.story(), ["drop"]);
    assert_eq!(rig.memory.last("/Catalyst/OpMode/Active"), Some("".into()));
}

#[test]
fn f6_a_kept_object_that_keeps_its_lease_gives_no_output_while_disabled() {
    let mut rig = Rig::new(false, None);
    rig.select("Spin");
    rig.panel.set_enabled(true);
    rig.turns(3);
    assert_eq!(rig.last_drive(), SPIN);
    rig.panel.set_enabled(false);
    rig.robot.take_applied();
    rig.turns(50);
    assert!(rig.robot.take_applied().iter().all(|o| o.is_neutral()));
    assert!(!rig.story().contains(&"drop"));
    rig.panel.set_enabled(true);
    rig.turns(1);
    assert_eq!(rig.story(), ["start", "periodic"]);
}

/// An op mode that commands once, when it is built, and keeps its lease.
struct Once(#[expect(dead_code, reason = "held, not used")] Lease<DriveCommand>);

impl OpMode for Once {
    fn periodic(&mut self, _: &mut Turn<'_>) {}
}

#[test]
fn f6_a_command_from_before_a_disable_is_not_carried_out_after_it() {
    let (robot, panel) = (FakeRobot::new(), DriverPanel::new());
    let info = OpModeInfo { kind: OpModeKind::Teleop, name: "Once", group: "", description: "" };
    let entry = OpModeEntry::new(info, |setup| {
        let lease = setup.hardware.drive().unwrap();
        lease.set(SPIN);
        Ok(Once(lease))
    });
    let parts = LoopParts {
        io: Box::new(robot.clone()),
        station: Box::new(panel.clone()),
        operator: Box::new(NoOperator),
        door: Door::new(),
        site: Site::new("nowhere", Pace::Virtual, 1),
        op_modes: vec![entry],
    };
    let config = LoopConfig { rebuild_on_disable: false, ..LoopConfig::default() };
    let mut robot_loop = RobotLoop::new(config, parts).unwrap();
    panel.select(robot_loop.find("Once"));
    for (turn, enabled) in [false, true, false, true].into_iter().enumerate() {
        panel.set_enabled(enabled);
        robot_loop.tick(Micros::from_millis(20 * turn as i64), None);
    }
    assert!(robot.take_applied().iter().all(|o| o.is_neutral()));
}

#[test]
fn another_op_mode_gets_a_free_robot() {
    let mut rig = Rig::new(true, None);
    rig.select("Spin");
    rig.panel.set_enabled(true);
    rig.turns(1);
    rig.story();
    rig.select("Other");
    rig.turns(1);
    assert_eq!(rig.story(), ["end", "drop", "build", "disabled"]);
    assert!(rig.last_drive().is_neutral(), "selecting another op mode disables");
    assert!(rig.robot_loop.fault().is_none());
}

#[test]
fn a_panic_in_an_op_mode_leaves_the_robot_neutral_and_is_reported() {
    for hook in ["start", "periodic", "end", "disabled"] {
        let mut rig = Rig::new(true, Some(hook));
        rig.select("Spin");
        rig.panel.set_enabled(true);
        rig.turns(2);
        rig.panel.set_enabled(false);
        rig.robot.take_applied();
        rig.turns(2);
        rig.panel.set_enabled(true);
        let rows = format!("{:?}", rig.memory.all("/Catalyst/Alerts/Errors"));
        assert!(rows.contains("[OpMode] Spin panicked: told to"), "{hook}: {rows}");
        assert!(rig.robot.take_applied().iter().all(|o| o.is_neutral()), "{hook}");
    }
    let mut rig = Rig::new(true, Some("periodic"));
    rig.select("Spin");
    rig.panel.set_enabled(true);
    rig.turns(5);
    assert_eq!(rig.story(), ["build", "start", "periodic", "drop"], "it is not run again while enabled");
    assert!(rig.robot.take_applied().iter().all(|o| o.is_neutral()));
    assert!(!rig.robot_loop.hardware().any_held());
    assert_eq!(rig.memory.last("/Catalyst/Alerts/HasFaults"), Some(Value::Boolean(true)));
    rig.panel.set_enabled(false);
    rig.turns(2);
    assert_eq!(rig.story(), ["build", "disabled", "disabled"], "a person disabled: it may try again");
    assert_eq!(rig.memory.last("/Catalyst/Alerts/HasFaults"), Some(Value::Boolean(false)));
}

#[test]
fn an_emergency_stop_stops() {
    let mut rig = Rig::new(true, None);
    rig.select("Spin");
    rig.panel.set_enabled(true);
    rig.turns(2);
    rig.panel.emergency_stop();
    rig.turns(1);
    assert!(rig.last_drive().is_neutral());
    assert_eq!(rig.memory.last("/FMSInfo/FMSControlData"), Some(Value::Int(4 + 8 + 32)));
    rig.panel.set_enabled(true);
    rig.turns(2);
    assert!(rig.last_drive().is_neutral());
}

#[test]
fn sensors_leave_through_the_door_and_a_silent_one_leaves_nothing() {
    let mut rig = Rig::new(true, None);
    rig.robot.0.borrow_mut().volts = None;
    rig.robot.0.borrow_mut().modules_alive[2] = false;
    rig.turns(3);
    assert_eq!(rig.memory.last("/Catalyst/Status/BatteryVolts"), None);
    assert_eq!(rig.memory.last("/Catalyst/Swerve/Modules/2/PositionRadians"), None);
    assert_eq!(rig.memory.last("/Catalyst/Swerve/Modules/3/PositionRadians"), Some(Value::Double(0.0)));
    assert_eq!(rig.memory.last("/Catalyst/Odometry/Pose"), None, "odometry needs all four");
    assert!(rig.memory.last("/Catalyst/Vision/Pose").is_some());
    rig.robot.0.borrow_mut().volts = Some(12.5);
    rig.turns(1);
    assert_eq!(rig.memory.last("/Catalyst/Status/BatteryVolts"), Some(Value::Double(12.5)));
}

#[test]
fn overruns_are_counted_and_published() {
    let mut rig = Rig::new(true, None);
    rig.turns(1);
    rig.robot_loop.note_duration(Micros::from_millis(25));
    rig.turns(1);
    assert_eq!(rig.memory.last("/Catalyst/Loop/OverrunCount"), Some(Value::Int(1)));
    assert_eq!(rig.memory.last("/Catalyst/Loop/DurationSeconds"), Some(Value::Double(0.025)));
    assert_eq!(rig.memory.last("/Catalyst/Loop/DroppedValues"), Some(Value::Int(0)));
}

#[test]
fn a_robot_loop_refuses_what_it_cannot_run() {
    let make = |config| {
        RobotLoop::new(
            config,
            LoopParts {
                io: Box::new(FakeRobot::new()),
                station: Box::new(DriverPanel::new()),
                operator: Box::new(NoOperator),
                door: Door::new(),
                site: Site::new("nowhere", Pace::Virtual, 1),
                op_modes: vec![],
            },
        )
    };
    let refused = make(LoopConfig { period: Micros::ZERO, ..LoopConfig::default() }).unwrap_err();
    assert_eq!(refused.path, "loop.period");
    assert!(make(LoopConfig::default()).is_ok());
}

/// A clock on which looking takes a microsecond, waiting ends on time, and some turns take as long as the script says.
struct Scripted {
    now: Micros,
    looks: usize,
    slow: Vec<(usize, i64)>,
}

impl Clock for Scripted {
    fn now(&mut self) -> Micros {
        self.looks += 1;
        self.now += Micros(1);
        if let Some((_, millis)) = self.slow.iter().find(|(at, _)| *at == self.looks) {
            self.now += Micros::from_millis(*millis);
        }
        self.now
    }
    fn unix(&mut self) -> Option<Micros> {
        None
    }
    fn wait_until(&mut self, at: Micros) {
        self.now = self.now.max(at);
    }
}

#[test]
fn a_slow_turn_is_counted_and_missed_turns_are_not_made_up_for() {
    let mut rig = Rig::new(true, None);
    // Looks: one at the start; then each turn begin, end, and how late it is. Turn 3 takes 25 ms, turn 5 takes 70 ms.
    let mut clock =
        Scripted { now: Micros::ZERO, looks: 0, slow: vec![(1 + 3 * 2 + 2, 25), (1 + 3 * 4 + 2, 70)] };
    let mut turns = 0;
    rig.robot_loop.run(&mut clock, &mut || {
        turns += 1;
        turns > 8
    });
    let begun: Vec<i64> = rig
        .memory
        .records()
        .iter()
        .filter(|r| &*r.name == "/Catalyst/Loop/DurationSeconds")
        .map(|r| r.at.0 / 1000)
        .collect();
    // A turn says how long the one before took, when that differs. Turn 4 begins 5 ms late, at once, and turn 5 on time;
    // turn 6 begins at 150 ms, in place of 100, and turn 7 on time: 120 and 140 are left out.
    assert_eq!(begun, [20, 65, 80, 150, 160], "ms");
    assert_eq!(rig.memory.last("/Catalyst/Loop/OverrunCount"), Some(Value::Int(2)));
}
