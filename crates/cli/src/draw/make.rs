//! `fieldlab draw orbit`, `draw path` and `draw plot`.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use fieldlab_draw::DrawError;
use fieldlab_draw::check::{CheckConfig, Checker};
use fieldlab_draw::findings::Findings;
use fieldlab_draw::path::{
    CameraOrbitConfig, DipPlan, Drawn, Hold, OrbitConfig, PathConfig, Pose, camera_orbit, compile,
    compile_parts, from_csv, from_svg, orbit,
};
use fieldlab_draw::plan::{PlanConfig, Start};
use fieldlab_draw::plot;
use fieldlab_draw::profile::Profile;
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
    /// Fly for the cameras: each view puts them at a distance and keeps the tool out of the picture
    #[arg(long)]
    camera: bool,
    /// Distance from the touched point: of the tip, or with --camera of the cameras
    #[arg(long, value_name = "METRES")]
    standoff: Option<f64>,
    /// With --camera: radius round the touched point that every camera must see
    #[arg(long, value_name = "METRES", requires = "camera")]
    ring: Option<f64>,
    /// Where orbit.csv is written; stdout when not given
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run_orbit(words: &OrbitWords) -> Result<End, Failure> {
    let profile = words.rig.required()?;
    let start = start(&profile, &words.stand)?;
    if words.camera {
        let standard = CameraOrbitConfig::default();
        let config = CameraOrbitConfig {
            poses: words.poses.unwrap_or(standard.poses),
            distance_m: words.standoff.unwrap_or(standard.distance_m),
            ring_m: words.ring.unwrap_or(standard.ring_m),
            ..standard
        };
        let Some(flown) = refused(camera_orbit(&profile, start, &config))? else { return Ok(End::Partial) };
        out::result_or_file(&flown.text, words.output.as_deref())?;
        out::say(&format!(
            "{} rows, views turned by {:.0} deg, tip up to {:.3} m/s",
            flown.rows.len(),
            flown.off_axis_rad.to_degrees(),
            flown.speed_m_s
        ));
        return Ok(End::Complete);
    }
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
    /// Draw over holes within this distance of something measured
    #[arg(long, value_name = "METRES", default_value_t = 0.0)]
    hole_fill: f64,
    /// Draw in parts of at most this much line: path-1.csv, path-2.csv and so on beside the output
    #[arg(long, value_name = "METRES", requires = "output")]
    part: Option<f64>,
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
        hole_fill_m: words.hole_fill,
        dips,
        ..standard
    };
    if let (Some(most_m), Some(output)) = (words.part, &words.output) {
        let parts = compile_parts(&profile, &surface, &design, Hold { start }, &config, most_m);
        let Some(parts) = refused(parts)? else { return Ok(End::Partial) };
        for (k, drawn) in parts.iter().enumerate() {
            out::result_or_file(&drawn.text, Some(&part_path(output, k + 1)))?;
            tell(drawn);
        }
        return Ok(End::Complete);
    }
    let Some(drawn) = refused(compile(&profile, &surface, &design, Hold { start }, &config))? else {
        return Ok(End::Partial);
    };
    out::result_or_file(&drawn.text, words.output.as_deref())?;
    tell(&drawn);
    Ok(End::Complete)
}

/// `path.csv` with the number of a part: `path-2.csv`.
fn part_path(output: &Path, k: usize) -> PathBuf {
    let stem = output.file_stem().unwrap_or_default().to_string_lossy();
    let ending =
        output.extension().map(|ending| format!(".{}", ending.to_string_lossy())).unwrap_or_default();
    output.with_file_name(format!("{stem}-{k}{ending}"))
}

fn tell(drawn: &Drawn) {
    let filled = if drawn.filled_m > 0.0 {
        format!(", {:.1} mm over filled holes", drawn.filled_m * 1e3)
    } else {
        String::new()
    };
    out::say(&format!(
        "{} rows, {:.1} mm drawn{filled}, lean up to {:.2} deg, {} dips",
        drawn.rows.len(),
        drawn.drawn_m * 1e3,
        drawn.lean_max_rad.to_degrees(),
        drawn.dips
    ));
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
