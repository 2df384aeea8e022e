//! The whole chain without a robot: orbit, captures, surface, path, check, each against the truth that was drawn.

use crate::camera::{Chance, Flaws, picture};
use crate::capture::{Capture, CloudConfig, CloudPoint};
use crate::check::{CheckConfig, Checker};
use crate::error::DrawError;
use crate::json::Json;
use crate::math::{
    Rigid, Vec3, add, add_scaled, angle_of_vectors, apply, column, cross, dot, from_columns, norm, scale,
    sub, unit,
};
use crate::path::{Hold, OrbitConfig, PathConfig, Polyline, Pose, compile, orbit};
use crate::plan::{PlanConfig, Start};
use crate::profile::Profile;
use crate::samples::{Kind, Meta, write};
use crate::surface::{Chart, Fit, FitConfig, FuseConfig, Grid, Prefer, Shape, Surface, fit, fuse};

/// Diameter of the patch round the touched point whose points are used, metres.
const PATCH_M: f64 = 0.06;
/// Extent of the map, metres.
const MAP_M: f64 = 0.05;

/// Root mean square of a map's height error that every rehearsal stays below, metres.
pub const MOST_HEIGHT_RMS_M: f64 = 0.000_3;
/// Error of a cylinder's curvature that every rehearsal stays below, per metre: its sag over the patch is that of the bumps.
///
/// Bumps longer than the patch are curvature, and no fit can tell them from the shape's own. Waves as the truth's, of 0.3 mm
/// and up to 300 rad/m, projected on the five ways of a cylinder, change its curvature by 0.16 per metre (standard deviation),
/// and 1 mm of noise on some ten thousand points by 0.09; this is four times both together (`tests/rehearse.rs` works it out). In
/// the radius it is 0.9 mm of 35 mm and 4.5 mm of 80 mm.
pub const MOST_CURVATURE_ERROR_PER_M: f64 = 0.7;
/// Error of the axis or normal that every rehearsal stays below, radians: 2.7 root mean squares of what the same bumps and noise do
/// to the axis of the largest cylinder.
pub const MOST_DIRECTION_ERROR_RAD: f64 = 0.025;

/// What is rehearsed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RehearseConfig {
    /// The seed of everything that is left to chance.
    pub seed: u64,
    /// Whether the truth is a cylinder; else a plane.
    pub cylinder: bool,
    /// What is wrong with the pictures.
    pub flaws: Flaws,
    /// Amplitude of the truth's bumps, metres.
    pub bumps_m: f64,
}

/// How one rehearsal went, against its truth.
#[derive(Debug, Clone, PartialEq)]
pub struct Rehearsal {
    /// Its seed.
    pub seed: u64,
    /// The truth's radius, metres.
    pub true_radius_m: Option<f64>,
    /// Root mean square of the map's height error over its known nodes, metres.
    pub height_rms_m: f64,
    /// The largest height error, metres.
    pub height_max_m: f64,
    /// Error of the radius, metres.
    pub radius_error_m: Option<f64>,
    /// Error of the curvature, the radius' reciprocal, per metre.
    pub curvature_error_per_m: Option<f64>,
    /// Error of the axis' direction, or of the plane's normal, radians.
    pub direction_error_rad: f64,
    /// Whether the 95 % interval of the radius held the truth.
    pub radius_covered: Option<bool>,
    /// Whether the 95 % interval of the direction held the truth; absent when the fit gave none.
    pub direction_covered: Option<bool>,
    /// The fit's share of inliers.
    pub inlier_share: f64,
    /// Points used.
    pub points: usize,
    /// Nodes of the map that are holes.
    pub holes: usize,
    /// Largest distance of a pen-down row from the true surface, metres.
    pub drawn_error_m: f64,
    /// Rows of the path.
    pub rows: usize,
}

/// Everything that a rehearsal made, for those who want to look at it.
#[derive(Debug, Clone)]
pub struct Made {
    /// The figures.
    pub outcome: Rehearsal,
    /// `orbit.csv`.
    pub orbit: String,
    /// The captures.
    pub captures: Vec<Capture>,
    /// The map.
    pub surface: Surface,
    /// The fit under the map.
    pub fit: Fit,
    /// `path.csv`.
    pub path: crate::path::Drawn,
    /// The truth.
    pub truth: Surface,
}

