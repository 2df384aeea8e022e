//! What the robot is told instead of the truth.

use std::fmt;

use fieldlab_base::Micros;

use crate::rng::Rng;

/// How the sensors see.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct SensorConfig {
    /// Noise of a wheel speed, m/s at the drawn wheel radius (standard deviation).
    pub velocity_noise_mps: f64,
    /// The speed is a difference of positions this far apart, ms.
    pub velocity_difference_ms: usize,
    /// … averaged over as many of them, 1 ms apart.
    pub velocity_taps: usize,
    /// One encoder count, metres at the drawn wheel radius.
    pub position_count_m: f64,
    /// The oldest that a frame can be when the loop reads it, ms; its age is uniform from 0.
    pub frame_age_ms: u64,
    /// Chance that a frame is the one before once more.
    pub stale_chance: f64,
    /// Noise of the battery reading, V.
    pub battery_noise_volts: f64,
    /// Noise of the loop's start, ms (standard deviation, at most 8).
    pub loop_jitter_ms: f64,
    /// Load disturbance on each module's drive, V (standard deviation), correlated over 0.2 s.
    pub load_volts: f64,
    /// Noise of a stator current, A.
    pub amps_noise: f64,
    /// Noise of the gyro's yaw, rad.
    pub gyro_noise_rad: f64,
    /// Drift of the gyro's yaw, rad/s.
    pub gyro_drift_rad_per_sec: f64,
    /// The gyro's turns per true turn, less 1.
    pub gyro_scale_error: f64,
    /// Noise of a vision pose: metres along each axis, radians in heading.
    pub vision_noise: (f64, f64),
    /// Error of the camera's mount, in the robot's frame: x, y (m), heading (rad).
    pub vision_bias: (f64, f64, f64),
}

/// The settings on one line, for whoever reads what a rehearsal printed.
impl fmt::Display for SensorConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "sensors: velocity noise {} m/s over {} ms in {} taps, counts of {:.3} mm, frames up to {} ms old, {} % stale, \
             battery noise {} V, loop jitter {} ms, load {} V, amps noise {} A, gyro noise {} rad, drift {:.1e} rad/s, \
             scale {:+.3} %",
            self.velocity_noise_mps,
            self.velocity_difference_ms,
            self.velocity_taps,
            self.position_count_m * 1e3,
            self.frame_age_ms,
            self.stale_chance * 100.0,
            self.battery_noise_volts,
            self.loop_jitter_ms,
            self.load_volts,
            self.amps_noise,
            self.gyro_noise_rad,
            self.gyro_drift_rad_per_sec,
            self.gyro_scale_error * 100.0,
        )
    }
}

impl SensorConfig {
    /// Scenario F of the estimation study: a drive in the field. Battery sag comes from the battery itself.
    #[must_use]
    pub const fn scenario_f() -> Self {
        Self {
            velocity_noise_mps: 0.02,
            velocity_difference_ms: 40,
            velocity_taps: 41,
            position_count_m: 1.126e-3,
            frame_age_ms: 10,
            stale_chance: 0.01,
            battery_noise_volts: 0.03,
            loop_jitter_ms: 1.0,
            load_volts: 0.05,
            amps_noise: 0.3,
            gyro_noise_rad: 2e-4,
            gyro_drift_rad_per_sec: 1e-4,
            gyro_scale_error: 3e-4,
            vision_noise: (0.015, 0.006),
            vision_bias: (0.02, -0.01, 0.004),
        }
    }

    /// Sensors that tell the truth, at once.
    #[must_use]
    pub const fn perfect() -> Self {
        Self {
            velocity_noise_mps: 0.0,
            velocity_difference_ms: 0,
            velocity_taps: 1,
            position_count_m: 0.0,
            frame_age_ms: 0,
            stale_chance: 0.0,
            battery_noise_volts: 0.0,
            loop_jitter_ms: 0.0,
            load_volts: 0.0,
            amps_noise: 0.0,
            gyro_noise_rad: 0.0,
            gyro_drift_rad_per_sec: 0.0,
            gyro_scale_error: 0.0,
            vision_noise: (0.0, 0.0),
            vision_bias: (0.0, 0.0, 0.0),
        }
    }
}

/// How a sensor fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SensorFault {
    /// It says NaN.
    Nan,
    /// It repeats its last frame, which grows old.
    Stale,
    /// It says nothing.
    Silent,
}

/// Milliseconds of history kept: the longest window of a speed, and the oldest frame, fit with room to spare.
const HISTORY: usize = 512;

/// One wheel's encoder: counts, and a speed from their differences.
#[derive(Debug, Clone)]
pub(crate) struct Encoder {
    counts: Box<[f64; HISTORY]>,
    next: usize,
    count_rad: f64,
    offset_rad: f64,
    speed_noise: f64,
    difference_ms: usize,
    taps: usize,
}

