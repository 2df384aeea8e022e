//! What counts as an answer, and what does not.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{Bench, campaign, tape};
use fieldlab_base::OperatorValue;
use fieldlab_campaign::inputs::{self, Control, Role};
use fieldlab_campaign::{Act, Measure, Procedure, State};

/// At the question of `tape`.
fn asked() -> Bench {
    let mut b = Bench::go(campaign([tape()]));
    b.until_prompt("clear?");
    b.advance();
    b.until_prompt("how far");
    b
}

fn committed(b: &Bench) -> Option<f64> {
    b.runner.memory().answer("tape/far-m")
}

/// Advance alone commits nothing; once the number is said to be meant, it does.
fn committed_only_when_meant(b: &mut Bench, number: f64) {
    b.advance();
    b.run(2.0);
    assert_eq!(committed(b), None);
    b.press(Role::SameAgain);
    b.run(0.6);
    b.advance();
    assert_eq!(committed(b), Some(number));
}

#[test]
fn f7_nan_on_advance_is_never_an_edge() {
    let mut b = Bench::go(campaign([tape()]));
    b.until_prompt("clear?");
    let advance = b.index(Role::Advance);
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -0.0] {
        b.run(0.6);
        b.write(advance, value);
        b.run(0.6);
        assert_eq!((b.state(), b.prompt()), (State::AwaitingOperator, "clear?"), "{value}");
    }
    // And a finite number after all that is one edge.
    b.write(advance, 7.0);
    b.until(3.0, |b| b.started.len() == 1);
}

#[test]
fn f8_advance_without_a_new_number_commits_nothing_and_says_so() {
    let mut b = asked();
    b.advance();
    b.run(5.0);
    assert_eq!(committed(&b), None);
    assert!(b.commit().contains("no new number"), "{}", b.commit());
    // Typed before the prompt: no answer either.
    let mut b = Bench::go(campaign([tape()]));
    b.until_prompt("clear?");
    b.run(0.6);
    b.type_number(4.0);
    b.advance();
    b.until_prompt("how far");
    committed_only_when_meant(&mut b, 4.0);
}

#[test]
fn f8_same_again_needs_something_that_somebody_typed() {
    let mut b = asked();
    b.run(0.6);
    b.press(Role::SameAgain);
    b.run(0.6);
    assert!(b.commit().contains("no number was typed"), "{}", b.commit());
    b.advance();
    b.run(1.0);
    assert_eq!(committed(&b), None);
}

#[test]
fn f9_what_is_not_finite_is_never_an_answer() {
    let mut b = asked();
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        b.run(0.6);
        b.type_number(2.0);
        b.type_number(value);
        b.run(0.6);
        b.press(Role::Advance);
        b.run(0.6);
        assert_eq!(committed(&b), None, "{value}: the number that stood before is not meant any more");
    }
    b.answer(2.5);
    assert_eq!(committed(&b), Some(2.5));
}

#[test]
fn out_of_range_is_recorded_noted_and_warned() {
    let mut b = asked();
    b.answer(7.5);
    assert_eq!(committed(&b), Some(7.5));
    assert!(b.notes().contains("tape/far-m = 7.5 m is outside 0 to 5"), "{}", b.notes());
    assert!(b.runner.alerts().0.iter().any(|a| a.text.contains("outside 0 to 5")));
    b.until(5.0, |b| b.state() == State::Done);
    assert!(b.runner.memory().quality["tape"].contains("out of its range"));
}

