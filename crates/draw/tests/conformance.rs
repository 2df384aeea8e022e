//! Against numpy: the planner's law and the files, by programs under `interop/draw` that share no code with this crate.
//!
//! Runs when `FIELDLAB_CONFORMANCE=1`; then an absent peer is a failure.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;
#[path = "../../base/tests/support/peers.rs"]
mod peers;

use std::path::{Path, PathBuf};
use std::process::Command;

use fieldlab_draw::json::Json;
use fieldlab_draw::math::{Vec3, add, norm, sub};
use fieldlab_draw::plan::{PlanConfig, Start, Watch};
use fieldlab_draw::profile::{REFERENCE_RIGHT, SIX_JOINT, Shipped};
use fieldlab_draw::samples::{Decoder, Event, Expected, Kind, Meta, Mode, Row, feedforward, write};
use peers::python;

fn interop() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../interop/draw")
}

fn run(python: &Path, script: &str, words: &[String]) -> String {
    let output = Command::new(python).arg(interop().join(script)).args(words).output().unwrap();
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Rows along a closed curve in the base's xy plane, at rest before and after; `speed` in m/s.
fn along(
    start: Vec3,
    rotation: fieldlab_draw::math::Mat3,
    curve: &dyn Fn(f64) -> [f64; 2],
    length: f64,
    speed: f64,
) -> Vec<Row> {
    let ease = 0.25;
    let duration = length / speed + ease;
    let ticks = (duration / 0.0025).ceil() as usize;
    let origin = curve(0.0);
    let mut places: Vec<Vec3> = vec![start; 100];
    for k in 1..=ticks {
        let (s, _) = common::ease(1.0, duration, ease, k as f64 * 0.0025);
        let [x, y] = curve(s);
        places.push(add(start, [x - origin[0], y - origin[1], 0.0]));
    }
    places.extend(vec![*places.last().unwrap(); 400]);
    let velocities = feedforward(&places, 0.0025);
    let drawn = 100..100 + ticks;
    places
        .iter()
        .zip(velocities)
        .enumerate()
        .map(|(k, (&p_m, v_m_s))| Row {
            t_s: 0.0025 * (k + 1) as f64,
            p_m,
            v_m_s,
            r: rotation,
            pen: drawn.contains(&k),
            capture: 0,
            dip: 0,
        })
        .collect()
}

fn square(s: f64) -> [f64; 2] {
    let side = 0.02;
    let along = (4.0 * s).min(3.999_999);
    let t = along.fract() * side;
    match along as u32 {
        0 => [t, 0.0],
        1 => [side, t],
        2 => [side - t, side],
        _ => [0.0, side - t],
    }
}

fn circle(radius: f64) -> impl Fn(f64) -> [f64; 2] {
    move |s| {
        let (sin, cos) = (std::f64::consts::TAU * s).sin_cos();
        [radius * cos, radius * sin]
    }
}

fn outline(s: f64) -> [f64; 2] {
    let angle = std::f64::consts::TAU * s;
    let radius = 0.007 * (1.0 + 0.2 * (5.0 * angle).cos());
    [radius * angle.cos(), radius * angle.sin()]
}

struct Case {
    name: &'static str,
    rig: Shipped,
    start: Start,
    carriage_ik: bool,
    rows: Vec<Row>,
}

fn cases() -> Vec<Case> {
    let reference = REFERENCE_RIGHT.profile().unwrap().chain.posture(&common::W1.joints_rad, 0.002);
    let at = |curve: &dyn Fn(f64) -> [f64; 2], length: f64, speed: f64| {
        along(reference.tip_m, reference.rotation, curve, length, speed)
    };
    let six_start = Start { joints_rad: [0.2, -0.6, 1.4, 0.9, 0.3, 0.1], carriage_m: 0.0 };
    let six = SIX_JOINT.profile().unwrap().chain.posture(&six_start.joints_rad, 0.0);
    let reference_case =
        |name, carriage_ik, rows| Case { name, rig: REFERENCE_RIGHT, start: common::W1, carriage_ik, rows };
    vec![
        reference_case("20 mm square", false, at(&square, 0.08, 0.01)),
        reference_case("8 mm circle", false, at(&circle(0.004), 0.0251, 0.008)),
        reference_case("outline", false, at(&outline, 0.07, 0.01)),
        reference_case("1.5 mm circle with carriage", true, at(&circle(0.000_75), 0.0047, 0.0006)),
        Case {
            name: "8 mm circle on six joints",
            rig: SIX_JOINT,
            start: six_start,
            carriage_ik: false,
            rows: along(six.tip_m, six.rotation, &circle(0.004), 0.0251, 0.008),
        },
    ]
}

#[test]
fn the_planner_agrees_with_an_independent_one_in_numpy() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut run_cases = 0;
    for case in cases() {
        let profile = case.rig.profile().unwrap();
        let text = write(&Meta::for_profile(&profile, Kind::Path, case.carriage_ik), &case.rows).unwrap();
        let csv = folder.path().join("path.csv");
        std::fs::write(&csv, &text).unwrap();
        let urdf_name = if case.rig.name == "six-joint" { "six_joint.urdf" } else { "reference.urdf" };
        let urdf = folder.path().join("arm.urdf");
        std::fs::write(&urdf, case.rig.file(urdf_name).unwrap()).unwrap();
        let final_link = if case.rig.name == "six-joint" { "solo/flange" } else { "right/link_6" };
        let mut words: Vec<String> =
            [csv.to_str().unwrap(), urdf.to_str().unwrap(), &profile.frame(), final_link]
                .map(str::to_owned)
                .to_vec();
        words.extend(profile.chain.tip_in_final_m.iter().map(|value| format!("{value:?}")));
        words.push(profile.carriage_name.clone().unwrap_or_else(|| "-".to_owned()));
        words.extend(case.start.joints_rad.iter().map(|value| format!("{value:?}")));
        words.push(format!("{:?}", case.start.carriage_m));
        let theirs = Json::parse(run(&python, "planner.py", &words).as_bytes()).unwrap();

        // The rows as the file holds them, so that both plan the same digits.
        let mut findings = fieldlab_draw::findings::Findings::default();
        let mut watch = None;
        let mut decoder = Decoder::new(Mode::Strict, Expected::from_profile(&profile));
        let mut plan_findings = fieldlab_draw::findings::Findings::default();
        decoder.push(text.as_bytes(), &mut findings, &mut |event| match event {
            Event::Header(header) => {
                let config = PlanConfig::strict(&profile, case.start).unwrap();
                watch = Some(Watch::new(config, header, &mut plan_findings));
            }
            Event::Row(index, row) => watch.as_mut().unwrap().row(index, row, &mut plan_findings),
            Event::BadRow(row) => panic!("row {row}"),
        });
        let report = watch.unwrap().finish(&mut plan_findings);
        assert!(
            findings.is_empty() && plan_findings.is_empty(),
            "{}: {:?}",
            case.name,
            plan_findings.listed().first()
        );
        let ours = report.trajectory.unwrap();
        let rows = |key: &str| -> Vec<Vec<f64>> {
            let Some(Json::List(rows)) = theirs.get(key) else { panic!("no {key}") };
            rows.iter()
                .map(|row| match row {
                    Json::List(values) => values.iter().map(|value| value.as_f64().unwrap()).collect(),
                    _ => panic!("a row of {key} is no list"),
                })
                .collect()
        };
        let (positions, tips) = (rows("positions"), rows("tips"));
        assert_eq!(positions.len(), ours.positions.len());
        let (mut joint_gap, mut tip_gap) = (0.0f64, 0.0f64);
        for (index, position) in ours.positions.iter().enumerate() {
            for (a, b) in position.iter().zip(&positions[index]) {
                joint_gap = joint_gap.max((a - b).abs());
            }
            let mut joints = [0.0; 6];
            joints.copy_from_slice(&position[..6]);
            let tip = profile.chain.posture(&joints, position[6]).tip_m;
            tip_gap = tip_gap.max(norm(sub(tip, [tips[index][0], tips[index][1], tips[index][2]])));
        }
        println!(
            "numpy planner: {}: {} rows, joint gap {joint_gap:.1e}, tip gap {tip_gap:.1e} m",
            case.name,
            positions.len()
        );
        assert!(joint_gap < 1e-9 && tip_gap < 1e-9, "{}", case.name);
        run_cases += 1;
    }
    println!("numpy planner: {run_cases} cases");
    assert_eq!(run_cases, 5, "every case must have run");
}
