//! How fast a way may be run through: speed caps by place, acceleration by place, and no kink in the acceleration.

use crate::constants::generated;
use crate::error::DrawError;

/// Distance between knots of the speed with the pen down and with the pen up, metres.
pub(super) const KNOT_DOWN_M: f64 = 5e-6;
pub(super) const KNOT_UP_M: f64 = 1e-5;
/// How long the acceleration takes from nothing to its whole: the jerk is the acceleration over this, seconds.
const RISE_SECS: f64 = 0.2;
/// The rise from rest is well under way at this share of the acceleration times the square of [`RISE_SECS`]: three quarters of it.
const RISEN: f64 = 0.075;
/// Slowest speed between the ends of a way, m/s: a way is never stood still on.
const LEAST_M_S: f64 = 1e-5;

/// Places along a way at each tick, its end included, from rest to rest.
///
/// `knots_m` rise from 0; `caps_m_s` and `accelerations_m_s2` hold at each of them. The speed keeps the caps; its gain along the way
/// forwards and backwards keeps the acceleration, which itself rises from nothing over a fifth of a second; and where gaining turns to
/// losing the speed is rounded over as long, always below what was found.
///
/// # Errors
/// [`DrawError::Refused`] with code `ticks` for a way that takes longer than the planner plans.
pub(super) fn retime(
    knots_m: &[f64],
    caps_m_s: &[f64],
    accelerations_m_s2: &[f64],
) -> Result<Vec<f64>, DrawError> {
    let mut speeds = caps_m_s.to_vec();
    let last = speeds.len().saturating_sub(1);
    gain(&mut speeds, &|k| knots_m[k], accelerations_m_s2);
    let mut back: Vec<f64> = speeds.iter().rev().copied().collect();
    let turned: Vec<f64> = accelerations_m_s2.iter().rev().copied().collect();
    gain(&mut back, &|k| knots_m[last] - knots_m[last - k], &turned);
    speeds = back.into_iter().rev().collect();
    rounded(&mut speeds, knots_m, accelerations_m_s2);
    places(knots_m, &speeds)
}

/// Lowers the speeds to what can be gained from rest at the first knot, the acceleration rising by its jerk.
fn gain(speeds: &mut [f64], place: &dyn Fn(usize) -> f64, accelerations: &[f64]) {
    if let Some(first) = speeds.first_mut() {
        *first = 0.0;
    }
    // Time since the acceleration was last nothing.
    let mut rise_secs = 0.0f64;
    for k in 1..speeds.len() {
        let (ds, from, most) = (place(k) - place(k - 1), speeds[k - 1], accelerations[k]);
        let jerk = most / RISE_SECS;
        let reached = if from <= 0.0 {
            // From rest, s = j t^3 / 6.
            rise_secs = (6.0 * ds / jerk).cbrt();
            0.5 * jerk * rise_secs * rise_secs
        } else {
            let acceleration = (jerk * rise_secs).clamp(0.02 * most, most);
            (from * from + 2.0 * acceleration * ds).sqrt()
        };
        if reached >= speeds[k] {
            // The cap is in force: what it lets the speed gain is where the next gain begins.
            let gained = ((speeds[k].powi(2) - from * from) / (2.0 * ds)).clamp(0.0, most);
            rise_secs = gained / jerk;
        } else {
            if from > 0.0 {
                rise_secs = (rise_secs + 2.0 * ds / (from + reached)).min(RISE_SECS);
            }
            speeds[k] = reached;
        }
    }
}

/// Rounds the speed over the way of a fifth of a second, at each place: the least over that way first, its mean then. Both are taken
/// over places within reach of each other, so that no speed rises. From rest the acceleration rises by itself, and a window that
/// reached back to the rest would hold the speed down: near the ends it reaches half the way to where that rise is well under way.
fn rounded(speeds: &mut [f64], knots: &[f64], accelerations: &[f64]) {
    let ends = [0, knots.len().saturating_sub(1)];
    let risen = ends.map(|end| RISEN * accelerations[end] * RISE_SECS * RISE_SECS);
    let window = |k: usize| {
        let room = (knots[k] - knots[ends[0]] - risen[0]).min(knots[ends[1]] - knots[k] - risen[1]);
        let reach = (0.5 * speeds[k] * RISE_SECS).min(0.5 * room.max(0.0));
        let (low, high) = (knots[k] - reach, knots[k] + reach);
        (knots.partition_point(|&s| s < low), knots.partition_point(|&s| s <= high))
    };
    let windows: Vec<(usize, usize)> = (0..speeds.len()).map(window).collect();
    let least = sliding_least(speeds, &windows);
    let mut sums = Vec::with_capacity(speeds.len() + 1);
    sums.push(0.0);
    for value in &least {
        sums.push(sums[sums.len() - 1] + value);
    }
    for (k, &(from, to)) in windows.iter().enumerate() {
        if to > from + 1 {
            #[allow(clippy::cast_precision_loss)] // knots of one stroke
            let mean = (sums[to] - sums[from]) / (to - from) as f64;
            speeds[k] = speeds[k].min(mean);
        }
    }
}

/// The least value of each window; windows begin and end in no particular order, so a table of powers of two answers.
fn sliding_least(values: &[f64], windows: &[(usize, usize)]) -> Vec<f64> {
    let mut table = vec![values.to_vec()];
    let mut width = 1;
    while 2 * width <= values.len() {
        let before = &table[table.len() - 1];
        let next = (0..=values.len() - 2 * width).map(|k| before[k].min(before[k + width])).collect();
        table.push(next);
        width *= 2;
    }
    windows
        .iter()
        .enumerate()
        .map(|(k, &(from, to))| {
            let count = to.saturating_sub(from);
            match count.checked_ilog2() {
                Some(power) => table[power as usize][from].min(table[power as usize][to - (1 << power)]),
                None => values[k],
            }
        })
        .collect()
}

