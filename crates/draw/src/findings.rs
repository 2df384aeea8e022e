//! What speaks against a file: stable codes with row, column, value, limit and margin, all of them counted and the first
//! ones listed.

use std::collections::BTreeMap;

use crate::json::{Json, twelve_digits};

/// Why something was refused. The names are stable; texts are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
#[allow(missing_docs)] // each is explained by `Code::meaning`
pub enum Code {
    Schema,
    Header,
    Columns,
    Line,
    Number,
    Kind,
    ConstantsMissing,
    ConstantsMismatch,
    ProfileMismatch,
    Arm,
    Frame,
    Tip,
    Period,
    Count,
    StartTolerance,
    Ticks,
    Time,
    Rotation,
    Pen,
    CaptureOrder,
    DipOrder,
    JumpPosition,
    JumpRotation,
    Velocity,
    VelocityMismatch,
    StartCarriage,
    StartJoints,
    StartPosition,
    StartRotation,
    JointLimit,
    JointVelocity,
    JointAcceleration,
    CarriageEnvelope,
    CarriageVelocity,
    CarriageAcceleration,
    ModelError,
    ModelErrorP95,
    OrientationError,
    Endpoint,
    Singular,
    Workspace,
    SelfClearance,
    Unplanned,
}

const CODES: &[(Code, &str, &str)] = &[
    (Code::Schema, "schema", "the schema value is missing or not known"),
    (Code::Header, "header", "a header line is malformed, repeated, missing or too many"),
    (Code::Columns, "columns", "the columns line is missing or not the known one"),
    (Code::Line, "line", "a line is too long, not text, or has the wrong number of fields"),
    (Code::Number, "number", "a field is not a finite number in the accepted grammar"),
    (Code::Kind, "kind", "the kind is neither orbit nor path"),
    (Code::ConstantsMissing, "constants_missing", "no constants digest"),
    (Code::ConstantsMismatch, "constants_mismatch", "made with other motion constants"),
    (Code::ProfileMismatch, "profile_mismatch", "made for another profile"),
    (Code::Arm, "arm", "another arm, or not an arm's prefix"),
    (Code::Frame, "frame", "not the arm's base frame"),
    (Code::Tip, "tip", "the tip is missing, impossible or another tool's"),
    (Code::Period, "period", "the period is not the planner's"),
    (Code::Count, "count", "a count does not match the rows"),
    (Code::StartTolerance, "start_tolerance", "a start tolerance outside what is allowed"),
    (Code::Ticks, "ticks", "no rows, or more than the planner takes"),
    (Code::Time, "time", "time does not advance by one period"),
    (Code::Rotation, "rotation", "r is not a rotation"),
    (Code::Pen, "pen", "pen is not 0 or 1, or 1 where nothing is drawn"),
    (Code::CaptureOrder, "capture_order", "captures are not 1, 2, … on pen-up rows of an orbit"),
    (Code::DipOrder, "dip_order", "dips are not 1, 2, … on pen-up rows of a path"),
    (Code::JumpPosition, "jump_position", "the tip jumps between two rows"),
    (Code::JumpRotation, "jump_rotation", "the target rotation jumps between two rows"),
    (Code::Velocity, "velocity", "the feedforward speed is above the tip's cap"),
    (Code::VelocityMismatch, "velocity_mismatch", "v does not lead where p goes"),
    (Code::StartCarriage, "start_carriage", "the carriage starts outside its envelope"),
    (Code::StartJoints, "start_joints", "a joint starts outside its guarded range"),
    (Code::StartPosition, "start_position", "the first row is not where the arm is"),
    (Code::StartRotation, "start_rotation", "the first row is not turned as the arm is"),
    (Code::JointLimit, "joint_limit", "a joint leaves its guarded range"),
    (Code::JointVelocity, "joint_velocity", "a joint is too fast"),
    (Code::JointAcceleration, "joint_acceleration", "a joint accelerates too hard"),
    (Code::CarriageEnvelope, "carriage_envelope", "the carriage leaves its envelope"),
    (Code::CarriageVelocity, "carriage_velocity", "the carriage is too fast"),
    (Code::CarriageAcceleration, "carriage_acceleration", "the carriage accelerates too hard"),
    (Code::ModelError, "model_error", "the planned tip is too far from the row's"),
    (Code::ModelErrorP95, "model_error_p95", "too many pen-down rows are off"),
    (Code::OrientationError, "orientation_error", "the planned rotation is too far from the row's"),
    (Code::Endpoint, "endpoint", "the plan does not converge on the last row"),
    (Code::Singular, "singular", "the arm is too close to a singularity"),
    (Code::Workspace, "workspace", "a link or the tip is too close to the workspace's walls"),
    (Code::SelfClearance, "self_clearance", "two links of the arm are too close to each other"),
    (Code::Unplanned, "unplanned", "planning ended before the last row"),
];

impl Code {
    /// The name that reports carry.
    #[must_use]
    pub fn name(self) -> &'static str {
        CODES.iter().find(|(code, ..)| *code == self).map_or("unknown", |(_, name, _)| name)
    }

    /// What it says, in a sentence.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        CODES.iter().find(|(code, ..)| *code == self).map_or("", |(.., meaning)| meaning)
    }
}

