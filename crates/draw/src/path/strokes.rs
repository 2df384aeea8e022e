//! One stroke on a surface: its length, its normals, and how fast it may be run through.

use super::legs::ease;
use super::retime::{KNOT_DOWN_M, retime};
use crate::constants::generated;
use crate::error::DrawError;
use crate::math::{Vec3, add, add_scaled, angle_of_vectors, norm, scale, sub, unit};
use crate::surface::Surface;

/// How the speed along a stroke is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Timing {
    /// As fast as corners, start and end allow, each braked into.
    Corner,
    /// One speed, eased in and out over this time, corners or not.
    Quintic {
        /// Seconds.
        ease_secs: f64,
    },
}

/// Distance between knots along a stroke, metres.
const STEP_M: f64 = 5e-5;
/// Acceleration along a stroke and of the smoothed velocity at a corner, m/s².
pub(super) const ACCELERATION_M_S2: f64 = 0.010;
/// Half width of the triangle that normals are averaged with, metres.
const NORMAL_WINDOW_M: f64 = 0.001;
/// Most knots of one stroke: ten metres.
const MAX_KNOTS: usize = 200_000;

/// A stroke that lies on a surface.
#[derive(Debug, Clone)]
pub struct Stroke {
    uv: Vec<[f64; 2]>,
    points: Vec<Vec3>,
    normals: Vec<Vec3>,
    smooth_normals: Vec<Vec3>,
    /// Length from the start at each knot, metres.
    length: Vec<f64>,
    /// Sum of the turns up to each knot, radians.
    turns: Vec<f64>,
    /// Knots over holes that were filled in.
    filled: usize,
}

impl Stroke {
    /// Lays a polyline in chart coordinates (metres) on the surface, `lift_m` off it along its normals. Holes within `hole_fill_m` of
    /// something measured are drawn over.
    ///
    /// # Errors
    /// [`DrawError::Refused`]: `girth` for a point off the canvas (or round too much of a cylinder), `holes` where nothing was measured,
    /// `design` for a stroke without length or with too many knots.
    pub fn on(
        surface: &Surface,
        polyline: &[[f64; 2]],
        lift_m: f64,
        hole_fill_m: f64,
    ) -> Result<Self, DrawError> {
        let refuse = |code: &'static str, reason: String| DrawError::Refused { code, reason };
        let mut uv = Vec::new();
        for pair in polyline.windows(2) {
            let [a, b] = [pair[0], pair[1]];
            let length = (b[0] - a[0]).hypot(b[1] - a[1]);
            let steps = (length / STEP_M).ceil().max(1.0);
            if steps.is_nan() || steps > 1e6 || uv.len() > MAX_KNOTS {
                return Err(refuse("design", format!("a stroke of more than {MAX_KNOTS} knots")));
            }
            let mut k = 0.0;
            while k < steps {
                let t = k / steps;
                uv.push([a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t]);
                k += 1.0;
            }
        }
        uv.extend(polyline.last());
        if uv.len() < 2 {
            return Err(refuse("design", "a stroke of fewer than two points".to_owned()));
        }
        let mut stroke = Self {
            uv,
            points: Vec::new(),
            normals: Vec::new(),
            smooth_normals: Vec::new(),
            length: Vec::new(),
            turns: Vec::new(),
            filled: 0,
        };
        for &at in &stroke.uv {
            if !surface.contains(at) {
                let [w, h] = surface.extent_m();
                let reason = format!(
                    "the design reaches u {:.4}, v {:.4} m off a canvas of {w} x {h} m",
                    at[0], at[1]
                );
                return Err(refuse("girth", reason));
            }
            if surface.is_hole_beyond(at, hole_fill_m) {
                return Err(refuse(
                    "holes",
                    format!("nothing was measured at u {:.4}, v {:.4} m", at[0], at[1]),
                ));
            }
            stroke.filled += usize::from(surface.is_hole(at));
            let frame = surface.frame(at);
            stroke.points.push(add_scaled(frame.point_m, frame.normal, lift_m));
            stroke.normals.push(frame.normal);
        }
        stroke.measure();
        if stroke.total_m() <= 0.0 {
            return Err(refuse("design", "a stroke without length".to_owned()));
        }
        stroke.smooth();
        Ok(stroke)
    }

    /// Its length on the surface, metres.
    #[must_use]
    pub fn total_m(&self) -> f64 {
        self.length.last().copied().unwrap_or(0.0)
    }

    /// Share of it that lies over holes that were filled in.
    #[must_use]
    pub fn filled_share(&self) -> f64 {
        #[allow(clippy::cast_precision_loss)] // at most two million
        let share = self.filled as f64 / self.uv.len().max(1) as f64;
        share
    }

