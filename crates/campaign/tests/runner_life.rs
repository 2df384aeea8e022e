//! From the first enable to the finished marker, with disables, rebuilds and reboots between.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{Bench, Disk, Script, campaign, tape, tape_called};
use fieldlab_base::Micros;
use fieldlab_campaign::inputs::Role;
use fieldlab_campaign::{
    ActId, CheckpointState, PreArmFact, PreArmItem, PreArmVerdict, Procedure, RunnerConfig, State, checkpoint,
};

#[test]
fn a_campaign_runs_to_done_and_leaves_only_a_marker() {
    let mut b = Bench::go(campaign([tape()]));
    b.until_prompt("clear?");
    assert_eq!(b.runner.board().session.as_str(), "6aa1f940", "the vector of the reference: 1789000000 s");
    b.advance();
    b.until_prompt("how far");
    let board = b.runner.board();
    assert_eq!((board.prompt_unit.as_str(), board.prompt_key.as_str()), ("m", "tape/far-m"));
    assert_eq!((board.prompt_min, board.prompt_max), (Some(0.0), Some(5.0)));
    b.answer(2.5);
    b.until(5.0, |b| b.state() == State::Done);
    assert_eq!(b.runner.board().progress, 1.0);
    assert_eq!(b.runner.board().measurements.rows()[0].as_ref(), "tape/far-m|2.5");
    assert_eq!(b.saved, None, "the checkpoint is gone");
    assert!(b.finished.as_deref().unwrap().contains("6aa1f940"));
    assert_eq!(
        b.states,
        [
            State::Running,
            State::AwaitingOperator,
            State::Running,
            State::AwaitingOperator,
            State::Running,
            State::Done
        ]
    );
    assert_eq!(b.logged("FieldLab/6aa1f940/tape/far-m"), [2.5.into()]);
    assert_eq!(b.logged("FieldLab/6aa1f940/tape/far-m.unit"), ["m".into()]);
    assert_eq!(b.logged("FieldLab/tape/Started").len(), 1);
    assert_eq!(b.logged("FieldLab/tape/Finished").len(), 1);
    assert_eq!(b.logged("FieldLab/6aa1f940/tape/drive.seconds").len(), 1);
    assert_eq!(b.events("procedure_banked")[0]["quality"], "good");
}

#[test]
fn an_empty_campaign_is_done_at_once_and_shows_full_progress() {
    let mut b = Bench::go(campaign([]));
    assert_eq!(b.runner.board().progress, 1.0);
    b.until(2.0, |b| b.state() == State::Done);
}

#[test]
fn f6_a_disable_stops_the_act_freezes_timers_and_the_step_is_redone() {
    let mut b = Bench::go(campaign([tape()]));
    b.act_secs = 10.0;
    b.until_prompt("clear?");
    b.advance();
    b.until(3.0, |b| b.started.len() == 1);
    b.run(1.0);
    b.enabled = false;
    b.tick();
    let moved = b.moving_ticks;
    // Longer than the act's cap of 30 s.
    b.run(100.0);
    assert_eq!(b.moving_ticks, moved, "nothing moves while disabled");
    assert_eq!(b.state(), State::AwaitingOperator);
    assert!(b.prompt().contains("Enable to go on"), "{}", b.prompt());
    assert_eq!(b.events("act_ended")[0]["outcome"], "interrupted");
    assert!(b.runner.memory().completed.is_empty());
    let elapsed = b.runner.board().elapsed_secs;
    b.run(10.0);
    assert_eq!(b.runner.board().elapsed_secs, elapsed, "f20: the clock stands while nothing runs");
    b.enabled = true;
    b.until_prompt("clear?");
    b.advance();
    b.until(3.0, |b| b.started.len() == 2);
    b.until_prompt("how far");
}