/// Runs the chain once on `profile`, which must state where it rests and have a camera.
///
/// # Errors
/// [`DrawError::Refused`] with the code of the link that refused; nothing is passed over.
pub fn rehearse(profile: &Profile, config: &RehearseConfig) -> Result<Made, DrawError> {
    let refuse = |code: &'static str, reason: String| DrawError::Refused { code, reason };
    let (joints_rad, carriage_m) = profile
        .rest
        .ok_or_else(|| refuse("rest", "the profile does not say where the arm rests".to_owned()))?;
    let start = Start { joints_rad, carriage_m };
    let posture = profile.chain.posture(&joints_rad, carriage_m);
    let contact = Pose { tip_m: posture.tip_m, rotation: posture.rotation };
    let touched = profile.base_in_root.point(contact.tip_m);
    let up_in_base = scale(apply(&contact.rotation, profile.chain.tool_axis), -1.0);
    let up = profile.base_in_root.direction(up_in_base);
    let mut chance = Chance::new(config.seed);
    let truth = truth(touched, up, config, &mut chance)?;

    let orbit_rows = orbit(contact, profile.chain.tool_axis, &OrbitConfig::default())?;
    let orbit_text = write(&Meta::for_profile(profile, Kind::Orbit, false), &orbit_rows)?;
    let mut checker =
        Checker::new(CheckConfig::for_profile(profile, Some(PlanConfig::strict(profile, start)?)))?;
    checker.push(orbit_text.as_bytes());
    let report = checker.finish();
    if let Some(finding) = report.findings.listed().first() {
        return Err(refuse(finding.code.name(), format!("orbit: {}: {finding}", finding.code.meaning())));
    }
    let trajectory = report
        .plan
        .and_then(|plan| plan.trajectory)
        .ok_or_else(|| refuse("trajectory", "the orbit was not planned".to_owned()))?;

    let mut captures = Vec::new();
    let mut cloud: Vec<CloudPoint> = Vec::new();
    for &(row, k) in &trajectory.captures {
        let index = usize::try_from(row).unwrap_or(usize::MAX);
        let position = trajectory.positions.get(index).copied().unwrap_or_default();
        let capture = look(profile, &truth, position, k, &config.flaws, &mut chance)?;
        // Through the bytes, as a robot's would come.
        let capture = Capture::parse(&capture.to_bytes()?)?;
        let points = capture.points(profile, &CloudConfig::default())?;
        cloud.extend(points.into_iter().filter(|seen| in_view(seen, touched, up)));
        captures.push(capture);
    }
    let (surface, fit) = map(&cloud, touched, up)?;

    let design = design();
    let path_config = PathConfig { standoff_m: 0.010, ..PathConfig::default() };
    let foot = surface
        .project(touched)
        .ok_or_else(|| refuse("nan", "the touched point does not project on the map".to_owned()))?;
    let path_config = PathConfig { origin_uv_m: foot.uv_m, ..path_config };
    let path = compile(profile, &surface, &design, Hold { start }, &path_config)?;
    let outcome = compare(profile, config, &truth, &surface, &fit, &path, cloud.len());
    Ok(Made { outcome, orbit: orbit_text, captures, surface, fit, path, truth })
}

/// A plane or cylinder through the touched point, tilted and bumped by chance.
fn truth(
    touched: Vec3,
    up: Vec3,
    config: &RehearseConfig,
    chance: &mut Chance,
) -> Result<Surface, DrawError> {
    let refuse = |reason: &str| DrawError::Geometry { what: "truth", reason: reason.to_owned() };
    let wobble = [chance.between(-0.07, 0.07), chance.between(-0.07, 0.07), chance.between(-0.07, 0.07)];
    let normal = unit(add(up, wobble)).ok_or_else(|| refuse("the tool has no direction"))?;
    let angle = chance.between(-1.0, 1.0) * std::f64::consts::PI;
    let hint = if normal[0].abs() < 0.9 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    let first = unit(cross(normal, hint)).ok_or_else(|| refuse("the truth has no axes"))?;
    let second = cross(normal, first);
    let e_u = add(scale(first, angle.cos()), scale(second, angle.sin()));
    let rotation = from_columns(e_u, cross(normal, e_u), normal);
    let radius_m = chance.between(0.035, 0.080);
    let shape = if config.cylinder { Shape::Cylinder { radius_m } } else { Shape::Plane };
    let (width, height, nodes) = (0.12, if config.cylinder { 0.10 } else { 0.12 }, 61);
    let mut heights = Grid::filled(nodes, nodes, 0.0);
    let waves: Vec<[f64; 3]> = (0..4)
        .map(|_| {
            [
                chance.between(-300.0, 300.0),
                chance.between(-300.0, 300.0),
                chance.between(0.0, std::f64::consts::TAU),
            ]
        })
        .collect();
    for row in 0..nodes {
        for col in 0..nodes {
            #[allow(clippy::cast_precision_loss)] // 61
            let (u, v) = (col as f64 / 60.0 * width, row as f64 / 60.0 * height);
            let sum: f64 = waves.iter().map(|[a, b, phase]| (a * u + b * v + phase).sin()).sum();
            heights.set(row, col, config.bumps_m * sum / 4.0);
        }
    }
    let chart = Chart::new(shape, touched, rotation)?;
    let seen = Grid::filled(nodes, nodes, 1);
    let mut truth = Surface::new(chart, width, height, heights, seen, Grid::filled(nodes, nodes, 0.0))?;
    truth.anchor_to(touched)?;
    Ok(truth)
}

