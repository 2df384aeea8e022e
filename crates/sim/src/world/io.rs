//! The world as the robot's hardware.

use std::sync::Arc;

use std::cell::RefCell;
use std::rc::Rc;

use fieldlab_base::Micros;
use fieldlab_motion::{desaturate, optimise};
use fieldlab_robot::hw::{
    DriveCommand, GyroReading, HardwareFacts, Inputs, MODULES, MechanismCommand, MechanismInfo,
    MechanismReading, ModuleReading, Outputs, Reading, RobotDescription, RobotIo, VisionReading,
};
use fieldlab_values::{ChassisSpeeds, Pose2d};

use super::{SensorId, World};
use crate::drive::ModuleCommand;
use crate::sensors::SensorFault;

/// Fastest that the drive lets a wheel go under closed-loop control, m/s.
pub const MAX_SPEED_MPS: f64 = 4.2;

/// The mechanisms, in the order of the description.
pub const MECHANISMS: [MechanismInfo; 3] = [
    MechanismInfo { name: "hood", unit: "deg", min: 20.0, max: 80.0 },
    MechanismInfo { name: "flywheel", unit: "rpm", min: 0.0, max: 5000.0 },
    MechanismInfo { name: "feeder", unit: "V", min: -12.0, max: 12.0 },
];

/// A world that the robot's code and the person on the field share.
///
/// The code's clock starts at zero on every boot; the world's goes on. All instants that pass through are turned.
#[derive(Debug, Clone)]
pub struct SharedWorld {
    world: Rc<RefCell<World>>,
    booted_at: Micros,
}

impl SharedWorld {
    /// Wraps a world, for code that is switched on now.
    #[must_use]
    pub fn new(world: World) -> Self {
        let booted_at = world.now();
        Self { world: Rc::new(RefCell::new(world)), booted_at }
    }

    /// The same world, for code that is switched on at `booted_at` by the world's clock.
    #[must_use]
    pub fn rebooted(&self, booted_at: Micros) -> Self {
        Self { world: Rc::clone(&self.world), booted_at }
    }

    /// The world itself. It must not be borrowed while the robot's loop ticks.
    #[must_use]
    pub fn world(&self) -> &RefCell<World> {
        &self.world
    }
}

impl RobotIo for SharedWorld {
    fn description(&self) -> RobotDescription {
        self.world.borrow().description()
    }

    fn read(&mut self, now: Micros, inputs: &mut Inputs) {
        self.world.borrow_mut().read(now + self.booted_at, inputs);
        turn_back(inputs, self.booted_at);
    }

    fn pack(&self) -> Option<Arc<str>> {
        self.world.borrow().pack()
    }

    fn apply(&mut self, now: Micros, outputs: &Outputs) {
        self.world.borrow_mut().apply(now + self.booted_at, outputs);
    }

    fn zero_module(&mut self, module: usize) -> bool {
        self.world.borrow_mut().zero_module(module)
    }

    fn facts(&self) -> HardwareFacts {
        self.world.borrow().facts()
    }
}

/// Turns every instant of a snapshot into the clock of code that was switched on at `booted_at`.
fn turn_back(inputs: &mut Inputs, booted_at: Micros) {
    fn back<T>(reading: &mut Option<Reading<T>>, by: Micros) {
        if let Some(reading) = reading {
            reading.at -= by;
        }
    }
    back(&mut inputs.battery_volts, booted_at);
    back(&mut inputs.gyro, booted_at);
    back(&mut inputs.vision, booted_at);
    back(&mut inputs.power, booted_at);
    inputs.modules.iter_mut().for_each(|m| back(m, booted_at));
    inputs.mechanisms.iter_mut().for_each(|m| back(m, booted_at));
}

impl RobotIo for World {
    fn description(&self) -> RobotDescription {
        RobotDescription {
            name: super::parts::NAME.to_owned(),
            drive: Some(self.config.constants().geometry()),
            mechanisms: MECHANISMS.to_vec(),
        }
    }

    /// Lets the world run until `now`, then reads its sensors.
    fn pack(&self) -> Option<Arc<str>> {
        Some(Arc::clone(self.battery.name()))
    }

