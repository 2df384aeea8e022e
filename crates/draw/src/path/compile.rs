//! From a design on a surface to the rows that draw it.

use super::legs::{Builder, Pose};
use super::retime::{KNOT_UP_M, retime};
use super::strokes::{ACCELERATION_M_S2, Stroke, Timing};
use crate::check::{CheckConfig, Checker, Report};
use crate::constants::generated;
use crate::error::DrawError;
use crate::math::{
    Mat3, Vec3, add_scaled, angle_of_vectors, apply, cross, minimal_rotation, mul, rotation_about, scale,
    unit,
};
use crate::plan::{PlanConfig, Start};
use crate::profile::Profile;
use crate::samples::{Kind, Meta, Row, write};
use crate::surface::Surface;

use super::design::Polyline;
use super::dips::DipPlan;

/// How a design is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct PathConfig {
    /// Speed along strokes, m/s.
    pub speed_m_s: f64,
    /// How strokes are timed.
    pub timing: Timing,
    /// How far above the surface the pen travels, metres.
    pub standoff_m: f64,
    /// Where the strokes run: 0 on the surface, above it positive, metres.
    pub lift_m: f64,
    /// Largest angle between the tool and the surface's normal, radians.
    pub lean_budget_rad: f64,
    /// Swing of the normal that the wrist does not follow, radians.
    pub lean_deadband_rad: f64,
    /// Where the design's origin lies, chart coordinates in metres.
    pub origin_uv_m: [f64; 2],
    /// The design's turn on the chart, radians.
    pub turn_rad: f64,
    /// Holes within this distance of something measured are drawn over, metres; 0 for none.
    pub hole_fill_m: f64,
    /// Dips before and between strokes, when the tool takes ink.
    pub dips: Option<DipPlan>,
}

impl Default for PathConfig {
    fn default() -> Self {
        Self {
            speed_m_s: 0.005,
            timing: Timing::Corner,
            standoff_m: 0.010,
            lift_m: 0.0,
            lean_budget_rad: generated::PATH_LEAN_BUDGET_DEG.to_radians(),
            lean_deadband_rad: 0.0,
            origin_uv_m: [0.0; 2],
            turn_rad: 0.0,
            hole_fill_m: 0.0,
            dips: None,
        }
    }
}

/// Where the arm holds before the path, and where its tool touched.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hold {
    /// The joints and carriage.
    pub start: Start,
}

/// A path that was accepted.
#[derive(Debug, Clone)]
pub struct Drawn {
    /// The rows.
    pub rows: Vec<Row>,
    /// The samples file.
    pub text: String,
    /// The strict verdict on that file: always acceptance.
    pub report: Report,
    /// Length drawn, metres.
    pub drawn_m: f64,
    /// Length drawn over holes that were filled in, metres.
    pub filled_m: f64,
    /// Largest angle between tool and normal with the pen down, radians.
    pub lean_max_rad: f64,
    /// Largest angle of the normals from the first pen-down one, radians.
    pub swing_max_rad: f64,
    /// Dips made.
    pub dips: usize,
    /// The travel speed of the dips, m/s, after backing off.
    pub dip_travel_m_s: Option<f64>,
}

/// Speeds of the descents and lifts, m/s.
const DESCENT_M_S: f64 = 0.010;
const TRAVEL_M_S: f64 = 0.020;
/// The speed and the acceleration near the surface; how near that is, and over how much more they change to the free ones, metres.
const NEAR_M_S: f64 = 0.003;
const NEAR_M_S2: f64 = 0.003;
const NEAR_M: f64 = 0.005;
const BLEND_M: f64 = 0.005;
pub(super) const TURN_RAD_S: f64 = 0.139_626_340_159_546_36;
const SETTLE_SECS: f64 = 1.0;
/// Normals may swing this far from the first pen-down one, radians.
const MOST_SWING_RAD: f64 = std::f64::consts::FRAC_PI_3;
/// Share of a cylinder's half girth that a design may cover.
const GIRTH: f64 = 0.8;
/// Blend at the deadband's edge, radians.
const BLEND_RAD: f64 = 0.052_359_877_559_829_88;

