//! The cylinder among the shapes that are fitted.

use nalgebra::{SMatrix, SVector};

use super::fit::{Plane, Seen, in_plane, inliers, scale_of, weight};
use crate::math::{Vec3, add, add_scaled, cross, dot, norm, scale, sub, unit};

/// A cylinder and how well points agree with it.
#[derive(Clone, Copy)]
pub(super) struct Cylinder {
    pub(super) point: Vec3,
    pub(super) axis: Vec3,
    pub(super) radius: f64,
    pub(super) rms: f64,
    pub(super) share: f64,
    pub(super) scale: f64,
}

/// The best of six starts.
pub(super) fn best_cylinder(cloud: &[Vec3], seen: &[Seen], plane: &Plane, robust: bool) -> Option<Cylinder> {
    let (e_u, e_v) = in_plane(plane.normal)?;
    (0..6)
        .filter_map(|step| {
            let (sin, cos) = (f64::from(step) * 30f64.to_radians()).sin_cos();
            let axis = add(scale(e_u, cos), scale(e_v, sin));
            refine(cloud, seen, seed(cloud, plane, axis, robust), robust)
        })
        .filter(|found| (0.005..0.5).contains(&found.radius))
        .min_by(|a, b| a.rms.total_cmp(&b.rms))
}

/// A parabola across the axis gives a radius and with it a place of the axis.
fn seed(cloud: &[Vec3], plane: &Plane, axis: Vec3, robust: bool) -> Cylinder {
    let across = cross(plane.normal, axis);
    let flat: Vec<(f64, f64)> = cloud
        .iter()
        .map(|&p| {
            let d = sub(p, plane.center);
            (dot(d, across), dot(d, plane.normal))
        })
        .collect();
    let mut weights = vec![1.0; flat.len()];
    let mut parabola = SVector::<f64, 3>::zeros();
    for _ in 0..if robust { 8 } else { 1 } {
        let mut normal = SMatrix::<f64, 3, 3>::zeros();
        let mut right = SVector::<f64, 3>::zeros();
        for (&(w, z), &weight) in flat.iter().zip(&weights) {
            let row = SVector::<f64, 3>::new(1.0, w, w * w);
            normal += row * row.transpose() * weight;
            right += row * (z * weight);
        }
        let Some(solved) = normal.lu().solve(&right) else { break };
        parabola = solved;
        let residuals: Vec<f64> =
            flat.iter().map(|&(w, z)| z - parabola[0] - parabola[1] * w - parabola[2] * w * w).collect();
        let scale = scale_of(&residuals);
        weights = residuals.into_iter().map(|r| weight(r, scale)).collect();
    }
    let curvature = 2.0 * parabola[2] / (1.0 + parabola[1] * parabola[1]).powf(1.5);
    let radius = if curvature < -1e-3 { (-1.0 / curvature).clamp(0.001, 10.0) } else { 1.0 };
    let top = add_scaled(plane.center, plane.normal, parabola[0]);
    let point = add_scaled(top, plane.normal, -radius);
    Cylinder { point, axis, radius, rms: f64::INFINITY, share: 0.0, scale: 0.0 }
}

impl Cylinder {
    pub(super) fn residual(&self, p: Vec3) -> f64 {
        norm(self.radial(p)) - self.radius
    }

    /// The residual of a seen point as a distance across the surface, and where its slope is to be taken.
    pub(super) fn measure(&self, seen: &Seen) -> (f64, Vec3) {
        let plain = (self.residual(seen.point), seen.point);
        let Some(eye) = seen.eye else { return plain };
        let way = sub(seen.point, eye);
        let far = norm(way);
        let Some(along) = unit(way) else { return plain };
        let from = self.radial(eye);
        let flat = sub(along, scale(self.axis, dot(along, self.axis)));
        let (a, b, c) = (dot(flat, flat), dot(from, flat), dot(from, from) - self.radius * self.radius);
        let root = b * b - a * c;
        // A ray that misses the model, or an eye inside it, has only the plain distance.
        if root <= 0.0 || c <= 0.0 || a < 1e-9 {
            return plain;
        }
        let depth = (-b - root.sqrt()) / a;
        let foot = add_scaled(eye, along, depth);
        match unit(self.radial(foot)) {
            Some(outward) => ((far - depth) * dot(along, outward), foot),
            None => plain,
        }
    }

    pub(super) fn radial(&self, p: Vec3) -> Vec3 {
        let d = sub(p, self.point);
        sub(d, scale(self.axis, dot(d, self.axis)))
    }

    /// The five ways in which a cylinder can change, at the point `p`: two shifts, two tilts, the radius.
    pub(super) fn slope(&self, p: Vec3, across: (Vec3, Vec3)) -> SVector<f64, 5> {
        let radial = self.radial(p);
        let q = unit(radial).unwrap_or(across.0);
        let along = dot(sub(p, self.point), self.axis);
        let (a, b) = (dot(q, across.0), dot(q, across.1));
        SVector::<f64, 5>::from([-a, -b, -along * a, -along * b, -1.0])
    }

