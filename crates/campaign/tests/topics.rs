//! The wire: names, types, and what a quiet loop costs.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
#[path = "../../base/tests/support/counting.rs"]
mod counting;

use std::collections::BTreeMap;

use common::{Bench, campaign, tape};
use fieldlab_base::{ConfigError, Micros};
use fieldlab_campaign::{ActReport, BatteryReading, PreArmFact, RunnerInput, Topics};
use fieldlab_values::{Publish, Root, TopicSpec, Value, ValueRef};

#[derive(Default)]
struct Wire {
    topics: Vec<(String, String)>,
    puts: usize,
    last: BTreeMap<String, Value>,
    quiet: bool,
}

impl Publish for Wire {
    fn declare(&mut self, spec: &TopicSpec<'_>) -> Result<u32, ConfigError> {
        assert_eq!(spec.root, Root::Catalyst);
        if self.topics.iter().any(|(k, _)| k == spec.key) {
            return Err(ConfigError::new(spec.key, "a new key", "declared before"));
        }
        self.topics.push((spec.key.into(), spec.data_type.nt_name().into()));
        Ok(self.topics.len() as u32 - 1)
    }

    fn put(&mut self, index: u32, value: ValueRef<'_>) {
        self.puts += 1;
        if !self.quiet {
            self.last.insert(self.topics[index as usize].0.clone(), value.to_value());
        }
    }

    fn retract(&mut self, index: u32) {
        self.last.remove(&self.topics[index as usize].0);
    }
}

#[test]
fn names_and_types_are_the_contract() {
    let mut wire = Wire::default();
    Topics::declare(&mut wire).unwrap();
    let types: BTreeMap<String, String> = wire.topics.iter().cloned().collect();
    for (kind, names) in [
        (
            "string",
            "State Session Campaign Procedure Step LastNote Prompt PromptUnit PromptKey LastCommit ProcedureId StepKind Hold Fault",
        ),
        ("int", "ProcedureIndex ProcedureCount StepIndex StepCount PromptSeq"),
        (
            "double",
            "Progress ElapsedSeconds RemainingSeconds EstimatedSeconds BatteryVolts PromptMin PromptMax GateMinVolts GateResumeVolts",
        ),
        ("string[]", "Notes Measurements Banked PreArm"),
        ("boolean", "Enabled"),
        ("json", "Plan"),
    ] {
        for name in names.split(' ') {
            assert_eq!(types.get(&format!("FieldLab/{name}")).map(String::as_str), Some(kind), "{name}");
        }
    }
    assert_eq!(types.len(), 34);
    assert!(Topics::declare(&mut wire).is_err(), "once for the life of the process");
}

#[test]
fn idle_shows_the_campaign_and_nothing_else() {
    let b = Bench::new(campaign([tape()]));
    let mut wire = Wire::default();
    let mut topics = Topics::declare(&mut wire).unwrap();
    topics.publish(&b.runner, &mut wire);
    let is = |key: &str, value: Value| assert_eq!(wire.last[&format!("FieldLab/{key}")], value, "{key}");
    is("State", "IDLE".into());
    is("Session", "".into());
    is("Campaign", "Field Day".into());
    is("Procedure", "".into());
    is("ProcedureCount", 1.into());
    is("StepCount", 0.into());
    is("Progress", 0.0.into());
    is("RemainingSeconds", 120.0.into());
    is("Prompt", "".into());
    for absent in UNKNOWN_AT_REST {
        assert!(!wire.last.contains_key(absent), "absent is not zero, and no number either: {absent}");
    }
}

/// What has no value while nothing is asked for and no pack was read.
const UNKNOWN_AT_REST: [&str; 5] = [
    "FieldLab/BatteryVolts",
    "FieldLab/PromptMin",
    "FieldLab/PromptMax",
    "FieldLab/GateMinVolts",
    "FieldLab/GateResumeVolts",
];

