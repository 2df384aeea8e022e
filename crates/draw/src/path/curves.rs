//! The path grammar of SVG, and its curves as short lines.

use super::design::{Collector, refuse};
use super::transform::Affine;
use crate::error::DrawError;

/// How far a flattened curve may be from the curve, millimetres.
const FLATNESS_MM: f64 = 0.01;

/// Numbers and command letters of a path.
pub(super) struct Words<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Words<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text: text.as_bytes(), at: 0 }
    }

    fn skip(&mut self) {
        while self.text.get(self.at).is_some_and(|b| b.is_ascii_whitespace() || *b == b',') {
            self.at += 1;
        }
    }

    fn command(&mut self) -> Option<u8> {
        self.skip();
        let byte = *self.text.get(self.at).filter(|byte| byte.is_ascii_alphabetic())?;
        self.at += 1;
        Some(byte)
    }

    /// A number of SVG's grammar, where one may end as soon as the next can only begin.
    fn number(&mut self) -> Option<f64> {
        self.skip();
        let start = self.at;
        let mut at = start;
        let peek = |at: usize| self.text.get(at).copied().unwrap_or(b' ');
        at += usize::from(matches!(peek(at), b'+' | b'-'));
        let (mut point, mut digits) = (false, false);
        loop {
            match peek(at) {
                b'0'..=b'9' => digits = true,
                b'.' if !point => point = true,
                _ => break,
            }
            at += 1;
        }
        if digits && matches!(peek(at), b'e' | b'E') {
            let signed = usize::from(matches!(peek(at + 1), b'+' | b'-'));
            if peek(at + 1 + signed).is_ascii_digit() {
                at += 1 + signed;
                while peek(at).is_ascii_digit() {
                    at += 1;
                }
            }
        }
        let value = std::str::from_utf8(self.text.get(start..at)?).ok()?.parse::<f64>().ok()?;
        self.at = at;
        value.is_finite().then_some(value)
    }

    /// A flag of an arc: one digit, which may stand against the next.
    fn flag(&mut self) -> Result<bool, DrawError> {
        self.skip();
        let flag = match self.text.get(self.at) {
            Some(b'0') => false,
            Some(b'1') => true,
            _ => return Err(refuse("an arc's flag that is neither 0 nor 1")),
        };
        self.at += 1;
        Ok(flag)
    }

    fn ended(&mut self) -> bool {
        self.skip();
        self.at >= self.text.len()
    }

    pub(super) fn all(mut self) -> Result<Vec<f64>, DrawError> {
        let mut out = Vec::new();
        while !self.ended() {
            out.push(self.number().ok_or_else(|| refuse("a coordinate that is no number"))?);
        }
        Ok(out)
    }
}

/// The strokes of a path's `d`, each point placed by `to_mm`.
///
/// # Errors
/// What is not SVG's grammar, and everything the collector refuses.
pub(super) fn path(d: &str, to_mm: &Affine, out: &mut Collector) -> Result<(), DrawError> {
    let mut words = Words::new(d);
    let (mut at, mut start) = ([0.0f64; 2], [0.0f64; 2]);
    // The last handle and the degree of its curve: only a curve of the same degree goes on from it.
    let mut handle = None::<(u8, [f64; 2])>;
    let mut command = b' ';
    while !words.ended() {
        if let Some(next) = words.command() {
            command = next;
        } else if matches!(command, b' ' | b'Z' | b'z') {
            return Err(refuse("a path that does not begin with a command"));
        }
        let relative = command.is_ascii_lowercase();
        let from = if relative { at } else { [0.0; 2] };
        let mut number = || {
            words.number().ok_or_else(|| refuse(format!("`{}`: a number is missing", char::from(command))))
        };
        let mut pair = || -> Result<[f64; 2], DrawError> { Ok([from[0] + number()?, from[1] + number()?]) };
        let before = handle.take();
        let mirrored = |degree: u8| match before {
            Some((of, h)) if of == degree => [2.0 * at[0] - h[0], 2.0 * at[1] - h[1]],
            _ => at,
        };
        // A closed stroke may be followed by one that begins where it began.
        if !matches!(command, b'M' | b'm' | b'Z' | b'z') && !out.is_open() {
            out.to(to_mm.at(at[0], at[1]))?;
        }
        match command.to_ascii_uppercase() {
            b'M' => {
                out.lift()?;
                at = pair()?;
                start = at;
                out.to(to_mm.at(at[0], at[1]))?;
                // Further pairs after a move are lines.
                command = if relative { b'l' } else { b'L' };
                if words.ended() || !words.clone_at_number() {
                    out.forget_single();
                }
            }
            b'L' => {
                at = pair()?;
                out.to(to_mm.at(at[0], at[1]))?;
            }
            b'H' => {
                at[0] = from[0] + number()?;
                out.to(to_mm.at(at[0], at[1]))?;
            }
            b'V' => {
                at[1] = from[1] + number()?;
                out.to(to_mm.at(at[0], at[1]))?;
            }
            b'C' => {
                let (a, b, end) = (pair()?, pair()?, pair()?);
                cubic([at, a, b, end], to_mm, out)?;
                (at, handle) = (end, Some((3, b)));
            }
            b'S' => {
                let (b, end) = (pair()?, pair()?);
                cubic([at, mirrored(3), b, end], to_mm, out)?;
                (at, handle) = (end, Some((3, b)));
            }
            b'Q' => {
                let (a, end) = (pair()?, pair()?);
                quadratic(at, a, end, to_mm, out)?;
                (at, handle) = (end, Some((2, a)));
            }
            b'T' => {
                let end = pair()?;
                let a = mirrored(2);
                quadratic(at, a, end, to_mm, out)?;
                (at, handle) = (end, Some((2, a)));
            }
            b'Z' => {
                at = start;
                out.to(to_mm.at(at[0], at[1]))?;
                out.lift()?;
            }
            b'A' => {
                let radii = [number()?, number()?];
                let turn_deg = number()?;
                let flags = [words.flag()?, words.flag()?];
                let mut last = || words.number().ok_or_else(|| refuse("`A`: a number is missing"));
                let end = [from[0] + last()?, from[1] + last()?];
                arc(at, radii, turn_deg, flags, end, to_mm, out)?;
                at = end;
            }
            _ => {
                return Err(refuse(format!(
                    "the path command `{}` is not read",
                    char::from(command).escape_debug()
                )));
            }
        }
    }
    out.lift()
}