    fn read(&mut self, now: Micros, inputs: &mut Inputs) {
        self.advance_to(now);
        inputs.battery_volts = self.read_battery(now);
        inputs.gyro = self.read_gyro(now);
        for i in 0..MODULES {
            inputs.modules[i] = self.read_module(i, now);
        }
        inputs.vision = self.read_vision(now);
        inputs.power = self.read_power(now);
        self.read_mechanisms(now, inputs);
    }

    fn apply(&mut self, _now: Micros, outputs: &Outputs) {
        let command = if self.is_browned_out() { DriveCommand::Neutral } else { outputs.drive };
        let modules = self.module_commands(&command);
        self.drive.command(modules);
        let [hood, flywheel, feeder] = match outputs.mechanisms {
            [a, b, c, ..] if !self.is_browned_out() => [a, b, c],
            _ => [MechanismCommand::Neutral; 3],
        };
        (self.shooter.hood, self.shooter.flywheel, self.shooter.feeder) = (hood, flywheel, feeder);
    }

    fn zero_module(&mut self, module: usize) -> bool {
        let Some(zero) = self.zero_rad.get_mut(module) else { return false };
        *zero = self.drive.reported_azimuth_rad(module);
        true
    }

    fn facts(&self) -> HardwareFacts {
        self.hardware_facts()
    }
}

impl World {
    /// What the module reports as its azimuth, without noise.
    fn azimuth(&self, i: usize) -> f64 {
        self.drive.reported_azimuth_rad(i) - self.zero_rad[i]
    }

    fn module_commands(&mut self, command: &DriveCommand) -> [ModuleCommand; MODULES] {
        match command {
            DriveCommand::Neutral => [ModuleCommand::Brake; MODULES],
            DriveCommand::XLock => std::array::from_fn(|i| {
                let (x, y) = self.config.drive.module_m[i];
                ModuleCommand::Duty { duty: 0.0, azimuth_rad: Some(y.atan2(x) + self.zero_rad[i]) }
            }),
            DriveCommand::Volts { volts, angle_rad } => {
                // The controller turns volts into a duty with its own reading of the pack.
                let noise = self.config.sensors.battery_noise_volts * self.rng_battery.normal();
                let measured = (self.bus_volts + noise).max(1.0);
                std::array::from_fn(|i| ModuleCommand::Duty {
                    duty: volts[i] / measured,
                    azimuth_rad: Some(angle_rad[i] + self.zero_rad[i]),
                })
            }
            DriveCommand::Chassis { vx_mps, vy_mps, omega_rad_per_sec } => {
                let angles = std::array::from_fn(|i| self.azimuth(i));
                let wanted = ChassisSpeeds::new(*vx_mps, *vy_mps, *omega_rad_per_sec);
                let mut states = self.kinematics.module_states(&wanted, &angles);
                desaturate(&mut states, MAX_SPEED_MPS);
                std::array::from_fn(|i| {
                    let state = optimise(&states[i], angles[i]);
                    // A wheel that still points elsewhere must not push there.
                    let aligned = (state.angle.angle_rad - angles[i]).cos().max(0.0);
                    ModuleCommand::Velocity {
                        wheel_rad_per_sec: state.speed_mps * aligned / self.config.drawn_wheel_radius_m,
                        azimuth_rad: state.angle.angle_rad + self.zero_rad[i],
                    }
                })
            }
        }
    }

    fn read_battery(&mut self, now: Micros) -> Option<Reading<f64>> {
        let noise = self.config.sensors.battery_noise_volts * self.rng_battery.normal();
        let fresh = Reading::new(self.bus_volts + noise, now);
        match self.faults.get(&SensorId::Battery) {
            Some(SensorFault::Silent) => return None,
            Some(SensorFault::Nan) => return Some(Reading::new(f64::NAN, now)),
            Some(SensorFault::Stale) => return self.last_battery,
            None => self.last_battery = Some(fresh),
        }
        self.last_battery
    }

    fn read_gyro(&mut self, now: Micros) -> Option<Reading<GyroReading>> {
        let body = self.drive.body();
        let (yaw, rate) = self.gyro.read(&self.config.sensors, body.heading_rad, body.omega_rad_per_sec, now);
        let fresh = GyroReading { yaw_rad: yaw, rate_rad_per_sec: Some(rate) };
        match self.faults.get(&SensorId::Gyro) {
            Some(SensorFault::Silent) => None,
            Some(SensorFault::Nan) => {
                Some(Reading::new(GyroReading { yaw_rad: f64::NAN, rate_rad_per_sec: Some(f64::NAN) }, now))
            }
            Some(SensorFault::Stale) => self.last_gyro,
            None => {
                self.last_gyro = Some(Reading::new(fresh, now));
                self.last_gyro
            }
        }
    }

