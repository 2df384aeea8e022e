//! Allocations on the loop's thread, counted by an allocator of the test's own, with the sinks of a real robot: the
//! server's queue, a log file, a thread for the checkpoint.
//!
//! The aim: none in a turn in which no text, no array and no set of topics changes, at most eight in any other. Exempt are
//! only the turns that build something: the first second, which builds the op mode, opens the log and declares a session's
//! topics, and after a disable the turn that builds the op mode anew, before which nothing moves. Their figures are printed.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that prints its figures")]

mod common;
#[path = "../../base/tests/support/counting.rs"]
mod counting;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use common::FakeRobot;
use common::rig::{Operator, UNIX, site};
use counting::allocations;
use fieldlab_base::{Feature, Micros};
use fieldlab_campaign::procedures::{self, Drivetrain};
use fieldlab_campaign::sweep::{Axis, Setpoint, Sweep};
use fieldlab_campaign::{Campaign, Routine};
use fieldlab_robot::acts::RobotAct;
use fieldlab_robot::driver_station::DriverPanel;
use fieldlab_robot::field_lab::FieldLabOpMode;
use fieldlab_robot::identity::RobotIdentity;
use fieldlab_robot::network::{self, NtOperator};
use fieldlab_robot::opmode::{OpModeEntry, Setup};
use fieldlab_robot::robot_loop::{LoopConfig, LoopParts, RobotLoop};
use fieldlab_robot::site::Pace;
use fieldlab_robot::telemetry::{Door, Frame, NtSink, Sink, SinkStats, Topic};
use fieldlab_values::Family;
use fieldlab_wpilog::WriterStats;

/// What a turn turned out to be.
#[derive(Default)]
struct Seen {
    /// A text or an array changed, or a topic came or went.
    changed: Cell<bool>,
    /// The op mode was built, or the topics of a session were declared.
    built: Cell<bool>,
}

/// Sees what a turn did. Allocates nothing itself once it knows the topics.
struct Probe {
    long: Vec<bool>,
    seen: Rc<Seen>,
}

impl Sink for Probe {
    fn declare(&mut self, index: u32, topic: &Topic) {
        let number = matches!(
            topic.data_type.family(),
            Family::Boolean | Family::Int | Family::Float | Family::Double
        ) || topic.data_type.struct_name().is_some_and(|(_, array)| !array);
        self.long.resize(index as usize + 1, false);
        self.long[index as usize] = !number;
        self.seen.built.set(true);
    }
    fn frame(&mut self, frame: &Frame<'_>) {
        let long = frame.entries().any(|e| e.changed && self.long[e.topic as usize]);
        if long || frame.retracted().next().is_some() {
            self.seen.changed.set(true);
        }
    }
    fn stats(&self) -> SinkStats {
        SinkStats::default()
    }
}

/// Waits until the saves are done and, every half second of the robot's time, until the log has caught up. These turns are a
/// hundred times faster than real ones: reports of several saves would meet in one of them, and a log that falls behind is a
/// failed pre-arm item.
fn keep_up(robot: &RobotLoop, now: Micros) {
    while robot.site().saves_waiting() > 0 || robot.site().storage_at_work() {
        std::thread::yield_now();
    }
    if now.0 % 500_000 != 0 {
        return;
    }
    let behind = |s: WriterStats| !s.stopped && (s.queue_bytes > 0 || s.bytes_durable < s.bytes_written);
    while robot.site().log_stats().is_some_and(behind) {
        std::thread::yield_now();
    }
}

/// Three procedures: long acts, tests in a row, and more shots than one node of a map holds.
fn campaign() -> Campaign<RobotAct> {
    let drive =
        Drivetrain { wheel_radius_m: common::RADIUS_M, drive_base_radius_m: 0.424, ..Drivetrain::default() };
    let mut sweep = Sweep::new("shot-map", "Shot map")
        .axis(Axis::new("hood", "deg", 20.0, 60.0))
        .axis(Axis::new("flywheel", "rpm", 0.0, 6000.0))
        .question("did it score?", "score", 0.0, 1.0);
    for shot in 0..14_u32 {
        let at = 2.0 + f64::from(shot / 4);
        sweep = sweep.setpoint(Setpoint::at(at).set("hood", 42.0).set("flywheel", 1800.0));
    }
    let sweep = sweep
        .build(
            |shot| RobotAct::hold([("hood", shot.values[0]), ("flywheel", shot.values[1])]),
            |_| RobotAct::from(Routine::Observe { secs: 0.2 }),
        )
        .unwrap();
    Campaign::builder("Counted")
        .add(procedures::wheel_radius(&drive).unwrap())
        .add(procedures::drive_feedforward(&drive).unwrap())
        .add(sweep)
        .build()
        .unwrap()
}

/// Field Lab as it is registered, saying when its object is built.
fn field_lab(seen: &Rc<Seen>) -> OpModeEntry {
    let mut entry = OpModeEntry::from(FieldLabOpMode::new(campaign()));
    let mut build = std::mem::replace(&mut entry.build, Box::new(|_| Ok(None)));
    let seen = Rc::clone(seen);
    entry.build = Box::new(move |setup: &mut Setup<'_>| {
        seen.built.set(true);
        build(setup)
    });
    entry
}

/// Turns of one kind by how many allocations they made.
struct Turns {
    name: &'static str,
    counts: BTreeMap<u64, u32>,
    worst_at: Micros,
}

impl Turns {
    fn new(name: &'static str) -> Self {
        Self { name, counts: BTreeMap::new(), worst_at: Micros::ZERO }
    }

