//! What is said for later readers: notes, alerts, and the header at the head of every log.

use crate::common::{Bench, campaign, tape, tape_called};
use fieldlab_campaign::{RunnerConfig, State};

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
