//! The taped straight run: the one radius that does not depend on the drive-base radius.

use crate::findings::{StraightLeg, StraightRun, Window};
use crate::fits::wheel_travel;
use crate::series::Series;
use crate::stats::{self, Interval, mean_t};
use crate::story::Story;
use crate::view::View;
use fieldlab_campaign::channels;

const PROCEDURE: &str = "straight-run";
/// How well a person reads a tape over a run of metres, metres.
const TAPE_M: f64 = 0.005;
/// How long the robot may still roll after the act, seconds.
const SETTLE_SECS: f64 = 2.0;

pub(crate) fn fit(view: &View<'_>, story: &Story) -> Option<StraightRun> {
    let procedure = story.procedure(PROCEDURE)?;
    if procedure.windows.is_empty() {
        return None;
    }
    let wheels: Vec<Series> = (0..channels::MODULE_COUNT)
        .map(|i| view.numbers(&channels::module(i, channels::POSITION_RADIANS)))
        .filter(|s| !s.is_empty())
        .collect();
    let dark = view.dark();
    let mut found = StraightRun::default();
    let acts: Vec<_> = procedure.acts.iter().filter(|a| a.usable()).collect();
    for (measurement, taped) in story.answers(PROCEDURE).filter(|(m, _)| m.unit.as_deref() == Some("m")) {
        let at = measurement.at_secs.unwrap_or(f64::INFINITY);
        let Some(act) = acts.iter().rev().find(|a| a.window.to_secs <= at + 0.1) else {
            found.remarks.push(format!("{}: no completed run before this answer", measurement.key));
            continue;
        };
        // The robot may still roll to a stop while it settles; what was taped is where it stood.
        let rest = (act.window.to_secs + SETTLE_SECS).min(at.max(act.window.to_secs));
        let window = Window { from_secs: act.window.from_secs, to_secs: rest };
        let travel = wheel_travel(&wheels, window, &dark);
        if travel.is_empty() {
            continue;
        }
        let wheel = stats::mean(&travel.iter().map(|t| t.abs()).collect::<Vec<_>>());
        if taped.abs() < 0.5 || wheel < 1.0 {
            found.remarks.push(format!("{}: {taped:.3} m is too short to tell a radius", measurement.key));
            continue;
        }
        found.legs.push(StraightLeg {
            key: measurement.key.clone(),
            taped_m: taped.abs(),
            wheel_rad: wheel,
            radius_m: taped.abs() / wheel,
            window,
        });
    }
    let radii: Vec<f64> = found.legs.iter().map(|l| l.radius_m).collect();
    match mean_t(&radii) {
        None => {
            found.refused = Some(if wheels.is_empty() {
                "the wheels' positions are not in the log".to_owned()
            } else {
                "no taped length with a completed run before it".to_owned()
            });
        }
        Some(mean) => {
            let tape = stats::mean(&found.legs.iter().map(|l| TAPE_M / l.wheel_rad).collect::<Vec<_>>());
            let tape = tape / (radii.len() as f64).sqrt() * 2.0;
            // Two legs carry t = 12.7; what the tape can do is the honest bound there.
            let half = if radii.len() < 3 {
                tape.max(stats::sample_sd(&radii))
            } else {
                mean.half_width().max(tape)
            };
            found.radius_m = Some(Interval::new(mean.value, half, radii.len()));
            found
                .remarks
                .push(format!("the interval takes ±{:.0} mm of tape reading for each leg", TAPE_M * 1e3));
        }
    }
    Some(found)
}
