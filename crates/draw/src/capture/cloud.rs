//! From depth to points.

use super::format::{Capture, View};
use crate::error::DrawError;
use crate::math::{Vec3, add_scaled, dot, norm, sub, unit};
use crate::profile::{Chain, Profile};
use crate::surface::Grid;

/// Which pixels are trusted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CloudConfig {
    /// Nearest and farthest depth, metres.
    pub range_m: [f64; 2],
    /// Share of the frames that must have had depth.
    pub valid_share: f64,
    /// Largest deviation over the frames, metres.
    pub max_mad_m: f64,
    /// A larger step to a neighbour drops both, metres.
    pub max_step_m: f64,
}

impl Default for CloudConfig {
    fn default() -> Self {
        Self { range_m: [0.07, 0.5], valid_share: 0.75, max_mad_m: 0.001, max_step_m: 0.005 }
    }
}

/// A point that a camera saw, root frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CloudPoint {
    /// The point, metres.
    pub point_m: Vec3,
    /// The number of its camera in the capture.
    pub camera: u8,
    /// Where the camera stood, metres.
    pub eye_m: Vec3,
}

impl View {
    /// The point of a pixel's centre in the camera's optical frame, metres; `None` where there is no depth in range.
    #[must_use]
    pub fn point(&self, row: usize, col: usize, range_m: [f64; 2]) -> Option<Vec3> {
        let raw = self.depth.at(row, col);
        let z = f64::from(raw) * self.units_m;
        if raw == 0 || raw == u16::MAX || !(range_m[0]..=range_m[1]).contains(&z) {
            return None;
        }
        let [fx, fy, ppx, ppy] = self.intrinsics_px;
        #[allow(clippy::cast_precision_loss)] // pixels
        let place = [(col as f64 - ppx) / fx, (row as f64 - ppy) / fy];
        let [x, y] = self.lens.map_or(place, |lens| lens.undistorted(place));
        Some([x * z, y * z, z])
    }

    /// The trusted points in the camera's optical frame.
    ///
    /// A pixel is dropped when too few frames saw it, when it flickers, when it is one side of a step, and when it has no neighbour
    /// at its own depth.
    #[must_use]
    pub fn points(&self, config: &CloudConfig) -> Vec<Vec3> {
        let (rows, cols) = (self.depth.rows(), self.depth.cols());
        let fewest = self.frames.map_or(1, |frames| {
            #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            // at most 255
            let fewest = (config.valid_share * frames as f64).ceil() as u64;
            fewest.max(1)
        });
        let mut depth = Grid::filled(rows, cols, f64::NAN);
        for row in 0..rows {
            for col in 0..cols {
                let steady =
                    self.mad_m.as_ref().is_none_or(|mad| f64::from(mad.at(row, col)) <= config.max_mad_m);
                if u64::from(self.valid.at(row, col)) >= fewest
                    && steady
                    && let Some(point) = self.point(row, col, config.range_m)
                {
                    depth.set(row, col, point[2]);
                }
            }
        }
        let mut out = Vec::new();
        for row in 0..rows {
            for col in 0..cols {
                let z = depth.at(row, col);
                if z.is_nan() {
                    continue;
                }
                let around =
                    [(row.wrapping_sub(1), col), (row + 1, col), (row, col.wrapping_sub(1)), (row, col + 1)];
                let gaps = around
                    .into_iter()
                    .filter(|&(r, c)| r < rows && c < cols)
                    .map(|(r, c)| (depth.at(r, c) - z).abs())
                    .filter(|gap| !gap.is_nan());
                let (mut stepped, mut company) = (false, false);
                for gap in gaps {
                    stepped |= gap > config.max_step_m;
                    company |= gap <= config.max_step_m.max(0.01 * z);
                }
                if !stepped && company {
                    out.extend(self.point(row, col, config.range_m));
                }
            }
        }
        out
    }
}

impl Capture {
    /// The trusted points of all cameras in the root frame, each with its camera; the tool itself is masked out.
    ///
    /// # Errors
    /// When a camera's role is not in the profile: extrinsics are never guessed.
    pub fn points(&self, profile: &Profile, config: &CloudConfig) -> Result<Vec<CloudPoint>, DrawError> {
        let posture = profile.chain.posture(&self.joints_rad, self.carriage_m);
        let final_in_base = crate::math::Rigid { rotation: posture.rotation, translation_m: posture.final_m };
        let mut out = Vec::new();
        for (index, view) in self.views.iter().enumerate() {
            let camera = profile.camera(&view.role).ok_or_else(|| {
                DrawError::array("camera_roles", "cameras of the profile", view.role.escape_debug())
            })?;
            let in_base = final_in_base.then(&camera.in_final);
            let number = u8::try_from(index).unwrap_or(u8::MAX);
            let axis = unit(posture.rotation_axis(&profile.chain)).unwrap_or([0.0, 0.0, 1.0]);
            let eye_m = profile.base_in_root.point(in_base.translation_m);
            out.extend(
                view.points(config)
                    .into_iter()
                    .map(|point| in_base.point(point))
                    .filter(|&point| !tool_mask(posture.tip_m, axis, point))
                    .map(|point| CloudPoint {
                        point_m: profile.base_in_root.point(point),
                        camera: number,
                        eye_m,
                    }),
            );
        }
        Ok(out)
    }
}

impl crate::profile::Posture {
    /// The tool's direction in the base frame, out of the tool.
    fn rotation_axis(&self, chain: &Chain) -> Vec3 {
        crate::math::apply(&self.rotation, chain.tool_axis)
    }
}

/// Whether `point_m` belongs to the tool: a cone back from the tip along its axis, 1.5 mm wide at the tip and half a millimetre more per
/// millimetre, at most 20 mm; it begins half a millimetre ahead of the tip.
#[must_use]
pub fn tool_mask(tip_m: Vec3, axis: Vec3, point_m: Vec3) -> bool {
    let d = sub(point_m, tip_m);
    let back = -dot(d, axis);
    let radius = norm(add_scaled(d, axis, back));
    back >= -0.000_5 && radius <= (0.001_5 + 0.5 * back.max(0.0)).min(0.02)
}
