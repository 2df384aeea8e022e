//! Every odd input that a reader meets, by name: one test a row of the table of edge rules, and the extras.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use fieldlab_base::Micros;
use fieldlab_values::schema::Tree;
use fieldlab_values::{DataType, Pose2d, Published, Value, ValueRef};
use fieldlab_wpilog::{AnyColumn, Damage, Encoder, Log, LogError, Report, Salvage};

fn open(bytes: Vec<u8>) -> Log {
    Log::from_bytes(bytes, "test.wpilog").unwrap()
}

/// Header, Start of entry 1, three doubles.
fn small() -> Encoder {
    let mut log = Encoder::new("");
    log.start(Micros(0), 1, "a", &DataType::Double, "");
    for (i, value) in [1.0, 2.0, 3.0].into_iter().enumerate() {
        log.value(Micros(1000 * (i as i64 + 1)), 1, ValueRef::Double(value));
    }
    log
}

/// A control record with its payload as it stands.
fn control(log: &mut Encoder, payload: &[u8]) {
    log.data(Micros(7), 0, payload);
}

fn doubles(log: &Log) -> Vec<f64> {
    log.entries().iter().flat_map(|entry| log.numbers(entry).unwrap().values).collect()
}

#[test]
fn row_torn_last_record_is_reported_with_offset_and_lost_bytes() {
    let whole = small().into_bytes();
    let log = open(whole[..whole.len() - 3].to_vec());
    assert_eq!(doubles(&log), [1.0, 2.0]);
    let record = 1 + 1 + 1 + 2 + 8;
    let offset = (whole.len() - record) as u64;
    assert_eq!(
        log.report().salvage,
        Some(Salvage {
            offset,
            bytes_lost: record as u64 - 3,
            records_lost: Some(1),
            damage: Damage::Torn { expected: Some(record as u64) },
        })
    );
    assert_eq!(
        log.report().salvage.unwrap().to_string(),
        format!("record torn at byte {offset}: expected 13 bytes, found 10")
    );
}

#[test]
fn row_cut_at_every_byte_keeps_exactly_the_whole_records() {
    let whole = small();
    let mut ends = vec![12];
    {
        let log = open(whole.bytes().to_vec());
        ends.extend(log.all_records().skip(1).map(|r| r.offset as usize));
        ends.push(whole.len());
    }
    for cut in 0..=whole.len() {
        let bytes = whole.bytes()[..cut].to_vec();
        if cut < 12 {
            let error = Log::from_bytes(bytes, "cut.wpilog").unwrap_err();
            assert!(matches!(error, LogError::HeaderCut { .. }), "{cut}");
            continue;
        }
        let log = open(bytes);
        let kept = ends.iter().filter(|end| **end <= cut).count() - 1;
        assert_eq!(log.report().records as usize, kept, "{cut}");
        let lost = cut - ends[kept];
        match log.report().salvage {
            None => assert_eq!(lost, 0),
            Some(tail) => assert_eq!((tail.offset as usize, tail.bytes_lost as usize), (ends[kept], lost)),
        }
    }
}

#[test]
fn row_versions_of_major_1_are_read_and_others_refused() {
    let with_version = |minor, major| {
        let mut bytes = small().into_bytes();
        bytes[6] = minor;
        bytes[7] = major;
        Log::from_bytes(bytes, "v.wpilog")
    };
    assert!(with_version(0, 1).unwrap().report().warnings.is_empty());
    let newer = with_version(1, 1).unwrap();
    assert_eq!(doubles(&newer), [1.0, 2.0, 3.0]);
    assert_eq!(newer.report().warnings, ["version 1.1 read as 1.0: expected 1.0"]);
    for (minor, major) in [(0, 2), (0, 0), (0xff, 0)] {
        let error = with_version(minor, major).unwrap_err();
        let expect = format!("v.wpilog: at byte 6: expected version 1.x, found version {major}.{minor}");
        assert_eq!(error.to_string(), expect);
    }
}

