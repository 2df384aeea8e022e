//! What a robot has, as the loop sees it: one snapshot of inputs, one set of outputs, and the traits between.
//!
//! The loop calls [`RobotIo::read`] once at its start and [`RobotIo::apply`] once at its end. Whoever wants to move
//! something takes a lease from the [`Hardware`] handle; whoever wants to know something reads its snapshot, which does
//! not change during a turn. A number that the robot does not have is `None`, never zero.

mod can;
mod facts;
mod handle;
mod inputs;
mod io;
mod outputs;

pub use can::{CanClaim, CanDevice, CanRegistry, rows as can_rows};
pub use facts::{
    ChannelAmps, GyroInfo, HardwareFacts, MAX_CHANNELS, ModuleConstants, PowerDistribution, PowerInfo,
    SwerveConstants,
};
pub use fieldlab_identity::{DeviceClass, PowerModule};
pub use handle::{Hardware, MechanismHandle};
pub use inputs::{GyroReading, Inputs, MechanismReading, ModuleReading, Reading, VisionReading};
pub use io::{
    Battery, DriveGeometry, Gyro, Mechanism, MechanismInfo, Parts, RobotDescription, RobotIo, SwerveDrive,
    Vision,
};
pub use outputs::{DriveCommand, MechanismCommand, Outputs};

/// Modules of a swerve drive, in the order front-left, front-right, back-left, back-right.
pub const MODULES: usize = 4;

/// The short names of the modules, in that order.
pub const MODULE_NAMES: [&str; MODULES] = ["fl", "fr", "bl", "br"];

/// Mechanisms that one robot may name. The snapshot is a fixed size so that copying it never allocates.
pub const MAX_MECHANISMS: usize = 8;
