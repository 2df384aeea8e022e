//! Whether modules sit on a rectangle, and how large it is.

use fieldlab_values::Translation2d;

/// How far a module may sit from its neighbours' line, metres.
const TOLERANCE_M: f64 = 1e-3;
/// What rounding may add to that.
const ROUNDING_M: f64 = 1e-9;

/// A rectangle along the robot's axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rectangle {
    /// Between left and right wheels, metres.
    pub track_width_m: f64,
    /// Between front and back wheels, metres.
    pub wheel_base_m: f64,
}

/// The rectangle on whose corners the modules sit; it need not be centred on the robot's origin.
///
/// There must be an even number of modules and at least four, every one finite and at a corner, and every corner occupied.
/// Modules of one side may be up to 1 mm apart; the sides are the means, so the order of modules changes nothing.
#[must_use]
pub fn rectangle(modules: &[Translation2d]) -> Option<Rectangle> {
    if modules.len() < 4 || !modules.len().is_multiple_of(2) {
        return None;
    }
    if !modules.iter().all(|m| m.x_m.is_finite() && m.y_m.is_finite()) {
        return None;
    }
    let front = side(modules.iter().map(|m| m.x_m))?;
    let left = side(modules.iter().map(|m| m.y_m))?;
    let corner = |ahead: bool, leftish: bool| {
        modules.iter().any(|m| (m.x_m > front.middle) == ahead && (m.y_m > left.middle) == leftish)
    };
    let all = corner(true, true) && corner(true, false) && corner(false, true) && corner(false, false);
    all.then_some(Rectangle { track_width_m: left.span, wheel_base_m: front.span })
}

struct Side {
    middle: f64,
    span: f64,
}

/// Both sides along one axis, if every value belongs to one of two lines.
fn side(values: impl Iterator<Item = f64> + Clone) -> Option<Side> {
    let (low, high) =
        values.clone().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    let middle = low / 2.0 + high / 2.0;
    if high - low <= 4.0 * TOLERANCE_M {
        return None;
    }
    let line = |above: bool| {
        let of = values.clone().filter(|v| (*v > middle) == above);
        let (mut count, mut sum, mut least, mut most) = (0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY);
        for v in of {
            count += 1.0;
            sum += v;
            least = least.min(v);
            most = most.max(v);
        }
        (most - least <= TOLERANCE_M + ROUNDING_M).then_some(sum / count)
    };
    Some(Side { middle, span: line(true)? - line(false)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(points: &[(f64, f64)]) -> Option<(f64, f64)> {
        let modules: Vec<Translation2d> =
            points.iter().map(|(x, y)| Translation2d { x_m: *x, y_m: *y }).collect();
        let mut turned = modules.clone();
        for _ in 0..modules.len() {
            turned.rotate_left(1);
            let (a, b) = (rectangle(&modules), rectangle(&turned));
            let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
            assert!(match (a, b) {
                (Some(a), Some(b)) =>
                    close(a.track_width_m, b.track_width_m) && close(a.wheel_base_m, b.wheel_base_m),
                (a, b) => a == b,
            });
        }
        rectangle(&modules).map(|r| (r.track_width_m, r.wheel_base_m))
    }

    fn check(points: &[(f64, f64)], expect: Option<(f64, f64)>) {
        match (of(points), expect) {
            (Some((track, base)), Some((t, b))) => {
                assert!((track - t).abs() < 1e-9 && (base - b).abs() < 1e-9, "{points:?}: {track} {base}");
            }
            (found, expect) => assert_eq!(found, expect, "{points:?}"),
        }
    }

    fn corners(x: f64, y: f64) -> [(f64, f64); 4] {
        [(x, y), (x, -y), (-x, y), (-x, -y)]
    }

    #[test]
    fn vectors_of_the_rectangular_rule() {
        check(&corners(0.3, 0.3), Some((0.6, 0.6)));
        check(&corners(0.35, 0.28), Some((0.56, 0.70)));
        check(&[(0.3, 0.0), (0.0, 0.3), (-0.3, 0.0), (0.0, -0.3)], None);
        check(&[(0.3, 0.3), (0.3, -0.3), (-0.3, 0.3), (-0.25, -0.3)], None);
        check(&[(0.3005, 0.3), (0.3, -0.3), (-0.3, 0.3), (-0.3, -0.3)], Some((0.6, 0.60025)));
        check(&corners(0.3, 0.3)[..2], None);
        check(&corners(0.3, 0.3)[..3], None);
        check(&[(0.3, 0.0), (0.3, 0.0), (-0.3, 0.0), (-0.3, 0.0)], None);
        check(&[], None);
    }

    #[test]
    fn i3_nan_is_no_rectangle() {
        check(&[(f64::NAN, 0.3), (0.3, -0.3), (-0.3, 0.3), (-0.3, -0.3)], None);
        check(&[(f64::INFINITY, 0.3), (0.3, -0.3), (-0.3, 0.3), (-0.3, -0.3)], None);
    }

    #[test]
    fn i3_every_corner_is_occupied() {
        check(&[(0.3, 0.3); 4], None);
        check(&[(0.3, 0.3), (0.3, 0.3), (-0.3, -0.3), (-0.3, -0.3)], None);
        check(&[(0.3, 0.3), (0.3, -0.3), (-0.3, 0.3), (-0.3, 0.3)], None);
        let eight = [corners(0.3, 0.2), corners(0.3, 0.2)].concat();
        check(&eight, Some((0.4, 0.6)));
        let six = [(0.3, 0.2), (0.3, -0.2), (0.0, 0.2), (0.0, -0.2), (-0.3, 0.2), (-0.3, -0.2)];
        check(&six, None);
    }

    #[test]
    fn i3_spans_are_means_whatever_the_order() {
        // The first module is 1 mm further out than the rest: the reference says 0.602 or 0.600 by its place in the list.
        let points = [(0.301, 0.3), (0.3, -0.3), (-0.3, 0.3), (-0.3, -0.3)];
        check(&points, Some((0.6, 0.6005)));
        check(&[(0.3011, 0.3), (0.3, -0.3), (-0.3, 0.3), (-0.3, -0.3)], None);
    }

    #[test]
    fn i3_a_rectangle_need_not_be_centred() {
        let moved: Vec<(f64, f64)> = corners(0.3, 0.25).iter().map(|(x, y)| (x + 0.1, y - 0.05)).collect();
        check(&moved, Some((0.5, 0.6)));
        check(&[(0.0, 0.0), (0.0, 0.5), (0.6, 0.0), (0.6, 0.5)], Some((0.5, 0.6)));
    }
}
