//! A robot that does exactly what it is told, for tests of the loop. Physics is another crate's business.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    reason = "each test program uses another part of it"
)]

pub mod rig;

use std::cell::RefCell;
use std::f64::consts::TAU;
use std::rc::Rc;

use fieldlab_base::Micros;
use fieldlab_robot::hw::{
    DriveCommand, DriveGeometry, GyroReading, Inputs, MechanismCommand, MechanismInfo, MechanismReading,
    ModuleReading, Outputs, Reading, RobotDescription, RobotIo, VisionReading,
};
use fieldlab_values::Pose2d;

/// Metres per second per volt of the fake's drive.
pub const METRES_PER_VOLT_SECOND: f64 = 0.4;
/// The radius that the fake's wheels really have.
pub const TRUE_RADIUS_M: f64 = 0.0500;
/// The radius in force.
pub const RADIUS_M: f64 = 0.0508;
/// Where the modules stand.
pub const MODULES_M: [(f64, f64); 4] = [(0.3, 0.3), (0.3, -0.3), (-0.3, 0.3), (-0.3, -0.3)];

/// What a test may look at and turn.
#[derive(Debug)]
pub struct Bench {
    /// Whether outputs are kept.
    pub record: bool,
    /// Every output applied.
    pub applied: Vec<Outputs>,
    /// Pack volts; `None` is a dead monitor.
    pub volts: Option<f64>,
    /// Whether the gyro speaks.
    pub gyro_alive: bool,
    /// Whether each module speaks.
    pub modules_alive: [bool; 4],
    /// At this many volts every wheel breaks loose while the robot is against a wall; `None` is open carpet.
    pub wall_break_volts: Option<f64>,
    /// Modules zeroed.
    pub zeroed: Vec<usize>,
    yaw_rad: f64,
    rate: f64,
    wheel_rad: [f64; 4],
    wheel_rate: [f64; 4],
    angle: [f64; 4],
    volts_applied: [f64; 4],
    amps: [f64; 4],
    mechanisms: [MechanismCommand; 2],
    last: Option<Micros>,
    command: DriveCommand,
}

/// The fake; clones are one robot.
#[derive(Debug, Clone)]
pub struct FakeRobot(pub Rc<RefCell<Bench>>);

impl FakeRobot {
    pub fn new() -> Self {
        Self(Rc::new(RefCell::new(Bench {
            record: true,
            applied: Vec::new(),
            volts: Some(12.9),
            gyro_alive: true,
            modules_alive: [true; 4],
            wall_break_volts: None,
            zeroed: Vec::new(),
            yaw_rad: 0.0,
            rate: 0.0,
            wheel_rad: [0.0; 4],
            wheel_rate: [0.0; 4],
            angle: [0.0; 4],
            volts_applied: [0.0; 4],
            amps: [0.0; 4],
            mechanisms: [MechanismCommand::Neutral; 2],
            last: None,
            command: DriveCommand::Neutral,
        })))
    }

    /// The command stream so far, and forgets it.
    pub fn take_applied(&self) -> Vec<Outputs> {
        std::mem::take(&mut self.0.borrow_mut().applied)
    }
}

