//! The rigs that come with the library: fixtures for tests and examples to start a profile from.

use super::Profile;
use crate::error::DrawError;

/// A rig whose files are compiled in.
#[derive(Debug, Clone, Copy)]
pub struct Shipped {
    /// The name that `--rig` takes.
    pub name: &'static str,
    profile: &'static str,
    files: &'static [(&'static str, &'static str)],
}

impl Shipped {
    /// The rig's profile.
    ///
    /// # Errors
    /// Never for the files as they were committed; a test reads each.
    pub fn profile(&self) -> Result<Profile, DrawError> {
        Profile::parse(self.profile, &|name| self.file(name))
    }

    /// The text of one of its files.
    ///
    /// # Errors
    /// [`DrawError::File`] for a name that it does not have.
    pub fn file(&self, name: &str) -> Result<String, DrawError> {
        self.files.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned()).ok_or_else(
            || DrawError::File {
                path: name.into(),
                reason: format!("not a file of the rig `{}`", self.name),
            },
        )
    }

    /// Every shipped rig.
    #[must_use]
    pub fn all() -> [Self; 3] {
        [REFERENCE_RIGHT, REFERENCE_LEFT, SIX_JOINT]
    }

    /// The shipped rig of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|rig| rig.name == name)
    }
}

const REFERENCE_FILES: &[(&str, &str)] = &[
    ("reference.urdf", include_str!("../../../../config/rigs/reference/reference.urdf")),
    ("ballpoint.toml", include_str!("../../../../config/rigs/reference/ballpoint.toml")),
    ("palette.toml", include_str!("../../../../config/rigs/reference/palette.toml")),
];

/// The right arm of the reference rig: six joints and a carriage, a measured ballpoint.
pub const REFERENCE_RIGHT: Shipped = Shipped {
    name: "reference",
    profile: include_str!("../../../../config/rigs/reference/right.toml"),
    files: REFERENCE_FILES,
};

/// The left arm of the reference rig, with the ballpoint's nominal tip.
pub const REFERENCE_LEFT: Shipped = Shipped {
    name: "reference-left",
    profile: include_str!("../../../../config/rigs/reference/left.toml"),
    files: REFERENCE_FILES,
};

/// A made-up six-joint arm without a carriage, turned in its root frame: proof that nothing is copied from the reference.
pub const SIX_JOINT: Shipped = Shipped {
    name: "six-joint",
    profile: include_str!("../../../../config/rigs/six_joint/profile.toml"),
    files: &[
        ("six_joint.urdf", include_str!("../../../../config/rigs/six_joint/six_joint.urdf")),
        ("brush.toml", include_str!("../../../../config/rigs/six_joint/brush.toml")),
        ("palette.toml", include_str!("../../../../config/rigs/six_joint/palette.toml")),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{norm, sub};

    fn close(found: [f64; 3], expected: [f64; 3], within: f64) {
        assert!(norm(sub(found, expected)) < within, "{found:?} against {expected:?}");
    }

    #[test]
    fn tips_and_axes_are_the_published_ones() {
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let right = REFERENCE_RIGHT.profile().unwrap();
        let compiled = [0.204_986_928_170_784_68, 0.012_312_678_895_000_949, -0.000_544];
        close(right.chain.tip_in_final_m, compiled, 1e-9);
        close(right.chain.tool_axis, [half, -half, 0.0], 1e-12);
        assert_eq!(right.chain.carriage_axis, Some([0.0, 1.0, 0.0]));
        let left = REFERENCE_LEFT.profile().unwrap();
        close(left.chain.tip_in_final_m, [0.176_229_602, 0.037_288_396, 0.000_564], 1e-9);
        close(left.chain.tool_axis, [half, -half, 0.0], 1e-12);
        assert_eq!(left.base_in_root.translation_m, [0.0, 0.2675, 0.0]);
        assert_ne!(left.sha(), right.sha());
    }

    #[test]
    fn forward_kinematics_meet_the_published_witnesses() {
        let profile = REFERENCE_RIGHT.profile().unwrap();
        let witness = [
            0.140_573_740_005,
            1.457_045_793_533,
            0.664_721_131_325,
            0.048_256_658_018,
            -0.018_501_564_860,
            1.589_036_345_482,
        ];
        let posture = profile.chain.posture(&witness, 0.0);
        let gripper =
            crate::math::add(posture.final_m, crate::math::apply(&posture.rotation, [0.156_062, 0.0, 0.0]));
        close(gripper, [0.386_395_695_312, 0.058_134_641_170_9, 0.062_317_619_481_1], 1e-12);
    }

    #[test]
    fn the_jacobian_is_the_slope_of_the_tip() {
        for rig in Shipped::all() {
            let chain = rig.profile().unwrap().chain;
            let joints = [0.2, 1.3, 0.9, -0.3, 0.25, 0.4];
            let jacobian = chain.posture(&joints, 0.002).jacobian();
            for axis in 0..6 {
                let at = |shift: f64| {
                    let mut moved = joints;
                    moved[axis] += shift;
                    chain.posture(&moved, 0.002).tip_m
                };
                let slope = crate::math::scale(sub(at(1e-6), at(-1e-6)), 5e5);
                close(slope, [jacobian[0][axis], jacobian[1][axis], jacobian[2][axis]], 1e-8);
            }
        }
    }
}
