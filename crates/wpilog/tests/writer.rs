//! The log writer: what is in the files, in what order, and what happens when the disk says no.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use fieldlab_base::Micros;
use fieldlab_store::FileLayer;
use fieldlab_store::crash::CrashDisk;
use fieldlab_values::{DataType, Pose2d, ValueRef};
use fieldlab_wpilog::{Log, LogError, LogWriter, Overflow, StopReason, WriterConfig};

/// A disk in memory that the test keeps a hand on, and a gate that holds every write until it is opened.
#[derive(Clone, Default)]
struct Held {
    disk: Arc<Mutex<CrashDisk>>,
    shut: Arc<(Mutex<bool>, Condvar)>,
}

impl Held {
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        self.disk.lock().unwrap().files()
    }

    fn log(&self, name: &str) -> Log {
        Log::from_bytes(self.files()[Path::new(name)].clone(), name).unwrap()
    }

    fn shut(&self, shut: bool) {
        *self.shut.0.lock().unwrap() = shut;
        self.shut.1.notify_all();
    }
}

impl FileLayer for Held {
    fn create_dir_all(&mut self, dir: &Path) -> io::Result<()> {
        self.disk.lock().unwrap().create_dir_all(dir)
    }
    fn create_new(&mut self, path: &Path) -> io::Result<()> {
        self.disk.lock().unwrap().create_new(path)
    }
    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let shut = self.shut.0.lock().unwrap();
        drop(self.shut.1.wait_while(shut, |shut| *shut).unwrap());
        self.disk.lock().unwrap().write(path, bytes)
    }
    fn fsync(&mut self, path: &Path) -> io::Result<()> {
        self.disk.lock().unwrap().fsync(path)
    }
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.lock().unwrap().rename(from, to)
    }
    fn fsync_dir(&mut self, dir: &Path) -> io::Result<()> {
        self.disk.lock().unwrap().fsync_dir(dir)
    }
    fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.disk.lock().unwrap().remove(path)
    }
    fn read(&mut self, path: &Path) -> io::Result<Vec<u8>> {
        self.disk.lock().unwrap().read(path)
    }
    fn list(&mut self, dir: &Path) -> io::Result<Vec<OsString>> {
        self.disk.lock().unwrap().list(dir)
    }
    fn free_space(&mut self, dir: &Path) -> io::Result<u64> {
        self.disk.lock().unwrap().free_space(dir)
    }
}

/// No flush by itself, so that a test says when.
fn config() -> WriterConfig {
    WriterConfig { flush_every: Duration::from_secs(3600), free_floor_bytes: 0, ..WriterConfig::default() }
}

fn writer(disk: &Held, config: WriterConfig) -> LogWriter {
    LogWriter::create_on(Box::new(disk.clone()), "logs/s_b1.wpilog", config).unwrap()
}

#[test]
fn every_type_is_written_and_read_back() {
    let disk = Held::default();
    let log = writer(&disk, config());
    let texts = ["a".into(), "".into(), "ü".into()];
    let values = [
        (DataType::Boolean, ValueRef::Boolean(true)),
        (DataType::Int, ValueRef::Int(i64::MIN)),
        (DataType::Float, ValueRef::Float(0.5)),
        (DataType::Double, ValueRef::Double(-0.25)),
        (DataType::String, ValueRef::String("text")),
        (DataType::Json, ValueRef::String("{}")),
        (DataType::Raw, ValueRef::Raw(&[1, 2])),
        (DataType::Other("msgpack".into()), ValueRef::Raw(&[3])),
        (DataType::BooleanArray, ValueRef::BooleanArray(&[true, false])),
        (DataType::IntArray, ValueRef::IntArray(&[1, -1])),
        (DataType::FloatArray, ValueRef::FloatArray(&[1.5])),
        (DataType::DoubleArray, ValueRef::DoubleArray(&[2.5, 3.5])),
        (DataType::StringArray, ValueRef::StringArray(&texts)),
    ];
    for (kind, value) in &values {
        let entry = log.start(Micros(1), kind.log_name(), kind, "{}").unwrap();
        assert!(log.append(entry, Micros(2), *value));
    }
    let closed = log.close();
    assert_eq!((closed.stats.records, closed.stats.dropped, closed.stopped), (26, 0, None));
    assert_eq!(closed.stats.bytes_durable, closed.stats.bytes_written);
    let log = disk.log("logs/s_b1.wpilog");
    assert!(log.report().is_whole());
    for (entry, (kind, value)) in log.entries().iter().zip(&values) {
        assert_eq!(entry.data_type, *kind);
        assert_eq!(log.values(entry).values, [value.to_value()]);
    }
}

