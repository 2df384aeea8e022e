//! What the loop itself says every turn: sensors, commands, the driver station, its own health.

use fieldlab_base::{ConfigError, Micros};
use fieldlab_campaign::channels as names;
use fieldlab_motion::{Odometry, SwerveKinematics};
use fieldlab_values::{Pose2d, Publisher, Root, Rotation2d, SwerveModulePosition, Translation2d};

use crate::driver_station::DriverState;
use crate::hw::{
    ChannelAmps, DriveCommand, DriveGeometry, Inputs, MODULES, MechanismCommand, MechanismReading,
    ModuleReading, Outputs, Reading, RobotDescription,
};
use crate::opmode::OpModeKind;
use crate::telemetry::Door;

/// How often the wall clock is logged, as WPILib does.
const CLOCK_PERIOD: Micros = Micros::from_millis(5000);

/// How often the sinks are asked how they fare.
const HEALTH_PERIOD: Micros = Micros::from_millis(100);

/// Wheel and gyro odometry of the loop.
pub(super) struct WheelOdometry {
    odometry: Odometry<MODULES>,
    wheel_radius_m: f64,
    started: bool,
}

impl WheelOdometry {
    pub(super) fn new(geometry: DriveGeometry) -> Result<Self, ConfigError> {
        let modules = geometry.module_positions_m.map(|(x, y)| Translation2d::new(x, y));
        Ok(Self {
            odometry: Odometry::new(SwerveKinematics::new(modules)?, Pose2d::default()),
            wheel_radius_m: geometry.wheel_radius_m,
            started: false,
        })
    }

    /// The pose after this turn's reading. A turn in which any wheel or the gyro is silent is passed over; `None` until
    /// all of them spoke once.
    pub(super) fn step(&mut self, inputs: &Inputs) -> Option<Pose2d> {
        if let Some((yaw, modules)) = self.reading(inputs) {
            self.odometry.update(yaw, &modules);
            self.started = true;
        }
        self.started.then(|| self.odometry.robot_in_field())
    }

    fn reading(&self, inputs: &Inputs) -> Option<(f64, [SwerveModulePosition; MODULES])> {
        let yaw = inputs.gyro?.value.yaw_rad;
        let mut modules = [SwerveModulePosition::default(); MODULES];
        for (module, reading) in modules.iter_mut().zip(&inputs.modules) {
            let reading = reading.as_ref()?.value;
            module.distance_m = reading.position_rad? * self.wheel_radius_m;
            module.angle = Rotation2d { angle_rad: reading.angle_rad? };
        }
        Some((yaw, modules))
    }
}

struct ModuleChannels {
    angle: Publisher<f64>,
    position: Publisher<f64>,
    velocity: Publisher<f64>,
    volts: Publisher<f64>,
    amps: Publisher<f64>,
    temperature: Publisher<f64>,
    position_m: Publisher<f64>,
    velocity_mps: Publisher<f64>,
    last: Option<Micros>,
}

impl ModuleChannels {
    fn new(door: &mut Door, index: usize) -> Result<Self, ConfigError> {
        let mut declare = |leaf: &str, unit: &str| {
            Publisher::declare(door, Root::Catalyst, &names::module(index, leaf), unit)
        };
        Ok(Self {
            angle: declare(names::ANGLE_RADIANS, "rad")?,
            position: declare(names::POSITION_RADIANS, "rad")?,
            velocity: declare(names::VELOCITY_RAD_PER_SEC, "rad/s")?,
            volts: declare(names::APPLIED_VOLTS, "V")?,
            amps: declare(names::STATOR_AMPS, "A")?,
            temperature: declare(names::TEMPERATURE_C, "degC")?,
            position_m: declare(names::POSITION_METERS, "m")?,
            velocity_mps: declare(names::VELOCITY_MPS, "m/s")?,
            last: None,
        })
    }

