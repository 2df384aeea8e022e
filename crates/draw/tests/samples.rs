//! The rules of samples files: each refusal with its code and row, and what is accepted.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::{W1, line_rows, w1_posture};
use fieldlab_draw::check::{CheckConfig, Checker, Report};
use fieldlab_draw::findings::{Code, Place};
use fieldlab_draw::plan::PlanConfig;
use fieldlab_draw::profile::REFERENCE_RIGHT;
use fieldlab_draw::samples::{Caps, Expected, Kind, Meta, Mode, Row, feedforward, write};
use proptest::prelude::*;

/// A drawing of 1 mm with rest before and after, with the carriage out of it.
fn good_rows() -> Vec<Row> {
    let mut rows = line_rows(0.001, 1.0, 0.25, true);
    let still = |k: usize, p_m: [f64; 3]| Row {
        t_s: 0.0025 * k as f64,
        p_m,
        v_m_s: [0.0; 3],
        r: w1_posture().rotation,
        pen: false,
        capture: 0,
        dip: 0,
    };
    let mut all: Vec<Row> = (0..50).map(|k| still(k, w1_posture().tip_m)).collect();
    let end = rows.last().unwrap().p_m;
    all.append(&mut rows);
    all.extend((0..50).map(|k| still(k, end)));
    let places: Vec<_> = all.iter().map(|row| row.p_m).collect();
    for ((k, row), v_m_s) in all.iter_mut().enumerate().zip(feedforward(&places, 0.0025)) {
        row.t_s = 0.0025 * (k + 1) as f64;
        row.v_m_s = v_m_s;
    }
    all
}

fn good_file() -> String {
    let profile = REFERENCE_RIGHT.profile().unwrap();
    write(&Meta::for_profile(&profile, Kind::Path, false), &good_rows()).unwrap()
}

fn check_with(config: CheckConfig, text: &str) -> Report {
    let mut checker = Checker::new(config).unwrap();
    checker.push(text.as_bytes());
    checker.finish()
}

fn strict(text: &str) -> Report {
    let profile = REFERENCE_RIGHT.profile().unwrap();
    let plan = PlanConfig::strict(&profile, W1).unwrap();
    check_with(CheckConfig::for_profile(&profile, Some(plan)), text)
}

fn reference(text: &str) -> Report {
    let config = CheckConfig {
        mode: Mode::Reference,
        expected: Expected { period_s: Some(0.0025), ..Expected::default() },
        caps: Caps::default(),
        plan: None,
        max_findings: 100,
    };
    check_with(config, text)
}

/// Replaces the header value of `key`, or drops the line when `value` is `None`.
fn with_key(text: &str, key: &str, value: Option<&str>) -> String {
    text.lines()
        .filter_map(|line| match line.split_once(',') {
            Some((found, _)) if found == key => value.map(|value| format!("{key},{value}\n")),
            _ => Some(format!("{line}\n")),
        })
        .collect()
}

/// Replaces one cell of a data row.
fn with_cell(text: &str, row: usize, column: usize, value: &str) -> String {
    let head = 1 + text.lines().position(|line| line.starts_with("columns,")).unwrap();
    text.lines()
        .enumerate()
        .map(|(at, line)| {
            if at != head + row {
                return format!("{line}\n");
            }
            let mut cells: Vec<&str> = line.split(',').collect();
            cells[column] = value;
            cells.join(",") + "\n"
        })
        .collect()
}

#[track_caller]
fn refused(report: &Report, code: Code, place: Option<Place>) {
    let found = report.findings.listed().iter().find(|finding| finding.code == code);
    assert!(found.is_some(), "no {} in {:?}", code.name(), report.findings.counts());
    let found = found.unwrap();
    if let Some(place) = place {
        assert_eq!(found.place, place, "{found}");
    }
}

#[test]
fn a_good_file_is_accepted_by_both_readers_and_reads_back() {
    let text = good_file();
    let report = strict(&text);
    assert!(report.accepted(), "{}", report.text());
    assert_eq!(report.counts.rows, 500);
    assert_eq!(report.counts.pen_down, 400);
    assert!(reference(&text).accepted(), "{}", reference(&text).text());
    let crlf = text.replace('\n', "\r\n") + "\n\n";
    assert!(strict(&crlf).accepted());
}

