//! Joint trajectories: the plan as it was made, and what ROS reads.

use std::io::{self, Write};

use super::law::{Start, Tick};
use crate::constants::generated;
use crate::error::DrawError;
use crate::json::{Json, python_float};
use crate::math::Vec3;
use crate::profile::{AXES, JOINTS};
use crate::samples::Row;

/// The schema value of a joint plan.
pub(crate) const PLAN_SCHEMA: &str = "tatbot.joint-plan/1";
/// Fastest joint at the end that still counts as standing, rad/s.
const AT_REST_RAD_S: f64 = 0.01;

/// Joints and carriage for every row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trajectory {
    /// Joints (rad) and carriage (m) at the end of each tick.
    pub positions: Vec<[f64; AXES]>,
    /// Their velocities during each tick.
    pub velocities: Vec<[f64; AXES]>,
    /// Where each row wants the tip, base frame, metres.
    pub references_m: Vec<Vec3>,
    /// Whether each row draws.
    pub pen: Vec<bool>,
    /// `(row, number)` of each capture.
    pub captures: Vec<(u64, u32)>,
    /// `(row, number)` of each dip.
    pub dips: Vec<(u64, u32)>,
}

/// One knot of an exported trajectory.
#[derive(Debug, Clone, PartialEq)]
pub struct TrajectoryPoint {
    /// Positions in the order of the joint names.
    pub positions: Vec<f64>,
    /// Velocities in the same order.
    pub velocities: Vec<f64>,
    /// Time from the start, nanoseconds.
    pub time_from_start_ns: u64,
}

impl Trajectory {
    pub(super) fn push(&mut self, row: &Row, tick: &Tick) {
        let index = self.positions.len() as u64;
        self.positions.push(tick.positions);
        self.velocities.push(tick.velocities);
        self.references_m.push(row.p_m);
        self.pen.push(row.pen);
        if row.capture > 0 {
            self.captures.push((index, row.capture));
        }
        if row.dip > 0 {
            self.dips.push((index, row.dip));
        }
    }

    /// Writes the joint plan on one line, schema `tatbot.joint-plan/1`, numbers so that they read back exactly.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write_plan(&self, about: &PlanAbout<'_>, out: &mut dyn Write) -> io::Result<()> {
        let tip = Json::floats(&about.tip_m).line();
        let seed: Vec<f64> = about.start.joints_rad.iter().copied().chain([about.start.carriage_m]).collect();
        write!(
            out,
            "{{\"schema\":\"{PLAN_SCHEMA}\",\"hardware_authority\":false,\"constants_sha\":\"{}\",\"profile_sha\":{},\"period_s\":{},\
             \"sample_count\":{},\"max_model_error_mm\":{},\"max_orientation_error_rad\":{},\"seed\":{},",
            generated::SHA,
            about.profile_sha.map_or(Json::Null, Json::text).line(),
            python_float(about.period_s),
            self.positions.len(),
            python_float(about.max_model_error_m * 1e3),
            python_float(about.max_orientation_error_rad),
            Json::floats(&seed).line(),
        )?;
        write!(
            out,
            "\"tool_model\":{{\"arm_prefix\":{},\"source\":{},\"tip_in_link6\":{tip},\"carriage_axis_in_link6\":{}}},",
            Json::text(about.arm_prefix).line(),
            Json::text(about.source).line(),
            about.carriage_axis.map_or(Json::Null, |axis| Json::floats(&axis)).line(),
        )?;
        rows(out, "positions", &self.positions)?;
        rows(out, "velocities", &self.velocities)?;
        rows(out, "cartesian_references", &self.references_m)?;
        out.write_all(b"\"pen\":[")?;
        for (index, pen) in self.pen.iter().enumerate() {
            write!(out, "{}{pen}", if index == 0 { "" } else { "," })?;
        }
        let marks = |marks: &[(u64, u32)]| {
            let items: Vec<String> = marks.iter().map(|(row, number)| format!("[{row},{number}]")).collect();
            items.join(",")
        };
        writeln!(
            out,
            "],\"capture_ticks\":[{}],\"dip_ticks\":[{}]}}",
            marks(&self.captures),
            marks(&self.dips)
        )
    }

    /// The knots that a trajectory controller takes: every `stride`-th row and the last, times from one period on, strictly
    /// rising, standing at the end.
    ///
    /// # Errors
    /// [`DrawError::Refused`] when there are no rows or the plan ends while a joint still moves.
    pub fn knots(&self, stride: usize, carriage: bool) -> Result<Vec<TrajectoryPoint>, DrawError> {
        let refuse = |reason: String| DrawError::Refused { code: "trajectory", reason };
        let last =
            self.positions.len().checked_sub(1).ok_or_else(|| refuse("there are no rows".to_owned()))?;
        let fastest = self.velocities[last].iter().fold(0.0f64, |most, v| most.max(v.abs()));
        if fastest > AT_REST_RAD_S {
            return Err(refuse(format!(
                "the last row moves a joint at {fastest:.4} rad/s, at most {AT_REST_RAD_S} counts as standing"
            )));
        }
        let axes = if carriage { AXES } else { JOINTS };
        let stride = stride.max(1);
        let picks = (0..last).filter(|index| (index + 1) % stride == 0).chain([last]);
        Ok(picks
            .map(|index| TrajectoryPoint {
                positions: self.positions[index][..axes].to_vec(),
                velocities: if index == last {
                    vec![0.0; axes]
                } else {
                    self.velocities[index][..axes].to_vec()
                },
                time_from_start_ns: (index as u64 + 1) * PERIOD_NS,
            })
            .collect())
    }
}

