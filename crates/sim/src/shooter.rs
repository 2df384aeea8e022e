//! A flywheel, a hood, a feeder, and a hub that may be missed.

use fieldlab_robot::hw::MechanismCommand;

use crate::motor::{MotorConfig, Winding};
use crate::rng::Rng;

/// What the shooter is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShooterConfig {
    /// The flywheel's motor.
    pub motor: MotorConfig,
    /// Flywheel with rotor, kg·m².
    pub inertia_kg_m2: f64,
    /// Friction of its bearings, N·m.
    pub friction_nm: f64,
    /// Flywheel radius, m.
    pub wheel_radius_m: f64,
    /// Ball speed per surface speed.
    pub grip: f64,
    /// Speed that a shot costs the flywheel, as a part.
    pub droop: f64,
    /// Standard deviation of the ball's speed, as a part.
    pub speed_spread: f64,
    /// Standard deviation of the ball's elevation, degrees.
    pub angle_spread_deg: f64,
    /// The hub's opening above the muzzle, m.
    pub opening_height_m: f64,
    /// A ball that falls through the opening's plane inside this distance of its middle is in, m.
    pub opening_radius_m: f64,
    /// … and inside this one hits the rim, m.
    pub rim_radius_m: f64,
}

impl ShooterConfig {
    /// A four inch wheel and a hub of half a metre.
    #[must_use]
    pub const fn standard() -> Self {
        let mut motor = MotorConfig::drive();
        motor.stator_limit_amps = 60.0;
        Self {
            motor,
            inertia_kg_m2: 0.003,
            friction_nm: 0.02,
            wheel_radius_m: 0.0508,
            grip: 0.6,
            droop: 0.12,
            speed_spread: 0.012,
            angle_spread_deg: 0.5,
            opening_height_m: 1.3,
            opening_radius_m: 0.28,
            rim_radius_m: 0.42,
        }
    }

    /// Metres from the muzzle at which a ball of this speed and elevation falls through the opening's plane; `None` when
    /// it never rises to it. Without drag: `t = (vy + sqrt(vy² - 2 g h)) / g`, `x = vx t`.
    #[must_use]
    pub fn range_m(&self, speed_mps: f64, elevation_deg: f64) -> Option<f64> {
        let (sin, cos) = elevation_deg.to_radians().sin_cos();
        let rise = speed_mps * sin;
        let left = rise * rise - 2.0 * crate::drive::GRAVITY * self.opening_height_m;
        (left >= 0.0).then(|| speed_mps * cos * (rise + left.sqrt()) / crate::drive::GRAVITY)
    }

    /// The flywheel speed at which a ball of this elevation falls into the middle of a hub at this distance, rpm: the
    /// inverse of [`range_m`](Self::range_m), `v² = g d² / (2 cos² (d tan - h))`. `None` when no speed does.
    #[must_use]
    pub fn rpm_for(&self, distance_m: f64, elevation_deg: f64) -> Option<f64> {
        let (sin, cos) = elevation_deg.to_radians().sin_cos();
        let above = distance_m * sin / cos - self.opening_height_m;
        if above <= 0.0 {
            return None;
        }
        let speed = (crate::drive::GRAVITY * distance_m * distance_m / (2.0 * cos * cos * above)).sqrt();
        Some(speed / (self.grip * self.wheel_radius_m) * 60.0 / std::f64::consts::TAU)
    }
}

/// What a person sees of a shot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shot {
    /// How far the muzzle was from the hub, m.
    pub distance_m: f64,
    /// Flywheel speed when the ball left, rpm.
    pub rpm: f64,
    /// Hood elevation when the ball left, degrees.
    pub hood_deg: f64,
    /// 1 in, 0.5 rim, 0 miss.
    pub score: f64,
    /// How far from the muzzle the ball fell through the opening's height, m; `None` when it never rose to it.
    pub carry_m: Option<f64>,
}

/// The shooter.
#[derive(Debug, Clone)]
pub(crate) struct Shooter {
    pub(crate) config: ShooterConfig,
    pub(crate) flywheel: MechanismCommand,
    pub(crate) hood: MechanismCommand,
    pub(crate) feeder: MechanismCommand,
    pub(crate) shots: Vec<Shot>,
    speed_rad_per_sec: f64,
    hood_deg: f64,
    fed_secs: f64,
    loaded: bool,
    amps: f64,
    volts: f64,
    winding: Winding,
    rng: Rng,
}

/// Where the hood rests, degrees.
pub(crate) const HOOD_REST_DEG: f64 = 60.0;
const HOOD_DEG_PER_SEC: f64 = 60.0;
/// The feeder needs this long to push a ball into the wheel.
const FEED_SECS: f64 = 0.25;

impl Shooter {
    pub(crate) fn new(config: ShooterConfig, seed: u64, air_celsius: f64) -> Self {
        Self {
            config,
            flywheel: MechanismCommand::Neutral,
            hood: MechanismCommand::Neutral,
            feeder: MechanismCommand::Neutral,
            shots: Vec::new(),
            speed_rad_per_sec: 0.0,
            hood_deg: HOOD_REST_DEG,
            fed_secs: 0.0,
            loaded: true,
            amps: 0.0,
            volts: 0.0,
            winding: Winding::new(air_celsius),
            rng: Rng::stream(seed, "shots"),
        }
    }

    pub(crate) fn rpm(&self) -> f64 {
        self.speed_rad_per_sec * 60.0 / std::f64::consts::TAU
    }

    pub(crate) const fn hood_deg(&self) -> f64 {
        self.hood_deg
    }

    pub(crate) const fn amps(&self) -> f64 {
        self.amps
    }

    pub(crate) const fn celsius(&self) -> f64 {
        self.winding.celsius()
    }

