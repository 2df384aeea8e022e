//! What watches the planner: every limit, its peak, and the row of the peak.

use fieldlab_base::ConfigError;

use super::law::{Law, Planner, Start, Tick};
use super::surroundings::{SelfWatch, Singularity};
use super::trajectory::Trajectory;
use crate::findings::{Code, Finding, Findings, Place};
use crate::json::Json;
use crate::math::{Rigid, Vec3, angle_between, norm, sub};
use crate::profile::{Body, Chain, JOINTS, Limits, Profile, Workspace};
use crate::samples::{Header, Mode, Row};

/// Bins of the model error's distribution, one micrometre each.
const BINS: usize = 4000;

/// What a plan is judged by.
#[derive(Debug, Clone)]
pub struct PlanConfig {
    /// How strictly.
    pub mode: Mode,
    /// The arm.
    pub chain: Chain,
    /// The names of its turning joints, for reports.
    pub joint_names: Vec<String>,
    /// The name of the carriage, for reports.
    pub carriage_name: Option<String>,
    /// The law.
    pub law: Law,
    /// Where the arm stands.
    pub start: Start,
    /// The profile's limits, workspace and base, when there is a profile; used in strict mode.
    pub rig: Option<(Limits, Workspace, Rigid)>,
    /// What the arm can hit itself with, when the profile says; used in strict mode.
    pub body: Option<Body>,
    /// Whether the header's tip is planned with instead of the chain's; the rules have judged it then.
    pub tip_from_header: bool,
    /// Whether to keep the whole joint trajectory.
    pub keep_trajectory: bool,
}

impl PlanConfig {
    /// A strict plan for `profile` from `start`, with the compiled law.
    ///
    /// # Errors
    /// A start that is not finite.
    pub fn strict(profile: &Profile, start: Start) -> Result<Self, ConfigError> {
        for (index, joint) in start.joints_rad.iter().enumerate() {
            fieldlab_base::check::finite(&format!("joints[{index}]"), *joint)?;
        }
        fieldlab_base::check::finite("carriage_m", start.carriage_m)?;
        Ok(Self {
            mode: Mode::Strict,
            chain: profile.chain.clone(),
            joint_names: profile.joint_names.clone(),
            carriage_name: profile.carriage_name.clone(),
            law: Law::compiled(),
            start,
            rig: Some((profile.limits, profile.workspace, profile.base_in_root)),
            body: profile.body.clone(),
            tip_from_header: false,
            keep_trajectory: true,
        })
    }
}

/// The worst of one quantity.
#[derive(Debug, Clone, PartialEq)]
pub struct Peak {
    /// Which quantity, with its unit.
    pub name: &'static str,
    /// Which joint, when it is one's.
    pub column: String,
    /// The worst value; absent when there was no row to take it from.
    pub value: Option<f64>,
    /// Its row, counted from zero.
    pub row: u64,
    /// The limit, if it has one.
    pub limit: Option<f64>,
    low: bool,
}

impl Peak {
    fn new(name: &'static str, limit: Option<f64>, low: bool) -> Self {
        Self { name, column: String::new(), value: None, row: 0, limit, low }
    }

    fn take(&mut self, value: f64, row: u64, column: &str) {
        let worse = self.value.is_none_or(|worst| if self.low { value < worst } else { value > worst });
        if worse {
            self.value = Some(value);
            self.row = row;
            column.clone_into(&mut self.column);
        }
    }

    /// The peak as one object of a report.
    #[must_use]
    pub fn json(&self) -> Json {
        Json::map([
            ("name", Json::text(self.name)),
            ("column", if self.column.is_empty() { Json::Null } else { Json::text(&self.column) }),
            ("value", Json::number_or_null(self.value)),
            (
                "row",
                self.value.map_or(Json::Null, |_| Json::Int(i64::try_from(self.row).unwrap_or(i64::MAX))),
            ),
            ("limit", Json::number_or_null(self.limit)),
        ])
    }
}

/// What a plan came to.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanReport {
    /// Rows that were planned.
    pub planned: u64,
    /// Length of the rows' path, metres.
    pub path_length_m: f64,
    /// Whether the wide envelope of an all-pen-up file was in force.
    pub pen_up_only: bool,
    /// The peak of each limit.
    pub peaks: Vec<Peak>,
    /// Distance of the last row from the plan's end, metres.
    pub end_error_m: Option<f64>,
    /// Root mean square of the model error with the pen down, metres.
    pub model_error_rms_draw_m: Option<f64>,
    /// 95 % of the pen-down rows are at most this far off, metres, to the micrometre above.
    pub model_error_p95_draw_m: Option<f64>,
    /// Axes that move less those that the task needs: 1 when the carriage takes part, else 0.
    pub redundant_axes: u8,
    /// The joint trajectory, when it was kept.
    pub trajectory: Option<Trajectory>,
}

