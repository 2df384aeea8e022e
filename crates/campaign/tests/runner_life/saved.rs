//! The checkpoint: when it is saved, and what becomes of one that does not fit.

use crate::common::{Bench, Disk, campaign, tape, tape_called};
use fieldlab_campaign::{CheckpointState, Procedure, RunnerConfig, State, checkpoint};

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
fn an_answer_comes_back_from_the_checkpoint_bit_for_bit() {
    // A reader of decimal numbers that rounds carelessly makes another double of this one.
    let value = 24865.512754637246;
    let mut old = checkpoint::Checkpoint::default();
    let answer = checkpoint::Answer { value, unit: None, at_secs: None };
    old.answers.insert("a/b".into(), answer);
    let read = checkpoint::parse(old.to_text().as_bytes()).unwrap();
    assert_eq!(read.answers["a/b"].value.to_bits(), value.to_bits());
}
