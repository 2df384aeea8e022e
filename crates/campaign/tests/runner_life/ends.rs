//! How a campaign begins and ends, and what stands between two of them.

use crate::common::{Bench, campaign, tape, tape_called};
use fieldlab_campaign::{CheckpointState, RunnerConfig, State, checkpoint};

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
