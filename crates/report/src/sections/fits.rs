//! What each fit found.

use fieldlab_analysis::findings::{
    Feedforward, Findings, MotorFit, Setpoint, SlipCurrent, StraightRun, Sweep, WheelRadius,
};

use super::{heading, why};
use crate::document::{Block, Cell, Table, Tone, num, text};
use crate::figures;
use crate::text::{duration, fixed, millimetres, plus_minus, signed, typed, window};

pub(super) fn feedforward(f: &Findings, out: &mut Vec<Block>) {
    let Some(ff) = &f.feedforward else { return };
    heading(out, 2, "Feedforward");
    why(f, "drive-ff", out);
    if let Some(reason) = &ff.refused {
        out.push(Block::Alert(Tone::Bad, format!("No gains are given: {reason}")));
    }
    if let Some(residual) = ff.residual_volts_rms {
        let tone = if ff.confidence == "good" { Tone::Good } else { Tone::Warn };
        out.push(Block::Alert(
            tone,
            format!(
                "Residual {residual:.3} V RMS over windows of ten rows ({} V row by row), {} rows: {}. Read kS and kV as measurements, kA as a starting point.",
                fixed(ff.row_residual_volts_rms, 3),
                ff.samples,
                ff.confidence
            ),
        ));
    }
    out.extend(
        ff.conversion.iter().map(|c| Block::Text(format!("kV and kA in the table of constants are {c}."))),
    );
    if !ff.motors.is_empty() {
        out.push(Block::Table(motors(ff)));
    }
    sensor(ff, out);
    if ff.motors.iter().any(|m| m.acceleration_r2.is_some()) {
        out.push(Block::Text(
            "R² of the velocity is squared and uncentred. SysId's R² of the acceleration is its adjusted one; on good data \
             it is rarely above 0.5, because an acceleration from an encoder is mostly noise."
                .to_owned(),
        ));
    }
    out.extend(figures::feedforward(ff).into_iter().map(Block::Figure));
    runs(ff, out);
    let mut lines = ff.remarks.clone();
    for motor in &ff.motors {
        lines.extend(motor.refused.iter().map(|r| format!("{}: refused, {r}", motor.name)));
        lines.extend(motor.flags.iter().map(|r| format!("{}: {r}", motor.name)));
        if !motor.edits.is_empty() {
            let edits: Vec<String> = motor.edits.iter().map(|(reason, n)| format!("{n} {reason}")).collect();
            lines.push(format!("{}: rows taken out: {}", motor.name, edits.join(", ")));
        }
    }
    if !lines.is_empty() {
        out.push(Block::List(lines));
    }
}

fn motors(ff: &Feedforward) -> Table {
    let mut table = Table::new(&[
        "motor",
        "kS",
        "kV",
        "kA",
        "SysId kS, kV, kA",
        "delay ms",
        "width ms",
        "R² velocity",
        "R² accel. (SysId)",
        "rows",
    ]);
    let triple =
        |g: Option<[f64; 3]>| g.map_or("-".to_owned(), |[s, v, a]| format!("{s:.4}, {v:.4}, {a:.4}"));
    let row = |m: &MotorFit| {
        let gain = |pick: fn(&fieldlab_analysis::findings::Gains) -> fieldlab_analysis::stats::Interval| {
            m.gains.as_ref().map_or("refused".to_owned(), |g| plus_minus(&pick(g)))
        };
        vec![
            text(&m.name),
            num(gain(|g| g.ks)),
            num(gain(|g| g.kv)),
            num(gain(|g| g.ka)),
            num(triple(m.sysid)),
            num(fixed(m.delay_secs.map(|d| d * 1e3), 0)),
            num(fixed(m.width_secs.map(|d| d * 1e3), 0)),
            num(fixed(m.velocity_r2, 4)),
            num(fixed(m.acceleration_r2, 3)),
            num(m.samples.to_string()),
        ]
    };
    table.rows = ff.motors.iter().map(row).collect();
    if let Some(g) = &ff.mean {
        let mut mean = vec![
            text("mean, as logged"),
            num(plus_minus(&g.ks)),
            num(plus_minus(&g.kv)),
            num(plus_minus(&g.ka)),
            num(triple(ff.sysid_mean)),
        ];
        mean.resize_with(9, || num("-"));
        mean.push(num(ff.samples.to_string()));
        table.rows.push(mean);
    }
    if let Some(g) = &ff.per_true_metre {
        let mut real = vec![
            text("mean, per true metre"),
            num(plus_minus(&g.ks)),
            num(plus_minus(&g.kv)),
            num(plus_minus(&g.ka)),
        ];
        real.resize_with(10, || num("-"));
        table.rows.push(real);
    }
    table
}