    fn add(&mut self, made: u64, now: Micros) {
        if made > self.worst() {
            self.worst_at = now;
        }
        *self.counts.entry(made).or_default() += 1;
    }

    fn worst(&self) -> u64 {
        self.counts.last_key_value().map_or(0, |(made, _)| *made)
    }

    fn print(&self) {
        println!("{}: {:?}, the worst at {}", self.name, self.counts, self.worst_at);
    }
}

#[test]
fn a_quiet_turn_allocates_nothing_and_no_other_more_than_eight_times() {
    let folder = tempfile::tempdir().unwrap();
    let mut site = site(folder.path(), 7);
    site.pace = Pace::Realtime;
    site.log.queue_bytes = 64 << 20;
    // The turns here are faster than real ones, and the disk must keep up with them.
    site.log.flush_every = std::time::Duration::from_millis(1);
    let (panel, hub, door) = (DriverPanel::new(), network::hub().unwrap(), Door::new());
    let seen = Rc::<Seen>::default();
    door.attach(Box::new(Probe { long: Vec::new(), seen: Rc::clone(&seen) }));
    door.attach(Box::new(NtSink::queued(&hub)));
    let fake = FakeRobot::new();
    fake.0.borrow_mut().record = false;
    let parts = LoopParts {
        io: Box::new(fake.clone()),
        station: Box::new(panel.clone()),
        operator: Box::new(NtOperator::queued(hub.clone())),
        door,
        site,
        op_modes: vec![field_lab(&seen)],
    };
    let mut robot = RobotLoop::new(LoopConfig::default(), parts).unwrap();
    panel.select(robot.find("Field Lab"));
    panel.set_enabled(true);
    let mut operator = Operator::new(&hub, Micros::ZERO);

    let (mut quiet, mut others, mut building) =
        (Turns::new("quiet"), Turns::new("others"), Turns::new("building"));
    let mut now = Micros::ZERO;
    let text = |key: &str| hub.with(|s| s.value(&format!("/Catalyst/FieldLab/{key}")));
    loop {
        now += Micros::from_millis(20);
        // In the middle of an act the robot is disabled and its op mode built anew; later its pack is flat for a while.
        match now.0 {
            20_000_000 => panel.set_enabled(false),
            22_000_000 => panel.set_enabled(true),
            130_000_000 => fake.0.borrow_mut().volts = Some(11.0),
            150_000_000 => fake.0.borrow_mut().volts = Some(12.9),
            _ => {}
        }
        hub.with(|_| ());
        // One answer in five is out of its range.
        operator.turn(now, &mut |_, key| match key {
            "" => None,
            "wheel-radius/caliper-diameter-in" => Some(3.94),
            "shot-map/at-2.00#2" | "shot-map/at-4.00" => Some(7.5),
            _ => Some((now.0 % 1000) as f64 / 1000.0),
        });
        seen.changed.set(false);
        seen.built.set(false);
        let before = allocations();
        robot.tick(now, Some(UNIX + now));
        let made = allocations() - before;
        match (seen.built.get(), seen.changed.get()) {
            (true, _) => building.add(made, now),
            (false, true) => others.add(made, now),
            (false, false) => quiet.add(made, now),
        }
        keep_up(&robot, now);
        if text("State").is_some_and(|(_, state)| state == "DONE".into()) {
            break;
        }
        assert!(now < Micros::from_secs(3600.0), "the campaign was done");
    }
    let notes = format!("{:?}", text("Notes"));
    for note in ["paused at 11.00 V", "resumed at 12.90 V", "7.5 score is outside 0 to 1"] {
        assert!(notes.contains(note), "{note}: {notes}");
    }
    println!("done at {now}");
    [&quiet, &others, &building].into_iter().for_each(Turns::print);
    assert!(quiet.counts[&0] > 3000, "most turns are quiet");
    assert_eq!(quiet.worst(), 0);
    assert!(others.counts.values().sum::<u32>() > 100, "there is something to see");
    assert!(others.worst() <= 8, "allocations in a turn that changes texts: {}", others.worst());
    assert!(building.counts.values().sum::<u32>() <= 4, "the op mode is built twice, a session begins once");
}

#[test]
fn a_declared_robot_allocates_when_its_sheet_changes_and_never_else() {
    let folder = tempfile::tempdir().unwrap();
    let (hub, door) = (network::hub().unwrap(), Door::new());
    door.attach(Box::new(NtSink::queued(&hub)));
    let fake = FakeRobot::new();
    fake.0.borrow_mut().record = false;
    let parts = LoopParts {
        io: Box::new(fake),
        station: Box::new(DriverPanel::new()),
        operator: Box::new(NtOperator::queued(hub.clone())),
        door,
        site: site(folder.path(), 7),
        op_modes: Vec::new(),
    };
    let mut robot = RobotLoop::new(LoopConfig::default(), parts).unwrap();
    robot.declare(RobotIdentity::declare("Counted").unwrap());
    let mut turn = |number: i64| {
        // Whoever has the server applies what waits, as its own thread does.
        hub.with(|_| ());
        if number == 500 {
            robot.register().record(&Feature::sequence("Late")).unwrap();
        }
        let before = allocations();
        robot.tick(Micros::from_millis(20 * number), None);
        allocations() - before
    };
    let made: Vec<u64> = (1..=1000).map(&mut turn).collect();
    let loud: Vec<_> = made.iter().enumerate().skip(10).filter(|(_, made)| **made > 0).collect();
    println!("first turn {}, then {loud:?}", made[0]);
    assert_eq!(loud.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [499], "the turn of the new component");
}