#[test]
fn f6_two_enables_in_a_row_are_one_campaign() {
    let mut b = Bench::go(campaign([tape()]));
    b.until_prompt("clear?");
    for _ in 0..5 {
        b.enabled = !b.enabled;
        b.tick();
    }
    b.enabled = true;
    b.until_prompt("clear?");
    b.advance();
    b.until_prompt("how far");
    assert_eq!(b.started, [ActId(0)], "one Advance, one motion");
}

#[test]
fn a_settle_keeps_what_is_left_of_it_over_a_disable() {
    let p = Procedure::builder("rest", "Rest").settle("cool", 20.0).build().unwrap();
    let mut b = Bench::go(campaign([p]));
    b.run(10.0);
    b.enabled = false;
    b.run(500.0);
    assert_ne!(b.state(), State::Done);
    b.enabled = true;
    let at = b.now;
    b.until(15.0, |b| b.state() == State::Done);
    let took = b.now.since(at).as_secs();
    assert!((9.5..11.0).contains(&took), "{took}");
}

#[test]
fn f1_a_power_cut_in_the_first_procedure_keeps_session_and_answers() {
    let two = Procedure::builder("two", "Two")
        .measure(fieldlab_campaign::Measure::new("first", "first-m", "m"))
        .measure(fieldlab_campaign::Measure::new("second", "second-m", "m"))
        .build()
        .unwrap();
    let mut b = Bench::go(campaign([two]));
    b.until_prompt("first");
    let session = b.runner.session_id().to_owned();
    b.answer(1.25);
    b.until_prompt("second");
    b.run(30.0);
    b.reboot();
    assert_eq!(b.runner.session_id(), session);
    assert_eq!(b.runner.board().measurements.rows()[0].as_ref(), "two/first-m|1.25");
    b.enabled = true;
    b.until_prompt("second");
    b.answer(2.0);
    b.until(5.0, |b| b.state() == State::Done);
    assert_eq!(
        b.logged(&format!("FieldLab/{session}/two/first-m")).len(),
        2,
        "f23: kept answers are in the new log too"
    );
    assert!(b.events("answer").iter().any(|e| e["resumed"] == true));
    assert_eq!(b.events("session_resumed").len(), 1);
}

#[test]
fn f2_the_session_is_saved_before_anything_is_asked() {
    let mut b = Bench::go(campaign([tape()]));
    b.until_prompt("clear?");
    let saved = checkpoint::parse(b.saved.as_deref().unwrap().as_bytes()).unwrap();
    assert_eq!(saved.session, b.runner.session_id());
    assert_eq!(&*saved.in_flight.unwrap().procedure, "tape");
}

#[test]
fn f2_an_answer_is_echoed_only_once_it_is_durable() {
    let mut b = Bench::go(campaign([tape()]));
    b.until_prompt("clear?");
    b.advance();
    b.until_prompt("how far");
    b.disk = Disk::Silent;
    b.answer(2.0);
    b.run(1.0);
    assert!(!b.commit().contains("tape/far-m = 2"), "{}", b.commit());
    assert_ne!(b.state(), State::Done);
    assert!(b.runner.board().progress < 1.0, "what is not durable is not banked");
    assert!(b.runner.board().banked.rows().is_empty(), "nor named as banked");
}

#[test]
fn f5_what_is_banked_is_named_once_it_is_durable_and_after_a_reboot_before_the_enable() {
    let banked = |b: &Bench| b.runner.board().banked.rows().iter().map(|r| r.to_string()).collect::<Vec<_>>();
    let mut b = Bench::go(campaign([tape(), tape_called("second")]));
    b.until_prompt("clear?");
    b.advance();
    b.until_prompt("how far");
    assert!(banked(&b).is_empty());
    b.answer(2.0);
    b.until(5.0, |b| b.runner.board().progress == 0.5);
    assert_eq!(banked(&b), ["tape|good"]);
    b.reboot();
    b.tick();
    assert_eq!(banked(&b), ["tape|good"], "known while still disabled");
}

