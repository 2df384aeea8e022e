//! How one real robot differs from its drawing.

use super::WorldConfig;
use crate::rng::Rng;

pub(super) fn vary(mut config: WorldConfig, rng: &mut Rng) -> WorldConfig {
    let drive = &mut config.drive;
    let worn = rng.uniform(0.97, 1.0);
    for radius in &mut drive.wheel_radius_m {
        *radius = config.drawn_wheel_radius_m * worn * (1.0 + 0.002 * rng.uniform(-1.0, 1.0));
    }
    // Weight shifted fore-aft and sideways; the four loads still carry the robot.
    let (fore, side) = (0.03 * rng.uniform(-1.0, 1.0), 0.03 * rng.uniform(-1.0, 1.0));
    for (load, (x, y)) in drive.load_n.iter_mut().zip(drive.module_m) {
        *load *= (1.0 + fore * x.signum()) * (1.0 + side * y.signum());
    }
    let grip = 1.0 + 0.04 * rng.uniform(-1.0, 1.0);
    drive.grip *= grip;
    drive.sliding_grip *= grip;
    drive.rolling_resistance *= 1.0 + 0.1 * rng.uniform(-1.0, 1.0);
    drive.gear_friction_nm *= 1.0 + 0.1 * rng.uniform(-1.0, 1.0);
    let motors = 1.0 + 0.02 * rng.uniform(-1.0, 1.0);
    drive.motor.kt_nm_per_amp *= motors;
    drive.motor.ke_volts_per_rad_per_sec *= motors;
    drive.motor.ohms *= 1.0 + 0.03 * rng.uniform(-1.0, 1.0);
    for offset in &mut drive.azimuth_offset_rad {
        *offset = 0.0035 * rng.normal().clamp(-3.0, 3.0);
    }
    let sensors = &mut config.sensors;
    sensors.gyro_scale_error = 5e-4 * rng.normal().clamp(-3.0, 3.0);
    sensors.gyro_drift_rad_per_sec = 8e-5 * rng.normal().clamp(-3.0, 3.0);
    sensors.vision_bias = (0.02 * rng.normal(), 0.02 * rng.normal(), 0.004 * rng.normal());
    config
}
