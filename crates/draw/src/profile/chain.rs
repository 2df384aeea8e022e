//! The arm as the planner sees it: six turning joints, perhaps a carriage that slides the tip, and a tip.

use crate::math::{IDENTITY, Mat3, Rigid, Vec3, add, add_scaled, apply, cross, mul, rotation_about, sub};

/// How many turning joints the planner's law knows.
pub const JOINTS: usize = 6;
/// Joints and carriage.
pub const AXES: usize = JOINTS + 1;

/// One turning joint of the chain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChainJoint {
    /// Its frame in the link before it, at position zero.
    pub origin: Rigid,
    /// Its unit axis in its own frame.
    pub axis: Vec3,
    /// Lowest position that a plan may use, radians.
    pub lower_rad: f64,
    /// Highest position that a plan may use, radians.
    pub upper_rad: f64,
}

/// Kinematics from the arm's base to the tool tip.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    /// The turning joints, base first.
    pub joints: [ChainJoint; JOINTS],
    /// The final link in the frame of the last joint.
    pub final_in_last: Rigid,
    /// The tip in the final link with the carriage at zero, metres.
    pub tip_in_final_m: Vec3,
    /// The direction in which a positive carriage moves the tip, in the final link; `None` without a carriage.
    pub carriage_axis: Option<Vec3>,
    /// Unit vector out of the tool toward the surface, in the final link.
    pub tool_axis: Vec3,
}

/// Where everything is for one set of joint positions, in the base frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Posture {
    /// The tip, metres.
    pub tip_m: Vec3,
    /// The final link's rotation.
    pub rotation: Mat3,
    /// Each joint's origin, metres.
    pub origins_m: [Vec3; JOINTS],
    /// Each joint's axis.
    pub axes: [Vec3; JOINTS],
    /// The carriage's direction; zero without a carriage.
    pub carriage: Vec3,
    /// The final link's origin, metres.
    pub final_m: Vec3,
}

impl Chain {
    /// The frame behind each joint in the base frame, the base's own first; joints in radians.
    #[must_use]
    pub fn frames(&self, joints_rad: &[f64; JOINTS]) -> [Rigid; JOINTS + 1] {
        let mut out = [Rigid::IDENTITY; JOINTS + 1];
        for (index, joint) in self.joints.iter().enumerate() {
            let turned =
                Rigid { rotation: rotation_about(joint.axis, joints_rad[index]), translation_m: [0.0; 3] };
            out[index + 1] = out[index].then(&joint.origin).then(&turned);
        }
        out
    }

    /// The pose of the final link and the tip: joints in radians, carriage in metres (ignored without one).
    #[must_use]
    pub fn posture(&self, joints_rad: &[f64; JOINTS], carriage_m: f64) -> Posture {
        let mut rotation = IDENTITY;
        let mut place = [0.0; 3];
        let mut origins_m = [[0.0; 3]; JOINTS];
        let mut axes = [[0.0; 3]; JOINTS];
        for (index, joint) in self.joints.iter().enumerate() {
            place = add(place, apply(&rotation, joint.origin.translation_m));
            if joint.origin.rotation != IDENTITY {
                rotation = mul(&rotation, &joint.origin.rotation);
            }
            origins_m[index] = place;
            axes[index] = apply(&rotation, joint.axis);
            rotation = mul(&rotation, &rotation_about(joint.axis, joints_rad[index]));
        }
        if self.final_in_last != Rigid::IDENTITY {
            place = add(place, apply(&rotation, self.final_in_last.translation_m));
            rotation = mul(&rotation, &self.final_in_last.rotation);
        }
        let tip = self
            .carriage_axis
            .map_or(self.tip_in_final_m, |axis| add_scaled(self.tip_in_final_m, axis, carriage_m));
        Posture {
            tip_m: add(place, apply(&rotation, tip)),
            rotation,
            origins_m,
            axes,
            carriage: self.carriage_axis.map_or([0.0; 3], |axis| apply(&rotation, axis)),
            final_m: place,
        }
    }
}

impl Posture {
    /// The 6 × 7 Jacobian of the tip: linear rows 0 to 2, angular rows 3 to 5; the carriage is the last column.
    #[must_use]
    pub fn jacobian(&self) -> [[f64; AXES]; 6] {
        let mut out = [[0.0; AXES]; 6];
        for (index, (axis, origin)) in self.axes.iter().zip(&self.origins_m).enumerate() {
            let linear = cross(*axis, sub(self.tip_m, *origin));
            for row in 0..3 {
                out[row][index] = linear[row];
                out[row + 3][index] = axis[row];
            }
        }
        for (row, line) in out.iter_mut().take(3).enumerate() {
            line[JOINTS] = self.carriage[row];
        }
        out
    }
}
