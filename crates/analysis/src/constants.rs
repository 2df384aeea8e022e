//! The constants a team may paste, each with interval, evidence and verdict.

use crate::findings::{Constant, Evidence, Findings, Gains, Verdict, Window};
use crate::fits::drive_ff;
use crate::stats::Interval;
use crate::view::View;
use fieldlab_campaign::channels;

pub(crate) fn all(view: &View<'_>, findings: &Findings) -> Vec<Constant> {
    let mut constants = Vec::new();
    feedforward(view, findings, &mut constants);
    wheel_radius(view, findings, &mut constants);
    straight(view, findings, &mut constants);
    slip(view, findings, &mut constants);
    constants
}

fn evidence(view: &View<'_>, windows: impl IntoIterator<Item = Window>, names: &[&str]) -> Vec<Evidence> {
    windows.into_iter().map(|w| view.evidence(w, names)).collect()
}

fn refused(name: &str, label: &str, unit: &str, reason: &str) -> Constant {
    Constant {
        name: name.to_owned(),
        label: label.to_owned(),
        value: None,
        lo: None,
        hi: None,
        unit: unit.to_owned(),
        n: 0,
        method: String::new(),
        evidence: Vec::new(),
        verdict: Verdict::Refused { reason: reason.to_owned() },
        remarks: Vec::new(),
    }
}

fn given(name: &str, label: &str, unit: &str, value: Interval, verdict: Verdict) -> Constant {
    // Three repeats that agree to the last digit are an interval too, of no width.
    let known = value.has_width() || value.n >= 2;
    Constant {
        name: name.to_owned(),
        label: label.to_owned(),
        value: Some(value.value),
        lo: known.then_some(value.lo),
        hi: known.then_some(value.hi),
        unit: unit.to_owned(),
        n: value.n,
        method: String::new(),
        evidence: Vec::new(),
        verdict,
        remarks: Vec::new(),
    }
}

/// Measured, unless something speaks against it.
fn judged(flags: &[String]) -> Verdict {
    if flags.is_empty() { Verdict::Measured } else { Verdict::Flagged { reason: flags.join("; ") } }
}

/// No drive of this kind of robot reaches more than this on 12 V, m/s; a gain that says so counts in other units.
const FASTEST_MPS: f64 = 8.0;

/// What speaks against a velocity gain in V/(m/s): the speed that 12 V would give.
fn implausible_speed(kv: f64) -> Option<String> {
    let top = 12.0 / kv;
    (top > FASTEST_MPS).then(|| {
        format!(
            "12 V would give {top:.1} m/s: a length counted in wheel turns (a factor of pi times the wheel's diameter), \
             in radians, or without the gearing?"
        )
    })
}