#[test]
fn f3_a_failed_save_is_an_error_on_the_dashboard_and_is_tried_again() {
    let mut b = Bench::go(campaign([tape()]));
    b.disk = Disk::Fails("no space left on device");
    b.run(1.0);
    assert!(b.runner.board().fault.as_str().contains("no space left"), "{}", b.describe());
    let (alerts, _) = b.runner.alerts();
    assert!(
        alerts.iter().any(|a| a.level == fieldlab_campaign::AlertLevel::Error && a.text.contains("no space"))
    );
    b.disk = Disk::Works;
    b.until(3.0, |b| b.runner.board().fault.as_str().is_empty());
    assert!(b.saved.is_some());
}

#[test]
fn f4_f33_after_done_an_enable_asks_first_and_a_new_session_knows_nothing_of_the_old() {
    let mut b = Bench::go(campaign([tape()]));
    let finish = |b: &mut Bench| {
        b.until_prompt("clear?");
        b.advance();
        b.until_prompt("how far");
        b.answer(2.5);
        b.until(5.0, |b| b.state() == State::Done);
    };
    finish(&mut b);
    let first = b.runner.session_id().to_owned();
    b.enabled = false;
    b.run(30.0);
    assert_eq!(b.state(), State::Done);
    b.enabled = true;
    b.until_prompt("start a new session");
    assert!(b.prompt().contains(&first), "the last session's summary: {}", b.prompt());
    b.run(60.0);
    assert_eq!(b.started.len(), 1, "nothing moves before somebody says so");
    b.advance();
    b.until_prompt("clear?");
    assert_ne!(b.runner.session_id(), first);
    assert!(b.runner.board().measurements.rows().is_empty());
    assert!(b.runner.board().notes.rows().is_empty());
    finish(&mut b);
    assert_eq!(b.started.len(), 2);
}

#[test]
fn f33_the_marker_of_a_finished_session_asks_before_the_next_even_after_a_boot() {
    let mut b = Bench::go(campaign([tape()]));
    b.until_prompt("clear?");
    let stale = b.saved.clone().unwrap();
    b.advance();
    b.until_prompt("how far");
    b.answer(2.5);
    b.until(5.0, |b| b.state() == State::Done);
    // The cut came between the marker and the removal of the checkpoint.
    b.reboot_with(CheckpointState::Loaded { text: stale, from_backup: None });
    assert_eq!(b.state(), State::Idle);
    b.enabled = true;
    b.until_prompt("start a new session");
}

#[test]
fn f5_a_rebuilt_object_shows_everything_while_it_is_disabled() {
    let mut b = Bench::go(campaign([tape_called("a"), tape_called("b")]));
    b.until_prompt("clear?");
    b.advance();
    b.until_prompt("how far");
    b.volts = Some(11.0);
    b.answer(2.5);
    b.until(9.0, |b| b.state() == State::PausedBattery);
    assert_eq!(b.runner.board().procedure_id.as_str(), "b");
    b.enabled = false;
    b.tick();
    assert_eq!(b.state(), State::PausedBattery, "the same object");
    b.rebuild();
    let shows = |b: &Bench| {
        let board = b.runner.board();
        assert_eq!(board.state, State::PausedBattery);
        assert_eq!(board.session.as_str(), "6aa1f940");
        assert_eq!(board.progress, 0.5);
        assert_eq!(board.measurements.rows().len(), 1);
        assert!(b.notes().contains("paused at 11.00 V"));
        assert!(b.prompt().contains("swap the pack"), "{}", b.prompt());
        assert!(!board.enabled);
    };
    shows(&b);
    b.run(600.0);
    shows(&b);
    // A pack between the two marks does not lift a pause, not even over a boot.
    b.volts = Some(12.1);
    b.enabled = true;
    b.run(20.0);
    assert_eq!(b.state(), State::PausedBattery);
    b.volts = Some(12.9);
    b.until_prompt("clear?");
    assert!(b.notes().contains("resumed at 12.90 V"));
}

