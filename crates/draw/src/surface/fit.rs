//! Fitting a chart to points of which some are wrong.
//!
//! Plain least squares lets a few outliers tilt the plane and swell the cylinder. Here the start is the best of many small
//! samples by the median of its residuals, and the refinement weighs residuals by Tukey's biweight at a scale taken from their own
//! median. A depth camera's noise lies along its rays, not across the surface; on a slanted ray it moves a point along the surface
//! too, and a fit of plain distances then finds too small a radius, by half a millimetre per millimetre of noise. So where the eyes
//! are known, a cylinder's residual is taken along the ray and its slope where the ray meets the model.

use nalgebra::{Matrix3, SVector, SymmetricEigen};

use super::chart::{Chart, Shape};
use super::cylinder::{Cylinder, best_cylinder};
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
pub(super) struct Seen {
    pub(super) point: Vec3,
    pub(super) eye: Option<Vec3>,
}

#[derive(Clone, Copy)]
pub(super) struct Plane {
    pub(super) center: Vec3,
    pub(super) normal: Vec3,
    rms: f64,
    share: f64,
    scale: f64,
}

/// Tukey's weight of a residual.
pub(super) fn weight(residual: f64, scale: f64) -> f64 {
    let x = residual / (TUKEY * scale);
    if x.abs() >= 1.0 { 0.0 } else { (1.0 - x * x).powi(2) }
}

/// Normal-consistent scale of residuals, never quite zero.
pub(super) fn scale_of(residuals: &[f64]) -> f64 {
    let mut sizes: Vec<f64> = residuals.iter().map(|r| r.abs()).collect();
    (1.4826 * median(&mut sizes)).max(1e-9)
}

/// Inliers' rms and share: what keeps a weight.
pub(super) fn inliers(residuals: &[f64], scale: f64, robust: bool) -> (f64, f64) {
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
pub(super) fn in_plane(normal: Vec3) -> Option<(Vec3, Vec3)> {
    let flat = |hint: Vec3| sub(hint, scale(normal, dot(hint, normal)));
    let x = flat([1.0, 0.0, 0.0]);
    let e_u = unit(if norm(x) >= 0.1 { x } else { flat([0.0, 1.0, 0.0]) })?;
    Some((e_u, cross(normal, e_u)))
}

fn plane_chart(plane: &Plane) -> Result<Chart, DrawError> {
    let (e_u, e_v) = in_plane(plane.normal).ok_or_else(|| refuse("the plane has no axes".to_owned()))?;
    Chart::new(Shape::Plane, plane.center, from_columns(e_u, e_v, plane.normal))
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

    /// Noise along slanted rays moves points along the surface too; a fit that takes slopes at the points leans by the closed form
    /// sigma^2 sin(a) cos(a) / var(x) = 1e-6 * 0.5 / 2.25e-4 = 2.2 mrad here.
    #[test]
    fn a_plane_seen_aslant_does_not_lean_when_the_eyes_are_known() {
        let mut lottery = Lottery(3);
        let mut uniform = || lottery.below(1 << 20) as f64 / f64::from(1 << 20) - 0.5;
        let eye = [0.15, 0.0, 0.15];
        let (mut known, mut unknown) = (0.0, 0.0);
        for _ in 0..4 {
            let cloud: Vec<Vec3> = (0..20_000)
                .map(|_| {
                    let (r, angle) = (0.03 * (uniform() + 0.5).sqrt(), std::f64::consts::TAU * uniform());
                    let foot = [r * angle.cos(), r * angle.sin(), 0.0];
                    let gauss: f64 = (0..12).map(|_| uniform()).sum();
                    add_scaled(foot, unit(sub(foot, eye)).unwrap(), 0.001 * gauss)
                })
                .collect();
            let lean = |eyes: Option<&[Vec3]>| {
                let found = fit(&cloud, eyes, &FitConfig { prefer: Prefer::Plane, ..config(true) }).unwrap();
                column(&found.chart.rotation, 2)[0] / 4.0
            };
            known += lean(Some(&vec![eye; cloud.len()]));
            unknown += lean(None);
        }
        assert!(known.abs() < 0.0006, "{known}");
        assert!((unknown.abs() - 0.0022).abs() < 0.0007, "{unknown}");
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
