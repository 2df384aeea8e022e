//! The rules of rows: what may follow what.

use super::{Header, Kind, Mode, Row};
use crate::constants::generated;
use crate::findings::{Code, Finding, Findings, Place};
use crate::math::{Vec3, add, angle_between, norm, rotation_faults, scale, sub};
use crate::profile::Limits;

/// What two neighbouring rows may differ by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Caps {
    /// Tip speed with the pen down, m/s.
    pub pen_down_m_s: f64,
    /// Tip speed with the pen up, m/s.
    pub pen_up_m_s: f64,
    /// Turn of the target between two rows, radians.
    pub rotation_step_rad: f64,
}

impl Default for Caps {
    fn default() -> Self {
        Self { pen_down_m_s: 0.020, pen_up_m_s: 0.120, rotation_step_rad: 0.01 }
    }
}

impl From<&Limits> for Caps {
    fn from(limits: &Limits) -> Self {
        Self {
            pen_down_m_s: limits.tip_speed_pen_down_m_s,
            pen_up_m_s: limits.tip_speed_pen_up_m_s,
            rotation_step_rad: limits.rotation_step_rad,
        }
    }
}

/// Rows of a window over which v is held against p; longer than the smoothing of v, so that honest corners pass.
const WINDOW: usize = 41;

/// How much a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SampleCounts {
    /// Rows that were read.
    pub rows: u64,
    /// Rows with the pen down.
    pub pen_down: u64,
    /// Capture rows.
    pub captures: u64,
    /// Dip rows.
    pub dips: u64,
}

/// Judges rows one after the other, in bounded memory.
#[derive(Debug, Clone)]
pub struct Rules {
    mode: Mode,
    kind: Kind,
    period_s: f64,
    caps: Caps,
    counts: SampleCounts,
    stated_captures: Option<u64>,
    stated_dips: Option<u64>,
    previous: Option<Row>,
    window: Vec<(Vec3, Vec3, bool)>,
    window_at: usize,
    window_sum: Vec3,
    window_quiet: usize,
}

impl Rules {
    /// Rules for the rows under `header`.
    ///
    /// With a profile given, counts that the header does not state are not judged; else they mean none.
    #[must_use]
    pub fn new(mode: Mode, header: &Header, caps: Caps, profile_given: bool) -> Self {
        let optional = mode == Mode::Strict && profile_given;
        let or_none = |stated: Option<u64>| if optional { stated } else { Some(stated.unwrap_or(0)) };
        Self {
            mode,
            kind: header.kind(),
            // A file without a period is refused for that; its rows are judged as the only period there is would have them.
            period_s: header.period_s.unwrap_or(generated::PERIOD_S),
            caps,
            counts: SampleCounts::default(),
            stated_captures: or_none(header.capture_count),
            stated_dips: or_none(header.dip_count),
            previous: None,
            window: Vec::with_capacity(WINDOW),
            window_at: 0,
            window_sum: [0.0; 3],
            window_quiet: 0,
        }
    }

    /// What was counted so far.
    #[must_use]
    pub fn counts(&self) -> SampleCounts {
        self.counts
    }

    /// Judges the next row.
    pub fn row(&mut self, index: u64, row: &Row, out: &mut Findings) {
        let place = Place::Row(index);
        let (gram, determinant) = rotation_faults(&row.r);
        if gram > 1e-6 || determinant >= 1e-6 {
            out.push(Finding::above(Code::Rotation, place, "r00", gram.max(determinant), 1e-6));
        }
        self.marks(place, row, out);
        if self.mode == Mode::Strict {
            self.time(place, row, out);
            self.steps(place, row, out);
            self.feedforward(place, row, out);
        } else if let Some(before) = &self.previous {
            if row.t_s < before.t_s {
                out.push(Finding::below(Code::Time, place, "t_s", row.t_s, before.t_s));
            }
        } else if row.t_s < -self.period_s {
            out.push(Finding::below(Code::Time, place, "t_s", row.t_s, -self.period_s));
        }
        self.counts.rows += 1;
        self.counts.pen_down += u64::from(row.pen);
        self.previous = Some(*row);
    }

    /// A row could not be read: nothing is compared across the gap.
    pub fn gap(&mut self) {
        self.counts.rows += 1;
        self.previous = None;
        self.window.clear();
        self.window_sum = [0.0; 3];
        self.window_at = 0;
    }

    /// Judges the counts when the file has ended.
    pub fn finish(&self, header: &Header, out: &mut Findings) {
        if self.counts.rows == 0 {
            out.push(Finding::wrong(Code::Ticks, Place::File, "rows", "the file has no rows"));
        }
        let sample_count = match (self.mode, header.sample_count) {
            (Mode::Reference, Some(0)) => None,
            (_, stated) => stated,
        };
        if let Some(stated) = sample_count.filter(|&stated| stated != self.counts.rows) {
            let found = format!("{stated} stated, {} rows", self.counts.rows);
            out.push(Finding::wrong(Code::Count, Place::File, "sample_count", found));
        }
        // A mark too many was refused at its own row.
        for (key, stated, counted) in [
            ("capture_count", self.stated_captures, self.counts.captures),
            ("dip_count", self.stated_dips, self.counts.dips),
        ] {
            if let Some(stated) = stated.filter(|&stated| stated > counted) {
                let found = format!("{stated} stated, {counted} in the rows");
                out.push(Finding::wrong(Code::Count, Place::File, key, found));
            }
        }
    }