impl Encoder {
    pub(crate) fn new(config: &SensorConfig, drawn_radius_m: f64, rng: &mut Rng) -> Self {
        let count_rad = config.position_count_m / drawn_radius_m;
        // Where the wheel stood inside a count when it was switched on.
        let offset_rad = rng.unit() * count_rad;
        Self {
            counts: Box::new([0.0; HISTORY]),
            next: 0,
            count_rad,
            offset_rad,
            speed_noise: config.velocity_noise_mps / drawn_radius_m,
            difference_ms: config.velocity_difference_ms.min(HISTORY / 4),
            taps: config.velocity_taps.clamp(1, HISTORY / 4),
        }
    }

    fn quantised(&self, wheel_rad: f64) -> f64 {
        if self.count_rad > 0.0 {
            ((wheel_rad + self.offset_rad) / self.count_rad).floor() * self.count_rad
        } else {
            wheel_rad
        }
    }

    /// One millisecond later the wheel stands here.
    pub(crate) fn push(&mut self, wheel_rad: f64) {
        self.counts[self.next] = self.quantised(wheel_rad);
        self.next = (self.next + 1) % HISTORY;
    }

    /// The wheel has stood here for as long as anybody remembers.
    pub(crate) fn fill(&mut self, wheel_rad: f64) {
        let at = self.quantised(wheel_rad);
        self.counts.fill(at);
    }

    fn back(&self, ms: usize) -> f64 {
        self.counts[(self.next + 2 * HISTORY - 1 - ms) % HISTORY]
    }

    /// Position and speed as of `age_ms` ago; `true_speed` is used when the speed is not a difference.
    pub(crate) fn read(&self, age_ms: usize, true_speed: f64, rng: &mut Rng) -> (f64, f64) {
        let noise = self.speed_noise * rng.normal();
        let speed = if self.difference_ms == 0 {
            true_speed
        } else {
            let span = self.difference_ms as f64 * 1e-3;
            (0..self.taps)
                .map(|i| (self.back(age_ms + i) - self.back(age_ms + i + self.difference_ms)) / span)
                .sum::<f64>()
                / self.taps as f64
        };
        (self.back(age_ms), speed + noise)
    }
}

/// The gyro: scale, drift from power on, noise.
#[derive(Debug, Clone)]
pub(crate) struct Gyro {
    rng: Rng,
    since: Micros,
}

impl Gyro {
    pub(crate) fn new(seed: u64) -> Self {
        Self { rng: Rng::stream(seed, "gyro"), since: Micros::ZERO }
    }

    pub(crate) fn read(
        &mut self,
        config: &SensorConfig,
        heading_rad: f64,
        rate: f64,
        now: Micros,
    ) -> (f64, f64) {
        let scale = 1.0 + config.gyro_scale_error;
        let drift = config.gyro_drift_rad_per_sec;
        let yaw = heading_rad * scale
            + drift * now.since(self.since).as_secs()
            + config.gyro_noise_rad * self.rng.normal();
        // A rate gyro's noise is some ten times that of its filtered yaw.
        (yaw, rate * scale + drift + 10.0 * config.gyro_noise_rad * self.rng.normal())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_wheel_is_read_with_the_delay_of_its_filter() {
        let config =
            SensorConfig { velocity_noise_mps: 0.0, position_count_m: 0.0, ..SensorConfig::scenario_f() };
        let mut encoder = Encoder::new(&config, 0.0508, &mut Rng::new(1));
        // A ramp of speed 30 rad/s² t: a difference over 40 ms of 41 taps lags by 20 + 20 ms.
        for ms in 0..1000 {
            let t = f64::from(ms) * 1e-3;
            encoder.push(15.0 * t * t);
        }
        let (position, speed) = encoder.read(5, 0.0, &mut Rng::new(2));
        assert!((position - 15.0 * 0.994 * 0.994).abs() < 1e-9);
        assert!((speed - 30.0 * (0.994 - 0.040)).abs() < 1e-9, "{speed}");
    }

    #[test]
    fn a_position_is_a_whole_number_of_counts() {
        let config = SensorConfig::scenario_f();
        let mut encoder = Encoder::new(&config, 0.0508, &mut Rng::new(1));
        encoder.fill(1.0);
        let (position, _) = encoder.read(0, 0.0, &mut Rng::new(2));
        let counts = position / (1.126e-3 / 0.0508);
        assert!((counts - counts.round()).abs() < 1e-9);
        assert!((position - 1.0).abs() <= 1.126e-3 / 0.0508);
    }

    #[test]
    fn the_gyro_drifts_from_power_on() {
        let config = SensorConfig { gyro_noise_rad: 0.0, ..SensorConfig::scenario_f() };
        let (yaw, rate) = Gyro::new(1).read(&config, 10.0, 1.0, Micros::from_secs(100.0));
        assert!((yaw - (10.0 * 1.0003 + 0.01)).abs() < 1e-12);
        assert!((rate - 1.0004).abs() < 1e-12);
    }
}
