//! Swerve: from chassis speeds to modules and back.

use fieldlab_base::{ConfigError, check};
use fieldlab_values::{ChassisSpeeds, SwerveModulePosition, SwerveModuleState, Translation2d, Twist2d};

use crate::pose::wrap_angle;

/// Where `N` swerve modules sit on a chassis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SwerveKinematics<const N: usize> {
    modules: [Translation2d; N],
    middle: Translation2d,
    /// Sum over modules of the squared distance from their middle, m².
    spread_m2: f64,
}

impl<const N: usize> SwerveKinematics<N> {
    /// Modules at these places in the chassis' frame, metres.
    ///
    /// # Errors
    /// Refuses non-finite places, and modules that all stand in one place: they cannot tell a turn.
    pub fn new(modules: [Translation2d; N]) -> Result<Self, ConfigError> {
        for (i, module) in modules.iter().enumerate() {
            check::finite(&format!("modules[{i}].x_m"), module.x_m)?;
            check::finite(&format!("modules[{i}].y_m"), module.y_m)?;
        }
        let count = N as f64;
        let middle = Translation2d::new(
            modules.iter().map(|m| m.x_m).sum::<f64>() / count,
            modules.iter().map(|m| m.y_m).sum::<f64>() / count,
        );
        let spread_m2: f64 =
            modules.iter().map(|m| (m.x_m - middle.x_m).powi(2) + (m.y_m - middle.y_m).powi(2)).sum();
        // A tenth of a millimetre: below it the division by the spread would answer rounding noise.
        if !(spread_m2 > 1e-8 && spread_m2.is_finite()) {
            let found = format!("{N} modules spread over {spread_m2} m²");
            return Err(ConfigError::new("modules", "two or more modules in different places", found));
        }
        Ok(Self { modules, middle, spread_m2 })
    }

    /// The module places.
    #[must_use]
    pub const fn modules(&self) -> &[Translation2d; N] {
        &self.modules
    }

    /// The mean distance of the modules from the chassis' origin, metres: the drive base radius of a spin.
    #[must_use]
    pub fn drive_base_radius_m(&self) -> f64 {
        self.modules.iter().map(|m| m.x_m.hypot(m.y_m)).sum::<f64>() / N as f64
    }

    /// What each module must do for the chassis to move so. A module that stands still keeps `angles_rad`.
    #[must_use]
    pub fn module_states(&self, speeds: &ChassisSpeeds, angles_rad: &[f64; N]) -> [SwerveModuleState; N] {
        std::array::from_fn(|i| {
            let m = self.modules[i];
            let x = speeds.vx_mps - speeds.omega_radps * m.y_m;
            let y = speeds.vy_mps + speeds.omega_radps * m.x_m;
            let speed_mps = x.hypot(y);
            let mut state = SwerveModuleState { speed_mps, ..SwerveModuleState::default() };
            // Below a micrometre a second the direction is rounding noise.
            state.angle.angle_rad = if speed_mps < 1e-6 { angles_rad[i] } else { y.atan2(x) };
            state
        })
    }

    /// The chassis motion that fits the modules' motions best in the least-squares sense.
    #[must_use]
    pub fn chassis_speeds(&self, states: &[SwerveModuleState; N]) -> ChassisSpeeds {
        let (vx, vy, omega) = self.best_fit(|i| {
            let (sin, cos) = states[i].angle.angle_rad.sin_cos();
            (states[i].speed_mps * cos, states[i].speed_mps * sin)
        });
        ChassisSpeeds::new(vx, vy, omega)
    }

    /// The chassis step that fits the modules' steps from `before` to `after` best in the least-squares sense.
    ///
    /// A module that was steered on the way rolled along an arc; its chord is taken, at the mean angle.
    #[must_use]
    pub fn twist(&self, before: &[SwerveModulePosition; N], after: &[SwerveModulePosition; N]) -> Twist2d {
        let (dx_m, dy_m, dtheta_rad) = self.best_fit(|i| chord(&before[i], &after[i]));
        Twist2d { dx_m, dy_m, dtheta_rad }
    }

