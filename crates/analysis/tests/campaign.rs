//! A campaign of known truth, logged in every spelling, cut, torn and stitched: the defects of the reference tool by id.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what broke")]

mod common;

use common::{Robot, SESSION, Spelling, Truth, first_half, second_half, two_boots, whole};
use fieldlab_analysis::findings::{Findings, Progress, Severity, Verdict};
use fieldlab_analysis::{AnalysisError, LogSet, Options, analyse};

fn find(files: Vec<(String, Vec<u8>)>) -> Findings {
    let set = LogSet::from_bytes(files).unwrap();
    analyse(&set, &Options::default(), &mut |_, _| {}).unwrap()
}

fn value(findings: &Findings, name: &str) -> f64 {
    let constant = findings.constant(name).unwrap_or_else(|| panic!("{name}: {:?}", findings.constants));
    constant.value.unwrap_or_else(|| panic!("{constant:?}"))
}

fn near(found: f64, truth: f64, percent: f64) {
    let off = (found / truth - 1.0) * 100.0;
    assert!(off.abs() <= percent, "{found} is {off:.3} % from {truth}");
}

fn check_constants(findings: &Findings, truth: &Truth) {
    near(value(findings, "wheel_radius_m"), truth.mean_radius_m(), 0.1);
    near(value(findings, "wheel_radius_taped_m"), truth.mean_radius_m(), 0.2);
    near(value(findings, "kV"), truth.gains[1], 1.0);
    near(value(findings, "kS"), truth.gains[0], 20.0);
    near(value(findings, "kA"), truth.gains[2], 6.0);
    near(value(findings, "slip_current_a"), truth.slip_amps, 1.5);
    for (name, truth) in [("wheel_radius_m", truth.mean_radius_m()), ("kV", truth.gains[1])] {
        let c = findings.constant(name).unwrap();
        assert!(c.lo.unwrap() <= truth && truth <= c.hi.unwrap(), "{c:?}");
        assert_eq!(c.verdict, Verdict::Measured, "{c:?}");
    }
    assert!(matches!(findings.constant("kA").unwrap().verdict, Verdict::StartingPoint { .. }));
}

#[test]
fn a_whole_campaign_gives_its_truth_back_in_every_spelling() {
    let truth = Truth::default();
    for spelling in [Spelling::Ours, Spelling::DataLogManager, Spelling::AdvantageKit] {
        let findings = find(whole(spelling, &truth));
        check_constants(&findings, &truth);
        assert_eq!(findings.session.as_deref(), Some(SESSION));
        assert_eq!(findings.campaign.as_deref(), Some("Field Day"));
        assert_eq!(findings.procedures.len(), 9, "{spelling:?}");
        assert!(findings.procedures.iter().all(|p| p.banked()), "{:?}", findings.not_banked());
        assert!(!findings.finished_with_loss());
        assert_eq!(findings.state.as_deref(), Some("DONE"));
    }
}

#[test]
fn gains_are_per_true_metre_and_say_so() {
    let truth = Truth::default();
    let findings = find(whole(Spelling::Ours, &truth));
    let ff = findings.feedforward.as_ref().unwrap();
    let logged = ff.mean.unwrap().kv.value;
    near(logged, truth.gains[1] * truth.mean_radius_m() / truth.radius_in_force_m, 1.0);
    near(ff.per_true_metre.unwrap().kv.value, truth.gains[1], 1.0);
    assert!(ff.conversion.as_ref().unwrap().contains("per true metre"));
    assert_eq!(ff.motors.len(), 4);
    assert_eq!(ff.motors[0].name, "fl-drive");
    assert!(ff.confidence == "good" && ff.residual_volts_rms.unwrap() < 0.25, "{:?}", ff.residual_volts_rms);
    assert!(ff.sysid_mean.is_some());
}

