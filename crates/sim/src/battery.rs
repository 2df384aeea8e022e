//! A lead-acid pack: open-circuit curve, resistance, recovery.

use std::sync::Arc;

use fieldlab_base::{ConfigError, check};

/// What a pack is.
#[derive(Debug, Clone, PartialEq)]
pub struct BatteryConfig {
    /// What is written on it.
    pub name: Arc<str>,
    /// Charge between full and empty, in ampere hours.
    pub capacity_ah: f64,
    /// State of charge when it is put in, 0 to 1.
    pub charge: f64,
    /// The part of the resistance that acts at once, in ohms.
    pub ohms: f64,
    /// The part that acts with [`recovery_secs`](Self::recovery_secs), in ohms.
    pub recovery_ohms: f64,
    /// Time constant of sag and recovery, in seconds.
    pub recovery_secs: f64,
}

impl BatteryConfig {
    /// A healthy pack of 18 Ah, full, with the 18 mΩ of scenario F.
    #[must_use]
    pub fn healthy(name: &str) -> Self {
        Self {
            name: name.into(),
            capacity_ah: 18.0,
            charge: 1.0,
            ohms: 0.018,
            recovery_ohms: 0.006,
            recovery_secs: 25.0,
        }
    }
}

/// Rested volts against state of charge of a 12 V AGM pack, straight between the points.
const OPEN_CIRCUIT: [(f64, f64); 7] =
    [(0.0, 10.9), (0.1, 11.6), (0.3, 12.0), (0.5, 12.24), (0.7, 12.46), (0.9, 12.7), (1.0, 12.9)];

/// A pack in use: `V = Voc(charge) - R0 I - V1`, `V1' = (R1 I - V1) / tau`.
#[derive(Debug, Clone, PartialEq)]
pub struct Battery {
    config: BatteryConfig,
    charge: f64,
    sag_volts: f64,
}

impl Battery {
    /// The pack, rested.
    ///
    /// # Errors
    /// Refuses numbers that are no pack.
    pub fn new(config: BatteryConfig) -> Result<Self, ConfigError> {
        check::positive("capacity_ah", config.capacity_ah)?;
        check::within("charge", config.charge, 0.0, 1.0)?;
        check::positive("ohms", config.ohms)?;
        check::within("recovery_ohms", config.recovery_ohms, 0.0, 1.0)?;
        check::positive("recovery_secs", config.recovery_secs)?;
        let charge = config.charge;
        Ok(Self { config, charge, sag_volts: 0.0 })
    }

    /// What is written on it.
    #[must_use]
    pub const fn name(&self) -> &Arc<str> {
        &self.config.name
    }

    /// State of charge, 0 to 1.
    #[must_use]
    pub const fn charge(&self) -> f64 {
        self.charge
    }

    /// Volts of the pack rested for ever at this charge.
    #[must_use]
    pub fn open_circuit_volts(&self) -> f64 {
        let above =
            OPEN_CIRCUIT.iter().position(|(c, _)| *c >= self.charge).unwrap_or(OPEN_CIRCUIT.len() - 1);
        let (c1, v1) = OPEN_CIRCUIT[above.max(1)];
        let (c0, v0) = OPEN_CIRCUIT[above.max(1) - 1];
        v0 + (v1 - v0) * (self.charge - c0) / (c1 - c0)
    }

    /// The source that the robot sees right now: volts without load, and ohms in series with it.
    #[must_use]
    pub fn source(&self) -> (f64, f64) {
        (self.open_circuit_volts() - self.sag_volts, self.config.ohms)
    }

    /// Volts while `amps` are drawn.
    #[must_use]
    pub fn volts(&self, amps: f64) -> f64 {
        let (volts, ohms) = self.source();
        volts - ohms * amps
    }

    /// `dt_secs` at a steady `amps`, exact for the recovery; charge neither falls below 0 nor rises above 1.
    pub fn step(&mut self, amps: f64, dt_secs: f64) {
        let settled = self.config.recovery_ohms * amps;
        self.sag_volts = settled + (self.sag_volts - settled) * (-dt_secs / self.config.recovery_secs).exp();
        self.charge = (self.charge - amps * dt_secs / (3600.0 * self.config.capacity_ah)).clamp(0.0, 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pack() -> Battery {
        Battery::new(BatteryConfig::healthy("A")).unwrap()
    }

    #[test]
    fn sag_is_current_times_resistance_at_once() {
        let b = pack();
        assert!((b.volts(0.0) - 12.9).abs() < 1e-12);
        assert!((b.volts(0.0) - b.volts(100.0) - 100.0 * 0.018).abs() < 1e-12);
    }

    #[test]
    fn sag_grows_and_recovers_with_its_time_constant() {
        let mut b = pack();
        for _ in 0..2500 {
            b.step(50.0, 0.01);
        }
        // After one time constant: R1 I (1 - 1/e).
        let sag = b.open_circuit_volts() - b.source().0;
        assert!((sag - 0.006 * 50.0 * (1.0 - (-1.0_f64).exp())).abs() < 1e-9, "{sag}");
        b.step(0.0, 50.0);
        let rested = b.open_circuit_volts() - b.source().0;
        assert!((rested - sag * (-2.0_f64).exp()).abs() < 1e-12);
    }

    #[test]
    fn one_ampere_hour_is_one_ampere_hour() {
        let mut b = pack();
        b.step(9.0, 3600.0);
        assert!((b.charge() - 0.5).abs() < 1e-12);
        assert!((b.open_circuit_volts() - 12.24).abs() < 1e-12);
        b.step(90.0, 36000.0);
        assert_eq!(b.charge(), 0.0);
        assert!((b.open_circuit_volts() - 10.9).abs() < 1e-12);
    }

    #[test]
    fn numbers_that_are_no_pack_are_refused() {
        let bad = BatteryConfig { charge: f64::NAN, ..BatteryConfig::healthy("x") };
        assert_eq!(Battery::new(bad).unwrap_err().path, "charge");
    }
}
