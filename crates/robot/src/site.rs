//! Where a robot keeps its files, and the log file of the session that runs.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use fieldlab_base::{ConfigError, Micros};
use fieldlab_store::{Disk, FileLayer, Lock};
use fieldlab_wpilog::{LogError, LogWriter, Overflow, WriterConfig, WriterStats};

use crate::storage::{InlineStorage, Retired, Storage, StorageThread};
use crate::telemetry::{AkitSink, Door, LogSink, SinkId};

/// The folder of a Systemcore for checkpoints; used when it is there.
const SYSTEMCORE_DIR: &str = "/home/systemcore/catalyst";
/// The checkpoint's file name.
pub const CHECKPOINT_FILE: &str = "fieldlab-checkpoint.json";

/// Makes the file layer for one user of it.
pub type Layers = Rc<dyn Fn() -> Box<dyn FileLayer + Send>>;

/// How files are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// By a real clock: threads of their own write, a full queue drops and counts.
    Realtime,
    /// By a virtual clock: saves are done where they are asked for and a full log queue waits, so that a run is
    /// repeatable and loses nothing.
    Virtual,
}

/// Who writes the checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Saves {
    /// A thread of its own; the loop never waits for the disk.
    Thread,
    /// Whoever asks for it, at once, so that a run by a virtual clock is repeatable.
    Inline,
}

/// Where a robot keeps its files, and how. Clones share the log that is open.
#[derive(Clone)]
pub struct Site {
    /// Session folders are made here: `<out>/<session>/<session>_b<boot>.wpilog`.
    pub out_dir: PathBuf,
    /// The checkpoint file.
    pub checkpoint: PathBuf,
    /// How files are written.
    pub pace: Pace,
    /// Who writes the checkpoint; `None` is as the pace has it.
    pub saves: Option<Saves>,
    /// How the log is written; its overflow rule follows the pace.
    pub log: WriterConfig,
    /// Whether an AdvantageKit-shaped log is written too, as `<session>_b<boot>_akit.wpilog`.
    pub advantage_kit: bool,
    /// What a session needs free on the log's volume before it may begin, bytes.
    pub needed_bytes: u64,
    /// Random bits of this boot: they tell boots apart in the logs, and sessions whose clock is not to be trusted.
    pub boot_random: u64,
    /// What goes into the session header beside the plan: constants in force, code version, battery name.
    pub header: serde_json::Map<String, serde_json::Value>,
    /// The file system.
    pub layers: Layers,
    open: Rc<RefCell<Option<OpenLog>>>,
    /// The file numbers given last, and to which session: a file may not be there yet when the next one is named.
    given: Rc<RefCell<(String, u32)>>,
    retired: Rc<Retired>,
}

struct OpenLog {
    session: String,
    writer: Arc<LogWriter>,
    akit: Option<Arc<LogWriter>>,
    sinks: Vec<SinkId>,
    door: Door,
}

impl OpenLog {
    /// Whether the door's records go to it, and into a file or one that is still being made.
    fn serves(&self, door: &Door) -> bool {
        let stats = self.writer.stats();
        self.door.is(door) && !(stats.stopped && stats.files == 0)
    }
}

/// The log of a session, as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct LogHealth {
    /// The first file of this boot.
    pub path: PathBuf,
    /// Its counters.
    pub stats: WriterStats,
    /// Why it stopped, if it did.
    pub stopped: Option<String>,
}

impl Site {
    /// A site with session folders in `out_dir` and the checkpoint at the place that [`default_checkpoint`] names.
    #[must_use]
    pub fn new(out_dir: impl Into<PathBuf>, pace: Pace, boot_random: u64) -> Self {
        Self {
            out_dir: out_dir.into(),
            checkpoint: default_checkpoint(),
            pace,
            saves: None,
            log: WriterConfig::default(),
            advantage_kit: false,
            needed_bytes: 300 << 20,
            boot_random,
            header: serde_json::Map::new(),
            layers: Rc::new(|| Box::new(Disk::new())),
            open: Rc::default(),
            given: Rc::default(),
            retired: Rc::default(),
        }
    }

    /// Refuses a checkpoint that would go to the shop with the logs: one inside the log folder, or on the log's volume
    /// when that is not also the system's. [`Site::checkpoint`] set by hand is taken as it is; this check is for the
    /// rule's own path.
    ///
    /// # Errors
    /// Names the checkpoint's path.
    pub fn check_checkpoint_place(&self) -> Result<(), ConfigError> {
        let refuse = |found: String| {
            Err(ConfigError::new("site.checkpoint", "a path that is not on the log volume", found))
        };
        let folder = self.checkpoint.parent().unwrap_or(Path::new(""));
        let (folder, logs) = (existing(folder), existing(&self.out_dir));
        if same_volume(&folder, &logs)
            && !same_volume(&logs, Path::new("/"))
            && !same_volume(&logs, Path::new("."))
        {
            return refuse(format!(
                "{} on the volume of {}",
                self.checkpoint.display(),
                self.out_dir.display()
            ));
        }
        Ok(())
    }

