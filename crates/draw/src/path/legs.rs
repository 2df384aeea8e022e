//! Pen-up legs from rest to rest, holds, and the rows that come of them.

use crate::constants::generated;
use crate::error::DrawError;
use crate::math::{
    Mat3, Vec3, add_scaled, mul, norm, rotation_about, rotation_vector, scale, sub, transpose,
};
use crate::samples::{Row, feedforward};

/// Largest slope of the quintic blend.
const PEAK: f64 = 1.875;
/// Shortest leg, seconds.
const SHORTEST_SECS: f64 = 0.25;

/// A place of the tip and a rotation of the final link, base frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// The tip, metres.
    pub tip_m: Vec3,
    /// The final link's rotation.
    pub rotation: Mat3,
}

/// Place and speed at `t_secs` of a stroke of `length_m` in `duration_secs` that eases in and out over `ease_secs`.
///
/// Needs `0 < 2 ease < duration`; the cruising speed is `length / (duration - ease)`.
///
/// ```
/// use fieldlab_draw::path::ease;
/// let (place, speed) = ease(0.005, 2.5, 0.5, 0.25);
/// assert!((place - 9.765625e-05).abs() < 1e-18 && (speed - 0.00125).abs() < 1e-15);
/// ```
#[must_use]
pub fn ease(length_m: f64, duration_secs: f64, ease_secs: f64, t_secs: f64) -> (f64, f64) {
    let cruise = length_m / (duration_secs - ease_secs);
    let begin = |t: f64| {
        let u = (t / ease_secs).clamp(0.0, 1.0);
        let place = cruise * ease_secs * u.powi(4) * (2.5 - 3.0 * u + u * u);
        (place, cruise * u.powi(3) * (10.0 - 15.0 * u + 6.0 * u * u))
    };
    let t = t_secs.clamp(0.0, duration_secs);
    if t < ease_secs {
        begin(t)
    } else if t > duration_secs - ease_secs {
        let (left, speed) = begin(duration_secs - t);
        (length_m - left, speed)
    } else {
        (cruise * ease_secs / 2.0 + cruise * (t - ease_secs), cruise)
    }
}

/// Collects rows. The first row is the pose that the arm holds.
#[derive(Debug, Clone)]
pub struct Builder {
    poses: Vec<Pose>,
    pen: Vec<bool>,
    capture: Vec<u32>,
    dip: Vec<u32>,
    captures: u32,
    dips: u32,
}

impl Builder {
    /// A builder whose first row is `hold`.
    #[must_use]
    pub fn new(hold: Pose) -> Self {
        Self { poses: vec![hold], pen: vec![false], capture: vec![0], dip: vec![0], captures: 0, dips: 0 }
    }

    /// The pose of the last row.
    #[must_use]
    pub fn last(&self) -> Pose {
        self.poses[self.poses.len() - 1]
    }