fn look(
    profile: &Profile,
    truth: &Surface,
    position: [f64; 7],
    k: u32,
    flaws: &Flaws,
    chance: &mut Chance,
) -> Result<Capture, DrawError> {
    let [joints @ .., carriage_m] = position;
    let posture = profile.chain.posture(&joints, carriage_m);
    let final_in_base = Rigid { rotation: posture.rotation, translation_m: posture.final_m };
    let views = profile
        .cameras
        .iter()
        .map(|camera| {
            let in_root = profile.base_in_root.then(&final_in_base).then(&camera.in_final);
            picture(truth, camera, &in_root, flaws, chance)
        })
        .collect::<Vec<_>>();
    if views.is_empty() {
        let reason = "the profile has no camera".to_owned();
        return Err(DrawError::Refused { code: "camera", reason });
    }
    Ok(Capture {
        k,
        joints_rad: joints,
        carriage_m,
        t_wall_secs: f64::from(k),
        views,
        profile_sha: Some(profile.sha().to_owned()),
        legacy: false,
    })
}

/// Whether the ray of a point passes within 30 mm of the touched point, on the tangent plane. The point's own place would pick
/// noise at the border: those that it moved in, and not those that it moved out.
#[must_use]
pub fn in_view(seen: &CloudPoint, touched_m: Vec3, up: Vec3) -> bool {
    let way = sub(seen.point_m, seen.eye_m);
    let closing = dot(way, up);
    if closing.abs() < 1e-6 || norm(sub(seen.point_m, touched_m)) > PATCH_M {
        return false;
    }
    let crossing = add_scaled(seen.eye_m, way, dot(sub(touched_m, seen.eye_m), up) / closing);
    norm(sub(crossing, touched_m)) <= PATCH_M / 2.0
}

/// From points to an anchored map: fit, re-centre at the touch, fuse, anchor, move the chart there, fuse and anchor again.
///
/// # Errors
/// What [`fit`], [`fuse`] and the anchor refuse.
pub fn map(cloud: &[CloudPoint], touched_m: Vec3, up: Vec3) -> Result<(Surface, Fit), DrawError> {
    let points: Vec<Vec3> = cloud.iter().map(|seen| seen.point_m).collect();
    let eyes: Vec<Vec3> = cloud.iter().map(|seen| seen.eye_m).collect();
    let config = FitConfig { prefer: Prefer::Auto, normal_hint: up, axis_hint: None, robust: true };
    let found = fit(&points, Some(&eyes), &config)?;
    let cloud: Vec<(Vec3, u8)> = cloud.iter().map(|seen| (seen.point_m, seen.camera)).collect();
    let fusing = FuseConfig { width_m: MAP_M, height_m: MAP_M, cell_m: 0.002, ..FuseConfig::default() };
    let chart = found.chart.centered_at(touched_m)?;
    let mut first = fuse(&chart, &cloud, &fusing)?;
    first.anchor_to(touched_m)?;
    let shift_m = first.anchor().map_or(0.0, |anchor| anchor.shift_m);
    let mut surface = fuse(&chart.offset(shift_m)?, &cloud, &fusing)?;
    surface.anchor_to(touched_m)?;
    Ok((surface, found))
}

/// A circle of 12 mm and a square of 14 mm across it.
fn design() -> Vec<Polyline> {
    let circle = (0..=72).map(|k| {
        let (sin, cos) = (f64::from(k) * 5f64.to_radians()).sin_cos();
        [6.0 * cos, 6.0 * sin]
    });
    let square = [[-7.0, -7.0], [7.0, -7.0], [7.0, 7.0], [-7.0, 7.0], [-7.0, -7.0]];
    vec![Polyline { points_mm: circle.collect() }, Polyline { points_mm: square.to_vec() }]
}