    /// Whether a storage of before still finishes its last save. Until it has, the checkpoint is neither to be read nor to
    /// be locked. When the last clone of this site is dropped, it waits for that.
    #[must_use]
    pub fn storage_at_work(&self) -> bool {
        self.retired.at_work()
    }

    /// How many saves were handed to a storage thread and are not done.
    #[must_use]
    pub fn saves_waiting(&self) -> usize {
        self.retired.waiting()
    }

    /// The storage of the checkpoint, which holds `only` until its last save is done.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn storage(&self, only: Lock) -> Result<Box<dyn Storage>, ConfigError> {
        let (checkpoint, out, only) = (self.checkpoint.clone(), self.out_dir.clone(), Some(only));
        let by_pace = if self.pace == Pace::Realtime { Saves::Thread } else { Saves::Inline };
        match self.saves.unwrap_or(by_pace) {
            Saves::Inline => Ok(Box::new(InlineStorage::new((self.layers)(), checkpoint, out, only))),
            Saves::Thread => {
                StorageThread::start((self.layers)(), checkpoint, out, only, Rc::clone(&self.retired))
                    .map(|thread| Box::new(thread) as Box<dyn Storage>)
                    .map_err(|e| ConfigError::new("site.storage", "a thread", e))
            }
        }
    }

    /// The sessions whose folders are there.
    #[must_use]
    pub fn known_sessions(&self) -> Vec<String> {
        let found = (self.layers)().list(&self.out_dir).unwrap_or_default();
        found.into_iter().filter_map(|name| name.into_string().ok()).filter(|name| is_session(name)).collect()
    }

    /// Opens the log of `session` and attaches it to the door, unless it is open already. The log of another session is
    /// closed first, and so is one that never had a file; files are never renamed, overwritten or deleted: each boot takes the
    /// next free number.
    ///
    /// By a real clock the writer's thread makes the file, so that nobody waits for the disk: that it could not be made is
    /// then in [`Site::log_health`].
    ///
    /// # Errors
    /// When the folder or the file cannot be made, by a virtual clock; when there is no thread to be had.
    pub fn open_log(&self, session: &str, now: Micros, door: &Door) -> Result<(), LogError> {
        if self.open.borrow().as_ref().is_some_and(|open| open.session == session && open.serves(door)) {
            return Ok(());
        }
        self.close_log();
        let folder = self.out_dir.join(session);
        let boot = self.next_boot(&folder, session);
        let writer = self.writer(&folder.join(format!("{session}_b{boot}.wpilog")), "")?;
        let sink = LogSink::new(Arc::clone(&writer), now);
        let sink = if self.pace == Pace::Virtual { sink.by_virtual_clock() } else { sink };
        let mut sinks = vec![door.attach(Box::new(sink))];
        let mut akit = None;
        if self.advantage_kit {
            let path = folder.join(format!("{session}_b{boot}_akit.wpilog"));
            let second = self.writer(&path, AkitSink::EXTRA_HEADER)?;
            let sink = AkitSink::new(Arc::clone(&second), now)?;
            let sink = if self.pace == Pace::Virtual { sink.by_virtual_clock() } else { sink };
            sinks.push(door.attach(Box::new(sink)));
            akit = Some(second);
        }
        let open = OpenLog { session: session.to_owned(), writer, akit, sinks, door: door.clone() };
        *self.open.borrow_mut() = Some(open);
        Ok(())
    }

    /// Detaches and closes the log that is open. What was logged before is durable when this returns by a virtual clock,
    /// and soon after by a real one.
    pub fn close_log(&self) {
        let Some(open) = self.open.borrow_mut().take() else { return };
        for sink in &open.sinks {
            open.door.detach(*sink);
        }
        let writers = (open.writer, open.akit);
        match self.pace {
            Pace::Virtual => drop(writers),
            Pace::Realtime => {
                // Closing waits for the disk, and the loop does not. When no thread can be had, waiting is what is left.
                let spawned = std::thread::Builder::new().name("fieldlab-close".into());
                drop(spawned.spawn(move || drop(writers)));
            }
        }
    }

    /// How the open log stands.
    #[must_use]
    pub fn log_stats(&self) -> Option<WriterStats> {
        self.open.borrow().as_ref().map(|open| open.writer.stats())
    }

    /// How the open log stands, with its path and the reason why it stopped.
    #[must_use]
    pub fn log_health(&self) -> Option<LogHealth> {
        self.open.borrow().as_ref().map(|open| LogHealth {
            path: open.writer.path().to_owned(),
            stats: open.writer.stats(),
            stopped: open.writer.stop_reason().map(|reason| reason.to_string()),
        })
    }

    /// By a virtual clock: makes the open log durable now.
    pub fn settle_log(&self) {
        if self.pace == Pace::Virtual
            && let Some(open) = &*self.open.borrow()
        {
            // Why it stopped is in its health.
            open.writer.flush_and_wait().ok();
        }
    }

    fn writer(&self, path: &Path, extra_header: &str) -> Result<Arc<LogWriter>, LogError> {
        let overflow = match self.pace {
            Pace::Realtime => Overflow::Drop,
            Pace::Virtual => Overflow::Wait,
        };
        let config = WriterConfig { extra_header: extra_header.into(), overflow, ..self.log.clone() };
        let writer = match self.pace {
            Pace::Realtime => LogWriter::create_behind((self.layers)(), path, config)?,
            Pace::Virtual => LogWriter::create_on((self.layers)(), path, config)?,
        };
        Ok(Arc::new(writer))
    }

    fn next_boot(&self, folder: &Path, session: &str) -> u32 {
        let prefix = format!("{session}_b");
        let taken = (self.layers)().list(folder).unwrap_or_default();
        let numbers = taken.iter().filter_map(|name| {
            let rest = name.to_str()?.strip_prefix(&prefix)?;
            rest.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u32>().ok()
        });
        let given = &mut *self.given.borrow_mut();
        let known = if given.0 == session { given.1 } else { 0 };
        let number = numbers.max().unwrap_or(0).max(known).saturating_add(1);
        *given = (session.to_owned(), number);
        number
    }
}