#[test]
fn t1_slip_current_is_of_runs_that_ended_done_and_never_break_amps() {
    let truth = Truth::default();
    let findings = find(whole(Spelling::Ours, &truth));
    let slip = findings.slip_current.as_ref().unwrap();
    assert_eq!(slip.runs.len(), 3);
    assert_eq!(slip.amps.unwrap().n, 3);
    assert_eq!(slip.recommended_amps, Some(45.0));
    assert_eq!(slip.runs[0].break_amps.len(), 4);
    assert_eq!(slip.runs[0].break_amps[0], None, "NaN is a wheel that never turned");
    near(slip.runs[0].recomputed_amps[2].unwrap(), truth.slip_amps, 2.0);

    let mut robot = Robot::new(Spelling::Ours, truth);
    robot.head("boot-a", false);
    robot.begin("slip-current");
    robot.act("slip-current", "ramp", |r| r.slip(false));
    let findings = find(vec![("x".to_owned(), robot.log.bytes())]);
    let refused = findings.constant("slip_current_a").unwrap();
    assert_eq!(refused.value, None);
    assert!(refused.verdict.reason().unwrap().contains("no slip by cap"), "{refused:?}");
}

#[test]
fn t2_motors_are_paired_by_name_and_other_voltages_are_ignored() {
    let truth = Truth::default();
    let mut robot = Robot::new(Spelling::Ours, truth.clone());
    robot.head("boot-a", false);
    for i in 0..400 {
        robot.log.sysid("voltage-steer-sysid", "V", f64::from(i % 7));
        robot.log.num("Drive/AppliedVolts", f64::from(i % 5));
        robot.log.num("Swerve/SpeedMPS", f64::from(i % 3));
        robot.log.wait(0.02);
    }
    first_half(&mut robot);
    let findings = find(vec![("x".to_owned(), robot.log.bytes())]);
    near(value(&findings, "kV"), truth.gains[1], 1.0);
    assert_eq!(findings.feedforward.unwrap().motors.len(), 4);
}

#[test]
fn t3_segments_do_not_mix() {
    let findings = find(whole(Spelling::Ours, &Truth::default()));
    let ff = findings.feedforward.unwrap();
    let tests: Vec<&str> = ff.runs.iter().map(|r| r.test.as_str()).collect();
    assert_eq!(tests, ["quasistatic-forward", "quasistatic-reverse", "dynamic-forward", "dynamic-reverse"]);
    for run in &ff.runs {
        assert!(run.window.secs() < 5.1, "{run:?}");
    }
    assert!(ff.missing_tests.is_empty());
}

#[test]
fn t6_times_are_real() {
    let findings = find(whole(Spelling::Ours, &Truth::default()));
    assert!(findings.duration_secs.unwrap() > 600.0);
    for p in &findings.procedures {
        assert!(p.windows.iter().all(|w| w.secs() > 0.5), "{p:?}");
    }
}

#[test]
fn t7_only_answers_are_measurements() {
    let mut robot = Robot::new(Spelling::Ours, Truth::default());
    robot.head("boot-a", false);
    robot.begin("shot-map");
    robot.log.num("FieldLab/shot-map/At", 2.0);
    robot.log.num(&format!("FieldLab/{SESSION}/shot-map/set_2.0.seconds"), 3.5);
    robot.log.answer("shot-map", "RestVolts", "V", 12.5);
    robot.log.answer("shot-map", "BallCount", "count", 3.0);
    let findings = find(vec![("x".to_owned(), robot.log.bytes())]);
    let keys: Vec<&str> = findings.measurements.iter().map(|m| m.key.as_str()).collect();
    assert_eq!(keys, ["RestVolts", "BallCount"]);
}