#[test]
fn each_file_after_a_roll_repeats_starts_schemas_and_sticky_records() {
    let disk = Held::default();
    let log = writer(&disk, WriterConfig { roll_bytes: 700, extra_header: "x".into(), ..config() });
    log.schemas_of::<Pose2d>(Micros(1)).unwrap();
    log.schemas_of::<Pose2d>(Micros(2)).unwrap();
    let header = log.start(Micros(3), "FieldLab/00c0ffee/Header", &DataType::Json, "").unwrap();
    log.append_sticky(header, Micros(4), ValueRef::String("{\"old\":1}"));
    log.append_sticky(header, Micros(5), ValueRef::String("{\"plan\":1}"));
    let ends = log.start(Micros(6), "ends", &DataType::Int, "").unwrap();
    let volts = log.start(Micros(6), "volts", &DataType::Double, "").unwrap();
    log.set_metadata(Micros(7), volts, "{\"unit\":\"V\"}");
    log.finish(Micros(8), ends);
    for i in 0..40 {
        log.append(volts, Micros(100 + i), ValueRef::Double(i as f64));
        log.flush_and_wait().unwrap();
    }
    let closed = log.close();
    let names: Vec<String> = closed.files.iter().map(|f| f.display().to_string()).collect();
    assert!(names.len() >= 2 && closed.stats.files as usize == names.len(), "{names:?}");
    assert_eq!(names[..2], ["logs/s_b1.wpilog", "logs/s_b1.2.wpilog"]);
    let mut seen = Vec::new();
    for (number, name) in names.iter().enumerate() {
        let log = disk.log(name);
        assert!(log.report().is_whole());
        assert_eq!(log.report().extra_header, "x");
        assert!(disk.files()[Path::new(name)].len() <= 700);
        assert_eq!(log.schemas().get("Pose2d").map(|s| s.size), Some(24));
        let header = log.named("FieldLab/00c0ffee/Header").next().unwrap();
        let texts = log.texts(header).unwrap();
        assert_eq!((header.start, texts.times.last()), (Micros(3), Some(&Micros(5))));
        assert_eq!(texts.values.last().map(|t| &**t), Some("{\"plan\":1}"));
        let volts = log.named("volts").next().unwrap();
        assert_eq!((volts.start, volts.last_metadata()), (Micros(6), "{\"unit\":\"V\"}"));
        assert_eq!(log.named("ends").count(), usize::from(number == 0));
        seen.extend(log.numbers(volts).unwrap().values);
    }
    assert_eq!(seen, (0..40).map(f64::from).collect::<Vec<_>>());
}

#[test]
fn a_finish_is_never_within_a_second_of_its_start() {
    let disk = Held::default();
    let log = writer(&disk, config());
    let short = log.start(Micros(5), "short", &DataType::Int, "").unwrap();
    let long = log.start(Micros(5), "long", &DataType::Int, "").unwrap();
    log.finish(Micros(6), short);
    log.finish(Micros(7), short);
    log.finish(Micros(3_000_000), long);
    assert!(!log.append(short, Micros(8), ValueRef::Int(1)));
    assert_eq!(log.close().stats.misfits, 1);
    let log = disk.log("logs/s_b1.wpilog");
    let finishes: Vec<_> = log.entries().iter().map(|e| e.finish).collect();
    assert_eq!(finishes, [Some(Micros(1_000_005)), Some(Micros(3_000_000))]);
    assert_eq!(log.report().stray_controls, 0);
}

#[test]
fn a_name_keeps_its_type_for_the_life_of_the_log() {
    let disk = Held::default();
    let log = writer(&disk, config());
    let a = log.start(Micros(0), "a", &DataType::Int, "").unwrap();
    assert_eq!(log.start(Micros(1), "a", &DataType::Int, "").unwrap(), a);
    let error = log.start(Micros(2), "a", &DataType::Double, "").unwrap_err();
    assert_eq!(error.to_string(), "entry a: expected type int64 as at its first start, found double");
    log.finish(Micros(3), a);
    assert!(matches!(log.start(Micros(4), "a", &DataType::Double, ""), Err(LogError::TypeChanged { .. })));
    assert_eq!(log.start(Micros(4_000_000), "a", &DataType::Int, "").unwrap(), a);
    assert!(!log.append(a, Micros(5_000_000), ValueRef::Double(1.0)));
    assert!(log.append(a, Micros(5_000_000), ValueRef::Int(1)));
    assert_eq!(log.close().stats.misfits, 1);
    let log = disk.log("logs/s_b1.wpilog");
    assert_eq!(log.entries().iter().map(|e| (e.id, e.records)).collect::<Vec<_>>(), [(1, 0), (1, 1)]);
}

