//! The surface itself: chart plus displacement, its frame, and the way back from a point.

use super::chart::{Chart, Shape};
use super::grid::Grid;
use crate::error::DrawError;
use crate::math::{Vec3, add, add_scaled, cross, dot, finite, scale, sub, unit};

/// What is left of a cylinder's radius below the deepest point, at least, as a share of the radius: past it the surface folds over.
const LEAST_CORE: f64 = 0.05;

/// Where and by how much the surface was moved through a touched point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Anchor {
    /// Its coordinates.
    pub uv_m: [f64; 2],
    /// The touched point, root frame.
    pub point_m: Vec3,
    /// The whole shift that went into the heights, metres.
    pub shift_m: f64,
}

/// Point, tangents and normal of the displaced surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    /// The point, root frame, metres.
    pub point_m: Vec3,
    /// Derivative along `u`.
    pub du: Vec3,
    /// Derivative along `v`.
    pub dv: Vec3,
    /// Unit normal, on the chart normal's side.
    pub normal: Vec3,
    /// Displacement along the chart's normal, metres.
    pub height_m: f64,
}

/// The foot of a point on the surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Projection {
    /// Coordinates of the foot.
    pub uv_m: [f64; 2],
    /// Signed distance along the normal, outside positive, metres.
    pub distance_m: f64,
}

/// A surface whose parts fit together.
#[derive(Debug, Clone, PartialEq)]
pub struct Surface {
    pub(super) chart: Chart,
    pub(super) width_m: f64,
    pub(super) height_m: f64,
    pub(super) heights: Grid<f64>,
    pub(super) counts: Grid<i32>,
    pub(super) residuals: Grid<f64>,
    pub(super) source_counts: Grid<i32>,
    pub(super) disagreement: Grid<f64>,
    pub(super) anchor: Option<Anchor>,
}

impl Surface {
    /// A surface over `width_m` along `u` and `height_m` along `v`, nodes on the border, not anchored.
    ///
    /// # Errors
    /// Extents not above zero; fewer than 2 × 2 nodes; grids of other sizes; heights that are not finite or fold a cylinder over;
    /// counts below zero; residuals that are not finite or below zero.
    pub fn new(
        chart: Chart,
        width_m: f64,
        height_m: f64,
        heights: Grid<f64>,
        counts: Grid<i32>,
        residuals: Grid<f64>,
    ) -> Result<Self, DrawError> {
        let (rows, cols) = (heights.rows(), heights.cols());
        let surface = Self {
            chart: Chart::new(chart.shape, chart.center_m, chart.rotation)?,
            width_m,
            height_m,
            heights,
            counts,
            residuals,
            source_counts: Grid::filled(rows, cols, 0),
            disagreement: Grid::filled(rows, cols, 0.0),
            anchor: None,
        };
        surface.validate()?;
        Ok(surface)
    }

    pub(super) fn validate(&self) -> Result<(), DrawError> {
        let refuse = |reason: String| Err(DrawError::Geometry { what: "surface", reason });
        for (name, extent) in [("width", self.width_m), ("height", self.height_m)] {
            if !(extent.is_finite() && extent > 0.0) {
                return refuse(format!("the {name} {extent} m is not above zero"));
            }
        }
        let (rows, cols) = (self.heights.rows(), self.heights.cols());
        if rows < 2 || cols < 2 {
            return refuse(format!("{rows} x {cols} nodes, at least 2 x 2 are needed"));
        }
        let sizes = [
            (self.counts.rows(), self.counts.cols()),
            (self.residuals.rows(), self.residuals.cols()),
            (self.source_counts.rows(), self.source_counts.cols()),
            (self.disagreement.rows(), self.disagreement.cols()),
        ];
        if sizes.iter().any(|&size| size != (rows, cols)) {
            return refuse("the grids differ in size".to_owned());
        }
        if let Some(height) = self.heights.values().iter().find(|height| !height.is_finite()) {
            return refuse(format!("a height of {height} m"));
        }
        if self.counts.values().iter().chain(self.source_counts.values()).any(|&count| count < 0) {
            return refuse("a count below zero".to_owned());
        }
        let spreads = self.residuals.values().iter().chain(self.disagreement.values());
        if let Some(spread) = spreads.into_iter().find(|spread| !(spread.is_finite() && **spread >= 0.0)) {
            return refuse(format!("a residual of {spread} m"));
        }
        if let Shape::Cylinder { radius_m } = self.chart.shape {
            let lowest = self.heights.values().iter().fold(f64::INFINITY, |least, &height| least.min(height));
            if radius_m + lowest < LEAST_CORE * radius_m {
                return refuse(format!(
                    "a height of {lowest} m folds the cylinder of radius {radius_m} m over"
                ));
            }
            let around = std::f64::consts::TAU * radius_m;
            if self.height_m > around {
                return refuse(format!("a canvas of {} m wraps onto itself round {around} m", self.height_m));
            }
        }
        Ok(())
    }