    /// Whether the feeder has pushed the ball out since it was started.
    pub(crate) const fn has_fired(&self) -> bool {
        !self.loaded
    }

    pub(crate) fn is_resting(&self) -> bool {
        self.speed_rad_per_sec == 0.0
            && [self.flywheel, self.hood, self.feeder].iter().all(|c| *c == MechanismCommand::Neutral)
    }

    pub(crate) fn supply_amps(&self, bus_volts: f64) -> f64 {
        if bus_volts > 0.0 { self.volts / bus_volts * self.amps } else { 0.0 }
    }

    pub(crate) fn step(&mut self, bus_volts: f64, distance_m: f64, dt_secs: f64) {
        let c = self.config;
        let target = match self.flywheel {
            MechanismCommand::Setpoint(rpm) if rpm.is_finite() => Some(rpm * std::f64::consts::TAU / 60.0),
            _ => None,
        };
        let volts = match (target, self.flywheel) {
            // Feed-forward by back-EMF and friction, and a stiff loop on top.
            (Some(w), _) => {
                c.motor.ke_volts_per_rad_per_sec * w
                    + c.friction_nm / c.motor.kt_nm_per_amp * c.motor.ohms
                    + 0.2 * (w - self.speed_rad_per_sec)
            }
            (None, MechanismCommand::Volts(v)) if v.is_finite() => v,
            _ => 0.0,
        }
        .clamp(-bus_volts, bus_volts);
        let coasting = target.is_none() && !matches!(self.flywheel, MechanismCommand::Volts(_));
        self.amps = if coasting { 0.0 } else { c.motor.amps(volts, self.speed_rad_per_sec) };
        self.volts = if coasting {
            0.0
        } else {
            self.amps * c.motor.ohms + c.motor.ke_volts_per_rad_per_sec * self.speed_rad_per_sec
        };
        let drive = c.motor.kt_nm_per_amp * self.amps / c.inertia_kg_m2 * dt_secs;
        let drag = c.friction_nm / c.inertia_kg_m2 * dt_secs;
        let free = self.speed_rad_per_sec + drive;
        self.speed_rad_per_sec = if free.abs() <= drag { 0.0 } else { free - drag * free.signum() };
        self.winding.step(&c.motor, self.amps * self.amps, dt_secs);
        if let MechanismCommand::Setpoint(angle) = self.hood {
            let most = HOOD_DEG_PER_SEC * dt_secs;
            self.hood_deg += (angle - self.hood_deg).clamp(-most, most);
        }
        self.feed(distance_m, dt_secs);
    }

    fn feed(&mut self, distance_m: f64, dt_secs: f64) {
        let feeding =
            matches!(self.feeder, MechanismCommand::Volts(v) | MechanismCommand::Setpoint(v) if v > 2.0);
        if !feeding {
            // The person puts the next ball in as soon as the feeder stands.
            self.fed_secs = 0.0;
            self.loaded = true;
            return;
        }
        self.fed_secs += dt_secs;
        if self.fed_secs < FEED_SECS || !self.loaded {
            return;
        }
        self.loaded = false;
        let c = self.config;
        let speed =
            c.grip * c.wheel_radius_m * self.speed_rad_per_sec * (1.0 + c.speed_spread * self.rng.normal());
        let elevation = self.hood_deg + c.angle_spread_deg * self.rng.normal();
        let carry_m = c.range_m(speed, elevation);
        let score = match carry_m.map(|r| (r - distance_m).abs()) {
            Some(m) if m <= c.opening_radius_m => 1.0,
            Some(m) if m <= c.rim_radius_m => 0.5,
            _ => 0.0,
        };
        self.shots.push(Shot { distance_m, rpm: self.rpm(), hood_deg: self.hood_deg, score, carry_m });
        self.speed_rad_per_sec *= 1.0 - c.droop;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_and_speed_are_each_others_inverse() {
        let c = ShooterConfig::standard();
        for (d, angle) in [(2.0, 68.0), (3.0, 65.0), (4.5, 60.0)] {
            let rpm = c.rpm_for(d, angle).unwrap();
            let speed = c.grip * c.wheel_radius_m * rpm * std::f64::consts::TAU / 60.0;
            assert!((c.range_m(speed, angle).unwrap() - d).abs() < 1e-9, "{d} m at {angle}");
        }
        assert_eq!(c.range_m(3.0, 60.0), None, "never rises to the opening");
        assert_eq!(c.rpm_for(2.0, 30.0), None, "aims below the opening");
    }

    #[test]
    fn the_flywheel_reaches_its_speed_and_the_shot_goes_where_physics_says() {
        let config = ShooterConfig { speed_spread: 0.0, angle_spread_deg: 0.0, ..ShooterConfig::standard() };
        let rpm = config.rpm_for(3.0, 65.0).unwrap();
        for (off_m, score) in [(0.0, 1.0), (0.35, 0.5), (0.6, 0.0), (-0.6, 0.0)] {
            let mut s = Shooter::new(config, 1, 25.0);
            s.flywheel = MechanismCommand::Setpoint(rpm);
            s.hood = MechanismCommand::Setpoint(65.0);
            for _ in 0..3000 {
                s.step(12.0, 3.0 + off_m, 0.001);
            }
            assert!((s.rpm() / rpm - 1.0).abs() < 2e-3, "{} of {rpm}", s.rpm());
            s.feeder = MechanismCommand::Volts(8.0);
            for _ in 0..1000 {
                s.step(12.0, 3.0 + off_m, 0.001);
            }
            assert_eq!(s.shots.len(), 1, "one ball a pull");
            assert_eq!(s.shots[0].score, score, "{:?}", s.shots[0]);
        }
    }
}
