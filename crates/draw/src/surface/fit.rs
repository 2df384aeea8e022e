//! Fitting a chart to points of which some are wrong.
//!
//! Plain least squares lets a few outliers tilt the plane and swell the cylinder. Here the start is the best of many small
//! samples by the median of its residuals, and the refinement weighs residuals by Tukey's biweight at a scale taken from their own
//! median. A depth camera's noise lies along its rays, not across the surface; on a slanted ray it moves a point along the surface
//! too, and a fit of plain distances then finds too small a radius, by half a millimetre per millimetre of noise. So where the eyes
//! are known, a cylinder's residual is taken along the ray and its slope where the ray meets the model.

use nalgebra::{Matrix3, SMatrix, SVector, SymmetricEigen};

use super::chart::{Chart, Shape};
use super::fuse::median;
use super::intervals::{WAYS, Ways, Witness, half_widths};
use crate::error::DrawError;
use crate::math::{Vec3, add, add_scaled, column, cross, dot, finite, from_columns, norm, scale, sub, unit};

/// Which shape is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Prefer {
    /// The cylinder when the points say so, else the plane.
    #[default]
    Auto,
    /// The plane.
    Plane,
    /// The cylinder, or a refusal.
    Cylinder,
}

/// How a chart is fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitConfig {
    /// Which shape.
    pub prefer: Prefer,
    /// A direction on the outer side, toward the tool.
    pub normal_hint: Vec3,
    /// The cylinder's axis points this way rather than the other; root X, then Y, when absent.
    pub axis_hint: Option<Vec3>,
    /// Whether outliers are weighed down; without it the fit is plain least squares.
    pub robust: bool,
}

/// A fitted chart with what is known about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The chart, `(0, 0)` at the foot of the points' middle.
    pub chart: Chart,
    /// Points that were used.
    pub points: usize,
    /// Share of the points that count as inliers.
    pub inlier_share: f64,
    /// Root mean square of the inliers' distances, metres.
    pub rms_m: f64,
    /// The plane's, for comparison, metres.
    pub plane_rms_m: f64,
    /// The cylinder's rms and radius, when one was found, metres.
    pub cylinder: Option<(f64, f64)>,
    /// Half width of the 95 % interval of the radius, metres; absent for a plane and where the points do not carry it.
    pub radius_interval_m: Option<f64>,
    /// With 95 % the true axis (or normal) is within this angle of the found one, radians.
    pub direction_interval_rad: Option<f64>,
    /// Why this shape.
    pub reason: String,
}

/// Most points that a fit looks at; more are thinned evenly.
const MOST_POINTS: usize = 20_000;
/// Tukey's constant for 95 % efficiency with normal noise.
const TUKEY: f64 = 4.685;

