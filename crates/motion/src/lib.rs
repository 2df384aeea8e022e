//! Poses, frames and swerve kinematics.
