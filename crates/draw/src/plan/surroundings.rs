//! What the reference does not look at: how near the arm is to a singularity and to itself.

use super::law::damped;
use super::solve::Factor;
use crate::profile::{AXES, Body, Chain, JOINTS, Posture};

/// Rows between two decompositions; between them the smallest singular value is followed.
const ANEW_EVERY: u32 = 20;
/// Steps of the inverse iteration per row: the direction of a row before is a good start.
const STEPS: usize = 2;

/// Follows the smallest singular value of the six joints' Jacobian, metres and radians mixed as they come.
#[derive(Debug, Clone)]
pub(super) struct Singularity {
    direction: [f64; 6],
    since: u32,
}

impl Singularity {
    pub(super) fn new() -> Self {
        Self { direction: [0.0; 6], since: ANEW_EVERY }
    }

    /// The value at this posture. Inverse iteration finds it from above, within rounding as long as rows are near each other; a whole
    /// decomposition on every twentieth row sees to a change of direction.
    pub(super) fn smallest(&mut self, posture: &Posture) -> f64 {
        let jacobian = posture.jacobian();
        if self.since >= ANEW_EVERY {
            self.since = 0;
            let matrix = nalgebra::Matrix6::from_fn(|row, column| jacobian[row][column]);
            let parts = matrix.svd(true, false);
            let least = parts.singular_values.imin();
            if let Some(u) = parts.u {
                self.direction = std::array::from_fn(|row| u[(row, least)]);
            }
            return parts.singular_values[least];
        }
        self.since += 1;
        let mut weights = [1.0; AXES];
        weights[JOINTS] = 0.0;
        // A matrix without a factor is singular to rounding.
        let Some(factor) = Factor::of(&damped(&jacobian, &weights, 0.0)) else { return 0.0 };
        let mut square = 0.0;
        for _ in 0..STEPS {
            let solved = factor.solve(self.direction);
            let length = solved.iter().map(|x| x * x).sum::<f64>().sqrt();
            square = 1.0 / length;
            self.direction = solved.map(|x| x / length);
        }
        square.sqrt()
    }
}

/// How far any link may have moved before the arm is compared with itself again, metres.
const LOOK_M: f64 = 0.000_5;

/// Watches the arm's distance from itself. It looks again as soon as a link may have moved by half a millimetre, or far enough to
/// meet the limit: no row breaks the limit unseen, and the least distance is known to half a millimetre.
#[derive(Debug, Clone)]
pub(super) struct SelfWatch {
    body: Body,
    reach_m: f64,
    joints_rad: [f64; JOINTS],
    seen: Option<(f64, [usize; 2])>,
}

impl SelfWatch {
    pub(super) fn new(body: Body, chain: &Chain) -> Self {
        Self { reach_m: reach_m(&body, chain), body, joints_rad: [0.0; JOINTS], seen: None }
    }

    /// The distance and the two links, when it was looked at on this row.
    pub(super) fn look(&mut self, chain: &Chain, joints_rad: &[f64; JOINTS]) -> Option<(f64, String)> {
        let turned: f64 = self.joints_rad.iter().zip(joints_rad).map(|(a, b)| (a - b).abs()).sum();
        // Turning a joint moves what is behind it by at most its reach.
        let moved_m = turned * self.reach_m;
        if let Some((gap_m, _)) = self.seen
            && moved_m < LOOK_M
            && gap_m - moved_m > self.body.clearance_m
        {
            return None;
        }
        let seen = self.body.least_m(chain, joints_rad);
        self.joints_rad = *joints_rad;
        self.seen = Some(seen);
        let [a, b] = seen.1.map(|index| self.body.capsules()[index].link.as_str());
        Some((seen.0, format!("{a}, {b}")))
    }
}

/// No point of the body is farther than this from any joint before it, metres.
fn reach_m(body: &Body, chain: &Chain) -> f64 {
    let length = |v: [f64; 3]| crate::math::norm(v);
    let links: f64 = chain.joints.iter().map(|joint| length(joint.origin.translation_m)).sum();
    let own = body.capsules().iter().flat_map(|capsule| capsule.ends_m).map(length).fold(0.0, f64::max);
    links + own
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{REFERENCE_RIGHT, SIX_JOINT};

    #[test]
    fn the_followed_value_is_the_decomposition_s_on_every_row() {
        for rig in [REFERENCE_RIGHT, SIX_JOINT] {
            let chain = rig.profile().unwrap().chain;
            let mut followed = Singularity::new();
            let mut least = f64::INFINITY;
            for k in 0..4000 {
                let t = f64::from(k) * 1e-3;
                // Slow turns through several postures, one of them nearly stretched out.
                let joints = [
                    0.2 * t,
                    1.2 + 0.2 * (0.7 * t).sin(),
                    0.6 + 0.5 * t.sin(),
                    0.9 * t.cos(),
                    0.3 * t,
                    0.5 - t,
                ];
                let posture = chain.posture(&joints, 0.002);
                let jacobian = posture.jacobian();
                let matrix = nalgebra::Matrix6::from_fn(|row, column| jacobian[row][column]);
                let (found, wanted) = (followed.smallest(&posture), matrix.singular_values().min());
                assert!((found - wanted).abs() < 1e-4 * wanted + 1e-7, "row {k}: {found} against {wanted}");
                least = least.min(wanted);
            }
            assert!(least < 0.08, "{least}");
        }
    }
}
