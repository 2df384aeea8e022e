//! A robot whose facts a test may change, and what came of them.

use crate::common::FakeRobot;
use crate::common::rig::site;
use fieldlab_base::Micros;
use fieldlab_nt4_net::Hub;
use fieldlab_robot::driver_station::DriverPanel;
use fieldlab_robot::hw::{
    CanDevice, DeviceClass, GyroInfo, HardwareFacts, Inputs, ModuleConstants, Outputs, PowerInfo,
    PowerModule, RobotDescription, RobotIo, SwerveConstants,
};
use fieldlab_robot::identity::{Machine, RobotIdentity};
use fieldlab_robot::network;
use fieldlab_robot::operator::NoOperator;
use fieldlab_robot::opmode::OpModeEntry;
use fieldlab_robot::robot_loop::{LoopConfig, LoopParts, RobotLoop};
use fieldlab_robot::telemetry::{Door, MemorySink, NtSink};
use fieldlab_values::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

pub(crate) const ROOT: &str = "/Catalyst/Robot/";

/// The fake with facts that a test may change.
pub(crate) struct Told {
    robot: FakeRobot,
    facts: Rc<RefCell<(u64, HardwareFacts)>>,
}

impl RobotIo for Told {
    fn description(&self) -> RobotDescription {
        let drive = self.facts.borrow().1.drive.as_ref().map(SwerveConstants::geometry);
        RobotDescription { drive, ..self.robot.description() }
    }
    fn read(&mut self, now: Micros, inputs: &mut Inputs) {
        self.robot.read(now, inputs);
    }
    fn apply(&mut self, now: Micros, outputs: &Outputs) {
        self.robot.apply(now, outputs);
    }
    fn facts(&self) -> HardwareFacts {
        self.facts.borrow().1.clone()
    }
    fn facts_revision(&self) -> u64 {
        self.facts.borrow().0
    }
}

pub(crate) fn swerve() -> SwerveConstants {
    let device = |class, id, kind: &str| CanDevice::new("can_s0", class, id, kind);
    SwerveConstants {
        modules: std::array::from_fn(|i| ModuleConstants {
            position_m: crate::common::MODULES_M[i],
            drive_gear_ratio: 6.75,
            steer_gear_ratio: 12.8,
            wheel_radius_m: 0.0508,
            slip_current_amps: Some(80.0),
            drive_motor: device(DeviceClass::Motor, 2 * i as u8, "TalonFX"),
            steer_motor: device(DeviceClass::Motor, 2 * i as u8 + 1, "TalonFX"),
            encoder: Some(device(DeviceClass::Encoder, i as u8, "CANcoder")),
        }),
        max_speed_mps: 4.5,
        max_angular_rate_rad_per_sec: 9.0,
        odometry_hz: Some(250.0),
        can_fd: Some(true),
    }
}

pub(crate) fn hardware() -> HardwareFacts {
    HardwareFacts {
        drive: Some(swerve()),
        gyro: Some(GyroInfo::Can(CanDevice::new("can_s0", DeviceClass::Gyro, 0, "Pigeon2"))),
        power: Some(PowerInfo { module: PowerModule::RevPdh, channels: 24, device: None }),
        cameras: vec!["rear".into(), "front".into()],
        devices: vec![CanDevice::new("can_s2", DeviceClass::Motor, 9, "TalonFX").named("Hood|left")],
        simulated: false,
    }
}

pub(crate) struct Bench {
    pub(crate) robot: RobotLoop,
    pub(crate) panel: DriverPanel,
    pub(crate) memory: MemorySink,
    pub(crate) hub: Hub,
    pub(crate) facts: Rc<RefCell<(u64, HardwareFacts)>>,
    pub(crate) now: Micros,
    pub(crate) folder: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn new(facts: HardwareFacts, op_modes: Vec<OpModeEntry>) -> Self {
        Self::with(facts, op_modes, |_| ())
    }

    pub(crate) fn with(
        facts: HardwareFacts,
        op_modes: Vec<OpModeEntry>,
        change: impl FnOnce(&mut fieldlab_robot::site::Site),
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (panel, memory, hub) = (DriverPanel::new(), MemorySink::new(), network::hub().unwrap());
        let door = Door::new();
        door.attach(Box::new(memory.clone()));
        door.attach(Box::new(NtSink::direct(hub.clone())));
        let facts = Rc::new(RefCell::new((0, facts)));
        let mut site = site(folder.path(), 0x1d);
        change(&mut site);
        let parts = LoopParts {
            io: Box::new(Told { robot: FakeRobot::new(), facts: Rc::clone(&facts) }),
            station: Box::new(panel.clone()),
            operator: Box::new(NoOperator),
            door,
            site,
            op_modes,
        };
        let robot = RobotLoop::new(LoopConfig::default(), parts).unwrap();
        Self { robot, panel, memory, hub, facts, now: Micros::ZERO, folder }
    }

    /// A robot on a machine of which nothing can be read.
    pub(crate) fn bare(facts: HardwareFacts) -> Self {
        let bench = Self::new(facts, Vec::new());
        bench.robot.register().machine(&Machine::at(bench.folder.path().join("no machine"), None));
        bench
    }

    pub(crate) fn tick(&mut self) {
        self.now += Micros::from_millis(20);
        self.robot.tick(self.now, None);
    }

    pub(crate) fn declare(&mut self) {
        self.robot.declare(RobotIdentity::declare("Ratchet").unwrap());
    }

    pub(crate) fn value(&self, key: &str) -> Option<Value> {
        self.memory.last(&format!("{ROOT}{key}"))
    }

    pub(crate) fn text(&self, key: &str) -> String {
        match self.value(key) {
            Some(Value::String(text)) => text.to_string(),
            other => panic!("{key}: {other:?}"),
        }
    }

    pub(crate) fn alerts(&self, level: &str) -> Vec<String> {
        match self.memory.last(&format!("/Catalyst/Alerts/{level}")) {
            Some(Value::StringArray(rows)) => rows.iter().map(ToString::to_string).collect(),
            other => panic!("{level}: {other:?}"),
        }
    }

    /// The sheet as the server has it now.
    pub(crate) fn on_the_server(&self) -> BTreeMap<String, Value> {
        self.hub.with(|server| {
            let names: Vec<String> = server.topic_names().map(str::to_owned).collect();
            let ours = names.into_iter().filter(|name| name.starts_with(ROOT));
            ours.filter_map(|name| server.value(&name).map(|(_, value)| (name, value))).collect()
        })
    }
}

pub(crate) fn text(value: &str) -> Option<Value> {
    Some(value.into())
}

pub(crate) fn list(rows: &[&str]) -> Option<Value> {
    Some(Value::StringArray(rows.iter().map(|row| (*row).into()).collect()))
}

/// The parts come up: what they say of themselves is there from now on.
pub(crate) fn parts_up(bench: &mut Bench) {
    let mut facts = bench.facts.borrow_mut();
    facts.0 += 1;
    facts.1 = hardware();
}