impl PlanReport {
    /// The worst value of the quantity `name`.
    #[must_use]
    pub fn peak(&self, name: &str) -> Option<&Peak> {
        self.peaks.iter().find(|peak| peak.name == name)
    }
}

/// Indices into the list of peaks.
mod at {
    pub(super) const VELOCITY_DRAW: usize = 0;
    pub(super) const VELOCITY_UP: usize = 1;
    pub(super) const ACCELERATION: usize = 2;
    pub(super) const TIP_SPEED: usize = 3;
    pub(super) const CARRIAGE_MIN: usize = 4;
    pub(super) const CARRIAGE_MAX: usize = 5;
    pub(super) const CARRIAGE_VELOCITY: usize = 6;
    pub(super) const CARRIAGE_ACCELERATION: usize = 7;
    pub(super) const JOINT_MARGIN: usize = 8;
    pub(super) const MODEL_DRAW: usize = 9;
    pub(super) const MODEL_UP: usize = 10;
    pub(super) const ORIENTATION: usize = 11;
    pub(super) const SINGULAR: usize = 12;
    pub(super) const WORKSPACE: usize = 13;
    pub(super) const SELF: usize = 14;
}

/// Plans row after row and judges every tick. It sees each row one row late, because the law looks one row ahead.
#[derive(Debug)]
pub struct Watch {
    config: PlanConfig,
    planner: Planner,
    start_tolerance_m: f64,
    held: Option<(u64, Row)>,
    last_place: Option<Vec3>,
    last_error_m: Option<f64>,
    peaks: Vec<Peak>,
    path_length_m: f64,
    planned: u64,
    drawing: bool,
    /// Findings that count only if the file turns out to draw.
    if_drawing: Findings,
    ended: bool,
    squares_m2: f64,
    draw_rows: u64,
    bins: Vec<u32>,
    trajectory: Option<Trajectory>,
    carriage_ik: bool,
    singularity: Singularity,
    self_watch: Option<SelfWatch>,
}

impl Watch {
    /// A watch over a plan of the rows under `header`. The start is judged at once, all but the first row's place.
    #[must_use]
    pub fn new(mut config: PlanConfig, header: &Header, findings: &mut Findings) -> Self {
        if let (true, Some(tip_m)) = (config.tip_from_header, header.tip_m) {
            config.chain.tip_in_final_m = tip_m;
        }
        let planner = Planner::new(config.chain.clone(), config.law, header.uses_carriage(), &config.start);
        let own = header.start_tolerance_m;
        let start_tolerance_m = match (&config.rig, config.mode) {
            (Some((limits, ..)), Mode::Strict) => {
                own.unwrap_or(limits.start_tolerance_m).min(limits.start_tolerance_m)
            }
            _ => own.unwrap_or(0.001),
        };
        let law = &config.law;
        let limits = config.rig.map(|(limits, ..)| limits).filter(|_| config.mode == Mode::Strict);
        let carriage = config.chain.carriage_axis.is_some();
        let some_carriage = |limit: f64| carriage.then_some(limit);
        let peaks = vec![
            Peak::new("joint_velocity_draw_rad_s", Some(law.max_joint_velocity_draw_rad_s), false),
            Peak::new("joint_velocity_pen_up_rad_s", Some(law.max_joint_velocity_pen_up_rad_s), false),
            Peak::new("joint_acceleration_rad_s2", limits.and_then(|l| l.joint_acceleration_rad_s2), false),
            Peak::new("tip_speed_m_s", limits.map(|l| l.tip_speed_pen_up_m_s), false),
            Peak::new("carriage_min_m", some_carriage(law.carriage_draw_m.0), true),
            Peak::new("carriage_max_m", some_carriage(law.carriage_draw_m.1), false),
            Peak::new("carriage_velocity_m_s", some_carriage(law.max_carriage_velocity_m_s), false),
            Peak::new("carriage_acceleration_m_s2", some_carriage(law.max_carriage_acceleration_m_s2), false),
            Peak::new("joint_limit_margin_rad", Some(0.0), true),
            Peak::new("model_error_draw_m", Some(law.max_model_error_draw_m), false),
            Peak::new("model_error_pen_up_m", Some(law.max_model_error_pen_up_m), false),
            Peak::new("orientation_error_rad", Some(law.max_orientation_error_rad), false),
            Peak::new("smallest_singular_value", limits.and_then(|l| l.min_singular_value), true),
            Peak::new("workspace_clearance_m", limits.map(|l| l.workspace_clearance_m), true),
            Peak::new("self_clearance_m", config.body.as_ref().map(|body| body.clearance_m), true),
        ];
        let mut watch = Self {
            planner,
            start_tolerance_m,
            held: None,
            last_place: None,
            last_error_m: None,
            peaks,
            path_length_m: 0.0,
            planned: 0,
            drawing: false,
            if_drawing: Findings::new(1000),
            ended: false,
            squares_m2: 0.0,
            draw_rows: 0,
            bins: vec![0; BINS],
            trajectory: config.keep_trajectory.then(Trajectory::default),
            carriage_ik: header.uses_carriage() && carriage,
            singularity: Singularity::new(),
            self_watch: config.body.clone().map(|body| SelfWatch::new(body, &config.chain)),
            config,
        };
        watch.judge_start(findings);
        watch
    }