    fn put(&self, door: &mut Door, reading: &ModuleReading, wheel_radius_m: f64) {
        let mut set = |publisher: Publisher<f64>, value: Option<f64>| {
            if let Some(value) = value {
                publisher.set(door, &value);
            }
        };
        set(self.angle, reading.angle_rad);
        set(self.position, reading.position_rad);
        set(self.velocity, reading.velocity_rad_per_sec);
        set(self.volts, reading.applied_volts);
        set(self.amps, reading.stator_amps);
        set(self.temperature, reading.temperature_c);
        set(self.position_m, reading.position_rad.map(|p| p * wheel_radius_m));
        set(self.velocity_mps, reading.velocity_rad_per_sec.map(|v| v * wheel_radius_m));
    }
}

struct MechanismChannels {
    value: Publisher<f64>,
    setpoint: Publisher<f64>,
    at_setpoint: Publisher<bool>,
    amps: Publisher<f64>,
    temperature: Publisher<f64>,
    last: Option<Micros>,
}

impl MechanismChannels {
    fn new(door: &mut Door, name: &str, unit: &str) -> Result<Self, ConfigError> {
        let key = |leaf: &str| format!("Mechanisms/{name}/{leaf}");
        Ok(Self {
            value: Publisher::declare(door, Root::Catalyst, &key("Value"), unit)?,
            setpoint: Publisher::declare(door, Root::Catalyst, &key("Setpoint"), unit)?,
            at_setpoint: Publisher::catalyst(door, &key("AtSetpoint"))?,
            amps: Publisher::declare(door, Root::Catalyst, &key("StatorAmps"), "A")?,
            temperature: Publisher::declare(door, Root::Catalyst, &key("TemperatureC"), "degC")?,
            last: None,
        })
    }

    fn put(&self, door: &mut Door, reading: &MechanismReading) {
        if let Some(value) = reading.value {
            self.value.set(door, &value);
        }
        if let Some(amps) = reading.stator_amps {
            self.amps.set(door, &amps);
        }
        if let Some(celsius) = reading.temperature_c {
            self.temperature.set(door, &celsius);
        }
        self.at_setpoint.set(door, &reading.at_setpoint);
    }
}

/// What each channel of the power distribution carries, as one array.
struct PowerChannels {
    amps: Publisher<[f64]>,
    values: Vec<f64>,
    last: Option<Micros>,
}

impl PowerChannels {
    fn new(door: &mut Door, channels: u8) -> Result<Self, ConfigError> {
        let amps = Publisher::declare(door, Root::Catalyst, "Power/ChannelAmps", "A")?;
        Ok(Self { amps, values: vec![0.0; usize::from(channels)], last: None })
    }

    /// An array cannot leave a place empty: it is published when every channel has a reading.
    fn put(&mut self, door: &mut Door, reading: &Reading<ChannelAmps>) {
        if !is_new(&mut self.last, reading.at) {
            return;
        }
        for (value, amps) in self.values.iter_mut().zip(reading.value.amps) {
            let Some(amps) = amps else { return };
            *value = amps;
        }
        self.amps.set(door, &self.values);
    }
}

/// The loop's own publishers. A reading is published when it is new: a sensor that froze leaves a gap, not a line.
pub(super) struct LoopChannels {
    wheel_radius_m: f64,
    modules: Vec<ModuleChannels>,
    mechanisms: Vec<MechanismChannels>,
    battery: Publisher<f64>,
    battery_last: Option<Micros>,
    yaw: Publisher<f64>,
    yaw_rate: Publisher<f64>,
    gyro_last: Option<Micros>,
    odometry: Publisher<Pose2d>,
    vision: Publisher<Pose2d>,
    vision_last: Option<Micros>,
    power: Option<PowerChannels>,
    active: Publisher<str>,
    running: Publisher<bool>,
    control: Publisher<i64>,
    drive_mode: Publisher<str>,
    overruns: Publisher<i64>,
    dropped: Publisher<i64>,
    queued: Publisher<i64>,
    bad_writes: Publisher<i64>,
    duration: Publisher<f64>,
    system_time: Publisher<i64>,
    clock_said: Option<(Micros, u32)>,
    health_said: Option<Micros>,
    took: Option<Micros>,
}

