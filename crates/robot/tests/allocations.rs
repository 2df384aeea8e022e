//! Allocations on the loop's thread, counted by an allocator of the test's own, with the sinks of a real robot: the
//! server's queue, a log file, a thread for the checkpoint.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::rc::Rc;

use common::FakeRobot;
use common::rig::{Operator, UNIX, site};
use fieldlab_base::{Feature, Micros};
use fieldlab_campaign::Campaign;
use fieldlab_campaign::procedures::{self, Drivetrain};
use fieldlab_robot::driver_station::DriverPanel;
use fieldlab_robot::field_lab::FieldLabOpMode;
use fieldlab_robot::identity::RobotIdentity;
use fieldlab_robot::network::{self, NtOperator};
use fieldlab_robot::robot_loop::{LoopConfig, LoopParts, RobotLoop};
use fieldlab_robot::site::Pace;
use fieldlab_robot::telemetry::{Door, Frame, NtSink, Sink, SinkStats, Topic};
use fieldlab_values::Family;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// Safety: every call goes to the system's allocator as it came; the counter is a plain cell of this thread.
#[allow(unsafe_code, reason = "an allocator cannot be had otherwise")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Sees whether a turn changed a text, an array, or the set of topics. Allocates nothing itself once it knows them.
struct Probe {
    long: Vec<bool>,
    changed: Rc<Cell<bool>>,
}

impl Sink for Probe {
    fn declare(&mut self, index: u32, topic: &Topic) {
        let number = matches!(
            topic.data_type.family(),
            Family::Boolean | Family::Int | Family::Float | Family::Double
        ) || topic.data_type.struct_name().is_some_and(|(_, array)| !array);
        self.long.resize(index as usize + 1, false);
        self.long[index as usize] = !number;
        self.changed.set(true);
    }
    fn frame(&mut self, frame: &Frame<'_>) {
        if frame.entries().any(|e| e.changed && self.long[e.topic as usize]) {
            self.changed.set(true);
        }
    }
    fn stats(&self) -> SinkStats {
        SinkStats::default()
    }
}

/// Every half second of the robot's time: waits until the disk has caught up. These turns are a hundred times faster than
/// real ones, and a log that falls behind is a failed pre-arm item.
fn keep_up(robot: &RobotLoop, now: Micros) {
    if now.0 % 500_000 != 0 {
        return;
    }
    let Some(at) = robot.site().log_stats() else { return };
    while robot.site().log_stats().is_some_and(|s| s.bytes_durable == at.bytes_durable && !s.stopped) {
        std::thread::yield_now();
    }
}

#[test]
fn a_turn_in_which_no_text_array_or_topic_changes_allocates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut site = site(folder.path(), 7);
    site.pace = Pace::Realtime;
    site.log.queue_bytes = 64 << 20;
    // The turns here are faster than real ones, and the disk must keep up with them.
    site.log.flush_every = std::time::Duration::from_millis(1);
    let drive =
        Drivetrain { wheel_radius_m: common::RADIUS_M, drive_base_radius_m: 0.424, ..Drivetrain::default() };
    let campaign = Campaign::builder("Counted")
        .add(procedures::wheel_radius(&drive).unwrap())
        .add(procedures::drive_feedforward(&drive).unwrap())
        .build()
        .unwrap();
    let (panel, hub, door) = (DriverPanel::new(), network::hub().unwrap(), Door::new());
    let changed = Rc::new(Cell::new(false));
    door.attach(Box::new(Probe { long: Vec::new(), changed: Rc::clone(&changed) }));
    door.attach(Box::new(NtSink::queued(&hub)));
    let fake = FakeRobot::new();
    fake.0.borrow_mut().record = false;
    let parts = LoopParts {
        io: Box::new(fake),
        station: Box::new(panel.clone()),
        operator: Box::new(NtOperator::queued(hub.clone())),
        door,
        site,
        op_modes: vec![FieldLabOpMode::new(campaign).into()],
    };
    let mut robot = RobotLoop::new(LoopConfig::default(), parts).unwrap();
    panel.select(robot.find("Field Lab"));
    panel.set_enabled(true);
    let mut operator = Operator::new(&hub, Micros::ZERO);

    // Turns by how many allocations they made: [quiet turns, others].
    let mut histogram = [[0_u64; 200]; 2];
    let mut worst = [(0, 0); 2];
    let mut now = Micros::ZERO;
    let done = loop {
        now += Micros::from_millis(20);
        hub.with(|_| ());
        operator.turn(now, &mut |_, key| (!key.is_empty()).then_some(3.94));
        changed.set(false);
        let before = COUNT.with(Cell::get);
        robot.tick(now, Some(UNIX + now));
        let made = COUNT.with(Cell::get) - before;
        let kind = usize::from(changed.get());
        histogram[kind][(made as usize).min(199)] += 1;
        // The first second builds the op mode, opens the log and begins the session.
        if now > Micros::from_secs(1.0) && made > worst[kind].0 {
            worst[kind] = (made, now.0);
        }
        keep_up(&robot, now);
        let state = hub.with(|s| s.value("/Catalyst/FieldLab/State"));
        if now > Micros::from_secs(3600.0) || format!("{state:?}").contains("DONE") {
            break now;
        }
    };
    for (kind, name) in histogram.iter().zip(["quiet", "others"]) {
        let rows: Vec<_> = kind.iter().enumerate().filter(|(_, n)| **n > 0).collect();
        println!("{name}: {rows:?}");
    }
    println!("done at {done}, worst {worst:?}");
    assert!(done < Micros::from_secs(3600.0), "the campaign was done");
    assert!(histogram[0][0] > 3000, "most turns are quiet");
    // Now and then a checkpoint, or the finish, waits for the one before it and is handed out alone, in a turn that changes
    // no topic: its bytes are made then. Every other quiet turn allocates nothing.
    let loud: u64 = histogram[0][1..].iter().sum();
    assert!(loud <= 5 && worst[0].0 <= 20, "{loud} quiet turns allocated, the worst {:?}", worst[0]);
    // A step's boundary writes an event, a checkpoint, new texts and topics. The aim is 8; this bounds what it really costs.
    assert!(worst[1].0 <= 400, "allocations in a turn that changes texts: {:?}", worst[1]);
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
        let before = COUNT.with(Cell::get);
        robot.tick(Micros::from_millis(20 * number), None);
        COUNT.with(Cell::get) - before
    };
    let made: Vec<u64> = (1..=1000).map(&mut turn).collect();
    let loud: Vec<_> = made.iter().enumerate().skip(10).filter(|(_, made)| **made > 0).collect();
    println!("first turn {}, then {loud:?}", made[0]);
    assert_eq!(loud.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [499], "the turn of the new component");
}
