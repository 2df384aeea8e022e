//! Odometry drift over closed laps: what a person taped at the end against what odometry believed.
//!
//! A uniform scale error turns a closed lap into a closed lap, so a repeatable closure error is never the wheel radius:
//! it is heading (gyro scale, drift, mount), one bad wheel or azimuth, or systematic slip.

use std::collections::BTreeMap;

use crate::findings::{Drift, Lap};
use crate::fits::direction;
use crate::stats::{self, mean_t};
use crate::story::Story;
use crate::view::View;
use fieldlab_campaign::channels;

const PROCEDURE: &str = "odometry-drift";
const LAPS_NEEDED: usize = 3;
/// Below this a tape on a floor cannot tell an error from none, metres.
const TAPE_FLOOR_M: f64 = 0.005;

pub(crate) fn fit(view: &View<'_>, story: &Story) -> Option<Drift> {
    let mut laps: BTreeMap<u32, Lap> = BTreeMap::new();
    let mut at: BTreeMap<u32, f64> = BTreeMap::new();
    for (measurement, value) in story.answers(PROCEDURE) {
        let Some(number) = lap_number(&measurement.key) else { continue };
        let lap = laps.entry(number).or_insert_with(|| Lap {
            name: format!("lap {number}"),
            direction: direction(&measurement.key).map(str::to_owned),
            error_m: None,
            x_m: None,
            y_m: None,
            odometry_m: None,
            path_m: None,
        });
        if measurement.key.contains("error") {
            lap.error_m = Some(value);
        } else if measurement.key.ends_with("-x-m") {
            lap.x_m = Some(value);
        } else if measurement.key.ends_with("-y-m") {
            lap.y_m = Some(value);
        }
        if let Some(t) = measurement.at_secs {
            let first = at.entry(number).or_insert(t);
            *first = first.min(t);
        }
    }
    if laps.is_empty() {
        return None;
    }
    from_log(view, story, &mut laps, &at);
    let mut found = Drift { laps: laps.into_values().collect(), ..Drift::default() };
    summarise(&mut found);
    Some(found)
}

