//! The reference law: damped least squares on a twist made of feedforward and feedback, Euler's rule, one tick per row.
//!
//! It integrates with the period that it is given and compares the integrated state with the same row; that lag is part of
//! the law and not to be mended, or the golden vectors would no longer hold.

use super::solve::solve6;
use crate::constants::generated as c;
use crate::math::{Mat3, Vec3, add, column, cross, norm, scale, sub};
use crate::profile::{AXES, Chain, JOINTS, Posture};
use crate::samples::Row;

/// Every number of the law and of the caps around it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)] // each is the constant of the same name in `constants::generated`
pub struct Law {
    pub period_s: f64,
    pub dls_damping: f64,
    pub position_gain_per_s: f64,
    pub orientation_gain_per_s: f64,
    pub carriage_weight: f64,
    pub carriage_center_gain_per_s: f64,
    pub carriage_bias_m: f64,
    pub carriage_draw_m: (f64, f64),
    pub carriage_pen_up_m: (f64, f64),
    pub max_carriage_velocity_m_s: f64,
    pub max_carriage_acceleration_m_s2: f64,
    pub max_joint_velocity_draw_rad_s: f64,
    pub max_joint_velocity_pen_up_rad_s: f64,
    pub max_model_error_end_m: f64,
    pub max_model_error_draw_m: f64,
    pub max_model_error_pen_up_m: f64,
    pub max_orientation_error_rad: f64,
}

impl Law {
    /// The law with the compiled constants.
    #[must_use]
    pub fn compiled() -> Self {
        Self {
            period_s: c::PERIOD_S,
            dls_damping: c::PLANNER_DLS_DAMPING,
            position_gain_per_s: c::PLANNER_POSITION_ERROR_GAIN_S,
            orientation_gain_per_s: c::PLANNER_ORIENTATION_ERROR_GAIN_S,
            carriage_weight: c::PLANNER_CARRIAGE_DLS_WEIGHT,
            carriage_center_gain_per_s: c::PLANNER_CARRIAGE_CENTER_GAIN_S,
            carriage_bias_m: c::CARRIAGE_IK_BIAS_M,
            carriage_draw_m: (c::CARRIAGE_IK_MIN_M, c::CARRIAGE_IK_MAX_M),
            carriage_pen_up_m: (c::CARRIAGE_IK_PEN_UP_MIN_M, c::CARRIAGE_IK_PEN_UP_MAX_M),
            max_carriage_velocity_m_s: c::PLANNER_MAX_CARRIAGE_VELOCITY_M_S,
            max_carriage_acceleration_m_s2: c::PLANNER_MAX_CARRIAGE_ACCELERATION_M_S2,
            max_joint_velocity_draw_rad_s: c::PLANNER_MAX_JOINT_VELOCITY_RAD_S,
            max_joint_velocity_pen_up_rad_s: c::PLANNER_MAX_JOINT_VELOCITY_PEN_UP_RAD_S,
            max_model_error_end_m: c::PLANNER_MAX_MODEL_ERROR_M,
            max_model_error_draw_m: c::PLANNER_MAX_MODEL_ERROR_DRAW_M,
            max_model_error_pen_up_m: c::PLANNER_MAX_MODEL_ERROR_PEN_UP_M,
            max_orientation_error_rad: c::PLANNER_MAX_ORIENTATION_ERROR_RAD,
        }
    }
}

/// Where the arm stands before the first row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Start {
    /// Joint positions, radians.
    pub joints_rad: [f64; JOINTS],
    /// Carriage position, metres; 0 for an arm without one.
    pub carriage_m: f64,
}

/// What one tick did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tick {
    /// Joints (rad/s) and carriage (m/s) during the tick.
    pub velocities: [f64; AXES],
    /// Their change since the tick before, per second; the first tick starts from rest.
    pub accelerations: [f64; AXES],
    /// Joints (rad) and carriage (m) at its end.
    pub positions: [f64; AXES],
    /// Distance of the tip from the row's place at its end, metres.
    pub model_error_m: f64,
    /// The sine measure of the rotation error at its end; zero for half a turn, as in the reference.
    pub orientation_sine: f64,
}

/// The planner's state between two ticks.
#[derive(Debug, Clone)]
pub struct Planner {
    chain: Chain,
    law: Law,
    carriage_ik: bool,
    joints_rad: [f64; JOINTS],
    carriage_m: f64,
    velocities: [f64; AXES],
    posture: Posture,
}

/// `1/2 Σ aᵢ × bᵢ` over the columns: the axis of `b aᵀ` times the sine of its angle. It vanishes for half a turn, so it steers
/// but must not judge.
#[must_use]
pub fn sine_error(a: &Mat3, b: &Mat3) -> Vec3 {
    let sum = (0..3).fold([0.0; 3], |sum, i| add(sum, cross(column(a, i), column(b, i))));
    scale(sum, 0.5)
}

impl Planner {
    /// A planner at rest at `start`. `carriage_ik` lets the carriage take part in pen-down rows.
    #[must_use]
    pub fn new(chain: Chain, law: Law, carriage_ik: bool, start: &Start) -> Self {
        let posture = chain.posture(&start.joints_rad, start.carriage_m);
        Self {
            carriage_ik: carriage_ik && chain.carriage_axis.is_some(),
            chain,
            law,
            joints_rad: start.joints_rad,
            carriage_m: start.carriage_m,
            velocities: [0.0; AXES],
            posture,
        }
    }

