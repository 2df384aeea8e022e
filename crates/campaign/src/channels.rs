//! The fixed names under which numbers are logged: what the robot writes and the shop reads.
//!
//! Every name here is the key alone, as it stands in our log file; on NetworkTables `/Catalyst/` stands before it, except
//! for the [SysId](sysid) channels, which are in the log only and stand there under WPILib's own names.
//!
//! | channel | type | unit | meaning |
//! |---|---|---|---|
//! | [`module`]`(i, ANGLE_RADIANS)` | double | rad | direction of wheel i in the robot's frame, CCW from +x |
//! | [`module`]`(i, POSITION_RADIANS)` | double | rad | travel of wheel i, after the gearbox |
//! | [`module`]`(i, VELOCITY_RAD_PER_SEC)` | double | rad/s | speed of wheel i, after the gearbox |
//! | [`module`]`(i, APPLIED_VOLTS)` | double | V | across the drive motor |
//! | [`module`]`(i, STATOR_AMPS)` | double | A | in the drive motor's windings |
//! | [`module`]`(i, TEMPERATURE_C)` | double | °C | of the drive motor |
//! | [`module`]`(i, POSITION_METERS)` | double | m | travel with the wheel radius in force |
//! | [`module`]`(i, VELOCITY_MPS)` | double | m/s | speed with the wheel radius in force |
//! | [`GYRO_YAW_RADIANS`] | double | rad | raw, unwrapped, CCW positive, never fused |
//! | [`GYRO_RATE_RAD_PER_SEC`] | double | rad/s | raw |
//! | [`ODOMETRY_POSE`] | struct:Pose2d | m, rad | wheels and gyro alone |
//! | [`VISION_POSE`] | struct:Pose2d | m, rad | the cameras alone, only when one saw something |
//! | [`BATTERY_VOLTS`] | double | V | at the robot controller |
//!
//! Wheels are counted front left, front right, back left, back right.

/// How many swerve modules there are.
pub const MODULE_COUNT: usize = 4;
/// Short names of the modules, in order; they are part of the SysId channels' names.
pub const MODULE_NAMES: [&str; MODULE_COUNT] = ["fl", "fr", "bl", "br"];

/// Module field: direction of the wheel, rad.
pub const ANGLE_RADIANS: &str = "AngleRadians";
/// Module field: travel of the wheel, rad.
pub const POSITION_RADIANS: &str = "PositionRadians";
/// Module field: speed of the wheel, rad/s.
pub const VELOCITY_RAD_PER_SEC: &str = "VelocityRadPerSec";
/// Module field: drive motor volts.
pub const APPLIED_VOLTS: &str = "AppliedVolts";
/// Module field: drive motor stator current, A.
pub const STATOR_AMPS: &str = "StatorAmps";
/// Module field: drive motor temperature, °C.
pub const TEMPERATURE_C: &str = "TemperatureC";
/// Module field: travel with the radius in force, m.
pub const POSITION_METERS: &str = "PositionMeters";
/// Module field: speed with the radius in force, m/s.
pub const VELOCITY_MPS: &str = "VelocityMps";

/// Raw unwrapped gyro yaw, rad, CCW positive.
pub const GYRO_YAW_RADIANS: &str = "Gyro/YawRadians";
/// Raw gyro rate, rad/s.
pub const GYRO_RATE_RAD_PER_SEC: &str = "Gyro/RateRadPerSec";
/// Pose from wheels and gyro.
pub const ODOMETRY_POSE: &str = "Odometry/Pose";
/// Pose from cameras.
pub const VISION_POSE: &str = "Vision/Pose";
/// Battery volts at the controller.
pub const BATTERY_VOLTS: &str = "Status/BatteryVolts";
/// Loops that took longer than their period, counted since the program started.
pub const LOOP_OVERRUN_COUNT: &str = "Loop/OverrunCount";
/// Values that did not reach a log or the dashboards, since the program began.
pub const LOOP_DROPPED_VALUES: &str = "Loop/DroppedValues";