#[test]
fn t8_sweep_joins_commands_to_answers_and_sorts_by_number() {
    for spelling in [Spelling::Ours, Spelling::DataLogManager] {
        let findings = find(whole(spelling, &Truth::default()));
        let sweep = &findings.sweeps[0];
        let rows: Vec<(f64, f64, f64, f64)> = sweep
            .setpoints
            .iter()
            .map(|s| (s.at.unwrap(), s.first.unwrap(), s.second.unwrap(), s.mean.unwrap()))
            .collect();
        // The hood angle never changes, so a change-only log has one record of it.
        assert_eq!(rows, [(2.0, 1800.0, 42.0, 1.0), (2.5, 1800.0, 42.0, 0.5), (10.0, 3200.0, 42.0, 0.0)]);
        assert!(sweep.setpoints.iter().all(|s| s.probability.is_none()), "one shot is no probability");
        assert!(sweep.remarks.iter().any(|r| r.contains("nothing between 2.50 and 10.00")));
    }
}

/// T8 on a log without our plan: only the legacy channels, joined by time.
#[test]
fn t8_legacy_sweep_is_joined_by_time() {
    let mut robot = Robot::new(Spelling::DataLogManager, Truth::default());
    robot.log.text("FieldLab/Session", SESSION);
    let t = robot.log.t;
    robot.log.num("FieldLab/shot-map/Started", t);
    for (at, first, score) in [(10.0, 3200.0, 0.0), (2.0, 1800.0, 1.0), (2.5, 1800.0, 1.0)] {
        robot.log.num("FieldLab/shot-map/At", at);
        robot.log.num("FieldLab/shot-map/First", first);
        robot.log.num("FieldLab/shot-map/Second", 42.0);
        robot.log.wait(5.0);
        let name = format!("FieldLab/{SESSION}/shot-map/at-{at:.2}");
        robot.log.text(&format!("{name}.unit"), "score");
        robot.log.num(&name, score);
        robot.log.wait(5.0);
    }
    let findings = find(vec![("x".to_owned(), robot.log.bytes())]);
    let rows: Vec<(f64, f64, f64)> = findings.sweeps[0]
        .setpoints
        .iter()
        .map(|s| (s.at.unwrap(), s.first.unwrap(), s.second.unwrap()))
        .collect();
    assert_eq!(rows, [(2.0, 1800.0, 42.0), (2.5, 1800.0, 42.0), (10.0, 3200.0, 42.0)]);
    assert_eq!(findings.procedures[0].progress, Progress::CutShort);
}

#[test]
fn t9_sessions_are_told_apart_and_asked_for() {
    let mut robot = Robot::new(Spelling::Ours, Truth::default());
    robot.log.text("FieldLab/Session", "00000001");
    robot.log.text("FieldLab/00000001/old/answer.unit", "m");
    robot.log.num("FieldLab/00000001/old/answer", 1.0);
    robot.log.wait(30.0);
    robot.head("boot-a", false);
    robot.begin("gremlin-hunt");
    robot.log.answer("gremlin-hunt", "gremlins", "count", 2.0);
    let files = vec![("x".to_owned(), robot.log.bytes())];
    let set = LogSet::from_bytes(files).unwrap();
    assert_eq!(set.sessions(), ["00000001", SESSION]);
    let ask = |session: &str| analyse(&set, &Options { session: Some(session.to_owned()) }, &mut |_, _| {});
    let old = ask("00000001").unwrap();
    assert_eq!(old.measurements.len(), 1);
    assert_eq!(old.measurements[0].procedure, "old");
    let new = analyse(&set, &Options::default(), &mut |_, _| {}).unwrap();
    assert_eq!(new.session.as_deref(), Some(SESSION), "the last one unless asked");
    assert_eq!(new.measurements.len(), 1);
    assert_eq!(new.other_sessions, ["00000001"]);
    assert!(matches!(ask("deadbeef"), Err(AnalysisError::NoSuchSession { .. })));
}

#[test]
fn t9_one_session_over_two_boots_is_stitched_by_its_id() {
    let truth = Truth::default();
    let findings = find(two_boots(&truth));
    check_constants(&findings, &truth);
    assert_eq!(findings.provenance.boots, ["boot-a", "boot-b"]);
    assert_eq!(findings.logs.iter().map(|l| l.path.as_str()).collect::<Vec<_>>(), ["b1.wpilog", "b2.wpilog"]);
    let gap = findings.logs[1].from_secs - findings.logs[0].to_secs;
    assert!((50.0..70.0).contains(&gap), "{gap}");
    assert!(findings.procedures.iter().all(|p| p.banked()), "{:?}", findings.not_banked());
    let caliper = findings.measurements.iter().find(|m| m.key == "caliper-diameter-in").unwrap();
    assert!(caliper.at_secs.unwrap() < findings.logs[0].to_secs, "a kept answer was given before the reboot");
}