impl LoopChannels {
    pub(super) fn new(door: &mut Door, robot: &RobotDescription) -> Result<Self, ConfigError> {
        let modules = if robot.drive.is_some() { MODULES } else { 0 };
        Ok(Self {
            wheel_radius_m: robot.drive.map_or(0.0, |d| d.wheel_radius_m),
            modules: (0..modules).map(|i| ModuleChannels::new(door, i)).collect::<Result<_, _>>()?,
            mechanisms: robot
                .mechanisms
                .iter()
                .map(|m| MechanismChannels::new(door, m.name, m.unit))
                .collect::<Result<_, _>>()?,
            battery: Publisher::declare(door, Root::Catalyst, names::BATTERY_VOLTS, "V")?,
            battery_last: None,
            yaw: Publisher::declare(door, Root::Catalyst, names::GYRO_YAW_RADIANS, "rad")?,
            yaw_rate: Publisher::declare(door, Root::Catalyst, names::GYRO_RATE_RAD_PER_SEC, "rad/s")?,
            gyro_last: None,
            odometry: Publisher::catalyst(door, names::ODOMETRY_POSE)?,
            vision: Publisher::catalyst(door, names::VISION_POSE)?,
            vision_last: None,
            power: None,
            active: Publisher::catalyst(door, "OpMode/Active")?,
            running: Publisher::catalyst(door, "OpMode/Running")?,
            control: Publisher::declare(door, Root::Bare, "/FMSInfo/FMSControlData", "")?,
            drive_mode: Publisher::catalyst(door, "Drive/Mode")?,
            overruns: Publisher::catalyst(door, names::LOOP_OVERRUN_COUNT)?,
            dropped: Publisher::catalyst(door, names::LOOP_DROPPED_VALUES)?,
            queued: Publisher::catalyst(door, "Loop/QueueDepth")?,
            bad_writes: Publisher::catalyst(door, "Loop/BadWrites")?,
            duration: Publisher::declare(door, Root::Catalyst, "Loop/DurationSeconds", "s")?,
            system_time: Publisher::declare(door, Root::Bare, "systemTime", "")?,
            clock_said: None,
            health_said: None,
            took: None,
        })
    }

    /// Makes room for a power distribution of so many channels.
    pub(super) fn add_power(&mut self, door: &mut Door, channels: u8) -> Result<(), ConfigError> {
        self.power = Some(PowerChannels::new(door, channels)?);
        Ok(())
    }

    pub(super) fn note_duration(&mut self, took: Micros) {
        self.took = Some(took);
    }

    pub(super) fn inputs(&mut self, door: &mut Door, inputs: &Inputs) {
        if let Some(volts) = inputs.battery_volts.filter(|r| is_new(&mut self.battery_last, r.at)) {
            self.battery.set(door, &volts.value);
        }
        if let Some(gyro) = inputs.gyro.filter(|r| is_new(&mut self.gyro_last, r.at)) {
            self.yaw.set(door, &gyro.value.yaw_rad);
            if let Some(rate) = gyro.value.rate_rad_per_sec {
                self.yaw_rate.set(door, &rate);
            }
        }
        if let Some(vision) = inputs.vision.filter(|r| is_new(&mut self.vision_last, r.at)) {
            self.vision.set(door, &vision.value.robot_in_field);
        }
        if let Some(pose) = &inputs.odometry {
            self.odometry.set(door, pose);
        }
        if let (Some(power), Some(reading)) = (&mut self.power, inputs.power) {
            power.put(door, &reading);
        }
        for (channels, reading) in self.modules.iter_mut().zip(&inputs.modules) {
            if let Some(reading) = reading.filter(|r| is_new(&mut channels.last, r.at)) {
                channels.put(door, &reading.value, self.wheel_radius_m);
            }
        }
        for (channels, reading) in self.mechanisms.iter_mut().zip(&inputs.mechanisms) {
            if let Some(reading) = reading.filter(|r| is_new(&mut channels.last, r.at)) {
                channels.put(door, &reading.value);
            }
        }
    }