#[test]
fn row_bad_magic_names_file_place_expected_and_found() {
    let error = Log::from_bytes(b"PK\x03\x04zipfile.....".to_vec(), "logs.zip").unwrap_err();
    let expect = "logs.zip: at byte 0: expected the six letters WPILOG, found \"PK\\u{3}\\u{4}zi\"";
    assert_eq!(error.to_string(), expect);
    for begun in [&b"WPILOX"[..], b"WPILOG\0\x02", b"W\0"] {
        let error = Log::from_bytes(begun.to_vec(), "x").unwrap_err();
        assert!(matches!(error, LogError::NotALog { .. }), "{begun:?}: {error}");
    }
}

#[test]
fn a_log_that_was_cut_while_it_was_begun_says_so() {
    let said = |bytes: Vec<u8>| Log::from_bytes(bytes, "x.wpilog").unwrap_err().to_string();
    let cut = |found: &str| format!("x.wpilog: cut in its header: expected at least 12 bytes, found {found}");
    assert_eq!(said(Vec::new()), cut("none"));
    assert_eq!(said(b"WPI".to_vec()), cut("3 of them"));
    assert_eq!(said(b"WPILOG\x05\x01".to_vec()), cut("8 of them"));
    assert_eq!(said(vec![0; 4096]), cut("4096 bytes, all zeros"));
    assert!(!said(b"\0\0\0\0\0\0\0\0\0\0\0\0x".to_vec()).contains("cut"));
}

#[test]
fn row_extra_header_past_the_end_is_an_error() {
    for len in [4_u32, u32::MAX] {
        let mut bytes = b"WPILOG\0\x01".to_vec();
        bytes.extend(len.to_le_bytes());
        bytes.extend(b"abc");
        let error = Log::from_bytes(bytes, "x").unwrap_err();
        assert!(matches!(error, LogError::NotALog { offset: 8, .. }), "{error}");
    }
}

