//! `fieldlab rehearse` from outside, and the README's own commands.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use std::net::TcpListener;
use std::path::Path;

use common::{outcome, write};
use serde_json::Value;

#[test]
fn a_busy_port_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let (code, stdout, stderr) =
        outcome(&["rehearse", "--nt-port", &port, "--out", folder.path().to_str().unwrap()]);
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(stderr.contains(&format!("127.0.0.1:{port}")) && stderr.contains("--nt-port"), "{stderr}");
}

#[test]
fn a_page_that_was_asked_for_and_cannot_be_had_ends_it_before_it_began() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let out = folder.path().to_str().unwrap();
    let (code, stdout, stderr) =
        outcome(&["rehearse", "--nt-port", "0", "--console-port", &port, "--out", out]);
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(stderr.contains(&format!("127.0.0.1:{port}")) && stderr.contains("--console-port"), "{stderr}");
}

/// The page watches; what is measured stays the same to the last digit.
#[test]
fn a_page_beside_a_rehearsal_changes_nothing_of_it() {
    let told = |extra: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().to_str().unwrap().to_owned();
        let words = ["rehearse", "--plan", "short", "--json", "--nt-port", "0", "--seed", "5", "--out", &out];
        let (code, stdout, stderr) = outcome(&[&words, extra].concat());
        assert_eq!(code, 0, "{stderr}");
        assert_eq!(stderr.contains("console on http://127.0.0.1:"), !extra.is_empty(), "{stderr}");
        let mut told: Value = serde_json::from_str(&stdout).unwrap();
        for key in ["files", "reports"] {
            told.as_object_mut().unwrap().remove(key);
        }
        told
    };
    assert_eq!(told(&["--console-port", "0"]), told(&[]));
}

#[test]
fn a_script_of_faults_that_is_none_names_file_and_place() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let words = |faults: &str| {
        outcome(&["rehearse", "--nt-port", "0", "--out", out.to_str().unwrap(), "--faults", faults])
    };
    let missing = folder.path().join("missing.toml");
    let (code, _, stderr) = words(missing.to_str().unwrap());
    assert_eq!(code, 2);
    assert!(stderr.contains("missing.toml"), "{stderr}");
    let broken = write(folder.path(), "broken.toml", b"schema = \"fieldlab.faults/1\"\n[[fault]\n");
    let (code, _, stderr) = words(&broken);
    assert_eq!(code, 2);
    assert!(stderr.contains("broken.toml") && stderr.contains("line 2"), "{stderr}");
    let newer = write(folder.path(), "newer.toml", b"schema = \"fieldlab.faults/9\"\n");
    let (code, _, stderr) = words(&newer);
    assert_eq!(code, 2);
    assert!(stderr.contains("fieldlab.faults/1") && stderr.contains("fieldlab.faults/9"), "{stderr}");
    assert!(!out.exists(), "nothing was begun");
}

