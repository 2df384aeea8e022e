//! The reference's offline planner as a command: its arguments, its report, its exit codes.
//!
//! `SAMPLES PERIOD J0 J1 J2 J3 J4 J5 CARRIAGE [--json] [--arm-prefix P] [--tool-tip-in-link6 X Y Z]`. Exit 0 with a report on stdout, 2
//! with the usage, 3 with `status,refused` and `reason,…` on stderr.

use std::io::{self, Write};

use crate::check::{CheckConfig, Report};
use crate::error::DrawError;
use crate::findings::Code;
use crate::json::twelve_digits;
use crate::math::{Vec3, norm};
use crate::plan::{Law, PlanAbout, PlanConfig, PlanReport, Start};
use crate::profile::{JOINTS, REFERENCE_RIGHT, is_prefix};
use crate::samples::{Caps, Expected, Mode, c_number};

/// How the command is called.
pub const USAGE: &str = "usage: path-plan-check SAMPLES PERIOD J0 J1 J2 J3 J4 J5 CARRIAGE [--json] [--arm-prefix PREFIX] \
                         [--tool-tip-in-link6 X Y Z]";
/// The tip that the reference planner is compiled with, in the final link, metres.
const COMPILED_TIP_M: Vec3 = [0.204_986_928_170_784_68, 0.012_312_678_895_000_949, -0.000_544];

/// The command's arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The samples file.
    pub samples: String,
    /// Whether the joint plan is printed instead of the report.
    pub json: bool,
    seeds: Vec<String>,
    arm_prefix: Option<String>,
    tip: Option<[String; 3]>,
}

/// Wrong words: the usage is printed and the exit code is 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage;

impl Request {
    /// Reads the arguments.
    ///
    /// # Errors
    /// Fewer than nine, an unknown or repeated option, an option without its values, an empty prefix, a tip without a prefix.
    ///
    /// ```
    /// use fieldlab_draw::path_plan_check::Request;
    ///
    /// let words: Vec<String> = "path.csv 0.0025 0 1 1 0 0 0 0.002 --json".split(' ').map(str::to_owned).collect();
    /// assert!(Request::parse(&words).is_ok_and(|request| request.json));
    /// assert!(Request::parse(&words[..8]).is_err());
    /// ```
    pub fn parse(words: &[String]) -> Result<Self, Usage> {
        if words.len() < 9 {
            return Err(Usage);
        }
        let (positional, options) = words.split_at(9);
        let mut request = Self {
            samples: positional[0].clone(),
            json: false,
            seeds: positional[1..].to_vec(),
            arm_prefix: None,
            tip: None,
        };
        let mut rest = options.iter();
        while let Some(option) = rest.next() {
            match option.as_str() {
                "--json" if !request.json => request.json = true,
                "--arm-prefix" if request.arm_prefix.is_none() => {
                    request.arm_prefix = rest.next().filter(|prefix| !prefix.is_empty()).cloned();
                    request.arm_prefix.as_ref().ok_or(Usage)?;
                }
                "--tool-tip-in-link6" if request.tip.is_none() => {
                    let mut value = || rest.next().cloned().ok_or(Usage);
                    request.tip = Some([value()?, value()?, value()?]);
                }
                _ => return Err(Usage),
            }
        }
        if request.tip.is_some() && request.arm_prefix.is_none() {
            return Err(Usage);
        }
        Ok(request)
    }

