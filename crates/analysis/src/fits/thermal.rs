//! The thermal soak: per motor rise and, when the record allows it, time constant and steady temperature.
//!
//! C dT/dt = k I² − (T − T_ambient)/R has, at a constant RMS current, the solution T(t) = T∞ − (T∞ − T₀) e^(−t/τ).

use std::collections::BTreeMap;

use crate::findings::{Thermal, ThermalChannel, Window};
use crate::series::Series;
use crate::stats::{self, Interval};
use crate::story::Story;
use crate::view::View;

const PROCEDURE: &str = "thermal-soak";
/// Below this rise a time constant is noise, K.
const MIN_RISE_K: f64 = 5.0;

pub(crate) fn fit(view: &View<'_>, story: &Story) -> Option<Thermal> {
    let windows =
        story.procedure(PROCEDURE).map(super::super::story::ProcedureStory::data_windows).unwrap_or_default();
    let soak = windows
        .iter()
        .copied()
        .reduce(|a, b| Window { from_secs: a.from_secs.min(b.from_secs), to_secs: a.to_secs.max(b.to_secs) });
    // T13: the soak's own window; the whole session only when there was no soak, and it says so.
    let window = soak.or_else(|| view.window())?;
    let mut thermal = Thermal { window, whole_session: soak.is_none(), ..Thermal::default() };
    let mut currents: BTreeMap<String, Series> = BTreeMap::new();
    let mut temperatures: Vec<(String, Series)> = Vec::new();
    for key in view.keys() {
        // T13: a limit setting is no reading, and a duplicate spelling has been folded already.
        if key.starts_with("FieldLab/") || key.to_ascii_lowercase().contains("limit") {
            continue;
        }
        let lower = key.to_ascii_lowercase();
        if lower.ends_with("temperaturec") || lower.ends_with("/tempc") || lower.ends_with("tempcelsius") {
            temperatures.push((key.to_owned(), view.numbers(key).within(window.from_secs, window.to_secs)));
        } else if lower.ends_with("statoramps")
            || lower.contains("statorcurrent")
            || lower.ends_with("/currentamps")
        {
            currents.insert(key.to_owned(), view.numbers(key).within(window.from_secs, window.to_secs));
        }
    }
    let mut paired = Vec::new();
    for (name, series) in temperatures.into_iter().filter(|(_, s)| !s.is_empty()) {
        let parent = name.rsplit_once('/').map_or("", |(p, _)| p);
        let current = currents.iter().find(|(k, _)| k.rsplit_once('/').is_some_and(|(p, _)| p == parent));
        paired.extend(current.map(|(k, _)| k.clone()));
        thermal.channels.push(channel(name, &series, current.map(|(_, s)| s), window));
    }
    for (name, series) in currents.iter().filter(|(k, _)| !paired.contains(k)) {
        if let Some(peak) = series.max_abs() {
            thermal.currents.insert(name.clone(), peak);
        }
    }
    thermal.channels.sort_by(|a, b| b.peak_c.total_cmp(&a.peak_c).then_with(|| a.name.cmp(&b.name)));
    if thermal.channels.is_empty() && thermal.currents.is_empty() { None } else { Some(thermal) }
}

fn channel(name: String, series: &Series, current: Option<&Series>, window: Window) -> ThermalChannel {
    let start = series.v.first().copied().unwrap_or(f64::NAN);
    let peak = series.max().unwrap_or(start);
    let quarter = window.to_secs - 0.25 * window.secs();
    let late = series.within(quarter, window.to_secs);
    let slope = line_slope(&late).map(|per_sec| per_sec * 60.0);
    let rms = current.filter(|c| !c.is_empty()).map(|c| {
        let squared = Series { t: c.t.clone(), v: c.v.iter().map(|a| a * a).collect(), dropped: 0 };
        squared.held_mean(window.to_secs).unwrap_or(0.0).sqrt()
    });
    let mut out = ThermalChannel {
        name,
        start_c: start,
        peak_c: peak,
        rise_k: peak - start,
        slope_k_per_min: slope,
        rms_amps: rms,
        peak_amps: current.and_then(Series::max_abs),
        tau_secs: None,
        steady_c: None,
        reading: String::new(),
        curve: series.thinned(200).into_iter().map(|(t, v)| (t - window.from_secs, v)).collect(),
        model: Vec::new(),
    };
    fit_rise(series, window, &mut out);
    out
}

fn line_slope(series: &Series) -> Option<f64> {
    crate::regress::slope(&series.t, &series.v).map(|s| s.value)
}