#[test]
fn a_person_needs_a_terminal() {
    let (code, _, stderr) = outcome(&["rehearse", "--human", "--nt-port", "0"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("terminal"), "{stderr}");
}

/// One whole afternoon, then everything that the README does with its logs.
#[test]
fn an_afternoon_and_its_logs() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let (code, stdout, stderr) =
        outcome(&["rehearse", "--json", "--nt-port", "0", "--seed", "3", "--out", out.to_str().unwrap()]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("NetworkTables on 127.0.0.1:") && stderr.contains("seed 3"), "{stderr}");
    let found: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(found["state"], "DONE");
    assert_eq!(found["pack_swaps"], 2);
    assert_eq!(found["reboots"], 1);
    assert_eq!(found["procedures"].as_array().unwrap().len(), 9);
    assert_eq!(found["not_banked"].as_array().unwrap().len(), 0, "{found}");
    let names: Vec<&str> =
        found["constants"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["kS", "kV", "kA", "wheel_radius_m", "slip_current_a"]);
    for row in found["constants"].as_array().unwrap() {
        for key in ["unit", "fitted", "lo", "hi", "truth", "verdict"] {
            assert!(row.get(key).is_some(), "{key}: {row}");
        }
        assert!(row["truth"].is_number(), "{row}");
    }

    let files = found["files"].as_array().unwrap();
    let logs: Vec<&str> = files.iter().map(|file| file.as_str().unwrap()).collect();
    assert!(logs.len() >= 2, "a reboot makes a second file: {logs:?}");
    let session = found["session"].as_str().unwrap();
    for log in &logs {
        assert!(Path::new(log).file_name().unwrap().to_str().unwrap().contains(session), "{log}");
    }
    let with =
        |first: &[&str]| outcome(&first.iter().copied().chain(logs.iter().copied()).collect::<Vec<_>>());
    let (code, json, _) = with(&["json"]);
    assert_eq!(code, 0);
    assert_eq!(with(&["report", "--format", "json", "--session", session]).1, json);
    let reversed: Vec<&str> = std::iter::once("json").chain(logs.iter().rev().copied()).collect();
    assert_eq!(outcome(&reversed).1, json, "the order of the words does not matter");
    let (code, markdown, _) = with(&["report"]);
    assert_eq!(code, 0);
    for part in [session, "kV", "wheel radius", "slip"] {
        assert!(markdown.to_lowercase().contains(&part.to_lowercase()), "{part}");
    }
    let constants = write(folder.path(), "constants.json", br#"{"kV": 1.0, "wheel_radius_m": 0.0508}"#);
    let (code, table, _) = with(&["diff", "--constants", &constants]);
    assert_eq!(code, 0);
    assert!(table.contains("change"), "{table}");
    let (code, channels, _) = with(&["channels"]);
    assert_eq!(code, 0);
    for channel in ["Swerve/Modules/0/StatorAmps", "Gyro/YawRadians", "sysid-test-state-drive"] {
        assert!(channels.contains(channel), "{channel}");
    }
    assert!(Path::new(found["reports"][0].as_str().unwrap()).is_file());

    // Every boot's file says who the robot is, and it is the same robot.
    for log in &logs {
        let (code, json, stderr) = outcome(&["identity", "--json", log]);
        assert_eq!((code, stderr.as_str()), (0, ""), "{log}");
        let sheet: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(
            (&sheet["whole"], &sheet["sheet"]["Identity/Controller"]),
            (&true.into(), &"Simulation".into())
        );
        assert_eq!(sheet["problems"], serde_json::json!({}));
    }
    let (code, told, stderr) = outcome(&["identity", "diff", "--strict", logs[0], logs[logs.len() - 1]]);
    assert_eq!((code, told.as_str()), (0, ""), "{stderr}");

    // Half of the last log, as a pulled stick leaves it: used up to the tear. Where the half happens to end with a record
    // nothing is torn, and a byte more is.
    let last = logs.last().unwrap();
    let bytes = std::fs::read(last).unwrap();
    let is_torn = |end: &usize| {
        let half = fieldlab_wpilog::Log::from_bytes(bytes[..*end].to_vec(), "half").unwrap();
        half.report().salvage.is_some()
    };
    let end = (bytes.len() / 2..).find(is_torn).unwrap();
    let torn = write(folder.path(), "torn.wpilog", &bytes[..end]);
    let cut: Vec<&str> = ["report", "--strict"]
        .into_iter()
        .chain(logs[..logs.len() - 1].iter().copied())
        .chain([torn.as_str()])
        .collect();
    let (code, markdown, stderr) = outcome(&cut);
    assert_eq!(code, 3, "{stderr}");
    assert!(markdown.contains(session) && stderr.contains("torn.wpilog"), "{stderr}");
}

#[test]
fn every_command_of_the_readme_is_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let chores = std::fs::read_to_string(root.join("xtask/src/main.rs")).unwrap();
    let commands: Vec<&str> = readme
        .split(['`', '\n'])
        .map(|text| text.split('#').next().unwrap_or_default().trim())
        .filter(|text| text.starts_with("cargo ") || text.starts_with("fieldlab "))
        .collect();
    assert!(commands.len() >= 10, "{commands:?}");
    let mut ours = 0;
    for command in commands {
        let words: Vec<&str> = command.split_whitespace().collect();
        let own = match words.as_slice() {
            ["cargo", "run", "--release", "--", own @ ..] | ["fieldlab", own @ ..] => own,
            ["cargo", "xtask", chore, ..] => {
                assert!(chores.contains(&format!("  {chore} ")), "`{command}`: xtask does not know {chore}");
                continue;
            }
            ["cargo", "doc" | "test", ..] => continue,
            ["cargo", "run", "--release", "--example", example, ..] => {
                assert!(root.join(format!("crates/fieldlab/examples/{example}.rs")).is_file(), "`{command}`");
                continue;
            }
            _ => panic!("`{command}`: nothing checks this one"),
        };
        // The command itself, and every flag that the README shows, stand in its help.
        let verb = |word: &&&str| word.bytes().all(|b| b.is_ascii_lowercase());
        let asked: Vec<&str> = own.iter().take_while(verb).copied().chain(["--help"]).collect();
        let (code, help, _) = outcome(&asked);
        assert_eq!(code, 0, "`{command}`");
        for flag in
            own[1..].iter().map(|word| word.trim_matches(['[', ']'])).filter(|word| word.starts_with('-'))
        {
            assert!(help.contains(flag), "`{command}`: {flag} is not in its help");
        }
        ours += 1;
    }
    assert!(ours >= 5, "{ours} commands of ours");
}
