//! Parked poses: what the cameras said where a tape knows better.

use crate::findings::{Vision, VisionPose, Window};
use crate::stats::{self, mean_t};
use crate::story::Story;
use crate::view::View;
use fieldlab_campaign::channels;

const PROCEDURE: &str = "vision-pose";
/// Without an observing act: how long before the answer the robot surely stood still, seconds.
const STILL_SECS: f64 = 3.0;
const MIN_SAMPLES: usize = 3;

#[derive(Debug, Default)]
struct Truth {
    x: Option<f64>,
    y: Option<f64>,
    heading: Option<f64>,
    at: Option<f64>,
}

pub(crate) fn fit(view: &View<'_>, story: &Story) -> Option<Vision> {
    let procedure = story.procedure(PROCEDURE)?;
    let mut names: Vec<String> = Vec::new();
    let mut truths: Vec<Truth> = Vec::new();
    for (measurement, value) in story.answers(PROCEDURE) {
        let Some((name, part)) = split(&measurement.key) else { continue };
        let place = names.iter().position(|n| *n == name).unwrap_or_else(|| {
            names.push(name.to_owned());
            truths.push(Truth::default());
            names.len() - 1
        });
        let truth = &mut truths[place];
        match part {
            Part::X => truth.x = Some(value),
            Part::Y => truth.y = Some(value),
            Part::HeadingDeg => truth.heading = Some(value.to_radians()),
            Part::HeadingRad => truth.heading = Some(value),
        }
        truth.at = measurement.at_secs.map(|t| truth.at.map_or(t, |a: f64| a.min(t))).or(truth.at);
    }
    if names.is_empty() {
        return None;
    }
    let poses = view.poses(channels::VISION_POSE);
    let acts: Vec<Window> = procedure.acts.iter().filter(|a| a.usable()).map(|a| a.window).collect();
    let mut found = Vision::default();
    for (name, truth) in names.iter().zip(&truths) {
        let (Some(x), Some(y)) = (truth.x, truth.y) else {
            found.remarks.push(format!("{name}: x or y was not answered"));
            continue;
        };
        // The observing act before the answer; without one, the time just before it.
        let Some(at) = truth.at else { continue };
        let still = Window { from_secs: at - STILL_SECS, to_secs: at };
        let window = acts.iter().rev().find(|a| a.to_secs <= at + 0.1).copied().unwrap_or(still);
        let seen = poses.within(window.from_secs, window.to_secs);
        if seen.len() < MIN_SAMPLES {
            found.remarks.push(format!(
                "{name}: {} vision pose(s) while parked, {MIN_SAMPLES} are needed",
                seen.len()
            ));
            continue;
        }
        found.poses.push(pose(name, (x, y, truth.heading), seen));
    }
    let dx: Vec<f64> = found.poses.iter().map(|p| p.seen.0 - p.truth.0).collect();
    let dy: Vec<f64> = found.poses.iter().map(|p| p.seen.1 - p.truth.1).collect();
    (found.bias_x_m, found.bias_y_m) = (mean_t(&dx), mean_t(&dy));
    if !dx.is_empty() {
        found.rms_m = Some((stats::rms(&dx).powi(2) + stats::rms(&dy).powi(2)).sqrt());
    }
    Some(found)
}

fn pose(name: &str, truth: (f64, f64, Option<f64>), seen: &[(f64, f64, f64)]) -> VisionPose {
    let column = |get: fn(&(f64, f64, f64)) -> f64| seen.iter().map(get).collect::<Vec<f64>>();
    let (xs, ys) = (column(|p| p.0), column(|p| p.1));
    // Headings are averaged as directions, so that 179° and −179° do not make 0°.
    let (sin, cos) = seen.iter().fold((0.0, 0.0), |(s, c), p| (s + p.2.sin(), c + p.2.cos()));
    let heading = f64::atan2(sin, cos);
    let off: Vec<f64> = seen.iter().map(|p| wrap(p.2 - heading)).collect();
    VisionPose {
        name: name.to_owned(),
        truth,
        seen: (stats::mean(&xs), stats::mean(&ys), heading),
        spread: (stats::sample_sd(&xs), stats::sample_sd(&ys), stats::rms(&off)),
        n: seen.len(),
    }
}

fn wrap(angle: f64) -> f64 {
    f64::atan2(angle.sin(), angle.cos())
}

enum Part {
    X,
    Y,
    HeadingDeg,
    HeadingRad,
}

/// `pose1-x-m` → `pose1` and which number it is.
fn split(key: &str) -> Option<(&str, Part)> {
    for (suffix, part) in [
        ("-x-m", Part::X),
        ("-y-m", Part::Y),
        ("-heading-deg", Part::HeadingDeg),
        ("-yaw-deg", Part::HeadingDeg),
        ("-heading-rad", Part::HeadingRad),
    ] {
        if let Some(name) = key.strip_suffix(suffix) {
            return Some((name, part));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_average_across_the_cut() {
        let p = pose(
            "a",
            (1.0, 2.0, None),
            &[(1.0, 2.0, 3.1), (1.2, 2.0, -3.1), (1.1, 2.0, std::f64::consts::PI)],
        );
        assert!(p.seen.2.abs() > 3.1, "{:?}", p.seen);
        assert!((p.seen.0 - 1.1).abs() < 1e-12);
        assert!(p.spread.2 < 0.05);
    }
}
