//! What the simulated robot is made of, as its own code believes: the drawing that the drive is built from, and the
//! devices on its buses.

use fieldlab_base::Micros;
use fieldlab_robot::hw::{
    CanDevice, ChannelAmps, DeviceClass, GyroInfo, HardwareFacts, MAX_CHANNELS, MODULE_NAMES,
    ModuleConstants, PowerInfo, PowerModule, Reading, SwerveConstants,
};
use fieldlab_robot::identity::Declaration;

use super::{MAX_SPEED_MPS, World, WorldConfig};

/// The robot's name.
pub(super) const NAME: &str = "Nowhere";

/// The drive's bus.
const DRIVE_BUS: &str = "can_s0";
/// The mechanisms' bus.
const MECHANISM_BUS: &str = "can_s2";
/// A module's kind is named after what is mostly sold; nothing of it is simulated but its numbers.
const MOTOR: &str = "TalonFX";

/// Steering motor turns per module turn.
const STEER_GEAR_RATIO: f64 = 150.0 / 7.0;

/// Channels of its power distribution: the drive motors, then flywheel; the steering and the rest of the robot together.
const FIRST_DRIVE_CHANNEL: usize = 0;
const FLYWHEEL_CHANNEL: usize = 8;
const REST_CHANNEL: usize = 20;

/// How often the power distribution tells its currents.
const POWER_PERIOD: Micros = Micros::from_millis(100);

/// What the team of the simulated robot says about it: everything else is read.
#[must_use]
pub fn declaration() -> Declaration {
    let drive = |i: usize| (FIRST_DRIVE_CHANNEL + i, format!("Drive {}", MODULE_NAMES[i]));
    let mut channels: Vec<(usize, String)> = (0..MODULE_NAMES.len()).map(drive).collect();
    channels.push((FLYWHEEL_CHANNEL, "Flywheel".into()));
    channels.push((REST_CHANNEL, "Everything else".into()));
    Declaration {
        name: NAME.into(),
        robot_code_version: Some(env!("CARGO_PKG_VERSION").into()),
        // Bumpers of 8 cm make it the 0.9 m square that stops at the walls.
        frame_length_m: Some(0.74),
        frame_width_m: Some(0.74),
        bumper_thickness_m: Some(0.08),
        height_m: Some(0.52),
        battery: Some("18 Ah, simulated".into()),
        channels: channels.into_iter().map(|(channel, what)| (channel as u8, what)).collect(),
        ..Declaration::default()
    }
}

impl WorldConfig {
    /// The constants that the drive's code is built from: the drawing's radius, not the tyres' own.
    #[must_use]
    pub fn constants(&self) -> SwerveConstants {
        let motor = |id, name: String| CanDevice::new(DRIVE_BUS, DeviceClass::Motor, id, MOTOR).named(name);
        SwerveConstants {
            modules: std::array::from_fn(|i| {
                // Four modules: the numbers fit.
                let first = i as u8 * 2;
                ModuleConstants {
                    position_m: self.drive.module_m[i],
                    drive_gear_ratio: self.drive.gear,
                    steer_gear_ratio: STEER_GEAR_RATIO,
                    wheel_radius_m: self.drawn_wheel_radius_m,
                    slip_current_amps: Some(self.drive.motor.stator_limit_amps),
                    drive_motor: motor(first + 1, format!("Drive {}", MODULE_NAMES[i])),
                    steer_motor: motor(first + 2, format!("Steer {}", MODULE_NAMES[i])),
                    encoder: Some(
                        CanDevice::new(DRIVE_BUS, DeviceClass::Encoder, i as u8 + 1, "CANcoder")
                            .named(format!("Azimuth {}", MODULE_NAMES[i])),
                    ),
                }
            }),
            max_speed_mps: MAX_SPEED_MPS,
            max_angular_rate_rad_per_sec: MAX_SPEED_MPS / self.half_diagonal_m(),
            // The loop integrates it, once a turn.
            odometry_hz: Some(50.0),
            can_fd: Some(true),
        }
    }

    /// From the centre to the module farthest from it.
    fn half_diagonal_m(&self) -> f64 {
        self.drive.module_m.iter().map(|(x, y)| x.hypot(*y)).fold(0.0, f64::max)
    }
}

impl World {
    pub(super) fn hardware_facts(&self) -> HardwareFacts {
        let on_mechanisms =
            |class, id, kind: &str, name: &str| CanDevice::new(MECHANISM_BUS, class, id, kind).named(name);
        let motor = |id, name| on_mechanisms(DeviceClass::Motor, id, MOTOR, name);
        HardwareFacts {
            drive: Some(self.config.constants()),
            gyro: Some(GyroInfo::Can(CanDevice::new(DRIVE_BUS, DeviceClass::Gyro, 1, "Pigeon2"))),
            power: Some(PowerInfo {
                module: PowerModule::RevPdh,
                channels: MAX_CHANNELS as u8,
                device: Some(on_mechanisms(DeviceClass::Power, 1, "PDH", "Power distribution")),
            }),
            cameras: vec!["front".into(), "rear".into()],
            devices: vec![motor(1, "Flywheel"), motor(2, "Hood"), motor(3, "Feeder")],
            simulated: true,
        }
    }

    /// What the channels carry; the same reading until the module tells the next one.
    pub(super) fn read_power(&mut self, now: Micros) -> Option<Reading<ChannelAmps>> {
        if let Some(last) = self.last_power
            && now.since(last.at) < POWER_PERIOD
        {
            return self.last_power;
        }
        let mut amps = [Some(0.0); MAX_CHANNELS];
        let mut put = |channel: usize, value: f64| {
            if let Some(slot) = amps.get_mut(channel) {
                // Steps of an eighth of an ampere, as such modules tell; what flows back into the bus reads as none.
                *slot = Some((value.max(0.0) * 8.0).round() / 8.0);
            }
        };
        for i in 0..MODULE_NAMES.len() {
            put(FIRST_DRIVE_CHANNEL + i, self.drive.module_supply_amps(i));
        }
        put(FLYWHEEL_CHANNEL, self.shooter.supply_amps(self.bus_volts));
        put(REST_CHANNEL, self.config.idle_amps);
        self.last_power = Some(Reading::new(ChannelAmps { amps }, now));
        self.last_power
    }
}
