//! SVG's transforms.

use super::curves::Words;
use super::design::refuse;
use crate::error::DrawError;

/// `x' = a x + c y + e`, `y' = b x + d y + f`, in SVG's own order of the six numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Affine(pub(super) [f64; 6]);

impl Affine {
    pub(super) fn at(&self, x: f64, y: f64) -> [f64; 2] {
        let [a, b, c, d, e, f] = self.0;
        [a * x + c * y + e, b * x + d * y + f]
    }

    /// First `inner`, then this.
    pub(super) fn then(&self, inner: &Self) -> Self {
        let [a, b, c, d, ..] = self.0;
        let [p, q, r, s, t, u] = inner.0;
        let [e, f] = self.at(t, u);
        Self([a * p + c * q, b * p + d * q, a * r + c * s, b * r + d * s, e, f])
    }

    /// The value of a `transform` attribute: a list, applied from its end.
    pub(super) fn parse(text: &str) -> Result<Self, DrawError> {
        let mut out = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
        let mut rest = text.trim_matches([' ', ',', '\t', '\n', '\r']);
        while !rest.is_empty() {
            let wrong = || refuse(format!("the transform `{}` is not read", text.escape_debug()));
            let (name, after) = rest.split_once('(').ok_or_else(wrong)?;
            let (numbers, after) = after.split_once(')').ok_or_else(wrong)?;
            let numbers = Words::new(numbers).all()?;
            let one = match (name.trim(), numbers.as_slice()) {
                ("matrix", &[a, b, c, d, e, f]) => [a, b, c, d, e, f],
                ("translate", &[x]) => [1.0, 0.0, 0.0, 1.0, x, 0.0],
                ("translate", &[x, y]) => [1.0, 0.0, 0.0, 1.0, x, y],
                ("scale", &[s]) => [s, 0.0, 0.0, s, 0.0, 0.0],
                ("scale", &[x, y]) => [x, 0.0, 0.0, y, 0.0, 0.0],
                ("rotate", &[angle]) => turn(angle, [0.0; 2]),
                ("rotate", &[angle, x, y]) => turn(angle, [x, y]),
                ("skewX", &[angle]) => [1.0, 0.0, angle.to_radians().tan(), 1.0, 0.0, 0.0],
                ("skewY", &[angle]) => [1.0, angle.to_radians().tan(), 0.0, 1.0, 0.0, 0.0],
                _ => return Err(wrong()),
            };
            out = out.then(&Self(one));
            rest = after.trim_start_matches([' ', ',', '\t', '\n', '\r']);
        }
        Ok(out)
    }
}

fn turn(angle_deg: f64, [x, y]: [f64; 2]) -> [f64; 6] {
    let (sin, cos) = angle_deg.to_radians().sin_cos();
    [cos, sin, -sin, cos, x - cos * x + sin * y, y - sin * x - cos * y]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(transform: &str, from: [f64; 2], to: [f64; 2]) {
        let found = Affine::parse(transform).unwrap().at(from[0], from[1]);
        assert!((found[0] - to[0]).hypot(found[1] - to[1]) < 1e-12, "{transform}: {found:?}");
    }

    /// The examples of SVG 1.1, chapter 7.6, worked by hand.
    #[test]
    fn each_kind_does_what_the_standard_says() {
        check("", [1.0, 2.0], [1.0, 2.0]);
        check("translate(50,30)", [1.0, 2.0], [51.0, 32.0]);
        check("translate(50)", [1.0, 2.0], [51.0, 2.0]);
        check("scale(2)", [1.0, 2.0], [2.0, 4.0]);
        check("rotate(90)", [1.0, 0.0], [0.0, 1.0]);
        check("rotate(180 5 5)", [4.0, 5.0], [6.0, 5.0]);
        check("skewX(45)", [1.0, 2.0], [3.0, 2.0]);
        check("skewY(45)", [1.0, 2.0], [1.0, 3.0]);
        check("matrix(1 2 3 4 5 6)", [1.0, 1.0], [9.0, 12.0]);
        // Innermost first: (1, 0) to (11, -10), turned to (-10, -11), moved.
        check("translate(50,90), rotate(-90) translate(1e1-10)", [1.0, 0.0], [40.0, 79.0]);
        check(" translate(10,0)\n scale(2) ", [1.0, 0.0], [12.0, 0.0]);
    }

    #[test]
    fn what_is_no_transform_is_refused() {
        for text in ["rotate(1 2)", "turn(3)", "scale", "scale(2", "matrix(1 2 3)", "none", "scale(x)"] {
            assert!(Affine::parse(text).is_err(), "{text}");
        }
    }
}