#[test]
fn a_questions_range_comes_and_goes_with_it() {
    let mut b = Bench::go(campaign([tape()]));
    let mut wire = Wire::default();
    let mut topics = Topics::declare(&mut wire).unwrap();
    let mut range = |b: &Bench| {
        topics.publish(&b.runner, &mut wire);
        ["FieldLab/PromptMin", "FieldLab/PromptMax"].map(|key| wire.last.get(key).cloned())
    };
    b.until_prompt("clear?");
    assert_eq!(range(&b), [None, None]);
    b.advance();
    b.until_prompt("how far");
    assert_eq!(range(&b), [Some(0.0.into()), Some(5.0.into())]);
    b.answer(2.5);
    b.until(5.0, |b| b.runner.board().prompt_key.as_str().is_empty());
    assert_eq!(range(&b), [None, None]);
}

#[test]
fn a_new_runner_says_everything_anew() {
    let mut b = Bench::go(campaign([tape()]));
    let mut wire = Wire::default();
    let mut topics = Topics::declare(&mut wire).unwrap();
    b.until_prompt("clear?");
    topics.publish(&b.runner, &mut wire);
    b.rebuild();
    wire.last.clear();
    topics.publish(&b.runner, &mut wire);
    assert_eq!(wire.last.len(), 34 - 3, "no pack was read and nothing is measured");
    assert_eq!(wire.last["FieldLab/Session"], "6aa1f940".into());
}

#[test]
fn what_is_written_on_change_is_what_somebody_who_came_now_would_see() {
    let mut b = Bench::go(campaign([tape()]));
    b.act_secs = 0.5;
    let mut wire = Wire::default();
    let mut topics = Topics::declare(&mut wire).unwrap();
    for turn in 0..3000 {
        match turn % 400 {
            0 => b.advance(),
            100 => b.answer(2.5),
            200 => b.volts = Some(if turn % 800 < 400 { 11.0 } else { 12.9 }),
            300 => b.enabled = !b.enabled,
            _ => b.tick(),
        }
        topics.publish(&b.runner, &mut wire);
        let mut late = Wire::default();
        Topics::declare(&mut late).unwrap().publish(&b.runner, &mut late);
        assert_eq!(wire.last, late.last, "turn {turn}");
    }
    assert_eq!(wire.last["FieldLab/Progress"], 1.0.into(), "it went through the whole campaign");
}

#[test]
fn f26_a_quiet_loop_writes_only_the_clock_and_allocates_nothing() {
    let mut b = Bench::go(campaign([tape()]));
    let mut wire = Wire { quiet: true, ..Wire::default() };
    let mut topics = Topics::declare(&mut wire).unwrap();
    // At a prompt, at a low battery, in an act, disabled.
    for at in ["prompt", "paused", "act", "disabled"] {
        match at {
            "prompt" => b.until_prompt("clear?"),
            "act" => {
                b.volts = Some(12.9);
                b.act_secs = 20.0;
                b.until_prompt("clear?");
                b.advance();
                b.until(9.0, |b| b.started.len() == 1);
            }
            "paused" => {
                b.enabled = false;
                b.tick();
                b.enabled = true;
                b.volts = Some(11.0);
                b.until(9.0, |b| b.state() == fieldlab_campaign::State::PausedBattery);
            }
            _ => {
                b.enabled = false;
                b.run(0.1);
            }
        }
        b.run(0.2);
        let report = match at {
            "act" => ActReport::Running { attempt: 1 },
            _ => ActReport::Idle,
        };
        let mut now = b.now;
        let mut loops = |count: usize, b: &mut Bench| {
            for _ in 0..count {
                now += Micros::from_millis(20);
                let out = b.runner.step(&RunnerInput {
                    now,
                    unix: None,
                    enabled: b.enabled,
                    ended: false,
                    battery: b.volts.map(|volts| BatteryReading { volts, age_secs: 0.0 }),
                    drive_neutral: at != "act",
                    act: &report,
                    operator: &[],
                    saved: &[],
                    pre_arm: &PreArmFact::ALL_PASS,
                });
                assert!(b.runner.log().next().is_none() && out.save.is_none(), "{at}");
                topics.publish(&b.runner, &mut wire);
            }
        };
        loops(2, &mut b);
        let before = counting::allocations();
        loops(100, &mut b);
        assert_eq!(counting::allocations() - before, 0, "allocations in 100 loops: {at}");
        b.now = now;
    }
    assert!(wire.puts < 4 * 102 * 3, "{} writes", wire.puts);
}
