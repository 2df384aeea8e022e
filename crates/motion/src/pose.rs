//! The group of rigid motions of the plane: compose, invert, exponential and logarithm.

use fieldlab_values::{Pose2d, Transform2d, Translation2d, Twist2d};

/// The same angle in `-pi ..= pi`, radians.
#[must_use]
pub fn wrap_angle(angle_rad: f64) -> f64 {
    if angle_rad.abs() <= std::f64::consts::PI {
        return angle_rad;
    }
    angle_rad - std::f64::consts::TAU * (angle_rad / std::f64::consts::TAU).round()
}

/// `v` turned by `angle_rad` counter-clockwise.
#[must_use]
pub fn rotate(v: Translation2d, angle_rad: f64) -> Translation2d {
    let (sin, cos) = angle_rad.sin_cos();
    Translation2d::new(v.x_m * cos - v.y_m * sin, v.x_m * sin + v.y_m * cos)
}

/// `start` followed by `step`, which is seen from `start`. Headings add up without wrapping.
#[must_use]
pub fn compose(start: &Pose2d, step: &Transform2d) -> Pose2d {
    let turned = rotate(step.translation, start.rotation.angle_rad);
    Pose2d::new(
        start.translation.x_m + turned.x_m,
        start.translation.y_m + turned.y_m,
        start.rotation.angle_rad + step.rotation.angle_rad,
    )
}

/// The transform that undoes `step`.
#[must_use]
pub fn inverse(step: &Transform2d) -> Transform2d {
    let back = Translation2d::new(-step.translation.x_m, -step.translation.y_m);
    let mut out = *step;
    out.translation = rotate(back, -step.rotation.angle_rad);
    out.rotation.angle_rad = -step.rotation.angle_rad;
    out
}

/// The way from `from` to `to`, seen from `from`.
#[must_use]
pub fn between(from: &Pose2d, to: &Pose2d) -> Transform2d {
    let offset = Translation2d::new(
        to.translation.x_m - from.translation.x_m,
        to.translation.y_m - from.translation.y_m,
    );
    let mut out =
        Transform2d { translation: rotate(offset, -from.rotation.angle_rad), ..Transform2d::default() };
    out.rotation.angle_rad = to.rotation.angle_rad - from.rotation.angle_rad;
    out
}

/// `pose`, seen from another frame whose own pose in the old frame is `frame`.
#[must_use]
pub fn relative_to(pose: &Pose2d, frame: &Pose2d) -> Pose2d {
    let t = between(frame, pose);
    Pose2d { translation: t.translation, rotation: t.rotation }
}

/// Moves `start` along the arc of constant velocity `twist` (the exponential of se(2)).
///
/// ```text
/// x = dx sin(a)/a - dy (1 - cos a)/a,  y = dx (1 - cos a)/a + dy sin(a)/a,  a = dtheta
/// ```
/// With the two quotients in series below 1e-3 rad, where the difference of cosines would lose its digits.
#[must_use]
pub fn exp(start: &Pose2d, twist: &Twist2d) -> Pose2d {
    let (s, c) = sine_quotients(twist.dtheta_rad);
    let mut step = Transform2d {
        translation: Translation2d::new(twist.dx_m * s - twist.dy_m * c, twist.dx_m * c + twist.dy_m * s),
        ..Transform2d::default()
    };
    step.rotation.angle_rad = twist.dtheta_rad;
    compose(start, &step)
}

/// The twist of constant velocity that leads from `from` to `to` (the logarithm): the inverse of [`exp`], for turns inside
/// one half turn either way; a longer turn between the headings is taken the shorter way round.
#[must_use]
pub fn log(from: &Pose2d, to: &Pose2d) -> Twist2d {
    let way = between(from, to);
    let turn = wrap_angle(way.rotation.angle_rad);
    let half = 0.5 * turn;
    // a/2 cot(a/2), in series near zero.
    let along = if turn.abs() < 1e-3 { 1.0 - turn * turn / 12.0 } else { half / half.tan() };
    let (x, y) = (way.translation.x_m, way.translation.y_m);
    Twist2d { dx_m: along * x + half * y, dy_m: along * y - half * x, dtheta_rad: turn }
}

