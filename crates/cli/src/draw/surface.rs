//! `fieldlab draw surface`.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Subcommand};
use fieldlab_draw::capture::{CloudConfig, CloudPoint, Found, save};
use fieldlab_draw::json::{Json, twelve_digits};
use fieldlab_draw::math::{apply, scale};
use fieldlab_draw::plot;
use fieldlab_draw::profile::Profile;
use fieldlab_draw::rehearse::{Made, map};
use fieldlab_draw::surface::{Fit, Surface, obj, sidecar};
use fieldlab_store::{Disk, replace};

use super::capture::{awaited, tell};
use super::make::refused;
use super::rig::{Rig, Stand};
use crate::exit::{End, Failure};
use crate::out;

/// The words of `draw surface`.
#[derive(Debug, Args)]
pub(crate) struct SurfaceWords {
    #[command(subcommand)]
    command: SurfaceCommand,
}

#[derive(Debug, Subcommand)]
enum SurfaceCommand {
    /// What a surface.npz holds
    Info {
        /// The file
        surface: PathBuf,
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Fit and fuse a surface from captures and the touched point at which the arm stands
    Fit(FitWords),
    /// A surface as triangles, Wavefront OBJ in the root frame
    Mesh {
        /// The file
        surface: PathBuf,
        /// Distance between vertices
        #[arg(long, value_name = "METRES", default_value_t = 0.001)]
        step: f64,
        /// Where the OBJ is written; stdout when not given
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// A surface's height map as SVG
    Plot {
        /// The file
        surface: PathBuf,
        /// Where the SVG is written; stdout when not given
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
struct FitWords {
    /// The folder of the captures
    captures: PathBuf,
    #[command(flatten)]
    rig: Rig,
    #[command(flatten)]
    stand: Stand,
    /// How many captures there will be; without it, those that are there
    #[arg(long, value_name = "N")]
    count: Option<u32>,
    /// Wait so long for each capture's marker
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0)]
    wait: f64,
    /// Where surface.npz is written; surface.json goes beside it
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Reads a surface file.
pub(super) fn read_surface(path: &Path) -> Result<Surface, Failure> {
    let bytes =
        std::fs::read(path).with_context(|| format!("reading {}", path.display())).map_err(Failure::input)?;
    Surface::parse(&bytes).with_context(|| format!("{} is refused", path.display())).map_err(Failure::input)
}

pub(crate) fn run_surface(words: &SurfaceWords) -> Result<End, Failure> {
    match &words.command {
        SurfaceCommand::Info { surface, json } => {
            let surface = read_surface(surface)?;
            if *json {
                out::result(&sidecar(&surface, None, Vec::new()))?;
            } else {
                out::result(&info(&surface))?;
            }
            Ok(End::Complete)
        }
        SurfaceCommand::Fit(words) => run_fit(words),
        SurfaceCommand::Mesh { surface, step, output } => {
            let mesh = obj(&read_surface(surface)?, *step).map_err(Failure::input)?;
            out::result_or_file(&mesh, output.as_deref())?;
            Ok(End::Complete)
        }
        SurfaceCommand::Plot { surface, output } => {
            out::result_or_file(&plot::height_map(&read_surface(surface)?), output.as_deref())?;
            Ok(End::Complete)
        }
    }
}

fn info(surface: &Surface) -> String {
    let chart = surface.chart();
    let list = |values: &[f64]| values.iter().map(|&v| twelve_digits(v)).collect::<Vec<_>>().join(" ");
    let mut text = format!("chart,{}\ncenter_m,{}\n", chart.kind(), list(&chart.center_m));
    if let Some(radius_m) = chart.radius_m() {
        text.push_str(&format!("radius_m,{}\n", twelve_digits(radius_m)));
    }
    let (rows, cols) = (surface.heights().rows(), surface.heights().cols());
    text.push_str(&format!(
        "extent_m,{}\nrows,{rows}\ncols,{cols}\nholes,{}\n",
        list(&surface.extent_m()),
        surface.holes()
    ));
    match surface.anchor() {
        Some(anchor) => text.push_str(&format!(
            "anchor_point_m,{}\nanchor_shift_m,{}\n",
            list(&anchor.point_m),
            twelve_digits(anchor.shift_m)
        )),
        None => text.push_str("anchor_point_m,none\n"),
    }
    text
}

fn run_fit(words: &FitWords) -> Result<End, Failure> {
    let profile = words.rig.required()?;
    let rest =
        || profile.rest.map(|(joints_rad, carriage_m)| fieldlab_draw::plan::Start { joints_rad, carriage_m });
    let start = words
        .stand
        .optional()?
        .or_else(rest)
        .ok_or_else(|| Failure::input(anyhow::anyhow!("give --joints: where the tool touched")))?;
    let posture = profile.chain.posture(&start.joints_rad, start.carriage_m);
    let touched = profile.base_in_root.point(posture.tip_m);
    let up = profile.base_in_root.direction(scale(apply(&posture.rotation, profile.chain.tool_axis), -1.0));
    let mut cloud: Vec<CloudPoint> = Vec::new();
    let mut count = 0;
    for k in 1..=words.count.unwrap_or(u32::MAX) {
        match awaited(&words.captures, k, words.wait)? {
            Found::NotYet if words.count.is_some() => {
                out::say(&format!("capture {k} has no marker yet"));
                return Ok(End::Partial);
            }
            Found::NotYet => break,
            Found::Whole { capture, proven } => {
                tell(&capture, proven);
                let points = capture.points(&profile, &CloudConfig::default()).map_err(Failure::input)?;
                cloud.extend(
                    points.into_iter().filter(|seen| fieldlab_draw::rehearse::in_view(seen, touched, up)),
                );
                count += 1;
            }
        }
    }
    if count == 0 {
        return Err(Failure::input(anyhow::anyhow!("{} holds no capture-1.done", words.captures.display())));
    }
    let Some((surface, fit)) = refused(map(&cloud, touched, up))? else { return Ok(End::Partial) };
    write_surface(&words.output, &profile, &surface, &fit)?;
    out::result(&format!(
        "{}holes,{}\npoints,{}\ninlier_share,{:.4}\nrms_m,{}\nreason,{}\n",
        info(&surface),
        surface.holes(),
        fit.points,
        fit.inlier_share,
        twelve_digits(fit.rms_m),
        fit.reason
    ))?;
    Ok(End::Complete)
}

fn write_surface(path: &Path, profile: &Profile, surface: &Surface, fit: &Fit) -> Result<(), Failure> {
    let extras = vec![(
        "fit".to_owned(),
        Json::map([
            ("points", Json::count(fit.points)),
            ("inlier_share", Json::number_or_null(Some(fit.inlier_share))),
            ("rms_m", Json::number_or_null(Some(fit.rms_m))),
            ("plane_rms_m", Json::number_or_null(Some(fit.plane_rms_m))),
            ("radius_interval_m", Json::number_or_null(fit.radius_interval_m)),
            ("direction_interval_rad", Json::number_or_null(fit.direction_interval_rad)),
            ("reason", Json::text(&fit.reason)),
        ]),
    )];
    replace(&mut Disk::new(), path, &surface.to_bytes()?)?;
    let beside = path.with_extension("json");
    replace(&mut Disk::new(), &beside, sidecar(surface, Some(profile.sha()), extras).as_bytes())?;
    Ok(())
}

/// Writes everything that a rehearsal made.
pub(super) fn keep(folder: &Path, profile: &Profile, made: &Made) -> Result<(), Failure> {
    let mut disk = Disk::new();
    replace(&mut disk, &folder.join("orbit.csv"), made.orbit.as_bytes())?;
    for capture in &made.captures {
        save(&mut disk, folder, capture)?;
    }
    write_surface(&folder.join("surface.npz"), profile, &made.surface, &made.fit)?;
    replace(&mut disk, &folder.join("truth.npz"), &made.truth.to_bytes()?)?;
    replace(&mut disk, &folder.join("path.csv"), made.path.text.as_bytes())?;
    let picture = plot::path(&made.surface, &made.path.rows, &profile.base_in_root, &made.path.report);
    replace(&mut disk, &folder.join("path.svg"), picture.as_bytes())?;
    replace(&mut disk, &folder.join("height.svg"), plot::height_map(&made.surface).as_bytes())?;
    out::say(&format!(
        "wrote orbit.csv, captures, surface.npz, path.csv and pictures to {}",
        folder.display()
    ));
    Ok(())
}
