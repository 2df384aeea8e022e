//! Against numpy: every file that this crate writes is read there, and every file that numpy writes is read here.
//!
//! Runs when `FIELDLAB_CONFORMANCE=1`; then an absent peer is a failure.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

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

fn python() -> Option<PathBuf> {
    if std::env::var("FIELDLAB_CONFORMANCE").is_ok_and(|value| value == "1") {
        let peers = std::env::var("FIELDLAB_PEERS").expect("FIELDLAB_PEERS names the peers' folder");
        return Some(Path::new(&peers).join("venv/bin/python"));
    }
    None
}

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

    files(&python, &["make", &name(folder.path())]);
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

    println!("numpy files: {cases} cases");
    assert_eq!(cases, 14, "every case must have run");
}
