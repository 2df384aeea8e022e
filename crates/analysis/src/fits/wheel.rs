//! Wheel radius from spins: wheel angle regressed on gyro angle, wheel by wheel, each way round alone.
//!
//! A spin shows only the ratio of wheel radius to drive-base radius; the base radius in force turns it into metres.

use crate::findings::{Spin, WheelRadius, Window};
use crate::regress;
use crate::series::Series;
use crate::stats::{self, Interval};
use crate::story::Story;
use crate::view::View;
use fieldlab_campaign::channels;

const PROCEDURE: &str = "wheel-radius";
/// Left off at the start of a spin: wheels still turn into place.
const SETTLE_SECS: f64 = 1.0;
const MIN_TURNS: f64 = 1.0;
/// Wheels further apart than this are not one radius, percent.
const MAX_SPREAD_PERCENT: f64 = 2.0;
/// A loaded tread is smaller than a caliper says by this much, percent (compression, and carpet the wheel sinks into).
const COMPRESSION_PERCENT: (f64, f64) = (-3.0, 0.5);
/// What gyro scale and drive-base radius together are taken to be good to, percent.
const SCALE_PERCENT: f64 = 0.1;
const INCH_M: f64 = 0.0254;

pub(crate) fn fit(view: &View<'_>, story: &Story) -> Option<WheelRadius> {
    let procedure = story.procedure(PROCEDURE);
    let robot_m = robots_own(view);
    let caliper_m = story
        .answers(PROCEDURE)
        .find(|(m, _)| m.key == "caliper-diameter-in")
        .map(|(_, diameter_in)| diameter_in * INCH_M / 2.0);
    if procedure.is_none_or(|p| p.windows.is_empty()) && robot_m.is_none() && caliper_m.is_none() {
        return None;
    }
    let mut found = WheelRadius {
        robot_m,
        caliper_m,
        in_force_m: story.radius_in_force_m(),
        base_radius_m: story.in_force(&["drive_base_radius_m", "driveBaseRadiusMeters"]),
        ..WheelRadius::default()
    };
    let windows = procedure.map(super::super::story::ProcedureStory::data_windows).unwrap_or_default();
    from_spins(view, &windows, &mut found);
    if found.mean_m.is_none()
        && let Some(robot) = found.robot_m
    {
        found.remarks.push("taken from the robot's own routine, which gives no interval".to_owned());
        found.mean_m = Some(Interval::bare(robot, 1));
        found.refused = None;
    }
    if let Some(mean) = found.mean_m {
        found.percent_change = found.in_force_m.map(|r| (mean.value / r - 1.0) * 100.0);
        compare_caliper(&mut found, mean);
    }
    Some(found)
}

/// T1's habit for this routine too: its number counts only once its status says done.
fn robots_own(view: &View<'_>) -> Option<f64> {
    let status = view.texts("Calibration/WheelRadius/Status");
    let done_at = status.iter().rev().find(|(_, s)| s == "done").map(|(t, _)| *t);
    let metres = view.numbers("Calibration/WheelRadius/CorrectedRadiusMeters");
    let inches = view.numbers("Calibration/WheelRadius/CorrectedRadiusInches");
    let at = match done_at {
        // The number may be logged with the status, in the same instant, or a loop later.
        Some(t) => t + 0.1,
        None if status.is_empty() => f64::INFINITY,
        None => return None,
    };
    metres.at(at).or_else(|| inches.at(at).map(|i| i * INCH_M)).filter(|r| *r > 0.0)
}

