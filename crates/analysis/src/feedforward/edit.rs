//! Data editing before the output-error fit: every row taken out is counted under a reason. No row is changed.

use std::collections::BTreeMap;

use super::run::Run;
use crate::stats::{median, quantile};

/// Reasons, as printed.
const STALE: &str = "stale frames";
const LEFT_OVER: &str = "voltage of the test before";
const SPIKES: &str = "velocity spikes";
const END_STOP: &str = "held by an end stop";
const NOT_MOVING: &str = "ramp before it moved";

/// The run without the rows that the motor model cannot explain.
pub(crate) fn edit(mut run: Run, counts: &mut BTreeMap<String, usize>) -> Run {
    left_over(&mut run, counts);
    stale(&mut run, counts);
    spikes(&mut run, counts);
    end_stop(&mut run, counts);
    if run.test.is_ramp() {
        not_moving(&mut run, counts);
    }
    run
}

fn keep(run: &mut Run, flags: &[bool], reason: &str, counts: &mut BTreeMap<String, usize>) {
    let gone = flags.iter().filter(|k| !**k).count();
    if gone > 0 {
        run.retain(flags);
        *counts.entry(reason.to_owned()).or_default() += gone;
    }
}

/// Leading rows whose voltage has the wrong sign for the test.
fn left_over(run: &mut Run, counts: &mut BTreeMap<String, usize>) {
    let sign = median(&run.volts).signum();
    let wrong = run.volts.iter().take_while(|u| *u * sign < 0.0).count();
    if wrong > 0 && run.len() - wrong > 10 {
        let flags: Vec<bool> = (0..run.len()).map(|i| i >= wrong).collect();
        keep(run, &flags, LEFT_OVER, counts);
    }
}

/// Position and velocity both unchanged although the wheel must have moved more than two encoder counts.
fn stale(run: &mut Run, counts: &mut BTreeMap<String, usize>) {
    let count = run
        .position
        .windows(2)
        .map(|w| (w[1] - w[0]).abs())
        .filter(|d| *d > 0.0)
        .fold(f64::INFINITY, f64::min);
    let count = if count.is_finite() { count } else { 0.0 };
    let flags: Vec<bool> = (0..run.len())
        .map(|i| {
            i == 0
                || run.position[i] != run.position[i - 1]
                || run.velocity[i] != run.velocity[i - 1]
                || run.velocity[i].abs() * (run.t[i] - run.t[i - 1]) <= 2.0 * count
                || run.velocity[i] == 0.0
        })
        .collect();
    keep(run, &flags, STALE, counts);
}

/// Seven-point Hampel filter; its scale never falls below the run's own noise or one velocity step.
fn spikes(run: &mut Run, counts: &mut BTreeMap<String, usize>) {
    const HALF: usize = 3;
    const TO_SIGMA: f64 = 1.4826;
    let v = &run.velocity;
    if v.len() <= 2 * HALF + 1 {
        return;
    }
    let at = |i: isize| v[i.clamp(0, v.len() as isize - 1) as usize];
    let mut off = Vec::with_capacity(v.len());
    let mut local = Vec::with_capacity(v.len());
    for i in 0..v.len() as isize {
        let window: Vec<f64> = (-(HALF as isize)..=HALF as isize).map(|k| at(i + k)).collect();
        let middle = median(&window);
        let deviations: Vec<f64> = window.iter().map(|w| (w - middle).abs()).collect();
        off.push((at(i) - middle).abs());
        local.push(TO_SIGMA * median(&deviations));
    }
    let steps: Vec<f64> = v.windows(2).map(|w| (w[1] - w[0]).abs()).filter(|s| *s > 1e-9).collect();
    let quantum = if steps.is_empty() { 0.0 } else { quantile(&steps, 0.05) };
    let floor = (3.0 * TO_SIGMA * median(&off)).max(quantum).max(1e-9);
    let flags: Vec<bool> = off.iter().zip(&local).map(|(e, l)| *e <= 6.0 * l.max(floor)).collect();
    keep(run, &flags, SPIKES, counts);
}

/// After the top speed was nearly reached, half the speed at almost the full voltage twice over is an end stop; the cut
/// goes back to where the fall began.
fn end_stop(run: &mut Run, counts: &mut BTreeMap<String, usize>) {
    let speed: Vec<f64> = run.velocity.iter().map(|v| v.abs()).collect();
    let top = quantile(&speed, 0.95);
    let Some(reached) = speed.iter().position(|v| *v >= 0.9 * top) else { return };
    let held: Vec<usize> = (reached..run.len())
        .filter(|&i| speed[i] < 0.5 * top && run.volts[i].abs() >= 0.8 * run.volts[reached].abs())
        .collect();
    let [first, _, ..] = held[..] else { return };
    let mut cut = first;
    while cut > reached && speed[cut - 1] > speed[cut] * 1.02 {
        cut -= 1;
    }
    let cut = cut.saturating_sub(1).max(2);
    let flags: Vec<bool> = (0..run.len()).map(|i| i < cut).collect();
    keep(run, &flags, END_STOP, counts);
}

/// A ramp up to the last row that is slower than 4 % of its top speed.
fn not_moving(run: &mut Run, counts: &mut BTreeMap<String, usize>) {
    let speed: Vec<f64> = run.velocity.iter().map(|v| v.abs()).collect();
    let slow = 0.04 * quantile(&speed, 0.95);
    let start = speed.iter().rposition(|v| *v < slow).map_or(0, |i| i + 1);
    if run.len() - start > 20 {
        let flags: Vec<bool> = (0..run.len()).map(|i| i >= start).collect();
        keep(run, &flags, NOT_MOVING, counts);
    }
}

#[cfg(test)]
mod tests {
    use super::super::run::Test;
    use super::*;

    fn step(rows: usize) -> Run {
        let mut run = Run::new(Test::DynamicForward);
        for i in 0..rows {
            let t = i as f64 * 0.02;
            let rise = 1.0 - (-t / 0.12_f64).exp();
            run.push(t, 7.0, 2.7 * (t - 0.12 * rise), 2.7 * rise);
        }
        run
    }

    #[test]
    fn a_wall_is_cut_and_counted() {
        let mut run = step(75);
        for (k, v) in run.velocity.iter_mut().skip(60).enumerate() {
            *v = 2.7 * (-(k as f64) * 0.5).exp();
        }
        let mut counts = BTreeMap::new();
        let run = edit(run, &mut counts);
        assert!(run.len() <= 60 && run.len() > 50, "{}", run.len());
        assert!(counts[END_STOP] >= 15);
    }

    #[test]
    fn a_spike_and_a_stale_frame_are_taken_out_and_counted() {
        let mut run = step(75);
        run.velocity[40] = 9.0;
        run.velocity[50] = run.velocity[49];
        run.position[50] = run.position[49];
        let mut counts = BTreeMap::new();
        let run = edit(run, &mut counts);
        assert_eq!(counts[SPIKES], 1);
        assert_eq!(counts[STALE], 1);
        assert_eq!(run.len(), 73);
    }

    #[test]
    fn clean_data_stay_whole_and_short_data_do_not_panic() {
        let mut counts = BTreeMap::new();
        assert_eq!(edit(step(75), &mut counts).len(), 75);
        assert!(counts.is_empty());
        for n in 0..12 {
            edit(step(n), &mut counts);
        }
    }
}