impl Bench {
    /// Moves the world to `now` under the standing command.
    fn advance(&mut self, now: Micros) {
        let dt = self.last.map_or(0.0, |last| now.since(last).as_secs());
        self.last = Some(now);
        self.rate = 0.0;
        self.wheel_rate = [0.0; 4];
        self.volts_applied = [0.0; 4];
        self.amps = [0.0; 4];
        match self.command {
            DriveCommand::Neutral | DriveCommand::XLock => {}
            DriveCommand::Chassis { vx_mps, vy_mps, omega_rad_per_sec } => {
                self.rate = omega_rad_per_sec;
                for (i, (x, y)) in MODULES_M.iter().enumerate() {
                    let (vx, vy) = (vx_mps - omega_rad_per_sec * y, vy_mps + omega_rad_per_sec * x);
                    self.angle[i] = vy.atan2(vx);
                    self.wheel_rate[i] = vx.hypot(vy) / TRUE_RADIUS_M;
                    self.volts_applied[i] = vx.hypot(vy) / METRES_PER_VOLT_SECOND;
                    self.amps[i] = 5.0;
                }
            }
            DriveCommand::Volts { volts, angle_rad } => {
                for i in 0..4 {
                    self.angle[i] = angle_rad[i];
                    self.volts_applied[i] = volts[i];
                    let free = self.wall_break_volts.is_none_or(|v| volts[i].abs() > v);
                    self.amps[i] = if self.wall_break_volts.is_some() { volts[i].abs() * 20.0 } else { 8.0 };
                    if free {
                        self.wheel_rate[i] = volts[i] * METRES_PER_VOLT_SECOND / TRUE_RADIUS_M;
                    }
                }
            }
        }
        self.yaw_rad += self.rate * dt;
        for i in 0..4 {
            self.wheel_rad[i] += self.wheel_rate[i] * dt;
        }
        assert!(self.yaw_rad.abs() < 1000.0 * TAU);
    }
}

impl RobotIo for FakeRobot {
    fn description(&self) -> RobotDescription {
        RobotDescription {
            name: "fake".into(),
            drive: Some(DriveGeometry {
                module_positions_m: MODULES_M,
                wheel_radius_m: RADIUS_M,
                drive_gearing: 6.75,
            }),
            mechanisms: vec![
                MechanismInfo { name: "hood", unit: "deg", min: 20.0, max: 60.0 },
                MechanismInfo { name: "flywheel", unit: "rpm", min: 0.0, max: 6000.0 },
            ],
        }
    }

    fn read(&mut self, now: Micros, inputs: &mut Inputs) {
        let mut bench = self.0.borrow_mut();
        bench.advance(now);
        inputs.battery_volts = bench.volts.map(|v| Reading::new(v, now));
        let gyro = GyroReading { yaw_rad: bench.yaw_rad, rate_rad_per_sec: Some(bench.rate) };
        inputs.gyro = bench.gyro_alive.then_some(Reading::new(gyro, now));
        for (i, slot) in inputs.modules.iter_mut().enumerate() {
            let reading = ModuleReading {
                angle_rad: Some(bench.angle[i]),
                position_rad: Some(bench.wheel_rad[i]),
                velocity_rad_per_sec: Some(bench.wheel_rate[i]),
                applied_volts: Some(bench.volts_applied[i]),
                stator_amps: Some(bench.amps[i]),
                temperature_c: Some(30.0),
            };
            *slot = bench.modules_alive[i].then_some(Reading::new(reading, now));
        }
        let robot_in_field = Pose2d::new(1.0, 2.0, 0.0);
        inputs.vision = Some(Reading::new(VisionReading { robot_in_field, tags: 2 }, now));
        for (slot, command) in inputs.mechanisms.iter_mut().zip(bench.mechanisms) {
            let value = match command {
                MechanismCommand::Setpoint(v) => Some(v),
                _ => Some(0.0),
            };
            *slot = Some(Reading::new(
                MechanismReading {
                    value,
                    at_setpoint: matches!(command, MechanismCommand::Setpoint(_)),
                    ..Default::default()
                },
                now,
            ));
        }
    }

    fn apply(&mut self, now: Micros, outputs: &Outputs) {
        let mut bench = self.0.borrow_mut();
        bench.advance(now);
        bench.command = outputs.drive;
        bench.mechanisms = [outputs.mechanisms[0], outputs.mechanisms[1]];
        if bench.record {
            bench.applied.push(*outputs);
        }
    }

    fn zero_module(&mut self, module: usize) -> bool {
        self.0.borrow_mut().zeroed.push(module);
        true
    }
}