    /// The check that was asked for: reference mode, the reference arm, the compiled law at the period given.
    ///
    /// # Errors
    /// [`DrawError::Refused`] for a seed or tip that is no number, a period that is not above zero, a prefix that is none.
    pub fn config(&self) -> Result<CheckConfig, DrawError> {
        let refuse = |reason: String| DrawError::Refused { code: "arguments", reason };
        let mut numbers = [0.0; 2 + JOINTS];
        for (slot, text) in numbers.iter_mut().zip(&self.seeds) {
            *slot = leading_number(text).ok_or_else(|| refuse(format!("`{text}` is no number")))?;
        }
        let [period_s, joints @ .., carriage_m] = numbers;
        if period_s.is_nan() || period_s <= 0.0 {
            return Err(refuse(format!("the period {period_s} s is not above zero")));
        }
        if let Some(prefix) = self.arm_prefix.as_ref().filter(|prefix| !is_prefix(prefix)) {
            return Err(refuse(format!("`{prefix}` is not an arm's prefix")));
        }
        let bound = self.tip_m()?;
        let right = self.arm_prefix.as_deref().is_none_or(|prefix| prefix == "right");
        let mut chain = REFERENCE_RIGHT.profile()?.chain;
        chain.tip_in_final_m = bound.unwrap_or(COMPILED_TIP_M);
        let tip = match bound {
            Some(tip) => Some((tip, 1e-9)),
            None if right => Some((COMPILED_TIP_M, 1e-4)),
            None => None,
        };
        let mut joints_rad = [0.0; JOINTS];
        joints_rad.copy_from_slice(&joints);
        Ok(CheckConfig {
            mode: Mode::Reference,
            expected: Expected {
                arm_prefix: self.arm_prefix.clone(),
                tip,
                start_tolerance_m: None,
                profile_sha: None,
                period_s: Some(period_s),
            },
            caps: Caps::default(),
            plan: Some(PlanConfig {
                mode: Mode::Reference,
                chain,
                joint_names: Vec::new(),
                carriage_name: None,
                law: Law { period_s, ..Law::compiled() },
                start: Start { joints_rad, carriage_m },
                rig: None,
                body: None,
                tip_from_header: bound.is_none() && !right,
                keep_trajectory: self.json,
            }),
            max_findings: 1000,
        })
    }

    fn tip_m(&self) -> Result<Option<Vec3>, DrawError> {
        let Some(words) = &self.tip else { return Ok(None) };
        let refuse = |reason: String| DrawError::Refused { code: "arguments", reason };
        let mut tip_m = [0.0; 3];
        for (slot, text) in tip_m.iter_mut().zip(words) {
            *slot = c_number(text.as_bytes()).ok_or_else(|| refuse(format!("`{text}` is no number")))?;
        }
        let length = norm(tip_m);
        if !(0.05..=0.45).contains(&length) {
            return Err(refuse(format!(
                "the tip is {length} m from the final link, 0.05 to 0.45 m is accepted"
            )));
        }
        Ok(Some(tip_m))
    }

    /// Where the tip came from, in the plan's words.
    #[must_use]
    fn source(&self, report: &Report) -> &'static str {
        let arm = report.header.as_ref().and_then(|header| header.arm.as_deref()).unwrap_or("right");
        if self.tip.is_some() {
            "bound-input"
        } else if self.arm_prefix.as_deref().unwrap_or(arm) == "right" {
            "compiled-default"
        } else {
            "samples-header"
        }
    }

    /// Writes the joint plan of an accepted report on one line.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write_json(&self, config: &CheckConfig, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let (Some(plan), Some(planned), Some(header)) = (&config.plan, &report.plan, &report.header) else {
            return Ok(());
        };
        let Some(trajectory) = &planned.trajectory else { return Ok(()) };
        let source = self.source(report);
        let tip_m = match (source, header.tip_m) {
            ("samples-header", Some(tip_m)) => tip_m,
            _ => plan.chain.tip_in_final_m,
        };
        let about = PlanAbout {
            arm_prefix: self.arm_prefix.as_deref().or(header.arm.as_deref()).unwrap_or("right"),
            source,
            tip_m,
            carriage_axis: plan.chain.carriage_axis,
            profile_sha: None,
            period_s: plan.law.period_s,
            start: plan.start,
            max_model_error_m: most(planned, &["model_error_draw_m", "model_error_pen_up_m"]),
            max_orientation_error_rad: most(planned, &["orientation_error_rad"]),
        };
        trajectory.write_plan(&about, out)
    }
}