/// The place at each tick: the square of the speed is straight between knots, and from and to rest the place is the cubic of its jerk.
fn places(knots: &[f64], speeds: &[f64]) -> Result<Vec<f64>, DrawError> {
    let period = generated::PERIOD_S;
    #[allow(clippy::cast_precision_loss)] // 250 000
    let most_secs = generated::PLANNER_MAX_TICKS as f64 * period;
    let (mut out, mut time, mut next) = (Vec::new(), 0.0, 1.0);
    let last = knots.len().saturating_sub(1);
    for k in 1..=last {
        let (at, ds) = (knots[k - 1], knots[k] - knots[k - 1]);
        let (from, to) = (speeds[k - 1].max(LEAST_M_S), speeds[k].max(LEAST_M_S));
        let dt = match (k == 1, k == last) {
            (true, _) => 3.0 * ds / to,
            (_, true) => 3.0 * ds / from,
            _ => 2.0 * ds / (from + to),
        };
        if (time + dt).is_nan() || time + dt > most_secs {
            let reason = format!("a way that takes more than {most_secs} s");
            return Err(DrawError::Refused { code: "ticks", reason });
        }
        while next * period <= time + dt {
            let t = next * period - time;
            out.push(match (k == 1, k == last) {
                (true, _) => at + ds * (t / dt).powi(3),
                (_, true) => at + ds * (1.0 - (1.0 - t / dt).powi(3)),
                _ => at + from * t + 0.5 * (to - from) / dt * t * t,
            });
            next += 1.0;
        }
        time += dt;
    }
    out.extend(knots.last());
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn even(length: f64, step: f64) -> Vec<f64> {
        let count = (length / step).round() as u32;
        (0..=count).map(|k| length * f64::from(k) / f64::from(count)).collect()
    }

    /// Speed, acceleration and jerk, each over 20 ticks, so that the knots' own steps do not show.
    fn rates(places: &[f64]) -> (f64, f64, f64) {
        const SPAN: usize = 20;
        let dt = 0.0025 * SPAN as f64;
        let from_rest: Vec<f64> = std::iter::repeat_n(0.0, 4 * SPAN)
            .chain(places.iter().copied())
            .chain(std::iter::repeat_n(places[places.len() - 1], 4 * SPAN))
            .collect();
        let rate = |values: &[f64]| -> Vec<f64> {
            (SPAN..values.len()).map(|k| (values[k] - values[k - SPAN]) / dt).collect()
        };
        let most = |values: &[f64]| values.iter().fold(0.0f64, |most, v| most.max(v.abs()));
        let speed = rate(&from_rest);
        let acceleration = rate(&speed);
        let jerk = rate(&acceleration);
        (most(&speed), most(&acceleration), most(&jerk))
    }

    #[test]
    fn a_straight_way_keeps_speed_acceleration_and_jerk() {
        for (length, speed) in [(0.02, 0.005), (0.002, 0.02), (0.0002, 0.005)] {
            let knots = even(length, KNOT_DOWN_M);
            let places = retime(&knots, &vec![speed; knots.len()], &vec![0.010; knots.len()]).unwrap();
            assert_eq!(places[places.len() - 1], length);
            assert!(places.windows(2).all(|pair| pair[1] >= pair[0]));
            let (v, a, j) = rates(&places);
            // A jerk of 0.010 / 0.2, and twice that where gaining turns to losing.
            assert!(
                v <= speed * 1.0001 && a < 0.010 * 1.05 && j < 2.0 * 0.05 * 1.25,
                "{length}: {v} {a} {j}"
            );
            // It is not slow for nothing: no slower than twice the time of the constant acceleration, and the rise.
            let best = if length > speed * speed / 0.01 {
                length / speed + speed / 0.01
            } else {
                2.0 * (length / 0.01f64).sqrt()
            };
            assert!(
                places.len() as f64 * 0.0025 < 1.5 * best + 0.4,
                "{length}: {} against {best}",
                places.len() as f64 * 0.0025
            );
        }
    }

    #[test]
    fn the_beginning_is_the_cubic_of_its_jerk() {
        let knots = even(0.02, KNOT_DOWN_M);
        let places = retime(&knots, &vec![0.01; knots.len()], &vec![0.010; knots.len()]).unwrap();
        // s = j t^3 / 6 with j = 0.05 while t < 0.2.
        for k in [60, 70] {
            let t = 0.0025 * f64::from(k);
            let wanted = 0.05 * t * t * t / 6.0;
            let found = places[k as usize - 1];
            assert!((found - wanted).abs() < 0.06 * wanted + 5e-7, "{t}: {found} against {wanted}");
        }
    }

    #[test]
    fn caps_hold_at_their_place_and_a_way_that_takes_too_long_is_refused() {
        let knots = even(0.02, KNOT_DOWN_M);
        let caps: Vec<f64> =
            knots.iter().map(|&s| if (s - 0.01).abs() < 1e-4 { 0.0003 } else { 0.008 }).collect();
        let places = retime(&knots, &caps, &vec![0.010; knots.len()]).unwrap();
        for pair in places.windows(2) {
            if (pair[0] - 0.01).abs() < 1e-4 && (pair[1] - 0.01).abs() < 1e-4 {
                assert!((pair[1] - pair[0]) / 0.0025 <= 0.0003 * 1.001);
            }
        }
        let (_, a, _) = rates(&places);
        assert!(a < 0.010 * 1.05, "{a}");
        assert!(retime(&knots, &vec![1e-6; knots.len()], &vec![0.010; knots.len()]).is_err());
    }
}