fn feedforward(view: &View<'_>, findings: &Findings, out: &mut Vec<Constant>) {
    let Some(ff) = &findings.feedforward else { return };
    let length = if ff.per_true_metre.is_some() { "m" } else { ff.unit.as_str() };
    let (kv_unit, ka_unit) = (format!("V/({length}/s)"), format!("V/({length}/s²)"));
    let Some(gains) = ff.per_true_metre.or(ff.mean) else {
        let reason = ff.refused.as_deref().unwrap_or("no fit");
        out.push(refused("kS", "static friction", "V", reason));
        out.push(refused("kV", "velocity gain", &kv_unit, reason));
        out.push(refused("kA", "acceleration gain", &ka_unit, reason));
        return;
    };
    let Gains { ks, kv, ka } = gains;
    let used: Vec<Window> = ff.runs.iter().filter(|r| r.left_out.is_none()).map(|r| r.window).collect();
    let names: Vec<String> =
        ff.motors.iter().map(|m| format!("voltage/position/velocity-{}", m.name)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut flags = drive_ff::flags(&ff.motors);
    if ff.confidence.starts_with("poor") {
        flags.insert(
            0,
            format!("residual {:.2} V RMS: {}", ff.residual_volts_rms.unwrap_or(f64::NAN), ff.confidence),
        );
    }
    if flags.is_empty() && kv.half_width() > 0.01 * kv.value {
        flags.push(format!("kV is only known to ±{:.1} %", kv.half_width() / kv.value * 100.0));
    }
    let low = findings.procedures.iter().find(|p| p.id == "drive-ff").and_then(|p| p.battery.min_volts);
    if let Some(volts) = low.filter(|v| *v < 11.0) {
        flags.push(format!(
            "the battery fell to {volts:.1} V during the tests: kA may be off by a percent or two"
        ));
    }
    if length == "m" {
        flags.extend(implausible_speed(kv.value));
    }
    let mut remarks: Vec<String> = ff.conversion.iter().map(|c| format!("kV and kA are {c}")).collect();
    if ff.per_true_metre.is_none() && ff.unit == "m" {
        remarks.push(
            "per metre as the robot believed it: no wheel radius was measured in this session".to_owned(),
        );
    }
    let method = ff.motors.iter().find(|m| m.gains.is_some()).map_or(String::new(), |m| m.method.clone());
    let start = "an acceleration is a derivative of a derivative; tune from here".to_owned();
    let mut ka_reason = vec![start];
    ka_reason.extend(flags.iter().filter(|f| f.contains("kA")).cloned());
    let general: Vec<String> = flags.iter().filter(|f| !f.contains("kA")).cloned().collect();
    let kv_flags: Vec<String> = general.iter().filter(|f| !f.contains("kS")).cloned().collect();
    for (name, label, unit, value, verdict) in [
        ("kS", "static friction", "V", ks, judged(&general)),
        ("kV", "velocity gain", kv_unit.as_str(), kv, judged(&kv_flags)),
        (
            "kA",
            "acceleration gain",
            ka_unit.as_str(),
            ka,
            Verdict::StartingPoint { reason: ka_reason.join("; ") },
        ),
    ] {
        let mut constant = given(name, label, unit, value, verdict);
        constant.n = ff.samples;
        constant.method.clone_from(&method);
        constant.evidence = evidence(view, used.iter().copied(), &names);
        if name == "kV" {
            constant.remarks.clone_from(&remarks);
        }
        out.push(constant);
    }
    if let (Some(sysid), Some(kv)) = (ff.sysid_mean, out.iter_mut().find(|c| c.name == "kV")) {
        kv.remarks.push(format!(
            "WPILib SysId would say kS {:.4}, kV {:.4}, kA {:.4} per logged {}",
            sysid[0], sysid[1], sysid[2], ff.unit
        ));
    }
}

fn wheel_radius(view: &View<'_>, findings: &Findings, out: &mut Vec<Constant>) {
    let Some(wheel) = &findings.wheel_radius else { return };
    let (name, label) = ("wheel_radius_m", "wheel radius");
    let Some(mean) = wheel.mean_m else {
        out.push(refused(name, label, "m", wheel.refused.as_deref().unwrap_or("not measured")));
        return;
    };
    let mut flags = Vec::new();
    if wheel.spins.is_empty() {
        flags.push("the robot's own result, without an interval".to_owned());
    }
    if let Some(spread) = wheel.spread_percent.filter(|s| *s > 2.0) {
        flags.push(format!("the wheels differ by {spread:.1} %"));
    }
    if let (Some(cw), Some(ccw)) = (wheel.cw_m, wheel.ccw_m)
        && (cw / ccw - 1.0).abs() > 0.01
    {
        flags.push(format!("the two ways round differ by {:.1} %", (cw / ccw - 1.0) * 100.0));
    }
    let straight = findings.straight.as_ref().and_then(|s| s.radius_m);
    if let Some(tape) = straight {
        let (difference, together) = (tape.value - mean.value, mean.half_width().hypot(tape.half_width()));
        if difference.abs() > together.max(0.005 * mean.value) {
            flags.push(format!(
                "the taped run says {:.5} m, {:+.2} %: the base radius, the tape or the gyro scale is off",
                tape.value,
                difference / mean.value * 100.0
            ));
        }
    }
    let mut constant = given(name, label, "m", mean, judged(&flags));
    constant.method = if wheel.spins.is_empty() {
        "the robot's routine"
    } else {
        "wheel angle on gyro angle, per wheel and way round"
    }
    .to_owned();
    constant.evidence = evidence(
        view,
        wheel.spins.iter().map(|s| s.window),
        &[channels::GYRO_YAW_RADIANS, "Swerve/Modules/*/PositionRadians"],
    );
    constant.remarks.clone_from(&wheel.remarks);
    constant.remarks.extend(wheel.caliper_reading.clone());
    out.push(constant);
}

fn straight(view: &View<'_>, findings: &Findings, out: &mut Vec<Constant>) {
    let Some(straight) = &findings.straight else { return };
    let (name, label) = ("wheel_radius_taped_m", "wheel radius by tape");
    let Some(radius) = straight.radius_m else {
        out.push(refused(name, label, "m", straight.refused.as_deref().unwrap_or("not measured")));
        return;
    };
    let mut constant = given(name, label, "m", radius, Verdict::Measured);
    "taped length over wheel travel".clone_into(&mut constant.method);
    constant.evidence =
        evidence(view, straight.legs.iter().map(|l| l.window), &["Swerve/Modules/*/PositionRadians"]);
    constant.remarks.clone_from(&straight.remarks);
    out.push(constant);
}

fn slip(view: &View<'_>, findings: &Findings, out: &mut Vec<Constant>) {
    let Some(slip) = &findings.slip_current else { return };
    let (name, label) = ("slip_current_a", "slip current");
    let Some(amps) = slip.amps else {
        out.push(refused(name, label, "A", slip.refused.as_deref().unwrap_or("not measured")));
        return;
    };
    let mut flags = Vec::new();
    if amps.has_width() && amps.half_width() > 0.1 * amps.value {
        flags.push(format!("the repeats scatter: ±{:.0} %", amps.half_width() / amps.value * 100.0));
    }
    if amps.n < 2 {
        flags.push("one run only: nothing tells how far it repeats".to_owned());
    }
    let mut constant = given(name, label, "A", amps, judged(&flags));
    constant.method.clone_from(&slip.source);
    constant.evidence = evidence(
        view,
        slip.runs.iter().map(|r| r.window),
        &["Calibration/SlipCurrent/SlipAmps", "Swerve/Modules/*/StatorAmps"],
    );
    if let Some(recommended) = slip.recommended_amps {
        constant.remarks.push(format!("recommended stator limit {recommended:.0} A"));
    }
    constant.remarks.extend(slip.remarks.iter().cloned());
    out.push(constant);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0.67 V/(m/s) is what a swerve says whose positions are wheel turns taken for metres; 2.13 is the same robot in metres.
    #[test]
    fn a_speed_that_no_drive_reaches_speaks_against_the_gain() {
        let said = implausible_speed(0.67).unwrap_or_default();
        assert!(said.contains("17.9 m/s") && said.contains("wheel turns"), "{said}");
        assert_eq!(implausible_speed(2.13), None);
        assert_eq!(implausible_speed(1.5), None);
    }
}