/// One exponential by a scan over τ; for each τ the two temperatures follow in closed form.
fn fit_rise(series: &Series, window: Window, out: &mut ThermalChannel) {
    let bound = |out: &ThermalChannel, why: &str| match out.slope_k_per_min {
        Some(slope) => {
            format!("{why}: rising at {slope:.2} K/min at the end, a time constant cannot be given")
        }
        None => format!("{why}: a time constant cannot be given"),
    };
    if out.rise_k < MIN_RISE_K || series.len() < 20 {
        out.reading = bound(out, &format!("rose by {:.1} K, under {MIN_RISE_K:.0} K", out.rise_k));
        return;
    }
    let times: Vec<f64> = series.t.iter().map(|t| t - window.from_secs).collect();
    let span = window.secs();
    let score = |tau: f64| -> Option<(f64, f64, f64)> {
        let x: Vec<f64> = times.iter().map(|t| 1.0 - (-t / tau).exp()).collect();
        let rows: Vec<Vec<f64>> = x.iter().map(|x| vec![1.0, *x]).collect();
        let fit = crate::ols::solve(&rows, &series.v)?;
        Some((fit.residuals.iter().map(|r| r * r).sum(), fit.beta[0], fit.beta[1]))
    };
    let grid: Vec<f64> = (0..=160).map(|i| span * 0.02 * 500f64.powf(f64::from(i) / 160.0)).collect();
    let scored: Vec<(f64, f64, f64, f64)> =
        grid.iter().filter_map(|tau| score(*tau).map(|(sse, a, b)| (*tau, sse, a, b))).collect();
    let Some(best) = scored.iter().min_by(|a, b| a.1.total_cmp(&b.1)).copied() else { return };
    let n = series.len() as f64;
    // Samples of a slow sensor repeat one another: count changes of the reading, not records, as independent.
    let changes = series.v.windows(2).filter(|w| w[0] != w[1]).count().clamp(4, series.len()) as f64;
    let limit = best.1 * (1.0 + 4.0 / changes) + 1e-12 * n;
    let inside: Vec<f64> = scored.iter().filter(|s| s.1 <= limit).map(|s| s.0).collect();
    let (low, high) = (stats::quantile(&inside, 0.0), stats::quantile(&inside, 1.0));
    if best.0 > span || high > 3.0 * best.0 {
        out.reading = bound(
            out,
            &format!("the record of {span:.0} s is shorter than one time constant (over {low:.0} s)"),
        );
        return;
    }
    let tau = Interval { value: best.0, lo: low, hi: high, n: series.len() };
    out.tau_secs = Some(tau);
    out.steady_c = Some(best.2 + best.3);
    out.model = (0..=60)
        .map(|i| {
            let t = span * f64::from(i) / 60.0;
            (t, best.2 + best.3 * (1.0 - (-t / best.0).exp()))
        })
        .collect();
    let half_time = best.0 * std::f64::consts::LN_2;
    out.reading = format!(
        "time constant {:.0} s ({:.0} to {:.0}), settles at {:.0} °C under this load; cools half-way back in {:.0} s",
        tau.value,
        tau.lo,
        tau.hi,
        best.2 + best.3,
        half_time
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soak(tau: f64, steady: f64, secs: i32) -> ThermalChannel {
        let samples = (0..secs).map(|i| {
            let t = f64::from(i);
            (t, (25.0 + (steady - 25.0) * (1.0 - (-t / tau).exp())).round())
        });
        let window = Window { from_secs: 0.0, to_secs: f64::from(secs) };
        channel("m/TemperatureC".to_owned(), &Series::new(samples.collect()), None, window)
    }

    #[test]
    fn a_long_soak_gives_its_time_constant_from_whole_degrees() {
        let c = soak(200.0, 85.0, 600);
        let tau = c.tau_secs.unwrap();
        assert!((tau.value / 200.0 - 1.0).abs() < 0.05, "{tau:?}");
        assert!(tau.contains(200.0), "{tau:?}");
        assert!((c.steady_c.unwrap() - 85.0).abs() < 1.5);
    }

    #[test]
    fn a_short_or_cool_soak_gives_a_slope_and_a_bound() {
        let short = soak(900.0, 85.0, 200);
        assert!(short.tau_secs.is_none() && short.reading.contains("K/min"), "{}", short.reading);
        let cool = soak(200.0, 28.0, 600);
        assert!(cool.tau_secs.is_none() && cool.reading.contains("under 5 K"), "{}", cool.reading);
    }
}
