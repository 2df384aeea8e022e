//! `fieldlab draw check` and `fieldlab draw path-plan-check`.

use std::fs::File;
use std::io::{BufWriter, Read, Write, stdout};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use fieldlab_draw::check::{CheckConfig, Checker, Report};
use fieldlab_draw::path_plan_check::{Request, USAGE, refusal, text};
use fieldlab_draw::plan::{PlanConfig, ros_json, ros_yaml};
use fieldlab_draw::samples::{Caps, Expected, Mode};

use super::rig::{Rig, Stand};
use crate::exit::{End, Failure};
use crate::out;

/// The words of `draw check`.
#[derive(Debug, Args)]
pub(crate) struct Words {
    /// The samples file: orbit.csv or path.csv
    samples: PathBuf,
    #[command(flatten)]
    rig: Rig,
    #[command(flatten)]
    stand: Stand,
    /// Judge as the reference parser does, for parity; never for a robot
    #[arg(long)]
    reference: bool,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
    /// List at most this many violations; all are counted
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    max_findings: usize,
    /// Write the accepted plan as a ROS JointTrajectory: .json or .yaml
    #[arg(long, value_name = "FILE")]
    ros: Option<PathBuf>,
    /// Rows between two points of the ROS trajectory
    #[arg(long, value_name = "ROWS", default_value_t = 4)]
    ros_stride: usize,
}

pub(crate) fn run(words: &Words) -> Result<End, Failure> {
    let profile = words.rig.optional()?;
    let start = words.stand.optional()?;
    let plan = match (&profile, start) {
        (Some(profile), Some(start)) => {
            let plan = PlanConfig::strict(profile, start).map_err(Failure::input)?;
            Some(PlanConfig { keep_trajectory: words.ros.is_some(), ..plan })
        }
        (None, Some(_)) => {
            return Err(Failure::input(anyhow::anyhow!("--joints needs --profile FILE or --rig NAME")));
        }
        _ => None,
    };
    if words.ros.is_some() && plan.is_none() {
        return Err(Failure::input(anyhow::anyhow!("--ros needs a profile and --joints")));
    }
    let mode = if words.reference { Mode::Reference } else { Mode::Strict };
    let config = CheckConfig {
        mode,
        expected: profile.as_ref().map_or_else(Expected::default, Expected::from_profile),
        caps: profile.as_ref().map_or_else(Caps::default, |profile| Caps::from(&profile.limits)),
        plan: plan.map(|plan| PlanConfig { mode, ..plan }),
        max_findings: words.max_findings,
    };
    let report = read(&words.samples, Checker::new(config).map_err(Failure::input)?)
        .with_context(|| format!("reading {}", words.samples.display()))
        .map_err(Failure::input)?;
    let mut ros = None;
    if let (Some(path), Some(profile), true) = (&words.ros, &profile, report.accepted()) {
        let trajectory = report.plan.as_ref().and_then(|plan| plan.trajectory.as_ref());
        let mut names = profile.joint_names.clone();
        names.extend(profile.carriage_name.clone());
        let trajectory = trajectory.context("the plan has no trajectory")?;
        let knots = trajectory.knots(words.ros_stride, profile.carriage_name.is_some())?;
        let yaml = path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
        let text = if yaml { ros_yaml(&names, &knots) } else { ros_json(&names, &knots).line() };
        ros = Some((path, text));
    }
    let sha = profile.as_ref().map(|profile| profile.sha());
    out::result(&if words.json { report.json(sha).line() } else { report.text() })?;
    if let Some((path, text)) = ros {
        out::result_or_file(&text, Some(path))?;
    }
    Ok(if report.accepted() { End::Complete } else { End::Partial })
}

/// Feeds the file to the check in pieces: it is never in memory whole.
pub(super) fn read(path: &Path, mut checker: Checker) -> std::io::Result<Report> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 256 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(checker.finish()),
            count => checker.push(&buffer[..count]),
        }
    }
}

/// The words of `draw path-plan-check`, read by the reference's own rules.
#[derive(Debug, Args)]
pub(crate) struct ReferenceWords {
    /// SAMPLES PERIOD J0 J1 J2 J3 J4 J5 CARRIAGE [--json] [--arm-prefix P] [--tool-tip-in-link6 X Y Z]
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "WORDS")]
    words: Vec<String>,
}

pub(crate) fn path_plan_check(words: &ReferenceWords) -> Result<End, Failure> {
    let Ok(request) = Request::parse(&words.words) else {
        return Err(Failure::input(anyhow::anyhow!("{USAGE}")));
    };
    let refused = |reason: &str| {
        out::say(&format!("status,refused\nreason,{}", reason.replace([',', '\n'], ";")));
        Ok(End::Partial)
    };
    let config = match request.config() {
        Ok(config) => config,
        Err(error) => return refused(&error.to_string()),
    };
    let checker = match Checker::new(config.clone()) {
        Ok(checker) => checker,
        Err(error) => return refused(&error.to_string()),
    };
    let report = match read(Path::new(&request.samples), checker) {
        Ok(report) => report,
        Err(error) => return refused(&format!("{}: {error}", request.samples)),
    };
    if let Some(reason) = refusal(&report) {
        out::say(&reason);
        return Ok(End::Partial);
    }
    if request.json {
        let mut out = BufWriter::new(stdout().lock());
        request.write_json(&config, &report, &mut out)?;
        out.flush()?;
    } else {
        out::result(&text(&report).unwrap_or_default())?;
    }
    Ok(End::Complete)
}
