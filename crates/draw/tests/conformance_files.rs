//! Against numpy: every file that this crate writes is read there, and every file that numpy writes is read here.
//!
//! Runs when `FIELDLAB_CONFORMANCE=1`; then an absent peer is a failure.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;
#[path = "../../base/tests/support/peers.rs"]
mod peers;

use std::path::{Path, PathBuf};
use std::process::Command;

use fieldlab_draw::capture::{Found, load};
use fieldlab_draw::check::{CheckConfig, Checker};
use fieldlab_draw::constants::{Constants, PATH};
use fieldlab_draw::json::Json;
use fieldlab_draw::math::{norm, sub};
use fieldlab_draw::npz::{Archive, Array};
use fieldlab_draw::profile::REFERENCE_RIGHT;
use fieldlab_draw::samples::{Kind, Meta, write};
use fieldlab_draw::surface::Surface;
use fieldlab_store::Disk;
use peers::python;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(python: &Path, words: &[&str]) -> Json {
    let script = root().join("interop/draw/files.py");
    let output = Command::new(python).arg(script).args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    Json::parse(&output.stdout).unwrap()
}

fn text(json: &Json, key: &str) -> String {
    match json.get(key) {
        Some(Json::Text(text)) => text.clone(),
        other => panic!("{key}: {other:?}"),
    }
}

fn points(json: &Json, key: &str) -> Vec<[f64; 3]> {
    let Some(Json::List(rows)) = json.get(key) else { panic!("no {key}") };
    let point = |row: &Json| match row {
        Json::List(values) => [0, 1, 2].map(|axis: usize| values[axis].as_f64().unwrap()),
        _ => panic!("a row of {key} is no list"),
    };
    rows.iter().map(point).collect()
}

/// Same arrays to the last bit, NaN included.
fn same_bits(ours: &Archive, theirs: &Archive) {
    let names: Vec<&str> = ours.names().collect();
    assert_eq!(names.len(), theirs.names().count());
    for name in names {
        assert_eq!(ours.get(name).unwrap().to_bytes(), theirs.get(name).unwrap().to_bytes(), "{name}");
    }
}