#[test]
fn t9_measurement_rows_fill_what_was_not_logged_by_name() {
    let mut robot = Robot::new(Spelling::DataLogManager, Truth::default());
    robot.log.text("FieldLab/Session", SESSION);
    robot
        .log
        .list("FieldLab/Measurements", &["wheel-radius/caliper-diameter-in|4.02", "x/broken|NaN", "no-bar"]);
    let findings = find(vec![("x".to_owned(), robot.log.bytes())]);
    assert_eq!(findings.measurements.len(), 2);
    let found = findings.measurements.iter().find(|m| m.key == "caliper-diameter-in").unwrap();
    assert_eq!(found.value, Some(4.02));
    assert_eq!(findings.measurements.iter().find(|m| m.key == "broken").unwrap().value, None);
}

#[test]
fn t10_missing_sysid_data_says_what_was_looked_for() {
    let mut robot = Robot::new(Spelling::Ours, Truth::default());
    robot.head("boot-a", false);
    robot.begin("drive-ff");
    let findings = find(vec![("x".to_owned(), robot.log.bytes())]);
    let reason = findings.feedforward.unwrap().refused.unwrap();
    assert!(reason.contains("sysid-test-state"), "{reason}");

    let mut robot = Robot::new(Spelling::Ours, Truth::default());
    robot.head("boot-a", false);
    robot.begin("drive-ff");
    robot.log.state("quasistatic-forward");
    robot.log.wait(5.0);
    robot.log.state("none");
    let findings = find(vec![("x".to_owned(), robot.log.bytes())]);
    let reason = findings.feedforward.unwrap().refused.unwrap();
    assert!(reason.contains("voltage-<motor>-drive"), "{reason}");
}

#[test]
fn t11_laps_both_ways_are_read_as_gyro_not_wheel_radius() {
    let findings = find(whole(Spelling::Ours, &Truth::default()));
    let drift = findings.drift.unwrap();
    assert_eq!(drift.laps.len(), 4);
    assert_eq!(drift.laps[0].direction.as_deref(), Some("CCW"));
    assert!(drift.reading.contains("gyro"), "{}", drift.reading);
    assert!(drift.laps[0].odometry_m.is_some() && drift.laps[0].path_m.unwrap() > 0.9);
}

#[test]
fn t12_caliper_is_compared_in_percent_with_compression() {
    let findings = find(whole(Spelling::Ours, &Truth::default()));
    let wheel = findings.wheel_radius.unwrap();
    near(wheel.caliper_percent.unwrap(), -0.99, 10.0);
    assert!(wheel.caliper_reading.unwrap().contains("what a loaded tread does"));
    assert_eq!(wheel.spins.len(), 2);
    assert!(wheel.ccw_m.is_some() && wheel.cw_m.is_some());
    for (found, truth) in wheel.wheels_m.iter().zip(Truth::default().radius_m) {
        near(found.value, truth, 0.1);
    }
}