    /// Pen, capture and dip marks.
    fn marks(&mut self, place: Place, row: &Row, out: &mut Findings) {
        let strict = self.mode == Mode::Strict;
        if strict && row.pen && self.kind == Kind::Orbit {
            out.push(Finding::wrong(Code::Pen, place, "pen", "an orbit never touches"));
        }
        if row.capture > 0 {
            self.counts.captures += 1;
            surplus(place, "capture", self.stated_captures, self.counts.captures, out);
            if u64::from(row.capture) != self.counts.captures {
                let found = format!("{}, expected {}", row.capture, self.counts.captures);
                out.push(Finding::wrong(Code::CaptureOrder, place, "capture", found));
            }
            if strict && (self.kind != Kind::Orbit || row.pen) {
                let found = "captures belong to pen-up rows of an orbit";
                out.push(Finding::wrong(Code::CaptureOrder, place, "capture", found));
            }
        }
        if row.dip > 0 {
            self.counts.dips += 1;
            surplus(place, "dip", self.stated_dips, self.counts.dips, out);
            if u64::from(row.dip) != self.counts.dips {
                let found = format!("{}, expected {}", row.dip, self.counts.dips);
                out.push(Finding::wrong(Code::DipOrder, place, "dip", found));
            }
            if row.pen || (strict && self.kind != Kind::Path) {
                let found = "dips belong to pen-up rows of a path";
                out.push(Finding::wrong(Code::DipOrder, place, "dip", found));
            }
        }
    }

    fn time(&mut self, place: Place, row: &Row, out: &mut Findings) {
        let slack = 1e-9 + 1e-6 * self.period_s;
        let mut off = |value: f64, wanted: f64| {
            let gap = (value - wanted).abs();
            if gap > slack {
                let finding = Finding::above(Code::Time, place, "t_s", value, wanted);
                out.push(Finding { margin: Some(slack - gap), ..finding });
            }
        };
        match &self.previous {
            Some(before) => off(row.t_s - before.t_s, self.period_s),
            None if self.counts.rows == 0 => {
                // Writers count from one period after now; from now itself is the other honest choice.
                let wanted = if row.t_s.abs() <= slack { 0.0 } else { self.period_s };
                off(row.t_s, wanted);
            }
            None => {}
        }
    }

    /// The larger tip speed that these two rows may be apart, m/s: pen-down as soon as one of them draws.
    fn cap(&self, pen: bool) -> f64 {
        if pen { self.caps.pen_down_m_s } else { self.caps.pen_up_m_s }
    }

    fn steps(&mut self, place: Place, row: &Row, out: &mut Findings) {
        let speed = norm(row.v_m_s);
        let cap = self.cap(row.pen);
        // A billionth is what twelve printed digits may add.
        if speed > cap * (1.0 + 1e-9) {
            out.push(Finding::above(Code::Velocity, place, "vx", speed, cap));
        }
        let Some(before) = &self.previous else { return };
        let step = norm(sub(row.p_m, before.p_m));
        let limit = self.cap(row.pen || before.pen) * self.period_s * 1.05 + 1e-6;
        if step > limit {
            out.push(Finding::above(Code::JumpPosition, place, "px", step, limit));
        }
        let turn = angle_between(&row.r, &before.r);
        if turn > self.caps.rotation_step_rad {
            out.push(Finding::above(Code::JumpRotation, place, "r00", turn, self.caps.rotation_step_rad));
        }
    }

    /// Over [`WINDOW`] rows the trapezoid sum of v must lead where p goes, within 20 % of what the cap allows and 5 µm.
    fn feedforward(&mut self, place: Place, row: &Row, out: &mut Findings) {
        self.window_sum = add(self.window_sum, row.v_m_s);
        let entry = (row.p_m, row.v_m_s, row.pen);
        if self.window.len() < WINDOW {
            self.window.push(entry);
        } else {
            let gone = std::mem::replace(&mut self.window[self.window_at], entry);
            self.window_at = (self.window_at + 1) % WINDOW;
            self.window_sum = sub(self.window_sum, gone.1);
        }
        self.window_quiet = self.window_quiet.saturating_sub(1);
        if self.window.len() < WINDOW || self.window_quiet > 0 {
            return;
        }
        let (first_p, first_v, _) = self.window[self.window_at];
        let ends = scale(add(first_v, row.v_m_s), 0.5);
        let led = scale(sub(self.window_sum, ends), self.period_s);
        let gap = norm(sub(led, sub(row.p_m, first_p)));
        let cap = self.cap(self.window.iter().all(|(.., pen)| *pen));
        #[allow(clippy::cast_precision_loss)] // 40
        let limit = 0.2 * cap * (WINDOW - 1) as f64 * self.period_s + 5e-6;
        if gap > limit {
            out.push(Finding::above(Code::VelocityMismatch, place, "vx", gap, limit));
            // One finding per window: the next rows would tell of the same place again.
            self.window_quiet = WINDOW;
        }
    }
}

/// A mark beyond the number that the header states.
fn surplus(place: Place, column: &str, stated: Option<u64>, counted: u64, out: &mut Findings) {
    if let Some(stated) = stated.filter(|&stated| counted > stated) {
        let found = format!("number {counted}, the header states {stated}");
        out.push(Finding::wrong(Code::Count, place, column, found));
    }
}
