//! The header of a samples file and its rules.

use super::number::{c_number, strict_number, unsigned};
use super::{Kind, Mode, SCHEMA};
use crate::constants::generated;
use crate::findings::{Code, Finding, Findings, Place};
use crate::json::twelve_digits;
use crate::math::{Vec3, norm, sub};
use crate::profile::{Profile, is_prefix};

const RESERVED: &[&str] = &[
    "schema",
    "kind",
    "constants_sha",
    "profile_sha",
    "frame",
    "arm",
    "period_s",
    "tip_x_m",
    "tip_y_m",
    "tip_z_m",
    "sample_count",
    "capture_count",
    "dip_count",
    "start_tolerance_m",
    "carriage_ik",
];
/// The largest start tolerance that any file may ask for, metres.
const MOST_START_TOLERANCE_M: f64 = 0.005;

/// What the reader knows about the arm, beside the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Expected {
    /// The arm's prefix, when bound.
    pub arm_prefix: Option<String>,
    /// The tip in the final link at carriage zero, metres, and how far the file's may be from it.
    pub tip: Option<(Vec3, f64)>,
    /// The largest start tolerance, metres; also the one in force when the file states none.
    pub start_tolerance_m: Option<f64>,
    /// The profile's digest, when there is a profile: then tip, arm and counts are optional in the file.
    pub profile_sha: Option<String>,
    /// The control period that the caller gives, seconds.
    pub period_s: Option<f64>,
}

impl Expected {
    /// Everything that `profile` fixes.
    #[must_use]
    pub fn from_profile(profile: &Profile) -> Self {
        Self {
            arm_prefix: Some(profile.arm_prefix.clone()),
            tip: Some((profile.chain.tip_in_final_m, 1e-9)),
            start_tolerance_m: Some(profile.limits.start_tolerance_m),
            profile_sha: Some(profile.sha().to_owned()),
            period_s: None,
        }
    }
}

/// A header that was read. Fields are what the file says; what it does not say is absent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Header {
    /// `orbit`, `path`, or another word in reference mode, when stated.
    pub kind: Option<String>,
    /// The digest of the constants that the file was made with.
    pub constants_sha: Option<String>,
    /// The digest of the profile that the file was made for.
    pub profile_sha: Option<String>,
    /// The samples' frame, when stated.
    pub frame: Option<String>,
    /// The arm's prefix, when stated.
    pub arm: Option<String>,
    /// Seconds between rows, when stated as a number.
    pub period_s: Option<f64>,
    /// The tip in the final link at carriage zero, metres, when stated.
    pub tip_m: Option<Vec3>,
    /// Rows, when stated.
    pub sample_count: Option<u64>,
    /// Captures, when stated.
    pub capture_count: Option<u64>,
    /// Dips, when stated.
    pub dip_count: Option<u64>,
    /// How far the first row may be from the arm, metres, when stated.
    pub start_tolerance_m: Option<f64>,
    /// Whether the carriage takes part in drawing, when stated.
    pub carriage_ik: Option<bool>,
    /// Whether the file has the `dip` column.
    pub dip_column: bool,
    /// Keys that are not known, in file order.
    pub extras: Vec<(String, String)>,
}

impl Header {
    /// The kind as a closed set.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind.as_deref().map_or(Kind::Other, Kind::from_text)
    }

    /// Whether the carriage takes part in drawing: yes unless the file says no.
    #[must_use]
    pub fn uses_carriage(&self) -> bool {
        self.carriage_ik.unwrap_or(true)
    }
}

/// Collects header lines and judges them when the `columns` line has come.
#[derive(Debug, Clone, Default)]
pub(super) struct Collector {
    pairs: Vec<(String, String, u64)>,
}

impl Collector {
    /// One line's fields. Repeated reserved keys are refused in strict mode; the last one counts.
    pub(super) fn line(&mut self, key: &str, value: &str, line: u64, mode: Mode, out: &mut Findings) {
        if let Some(old) = self.pairs.iter_mut().find(|(known, ..)| known == key) {
            if mode == Mode::Strict {
                out.push(Finding::wrong(Code::Header, Place::Line(line), key, "the key stands twice"));
            }
            value.clone_into(&mut old.1);
            old.2 = line;
        } else {
            self.pairs.push((key.to_owned(), value.to_owned(), line));
        }
    }

    pub(super) fn judge(
        self,
        mode: Mode,
        expected: &Expected,
        dip_column: bool,
        out: &mut Findings,
    ) -> Header {
        let mut judge = Judge { pairs: &self.pairs, mode, expected, out };
        let mut header = judge.read();
        header.dip_column = dip_column;
        judge.identity(&header);
        judge.arm(&header);
        judge.tip(&header);
        judge.numbers(&header);
        header
    }
}

