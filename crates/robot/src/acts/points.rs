//! Driving along straight lines by wheels and gyro: the straight run, the lap, the soak.

use fieldlab_base::{Action, Lease, Micros, Progress, Tick};
use fieldlab_campaign::LapDirection;
use fieldlab_motion::{Odometry, SwerveKinematics};
use fieldlab_values::{Pose2d, Translation2d};

use super::sensors::{self, Silence};
use crate::hw::{DriveCommand, Hardware, MODULES};

/// How hard it speeds up and brakes.
const ACCEL_MPS2: f64 = 1.0;
/// How close to a point is there, by its own reckoning.
const ARRIVED_M: f64 = 0.004;
/// Slower than this is standing.
const STANDING_MPS: f64 = 0.02;
/// How long it must stand before a run is over, and how long it is waited for at most.
const STAND_SECS: f64 = 0.2;
const STAND_AT_MOST_SECS: f64 = 1.5;
/// Heading and cross-track hold: proportional, with a bound.
const HEADING_GAIN: f64 = 4.0;
const HEADING_MOST: f64 = 1.0;
const CROSS_GAIN: f64 = 2.0;
const CROSS_MOST_MPS: f64 = 0.3;

/// Which points, in the frame of where the robot stands at the start: x forward, y left.
#[derive(Debug, Clone)]
pub(super) enum Route {
    /// Each in turn, once.
    Once(std::vec::IntoIter<Translation2d>),
    /// There and back until the time is over; then to the start.
    Shuttle { stroke_m: f64, until_secs: f64, forward: bool, home: bool },
}

impl Route {
    pub(super) fn straight(distance_m: f64) -> Self {
        Self::Once(vec![Translation2d::new(distance_m, 0.0)].into_iter())
    }

    /// A square without turning, counter-clockwise or clockwise, that begins along +x.
    pub(super) fn square(direction: LapDirection, side_m: f64) -> Self {
        let left = side_m * direction.sign();
        let corners = [(side_m, 0.0), (side_m, left), (0.0, left), (0.0, 0.0)];
        Self::Once(corners.map(|(x, y)| Translation2d::new(x, y)).to_vec().into_iter())
    }

    pub(super) const fn shuttle(stroke_m: f64, secs: f64) -> Self {
        Self::Shuttle { stroke_m, until_secs: secs, forward: false, home: false }
    }

    fn next(&mut self, elapsed_secs: f64) -> Option<Translation2d> {
        match self {
            Self::Once(points) => points.next(),
            Self::Shuttle { home: true, .. } => None,
            Self::Shuttle { stroke_m, until_secs, forward, home } => {
                if elapsed_secs >= *until_secs {
                    *home = true;
                    return Some(Translation2d::new(0.0, 0.0));
                }
                *forward = !*forward;
                Some(Translation2d::new(if *forward { *stroke_m } else { -*stroke_m }, 0.0))
            }
        }
    }
}

/// Drives a route with the heading it began with, closed loop on chassis speed, and stands still at its end.
pub(super) struct Points {
    hardware: Hardware,
    drive: Lease<DriveCommand>,
    route: Route,
    speed_mps: f64,
    wheel_radius_m: f64,
    odometry: Odometry<MODULES>,
    start_yaw: Option<f64>,
    began: Option<Micros>,
    leg: Option<Leg>,
    commanded_mps: f64,
    standing_since: Option<Micros>,
    stopping_since: Option<Micros>,
    silence: Silence,
}

#[derive(Debug, Clone, Copy)]
struct Leg {
    from: Translation2d,
    to: Translation2d,
}

impl Points {
    pub(super) fn new(
        hardware: &Hardware,
        route: Route,
        speed_mps: f64,
        wheel_radius_m: f64,
    ) -> Result<Self, String> {
        let geometry = hardware.geometry().ok_or("this robot has no drive")?;
        let modules = geometry.module_positions_m.map(|(x, y)| Translation2d::new(x, y));
        let kinematics = SwerveKinematics::new(modules).map_err(|e| e.to_string())?;
        Ok(Self {
            drive: hardware.drive().map_err(|e| e.to_string())?,
            hardware: hardware.clone(),
            route,
            speed_mps,
            wheel_radius_m,
            odometry: Odometry::new(kinematics, Pose2d::default()),
            start_yaw: None,
            began: None,
            leg: None,
            commanded_mps: 0.0,
            standing_since: None,
            stopping_since: None,
            silence: Silence::default(),
        })
    }