#[test]
fn a_slow_disk_costs_counted_records_and_never_a_start() {
    let disk = Held::default();
    let log = writer(&disk, WriterConfig { queue_bytes: 400, ..config() });
    let a = log.start(Micros(0), "a", &DataType::Int, "").unwrap();
    log.flush_and_wait().unwrap();
    disk.shut(true);
    let taken = (0..1000).filter(|i| log.append(a, Micros(*i), ValueRef::Int(*i))).count();
    assert!(taken < 200, "{taken}");
    let late = log.start(Micros(1000), "late", &DataType::Boolean, "").unwrap();
    let stats = log.stats();
    assert_eq!(stats.dropped as usize, 1000 - taken);
    assert!(stats.queue_bytes <= 400 + 60, "{stats:?}");
    disk.shut(false);
    log.flush_and_wait().unwrap();
    assert!(log.append(late, Micros(1001), ValueRef::Boolean(true)));
    let closed = log.close();
    assert_eq!((closed.stats.dropped as usize, closed.stopped), (1000 - taken, None));
    let log = disk.log("logs/s_b1.wpilog");
    assert_eq!(log.entries().iter().map(|e| e.records as usize).collect::<Vec<_>>(), [taken, 1]);
}

#[test]
fn a_waiting_writer_loses_nothing() {
    let disk = Held::default();
    let log = writer(&disk, WriterConfig { queue_bytes: 300, overflow: Overflow::Wait, ..config() });
    let a = log.start(Micros(0), "a", &DataType::Int, "").unwrap();
    let text = log.start(Micros(0), "t", &DataType::String, "").unwrap();
    for i in 0..20_000 {
        assert!(log.append(a, Micros(i), ValueRef::Int(i)));
    }
    // Larger than the whole queue.
    assert!(log.append(text, Micros(1), ValueRef::String(&"x".repeat(5000))));
    let closed = log.close();
    assert_eq!((closed.stats.dropped, closed.stats.records), (0, 20_003));
    let log = disk.log("logs/s_b1.wpilog");
    assert_eq!(log.ints(&log.entries()[0]).unwrap().values, (0..20_000).collect::<Vec<_>>());
}

#[test]
fn at_the_free_space_floor_it_stops_at_a_record_and_says_so() {
    let disk = Held::default();
    disk.disk.lock().unwrap().set_capacity(Some(10_000));
    let log = writer(&disk, WriterConfig { free_floor_bytes: 9_000, overflow: Overflow::Wait, ..config() });
    let a = log.start(Micros(0), "a", &DataType::Int, "").unwrap();
    let mut stopped = None;
    for i in 0..200 {
        log.append(a, Micros(i), ValueRef::Int(i));
        if let Err(reason) = log.flush_and_wait() {
            stopped.get_or_insert((i, reason));
        }
    }
    let (at, reason) = stopped.unwrap();
    assert!(matches!(reason, StopReason::FreeSpace { floor_bytes: 9_000, .. }), "{reason}");
    assert_eq!(log.stop_reason(), Some(reason));
    let closed = log.close();
    assert!(closed.stats.stopped);
    assert_eq!(closed.stats.dropped, 200 - at as u64);
    let log = disk.log("logs/s_b1.wpilog");
    assert!(log.report().is_whole());
    assert_eq!(log.entries()[0].records, at as u64);
}

#[test]
fn a_full_disk_is_said_and_what_was_durable_stays() {
    let disk = Held::default();
    disk.disk.lock().unwrap().set_capacity(Some(1_000));
    let log = writer(&disk, config());
    let a = log.start(Micros(0), "a", &DataType::Int, "").unwrap();
    log.append(a, Micros(1), ValueRef::Int(1));
    log.flush_and_wait().unwrap();
    // The floor of 0 is asked for before each write, so the failure has to come from the write itself.
    disk.disk.lock().unwrap().set_capacity(None);
    for i in 0..100 {
        log.append(a, Micros(i), ValueRef::Int(i));
    }
    disk.disk.lock().unwrap().cut_after(0);
    let reason = log.flush_and_wait().unwrap_err();
    assert!(matches!(reason, StopReason::Failed { .. }), "{reason}");
    assert!(reason.to_string().starts_with("logs/s_b1.wpilog: log stopped: could not "), "{reason}");
    assert!(!log.append(a, Micros(1), ValueRef::Int(1)));
    assert_eq!(log.close().stats.dropped, 101);
    let survivors = disk.disk.lock().unwrap().survivors();
    for state in survivors {
        let bytes = state.files()[Path::new("logs/s_b1.wpilog")].clone();
        let log = Log::from_bytes(bytes, "survivor").unwrap();
        assert!(log.entries()[0].records >= 1);
    }
}