#[test]
fn f5_a_pending_question_goes_on_being_shown_over_disable_and_rebuild() {
    let mut b = Bench::go(campaign([tape()]));
    b.until_prompt("clear?");
    b.advance();
    b.until_prompt("how far");
    b.enabled = false;
    b.run(10.0);
    assert_eq!((b.state(), b.prompt()), (State::AwaitingOperator, "how far"));
    b.rebuild();
    assert_eq!((b.state(), b.prompt()), (State::AwaitingOperator, "how far"));
    assert_eq!(b.runner.board().prompt_key.as_str(), "tape/far-m");
    // Nothing commits while disabled.
    b.run(5.0);
    b.type_number(2.0);
    b.run(1.0);
    b.press(Role::Advance);
    b.run(5.0);
    assert!(b.runner.memory().answers.is_empty());
    b.enabled = true;
    b.run(3.0);
    b.until_prompt("how far");
    assert_eq!(b.started.len(), 1, "the drive was banked and is not repeated");
    b.answer(3.0);
    b.until(5.0, |b| b.state() == State::Done);
}

#[test]
fn f12_a_failed_act_offers_retry_or_skip_and_is_never_banked_silently() {
    for script in [Script::Fail("no gyro"), Script::Interrupt("lease lost"), Script::Never] {
        let mut b = Bench::go(campaign([tape()]));
        b.scripts.entry(ActId(0)).or_default().push_back(script.clone());
        b.until_prompt("clear?");
        b.advance();
        b.until_prompt("try again");
        b.run(3600.0);
        assert_eq!(b.state(), State::AwaitingOperator);
        assert!(b.runner.memory().completed.is_empty());
        b.advance();
        b.until_prompt("clear?");
        assert_eq!(b.started.len(), 1, "a retry passes a Confirm");
        b.advance();
        b.until_prompt("how far");
        assert_eq!(b.started.len(), 2);
    }
}

#[test]
fn f13_what_was_skipped_carries_its_reason_in_the_quality_mark() {
    let mut b = Bench::go(campaign([tape()]));
    b.scripts.entry(ActId(0)).or_default().push_back(Script::Fail("stopped: no slip by cap"));
    b.until_prompt("clear?");
    b.advance();
    b.until_prompt("try again");
    b.run(0.6);
    b.press(Role::Skip);
    b.run(0.1);
    assert!(b.commit().contains("needs a reason"), "{}", b.commit());
    b.until_prompt("try again");
    b.skip("wall too soft");
    b.until(5.0, |b| b.state() == State::Done);
    let quality = b.events("procedure_banked")[0]["quality"].as_str().unwrap().to_owned();
    assert!(
        quality.starts_with("empty")
            && quality.contains("wall too soft")
            && quality.contains("no slip by cap"),
        "{quality}"
    );
    assert!(b.runner.memory().answers.is_empty(), "no question about a drive that was not");
}

#[test]
fn f12_a_timeout_says_that_the_data_is_incomplete() {
    let mut b = Bench::go(campaign([tape()]));
    b.scripts.entry(ActId(0)).or_default().push_back(Script::Never);
    b.until_prompt("clear?");
    b.advance();
    b.until_prompt("hit its cap of 30.0 s");
    assert_eq!(b.events("act_ended")[0]["outcome"], "timed_out");
    assert_eq!(b.runner.memory().outcomes["tape"][1].outcome, fieldlab_campaign::StepOutcome::TimedOut);
}