#[test]
fn a_file_with_exactly_the_keys_of_the_format_page_is_accepted_with_a_profile() {
    let mut text = good_file();
    for key in ["arm", "tip_x_m", "tip_y_m", "tip_z_m", "dip_count", "profile_sha"] {
        text = with_key(&text, key, None);
    }
    assert!(strict(&text).findings.is_empty(), "{}", strict(&text).text());
    for key in ["sample_count", "capture_count", "start_tolerance_m"] {
        text = with_key(&text, key, None);
    }
    assert!(strict(&text).accepted());
    let alone = CheckConfig {
        expected: Expected::default(),
        ..CheckConfig::for_profile(&REFERENCE_RIGHT.profile().unwrap(), None)
    };
    let report = check_with(alone, &text);
    refused(&report, Code::Tip, Some(Place::File));
    refused(&report, Code::Header, None);
}

#[test]
fn each_header_rule_refuses_with_its_code_and_line() {
    let good = good_file();
    let cases: &[(&str, Option<&str>, Code)] = &[
        ("schema", Some("tatbot.draw-samples/2"), Code::Schema),
        ("schema", None, Code::Schema),
        ("kind", Some("witness"), Code::Kind),
        ("kind", None, Code::Header),
        ("constants_sha", None, Code::ConstantsMissing),
        ("constants_sha", Some(""), Code::ConstantsMismatch),
        ("constants_sha", Some("123456789012"), Code::ConstantsMismatch),
        ("profile_sha", Some("123456789012"), Code::ProfileMismatch),
        ("arm", Some("left"), Code::Arm),
        ("arm", Some("2nd"), Code::Arm),
        ("frame", Some("left/base_link"), Code::Frame),
        ("frame", None, Code::Header),
        ("period_s", Some("0.0026"), Code::Period),
        ("period_s", Some("0.0025s"), Code::Number),
        ("period_s", None, Code::Header),
        ("tip_x_m", Some("0.206"), Code::Tip),
        ("tip_x_m", None, Code::Tip),
        ("tip_z_m", Some("nan"), Code::Number),
        ("sample_count", Some("499"), Code::Count),
        ("sample_count", Some("500.0"), Code::Count),
        ("sample_count", Some("-500"), Code::Count),
        ("capture_count", Some("1"), Code::Count),
        ("dip_count", Some("1"), Code::Count),
        ("start_tolerance_m", Some("0"), Code::StartTolerance),
        ("start_tolerance_m", Some("0.002"), Code::StartTolerance),
        ("carriage_ik", Some("2"), Code::Header),
    ];
    for (key, value, code) in cases {
        let report = strict(&with_key(&good, key, *value));
        assert!(report.findings.has(*code), "{key} {value:?}: {}", report.text());
    }
    let twice = format!("kind,path\n{good}");
    refused(&strict(&twice), Code::Header, Some(Place::Line(4)));
    refused(&strict(&format!("note,a,b\n{good}")), Code::Header, Some(Place::Line(1)));
    refused(&strict(&format!("note\n{good}")), Code::Header, Some(Place::Line(1)));
    assert!(strict(&format!("note,a\n{good}")).accepted(), "unknown keys are ignored");
    refused(&strict(&format!("note,{}\n{good}", "x".repeat(5000))), Code::Line, Some(Place::Line(1)));
    let many: String = (0..1001).map(|k| format!("k{k},1\n")).collect();
    refused(&strict(&format!("{many}{good}")), Code::Header, Some(Place::Line(1001)));
    refused(&strict(&good.replace("columns,t_s,px", "columns,t_s,x")), Code::Columns, None);
    refused(&strict("schema,tatbot.draw-samples/1\n"), Code::Columns, Some(Place::File));
    let message = strict(&with_key(&good, "constants_sha", Some("123456789012"))).text();
    assert!(message.contains("123456789012") && message.contains("c36d529c2b43"), "both digests are named");
}