#[test]
fn f10_what_a_client_resends_when_it_reconnects_commits_nothing() {
    let mut b = asked();
    let (value, advance) = (b.index(Role::Value), b.index(Role::Advance));
    // The dashboard wrote these for an earlier prompt; now the radio drops and it sends them again.
    b.run(1.0);
    b.reconnect();
    b.write(value, 4.0);
    b.write(advance, 7.0);
    b.run(2.9);
    assert_eq!(committed(&b), None);
    // Old values sent once more, later: what the input holds is no change and no answer.
    b.run(3.0);
    b.write(advance, 7.0);
    b.run(1.0);
    assert_eq!(committed(&b), None);
    assert_eq!(b.state(), State::AwaitingOperator);
    // Another number is a person.
    b.write(value, 4.5);
    b.run(0.5);
    b.write(advance, 8.0);
    b.run(0.1);
    assert_eq!(committed(&b), Some(4.5));
}

#[test]
fn f10_a_number_equal_to_the_one_before_the_connection_dropped_is_no_answer() {
    let two = Procedure::<()>::builder("two", "Two")
        .measure(Measure::new("first", "first-m", "m").range(0.0, 5.0))
        .measure(Measure::new("second", "second-m", "m").range(0.0, 5.0))
        .build()
        .unwrap();
    let mut b = Bench::go(campaign([two]));
    b.until_prompt("first");
    b.answer(4.0);
    b.until_prompt("second");
    b.reconnect();
    b.run(10.0);
    b.type_number(4.0);
    b.run(0.6);
    assert!(b.commit().contains("SameAgain"), "{}", b.commit());
    b.advance();
    b.run(1.0);
    assert!(!b.runner.memory().answers.contains_key("two/second-m"));
    // From the connection that is there and stays, the same number typed again is an answer.
    b.type_number(4.0);
    b.run(0.6);
    b.advance();
    assert_eq!(b.runner.memory().answers["two/second-m"].value, 4.0);
}

#[test]
fn f10_a_number_that_stood_when_the_connection_dropped_needs_more_than_advance() {
    let mut b = asked();
    b.run(1.0);
    b.type_number(1.25);
    b.run(0.6);
    // The dashboard dies before Advance, comes back and re-sends what it held.
    b.reconnect();
    b.type_number(1.25);
    b.run(0.1);
    assert!(b.commit().contains("SameAgain"), "{}", b.commit());
    committed_only_when_meant(&mut b, 1.25);
}

#[test]
fn f10_a_number_that_a_new_client_wrote_over_is_not_committed_unseen() {
    let mut b = asked();
    b.run(1.0);
    b.type_number(1.25);
    b.run(0.6);
    // Another dashboard connects and brings its own last number: that is now what everybody sees.
    b.reconnect();
    b.type_number(0.5);
    b.run(5.0);
    b.advance();
    b.run(1.0);
    assert_eq!(committed(&b), None);
    b.answer(1.5);
    assert_eq!(committed(&b), Some(1.5));
}

#[test]
fn f10_advance_before_value_takes_neither_the_old_number_nor_the_new() {
    let mut b = asked();
    b.run(1.0);
    let (value, advance) = (b.index(Role::Value), b.index(Role::Advance));
    b.write(advance, 1.0);
    b.write(value, 4.0);
    b.run(2.0);
    assert_eq!(committed(&b), None);
    b.write(advance, 2.0);
    b.run(0.1);
    assert_eq!(committed(&b), Some(4.0));
}

#[test]
fn a_candidate_stands_before_it_is_committed_and_a_drag_is_not_cut_off() {
    let mut b = asked();
    b.run(1.0);
    b.type_number(1.0);
    b.press(Role::Advance);
    b.run(0.2);
    assert_eq!(committed(&b), None, "it has not stood for 300 ms");
    b.run(0.2);
    assert_eq!(committed(&b), Some(1.0));
    // Somebody presses while somebody drags: what was pressed for is not what would be taken.
    let mut b = asked();
    b.run(1.0);
    for i in 0..20 {
        b.type_number(f64::from(i) * 0.1);
        b.tick();
        if i == 10 {
            b.press(Role::Advance);
        }
    }
    b.run(2.0);
    assert_eq!(committed(&b), None);
    assert!(b.commit().contains("press Advance again"), "{}", b.commit());
    b.press(Role::Advance);
    b.run(0.1);
    assert_eq!(committed(&b), Some(1.9000000000000001));
}