#[test]
fn no_prompt_and_no_gate_ever_times_out() {
    let day = 24.0 * 3600.0;
    let mut b = Bench::go(campaign([tape()]));
    b.volts = Some(11.0);
    b.until(5.0, |b| b.state() == State::PausedBattery);
    // A day in ticks of 1 s: the runner does not mind how long a loop is.
    let wait = |b: &mut Bench, state: State| {
        for _ in 0..day as u32 {
            b.now += Micros::from_millis(980);
            b.tick();
            assert_eq!(b.state(), state);
        }
    };
    wait(&mut b, State::PausedBattery);
    b.volts = Some(12.9);
    b.until_prompt("clear?");
    wait(&mut b, State::AwaitingOperator);
    assert!(b.started.is_empty());
    b.advance();
    b.until_prompt("how far");
    wait(&mut b, State::AwaitingOperator);
    b.answer(1.0);
    b.until(5.0, |b| b.state() == State::Done);
}

#[test]
fn the_pre_arm_list_holds_with_its_reasons_and_the_clock_only_warns() {
    let fact = |item, verdict| PreArmFact { item, verdict };
    let mut b = Bench::go(campaign([tape()]));
    b.pre_arm = vec![
        fact(PreArmItem::Log, PreArmVerdict::Fail("not growing".into())),
        fact(PreArmItem::Clock, PreArmVerdict::Warn("never set".into())),
    ];
    b.run(5.0);
    assert_eq!(b.state(), State::AwaitingOperator);
    for part in ["log: not growing", "gyro: not reported"] {
        assert!(b.prompt().contains(part), "{}", b.prompt());
    }
    assert_eq!(b.runner.board().pre_arm.rows()[0].as_ref(), "log|fail|not growing");
    assert!(b.runner.alerts().0.iter().any(|a| a.text == "clock: never set"));
    b.advance();
    assert!(b.prompt().contains("Not ready"), "no press gets past it");
    b.pre_arm = PreArmFact::ALL_PASS.to_vec();
    b.pre_arm[6].verdict = PreArmVerdict::Warn("never set".into());
    b.until_prompt("clear?");
    // The log dies while a person reads: no motion until it lives.
    b.pre_arm[0].verdict = PreArmVerdict::Fail("disk pulled".into());
    b.advance();
    b.until_prompt("disk pulled");
    assert!(b.started.is_empty());
    b.pre_arm[0].verdict = PreArmVerdict::Pass;
    b.until_prompt("clear?");
}

#[test]
fn only_a_person_aborts_and_the_next_enable_goes_on() {
    let mut b = Bench::go(campaign([tape()]));
    b.until_prompt("clear?");
    b.advance();
    b.until(3.0, |b| b.started.len() == 1);
    b.ended = true;
    b.tick();
    assert_eq!((b.state(), b.prompt()), (State::Aborted, ""));
    b.run(5.0);
    assert!(b.saved.is_some(), "the checkpoint stays");
    b.ended = false;
    b.until_prompt("clear?");
    assert!(!b.states.contains(&State::Idle));
}

#[test]
fn f20_progress_counts_only_what_the_plan_knows() {
    let mut old = checkpoint::Checkpoint {
        session: "6aa1f900".into(),
        campaign: "Field Day".into(),
        ..Default::default()
    };
    old.completed = vec!["gone".into(), "also-gone".into(), "tape".into(), "tape".into()];
    let plan = campaign([tape(), tape_called("b")]).plan().clone();
    let b = Bench::with(plan, RunnerConfig::default(), |s| {
        s.checkpoint = CheckpointState::Loaded { text: old.to_text(), from_backup: None };
    });
    assert_eq!(b.runner.board().progress, 0.5);
    assert_eq!(b.runner.board().procedure_id.as_str(), "b");
    assert!(b.notes().contains("gone was banked and is no longer in the plan"));
}