impl std::fmt::Debug for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Site")
            .field("out_dir", &self.out_dir)
            .field("checkpoint", &self.checkpoint)
            .field("pace", &self.pace)
            .finish_non_exhaustive()
    }
}

/// The checkpoint's place by rule: beside the motor history on a Systemcore, in the working directory elsewhere. Never
/// on the stick that the logs go to, which is pulled and taken to the shop.
#[must_use]
pub fn default_checkpoint() -> PathBuf {
    let systemcore = Path::new(SYSTEMCORE_DIR);
    if systemcore.is_dir() { systemcore.join(CHECKPOINT_FILE) } else { PathBuf::from(CHECKPOINT_FILE) }
}

fn is_session(name: &str) -> bool {
    name.len() == 8 && name.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// The nearest folder upwards that is there.
fn existing(path: &Path) -> PathBuf {
    let mut at = path;
    while !at.exists() {
        match at.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => at = parent,
            _ => return PathBuf::from("."),
        }
    }
    if at.as_os_str().is_empty() { PathBuf::from(".") } else { at.to_owned() }
}

#[cfg(unix)]
fn same_volume(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (a.metadata(), b.metadata()) {
        (Ok(a), Ok(b)) => a.dev() == b.dev(),
        _ => false,
    }
}

#[cfg(not(unix))]
fn same_volume(a: &Path, b: &Path) -> bool {
    a.components().next() == b.components().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(folder: &Path) -> Site {
        let mut site = Site::new(folder.join("out"), Pace::Virtual, 7);
        site.log.free_floor_bytes = 0;
        site
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn every_boot_has_its_own_file_and_a_rebuilt_op_mode_has_not() {
        let folder = tempfile::tempdir().unwrap();
        for boot in 1..=3 {
            let (site, door) = (site(folder.path()), Door::new());
            site.open_log("6aa1f940", Micros::ZERO, &door).unwrap();
            site.open_log("6aa1f940", Micros::ZERO, &door).unwrap();
            assert_eq!(door.attachments(), 1);
            assert!(site.log_health().unwrap().path.ends_with(format!("6aa1f940/6aa1f940_b{boot}.wpilog")));
            site.close_log();
        }
        let expected = ["6aa1f940_b1.wpilog", "6aa1f940_b2.wpilog", "6aa1f940_b3.wpilog"];
        assert_eq!(names(&folder.path().join("out/6aa1f940")), expected);
        assert_eq!(site(folder.path()).known_sessions(), ["6aa1f940"]);
    }

    #[test]
    fn another_session_is_another_folder() {
        let folder = tempfile::tempdir().unwrap();
        let (mut site, door) = (site(folder.path()), Door::new());
        site.advantage_kit = true;
        site.open_log("6aa1f940", Micros::ZERO, &door).unwrap();
        site.open_log("6aa1f941", Micros::ZERO, &door).unwrap();
        site.close_log();
        assert_eq!(
            names(&folder.path().join("out/6aa1f940")),
            ["6aa1f940_b1.wpilog", "6aa1f940_b1_akit.wpilog"]
        );
        assert_eq!(site.known_sessions().len(), 2);
    }

    #[test]
    fn the_checkpoint_may_stand_beside_logs_on_the_systems_own_volume_only() {
        let folder = tempfile::tempdir().unwrap();
        let site = site(folder.path());
        assert!(site.checkpoint.ends_with(CHECKPOINT_FILE));
        site.check_checkpoint_place().unwrap();
        // /proc is a volume of its own on every Linux machine.
        if cfg!(target_os = "linux") {
            let stick = Site { out_dir: "/proc/self".into(), checkpoint: "/proc/self/c.json".into(), ..site };
            assert_eq!(stick.check_checkpoint_place().unwrap_err().path, "site.checkpoint");
        }
    }
}