#[test]
fn a_prompt_is_armed_300_ms_after_it_appears() {
    let mut b = Bench::go(campaign([tape()]));
    b.until_prompt("clear?");
    b.press(Role::Advance);
    b.run(3.0);
    assert!(b.started.is_empty(), "pressed with the prompt, so for another");
    b.press(Role::Advance);
    b.until(3.0, |b| b.started.len() == 1);
}

#[test]
fn one_press_answers_one_prompt() {
    let p =
        Procedure::<()>::builder("p", "P").confirm("one").confirm("two").confirm("three").build().unwrap();
    let mut b = Bench::go(campaign([p]));
    b.until_prompt("one");
    b.run(1.0);
    // A level that stays, and a storm of changes in one loop.
    for _ in 0..50 {
        b.press(Role::Advance);
    }
    b.run(10.0);
    assert_eq!(b.prompt(), "two", "twenty procedures in twenty milliseconds is what this is against");
}

#[test]
fn the_answer_key_of_the_question_is_a_candidate_and_another_question_s_is_not() {
    let two = Procedure::<()>::builder("two", "Two")
        .measure(Measure::new("first", "first-m", "m").range(0.0, 5.0))
        .measure(Measure::new("second", "second-m", "m").range(0.0, 5.0))
        .build()
        .unwrap();
    let mut b = Bench::go(campaign([two]));
    b.until_prompt("first");
    b.run(1.0);
    let (first, second) = (b.answer_index("two/first-m"), b.answer_index("two/second-m"));
    b.write(second, 3.0);
    b.advance();
    b.run(1.0);
    assert!(b.runner.memory().answers.is_empty());
    b.write(first, 2.0);
    b.advance();
    assert_eq!(b.runner.memory().answers["two/first-m"].value, 2.0);
}

#[test]
fn a_page_commits_by_writing_the_prompt_s_number_to_advance() {
    let mut b = Bench::go(campaign([tape(), common::tape_called("b")]));
    b.until_prompt("clear?");
    b.run(0.6);
    let advance = b.index(Role::Advance);
    let seq = b.runner.board().prompt_seq as f64;
    assert!(seq >= 2.0, "a toggle between 0 and 1 never holds it");
    b.write(advance, seq);
    b.until_prompt("how far");
    // The page sends it twice: that is no change.
    b.run(0.6);
    b.type_number(2.0);
    b.run(0.6);
    b.write(advance, seq);
    b.run(2.0);
    assert_eq!(committed(&b), None);
    let seq = b.runner.board().prompt_seq as f64;
    b.write(advance, seq);
    b.run(0.1);
    assert_eq!(committed(&b), Some(2.0));
    b.reboot();
    assert!(
        b.runner.board().prompt_seq as f64 >= seq,
        "a prompt of the next boot is not taken for one of this"
    );
}

#[test]
fn redo_asks_the_last_answer_again_and_comes_back() {
    let two = Procedure::<()>::builder("two", "Two")
        .measure(Measure::new("first", "first-m", "m").range(0.0, 5.0))
        .measure(Measure::new("second", "second-m", "m").range(0.0, 5.0))
        .measure(Measure::new("third", "third-m", "m").range(0.0, 5.0))
        .build()
        .unwrap();
    let mut b = Bench::go(campaign([two]));
    b.until_prompt("first");
    b.redo();
    assert!(b.commit().contains("no answer before this"), "{}", b.commit());
    b.answer(1.0);
    b.until_prompt("second");
    b.answer(42.0);
    b.until_prompt("third");
    b.redo();
    assert_eq!(b.prompt(), "Again: second (it was 42)");
    b.redo();
    assert_eq!(b.prompt(), "Again: first (it was 1)", "a second Redo goes one further back");
    b.skip("that one was right");
    b.until_prompt("third");
    b.redo();
    b.answer(2.0);
    b.until_prompt("third");
    assert_eq!(b.runner.memory().answers["two/second-m"].value, 2.0);
    assert!(b.notes().contains("two/second-m was 42 and is now 2 m"), "{}", b.notes());
    b.answer(3.0);
    b.until(5.0, |b| b.state() == State::Done);
}

