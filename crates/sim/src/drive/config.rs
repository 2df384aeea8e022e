//! What a simulated swerve drive is, and the constants that follow from it in closed form.

use fieldlab_base::{ConfigError, check};

use crate::motor::MotorConfig;

/// A swerve drive as it really is; what the robot *believes* stands in its own code.
///
/// Modules in the order front-left, front-right, back-left, back-right; +x forward, +y left.
#[derive(Debug, Clone, PartialEq)]
pub struct DriveConfig {
    /// The drive motor of every module.
    pub motor: MotorConfig,
    /// Motor turns per wheel turn.
    pub gear: f64,
    /// Robot with battery and bumpers, kg.
    pub mass_kg: f64,
    /// About the vertical axis through the centre, kg·m².
    pub moi_kg_m2: f64,
    /// One wheel with its gears and its motor's rotor, at the wheel, kg·m².
    pub wheel_inertia_kg_m2: f64,
    /// Where the wheels touch the ground, metres from the centre.
    pub module_m: [(f64, f64); 4],
    /// Rolling radius of each wheel on this carpet, metres.
    pub wheel_radius_m: [f64; 4],
    /// True azimuth minus the azimuth that the module reports, radians.
    pub azimuth_offset_rad: [f64; 4],
    /// Weight on each wheel, newtons.
    pub load_n: [f64; 4],
    /// Coulomb friction of gears and bearings, at the wheel, N·m.
    pub gear_friction_nm: f64,
    /// Carpet: rolling resistance as a part of the load.
    pub rolling_resistance: f64,
    /// Tyre on carpet, before it slips.
    pub grip: f64,
    /// Tyre on carpet, slipping.
    pub sliding_grip: f64,
    /// Half the outside of the bumpers, along x and along y, metres.
    pub half_size_m: (f64, f64),
    /// Rate gain of the steering servo, 1/s.
    pub steer_gain_per_sec: f64,
    /// Fastest steering, rad/s.
    pub steer_limit_rad_per_sec: f64,
    /// The velocity loop in the motor controllers.
    pub loop_gains: LoopGains,
}

/// The controllers' own velocity loop, in volts per wheel radian.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoopGains {
    /// Static friction, V.
    pub ks_volts: f64,
    /// Per wheel speed, V/(rad/s).
    pub kv_volts_per_rad_per_sec: f64,
    /// Per speed error, V/(rad/s).
    pub kp_volts_per_rad_per_sec: f64,
}

/// What calibrations of this robot should find. All per *true* metre and true ampere.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct DriveTruth {
    /// Static friction of the whole drive, V.
    #[serde(rename = "kS")]
    pub ks_volts: f64,
    /// V/(m/s).
    #[serde(rename = "kV")]
    pub kv_volts_per_mps: f64,
    /// V/(m/s²).
    #[serde(rename = "kA")]
    pub ka_volts_per_mps2: f64,
    /// Harmonic mean of the wheels' rolling radii: what a spin measures.
    pub wheel_radius_m: f64,
    /// Stator amps at which the weakest wheel breaks loose.
    pub slip_current_a: f64,
}

impl DriveConfig {
    /// The default robot: 55 kg, four modules on a 0.6 m square, wheels of 0.0508 m by the drawing.
    #[must_use]
    pub fn standard() -> Self {
        let mass_kg = 55.0;
        Self {
            motor: MotorConfig::drive(),
            gear: 6.75,
            mass_kg,
            moi_kg_m2: 5.5,
            wheel_inertia_kg_m2: 0.004,
            module_m: [(0.3, 0.3), (0.3, -0.3), (-0.3, 0.3), (-0.3, -0.3)],
            wheel_radius_m: [0.0508; 4],
            azimuth_offset_rad: [0.0; 4],
            load_n: [mass_kg * GRAVITY / 4.0; 4],
            gear_friction_nm: 0.22,
            rolling_resistance: 0.03,
            grip: 1.1,
            sliding_grip: 0.7,
            half_size_m: (0.45, 0.45),
            steer_gain_per_sec: 25.0,
            steer_limit_rad_per_sec: 15.0,
            loop_gains: LoopGains {
                ks_volts: 0.2,
                kv_volts_per_rad_per_sec: 0.13,
                kp_volts_per_rad_per_sec: 0.35,
            },
        }
    }

