//! Numbers and spans in words, the same in every format.

use fieldlab_analysis::findings::Window;
use fieldlab_analysis::stats::Interval;

/// A number with as many decimals as its uncertainty earns: two digits of the half-width, four significant without one.
#[must_use]
pub(crate) fn number(value: f64, half_width: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    let decimals = if half_width > 0.0 && half_width.is_finite() {
        (1.0 - half_width.log10().floor()).clamp(0.0, 6.0)
    } else if value == 0.0 {
        1.0
    } else {
        (3.0 - value.abs().log10().floor()).clamp(0.0, 6.0)
    };
    let text = format!("{value:.*}", decimals as usize);
    positive_zero(text)
}

/// Minus zero is nobody's measurement.
fn positive_zero(text: String) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| c == '0' || c == '.') => rest.to_owned(),
        _ => text,
    }
}

/// A number that a person typed or a plan holds: as short as it was, six significant digits at most.
pub(crate) fn typed(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let decimals = (5.0 - value.abs().log10().floor()).clamp(0.0, 9.0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Metres as millimetres with three decimals, ± half-width when it shows.
pub(crate) fn millimetres(i: &Interval) -> String {
    let half = i.half_width() * 1e3;
    if half >= 0.0005 {
        format!("{:.3} ± {half:.3}", i.value * 1e3)
    } else {
        format!("{:.3}", i.value * 1e3)
    }
}

/// Lower and upper end, or a dash.
pub(crate) fn ends(lo: Option<f64>, hi: Option<f64>) -> String {
    match (lo, hi) {
        (Some(lo), Some(hi)) => {
            let half = 0.5 * (hi - lo);
            format!("{} to {}", number(lo, half), number(hi, half))
        }
        _ => "-".to_owned(),
    }
}

/// Value and ± half-width.
pub(crate) fn plus_minus(i: &Interval) -> String {
    if i.has_width() {
        format!("{} ± {}", number(i.value, i.half_width()), number(i.half_width(), i.half_width()))
    } else {
        number(i.value, 0.0)
    }
}

/// A fixed number of decimals, or a dash.
pub(crate) fn fixed(value: Option<f64>, decimals: usize) -> String {
    value
        .filter(|v| v.is_finite())
        .map_or_else(|| "-".to_owned(), |v| positive_zero(format!("{v:.decimals$}")))
}

/// With its sign, zero without one.
pub(crate) fn signed(value: f64, decimals: usize) -> String {
    let text = format!("{value:+.decimals$}");
    if text.trim_start_matches(['+', '-']).chars().all(|c| c == '0' || c == '.') {
        text.trim_start_matches(['+', '-']).to_owned()
    } else {
        text
    }
}

/// Seconds for people: `42 s`, `12 min 05 s`, `1 h 02 min`.
pub(crate) fn duration(secs: f64) -> String {
    let whole = secs.max(0.0).round() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

/// An instant of the session: `12:05`, `1:02:05`.
pub(crate) fn clock(secs: f64) -> String {
    let whole = secs.max(0.0).round() as u64;
    let (h, m, s) = (whole / 3600, whole % 3600 / 60, whole % 60);
    if h > 0 { format!("{h}:{m:02}:{s:02}") } else { format!("{m}:{s:02}") }
}

/// A window as two instants.
pub(crate) fn window(w: &Window) -> String {
    format!("{}\u{2013}{}", clock(w.from_secs), clock(w.to_secs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_follow_the_uncertainty() {
        assert_eq!(number(2.513_64, 0.0123), "2.514");
        assert_eq!(number(48.26, 1.7), "48.3");
        assert_eq!(number(0.050_812, 0.000_04), "0.050812");
        assert_eq!(number(1234.5, 0.0), "1234");
        assert_eq!(number(-0.000_04, 0.01), "0.000");
        assert_eq!(number(f64::NAN, 0.1), "-");
        assert_eq!(typed(4.02), "4.02");
        assert_eq!(typed(0.5), "0.5");
        assert_eq!(typed(3200.0), "3200");
        assert_eq!(typed(0.058_309_518_9), "0.0583095");
        assert_eq!(fixed(Some(-0.001), 0), "0");
        assert_eq!(plus_minus(&Interval::new(2.5, 0.012, 3)), "2.500 ± 0.012");
    }

    #[test]
    fn spans_for_people() {
        assert_eq!(duration(59.4), "59 s");
        assert_eq!(duration(725.0), "12 min 05 s");
        assert_eq!(duration(3725.0), "1 h 02 min");
        assert_eq!(clock(3725.0), "1:02:05");
        assert_eq!(clock(f64::NAN), "0:00");
    }
}