/// Fits a chart. `eyes` are the places of the cameras that saw the points, one for each point, when they are known.
///
/// # Errors
/// As many eyes as points are needed, or none.
/// Fewer than 20 finite points, points on a line, a cylinder asked for that the points do not support, a hint that lies in the surface.
pub fn fit(points: &[Vec3], eyes: Option<&[Vec3]>, config: &FitConfig) -> Result<Fit, DrawError> {
    if let Some(eyes) = eyes.filter(|eyes| eyes.len() != points.len()) {
        return Err(refuse(format!("{} eyes for {} points", eyes.len(), points.len())));
    }
    let good: Vec<usize> =
        (0..points.len()).filter(|&k| finite(points[k]) && eyes.is_none_or(|eyes| finite(eyes[k]))).collect();
    let stride = good.len().div_ceil(MOST_POINTS).max(1);
    let good: Vec<usize> = good.into_iter().step_by(stride).collect();
    let cloud: Vec<Vec3> = good.iter().map(|&k| points[k]).collect();
    let seen: Vec<Seen> =
        good.iter().map(|&k| Seen { point: points[k], eye: eyes.map(|eyes| eyes[k]) }).collect();
    if cloud.len() < 20 {
        return Err(refuse(format!("{} points, at least 20 are needed", cloud.len())));
    }
    let hint = unit(config.normal_hint).ok_or_else(|| refuse("the normal hint has no length".to_owned()))?;
    let plane = fit_plane(&cloud, &seen, config.robust)?;
    let side = dot(plane.normal, hint);
    if side.abs() < 0.1 {
        return Err(refuse(format!(
            "the normal hint lies in the plane: its share along the normal is {side:.3}"
        )));
    }
    let normal = if side < 0.0 { scale(plane.normal, -1.0) } else { plane.normal };
    let plane = Plane { normal, ..plane };
    let cylinder = if config.prefer == Prefer::Plane {
        None
    } else {
        best_cylinder(&cloud, &seen, &plane, config.robust)
    };
    let (wanted, reason) = judge(&cloud, &plane, cylinder.as_ref(), config.prefer)?;
    let summary = cylinder.as_ref().map(|found| (found.rms, found.radius));
    let chart = match (&cylinder, wanted) {
        (Some(found), true) => cylinder_chart(found, &cloud, config.axis_hint)?,
        _ => plane_chart(&plane)?,
    };
    let (rms_m, inlier_share, scale_m) = match (&cylinder, wanted) {
        (Some(found), true) => (found.rms, found.share, found.scale),
        _ => (plane.rms, plane.share, plane.scale),
    };
    let (tilts, ways) = if chart.radius_m().is_some() { ([2, 3], WAYS) } else { ([1, 2], 3) };
    let widths = witnesses(&chart, &seen, scale_m, config.robust)
        .and_then(|witnesses| half_widths(&witnesses, tilts, ways));
    Ok(Fit {
        chart,
        points: cloud.len(),
        inlier_share,
        rms_m,
        plane_rms_m: plane.rms,
        cylinder: summary,
        radius_interval_m: widths.filter(|_| ways == WAYS).map(|widths| widths.radius_m),
        direction_interval_rad: widths.map(|widths| widths.direction_rad),
        reason,
    })
}

fn refuse(reason: String) -> DrawError {
    DrawError::Geometry { what: "fit", reason }
}

/// A point and the eye that saw it.
#[derive(Clone, Copy)]
struct Seen {
    point: Vec3,
    eye: Option<Vec3>,
}

#[derive(Clone, Copy)]
struct Plane {
    center: Vec3,
    normal: Vec3,
    rms: f64,
    share: f64,
    scale: f64,
}

#[derive(Clone, Copy)]
struct Cylinder {
    point: Vec3,
    axis: Vec3,
    radius: f64,
    rms: f64,
    share: f64,
    scale: f64,
}

/// Tukey's weight of a residual.
fn weight(residual: f64, scale: f64) -> f64 {
    let x = residual / (TUKEY * scale);
    if x.abs() >= 1.0 { 0.0 } else { (1.0 - x * x).powi(2) }
}

/// Normal-consistent scale of residuals, never quite zero.
fn scale_of(residuals: &[f64]) -> f64 {
    let mut sizes: Vec<f64> = residuals.iter().map(|r| r.abs()).collect();
    (1.4826 * median(&mut sizes)).max(1e-9)
}

/// Inliers' rms and share: what keeps a weight.
fn inliers(residuals: &[f64], scale: f64, robust: bool) -> (f64, f64) {
    let kept: Vec<f64> =
        residuals.iter().copied().filter(|&r| !robust || r.abs() < TUKEY * 0.6 * scale).collect();
    #[allow(clippy::cast_precision_loss)] // at most 20 000
    let (count, all) = (kept.len().max(1) as f64, residuals.len() as f64);
    ((kept.iter().map(|r| r * r).sum::<f64>() / count).sqrt(), kept.len() as f64 / all)
}

/// A linear congruential generator: the fit must not depend on anything but the points.
struct Lottery(u64);

impl Lottery {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        #[allow(clippy::cast_possible_truncation)] // the upper half is the better half
        let high = (self.0 >> 33) as usize;
        high % count
    }
}

