//! The reference arm at its witness pose, and rows for it.
#![allow(dead_code, clippy::unwrap_used, missing_docs)] // each test target uses its own part

use fieldlab_draw::findings::Findings;
use fieldlab_draw::plan::{Law, PlanConfig, PlanReport, Start, Watch};
use fieldlab_draw::profile::{Chain, Posture, REFERENCE_RIGHT};
use fieldlab_draw::samples::{Header, Mode, Row};

/// The published start pose.
pub(crate) const W1: Start = Start {
    joints_rad: [
        0.173_762_112_856,
        1.544_403_791_428,
        0.826_848_268_509,
        -0.061_226_826_161,
        0.121_118_485_928,
        1.642_061_471_939,
    ],
    carriage_m: 0.002,
};

/// The reference chain with the tip that the reference planner is compiled with.
pub(crate) fn reference_chain() -> Chain {
    let mut chain = REFERENCE_RIGHT.profile().unwrap().chain;
    chain.tip_in_final_m = [0.204_986_928_170_784_68, 0.012_312_678_895_000_949, -0.000_544];
    chain
}

pub(crate) fn w1_posture() -> Posture {
    reference_chain().posture(&W1.joints_rad, W1.carriage_m)
}

pub(crate) fn reference_watch(carriage_ik: bool, start: &Start) -> (Watch, Findings) {
    let mut findings = Findings::default();
    let config = PlanConfig {
        mode: Mode::Reference,
        chain: reference_chain(),
        joint_names: Vec::new(),
        carriage_name: None,
        law: Law::compiled(),
        start: *start,
        rig: None,
        body: None,
        tip_from_header: false,
        keep_trajectory: true,
    };
    let header = Header { carriage_ik: Some(carriage_ik), period_s: Some(0.0025), ..Header::default() };
    let watch = Watch::new(config, &header, &mut findings);
    (watch, findings)
}

pub(crate) fn plan(rows: &[Row], carriage_ik: bool, start: &Start) -> (PlanReport, Findings) {
    let (mut watch, mut findings) = reference_watch(carriage_ik, start);
    for (index, row) in rows.iter().enumerate() {
        watch.row(index as u64, row, &mut findings);
    }
    let report = watch.finish(&mut findings);
    (report, findings)
}

/// The stroke law: place and speed at `t` of a stroke of `length` in `duration` with ease `e`.
pub(crate) fn ease(length: f64, duration: f64, e: f64, t: f64) -> (f64, f64) {
    let cruise = length / (duration - e);
    let begin = |t: f64| {
        let u = (t / e).min(1.0);
        let place = cruise * e * (2.5 * u.powi(4) - 3.0 * u.powi(5) + u.powi(6));
        (place, cruise * (10.0 * u.powi(3) - 15.0 * u.powi(4) + 6.0 * u.powi(5)))
    };
    let t = t.min(duration);
    if t < e {
        begin(t)
    } else if t > duration - e {
        let (left, speed) = begin(duration - t);
        (length - left, speed)
    } else {
        (cruise * e / 2.0 + cruise * (t - e), cruise)
    }
}

/// A line along base x from the witness pose.
pub(crate) fn line_rows(length: f64, duration: f64, e: f64, pen: bool) -> Vec<Row> {
    let posture = w1_posture();
    let ticks = (duration / 0.0025 - 1e-9).ceil() as u32;
    (1..=ticks)
        .map(|k| {
            let t_s = f64::from(k) * 0.0025;
            let (s, v) = ease(length, duration, e, t_s);
            let [x, y, z] = posture.tip_m;
            Row {
                t_s,
                p_m: [x + s, y, z],
                v_m_s: [v, 0.0, 0.0],
                r: posture.rotation,
                pen,
                capture: 0,
                dip: 0,
            }
        })
        .collect()
}

pub(crate) fn close(found: &[f64], wanted: &[f64], within: f64) {
    for (index, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        assert!((found - wanted).abs() < within, "[{index}]: {found} against {wanted}");
    }
    assert_eq!(found.len(), wanted.len());
}