#[test]
fn t13_thermal_uses_the_soak_absolute_currents_and_each_channel_once() {
    let mut robot = Robot::new(Spelling::Ours, Truth::default());
    robot.head("boot-a", false);
    robot.log.num("Swerve/Modules/0/TemperatureC", 99.0);
    robot.log.num("Swerve/Modules/0/StatorCurrentLimit", 120.0);
    robot.log.wait(60.0);
    robot.log.num("Swerve/Modules/0/TemperatureC", 25.0);
    robot.begin("thermal-soak");
    robot.act("thermal-soak", "soak", |r| {
        r.soak(500);
        // DataLogManager's copy of the same channel, in the same file.
        let t = r.log.t;
        r.log.raw(
            "NT:/Catalyst/Swerve/Modules/0/TemperatureC",
            &fieldlab_values::DataType::Double,
            "",
            fieldlab_values::ValueRef::Double(70.0),
        );
        r.log.t = t;
    });
    robot.bank("thermal-soak");
    let findings = find(vec![("x".to_owned(), robot.log.bytes())]);
    let thermal = findings.thermal.unwrap();
    assert_eq!(
        thermal.channels.len(),
        4,
        "{:?}",
        thermal.channels.iter().map(|c| &c.name).collect::<Vec<_>>()
    );
    assert!(thermal.currents.is_empty(), "{:?}", thermal.currents);
    assert!(!thermal.whole_session);
    let hottest = &thermal.channels[0];
    assert_eq!(hottest.name, "Swerve/Modules/3/TemperatureC");
    assert_eq!(hottest.peak_amps, Some(40.0));
    near(hottest.rms_amps.unwrap(), 40.0, 1.0);
    near(hottest.tau_secs.unwrap().value, 150.0, 8.0);
    let first = thermal.channels.iter().find(|c| c.name.contains("/0/")).unwrap();
    assert!(first.peak_c < 80.0, "the 99 °C stood before the soak");
}

#[test]
fn t14_structs_are_read_by_name_or_not_at_all() {
    let mut robot = Robot::new(Spelling::Ours, Truth::default());
    robot.head("boot-a", false);
    robot.log.raw(
        "Odometry/Pose",
        &fieldlab_values::DataType::structure("Somebody2f"),
        "",
        fieldlab_values::ValueRef::Raw(&[1, 2, 3, 4, 5, 6, 7, 8]),
    );
    robot.begin("odometry-drift");
    robot.act("odometry-drift", "lap 1", |r| r.log.wait(1.0));
    robot.log.answer("odometry-drift", "lap1-error-m", "m", 0.1);
    let findings = find(vec![("x".to_owned(), robot.log.bytes())]);
    assert_eq!(findings.drift.unwrap().laps[0].odometry_m, None);
}

#[test]
fn t19_every_procedure_carries_its_battery() {
    let findings = find(whole(Spelling::Ours, &Truth::default()));
    let ff = findings.procedures.iter().find(|p| p.id == "slip-current").unwrap();
    assert_eq!(ff.battery.gate_volts, Some(12.2));
    assert_eq!(ff.battery.pack.as_deref(), Some("pack 7"));
    let low = ff.battery.min_volts.unwrap();
    assert!((11.8..12.0).contains(&low), "{low}");
    assert!(ff.battery.mean_volts.unwrap() > low);
    assert!(ff.acts.iter().all(|a| a.min_volts.is_some()));
}

#[test]
fn unknown_procedures_are_printed_only_and_odd_answers_marked() {
    let findings = find(whole(Spelling::Ours, &Truth::default()));
    let unknown = findings.procedures.iter().find(|p| p.id == "gremlin-hunt").unwrap();
    assert!(!unknown.understood);
    let answer = findings.measurements.iter().find(|m| m.key == "gremlins").unwrap();
    assert!(answer.out_of_range);
    let notes: Vec<(&str, usize)> = findings.notes.iter().map(|n| (n.text.as_str(), n.count)).collect();
    assert_eq!(notes, [("paused at 11.90 V", 2), ("smells | of <b>smoke</b>", 1)]);
}

#[test]
fn vision_poses_meet_the_tape() {
    let findings = find(whole(Spelling::Ours, &Truth::default()));
    let vision = findings.vision.unwrap();
    assert_eq!(vision.poses.len(), 2);
    assert!((vision.bias_x_m.unwrap().value - 0.03).abs() < 0.002);
    assert!((vision.bias_y_m.unwrap().value + 0.01).abs() < 0.002);
    assert!(vision.poses[0].spread.0 > 0.001);
}