/// Where in a samples file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The file as a whole.
    File,
    /// A line of the header, counted from one.
    Line(u64),
    /// A row of samples, counted from zero as the planner counts its ticks.
    Row(u64),
}

/// One thing that speaks against a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// What kind of thing.
    pub code: Code,
    /// Where.
    pub place: Place,
    /// Which column, header key, joint or other quantity.
    pub column: String,
    /// The value that was found, if it is a number.
    pub value: Option<f64>,
    /// The limit it met, if there is one.
    pub limit: Option<f64>,
    /// What is left to the limit: below zero when it is broken.
    pub margin: Option<f64>,
    /// What was found, when it is no number.
    pub found: String,
}

impl Finding {
    /// A value above its upper limit.
    #[must_use]
    pub fn above(code: Code, place: Place, column: impl Into<String>, value: f64, limit: f64) -> Self {
        let margin = Some(limit - value);
        Self {
            code,
            place,
            column: column.into(),
            value: Some(value),
            limit: Some(limit),
            margin,
            found: String::new(),
        }
    }

    /// A value below its lower limit.
    #[must_use]
    pub fn below(code: Code, place: Place, column: impl Into<String>, value: f64, limit: f64) -> Self {
        let margin = Some(value - limit);
        Self { margin, ..Self::above(code, place, column, value, limit) }
    }

    /// Something that is wrong without a measure.
    #[must_use]
    pub fn wrong(code: Code, place: Place, column: impl Into<String>, found: impl Into<String>) -> Self {
        let found = found.into();
        Self { code, place, column: column.into(), value: None, limit: None, margin: None, found }
    }

    /// The finding as one object of a report.
    #[must_use]
    pub fn json(&self) -> Json {
        let place = |wanted: bool, number: u64| {
            if wanted { Json::Int(i64::try_from(number).unwrap_or(i64::MAX)) } else { Json::Null }
        };
        let (line, row) = match self.place {
            Place::File => (Json::Null, Json::Null),
            Place::Line(line) => (place(true, line), Json::Null),
            Place::Row(row) => (Json::Null, place(true, row)),
        };
        Json::map([
            ("code", Json::text(self.code.name())),
            ("line", line),
            ("row", row),
            ("column", Json::text(&self.column)),
            ("value", Json::number_or_null(self.value)),
            ("limit", Json::number_or_null(self.limit)),
            ("margin", Json::number_or_null(self.margin)),
            ("found", if self.found.is_empty() { Json::Null } else { Json::text(&self.found) }),
        ])
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.place {
            Place::File => write!(f, "file")?,
            Place::Line(line) => write!(f, "line {line}")?,
            Place::Row(row) => write!(f, "row {row}")?,
        }
        write!(f, ", {}: {}", self.column, self.code.name())?;
        if let (Some(value), Some(limit)) = (self.value, self.limit) {
            write!(f, ": {} against the limit {}", twelve_digits(value), twelve_digits(limit))?;
            if let Some(margin) = self.margin {
                write!(f, " (margin {})", twelve_digits(margin))?;
            }
        } else if !self.found.is_empty() {
            write!(f, ": {}", self.found)?;
        }
        Ok(())
    }
}

/// All findings of a file: the first ones whole, every one counted.
#[derive(Debug, Clone, PartialEq)]
pub struct Findings {
    listed: Vec<Finding>,
    counts: BTreeMap<Code, u64>,
    most: usize,
}

impl Default for Findings {
    fn default() -> Self {
        Self::new(10_000)
    }
}

impl Findings {
    /// An empty list that keeps at most `most` findings whole; memory is bounded by it, whatever the file.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { listed: Vec::new(), counts: BTreeMap::new(), most }
    }

    /// Adds one.
    pub fn push(&mut self, finding: Finding) {
        *self.counts.entry(finding.code).or_default() += 1;
        if self.listed.len() < self.most {
            self.listed.push(finding);
        }
    }

    /// Adds all of `other`.
    pub fn append(&mut self, other: Self) {
        let room = self.most.saturating_sub(self.listed.len());
        self.listed.extend(other.listed.into_iter().take(room));
        for (code, count) in other.counts {
            *self.counts.entry(code).or_default() += count;
        }
    }

    /// The findings that were kept, in the order in which they were found.
    #[must_use]
    pub fn listed(&self) -> &[Finding] {
        &self.listed
    }

    /// How many there are, kept or not.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// How many there are of each code.
    #[must_use]
    pub fn counts(&self) -> &BTreeMap<Code, u64> {
        &self.counts
    }

    /// Whether nothing was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Whether something of this code was found.
    #[must_use]
    pub fn has(&self, code: Code) -> bool {
        self.counts.contains_key(&code)
    }

    /// The report's members: the list, and the counts by code.
    #[must_use]
    pub fn json(&self) -> (Json, Json) {
        let count = |count: u64| Json::Int(i64::try_from(count).unwrap_or(i64::MAX));
        let counts = self.counts.iter().map(|(code, &number)| (code.name(), count(number)));
        (Json::List(self.listed.iter().map(Finding::json).collect()), Json::map(counts))
    }
}
