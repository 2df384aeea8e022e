//! The robot, its pack and the field around it, stepped a millisecond at a time.

mod io;
mod parts;

pub use io::{MAX_SPEED_MPS, MECHANISMS, SharedWorld};
pub use parts::declaration;
mod random;

use std::collections::BTreeMap;

use fieldlab_base::{ConfigError, Micros};
use fieldlab_motion::SwerveKinematics;
use fieldlab_robot::hw::{ChannelAmps, GyroReading, MODULES, ModuleReading, Reading};
use fieldlab_values::Translation2d;

use crate::battery::{Battery, BatteryConfig};
use crate::drive::{BodyState, Drive, DriveConfig, DriveTruth, STEP_SECS, Walls};
use crate::rng::Rng;
use crate::sensors::{Encoder, Gyro, SensorConfig, SensorFault};
use crate::shooter::{Shooter, ShooterConfig, Shot};

/// The field: a runway between walls, a hub to shoot at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Field {
    /// Its walls.
    pub walls: Walls,
    /// Middle of the hub's opening, metres.
    pub hub_m: (f64, f64),
}

impl Default for Field {
    /// 16 m by 8 m, the hub beyond the far wall's middle.
    fn default() -> Self {
        Self { walls: Walls { x_m: (0.0, 16.0), y_m: (0.0, 8.0) }, hub_m: (15.4, 4.0) }
    }
}

/// Everything that is not robot code.
#[derive(Debug, Clone, PartialEq)]
pub struct WorldConfig {
    /// The drive as it really is.
    pub drive: DriveConfig,
    /// The wheel radius on the drawing, which the robot's code believes, m.
    pub drawn_wheel_radius_m: f64,
    /// What the robot is told.
    pub sensors: SensorConfig,
    /// The shooter.
    pub shooter: ShooterConfig,
    /// The field.
    pub field: Field,
    /// The pack in the robot when it is first switched on.
    pub battery: BatteryConfig,
    /// Everything on the robot that draws current all the time, A.
    pub idle_amps: f64,
    /// Below this the controller cuts all outputs, V.
    pub brownout_volts: f64,
    /// °C of the air.
    pub air_celsius: f64,
}

impl WorldConfig {
    /// The standard robot with the differences of one real robot from its drawing, drawn from `seed`: tyres worn by up to
    /// 3 %, wheels unlike by 0.2 %, weight shifted by 3 %, carpet and grip by 5 %, azimuth zeros by 0.2°, gyro scale and
    /// drift, camera mount.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        random::vary(Self::standard(), &mut Rng::stream(seed, "robot"))
    }

    /// The robot of the drawing, with scenario F's sensors.
    #[must_use]
    pub fn standard() -> Self {
        Self {
            drive: DriveConfig::standard(),
            drawn_wheel_radius_m: 0.0508,
            sensors: SensorConfig::scenario_f(),
            shooter: ShooterConfig::standard(),
            field: Field::default(),
            battery: BatteryConfig::healthy("pack 1"),
            idle_amps: 2.0,
            brownout_volts: 6.75,
            air_celsius: 24.0,
        }
    }
}

/// A sensor that can fail by script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SensorId {
    /// The pack's voltage.
    Battery,
    /// The gyro.
    Gyro,
    /// Everything one module says.
    Module(usize),
    /// The cameras.
    Vision,
}

/// The robot and the field. Time goes on only in [`World::advance_to`].
#[derive(Debug)]
pub struct World {
    config: WorldConfig,
    kinematics: SwerveKinematics<MODULES>,
    drive: Drive,
    shooter: Shooter,
    battery: Battery,
    encoders: [Encoder; MODULES],
    gyro: Gyro,
    zero_rad: [f64; MODULES],
    now: Micros,
    load_volts: [f64; MODULES],
    bus_volts: f64,
    bus_amps: f64,
    rested_ms: u32,
    /// A dip forced from outside: volts off the pack, and until when.
    dip: Option<(f64, Micros)>,
    faults: BTreeMap<SensorId, SensorFault>,
    rng_frames: Rng,
    rng_load: Rng,
    rng_battery: Rng,
    rng_vision: Rng,
    rng_jitter: Rng,
    last_modules: [Option<Reading<ModuleReading>>; MODULES],
    last_gyro: Option<Reading<GyroReading>>,
    last_battery: Option<Reading<f64>>,
    last_power: Option<Reading<ChannelAmps>>,
    metres_driven: f64,
    swaps: u32,
}