    fn moved(&self, step: &SVector<f64, 5>, across: (Vec3, Vec3), middle: Vec3) -> Option<Self> {
        let shift = add(scale(across.0, step[0]), scale(across.1, step[1]));
        let axis = unit(add_scaled(add_scaled(self.axis, across.0, step[2]), across.1, step[3]))?;
        let point = add(self.point, shift);
        // The foot of the cloud's middle keeps tilt and shift apart.
        let point = add_scaled(point, axis, dot(sub(middle, point), axis));
        Some(Self { point, axis, radius: (self.radius + step[4]).max(1e-4), ..*self })
    }
}

impl Cylinder {
    /// The cylinder at which the weighted residuals have no part along any slope at the rays' feet. The sum of squares has its least
    /// elsewhere, as its own slopes share the points' noise; steps that only lower it end wherever they began to raise it. `None` when
    /// the steps do not settle.
    fn settled(mut self, seen: &[Seen], middle: Vec3, robust: bool) -> Option<Self> {
        for _ in 0..40 {
            let across = in_plane(self.axis)?;
            let measured: Vec<(f64, Vec3)> = seen.iter().map(|p| self.measure(p)).collect();
            let residuals: Vec<f64> = measured.iter().map(|(residual, _)| *residual).collect();
            self.scale = scale_of(&residuals);
            let mut normal = SMatrix::<f64, 5, 5>::zeros();
            let mut right = SVector::<f64, 5>::zeros();
            for &(residual, foot) in &measured {
                let w = if robust { weight(residual, self.scale) } else { 1.0 };
                let slope = self.slope(foot, across);
                normal += slope * slope.transpose() * w;
                right -= slope * (w * residual);
            }
            let step = normal.cholesky()?.solve(&right);
            // A step of centimetres, or half a radian, leaves where the linear picture holds.
            if !(step.norm() < 0.5 && step[4].abs() < 0.05) {
                return None;
            }
            self = self.moved(&step, across, middle)?;
            if step.norm() < 1e-10 {
                return Some(self);
            }
        }
        None
    }
}

/// Levenberg and Marquardt's steps on the weighted residuals; the best iterate is kept.
fn refine(cloud: &[Vec3], seen: &[Seen], start: Cylinder, robust: bool) -> Option<Cylinder> {
    #[allow(clippy::cast_precision_loss)] // at most 20 000
    let middle = scale(cloud.iter().fold([0.0; 3], |sum, &p| add(sum, p)), 1.0 / cloud.len() as f64);
    let mut at = start.moved(&SVector::zeros(), in_plane(start.axis)?, middle)?;
    let rounds = if robust { 12 } else { 1 };
    for _ in 0..rounds {
        let residuals: Vec<f64> = seen.iter().map(|p| at.measure(p).0).collect();
        at.scale = scale_of(&residuals);
        let weigh = |r: f64| if robust { weight(r, at.scale) } else { 1.0 };
        let weights: Vec<f64> = residuals.iter().map(|&r| weigh(r)).collect();
        let cost = |cylinder: &Cylinder| -> f64 {
            seen.iter().zip(&weights).map(|(p, w)| w * cylinder.measure(p).0.powi(2)).sum()
        };
        let before = at;
        let mut least = cost(&at);
        let mut damping = 1e-3;
        for _ in 0..if robust { 4 } else { 60 } {
            let across = in_plane(at.axis)?;
            let mut normal = SMatrix::<f64, 5, 5>::zeros();
            let mut right = SVector::<f64, 5>::zeros();
            for (p, &w) in seen.iter().zip(&weights) {
                if w > 0.0 {
                    let (residual, foot) = at.measure(p);
                    let slope = at.slope(foot, across);
                    normal += slope * slope.transpose() * w;
                    right -= slope * (w * residual);
                }
            }
            let mut better = false;
            for _ in 0..8 {
                let mut damped = normal;
                for i in 0..5 {
                    damped[(i, i)] *= 1.0 + damping;
                }
                let tried = damped.cholesky().map(|solver| solver.solve(&right));
                let tried = tried.and_then(|step| at.moved(&step, across, middle));
                if let Some(tried) = tried
                    && cost(&tried) < least
                {
                    least = cost(&tried);
                    at = tried;
                    damping = (damping / 10.0).max(1e-12);
                    better = true;
                    break;
                }
                damping *= 10.0;
            }
            if !better {
                break;
            }
        }
        let moved = norm(sub(at.point, before.point)) + (at.radius - before.radius).abs();
        if robust && moved < 1e-10 {
            break;
        }
    }
    if seen.iter().any(|p| p.eye.is_some()) {
        at = at.settled(seen, middle, robust).unwrap_or(at);
    }
    let residuals: Vec<f64> = seen.iter().map(|p| at.measure(p).0).collect();
    at.scale = scale_of(&residuals);
    (at.rms, at.share) = inliers(&residuals, at.scale, robust);
    at.rms.is_finite().then_some(at)
}
