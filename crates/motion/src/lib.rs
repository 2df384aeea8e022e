//! Poses, frames and swerve kinematics: the maths over the plain types of `fieldlab-values`.
//!
//! Frames are WPILib's: x forward, y to the left, angles counter-clockwise positive, radians and metres. A pose
//! `robot_in_field` is the robot's frame seen from the field's.
//!
//! ```
//! use fieldlab_motion::{SwerveKinematics, pose};
//! use fieldlab_values::{ChassisSpeeds, Pose2d, Translation2d, Twist2d};
//!
//! let corners = [(0.3, 0.3), (0.3, -0.3), (-0.3, 0.3), (-0.3, -0.3)].map(|(x, y)| Translation2d::new(x, y));
//! let drive = SwerveKinematics::new(corners)?;
//! let states = drive.module_states(&ChassisSpeeds::new(1.0, 0.0, 0.0), &[0.0; 4]);
//! assert_eq!(states[0].speed_mps, 1.0);
//!
//! // A quarter circle of radius 1 to the left ends one metre ahead and one to the left, facing left.
//! let quarter = Twist2d { dx_m: std::f64::consts::FRAC_PI_2, dy_m: 0.0, dtheta_rad: std::f64::consts::FRAC_PI_2 };
//! let end = pose::exp(&Pose2d::default(), &quarter);
//! assert!((end.translation.x_m - 1.0).abs() < 1e-12 && (end.translation.y_m - 1.0).abs() < 1e-12);
//! # Ok::<(), fieldlab_base::ConfigError>(())
//! ```
//!
//! Promises: no function panics or allocates; NaN in is NaN out, save where a function says what it does with it
//! ([`Odometry::update`] holds its pose). Knows no clock, file, socket or wire format.

mod kinematics;
mod odometry;
pub mod pose;

pub use kinematics::{SwerveKinematics, desaturate, optimise};
pub use odometry::Odometry;
