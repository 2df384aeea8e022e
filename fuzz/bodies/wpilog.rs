//! Any bytes as a log: nothing panics, every record is accounted for, and the streaming decoder agrees with the index
//! however the bytes are cut.
use fieldlab_wpilog::{Decoder, Log};

/// One input.
pub(crate) fn run(data: &[u8]) {
    let Ok(log) = Log::from_bytes(data.to_vec(), "fuzz") else { return };
    let report = log.report();
    let listed: u64 = log.entries().iter().map(|entry| entry.records).sum();
    let orphans: u64 = report.orphans.values().sum::<u64>() + report.uncounted_orphans;
    assert_eq!(report.records, report.control_records + listed + orphans);
    if let Some(salvage) = report.salvage {
        assert_eq!(salvage.offset + salvage.bytes_lost, data.len() as u64);
    }
    let (records, salvage) = stream(data);
    assert_eq!(records, report.records);
    assert_eq!(salvage, report.salvage);
    let all = log.decode_all(log.entries());
    for (entry, together) in log.entries().iter().zip(&all) {
        assert!(together.len() as u64 <= entry.records);
        drop(log.struct_values(entry));
        drop(log.struct_columns(entry));
        assert_eq!(log.records(entry).count() as u64, entry.records);
        let values = log.values(entry);
        assert!(values.len() as u64 <= entry.records);
        drop(log.numbers(entry));
        drop(log.ints(entry));
        drop(log.booleans(entry));
        drop(log.texts(entry));
        drop(log.number_arrays(entry));
    }
}

/// Records and damage as a stream finds them, cut where the bytes themselves say.
fn stream(data: &[u8]) -> (u64, Option<fieldlab_wpilog::Salvage>) {
    let mut decoder = Decoder::new("fuzz");
    let mut events = 0;
    let mut rest = data;
    while !rest.is_empty() {
        let len = (usize::from(rest[0]) + 1).min(rest.len());
        let (piece, after) = rest.split_at(len);
        rest = after;
        decoder.push(piece);
        while decoder.next().expect("the index read it").is_some() {
            events += 1;
        }
    }
    // The first event is the header.
    (events - 1, decoder.finish().expect("the index read it"))
}
