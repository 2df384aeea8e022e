//! The preflight: bytes of a samples file in, a verdict out.
//!
//! One pass, one line in memory: the decoder reads, the rules judge each row, the watch plans it. Acceptance means that the file
//! is sound and that this arm, as described, can follow it. It is not permission to move.

use fieldlab_base::ConfigError;

use crate::findings::Findings;
use crate::json::Json;
use crate::plan::{PlanConfig, PlanReport, Watch};
use crate::profile::Profile;
use crate::samples::{Caps, Decoder, Event, Expected, Header, Mode, Rules, SampleCounts};

/// How a file is checked.
#[derive(Debug, Clone)]
pub struct CheckConfig {
    /// How strictly.
    pub mode: Mode,
    /// What is known beside the file.
    pub expected: Expected,
    /// What two rows may differ by.
    pub caps: Caps,
    /// The plan, when the arm's start is known; else only the file itself is judged.
    pub plan: Option<PlanConfig>,
    /// How many findings are kept whole.
    pub max_findings: usize,
}

impl CheckConfig {
    /// The strict check for a profile; `plan` as well when a start is known.
    #[must_use]
    pub fn for_profile(profile: &Profile, plan: Option<PlanConfig>) -> Self {
        Self {
            mode: Mode::Strict,
            expected: Expected::from_profile(profile),
            caps: Caps::from(&profile.limits),
            plan,
            max_findings: 10_000,
        }
    }
}

/// The verdict on a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// How strictly it was judged.
    pub mode: Mode,
    /// What the file says about itself, when its header could be read.
    pub header: Option<Header>,
    /// What it holds.
    pub counts: SampleCounts,
    /// What speaks against it.
    pub findings: Findings,
    /// The plan, when one was asked for and there were rows.
    pub plan: Option<PlanReport>,
}

impl Report {
    /// Whether nothing speaks against the file. Never authority to move.
    #[must_use]
    pub fn accepted(&self) -> bool {
        self.findings.is_empty()
    }

    /// The report as JSON, schema `fieldlab.draw-check/1`; digests stand beside the verdict. The trajectory is not in it.
    #[must_use]
    pub fn json(&self, profile_sha: Option<&str>) -> Json {
        let count = |count: u64| Json::Int(i64::try_from(count).unwrap_or(i64::MAX));
        let (listed, counts) = self.findings.json();
        let plan = self.plan.as_ref().map_or(Json::Null, |plan| {
            Json::map([
                ("planned", count(plan.planned)),
                ("path_length_m", Json::Float(plan.path_length_m)),
                ("pen_up_only", Json::Bool(plan.pen_up_only)),
                ("end_error_m", Json::number_or_null(plan.end_error_m)),
                ("model_error_rms_draw_m", Json::number_or_null(plan.model_error_rms_draw_m)),
                ("model_error_p95_draw_m", Json::number_or_null(plan.model_error_p95_draw_m)),
                ("redundant_axes", Json::Int(i64::from(plan.redundant_axes))),
                ("peaks", Json::List(plan.peaks.iter().map(crate::plan::Peak::json).collect())),
            ])
        });
        Json::map([
            ("schema", Json::text("fieldlab.draw-check/1")),
            ("accepted", Json::Bool(self.accepted())),
            ("hardware_authority", Json::Bool(false)),
            ("mode", Json::text(if self.mode == Mode::Strict { "strict" } else { "reference" })),
            ("constants_sha", Json::text(crate::constants::generated::SHA)),
            ("profile_sha", profile_sha.map_or(Json::Null, Json::text)),
            ("kind", self.header.as_ref().and_then(|h| h.kind.as_ref()).map_or(Json::Null, Json::text)),
            ("sample_count", count(self.counts.rows)),
            ("pen_down_count", count(self.counts.pen_down)),
            ("capture_count", count(self.counts.captures)),
            ("dip_count", count(self.counts.dips)),
            ("violations", count(self.findings.total())),
            ("violations_by_code", counts),
            ("violations_listed", listed),
            ("plan", plan),
        ])
    }

