//! The undisplaced shapes and their coordinates.

use crate::error::DrawError;
use crate::math::{Mat3, Vec3, add, add_scaled, column, dot, finite, from_columns, scale, sub};
use crate::profile::is_rotation;

/// Plane or cylinder.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// Flat.
    Plane,
    /// Convex, its axis along `u`, below the surface by the radius.
    Cylinder {
        /// Metres.
        radius_m: f64,
    },
}

/// A shape in its place: `u` and `v` in metres, `(0, 0)` at `center_m`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chart {
    /// The shape.
    pub shape: Shape,
    /// The surface point at `(0, 0)`, root frame.
    pub center_m: Vec3,
    /// Columns `e_u`, `e_v`, outward normal.
    pub rotation: Mat3,
}

/// Point and derivatives of the undisplaced shape.
pub(super) struct ChartFrame {
    pub(super) point: Vec3,
    pub(super) du: Vec3,
    pub(super) dv: Vec3,
    pub(super) normal: Vec3,
    /// Derivative of the normal along `v`; along `u` it is zero for both shapes.
    pub(super) normal_dv: Vec3,
}

impl Chart {
    /// A chart whose numbers were checked.
    ///
    /// # Errors
    /// A centre or radius that is not finite, a radius not above zero, a rotation off by more than 1e-6.
    pub fn new(shape: Shape, center_m: Vec3, rotation: Mat3) -> Result<Self, DrawError> {
        let refuse = |reason: String| DrawError::Geometry { what: "chart", reason };
        if !finite(center_m) {
            return Err(refuse(format!("the centre {center_m:?} is not finite")));
        }
        if !is_rotation(&rotation, 1e-6) {
            return Err(refuse("the axes are not orthonormal and right-handed within 1e-6".to_owned()));
        }
        if let Shape::Cylinder { radius_m } = shape
            && !(radius_m.is_finite() && radius_m > 0.0)
        {
            return Err(refuse(format!("the radius {radius_m} m is not above zero")));
        }
        Ok(Self { shape, center_m, rotation })
    }

    /// The word of the file.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self.shape {
            Shape::Plane => "plane",
            Shape::Cylinder { .. } => "cylinder",
        }
    }

    /// The cylinder's radius, metres.
    #[must_use]
    pub fn radius_m(&self) -> Option<f64> {
        match self.shape {
            Shape::Plane => None,
            Shape::Cylinder { radius_m } => Some(radius_m),
        }
    }

    pub(super) fn frame(&self, u: f64, v: f64) -> ChartFrame {
        let (e_u, e_v, n) = (column(&self.rotation, 0), column(&self.rotation, 1), column(&self.rotation, 2));
        match self.shape {
            Shape::Plane => ChartFrame {
                point: add_scaled(add_scaled(self.center_m, e_u, u), e_v, v),
                du: e_u,
                dv: e_v,
                normal: n,
                normal_dv: [0.0; 3],
            },
            Shape::Cylinder { radius_m: r } => {
                let (sin, cos) = (v / r).sin_cos();
                let dv = add(scale(e_v, cos), scale(n, -sin));
                let along = add_scaled(self.center_m, e_u, u);
                ChartFrame {
                    point: add_scaled(add_scaled(along, e_v, r * sin), n, r * cos - r),
                    du: e_u,
                    dv,
                    normal: add(scale(e_v, sin), scale(n, cos)),
                    normal_dv: scale(dv, 1.0 / r),
                }
            }
        }
    }

    /// The undisplaced point at `(u, v)`, root frame.
    #[must_use]
    pub fn point(&self, u: f64, v: f64) -> Vec3 {
        self.frame(u, v).point
    }

    /// The outward normal at `(u, v)`.
    #[must_use]
    pub fn normal(&self, u: f64, v: f64) -> Vec3 {
        self.frame(u, v).normal
    }

    /// The coordinates of the foot of `point_m` on the undisplaced shape. A point on a cylinder's axis has `v = 0`.
    #[must_use]
    pub fn inverse(&self, point_m: Vec3) -> [f64; 2] {
        let d = sub(point_m, self.center_m);
        let local = [0, 1, 2].map(|axis| dot(d, column(&self.rotation, axis)));
        match self.shape {
            Shape::Plane => [local[0], local[1]],
            Shape::Cylinder { radius_m: r } => [local[0], r * local[1].atan2(local[2] + r)],
        }
    }

    /// The shape moved out by `shift_m` along its normals. A cylinder keeps its axis and grows, so that arc length stays honest.
    ///
    /// # Errors
    /// When a cylinder would have no radius left.
    pub fn offset(&self, shift_m: f64) -> Result<Self, DrawError> {
        let center_m = add_scaled(self.center_m, column(&self.rotation, 2), shift_m);
        let shape = match self.shape {
            Shape::Plane => Shape::Plane,
            Shape::Cylinder { radius_m } => Shape::Cylinder { radius_m: radius_m + shift_m },
        };
        Self::new(shape, center_m, self.rotation)
    }

    /// The same shape with `(0, 0)` at the projection of `reference_m` on it; radius and axis line stay.
    ///
    /// # Errors
    /// When the reference is not finite.
    pub fn centered_at(&self, reference_m: Vec3) -> Result<Self, DrawError> {
        if !finite(reference_m) {
            let reason = format!("the reference {reference_m:?} is not finite");
            return Err(DrawError::Geometry { what: "chart", reason });
        }
        let [u, v] = self.inverse(reference_m);
        let frame = self.frame(u, v);
        Self::new(self.shape, frame.point, from_columns(frame.du, frame.dv, frame.normal))
    }
}
