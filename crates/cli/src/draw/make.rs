//! `fieldlab draw orbit`, `draw path`, `draw plot` and `draw rehearse`.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use fieldlab_draw::DrawError;
use fieldlab_draw::camera::Flaws;
use fieldlab_draw::check::{CheckConfig, Checker};
use fieldlab_draw::findings::Findings;
use fieldlab_draw::json::Json;
use fieldlab_draw::path::{DipPlan, Hold, OrbitConfig, PathConfig, Pose, compile, from_csv, from_svg, orbit};
use fieldlab_draw::plan::{PlanConfig, Start};
use fieldlab_draw::plot;
use fieldlab_draw::profile::Profile;
use fieldlab_draw::rehearse::{Rehearsal, RehearseConfig, rehearse};
use fieldlab_draw::samples::{Decoder, Event, Expected, Kind, Meta, Mode, Row, write};

use super::rig::{Rig, Stand};
use super::surface::read_surface;
use crate::exit::{End, Failure};
use crate::out;

/// A refusal is an answer, told on stderr with exit 3; anything else is an input's error.
pub(super) fn refused<T>(outcome: Result<T, DrawError>) -> Result<Option<T>, Failure> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(DrawError::Refused { code, reason }) => {
            out::say(&format!("status,refused\nreason,{code}: {reason}"));
            Ok(None)
        }
        Err(error) => Err(Failure::input(error)),
    }
}

/// The start from the words, or where the profile rests.
fn start(profile: &Profile, stand: &Stand) -> Result<Start, Failure> {
    let rest = || profile.rest.map(|(joints_rad, carriage_m)| Start { joints_rad, carriage_m });
    stand.optional()?.or_else(rest).ok_or_else(|| {
        Failure::input(anyhow::anyhow!("give --joints: the profile does not say where it rests"))
    })
}