    /// The wall clock, for logs only: every five seconds, and in the first frame of every new log.
    pub(super) fn clock(&mut self, door: &mut Door, now: Micros, unix: Option<Micros>) {
        let Some(unix) = unix else { return };
        let attachments = door.attachments();
        if self.clock_said.is_none_or(|(at, seen)| seen != attachments || now.since(at) >= CLOCK_PERIOD) {
            self.clock_said = Some((now, attachments));
            self.system_time.set(door, &unix.0);
        }
    }

    pub(super) fn station(
        &self,
        door: &mut Door,
        station: DriverState,
        active: &str,
        kind: Option<OpModeKind>,
        running: bool,
    ) {
        self.active.set(door, active);
        self.running.set(door, &running);
        self.control.set(door, &control_data(station, kind));
    }

    pub(super) fn outputs(&self, door: &mut Door, outputs: &Outputs) {
        self.drive_mode.set(
            door,
            match outputs.drive {
                DriveCommand::Neutral => "neutral",
                DriveCommand::Chassis { .. } => "chassis",
                DriveCommand::Volts { .. } => "volts",
                DriveCommand::XLock => "x-lock",
            },
        );
        for (channels, command) in self.mechanisms.iter().zip(&outputs.mechanisms) {
            if let MechanismCommand::Setpoint(setpoint) = command {
                channels.setpoint.set(door, setpoint);
            }
        }
    }

    /// How the loop fares: the counters of the sinks ten times a second, since asking takes their locks; its own at once.
    pub(super) fn health(&mut self, door: &mut Door, now: Micros, overruns: u64) {
        let int = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        self.overruns.set(door, &int(overruns));
        if let Some(took) = self.took {
            self.duration.set(door, &took.as_secs());
        }
        if self.health_said.is_none_or(|at| now.since(at) >= HEALTH_PERIOD) {
            self.health_said = Some(now);
            let (sinks, bad_writes) = (door.stats(), door.bad_writes());
            self.dropped.set(door, &int(sinks.dropped));
            self.queued.set(door, &int(sinks.queued));
            self.bad_writes.set(door, &int(bad_writes));
        }
    }
}

fn is_new(last: &mut Option<Micros>, at: Micros) -> bool {
    last.replace(at) != Some(at)
}

/// The bits of `/FMSInfo/FMSControlData`: enabled 1, autonomous 2, test 4, emergency stop 8, FMS 16, driver station 32. A
/// utility op mode is what that word calls test.
fn control_data(station: DriverState, kind: Option<OpModeKind>) -> i64 {
    let bit = |on: bool, bit: i64| if on { bit } else { 0 };
    bit(station.may_move(), 1)
        | bit(kind == Some(OpModeKind::Autonomous), 2)
        | bit(kind == Some(OpModeKind::Utility), 4)
        | bit(station.estop, 8)
        | bit(station.fms, 16)
        | bit(station.attached, 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver_station::OpModeId;

    #[test]
    fn the_control_word_has_the_bits_that_dashboards_read() {
        let mut station = DriverState { attached: true, ..DriverState::default() };
        assert_eq!(control_data(station, None), 32);
        (station.selected, station.enabled) = (Some(OpModeId(0)), true);
        assert_eq!(control_data(station, Some(OpModeKind::Utility)), 1 + 4 + 32);
        assert_eq!(control_data(station, Some(OpModeKind::Autonomous)), 1 + 2 + 32);
        (station.estop, station.fms) = (true, true);
        assert_eq!(control_data(station, Some(OpModeKind::Teleop)), 8 + 16 + 32);
    }
}