fn from_spins(view: &View<'_>, windows: &[Window], found: &mut WheelRadius) {
    let yaw = view.numbers(channels::GYRO_YAW_RADIANS);
    let wheels: Vec<Series> = (0..channels::MODULE_COUNT)
        .map(|i| view.numbers(&channels::module(i, channels::POSITION_RADIANS)))
        .collect();
    if yaw.is_empty() || wheels.iter().any(Series::is_empty) {
        found.refused = Some(format!(
            "{} and {} are needed for a fit of our own and are not in the log",
            channels::GYRO_YAW_RADIANS,
            channels::module(0, channels::POSITION_RADIANS)
        ));
        return;
    }
    let Some(base) = found.base_radius_m else {
        found.refused = Some(
            "the drive-base radius in force is not in the session header; a spin shows only the ratio"
                .to_owned(),
        );
        return;
    };
    for window in windows {
        for (part, sign) in stretches(&yaw.within(window.from_secs, window.to_secs)) {
            let theta = yaw.within(part.from_secs, part.to_secs);
            let turns =
                (theta.v.last().zip(theta.v.first())).map_or(0.0, |(b, a)| (b - a) / std::f64::consts::TAU);
            let radii: Vec<Interval> = wheels
                .iter()
                .filter_map(|wheel| {
                    let phi: Vec<f64> = theta.t.iter().filter_map(|t| wheel.interpolate(*t)).collect();
                    let slope = regress::slope(&theta.v, &phi)?;
                    let r = base / slope.value.abs();
                    let relative = slope.half_width() / slope.value.abs();
                    r.is_finite().then(|| Interval::new(r, r * relative, slope.n))
                })
                .collect();
            if radii.len() == wheels.len() && turns.abs() >= MIN_TURNS {
                let direction = if sign > 0.0 { "CCW" } else { "CW" };
                found.spins.push(Spin {
                    direction: direction.to_owned(),
                    window: part,
                    turns,
                    wheels_m: radii,
                });
            }
        }
    }
    if found.spins.is_empty() {
        found.refused = Some("no spin of a full turn is in the log".to_owned());
        return;
    }
    summarise(found);
}

fn summarise(found: &mut WheelRadius) {
    found.wheels_m = (0..channels::MODULE_COUNT)
        .filter_map(|wheel| {
            let values: Vec<f64> = found.spins.iter().map(|s| s.wheels_m[wheel].value).collect();
            let halves: Vec<f64> = found.spins.iter().map(|s| s.wheels_m[wheel].half_width()).collect();
            let range = quantile_range(&values);
            let n = found.spins.iter().map(|s| s.wheels_m[wheel].n).sum();
            (!values.is_empty())
                .then(|| Interval::new(stats::mean(&values), stats::mean(&halves).max(range / 2.0), n))
        })
        .collect();
    let way = |direction: &str| {
        let all: Vec<f64> = found
            .spins
            .iter()
            .filter(|s| s.direction == direction)
            .flat_map(|s| s.wheels_m.iter().map(|w| w.value))
            .collect();
        (!all.is_empty()).then(|| stats::mean(&all))
    };
    (found.cw_m, found.ccw_m) = (way("CW"), way("CCW"));
    let values: Vec<f64> = found.wheels_m.iter().map(|w| w.value).collect();
    if values.is_empty() {
        return;
    }
    // Where the robot turns about a point beside its centre, one wheel gains what the opposite one loses: the mean over
    // the wheels repeats much better than any of them.
    let ways = match (found.cw_m, found.ccw_m) {
        (Some(cw), Some(ccw)) => 0.5 * (cw - ccw).abs(),
        _ => 0.0,
    };
    let slopes: Vec<f64> =
        found.spins.iter().flat_map(|s| s.wheels_m.iter().map(Interval::half_width)).collect();
    let centre = stats::mean(&values);
    let half = stats::mean(&slopes).max(ways).hypot(SCALE_PERCENT / 100.0 * centre);
    let mean = Interval::new(centre, half, values.len() * found.spins.len());
    found.mean_m = Some(mean);
    let spread = quantile_range(&values) / mean.value * 100.0;
    found.spread_percent = Some(spread);
    if spread > MAX_SPREAD_PERCENT {
        found.remarks.push(format!(
            "the wheels differ by {spread:.1} %, more than {MAX_SPREAD_PERCENT} %: look at the treads"
        ));
    }
    if let (Some(cw), Some(ccw)) = (found.cw_m, found.ccw_m) {
        let percent = (cw / ccw - 1.0) * 100.0;
        if percent.abs() > 1.0 {
            found.remarks.push(format!(
                "the two ways round differ by {percent:.1} %: the spin scrubs or the gyro drifts"
            ));
        }
    } else {
        found
            .remarks
            .push("spun one way only: scrub and gyro drift cannot be told from the radius".to_owned());
    }
    found.remarks.push(format!(
        "a spin shows wheel radius over drive-base radius; the interval takes gyro scale and base radius to be good to {SCALE_PERCENT} %"
    ));
}

