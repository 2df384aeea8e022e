//! T19: at which battery each procedure was measured.

use crate::findings::{BatteryFacts, Window};
use crate::series::Series;
use crate::story::ProcedureStory;

/// Facts over all of a procedure's windows.
pub(crate) fn facts(volts: &Series, procedure: &ProcedureStory, pack: Option<String>) -> BatteryFacts {
    let parts: Vec<Series> = procedure.windows.iter().map(|w| volts.within(w.from_secs, w.to_secs)).collect();
    let spans: f64 = procedure.windows.iter().map(Window::secs).sum();
    let weighted: f64 = parts
        .iter()
        .zip(&procedure.windows)
        .filter_map(|(part, w)| part.held_mean(w.to_secs).map(|mean| mean * w.secs()))
        .sum();
    BatteryFacts {
        gate_volts: procedure.gate_volts,
        start_volts: parts.first().and_then(|p| p.v.first().copied()),
        min_volts: parts.iter().filter_map(Series::min).min_by(f64::total_cmp),
        mean_volts: (spans > 0.0 && parts.iter().any(|p| !p.is_empty())).then(|| weighted / spans),
        paused_secs: procedure.paused.iter().map(Window::secs).sum(),
        pack,
    }
}

/// Lowest volts in a window.
pub(crate) fn lowest(volts: &Series, window: Window) -> Option<f64> {
    volts.within(window.from_secs, window.to_secs).min()
}