    /// Rows so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.poses.len()
    }

    /// Never: there is always the held pose.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Adds one row.
    ///
    /// # Errors
    /// [`DrawError::Refused`] with code `ticks` past the planner's limit, `nan` for a pose that is not finite.
    pub fn push(&mut self, pose: Pose, pen: bool) -> Result<(), DrawError> {
        let most = usize::try_from(generated::PLANNER_MAX_TICKS).unwrap_or(0);
        if self.poses.len() >= most {
            let reason = format!("the path needs more than {most} rows; draw it in parts");
            return Err(DrawError::Refused { code: "ticks", reason });
        }
        if !pose.tip_m.iter().chain(pose.rotation.iter().flatten()).all(|value| value.is_finite()) {
            let reason = format!("row {} is not finite", self.poses.len());
            return Err(DrawError::Refused { code: "nan", reason });
        }
        self.poses.push(pose);
        self.pen.push(pen);
        self.capture.push(0);
        self.dip.push(0);
        Ok(())
    }

    /// A pen-up leg from the last pose to `to`, from rest to rest, no faster than `speed_m_s` and `turn_rad_s` at its peak.
    ///
    /// # Errors
    /// As [`Builder::push`].
    pub fn leg(&mut self, to: Pose, speed_m_s: f64, turn_rad_s: f64) -> Result<(), DrawError> {
        let from = self.last();
        let turn = rotation_vector(&mul(&to.rotation, &transpose(&from.rotation)));
        let way = sub(to.tip_m, from.tip_m);
        self.along(norm(way) / speed_m_s, norm(turn) / turn_rad_s, &|u| Pose {
            tip_m: add_scaled(from.tip_m, way, u),
            rotation: turned(&from.rotation, turn, u),
        })
    }

    /// A pen-up leg along `pose`, whose parameter runs from 0 to 1 by the quintic blend; the two durations are those of its length and
    /// its turn at full speed.
    ///
    /// # Errors
    /// As [`Builder::push`].
    pub fn along(
        &mut self,
        way_secs: f64,
        turn_secs: f64,
        pose: &dyn Fn(f64) -> Pose,
    ) -> Result<(), DrawError> {
        let duration = SHORTEST_SECS.max(PEAK * way_secs.max(turn_secs));
        // The guard keeps a rounding error from adding a tick.
        let ticks = (duration / generated::PERIOD_S - 1e-9).ceil().max(1.0);
        let mut k = 1.0;
        while k <= ticks {
            let u: f64 = k / ticks;
            self.push(pose(u * u * u * (10.0 - 15.0 * u + 6.0 * u * u)), false)?;
            k += 1.0;
        }
        Ok(())
    }

    /// Holds the last pose for `secs`, pen up.
    ///
    /// # Errors
    /// As [`Builder::push`].
    pub fn hold(&mut self, secs: f64) -> Result<(), DrawError> {
        let pose = self.last();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates; the row limit ends it
        let ticks = (secs / generated::PERIOD_S - 1e-9).ceil().max(0.0) as usize;
        (0..ticks).try_for_each(|_| self.push(pose, false))
    }

    /// Marks the last row as the next capture.
    pub fn capture(&mut self) {
        self.captures += 1;
        if let Some(mark) = self.capture.last_mut() {
            *mark = self.captures;
        }
    }

    /// Marks the last row as the deepest of the next dip.
    pub fn dip(&mut self) {
        self.dips += 1;
        if let Some(mark) = self.dip.last_mut() {
            *mark = self.dips;
        }
    }

    /// The rows, with times from one period on and feedforward velocities.
    #[must_use]
    pub fn rows(self) -> Vec<Row> {
        let places: Vec<Vec3> = self.poses.iter().map(|pose| pose.tip_m).collect();
        let velocities = feedforward(&places, generated::PERIOD_S);
        self.poses
            .into_iter()
            .zip(velocities)
            .enumerate()
            .map(|(k, (pose, v_m_s))| {
                #[allow(clippy::cast_precision_loss)] // at most 250 000
                let t_s = (k + 1) as f64 * generated::PERIOD_S;
                Row {
                    t_s,
                    p_m: pose.tip_m,
                    v_m_s,
                    r: pose.rotation,
                    pen: self.pen[k],
                    capture: self.capture[k],
                    dip: self.dip[k],
                }
            })
            .collect()
    }
}

/// `rotation` turned by the share `u` of the rotation vector `turn`.
pub(super) fn turned(rotation: &Mat3, turn: Vec3, u: f64) -> Mat3 {
    let angle = norm(turn);
    if angle < 1e-12 {
        return *rotation;
    }
    mul(&rotation_about(scale(turn, 1.0 / angle), angle * u), rotation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::IDENTITY;

    #[test]
    fn legs_take_the_published_number_of_ticks() {
        let ticks = |length: f64, speed: f64| {
            let hold = Pose { tip_m: [0.0; 3], rotation: IDENTITY };
            let mut builder = Builder::new(hold);
            builder.leg(Pose { tip_m: [length, 0.0, 0.0], ..hold }, speed, 1.0).unwrap();
            builder.len() - 1
        };
        assert_eq!(ticks(0.030, 0.02), 1125);
        assert_eq!(ticks(0.025, 0.01), 1875);
        assert_eq!(ticks(0.005, 0.003), 1250);
        assert_eq!(ticks(0.030, 0.01), 2250);
        assert_eq!(ticks(1e-6, 0.01), 100);
    }

    #[test]
    fn the_stroke_law_is_the_published_one() {
        assert!((ease(0.005, 2.5, 0.5, 501.0 * 0.0025).0 - 0.002_506_25).abs() < 1e-17);
        assert_eq!(ease(0.005, 2.5, 0.5, 2.5), (0.005, 0.0));
    }

    #[test]
    fn a_hold_of_a_second_is_400_rows_and_the_limit_is_kept() {
        let mut builder = Builder::new(Pose { tip_m: [0.0; 3], rotation: IDENTITY });
        builder.hold(1.0).unwrap();
        assert_eq!(builder.len(), 401);
        assert!(builder.hold(1e9).is_err());
        assert!(builder.push(Pose { tip_m: [f64::NAN; 3], rotation: IDENTITY }, true).is_err());
    }
}