    /// How badly one rigid chassis fits the modules' steps: root mean square of what is left, metres. Slip shows here.
    #[must_use]
    pub fn twist_residual_m(
        &self,
        before: &[SwerveModulePosition; N],
        after: &[SwerveModulePosition; N],
    ) -> f64 {
        let twist = self.twist(before, after);
        let sum: f64 = (0..N)
            .map(|i| {
                let (x, y) = chord(&before[i], &after[i]);
                let m = self.modules[i];
                (x - twist.dx_m + twist.dtheta_rad * m.y_m).powi(2)
                    + (y - twist.dy_m - twist.dtheta_rad * m.x_m).powi(2)
            })
            .sum();
        (sum / N as f64).sqrt()
    }

    /// The least-squares rigid motion of points that move by `velocity(i)`. Closed form: about the modules' middle the
    /// translation and the turn separate.
    fn best_fit(&self, velocity: impl Fn(usize) -> (f64, f64)) -> (f64, f64, f64) {
        let (mut mean_x, mut mean_y, mut moment) = (0.0, 0.0, 0.0);
        for (i, m) in self.modules.iter().enumerate() {
            let (x, y) = velocity(i);
            mean_x += x / N as f64;
            mean_y += y / N as f64;
            moment += (m.x_m - self.middle.x_m) * y - (m.y_m - self.middle.y_m) * x;
        }
        let omega = moment / self.spread_m2;
        (mean_x + omega * self.middle.y_m, mean_y - omega * self.middle.x_m, omega)
    }
}

fn chord(before: &SwerveModulePosition, after: &SwerveModulePosition) -> (f64, f64) {
    let distance = after.distance_m - before.distance_m;
    let turn = wrap_angle(after.angle.angle_rad - before.angle.angle_rad);
    let half = 0.5 * turn;
    let shorter = if half.abs() < 1e-4 { 1.0 - half * half / 6.0 } else { half.sin() / half };
    let (sin, cos) = (before.angle.angle_rad + half).sin_cos();
    (distance * shorter * cos, distance * shorter * sin)
}

/// Slows all modules by one factor so that none exceeds `max_mps`; direction and curvature stay.
pub fn desaturate(states: &mut [SwerveModuleState], max_mps: f64) {
    let fastest = states.iter().map(|s| s.speed_mps.abs()).fold(0.0, f64::max);
    if fastest > max_mps {
        for state in states {
            state.speed_mps *= max_mps / fastest;
        }
    }
}

/// The same motion with the wheel turned at most a quarter turn from `angle_rad`, rolling backwards if need be.
///
/// The answered angle is near `angle_rad`, whatever turns that has made, so that a servo goes the short way.
#[must_use]
pub fn optimise(wanted: &SwerveModuleState, angle_rad: f64) -> SwerveModuleState {
    let mut turn = wrap_angle(wanted.angle.angle_rad - angle_rad);
    let mut out = *wanted;
    if turn.abs() > std::f64::consts::FRAC_PI_2 {
        out.speed_mps = -wanted.speed_mps;
        turn -= std::f64::consts::PI.copysign(turn);
    }
    out.angle.angle_rad = angle_rad + turn;
    out
}

#[cfg(test)]
mod tests {
    use fieldlab_values::Rotation2d;
    use proptest::prelude::*;

    use super::*;

    fn square() -> SwerveKinematics<4> {
        SwerveKinematics::new(
            [(0.3, 0.3), (0.3, -0.3), (-0.3, 0.3), (-0.3, -0.3)].map(|(x, y)| Translation2d::new(x, y)),
        )
        .unwrap()
    }

    fn lopsided() -> SwerveKinematics<4> {
        SwerveKinematics::new(
            [(0.5, 0.3), (0.3, -0.2), (-0.1, 0.4), (-0.3, -0.6)].map(|(x, y)| Translation2d::new(x, y)),
        )
        .unwrap()
    }