#[test]
fn f21_an_edited_procedure_runs_again_and_the_others_keep_everything() {
    let mut b = Bench::go(campaign([tape_called("a"), tape_called("b")]));
    for _ in 0..2 {
        b.until_prompt("clear?");
        b.advance();
        b.until_prompt("how far");
        if b.runner.board().procedure_id.as_str() == "b" {
            break;
        }
        b.answer(2.5);
    }
    let edited = Procedure::builder("a", "Title of a")
        .measure(fieldlab_campaign::Measure::new("how far", "far-in", "in"))
        .build()
        .unwrap();
    b.plan = campaign([edited, tape_called("b")]).plan().clone();
    b.reboot();
    assert!(
        b.notes()
            .contains("a was edited since this session began and runs again; its old answers: a/far-m = 2.5"),
        "{}",
        b.notes()
    );
    assert_eq!(b.runner.session_id(), "6aa1f940");
    // Only texts changed: nothing is lost.
    let mut again = tape_called("b").plan().clone();
    again.title = "Another title".into();
    assert_eq!(again.hash(), tape_called("b").plan().hash());
    b.enabled = true;
    b.until_prompt("how far");
    assert_eq!(b.runner.board().procedure_id.as_str(), "b", "what was in flight is finished first");
    b.answer(1.0);
    b.until(9.0, |b| b.runner.board().prompt_key.as_str() == "a/far-in");
}

#[test]
fn f27_unreadable_is_said_loudly_set_aside_and_never_overwritten() {
    let plan = campaign([tape()]).plan().clone();
    let bad = |kept: Option<&str>| CheckpointState::Unreadable {
        reason: "checkpoint.json: line 1 column 2: expected an object".into(),
        kept_as: kept.map(Into::into),
    };
    let mut b = Bench::with(plan.clone(), RunnerConfig::default(), |s| {
        s.checkpoint = bad(Some("checkpoint.json.bad"))
    });
    assert!(b.runner.board().fault.as_str().contains("kept as checkpoint.json.bad"));
    assert_eq!(b.runner.alerts().0[0].level, fieldlab_campaign::AlertLevel::Error);
    b.enabled = true;
    b.until_prompt("Advance: start a new session");
    b.run(60.0);
    assert!(b.saves.is_empty());
    b.advance();
    b.until_prompt("clear?");
    assert!(b.notes().contains("could not be read"));

    let mut b = Bench::with(plan, RunnerConfig::default(), |s| s.checkpoint = bad(None));
    b.enabled = true;
    b.run(60.0);
    b.advance();
    b.run(60.0);
    assert!(b.saves.is_empty(), "what could not be set aside is not overwritten");
    assert_eq!(b.state(), State::AwaitingOperator);
    assert!(b.prompt().contains("copy and remove it by hand"));
}

#[test]
fn a_checkpoint_of_another_campaign_is_set_aside_and_not_resumed() {
    let other =
        checkpoint::Checkpoint { session: "6aa1f900".into(), campaign: "Other".into(), ..Default::default() };
    let plan = campaign([tape()]).plan().clone();
    let mut b = Bench::with(plan, RunnerConfig::default(), |s| {
        s.checkpoint = CheckpointState::Loaded { text: other.to_text(), from_backup: None };
    });
    b.saved = Some(other.to_text());
    b.enabled = true;
    b.until_prompt("\"Other\"");
    assert_eq!(b.set_aside.len(), 0);
    b.advance();
    b.until_prompt("clear?");
    assert_eq!(b.set_aside, [other.to_text()]);
}

#[test]
fn a_version_1_file_resumes_and_a_hostile_session_id_does_not() {
    let text = |session: &str| {
        format!(
            "{{\"session\":\"{session}\",\"campaign\":\"Field Day\",\"completed\":[],\
             \"measurements\":{{\"tape/far-m\":2.5}},\"notes\":[\"old\"]}}"
        )
    };
    let plan = campaign([tape()]).plan().clone();
    let start = |session: &str| {
        Bench::with(plan.clone(), RunnerConfig::default(), |s| {
            s.checkpoint = CheckpointState::Loaded { text: text(session), from_backup: Some("torn".into()) };
        })
    };
    let mut b = start("6aa1f900");
    assert_eq!(b.runner.session_id(), "6aa1f900");
    assert!(b.notes().contains("old") && b.notes().contains("backup was used: torn"));
    b.enabled = true;
    b.until_prompt("clear?");
    b.advance();
    b.until(9.0, |b| b.state() == State::Done);
    assert_eq!(b.runner.memory().answers["tape/far-m"].value, 2.5, "nobody measures again");
    let b = start("../../etc");
    assert_ne!(b.runner.session_id(), "../../etc");
    assert_eq!(b.state(), State::Idle);
}