#[test]
fn a_campaign_cut_short_says_what_is_banked_and_what_is_not() {
    let mut robot = Robot::new(Spelling::Ours, Truth::default());
    robot.head("boot-a", false);
    first_half(&mut robot);
    robot.begin("straight-run");
    robot.log.event(
        "act_started",
        serde_json::json!({"procedure": "straight-run", "kind": "act", "label": "drive"}),
    );
    robot.straight(2.0);
    let findings = find(vec![("x".to_owned(), robot.log.bytes())]);
    let progress: Vec<Progress> = findings.procedures.iter().map(|p| p.progress).collect();
    assert_eq!(progress[..4], [Progress::Banked, Progress::Banked, Progress::Banked, Progress::CutShort]);
    assert!(progress[4..].iter().all(|p| *p == Progress::NotReached));
    assert_eq!(findings.not_banked().len(), 6);
    assert_eq!(findings.procedures[3].acts[0].outcome, "open");
    near(value(&findings, "kV"), 2.5, 1.0);
    assert!(findings.constant("wheel_radius_taped_m").unwrap().value.is_none());
}

/// A log cut at any byte is used up to the cut, says so, and never panics.
#[test]
fn a_torn_log_is_used_up_to_the_tear_and_says_so() {
    let truth = Truth::default();
    let mut robot = Robot::new(Spelling::Ours, truth.clone());
    robot.head("boot-a", false);
    first_half(&mut robot);
    let whole_bytes = robot.log.bytes();
    let cut = whole_bytes.len() - 3;
    let findings = find(vec![("torn.wpilog".to_owned(), whole_bytes[..cut].to_vec())]);
    near(value(&findings, "kV"), truth.gains[1], 1.0);
    assert!(findings.finished_with_loss());
    assert!(findings.problems.iter().any(|p| p.severity == Severity::Loss && p.text.contains("torn.wpilog")));
    for part in 1..12 {
        let cut = whole_bytes.len() * part / 12 + part;
        let findings = find(vec![("torn.wpilog".to_owned(), whole_bytes[..cut].to_vec())]);
        assert!(findings.procedures.len() <= 9);
    }
    // A file that was cut while it was begun costs itself and not the others.
    for begun in [&whole_bytes[..0], &whole_bytes[..6], &[0; 512]] {
        let file = |name: &str, bytes: &[u8]| (name.to_owned(), bytes.to_vec());
        let alone = LogSet::from_bytes(vec![file("x", begun)]);
        assert!(matches!(alone, Err(AnalysisError::Unreadable(_))));
        let findings = find(vec![file("x", begun), file("whole.wpilog", &whole_bytes)]);
        near(value(&findings, "kV"), truth.gains[1], 1.0);
        let lost: Vec<&str> = findings
            .problems
            .iter()
            .filter(|p| p.severity == Severity::Loss)
            .map(|p| p.text.as_str())
            .collect();
        assert!(matches!(lost[..], [text] if text.starts_with("x: cut in its header")), "{lost:?}");
        assert_eq!(findings.logs.len(), 1);
    }
    let other = LogSet::from_bytes(vec![
        ("x".to_owned(), b"PK\x03\x04".to_vec()),
        ("whole.wpilog".to_owned(), whole_bytes),
    ]);
    assert!(
        matches!(other, Err(AnalysisError::Unreadable(_))),
        "what is no log is a mistake of the caller's"
    );
    assert!(matches!(LogSet::from_bytes(Vec::new()), Err(AnalysisError::NoLogs)));
}