#[test]
fn power_cut_at_any_step_leaves_a_log_of_everything_flushed() {
    for steps in 0..60 {
        let disk = Held::default();
        disk.disk.lock().unwrap().cut_after(steps);
        let config = WriterConfig { roll_bytes: 250, ..config() };
        let Ok(log) = LogWriter::create_on(Box::new(disk.clone()), "logs/s_b1.wpilog", config) else {
            continue;
        };
        let mut flushed = -1;
        if let Ok(a) = log.start(Micros(0), "a", &DataType::Int, "") {
            for i in 0..20 {
                log.append(a, Micros(i), ValueRef::Int(i));
                if log.flush_and_wait().is_ok() {
                    flushed = i;
                }
            }
        }
        drop(log);
        for state in disk.disk.lock().unwrap().survivors() {
            let mut kept = Vec::new();
            for (name, bytes) in state.files() {
                // The newest file's header may be missing or cut; it held nothing yet.
                let Ok(log) = Log::from_bytes(bytes, &name.display().to_string()) else { continue };
                for entry in log.entries() {
                    kept.extend(log.ints(entry).unwrap().values);
                }
            }
            kept.sort_unstable();
            assert!(kept.len() as i64 > flushed, "{steps}: flushed up to {flushed}, kept {kept:?}");
            assert!(kept.iter().copied().eq(0..kept.len() as i64), "{steps}: {kept:?}");
        }
    }
}

#[test]
fn a_log_behind_a_disk_that_does_not_answer_takes_records_and_has_them_when_it_does() {
    let disk = Held::default();
    let held = disk.disk.lock().unwrap();
    let behind = |path: &str| LogWriter::create_behind(Box::new(disk.clone()), path, config()).unwrap();
    let log = behind("logs/s_b1.wpilog");
    let a = log.start(Micros(0), "a", &DataType::Int, "").unwrap();
    for i in 0..3 {
        assert!(log.append(a, Micros(i), ValueRef::Int(i)));
    }
    assert_eq!((log.stats().files, log.stats().records, log.stop_reason()), (0, 4, None));
    drop(held);
    log.flush_and_wait().unwrap();
    let closed = log.close();
    assert_eq!((closed.stats.files, closed.stats.dropped), (1, 0));
    assert_eq!(disk.log("logs/s_b1.wpilog").entries()[0].records, 3);

    let again = behind("logs/s_b1.wpilog");
    let reason = again.flush_and_wait().unwrap_err().to_string();
    assert!(reason.contains("logs/s_b1.wpilog") && reason.contains("could not create"), "{reason}");
    let closed = again.close();
    assert_eq!((closed.stats.files, closed.files.len()), (0, 0));
    assert_eq!(disk.log("logs/s_b1.wpilog").entries()[0].records, 3, "what was there stays");
}

#[test]
fn an_existing_log_is_never_overwritten() {
    let disk = Held::default();
    drop(writer(&disk, config()));
    let again = LogWriter::create_on(Box::new(disk.clone()), "logs/s_b1.wpilog", config());
    assert!(matches!(again, Err(LogError::Io { kind: io::ErrorKind::AlreadyExists, .. })));
    // Nor the name of a file to roll to.
    disk.clone().create_new(Path::new("logs/t.2.wpilog")).unwrap();
    let log = LogWriter::create_on(
        Box::new(disk.clone()),
        "logs/t.wpilog",
        WriterConfig { roll_bytes: 60, ..config() },
    )
    .unwrap();
    let a = log.start(Micros(0), "a", &DataType::Int, "").unwrap();
    log.flush_and_wait().unwrap();
    log.append(a, Micros(1), ValueRef::Int(1));
    log.flush_and_wait().unwrap();
    log.append(a, Micros(2), ValueRef::Int(2));
    let files = log.close().files;
    assert_eq!(files[1], Path::new("logs/t.3.wpilog"));
}

#[test]
fn a_file_that_is_taken_away_is_followed_by_another() {
    let disk = Held::default();
    let log = writer(&disk, config());
    let a = log.start(Micros(0), "a", &DataType::Int, "").unwrap();
    log.flush_and_wait().unwrap();
    disk.clone().remove(Path::new("logs/s_b1.wpilog")).unwrap();
    log.append(a, Micros(1), ValueRef::Int(1));
    log.flush_and_wait().unwrap();
    assert_eq!(log.close().files.len(), 2);
    let log = disk.log("logs/s_b1.2.wpilog");
    assert_eq!(log.ints(&log.entries()[0]).unwrap().values, [1]);
}

#[test]
fn it_flushes_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/log.wpilog");
    let log =
        LogWriter::create(&path, WriterConfig { flush_every: Duration::from_millis(5), ..config() }).unwrap();
    let a = log.start(Micros(0), "a", &DataType::Int, "").unwrap();
    log.append(a, Micros(1), ValueRef::Int(1));
    while log.stats().bytes_durable == 0 {
        std::thread::yield_now();
    }
    // Still open, and already whole on the disk.
    assert_eq!(Log::read(&path).unwrap().entries()[0].records, 1);
    drop(log);
}