#[test]
fn f34_notes_do_not_double_with_every_enable() {
    let mut b = Bench::go(campaign([tape()]));
    b.volts = Some(11.0);
    b.until(5.0, |b| b.state() == State::PausedBattery);
    let notes = b.runner.board().notes.rows().len();
    for _ in 0..5 {
        b.enabled = false;
        b.run(1.0);
        b.reboot();
        b.enabled = true;
        b.run(5.0);
    }
    assert_eq!(b.runner.board().notes.rows().len(), notes);
}

#[test]
fn f35_the_header_names_everything_a_later_reader_needs() {
    let plan = campaign([tape()]).plan().clone();
    let mut b = Bench::with(plan, RunnerConfig::default(), |s| {
        s.header.insert("codeVersion".into(), "1.2.3".into());
        s.header.insert("constants".into(), serde_json::json!({ "wheel_radius_m": 0.0508 }));
    });
    b.enabled = true;
    b.until_prompt("clear?");
    let record = b.log.iter().find(|r| r.key == "FieldLab/6aa1f940/Header").unwrap();
    assert!(record.sticky, "repeated in every file of the session");
    let fieldlab_values::Value::String(text) = &record.value else { panic!() };
    let header: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(header["session"], "6aa1f940");
    assert_eq!(header["plan"]["procedures"][0]["why"], "to measure");
    assert_eq!(header["plan"]["procedures"][0]["steps"][3]["unit"], "m");
    assert_eq!(header["constants"]["wheel_radius_m"], 0.0508);
    assert_eq!(header["clockTrusted"], true);
    assert_eq!(header["campaignHash"], b.plan.hash());
}

#[test]
fn f30_alerts_go_when_their_reason_goes() {
    let mut b = Bench::go(campaign([tape()]));
    b.until_prompt("clear?");
    assert!(b.runner.alerts().0.iter().any(|a| a.text == "clear?"), "the prompt is mirrored");
    b.advance();
    b.until_prompt("how far");
    b.answer(1.0);
    b.until(5.0, |b| b.state() == State::Done);
    assert_eq!(b.runner.alerts().0.len(), 1, "{:?}", b.runner.alerts().0);
}

#[test]
fn f12_the_offer_stands_over_disable_and_boot_and_is_made_again() {
    let mut b = Bench::go(campaign([tape()]));
    b.scripts.entry(ActId(0)).or_default().push_back(Script::Fail("no gyro"));
    b.until_prompt("clear?");
    b.advance();
    b.until_prompt("drive: no gyro");
    b.enabled = false;
    b.run(5.0);
    assert!(b.prompt().contains("drive: no gyro"), "{}", b.prompt());
    b.reboot();
    assert!(b.prompt().contains("drive: no gyro"), "{}", b.prompt());
    assert_eq!(b.state(), State::AwaitingOperator);
    b.enabled = true;
    b.run(3.0);
    assert!(b.prompt().contains("drive: no gyro"), "{}", b.prompt());
    assert_eq!(b.started.len(), 1);
    b.advance();
    b.until_prompt("clear?");
    b.advance();
    b.until_prompt("how far");
    assert_eq!(b.started.len(), 2);
}

#[test]
fn a_reason_as_long_as_a_book_is_cut_off() {
    let mut b = Bench::go(campaign([tape()]));
    b.until_prompt("clear?");
    b.skip(&"x".repeat(100_000));
    b.run(1.0);
    assert!(b.notes().len() < 1000);
}

