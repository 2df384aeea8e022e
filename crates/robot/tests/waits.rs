//! The loop waits for nobody: not for a disk that does not answer, not for a server that somebody else holds.
#![allow(clippy::unwrap_used, reason = "a test")]

mod common;

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Condvar, Mutex};

use common::FakeRobot;
use common::rig::{UNIX, site};
use fieldlab_base::Micros;
use fieldlab_campaign::{Campaign, Measure, Procedure};
use fieldlab_robot::acts::RobotAct;
use fieldlab_robot::driver_station::DriverPanel;
use fieldlab_robot::field_lab::FieldLabOpMode;
use fieldlab_robot::network::{self, NtOperator};
use fieldlab_robot::robot_loop::{LoopConfig, LoopParts, RobotLoop};
use fieldlab_robot::site::{Pace, Site};
use fieldlab_robot::telemetry::{Door, MemorySink, NtSink};
use fieldlab_store::{Disk, FileLayer, lock};
use fieldlab_values::Value;

/// A gate that a checkpoint's fsync stands at until a test opens it.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<GateState>, Condvar)>);

#[derive(Default)]
struct GateState {
    shut: bool,
    waiting: usize,
}

impl Gate {
    fn set(&self, shut: bool) {
        self.0.0.lock().unwrap().shut = shut;
        self.0.1.notify_all();
    }

    fn pass(&self) {
        let mut state = self.0.0.lock().unwrap();
        state.waiting += 1;
        while state.shut {
            state = self.0.1.wait(state).unwrap();
        }
        state.waiting -= 1;
    }

    fn somebody_waits(&self) -> bool {
        self.0.0.lock().unwrap().waiting > 0
    }
}

/// Everything of the logs' folder stands at one gate, the fsync of a checkpoint at the other.
struct SlowDisk {
    disk: Disk,
    gate: Gate,
    logs: Gate,
}

impl SlowDisk {
    fn log_step(&self, path: &Path) {
        if path.components().any(|part| part.as_os_str() == "out") {
            self.logs.pass();
        }
    }
}

impl FileLayer for SlowDisk {
    fn create_dir_all(&mut self, dir: &Path) -> io::Result<()> {
        self.log_step(dir);
        self.disk.create_dir_all(dir)
    }
    fn create_new(&mut self, path: &Path) -> io::Result<()> {
        self.log_step(path);
        self.disk.create_new(path)
    }
    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.log_step(path);
        self.disk.write(path, bytes)
    }
    fn fsync(&mut self, path: &Path) -> io::Result<()> {
        if path.to_string_lossy().contains("c.json") {
            self.gate.pass();
        }
        self.log_step(path);
        self.disk.fsync(path)
    }
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)
    }
    fn fsync_dir(&mut self, dir: &Path) -> io::Result<()> {
        self.disk.fsync_dir(dir)
    }
    fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.disk.remove(path)
    }
    fn read(&mut self, path: &Path) -> io::Result<Vec<u8>> {
        self.disk.read(path)
    }
    fn list(&mut self, dir: &Path) -> io::Result<Vec<OsString>> {
        self.disk.list(dir)
    }
    fn free_space(&mut self, dir: &Path) -> io::Result<u64> {
        self.disk.free_space(dir)
    }
}

/// A robot by the real clock, the gate of its checkpoint and the gate of its logs.
fn slow_site(folder: &Path) -> (Site, Gate, Gate) {
    let (gate, logs) = (Gate::default(), Gate::default());
    let mut site = site(folder, 7);
    site.pace = Pace::Realtime;
    let (for_saves, for_logs) = (gate.clone(), logs.clone());
    site.layers = Rc::new(move || {
        Box::new(SlowDisk { disk: Disk::new(), gate: for_saves.clone(), logs: for_logs.clone() })
    });
    (site, gate, logs)
}

