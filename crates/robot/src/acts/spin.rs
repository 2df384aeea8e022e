//! Turning on the spot by the raw gyro.

use fieldlab_base::{Action, Lease, Progress, Tick};
use fieldlab_campaign::SpinDirection;

use super::sensors::{self, Silence};
use crate::hw::{DriveCommand, Hardware};

/// How hard it begins and ends turning.
const ACCEL_RAD_PER_SEC2: f64 = 2.0;
/// How close to the last turn is there.
const ARRIVED_RAD: f64 = 0.01;

pub(super) struct Spin {
    hardware: Hardware,
    drive: Lease<DriveCommand>,
    sign: f64,
    target_rad: f64,
    omega: f64,
    commanded: f64,
    start: Option<f64>,
    silence: Silence,
}

impl Spin {
    pub(super) fn new(
        hardware: &Hardware,
        direction: SpinDirection,
        rotations: f64,
        omega: f64,
    ) -> Result<Self, String> {
        Ok(Self {
            drive: hardware.drive().map_err(|e| e.to_string())?,
            hardware: hardware.clone(),
            sign: direction.sign(),
            target_rad: rotations.abs() * std::f64::consts::TAU,
            omega: omega.abs(),
            commanded: 0.0,
            start: None,
            silence: Silence::default(),
        })
    }
}

impl Action for Spin {
    fn step(&mut self, tick: Tick) -> Progress {
        let yaw = match self.silence.allow(tick.now, sensors::yaw(&self.hardware.inputs())) {
            Ok(Some(yaw)) => yaw,
            Ok(None) => return Progress::Running,
            Err(reason) => return Progress::Failed(reason),
        };
        let turned = (yaw - *self.start.get_or_insert(yaw)) * self.sign;
        let left = self.target_rad - turned;
        if left <= ARRIVED_RAD {
            self.hardware.report("turned_rad", turned * self.sign);
            return Progress::Done;
        }
        let braking = (2.0 * ACCEL_RAD_PER_SEC2 * left).sqrt();
        self.commanded = self.omega.min(braking).min(self.commanded + ACCEL_RAD_PER_SEC2 * tick.dt_secs);
        self.drive.set(DriveCommand::Chassis {
            vx_mps: 0.0,
            vy_mps: 0.0,
            omega_rad_per_sec: self.commanded * self.sign,
        });
        Progress::Running
    }
}