#[test]
fn f23_after_a_swap_the_new_log_holds_header_answers_and_units_again() {
    let mut b = Bench::go(campaign([tape_called("a"), tape_called("b")]));
    b.until_prompt("clear?");
    b.advance();
    b.until_prompt("how far");
    b.answer(2.5);
    b.until(9.0, |b| b.runner.board().procedure_id.as_str() == "b");
    b.reboot();
    b.log.clear();
    b.enabled = true;
    b.run(3.0);
    b.until_prompt("clear?");
    assert_eq!(b.logged("FieldLab/6aa1f940/Header").len(), 1);
    assert_eq!(b.logged("FieldLab/6aa1f940/a/far-m"), [2.5.into()]);
    assert_eq!(b.logged("FieldLab/6aa1f940/a/far-m.unit"), ["m".into()]);
    assert_eq!(b.events("answer")[0]["resumed"], true);
    let order: Vec<&str> = b.log.iter().map(|r| r.key.as_str()).collect();
    let header = order.iter().position(|k| k.ends_with("/Header")).unwrap();
    assert!(
        order[..header].iter().all(|k| k.ends_with("/Events")),
        "before anything that needs it: {order:?}"
    );
}

#[test]
fn a_boot_that_never_begins_says_whose_log_it_leaves() {
    let mut b = Bench::go(campaign([tape()]));
    b.until_prompt("clear?");
    b.reboot();
    b.log.clear();
    b.enabled = false;
    b.run(0.1);
    assert_eq!(b.logged("FieldLab/6aa1f940/Header").len(), 1);
    assert!(b.all_events().is_empty(), "nothing has happened in it");
}

#[test]
fn t19_another_pack_is_another_header() {
    let packs = |b: &Bench| -> Vec<String> {
        let headers = b.logged("FieldLab/6aa1f940/Header").into_iter();
        headers
            .map(|header| match header {
                fieldlab_values::Value::String(text) => {
                    serde_json::from_str::<serde_json::Value>(&text).unwrap()["battery"].to_string()
                }
                other => panic!("{other:?}"),
            })
            .collect()
    };
    let mut b = Bench::go(campaign([tape()]));
    b.runner.amend_header("battery", "pack 1");
    b.until_prompt("clear?");
    for pack in ["pack 1", "pack 2", "pack 2"] {
        b.runner.amend_header("battery", pack);
        b.run(0.1);
    }
    assert_eq!(packs(&b), ["\"pack 1\"", "\"pack 2\""]);
}

#[test]
fn f36_two_runners_share_nothing() {
    let mut one = Bench::go(campaign([tape()]));
    let mut two = Bench::new(campaign([tape()]));
    one.until_prompt("clear?");
    one.advance();
    one.until_prompt("how far");
    two.run(10.0);
    assert_eq!((two.state(), two.prompt()), (State::Idle, ""));
    two.enabled = true;
    two.until_prompt("clear?");
    assert!(two.started.is_empty());
}

#[test]
fn an_answer_comes_back_from_the_checkpoint_bit_for_bit() {
    // A reader of decimal numbers that rounds carelessly makes another double of this one.
    let value = 24865.512754637246;
    let mut old = checkpoint::Checkpoint::default();
    let answer = checkpoint::Answer { value, unit: None, at_secs: None };
    old.answers.insert("a/b".into(), answer);
    let read = checkpoint::parse(old.to_text().as_bytes()).unwrap();
    assert_eq!(read.answers["a/b"].value.to_bits(), value.to_bits());
}

#[test]
fn disabled_while_a_gate_looks_a_prompt_says_what_to_do() {
    let mut b = Bench::go(campaign([tape()]));
    b.run(0.5);
    assert_eq!(b.runner.board().hold.as_str(), "measuring the battery at rest");
    b.enabled = false;
    b.tick();
    assert_eq!(b.state(), State::AwaitingOperator);
    assert!(b.prompt().starts_with("Disabled. Enable to go on with Title of tape"), "{}", b.prompt());
}
