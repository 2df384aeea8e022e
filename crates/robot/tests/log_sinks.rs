//! What the file sinks leave behind, read back with our reader.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::Arc;

use fieldlab_base::Micros;
use fieldlab_robot::telemetry::{AkitSink, Door, LogSink, SinkId};
use fieldlab_values::{DataType, Pose2d, Publisher, Root, TopicSpec, ValueRef};
use fieldlab_wpilog::{Log, LogWriter, WriterConfig};

fn config(extra_header: &str) -> WriterConfig {
    WriterConfig { extra_header: extra_header.into(), free_floor_bytes: 0, ..WriterConfig::default() }
}

/// Runs five turns through a door into the sink that `attach` makes, and opens the file.
fn record(extra_header: &str, attach: impl FnOnce(&Door, Arc<LogWriter>) -> SinkId) -> Log {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.wpilog");
    let writer = Arc::new(LogWriter::create(&path, config(extra_header)).unwrap());
    let mut door = Door::new();
    attach(&door, Arc::clone(&writer));
    let volts = Publisher::<f64>::declare(&mut door, Root::Catalyst, "Status/BatteryVolts", "V").unwrap();
    let index = Publisher::<i64>::catalyst(&mut door, "FieldLab/StepIndex").unwrap();
    let pose = Publisher::<Pose2d>::catalyst(&mut door, "Odometry/Pose").unwrap();
    let clock = Publisher::<i64>::declare(&mut door, Root::Bare, "systemTime", "").unwrap();
    let header = TopicSpec {
        root: Root::Catalyst,
        key: "FieldLab/6aa1f940/Header",
        data_type: DataType::Json,
        unit: "",
    };
    let header = door.declare_sticky(&header).unwrap();
    for turn in 0..5 {
        door.begin(Micros::from_millis(1000 + 20 * turn));
        volts.set(&mut door, &12.5);
        index.set(&mut door, &turn);
        pose.set(&mut door, &Pose2d::new(1.0, turn as f64, 0.0));
        if turn == 0 {
            clock.set(&mut door, &1_790_000_000_000_000);
            door.append(header, ValueRef::String("{}"));
        }
        door.end();
    }
    drop(door);
    assert_eq!(Arc::into_inner(writer).unwrap().close().stats.dropped, 0);
    Log::open(&path).unwrap()
}

#[test]
fn our_log_says_changes_under_keys_without_the_root() {
    let log =
        record("", |door, writer| door.attach(Box::new(LogSink::new(writer, Micros::from_millis(990)))));
    let entry = |name: &str| log.entries().iter().find(|e| e.name == name).unwrap();
    let volts = entry("Status/BatteryVolts");
    assert_eq!((volts.records, volts.last_metadata()), (1, r#"{"unit":"V"}"#));
    assert_eq!(entry("FieldLab/StepIndex").records, 5);
    assert_eq!(entry("FieldLab/StepIndex").data_type, DataType::Int);
    assert_eq!(entry("Odometry/Pose").data_type, DataType::structure("Pose2d"));
    assert_eq!(entry("/.schema/struct:Pose2d").data_type, DataType::Other("structschema".into()));
    let clock = entry("systemTime");
    let format = r#"{"source":"DataLogManager","format":"time_t_us"}"#;
    assert_eq!(clock.last_metadata(), format);
    assert_eq!(entry("FieldLab/6aa1f940/Header").records, 1);
}

#[test]
fn an_advantagekit_log_is_cycles_of_one_stamp() {
    let log = record(AkitSink::EXTRA_HEADER, |door, writer| {
        door.attach(Box::new(AkitSink::new(writer, Micros::from_millis(990)).unwrap()))
    });
    assert_eq!(log.report().extra_header, "AdvantageKit");
    let entry = |name: &str| log.entries().iter().find(|e| e.name == name).unwrap();
    let stamps = log.numbers(entry("/Timestamp")).unwrap();
    assert_eq!(stamps.values, [1_000_000.0, 1_020_000.0, 1_040_000.0, 1_060_000.0, 1_080_000.0]);
    assert!(
        stamps.times.iter().zip(&stamps.values).all(|(t, v)| t.0 as f64 == *v),
        "stamp and value are one"
    );
    let steps = log.numbers(entry("/RealOutputs/FieldLab/StepIndex")).unwrap();
    assert_eq!(steps.times, stamps.times, "a changed field carries its cycle's stamp");
    assert_eq!(entry("/RealOutputs/Status/BatteryVolts").records, 1, "an unchanged field is left out");
    let metadata = entry("/RealOutputs/Status/BatteryVolts").last_metadata();
    assert_eq!(metadata, r#"{"source":"AdvantageKit","unit":"V"}"#);
}
