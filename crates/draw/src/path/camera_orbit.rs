//! Orbits that are flown for the cameras: each view puts them at a distance from the touched point and keeps the pen out of the picture.

use super::compile::refuse;
use super::legs::{Builder, Pose};
use super::orbit::views;
use crate::check::{CheckConfig, Checker, Report};
use crate::constants::generated;
use crate::error::DrawError;
use crate::math::{
    Rigid, Vec3, add_scaled, angle_of_vectors, apply, column, cross, dot, minimal_rotation, mul,
    rotation_about, scale, sub, unit,
};
use crate::plan::{PlanConfig, Start};
use crate::profile::{Camera, Profile};
use crate::samples::{Kind, Meta, Row, write};

/// How such an orbit is flown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CameraOrbitConfig {
    /// Views, 1 to 5: straight above, then tilted both ways about each of two axes.
    pub poses: usize,
    /// Distance of the cameras' middle from the touched point, metres.
    pub distance_m: f64,
    /// Tilt of the side views, radians.
    pub tilt_rad: f64,
    /// How far the view is turned off the touched point along the picture's width, radians; backed off in steps of 5 degrees.
    pub off_axis_rad: f64,
    /// How far the tip is lifted before anything turns, metres.
    pub lift_m: f64,
    /// Radius of the ring round the touched point that every camera must see, metres: the design's reach and 3 mm, at least 8 mm.
    pub ring_m: f64,
    /// Speed of the tip at its peak, m/s; halved and quartered when the planner refuses.
    pub speed_m_s: f64,
    /// Speed of turning at its peak, rad/s.
    pub turn_rad_s: f64,
    /// How long each view is held before its capture, seconds.
    pub hold_secs: f64,
}

impl Default for CameraOrbitConfig {
    fn default() -> Self {
        Self {
            poses: usize::try_from(generated::ORBIT_POSES).unwrap_or(1),
            distance_m: 0.16,
            tilt_rad: 15f64.to_radians(),
            off_axis_rad: 35f64.to_radians(),
            lift_m: 0.020,
            ring_m: 0.008,
            speed_m_s: generated::ORBIT_SPEED_MM_S / 1e3,
            turn_rad_s: 8f64.to_radians(),
            hold_secs: 1.0,
        }
    }
}

/// An orbit that was accepted.
#[derive(Debug, Clone)]
pub struct CameraOrbit {
    /// The rows.
    pub rows: Vec<Row>,
    /// The samples file.
    pub text: String,
    /// The strict verdict on it: always acceptance.
    pub report: Report,
    /// The turn off the touched point that it is flown with, radians; below zero to the other side.
    pub off_axis_rad: f64,
    /// The tip's speed that it is flown with, m/s.
    pub speed_m_s: f64,
}

/// Steps and end of the backing off, radians.
const OFF_STEP_RAD: f64 = 0.087_266_462_599_716_47;
const OFF_LEAST_RAD: f64 = 0.174_532_925_199_432_95;
/// Largest angle between a ray and the surface's normal, radians.
const INCIDENCE_RAD: f64 = 0.872_664_625_997_164_8;
/// What the tip keeps from the touched plane at every view, metres.
const CLEARANCE_M: f64 = 0.005;