#[test]
fn each_row_rule_refuses_with_its_code_and_row() {
    let good = good_file();
    let cell = |row: usize, column: usize, value: &str| strict(&with_cell(&good, row, column, value));
    let at = |row: u64| Some(Place::Row(row));
    refused(&cell(7, 1, "nan"), Code::Number, at(7));
    refused(&cell(7, 1, " 0.4586"), Code::Number, at(7));
    refused(&cell(7, 1, "0x1"), Code::Number, at(7));
    refused(&cell(7, 1, ""), Code::Number, at(7));
    refused(&cell(7, 0, "0.5"), Code::Time, at(7));
    refused(&cell(7, 16, "2"), Code::Pen, at(7));
    refused(&cell(7, 16, "1.0"), Code::Pen, at(7));
    refused(&cell(7, 17, "1"), Code::CaptureOrder, at(7));
    refused(&cell(7, 18, "2"), Code::DipOrder, at(7));
    refused(&cell(7, 18, "1"), Code::Count, at(7));
    refused(&cell(200, 18, "1"), Code::DipOrder, at(200));
    refused(&cell(7, 18, "-1"), Code::DipOrder, at(7));
    refused(&cell(7, 7, "0.5"), Code::Rotation, at(7));
    refused(&cell(7, 4, "0.13"), Code::Velocity, at(7));
    refused(&cell(200, 4, "0.021"), Code::Velocity, at(200));
    refused(&cell(200, 1, "0.4596"), Code::JumpPosition, at(200));
    refused(&strict(&good.replace("0.0025,", "0.0025,0,")), Code::Line, None);
    refused(&strict(&with_key(&good, "sample_count", Some("501"))), Code::Count, Some(Place::File));
    let long = format!("{good}{}\n", "1".repeat(5000));
    refused(&strict(&long), Code::Line, at(500));
}

#[test]
fn d1_the_strict_reader_refuses_jumps_that_the_reference_accepts() {
    let good = good_file();
    // 1.4 mm of base x on a pen-up row: the golden vector G6.
    let jumped = with_cell(&good, 20, 1, "0.460030899188");
    assert!(reference(&jumped).accepted());
    refused(&strict(&jumped), Code::JumpPosition, Some(Place::Row(20)));
}

#[test]
fn d2_time_may_not_stand_still_or_leap() {
    let good = good_file();
    let stopped = with_cell(&good, 20, 0, "0.05");
    assert!(reference(&stopped).accepted());
    refused(&strict(&stopped), Code::Time, Some(Place::Row(20)));
    refused(&reference(&with_cell(&good, 20, 0, "0.01")), Code::Time, Some(Place::Row(20)));
}

#[test]
fn d3_g6_half_a_turn_of_the_target_is_refused() {
    let mut rows = good_rows();
    let flip = fieldlab_draw::math::rotation_about([0.0, 1.0, 0.0], std::f64::consts::PI);
    for row in &mut rows {
        row.r = fieldlab_draw::math::mul(&flip, &row.r);
    }
    let profile = REFERENCE_RIGHT.profile().unwrap();
    let text = write(&Meta::for_profile(&profile, Kind::Path, false), &rows).unwrap();
    let report = strict(&text);
    refused(&report, Code::StartRotation, Some(Place::Row(0)));
    refused(&report, Code::OrientationError, Some(Place::Row(0)));
}

#[test]
fn d5_a_velocity_that_lies_is_refused() {
    let mut rows = good_rows();
    for row in &mut rows {
        row.v_m_s = [0.018, 0.0, 0.0];
    }
    let profile = REFERENCE_RIGHT.profile().unwrap();
    let text = write(&Meta::for_profile(&profile, Kind::Path, false), &rows).unwrap();
    refused(&strict(&text), Code::VelocityMismatch, None);
}

#[test]
fn d16_every_row_near_a_singularity_is_named() {
    let mut profile = REFERENCE_RIGHT.profile().unwrap();
    let text = good_file();
    let values = |limit: Option<f64>| {
        let plan = PlanConfig::strict(&profile, W1).unwrap();
        let plan = PlanConfig {
            rig: plan.rig.map(|(limits, workspace, base)| {
                (fieldlab_draw::profile::Limits { min_singular_value: limit, ..limits }, workspace, base)
            }),
            ..plan
        };
        check_with(CheckConfig::for_profile(&profile, Some(plan)), &text)
    };
    let least = values(None).plan.unwrap().peak("smallest_singular_value").unwrap().value.unwrap();
    assert!(least > 0.01 && values(Some(least * 0.999)).accepted());
    let report = values(Some(least * 2.0));
    assert_eq!(report.findings.counts()[&Code::Singular], 500, "each row, and not every twentieth");
    refused(&report, Code::Singular, Some(Place::Row(0)));
    profile.limits.min_singular_value = Some(least * 2.0);
    let plan = PlanConfig::strict(&profile, W1).unwrap();
    refused(&check_with(CheckConfig::for_profile(&profile, Some(plan)), &text), Code::Singular, None);
}