/// What the sensor's delay and width mean for the loop.
fn sensor(ff: &Feedforward, out: &mut Vec<Block>) {
    let mean = |pick: fn(&MotorFit) -> Option<f64>| {
        let all: Vec<f64> = ff.motors.iter().filter_map(pick).collect();
        (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
    };
    if let (Some(delay), Some(width)) = (mean(|m| m.delay_secs), mean(|m| m.width_secs))
        && delay.abs() >= 0.005
    {
        let words = if delay < 0.0 {
            format!(
                "The logged voltage lags the velocity by {:.0} ms: it is reported late, not applied late.",
                -delay * 1e3
            )
        } else {
            format!(
                "The logged velocity is {:.0} ms late and averaged over about {:.0} ms. An estimator that does not know this puts about ramp rate times delay into kS.",
                delay * 1e3,
                width * 1e3
            )
        };
        out.push(Block::Text(words));
    }
}

fn runs(ff: &Feedforward, out: &mut Vec<Block>) {
    if ff.runs.is_empty() {
        return;
    }
    let rows = ff
        .runs
        .iter()
        .map(|r| {
            vec![
                text(&r.test),
                text(window(&r.window)),
                num(duration(r.window.secs())),
                num(r.rows.to_string()),
                text(r.left_out.clone().unwrap_or_else(|| "used".to_owned())),
            ]
        })
        .collect();
    out.push(Block::Table(Table::with(&["test", "when", "lasted", "rows", "used"], rows)));
}

pub(super) fn calibrations(f: &Findings, out: &mut Vec<Block>) {
    if f.wheel_radius.is_none() && f.slip_current.is_none() && f.straight.is_none() {
        return;
    }
    heading(out, 2, "Calibrations");
    if let Some(wheel) = &f.wheel_radius {
        heading(out, 3, "Wheel radius");
        why(f, "wheel-radius", out);
        wheel_radius(wheel, out);
    }
    if let Some(slip) = &f.slip_current {
        heading(out, 3, "Slip current");
        why(f, "slip-current", out);
        slip_current(slip, out);
    }
    if let Some(wheel) = f.wheel_radius.as_ref().filter(|w| w.caliper_reading.is_some()) {
        heading(out, 2, "Wheel radius cross-check");
        cross_check(wheel, f.straight.as_ref(), out);
    }
    if let Some(straight) = &f.straight {
        heading(out, 3, "Taped straight run");
        why(f, "straight-run", out);
        straight_run(straight, out);
    }
}

fn wheel_radius(w: &WheelRadius, out: &mut Vec<Block>) {
    if let Some(reason) = &w.refused {
        out.push(Block::Alert(Tone::Bad, format!("No fit of our own: {reason}")));
    }
    if !w.spins.is_empty() {
        let mut table = Table::new(&[
            "spin",
            "when",
            "turns",
            "front left mm",
            "front right mm",
            "back left mm",
            "back right mm",
        ]);
        for s in &w.spins {
            let mut row = vec![text(&s.direction), text(window(&s.window)), num(format!("{:.2}", s.turns))];
            row.extend(s.wheels_m.iter().map(|i| num(millimetres(i))));
            row.resize_with(7, || num("-"));
            table.rows.push(row);
        }
        let mut mean = vec![text("mean"), text(""), num("")];
        mean.extend(w.wheels_m.iter().map(|i| num(millimetres(i))));
        mean.resize_with(7, || num("-"));
        table.rows.push(mean);
        out.push(Block::Table(table));
    }
    let mut facts = Vec::new();
    if let (Some(mean), Some(percent), Some(in_force)) = (w.mean_m, w.percent_change, w.in_force_m) {
        facts.push(format!(
            "{} mm, {percent:+.2} % against {:.3} mm in force",
            millimetres(&mean),
            in_force * 1e3
        ));
    }
    if let Some(robot) = w.robot_m {
        facts.push(format!("the robot's own routine concluded {:.3} mm", robot * 1e3));
    }
    if let Some(spread) = w.spread_percent {
        facts.push(format!("largest difference between wheels {spread:.2} %"));
    }
    facts.extend(w.remarks.iter().cloned());
    if !facts.is_empty() {
        out.push(Block::List(facts));
    }
    out.extend(figures::wheel_radius(w).map(Block::Figure));
}

fn slip_current(s: &SlipCurrent, out: &mut Vec<Block>) {
    if let Some(reason) = &s.refused {
        out.push(Block::Alert(Tone::Bad, format!("No slip current is given: {reason}")));
    }
    let amps = |a: &Option<f64>| a.map_or("-".to_owned(), |v| format!("{v:.1}"));
    let per_wheel = |all: &[Option<f64>]| {
        if all.is_empty() { "-".to_owned() } else { all.iter().map(amps).collect::<Vec<_>>().join(", ") }
    };
    let rows = s
        .runs
        .iter()
        .map(|r| {
            vec![
                text(window(&r.window)),
                text(if r.status.is_empty() { "not logged" } else { &r.status }),
                num(amps(&r.robot_amps)),
                num(amps(&r.recommended_amps)),
                num(per_wheel(&r.break_amps)),
                num(per_wheel(&r.recomputed_amps)),
            ]
        })
        .collect();
    out.push(Block::Table(Table::with(
        &["run", "status", "slip A", "recommended A", "break A per wheel (robot)", "per wheel, recomputed"],
        rows,
    )));
    let mut facts = Vec::new();
    if let Some(value) = s.amps {
        facts.push(format!("{} A over {} run(s), from {}", plus_minus(&value), value.n, s.source));
    }
    if let Some(amps) = s.recommended_amps {
        facts.push(format!("set the stator limit to {amps:.0} A"));
    }
    facts.extend(s.remarks.iter().cloned());
    if !facts.is_empty() {
        out.push(Block::List(facts));
    }
    out.extend(figures::slip(s).map(Block::Figure));
}

fn cross_check(w: &WheelRadius, straight: Option<&StraightRun>, out: &mut Vec<Block>) {
    let row = |what: &str, metres: Option<f64>, words: &str| {
        metres.map(|m| {
            vec![text(what), num(format!("{:.3}", m * 1e3)), num(format!("{:.4}", m / 0.0254)), text(words)]
        })
    };
    let rows = [
        row("spin", w.mean_m.map(|m| m.value), "rolling, needs the drive-base radius"),
        row("taped run", straight.and_then(|s| s.radius_m).map(|r| r.value), "rolling, needs only a tape"),
        row("caliper", w.caliper_m, "not loaded"),
    ];
    out.push(Block::Table(Table::with(&["way", "mm", "in", ""], rows.into_iter().flatten().collect())));
    out.extend(w.caliper_reading.iter().map(|r| Block::Text(r.clone())));
}

fn straight_run(s: &StraightRun, out: &mut Vec<Block>) {
    if let Some(reason) = &s.refused {
        out.push(Block::Alert(Tone::Bad, format!("No radius by tape: {reason}")));
    }
    if !s.legs.is_empty() {
        let rows = s
            .legs
            .iter()
            .map(|l| {
                vec![
                    text(&l.key),
                    text(window(&l.window)),
                    num(format!("{:.3}", l.taped_m)),
                    num(format!("{:.3}", l.wheel_rad)),
                    num(format!("{:.3}", l.radius_m * 1e3)),
                ]
            })
            .collect();
        out.push(Block::Table(Table::with(&["leg", "when", "taped m", "wheel rad", "radius mm"], rows)));
    }
    let mut facts: Vec<String> =
        s.radius_m.iter().map(|r| format!("{} mm over {} leg(s)", millimetres(r), r.n)).collect();
    facts.extend(s.remarks.iter().cloned());
    if !facts.is_empty() {
        out.push(Block::List(facts));
    }
}

pub(super) fn drift(f: &Findings, out: &mut Vec<Block>) {
    let Some(d) = &f.drift else { return };
    heading(out, 2, "Odometry drift");
    why(f, "odometry-drift", out);
    out.push(Block::Alert(Tone::Plain, d.reading.clone()));
    let rows = d
        .laps
        .iter()
        .map(|l| {
            let odometry =
                l.odometry_m.map_or("-".to_owned(), |(x, y)| format!("{}, {}", signed(x, 3), signed(y, 3)));
            vec![
                text(&l.name),
                text(l.direction.clone().unwrap_or_else(|| "-".to_owned())),
                num(fixed(l.error_m, 3)),
                num(fixed(l.x_m, 3)),
                num(fixed(l.y_m, 3)),
                num(odometry),
                num(fixed(l.path_m, 2)),
            ]
        })
        .collect();
    out.push(Block::Table(Table::with(
        &["lap", "way", "error m", "x m", "y m", "odometry's own closure m", "path m"],
        rows,
    )));
    let mut facts = Vec::new();
    if let Some(mean) = d.mean_m {
        facts.push(format!(
            "mean {} m over {} lap(s), spread {} m",
            plus_minus(&mean),
            mean.n,
            fixed(d.spread_m, 3)
        ));
    }
    if let Some(percent) = d.percent_of_path {
        facts.push(format!("{percent:.2} % of the path"));
    }
    for (way, (x, y)) in &d.centroids_m {
        facts.push(format!("repeatable part, {way}: {x:+.3} m, {y:+.3} m"));
    }
    if let Some(scatter) = d.scatter_m {
        facts.push(format!("scatter about it {:.0} mm RMS", scatter * 1e3));
    }
    out.push(Block::List(facts));
    out.extend(figures::drift(d).map(Block::Figure));
}

pub(super) fn sweeps(f: &Findings, out: &mut Vec<Block>) {
    for s in &f.sweeps {
        heading(out, 2, &format!("Sweep: {}", s.title));
        why(f, &s.id, out);
        out.push(Block::Table(setpoints(s)));
        if !s.remarks.is_empty() {
            out.push(Block::List(s.remarks.clone()));
        }
        out.extend(figures::sweep(s).map(Block::Figure));
    }
}

/// One row a setpoint; columns that would be empty throughout are left out.
fn setpoints(s: &Sweep) -> Table {
    let axis = |i: usize, plain: &str| {
        s.axes.get(i).map_or(plain.to_owned(), |(name, unit)| format!("{name} {unit}"))
    };
    let optional = |v: Option<f64>| num(v.map_or("-".to_owned(), typed));
    let mut columns: Vec<(String, Vec<Cell>)> = Vec::new();
    let mut add = |head: String, cell: &dyn Fn(&Setpoint) -> Cell| {
        columns.push((head, s.setpoints.iter().map(cell).collect()));
    };
    add("setpoint".to_owned(), &|p| text(&p.label));
    if s.setpoints.iter().any(|p| p.first.is_some()) {
        add(axis(0, "first"), &|p| optional(p.first));
    }
    if s.setpoints.iter().any(|p| p.second.is_some()) {
        add(axis(1, "second"), &|p| optional(p.second));
    }
    add("n".to_owned(), &|p| num(p.answers.len().to_string()));
    let answers = |p: &Setpoint| p.answers.iter().map(|a| typed(*a)).collect::<Vec<_>>().join(", ");
    add(format!("answers ({})", s.unit), &|p| num(answers(p)));
    add("mean".to_owned(), &|p| optional(p.mean));
    if s.scores {
        add("success, 95 %".to_owned(), &|p| {
            num(p.probability.map_or("one shot".to_owned(), |i| format!("{:.2} to {:.2}", i.lo, i.hi)))
        });
    }
    if s.setpoints.iter().any(|p| p.settled_error.0.is_some()) {
        add(format!("{} missed by", axis(0, "first")), &|p| optional(p.settled_error.0));
    }
    if s.setpoints.iter().any(|p| p.settled_error.1.is_some()) {
        add(format!("{} missed by", axis(1, "second")), &|p| optional(p.settled_error.1));
    }
    let rows =
        (0..s.setpoints.len()).map(|row| columns.iter().map(|(_, c)| c[row].clone()).collect()).collect();
    Table { head: columns.iter().map(|(h, _)| h.clone().into()).collect(), rows }
}

pub(super) fn thermal(f: &Findings, out: &mut Vec<Block>) {
    let Some(t) = &f.thermal else { return };
    heading(out, 2, "Thermal");
    why(f, "thermal-soak", out);
    let what = if t.whole_session { "No soak was run: peaks over the whole session" } else { "The soak" };
    out.push(Block::Text(format!("{what}, {} ({}).", window(&t.window), duration(t.window.secs()))));
    let rows = t
        .channels
        .iter()
        .map(|c| {
            vec![
                text(figures::short(&c.name)),
                num(fixed(Some(c.start_c), 1)),
                num(fixed(Some(c.peak_c), 1)),
                num(fixed(Some(c.rise_k), 1)),
                num(fixed(c.rms_amps, 1)),
                num(fixed(c.peak_amps, 1)),
                text(&c.reading),
            ]
        })
        .collect();
    out.push(Block::Table(Table::with(
        &["motor", "start °C", "peak °C", "rise K", "RMS A", "peak A", "reading"],
        rows,
    )));
    if !t.currents.is_empty() {
        let rows = t.currents.iter().map(|(k, v)| vec![text(k), num(fixed(Some(*v), 1))]).collect();
        out.push(Block::Table(Table::with(&["current without a temperature", "peak A"], rows)));
    }
    out.extend(figures::thermal(t).map(Block::Figure));
}

pub(super) fn vision(f: &Findings, out: &mut Vec<Block>) {
    let Some(v) = &f.vision else { return };
    heading(out, 2, "Vision pose");
    why(f, "vision-pose", out);
    let rows = v
        .poses
        .iter()
        .map(|p| {
            let heading = p.truth.2.map(|h| {
                let off = p.seen.2 - h;
                off.sin().atan2(off.cos()).to_degrees()
            });
            vec![
                text(&p.name),
                num(format!("{:.3}, {:.3}", p.truth.0, p.truth.1)),
                num(format!("{:.3}, {:.3}", p.seen.0, p.seen.1)),
                num(signed(p.seen.0 - p.truth.0, 3)),
                num(signed(p.seen.1 - p.truth.1, 3)),
                num(fixed(heading, 2)),
                num(format!("{:.1}, {:.1}", p.spread.0 * 1e3, p.spread.1 * 1e3)),
                num(p.n.to_string()),
            ]
        })
        .collect();
    out.push(Block::Table(Table::with(
        &["pose", "taped m", "seen m", "error x m", "error y m", "heading error °", "spread mm", "n"],
        rows,
    )));
    let mut facts = Vec::new();
    if let (Some(x), Some(y)) = (v.bias_x_m, v.bias_y_m) {
        facts.push(format!("mean error x {} m, y {} m over {} pose(s)", plus_minus(&x), plus_minus(&y), x.n));
    }
    if let Some(rms) = v.rms_m {
        facts.push(format!("RMS distance {:.0} mm", rms * 1e3));
    }
    facts.extend(v.remarks.iter().cloned());
    if !facts.is_empty() {
        out.push(Block::List(facts));
    }
}