/// The root of everything that the campaign itself logs.
pub const FIELD_LAB: &str = "FieldLab";
/// Under the session: one JSON object with plan, constants, versions, boot; repeated in every file.
pub const HEADER: &str = "Header";
/// Under the session: one JSON object per event of the run.
pub const EVENTS: &str = "Events";

/// The channel of `field` of module `index`: `Swerve/Modules/0/AngleRadians`.
#[must_use]
pub fn module(index: usize, field: &str) -> String {
    format!("Swerve/Modules/{index}/{field}")
}

/// The channel of what belongs to one session: `FieldLab/<session>/<rest>`.
#[must_use]
pub fn session(session: &str, rest: &str) -> String {
    format!("{FIELD_LAB}/{session}/{rest}")
}

/// SysId data in WPILib's own shape, so that its analyser reads our files too. In the log only, under these names whole.
pub mod sysid {
    /// The log name that ends every channel of the drivetrain.
    pub const DRIVE_LOG: &str = "drive";
    /// `quasistatic-forward`, `quasistatic-reverse`, `dynamic-forward`, `dynamic-reverse` or `none`; string.
    pub const STATE_CHANNEL: &str = "sysid-test-state-drive";

    /// `voltage-fl-drive`: volts across the motor of `module` (`fl`, `fr`, `bl`, `br`), unit `V`.
    #[must_use]
    pub fn voltage(module: &str) -> String {
        format!("voltage-{module}-{DRIVE_LOG}")
    }

    /// `position-fl-drive`: travel in metres with the radius in force, unit `m`.
    #[must_use]
    pub fn position(module: &str) -> String {
        format!("position-{module}-{DRIVE_LOG}")
    }

    /// `velocity-fl-drive`: speed in metres per second with the radius in force, unit `m/s`.
    #[must_use]
    pub fn velocity(module: &str) -> String {
        format!("velocity-{module}-{DRIVE_LOG}")
    }
}

/// The values of `event` in the records of [`EVENTS`]. Every record also has `t`, the loop's clock in seconds, and
/// `procedure`, the id of the procedure in flight, when there is one.
pub mod event {
    /// A session began.
    pub const SESSION_STARTED: &str = "session_started";
    /// A session goes on in another file, boot or object.
    pub const SESSION_RESUMED: &str = "session_resumed";
    /// The campaign is over.
    pub const FINISHED: &str = "finished";
    /// A person ended it.
    pub const ABORTED: &str = "aborted";
    /// The driver station enabled; the procedure in flight is entered at its gate.
    pub const ENABLED: &str = "enabled";
    /// The driver station disabled.
    pub const DISABLED: &str = "disabled";
    /// With `why`.
    pub const PROCEDURE_STARTED: &str = "procedure_started";
    /// It goes on after a disable, from its gate.
    pub const PROCEDURE_RESUMED: &str = "procedure_resumed";
    /// With `quality`: `good`, or `flagged: …`, `partial: …`, `empty: …`.
    pub const PROCEDURE_BANKED: &str = "procedure_banked";
    /// With `step`, `kind`, `label`, `attempt`.
    pub const ACT_STARTED: &str = "act_started";
    /// With `step`, `kind`, `label`, `outcome`, `seconds`, `minVolts`, `reason`, `results`.
    pub const ACT_ENDED: &str = "act_ended";
    /// With `step`, `kind`, `label`, `reason`: it will not be done.
    pub const STEP_SKIPPED: &str = "step_skipped";
    /// With `seq`, `text`, `key`, `unit`.
    pub const PROMPT: &str = "prompt";
    /// With `step`, `label`.
    pub const CONFIRMED: &str = "confirmed";
    /// With `key`, `value`, `unit`, `plausible`, `replaces`; `resumed` when it was given earlier.
    pub const ANSWER: &str = "answer";
    /// With `step`: the operator wants a failed step again.
    pub const RETRY: &str = "retry";
    /// With `volts`, `minVolts`.
    pub const GATE_PASSED: &str = "gate_passed";
    /// With `volts`, `resumeVolts`.
    pub const GATE_PAUSED: &str = "gate_paused";
    /// With `volts`.
    pub const GATE_RESUMED: &str = "gate_resumed";
    /// With `text`.
    pub const NOTE: &str = "note";
}
