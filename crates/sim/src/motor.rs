//! A DC motor behind a controller with a stator current limit, and how warm it gets.

/// What a motor, its wiring and its controller are; SI at the motor's shaft.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MotorConfig {
    /// Torque per ampere, N·m/A.
    pub kt_nm_per_amp: f64,
    /// Back-EMF per speed, V/(rad/s).
    pub ke_volts_per_rad_per_sec: f64,
    /// Winding, wiring and controller, ohms.
    pub ohms: f64,
    /// The controller keeps the stator current inside ± this.
    pub stator_limit_amps: f64,
    /// Ohms of the winding alone: what heats it.
    pub winding_ohms: f64,
    /// Heat capacity, J/K.
    pub heat_j_per_k: f64,
    /// From the winding to the air, K/W.
    pub cooling_k_per_w: f64,
}

impl MotorConfig {
    /// A brushless motor of the size that drives a swerve module in 2026. `kT = kE`, as energy demands.
    #[must_use]
    pub const fn drive() -> Self {
        Self {
            kt_nm_per_amp: 0.0192,
            ke_volts_per_rad_per_sec: 0.0192,
            ohms: 0.06,
            stator_limit_amps: 120.0,
            winding_ohms: 0.03,
            heat_j_per_k: 320.0,
            cooling_k_per_w: 1.6,
        }
    }

    /// Stator amps with `volts` across it at `speed_rad_per_sec`: `I = (V - kE w) / R`, inside the limit.
    #[must_use]
    pub fn amps(&self, volts: f64, speed_rad_per_sec: f64) -> f64 {
        ((volts - self.ke_volts_per_rad_per_sec * speed_rad_per_sec) / self.ohms)
            .clamp(-self.stator_limit_amps, self.stator_limit_amps)
    }
}

/// Winding temperature: `C T' = I² R (1 + 0.00393 (T - 25)) - (T - Tair) / Rth`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Winding {
    celsius: f64,
    air_celsius: f64,
}

impl Winding {
    /// As warm as the air.
    #[must_use]
    pub const fn new(air_celsius: f64) -> Self {
        Self { celsius: air_celsius, air_celsius }
    }

    /// Now, in °C.
    #[must_use]
    pub const fn celsius(&self) -> f64 {
        self.celsius
    }

    /// `dt_secs` with a mean square current, exact for constant heat.
    pub fn step(&mut self, motor: &MotorConfig, amps_squared: f64, dt_secs: f64) {
        let watts = amps_squared * motor.winding_ohms * (1.0 + 0.003_93 * (self.celsius - 25.0));
        let settled = self.air_celsius + watts * motor.cooling_k_per_w;
        let tau = motor.heat_j_per_k * motor.cooling_k_per_w;
        self.celsius = settled + (self.celsius - settled) * (-dt_secs / tau).exp();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stall_free_speed_and_limit() {
        let m = MotorConfig::drive();
        assert!((m.amps(3.0, 0.0) - 50.0).abs() < 1e-9);
        assert!(m.amps(12.0, 12.0 / m.ke_volts_per_rad_per_sec).abs() < 1e-9);
        assert_eq!(m.amps(12.0, 0.0), 120.0);
        assert_eq!(m.amps(-12.0, 0.0), -120.0);
    }

    #[test]
    fn a_winding_warms_to_heat_times_resistance() {
        let m = MotorConfig::drive();
        let mut w = Winding::new(25.0);
        for _ in 0..200_000 {
            w.step(&m, 400.0, 0.1);
        }
        // 400 A² through 30 mΩ, with copper's rise: T - Ta = P0 Rth / (1 - 0.00393 P0 Rth).
        let cold = 400.0 * 0.03 * 1.6;
        assert!((w.celsius() - 25.0 - cold / (1.0 - 0.003_93 * cold)).abs() < 1e-3, "{}", w.celsius());
    }
}
