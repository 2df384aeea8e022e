//! Disables, rebuilds and power cuts: what is kept, and what is shown meanwhile.

use crate::common::{Bench, Script, campaign, tape, tape_called};
use fieldlab_campaign::inputs::Role;
use fieldlab_campaign::{ActId, Procedure, State};

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
fn disabled_while_a_gate_looks_a_prompt_says_what_to_do() {
    let mut b = Bench::go(campaign([tape()]));
    b.run(0.5);
    assert_eq!(b.runner.board().hold.as_str(), "measuring the battery at rest");
    b.enabled = false;
    b.tick();
    assert_eq!(b.state(), State::AwaitingOperator);
    assert!(b.prompt().starts_with("Disabled. Enable to go on with Title of tape"), "{}", b.prompt());
}