/// An act that did not complete lends nothing to the fits.
#[test]
fn runs_of_failed_acts_are_left_out_with_their_reason() {
    let mut robot = Robot::new(Spelling::Ours, Truth::default());
    robot.head("boot-a", false);
    robot.begin("drive-ff");
    let start = serde_json::json!({"procedure": "drive-ff", "kind": "act", "label": "quasistatic"});
    robot.log.event("act_started", start.clone());
    robot.sysid("quasistatic-forward", 1.0, true);
    let mut end = start;
    end["outcome"] = serde_json::json!("failed");
    robot.log.event("act_ended", end);
    for (state, sign, ramp) in [
        ("quasistatic-forward", 1.0, true),
        ("quasistatic-reverse", -1.0, true),
        ("dynamic-forward", 1.0, false),
        ("dynamic-reverse", -1.0, false),
    ] {
        robot.act("drive-ff", state, |r| r.sysid(state, sign, ramp));
    }
    let findings = find(vec![("x".to_owned(), robot.log.bytes())]);
    let ff = findings.feedforward.unwrap();
    assert_eq!(ff.runs.len(), 5);
    assert!(ff.runs[0].left_out.as_ref().unwrap().contains("failed"));
    assert!(ff.runs[1..].iter().all(|r| r.left_out.is_none()));
    assert!(ff.per_true_metre.is_none(), "no wheel radius in this session");
}

#[test]
fn the_same_logs_give_the_same_findings() {
    let files = two_boots(&Truth::default());
    let mut turned = files.clone();
    turned.reverse();
    assert_eq!(find(files), find(turned));
}

#[test]
fn halves_without_plan_or_header_are_read_by_their_legacy_names() {
    let truth = Truth::default();
    let mut robot = Robot::new(Spelling::DataLogManager, truth.clone());
    // No head: DataLogManager captured what a stock robot publishes.
    robot.log.text("FieldLab/Session", SESSION);
    second_half(&mut robot);
    let findings = find(vec![("x".to_owned(), robot.log.bytes())]);
    assert_eq!(findings.procedures.first().map(|p| p.id.as_str()), Some("straight-run"));
    near(value(&findings, "wheel_radius_taped_m"), truth.mean_radius_m(), 0.2);
}

/// Boots without a wall clock are put one after the other, and the report says that the gap is unknown.
#[test]
fn boots_without_a_wall_clock_are_placed_in_order_and_say_so() {
    let boot = |t: f64, key: &str| {
        let mut robot = Robot::new(Spelling::Ours, Truth::default());
        robot.log.t = t;
        robot.log.text("FieldLab/Session", SESSION);
        robot.log.wait(5.0);
        robot.log.answer("x", key, "m", 1.0);
        robot.log.bytes()
    };
    let files = vec![
        (format!("{SESSION}_b1.wpilog"), boot(100.0, "first")),
        (format!("{SESSION}_b2.wpilog"), boot(3.0, "second")),
    ];
    let findings = find(files);
    assert_eq!(findings.provenance.boots, ["b1", "b2"]);
    assert!(findings.logs[1].from_secs > findings.logs[0].to_secs);
    assert_eq!(findings.measurements.iter().map(|m| m.key.as_str()).collect::<Vec<_>>(), ["first", "second"]);
    assert!(findings.problems.iter().any(|p| p.text.contains("the gap is unknown")));
}

/// The files of one boot share its clock: nothing is moved between them.
#[test]
fn a_rolled_log_keeps_its_boots_clock() {
    let mut first = Robot::new(Spelling::Ours, Truth::default());
    first.head("boot-a", false);
    first.begin("gremlin-hunt");
    let mut second = Robot::new(Spelling::Ours, Truth::default());
    second.log.t = 102.5;
    second.head("boot-a", false);
    second.log.event("gate_passed", serde_json::json!({"procedure": "gremlin-hunt"}));
    second.log.answer("gremlin-hunt", "gremlins", "count", 2.0);
    second.bank("gremlin-hunt");
    let findings =
        find(vec![("a.2.wpilog".to_owned(), second.log.bytes()), ("a.wpilog".to_owned(), first.log.bytes())]);
    assert_eq!(findings.provenance.boots, ["boot-a"]);
    assert!((findings.logs[1].from_secs - 2.5).abs() < 1e-6, "{:?}", findings.logs);
    assert!(findings.procedures.iter().any(|p| p.id == "gremlin-hunt" && p.banked()));
}