#[test]
fn skip_at_a_confirm_never_leads_to_motion() {
    let mut b = Bench::go(campaign([tape(), common::tape_called("b")]));
    b.until_prompt("clear?");
    b.skip("no room");
    b.until(5.0, |b| b.runner.board().procedure_id.as_str() == "b" && b.prompt() == "clear?");
    assert!(b.started.is_empty());
    assert!(b.runner.memory().quality["tape"].contains("no room"));
    // A reason is for one skip.
    b.run(0.6);
    b.press(Role::Skip);
    b.run(1.0);
    assert!(b.commit().contains("needs a reason"), "{}", b.commit());
}

#[test]
fn f11_a_motion_after_a_person_stood_at_the_robot_needs_a_confirm() {
    let laps = |confirm: bool| {
        let mut p =
            Procedure::<()>::builder("laps", "Laps").confirm("clear?").act(Act::new("lap 1", 5.0, ()));
        p = p.measure(Measure::new("error", "lap1-error-m", "m"));
        if confirm {
            p = p.confirm("back on the mark?");
        }
        p.act(Act::new("lap 2", 5.0, ())).build()
    };
    let refused = laps(false).unwrap_err();
    assert!(refused.to_string().contains("a Confirm between"), "{refused}");
    let mut b = Bench::go(campaign([laps(true).unwrap()]));
    b.until_prompt("clear?");
    b.advance();
    b.until_prompt("error");
    b.answer(0.1);
    b.run(60.0);
    assert_eq!((b.started.len(), b.prompt()), (1, "back on the mark?"));
}

#[test]
fn texts_where_numbers_belong_and_unknown_inputs_are_nothing() {
    let mut b = asked();
    b.run(1.0);
    let (value, advance, reason) = (b.index(Role::Value), b.index(Role::Advance), b.index(Role::SkipReason));
    b.send(value, OperatorValue::Text("2.0".into()));
    b.send(advance, OperatorValue::Text("go".into()));
    b.write(reason, 1.0);
    b.write(60_000, 1.0);
    b.run(2.0);
    assert_eq!(committed(&b), None);
    assert_eq!(b.prompt(), "how far");
}

#[test]
fn f28_every_input_is_declared_with_an_absolute_key_a_range_and_a_step_that_fits() {
    let plan = campaign([tape()]).plan().clone();
    let declared = inputs::declared(&plan);
    let topics: Vec<&str> = declared.iter().map(|i| i.topic.as_str()).collect();
    let root = "/Catalyst/Tuning/FieldLab";
    let names = ["Value", "Advance", "SameAgain", "Redo", "Skip", "SkipReason", "Answers/tape/far-m"];
    assert_eq!(topics, names.map(|n| format!("{root}/{n}")));
    for input in &declared {
        if let Control::Number { initial, min, max, step } = input.control {
            assert!(min < max && (min..=max).contains(&initial), "{input:?}");
            let steps = (initial - min) / step;
            assert!((steps - steps.round()).abs() < 1e-6, "on its step: {input:?}");
        }
    }
    let manifest: serde_json::Value = serde_json::from_str(&inputs::manifest(&declared)).unwrap();
    let row = &manifest[6];
    assert_eq!(row["key"], format!("{root}/Answers/tape/far-m"));
    assert_eq!(
        (row["min"].as_f64(), row["max"].as_f64(), row["step"].as_f64()),
        (Some(0.0), Some(5.0), Some(0.001))
    );
    assert_eq!((&row["unit"], &row["group"]), (&"m".into(), &"Field Lab".into()));
    assert!(manifest[5].get("min").is_none(), "a text has no range");
}