    fn read_module(&mut self, i: usize, now: Micros) -> Option<Reading<ModuleReading>> {
        let c = self.config.sensors;
        let age_ms = self.rng_frames.below(c.frame_age_ms + 1);
        let stale = self.rng_frames.chance(c.stale_chance);
        let true_speed = self.drive.body().wheel_rad_per_sec[i];
        let (position, speed) = self.encoders[i].read(age_ms as usize, true_speed, &mut self.rng_frames);
        let amps = self.drive.amps()[i] + c.amps_noise * self.rng_frames.normal();
        let reading = ModuleReading {
            // A magnetic encoder of 12 bits.
            angle_rad: Some(quantise(self.azimuth(i), std::f64::consts::TAU / 4096.0)),
            position_rad: Some(position),
            velocity_rad_per_sec: Some(speed),
            applied_volts: Some(quantise(self.drive.volts()[i], 0.001)),
            stator_amps: Some(quantise(amps, 0.01)),
            temperature_c: Some(self.drive.celsius(i).floor()),
        };
        match self.faults.get(&SensorId::Module(i)) {
            Some(SensorFault::Silent) => return None,
            Some(SensorFault::Nan) => {
                let nan = Some(f64::NAN);
                let none = ModuleReading {
                    angle_rad: nan,
                    position_rad: nan,
                    velocity_rad_per_sec: nan,
                    applied_volts: nan,
                    stator_amps: nan,
                    temperature_c: nan,
                };
                return Some(Reading::new(none, now));
            }
            Some(SensorFault::Stale) => {}
            None if stale && self.last_modules[i].is_some() => {}
            None => {
                self.last_modules[i] = Some(Reading::new(reading, now - Micros::from_millis(age_ms as i64)));
            }
        }
        self.last_modules[i]
    }

    fn read_vision(&mut self, now: Micros) -> Option<Reading<VisionReading>> {
        let (dx, dy, turn) = self.config.sensors.vision_bias;
        let (metres, radians) = self.config.sensors.vision_noise;
        let noise = [self.rng_vision.normal(), self.rng_vision.normal(), self.rng_vision.normal()];
        let body = self.drive.body();
        let (sin, cos) = body.heading_rad.sin_cos();
        let pose = Pose2d::new(
            body.x_m + dx * cos - dy * sin + metres * noise[0],
            body.y_m + dx * sin + dy * cos + metres * noise[1],
            body.heading_rad + turn + radians * noise[2],
        );
        match self.faults.get(&SensorId::Vision) {
            Some(SensorFault::Nan) => {
                let robot_in_field = Pose2d::new(f64::NAN, f64::NAN, f64::NAN);
                Some(Reading::new(VisionReading { robot_in_field, tags: 1 }, now))
            }
            Some(_) => None,
            None => Some(Reading::new(VisionReading { robot_in_field: pose, tags: 2 }, now)),
        }
    }

    fn read_mechanisms(&mut self, now: Micros, inputs: &mut Inputs) {
        let s = &self.shooter;
        let near = |command: MechanismCommand, value: f64, within: f64| match command {
            MechanismCommand::Setpoint(target) => (target - value).abs() <= within,
            _ => false,
        };
        let readings = [
            MechanismReading {
                value: Some(s.hood_deg()),
                at_setpoint: near(s.hood, s.hood_deg(), 0.5),
                stator_amps: None,
                temperature_c: None,
            },
            MechanismReading {
                value: Some(s.rpm()),
                at_setpoint: near(s.flywheel, s.rpm(), 25.0),
                stator_amps: Some(s.amps()),
                temperature_c: Some(s.celsius().floor()),
            },
            MechanismReading {
                value: Some(if s.has_fired() { 1.0 } else { 0.0 }),
                at_setpoint: s.has_fired(),
                stator_amps: None,
                temperature_c: None,
            },
        ];
        for (slot, reading) in inputs.mechanisms.iter_mut().zip(readings) {
            *slot = Some(Reading::new(reading, now));
        }
    }
}

fn quantise(value: f64, step: f64) -> f64 {
    (value / step).round() * step
}
