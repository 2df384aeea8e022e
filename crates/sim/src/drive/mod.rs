//! A swerve drive that is not there: controllers, motors, wheels, carpet.

mod config;
mod contact;

pub use config::{DriveConfig, DriveTruth, LoopGains};
pub use contact::{BodyState, Walls};

pub(crate) use config::GRAVITY;
use contact::Contact;

use crate::motor::Winding;

/// What one module's controllers were told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ModuleCommand {
    /// No output: the motor's terminals are shorted (brake mode).
    Brake,
    /// This part of the battery's volts, -1 to 1, at this reported azimuth.
    Duty {
        /// Output volts over battery volts.
        duty: f64,
        /// The azimuth to hold, as the module reports it; where it stands when `None`.
        azimuth_rad: Option<f64>,
    },
    /// This wheel speed, by the controller's own loop.
    Velocity {
        /// Wheel speed after the gearbox, rad/s.
        wheel_rad_per_sec: f64,
        /// The azimuth to hold, as the module reports it.
        azimuth_rad: f64,
    },
}

/// The whole drive.
#[derive(Debug, Clone, PartialEq)]
pub struct Drive {
    config: DriveConfig,
    body: BodyState,
    contact: Contact,
    commands: [ModuleCommand; 4],
    azimuth_target_rad: [f64; 4],
    windings: [Winding; 4],
    amps: [f64; 4],
    volts: [f64; 4],
    duty: [f64; 4],
    before_rad_per_sec: [f64; 4],
}

/// One physics step. Also the resolution of the sensors' history.
pub const STEP_SECS: f64 = 0.001;

impl Drive {
    /// The drive at rest at the field's origin.
    #[must_use]
    pub fn new(config: DriveConfig, air_celsius: f64) -> Self {
        let azimuth = config.azimuth_offset_rad;
        Self {
            body: BodyState {
                x_m: 0.0,
                y_m: 0.0,
                heading_rad: 0.0,
                vx_mps: 0.0,
                vy_mps: 0.0,
                omega_rad_per_sec: 0.0,
                wheel_rad_per_sec: [0.0; 4],
                wheel_rad: [0.0; 4],
                azimuth_rad: azimuth,
                slipping: [false; 4],
            },
            config,
            contact: Contact::new(),
            commands: [ModuleCommand::Brake; 4],
            azimuth_target_rad: azimuth,
            windings: [Winding::new(air_celsius); 4],
            amps: [0.0; 4],
            volts: [0.0; 4],
            duty: [0.0; 4],
            before_rad_per_sec: [0.0; 4],
        }
    }

    /// What it is.
    #[must_use]
    pub const fn config(&self) -> &DriveConfig {
        &self.config
    }

    /// Where it is and how it moves, truly.
    #[must_use]
    pub const fn body(&self) -> &BodyState {
        &self.body
    }

    /// Stator amps of each drive motor, positive when they push forward.
    #[must_use]
    pub const fn amps(&self) -> &[f64; 4] {
        &self.amps
    }

    /// Volts across each drive motor, as its controller measures them.
    #[must_use]
    pub const fn volts(&self) -> &[f64; 4] {
        &self.volts
    }

    /// °C of drive motor `i`.
    #[must_use]
    pub const fn celsius(&self, i: usize) -> f64 {
        self.windings[i].celsius()
    }

    /// Azimuth of module `i` as it reports it, before noise.
    #[must_use]
    pub fn reported_azimuth_rad(&self, i: usize) -> f64 {
        self.body.azimuth_rad[i] - self.config.azimuth_offset_rad[i]
    }

    /// Picks the robot up and puts it down at rest.
    pub fn place(&mut self, x_m: f64, y_m: f64, heading_rad: f64) {
        self.body.x_m = x_m;
        self.body.y_m = y_m;
        // The gyro sees the turn: the shorter way from where it pointed.
        let turn = heading_rad - self.body.heading_rad;
        self.body.heading_rad += turn.sin().atan2(turn.cos());
        (self.body.vx_mps, self.body.vy_mps, self.body.omega_rad_per_sec) = (0.0, 0.0, 0.0);
        self.body.wheel_rad_per_sec = [0.0; 4];
        self.body.slipping = [false; 4];
        self.contact = Contact::new();
    }

