//! Designs: polylines in millimetres, and the plain way to write them.

use crate::error::DrawError;
use crate::samples::strict_number;

/// One stroke of a design, millimetres: x to the right, y up.
#[derive(Debug, Clone, PartialEq)]
pub struct Polyline {
    /// The points in the order in which they are drawn; at least two, none equal to the one before.
    pub points_mm: Vec<[f64; 2]>,
}

/// Longest design file that is read, bytes.
pub(super) const MAX_BYTES: usize = 4 << 20;
/// Most points of a design.
const MAX_POINTS: usize = 200_000;

pub(super) fn refuse(reason: impl Into<String>) -> DrawError {
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

/// Gathers points into strokes.
#[derive(Default)]
pub(super) struct Collector {
    done: Vec<Polyline>,
    open: Vec<[f64; 2]>,
    points: usize,
}

impl Collector {
    pub(super) fn to(&mut self, point: [f64; 2]) -> Result<(), DrawError> {
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

    pub(super) fn lift(&mut self) -> Result<(), DrawError> {
        match self.open.len() {
            0 => {}
            1 => return Err(refuse(format!("a stroke of one point at {:?} mm", self.open[0]))),
            _ => self.done.push(Polyline { points_mm: std::mem::take(&mut self.open) }),
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Vec<Polyline>, DrawError> {
        self.lift()?;
        if self.done.is_empty() {
            return Err(refuse("the design has no strokes"));
        }
        Ok(self.done)
    }

    /// Whether a stroke has begun.
    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// A move that draws nothing leaves no stroke.
    pub(super) fn forget_single(&mut self) {
        if self.open.len() == 1 {
            self.open.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_design_is_refused() {
        for text in ["0,0\n", "0;0\n1;1", "", "# nothing\n", "0,0\n1,nan\n", "0,0\n1e9,0\n"] {
            assert!(from_csv(text).is_err(), "{text:?}");
        }
    }
}