fn campaign() -> Campaign<RobotAct> {
    let tape = Procedure::builder("tape", "Tape")
        .measure(Measure::new("how far", "far-m", "m").range(0.0, 5.0))
        .build()
        .unwrap();
    Campaign::builder("Field Day").add(tape).build().unwrap()
}

struct Rig {
    robot: RobotLoop,
    panel: DriverPanel,
    memory: MemorySink,
    now: Micros,
}

impl Rig {
    fn boot(site: Site, hub: &fieldlab_nt4_net::Hub) -> Self {
        let (panel, memory, door) = (DriverPanel::new(), MemorySink::new(), Door::new());
        door.attach(Box::new(memory.clone()));
        door.attach(Box::new(NtSink::queued(hub)));
        let parts = LoopParts {
            io: Box::new(FakeRobot::new()),
            station: Box::new(panel.clone()),
            operator: Box::new(NtOperator::queued(hub.clone())),
            door,
            site,
            op_modes: vec![FieldLabOpMode::new(campaign()).into()],
        };
        let robot = RobotLoop::new(LoopConfig::default(), parts).unwrap();
        Self { robot, panel, memory, now: Micros::ZERO }
    }

    fn turns(&mut self, turns: usize) {
        for _ in 0..turns {
            self.now += Micros::from_millis(20);
            self.robot.tick(self.now, Some(UNIX + self.now));
        }
    }

    fn until(&mut self, what: &str, mut so: impl FnMut(&Self) -> bool) {
        for _ in 0..200_000 {
            if so(self) {
                return;
            }
            self.turns(1);
            std::thread::yield_now();
        }
        unreachable!("{what} never came; State is {:?}", self.text("FieldLab/State"));
    }

    fn text(&self, key: &str) -> String {
        match self.memory.last(&format!("/Catalyst/{key}")) {
            Some(Value::String(text)) => text.to_string(),
            _ => String::new(),
        }
    }

    fn warned(&self) -> bool {
        format!("{:?}", self.memory.last("/Catalyst/Alerts/Warnings")).contains("waits for the storage")
    }
}

#[test]
fn a_disk_that_does_not_answer_holds_no_turn_up_and_keeps_its_lock() {
    let folder = tempfile::tempdir().unwrap();
    let (site, gate, _) = slow_site(folder.path());
    let checkpoint = site.checkpoint.clone();
    let mut rig = Rig::boot(site, &network::hub().unwrap());

    gate.set(true);
    rig.panel.select(rig.robot.find("Field Lab"));
    rig.panel.set_enabled(true);
    rig.until("the first save", |_| gate.somebody_waits());
    let session = rig.text("FieldLab/Session");
    assert_eq!(session.len(), 8);

    // The object is dropped with its save in flight. Were any turn to wait for it, this test would never end.
    rig.panel.set_enabled(false);
    rig.turns(20);
    assert!(gate.somebody_waits() && !rig.warned(), "a save takes a moment");
    rig.turns(20);
    assert!(rig.warned(), "and this one takes longer");
    assert!(lock(&checkpoint).is_err(), "what is being written is not given to another");
    assert!(rig.robot.fault().is_none());
    assert_eq!(rig.text("FieldLab/Session"), session, "dashboards go on showing what stands");

    gate.set(false);
    rig.until("the op mode again", |rig| !rig.warned());
    assert!(lock(&checkpoint).is_err(), "the new object has it");
    rig.panel.set_enabled(true);
    rig.until("the question", |rig| !rig.text("FieldLab/PromptKey").is_empty());
    assert_eq!(rig.text("FieldLab/Session"), session, "it goes on where the save was");
    assert_eq!(rig.text("FieldLab/LastCommit"), "");

    // The end of the program is where somebody waits.
    drop(rig);
    lock(&checkpoint).unwrap();
    let saved = std::fs::read_to_string(&checkpoint).unwrap();
    assert!(saved.contains(&session), "{saved}");
}