/// The words of `draw orbit`.
#[derive(Debug, Args)]
pub(crate) struct OrbitWords {
    #[command(flatten)]
    rig: Rig,
    #[command(flatten)]
    stand: Stand,
    /// Views with a capture each, 1 to 5
    #[arg(long, value_name = "N")]
    poses: Option<usize>,
    /// Distance of the tip from the touched point
    #[arg(long, value_name = "METRES")]
    standoff: Option<f64>,
    /// Where orbit.csv is written; stdout when not given
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run_orbit(words: &OrbitWords) -> Result<End, Failure> {
    let profile = words.rig.required()?;
    let start = start(&profile, &words.stand)?;
    let posture = profile.chain.posture(&start.joints_rad, start.carriage_m);
    let contact = Pose { tip_m: posture.tip_m, rotation: posture.rotation };
    let standard = OrbitConfig::default();
    let config = OrbitConfig {
        poses: words.poses.unwrap_or(standard.poses),
        standoff_m: words.standoff.unwrap_or(standard.standoff_m),
        ..standard
    };
    let Some(rows) = refused(orbit(contact, profile.chain.tool_axis, &config))? else {
        return Ok(End::Partial);
    };
    let text = write(&Meta::for_profile(&profile, Kind::Orbit, false), &rows)?;
    let plan = PlanConfig::strict(&profile, start).map_err(Failure::input)?;
    let mut checker = Checker::new(CheckConfig::for_profile(&profile, Some(plan))).map_err(Failure::input)?;
    checker.push(text.as_bytes());
    let report = checker.finish();
    if !report.accepted() {
        out::say(&report.text());
        return Ok(End::Partial);
    }
    out::result_or_file(&text, words.output.as_deref())?;
    Ok(End::Complete)
}

/// The words of `draw path`.
#[derive(Debug, Args)]
pub(crate) struct PathWords {
    /// The design: an SVG, or a .csv of x,y in millimetres with empty lines between strokes
    design: PathBuf,
    /// The surface to draw on
    #[arg(long, value_name = "FILE")]
    surface: PathBuf,
    #[command(flatten)]
    rig: Rig,
    #[command(flatten)]
    stand: Stand,
    /// Speed along strokes
    #[arg(long, value_name = "M/S")]
    speed: Option<f64>,
    /// Millimetres per unit of the SVG
    #[arg(long, value_name = "MM", default_value_t = 1.0)]
    mm_per_unit: f64,
    /// Take ink from this cap before and between strokes
    #[arg(long, value_name = "NAME")]
    cap: Option<String>,
    /// Where path.csv is written; stdout when not given
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run_path(words: &PathWords) -> Result<End, Failure> {
    let profile = words.rig.required()?;
    let start = start(&profile, &words.stand)?;
    let surface = read_surface(&words.surface)?;
    let text = std::fs::read_to_string(&words.design)
        .with_context(|| format!("reading {}", words.design.display()))
        .map_err(Failure::input)?;
    let svg = words.design.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("svg"));
    let design = if svg { from_svg(&text, words.mm_per_unit) } else { from_csv(&text) };
    let Some(design) = refused(design)? else { return Ok(End::Partial) };
    let dips = words.cap.as_ref().map(|cap| DipPlan::into_cap(&profile, cap)).transpose();
    let Some(dips) = refused(dips)? else { return Ok(End::Partial) };
    let standard = PathConfig::default();
    let posture = profile.chain.posture(&start.joints_rad, start.carriage_m);
    let foot = surface.project(profile.base_in_root.point(posture.tip_m));
    let config = PathConfig {
        speed_m_s: words.speed.unwrap_or(standard.speed_m_s),
        origin_uv_m: foot.map_or([0.0; 2], |foot| foot.uv_m),
        dips,
        ..standard
    };
    let Some(drawn) = refused(compile(&profile, &surface, &design, Hold { start }, &config))? else {
        return Ok(End::Partial);
    };
    out::result_or_file(&drawn.text, words.output.as_deref())?;
    out::say(&format!(
        "{} rows, {:.1} mm drawn, lean up to {:.2} deg, {} dips",
        drawn.rows.len(),
        drawn.drawn_m * 1e3,
        drawn.lean_max_rad.to_degrees(),
        drawn.dips
    ));
    Ok(End::Complete)
}

/// The words of `draw plot`.
#[derive(Debug, Args)]
pub(crate) struct PlotWords {
    /// The samples file
    samples: PathBuf,
    /// The surface that it is drawn on
    #[arg(long, value_name = "FILE")]
    surface: PathBuf,
    #[command(flatten)]
    rig: Rig,
    #[command(flatten)]
    stand: Stand,
    /// Where the SVG is written; stdout when not given
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run_plot(words: &PlotWords) -> Result<End, Failure> {
    let profile = words.rig.required()?;
    let surface = read_surface(&words.surface)?;
    let plan = match words.stand.optional()? {
        Some(start) => Some(PlanConfig::strict(&profile, start).map_err(Failure::input)?),
        None => None,
    };
    let checker = Checker::new(CheckConfig::for_profile(&profile, plan)).map_err(Failure::input)?;
    let report = super::check::read(&words.samples, checker)
        .with_context(|| format!("reading {}", words.samples.display()))
        .map_err(Failure::input)?;
    let rows = rows(&words.samples, &profile)?;
    out::result_or_file(
        &plot::path(&surface, &rows, &profile.base_in_root, &report),
        words.output.as_deref(),
    )?;
    Ok(if report.accepted() { End::Complete } else { End::Partial })
}

fn rows(path: &Path, profile: &Profile) -> Result<Vec<Row>, Failure> {
    let bytes =
        std::fs::read(path).with_context(|| format!("reading {}", path.display())).map_err(Failure::input)?;
    let mut rows = Vec::new();
    let mut decoder = Decoder::new(Mode::Strict, Expected::from_profile(profile));
    let mut take = |event: Event<'_>| {
        if let Event::Row(_, row) = event {
            rows.push(*row);
        }
    };
    let mut findings = Findings::new(0);
    decoder.push(&bytes, &mut findings, &mut take);
    decoder.finish(&mut findings, &mut take);
    Ok(rows)
}

/// The words of `draw rehearse`.
#[derive(Debug, Args)]
pub(crate) struct RehearseWords {
    #[command(flatten)]
    rig: Rig,
    /// How many seeds, each on a plane and on a cylinder
    #[arg(long, value_name = "N", default_value_t = 3)]
    seeds: u64,
    /// The first seed
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Amplitude of the truth's bumps
    #[arg(long, value_name = "METRES", default_value_t = 0.0003)]
    bumps: f64,
    /// Print one JSON object per rehearsal and the sum last
    #[arg(long)]
    json: bool,
    /// Keep what the last rehearsal made in this folder: orbit.csv, captures, surface.npz, path.csv, pictures
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
}

/// What every rehearsal must stay below.
const MOST_HEIGHT_RMS_M: f64 = 0.000_3;

pub(crate) fn run_rehearse(words: &RehearseWords) -> Result<End, Failure> {
    let profile = words.rig.required()?;
    let bar = out::bar("rehearsing", words.seeds * 2);
    let mut outcomes: Vec<(bool, Rehearsal)> = Vec::new();
    let mut failures = Vec::new();
    let mut last = None;
    for seed in words.seed..words.seed.saturating_add(words.seeds) {
        for cylinder in [false, true] {
            let config = RehearseConfig { seed, cylinder, flaws: Flaws::default(), bumps_m: words.bumps };
            match rehearse(&profile, &config) {
                Ok(made) => {
                    outcomes.push((cylinder, made.outcome.clone()));
                    last = Some(made);
                }
                Err(error) => failures
                    .push(format!("seed {seed}, {}: {error}", if cylinder { "cylinder" } else { "plane" })),
            }
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    if words.json {
        let lines: Vec<String> = outcomes.iter().map(|(_, outcome)| outcome.json().line()).collect();
        out::result(&(lines.join("\n") + "\n" + &sum_json(&outcomes, failures.len()).line()))?;
    } else {
        out::result(&sum_text(&outcomes, &failures))?;
    }
    for failure in &failures {
        out::say(failure);
    }
    if let (Some(folder), Some(made)) = (&words.keep, last) {
        super::surface::keep(folder, &profile, &made)?;
    }
    let good =
        failures.is_empty() && outcomes.iter().all(|(_, outcome)| outcome.height_rms_m < MOST_HEIGHT_RMS_M);
    Ok(if good { End::Complete } else { End::Partial })
}

fn most(outcomes: &[(bool, Rehearsal)], of: &dyn Fn(&Rehearsal) -> f64) -> f64 {
    outcomes.iter().map(|(_, outcome)| of(outcome)).fold(0.0, f64::max)
}

fn coverage(covered: &[bool]) -> Option<f64> {
    #[allow(clippy::cast_precision_loss)] // a few hundred
    let share = covered.iter().filter(|&&held| held).count() as f64 / covered.len() as f64;
    (!covered.is_empty()).then_some(share)
}

fn sums(outcomes: &[(bool, Rehearsal)]) -> [(&'static str, Option<f64>); 7] {
    let radius: Vec<bool> = outcomes.iter().filter_map(|(_, outcome)| outcome.radius_covered).collect();
    let direction: Vec<bool> = outcomes.iter().map(|(_, outcome)| outcome.direction_covered).collect();
    let all = |value: f64| (!outcomes.is_empty()).then_some(value);
    [
        ("height_rms_max_m", all(most(outcomes, &|o| o.height_rms_m))),
        ("height_error_max_m", all(most(outcomes, &|o| o.height_max_m))),
        ("radius_error_max_m", all(most(outcomes, &|o| o.radius_error_m.map_or(0.0, f64::abs)))),
        ("direction_error_max_rad", all(most(outcomes, &|o| o.direction_error_rad))),
        ("drawn_error_max_m", all(most(outcomes, &|o| o.drawn_error_m))),
        ("radius_interval_coverage", coverage(&radius)),
        ("direction_interval_coverage", coverage(&direction)),
    ]
}

fn sum_json(outcomes: &[(bool, Rehearsal)], failures: usize) -> Json {
    let mut members = vec![
        ("rehearsals".to_owned(), Json::count(outcomes.len())),
        ("failures".to_owned(), Json::count(failures)),
    ];
    members.extend(sums(outcomes).map(|(name, value)| (name.to_owned(), Json::number_or_null(value))));
    Json::Map(members)
}

fn sum_text(outcomes: &[(bool, Rehearsal)], failures: &[String]) -> String {
    let mut text = format!("rehearsals,{}\nfailures,{}\n", outcomes.len(), failures.len());
    for (name, value) in sums(outcomes) {
        let value = value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3e}"));
        text.push_str(&format!("{name},{value}\n"));
    }
    text
}
