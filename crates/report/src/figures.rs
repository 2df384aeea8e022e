//! The pictures of the report.

use fieldlab_analysis::findings::{
    Drift, Feedforward, Findings, Setpoint, SlipCurrent, SpanKind, Sweep, Thermal, WheelRadius,
};

use crate::document::Figure;
use crate::svg::{Axis, Plot};
use crate::text;

const WHEELS: [&str; 4] = ["front left", "front right", "back left", "back right"];

fn figure(svg: String, caption: impl Into<String>) -> Figure {
    Figure { svg, caption: caption.into() }
}

/// What the afternoon was spent on.
pub(crate) fn timeline(f: &Findings) -> Option<Figure> {
    let end = f.duration_secs?;
    let procedures: Vec<&str> =
        f.procedures.iter().filter(|p| !p.windows.is_empty()).map(|p| p.title.as_str()).collect();
    if procedures.is_empty() {
        return None;
    }
    let rows = procedures.len() as f64;
    let mut plot = Plot::new(
        60.0 + 26.0 * rows,
        Axis::range("session time", 0.0, end).in_minutes(),
        Axis::range("", -0.01, rows).unticked(),
    );
    let row_of = |title: &str| procedures.iter().position(|p| *p == title);
    for span in f.timeline.iter().filter(|s| s.kind == SpanKind::Procedure) {
        let Some(row) = row_of(&span.label) else { continue };
        let y = rows - 1.0 - row as f64;
        plot.block("p", (span.window.from_secs, span.window.to_secs), (y + 0.12, y + 0.88), &span.label);
    }
    for procedure in &f.procedures {
        let Some(row) = row_of(&procedure.title) else { continue };
        let y = rows - 1.0 - row as f64;
        for act in &procedure.acts {
            let class =
                if matches!(act.outcome.as_str(), "completed" | "timed_out") { "c0 f" } else { "c3 f" };
            let title = format!("{}: {}", act.label, act.outcome);
            plot.block(class, (act.window.from_secs, act.window.to_secs), (y + 0.2, y + 0.8), &title);
        }
        for pause in &procedure.pauses {
            plot.block("c1 f", (pause.from_secs, pause.to_secs), (y + 0.2, y + 0.8), "waiting for a battery");
        }
    }
    for span in f.timeline.iter().filter(|s| s.kind == SpanKind::Dark) {
        plot.block("h", (span.window.from_secs, span.window.to_secs), (0.0, rows), &span.label);
    }
    for (row, title) in procedures.iter().enumerate() {
        let y = rows - 1.0 - row as f64 + 0.5;
        let windows = f.procedures.iter().filter(|p| p.title == *title).flat_map(|p| &p.windows);
        let (start, stop) =
            windows.fold((f64::INFINITY, 0.0_f64), |(a, b), w| (a.min(w.from_secs), b.max(w.to_secs)));
        // Beside the bar where there is room; a word takes about 1 % of the width a letter.
        let room = 0.011 * end * title.chars().count() as f64;
        if stop + room < end {
            plot.word(stop + 0.008 * end, y, "start", title);
        } else {
            plot.word((start - 0.008 * end).max(room), y, "end", title);
        }
    }
    plot.name(0, "robot moves");
    plot.name(1, "waits for a battery");
    if f.procedures
        .iter()
        .any(|p| p.acts.iter().any(|a| !matches!(a.outcome.as_str(), "completed" | "timed_out")))
    {
        plot.name(3, "act not completed");
    }
    Some(figure(
        plot.finish("Timeline of the session"),
        "Grey: the procedure is open, a person works or is asked.",
    ))
}