/// `sin(a)/a` and `(1 - cos a)/a`.
fn sine_quotients(a: f64) -> (f64, f64) {
    if a.abs() < 1e-3 {
        let square = a * a;
        (1.0 - square / 6.0 + square * square / 120.0, a * (0.5 - square / 24.0))
    } else {
        let half = (0.5 * a).sin();
        (a.sin() / a, 2.0 * half * half / a)
    }
}

#[cfg(test)]
mod tests {
    use fieldlab_values::Rotation2d;
    use proptest::prelude::*;

    use super::*;

    fn close(a: &Pose2d, b: &Pose2d) -> bool {
        (a.translation.x_m - b.translation.x_m).abs() < 1e-9
            && (a.translation.y_m - b.translation.y_m).abs() < 1e-9
            && wrap_angle(a.rotation.angle_rad - b.rotation.angle_rad).abs() < 1e-9
    }

    fn poses() -> impl Strategy<Value = Pose2d> {
        (-20.0..20.0, -20.0..20.0, -10.0..10.0).prop_map(|(x, y, h)| Pose2d::new(x, y, h))
    }

    proptest! {
        #[test]
        fn a_step_and_its_inverse_cancel(start in poses(), step in poses()) {
            let step = Transform2d { translation: step.translation, rotation: step.rotation };
            prop_assert!(close(&compose(&compose(&start, &step), &inverse(&step)), &start));
        }

        #[test]
        fn between_is_the_step_that_compose_takes(a in poses(), b in poses()) {
            prop_assert!(close(&compose(&a, &between(&a, &b)), &b));
            prop_assert!(close(&relative_to(&b, &Pose2d::default()), &b));
        }

        #[test]
        fn log_undoes_exp(start in poses(), dx in -3.0..3.0, dy in -3.0..3.0, turn in -3.1..3.1) {
            let twist = Twist2d { dx_m: dx, dy_m: dy, dtheta_rad: turn };
            let back = log(&start, &exp(&start, &twist));
            prop_assert!((back.dx_m - dx).abs() < 1e-9, "{back:?}");
            prop_assert!((back.dy_m - dy).abs() < 1e-9, "{back:?}");
            prop_assert!((back.dtheta_rad - turn).abs() < 1e-9, "{back:?}");
        }

        #[test]
        fn two_halves_of_a_twist_are_the_whole(start in poses(), dx in -3.0..3.0, dy in -3.0..3.0, turn in -6.0..6.0) {
            let whole = exp(&start, &Twist2d { dx_m: dx, dy_m: dy, dtheta_rad: turn });
            let half = Twist2d { dx_m: dx / 2.0, dy_m: dy / 2.0, dtheta_rad: turn / 2.0 };
            prop_assert!(close(&exp(&exp(&start, &half), &half), &whole));
        }

        #[test]
        fn the_series_meets_the_closed_form(sign in prop::bool::ANY, beside in -1e-9..1e-9) {
            let a = if sign { 1e-3 } else { -1e-3 } + beside;
            let (s, c) = sine_quotients(a);
            prop_assert!((s - a.sin() / a).abs() < 1e-15);
            prop_assert!((c - (0.5 * a - a.powi(3) / 24.0)).abs() < 1e-15);
        }

        #[test]
        fn wrapping_keeps_the_direction(a in -1e4..1e4) {
            let w = wrap_angle(a);
            prop_assert!(w.abs() <= std::f64::consts::PI);
            prop_assert!((w.sin() - a.sin()).abs() < 1e-9 && (w.cos() - a.cos()).abs() < 1e-9);
        }
    }

    #[test]
    fn a_pose_seen_from_itself_is_the_origin() {
        let p = Pose2d::new(3.0, -2.0, 1.0);
        assert!(close(&relative_to(&p, &p), &Pose2d::default()));
        assert_eq!(Rotation2d::new(0.0), Rotation2d::default());
    }
}