/// The first thing that speaks against the file, as the reference prints it.
#[must_use]
pub fn refusal(report: &Report) -> Option<String> {
    report.findings.listed().first().map(|finding| {
        let place = finding.to_string();
        let why = if finding.code == Code::ConstantsMismatch { "" } else { finding.code.meaning() };
        let joint = if why.is_empty() { "" } else { ": " };
        format!("status,refused\nreason,{}", format!("{why}{joint}{place}").replace(',', ";"))
    })
}

/// The report of an accepted file, `key,value` lines.
#[must_use]
pub fn text(report: &Report) -> Option<String> {
    let (plan, header) = (report.plan.as_ref()?, report.header.as_ref()?);
    let lowest = plan.peak("carriage_min_m").and_then(|peak| peak.value).unwrap_or(0.0);
    let number = |value: f64| twelve_digits(value);
    let lines = [
        ("status", "accepted".to_owned()),
        ("kind", header.kind.clone()?),
        ("sample_count", report.counts.rows.to_string()),
        ("capture_count", report.counts.captures.to_string()),
        ("carriage_ik", u8::from(header.uses_carriage()).to_string()),
        ("path_length_mm", number(plan.path_length_m * 1e3)),
        ("model_max_error_mm", number(most(plan, &["model_error_draw_m", "model_error_pen_up_m"]) * 1e3)),
        ("model_max_orientation_error_rad", number(most(plan, &["orientation_error_rad"]))),
        (
            "plan_max_joint_velocity_rad_s",
            number(most(plan, &["joint_velocity_draw_rad_s", "joint_velocity_pen_up_rad_s"])),
        ),
        ("plan_max_joint_acceleration_rad_s2", number(most(plan, &["joint_acceleration_rad_s2"]))),
        ("plan_max_cartesian_velocity_mm_s", number(most(plan, &["tip_speed_m_s"]) * 1e3)),
        ("plan_min_carriage_mm", number(lowest * 1e3)),
        ("plan_max_carriage_mm", number(most(plan, &["carriage_max_m"]) * 1e3)),
        ("plan_max_carriage_velocity_mm_s", number(most(plan, &["carriage_velocity_m_s"]) * 1e3)),
        ("plan_max_carriage_acceleration_mm_s2", number(most(plan, &["carriage_acceleration_m_s2"]) * 1e3)),
    ];
    Some(lines.into_iter().map(|(key, value)| format!("{key},{value}\n")).collect())
}

/// The largest of these peaks.
fn most(plan: &PlanReport, names: &[&str]) -> f64 {
    names
        .iter()
        .filter_map(|name| plan.peak(name).and_then(|peak| peak.value))
        .reduce(f64::max)
        .unwrap_or(0.0)
}

/// The number at the front of `text`, as a prefix parser reads it: what follows is ignored.
fn leading_number(text: &str) -> Option<f64> {
    (1..=text.len())
        .rev()
        .filter(|&end| text.is_char_boundary(end) && end <= 64)
        .find_map(|end| c_number(&text.as_bytes()[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn wrong_words_are_a_matter_of_usage() {
        let good = "p.csv 0.0025 0 1 1 0 0 0 0.002";
        assert!(Request::parse(&words(good)).is_ok());
        for tail in [
            " --what",
            " --json --json",
            " --arm-prefix",
            " --tool-tip-in-link6 0.1 0.1 0.1",
            " --arm-prefix left --tool-tip-in-link6 0.1 0.1",
            " more",
        ] {
            assert_eq!(Request::parse(&words(&format!("{good}{tail}"))), Err(Usage), "{tail}");
        }
    }

    #[test]
    fn seeds_are_read_by_prefix_and_tips_whole() {
        assert_eq!(leading_number("0.5x"), Some(0.5));
        assert_eq!(leading_number("x"), None);
        let request = Request::parse(&words("p.csv 0.0025 0 1 1 0 0 zero 0.002")).unwrap();
        assert!(request.config().unwrap_err().to_string().contains("`zero` is no number"));
        let far = "p.csv 0.0025 0 1 1 0 0 0 0.002 --arm-prefix left --tool-tip-in-link6 1 0 0";
        assert!(Request::parse(&words(far)).unwrap().config().is_err());
    }
}
