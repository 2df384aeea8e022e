//! The campaign's calibration machines on this robot: readings in, drive commands and topics out.

use std::rc::Rc;

use fieldlab_base::{Action, Lease, Progress, Tick};
use fieldlab_campaign::calibration::{
    CalibrationInput, CalibrationOutput, DriveRequest, SlipCurrent, Status, SysId, WheelRadius, WheelReading,
};
use fieldlab_campaign::{SlipCurrentConfig, SysIdConfig, SysIdTest, WheelRadiusConfig};

use super::sensors::STALE_SECS;
use super::topics::ActTopics;
use crate::hw::{DriveCommand, Hardware, Inputs, MODULES};

/// The result of a wheel radius calibration, in metres.
pub(crate) const WHEEL_RADIUS: &str = "wheel_radius_m";
/// The result of a slip current calibration, in amperes.
pub(crate) const SLIP_AMPS: &str = "slip_amps";

/// A calibration machine, whichever it is.
pub(crate) trait Machine {
    fn step(&mut self, input: &CalibrationInput) -> CalibrationOutput;
    fn status(&self) -> &Status;
    fn interrupt(&mut self);
    /// Shows how it stands; `inputs` is the turn's snapshot.
    fn publish(&self, topics: &ActTopics, inputs: &Inputs);
    /// Says what it found.
    fn report(&self, hardware: &Hardware);
}

/// Runs a machine. Dropped before its end, the machine says that it was interrupted.
pub(crate) struct Calibration<M: Machine> {
    hardware: Hardware,
    drive: Lease<DriveCommand>,
    topics: Rc<ActTopics>,
    machine: M,
}

impl<M: Machine> Calibration<M> {
    pub(crate) fn new(hardware: &Hardware, topics: &Rc<ActTopics>, machine: M) -> Result<Self, String> {
        Ok(Self {
            drive: hardware.drive().map_err(|e| e.to_string())?,
            hardware: hardware.clone(),
            topics: Rc::clone(topics),
            machine,
        })
    }
}

impl<M: Machine> Action for Calibration<M> {
    fn step(&mut self, tick: Tick) -> Progress {
        let inputs = self.hardware.inputs();
        let output = self.machine.step(&reading(&inputs, tick));
        self.drive.set(command(output.drive, &inputs));
        self.machine.publish(&self.topics, &inputs);
        if !output.over {
            return Progress::Running;
        }
        self.machine.report(&self.hardware);
        match self.machine.status() {
            Status::Done => Progress::Done,
            other => Progress::Failed(other.token().into_owned()),
        }
    }
}

impl<M: Machine> Drop for Calibration<M> {
    fn drop(&mut self) {
        if !self.machine.status().is_over() {
            self.machine.interrupt();
            self.machine.publish(&self.topics, &self.hardware.inputs());
        }
    }
}

/// The snapshot as a calibration reads it; what is stale is silent.
pub(crate) fn reading(inputs: &Inputs, tick: Tick) -> CalibrationInput {
    CalibrationInput {
        now: tick.now,
        wheels: std::array::from_fn(|i| {
            inputs.fresh_module(i, STALE_SECS).map_or(WheelReading::default(), |module| WheelReading {
                travel_rad: module.position_rad,
                velocity_rad_per_sec: module.velocity_rad_per_sec,
                stator_amps: module.stator_amps,
            })
        }),
        yaw_rad: inputs.fresh_gyro(STALE_SECS).map(|gyro| gyro.yaw_rad),
    }
}

/// A calibration's request as a command. Steering that is not part of the request stays where it is.
pub(crate) fn command(request: DriveRequest, inputs: &Inputs) -> DriveCommand {
    match request {
        DriveRequest::Neutral => DriveCommand::Neutral,
        DriveRequest::Spin { omega_rad_per_sec } => {
            DriveCommand::Chassis { vx_mps: 0.0, vy_mps: 0.0, omega_rad_per_sec }
        }
        DriveRequest::Straight { volts } => DriveCommand::straight_volts(volts, 0.0),
        DriveRequest::One { module, volts } => {
            let mut all = [0.0; MODULES];
            if let Some(slot) = all.get_mut(module) {
                *slot = volts;
            }
            let angle = |i| inputs.fresh_module(i, STALE_SECS).and_then(|m| m.angle_rad);
            let angle_rad = std::array::from_fn(|i| if i == module { 0.0 } else { angle(i).unwrap_or(0.0) });
            DriveCommand::Volts { volts: all, angle_rad }
        }
    }
}

pub(super) fn wheel_radius(config: WheelRadiusConfig) -> Result<WheelRadius, String> {
    WheelRadius::new(config).map_err(|e| e.to_string())
}

pub(super) fn slip_current(config: SlipCurrentConfig) -> Result<SlipCurrent, String> {
    SlipCurrent::new(config).map_err(|e| e.to_string())
}

pub(super) fn sys_id(test: SysIdTest, config: SysIdConfig) -> Result<LoggedSysId, String> {
    let wheel_radius_m = config.wheel_radius_m;
    Ok(LoggedSysId { machine: SysId::new(test, config).map_err(|e| e.to_string())?, wheel_radius_m })
}

/// What a calibration has under the very names of [`Machine`].
macro_rules! own_names {
    () => {
        fn step(&mut self, input: &CalibrationInput) -> CalibrationOutput {
            self.step(input)
        }
        fn status(&self) -> &Status {
            self.status()
        }
        fn interrupt(&mut self) {
            self.interrupt();
        }
    };
}

impl Machine for WheelRadius {
    own_names!();
    fn publish(&self, topics: &ActTopics, _inputs: &Inputs) {
        topics.wheel_radius.publish(self, &mut topics.door());
    }
    fn report(&self, hardware: &Hardware) {
        if let Some(found) = self.found() {
            hardware.report(WHEEL_RADIUS, found.radius_m);
            hardware.report("spread_percent", found.spread_percent);
            hardware.report("outliers", found.outliers as f64);
        }
    }
}

impl Machine for SlipCurrent {
    own_names!();
    fn publish(&self, topics: &ActTopics, _inputs: &Inputs) {
        topics.slip_current.publish(self, &mut topics.door());
    }
    fn report(&self, hardware: &Hardware) {
        if let Some(found) = self.found() {
            hardware.report(SLIP_AMPS, found.slip_amps);
            hardware.report("recommended_amps", found.recommended_amps);
        }
    }
}

/// A SysId test that also writes its samples in WPILib's own shape, every turn of the test.
pub(super) struct LoggedSysId {
    machine: SysId,
    wheel_radius_m: f64,
}

impl Machine for LoggedSysId {
    fn step(&mut self, input: &CalibrationInput) -> CalibrationOutput {
        self.machine.step(input)
    }
    fn status(&self) -> &Status {
        self.machine.status()
    }
    fn interrupt(&mut self) {
        self.machine.interrupt();
    }
    fn publish(&self, topics: &ActTopics, inputs: &Inputs) {
        topics.sys_id.publish(&self.machine, &mut topics.door());
        topics.sys_id_log.write(self.machine.state(), inputs, self.wheel_radius_m, &topics.door());
    }
    fn report(&self, hardware: &Hardware) {
        hardware.report("moved_m", self.machine.moved_m());
    }
}
