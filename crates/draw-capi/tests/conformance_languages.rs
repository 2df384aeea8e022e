//! The same files from C, linked both ways, and from Python: each gives the verdicts, and the plans, that Rust gives.
//!
//! Runs when `FIELDLAB_CONFORMANCE=1`; then an absent compiler, interpreter or library is a failure.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "../../base/tests/support/peers.rs"]
mod peers;

use std::path::{Path, PathBuf};
use std::process::Command;

use fieldlab_draw::check::{CheckConfig, Checker};
use fieldlab_draw::json::Json;
use fieldlab_draw::path_plan_check::Request;
use fieldlab_draw::plan::{PlanConfig, Start};
use fieldlab_draw::profile::REFERENCE_RIGHT;
use peers::python;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The library as cargo builds it: the shared object and the archive.
fn library() -> (PathBuf, PathBuf) {
    let words = [
        "build",
        "--locked",
        "--package",
        "fieldlab-draw-capi",
        "--message-format",
        "json-render-diagnostics",
    ];
    let messages = run(Command::new(env!("CARGO")).args(words).current_dir(root()));
    let file = |ending: &str| -> PathBuf {
        let found =
            messages.lines().filter_map(|line| Json::parse(line.as_bytes()).ok()).find_map(|message| {
                match message.get("filenames") {
                    Some(Json::List(names)) => names.iter().find_map(|name| match name {
                        Json::Text(name) if name.ends_with(ending) && name.contains("draw_capi") => {
                            Some(name.clone())
                        }
                        _ => None,
                    }),
                    _ => None,
                }
            });
        found.unwrap_or_else(|| panic!("cargo built no {ending}")).into()
    };
    let shared = format!("draw_capi{}", std::env::consts::DLL_SUFFIX);
    (file(&shared), file("draw_capi.a"))
}

/// One line as the programs print it.
fn line(file: &str, mode: &str, config: CheckConfig, bytes: &[u8]) -> String {
    let mut checker = Checker::new(config).unwrap();
    checker.push(bytes);
    let report = checker.finish();
    let code = report.findings.listed().first().map_or("-", |finding| finding.code.name());
    let positions =
        report.plan.as_ref().and_then(|plan| plan.trajectory.as_ref()).map(|plan| &plan.positions);
    let numbers = positions.map_or(0, |rows| rows.len() * 7);
    let sum: f64 = positions.into_iter().flatten().flatten().fold(0.0, |sum, value| sum + value);
    format!("{file},{mode},{},{code},{numbers},{sum}", u8::from(report.accepted()))
}

fn parts(line: &str) -> (&str, f64) {
    let (front, sum) = line.rsplit_once(',').unwrap();
    (front, sum.parse().unwrap())
}

#[test]
fn c_and_python_give_the_verdicts_of_rust() {
    let Some(python) = python() else { return };
    let folder = root().join("crates/draw/conformance");
    let document = Json::parse(&std::fs::read(folder.join("verdicts.json")).unwrap()).unwrap();
    let Some(Json::List(joints)) = document.get("joints_rad") else { panic!("no joints") };
    let joints_rad = [0, 1, 2, 3, 4, 5].map(|k: usize| joints[k].as_f64().unwrap());
    let carriage_m = document.get("carriage_m").unwrap().as_f64().unwrap();
    let Some(Json::Map(verdicts)) = document.get("verdicts") else { panic!("no verdicts") };
    let numbers: Vec<String> =
        joints_rad.iter().chain([&carriage_m]).map(|value| format!("{value:?}")).collect();
    let mut words = vec![folder.to_str().unwrap().to_owned()];
    words.extend(numbers.iter().cloned());
    words.extend(verdicts.iter().map(|(file, _)| file.clone()));

    let profile = REFERENCE_RIGHT.profile().unwrap();
    let mut reference_words = vec![String::new(), "0.0025".to_owned()];
    reference_words.extend(numbers.iter().cloned());
    reference_words.push("--json".to_owned());
    let mut wanted = Vec::new();
    for (file, verdict) in verdicts {
        let bytes = std::fs::read(folder.join(file)).unwrap();
        let plan = PlanConfig::strict(&profile, Start { joints_rad, carriage_m }).unwrap();
        wanted.push(line(file, "strict", CheckConfig::for_profile(&profile, Some(plan)), &bytes));
        let config = Request::parse(&reference_words).unwrap().config().unwrap();
        wanted.push(line(file, "reference", config, &bytes));
        // And what was written by hand beside the files.
        for (mode, line) in ["strict", "reference"].into_iter().zip(&wanted[wanted.len() - 2..]) {
            let code = match verdict.get(mode) {
                Some(Json::Text(code)) => code.as_str(),
                _ => "-",
            };
            assert!(line.contains(&format!(",{mode},{},{code},", u8::from(code == "-"))), "{line}: {code}");
        }
    }

    let (shared, archive) = library();
    let build = tempfile::tempdir().unwrap();
    let source = root().join("interop/draw-capi/verdicts.c");
    let include = root().join("crates/draw-capi/include");
    let compile = |program: &Path, with: &[&std::ffi::OsStr]| {
        let mut gcc = Command::new("gcc");
        gcc.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-I"]).arg(&include).arg(&source);
        run(gcc.args(with).args(["-lm", "-lpthread", "-ldl", "-o"]).arg(program));
    };
    let (dynamic, fixed) = (build.path().join("shared"), build.path().join("fixed"));
    compile(&dynamic, &[shared.as_os_str()]);
    compile(&fixed, &[archive.as_os_str()]);
    let script = root().join("interop/draw-capi/verdicts.py");
    let path = shared.parent().unwrap();
    let outputs = [
        ("C, shared", run(Command::new(dynamic).args(&words).env("LD_LIBRARY_PATH", path))),
        ("C, static", run(Command::new(fixed).args(&words))),
        ("Python", run(Command::new(python).arg(script).arg(&shared).args(&words))),
    ];
    for (peer, output) in outputs {
        let found: Vec<&str> = output.lines().collect();
        assert_eq!(found.len(), wanted.len(), "{peer}");
        for (found, wanted) in found.iter().zip(&wanted) {
            let ((front, sum), (wanted_front, wanted_sum)) = (parts(found), parts(wanted));
            assert_eq!(front, wanted_front, "{peer}");
            assert_eq!(sum.to_bits(), wanted_sum.to_bits(), "{peer}: {front}");
        }
        println!("draw from {peer}: {} files, {} verdicts", verdicts.len(), found.len());
    }
    assert_eq!(verdicts.len(), 22);
}