    /// Where everything is now.
    #[must_use]
    pub fn posture(&self) -> &Posture {
        &self.posture
    }

    /// One tick toward `row`; `next` gives the rotation's feedforward. `None` when the equations are singular or the state is
    /// no longer finite; the state then stays as it was.
    pub fn step(&mut self, row: &Row, next: Option<&Row>) -> Option<Tick> {
        let law = self.law;
        let now = &self.posture;
        let turn_rate = next.map_or([0.0; 3], |next| scale(sine_error(&row.r, &next.r), 1.0 / law.period_s));
        let linear = add(row.v_m_s, scale(sub(row.p_m, now.tip_m), law.position_gain_per_s));
        let back = scale(sine_error(&now.rotation, &row.r), law.orientation_gain_per_s);
        let angular = add(turn_rate, back);
        let twist = [linear[0], linear[1], linear[2], angular[0], angular[1], angular[2]];
        let jacobian = now.jacobian();
        let velocities = if row.pen && self.carriage_ik {
            self.seven_axes(&jacobian, &twist)?
        } else {
            let most = 0.5 * law.max_carriage_acceleration_m_s2 * law.period_s;
            let before = self.velocities[JOINTS];
            self.six_axes(&jacobian, &twist, before - before.clamp(-most, most))?
        };
        if velocities.iter().any(|velocity| !velocity.is_finite()) {
            return None;
        }
        let mut accelerations = [0.0; AXES];
        for (axis, slot) in accelerations.iter_mut().enumerate() {
            *slot = (velocities[axis] - self.velocities[axis]) / law.period_s;
        }
        for (position, velocity) in self.joints_rad.iter_mut().zip(&velocities) {
            *position += law.period_s * velocity;
        }
        self.carriage_m += law.period_s * velocities[JOINTS];
        self.velocities = velocities;
        self.posture = self.chain.posture(&self.joints_rad, self.carriage_m);
        let mut positions = [self.carriage_m; AXES];
        positions[..JOINTS].copy_from_slice(&self.joints_rad);
        Some(Tick {
            velocities,
            accelerations,
            positions,
            model_error_m: norm(sub(row.p_m, self.posture.tip_m)),
            orientation_sine: norm(sine_error(&self.posture.rotation, &row.r)),
        })
    }

    /// All axes share the twist; the carriage is drawn to its rest in the null space and slewed.
    fn seven_axes(&self, jacobian: &[[f64; AXES]; 6], twist: &[f64; 6]) -> Option<[f64; AXES]> {
        let law = &self.law;
        let mut inverse_weights = [1.0; AXES];
        inverse_weights[JOINTS] = 1.0 / (law.carriage_weight * law.carriage_weight);
        let centre = law.carriage_center_gain_per_s * (law.carriage_bias_m - self.carriage_m);
        let mut wanted = *twist;
        for (row, value) in wanted.iter_mut().enumerate() {
            *value -= jacobian[row][JOINTS] * centre;
        }
        let normal = damped(jacobian, &inverse_weights, law.dls_damping);
        let solved = solve6(normal, wanted)?;
        let mut velocities = [0.0; AXES];
        for (axis, velocity) in velocities.iter_mut().enumerate() {
            *velocity = inverse_weights[axis] * transposed(jacobian, axis, &solved);
        }
        let free = velocities[JOINTS] + centre;
        let most = 0.9 * law.max_carriage_velocity_m_s;
        let step = 0.9 * law.max_carriage_acceleration_m_s2 * law.period_s;
        let before = self.velocities[JOINTS];
        let slewed = free.clamp(-most, most).clamp(before - step, before + step);
        velocities[JOINTS] = free;
        #[allow(clippy::float_cmp)] // whether the slew changed anything at all is the law's own question
        if slewed != free {
            return self.six_axes(jacobian, twist, slewed);
        }
        Some(velocities)
    }

    /// The carriage's velocity is given, the joints take the rest of the twist.
    fn six_axes(&self, jacobian: &[[f64; AXES]; 6], twist: &[f64; 6], carriage: f64) -> Option<[f64; AXES]> {
        let mut weights = [1.0; AXES];
        weights[JOINTS] = 0.0;
        let mut wanted = *twist;
        for (row, value) in wanted.iter_mut().enumerate() {
            *value -= jacobian[row][JOINTS] * carriage;
        }
        let solved = solve6(damped(jacobian, &weights, self.law.dls_damping), wanted)?;
        let mut velocities = [carriage; AXES];
        for (axis, velocity) in velocities.iter_mut().take(JOINTS).enumerate() {
            *velocity = transposed(jacobian, axis, &solved);
        }
        Some(velocities)
    }
}

/// `J W⁻¹ Jᵀ + λ² I`.
pub(super) fn damped(
    jacobian: &[[f64; AXES]; 6],
    inverse_weights: &[f64; AXES],
    damping: f64,
) -> [[f64; 6]; 6] {
    let mut out = [[0.0; 6]; 6];
    for row in 0..6 {
        for col in 0..=row {
            let mut sum = 0.0;
            for (axis, weight) in inverse_weights.iter().enumerate() {
                sum += jacobian[row][axis] * weight * jacobian[col][axis];
            }
            out[row][col] = sum;
            out[col][row] = sum;
        }
        out[row][row] += damping * damping;
    }
    out
}

fn transposed(jacobian: &[[f64; AXES]; 6], axis: usize, x: &[f64; 6]) -> f64 {
    jacobian.iter().zip(x).map(|(row, value)| row[axis] * value).sum()
}