    /// The chart.
    #[must_use]
    pub fn chart(&self) -> &Chart {
        &self.chart
    }

    /// Extents along `u` and `v`, metres.
    #[must_use]
    pub fn extent_m(&self) -> [f64; 2] {
        [self.width_m, self.height_m]
    }

    /// The displacements along the chart's normal, metres.
    #[must_use]
    pub fn heights(&self) -> &Grid<f64> {
        &self.heights
    }

    /// Samples per node; 0 is a hole.
    #[must_use]
    pub fn counts(&self) -> &Grid<i32> {
        &self.counts
    }

    /// Median absolute deviation per node, metres.
    #[must_use]
    pub fn residuals(&self) -> &Grid<f64> {
        &self.residuals
    }

    /// How many nodes are holes.
    #[must_use]
    pub fn holes(&self) -> usize {
        self.counts.values().iter().filter(|&&count| count == 0).count()
    }

    /// The anchor, if the surface has been touched.
    #[must_use]
    pub fn anchor(&self) -> Option<Anchor> {
        self.anchor
    }

    /// Whether `(u, v)` lies on the canvas. Outside, heights are frozen and normals do not fit them: good for a picture, not for a plan.
    #[must_use]
    pub fn contains(&self, uv_m: [f64; 2]) -> bool {
        uv_m[0].abs() <= self.width_m / 2.0 && uv_m[1].abs() <= self.height_m / 2.0
    }

    /// Whether the node nearest to `(u, v)` is a hole; outside the canvas everything is.
    #[must_use]
    pub fn is_hole(&self, uv_m: [f64; 2]) -> bool {
        if !self.contains(uv_m) {
            return true;
        }
        let (col, row) = self.indices(uv_m);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        // inside the grid by the check above
        let (col, row) = (col.round_ties_even() as usize, row.round_ties_even() as usize);
        self.counts.at(row, col) == 0
    }

    /// As [`Surface::is_hole`], but a hole counts as known when a measured node is within `fill_m` of its node, along the canvas: its
    /// height was filled in from there.
    #[must_use]
    pub fn is_hole_beyond(&self, uv_m: [f64; 2], fill_m: f64) -> bool {
        if !self.is_hole(uv_m) {
            return false;
        }
        if fill_m <= 0.0 || !self.contains(uv_m) {
            return true;
        }
        let (col, row) = self.indices(uv_m);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // inside the grid
        let (col, row) = (col.round_ties_even() as usize, row.round_ties_even() as usize);
        let (rows, cols) = (self.heights.rows(), self.heights.cols());
        #[allow(clippy::cast_precision_loss)] // grids are far below 2^52
        let spacing = [self.width_m / (cols - 1) as f64, self.height_m / (rows - 1) as f64];
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
        let reach = spacing.map(|spacing| (fill_m / spacing + 1e-9) as usize);
        let near =
            |at: usize, reach: usize, count: usize| at.saturating_sub(reach)..=(at + reach).min(count - 1);
        !near(row, reach[1].min(rows), rows).any(|r| {
            near(col, reach[0].min(cols), cols).any(|c| {
                #[allow(clippy::cast_precision_loss)]
                let (du, dv) = (c.abs_diff(col) as f64 * spacing[0], r.abs_diff(row) as f64 * spacing[1]);
                self.counts.at(r, c) > 0 && du.hypot(dv) <= fill_m * (1.0 + 1e-9)
            })
        })
    }