/// An orbit of `profile`'s cameras round the point that its tool touches at `start`.
///
/// # Errors
/// [`DrawError::Refused`]: `design` for a configuration out of range, `camera` for a rig without one, `orbit_view` when no side and no
/// turn shows the ring to every camera in every view with the tip clear of the surface, and the planner's first code when it refuses
/// each that does.
pub fn camera_orbit(
    profile: &Profile,
    start: Start,
    config: &CameraOrbitConfig,
) -> Result<CameraOrbit, DrawError> {
    if !(1..=5).contains(&config.poses) {
        return Err(refuse("design", format!("{} poses, 1 to 5 are flown", config.poses)));
    }
    for (name, value, low, high) in [
        ("distance_m", config.distance_m, 0.02, 1.0),
        ("tilt_rad", config.tilt_rad, 0.001, 1.0),
        ("off_axis_rad", config.off_axis_rad, OFF_LEAST_RAD, 1.2),
        ("lift_m", config.lift_m, 0.001, 0.2),
        ("ring_m", config.ring_m, 0.001, 0.2),
        ("speed_m_s", config.speed_m_s, 0.001, 1.0),
        ("turn_rad_s", config.turn_rad_s, 0.001, 10.0),
        ("hold_secs", config.hold_secs, 0.1, 60.0),
    ] {
        fieldlab_base::check::within(name, value, low, high)
            .map_err(|error| refuse("design", error.to_string()))?;
    }
    let scene = Scene::new(profile, start, config)?;
    let mut last = refuse("orbit_view", "no turn of the view shows the ring to every camera".to_owned());
    let mut off_rad = config.off_axis_rad;
    while off_rad >= OFF_LEAST_RAD - 1e-9 {
        for signed_rad in [off_rad, -off_rad] {
            let poses: Vec<Pose> = match scene.poses(signed_rad) {
                Ok(poses) => poses,
                Err(reason) => {
                    last = refuse(
                        "orbit_view",
                        format!("turned by {:.0} deg: {reason}", signed_rad.to_degrees()),
                    );
                    continue;
                }
            };
            for factor in [1.0, 0.5, 0.25] {
                match scene.fly(&poses, config.speed_m_s * factor) {
                    Ok((rows, text, report)) => {
                        let speed_m_s = config.speed_m_s * factor;
                        return Ok(CameraOrbit { rows, text, report, off_axis_rad: signed_rad, speed_m_s });
                    }
                    Err(error) => last = error,
                }
            }
        }
        off_rad -= OFF_STEP_RAD;
    }
    Err(last)
}

/// Everything in the base frame.
struct Scene<'a> {
    profile: &'a Profile,
    config: &'a CameraOrbitConfig,
    start: Start,
    contact: Pose,
    up: Vec3,
    /// The tip in the final link, where the carriage stands.
    tip_in_final_m: Vec3,
}

impl<'a> Scene<'a> {
    fn new(profile: &'a Profile, start: Start, config: &'a CameraOrbitConfig) -> Result<Self, DrawError> {
        if profile.cameras.is_empty() {
            return Err(refuse("camera", "the rig has no camera".to_owned()));
        }
        let chain = &profile.chain;
        let posture = chain.posture(&start.joints_rad, start.carriage_m);
        let up = unit(scale(apply(&posture.rotation, chain.tool_axis), -1.0))
            .ok_or_else(|| refuse("design", "the tool has no direction".to_owned()))?;
        let tip_in_final_m = chain
            .carriage_axis
            .map_or(chain.tip_in_final_m, |axis| add_scaled(chain.tip_in_final_m, axis, start.carriage_m));
        let contact = Pose { tip_m: posture.tip_m, rotation: posture.rotation };
        Ok(Self { profile, config, start, contact, up, tip_in_final_m })
    }

    /// The poses of every view, or why one cannot be.
    fn poses(&self, off_rad: f64) -> Result<Vec<Pose>, String> {
        let middle = self.middle();
        let directions = views(self.up, self.config.tilt_rad).ok_or("the view has no axes")?;
        directions.into_iter().take(self.config.poses).enumerate().map(|(k, direction)| {
            let carried = minimal_rotation(self.up, direction).ok_or("a view against the tool")?;
            let carried = mul(&carried, &self.contact.rotation);
            // The camera looks down the direction, then turns about the picture's height.
            let looking = apply(&carried, column(&middle.rotation, 2));
            let aimed = minimal_rotation(looking, scale(direction, -1.0)).ok_or("a camera that looks away")?;
            let aimed = mul(&aimed, &carried);
            let height = apply(&aimed, column(&middle.rotation, 1));
            let rotation = mul(&rotation_about(height, off_rad), &aimed);
            let eye = add_scaled(self.contact.tip_m, direction, self.config.distance_m);
            let final_m = sub(eye, apply(&rotation, middle.translation_m));
            let tip_m = crate::math::add(final_m, apply(&rotation, self.tip_in_final_m));
            let clear_m = dot(sub(tip_m, self.contact.tip_m), self.up);
            if clear_m < CLEARANCE_M {
                return Err(format!("view {}: the tip is {clear_m:.4} m above the touched plane, at least {CLEARANCE_M} m", k + 1));
            }
            let final_in_base = Rigid { rotation, translation_m: final_m };
            for camera in &self.profile.cameras {
                self.sees(camera, &final_in_base).map_err(|reason| format!("view {}, `{}`: {reason}", k + 1, camera.role))?;
            }
            Ok(Pose { tip_m, rotation })
        }).collect()
    }

