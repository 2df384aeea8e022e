//! Slip current: recomputed from the log for every run whose status says done, with the robot's own result beside it.
//!
//! The robot looks at the largest current of the last fifteen loops when a wheel passes its slip speed. A wheel that
//! breaks loose slowly takes longer than that, and the peak has left the window; the log still has it.

use crate::findings::{SlipCurrent, SlipRun, Window};
use crate::series::Series;
use crate::stats::{self, mean_t};
use crate::story::Story;
use crate::view::View;
use fieldlab_campaign::channels;

const PROCEDURE: &str = "slip-current";
const ROOT: &str = "Calibration/SlipCurrent";
/// Below this a wheel that turns is rolling or light, not slipping, amps.
const HELD_AMPS: f64 = 15.0;
/// Results may be logged up to a few loops after the status.
const SAME_INSTANT_SECS: f64 = 0.1;
/// How long a wheel may take from breaking loose to a speed that is told from noise, seconds.
const LOOK_BACK_SECS: f64 = 0.8;
/// Robot and log further apart than this are worth a word, percent.
const WORTH_A_WORD_PERCENT: f64 = 5.0;

pub(crate) fn fit(view: &View<'_>, story: &Story) -> Option<SlipCurrent> {
    let procedure = story.procedure(PROCEDURE);
    let mut windows: Vec<(Window, String)> = status_runs(view);
    if windows.is_empty() {
        windows = procedure
            .map(super::super::story::ProcedureStory::data_windows)
            .unwrap_or_default()
            .into_iter()
            .map(|w| (w, String::new()))
            .collect();
    }
    if windows.is_empty() {
        return None;
    }
    let channels = Channels::read(view);
    let mut found = SlipCurrent {
        runs: windows.into_iter().map(|(window, status)| channels.run(window, status)).collect(),
        ..SlipCurrent::default()
    };
    conclude(&mut found);
    Some(found)
}

/// Each stretch from `running` to the status that follows it.
fn status_runs(view: &View<'_>) -> Vec<(Window, String)> {
    let mut runs = Vec::new();
    let mut since: Option<f64> = None;
    let mut last = 0.0;
    for (t, status) in view.texts(&format!("{ROOT}/Status")) {
        last = t;
        match (status.as_str(), since) {
            ("running", None) => since = Some(t),
            ("running" | "", _) | (_, None) => {}
            (_, Some(from)) => {
                runs.push((Window { from_secs: from, to_secs: t }, status));
                since = None;
            }
        }
    }
    if let Some(from) = since {
        let to = view.window().map_or(last, |w| w.to_secs).min(from + 60.0);
        runs.push((Window { from_secs: from, to_secs: to }, "running".to_owned()));
    }
    runs
}

struct Channels {
    slip: Series,
    recommended: Series,
    breaks: Vec<(f64, Vec<f64>)>,
    amps: Vec<Series>,
    speeds: Vec<Series>,
}

impl Channels {
    fn read(view: &View<'_>) -> Self {
        let module = |field: &str| -> Vec<Series> {
            (0..channels::MODULE_COUNT).map(|i| view.numbers(&channels::module(i, field))).collect()
        };
        Self {
            slip: view.numbers(&format!("{ROOT}/SlipAmps")),
            recommended: view.numbers(&format!("{ROOT}/RecommendedAmps")),
            breaks: view.arrays(&format!("{ROOT}/BreakAmps")),
            amps: module(channels::STATOR_AMPS),
            speeds: module(channels::VELOCITY_MPS),
        }
    }

    fn run(&self, window: Window, status: String) -> SlipRun {
        let until = window.to_secs + SAME_INSTANT_SECS;
        let done = status == "done";
        // Change-only capture: a second run with the same result logs nothing new, so hold; the NaN at a run's start was
        // dropped with the non-finite.
        let result = |s: &Series| s.at(until).filter(|a| done && *a > 0.0);
        let breaks =
            self.breaks.iter().rev().find(|(t, v)| *t <= until && *t >= window.from_secs && !v.is_empty());
        let wheels: Vec<(Option<f64>, Option<f64>)> =
            self.amps.iter().zip(&self.speeds).map(|(a, v)| recompute(a, v, window)).collect();
        SlipRun {
            window,
            robot_amps: result(&self.slip),
            recommended_amps: result(&self.recommended),
            status,
            break_amps: breaks
                .map_or(Vec::new(), |(_, v)| v.iter().map(|a| a.is_finite().then_some(*a)).collect()),
            recomputed_amps: wheels.iter().map(|(a, _)| *a).collect(),
            ramps: self
                .amps
                .iter()
                .map(|a| {
                    let part = a.within(window.from_secs, window.to_secs);
                    part.thinned(300).into_iter().map(|(t, v)| (t - window.from_secs, v.abs())).collect()
                })
                .collect(),
            breaks_secs: wheels.iter().map(|(_, t)| t.map(|t| t - window.from_secs)).collect(),
        }
    }
}

