//! Any bytes as a log: nothing panics, and every record is accounted for.
use fieldlab_wpilog::Log;

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
    for entry in log.entries() {
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
