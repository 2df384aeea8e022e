//! `fieldlab report`, `json` and `diff` from outside, on logs written by hand.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::{outcome, record, small_log, start, write};

/// A log of the reference's shape: one session, one procedure, a caliper's answer, a calibration's result.
fn field_log() -> Vec<u8> {
    let mut log = b"WPILOG\x00\x01\x00\x00\x00\x00".to_vec();
    for (id, name, kind) in [
        (1, "FieldLab/Session", "string"),
        (2, "FieldLab/Campaign", "string"),
        (3, "FieldLab/6aa1f940/wheel-radius/Started", "double"),
        (4, "FieldLab/6aa1f940/wheel-radius/caliper-diameter-in", "double"),
        (5, "FieldLab/6aa1f940/wheel-radius/Finished", "double"),
        (6, "FieldLab/6aa1f940/wheel-radius/caliper-diameter-in.unit", "string"),
    ] {
        log.extend(start(id, name, kind));
    }
    log.extend(record(1, 1_000_000, b"6aa1f940"));
    log.extend(record(2, 1_000_000, b"Field Day"));
    log.extend(record(3, 2_000_000, &1f64.to_le_bytes()));
    log.extend(record(6, 8_000_000, b"in"));
    log.extend(record(4, 8_000_000, &4.02f64.to_le_bytes()));
    log.extend(record(5, 9_000_000, &1f64.to_le_bytes()));
    log
}

#[test]
fn json_is_report_format_json_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let log = write(folder.path(), "field.wpilog", &field_log());
    let (code, json, _) = outcome(&["json", &log]);
    assert_eq!(code, 0);
    assert_eq!(outcome(&["report", "--format", "json", &log]), (0, json.clone(), String::new()));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["session"], "6aa1f940");
    assert_eq!(json["campaign"], "Field Day");
    assert_eq!(json["measurements"]["wheel-radius/caliper-diameter-in"], 4.02);
    assert_eq!(json["units"]["wheel-radius/caliper-diameter-in"], "in");
}

#[test]
fn a_report_is_markdown_or_one_html_page() {
    let folder = tempfile::tempdir().unwrap();
    let log = write(folder.path(), "field.wpilog", &field_log());
    let (code, markdown, _) = outcome(&["report", &log]);
    assert_eq!(code, 0);
    assert!(markdown.starts_with("# ") && markdown.contains("Field Day") && markdown.contains("6aa1f940"));
    let page = folder.path().join("report.html");
    let (code, stdout, stderr) =
        outcome(&["report", &log, "--format", "html", "-o", page.to_str().unwrap(), "--session", "6aa1f940"]);
    assert_eq!((code, stdout.as_str()), (0, ""));
    assert!(stderr.contains("report.html"), "{stderr}");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("Field Day"));
}

#[test]
fn a_log_without_a_campaign_is_said_to_be_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut other = b"WPILOG\x00\x01\x00\x00\x00\x00".to_vec();
    other.extend(start(1, "PeriodicTimes", "double"));
    other.extend(record(1, 5, &1f64.to_le_bytes()));
    let log = write(folder.path(), "other.wpilog", &other);
    let (code, stdout, _) = outcome(&["report", &log]);
    assert_eq!(code, 0);
    assert!(stdout.contains("Nothing of Field Lab is in these logs"), "{stdout}");
}

#[test]
fn a_torn_log_is_used_up_to_the_tear_and_strict_says_three() {
    let folder = tempfile::tempdir().unwrap();
    let whole = field_log();
    let log = write(folder.path(), "torn.wpilog", &whole[..whole.len() - 5]);
    let (code, stdout, stderr) = outcome(&["json", &log]);
    assert_eq!(code, 0);
    assert!(stdout.contains("4.02"));
    assert!(stderr.contains("torn.wpilog") && stderr.contains("torn"), "{stderr}");
    let (code, stdout, _) = outcome(&["json", "--strict", &log]);
    assert_eq!(code, 3);
    assert!(stdout.contains("4.02"), "strict still prints what was found");
}

#[test]
fn a_session_that_is_not_there_is_three_and_names_those_that_are() {
    let folder = tempfile::tempdir().unwrap();
    let log = write(folder.path(), "field.wpilog", &field_log());
    let (code, stdout, stderr) = outcome(&["report", &log, "--session", "00000000"]);
    assert_eq!((code, stdout.as_str()), (3, ""));
    assert!(stderr.contains("00000000") && stderr.contains("6aa1f940"), "{stderr}");
}

#[test]
fn what_cannot_be_read_is_two() {
    let folder = tempfile::tempdir().unwrap();
    let log = write(folder.path(), "small.wpilog", &small_log());
    let missing = folder.path().join("missing.wpilog");
    let missing = missing.to_str().unwrap();
    for words in
        [vec!["report", missing], vec!["json", &log, missing], vec!["diff", &log, "--constants", missing]]
    {
        let (code, stdout, stderr) = outcome(&words);
        assert_eq!((code, stdout.as_str()), (2, ""), "{words:?}");
        assert!(stderr.contains("missing.wpilog"), "{stderr}");
    }
    assert_eq!(outcome(&["report"]).0, 2);
    assert_eq!(outcome(&["report", &log, "--format", "pdf"]).0, 2);
    assert_eq!(outcome(&["diff", &log]).0, 2);
}

#[test]
fn t16_bad_constants_name_file_and_key() {
    let folder = tempfile::tempdir().unwrap();
    let log = write(folder.path(), "field.wpilog", &field_log());
    for (text, word) in [(r#"{"kV": "2.5"}"#, "kV"), ("[1]", "not an object"), ("{", "line 1")] {
        let constants = write(folder.path(), "constants.json", text.as_bytes());
        let (code, _, stderr) = outcome(&["diff", &log, "--constants", &constants]);
        assert_eq!(code, 2, "{text}");
        assert!(stderr.contains("constants.json") && stderr.contains(word), "{stderr}");
    }
}

#[test]
fn t17_a_constant_that_was_not_measured_stays_in_the_table_and_is_three() {
    let folder = tempfile::tempdir().unwrap();
    let log = write(folder.path(), "field.wpilog", &field_log());
    let constants = write(folder.path(), "constants.json", br#"{"kV": 2.5}"#);
    let (code, stdout, stderr) = outcome(&["diff", &log, "--constants", &constants]);
    assert_eq!(code, 3);
    assert!(stdout.contains("kV") && stdout.contains("not measured"), "{stdout}");
    assert!(stderr.contains("1 of 1"), "{stderr}");
    let (_, json, _) = outcome(&["diff", "--json", &log, "--constants", &constants]);
    assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok());
}
