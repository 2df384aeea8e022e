//! Reports of a campaign of known truth: contract names, escaping, determinism, and the words a reader needs.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what broke")]

#[path = "../../analysis/tests/common/mod.rs"]
mod common;

use common::{Robot, Spelling, Truth, first_half, two_boots, whole};
use fieldlab_analysis::findings::Findings;
use fieldlab_analysis::{LogSet, Options, analyse, diff};
use serde_json::Value;

fn find(files: Vec<(String, Vec<u8>)>) -> Findings {
    let set = LogSet::from_bytes(files).unwrap();
    analyse(&set, &Options::default(), &mut |_, _| {}).unwrap()
}

fn whole_findings() -> Findings {
    find(whole(Spelling::Ours, &Truth::default()))
}

/// The reference tool's JSON names, with their types.
#[test]
fn json_keeps_the_names_of_the_offline_tool() {
    let text = fieldlab_report::json(&whole_findings());
    let json: Value = serde_json::from_str(&text).unwrap();
    for (path, kind) in [
        ("/session", "string"),
        ("/campaign", "string"),
        ("/procedures/0", "string"),
        ("/measurements/wheel-radius~1caliper-diameter-in", "number"),
        ("/units/wheel-radius~1caliper-diameter-in", "string"),
        ("/notes/0", "string"),
        ("/channels", "number"),
        ("/feedforward/kS", "number"),
        ("/feedforward/kV", "number"),
        ("/feedforward/kA", "number"),
        ("/feedforward/residual_volts_rms", "number"),
        ("/feedforward/samples", "number"),
        ("/feedforward/confidence", "string"),
        ("/odometry_drift/laps/lap1-error-m", "number"),
        ("/odometry_drift/mean_error_m", "number"),
        ("/odometry_drift/spread_m", "number"),
        ("/odometry_drift/reading", "string"),
        ("/thermal/temperature_c/Swerve~1Modules~10~1TemperatureC", "number"),
        ("/thermal/current_a/Swerve~1Modules~10~1StatorAmps", "number"),
        ("/calibrations/wheel_radius_in", "number"),
        ("/calibrations/wheel_radius_percent_change", "number"),
        ("/calibrations/slip_current_a", "number"),
        ("/wheel_radius_cross_check/caliper_radius_in", "number"),
        ("/wheel_radius_cross_check/calibrated_radius_in", "number"),
        ("/wheel_radius_cross_check/disagreement_in", "number"),
        ("/wheel_radius_cross_check/reading", "string"),
        ("/sweeps/shot-map/rows/0/setpoint", "string"),
        ("/sweeps/shot-map/rows/0/score", "number"),
        ("/sweeps/shot-map/commanded/0/at", "number"),
        ("/sweeps/shot-map/commanded/0/first", "number"),
        ("/sweeps/shot-map/commanded/0/second", "number"),
        ("/sweeps/shot-map/commanded/0/t", "number"),
        ("/constants/0/name", "string"),
        ("/constants/0/verdict/kind", "string"),
        ("/constants/0/evidence/0/file", "string"),
    ] {
        let found = json.pointer(path).unwrap_or_else(|| panic!("{path} is missing"));
        let is = match found {
            Value::String(_) => "string",
            Value::Number(_) => "number",
            _ => "other",
        };
        assert_eq!(is, kind, "{path} is {found}");
    }
    assert_eq!(json["procedures"][0], "wheel-radius", "T18: run order, not the alphabet");
}

/// Keys are sorted at every level, and what is not finite is null (T15).
#[test]
fn t15_json_is_sorted_and_has_no_bare_nan() {
    let mut findings = whole_findings();
    findings.constants[0].value = Some(f64::NAN);
    findings.duration_secs = Some(f64::INFINITY);
    let text = fieldlab_report::json(&findings);
    let json: Value = serde_json::from_str(&text).unwrap();
    assert!(json["constants"][0]["value"].is_null() && json["duration_secs"].is_null());
    fn sorted(value: &Value) -> bool {
        match value {
            Value::Object(map) => {
                map.keys().zip(map.keys().skip(1)).all(|(a, b)| a < b) && map.values().all(sorted)
            }
            Value::Array(items) => items.iter().all(sorted),
            _ => true,
        }
    }
    assert!(sorted(&json));
}

/// T18: sections in the reference's order, procedures in run order, everything from a log escaped.
#[test]
fn t18_markdown_is_ordered_and_escaped() {
    let text = fieldlab_report::markdown(&whole_findings());
    let mut at = 0;
    for heading in [
        "# Field Lab report: Field Day",
        "## Constants",
        "## The afternoon",
        "## Feedforward",
        "## Calibrations",
        "## Wheel radius cross-check",
        "## Odometry drift",
        "## Sweep: Shot map",
        "## Thermal",
        "## Every measurement",
        "## Notes",
    ] {
        let found =
            text[at..].find(heading).unwrap_or_else(|| panic!("{heading} is missing or out of order"));
        at += found;
    }
    assert!(text.contains("Gremlin \\| &lt;hunt&gt;"));
    assert!(text.contains("smells \\| of &lt;b&gt;smoke&lt;/b&gt;"));
    assert!(text.contains("paused at 11.90 V (2 times)"));
    assert!(text.contains("Why: because Wheel radius matters"));
    assert!(text.contains("per true metre"));
    assert!(text.contains("No model is fitted to: gremlin-hunt"));
    for line in text.lines().filter(|l| l.starts_with('|')) {
        let bars = line.replace("\\|", "").matches('|').count();
        assert!(bars >= 3, "{line}");
    }
    assert!(!text.contains("NaN"));
}