#[test]
fn d16_the_arm_is_kept_from_itself() {
    let profile = REFERENCE_RIGHT.profile().unwrap();
    let text = good_file();
    let with = |clearance_m: f64| {
        let mut plan = PlanConfig::strict(&profile, W1).unwrap();
        plan.body.as_mut().unwrap().clearance_m = clearance_m;
        check_with(CheckConfig::for_profile(&profile, Some(plan)), &text)
    };
    let report = with(0.01);
    let gap = report.plan.as_ref().unwrap().peak("self_clearance_m").unwrap().value.unwrap();
    assert!(report.accepted() && gap > 0.01, "{gap}");
    let report = with(gap + 0.01);
    assert_eq!(report.findings.counts()[&Code::SelfClearance], 500);
    refused(&report, Code::SelfClearance, Some(Place::Row(0)));
    // By hand: a straight-up arm folded onto itself. The profile's own rest must be clear, or the profile is refused.
    let body = profile.body.unwrap();
    let folded = [0.0, 1.6, 0.05, 0.0, 0.0, 0.0];
    assert!(body.least_m(&profile.chain, &folded).0 < body.least_m(&profile.chain, &W1.joints_rad).0);
    let toml = include_str!("../../../config/rigs/reference/right.toml")
        .replace("clearance_m = 0.01", "clearance_m = 0.9");
    let refusal =
        fieldlab_draw::profile::Profile::parse(&toml, &|name| REFERENCE_RIGHT.file(name)).unwrap_err();
    assert!(refusal.to_string().contains("apart at rest"), "{refusal}");
}

#[test]
fn the_reference_reader_takes_what_the_reference_takes() {
    let good = good_file();
    let accepted = [
        with_key(&good, "sample_count", Some("0")),
        with_key(&good, "sample_count", Some("500.9")),
        with_key(&good, "sample_count", None),
        with_key(&with_key(&good, "kind", Some("parity")), "constants_sha", None),
        format!("note,a,b\nkind,orbit\n{good}"),
        with_cell(&good, 7, 16, " 0x0"),
        with_cell(&good, 7, 17, "1").replace("capture_count,0", "capture_count,1"),
    ];
    for text in &accepted {
        assert!(reference(text).accepted(), "{}", reference(text).text());
    }
    refused(&reference(&with_key(&good, "constants_sha", None)), Code::ConstantsMissing, None);
    refused(&reference(&with_key(&good, "start_tolerance_m", Some("0.0051"))), Code::StartTolerance, None);
    refused(&reference(&with_key(&good, "arm", Some("third"))), Code::Arm, None);
}

