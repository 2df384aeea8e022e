//! Orbits: round the touched point at a standoff, with a capture at each view.

use super::legs::{Builder, Pose};
use crate::constants::generated;
use crate::error::DrawError;
use crate::math::{
    Vec3, add, add_scaled, angle_of_vectors, apply, cross, minimal_rotation, mul, rotation_vector, scale,
    unit,
};
use crate::samples::Row;

/// How an orbit is flown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OrbitConfig {
    /// Views, 1 to 5: straight above, then tilted both ways about each of two axes.
    pub poses: usize,
    /// Distance of the tip from the touched point, metres.
    pub standoff_m: f64,
    /// Tilt of the side views, radians.
    pub tilt_rad: f64,
    /// Speed of the tip at its peak, m/s.
    pub speed_m_s: f64,
    /// Speed of turning at its peak, rad/s.
    pub turn_rad_s: f64,
    /// How long each view is held before its capture, seconds.
    pub hold_secs: f64,
}

impl Default for OrbitConfig {
    fn default() -> Self {
        Self {
            poses: usize::try_from(generated::ORBIT_POSES).unwrap_or(1),
            standoff_m: 0.08,
            tilt_rad: 15f64.to_radians(),
            speed_m_s: generated::ORBIT_SPEED_MM_S / 1e3,
            turn_rad_s: 8f64.to_radians(),
            hold_secs: 1.0,
        }
    }
}

/// Rows from the touching pose up and round its views. The pen never draws; the last row of each hold is a capture.
///
/// # Errors
/// [`DrawError::Refused`] with code `design` for a configuration out of range, `ticks` for one that takes too long.
pub fn orbit(contact: Pose, tool_axis: Vec3, config: &OrbitConfig) -> Result<Vec<Row>, DrawError> {
    let refuse = |reason: String| DrawError::Refused { code: "design", reason };
    if !(1..=5).contains(&config.poses) {
        return Err(refuse(format!("{} poses, 1 to 5 are flown", config.poses)));
    }
    for (name, value, most) in [
        ("standoff_m", config.standoff_m, 0.5),
        ("tilt_rad", config.tilt_rad, 1.0),
        ("speed_m_s", config.speed_m_s, 1.0),
        ("turn_rad_s", config.turn_rad_s, 10.0),
        ("hold_secs", config.hold_secs, 60.0),
    ] {
        if !(value > 0.0 && value <= most) {
            return Err(refuse(format!("{name} is {value}, above 0 to {most} is accepted")));
        }
    }
    let up = unit(scale(apply(&contact.rotation, tool_axis), -1.0))
        .ok_or_else(|| refuse("the tool has no direction".to_owned()))?;
    let views = views(up, config.tilt_rad).ok_or_else(|| refuse("the view has no axes".to_owned()))?;
    // A view's rotation is the touching one, carried along with the view's direction.
    let view = |direction: Vec3| Pose {
        tip_m: add_scaled(contact.tip_m, direction, config.standoff_m),
        rotation: minimal_rotation(up, direction)
            .map_or(contact.rotation, |turn| mul(&turn, &contact.rotation)),
    };
    let mut builder = Builder::new(contact);
    builder.leg(view(up), config.speed_m_s, config.turn_rad_s)?;
    let mut from = up;
    for &to in views.iter().take(config.poses) {
        let angle = angle_of_vectors(from, to);
        if angle > 1e-9 {
            let turn = minimal_rotation(from, to).map_or([0.0; 3], |turn| rotation_vector(&turn));
            let on_sphere = |u: f64| {
                let part = crate::math::rotation_about(scale(turn, 1.0 / angle), angle * u);
                view(apply(&part, from))
            };
            let way_secs = angle * config.standoff_m / config.speed_m_s;
            // Carrying the rotation along may turn it by up to twice the direction's angle.
            builder.along(way_secs, 2.0 * angle / config.turn_rad_s, &on_sphere)?;
        }
        builder.hold(config.hold_secs)?;
        builder.capture();
        from = to;
    }
    Ok(builder.rows())
}

/// Straight above, then tilted both ways about each of two axes.
pub(super) fn views(up: Vec3, tilt_rad: f64) -> Option<[Vec3; 5]> {
    let hint = if up[0].abs() < 0.9 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    let e_u = unit(cross(up, hint))?;
    let e_v = cross(up, e_u);
    let tilted = |axis: Vec3, sign: f64| {
        let (sin, cos) = tilt_rad.sin_cos();
        add(scale(up, cos), scale(cross(axis, up), sign * sin))
    };
    Some([up, tilted(e_u, 1.0), tilted(e_u, -1.0), tilted(e_v, 1.0), tilted(e_v, -1.0)])
}
