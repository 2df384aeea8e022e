//! From the frames of a stream to the one picture that is trusted.

use super::format::MAX_FRAMES;
use crate::error::DrawError;
use crate::surface::{Grid, median};

/// Every frame behind a picture, raw units.
#[derive(Debug, Clone, PartialEq)]
pub struct RawDepth {
    frames: Vec<Grid<u16>>,
}

/// What the frames say together.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// The median of the frames that had depth, raw units, halves to even; 0 where none had.
    pub depth: Grid<u16>,
    /// How many had.
    pub valid: Grid<u8>,
    /// Their median absolute deviation, metres; 0 where none had.
    pub mad_m: Grid<f32>,
}

impl RawDepth {
    /// Frames of one size.
    ///
    /// # Errors
    /// None, more than 255, or frames of different sizes.
    pub fn new(frames: Vec<Grid<u16>>) -> Result<Self, DrawError> {
        let refuse = |found: String| DrawError::array("raw_depth", "1 to 255 frames of one size", found);
        let Some(first) = frames.first() else { return Err(refuse("none".to_owned())) };
        let size = (first.rows(), first.cols());
        if frames.len() as u64 > MAX_FRAMES {
            return Err(refuse(format!("{} frames", frames.len())));
        }
        if let Some(other) = frames.iter().find(|frame| (frame.rows(), frame.cols()) != size) {
            return Err(refuse(format!(
                "{} x {} beside {} x {}",
                other.rows(),
                other.cols(),
                size.0,
                size.1
            )));
        }
        Ok(Self { frames })
    }

    /// The frames.
    #[must_use]
    pub fn frames(&self) -> &[Grid<u16>] {
        &self.frames
    }

    /// The picture, its counts and its flicker. A frame has depth at a pixel when the raw value is neither 0 nor 65535.
    #[must_use]
    pub fn merged(&self, units_m: f64) -> Merged {
        let (rows, cols) = (self.frames[0].rows(), self.frames[0].cols());
        let mut out = Merged {
            depth: Grid::filled(rows, cols, 0),
            valid: Grid::filled(rows, cols, 0),
            mad_m: Grid::filled(rows, cols, 0.0),
        };
        let mut seen: Vec<f64> = Vec::with_capacity(self.frames.len());
        for row in 0..rows {
            for col in 0..cols {
                seen.clear();
                let raws = self.frames.iter().map(|frame| frame.at(row, col));
                seen.extend(raws.filter(|&raw| raw > 0 && raw < u16::MAX).map(f64::from));
                if seen.is_empty() {
                    continue;
                }
                out.valid.set(row, col, u8::try_from(seen.len()).unwrap_or(u8::MAX));
                let middle = median(&mut seen);
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 1 to 65534
                out.depth.set(row, col, middle.round_ties_even().clamp(0.0, 65_534.0) as u16);
                seen.iter_mut().for_each(|raw| *raw = (*raw - middle).abs());
                #[allow(clippy::cast_possible_truncation)] // metres
                out.mad_m.set(row, col, (median(&mut seen) * units_m) as f32);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_is_the_median_of_the_frames_that_saw() {
        let frame = |values: [u16; 4]| Grid::new(2, 2, values.to_vec()).unwrap();
        // numpy: median and MAD of the values that are neither 0 nor 65535; 1500.5 and 1501.5 round to even.
        let raw = RawDepth::new(vec![
            frame([1500, 1500, 0, 0]),
            frame([1501, 0, 0, u16::MAX]),
            frame([1502, 1501, u16::MAX, 7]),
            frame([1501, 0, 0, 0]),
        ])
        .unwrap();
        let merged = raw.merged(0.001);
        assert_eq!(merged.depth.values(), [1501, 1500, 0, 7]);
        assert_eq!(merged.valid.values(), [4, 2, 0, 1]);
        for (found, wanted) in merged.mad_m.values().iter().zip([0.0005f32, 0.0005, 0.0, 0.0]) {
            assert!((found - wanted).abs() < 1e-9);
        }
        assert!(RawDepth::new(Vec::new()).is_err());
        assert!(RawDepth::new(vec![Grid::filled(2, 2, 0); 256]).is_err());
        assert!(RawDepth::new(vec![Grid::filled(2, 2, 0), Grid::filled(2, 3, 0)]).is_err());
    }
}
