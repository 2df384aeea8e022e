//! What the shipped acts need of a snapshot, and how long they wait for a sensor that is silent.

use fieldlab_base::Micros;
use fieldlab_values::{Rotation2d, SwerveModulePosition};

use crate::hw::{Inputs, MODULE_NAMES, MODULES, ModuleReading};

/// An older reading is none.
pub(super) const STALE_SECS: f64 = 0.1;
/// A sensor that is silent for longer ends the act.
const SILENT_SECS: f64 = 0.3;

/// Raw yaw, or who is silent.
pub(super) fn yaw(inputs: &Inputs) -> Result<f64, String> {
    match inputs.fresh_gyro(STALE_SECS) {
        Some(gyro) if gyro.yaw_rad.is_finite() => Ok(gyro.yaw_rad),
        Some(gyro) => Err(format!("no reading: the gyro says {}", gyro.yaw_rad)),
        None => Err("no reading from the gyro".into()),
    }
}

/// All modules, or who is silent.
pub(super) fn modules(inputs: &Inputs) -> Result<[ModuleReading; MODULES], String> {
    let mut all = [ModuleReading::default(); MODULES];
    for (i, slot) in all.iter_mut().enumerate() {
        *slot = inputs
            .fresh_module(i, STALE_SECS)
            .ok_or_else(|| format!("no reading from module {i} ({})", MODULE_NAMES[i]))?;
    }
    Ok(all)
}

/// Module positions with this radius, or who is silent.
pub(super) fn positions(
    inputs: &Inputs,
    wheel_radius_m: f64,
) -> Result<[SwerveModulePosition; MODULES], String> {
    let mut all = [SwerveModulePosition::default(); MODULES];
    for (i, (slot, module)) in all.iter_mut().zip(modules(inputs)?).enumerate() {
        let (Some(position), Some(angle_rad)) = (finite(module.position_rad), finite(module.angle_rad))
        else {
            return Err(format!("no position from module {i} ({})", MODULE_NAMES[i]));
        };
        *slot =
            SwerveModulePosition { distance_m: position * wheel_radius_m, angle: Rotation2d { angle_rad } };
    }
    Ok(all)
}

/// The speed of the fastest wheel; 0 when no wheel says any.
pub(super) fn fastest_mps(inputs: &Inputs, wheel_radius_m: f64) -> f64 {
    (0..MODULES)
        .filter_map(|i| finite(inputs.fresh_module(i, STALE_SECS)?.velocity_rad_per_sec))
        .map(|v| (v * wheel_radius_m).abs())
        .fold(0.0, f64::max)
}

fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|v| v.is_finite())
}

/// Bridges short silences.
#[derive(Debug, Default)]
pub(super) struct Silence {
    since: Option<Micros>,
}

impl Silence {
    /// The reading; `None` while a silence is short enough to wait.
    pub(super) fn allow<T>(&mut self, now: Micros, reading: Result<T, String>) -> Result<Option<T>, String> {
        match reading {
            Ok(reading) => {
                self.since = None;
                Ok(Some(reading))
            }
            Err(reason) => {
                let since = *self.since.get_or_insert(now);
                if now.since(since).as_secs() >= SILENT_SECS { Err(reason) } else { Ok(None) }
            }
        }
    }
}
