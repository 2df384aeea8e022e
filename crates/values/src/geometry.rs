//! WPILib's geometry and kinematics structs as plain data: no maths here, that is `fieldlab-motion`'s.
//!
//! Frames are the field's: x forward from the blue wall, y to the left, angles counter-clockwise positive, in radians.
//! Schema texts are those of wpimath 2026, letter for letter.

use crate::wpistruct::{WpiStruct, wpi_struct};

/// A point or a displacement in a plane.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Translation2d {
    /// Metres along x.
    pub x_m: f64,
    /// Metres along y.
    pub y_m: f64,
}

/// A point or a displacement in space.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Translation3d {
    /// Metres along x.
    pub x_m: f64,
    /// Metres along y.
    pub y_m: f64,
    /// Metres along z, up.
    pub z_m: f64,
}

/// A rotation in a plane.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rotation2d {
    /// Radians, counter-clockwise positive, not wrapped.
    pub angle_rad: f64,
}

/// A rotation in space as a unit quaternion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quaternion {
    /// Scalar part.
    pub w: f64,
    /// Vector part, x.
    pub x: f64,
    /// Vector part, y.
    pub y: f64,
    /// Vector part, z.
    pub z: f64,
}

impl Default for Quaternion {
    /// No rotation.
    fn default() -> Self {
        Self { w: 1.0, x: 0.0, y: 0.0, z: 0.0 }
    }
}

/// A rotation in space.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rotation3d {
    /// The rotation.
    pub q: Quaternion,
}

/// Position and heading in a plane.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pose2d {
    /// Where.
    pub translation: Translation2d,
    /// Which way.
    pub rotation: Rotation2d,
}

/// Position and attitude in space.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pose3d {
    /// Where.
    pub translation: Translation3d,
    /// Which way.
    pub rotation: Rotation3d,
}

/// The way from one pose to another in a plane, seen from the first.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Transform2d {
    /// The displacement.
    pub translation: Translation2d,
    /// The turn.
    pub rotation: Rotation2d,
}

/// The way from one pose to another in space, seen from the first.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Transform3d {
    /// The displacement.
    pub translation: Translation3d,
    /// The turn.
    pub rotation: Rotation3d,
}

/// A step along a circular arc in a plane, in the moving frame.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Twist2d {
    /// Metres forward.
    pub dx_m: f64,
    /// Metres to the left.
    pub dy_m: f64,
    /// Radians, counter-clockwise.
    pub dtheta_rad: f64,
}

/// A step along a screw in space, in the moving frame.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Twist3d {
    /// Metres along x.
    pub dx_m: f64,
    /// Metres along y.
    pub dy_m: f64,
    /// Metres along z.
    pub dz_m: f64,
    /// Radians about x.
    pub rx_rad: f64,
    /// Radians about y.
    pub ry_rad: f64,
    /// Radians about z.
    pub rz_rad: f64,
}

/// A chassis' velocity in its own frame.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ChassisSpeeds {
    /// Metres per second forward.
    pub vx_mps: f64,
    /// Metres per second to the left.
    pub vy_mps: f64,
    /// Radians per second, counter-clockwise.
    pub omega_radps: f64,
}

/// What one swerve module does: speed over ground along its wheel, and where the wheel points.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SwerveModuleState {
    /// Metres per second.
    pub speed_mps: f64,
    /// Direction of the wheel in the chassis' frame.
    pub angle: Rotation2d,
}

/// How far one swerve module has rolled, and where its wheel points.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SwerveModulePosition {
    /// Metres since its encoder's zero.
    pub distance_m: f64,
    /// Direction of the wheel in the chassis' frame.
    pub angle: Rotation2d,
}

impl Translation2d {
    /// From metres.
    #[must_use]
    pub const fn new(x_m: f64, y_m: f64) -> Self {
        Self { x_m, y_m }
    }
}

impl Rotation2d {
    /// From radians.
    #[must_use]
    pub const fn new(angle_rad: f64) -> Self {
        Self { angle_rad }
    }
}

impl Pose2d {
    /// From metres and radians.
    #[must_use]
    pub const fn new(x_m: f64, y_m: f64, heading_rad: f64) -> Self {
        Self { translation: Translation2d::new(x_m, y_m), rotation: Rotation2d::new(heading_rad) }
    }
}

impl ChassisSpeeds {
    /// From metres per second and radians per second, in the chassis' frame.
    #[must_use]
    pub const fn new(vx_mps: f64, vy_mps: f64, omega_radps: f64) -> Self {
        Self { vx_mps, vy_mps, omega_radps }
    }
}

wpi_struct!(Translation2d, "double x;double y", { x_m: f64, y_m: f64 });
wpi_struct!(Translation3d, "double x;double y;double z", { x_m: f64, y_m: f64, z_m: f64 });
wpi_struct!(Rotation2d, "double value", { angle_rad: f64 });
wpi_struct!(Quaternion, "double w;double x;double y;double z", { w: f64, x: f64, y: f64, z: f64 });
wpi_struct!(Rotation3d, "Quaternion q", { q: Quaternion });
wpi_struct!(Pose2d, "Translation2d translation;Rotation2d rotation", {
    translation: Translation2d, rotation: Rotation2d,
});
wpi_struct!(Pose3d, "Translation3d translation;Rotation3d rotation", {
    translation: Translation3d, rotation: Rotation3d,
});
wpi_struct!(Transform2d, "Translation2d translation;Rotation2d rotation", {
    translation: Translation2d, rotation: Rotation2d,
});
wpi_struct!(Transform3d, "Translation3d translation;Rotation3d rotation", {
    translation: Translation3d, rotation: Rotation3d,
});
wpi_struct!(Twist2d, "double dx;double dy;double dtheta", { dx_m: f64, dy_m: f64, dtheta_rad: f64 });
wpi_struct!(Twist3d, "double dx;double dy;double dz;double rx;double ry;double rz", {
    dx_m: f64, dy_m: f64, dz_m: f64, rx_rad: f64, ry_rad: f64, rz_rad: f64,
});
wpi_struct!(ChassisSpeeds, "double vx;double vy;double omega", { vx_mps: f64, vy_mps: f64, omega_radps: f64 });
wpi_struct!(SwerveModuleState, "double speed;Rotation2d angle", { speed_mps: f64, angle: Rotation2d });
wpi_struct!(SwerveModulePosition, "double distance;Rotation2d angle", { distance_m: f64, angle: Rotation2d });
