//! The topics of the shipped acts.

use fieldlab_base::ConfigError;
use fieldlab_campaign::calibration::{SlipCurrentTopics, SysIdTopics, WheelRadiusTopics};
use fieldlab_campaign::channels::sysid;
use fieldlab_values::{DataType, Publish, Publisher, Root, TopicSpec, ValueRef};

use super::sensors::STALE_SECS;
use crate::hw::{Inputs, MODULE_NAMES, MODULES};
use crate::telemetry::{Door, Scope};

/// The topics of the shipped acts, declared once for the op mode that runs them.
#[derive(Debug)]
pub struct ActTopics {
    door: Door,
    pub(super) wheel_radius: WheelRadiusTopics,
    pub(super) slip_current: SlipCurrentTopics,
    pub(super) sys_id: SysIdTopics,
    pub(super) sys_id_log: SysIdLog,
}

impl ActTopics {
    /// Declares them in an op mode's scope.
    ///
    /// # Errors
    /// When one was declared before.
    pub fn declare(scope: &mut Scope) -> Result<Self, ConfigError> {
        Ok(Self {
            wheel_radius: WheelRadiusTopics::declare(scope)?,
            slip_current: SlipCurrentTopics::declare(scope)?,
            sys_id: SysIdTopics::declare(scope)?,
            sys_id_log: SysIdLog::declare(scope)?,
            door: scope.door().clone(),
        })
    }

    pub(super) fn door(&self) -> Door {
        self.door.clone()
    }
}

/// SysId data as WPILib's own logger writes it, so that its analyser reads our file: in the log only.
#[derive(Debug)]
pub(super) struct SysIdLog {
    state: Publisher<str>,
    modules: [Samples; MODULES],
}

#[derive(Debug)]
struct Samples {
    voltage: u32,
    position: u32,
    velocity: u32,
}

impl SysIdLog {
    fn declare(scope: &mut Scope) -> Result<Self, ConfigError> {
        let state = Publisher::declare(scope, Root::Bare, sysid::STATE_CHANNEL, "")?;
        let mut channel = |key: String, unit: &str| {
            scope.declare(&TopicSpec { root: Root::Bare, key: &key, data_type: DataType::Double, unit })
        };
        let mut samples = |name: &str| -> Result<Samples, ConfigError> {
            Ok(Samples {
                voltage: channel(sysid::voltage(name), "V")?,
                position: channel(sysid::position(name), "m")?,
                velocity: channel(sysid::velocity(name), "m/s")?,
            })
        };
        let [a, b, c, d] = MODULE_NAMES;
        Ok(Self { state, modules: [samples(a)?, samples(b)?, samples(c)?, samples(d)?] })
    }

    /// The state when it changes, and while a test runs one sample of every wheel each turn, changed or not: the
    /// analyser differentiates what it is given.
    pub(super) fn write(&self, state: &str, inputs: &Inputs, wheel_radius_m: f64, door: &Door) {
        self.state.set(&mut door.clone(), state);
        if state == "none" {
            return;
        }
        for (i, samples) in self.modules.iter().enumerate() {
            let Some(module) = inputs.fresh_module(i, STALE_SECS) else { continue };
            let put = |index: u32, value: Option<f64>| {
                if let Some(value) = value {
                    door.append(index, ValueRef::Double(value));
                }
            };
            put(samples.voltage, module.applied_volts);
            put(samples.position, module.position_rad.map(|p| p * wheel_radius_m));
            put(samples.velocity, module.velocity_rad_per_sec.map(|v| v * wheel_radius_m));
        }
    }
}