/// First time the wheel moves for 100 ms faster than its rest noise and then carries less current; the slip current is
/// the largest median-of-5 current in the time before, in which a slowly breaking wheel gathers speed. Amps and when.
fn recompute(amps: &Series, speed: &Series, window: Window) -> (Option<f64>, Option<f64>) {
    let speed = speed.within(window.from_secs, window.to_secs);
    let rest: Vec<f64> = speed.within(window.from_secs, window.from_secs + 0.5).v;
    let limit = (5.0 * stats::sample_sd(&rest)).max(0.05);
    let mut since: Option<f64> = None;
    for (t, v) in speed.t.iter().zip(&speed.v) {
        if v.abs() <= limit {
            since = None;
            continue;
        }
        let from = *since.get_or_insert(*t);
        if t - from < 0.1 {
            continue;
        }
        let before = median_of_five(&amps.within(from - LOOK_BACK_SECS, from));
        let Some(current) = before.max() else { return (None, Some(from)) };
        let after = amps.within(from + 0.05, from + 0.3);
        let fell = after.v.iter().any(|a| a.abs() < 0.95 * current);
        if fell {
            return (Some(current), Some(from));
        }
        since = Some(*t);
    }
    (None, None)
}

fn median_of_five(amps: &Series) -> Series {
    let absolute: Vec<f64> = amps.v.iter().map(|a| a.abs()).collect();
    let v = (0..absolute.len())
        .map(|i| stats::median(&absolute[i.saturating_sub(2)..(i + 3).min(absolute.len())]))
        .collect();
    Series { t: amps.t.clone(), v, dropped: 0 }
}

fn conclude(found: &mut SlipCurrent) {
    let robot: Vec<f64> = found.runs.iter().filter_map(|r| r.robot_amps).collect();
    // T1: a run counts only when its status says done; without a status the log alone must tell.
    let counts = |r: &&SlipRun| r.status.is_empty() || r.status == "done";
    let own: Vec<f64> = found.runs.iter().filter(counts).filter_map(weakest).collect();
    let (values, source) = if own.len() >= robot.len() {
        (own, "weakest wheel's current when it broke loose, from the log")
    } else {
        (robot.clone(), "the robot's SlipAmps, status done")
    };
    if values.is_empty() {
        let statuses: Vec<&str> =
            found.runs.iter().map(|r| r.status.as_str()).filter(|s| !s.is_empty()).collect();
        found.refused = Some(if statuses.is_empty() {
            "no wheel broke loose in the log".to_owned()
        } else {
            format!("no run ended done: {}", statuses.join("; "))
        });
        return;
    }
    source.clone_into(&mut found.source);
    found.amps = mean_t(&values);
    let weakest_run = stats::quantile(&values, 0.0);
    found.recommended_amps = Some((weakest_run / 5.0).floor() * 5.0);
    if values.len() < 3 {
        found
            .remarks
            .push(format!("{} run(s): three repeats are needed for an honest interval", values.len()));
    }
    if let (Some(mean), false) = (found.amps, robot.is_empty()) {
        let percent = (stats::mean(&robot) / mean.value - 1.0) * 100.0;
        let why = if percent < -WORTH_A_WORD_PERCENT {
            ": the wheel gathered speed for longer than the robot's window of fifteen loops, which had lost the peak"
        } else {
            ""
        };
        found.remarks.push(format!(
            "the robot's own routine says {:.1} A ({percent:+.1} %){why}",
            stats::mean(&robot)
        ));
    }
    let failed = found.runs.iter().filter(|r| !matches!(r.status.as_str(), "" | "done")).count();
    if failed > 0 {
        found.remarks.push(format!("{failed} run(s) did not end done and are left out"));
    }
}

/// The smallest recomputed current of a wheel that held before it turned.
fn weakest(run: &SlipRun) -> Option<f64> {
    run.recomputed_amps.iter().flatten().copied().filter(|a| *a >= HELD_AMPS).min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 50 Hz, 0.5 V/s into 0.05 ohm: 10 A/s; the wheel breaks at 48.3 A.
    fn ramp(breaks_at: f64) -> (Series, Series) {
        let (mut amps, mut speed) = (Vec::new(), Vec::new());
        for i in 0..400 {
            let t = f64::from(i) * 0.02;
            let held = 10.0 * t;
            let slipping = (held - breaks_at).max(0.0);
            amps.push((t, if slipping > 0.0 { 0.8 * breaks_at } else { held }));
            speed.push((t, slipping * 0.1));
        }
        (Series::new(amps), Series::new(speed))
    }

    #[test]
    fn recomputes_the_break_current_of_a_ramp() {
        let (amps, speed) = ramp(48.3);
        let (current, at) = recompute(&amps, &speed, Window { from_secs: 0.0, to_secs: 8.0 });
        assert!((current.unwrap() - 48.3).abs() < 1.0, "{current:?}");
        assert!((at.unwrap() - 4.9).abs() < 0.3, "{at:?}");
    }

    #[test]
    fn a_single_spike_of_current_is_no_break() {
        let (mut amps, _) = ramp(99.0);
        amps.v[100] = 90.0;
        let still = Series::new((0..400).map(|i| (f64::from(i) * 0.02, 0.0)).collect());
        assert_eq!(recompute(&amps, &still, Window { from_secs: 0.0, to_secs: 8.0 }), (None, None));
    }
}
