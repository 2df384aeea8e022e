//! Designs: polylines in millimetres, from SVG or from plain numbers.

use roxmltree::{Document, Node, ParsingOptions};

use crate::error::DrawError;
use crate::samples::strict_number;

/// One stroke of a design, millimetres: x to the right, y up.
#[derive(Debug, Clone, PartialEq)]
pub struct Polyline {
    /// The points in the order in which they are drawn; at least two, none equal to the one before.
    pub points_mm: Vec<[f64; 2]>,
}

/// Longest design file that is read, bytes.
const MAX_BYTES: usize = 4 << 20;
/// Most points of a design.
const MAX_POINTS: usize = 200_000;
/// How far a flattened curve may be from the curve, millimetres.
const FLATNESS_MM: f64 = 0.01;

fn refuse(reason: impl Into<String>) -> DrawError {
    DrawError::Refused { code: "design", reason: reason.into() }
}

/// Reads `x,y` lines in millimetres; an empty line ends a stroke, a line that begins with `#` is a remark.
///
/// # Errors
/// A line that is not two numbers, a stroke of one point, more points than are read.
///
/// ```
/// use fieldlab_draw::path::from_csv;
/// let design = from_csv("0,0\n10,0\n\n0,5\n10,5\n")?;
/// assert_eq!(design.len(), 2);
/// # Ok::<(), fieldlab_draw::DrawError>(())
/// ```
pub fn from_csv(text: &str) -> Result<Vec<Polyline>, DrawError> {
    if text.len() > MAX_BYTES {
        return Err(refuse(format!("{} bytes, at most {MAX_BYTES} are read", text.len())));
    }
    let mut collector = Collector::default();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with('#') {
            continue;
        }
        if line.is_empty() {
            collector.lift()?;
            continue;
        }
        let numbers = line.split_once(',').and_then(|(x, y)| {
            Some([strict_number(x.trim().as_bytes())?, strict_number(y.trim().as_bytes())?])
        });
        let point = numbers.ok_or_else(|| refuse(format!("line {}: expected `x,y`", index + 1)))?;
        collector.to(point)?;
    }
    collector.finish()
}

/// Reads the strokes of an SVG: `path`, `polyline`, `polygon` and `line`, in document order. User units are millimetres times
/// `mm_per_unit`; SVG's y points down and is turned up. Fills, texts and images are not strokes and are ignored.
///
/// # Errors
/// Not SVG; a transform, an elliptic arc or another command that is not read: what would be drawn wrongly is refused.
pub fn from_svg(text: &str, mm_per_unit: f64) -> Result<Vec<Polyline>, DrawError> {
    if text.len() > MAX_BYTES {
        return Err(refuse(format!("{} bytes, at most {MAX_BYTES} are read", text.len())));
    }
    if !(mm_per_unit.is_finite() && mm_per_unit > 0.0) {
        return Err(refuse(format!("{mm_per_unit} mm per unit is not above zero")));
    }
    let options = ParsingOptions { allow_dtd: false, nodes_limit: 100_000, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| refuse(error.to_string()))?;
    if document.root_element().tag_name().name() != "svg" {
        return Err(refuse("the file is not an SVG"));
    }
    let mut collector = Collector::default();
    for node in document.descendants().filter(Node::is_element) {
        let name = node.tag_name().name();
        if node.attribute("transform").is_some() {
            return Err(refuse(format!("<{name}> has a transform; apply it before exporting")));
        }
        let attribute = |key: &str| node.attribute(key).unwrap_or_default();
        let scaled = |x: f64, y: f64| [x * mm_per_unit, -y * mm_per_unit];
        match name {
            "path" => path(attribute("d"), &scaled, &mut collector)?,
            "polyline" | "polygon" => {
                let numbers = Words::new(attribute("points")).all()?;
                if numbers.len() % 2 == 1 {
                    return Err(refuse(format!("<{name}> has an odd number of coordinates")));
                }
                let points: Vec<[f64; 2]> = numbers.chunks(2).map(|pair| scaled(pair[0], pair[1])).collect();
                for &point in points.iter().chain(points.first().filter(|_| name == "polygon")) {
                    collector.to(point)?;
                }
                collector.lift()?;
            }
            "line" => {
                for (x, y) in [("x1", "y1"), ("x2", "y2")] {
                    let value = |key: &str| strict_number(attribute(key).trim().as_bytes()).unwrap_or(0.0);
                    collector.to(scaled(value(x), value(y)))?;
                }
                collector.lift()?;
            }
            _ => {}
        }
    }
    collector.finish()
}