#[test]
fn old_files_without_the_dip_column_are_read() {
    let text: String = good_file()
        .lines()
        .map(|line| match line.rsplit_once(',') {
            Some((front, "dip" | "0")) if line.matches(',').count() >= 18 => format!("{front}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    assert!(strict(&text).accepted(), "{}", strict(&text).text());
}

#[test]
fn the_verdict_does_not_depend_on_how_the_bytes_are_cut() {
    let text = with_cell(&good_file(), 99, 3, "oops");
    let whole = strict(&text);
    let profile = REFERENCE_RIGHT.profile().unwrap();
    for step in [1, 7, 4096] {
        let plan = PlanConfig::strict(&profile, W1).unwrap();
        let mut checker = Checker::new(CheckConfig::for_profile(&profile, Some(plan))).unwrap();
        text.as_bytes().chunks(step).for_each(|bytes| checker.push(bytes));
        assert_eq!(checker.finish(), whole, "in pieces of {step}");
    }
}

#[test]
fn every_violation_is_counted_and_memory_is_bounded() {
    let good = good_file();
    let head = 1 + good.lines().position(|line| line.starts_with("columns,")).unwrap();
    let bad: String = good
        .lines()
        .enumerate()
        .map(|(at, line)| if at < head { format!("{line}\n") } else { line.replacen("0.4", "1.4", 1) + "\n" })
        .collect();
    let profile = REFERENCE_RIGHT.profile().unwrap();
    let config = CheckConfig { max_findings: 5, ..CheckConfig::for_profile(&profile, None) };
    let report = check_with(config, &bad.replace(",0,0,0\n", ",0,0,9999\n"));
    assert_eq!(report.findings.listed().len(), 5);
    assert_eq!(report.findings.counts()[&Code::DipOrder], 100);
    assert!(report.text().contains("more are counted above"));
}

#[test]
fn the_largest_file_is_read_in_pieces_and_one_row_more_is_refused() {
    let good = good_file();
    let row = good.lines().last().unwrap();
    let (_, rest) = row.split_once(',').unwrap();
    let head: String =
        good.lines().take_while(|line| !line.starts_with("columns,")).map(|l| format!("{l}\n")).collect();
    let columns = good.lines().find(|line| line.starts_with("columns,")).unwrap();
    for (count, code) in [(250_000u32, None), (250_001, Some(Code::Ticks))] {
        let head = with_key(&head, "sample_count", Some("250000"));
        let config = CheckConfig::for_profile(&REFERENCE_RIGHT.profile().unwrap(), None);
        let mut checker = Checker::new(config).unwrap();
        checker.push(format!("{head}{columns}\n").as_bytes());
        // One row is in memory at a time, here and in the checker.
        for k in 1..=count {
            let t_s = fieldlab_draw::json::twelve_digits(f64::from(k) * 0.0025);
            checker.push(format!("{t_s},{rest}\n").as_bytes());
        }
        let report = checker.finish();
        assert_eq!(report.counts.rows, 250_000);
        assert_eq!(report.findings.listed().first().map(|finding| finding.code), code);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever is done to one cell of a good file, either the rules let it pass for a reason or the row is named.
    #[test]
    fn one_mutated_cell_is_harmless_by_rule_or_refused_with_its_row(
        row in 0usize..500,
        column in 0usize..19,
        how in 0usize..8,
        size in -9.0f64..3.0,
    ) {
        thread_local! {
            static GOOD: (String, Vec<String>) = {
                let text = good_file();
                let cells = text.lines().map(str::to_owned).collect();
                (text, cells)
            };
        }
        let (text, before) = GOOD.with(|(text, lines)| {
            let head = 1 + lines.iter().position(|line| line.starts_with("columns,")).unwrap();
            let before: f64 = lines[head + row].split(',').nth(column).unwrap().parse().unwrap();
            let value = match how {
                0 => "x".to_owned(),
                1 => String::new(),
                2 => "nan".to_owned(),
                3 => format!("{}", -before),
                4 => format!("{}", before + 10f64.powf(size)),
                5 => format!("{}", before - 10f64.powf(size)),
                6 => "1".to_owned(),
                _ => "1e300".to_owned(),
            };
            (with_cell(text, row, column, &value), before)
        });
        let report = strict(&text);
        let named = report.findings.listed().iter().any(|finding| {
            matches!(finding.place, Place::Row(at) if at == row as u64 || at == row as u64 + 1)
        });
        if named {
            return Ok(());
        }
        let cell = text.lines().nth(16 + row).unwrap().split(',').nth(column).unwrap().to_owned();
        let after: f64 = cell.parse().unwrap_or(f64::NAN);
        let change = (after - before).abs();
        let harmless = match column {
            0 => change <= 3.6e-9,
            1..=3 => change <= 3.2e-4,
            // Within the cap, and the window's rule is met.
            4..=6 => after.abs() <= 0.12,
            7..=15 => change <= 1e-5,
            // A path may draw or not on any row whose place is steady.
            16 => after == 0.0 || after == 1.0,
            _ => change == 0.0,
        };
        prop_assert!(harmless, "row {row} column {column}: {before} became `{cell}`\n{}", report.text());
    }
}
