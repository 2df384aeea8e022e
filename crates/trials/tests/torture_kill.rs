//! The kill torture as a process, small: two cuts in each phase.

use std::process::Command;

#[test]
fn a_few_cuts_lose_nothing_and_the_table_says_so() {
    let out = Command::new(env!("CARGO_BIN_EXE_fieldlab-trials"))
        .args(["torture", "campaign", "--quick", "--cuts", "14", "--seed", "11"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&out.stdout);
    assert_eq!(out.status.code(), Some(0), "{text}\n{}", String::from_utf8_lossy(&out.stderr));
    for phase in ["temp", "fsync", "rename", "folder", "motion", "prompt", "idle"] {
        assert!(text.contains(&format!("cuts in {phase} ")), "{text}");
    }
}

#[test]
fn a_child_without_its_words_is_refused() {
    let out = Command::new(env!("CARGO_BIN_EXE_fieldlab-trials"))
        .args(["torture-child", "x", "y", "z"])
        .output()
        .unwrap();
    assert_eq!(out.status.code(), Some(2));
}