fn direction_of(chart: &Chart) -> Vec3 {
    let which = if chart.radius_m().is_some() { 0 } else { 2 };
    column(&chart.rotation, which)
}

fn compare(
    profile: &Profile,
    config: &RehearseConfig,
    truth: &Surface,
    surface: &Surface,
    fit: &Fit,
    path: &crate::path::Drawn,
    points: usize,
) -> Rehearsal {
    let (rows, cols) = (surface.heights().rows(), surface.heights().cols());
    let (mut squares, mut worst, mut known) = (0.0, 0.0f64, 0.0);
    for row in 0..rows {
        for col in 0..cols {
            #[allow(clippy::cast_precision_loss)] // small grids
            let uv = [
                MAP_M * (col as f64 / (cols - 1) as f64 - 0.5),
                MAP_M * (row as f64 / (rows - 1) as f64 - 0.5),
            ];
            if surface.is_hole(uv) {
                continue;
            }
            let error =
                truth.project(surface.frame(uv).point_m).map_or(f64::INFINITY, |foot| foot.distance_m.abs());
            squares += error * error;
            worst = worst.max(error);
            known += 1.0;
        }
    }
    // The touch moved the truth's heights by one constant, and on a cylinder that is a change of the radius.
    let shift_m = truth.anchor().map_or(0.0, |anchor| anchor.shift_m);
    let true_radius_m = truth.chart().radius_m().map(|radius_m| radius_m + shift_m);
    let radii = true_radius_m.zip(fit.chart.radius_m());
    let radius_error_m = radii.map(|(truth, found)| found - truth);
    let between = angle_of_vectors(direction_of(truth.chart()), direction_of(&fit.chart));
    let direction_error_rad = between.min(std::f64::consts::PI - between);
    let drawn = path.rows.iter().filter(|row| row.pen).map(|row| {
        let in_root = profile.base_in_root.point(row.p_m);
        truth.project(in_root).map_or(f64::INFINITY, |foot| foot.distance_m.abs())
    });
    Rehearsal {
        seed: config.seed,
        true_radius_m,
        height_rms_m: (squares / f64::max(known, 1.0)).sqrt(),
        height_max_m: worst,
        radius_error_m,
        curvature_error_per_m: radii.map(|(truth, found)| 1.0 / found - 1.0 / truth),
        direction_error_rad,
        radius_covered: radius_error_m.zip(fit.radius_interval_m).map(|(error, half)| error.abs() <= half),
        direction_covered: fit.direction_interval_rad.map(|half| direction_error_rad <= half),
        inlier_share: fit.inlier_share,
        points,
        holes: surface.holes(),
        drawn_error_m: drawn.fold(0.0, f64::max),
        rows: path.rows.len(),
    }
}

impl Rehearsal {
    /// Whether it stayed below [`MOST_HEIGHT_RMS_M`], [`MOST_CURVATURE_ERROR_PER_M`] and [`MOST_DIRECTION_ERROR_RAD`].
    #[must_use]
    pub fn meets_aims(&self) -> bool {
        self.height_rms_m < MOST_HEIGHT_RMS_M
            && self.curvature_error_per_m.is_none_or(|error| error.abs() < MOST_CURVATURE_ERROR_PER_M)
            && self.direction_error_rad < MOST_DIRECTION_ERROR_RAD
    }

    /// The figures as one object of a report.
    #[must_use]
    pub fn json(&self) -> Json {
        Json::map([
            ("seed", Json::Int(i64::try_from(self.seed).unwrap_or(i64::MAX))),
            ("true_radius_m", Json::number_or_null(self.true_radius_m)),
            ("height_rms_m", Json::number_or_null(Some(self.height_rms_m))),
            ("height_max_m", Json::number_or_null(Some(self.height_max_m))),
            ("radius_error_m", Json::number_or_null(self.radius_error_m)),
            ("curvature_error_per_m", Json::number_or_null(self.curvature_error_per_m)),
            ("direction_error_rad", Json::number_or_null(Some(self.direction_error_rad))),
            ("radius_covered", self.radius_covered.map_or(Json::Null, Json::Bool)),
            ("direction_covered", self.direction_covered.map_or(Json::Null, Json::Bool)),
            ("inlier_share", Json::number_or_null(Some(self.inlier_share))),
            ("points", Json::count(self.points)),
            ("holes", Json::count(self.holes)),
            ("drawn_error_m", Json::number_or_null(Some(self.drawn_error_m))),
            ("rows", Json::count(self.rows)),
        ])
    }
}