fn fit_plane(cloud: &[Vec3], seen: &[Seen], robust: bool) -> Result<Plane, DrawError> {
    let mut weights = vec![1.0; cloud.len()];
    if robust {
        let start = sampled_plane(cloud).ok_or_else(|| refuse("the points lie on a line".to_owned()))?;
        weights = reweigh(cloud, &start);
    }
    let mut plane = weighted_plane(cloud, &weights)?;
    for _ in 0..if robust { 15 } else { 0 } {
        plane = weighted_plane(cloud, &reweigh(cloud, &(plane.center, plane.normal)))?;
    }
    if seen.iter().any(|p| p.eye.is_some()) {
        for _ in 0..10 {
            plane = plane.along_rays(cloud, seen, robust);
        }
    }
    let residuals: Vec<f64> = cloud.iter().map(|&p| dot(sub(p, plane.center), plane.normal)).collect();
    plane.scale = scale_of(&residuals);
    (plane.rms, plane.share) = inliers(&residuals, plane.scale, robust);
    Ok(plane)
}

impl Plane {
    /// Where the ray of a seen point meets the plane; the point itself when its eye is not known or its ray does not meet it.
    fn foot(&self, seen: &Seen) -> Vec3 {
        let height = dot(sub(seen.point, self.center), self.normal);
        let along = seen.eye.and_then(|eye| unit(sub(seen.point, eye)));
        match along.map(|along| (along, dot(along, self.normal))) {
            Some((along, closing)) if closing.abs() > 0.05 => {
                add_scaled(seen.point, along, -height / closing)
            }
            _ => seen.point,
        }
    }

    /// One step of the weighted fit with every slope taken where its ray meets the plane. At the points themselves slope and
    /// residual would share their noise, and slanted views would tilt the plane by some milliradians.
    fn along_rays(self, cloud: &[Vec3], seen: &[Seen], robust: bool) -> Self {
        let Some((e_u, e_v)) = in_plane(self.normal) else { return self };
        let weights =
            if robust { reweigh(cloud, &(self.center, self.normal)) } else { vec![1.0; cloud.len()] };
        let (mut normal, mut right) = (Matrix3::<f64>::zeros(), SVector::<f64, 3>::zeros());
        for (p, w) in seen.iter().zip(weights) {
            let d = sub(self.foot(p), self.center);
            let slope = SVector::<f64, 3>::new(1.0, dot(d, e_u), dot(d, e_v));
            normal += slope * slope.transpose() * w;
            right += slope * (w * dot(sub(p.point, self.center), self.normal));
        }
        let Some(step) = normal.cholesky().map(|solver| solver.solve(&right)) else { return self };
        let turned = add_scaled(add_scaled(self.normal, e_u, -step[1]), e_v, -step[2]);
        let center = add_scaled(self.center, self.normal, step[0]);
        unit(turned).map_or(self, |normal| Self { center, normal, ..self })
    }
}

fn reweigh(cloud: &[Vec3], (center, normal): &(Vec3, Vec3)) -> Vec<f64> {
    let residuals: Vec<f64> = cloud.iter().map(|&p| dot(sub(p, *center), *normal)).collect();
    let scale = scale_of(&residuals);
    residuals.into_iter().map(|r| weight(r, scale)).collect()
}

/// The plane through three of the points whose residuals have the least median.
fn sampled_plane(cloud: &[Vec3]) -> Option<(Vec3, Vec3)> {
    let mut lottery = Lottery(1);
    let some: Vec<Vec3> = cloud.iter().copied().step_by(cloud.len().div_ceil(2000)).collect();
    let mut best: Option<(f64, Vec3, Vec3)> = None;
    for _ in 0..200 {
        let [a, b, c] = [0, 1, 2].map(|_| cloud[lottery.below(cloud.len())]);
        let Some(normal) = unit(cross(sub(b, a), sub(c, a))) else { continue };
        let mut sizes: Vec<f64> = some.iter().map(|&p| dot(sub(p, a), normal).abs()).collect();
        let middle = median(&mut sizes);
        if best.is_none_or(|(least, ..)| middle < least) {
            best = Some((middle, a, normal));
        }
    }
    best.map(|(_, point, normal)| (point, normal))
}

