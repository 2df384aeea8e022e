//! Long designs in parts, each a samples file of its own.

use super::compile::{Drawn, Hold, PathConfig, compile, refuse};
use super::design::Polyline;
use crate::error::DrawError;
use crate::plan::Start;
use crate::profile::{AXES, JOINTS, Profile};
use crate::surface::Surface;

/// Most parts of one design.
const MAX_PARTS: usize = 10_000;
/// How far a cut may move back to a corner, as a share of the length that is allowed.
const BACK_SHARE: f64 = 0.2;
/// The least turn that counts as a corner, radians.
const CORNER_RAD: f64 = 0.087_266_462_599_716_47;

/// Compiles a design in parts of at most `most_m` of line each. A part begins where the arm stands at the end of the part before; a
/// stroke that is too long for what is left is cut there, or up to a fifth of the allowed length before, at a corner of at least
/// five degrees: the eye forgives a new start at a corner.
///
/// # Errors
/// As [`compile`]; `design` for an allowance below a millimetre or a design of more than 10,000 parts. Nothing is given out when one part
/// is refused.
pub fn compile_parts(
    profile: &Profile,
    surface: &Surface,
    design: &[Polyline],
    hold: Hold,
    config: &PathConfig,
    most_m: f64,
) -> Result<Vec<Drawn>, DrawError> {
    let mut out = Vec::new();
    let mut hold = hold;
    for part in cut(design, most_m * 1e3)? {
        let drawn = compile(profile, surface, &part, hold, config)?;
        let end = drawn.report.plan.as_ref().and_then(|plan| plan.trajectory.as_ref());
        let end = end.and_then(|trajectory| trajectory.positions.last());
        let &[ref joints @ .., carriage_m]: &[f64; AXES] =
            end.ok_or_else(|| refuse("ticks", "a part without rows".to_owned()))?;
        let joints: &[f64; JOINTS] = joints;
        hold = Hold { start: Start { joints_rad: *joints, carriage_m } };
        out.push(drawn);
    }
    Ok(out)
}

/// The strokes of each part.
fn cut(design: &[Polyline], most_mm: f64) -> Result<Vec<Vec<Polyline>>, DrawError> {
    if !(most_mm.is_finite() && most_mm >= 1.0) {
        return Err(refuse("design", format!("parts of {most_mm} mm, at least 1 mm is drawn in one")));
    }
    let mut parts: Vec<Vec<Polyline>> = vec![Vec::new()];
    let mut left_mm = most_mm;
    for stroke in design {
        let mut rest = stroke.points_mm.clone();
        loop {
            let length_mm: f64 = rest.windows(2).map(|pair| way(pair[0], pair[1])).sum();
            let whole = length_mm <= left_mm;
            // What is left is not worth a start when it is less than a cut may move.
            if !whole && left_mm < BACK_SHARE * most_mm && left_mm < most_mm {
                parts.push(Vec::new());
                left_mm = most_mm;
                continue;
            }
            if parts.len() > MAX_PARTS {
                return Err(refuse("design", format!("more than {MAX_PARTS} parts")));
            }
            let last = parts.len() - 1;
            if whole {
                parts[last].push(Polyline { points_mm: rest });
                left_mm -= length_mm;
                break;
            }
            let (front, back) = split(&rest, left_mm, left_mm - BACK_SHARE * most_mm);
            parts[last].push(Polyline { points_mm: front });
            if back.len() < 2 {
                left_mm = 0.0;
                break;
            }
            rest = back;
            parts.push(Vec::new());
            left_mm = most_mm;
        }
    }
    parts.retain(|part| !part.is_empty());
    Ok(parts)
}

fn way(a: [f64; 2], b: [f64; 2]) -> f64 {
    (b[0] - a[0]).hypot(b[1] - a[1])
}

/// Cuts a polyline at `most_mm`, or at the last corner between `least_mm` and there.
fn split(points: &[[f64; 2]], most_mm: f64, least_mm: f64) -> (Vec<[f64; 2]>, Vec<[f64; 2]>) {
    let mut length = 0.0;
    let mut corner = None;
    for k in 1..points.len() {
        let step = way(points[k - 1], points[k]);
        if length + step >= most_mm {
            if let Some(at) = corner {
                return (points[..=at].to_vec(), points[at..].to_vec());
            }
            let share = ((most_mm - length) / step).clamp(0.0, 1.0);
            let [a, b] = [points[k - 1], points[k]];
            if step * (1.0 - share) < 1e-6 {
                return (points[..=k].to_vec(), points[k..].to_vec());
            }
            let place = [a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share];
            let mut front = points[..k].to_vec();
            front.push(place);
            let mut back = vec![place];
            back.extend_from_slice(&points[k..]);
            return (front, back);
        }
        length += step;
        if length >= least_mm && length > 0.0 && k + 1 < points.len() {
            let turn = |a: [f64; 2], b: [f64; 2]| (b[1] - a[1]).atan2(b[0] - a[0]);
            let angle = (turn(points[k], points[k + 1]) - turn(points[k - 1], points[k])).abs();
            if angle.min(std::f64::consts::TAU - angle) >= CORNER_RAD {
                corner = Some(k);
            }
        }
    }
    (points.to_vec(), Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(points: &[[f64; 2]], most_mm: f64) -> Vec<Vec<[f64; 2]>> {
        let design = [Polyline { points_mm: points.to_vec() }];
        let parts = cut(&design, most_mm).unwrap();
        parts.into_iter().flatten().map(|stroke| stroke.points_mm).collect()
    }

    #[test]
    fn a_long_stroke_is_cut_where_its_length_is_used_up() {
        assert_eq!(
            parts(&[[0.0, 0.0], [25.0, 0.0]], 10.0),
            [vec![[0.0, 0.0], [10.0, 0.0]], vec![[10.0, 0.0], [20.0, 0.0]], vec![[20.0, 0.0], [25.0, 0.0]],]
        );
        assert_eq!(parts(&[[0.0, 0.0], [10.0, 0.0]], 10.0).len(), 1);
    }

    #[test]
    fn a_cut_moves_back_to_a_corner_of_five_degrees_within_a_fifth() {
        let up = |degrees: f64| [9.0 + 9.0 * degrees.to_radians().cos(), 9.0 * degrees.to_radians().sin()];
        let corner = |x: f64, degrees: f64| {
            let end = up(degrees);
            parts(&[[0.0, 0.0], [x, 0.0], [end[0] + x - 9.0, end[1]]], 10.0)[0].last().copied().unwrap()
        };
        assert_eq!(corner(9.0, 6.0), [9.0, 0.0]);
        // No corner, or one that is too far back: the whole length.
        assert!(corner(9.0, 4.0)[0] > 9.9);
        assert!(corner(7.5, 90.0)[1] > 2.0);
        assert_eq!(corner(8.0, 90.0), [8.0, 0.0]);
    }

    #[test]
    fn strokes_are_kept_whole_while_there_is_room() {
        let line = |y: f64| Polyline { points_mm: vec![[0.0, y], [4.0, y]] };
        let design = [line(0.0), line(1.0), line(2.0), line(3.0)];
        let found = cut(&design, 9.0).unwrap();
        // 1 mm is left after two strokes, less than a fifth: the third begins a part.
        assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
        let total: f64 =
            found.iter().flatten().flat_map(|s| s.points_mm.windows(2)).map(|p| way(p[0], p[1])).sum();
        assert!((total - 16.0).abs() < 1e-12);
        assert!(cut(&design, 0.5).is_err() && cut(&design, f64::NAN).is_err());
    }
}