fn quantile_range(values: &[f64]) -> f64 {
    stats::quantile(values, 1.0) - stats::quantile(values, 0.0)
}

/// T12: in percent, and with the compression that must be there; never a bare agree or disagree.
fn compare_caliper(found: &mut WheelRadius, mean: Interval) {
    let Some(caliper) = found.caliper_m.filter(|c| *c > 0.0) else { return };
    let percent = (mean.value / caliper - 1.0) * 100.0;
    found.caliper_percent = Some(percent);
    let (low, high) = COMPRESSION_PERCENT;
    found.caliper_reading = Some(if (low..=high).contains(&percent) {
        format!(
            "the rolling radius is {percent:+.1} % of the caliper's: what a loaded tread does ({low} to {high} %)"
        )
    } else if percent < low {
        format!(
            "the rolling radius is {percent:+.1} % of the caliper's, more than compression explains ({low} %): worn tread, a wrong base radius, or a mistyped diameter"
        )
    } else {
        format!(
            "the rolling radius is {percent:+.1} % of the caliper's, and a loaded tread is never larger: a wrong base radius or a mistyped diameter"
        )
    });
}

/// Stretches of steady turning: at least half the usual rate one way, the first second left off.
fn stretches(yaw: &Series) -> Vec<(Window, f64)> {
    const HALF_SPAN_SECS: f64 = 0.25;
    let rates: Vec<f64> = yaw
        .t
        .iter()
        .map(|t| {
            let (a, b) = (yaw.interpolate(t - HALF_SPAN_SECS), yaw.interpolate(t + HALF_SPAN_SECS));
            a.zip(b).map_or(0.0, |(a, b)| (b - a) / (2.0 * HALF_SPAN_SECS))
        })
        .collect();
    let speeds: Vec<f64> = rates.iter().map(|r| r.abs()).collect();
    let usual = stats::quantile(&speeds, 0.9);
    let mut out = Vec::new();
    if usual.is_nan() || usual < 0.05 {
        return out;
    }
    let mut open: Option<(usize, f64)> = None;
    for i in 0..=rates.len() {
        let sign = rates.get(i).filter(|r| r.abs() > 0.5 * usual).map(|r| r.signum());
        match (open, sign) {
            (None, Some(s)) => open = Some((i, s)),
            (Some((from, s)), now) if now != Some(s) => {
                let window =
                    Window { from_secs: yaw.t[from] + SETTLE_SECS, to_secs: yaw.t[i - 1] - HALF_SPAN_SECS };
                if window.secs() > 0.0 {
                    out.push((window, s));
                }
                open = now.map(|s| (i, s));
            }
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_ways_round_are_two_stretches() {
        let mut samples = Vec::new();
        let mut angle = 0.0;
        for i in 0..3000 {
            let t = f64::from(i) * 0.02;
            let rate = match i {
                100..=1300 => 0.6,
                1600..=2800 => -0.6,
                _ => 0.0,
            };
            angle += rate * 0.02;
            samples.push((t, angle));
        }
        let found = stretches(&Series::new(samples));
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].1, found[1].1), (1.0, -1.0));
        assert!((found[0].0.from_secs - 3.0).abs() < 0.3 && (found[0].0.to_secs - 25.8).abs() < 0.5);
        assert!(stretches(&Series::default()).is_empty());
    }
}