/// The period in nanoseconds, exact.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 2 500 000
const PERIOD_NS: u64 = (generated::PERIOD_S * 1e9) as u64;

/// What the joint plan says about its making.
#[derive(Debug, Clone, Copy)]
pub struct PlanAbout<'a> {
    /// The arm's prefix.
    pub arm_prefix: &'a str,
    /// Where the tip came from: `bound-input`, `compiled-default`, `samples-header` or `profile`.
    pub source: &'a str,
    /// The tip in the final link at carriage zero, metres.
    pub tip_m: Vec3,
    /// The carriage's direction in the final link.
    pub carriage_axis: Option<Vec3>,
    /// The profile's digest, when there is one.
    pub profile_sha: Option<&'a str>,
    /// Seconds between rows.
    pub period_s: f64,
    /// Where the arm stood.
    pub start: Start,
    /// The largest model error, metres.
    pub max_model_error_m: f64,
    /// The largest orientation error, radians.
    pub max_orientation_error_rad: f64,
}

fn rows<const N: usize>(out: &mut dyn Write, name: &str, rows: &[[f64; N]]) -> io::Result<()> {
    write!(out, "\"{name}\":[")?;
    for (index, row) in rows.iter().enumerate() {
        out.write_all(if index == 0 { b"[" } else { b",[" })?;
        for (column, value) in row.iter().enumerate() {
            write!(out, "{}{}", if column == 0 { "" } else { "," }, python_float(*value))?;
        }
        out.write_all(b"]")?;
    }
    out.write_all(b"],")
}

/// A ROS `trajectory_msgs/JointTrajectory` as JSON.
#[must_use]
pub fn ros_json(joint_names: &[String], knots: &[TrajectoryPoint]) -> Json {
    let points = knots.iter().map(|knot| {
        let whole = |value: u64| Json::Int(i64::try_from(value).unwrap_or(i64::MAX));
        Json::map([
            ("positions", Json::floats(&knot.positions)),
            ("velocities", Json::floats(&knot.velocities)),
            (
                "time_from_start",
                Json::map([
                    ("sec", whole(knot.time_from_start_ns / 1_000_000_000)),
                    ("nanosec", whole(knot.time_from_start_ns % 1_000_000_000)),
                ]),
            ),
        ])
    });
    Json::map([
        ("joint_names", Json::List(joint_names.iter().map(Json::text).collect())),
        ("points", Json::List(points.collect())),
    ])
}

/// The same as YAML.
#[must_use]
pub fn ros_yaml(joint_names: &[String], knots: &[TrajectoryPoint]) -> String {
    let mut out = String::from("joint_names:\n");
    for name in joint_names {
        out.push_str(&format!("- {}\n", Json::text(name).line()));
    }
    out.push_str("points:\n");
    for knot in knots {
        let list = |values: &[f64]| Json::floats(values).line();
        out.push_str(&format!(
            "- positions: {}\n  velocities: {}\n  time_from_start: {{sec: {}, nanosec: {}}}\n",
            list(&knot.positions),
            list(&knot.velocities),
            knot.time_from_start_ns / 1_000_000_000,
            knot.time_from_start_ns % 1_000_000_000,
        ));
    }
    out
}