    /// The cameras' middle in the final link: their mean place, looking as the first does.
    fn middle(&self) -> Rigid {
        #[allow(clippy::cast_precision_loss)] // at most 16
        let share = 1.0 / self.profile.cameras.len() as f64;
        let place = self
            .profile
            .cameras
            .iter()
            .fold([0.0; 3], |sum, camera| add_scaled(sum, camera.in_final.translation_m, share));
        let rotation =
            self.profile.cameras.first().map_or(crate::math::IDENTITY, |camera| camera.in_final.rotation);
        Rigid { rotation, translation_m: place }
    }

    /// Whether the touched point and a ring of eight round it are in the picture, in range and not too slanted.
    fn sees(&self, camera: &Camera, final_in_base: &Rigid) -> Result<(), String> {
        let in_base = final_in_base.then(&camera.in_final);
        let to_camera = in_base.inverse();
        let hint = if self.up[0].abs() < 0.9 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
        let e_u = unit(cross(self.up, hint)).ok_or("the ring has no axes")?;
        let e_v = cross(self.up, e_u);
        let ring = (0..8).map(|k| {
            let (sin, cos) = (std::f64::consts::FRAC_PI_4 * f64::from(k)).sin_cos();
            let out = add_scaled(scale(e_u, cos), e_v, sin);
            add_scaled(self.contact.tip_m, out, self.config.ring_m)
        });
        let [fx, fy, ppx, ppy] = camera.optics.intrinsics_px;
        #[allow(clippy::cast_precision_loss)] // pixels
        let [width, height] = camera.optics.size_px.map(|size| (size - 1) as f64);
        for point in ring.chain([self.contact.tip_m]) {
            let [x, y, z] = to_camera.point(point);
            let [near, far] = camera.optics.range_m;
            if !(near..=far).contains(&z) {
                return Err(format!("the ring is {z:.3} m deep, {near} to {far} m is measured"));
            }
            let place = camera.optics.lens.map_or([x / z, y / z], |lens| lens.distorted([x / z, y / z]));
            let (col, row) = (fx * place[0] + ppx, fy * place[1] + ppy);
            if !((0.0..=width).contains(&col) && (0.0..=height).contains(&row)) {
                return Err(format!(
                    "the ring is at column {col:.0}, row {row:.0} of {width:.0} x {height:.0}"
                ));
            }
            let incidence = angle_of_vectors(sub(in_base.translation_m, point), self.up);
            if incidence > INCIDENCE_RAD {
                return Err(format!(
                    "rays meet the surface at {:.1} deg, at most 50 deg",
                    incidence.to_degrees()
                ));
            }
        }
        Ok(())
    }

    fn fly(&self, poses: &[Pose], speed_m_s: f64) -> Result<(Vec<Row>, String, Report), DrawError> {
        let mut builder = Builder::new(self.contact);
        let lifted = add_scaled(self.contact.tip_m, self.up, self.config.lift_m);
        builder.leg(Pose { tip_m: lifted, ..self.contact }, speed_m_s.min(0.01), self.config.turn_rad_s)?;
        for &pose in poses {
            builder.leg(pose, speed_m_s, self.config.turn_rad_s)?;
            builder.hold(self.config.hold_secs)?;
            builder.capture();
        }
        let rows = builder.rows();
        let text = write(&Meta::for_profile(self.profile, Kind::Orbit, false), &rows)?;
        let plan = PlanConfig::strict(self.profile, self.start)?;
        let mut checker = Checker::new(CheckConfig::for_profile(self.profile, Some(plan)))?;
        checker.push(text.as_bytes());
        let report = checker.finish();
        match report.findings.listed().first() {
            None => Ok((rows, text, report)),
            Some(finding) => {
                Err(refuse(finding.code.name(), format!("{}: {finding}", finding.code.meaning())))
            }
        }
    }
}
