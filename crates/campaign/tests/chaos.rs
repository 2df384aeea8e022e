//! Anything at any moment: what must hold whatever arrives.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{Bench, Disk, Script, campaign, tape_called};
use fieldlab_base::OperatorValue;
use fieldlab_campaign::{ActId, CheckpointState, PreArmFact, PreArmVerdict, State, checkpoint};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Happening {
    Wait(u8),
    Enable(bool),
    Write(u8, f64),
    Text(u8, String),
    Volts(Option<f64>),
    Age(f64),
    Reconnect,
    Reboot,
    Rebuild,
    Disk(u8),
    PreArm(bool),
    End(bool),
    Act(u8),
    Torn(usize),
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => (0..4_i32).prop_map(f64::from),
        1 => any::<f64>(),
        1 => Just(f64::NAN),
        1 => Just(f64::INFINITY),
    ]
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        10 => any::<u8>().prop_map(Happening::Wait),
        6 => any::<bool>().prop_map(Happening::Enable),
        20 => (0..10_u8, number()).prop_map(|(i, v)| Happening::Write(i, v)),
        3 => (0..10_u8, ".{0,12}").prop_map(|(i, t)| Happening::Text(i, t)),
        3 => proptest::option::of(prop_oneof![Just(12.8), Just(11.0), any::<f64>()]).prop_map(Happening::Volts),
        1 => number().prop_map(Happening::Age),
        1 => Just(Happening::Reconnect),
        2 => Just(Happening::Reboot),
        1 => Just(Happening::Rebuild),
        2 => (0..3_u8).prop_map(Happening::Disk),
        2 => any::<bool>().prop_map(Happening::PreArm),
        1 => any::<bool>().prop_map(Happening::End),
        3 => (0..5_u8).prop_map(Happening::Act),
        1 => any::<usize>().prop_map(Happening::Torn),
    ]
}

fn happen(b: &mut Bench, what: &Happening) {
    match what {
        Happening::Wait(tenths) => b.run(f64::from(*tenths) / 20.0),
        Happening::Enable(is) => b.enabled = *is,
        Happening::Write(index, value) => b.write(usize::from(*index), *value),
        Happening::Text(index, text) => {
            b.send(usize::from(*index), OperatorValue::Text(text.as_str().into()))
        }
        Happening::Volts(volts) => b.volts = *volts,
        Happening::Age(age) => b.volts_age = *age,
        Happening::Reconnect => b.reconnect(),
        Happening::Reboot => b.reboot(),
        Happening::Rebuild => b.rebuild(),
        Happening::Disk(n) => {
            b.disk = match n {
                0 => Disk::Works,
                1 => Disk::Fails("full"),
                _ => Disk::Silent,
            }
        }
        Happening::PreArm(well) => {
            b.pre_arm = PreArmFact::ALL_PASS.to_vec();
            if !well {
                b.pre_arm[2].verdict = PreArmVerdict::Fail("no reading".into());
            }
        }
        Happening::End(is) => b.ended = *is,
        Happening::Act(n) => {
            let script = match n {
                0 => Script::Complete,
                1 => Script::Fail("no"),
                2 => Script::Interrupt("taken"),
                3 => Script::Never,
                _ => Script::SagTo(8.0),
            };
            b.scripts.entry(ActId(0)).or_default().push_back(script);
        }
        Happening::Torn(at) => {
            let text = b.saved.clone().unwrap_or_default();
            let cut: String = text.chars().take(at % (text.len() + 1)).collect();
            b.reboot_with(CheckpointState::Loaded { text: cut, from_backup: None });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// No panic; nothing runs while disabled or ended; what is asked of a person is said; what is saved can be read; what
    /// is answered is finite; and what once was banked on disk stays banked.
    #[test]
    fn whatever_happens_the_laws_hold(happenings in proptest::collection::vec(happening(), 1..60)) {
        let mut b = Bench::go(campaign([tape_called("a"), tape_called("b")]));
        let mut moved = 0;
        for what in &happenings {
            happen(&mut b, what);
            b.tick();
            let board = b.runner.board();
            if (!b.enabled || b.ended) && !matches!(what, Happening::Wait(_)) {
                prop_assert_eq!(b.moving_ticks, moved, "moved while disabled");
            }
            moved = b.moving_ticks;
            if matches!(board.state, State::AwaitingOperator | State::PausedBattery) {
                prop_assert!(!board.prompt.as_str().is_empty(), "{}", b.describe());
            }
            prop_assert!((0.0..=1.0).contains(&board.progress));
            prop_assert!(b.runner.memory().answers.values().all(|a| a.value.is_finite()));
            if let Some(saved) = &b.saved {
                prop_assert!(checkpoint::parse(saved.as_bytes()).is_ok());
            }
        }
        // Every motion has a person's word since the last enable, pause and answer at the robot.
        b.disk = Disk::Works;
        b.run(1.0);
        let mut clear = false;
        for event in b.all_events() {
            match event["event"].as_str().unwrap() {
                "confirmed" => clear = true,
                "enabled" | "gate_paused" => clear = false,
                "answer" if event["resumed"] != true => clear = false,
                "act_started" => prop_assert!(clear, "moved without a Confirm"),
                _ => {}
            }
        }
    }

    /// Whoever writes whatever to everything but the three presses moves nothing.
    #[test]
    fn numbers_alone_start_nothing(writes in proptest::collection::vec((0..9_u8, number()), 1..80)) {
        let mut b = Bench::go(campaign([tape_called("a")]));
        b.until_prompt("clear?");
        for (index, value) in writes {
            // 1 is Advance, 3 Redo, 4 Skip.
            if !matches!(index, 1 | 3 | 4) {
                b.write(usize::from(index), value);
            }
            b.run(0.2);
        }
        prop_assert!(b.started.is_empty());
        prop_assert_eq!(b.prompt(), "clear?");
    }

    /// Any bytes are read or refused.
    #[test]
    fn any_bytes_are_a_checkpoint_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        drop(checkpoint::parse(&bytes));
    }

    /// What is written is read back the same.
    #[test]
    fn a_checkpoint_comes_back_as_it_was(
        notes in proptest::collection::vec(".{0,20}", 0..5),
        values in proptest::collection::btree_map(
            "[a-z]{1,5}/[a-z]{1,5}",
            (
                proptest::num::f64::NORMAL | proptest::num::f64::ZERO,
                proptest::option::of("[a-z]{0,3}"),
                proptest::option::of(0.0..1e6_f64),
            ),
            0..6,
        ),
        elapsed in 0.0..1e6_f64,
        seq in 0..1_000_000_i64,
    ) {
        let written = checkpoint::Checkpoint {
            session: "6aa1f940".into(),
            campaign: "Field Day".into(),
            notes: notes.into_iter().map(Into::into).collect(),
            answers: values
                .into_iter()
                .map(|(key, (value, unit, at_secs))| {
                    (key.into(), checkpoint::Answer { value, unit: unit.map(Into::into), at_secs })
                })
                .collect(),
            elapsed_secs: elapsed,
            prompt_seq: seq,
            ..Default::default()
        };
        prop_assert_eq!(checkpoint::parse(written.to_text().as_bytes()).unwrap(), written);
    }
}
