//! One file per thing that is measured. Each takes the session's channels and its story; each refuses in words.

pub(crate) mod battery;
pub(crate) mod drift;
pub(crate) mod drive_ff;
pub(crate) mod slip;
pub(crate) mod straight;
pub(crate) mod sweep;
pub(crate) mod thermal;
pub(crate) mod vision;
pub(crate) mod wheel;

use crate::findings::Window;
use crate::series::Series;

/// What the wheels did in a window: travel of each, radians, end minus start. Empty when a wheel is missing. A value does
/// not hold across a `dark` stretch: an encoder starts anew with its robot.
pub(crate) fn wheel_travel(wheels: &[Series], window: Window, dark: &[Window]) -> Vec<f64> {
    let start = |w: &Series| {
        let held = w.t.partition_point(|t| *t <= window.from_secs).checked_sub(1);
        let torn = |i: usize| {
            dark.iter().any(|d| d.from_secs >= w.t[i] - 1e-9 && d.to_secs <= window.from_secs + 1e-9)
        };
        match held.filter(|i| !torn(*i)) {
            Some(i) => w.v.get(i).copied(),
            None => w.v.get(held.map_or(0, |i| i + 1)).copied(),
        }
    };
    wheels.iter().filter_map(|w| Some(w.at(window.to_secs)? - start(w)?)).collect()
}

/// Whether a key's segments, split at `-`, `_` and `.`, include `word`.
pub(crate) fn has_word(key: &str, word: &str) -> bool {
    key.split(['-', '_', '.', ' ']).any(|part| part.eq_ignore_ascii_case(word))
}

/// Way round in a label: `clockwise`, `counter-clockwise`, `cw`, `ccw`, `left`, `right`.
pub(crate) fn direction(label: &str) -> Option<&'static str> {
    let lower = label.to_ascii_lowercase();
    if lower.contains("counter") || lower.contains("anti") || has_word(&lower, "ccw") {
        Some("CCW")
    } else if lower.contains("clockwise") || has_word(&lower, "cw") {
        Some("CW")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_round_are_read_from_labels() {
        for (label, way) in [
            ("lap 1, clockwise", Some("CW")),
            ("Lap 2 counter-clockwise", Some("CCW")),
            ("anticlockwise", Some("CCW")),
            ("lap4-ccw-x-m", Some("CCW")),
            ("lap4-cw-x-m", Some("CW")),
            ("lap 1", None),
        ] {
            assert_eq!(direction(label), way, "{label}");
        }
    }
}