/// Battery volts.
pub(crate) fn battery(f: &Findings) -> Option<Figure> {
    let end = f.duration_secs?;
    let low = f.battery.iter().map(|(_, v)| *v).fold(f64::INFINITY, f64::min);
    if !low.is_finite() {
        return None;
    }
    let floor = low.min(10.5).floor();
    let mut plot = Plot::new(
        170.0,
        Axis::range("session time", 0.0, end).in_minutes(),
        Axis::range("volts", floor, 13.5),
    );
    for span in f.timeline.iter().filter(|s| s.kind == SpanKind::Dark) {
        plot.shade(span.window.from_secs, span.window.to_secs);
    }
    let mut points = Vec::with_capacity(f.battery.len());
    for (t, v) in &f.battery {
        let dark = f.timeline.iter().any(|s| {
            s.kind == SpanKind::Dark
                && points.last().is_some_and(|(last, _)| *last <= s.window.from_secs + 1e-6)
                && *t >= s.window.to_secs - 1e-6
        });
        if dark {
            points.push((f64::NAN, f64::NAN));
        }
        points.push((*t, *v));
    }
    // The last reading holds until the logs end.
    points.extend(f.battery.last().map(|(_, v)| (end, *v)));
    plot.line(0, &points, false);
    let mut gates: Vec<f64> = f.procedures.iter().filter_map(|p| p.battery.gate_volts).collect();
    gates.sort_by(f64::total_cmp);
    if let Some(highest) = gates.last() {
        plot.level(*highest, &format!("highest gate {highest:.1} V"));
    }
    Some(figure(
        plot.finish("Battery volts over the session"),
        "Battery volts; dips are kept when the line is thinned.",
    ))
}

/// Voltage against velocity, and what is left over.
pub(crate) fn feedforward(ff: &Feedforward) -> Vec<Figure> {
    let fitted: Vec<_> = ff.motors.iter().filter(|m| m.gains.is_some() && !m.points.is_empty()).collect();
    let all = || fitted.iter().flat_map(|m| m.points.iter());
    let (Some(x), Some(y), Some(z)) = (
        Axis::over(&format!("velocity ({}/s as logged)", ff.unit), all().map(|p| p.0)),
        Axis::over("volts without kA·a", all().map(|p| p.1)),
        Axis::over("residual volts", all().map(|p| p.2)),
    ) else {
        return Vec::new();
    };
    let mut fit = Plot::new(300.0, x.clone(), y);
    let mut rest = Plot::new(170.0, x, z);
    rest.level(0.0, "");
    for (i, motor) in fitted.iter().enumerate() {
        let points: Vec<(f64, f64)> = motor.points.iter().map(|p| (p.0, p.1)).collect();
        let left: Vec<(f64, f64)> = motor.points.iter().map(|p| (p.0, p.2)).collect();
        fit.dots(i, &points, 1.4);
        rest.dots(i, &left, 1.2);
        fit.name(i, &motor.name);
    }
    if let Some(gains) = ff.mean {
        let top = all().map(|p| p.0.abs()).fold(0.0, f64::max);
        let at = |v: f64| (v, gains.ks.value * v.signum() + gains.kv.value * v);
        fit.line(5, &[at(-top), at(-1e-9)], false);
        fit.line(5, &[at(1e-9), at(top)], false);
        fit.name(5, "kS sgn v + kV v");
    }
    vec![
        figure(
            fit.finish("Voltage against velocity"),
            "Applied volts less the acceleration part, against velocity, every motor.",
        ),
        figure(
            rest.finish("Residual volts against velocity"),
            "What the fit leaves over, row by row: mostly noise of the differentiated velocity. A bend or a step here means that the motor model does not hold.",
        ),
    ]
}