/// The number after `lap`.
fn lap_number(key: &str) -> Option<u32> {
    let digits: String =
        key.strip_prefix("lap")?.trim_start_matches('-').chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// Odometry's own closure error, path and way round, from the last completed act before each lap's first answer.
fn from_log(view: &View<'_>, story: &Story, laps: &mut BTreeMap<u32, Lap>, at: &BTreeMap<u32, f64>) {
    let Some(procedure) = story.procedure(PROCEDURE) else { return };
    let poses = view.poses(channels::ODOMETRY_POSE);
    for (number, lap) in laps.iter_mut() {
        let Some(answered) = at.get(number) else { continue };
        let Some(act) =
            procedure.acts.iter().rev().find(|a| a.usable() && a.window.to_secs <= answered + 0.1)
        else {
            continue;
        };
        if lap.direction.is_none() {
            lap.direction = direction(&act.label).map(str::to_owned);
        }
        if let (Some(a), Some(b)) = (poses.at(act.window.from_secs), poses.at(act.window.to_secs)) {
            lap.odometry_m = Some((b.0 - a.0, b.1 - a.1));
            let path = poses.within(act.window.from_secs, act.window.to_secs);
            lap.path_m = Some(path.windows(2).map(|w| (w[1].0 - w[0].0).hypot(w[1].1 - w[0].1)).sum());
        }
    }
}

fn summarise(found: &mut Drift) {
    let distance = |lap: &Lap| lap.error_m.or_else(|| Some(lap.x_m?.hypot(lap.y_m?)));
    let errors: Vec<f64> = found.laps.iter().filter_map(distance).collect();
    found.mean_m = mean_t(&errors);
    if !errors.is_empty() {
        found.spread_m = Some(stats::quantile(&errors, 1.0) - stats::quantile(&errors, 0.0));
    }
    let paths: Vec<f64> = found.laps.iter().filter_map(|l| l.path_m).filter(|p| *p > 0.1).collect();
    if let (Some(mean), false) = (found.mean_m, paths.is_empty()) {
        found.percent_of_path = Some(mean.value / stats::mean(&paths) * 100.0);
    }
    let mut by_way: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for lap in &found.laps {
        if let (Some(x), Some(y)) = (lap.x_m, lap.y_m) {
            by_way
                .entry(lap.direction.clone().unwrap_or_else(|| "either way".to_owned()))
                .or_default()
                .push((x, y));
        }
    }
    let (mut squares, mut count) = (0.0, 0_usize);
    for (way, points) in &by_way {
        let n = points.len() as f64;
        let centre =
            (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
        squares += points.iter().map(|p| (p.0 - centre.0).powi(2) + (p.1 - centre.1).powi(2)).sum::<f64>();
        count += points.len().saturating_sub(1);
        found.centroids_m.insert(way.clone(), centre);
    }
    if count > 0 {
        found.scatter_m = Some((squares / count as f64).sqrt());
    }
    found.reading = reading(&errors, found);
}

fn reading(errors: &[f64], found: &Drift) -> String {
    // T11: one lap says nothing about repeatability, and zero is no drift at all.
    if errors.len() < LAPS_NEEDED {
        return format!("not enough data: {} lap(s), {LAPS_NEEDED} are needed", errors.len());
    }
    let (mean, spread) = (stats::mean(errors), found.spread_m.unwrap_or(0.0));
    if stats::quantile(errors, 1.0) < TAPE_FLOOR_M {
        return format!("no drift that a tape can see (every lap under {:.0} mm)", TAPE_FLOOR_M * 1e3);
    }
    let rises = errors.windows(2).all(|w| w[1] > w[0] + TAPE_FLOOR_M);
    if rises && spread > 1.5 * errors[0].max(TAPE_FLOOR_M) {
        return "each lap is worse than the one before: either the mark was not reset between laps, or the gyro drifts"
            .to_owned();
    }
    if let (Some(ccw), Some(cw), Some(scatter)) =
        (found.centroids_m.get("CCW"), found.centroids_m.get("CW"), found.scatter_m)
    {
        let (length_ccw, length_cw) = (ccw.0.hypot(ccw.1), cw.0.hypot(cw.1));
        let systematic = length_ccw.max(length_cw);
        return if systematic < 2.0 * scatter {
            format!(
                "scatter ({:.0} mm) outweighs the repeatable part ({:.0} mm): slip or tape reading",
                scatter * 1e3,
                systematic * 1e3
            )
        } else if (ccw.0 + cw.0).hypot(ccw.1 + cw.1) < 0.5 * (length_ccw + length_cw) {
            format!(
                "repeatable ({:.0} mm) and opposite for the two ways round: the gyro's scale or drift",
                systematic * 1e3
            )
        } else {
            format!(
                "repeatable ({:.0} mm) and alike both ways round: one wheel, an azimuth zero, or slip; never the wheel radius, which cancels on a closed lap",
                systematic * 1e3
            )
        };
    }
    if spread < 0.3 * mean {
        "consistent: heading (gyro scale, drift, mount), one wheel or an azimuth zero; never the wheel radius, which cancels on a closed lap. Signed errors both ways round would tell which"
            .to_owned()
    } else {
        "scattered: slip, or the lap's start was not on the mark".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(errors: &[f64]) -> Drift {
        let laps = errors.iter().enumerate().map(|(i, e)| Lap {
            name: format!("lap {i}"),
            direction: None,
            error_m: Some(*e),
            x_m: None,
            y_m: None,
            odometry_m: None,
            path_m: None,
        });
        let mut drift = Drift { laps: laps.collect(), ..Drift::default() };
        summarise(&mut drift);
        drift
    }

    /// The vectors of the facts file, and T11's three wrong readings.
    #[test]
    fn t11_drift_is_never_a_scale_error_and_needs_three_laps() {
        let three = of(&[0.10, 0.11, 0.12]);
        assert!((three.mean_m.unwrap().value - 0.11).abs() < 1e-12);
        assert!((three.spread_m.unwrap() - 0.02).abs() < 1e-12);
        assert!(three.reading.starts_with("consistent") && three.reading.contains("never the wheel radius"));
        assert!(of(&[0.3]).reading.starts_with("not enough data"));
        assert!(of(&[0.0, 0.0, 0.0]).reading.starts_with("no drift"));
        assert!(of(&[0.05, 0.10, 0.15]).reading.starts_with("each lap is worse"));
        assert!(of(&[0.02, 0.30, 0.10]).reading.starts_with("scattered"));
    }

    #[test]
    fn both_ways_round_tell_gyro_from_wheel() {
        let build = |points: [(f64, f64, &str); 6]| {
            let laps = points.iter().map(|(x, y, way)| Lap {
                name: String::new(),
                direction: Some((*way).to_owned()),
                error_m: None,
                x_m: Some(*x),
                y_m: Some(*y),
                odometry_m: None,
                path_m: None,
            });
            let mut drift = Drift { laps: laps.collect(), ..Drift::default() };
            summarise(&mut drift);
            drift.reading
        };
        let gyro = build([
            (0.10, 0.05, "CCW"),
            (0.11, 0.05, "CCW"),
            (0.10, 0.06, "CCW"),
            (-0.10, -0.05, "CW"),
            (-0.11, -0.05, "CW"),
            (-0.10, -0.06, "CW"),
        ]);
        assert!(gyro.contains("gyro"), "{gyro}");
        let wheel = build([
            (0.10, 0.05, "CCW"),
            (0.11, 0.05, "CCW"),
            (0.10, 0.06, "CCW"),
            (0.10, 0.05, "CW"),
            (0.11, 0.05, "CW"),
            (0.10, 0.06, "CW"),
        ]);
        assert!(wheel.contains("one wheel"), "{wheel}");
    }
}
