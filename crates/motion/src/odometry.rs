//! Dead reckoning from wheels and gyro.

use fieldlab_values::{Pose2d, SwerveModulePosition};

use crate::{SwerveKinematics, pose};

/// The robot's pose, integrated along arcs: translation from the wheels, turn from the raw gyro.
///
/// ```
/// use fieldlab_motion::{Odometry, SwerveKinematics};
/// use fieldlab_values::{Pose2d, SwerveModulePosition, Translation2d};
///
/// let drive = SwerveKinematics::new([Translation2d::new(0.3, 0.0), Translation2d::new(-0.3, 0.0)])?;
/// let mut odometry = Odometry::new(drive, Pose2d::default());
/// let at = |distance_m| [SwerveModulePosition { distance_m, ..Default::default() }; 2];
/// odometry.update(10.0, &at(5.0));            // the first reading only says where the sensors stand
/// let robot_in_field = odometry.update(10.0, &at(6.0));
/// assert_eq!(robot_in_field, Pose2d::new(1.0, 0.0, 0.0));
/// # Ok::<(), fieldlab_base::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Odometry<const N: usize> {
    kinematics: SwerveKinematics<N>,
    robot_in_field: Pose2d,
    last: Option<(f64, [SwerveModulePosition; N])>,
}

impl<const N: usize> Odometry<N> {
    /// Starting at this pose.
    #[must_use]
    pub const fn new(kinematics: SwerveKinematics<N>, robot_in_field: Pose2d) -> Self {
        Self { kinematics, robot_in_field, last: None }
    }

    /// Now.
    #[must_use]
    pub const fn robot_in_field(&self) -> Pose2d {
        self.robot_in_field
    }

    /// Says where the robot is; the sensors go on from where they are.
    pub fn reset(&mut self, robot_in_field: Pose2d) {
        self.robot_in_field = robot_in_field;
    }

    /// Takes a reading: raw unwrapped gyro yaw (radians) and wheel positions. The first one only sets the starting point.
    ///
    /// A reading with a number that is not finite is passed over whole; the next good one makes up for the gap, along one
    /// arc.
    pub fn update(&mut self, gyro_yaw_rad: f64, modules: &[SwerveModulePosition; N]) -> Pose2d {
        let finite = gyro_yaw_rad.is_finite()
            && modules.iter().all(|m| m.distance_m.is_finite() && m.angle.angle_rad.is_finite());
        if !finite {
            return self.robot_in_field;
        }
        if let Some((yaw, before)) = &self.last {
            let mut twist = self.kinematics.twist(before, modules);
            twist.dtheta_rad = gyro_yaw_rad - yaw;
            self.robot_in_field = pose::exp(&self.robot_in_field, &twist);
        }
        self.last = Some((gyro_yaw_rad, *modules));
        self.robot_in_field
    }
}

#[cfg(test)]
mod tests {
    use fieldlab_values::{ChassisSpeeds, Translation2d};

    use super::*;

    fn drive() -> SwerveKinematics<4> {
        SwerveKinematics::new(
            [(0.3, 0.3), (0.3, -0.3), (-0.3, 0.3), (-0.3, -0.3)].map(|(x, y)| Translation2d::new(x, y)),
        )
        .unwrap()
    }

    /// Readings of a chassis that moves with constant speeds in its own frame for `secs`.
    fn ride(odometry: &mut Odometry<4>, speeds: &ChassisSpeeds, secs: f64) -> Pose2d {
        let states = drive().module_states(speeds, &[0.0; 4]);
        let steps = 500;
        for k in 0..=steps {
            let t = secs * f64::from(k) / f64::from(steps);
            let modules =
                states.map(|s| SwerveModulePosition { distance_m: s.speed_mps * t, angle: s.angle });
            odometry.update(speeds.omega_radps * t, &modules);
        }
        odometry.robot_in_field()
    }

    #[test]
    fn constant_speeds_draw_the_exact_circle() {
        let speeds = ChassisSpeeds::new(1.2, 0.4, 0.8);
        let end = ride(&mut Odometry::new(drive(), Pose2d::default()), &speeds, 2.5);
        // Integral of Rot(w t) v: (vx sin a - vy (1 - cos a)) / w, (vx (1 - cos a) + vy sin a) / w.
        let (sin, cos) = (0.8_f64 * 2.5).sin_cos();
        assert!((end.translation.x_m - (1.2 * sin - 0.4 * (1.0 - cos)) / 0.8).abs() < 1e-9);
        assert!((end.translation.y_m - (1.2 * (1.0 - cos) + 0.4 * sin) / 0.8).abs() < 1e-9);
        assert!((end.rotation.angle_rad - 2.0).abs() < 1e-12);
    }

    #[test]
    fn nan_holds_the_pose_and_the_gap_is_made_up() {
        let mut odometry = Odometry::new(drive(), Pose2d::default());
        let at = |distance_m| [SwerveModulePosition { distance_m, ..Default::default() }; 4];
        odometry.update(0.0, &at(0.0));
        odometry.update(0.0, &at(1.0));
        assert_eq!(odometry.update(f64::NAN, &at(1.5)), Pose2d::new(1.0, 0.0, 0.0));
        assert_eq!(odometry.update(0.0, &at(f64::INFINITY)), Pose2d::new(1.0, 0.0, 0.0));
        assert_eq!(odometry.update(0.0, &at(2.0)), Pose2d::new(2.0, 0.0, 0.0));
        odometry.reset(Pose2d::default());
        assert_eq!(odometry.update(0.0, &at(2.5)), Pose2d::new(0.5, 0.0, 0.0));
    }
}
