//! `fieldlab draw` as a process: exit codes, stdout, files.

#![allow(clippy::unwrap_used, missing_docs)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn fieldlab(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fieldlab")).arg("draw").args(words).output().unwrap()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

#[test]
fn the_constants_are_found_checked_and_rendered() {
    let root = root();
    let root = root.to_str().unwrap();
    let check = fieldlab(&["constants", "--check", "--root", root]);
    assert_eq!((check.status.code(), stdout(&check)), (Some(0), "c36d529c2b43\n"));
    let get = fieldlab(&["constants", "get", "planner.dls_damping", "--root", root]);
    assert_eq!(stdout(&get), "0.02\n");
    assert_eq!(fieldlab(&["constants", "get", "planner.nothing", "--root", root]).status.code(), Some(2));
    let sha = fieldlab(&["constants", "sha", "--full", "--root", root]);
    assert_eq!(stdout(&sha).trim_end().len(), 64);
    let list = fieldlab(&["constants", "list", "--root", root]);
    assert!(stdout(&list).contains("planner.max_ticks"));

    let copy = tempfile::tempdir().unwrap();
    for folder in ["config", "crates/draw/src/constants", "crates/draw/include", "interop/draw"] {
        std::fs::create_dir_all(copy.path().join(folder)).unwrap();
    }
    let text = std::fs::read_to_string(Path::new(root).join("config/motion_constants.json")).unwrap();
    let changed = text.replace("\"dls_damping\": 0.02", "\"dls_damping\": 0.03");
    std::fs::write(copy.path().join("config/motion_constants.json"), changed).unwrap();
    let place = copy.path().to_str().unwrap();
    assert_eq!(fieldlab(&["constants", "--check", "--root", place]).status.code(), Some(3));
    assert_eq!(fieldlab(&["constants", "render", "--root", place]).status.code(), Some(0));
    assert_eq!(fieldlab(&["constants", "--check", "--root", place]).status.code(), Some(0));
    std::fs::remove_file(copy.path().join("config/motion_constants.json")).unwrap();
    assert_eq!(fieldlab(&["constants", "--check", "--root", place]).status.code(), Some(2));
}