impl Words<'_> {
    /// Whether a number or a drawing command follows, so that the point of a move begins a stroke.
    fn clone_at_number(&mut self) -> bool {
        self.skip();
        self.text.get(self.at).is_some_and(|byte| !matches!(byte, b'M' | b'm' | b'Z' | b'z'))
    }
}

fn quadratic(
    from: [f64; 2],
    a: [f64; 2],
    to: [f64; 2],
    to_mm: &Affine,
    out: &mut Collector,
) -> Result<(), DrawError> {
    let third = |p: [f64; 2]| [p[0] + 2.0 / 3.0 * (a[0] - p[0]), p[1] + 2.0 / 3.0 * (a[1] - p[1])];
    cubic([from, third(from), third(to), to], to_mm, out)
}

/// Equal steps of the parameter, as many as keep chords within [`FLATNESS_MM`] of the curve.
fn cubic(p: [[f64; 2]; 4], to_mm: &Affine, out: &mut Collector) -> Result<(), DrawError> {
    let p = p.map(|q| to_mm.at(q[0], q[1]));
    let bend =
        |a: [f64; 2], b: [f64; 2], c: [f64; 2]| (a[0] - 2.0 * b[0] + c[0]).hypot(a[1] - 2.0 * b[1] + c[1]);
    let second = bend(p[0], p[1], p[2]).max(bend(p[1], p[2], p[3]));
    let steps = (0.75 * second / FLATNESS_MM).sqrt().ceil().clamp(1.0, 10_000.0);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 1 to 10 000
    let count = steps as u32;
    for k in 1..=count {
        let t = f64::from(k) / steps;
        let s = 1.0 - t;
        let weights = [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t];
        let at = |axis: usize| p.iter().zip(weights).map(|(q, w)| q[axis] * w).sum();
        out.to([at(0), at(1)])?;
    }
    Ok(())
}

/// An elliptic arc by its end points (SVG 1.1, appendix F.6), as cubic curves over at most an eighth of a turn each: a cubic is then
/// within 5e-6 of the radius.
fn arc(
    from: [f64; 2],
    radii: [f64; 2],
    turn_deg: f64,
    [large, sweep]: [bool; 2],
    to: [f64; 2],
    to_mm: &Affine,
    out: &mut Collector,
) -> Result<(), DrawError> {
    let [mut rx, mut ry] = radii.map(f64::abs);
    if (rx <= 0.0 || ry <= 0.0) || (from[0] - to[0]).hypot(from[1] - to[1]) <= 0.0 {
        // By the standard a line, which the collector drops when it has no length.
        return out.to(to_mm.at(to[0], to[1]));
    }
    let (sin, cos) = turn_deg.to_radians().sin_cos();
    let half = [(from[0] - to[0]) / 2.0, (from[1] - to[1]) / 2.0];
    let p = [cos * half[0] + sin * half[1], cos * half[1] - sin * half[0]];
    // Radii too small for the ends are scaled up.
    let reach = (p[0] / rx).powi(2) + (p[1] / ry).powi(2);
    if reach > 1.0 {
        rx *= reach.sqrt();
        ry *= reach.sqrt();
    }
    let fraction = (rx * ry).powi(2) / ((rx * p[1]).powi(2) + (ry * p[0]).powi(2)) - 1.0;
    let sign = if large == sweep { -1.0 } else { 1.0 };
    let root = sign * fraction.max(0.0).sqrt();
    let c = [root * rx * p[1] / ry, -root * ry * p[0] / rx];
    let center = [
        cos * c[0] - sin * c[1] + (from[0] + to[0]) / 2.0,
        sin * c[0] + cos * c[1] + (from[1] + to[1]) / 2.0,
    ];
    let angle = |x: f64, y: f64| ((y - c[1]) / ry).atan2((x - c[0]) / rx);
    let begin = angle(p[0], p[1]);
    let mut span = angle(-p[0], -p[1]) - begin;
    if sweep && span < 0.0 {
        span += std::f64::consts::TAU;
    } else if !sweep && span > 0.0 {
        span -= std::f64::consts::TAU;
    }
    let pieces = (span.abs() / std::f64::consts::FRAC_PI_4).ceil().clamp(1.0, 8.0);
    let step = span / pieces;
    let handle = 4.0 / 3.0 * (step / 4.0).tan();
    let place =
        |x: f64, y: f64| [center[0] + cos * rx * x - sin * ry * y, center[1] + sin * rx * x + cos * ry * y];
    let mut k = 0.0;
    while k < pieces {
        let ((s0, c0), (s1, c1)) = ((begin + step * k).sin_cos(), (begin + step * (k + 1.0)).sin_cos());
        let end = if k + 1.0 < pieces { place(c1, s1) } else { to };
        let start = if k > 0.0 { place(c0, s0) } else { from };
        let (a, b) = (place(c0 - handle * s0, s0 + handle * c0), place(c1 + handle * s1, s1 - handle * c1));
        cubic([start, a, b, end], to_mm, out)?;
        k += 1.0;
    }
    Ok(())
}