#[test]
fn a_log_that_cannot_be_begun_yet_holds_no_turn_up_and_nothing_moves_until_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (site, _, logs) = slow_site(folder.path());
    let out = site.out_dir.clone();
    let mut rig = Rig::boot(site, &network::hub().unwrap());
    logs.set(true);
    rig.panel.select(rig.robot.find("Field Lab"));
    rig.panel.set_enabled(true);
    // Were any turn to wait for the folder or the file, this test would never end.
    rig.until("the log", |_| logs.somebody_waits());
    rig.turns(50);
    assert!(logs.somebody_waits() && !out.exists());
    let pre_arm = || format!("{:?}", rig.memory.last("/Catalyst/FieldLab/PreArm"));
    assert!(pre_arm().contains("log|fail|nothing of the log is on the disk yet"), "{}", pre_arm());
    let session = rig.text("FieldLab/Session");

    logs.set(false);
    let passes =
        |rig: &Rig| format!("{:?}", rig.memory.last("/Catalyst/FieldLab/PreArm")).contains("log|pass");
    rig.until("a log on the disk", passes);
    drop(rig);
    // What was said while there was no file yet is in it.
    let log = fieldlab_wpilog::Log::open(out.join(&session).join(format!("{session}_b1.wpilog"))).unwrap();
    let header = log.named(&format!("FieldLab/{session}/Header")).map(|entry| entry.records).sum::<u64>();
    assert_eq!(header, 1);
}

#[test]
fn a_log_that_cannot_be_made_is_an_error_on_the_dashboard_and_is_tried_again_at_the_next_enable() {
    let folder = tempfile::tempdir().unwrap();
    let mut site = site(folder.path(), 7);
    site.pace = Pace::Realtime;
    let out = site.out_dir.clone();
    std::fs::write(&out, b"a file where a folder should be").unwrap();
    let mut rig = Rig::boot(site, &network::hub().unwrap());
    let errors = |rig: &Rig| format!("{:?}", rig.memory.last("/Catalyst/Alerts/Errors"));
    rig.panel.select(rig.robot.find("Field Lab"));
    rig.panel.set_enabled(true);
    rig.until("the error", |rig| errors(rig).contains("[Log] ") && errors(rig).contains("could not create"));
    assert!(rig.robot.fault().is_none());

    std::fs::remove_file(&out).unwrap();
    rig.panel.set_enabled(false);
    rig.turns(5);
    rig.panel.set_enabled(true);
    let passes =
        |rig: &Rig| format!("{:?}", rig.memory.last("/Catalyst/FieldLab/PreArm")).contains("log|pass");
    rig.until("a log on the disk", passes);
    assert!(!errors(&rig).contains("[Log]"), "{}", errors(&rig));
}

#[test]
fn a_server_that_somebody_holds_holds_no_turn_up() {
    let folder = tempfile::tempdir().unwrap();
    let mut site = site(folder.path(), 7);
    site.pace = Pace::Realtime;
    let hub = network::hub().unwrap();
    let topics = |rig: &Rig| rig.robot.door().topic_count();
    // From the first topic declared to the question: all of it while somebody has the server and does not let go.
    let mut rig = hub.with(|_| {
        let mut rig = Rig::boot(site, &hub);
        rig.panel.select(rig.robot.find("Field Lab"));
        rig.panel.set_enabled(true);
        rig.until("the question", |rig| !rig.text("FieldLab/PromptKey").is_empty());
        rig
    });
    assert!(topics(&rig) > 50);
    rig.until("the question on the network", |_| {
        hub.with(|s| s.value("/Catalyst/FieldLab/PromptKey")).is_some_and(|(_, v)| v == "tape/far-m".into())
    });
    let max = hub.with(|s| s.value("/Catalyst/FieldLab/PromptMax"));
    assert!(max.is_some_and(|(_, v)| v == 5.0.into()));
    assert!(hub.with(|s| s.value("/Catalyst/Tuning/FieldLab/Advance")).is_some(), "inputs are declared");
    assert!(rig.robot.fault().is_none());
}
