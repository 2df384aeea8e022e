//! What a step came to, and what holds it back.

use crate::common::{Bench, Script, campaign, tape};
use fieldlab_base::Micros;
use fieldlab_campaign::inputs::Role;
use fieldlab_campaign::{ActId, PreArmFact, PreArmItem, PreArmVerdict, State};

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
fn an_act_whose_log_stopped_is_not_banked_as_measured() {
    let mut b = Bench::go(campaign([tape()]));
    b.act_secs = 2.0;
    b.until_prompt("clear?");
    b.advance();
    b.until(9.0, |b| b.started.len() == 1);
    b.pre_arm[0].verdict = PreArmVerdict::Fail("the disk is full".into());
    b.until_prompt("its data may not be in the log (log: the disk is full)");
    assert_eq!(b.events("act_ended")[0]["outcome"], "failed");
    assert!(b.runner.memory().completed.is_empty());
    b.pre_arm[0].verdict = PreArmVerdict::Pass;
    b.advance();
    b.until_prompt("clear?");
    b.advance();
    b.until_prompt("how far");
    assert_eq!(b.started.len(), 2, "it is done again, and logged");
}

#[test]
fn a_reason_as_long_as_a_book_is_cut_off() {
    let mut b = Bench::go(campaign([tape()]));
    b.until_prompt("clear?");
    b.skip(&"x".repeat(100_000));
    b.run(1.0);
    assert!(b.notes().len() < 1000);
}