    /// The report for people.
    #[must_use]
    pub fn text(&self) -> String {
        use crate::json::twelve_digits;
        let mut out = String::new();
        let mut line = |text: String| {
            out.push_str(&text);
            out.push('\n');
        };
        line(format!("status,{}", if self.accepted() { "accepted" } else { "refused" }));
        line("hardware_authority,false".to_owned());
        line(format!("sample_count,{}", self.counts.rows));
        line(format!("pen_down_count,{}", self.counts.pen_down));
        line(format!("capture_count,{}", self.counts.captures));
        line(format!("dip_count,{}", self.counts.dips));
        if let Some(plan) = &self.plan {
            line(format!("path_length_m,{}", twelve_digits(plan.path_length_m)));
            for peak in &plan.peaks {
                if let Some(value) = peak.value {
                    let limit = peak.limit.map_or_else(|| "-".to_owned(), twelve_digits);
                    let column =
                        if peak.column.is_empty() { String::new() } else { format!(" ({})", peak.column) };
                    line(format!(
                        "{},{} at row {}{column}, limit {limit}",
                        peak.name,
                        twelve_digits(value),
                        peak.row
                    ));
                }
            }
        }
        line(format!("violations,{}", self.findings.total()));
        for (code, count) in self.findings.counts() {
            line(format!("  {count:>8} {:<22} {}", code.name(), code.meaning()));
        }
        for finding in self.findings.listed() {
            line(format!("{finding}"));
        }
        let hidden = self.findings.total() - self.findings.listed().len() as u64;
        if hidden > 0 {
            line(format!("{hidden} more are counted above and not listed"));
        }
        out
    }
}

/// A check under way.
///
/// ```
/// use fieldlab_draw::check::{CheckConfig, Checker};
/// use fieldlab_draw::profile::REFERENCE_RIGHT;
///
/// let mut checker = Checker::new(CheckConfig::for_profile(&REFERENCE_RIGHT.profile()?, None))?;
/// checker.push(b"schema,tatbot.draw-samples/1\nkind,path\n");
/// let report = checker.finish();
/// assert!(!report.accepted());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Checker {
    decoder: Decoder,
    parts: Parts,
}

#[derive(Debug)]
struct Parts {
    mode: Mode,
    caps: Caps,
    profile_given: bool,
    plan: Option<PlanConfig>,
    findings: Findings,
    row_findings: Findings,
    plan_findings: Findings,
    header: Option<Header>,
    rules: Option<Rules>,
    watch: Option<Watch>,
}

impl Checker {
    /// A check at the start of a file.
    ///
    /// # Errors
    /// A period that is not a finite number above zero, a start that is not finite.
    pub fn new(config: CheckConfig) -> Result<Self, ConfigError> {
        if let Some(period_s) = config.expected.period_s {
            fieldlab_base::check::positive("period_s", period_s)?;
        }
        if let Some(plan) = &config.plan {
            fieldlab_base::check::positive("law.period_s", plan.law.period_s)?;
            for joint in plan.start.joints_rad {
                fieldlab_base::check::finite("joints", joint)?;
            }
            fieldlab_base::check::finite("carriage_m", plan.start.carriage_m)?;
        }
        let profile_given = config.expected.profile_sha.is_some();
        Ok(Self {
            decoder: Decoder::new(config.mode, config.expected),
            parts: Parts {
                mode: config.mode,
                caps: config.caps,
                profile_given,
                plan: config.plan,
                findings: Findings::new(config.max_findings),
                row_findings: Findings::new(config.max_findings),
                plan_findings: Findings::new(config.max_findings),
                header: None,
                rules: None,
                watch: None,
            },
        })
    }

    /// Takes the next bytes of the file.
    pub fn push(&mut self, bytes: &[u8]) {
        let mut findings = std::mem::take(&mut self.parts.findings);
        self.decoder.push(bytes, &mut findings, &mut |event| self.parts.take(event));
        self.parts.findings = findings;
    }

    /// The verdict: what the reader found, then the rules, then the planner.
    #[must_use]
    pub fn finish(mut self) -> Report {
        let mut findings = std::mem::take(&mut self.parts.findings);
        self.decoder.finish(&mut findings, &mut |event| self.parts.take(event));
        let mut parts = self.parts;
        let mut counts = SampleCounts::default();
        if let (Some(rules), Some(header)) = (&parts.rules, &parts.header) {
            counts = rules.counts();
            rules.finish(header, &mut parts.row_findings);
        }
        let plan = parts.watch.map(|watch| watch.finish(&mut parts.plan_findings));
        findings.append(parts.row_findings);
        findings.append(parts.plan_findings);
        Report { mode: parts.mode, header: parts.header, counts, findings, plan }
    }
}

impl Parts {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Header(header) => {
                self.rules = Some(Rules::new(self.mode, header, self.caps, self.profile_given));
                if let Some(plan) = self.plan.take() {
                    self.watch = Some(Watch::new(plan, header, &mut self.plan_findings));
                }
                self.header = Some(header.clone());
            }
            Event::Row(index, row) => {
                if let Some(rules) = &mut self.rules {
                    rules.row(index, row, &mut self.row_findings);
                }
                if let Some(watch) = &mut self.watch {
                    watch.row(index, row, &mut self.plan_findings);
                }
            }
            Event::BadRow(index) => {
                if let Some(rules) = &mut self.rules {
                    rules.gap();
                }
                if let Some(watch) = &mut self.watch {
                    watch.gap(index, &mut self.plan_findings);
                }
            }
        }
    }
}