    #[allow(clippy::cast_precision_loss)] // grids are far below 2^52
    fn indices(&self, [u, v]: [f64; 2]) -> (f64, f64) {
        let col = (u + self.width_m / 2.0) / self.width_m * (self.heights.cols() - 1) as f64;
        let row = (v + self.height_m / 2.0) / self.height_m * (self.heights.rows() - 1) as f64;
        (col, row)
    }

    /// Point, tangents and normal at `(u, v)`; outside the canvas the border's height goes on.
    #[must_use]
    pub fn frame(&self, uv_m: [f64; 2]) -> Frame {
        let (col, row) = self.indices(uv_m);
        let (h, by_col, by_row) = self.heights.sample(col, row);
        #[allow(clippy::cast_precision_loss)] // grids are far below 2^52
        let h_u = by_col * (self.heights.cols() - 1) as f64 / self.width_m;
        #[allow(clippy::cast_precision_loss)]
        let h_v = by_row * (self.heights.rows() - 1) as f64 / self.height_m;
        let base = self.chart.frame(uv_m[0], uv_m[1]);
        let du = add_scaled(base.du, base.normal, h_u);
        let dv = add(add_scaled(base.dv, base.normal, h_v), scale(base.normal_dv, h));
        let normal = unit(cross(du, dv)).unwrap_or(base.normal);
        let normal = if dot(normal, base.normal) < 0.0 { scale(normal, -1.0) } else { normal };
        Frame { point_m: add_scaled(base.point, base.normal, h), du, dv, normal, height_m: h }
    }

    /// The foot of `point_m` on the surface by Gauss-Newton steps; `None` when the residual along the tangents stays
    /// above a micrometre.
    #[must_use]
    pub fn project(&self, point_m: Vec3) -> Option<Projection> {
        if !finite(point_m) {
            return None;
        }
        let mut uv = self.chart.inverse(point_m);
        let mut frame = self.frame(uv);
        // The reference stops after 8 steps. Far off a curved place a step gains only a factor of lift times curvature, so
        // we go on until the step is at rounding; where 8 suffice the answer is the same.
        for _ in 0..64 {
            let r = sub(point_m, frame.point_m);
            let (e, f, g) = (dot(frame.du, frame.du), dot(frame.du, frame.dv), dot(frame.dv, frame.dv));
            let (a, b) = (dot(r, frame.du), dot(r, frame.dv));
            let determinant = (e * g - f * f).max(1e-12);
            let step = [(g * a - f * b) / determinant, (e * b - f * a) / determinant];
            uv = [uv[0] + step[0], uv[1] + step[1]];
            frame = self.frame(uv);
            if step[0].abs().max(step[1].abs()) < 1e-13 {
                break;
            }
        }
        let r = sub(point_m, frame.point_m);
        let distance_m = dot(r, frame.normal);
        let tangential = sub(r, scale(frame.normal, distance_m));
        (dot(tangential, tangential) <= 1e-12 && distance_m.is_finite())
            .then_some(Projection { uv_m: uv, distance_m })
    }

    /// Moves the heights so that the surface passes through the touched `point_m`. The shift is along the chart's normal and the
    /// distance along the local one, so it is repeated.
    ///
    /// # Errors
    /// When the point does not project, or the shifted heights fold the surface over.
    pub fn anchor_to(&mut self, point_m: Vec3) -> Result<(), DrawError> {
        let before = self.anchor.map_or(0.0, |anchor| anchor.shift_m);
        let mut moved = self.clone();
        let mut total = 0.0;
        let mut uv_m = [0.0; 2];
        for _ in 0..6 {
            let Some(foot) = moved.project(point_m) else {
                let reason = format!("the touched point {point_m:?} does not project");
                return Err(DrawError::Geometry { what: "anchor", reason });
            };
            uv_m = foot.uv_m;
            total += foot.distance_m;
            moved.heights.values_mut().iter_mut().for_each(|height| *height += foot.distance_m);
            if foot.distance_m.abs() < 1e-12 {
                break;
            }
        }
        moved.anchor = Some(Anchor { uv_m, point_m, shift_m: before + total });
        moved.validate()?;
        *self = moved;
        Ok(())
    }
}