#[test]
fn row_spare_bit_is_ignored() {
    let mut log = small();
    let at = log.len();
    log.value(Micros(9000), 1, ValueRef::Double(4.0));
    let mut bytes = log.into_bytes();
    bytes[at] |= 0x80;
    assert_eq!(doubles(&open(bytes)), [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn row_negative_zero_and_extreme_times_come_back() {
    let times = [0, -1, -587_000_000, i64::MIN, i64::MAX, 1, 255, 256];
    let mut log = Encoder::new("");
    log.start(Micros(i64::MIN), 1, "t", &DataType::Int, "");
    for time in times {
        log.value(Micros(time), 1, ValueRef::Int(time));
    }
    let log = open(log.into_bytes());
    let raw: Vec<i64> = log.records(&log.entries()[0]).map(|r| r.time.0).collect();
    assert_eq!(raw, times);
    let column = log.ints(&log.entries()[0]).unwrap();
    assert!(column.times.is_sorted());
    assert!(column.iter().all(|(time, value)| time.0 == *value));
    assert_eq!(log.entries()[0].range, Some((Micros::MIN, Micros::MAX)));
    assert_eq!(log.entries()[0].start, Micros::MIN);
}

#[test]
fn row_size_past_the_end_is_a_torn_record() {
    // Entry 1, claimed payloads of 255 bytes to 4 GiB.
    for record in [&[0x00, 1, 255, 9, 1, 2][..], &[0x0c, 1, 255, 255, 255, 255, 9, 1, 2]] {
        let mut bytes = small().into_bytes();
        let offset = bytes.len() as u64;
        bytes.extend_from_slice(record);
        let log = open(bytes);
        assert_eq!(doubles(&log), [1.0, 2.0, 3.0]);
        let tail = log.report().salvage.unwrap();
        assert_eq!((tail.offset, tail.bytes_lost), (offset, record.len() as u64));
    }
}

#[test]
fn row_unknown_and_empty_control_records_are_counted_and_skipped() {
    let mut log = small();
    control(&mut log, &[]);
    control(&mut log, &[3, 1, 0, 0, 0]);
    control(&mut log, &[1, 1, 0, 0]);
    control(&mut log, &[1, 1, 0, 0, 0, 0]);
    log.data(Micros(0), 0, &[]);
    log.value(Micros(9000), 1, ValueRef::Double(4.0));
    let log = open(log.into_bytes());
    assert_eq!(doubles(&log), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(log.report().odd_controls, 5);
    assert_eq!(log.report().control_records, 6);
    assert_eq!(log.report().records, 10);
    assert_eq!(log.report().salvage, None);
}

#[test]
fn row_start_with_an_overrunning_string_is_skipped_with_a_warning() {
    let mut log = small();
    let at = log.len();
    for bad in [5_u32, u32::MAX] {
        let mut payload = vec![0];
        payload.extend(2_u32.to_le_bytes());
        payload.extend(bad.to_le_bytes());
        payload.extend(b"name");
        payload.extend([0; 8]);
        payload.truncate(13);
        control(&mut log, &payload);
    }
    log.start(Micros(5), 3, "b", &DataType::Double, "");
    log.value(Micros(6), 3, ValueRef::Double(9.0));
    let log = open(log.into_bytes());
    assert_eq!(doubles(&log), [1.0, 2.0, 3.0, 9.0]);
    assert_eq!(log.report().odd_controls, 2);
    assert_eq!(
        log.report().warnings[0],
        format!("byte {at}: Start record shorter than its contents, skipped")
    );
}

#[test]
fn row_start_with_trailing_bytes_is_read() {
    let mut log = Encoder::new("");
    let mut payload = vec![0, 1, 0, 0, 0, 1, 0, 0, 0, b'n', 6, 0, 0, 0];
    payload.extend(b"double");
    payload.extend([0, 0, 0, 0, 1, 2, 3]);
    control(&mut log, &payload);
    log.value(Micros(6), 1, ValueRef::Double(9.0));
    assert_eq!(doubles(&open(log.into_bytes())), [9.0]);
}

#[test]
fn row_name_that_is_no_utf8_is_readable_and_kept_raw() {
    let mut log = Encoder::new("");
    let mut payload = vec![0, 1, 0, 0, 0, 2, 0, 0, 0, b'n', 0xff, 6, 0, 0, 0];
    payload.extend(b"double");
    payload.extend([0, 0, 0, 0]);
    control(&mut log, &payload);
    let log = open(log.into_bytes());
    assert_eq!(log.entries()[0].name, "n\u{fffd}");
    assert_eq!(log.entries()[0].raw_name.as_deref(), Some(&[b'n', 0xff][..]));
    assert_eq!(log.report().warnings.len(), 1);
}

#[test]
fn row_data_before_its_start_is_attached_and_without_any_counted() {
    let mut log = Encoder::new("");
    log.value(Micros(1), 1, ValueRef::Double(1.0));
    log.value(Micros(2), 70_000, ValueRef::Double(2.0));
    log.value(Micros(3), 5, ValueRef::Double(0.0));
    log.start(Micros(9), 70_000, "late", &DataType::Double, "");
    log.start(Micros(9), 1, "a", &DataType::Double, "");
    log.value(Micros(10), 1, ValueRef::Double(3.0));
    let log = open(log.into_bytes());
    let a = log.named("a").next().unwrap();
    assert_eq!(log.numbers(a).unwrap().values, [1.0, 3.0]);
    assert_eq!((a.before_start, a.range), (1, Some((Micros(1), Micros(10)))));
    assert_eq!(log.numbers(log.named("late").next().unwrap()).unwrap().values, [2.0]);
    assert_eq!(log.report().attached_orphans, 2);
    assert_eq!(log.report().orphans.clone().into_iter().collect::<Vec<_>>(), [(5, 1)]);
}

#[test]
fn row_zero_length_payloads_are_values_of_strings_raws_and_arrays() {
    let mut log = Encoder::new("");
    for (id, kind) in
        ["string", "raw", "double[]", "boolean[]", "json", "string[]", "double"].iter().enumerate()
    {
        log.start(Micros(0), id as u32 + 1, kind, &DataType::from_log(kind), "");
        log.data(Micros(1), id as u32 + 1, &[]);
    }
    let log = open(log.into_bytes());
    let values: Vec<Vec<Value>> = log.entries().iter().map(|e| log.values(e).values).collect();
    assert_eq!(values[0], [Value::from("")]);
    assert_eq!(values[1], [Value::Raw([].into())]);
    assert_eq!(values[2], [Value::DoubleArray([].into())]);
    assert_eq!(values[3], [Value::BooleanArray([].into())]);
    assert_eq!(values[4], [Value::from("")]);
    // A string[] begins with its count.
    assert_eq!(values[5], []);
    assert_eq!(values[6], []);
    assert_eq!(
        log.number_arrays(&log.entries()[2]).unwrap().iter().collect::<Vec<_>>(),
        [(Micros(1), &[][..])]
    );
}

#[test]
fn row_value_of_the_wrong_size_is_skipped_and_counted() {
    let sizes = |kind: &DataType, payloads: &[&[u8]]| {
        let mut log = Encoder::new("");
        log.start(Micros(0), 1, "x", kind, "");
        payloads.iter().for_each(|payload| log.data(Micros(1), 1, payload));
        let log = open(log.into_bytes());
        let column = log.values(&log.entries()[0]);
        (column.values.len(), column.skipped)
    };
    assert_eq!(sizes(&DataType::Double, &[&[0; 7], &[0; 8], &[0; 9]]), (1, 2));
    assert_eq!(sizes(&DataType::Float, &[&[0; 4], &[0; 8]]), (1, 1));
    assert_eq!(sizes(&DataType::Int, &[&[0; 4], &[0; 8]]), (1, 1));
    assert_eq!(sizes(&DataType::Boolean, &[&[2], &[0, 1]]), (1, 1));
    assert_eq!(sizes(&DataType::DoubleArray, &[&[0; 16], &[0; 12]]), (1, 1));
    // Counts that the bytes cannot hold, leftovers, and a count of 4 GiB.
    let strings: &[&[u8]] =
        &[&[1, 0, 0, 0, 0, 0, 0, 0], &[0, 0, 0, 0, 1], &[2, 0, 0, 0, 0, 0, 0, 0], &[255; 8]];
    assert_eq!(sizes(&DataType::StringArray, strings), (1, 3));
}

#[test]
fn zero_filled_tail_is_told_from_odd_records() {
    let with_zeros = |count: usize, after: &[u8]| {
        let mut bytes = small().into_bytes();
        let from = bytes.len() as u64;
        bytes.extend(vec![0; count]);
        bytes.extend_from_slice(after);
        (from, open(bytes))
    };
    for count in [4, 5, 63, 64, 4096] {
        let (offset, log) = with_zeros(count, &[]);
        assert_eq!(doubles(&log), [1.0, 2.0, 3.0]);
        let damage = Damage::ZeroFilled { data_follows: false };
        let expect = Salvage { offset, bytes_lost: count as u64, records_lost: None, damage };
        assert_eq!(log.report().salvage, Some(expect), "{count}");
        assert_eq!(log.report().records, 4);
    }
    let (offset, log) = with_zeros(512, &[1, 2, 3]);
    let damage = Damage::ZeroFilled { data_follows: true };
    assert_eq!(log.report().salvage, Some(Salvage { offset, bytes_lost: 515, records_lost: None, damage }));
    // One or two are odd records when a good record follows.
    let (_, log) = with_zeros(8, &[0x00, 1, 1, 9, 7]);
    assert_eq!((log.report().odd_controls, log.report().salvage), (2, None));
    assert_eq!(log.report().records, 7);
}

#[test]
fn an_id_used_again_makes_two_entries() {
    let mut log = small();
    log.finish(Micros(5_000_000), 1);
    log.value(Micros(5_000_001), 1, ValueRef::Double(3.5));
    log.start(Micros(6_000_000), 1, "b", &DataType::Int, "{}");
    log.value(Micros(6_000_001), 1, ValueRef::Int(7));
    log.set_metadata(Micros(6_000_002), 1, "{\"unit\":\"m\"}");
    let log = open(log.into_bytes());
    let [a, b] = log.entries() else { panic!("{:?}", log.entries()) };
    assert_eq!((a.name.as_str(), a.finish, a.after_finish), ("a", Some(Micros(5_000_000)), 1));
    assert_eq!(log.numbers(a).unwrap().values, [1.0, 2.0, 3.0, 3.5]);
    assert_eq!((b.name.as_str(), b.finish, b.last_metadata()), ("b", None, "{\"unit\":\"m\"}"));
    assert_eq!(log.ints(b).unwrap().values, [7]);
    assert_eq!(b.metadata.iter().map(|m| m.time.0).collect::<Vec<_>>(), [6_000_000, 6_000_002]);
    assert_eq!(log.report().after_finish, 1);
}

#[test]
fn a_name_that_changes_its_type_keeps_both_and_is_flagged() {
    let mut log = small();
    log.start(Micros(1), 2, "a", &DataType::Int, "");
    log.value(Micros(2), 2, ValueRef::Int(5));
    log.start(Micros(1), 3, "c", &DataType::Int, "");
    log.start(Micros(1), 4, "c", &DataType::Int, "");
    let log = open(log.into_bytes());
    assert_eq!(log.named("a").count(), 2);
    assert!(log.named("a").all(|entry| entry.type_changes));
    assert!(log.named("c").all(|entry| !entry.type_changes));
    assert_eq!(log.report().type_changes, ["a"]);
    assert_eq!(log.named("a").map(|e| log.values(e).len()).collect::<Vec<_>>(), [3, 1]);
}

#[test]
fn a_start_over_a_live_id_wins_from_there_on() {
    let mut log = small();
    log.start(Micros(1), 1, "b", &DataType::Double, "");
    log.value(Micros(2), 1, ValueRef::Double(9.0));
    let log = open(log.into_bytes());
    assert_eq!(log.numbers(log.named("a").next().unwrap()).unwrap().values, [1.0, 2.0, 3.0]);
    assert_eq!(log.numbers(log.named("b").next().unwrap()).unwrap().values, [9.0]);
    assert_eq!(log.report().restarted_live, 1);
}

#[test]
fn controls_of_ids_that_are_not_in_use_are_counted() {
    let mut log = small();
    log.finish(Micros(1), 9);
    log.set_metadata(Micros(1), 9, "x");
    log.finish(Micros(1), 1);
    log.finish(Micros(2), 1);
    let mut start_of_0 = vec![0; 17];
    start_of_0[5] = 0;
    control(&mut log, &start_of_0);
    let log = open(log.into_bytes());
    assert_eq!((log.report().stray_controls, log.report().odd_controls), (3, 1));
    assert_eq!(log.entries()[0].finish, Some(Micros(1)));
}

#[test]
fn records_out_of_order_are_sorted_stably_by_column_and_counted() {
    let mut log = Encoder::new("");
    log.start(Micros(100), 1, "a", &DataType::Int, "");
    log.start(Micros(100), 2, "s", &DataType::String, "");
    log.start(Micros(100), 3, "d", &DataType::DoubleArray, "");
    for (time, value) in [(5, 0), (3, 1), (5, 2), (3, 3), (4, 4)] {
        log.value(Micros(time), 1, ValueRef::Int(value));
        log.value(Micros(time), 2, ValueRef::String(&value.to_string()));
        log.value(Micros(time), 3, ValueRef::DoubleArray(&vec![value as f64; value as usize]));
    }
    let log = open(log.into_bytes());
    let [a, s, d] = log.entries() else { panic!() };
    assert_eq!(log.ints(a).unwrap().values, [1, 3, 4, 0, 2]);
    assert_eq!(log.texts(s).unwrap().values, ["1", "3", "4", "0", "2"]);
    let lens: Vec<usize> = log.number_arrays(d).unwrap().iter().map(|(_, items)| items.len()).collect();
    assert_eq!(lens, [1, 3, 4, 0, 2]);
    assert_eq!((a.out_of_order, log.report().out_of_order), (2, 2));
    let column = log.ints(a).unwrap();
    assert_eq!(
        (column.at(Micros(2)), column.at(Micros(3)), column.at(Micros(99))),
        (None, Some(&3), Some(&2))
    );
}

#[test]
fn schemas_after_their_data_and_captured_ones_decode_structs() {
    let mut log = Encoder::new("");
    log.start(Micros(0), 1, "NT:/Pose", &Pose2d::data_type(), "");
    log.start(Micros(0), 2, "Poses", &<[Pose2d]>::data_type(), "");
    log.start(Micros(0), 3, "Unknown", &DataType::structure("Nobody"), "");
    for x in [2.0, 1.0] {
        Pose2d::new(x, -x, 0.5).with_value(&mut |v| log.value(Micros(x as i64), 1, v));
    }
    [Pose2d::new(1.0, 2.0, 3.0), Pose2d::new(4.0, 5.0, 6.0)][..]
        .with_value(&mut |v| log.value(Micros(3), 2, v));
    log.data(Micros(4), 2, &[0; 23]);
    let mut id = 10;
    <Pose2d as Published>::schemas(&mut |name, text| {
        id += 1;
        let prefix = if id % 2 == 0 { "NT:" } else { "" };
        let kind = DataType::Other("structschema".into());
        log.start(Micros(9), id, &format!("{prefix}/.schema/struct:{name}"), &kind, "");
        log.data(Micros(9), id, text.as_bytes());
    });
    let log = open(log.into_bytes());
    let [pose, poses, unknown, ..] = log.entries() else { panic!() };
    let columns = log.struct_columns(pose).unwrap();
    assert_eq!(columns.names, ["translation/x", "translation/y", "rotation/value"]);
    assert_eq!(columns.times, [Micros(1), Micros(2)]);
    assert_eq!(columns.column("translation/y"), Some(&[-1.0, -2.0][..]));
    assert_eq!(log.struct_numbers(pose, "translation/x").unwrap().values, [1.0, 2.0]);
    let second = log.struct_item(poses, 1).unwrap();
    assert_eq!((second.column("rotation/value"), second.skipped), (Some(&[6.0][..]), 1));
    let rows = log.struct_values(poses).unwrap();
    assert_eq!(rows.values.iter().map(Vec::len).collect::<Vec<_>>(), [2, 0]);
    assert_eq!(rows.values[0][1].at("translation/x"), Some(&Tree::Double(4.0)));
    let error = log.struct_columns(unknown).unwrap_err();
    assert_eq!(
        error.to_string(),
        "entry Unknown: expected a usable schema for struct:Nobody, found none in the log"
    );
    assert!(matches!(log.numbers(pose), Err(LogError::WrongType { .. })));
    assert!(matches!(log.struct_numbers(pose, "z"), Err(LogError::NoSchema { .. })));
}

#[test]
fn a_thousand_warnings_are_counted_and_a_hundred_kept() {
    let mut log = small();
    for _ in 0..1000 {
        control(&mut log, &[9]);
    }
    let log = open(log.into_bytes());
    assert_eq!(log.report().warnings.len(), Report::MAX_WARNINGS);
    assert_eq!(log.report().more_warnings, 1000 - Report::MAX_WARNINGS as u64);
}

#[test]
fn hostile_ids_without_a_start_do_not_grow_without_bound() {
    let mut log = Encoder::new("");
    for id in 1..=10_000_u32 {
        log.value(Micros(0), id * 7, ValueRef::Boolean(true));
    }
    let log = open(log.into_bytes());
    let report = log.report();
    assert_eq!(report.orphans.values().sum::<u64>() + report.uncounted_orphans, 10_000);
    assert!(report.orphans.len() <= 4096 && report.uncounted_orphans >= 5_904);
}

#[test]
fn more_than_2_gib_keeps_its_offsets() {
    use std::io::{Seek as _, SeekFrom, Write as _};
    // A raw record of zeros that takes most of 4 GiB, twice, as holes in the file; then a double behind them.
    let hole = u32::MAX - 100;
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let mut log = Encoder::new("");
    log.start(Micros(0), 1, "hole", &DataType::Raw, "");
    log.start(Micros(0), 2, "after", &DataType::Double, "");
    log.value(Micros(1), 2, ValueRef::Double(0.5));
    file.write_all(log.bytes()).unwrap();
    for turn in 1..=2 {
        // Entry 1, four bytes of size, time of one byte.
        file.write_all(&[0x0c, 1]).unwrap();
        file.write_all(&hole.to_le_bytes()).unwrap();
        file.write_all(&[turn]).unwrap();
        file.seek(SeekFrom::Current(i64::from(hole))).unwrap();
        let mut after = Encoder::records();
        after.value(Micros(10 * i64::from(turn)), 2, ValueRef::Double(f64::from(turn)));
        file.write_all(after.bytes()).unwrap();
    }
    let log = Log::open(file.path()).unwrap();
    assert_eq!(log.report().records, 7);
    assert!(log.report().is_whole());
    assert_eq!(log.numbers(&log.entries()[1]).unwrap().values, [0.5, 1.0, 2.0]);
    let offsets: Vec<u64> = log.records(&log.entries()[1]).map(|r| r.offset).collect();
    assert!(offsets[1] > 1 << 31 && offsets[2] > 1 << 32, "{offsets:?}");
    assert_eq!(
        log.records(&log.entries()[0]).map(|r| r.payload.len()).collect::<Vec<_>>(),
        [hole as usize; 2]
    );
}

#[test]
fn many_columns_in_one_pass_are_those_decoded_one_by_one() {
    let mut log = Encoder::new("");
    let kinds = [
        ("double", ValueRef::Double(0.5)),
        ("float", ValueRef::Float(0.25)),
        ("int64", ValueRef::Int(-3)),
        ("boolean", ValueRef::Boolean(true)),
        ("string", ValueRef::String("a")),
        ("double[]", ValueRef::DoubleArray(&[1.0, 2.0])),
        ("float[]", ValueRef::FloatArray(&[0.5])),
        ("int64[]", ValueRef::IntArray(&[7])),
        ("boolean[]", ValueRef::BooleanArray(&[true, false])),
        ("string[]", ValueRef::StringArray(&[])),
        ("raw", ValueRef::Raw(&[1])),
    ];
    for (id, (kind, _)) in kinds.iter().enumerate() {
        log.start(Micros(0), id as u32 + 1, kind, &DataType::from_log(kind), "");
    }
    log.start(Micros(0), 20, "pose", &Pose2d::data_type(), "");
    let mut id = 30;
    <Pose2d as Published>::schemas(&mut |name, text| {
        id += 1;
        let kind = DataType::Other("structschema".into());
        log.start(Micros(0), id, &format!("/.schema/struct:{name}"), &kind, "");
        log.data(Micros(0), id, text.as_bytes());
    });
    for turn in [3, 1, 2] {
        for (id, (_, value)) in kinds.iter().enumerate() {
            log.value(Micros(turn), id as u32 + 1, *value);
            // Of no size that any number has.
            log.data(Micros(turn), id as u32 + 1, &[1; 3]);
        }
        Pose2d::new(turn as f64, 0.0, 0.0).with_value(&mut |v| log.value(Micros(turn), 20, v));
    }
    let log = open(log.into_bytes());
    let all = log.decode_all(log.entries());
    assert_eq!(all.len(), log.entries().len());
    for (entry, column) in log.entries().iter().zip(all) {
        let one = match entry.name.as_str() {
            "double" | "float" => AnyColumn::Numbers(log.numbers(entry).unwrap()),
            "int64" => AnyColumn::Ints(log.ints(entry).unwrap()),
            "boolean" => AnyColumn::Booleans(log.booleans(entry).unwrap()),
            "string" => AnyColumn::Texts(log.texts(entry).unwrap()),
            "string[]" => AnyColumn::TextArrays(log.values(entry)),
            "pose" => AnyColumn::Structs(log.struct_columns(entry).unwrap()),
            name if name.ends_with("[]") => AnyColumn::NumberArrays(log.number_arrays(entry).unwrap()),
            _ => AnyColumn::Raws(log.raws(entry)),
        };
        assert_eq!(column, one, "{}", entry.name);
    }
}