/// Gathers points into strokes.
#[derive(Default)]
struct Collector {
    done: Vec<Polyline>,
    open: Vec<[f64; 2]>,
    points: usize,
}

impl Collector {
    fn to(&mut self, point: [f64; 2]) -> Result<(), DrawError> {
        if !point.iter().all(|value| value.is_finite() && value.abs() < 1e4) {
            return Err(refuse(format!("a point at {point:?} mm")));
        }
        self.points += 1;
        if self.points > MAX_POINTS {
            return Err(refuse(format!("more than {MAX_POINTS} points")));
        }
        let same = self.open.last().is_some_and(|last| (last[0] - point[0]).hypot(last[1] - point[1]) < 1e-6);
        if !same {
            self.open.push(point);
        }
        Ok(())
    }

    fn lift(&mut self) -> Result<(), DrawError> {
        match self.open.len() {
            0 => {}
            1 => return Err(refuse(format!("a stroke of one point at {:?} mm", self.open[0]))),
            _ => self.done.push(Polyline { points_mm: std::mem::take(&mut self.open) }),
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<Polyline>, DrawError> {
        self.lift()?;
        if self.done.is_empty() {
            return Err(refuse("the design has no strokes"));
        }
        Ok(self.done)
    }
}

/// Numbers and command letters of a path.
struct Words<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Words<'a> {
    fn new(text: &'a str) -> Self {
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

    fn ended(&mut self) -> bool {
        self.skip();
        self.at >= self.text.len()
    }

    fn all(mut self) -> Result<Vec<f64>, DrawError> {
        let mut out = Vec::new();
        while !self.ended() {
            out.push(self.number().ok_or_else(|| refuse("a coordinate that is no number"))?);
        }
        Ok(out)
    }
}

type Scaled<'a> = &'a dyn Fn(f64, f64) -> [f64; 2];

fn path(d: &str, scaled: Scaled<'_>, out: &mut Collector) -> Result<(), DrawError> {
    let mut words = Words::new(d);
    let (mut at, mut start, mut handle) = ([0.0f64; 2], [0.0f64; 2], None::<[f64; 2]>);
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
        let mirrored = handle.take().map_or(at, |h| [2.0 * at[0] - h[0], 2.0 * at[1] - h[1]]);
        match command.to_ascii_uppercase() {
            b'M' => {
                out.lift()?;
                at = pair()?;
                start = at;
                out.to(scaled(at[0], at[1]))?;
                // Further pairs after a move are lines.
                command = if relative { b'l' } else { b'L' };
                if words.ended() || !words.clone_at_number() {
                    out.forget_single();
                }
            }
            b'L' => {
                at = pair()?;
                out.to(scaled(at[0], at[1]))?;
            }
            b'H' => {
                at[0] = from[0] + number()?;
                out.to(scaled(at[0], at[1]))?;
            }
            b'V' => {
                at[1] = from[1] + number()?;
                out.to(scaled(at[0], at[1]))?;
            }
            b'C' => {
                let (a, b, end) = (pair()?, pair()?, pair()?);
                cubic([at, a, b, end], scaled, out)?;
                (at, handle) = (end, Some(b));
            }
            b'S' => {
                let (b, end) = (pair()?, pair()?);
                cubic([at, mirrored, b, end], scaled, out)?;
                (at, handle) = (end, Some(b));
            }
            b'Q' => {
                let (a, end) = (pair()?, pair()?);
                quadratic(at, a, end, scaled, out)?;
                (at, handle) = (end, Some(a));
            }
            b'T' => {
                let end = pair()?;
                quadratic(at, mirrored, end, scaled, out)?;
                (at, handle) = (end, Some(mirrored));
            }
            b'Z' => {
                at = start;
                out.to(scaled(at[0], at[1]))?;
                out.lift()?;
            }
            b'A' => return Err(refuse("an elliptic arc; convert it to curves before exporting")),
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

impl Collector {
    /// A move that draws nothing leaves no stroke.
    fn forget_single(&mut self) {
        if self.open.len() == 1 {
            self.open.clear();
        }
    }
}

fn quadratic(
    from: [f64; 2],
    a: [f64; 2],
    to: [f64; 2],
    scaled: Scaled<'_>,
    out: &mut Collector,
) -> Result<(), DrawError> {
    let third = |p: [f64; 2]| [p[0] + 2.0 / 3.0 * (a[0] - p[0]), p[1] + 2.0 / 3.0 * (a[1] - p[1])];
    cubic([from, third(from), third(to), to], scaled, out)
}

/// Equal steps of the parameter, as many as keep chords within [`FLATNESS_MM`] of the curve.
fn cubic(p: [[f64; 2]; 4], scaled: Scaled<'_>, out: &mut Collector) -> Result<(), DrawError> {
    let p = p.map(|q| scaled(q[0], q[1]));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn svg(body: &str) -> Result<Vec<Polyline>, DrawError> {
        from_svg(&format!("<svg xmlns='http://www.w3.org/2000/svg'>{body}</svg>"), 1.0)
    }

    #[test]
    fn paths_polylines_and_lines_become_strokes_in_document_order() {
        let strokes = svg(
            "<path d='M0 0l10,0 0-5z M20 0 H25 V5'/><polyline points='0,0 1,1'/><line x1='1' y1='2' x2='3' y2='4'/>",
        )
        .unwrap();
        let points: Vec<Vec<[f64; 2]>> = strokes.into_iter().map(|stroke| stroke.points_mm).collect();
        assert_eq!(
            points,
            [
                vec![[0.0, 0.0], [10.0, 0.0], [10.0, 5.0], [0.0, 0.0]],
                vec![[20.0, 0.0], [25.0, 0.0], [25.0, -5.0]],
                vec![[0.0, 0.0], [1.0, -1.0]],
                vec![[1.0, -2.0], [3.0, -4.0]],
            ]
        );
    }

    #[test]
    fn curves_are_flattened_within_a_hundredth_of_a_millimetre() {
        // The usual four-cubic circle of radius 4 is itself within 1.1e-3 of it.
        let k = 4.0 * 0.552_284_749_8;
        let d = format!("M4 0C4 {k} {k} 4 0 4S-4 {k} -4 0");
        let strokes = svg(&format!("<path d='{d}'/>")).unwrap();
        for window in strokes[0].points_mm.windows(2) {
            let middle = [(window[0][0] + window[1][0]) / 2.0, (window[0][1] + window[1][1]) / 2.0];
            assert!((middle[0].hypot(middle[1]) - 4.0).abs() < 0.0125, "{middle:?}");
        }
    }

    #[test]
    fn what_would_be_drawn_wrongly_is_refused() {
        for body in [
            "<g transform='scale(2)'><path d='M0 0L1 1'/></g>",
            "<path d='M0 0A5 5 0 0 1 10 0'/>",
            "<path d='M0 0L1'/>",
            "<path d='0 0L1 1'/>",
            "<path d='M0 0L1 1 R3 3'/>",
            "<path d='M0 0L1e9 1'/>",
            "<polyline points='0,0 1'/>",
            "<text>no strokes</text>",
        ] {
            assert!(svg(body).is_err(), "{body}");
        }
        assert!(from_csv("0,0\n").is_err() && from_csv("0;0\n1;1").is_err());
    }
}