impl World {
    /// A robot standing at rest in the middle of the field, switched on at instant zero; every chance comes from `seed`.
    ///
    /// # Errors
    /// Refuses a robot or a pack that cannot be.
    pub fn new(config: WorldConfig, seed: u64) -> Result<Self, ConfigError> {
        let config = WorldConfig { drive: config.drive.checked().map_err(|e| e.within("drive"))?, ..config };
        fieldlab_base::check::positive("drawn_wheel_radius_m", config.drawn_wheel_radius_m)?;
        let battery = Battery::new(config.battery.clone()).map_err(|e| e.within("battery"))?;
        let kinematics = SwerveKinematics::new(config.drive.module_m.map(|(x, y)| Translation2d::new(x, y)))?;
        let mut rng_counts = Rng::stream(seed, "encoder counts");
        let encoders = std::array::from_fn(|_| {
            Encoder::new(&config.sensors, config.drawn_wheel_radius_m, &mut rng_counts)
        });
        let mut world = Self {
            kinematics,
            drive: Drive::new(config.drive.clone(), config.air_celsius),
            shooter: Shooter::new(config.shooter, seed, config.air_celsius),
            bus_volts: battery.volts(config.idle_amps),
            bus_amps: config.idle_amps,
            battery,
            encoders,
            gyro: Gyro::new(seed),
            zero_rad: [0.0; MODULES],
            now: Micros::ZERO,
            load_volts: [0.0; MODULES],
            rested_ms: u32::MAX,
            dip: None,
            faults: BTreeMap::new(),
            rng_frames: Rng::stream(seed, "frames"),
            rng_load: Rng::stream(seed, "load"),
            rng_battery: Rng::stream(seed, "battery monitor"),
            rng_vision: Rng::stream(seed, "vision"),
            rng_jitter: Rng::stream(seed, "loop jitter"),
            last_modules: [None; MODULES],
            last_gyro: None,
            last_battery: None,
            last_power: None,
            metres_driven: 0.0,
            swaps: 0,
            config,
        };
        let walls = world.config.field.walls;
        world.place(0.5 * (walls.x_m.0 + walls.x_m.1), 0.5 * (walls.y_m.0 + walls.y_m.1), 0.0);
        Ok(world)
    }

    /// What it is.
    #[must_use]
    pub const fn config(&self) -> &WorldConfig {
        &self.config
    }

    /// The drive's constants, in closed form.
    #[must_use]
    pub fn truth(&self) -> DriveTruth {
        self.config.drive.truth()
    }

    /// Where the robot truly is.
    #[must_use]
    pub const fn body(&self) -> &BodyState {
        self.drive.body()
    }

    /// °C of drive motor `i` (0 to 3).
    #[must_use]
    pub const fn motor_celsius(&self, i: usize) -> f64 {
        self.drive.celsius(i)
    }

    /// Metres the robot's centre has travelled by its own power.
    #[must_use]
    pub const fn metres_driven(&self) -> f64 {
        self.metres_driven
    }

    /// The pack that is in it.
    #[must_use]
    pub const fn battery(&self) -> &Battery {
        &self.battery
    }

    /// Volts on the bus and amps from the pack, now.
    #[must_use]
    pub const fn bus(&self) -> (f64, f64) {
        (self.bus_volts, self.bus_amps)
    }

    /// How often a pack was swapped.
    #[must_use]
    pub const fn swaps(&self) -> u32 {
        self.swaps
    }

    /// All shots so far, oldest first.
    #[must_use]
    pub fn shots(&self) -> &[Shot] {
        &self.shooter.shots
    }

    /// From the muzzle to the middle of the hub, metres, level.
    #[must_use]
    pub fn hub_distance_m(&self) -> f64 {
        let (x, y) = self.config.field.hub_m;
        (x - self.body().x_m).hypot(y - self.body().y_m)
    }

    /// When the world is.
    #[must_use]
    pub const fn now(&self) -> Micros {
        self.now
    }

    /// A person carries the robot here and puts it down.
    pub fn place(&mut self, x_m: f64, y_m: f64, heading_rad: f64) {
        self.drive.place(x_m, y_m, heading_rad);
    }

