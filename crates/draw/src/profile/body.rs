//! What the arm is made of, as far as it can hit itself: capsules fixed to links.

use fieldlab_base::{ConfigError, check};

use super::chain::{Chain, JOINTS};
use super::urdf::{JointKind, Urdf};
use crate::error::DrawError;
use crate::json::{Fields, Json};
use crate::math::{Vec3, add_scaled, dot, norm, sub};

/// Most capsules of a body.
const MOST: usize = 32;
/// Capsules whose links have fewer joints between them are not compared: their distance is what the arm is built like.
const APART: usize = 3;

/// A stretch of a link with everything within a radius of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Capsule {
    /// Its link, as the URDF calls it.
    pub link: String,
    /// How many turning joints are before its link.
    pub joints: usize,
    /// Its ends, in the frame behind the last of them, metres.
    pub ends_m: [Vec3; 2],
    /// Metres.
    pub radius_m: f64,
}

/// The capsules of an arm.
#[derive(Debug, Clone, PartialEq)]
pub struct Body {
    capsules: Vec<Capsule>,
    pairs: Vec<(usize, usize)>,
    /// What capsules keep from each other, metres.
    pub clearance_m: f64,
}

impl Body {
    /// Reads a body from its fields.
    pub(super) fn from_json(json: &Json, urdf: &Urdf, base_link: &str) -> Result<Self, DrawError> {
        let mut fields = Fields::new("body", json)?;
        let clearance_m = check::within("body.clearance_m", fields.number("clearance_m")?, 0.0, 1.0)?;
        let mut capsules = Vec::new();
        for (index, item) in fields.optional_list("capsules")?.unwrap_or_default().iter().enumerate() {
            if index >= MOST {
                return Err(fields.refuse("capsules", format!("at most {MOST}"), "more").into());
            }
            capsules.push(capsule(&format!("body.capsules[{index}]"), item, urdf, base_link)?);
        }
        fields.finish()?;
        let mut pairs = Vec::new();
        for a in 0..capsules.len() {
            for b in a + 1..capsules.len() {
                if capsules[a].joints.abs_diff(capsules[b].joints) >= APART {
                    pairs.push((a, b));
                }
            }
        }
        if pairs.is_empty() {
            let expected = format!("two capsules with {APART} joints between their links");
            return Err(ConfigError::new("body.capsules", expected, capsules.len().to_string()).into());
        }
        Ok(Self { capsules, pairs, clearance_m })
    }

    /// The capsules.
    #[must_use]
    pub fn capsules(&self) -> &[Capsule] {
        &self.capsules
    }

    /// The least distance between two capsules that can meet, metres, below zero when they overlap, and which they are.
    #[must_use]
    pub fn least_m(&self, chain: &Chain, joints_rad: &[f64; JOINTS]) -> (f64, [usize; 2]) {
        let frames = chain.frames(joints_rad);
        let mut least = (f64::INFINITY, [0, 0]);
        for &(a, b) in &self.pairs {
            let place =
                |capsule: &Capsule| capsule.ends_m.map(|end| frames[capsule.joints.min(JOINTS)].point(end));
            let (first, second) = (&self.capsules[a], &self.capsules[b]);
            let gap = between(place(first), place(second)) - first.radius_m - second.radius_m;
            if gap < least.0 {
                least = (gap, [a, b]);
            }
        }
        least
    }
}

fn capsule(path: &str, json: &Json, urdf: &Urdf, base_link: &str) -> Result<Capsule, DrawError> {
    let mut fields = Fields::new(path, json)?;
    let link = fields.text("link")?;
    let ends: [Vec3; 2] = [fields.numbers("from_m")?, fields.numbers("to_m")?];
    let radius_m = check::within(&fields.path_of("radius_m"), fields.number("radius_m")?, 1e-4, 1.0)?;
    fields.finish()?;
    let (mut joints, mut anchor) = (0, base_link);
    for joint in urdf.chain(base_link, link)? {
        match joint.kind {
            JointKind::Fixed => {}
            JointKind::Revolute if joint.mimic.is_none() => {
                joints += 1;
                anchor = &joint.child;
            }
            _ => return Err(fields_refuse(path, &joint.name)),
        }
    }
    if joints > JOINTS {
        return Err(fields_refuse(path, link));
    }
    let in_frame = urdf.between(anchor, link, &|_| 0.0)?;
    Ok(Capsule { link: link.to_owned(), joints, ends_m: ends.map(|end| in_frame.point(end)), radius_m })
}

fn fields_refuse(path: &str, found: &str) -> DrawError {
    ConfigError::new(path, "a link that turning joints alone move", found).into()
}

/// The distance between two stretches, by the closest points of their lines, clamped to the ends.
fn between([a, b]: [Vec3; 2], [c, d]: [Vec3; 2]) -> f64 {
    let (u, v, w) = (sub(b, a), sub(d, c), sub(a, c));
    let (uu, uv, vv, uw, vw) = (dot(u, u), dot(u, v), dot(v, v), dot(u, w), dot(v, w));
    let share = |over: f64, under: f64| if under > 1e-18 { (over / under).clamp(0.0, 1.0) } else { 0.0 };
    // Nearly parallel lines have no closest point; any start is then as good as another.
    let mut s = share(uv * vw - vv * uw, uu * vv - uv * uv);
    let t = share(uv * s + vw, vv);
    s = share(uv * t - uw, uu);
    norm(sub(add_scaled(a, u, s), add_scaled(c, v, t)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_as_far_apart_as_a_search_over_both_says() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / f64::from(1 << 24) - 0.5
        };
        for round in 0..200 {
            let mut ends = [0; 4].map(|_| [0; 3].map(|_| next()));
            match round % 5 {
                0 => ends[1] = ends[0],
                1 => ends[3] = add_scaled(ends[2], sub(ends[1], ends[0]), 0.7),
                _ => {}
            }
            let mut least = f64::INFINITY;
            for i in 0..=200 {
                for k in 0..=200 {
                    let p = add_scaled(ends[0], sub(ends[1], ends[0]), f64::from(i) / 200.0);
                    let q = add_scaled(ends[2], sub(ends[3], ends[2]), f64::from(k) / 200.0);
                    least = least.min(norm(sub(p, q)));
                }
            }
            let found = between([ends[0], ends[1]], [ends[2], ends[3]]);
            // The search's grid is up to 4 mm from the closest points of stretches of up to 1.7 m.
            assert!(found <= least + 1e-12 && found > least - 0.009, "{found} against {least}");
        }
    }
}
