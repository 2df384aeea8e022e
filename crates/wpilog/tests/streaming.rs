//! The streaming decoder: whole, byte by byte and at random cuts the same events; and the same as the index.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::io::Write as _;

use fieldlab_base::Micros;
use fieldlab_values::{DataType, ValueRef};
use fieldlab_wpilog::{Control, Decoder, Encoder, Event, Log, LogError, Salvage, Tail};
use proptest::prelude::*;

type Told = (Vec<String>, Result<Option<Salvage>, LogError>);

/// Every event as text, and how the input ended.
fn decode(bytes: &[u8], cuts: &[usize]) -> Told {
    let mut decoder = Decoder::new("test");
    let mut told = Vec::new();
    let mut from = 0;
    for to in cuts.iter().copied().chain([bytes.len()]) {
        decoder.push(&bytes[from..to]);
        from = to;
        loop {
            match decoder.next() {
                Ok(Some(event)) => told.push(format!("{event:?}")),
                Ok(None) => break,
                Err(error) => {
                    told.push(error.to_string());
                    break;
                }
            }
        }
    }
    (told, decoder.finish())
}

fn text(told: &Told) -> String {
    format!("{told:?}")
}

fn sample() -> Vec<u8> {
    let mut log = Encoder::new("extra text");
    log.value(Micros(-5), 1, ValueRef::Double(0.5));
    log.start(Micros(0), 1, "a", &DataType::Double, "{\"unit\":\"m\"}");
    log.start(Micros(0), 300, "b", &DataType::String, "");
    for i in 0..20_i64 {
        log.value(Micros(i64::MAX >> i), 1, ValueRef::Double(i as f64));
        log.value(Micros(i), 300, ValueRef::String(&"x".repeat(i as usize * 20)));
    }
    log.data(Micros(3), 0, &[7, 7]);
    log.data(Micros(0), 0, &[]);
    log.set_metadata(Micros(9), 300, "{}");
    log.finish(Micros(2_000_000), 300);
    log.into_bytes()
}

#[test]
fn whole_and_byte_by_byte_are_the_same() {
    for tail in [&[][..], &[0x00, 1, 9], &[0; 3], &[0; 4], &[0; 63], &[0; 200], &[0, 0, 0, 0, 0, 1]] {
        let bytes = [&sample(), tail].concat();
        let cuts: Vec<usize> = (0..bytes.len()).collect();
        assert_eq!(text(&decode(&bytes, &cuts)), text(&decode(&bytes, &[])), "{tail:?}");
    }
}

#[test]
fn stream_and_index_agree_on_any_cut_file() {
    for tail in [&[][..], &[0; 40], &[0; 64], &[0; 1000], &[9; 80]] {
        let bytes = [&sample(), tail].concat();
        for end in 22..=bytes.len() {
            let bytes = &bytes[..end];
            let (told, salvage) = decode(bytes, &[]);
            let log = Log::from_bytes(bytes.to_vec(), "test").unwrap();
            assert_eq!(told.len() as u64 - 1, log.report().records, "{end}");
            assert_eq!(salvage.unwrap(), log.report().salvage, "{end}");
        }
    }
}

#[test]
fn refusals_are_told_once_and_nothing_is_decoded_after() {
    let mut decoder = Decoder::new("x.bin");
    decoder.push(b"not a log at all");
    assert!(decoder.next().is_err());
    assert_eq!(decoder.next().unwrap(), None);
    decoder.push(&sample());
    assert_eq!(decoder.next().unwrap(), None);
    assert!(decoder.finish().is_err());
}

#[test]
fn a_size_that_is_claimed_is_not_allocated_before_it_is_there() {
    let mut decoder = Decoder::new("x");
    decoder.push(Encoder::new("").bytes());
    assert!(decoder.next().unwrap().is_some());
    decoder.push(&[0x0c, 1, 255, 255, 255, 255, 0]);
    assert_eq!(decoder.next().unwrap(), None);
    let salvage = decoder.finish().unwrap().unwrap();
    assert_eq!((salvage.offset, salvage.bytes_lost), (12, 7));
}

#[test]
fn a_growing_file_is_read_as_it_grows_and_a_shrunken_one_is_an_error() {
    let bytes = sample();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let mut tail = Tail::open(file.path()).unwrap();
    let mut told = Vec::new();
    for piece in bytes.chunks(7) {
        file.write_all(piece).unwrap();
        tail.poll(&mut |event| told.push(format!("{event:?}"))).unwrap();
    }
    assert_eq!(told, decode(&bytes, &[]).0);
    assert_eq!(tail.unfinished().unwrap(), None);
    assert_eq!(tail.poll(&mut |_| {}).unwrap(), 0);
    file.write_all(&[0x00, 1, 9]).unwrap();
    tail.poll(&mut |event| told.push(format!("{event:?}"))).unwrap();
    assert_eq!(tail.unfinished().unwrap().map(|s| s.bytes_lost), Some(3));
    file.as_file().set_len(40).unwrap();
    assert!(matches!(tail.poll(&mut |_| {}), Err(LogError::Shrunk { found: 40, .. })));
}

proptest! {
    #[test]
    fn random_cuts_are_the_same(mut cuts in prop::collection::vec(0_usize..4000, 0..12), noise in
        prop::collection::vec(any::<u8>(), 0..40))
    {
        let bytes = [sample(), noise].concat();
        cuts.retain(|cut| *cut <= bytes.len());
        cuts.sort_unstable();
        prop_assert_eq!(text(&decode(&bytes, &cuts)), text(&decode(&bytes, &[])));
    }

    #[test]
    fn no_bytes_make_the_readers_panic(body in prop::collection::vec(any::<u8>(), 0..300)) {
        let bytes = [Encoder::new("").into_bytes(), body].concat();
        let (told, salvage) = decode(&bytes, &[]);
        let log = Log::from_bytes(bytes, "noise").unwrap();
        prop_assert_eq!(told.len() as u64 - 1, log.report().records);
        prop_assert_eq!(salvage.unwrap(), log.report().salvage);
        for entry in log.entries() {
            drop(log.values(entry));
            drop(log.struct_columns(entry));
        }
    }

    #[test]
    fn what_is_encoded_is_decoded(
        id in 1_u32.., time in any::<i64>(), payload in prop::collection::vec(any::<u8>(), 0..400),
        name in ".{0,20}", metadata in ".{0,20}",
    ) {
        let mut log = Encoder::new("");
        log.start(Micros(time), id, &name, &DataType::Raw, &metadata);
        log.data(Micros(time), id, &payload);
        let mut decoder = Decoder::new("x");
        decoder.push(log.bytes());
        prop_assert!(decoder.next().unwrap().is_some());
        match decoder.next().unwrap() {
            Some(Event::Control { time: t, control: Control::Start { id: i, name: n, type_name, metadata: m } }) => {
                prop_assert_eq!((t, i), (Micros(time), id));
                prop_assert_eq!((n.lossy(), type_name.lossy(), m.lossy()), (name.into(), "raw".into(), metadata.into()));
            }
            other => prop_assert!(false, "{:?}", other),
        }
        prop_assert_eq!(decoder.next().unwrap(), Some(Event::Data { id, time: Micros(time), payload: &payload }));
    }
}
