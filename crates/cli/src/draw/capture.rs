//! `fieldlab draw capture`, and waiting for one.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use clap::Subcommand;
use fieldlab_draw::camera::{Chance, Flaws, merged_picture, picture};
use fieldlab_draw::capture::{Capture, CloudConfig, Found, load, save};
use fieldlab_draw::json::twelve_digits;
use fieldlab_draw::math::Rigid;
use fieldlab_store::Disk;

use super::rig::{Rig, Stand};
use super::surface::read_surface;
use crate::exit::{End, Failure};
use crate::out;

/// How often a reader looks for the marker.
const LOOK: Duration = Duration::from_millis(50);
/// Longest wait that is taken, seconds: a day.
const LONGEST_SECS: f64 = 86_400.0;

/// Capture `k`, looked for until its marker stands or `wait_secs` are over.
pub(super) fn awaited(folder: &Path, k: u32, wait_secs: f64) -> Result<Found, Failure> {
    if !(0.0..=LONGEST_SECS).contains(&wait_secs) {
        return Err(Failure::input(anyhow::anyhow!("--wait takes 0 to {LONGEST_SECS} seconds")));
    }
    let until = Instant::now() + Duration::from_secs_f64(wait_secs);
    loop {
        let found = load(&mut Disk::new(), folder, k).map_err(Failure::input)?;
        let left = until.saturating_duration_since(Instant::now());
        if !matches!(found, Found::NotYet) || left.is_zero() {
            return Ok(found);
        }
        std::thread::sleep(LOOK.min(left));
    }
}

/// What a person should know about a capture.
pub(super) fn tell(capture: &Capture, proven: bool) {
    if capture.legacy {
        out::say(&format!("capture {} has no schema: an older tool wrote it", capture.k));
    }
    if !proven {
        out::say(&format!("capture {}: its marker is empty and proves nothing about the archive", capture.k));
    }
}

/// The words of `draw capture`.
#[derive(Debug, Args)]
pub(crate) struct CaptureWords {
    #[command(subcommand)]
    command: CaptureCommand,
}

#[derive(Debug, Subcommand)]
enum CaptureCommand {
    /// A capture of a known surface by cameras that are not there
    Fake {
        /// The folder that gets capture-<k>.npz and .done
        folder: PathBuf,
        /// The true surface
        #[arg(long, value_name = "FILE")]
        surface: PathBuf,
        /// The capture's number
        #[arg(long, default_value_t = 1)]
        k: u32,
        /// The seed of noise, gaps and outliers
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Take so many frames, keep them, and store their median; without it one picture that says it is a median of eight
        #[arg(long, value_name = "N")]
        frames: Option<usize>,
        #[command(flatten)]
        rig: Rig,
        #[command(flatten)]
        stand: Stand,
    },
    /// Whether a capture is whole; exit with 3 when it is not there yet
    Check {
        /// The folder of the capture
        folder: PathBuf,
        /// The capture's number
        #[arg(long, default_value_t = 1)]
        k: u32,
        /// Wait so long for the marker
        #[arg(long, value_name = "SECONDS", default_value_t = 0.0)]
        wait: f64,
    },
    /// The trusted points in the root frame, x,y,z in metres
    Cloud {
        /// The folder of the capture
        folder: PathBuf,
        /// The capture's number
        #[arg(long, default_value_t = 1)]
        k: u32,
        /// Wait so long for the marker
        #[arg(long, value_name = "SECONDS", default_value_t = 0.0)]
        wait: f64,
        #[command(flatten)]
        rig: Rig,
        /// Where the points are written; stdout when not given
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

pub(crate) fn run_capture(words: &CaptureWords) -> Result<End, Failure> {
    match &words.command {
        CaptureCommand::Fake { folder, surface, k, seed, frames, rig, stand } => {
            let profile = rig.required()?;
            let surface = read_surface(surface)?;
            let start = stand
                .optional()?
                .ok_or_else(|| Failure::input(anyhow::anyhow!("give --joints: where the cameras stand")))?;
            let posture = profile.chain.posture(&start.joints_rad, start.carriage_m);
            let final_in_base = Rigid { rotation: posture.rotation, translation_m: posture.final_m };
            let mut chance = Chance::new(*seed);
            let views = profile.cameras.iter().map(|camera| {
                let in_root = profile.base_in_root.then(&final_in_base).then(&camera.in_final);
                let flaws = Flaws::default();
                match frames {
                    Some(frames) => merged_picture(&surface, camera, &in_root, &flaws, *frames, &mut chance),
                    None => Ok(picture(&surface, camera, &in_root, &flaws, &mut chance)),
                }
            });
            let capture = Capture {
                k: *k,
                joints_rad: start.joints_rad,
                carriage_m: start.carriage_m,
                t_wall_secs: 0.0,
                views: views.collect::<Result<_, _>>().map_err(Failure::input)?,
                profile_sha: Some(profile.sha().to_owned()),
                legacy: false,
            };
            save(&mut Disk::new(), folder, &capture).map_err(Failure::input)?;
            Ok(End::Complete)
        }
        CaptureCommand::Check { folder, k, wait } => match awaited(folder, *k, *wait)? {
            Found::NotYet => {
                out::say(&format!("capture {k} has no marker yet"));
                Ok(End::Partial)
            }
            Found::Whole { capture, proven } => {
                tell(&capture, proven);
                let mut text = format!("k,{}\nlegacy,{}\nproven,{proven}\n", capture.k, capture.legacy);
                for view in &capture.views {
                    let seen = view.depth.values().iter().filter(|&&raw| raw > 0).count();
                    text.push_str(&format!(
                        "{},{}x{} pixels, {seen} with depth, {} m per unit\n",
                        view.role,
                        view.depth.cols(),
                        view.depth.rows(),
                        twelve_digits(view.units_m)
                    ));
                }
                out::result(&text)?;
                Ok(End::Complete)
            }
        },
        CaptureCommand::Cloud { folder, k, wait, rig, output } => {
            let profile = rig.required()?;
            match awaited(folder, *k, *wait)? {
                Found::NotYet => {
                    out::say(&format!("capture {k} has no marker yet"));
                    Ok(End::Partial)
                }
                Found::Whole { capture, proven } => {
                    tell(&capture, proven);
                    let points = capture.points(&profile, &CloudConfig::default()).map_err(Failure::input)?;
                    let mut text = String::new();
                    for seen in points {
                        let [x, y, z] = seen.point_m.map(twelve_digits);
                        text.push_str(&format!("{x},{y},{z}\n"));
                    }
                    out::result_or_file(&text, output.as_deref())?;
                    Ok(End::Complete)
                }
            }
        }
    }
}