    /// A person takes the pack out and puts this one in.
    ///
    /// # Errors
    /// Refuses numbers that are no pack; the old one stays.
    pub fn swap_battery(&mut self, pack: BatteryConfig) -> Result<(), ConfigError> {
        self.battery = Battery::new(pack)?;
        self.swaps += 1;
        Ok(())
    }

    /// Lets the pack lose `volts` for a while, as a bad cell or a jammed mechanism does.
    pub fn dip(&mut self, volts: f64, secs: f64) {
        self.dip = Some((volts, self.now + Micros::from_secs(secs)));
    }

    /// Makes a sensor fail, or heals it.
    pub fn set_fault(&mut self, sensor: SensorId, fault: Option<SensorFault>) {
        match fault {
            Some(fault) => self.faults.insert(sensor, fault),
            None => self.faults.remove(&sensor),
        };
    }

    /// Lets every controller go neutral: its master is gone.
    pub fn go_neutral(&mut self) {
        use fieldlab_robot::hw::{Outputs, RobotIo as _};
        self.apply(self.now, &Outputs::NEUTRAL);
    }

    /// Whether the controller has cut all outputs for want of volts.
    #[must_use]
    pub fn is_browned_out(&self) -> bool {
        self.bus_volts < self.config.brownout_volts
    }

    /// Jitter of one start of the loop, in whole milliseconds: what the loop's clock adds to its 20 ms.
    pub fn loop_jitter(&mut self) -> Micros {
        let ms = (self.rng_jitter.normal() * self.config.sensors.loop_jitter_ms).round().clamp(-8.0, 8.0);
        Micros::from_millis(ms as i64)
    }

    /// Lets the world run until `to`, in whole milliseconds; an instant in the past does nothing.
    pub fn advance_to(&mut self, to: Micros) {
        let mut left = to.since(self.now).0 / 1000;
        while left > 0 {
            if self.drive.is_resting() && self.shooter.is_resting() && self.dip.is_none() {
                left -= self.rest(left);
            } else {
                self.step();
                left -= 1;
            }
        }
    }

    /// Up to `left_ms` of rest at once; answers how many it took.
    fn rest(&mut self, left_ms: i64) -> i64 {
        // The encoders' history must have run out before it can be filled with the present.
        const HISTORY_MS: u32 = 512;
        if self.rested_ms < HISTORY_MS {
            self.step();
            self.rested_ms += 1;
            return 1;
        }
        for (encoder, wheel) in self.encoders.iter_mut().zip(self.drive.body().wheel_rad) {
            encoder.fill(wheel);
        }
        let ms = left_ms.min(20);
        let secs = ms as f64 * 1e-3;
        self.drive.rest(secs);
        self.bus_amps = self.config.idle_amps;
        self.bus_volts = self.battery.volts(self.bus_amps);
        self.battery.step(self.bus_amps, secs);
        self.now += Micros::from_millis(ms);
        ms
    }

    fn step(&mut self) {
        if self.now.0 % 20_000 == 0 {
            let c = &self.config.sensors;
            let keep = (-0.1_f64).exp();
            for load in &mut self.load_volts {
                *load = keep * *load + (1.0 - keep * keep).sqrt() * c.load_volts * self.rng_load.normal();
            }
        }
        let dip = match self.dip {
            Some((volts, until)) if self.now < until => volts,
            _ => {
                self.dip = None;
                0.0
            }
        };
        // The currents of the step before: a millisecond of lag, far below the sag's effect on anything.
        self.bus_amps =
            self.config.idle_amps + self.drive.supply_amps() + self.shooter.supply_amps(self.bus_volts);
        self.bus_volts = (self.battery.volts(self.bus_amps) - dip).max(0.0);
        self.battery.step(self.bus_amps, STEP_SECS);
        let powered = if self.is_browned_out() { 0.0 } else { self.bus_volts };
        if !self.drive.is_resting() {
            self.rested_ms = 0;
        }
        self.drive.step(powered, &self.load_volts, &self.config.field.walls);
        let distance = self.hub_distance_m();
        self.shooter.step(powered, distance, STEP_SECS);
        let body = self.drive.body();
        self.metres_driven += body.vx_mps.hypot(body.vy_mps) * STEP_SECS;
        for (encoder, wheel) in self.encoders.iter_mut().zip(body.wheel_rad) {
            encoder.push(wheel);
        }
        self.now += Micros::from_millis(1);
    }
}