    /// Tells the controllers what to do from now on. Non-finite commands brake.
    pub fn command(&mut self, commands: [ModuleCommand; 4]) {
        for (i, command) in commands.into_iter().enumerate() {
            let finite = match command {
                ModuleCommand::Brake => true,
                ModuleCommand::Duty { duty, azimuth_rad } => {
                    duty.is_finite() && azimuth_rad.is_none_or(f64::is_finite)
                }
                ModuleCommand::Velocity { wheel_rad_per_sec, azimuth_rad } => {
                    wheel_rad_per_sec.is_finite() && azimuth_rad.is_finite()
                }
            };
            self.commands[i] = if finite { command } else { ModuleCommand::Brake };
            let reported = match self.commands[i] {
                ModuleCommand::Brake => None,
                ModuleCommand::Duty { azimuth_rad, .. } => azimuth_rad,
                ModuleCommand::Velocity { azimuth_rad, .. } => Some(azimuth_rad),
            };
            if let Some(angle) = reported {
                self.azimuth_target_rad[i] = angle + self.config.azimuth_offset_rad[i];
            }
        }
    }

    /// Whether nothing moves and nothing is asked to.
    #[must_use]
    pub fn is_resting(&self) -> bool {
        self.commands.iter().all(|c| matches!(c, ModuleCommand::Brake))
            && self.body.wheel_rad_per_sec == [0.0; 4]
            && self.body.vx_mps == 0.0
            && self.body.vy_mps == 0.0
            && self.body.omega_rad_per_sec == 0.0
    }

    /// Amps drawn from a battery of `bus_volts`, from the last step's duties and currents.
    #[must_use]
    pub fn supply_amps(&self) -> f64 {
        (0..4).map(|i| self.module_supply_amps(i)).sum()
    }

    /// The part of it that drive motor `i` draws.
    #[must_use]
    pub const fn module_supply_amps(&self, i: usize) -> f64 {
        self.duty[i] * self.amps[i]
    }

    /// One [`STEP_SECS`] with the battery at `bus_volts`; `load_volts` is a disturbance on each motor, in volts.
    pub fn step(&mut self, bus_volts: f64, load_volts: &[f64; 4], walls: &Walls) {
        let config = &self.config;
        let mut torque = [0.0; 4];
        for (i, torque) in torque.iter_mut().enumerate() {
            let wheel = self.body.wheel_rad_per_sec[i];
            let volts = match self.commands[i] {
                ModuleCommand::Brake => 0.0,
                ModuleCommand::Duty { duty, .. } => duty.clamp(-1.0, 1.0) * bus_volts,
                ModuleCommand::Velocity { wheel_rad_per_sec: target, .. } => {
                    let g = config.loop_gains;
                    let sign = if target == 0.0 { 0.0 } else { target.signum() };
                    (g.ks_volts * sign
                        + g.kv_volts_per_rad_per_sec * target
                        + g.kp_volts_per_rad_per_sec * (target - wheel))
                        .clamp(-bus_volts, bus_volts)
                }
            };
            // The middle of the step, extrapolated (Adams and Bashforth): the time constant is exact to second order.
            let middle = wheel + 0.5 * (wheel - self.before_rad_per_sec[i]);
            let shaft = middle * config.gear;
            let amps = config.motor.amps(volts, shaft);
            self.amps[i] = amps;
            self.volts[i] = amps * config.motor.ohms + config.motor.ke_volts_per_rad_per_sec * shaft;
            self.duty[i] = if bus_volts > 0.0 { self.volts[i] / bus_volts } else { 0.0 };
            *torque = config.wheel_nm_per_amp() * (amps + load_volts[i] / config.motor.ohms);
            self.windings[i].step(&config.motor, amps * amps, STEP_SECS);
            let error = self.azimuth_target_rad[i] - self.body.azimuth_rad[i];
            let rate = (error * config.steer_gain_per_sec)
                .clamp(-config.steer_limit_rad_per_sec, config.steer_limit_rad_per_sec);
            self.body.azimuth_rad[i] += rate * STEP_SECS;
        }
        self.before_rad_per_sec = self.body.wheel_rad_per_sec;
        self.contact.step(config, &mut self.body, &torque, walls, STEP_SECS);
        self.settle();
    }

    /// Cools the motors through `dt_secs` of rest.
    pub fn rest(&mut self, dt_secs: f64) {
        self.amps = [0.0; 4];
        self.volts = [0.0; 4];
        self.duty = [0.0; 4];
        self.before_rad_per_sec = [0.0; 4];
        for winding in &mut self.windings {
            winding.step(&self.config.motor, 0.0, dt_secs);
        }
    }

    /// Calls a robot that all but rests, and is not driven, at rest.
    fn settle(&mut self) {
        let b = &mut self.body;
        let still = b.wheel_rad_per_sec.iter().all(|w| w.abs() < 1e-4)
            && b.vx_mps.abs().max(b.vy_mps.abs()).max(b.omega_rad_per_sec.abs()) < 1e-5;
        if still && self.commands.iter().all(|c| matches!(c, ModuleCommand::Brake)) {
            b.wheel_rad_per_sec = [0.0; 4];
            (b.vx_mps, b.vy_mps, b.omega_rad_per_sec) = (0.0, 0.0, 0.0);
        }
    }
}