/// Each wheel's radius, each way round.
pub(crate) fn wheel_radius(w: &WheelRadius) -> Option<Figure> {
    let millimetres = |r: f64| r * 1e3;
    let values = || {
        w.spins
            .iter()
            .flat_map(|s| s.wheels_m.iter().flat_map(|i| [i.lo, i.hi]))
            .chain(w.mean_m.iter().flat_map(|m| [m.lo, m.hi]))
            .chain(w.in_force_m)
            .chain(w.caliper_m)
            .map(millimetres)
    };
    if w.spins.is_empty() {
        return None;
    }
    let mut plot =
        Plot::new(230.0, Axis::range("", -0.5, 3.5).unticked(), Axis::over("radius (mm)", values())?);
    for (i, name) in WHEELS.iter().enumerate() {
        plot.caption_x(i as f64, name);
    }
    for spin in &w.spins {
        let (colour, shift) = if spin.direction == "CW" { (1, 0.12) } else { (0, -0.12) };
        for (i, wheel) in spin.wheels_m.iter().enumerate() {
            let x = i as f64 + shift;
            plot.bar(colour, x, millimetres(wheel.lo), millimetres(wheel.hi));
            plot.dots(colour, &[(x, millimetres(wheel.value))], 4.0);
        }
    }
    if let Some(r) = w.in_force_m {
        plot.level(millimetres(r), "in force");
    }
    if let Some(r) = w.caliper_m {
        plot.level(millimetres(r), "caliper");
    }
    if let Some(m) = w.mean_m {
        plot.level(millimetres(m.value), "measured");
    }
    plot.name(0, "counter-clockwise");
    plot.name(1, "clockwise");
    Some(figure(
        plot.finish("Wheel radius per wheel and way round"),
        "Rolling radius of each wheel from each spin, with 95 % intervals.",
    ))
}

/// Stator current of the first run that broke loose.
pub(crate) fn slip(s: &SlipCurrent) -> Option<Figure> {
    let run = s.runs.iter().find(|r| r.status == "done").or_else(|| s.runs.first())?;
    let points = || run.ramps.iter().flatten();
    let mut plot = Plot::new(
        250.0,
        Axis::over("seconds since the ramp began", points().map(|p| p.0))?,
        Axis::over("stator amps", points().map(|p| p.1))?,
    );
    for (i, ramp) in run.ramps.iter().enumerate() {
        plot.line(i, ramp, false);
        plot.name(i, WHEELS.get(i).copied().unwrap_or("wheel"));
        if let (Some(t), Some(a)) =
            (run.breaks_secs.get(i).copied().flatten(), run.recomputed_amps.get(i).copied().flatten())
        {
            plot.dots(i, &[(t, a)], 5.0);
        }
    }
    if let Some(amps) = s.amps {
        plot.level(amps.value, &format!("slip current {:.1} A", amps.value));
    }
    Some(figure(
        plot.finish("Slip current ramp"),
        "The first ramp that ended done: current of each wheel, marks where it broke loose.",
    ))
}

/// Signed lap errors.
pub(crate) fn drift(d: &Drift) -> Option<Figure> {
    let laps: Vec<_> = d.laps.iter().filter_map(|l| Some((l, l.x_m?, l.y_m?))).collect();
    let reach = laps.iter().flat_map(|(_, x, y)| [x.abs(), y.abs()]).fold(0.02, f64::max) * 1.25;
    if laps.is_empty() {
        return None;
    }
    let mut plot = Plot::new(
        340.0,
        Axis::range("error along field x (m)", -2.2 * reach, 2.2 * reach),
        Axis::range("error along field y (m)", -reach, reach),
    );
    plot.line(4, &[(-2.2 * reach, 0.0), (2.2 * reach, 0.0)], true);
    plot.line(4, &[(0.0, -reach), (0.0, reach)], true);
    for (i, (lap, x, y)) in laps.iter().enumerate() {
        let colour = usize::from(lap.direction.as_deref() == Some("CW"));
        plot.dots(colour, &[(*x, *y)], 5.0);
        let above = if i % 2 == 0 { 0.09 } else { -0.09 };
        plot.word(*x, y + above * reach, "middle", lap.name.trim_start_matches("lap "));
    }
    plot.name(0, "counter-clockwise");
    plot.name(1, "clockwise");
    Some(figure(
        plot.finish("Closure error of each lap"),
        "Where each lap really ended, with the mark at the crossing.",
    ))
}