    fn judge_start(&mut self, out: &mut Findings) {
        let start = self.config.start;
        for (index, (position, joint)) in start.joints_rad.iter().zip(&self.config.chain.joints).enumerate() {
            let name = self.joint_name(index);
            let (lower, upper) = (joint.lower_rad, joint.upper_rad);
            if *position < lower || !position.is_finite() {
                out.push(Finding::below(Code::StartJoints, Place::File, name, *position, lower));
            } else if *position > upper {
                out.push(Finding::above(Code::StartJoints, Place::File, name, *position, upper));
            }
        }
        if self.config.chain.carriage_axis.is_some() {
            self.envelope(Code::StartCarriage, Place::File, start.carriage_m, out);
        }
    }

    /// Takes the next row; the one before it is planned now.
    pub fn row(&mut self, index: u64, row: &Row, out: &mut Findings) {
        if self.ended {
            return;
        }
        match self.held.replace((index, *row)) {
            Some((before, held)) => self.tick(before, &held, Some(row), out),
            None => self.first(row, out),
        }
    }

    /// Says that a row could not be read: planning ends here.
    pub fn gap(&mut self, index: u64, out: &mut Findings) {
        if !self.ended {
            self.ended = true;
            out.push(Finding::wrong(Code::Unplanned, Place::Row(index), "row", "the row cannot be read"));
        }
    }

    /// Plans the last row and draws the sum.
    #[must_use]
    pub fn finish(mut self, out: &mut Findings) -> PlanReport {
        if let (Some((index, held)), false) = (self.held.take(), self.ended) {
            self.tick(index, &held, None, out);
            let limit = self.config.law.max_model_error_end_m;
            if let Some(error) = self.last_error_m.filter(|error| !self.ended && *error > limit) {
                out.push(Finding::above(Code::Endpoint, Place::Row(index), "p", error, limit));
            }
        }
        if !self.drawing {
            let wide = self.config.law.carriage_pen_up_m;
            let carriage = self.config.chain.carriage_axis.is_some();
            self.peaks[at::CARRIAGE_MIN].limit = carriage.then_some(wide.0);
            self.peaks[at::CARRIAGE_MAX].limit = carriage.then_some(wide.1);
        }
        let p95 = self.p95();
        let strict = self.config.rig.filter(|_| self.config.mode == Mode::Strict);
        if let (Some(p95), Some(limit)) = (p95, strict.and_then(|(limits, ..)| limits.model_error_p95_m))
            && p95 > limit
        {
            out.push(Finding::above(Code::ModelErrorP95, Place::File, "p", p95, limit));
        }
        #[allow(clippy::cast_precision_loss)] // at most 250 000
        let rms = (self.draw_rows > 0).then(|| (self.squares_m2 / self.draw_rows as f64).sqrt());
        PlanReport {
            planned: self.planned,
            path_length_m: self.path_length_m,
            pen_up_only: !self.drawing,
            peaks: self.peaks,
            end_error_m: self.last_error_m,
            model_error_rms_draw_m: rms,
            model_error_p95_draw_m: p95,
            redundant_axes: u8::from(self.carriage_ik && self.drawing),
            trajectory: self.trajectory,
        }
    }

    fn p95(&self) -> Option<f64> {
        let mut left = self.draw_rows - self.draw_rows / 20;
        if self.draw_rows == 0 {
            return None;
        }
        for (bin, &count) in self.bins.iter().enumerate() {
            left = left.saturating_sub(u64::from(count));
            if left == 0 {
                #[allow(clippy::cast_precision_loss)] // at most 4000
                return Some((bin + 1) as f64 * 1e-6);
            }
        }
        None
    }

