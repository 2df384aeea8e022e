//! Laws: order never matters, the same facts give the same sheet, and what is read back is what was written.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

mod common;

use common::{DRIVE, HAL, OTHER, SERVER, drive, features, hal, ratchet};
use fieldlab_base::{Feature, Micros};
use fieldlab_identity::{
    ControllerFacts, Device, FactPart, Facts, Features, Identity, ReadSheet, Source, SpecSheet, To, Whole,
    changes, derive,
};
use fieldlab_values::{DataType, Value};
use proptest::prelude::*;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), Just("unknown".to_owned()), ".{0,12}"]
}

fn part() -> impl Strategy<Value = FactPart> {
    let numbers =
        proptest::array::uniform4(prop_oneof![Just(0.0), Just(f64::NAN), -2.0..2.0f64, 0.01..300.0f64]);
    let devices = proptest::collection::vec((text(), -1..66i64, text()), 0..6);
    (proptest::option::of(-1..30_000i64), text(), numbers, devices, proptest::collection::vec(text(), 0..4))
        .prop_map(|(team_number, serial, numbers, devices, cameras)| {
            let mut part = drive();
            if let Some(swerve) = &mut part.swerve {
                swerve.modules[0].x_m = numbers[0];
                swerve.max_speed_mps = Some(numbers[1]);
            }
            if let Some(Ok(settings)) = &mut part.path_planner {
                settings.mass_kg = Some(numbers[2]);
                settings.wheel_radius_m = Some(numbers[3]);
            }
            part.controller =
                ControllerFacts { team_number, serial: Some(serial), ..ControllerFacts::default() };
            part.devices = devices.into_iter().map(|(bus, id, kind)| Device::new(bus, id, kind)).collect();
            part.cameras = cameras;
            part
        })
}

fn sheet(parts: &[(Source, FactPart)], features: &Features) -> SpecSheet {
    let mut facts = Facts::default();
    for (source, part) in parts {
        facts.put(*source, Micros(1), part.clone());
    }
    derive(&ratchet(), &facts, features, Micros(1))
}

/// Reads a sheet as a dashboard does, in the order of `changes` turned by `turn`.
fn read(of: &SpecSheet, turn: usize) -> ReadSheet {
    let mut all = changes(&SpecSheet::default(), of);
    let turn = turn % all.len().max(1);
    all.rotate_left(turn);
    let mut reader = ReadSheet::default();
    for change in all {
        let To::Set(value) = change.to else { unreachable!() };
        let kind = if change.name.ends_with("Provenance") { DataType::Json } else { value.data_type() };
        assert!(reader.take(&format!("/Catalyst/Robot/{}", change.name), &kind, &value));
    }
    reader
}

proptest! {
    #[test]
    fn order_of_facts_and_features_never_changes_the_sheet(
        parts in proptest::collection::vec(part(), 3),
        labels in proptest::collection::vec(text(), 0..6),
        turn in 0..6usize,
    ) {
        let mut parts: Vec<(Source, FactPart)> = [HAL, SERVER, OTHER].into_iter().zip(parts).collect();
        let mut all: Vec<Feature> = labels.iter().map(|label| Feature::sequence(label)).collect();
        let record = |all: &[Feature]| {
            let mut features = Features::default();
            all.iter().for_each(|feature| features.record(feature).unwrap());
            features
        };
        let first = sheet(&parts, &record(&all));
        prop_assert_eq!(&first, &sheet(&parts, &record(&all)));
        let at = turn % 3;
        parts.rotate_left(at);
        if turn >= 3 {
            parts.swap(0, 1);
            all.reverse();
        }
        prop_assert_eq!(&first, &sheet(&parts, &record(&all)));
    }

    #[test]
    fn a_sheet_is_read_back_as_it_was_written(parts in proptest::collection::vec(part(), 2), turn in 0..80usize) {
        let mut identity = Identity::new(7);
        identity.declare(ratchet());
        for (source, part) in [HAL, DRIVE].into_iter().zip(parts) {
            identity.put(source, Micros(1), part);
        }
        identity.record(&Feature::sequence("a")).unwrap();
        identity.step(Micros(2));
        let reader = read(identity.sheet(), turn);
        prop_assert_eq!(reader.problems().next(), None);
        prop_assert_eq!(reader.whole(), Whole::Yes);
        prop_assert_eq!(&ReadSheet::from(identity.sheet()), &reader);
        let said = reader.provenance();
        for entry in identity.sheet().entries().iter().filter(|entry| !entry.name.starts_with("Sheet/")) {
            let (how, source, at) = &said.facts[&*entry.name];
            let from = &entry.fact.provenance;
            prop_assert_eq!((&**how, &**source, *at), (from.how.word(), &*from.source, from.at.0));
        }
        let absent = identity.sheet().absent().iter();
        prop_assert_eq!(reader.why(), absent.map(|(key, why)| (key.name(), why.clone())).collect::<Vec<_>>());
    }

    #[test]
    fn changes_turn_one_sheet_into_the_other(a in part(), b in part()) {
        let (old, new) = (sheet(&[(HAL, a)], &features()), sheet(&[(HAL, b), (DRIVE, hal())], &Features::default()));
        let mut held = ReadSheet::from(&old);
        for change in changes(&old, &new) {
            let topic = format!("Robot/{}", change.name);
            match change.to {
                To::Set(value) => prop_assert!(held.take(&topic, &value.data_type(), &value)),
                To::Retract => held.retract(&topic),
            }
        }
        prop_assert_eq!(held, ReadSheet::from(&new));
        prop_assert!(changes(&new, &new).is_empty());
    }

    #[test]
    fn a_strangers_topics_never_panic(
        topics in proptest::collection::vec((".{0,40}", ".{0,200}", any::<f64>(), any::<i64>()), 0..40),
    ) {
        let mut reader = ReadSheet::default();
        for (i, (name, text, number, integer)) in topics.iter().enumerate() {
            let key = fieldlab_identity::keys::table()[i % fieldlab_identity::keys::table().len()].name;
            for value in [
                Value::from(text.as_str()),
                Value::from(*number),
                Value::from(*integer),
                Value::StringArray([text.as_str().into()].into()),
                Value::DoubleArray([*number].into()),
            ] {
                reader.take(&format!("Robot/{name}"), &value.data_type(), &value);
                reader.take(&format!("Robot/{key}"), &value.data_type(), &value);
            }
        }
        let card = fieldlab_identity::card(&reader, fieldlab_identity::Units::Imperial);
        for (label, said) in card.groups.iter().flat_map(|group| &group.rows) {
            prop_assert!(!label.chars().chain(said.chars()).any(char::is_control));
        }
        prop_assert!(reader.whole() != Whole::Yes || !reader.is_empty());
        prop_assert!(!reader.why().is_empty());
    }
}
