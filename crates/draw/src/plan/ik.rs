//! Inverse kinematics for start poses and reachability; it advises and never drives.

use super::law::damped;
use super::solve::solve6;
use crate::math::{Mat3, Vec3, angle_between, mul, norm, rotation_vector, sub, transpose};
use crate::profile::{AXES, Chain, JOINTS};

/// A pose that was looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reached {
    /// The joints, radians, inside their guarded ranges.
    pub joints_rad: [f64; JOINTS],
    /// What is left to the place, metres.
    pub position_gap_m: f64,
    /// What is left to the rotation, radians.
    pub rotation_gap_rad: f64,
}

/// Joints that put the tip at `tip_m` with the final link at `rotation`, looked for from `seed_rad` with the carriage held.
///
/// At most 400 damped steps of at most 0.15 rad, clipped to the guarded ranges; `None` unless the place is met within 1e-6 m and the
/// rotation within 1e-6 rad.
#[must_use]
pub fn reach(
    chain: &Chain,
    seed_rad: &[f64; JOINTS],
    carriage_m: f64,
    tip_m: Vec3,
    rotation: &Mat3,
) -> Option<Reached> {
    let mut joints = *seed_rad;
    let mut weights = [1.0; AXES];
    weights[JOINTS] = 0.0;
    for _ in 0..400 {
        let posture = chain.posture(&joints, carriage_m);
        let linear = sub(tip_m, posture.tip_m);
        let angular = rotation_vector(&mul(rotation, &transpose(&posture.rotation)));
        let reached = Reached {
            joints_rad: joints,
            position_gap_m: norm(linear),
            rotation_gap_rad: angle_between(&posture.rotation, rotation),
        };
        if reached.position_gap_m < 1e-6 && reached.rotation_gap_rad < 1e-6 {
            return Some(reached);
        }
        let jacobian = posture.jacobian();
        // The damping fades as the goal comes near, so that the last digits are reached too.
        let damping = 0.02 * (reached.position_gap_m + reached.rotation_gap_rad).min(1.0);
        let twist = [linear[0], linear[1], linear[2], angular[0], angular[1], angular[2]];
        let solved = solve6(damped(&jacobian, &weights, damping.max(1e-5)), twist)?;
        let mut step = [0.0; JOINTS];
        for (axis, slot) in step.iter_mut().enumerate() {
            *slot = jacobian.iter().zip(&solved).map(|(row, value)| row[axis] * value).sum();
        }
        let length = step.iter().map(|value| value * value).sum::<f64>().sqrt();
        let shorten = (0.15 / length).min(1.0);
        for ((joint, step), limits) in joints.iter_mut().zip(step).zip(&chain.joints) {
            *joint = (*joint + step * shorten).clamp(limits.lower_rad, limits.upper_rad);
        }
    }
    None
}