    #[test]
    fn a_spin_is_tangent_everywhere() {
        let states = square().module_states(&ChassisSpeeds::new(0.0, 0.0, 1.0), &[0.0; 4]);
        for (state, degrees) in states.iter().zip([135.0_f64, 45.0, -135.0, -45.0]) {
            assert!((state.speed_mps - 0.18_f64.sqrt()).abs() < 1e-12);
            assert!((state.angle.angle_rad - degrees.to_radians()).abs() < 1e-12);
        }
        assert!((square().drive_base_radius_m() - 0.18_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn a_standing_module_keeps_its_angle() {
        let states = square().module_states(&ChassisSpeeds::default(), &[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(states[3].angle.angle_rad, 4.0);
        assert_eq!(states[3].speed_mps, 0.0);
    }

    #[test]
    fn modules_in_one_place_are_refused() {
        let refused = SwerveKinematics::new([Translation2d::new(0.1, 0.1); 3]).unwrap_err();
        assert_eq!(refused.path, "modules");
        assert!(
            SwerveKinematics::new([Translation2d::new(f64::NAN, 0.0), Translation2d::default()]).is_err()
        );
    }

    #[test]
    fn one_wheel_that_spins_shows_in_the_residual() {
        let before = [SwerveModulePosition::default(); 4];
        let mut after = before.map(|p| SwerveModulePosition { distance_m: 0.02, ..p });
        assert!(square().twist_residual_m(&before, &after) < 1e-15);
        after[2].distance_m = 0.06;
        // Of an error (e, 0) at one corner of a square, the fit takes 1/4 in x and e·0.3/(4·0.18) in turn; left is
        // e²(1 - 1/4 - 1/8) in all, over four modules.
        let left = (0.04_f64.powi(2) * (1.0 - 0.25 - 0.125) / 4.0).sqrt();
        assert!((square().twist_residual_m(&before, &after) - left).abs() < 1e-12);
    }

    #[test]
    fn a_saturated_drive_keeps_its_direction() {
        let mut states = square().module_states(&ChassisSpeeds::new(3.0, 1.0, 2.0), &[0.0; 4]);
        let before = square().chassis_speeds(&states);
        desaturate(&mut states, 2.0);
        let after = square().chassis_speeds(&states);
        assert!(states.iter().all(|s| s.speed_mps <= 2.0 + 1e-12));
        assert!((after.vx_mps / before.vx_mps - after.omega_radps / before.omega_radps).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn chassis_to_modules_and_back(vx in -4.0..4.0, vy in -4.0..4.0, omega in -6.0..6.0) {
            let speeds = ChassisSpeeds::new(vx, vy, omega);
            for drive in [square(), lopsided()] {
                let back = drive.chassis_speeds(&drive.module_states(&speeds, &[0.0; 4]));
                prop_assert!((back.vx_mps - vx).abs() < 1e-9);
                prop_assert!((back.vy_mps - vy).abs() < 1e-9);
                prop_assert!((back.omega_radps - omega).abs() < 1e-9);
            }
        }

        #[test]
        fn the_best_fit_cannot_be_bettered(s in prop::array::uniform8(-3.0..3.0f64), nudge in -0.01..0.01f64) {
            let drive = lopsided();
            let states: [SwerveModuleState; 4] = std::array::from_fn(|i| SwerveModuleState {
                speed_mps: s[2 * i], angle: Rotation2d::new(s[2 * i + 1]),
            });
            let cost = |c: ChassisSpeeds| -> f64 {
                (0..4).map(|i| {
                    let m = drive.modules()[i];
                    let (sin, cos) = states[i].angle.angle_rad.sin_cos();
                    (states[i].speed_mps * cos - c.vx_mps + c.omega_radps * m.y_m).powi(2)
                        + (states[i].speed_mps * sin - c.vy_mps - c.omega_radps * m.x_m).powi(2)
                }).sum()
            };
            let best = drive.chassis_speeds(&states);
            for worse in [
                ChassisSpeeds { vx_mps: best.vx_mps + nudge, ..best },
                ChassisSpeeds { vy_mps: best.vy_mps + nudge, ..best },
                ChassisSpeeds { omega_radps: best.omega_radps + nudge, ..best },
            ] {
                prop_assert!(cost(worse) >= cost(best) - 1e-12);
            }
        }

        #[test]
        fn optimising_keeps_the_motion(speed in -3.0..3.0, to in -9.0..9.0, from in -30.0..30.0) {
            let wanted = SwerveModuleState { speed_mps: speed, angle: Rotation2d::new(to) };
            let out = optimise(&wanted, from);
            prop_assert!((out.angle.angle_rad - from).abs() <= std::f64::consts::FRAC_PI_2 + 1e-9);
            let (s0, c0) = to.sin_cos();
            let (s1, c1) = out.angle.angle_rad.sin_cos();
            prop_assert!((speed * s0 - out.speed_mps * s1).abs() < 1e-9);
            prop_assert!((speed * c0 - out.speed_mps * c1).abs() < 1e-9);
        }
    }
}