/// Compiles a design into a path for `profile`, beginning with the arm at `hold`, and judges it as any file is judged.
///
/// # Errors
/// [`DrawError::Refused`] with the code of what speaks against it: `design`, `girth`, `holes`, `lean_over_budget`, `normal_swing`,
/// `clearance`, `ticks`, `nan`, `palette`, or the first code of the preflight. Nothing is written then.
pub fn compile(
    profile: &Profile,
    surface: &Surface,
    design: &[Polyline],
    hold: Hold,
    config: &PathConfig,
) -> Result<Drawn, DrawError> {
    let laid = Laid::new(profile, surface, design, hold, config)?;
    let speeds: &[f64] =
        if config.dips.is_some() { &generated::PATH_DIP_TRAVEL_BACKOFF_M_S } else { &[TRAVEL_M_S] };
    let mut last = None;
    for &speed in speeds {
        let (rows, dips) = laid.rows(surface, config, speed)?;
        let text = write(&Meta::for_profile(profile, Kind::Path, false), &rows)?;
        let plan = PlanConfig::strict(profile, hold.start)?;
        let mut checker = Checker::new(CheckConfig::for_profile(profile, Some(plan)))?;
        checker.push(text.as_bytes());
        let report = checker.finish();
        if report.accepted() {
            return Ok(Drawn {
                rows,
                text,
                report,
                drawn_m: laid.strokes.iter().map(Stroke::total_m).sum(),
                filled_m: laid.strokes.iter().map(|stroke| stroke.total_m() * stroke.filled_share()).sum(),
                lean_max_rad: laid.lean_max_rad,
                swing_max_rad: laid.swing_max_rad,
                dips,
                dip_travel_m_s: config.dips.is_some().then_some(speed),
            });
        }
        last = report.findings.listed().first().cloned();
    }
    let code = last.as_ref().map_or("ticks", |finding| finding.code.name());
    let reason =
        last.map_or_else(|| "no rows".to_owned(), |finding| format!("{}: {finding}", finding.code.meaning()));
    Err(DrawError::Refused { code, reason })
}

/// A design on its surface, in the base frame, before any row.
struct Laid {
    strokes: Vec<Stroke>,
    hold: Pose,
    tool_axis: Vec3,
    contact_normal: Vec3,
    root_in_base: crate::math::Rigid,
    deadband_rad: f64,
    lean_max_rad: f64,
    swing_max_rad: f64,
}

pub(super) fn refuse(code: &'static str, reason: String) -> DrawError {
    DrawError::Refused { code, reason }
}

impl Laid {
    fn new(
        profile: &Profile,
        surface: &Surface,
        design: &[Polyline],
        hold: Hold,
        config: &PathConfig,
    ) -> Result<Self, DrawError> {
        for (name, value, low, high) in [
            ("standoff_m", config.standoff_m, 0.005_001, 0.2),
            ("lift_m", config.lift_m, -0.003, 0.003),
            ("lean_budget_rad", config.lean_budget_rad, 0.0, 1.5),
            ("hole_fill_m", config.hole_fill_m, 0.0, 0.02),
            ("lean_deadband_rad", config.lean_deadband_rad, 0.0, 1.5),
        ] {
            fieldlab_base::check::within(name, value, low, high)
                .map_err(|error| refuse("design", error.to_string()))?;
        }
        let posture = profile.chain.posture(&hold.start.joints_rad, hold.start.carriage_m);
        let pose = Pose { tip_m: posture.tip_m, rotation: posture.rotation };
        let root_in_base = profile.base_in_root.inverse();
        let foot = surface
            .project(profile.base_in_root.point(pose.tip_m))
            .ok_or_else(|| refuse("nan", "the held tip does not project on the surface".to_owned()))?;
        let contact_normal = root_in_base.direction(surface.frame(foot.uv_m).normal);
        let (sin, cos) = config.turn_rad.sin_cos();
        let mut strokes = Vec::new();
        for polyline in design {
            let uv: Vec<[f64; 2]> = polyline
                .points_mm
                .iter()
                .map(|&[x, y]| {
                    let (x, y) = (x * 1e-3, y * 1e-3);
                    [config.origin_uv_m[0] + cos * x - sin * y, config.origin_uv_m[1] + sin * x + cos * y]
                })
                .collect();
            strokes.push(Stroke::on(surface, &uv, config.lift_m, config.hole_fill_m)?);
        }
        let mut laid = Self {
            strokes,
            hold: pose,
            tool_axis: profile.chain.tool_axis,
            contact_normal,
            root_in_base,
            deadband_rad: config.lean_deadband_rad,
            lean_max_rad: 0.0,
            swing_max_rad: 0.0,
        };
        laid.judge(surface, config)?;
        Ok(laid)
    }