/// Answers of a sweep over its setpoints, or over the axis that varies when the robot stood at one place.
pub(crate) fn sweep(s: &Sweep) -> Option<Figure> {
    let varies = |get: fn(&Setpoint) -> Option<f64>| {
        let all: Vec<f64> = s.setpoints.iter().filter_map(get).collect();
        all.len() == s.setpoints.len() && all.windows(2).any(|w| w[0] != w[1])
    };
    let axis = |i: usize| s.axes.get(i).map_or(String::new(), |(name, unit)| format!("{name} ({unit})"));
    let (get, label): (fn(&Setpoint) -> Option<f64>, String) = if varies(|p| p.at) {
        (|p| p.at, "setpoint".to_owned())
    } else if varies(|p| p.first) {
        (|p| p.first, axis(0))
    } else if varies(|p| p.second) {
        (|p| p.second, axis(1))
    } else {
        (|p| p.at, "setpoint".to_owned())
    };
    let points: Vec<(f64, f64)> =
        s.setpoints.iter().flat_map(|p| p.answers.iter().filter_map(move |a| Some((get(p)?, *a)))).collect();
    let x = Axis::over(&label, points.iter().map(|p| p.0))?;
    let y = if s.scores {
        Axis::range("score", -0.08, 1.08)
    } else {
        Axis::over(&s.unit, points.iter().map(|p| p.1))?
    };
    let mut plot = Plot::new(220.0, x, y);
    let mut intervals = false;
    for setpoint in &s.setpoints {
        if let (Some(at), Some(p)) = (get(setpoint), setpoint.probability) {
            plot.bar(1, at, p.lo, p.hi);
            intervals = true;
        }
    }
    let mut means: Vec<(f64, f64)> = s.setpoints.iter().filter_map(|p| Some((get(p)?, p.mean?))).collect();
    means.sort_by(|a, b| a.0.total_cmp(&b.0));
    // A line only where each place has one mean: several commands at one place are several answers, not a curve.
    let single = means.windows(2).all(|w| w[0].0 < w[1].0);
    if single {
        plot.line(5, &means, true);
        plot.name(5, "mean");
    }
    plot.dots(0, &points, 4.0);
    plot.name(0, "answers");
    if intervals {
        plot.name(1, "95 % interval of the success rate");
    }
    Some(figure(plot.finish("Answers of the sweep"), "Every answer as it was given."))
}

/// Temperatures of the soak.
pub(crate) fn thermal(t: &Thermal) -> Option<Figure> {
    let shown: Vec<_> = t.channels.iter().filter(|c| c.curve.len() > 1).take(6).collect();
    let points = || shown.iter().flat_map(|c| c.curve.iter().chain(&c.model));
    let mut plot = Plot::new(
        260.0,
        Axis::over("since the soak began", points().map(|p| p.0))?.in_minutes(),
        Axis::over("°C", points().map(|p| p.1))?,
    );
    for (i, channel) in shown.iter().enumerate() {
        plot.line(i, &channel.curve, false);
        plot.line(i, &channel.model, true);
        plot.name(i, short(&channel.name));
    }
    Some(figure(
        plot.finish("Temperatures during the soak"),
        "Hottest channels; dashed where a time constant could be fitted.",
    ))
}

/// `Swerve/Modules/0/TemperatureC` → `Modules/0`.
pub(crate) fn short(name: &str) -> &str {
    let parent = name.rsplit_once('/').map_or(name, |(p, _)| p);
    let from = parent.rmatch_indices('/').nth(1).map_or(0, |(i, _)| i + 1);
    parent.get(from..).unwrap_or(parent)
}

/// How long ago for captions that need it.
pub(crate) fn span(f: &Findings) -> String {
    f.duration_secs.map_or_else(|| "-".to_owned(), text::duration)
}