    /// Lowest and highest `v`, metres.
    #[must_use]
    pub fn v_range_m(&self) -> (f64, f64) {
        self.uv
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| (low.min(at[1]), high.max(at[1])))
    }

    /// Every knot's normal.
    #[must_use]
    pub fn normals(&self) -> &[Vec3] {
        &self.normals
    }

    fn measure(&mut self) {
        let (mut length, mut turn) = (0.0, 0.0);
        for (k, &point) in self.points.iter().enumerate() {
            if let Some(&before) = k.checked_sub(1).and_then(|k| self.points.get(k)) {
                length += norm(sub(point, before));
                if let Some(&earlier) = k.checked_sub(2).and_then(|k| self.points.get(k)) {
                    turn += angle_of_vectors(sub(before, earlier), sub(point, before));
                }
            }
            self.length.push(length);
            self.turns.push(turn);
        }
    }

    /// Normals averaged along the stroke, so that rotations have no jumps in their rate where grid cells meet.
    fn smooth(&mut self) {
        let mut from = 0;
        for k in 0..self.points.len() {
            let here = self.length[k];
            while self.length[from] < here - NORMAL_WINDOW_M {
                from += 1;
            }
            let mut sum = scale(self.normals[k], 1e-9);
            let near = |j: &usize| self.length[*j] <= here + NORMAL_WINDOW_M;
            for j in (from..self.points.len()).take_while(near) {
                let weight = 1.0 - (self.length[j] - here).abs() / NORMAL_WINDOW_M;
                sum = add(sum, scale(self.normals[j], weight));
            }
            self.smooth_normals.push(unit(sum).unwrap_or(self.normals[k]));
        }
    }

    /// Place, normal and smoothed normal at `s_m` along the stroke.
    #[must_use]
    pub fn at(&self, s_m: f64) -> (Vec3, Vec3, Vec3) {
        let last = self.length.len() - 1;
        let k = self.length.partition_point(|&length| length <= s_m).clamp(1, last);
        let span = self.length[k] - self.length[k - 1];
        let t = if span > 0.0 { ((s_m - self.length[k - 1]) / span).clamp(0.0, 1.0) } else { 1.0 };
        let mix = |a: Vec3, b: Vec3| add(scale(a, 1.0 - t), scale(b, t));
        let direction = |a: Vec3, b: Vec3| unit(mix(a, b)).unwrap_or(a);
        (
            mix(self.points[k - 1], self.points[k]),
            direction(self.normals[k - 1], self.normals[k]),
            direction(self.smooth_normals[k - 1], self.smooth_normals[k]),
        )
    }

    /// The length along the stroke at each tick, the end included.
    ///
    /// # Errors
    /// [`DrawError::Refused`] with code `design` for a speed or an ease that is not above zero, `ticks` for a stroke that takes too long.
    pub fn ticks(&self, timing: Timing, speed_m_s: f64) -> Result<Vec<f64>, DrawError> {
        let refuse = |code: &'static str, reason: String| DrawError::Refused { code, reason };
        if !(speed_m_s.is_finite() && speed_m_s > 0.0) {
            return Err(refuse("design", format!("a speed of {speed_m_s} m/s")));
        }
        let period = generated::PERIOD_S;
        let total = self.total_m();
        #[allow(clippy::cast_precision_loss)] // 250 000
        let most = generated::PLANNER_MAX_TICKS as f64 * period;
        match timing {
            Timing::Quintic { ease_secs } => {
                if !(ease_secs.is_finite() && ease_secs > 0.0) {
                    return Err(refuse("design", format!("an ease of {ease_secs} s")));
                }
                let duration = (total / speed_m_s + ease_secs).max(2.0 * ease_secs + period);
                if duration > most {
                    return Err(refuse("ticks", format!("a stroke of {duration:.0} s, at most {most} s")));
                }
                let count = (duration / period - 1e-9).ceil();
                let mut out = Vec::new();
                let mut k = 1.0;
                while k <= count {
                    out.push(ease(total, duration, ease_secs, (k * period).min(duration)).0);
                    k += 1.0;
                }
                Ok(out)
            }
            Timing::Corner => self.retimed(speed_m_s),
        }
    }

    /// The corner rule at the stroke's own knots, and between them the lower of both.
    fn retimed(&self, speed_m_s: f64) -> Result<Vec<f64>, DrawError> {
        let own: Vec<f64> = (0..self.length.len()).map(|k| self.cap(k, speed_m_s)).collect();
        let (mut knots, mut caps) = (vec![0.0], vec![own[0]]);
        for k in 1..own.len() {
            let (from, ds) = (self.length[k - 1], self.length[k] - self.length[k - 1]);
            let steps = (ds / KNOT_DOWN_M).ceil().max(1.0);
            let mut step = 1.0;
            while step <= steps && ds > 0.0 {
                knots.push(if step < steps { from + ds * step / steps } else { self.length[k] });
                caps.push(if step < steps { own[k - 1].min(own[k]) } else { own[k] });
                step += 1.0;
            }
        }
        let accelerations = vec![ACCELERATION_M_S2; knots.len()];
        retime(&knots, &caps, &accelerations)
    }

    /// The largest speed at a knot for which the turns met within the smoothing window stay within the acceleration:
    /// `v Θ(v) = a w`, by bisection.
    fn cap(&self, k: usize, speed_m_s: f64) -> f64 {
        let window = 21.0 * generated::PERIOD_S;
        let budget = ACCELERATION_M_S2 * window;
        let too_much = |v: f64| {
            let reach = v * window / 2.0;
            let here = self.length[k];
            let from = self.length.partition_point(|&length| length < here - reach);
            let to = self.length.partition_point(|&length| length <= here + reach);
            // A knot's own turn is counted at the knot after it.
            let upper = self.turns[(to).min(self.turns.len() - 1)];
            v * (upper - self.turns[from]) > budget
        };
        if !too_much(speed_m_s) {
            return speed_m_s;
        }
        let (mut low, mut high) = (0.0, speed_m_s);
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if too_much(middle) { high = middle } else { low = middle }
        }
        low.max(1e-5)
    }
}