    /// The same drive, if it can be.
    ///
    /// # Errors
    /// Refuses non-finite numbers and a robot without mass, grip or wheels.
    pub fn checked(self) -> Result<Self, ConfigError> {
        check::positive("gear", self.gear)?;
        check::positive("mass_kg", self.mass_kg)?;
        check::positive("moi_kg_m2", self.moi_kg_m2)?;
        check::positive("wheel_inertia_kg_m2", self.wheel_inertia_kg_m2)?;
        check::positive("motor.ohms", self.motor.ohms)?;
        check::positive("motor.kt_nm_per_amp", self.motor.kt_nm_per_amp)?;
        check::positive("motor.ke_volts_per_rad_per_sec", self.motor.ke_volts_per_rad_per_sec)?;
        check::within("rolling_resistance", self.rolling_resistance, 0.0, 1.0)?;
        check::within("gear_friction_nm", self.gear_friction_nm, 0.0, 100.0)?;
        check::positive("grip", self.grip)?;
        check::within("sliding_grip", self.sliding_grip, 0.0, self.grip)?;
        for i in 0..4 {
            check::positive(&format!("wheel_radius_m[{i}]"), self.wheel_radius_m[i])?;
            check::positive(&format!("load_n[{i}]"), self.load_n[i])?;
            check::finite(&format!("module_m[{i}].0"), self.module_m[i].0)?;
            check::finite(&format!("module_m[{i}].1"), self.module_m[i].1)?;
            check::finite(&format!("azimuth_offset_rad[{i}]"), self.azimuth_offset_rad[i])?;
        }
        Ok(self)
    }

    /// Coulomb torque that wheel `i` must overcome to roll, N·m: its gears and the carpet.
    #[must_use]
    pub fn rolling_torque_nm(&self, i: usize) -> f64 {
        self.gear_friction_nm + self.rolling_resistance * self.load_n[i] * self.wheel_radius_m[i]
    }

    /// Newton-metres at a wheel per ampere in its motor.
    #[must_use]
    pub fn wheel_nm_per_amp(&self) -> f64 {
        self.gear * self.motor.kt_nm_per_amp
    }

    /// The constants in closed form.
    ///
    /// With the same volts `u` on every module, driving straight and gripping, the wheels' torques and the mass balance as
    /// `sum_i [G kT (u - kE G v / r_i) / R - T_i] / r_i = (m + sum_i J / r_i²) v'`, which is
    /// `u = kS + kV v + kA v'` with
    /// `kS = R sum(T_i / r_i) / (G kT sum(1/r_i))`, `kV = kE G sum(1/r_i²) / sum(1/r_i)` and
    /// `kA = R (m + sum(J / r_i²)) / (G kT sum(1/r_i))`. Against a wall wheel `i` lets go at
    /// `I_i = (grip N_i r_i + T_i) / (G kT)`.
    #[must_use]
    pub fn truth(&self) -> DriveTruth {
        let inverse: f64 = self.wheel_radius_m.iter().map(|r| 1.0 / r).sum();
        let square: f64 = self.wheel_radius_m.iter().map(|r| 1.0 / (r * r)).sum();
        let friction: f64 = (0..4).map(|i| self.rolling_torque_nm(i) / self.wheel_radius_m[i]).sum();
        let gain = self.motor.ohms / (self.wheel_nm_per_amp() * inverse);
        DriveTruth {
            ks_volts: gain * friction,
            kv_volts_per_mps: self.motor.ke_volts_per_rad_per_sec * self.gear * square / inverse,
            ka_volts_per_mps2: gain * (self.mass_kg + self.wheel_inertia_kg_m2 * square),
            wheel_radius_m: 4.0 / inverse,
            slip_current_a: (0..4)
                .map(|i| {
                    (self.grip * self.load_n[i] * self.wheel_radius_m[i] + self.rolling_torque_nm(i))
                        / self.wheel_nm_per_amp()
                })
                .fold(f64::INFINITY, f64::min),
        }
    }
}

/// m/s².
pub(crate) const GRAVITY: f64 = 9.806_65;