fn weighted_plane(cloud: &[Vec3], weights: &[f64]) -> Result<Plane, DrawError> {
    let total: f64 = weights.iter().sum();
    if total < 3.0 {
        return Err(refuse("fewer than three points agree on a plane".to_owned()));
    }
    let sum = cloud.iter().zip(weights).fold([0.0; 3], |sum, (&p, &w)| add_scaled(sum, p, w));
    let center = scale(sum, 1.0 / total);
    let mut spread = Matrix3::<f64>::zeros();
    for (&p, &w) in cloud.iter().zip(weights) {
        let d = nalgebra::Vector3::from(sub(p, center));
        spread += d * d.transpose() * w;
    }
    let eigen = SymmetricEigen::new(spread / total);
    let mut order = [0, 1, 2];
    order.sort_by(|&a, &b| eigen.eigenvalues[a].total_cmp(&eigen.eigenvalues[b]));
    let [least, middle, most] = order.map(|i| eigen.eigenvalues[i].max(0.0));
    // A line has one direction of spread; without a second one the normal is arbitrary.
    if middle <= 1e-6 * most || middle <= least {
        return Err(refuse("the points lie on a line".to_owned()));
    }
    let normal = eigen.eigenvectors.column(order[0]);
    Ok(Plane { center, normal: [normal[0], normal[1], normal[2]], rms: 0.0, share: 0.0, scale: 0.0 })
}

/// Axes in the plane for a normal: root X, or Y where X is nearly along the normal.
fn in_plane(normal: Vec3) -> Option<(Vec3, Vec3)> {
    let flat = |hint: Vec3| sub(hint, scale(normal, dot(hint, normal)));
    let x = flat([1.0, 0.0, 0.0]);
    let e_u = unit(if norm(x) >= 0.1 { x } else { flat([0.0, 1.0, 0.0]) })?;
    Some((e_u, cross(normal, e_u)))
}

fn plane_chart(plane: &Plane) -> Result<Chart, DrawError> {
    let (e_u, e_v) = in_plane(plane.normal).ok_or_else(|| refuse("the plane has no axes".to_owned()))?;
    Chart::new(Shape::Plane, plane.center, from_columns(e_u, e_v, plane.normal))
}