#[test]
fn numpy_and_this_crate_read_each_other_to_the_bit() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let name = |path: &Path| path.to_str().unwrap().to_owned();
    let mut cases = 0;

    let constants = Constants::parse(&std::fs::read(root().join(PATH)).unwrap()).unwrap();
    let digest = files(&python, &["digest", &name(&root().join(PATH))]);
    assert_eq!(
        (text(&digest, "sha").as_str(), text(&digest, "full").as_str()),
        (constants.sha(), constants.sha_full())
    );
    cases += 1;

    let made = files(&python, &["make", &name(folder.path())]);
    for kind in ["plane", "cylinder"] {
        let theirs = std::fs::read(at(&format!("{kind}.npz"))).unwrap();
        let surface = Surface::parse(&theirs).unwrap();
        // Ours, written from it, is opened by numpy and written again: the arrays are the same bits.
        let ours = surface.to_bytes().unwrap();
        std::fs::write(at("ours.npz"), &ours).unwrap();
        files(&python, &["resave", &name(&at("ours.npz")), &name(&at("again.npz"))]);
        same_bits(
            &Archive::parse(&ours).unwrap(),
            &Archive::parse(&std::fs::read(at("again.npz")).unwrap()).unwrap(),
        );
        // And theirs, parsed here, agrees with what numpy wrote for the members that it wrote.
        let archive = Archive::parse(&theirs).unwrap();
        let back = Archive::parse(&ours).unwrap();
        for member in
            ["center", "rot", "height", "width_m", "height_m", "radius_m", "residual_m", "anchor_uv"]
        {
            assert_eq!(
                archive.get(member).unwrap().to_bytes(),
                back.get(member).unwrap().to_bytes(),
                "{member}"
            );
        }
        // The independent reader puts points and normals where this one does.
        let grid = files(&python, &["grid", &name(&at("ours.npz"))]);
        let (their_points, their_normals) = (points(&grid, "points"), points(&grid, "normals"));
        assert_eq!(their_points.len(), 37 * 41);
        let [w, h] = surface.extent_m();
        let (mut point_gap, mut normal_gap) = (0.0f64, 0.0f64);
        for row in 0..37 {
            for col in 0..41 {
                let spread = |extent: f64, k: usize, last: f64| {
                    -extent / 2.0 - 0.005 + (extent + 0.01) * k as f64 / last
                };
                let frame = surface.frame([spread(w, col, 40.0), spread(h, row, 36.0)]);
                let index = row * 41 + col;
                point_gap = point_gap.max(norm(sub(frame.point_m, their_points[index])));
                normal_gap = normal_gap.max(norm(sub(frame.normal, their_normals[index])));
            }
        }
        println!(
            "numpy surface reader: {kind}: 1517 places, point gap {point_gap:.1e} m, normal gap {normal_gap:.1e}"
        );
        assert!(point_gap < 1e-6 && normal_gap < 1e-6);
        cases += 3;
    }

    // A capture of an older tool, and our own back through numpy.
    let Found::Whole { capture, proven } = load(&mut Disk::new(), folder.path(), 1).unwrap() else {
        panic!("no marker")
    };
    assert!(
        capture.legacy
            && !proven
            && capture.views[0].depth.at(15, 35) == 0
            && capture.views[0].depth.at(0, 0) == 1500
    );
    let ours = capture.to_bytes().unwrap();
    std::fs::write(at("capture.npz"), &ours).unwrap();
    files(&python, &["resave", &name(&at("capture.npz")), &name(&at("again.npz"))]);
    same_bits(
        &Archive::parse(&ours).unwrap(),
        &Archive::parse(&std::fs::read(at("again.npz")).unwrap()).unwrap(),
    );
    cases += 2;

    for (file, why) in [("fortran.npy", "Fortran"), ("object.npy", "|O"), ("big.npy", ">f8")] {
        let error = Array::parse(&std::fs::read(at(file)).unwrap()).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
        cases += 1;
    }

    // Samples both ways.
    let profile = REFERENCE_RIGHT.profile().unwrap();
    let mut checker = Checker::new(CheckConfig::for_profile(&profile, None)).unwrap();
    checker.push(&std::fs::read(at("path.csv")).unwrap());
    let report = checker.finish();
    assert!(report.accepted(), "{}", report.text());
    assert_eq!(report.counts.rows, 40);
    let rows = common::line_rows(0.001, 1.0, 0.25, true);
    std::fs::write(at("ours.csv"), write(&Meta::for_profile(&profile, Kind::Path, false), &rows).unwrap())
        .unwrap();
    let seen = files(&python, &["samples", &name(&at("ours.csv"))]);
    assert_eq!(seen.get("rows"), Some(&Json::Int(400)));
    assert_eq!(seen.get("pen_down"), Some(&Json::Int(400)));
    assert!(seen.get("gram").unwrap().as_f64().unwrap() < 1e-11);
    cases += 2;

    cases += made_by_numpy(folder.path(), &made);
    cases += made_by_us(folder.path());
    let seen = files(&python, &["read", &name(folder.path())]);
    let number = |path: &[&str]| {
        let inner = path.iter().fold(&seen, |json, key| json.get(key).unwrap_or_else(|| panic!("no {key}")));
        inner.as_f64().unwrap_or_else(|| panic!("{path:?} is no number"))
    };
    for (path, wanted) in [
        (["capture", "frames"], 3.0),
        (["sidecar", "rows"], 5.0),
        (["sidecar", "radius_m"], 0.04),
        (["sidecar", "holes"], 1.0),
        (["plan", "rows"], 400.0),
        (["plan", "period_s"], 0.0025),
        (["report", "rows"], 400.0),
        (["report", "violations"], 0.0),
        (["ros", "joints"], 7.0),
        (["ros", "points"], 100.0),
        (["ros", "last_ns"], 1e9),
        (["mesh", "vertices"], 25.0),
        (["mesh", "faces"], 30.0),
    ] {
        assert_eq!(number(&path).to_bits(), f64::to_bits(wanted), "{path:?}");
        cases += 1;
    }

    println!("numpy files: {cases} cases");
    assert_eq!(cases, 40, "every case must have run");
}

/// What numpy's peer wrote, beyond what is compared to the bit: constants, a capture of today, a rig, designs.
fn made_by_numpy(folder: &Path, made: &Json) -> usize {
    let at = |name: &str| folder.join(name);
    let constants = Constants::parse(&std::fs::read(at("motion_constants.json")).unwrap()).unwrap();
    assert_eq!(constants.sha(), fieldlab_draw::constants::generated::SHA);

    let Found::Whole { capture, proven } = load(&mut Disk::new(), folder, 2).unwrap() else {
        panic!("no marker")
    };
    assert!(proven && !capture.legacy);
    let view = &capture.views[0];
    assert_eq!(view.raw.as_ref().unwrap().frames().len(), 5);
    assert_eq!(
        (view.valid.at(3, 4), view.valid.at(5, 6), view.valid.at(7, 8), view.valid.at(0, 0)),
        (3, 0, 4, 5)
    );
    assert_eq!(view.lens.unwrap().coefficients, [-0.05, 0.06, 0.0003, 0.0008, -0.02]);
    // The flicker by our own rule is numpy's.
    let merged = view.raw.as_ref().unwrap().merged(view.units_m);
    for (ours, theirs) in merged.mad_m.values().iter().zip(view.mad_m.as_ref().unwrap().values()) {
        assert!((ours - theirs).abs() < 1e-9);
    }

    let profile = fieldlab_draw::profile::Profile::open(&at("profile.toml")).unwrap();
    let Some(Json::List(joints)) = made.get("joints") else { panic!("no joints") };
    let joints = [0, 1, 2, 3, 4, 5].map(|k: usize| joints[k].as_f64().unwrap());
    let posture = profile.chain.posture(&joints, 0.0);
    assert!(norm(sub(posture.tip_m, points(made, "tip")[0])) < 1e-12, "{:?}", posture.tip_m);
    let turn = points(made, "turn");
    assert!((0..3).all(|row| norm(sub(posture.rotation[row], turn[row])) < 1e-12));
    let (palette, _) = profile.palette.as_ref().unwrap();
    // 1000 microlitres in a bore of 14 mm stand 6.496 mm high: the published example.
    assert!((palette.caps[0].plunge_m(0.003) - 0.010_004).abs() < 1e-6);

    let svg =
        fieldlab_draw::path::from_svg(&std::fs::read_to_string(at("design.svg")).unwrap(), 0.5).unwrap();
    let csv = fieldlab_draw::path::from_csv(&std::fs::read_to_string(at("design.csv")).unwrap()).unwrap();
    assert_eq!(svg, csv);
    5
}