    /// Girth, lean and swing, on the design and before any row.
    fn judge(&mut self, surface: &Surface, config: &PathConfig) -> Result<(), DrawError> {
        let ranges = self.strokes.iter().map(Stroke::v_range_m);
        let (low, high) =
            ranges.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), (c, d)| (a.min(c), b.max(d)));
        if let Some(radius_m) = surface.chart().radius_m() {
            let most = GIRTH * std::f64::consts::PI * radius_m;
            if high - low > most {
                return Err(refuse(
                    "girth",
                    format!("the design spans {:.4} m of girth, at most {most:.4} m", high - low),
                ));
            }
        }
        let first = self.strokes.first().and_then(|stroke| stroke.normals().first().copied());
        let first = first.ok_or_else(|| refuse("design", "the design has no strokes".to_owned()))?;
        let (mut lean, mut swing) = (0.0f64, 0.0f64);
        for normal in self.strokes.iter().flat_map(|stroke| stroke.normals().iter().copied().step_by(10)) {
            swing = swing.max(angle_of_vectors(first, normal));
            let normal = self.root_in_base.direction(normal);
            let rotation = self.rotation(normal)?;
            lean = lean.max(angle_of_vectors(apply(&rotation, self.tool_axis), scale(normal, -1.0)));
        }
        if swing > MOST_SWING_RAD {
            let reason = format!("normals swing by {:.1} deg, at most 60 deg", swing.to_degrees());
            return Err(refuse("normal_swing", reason));
        }
        if lean > config.lean_budget_rad {
            let (lean, most) = (lean.to_degrees(), config.lean_budget_rad.to_degrees());
            return Err(refuse(
                "lean_over_budget",
                format!("the tool leans {lean:.2} deg, at most {most:.2} deg"),
            ));
        }
        (self.lean_max_rad, self.swing_max_rad) = (lean, swing);
        Ok(())
    }

    /// The final link's rotation over a normal: the held one, carried along with the normal's swing past the deadband.
    fn rotation(&self, normal: Vec3) -> Result<Mat3, DrawError> {
        let opposite = || refuse("normal_swing", "a normal opposite to the touched one".to_owned());
        let full = minimal_rotation(self.contact_normal, normal).ok_or_else(opposite)?;
        let swing = angle_of_vectors(self.contact_normal, normal);
        let kept = past_deadband(swing, self.deadband_rad);
        let turn = match unit(cross(self.contact_normal, normal)) {
            Some(axis) if self.deadband_rad > 0.0 => rotation_about(axis, kept),
            _ => full,
        };
        Ok(mul(&turn, &self.hold.rotation))
    }

    /// The pose over a stroke's place, `above_m` off the surface.
    fn over(&self, (point, normal, smooth): (Vec3, Vec3, Vec3), above_m: f64) -> Result<Pose, DrawError> {
        let lifted = add_scaled(point, normal, above_m);
        Ok(Pose {
            tip_m: self.root_in_base.point(lifted),
            rotation: self.rotation(self.root_in_base.direction(smooth))?,
        })
    }

    fn rows(
        &self,
        surface: &Surface,
        config: &PathConfig,
        dip_travel_m_s: f64,
    ) -> Result<(Vec<Row>, usize), DrawError> {
        let mut builder = Builder::new(self.hold);
        // The held pose may touch: up first, along the normal.
        let lifted = add_scaled(self.hold.tip_m, self.contact_normal, config.standoff_m);
        builder.leg(Pose { tip_m: lifted, ..self.hold }, DESCENT_M_S, TURN_RAD_S)?;
        let (mut dips, mut since_m) = (0, f64::INFINITY);
        for stroke in &self.strokes {
            let start = self.over(stroke.at(0.0), config.standoff_m)?;
            if let Some(plan) = &config.dips {
                if stroke.total_m() > plan.sheet.line_per_dip_m {
                    let most = plan.sheet.line_per_dip_m;
                    return Err(refuse(
                        "design",
                        format!("a stroke of {:.4} m, one dip is good for {most} m", stroke.total_m()),
                    ));
                }
                if since_m + stroke.total_m() > plan.sheet.line_per_dip_m {
                    plan.dip(&mut builder, self.hold.rotation, self.tool_axis, dip_travel_m_s)?;
                    dips += 1;
                    since_m = 0.0;
                    builder.leg(start, dip_travel_m_s, 4.0 * TURN_RAD_S)?;
                }
            }
            since_m += stroke.total_m();
            self.travel(&mut builder, surface, start, config)?;
            for above_m in near_surface(config.standoff_m)? {
                builder.push(self.over(stroke.at(0.0), config.standoff_m - above_m)?, false)?;
            }
            builder.hold(SETTLE_SECS)?;
            for s_m in stroke.ticks(config.timing, config.speed_m_s)? {
                builder.push(self.over(stroke.at(s_m), 0.0)?, true)?;
            }
            // The way up is the way down, backwards in time: as gentle where it leaves.
            let end = stroke.at(stroke.total_m());
            for left_m in near_surface(config.standoff_m)?.into_iter().rev().skip(1) {
                builder.push(self.over(end, config.standoff_m - left_m)?, false)?;
            }
            builder.push(self.over(end, config.standoff_m)?, false)?;
        }
        builder.hold(SETTLE_SECS)?;
        Ok((builder.rows(), dips))
    }

    /// Pen-up travel at the standoff; the straight way must keep half of it from the surface.
    fn travel(
        &self,
        builder: &mut Builder,
        surface: &Surface,
        to: Pose,
        config: &PathConfig,
    ) -> Result<(), DrawError> {
        let from = builder.last();
        for k in 0..=20 {
            let u = f64::from(k) / 20.0;
            let between = crate::math::add(scale(from.tip_m, 1.0 - u), scale(to.tip_m, u));
            let in_root = self.root_in_base.inverse().point(between);
            let foot = surface.project(in_root);
            if let Some(foot) = foot.filter(|foot| foot.distance_m < 0.5 * config.standoff_m) {
                let reason = format!(
                    "travel passes {:.4} m from the surface, the standoff is {} m",
                    foot.distance_m, config.standoff_m
                );
                return Err(refuse("clearance", reason));
            }
        }
        builder.leg(to, TRAVEL_M_S, TURN_RAD_S)
    }
}

