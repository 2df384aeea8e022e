//! `fieldlab draw rehearse`.

use std::path::PathBuf;

use clap::Args;
use fieldlab_draw::camera::Flaws;
use fieldlab_draw::json::Json;
use fieldlab_draw::rehearse::{
    MOST_CURVATURE_ERROR_PER_M, MOST_DIRECTION_ERROR_RAD, MOST_HEIGHT_RMS_M, Rehearsal, RehearseConfig,
    rehearse,
};

use super::rig::Rig;
use crate::exit::{End, Failure};
use crate::out;

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
    out::say(&format!(
        "aims: height rms below {MOST_HEIGHT_RMS_M} m, curvature within {MOST_CURVATURE_ERROR_PER_M} per m, direction within {MOST_DIRECTION_ERROR_RAD} rad"
    ));
    if let (Some(folder), Some(made)) = (&words.keep, last) {
        super::surface::keep(folder, &profile, &made)?;
    }
    let good = failures.is_empty() && outcomes.iter().all(|(_, outcome)| outcome.meets_aims());
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

fn sums(outcomes: &[(bool, Rehearsal)]) -> [(&'static str, Option<f64>); 8] {
    let radius: Vec<bool> = outcomes.iter().filter_map(|(_, outcome)| outcome.radius_covered).collect();
    let direction: Vec<bool> = outcomes.iter().filter_map(|(_, outcome)| outcome.direction_covered).collect();
    let all = |value: f64| (!outcomes.is_empty()).then_some(value);
    [
        ("height_rms_max_m", all(most(outcomes, &|o| o.height_rms_m))),
        ("height_error_max_m", all(most(outcomes, &|o| o.height_max_m))),
        ("radius_error_max_m", all(most(outcomes, &|o| o.radius_error_m.map_or(0.0, f64::abs)))),
        (
            "curvature_error_max_per_m",
            all(most(outcomes, &|o| o.curvature_error_per_m.map_or(0.0, f64::abs))),
        ),
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