struct Judge<'a> {
    pairs: &'a [(String, String, u64)],
    mode: Mode,
    expected: &'a Expected,
    out: &'a mut Findings,
}

impl Judge<'_> {
    fn text(&self, key: &str) -> Option<&str> {
        self.pairs.iter().find(|(known, ..)| known == key).map(|(_, value, _)| value.as_str())
    }

    fn place(&self, key: &str) -> Place {
        self.pairs
            .iter()
            .find(|(known, ..)| known == key)
            .map_or(Place::File, |(_, _, line)| Place::Line(*line))
    }

    fn wrong(&mut self, code: Code, key: &str, found: impl Into<String>) {
        let place = self.place(key);
        self.out.push(Finding::wrong(code, place, key, found));
    }

    fn number(&mut self, key: &str) -> Option<f64> {
        let text = self.text(key)?.to_owned();
        let value = match self.mode {
            Mode::Strict => strict_number(text.as_bytes()),
            Mode::Reference => c_number(text.as_bytes()),
        };
        if value.is_none() {
            self.wrong(Code::Number, key, text);
        }
        value
    }

    fn count(&mut self, key: &str) -> Option<u64> {
        if self.mode == Mode::Strict {
            let text = self.text(key)?.to_owned();
            let value = unsigned(text.as_bytes());
            if value.is_none() {
                self.wrong(Code::Count, key, text);
            }
            return value;
        }
        // The reference reads a float and drops its fraction; what a negative one becomes is not defined, so it is refused.
        let value = self.number(key)?;
        if !(0.0..1e15).contains(&value) {
            self.wrong(Code::Count, key, twelve_digits(value));
            return None;
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        // 0 to 1e15, and dropping the fraction is the rule
        Some(value as u64)
    }

    fn read(&mut self) -> Header {
        let tip = [self.number("tip_x_m"), self.number("tip_y_m"), self.number("tip_z_m")];
        let carriage_ik = match self.text("carriage_ik") {
            None => None,
            Some("0") => Some(false),
            Some("1") => Some(true),
            Some(other) => {
                let as_number = c_number(other.as_bytes()).filter(|_| self.mode == Mode::Reference);
                match as_number {
                    Some(0.0) => Some(false),
                    Some(1.0) => Some(true),
                    _ => {
                        let other = other.to_owned();
                        self.wrong(Code::Header, "carriage_ik", other);
                        None
                    }
                }
            }
        };
        let known = |key: &str| RESERVED.contains(&key);
        Header {
            kind: self.text("kind").map(str::to_owned),
            constants_sha: self.text("constants_sha").map(str::to_owned),
            profile_sha: self.text("profile_sha").map(str::to_owned),
            frame: self.text("frame").map(str::to_owned),
            arm: self.text("arm").map(str::to_owned),
            period_s: self.number("period_s"),
            tip_m: match tip {
                [Some(x), Some(y), Some(z)] => Some([x, y, z]),
                _ => None,
            },
            sample_count: self.count("sample_count"),
            capture_count: self.count("capture_count"),
            dip_count: self.count("dip_count"),
            start_tolerance_m: self.number("start_tolerance_m"),
            carriage_ik,
            dip_column: false,
            extras: self
                .pairs
                .iter()
                .filter(|(key, ..)| !known(key))
                .map(|(key, value, _)| (key.clone(), value.clone()))
                .collect(),
        }
    }

    /// Schema, kind, digests.
    fn identity(&mut self, header: &Header) {
        match self.text("schema") {
            Some(SCHEMA) => {}
            other => {
                let found = other.unwrap_or("missing").to_owned();
                self.wrong(Code::Schema, "schema", found);
            }
        }
        match &header.kind {
            None => self.wrong(Code::Header, "kind", "missing"),
            Some(other) if header.kind() == Kind::Other && self.mode == Mode::Strict => {
                self.wrong(Code::Kind, "kind", other.clone());
            }
            Some(_) => {}
        }
        match header.constants_sha.as_deref() {
            None if header.kind() == Kind::Other && self.mode == Mode::Reference => {}
            None => self.wrong(Code::ConstantsMissing, "constants_sha", "missing"),
            Some(sha) if sha == generated::SHA => {}
            Some(sha) => {
                let found = format!("the file was made with {sha}, this planner has {}", generated::SHA);
                self.wrong(Code::ConstantsMismatch, "constants_sha", found);
            }
        }
        if let (Mode::Strict, Some(expected), Some(found)) =
            (self.mode, &self.expected.profile_sha, &header.profile_sha)
            && expected != found
        {
            let found = format!("the file was made for {found}, the profile given is {expected}");
            self.wrong(Code::ProfileMismatch, "profile_sha", found);
        }
    }

    fn arm(&mut self, header: &Header) {
        let stated = header.arm.as_deref();
        if let Some(arm) = stated
            && !is_prefix(arm)
        {
            self.wrong(Code::Arm, "arm", arm);
            return;
        }
        let bound = self.expected.arm_prefix.clone();
        let arm = match (&bound, stated, self.mode) {
            (Some(bound), Some(stated), _) if bound != stated => {
                self.wrong(Code::Arm, "arm", format!("{stated}, the arm given is {bound}"));
                return;
            }
            (Some(bound), None, Mode::Reference) if bound != "right" => {
                self.wrong(Code::Arm, "arm", format!("missing, which means right; the arm given is {bound}"));
                return;
            }
            (Some(bound), ..) => bound.clone(),
            (None, Some(stated), Mode::Reference) if stated != "right" && stated != "left" => {
                self.wrong(Code::Arm, "arm", format!("{stated} is not bound to a tool"));
                return;
            }
            (None, Some(stated), _) => stated.to_owned(),
            (None, None, Mode::Reference) => "right".to_owned(),
            // Without a profile the frame itself names the arm.
            (None, None, Mode::Strict) => {
                match header.frame.as_deref().and_then(|f| f.strip_suffix("/base_link")) {
                    Some(prefix) if is_prefix(prefix) => prefix.to_owned(),
                    _ => "right".to_owned(),
                }
            }
        };
        match &header.frame {
            None => self.wrong(Code::Header, "frame", "missing"),
            Some(frame) if *frame != format!("{arm}/base_link") => {
                self.wrong(Code::Frame, "frame", format!("{frame}, expected {arm}/base_link"));
            }
            Some(_) => {}
        }
    }

    fn tip(&mut self, header: &Header) {
        let profile = self.expected.profile_sha.is_some() && self.mode == Mode::Strict;
        let Some(tip) = header.tip_m else {
            let any = ["tip_x_m", "tip_y_m", "tip_z_m"].iter().any(|key| self.text(key).is_some());
            if any || !profile {
                self.wrong(Code::Tip, "tip_x_m", "tip_x_m, tip_y_m and tip_z_m are not all given");
            }
            return;
        };
        match self.expected.tip {
            Some((expected, within)) => {
                let gap = norm(sub(tip, expected));
                if gap.is_nan() || gap > within {
                    let place = self.place("tip_x_m");
                    self.out.push(Finding::above(Code::Tip, place, "tip_x_m", gap, within));
                }
            }
            None => {
                let length = norm(tip);
                let place = self.place("tip_x_m");
                if length < 0.05 {
                    self.out.push(Finding::below(Code::Tip, place, "tip_x_m", length, 0.05));
                } else if length > 0.45 {
                    self.out.push(Finding::above(Code::Tip, place, "tip_x_m", length, 0.45));
                }
            }
        }
    }

    fn numbers(&mut self, header: &Header) {
        if self.text("period_s").is_none() {
            self.wrong(Code::Header, "period_s", "missing");
        } else if let Some(period_s) = header.period_s {
            let strict = (self.mode == Mode::Strict).then_some(generated::PERIOD_S);
            for wanted in self.expected.period_s.into_iter().chain(strict) {
                let gap = (period_s - wanted).abs();
                if gap > 1e-9 {
                    let place = self.place("period_s");
                    let finding = Finding::above(Code::Period, place, "period_s", period_s, wanted);
                    self.out.push(Finding { margin: Some(-gap), ..finding });
                }
            }
        }
        let most = match (self.mode, self.expected.start_tolerance_m) {
            (Mode::Strict, Some(most)) => most,
            _ => MOST_START_TOLERANCE_M,
        };
        if let Some(tolerance) = header.start_tolerance_m {
            let place = self.place("start_tolerance_m");
            if tolerance <= 0.0 {
                let finding =
                    Finding::below(Code::StartTolerance, place, "start_tolerance_m", tolerance, 0.0);
                self.out.push(finding);
            } else if tolerance > most {
                let finding =
                    Finding::above(Code::StartTolerance, place, "start_tolerance_m", tolerance, most);
                self.out.push(finding);
            }
        }
        let profile = self.expected.profile_sha.is_some();
        if self.mode == Mode::Strict && !profile && self.text("sample_count").is_none() {
            self.wrong(Code::Header, "sample_count", "missing");
        }
    }
}