    /// Speed along the leg and the correction across it, in the frame of the start.
    fn velocity(&mut self, leg: Leg, at: Translation2d, dt_secs: f64) -> (f64, f64) {
        let (dx, dy) = (leg.to.x_m - leg.from.x_m, leg.to.y_m - leg.from.y_m);
        let length = dx.hypot(dy);
        let (ux, uy) = if length > 0.0 { (dx / length, dy / length) } else { (1.0, 0.0) };
        let left = (leg.to.x_m - at.x_m) * ux + (leg.to.y_m - at.y_m) * uy;
        let off = (leg.to.x_m - at.x_m) * -uy + (leg.to.y_m - at.y_m) * ux;
        let braking = (2.0 * ACCEL_MPS2 * left.abs()).sqrt();
        let wanted = self.speed_mps.min(braking).min(self.commanded_mps.abs() + ACCEL_MPS2 * dt_secs);
        self.commanded_mps = wanted.copysign(left);
        let across = (CROSS_GAIN * off).clamp(-CROSS_MOST_MPS, CROSS_MOST_MPS);
        (self.commanded_mps * ux - across * uy, self.commanded_mps * uy + across * ux)
    }
}

impl Action for Points {
    fn step(&mut self, tick: Tick) -> Progress {
        let inputs = self.hardware.inputs();
        let reading = sensors::yaw(&inputs)
            .and_then(|yaw| Ok((yaw, sensors::positions(&inputs, self.wheel_radius_m)?)));
        let (yaw, modules) = match self.silence.allow(tick.now, reading) {
            Ok(Some(reading)) => reading,
            Ok(None) => return Progress::Running,
            Err(reason) => return Progress::Failed(reason),
        };
        let began = *self.began.get_or_insert(tick.now);
        let start_yaw = *self.start_yaw.get_or_insert(yaw);
        let pose = self.odometry.update(yaw - start_yaw, &modules);
        let at = pose.translation;
        let turned = pose.rotation.angle_rad;
        let omega = (-HEADING_GAIN * turned).clamp(-HEADING_MOST, HEADING_MOST);

        let arrived = |to: Translation2d| (to.x_m - at.x_m).hypot(to.y_m - at.y_m) <= ARRIVED_M;
        if self.stopping_since.is_none() && self.leg.is_none_or(|leg| arrived(leg.to) || passed(leg, at)) {
            let elapsed = tick.now.since(began).as_secs();
            let from = self.leg.map_or(at, |leg| leg.to);
            self.leg = self.route.next(elapsed).map(|to| Leg { from, to });
            self.commanded_mps = 0.0;
            if self.leg.is_none() {
                self.stopping_since = Some(tick.now);
            }
        }
        let (vx, vy) = self.leg.map_or((0.0, 0.0), |leg| self.velocity(leg, at, tick.dt_secs));
        // From the frame of the start into the robot's.
        let (sin, cos) = turned.sin_cos();
        self.drive.set(DriveCommand::Chassis {
            vx_mps: vx * cos + vy * sin,
            vy_mps: vy * cos - vx * sin,
            omega_rad_per_sec: if self.leg.is_some() { omega } else { 0.0 },
        });

        let Some(stopping) = self.stopping_since else { return Progress::Running };
        let standing = sensors::fastest_mps(&inputs, self.wheel_radius_m) <= STANDING_MPS;
        let since = if standing { Some(*self.standing_since.get_or_insert(tick.now)) } else { None };
        self.standing_since = since;
        let stood = since.is_some_and(|since| tick.now.since(since).as_secs() >= STAND_SECS);
        if stood || tick.now.since(stopping).as_secs() >= STAND_AT_MOST_SECS {
            self.hardware.report("odometry_x_m", at.x_m);
            self.hardware.report("odometry_y_m", at.y_m);
            self.hardware.report("turned_rad", turned);
            return Progress::Done;
        }
        Progress::Running
    }
}

fn passed(leg: Leg, at: Translation2d) -> bool {
    let (dx, dy) = (leg.to.x_m - leg.from.x_m, leg.to.y_m - leg.from.y_m);
    (leg.to.x_m - at.x_m) * dx + (leg.to.y_m - at.y_m) * dy <= 0.0
}
