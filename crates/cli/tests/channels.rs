//! `fieldlab channels` from outside: exit codes, stdout, stderr.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{outcome, small_log, write};

#[test]
fn every_entry_is_listed_with_type_count_and_range() {
    let folder = tempfile::tempdir().unwrap();
    let log = write(folder.path(), "small.wpilog", &small_log());
    let (code, stdout, _) = outcome(&["channels", &log]);
    assert_eq!(code, 0);
    let lines: Vec<Vec<&str>> = stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[1], ["2", "1.000000", "2.500000", "double", "Status/BatteryVolts"]);
    assert_eq!(lines[2], ["1", "-0.250000", "-0.250000", "string", "NT:/Catalyst/FieldLab/State"]);
    assert_eq!(lines.len(), 4);
}

#[test]
fn json_says_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let log = write(folder.path(), "small.wpilog", &small_log());
    let (code, stdout, _) = outcome(&["channels", "--json", &log]);
    assert_eq!(code, 0);
    let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let file = &json["files"][0];
    assert_eq!(
        (&file["records"], &file["control_records"], &file["started_ids"]),
        (&5.into(), &2.into(), &2.into())
    );
    assert_eq!(file["salvage"], serde_json::Value::Null);
    assert_eq!(file["entries"][0]["name"], "Status/BatteryVolts");
    assert_eq!(file["entries"][0]["last_s"], 2.5);
    assert_eq!(file["entries"][1]["first_s"], -0.25);
}

#[test]
fn a_torn_log_is_used_up_to_the_tear_and_strict_says_three() {
    let folder = tempfile::tempdir().unwrap();
    let whole = small_log();
    let log = write(folder.path(), "torn.wpilog", &whole[..whole.len() - 3]);
    let (code, stdout, stderr) = outcome(&["channels", &log]);
    assert_eq!(code, 0);
    assert!(stdout.contains("Status/BatteryVolts"));
    assert!(stderr.contains("torn at byte") && stderr.contains("torn.wpilog"), "{stderr}");
    assert_eq!(outcome(&["channels", "--strict", &log]).0, 3);
}

#[test]
fn what_cannot_be_read_is_two_and_names_file_place_expected_and_found() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.wpilog");
    let (code, stdout, stderr) = outcome(&[Path::new("channels"), &missing]);
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(stderr.contains("missing.wpilog"), "{stderr}");

    let stranger = write(folder.path(), "stranger.wpilog", b"PNG or so, surely no log");
    let (code, stdout, stderr) = outcome(&["channels", &stranger]);
    assert_eq!((code, stdout.as_str()), (2, ""));
    for part in ["stranger.wpilog", "byte 0", "expected", "found"] {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
    assert_eq!(outcome(&[Path::new("channels"), folder.path()]).0, 2);
}

#[test]
fn wrong_words_are_two_and_help_is_zero() {
    assert_eq!(outcome::<&str>(&[]).0, 2);
    assert_eq!(outcome(&["chanels"]).0, 2);
    assert_eq!(outcome(&["channels"]).0, 2);
    assert_eq!(outcome(&["channels", "--colour", "x"]).0, 2);
    let (code, stdout, _) = outcome(&["--help"]);
    assert_eq!(code, 0);
    assert!(stdout.contains("channels"));
    let (code, stdout, _) = outcome(&["--version"]);
    assert_eq!((code, stdout.trim()), (0, &*format!("fieldlab {}", fieldlab_identity::version::describe())));
}

#[test]
fn a_file_takes_the_result_and_stderr_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let log = write(folder.path(), "small.wpilog", &small_log());
    let to = folder.path().join("list.txt");
    let (code, stdout, stderr) = outcome(&["channels", &log, "-o", to.to_str().unwrap()]);
    assert_eq!((code, stdout.as_str()), (0, ""));
    assert!(stderr.contains("list.txt"), "{stderr}");
    assert!(std::fs::read_to_string(&to).unwrap().contains("BatteryVolts"));
}

#[test]
fn a_closed_pipe_is_success() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = b"WPILOG\x00\x01\x00\x00\x00\x00".to_vec();
    // More than a pipe holds, so that the writer is still writing when the reader leaves.
    for id in 1..8000 {
        bytes.extend(common::start(id, &format!("entry/{id}"), "double"));
    }
    let log = write(folder.path(), "wide.wpilog", &bytes);
    let mut child = Command::new(env!("CARGO_BIN_EXE_fieldlab"))
        .args(["channels", &log])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0];
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut first).unwrap();
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