    fn joint_name(&self, index: usize) -> String {
        let named = self.config.joint_names.get(index).cloned();
        named.unwrap_or_else(|| if index < JOINTS { format!("joint_{index}") } else { "carriage".to_owned() })
    }

    fn first(&mut self, row: &Row, out: &mut Findings) {
        let now = self.planner.posture();
        let gap = norm(sub(row.p_m, now.tip_m));
        let place = Place::Row(0);
        if gap > self.start_tolerance_m || gap.is_nan() {
            out.push(Finding::above(Code::StartPosition, place, "px", gap, self.start_tolerance_m));
        }
        if let (Some((limits, ..)), Mode::Strict) = (&self.config.rig, self.config.mode) {
            let turn = angle_between(&now.rotation, &row.r);
            if turn > limits.start_tolerance_rad {
                out.push(Finding::above(Code::StartRotation, place, "r00", turn, limits.start_tolerance_rad));
            }
        }
    }

    /// The carriage against its envelope: the wide one always, the narrow one if the file draws anywhere.
    fn envelope(&mut self, code: Code, place: Place, carriage_m: f64, out: &mut Findings) {
        let column = self.config.carriage_name.clone().unwrap_or_else(|| "carriage".to_owned());
        let outside = |(low, high): (f64, f64)| {
            if carriage_m < low || carriage_m.is_nan() {
                Some(Finding::below(code, place, column.clone(), carriage_m, low))
            } else if carriage_m > high {
                Some(Finding::above(code, place, column.clone(), carriage_m, high))
            } else {
                None
            }
        };
        let law = &self.config.law;
        if let Some(finding) = outside(law.carriage_draw_m) {
            if self.drawing { out.push(finding) } else { self.if_drawing.push(finding) }
        } else {
            return;
        }
        if !self.drawing
            && let Some(finding) = outside(law.carriage_pen_up_m)
        {
            out.push(finding);
        }
    }

    fn tick(&mut self, index: u64, row: &Row, next: Option<&Row>, out: &mut Findings) {
        if row.pen && !self.drawing {
            self.drawing = true;
            out.append(std::mem::replace(&mut self.if_drawing, Findings::new(0)));
        }
        let place = Place::Row(index);
        if let Some(before) = self.last_place.replace(row.p_m) {
            self.path_length_m += norm(sub(row.p_m, before));
        }
        self.peaks[at::TIP_SPEED].take(norm(row.v_m_s), index, "");
        let Some(tick) = self.planner.step(row, next) else {
            self.ended = true;
            out.push(Finding::wrong(
                Code::Singular,
                place,
                "joints",
                "the equations have no usable solution",
            ));
            let found = "planning ended at a singular tick";
            out.push(Finding::wrong(Code::Unplanned, place, "row", found));
            return;
        };
        self.planned += 1;
        self.last_error_m = Some(tick.model_error_m);
        self.joints(index, row, &tick, out);
        if self.config.chain.carriage_axis.is_some() {
            self.carriage(index, &tick, out);
        }
        self.errors(index, row, &tick, out);
        if self.config.mode == Mode::Strict {
            self.surroundings(index, &tick, out);
        }
        if let Some(trajectory) = &mut self.trajectory {
            trajectory.push(row, &tick);
        }
    }

    fn joints(&mut self, index: u64, row: &Row, tick: &Tick, out: &mut Findings) {
        let place = Place::Row(index);
        let law = &self.config.law;
        let (peak, cap) = if row.pen {
            (at::VELOCITY_DRAW, law.max_joint_velocity_draw_rad_s)
        } else {
            (at::VELOCITY_UP, law.max_joint_velocity_pen_up_rad_s)
        };
        let acceleration_cap = self.peaks[at::ACCELERATION].limit;
        for joint in 0..JOINTS {
            let speed = tick.velocities[joint].abs();
            let acceleration = tick.accelerations[joint].abs();
            let position = tick.positions[joint];
            let (lower, upper) =
                (self.config.chain.joints[joint].lower_rad, self.config.chain.joints[joint].upper_rad);
            let name = self.config.joint_names.get(joint).map_or("joint", String::as_str);
            self.peaks[peak].take(speed, index, name);
            self.peaks[at::ACCELERATION].take(acceleration, index, name);
            self.peaks[at::JOINT_MARGIN].take((position - lower).min(upper - position), index, name);
            if speed > cap {
                out.push(Finding::above(Code::JointVelocity, place, name, speed, cap));
            }
            if let Some(cap) = acceleration_cap.filter(|&cap| acceleration > cap) {
                out.push(Finding::above(Code::JointAcceleration, place, name, acceleration, cap));
            }
            if position < lower {
                out.push(Finding::below(Code::JointLimit, place, name, position, lower));
            } else if position > upper {
                out.push(Finding::above(Code::JointLimit, place, name, position, upper));
            }
        }
    }