/// Places on the straight way of `way_m` down to the surface at each tick, metres from its top: one profile from rest to rest, slow
/// and gentle over the last [`NEAR_M`].
fn near_surface(way_m: f64) -> Result<Vec<f64>, DrawError> {
    let free = |s_m: f64| ((way_m - s_m - NEAR_M) / BLEND_M).clamp(0.0, 1.0);
    let between = |s_m: f64, near: f64, far: f64| near + (far - near) * free(s_m);
    let count = (way_m / KNOT_UP_M).ceil().max(1.0);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a standoff is at most 0.2 m
    let last = count as u32;
    let knots: Vec<f64> = (0..=last).map(|k| way_m * f64::from(k) / count).collect();
    let caps: Vec<f64> = knots.iter().map(|&s| between(s, NEAR_M_S, DESCENT_M_S)).collect();
    let accelerations: Vec<f64> = knots.iter().map(|&s| between(s, NEAR_M_S2, ACCELERATION_M_S2)).collect();
    retime(&knots, &caps, &accelerations)
}

/// The swing that is followed: none inside the deadband, all past it, with a smooth edge.
fn past_deadband(swing_rad: f64, deadband_rad: f64) -> f64 {
    let past = swing_rad - deadband_rad;
    if deadband_rad <= 0.0 {
        swing_rad
    } else if past.abs() < BLEND_RAD {
        (past + BLEND_RAD).powi(2) / (4.0 * BLEND_RAD)
    } else {
        past.max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deadband_is_the_published_one() {
        let at = |deg: f64| past_deadband(deg.to_radians(), 12f64.to_radians()).to_degrees();
        for (swing, kept) in [(9.5, 0.020_833), (13.0, 1.333_333), (15.0, 3.0), (20.0, 8.0), (5.0, 0.0)] {
            assert!((at(swing) - kept).abs() < 1e-5, "{swing}: {}", at(swing));
        }
    }
}