fn best_cylinder(cloud: &[Vec3], seen: &[Seen], plane: &Plane, robust: bool) -> Option<Cylinder> {
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
    fn residual(&self, p: Vec3) -> f64 {
        norm(self.radial(p)) - self.radius
    }

    /// The residual of a seen point as a distance across the surface, and where its slope is to be taken.
    fn measure(&self, seen: &Seen) -> (f64, Vec3) {
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

    fn radial(&self, p: Vec3) -> Vec3 {
        let d = sub(p, self.point);
        sub(d, scale(self.axis, dot(d, self.axis)))
    }

    /// The five ways in which a cylinder can change, at the point `p`: two shifts, two tilts, the radius.
    fn slope(&self, p: Vec3, across: (Vec3, Vec3)) -> SVector<f64, 5> {
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
    let residuals: Vec<f64> = seen.iter().map(|p| at.measure(p).0).collect();
    at.scale = scale_of(&residuals);
    (at.rms, at.share) = inliers(&residuals, at.scale, robust);
    at.rms.is_finite().then_some(at)
}

/// Whether the cylinder is taken, and why.
fn judge(
    cloud: &[Vec3],
    plane: &Plane,
    cylinder: Option<&Cylinder>,
    prefer: Prefer,
) -> Result<(bool, String), DrawError> {
    let Some(found) = cylinder else {
        return match prefer {
            Prefer::Cylinder => Err(refuse("no cylinder of 5 to 500 mm radius fits the points".to_owned())),
            Prefer::Plane => Ok((false, "the plane was asked for".to_owned())),
            Prefer::Auto => Ok((false, "no cylinder of 5 to 500 mm radius fits the points".to_owned())),
        };
    };
    let outward = dot(sub(plane.center, found.point), plane.normal) > 0.0;
    let across = cross(plane.normal, found.axis);
    let mut along: Vec<f64> = cloud
        .iter()
        .filter(|&&p| found.residual(p).abs() < TUKEY * found.scale)
        .map(|&p| dot(sub(p, plane.center), across))
        .collect();
    along.sort_by(f64::total_cmp);
    let span = along.last().zip(along.first()).map_or(0.0, |(last, first)| last - first);
    let sagitta = span.min(2.0 * found.radius).powi(2) / (8.0 * found.radius);
    let doubt = if !outward {
        Some("its outer side faces away from the tool".to_owned())
    } else if found.rms > 0.75 * plane.rms {
        Some(format!("its rms {:.2e} m is not below 0.75 of the plane's {:.2e} m", found.rms, plane.rms))
    } else if sagitta < 3.0 * found.rms {
        Some(format!("its sagitta {sagitta:.2e} m is below three times its rms {:.2e} m", found.rms))
    } else {
        None
    };
    match (prefer, doubt) {
        (Prefer::Plane, _) => Ok((false, "the plane was asked for".to_owned())),
        (Prefer::Cylinder, Some(why)) if !outward => Err(refuse(format!("the cylinder is refused: {why}"))),
        (Prefer::Cylinder, _) => Ok((true, "the cylinder was asked for".to_owned())),
        (Prefer::Auto, Some(why)) => Ok((false, format!("plane, for of the cylinder {why}"))),
        (Prefer::Auto, None) => Ok((true, format!("cylinder, sagitta {sagitta:.2e} m"))),
    }
}

fn cylinder_chart(found: &Cylinder, cloud: &[Vec3], hint: Option<Vec3>) -> Result<Chart, DrawError> {
    let hints = [hint.unwrap_or([1.0, 0.0, 0.0]), [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let sign = hints.into_iter().map(|hint| dot(found.axis, hint)).find(|along| along.abs() >= 1e-3);
    let e_u = if sign.unwrap_or(1.0) < 0.0 { scale(found.axis, -1.0) } else { found.axis };
    let good: Vec<Vec3> =
        cloud.iter().copied().filter(|&p| found.residual(p).abs() < TUKEY * found.scale).collect();
    #[allow(clippy::cast_precision_loss)] // at most 20 000
    let middle = scale(good.iter().fold([0.0; 3], |sum, &p| add(sum, p)), 1.0 / good.len().max(1) as f64);
    let n =
        unit(found.radial(middle)).ok_or_else(|| refuse("the points' middle lies on the axis".to_owned()))?;
    let foot = add_scaled(found.point, found.axis, dot(sub(middle, found.point), found.axis));
    let center = add_scaled(foot, n, found.radius);
    Chart::new(Shape::Cylinder { radius_m: found.radius }, center, from_columns(e_u, cross(n, e_u), n))
}

/// What each point says about the shape at its best fit.
fn witnesses(chart: &Chart, seen: &[Seen], scale_m: f64, robust: bool) -> Option<Vec<Witness>> {
    let axis = column(&chart.rotation, 0);
    let across = in_plane(axis)?;
    let cylinder = chart.radius_m().map(|radius| Cylinder {
        point: add_scaled(chart.center_m, column(&chart.rotation, 2), -radius),
        axis,
        radius,
        rms: 0.0,
        share: 0.0,
        scale: scale_m,
    });
    let plane = Plane {
        center: chart.center_m,
        normal: column(&chart.rotation, 2),
        rms: 0.0,
        share: 0.0,
        scale: scale_m,
    };
    let witness = |p: &Seen| {
        let (residual, slope, uv_m) = match &cylinder {
            Some(cylinder) => {
                let (residual, foot) = cylinder.measure(p);
                (residual, cylinder.slope(foot, across), chart.inverse(foot))
            }
            None => {
                let height = dot(sub(p.point, plane.center), plane.normal);
                let uv_m = chart.inverse(plane.foot(p));
                (height, Ways::from([-1.0, -uv_m[0], -uv_m[1], 0.0, 0.0]), uv_m)
            }
        };
        let (influence_m, follows) = if robust {
            // The derivative of the weighted residual.
            let x = residual / (TUKEY * scale_m);
            let follows = if x.abs() < 1.0 { (1.0 - x * x) * (1.0 - 5.0 * x * x) } else { 0.0 };
            (weight(residual, scale_m) * residual, follows)
        } else {
            (residual, 1.0)
        };
        Witness { uv_m, slope, influence_m, follows }
    };
    Some(seen.iter().map(witness).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::angle_of_vectors;

    fn direction_error(a: Vec3, b: Vec3) -> f64 {
        let angle = angle_of_vectors(a, b);
        angle.min(std::f64::consts::PI - angle)
    }

    /// A patch of a cylinder of 40 mm radius along y, with noise and some points far off.
    fn arc(noise: f64, wrong: usize) -> Vec<Vec3> {
        let mut lottery = Lottery(7);
        let mut uniform = || lottery.below(1 << 20) as f64 / f64::from(1 << 20) - 0.5;
        (0..6000)
            .map(|k| {
                let (y, angle) = (0.06 * uniform(), 1.4 * uniform());
                // A sum of twelve uniform numbers has variance one.
                let gauss: f64 = (0..12).map(|_| uniform()).sum();
                let off = if wrong > 0 && k % wrong == 0 { 0.02 * uniform() + 0.01 } else { noise * gauss };
                let r = 0.04 + off;
                [0.3 + r * angle.sin(), 0.1 + y, r * angle.cos()]
            })
            .collect()
    }

    fn config(robust: bool) -> FitConfig {
        FitConfig {
            prefer: Prefer::Auto,
            normal_hint: [0.0, 0.0, 1.0],
            axis_hint: Some([0.0, 1.0, 0.0]),
            robust,
        }
    }

    #[test]
    fn a_cylinder_is_recovered_within_the_published_bounds() {
        let found = fit(&arc(0.0004, 0), None, &config(true)).unwrap();
        assert!((found.chart.radius_m().unwrap() - 0.04).abs() < 0.0005);
        assert!(direction_error(column(&found.chart.rotation, 0), [0.0, 1.0, 0.0]) < 1f64.to_radians());
        assert!(found.rms_m < 0.0005);
    }

    #[test]
    fn outliers_move_the_plain_fit_and_not_the_robust_one() {
        let cloud = arc(0.001, 20);
        let robust = fit(&cloud, None, &config(true)).unwrap();
        let plain = fit(&cloud, None, &FitConfig { prefer: Prefer::Cylinder, ..config(false) }).unwrap();
        let error = |found: &Fit| (found.chart.radius_m().unwrap() - 0.04).abs();
        assert!(error(&robust) < 0.0003, "{}", error(&robust));
        assert!(error(&plain) > 3.0 * error(&robust), "{} {}", error(&plain), error(&robust));
        assert!((0.90..0.97).contains(&robust.inlier_share), "{}", robust.inlier_share);
    }

    #[test]
    fn d22_what_the_points_do_not_support_is_refused() {
        let flat: Vec<Vec3> =
            (0..400).map(|k| [f64::from(k % 20) * 0.001, f64::from(k / 20) * 0.001, 0.0]).collect();
        let auto = fit(&flat, None, &config(true)).unwrap();
        assert_eq!(auto.chart.shape, Shape::Plane);
        assert!(fit(&flat, None, &FitConfig { prefer: Prefer::Cylinder, ..config(true) }).is_err());
        let line: Vec<Vec3> = (0..400).map(|k| [f64::from(k) * 0.001, 0.0, 0.0]).collect();
        assert!(fit(&line, None, &config(true)).is_err());
        let beside = FitConfig { normal_hint: [1.0, 0.0, 0.0], ..config(true) };
        assert!(fit(&flat, None, &beside).is_err());
        assert!(fit(&flat[..19], None, &config(true)).is_err());
    }
}