    fn carriage(&mut self, index: u64, tick: &Tick, out: &mut Findings) {
        let place = Place::Row(index);
        let speed = tick.velocities[JOINTS].abs();
        let acceleration = tick.accelerations[JOINTS].abs();
        let position = tick.positions[JOINTS];
        let name = self.config.carriage_name.clone().unwrap_or_else(|| "carriage".to_owned());
        for (peak, value) in [
            (at::CARRIAGE_MIN, position),
            (at::CARRIAGE_MAX, position),
            (at::CARRIAGE_VELOCITY, speed),
            (at::CARRIAGE_ACCELERATION, acceleration),
        ] {
            self.peaks[peak].take(value, index, &name);
        }
        let law = self.config.law;
        if speed > law.max_carriage_velocity_m_s {
            let limit = law.max_carriage_velocity_m_s;
            out.push(Finding::above(Code::CarriageVelocity, place, name.as_str(), speed, limit));
        }
        if acceleration > law.max_carriage_acceleration_m_s2 {
            let limit = law.max_carriage_acceleration_m_s2;
            out.push(Finding::above(Code::CarriageAcceleration, place, name.as_str(), acceleration, limit));
        }
        self.envelope(Code::CarriageEnvelope, place, position, out);
    }

    fn errors(&mut self, index: u64, row: &Row, tick: &Tick, out: &mut Findings) {
        let place = Place::Row(index);
        let law = self.config.law;
        let error = tick.model_error_m;
        let (peak, cap) = if row.pen {
            self.squares_m2 += error * error;
            self.draw_rows += 1;
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            // saturates, and the last bin is wide
            let bin = ((error * 1e6) as usize).min(BINS - 1);
            self.bins[bin] = self.bins[bin].saturating_add(1);
            (at::MODEL_DRAW, law.max_model_error_draw_m)
        } else {
            (at::MODEL_UP, law.max_model_error_pen_up_m)
        };
        self.peaks[peak].take(error, index, "");
        if error > cap {
            out.push(Finding::above(Code::ModelError, place, "p", error, cap));
        }
        let turn = match self.config.mode {
            Mode::Reference => tick.orientation_sine,
            Mode::Strict => angle_between(&self.planner.posture().rotation, &row.r),
        };
        self.peaks[at::ORIENTATION].take(turn, index, "");
        if turn > law.max_orientation_error_rad {
            let limit = law.max_orientation_error_rad;
            out.push(Finding::above(Code::OrientationError, place, "r", turn, limit));
        }
    }

    /// Singularity, the arm itself and the workspace's walls, which the reference does not know.
    fn surroundings(&mut self, index: u64, tick: &Tick, out: &mut Findings) {
        let place = Place::Row(index);
        let posture = *self.planner.posture();
        let smallest = self.singularity.smallest(&posture);
        self.peaks[at::SINGULAR].take(smallest, index, "");
        if let Some(limit) = self.peaks[at::SINGULAR].limit.filter(|&limit| smallest < limit) {
            out.push(Finding::below(Code::Singular, place, "jacobian", smallest, limit));
        }
        let mut joints_rad = [0.0; JOINTS];
        joints_rad.copy_from_slice(&tick.positions[..JOINTS]);
        let looked = self.self_watch.as_mut().and_then(|watch| watch.look(&self.config.chain, &joints_rad));
        if let Some((gap_m, links)) = looked {
            self.peaks[at::SELF].take(gap_m, index, &links);
            if let Some(limit) = self.peaks[at::SELF].limit.filter(|&limit| gap_m < limit) {
                out.push(Finding::below(Code::SelfClearance, place, links, gap_m, limit));
            }
        }
        let Some((limits, workspace, base_in_root)) = self.config.rig else { return };
        let tip_and_links = [posture.tip_m, posture.final_m].into_iter().chain(posture.origins_m);
        let mut least = f64::INFINITY;
        for point in tip_and_links {
            least = least.min(workspace.clearance_m(base_in_root.point(point)));
        }
        self.peaks[at::WORKSPACE].take(least, index, "");
        if least < limits.workspace_clearance_m {
            let limit = limits.workspace_clearance_m;
            out.push(Finding::below(Code::Workspace, place, "workspace", least, limit));
        }
    }
}
