//! An append from the loop's thread does not allocate.

#[path = "../../base/tests/support/counting.rs"]
mod counting;

use std::sync::Arc;
use std::time::Duration;

use fieldlab_base::Micros;
use fieldlab_values::{DataType, Pose2d, Published, ValueRef};
use fieldlab_wpilog::{LogWriter, WriterConfig};

#[test]
fn appends_of_a_loop_with_200_topics_do_not_allocate() {
    let folder = tempfile::tempdir().unwrap();
    let config = WriterConfig {
        flush_every: Duration::from_millis(5),
        free_floor_bytes: 0,
        ..WriterConfig::default()
    };
    let log = LogWriter::create(folder.path().join("steady.wpilog"), config).unwrap();
    let doubles: Vec<_> = (0..200)
        .map(|i| log.start(Micros(0), &format!("Topic/{i}"), &DataType::Double, "").unwrap())
        .collect();
    let poses = log.start(Micros(0), "Poses", &<[Pose2d]>::data_type(), "").unwrap();
    let texts = log.start(Micros(0), "Texts", &DataType::StringArray, "").unwrap();
    let names: [Arc<str>; 2] = ["one".into(), "two".into()];
    let turn = |i: i64| {
        let mut batch = log.batch();
        for entry in &doubles {
            batch.append(*entry, Micros(i * 20_000), ValueRef::Double(i as f64));
        }
        [Pose2d::new(1.0, 2.0, 3.0); 4][..].with_value(&mut |value| {
            batch.append(poses, Micros(i * 20_000), value);
        });
        batch.append(texts, Micros(i * 20_000), ValueRef::StringArray(&names));
        drop(batch);
        log.stats().records
    };
    turn(0);
    let before = counting::allocations();
    for i in 1..2000 {
        turn(i);
    }
    assert_eq!(counting::allocations() - before, 0);
    let closed = log.close();
    assert_eq!(closed.stats.records + closed.stats.dropped, 202 + 2000 * 202);
}