/// One of each other kind of file that this crate writes.
fn made_by_us(folder: &Path) -> usize {
    use fieldlab_draw::capture::{Capture, Lens, RawDepth, View, save};
    use fieldlab_draw::path_plan_check::Request;
    use fieldlab_draw::plan::{ros_json, ros_yaml};
    use fieldlab_draw::surface::{Chart, Grid, Shape, obj, sidecar};
    let put = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    let frames = [1499, 1501, 1502].map(|raw| Grid::filled(6, 8, raw)).to_vec();
    let view = View {
        role: "right_wrist".to_owned(),
        depth: Grid::filled(6, 8, 1501),
        valid: Grid::filled(6, 8, 3),
        mad_m: None,
        frames: Some(3),
        units_m: 0.0001,
        intrinsics_px: [385.0, 385.0, 4.0, 3.0],
        lens: Some(Lens { coefficients: [-0.05, 0.06, 0.0, 0.001, 0.0] }),
        raw: Some(RawDepth::new(frames).unwrap()),
        color: None,
    };
    let capture = Capture {
        k: 3,
        joints_rad: [0.1; 6],
        carriage_m: 0.002,
        t_wall_secs: 1.7e9,
        views: vec![view],
        profile_sha: None,
        legacy: false,
    };
    save(&mut Disk::new(), folder, &capture).unwrap();

    let axes = fieldlab_draw::math::IDENTITY;
    let chart = Chart::new(Shape::Cylinder { radius_m: 0.04 }, [0.35, 0.1, 0.05], axes).unwrap();
    let mut counts = Grid::filled(5, 5, 4);
    counts.set(0, 0, 0);
    let heights = Grid::filled(5, 5, 0.001);
    let surface = Surface::new(chart, 0.04, 0.04, heights, counts, Grid::filled(5, 5, 0.0)).unwrap();
    put("surface.json", &sidecar(&surface, Some("0123456789ab"), Vec::new()));
    // Its mesh has 16 cells, and the one at the hole is open.
    put("mesh.obj", &obj(&surface, 0.01).unwrap());
    put("height.svg", &fieldlab_draw::plot::height_map(&surface));

    let profile = REFERENCE_RIGHT.profile().unwrap();
    let rows = common::line_rows(0.001, 1.0, 0.25, true);
    let text = write(&Meta::for_profile(&profile, Kind::Path, true), &rows).unwrap();
    let mut words = vec!["x.csv".to_owned(), "0.0025".to_owned()];
    words.extend(
        common::W1.joints_rad.iter().chain([&common::W1.carriage_m]).map(|value| format!("{value:?}")),
    );
    words.push("--json".to_owned());
    let request = Request::parse(&words).unwrap();
    let config = request.config().unwrap();
    let mut checker = Checker::new(config.clone()).unwrap();
    checker.push(text.as_bytes());
    let report = checker.finish();
    assert!(report.accepted(), "{}", report.text());
    let mut plan = Vec::new();
    request.write_json(&config, &report, &mut plan).unwrap();
    std::fs::write(folder.join("plan.json"), plan).unwrap();
    put("report.json", &report.json(None).line());
    put("path.svg", &fieldlab_draw::plot::path(&surface, &rows, &profile.base_in_root, &report));
    let knots = report.plan.unwrap().trajectory.unwrap().knots(4, true).unwrap();
    let mut names = profile.joint_names.clone();
    names.extend(profile.carriage_name.clone());
    put("ros.json", &ros_json(&names, &knots).line());
    put("ros.yaml", &ros_yaml(&names, &knots));
    8
}