/// T18 for the page: no text from a log becomes markup; nothing is fetched; nothing runs.
#[test]
fn t18_html_stands_alone_and_is_escaped() {
    let mut findings = whole_findings();
    "</title><script>alert(1)</script>".clone_into(&mut findings.procedures[0].title);
    findings.campaign = Some("\"><img src=x onerror=alert(1)>".to_owned());
    for span in &mut findings.timeline {
        "<svg onload=alert(1)>".clone_into(&mut span.label);
    }
    let page = fieldlab_report::html(&findings);
    for bad in ["<script", "<img", "<svg onload", "http:", "https:", "url(", "@import", "NaN"] {
        let page = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!page.contains(bad), "{bad}");
    }
    for part in [
        "<!DOCTYPE html>",
        "viewport",
        "prefers-color-scheme",
        "<svg ",
        "Wheel radius per wheel",
        "Slip current ramp",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert_eq!(page.matches("<figure>").count(), 9);
}

#[test]
fn the_same_findings_give_the_same_bytes() {
    let (a, b) = (find(two_boots(&Truth::default())), find(two_boots(&Truth::default())));
    assert_eq!(fieldlab_report::markdown(&a), fieldlab_report::markdown(&b));
    assert_eq!(fieldlab_report::html(&a), fieldlab_report::html(&b));
    assert_eq!(fieldlab_report::json(&a), fieldlab_report::json(&b));
}

#[test]
fn a_cut_and_torn_campaign_says_so_first() {
    let mut robot = Robot::new(Spelling::Ours, Truth::default());
    robot.head("boot-a", false);
    first_half(&mut robot);
    robot.begin("straight-run");
    let bytes = robot.log.bytes();
    let findings = find(vec![("torn.wpilog".to_owned(), bytes[..bytes.len() - 3].to_vec())]);
    let text = fieldlab_report::markdown(&findings);
    let warning = text.find("Read this first").unwrap();
    assert!(warning < text.find("## The afternoon").unwrap());
    for words in [
        "torn.wpilog",
        "everything before it was used",
        "Straight run was begun and is not banked",
        "Vision pose was not reached",
    ] {
        assert!(text.contains(words), "{words}");
    }
}

#[test]
fn t17_diff_against_the_constants_in_force_advises() {
    let findings = whole_findings();
    let rows = diff(&findings, &findings.provenance.constants_in_force);
    let text = fieldlab_report::diff_markdown(&rows);
    for (name, advice) in [("kV", "change"), ("wheel_radius_m", "change"), ("slip_current_a", "change")] {
        let line = text.lines().find(|l| l.starts_with(&format!("| {name} "))).unwrap();
        assert!(line.contains(advice), "{line}");
    }
    assert!(text.contains("not in the constants") && text.contains("not measured"));
    let json: Value = serde_json::from_str(&fieldlab_report::diff_json(&rows)).unwrap();
    assert_eq!(json.as_array().unwrap().len(), rows.len());
}

#[test]
fn a_log_without_field_lab_gives_a_hint_not_an_error() {
    let mut robot = Robot::new(Spelling::Ours, Truth::default());
    robot.log.num("Somebody/Else", 1.0);
    let findings = find(vec![("x.wpilog".to_owned(), robot.log.bytes())]);
    assert!(fieldlab_report::markdown(&findings).contains("Nothing of Field Lab is in these logs"));
}

/// Every cell of the table of constants stands under its own heading.
#[test]
fn the_constants_stand_under_their_headings() {
    let findings = whole_findings();
    let text = fieldlab_report::markdown(&findings);
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split(" | ").map(|cell| cell.trim().replace('\\', "")).collect()
    };
    let lines: Vec<&str> = text.lines().collect();
    let top = lines.iter().position(|l| l.starts_with("| constant ")).unwrap();
    let head = cells(lines[top]);
    for (constant, line) in findings.constants.iter().zip(&lines[top + 2..]) {
        let row = cells(line);
        let under = |name: &str| row[head.iter().position(|h| h == name).unwrap()].clone();
        assert!(under("constant").starts_with(&constant.name));
        assert_eq!(under("verdict"), constant.verdict.word());
        assert_eq!(under("unit"), constant.unit);
        assert_eq!(under("n"), constant.n.to_string());
        assert_eq!(under("method"), constant.method);
    }
}
