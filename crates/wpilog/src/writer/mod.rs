//! The log writer: records in from the robot loop, files out on a thread of its own.

mod config;
mod files;
mod thread;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use fieldlab_base::Micros;
use fieldlab_store::{Disk, FileLayer};
use fieldlab_values::{DataType, Family, Published, ValueRef};

pub use config::{Closed, Overflow, StopReason, WriterConfig, WriterStats};
use files::{Files, Note};

use crate::encoder::payload_len;
use crate::record::{MAX_HEAD, PUT_ROOM};
use crate::{Encoder, LogError};

/// A Finish is never written closer to its Start than this: AdvantageScope deletes an entry that lived shorter.
const SHORTEST_LIFE: Micros = Micros(1_000_000);
/// The longest name, type name or metadata that is accepted.
const MAX_TEXT: usize = 1 << 20;

/// An entry of one [`LogWriter`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(u32);

impl EntryId {
    /// The id that its records carry in the file.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// Writes a log on a thread of its own.
///
/// An append encodes into a buffer that was allocated at the start and returns; every [`WriterConfig::flush_every`] the
/// thread swaps that buffer with an empty one, writes it and makes it durable. So a power cut costs a quarter second,
/// and a slow disk costs, with [`Overflow::Drop`], the records that did not fit, each counted. When the file would grow
/// too large the next one begins with all Start records and every sticky record, at the times they were given.
///
/// Dropping it closes it, without a word; [`LogWriter::close`] says how it went.
///
/// ```
/// use fieldlab_base::Micros;
/// use fieldlab_values::{DataType, ValueRef};
/// use fieldlab_wpilog::{Log, LogWriter, WriterConfig};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("00c0ffee_b1.wpilog");
/// let log = LogWriter::create(&path, WriterConfig { free_floor_bytes: 0, ..WriterConfig::default() })?;
/// let volts = log.start(Micros(0), "Status/BatteryVolts", &DataType::Double, "")?;
/// log.append(volts, Micros(20_000), ValueRef::Double(12.5));
/// assert_eq!(log.close().stats.dropped, 0);
/// assert_eq!(Log::open(&path)?.entries()[0].records, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LogWriter {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    config: WriterConfig,
    first: PathBuf,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Tells the thread that there is something to do before its time.
    work: Condvar,
    /// Tells waiting callers that the queue was emptied or a flush is done.
    done: Condvar,
}

#[derive(Debug)]
struct State {
    front: Encoder,
    front_records: u64,
    notes: Vec<Note>,
    entries: Vec<EntryState>,
    /// By entry: what it takes now, nothing once it is finished. Apart from the rest, so that an append touches little.
    takes: Vec<Option<Family>>,
    names: BTreeMap<String, u32>,
    stats: WriterStats,
    files: Vec<PathBuf>,
    stopped: Option<StopReason>,
    /// Why the first file could not be made, for whoever waits for it.
    refused: Option<LogError>,
    woken: bool,
    flushes_asked: u64,
    flushes_done: u64,
    closing: bool,
}

#[derive(Debug)]
struct EntryState {
    data_type: DataType,
    family: Family,
    metadata: String,
    started: Micros,
    live: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere leaves counters at worst one record off, which is no reason to lose the log as well.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LogWriter {
    /// Makes a log on the real file system; folders on the way are made too.
    ///
    /// # Errors
    /// [`LogError::Io`] when the file exists already or cannot be made, [`LogError::Thread`].
    pub fn create(path: impl AsRef<Path>, config: WriterConfig) -> Result<Self, LogError> {
        Self::create_on(Box::new(Disk::new()), path, config)
    }

    /// Makes a log on any file layer.
    ///
    /// # Errors
    /// As [`LogWriter::create`].
    pub fn create_on(
        layer: Box<dyn FileLayer + Send>,
        path: impl AsRef<Path>,
        config: WriterConfig,
    ) -> Result<Self, LogError> {
        let log = Self::create_behind(layer, path, config)?;
        let mut state = log.shared.lock();
        while state.stats.files == 0 && state.stopped.is_none() {
            state = log.shared.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let refused = state.refused.take();
        drop(state);
        refused.map_or(Ok(log), Err)
    }

    /// Makes a log whose first file its thread makes: this waits for no disk, and appends are taken at once. Whether there is a
    /// file yet stands in [`WriterStats::files`], and why there is none in [`LogWriter::stop_reason`].
    ///
    /// # Errors
    /// [`LogError::Thread`].
    pub fn create_behind(
        layer: Box<dyn FileLayer + Send>,
        path: impl AsRef<Path>,
        config: WriterConfig,
    ) -> Result<Self, LogError> {
        let path = path.as_ref();
        let files = Files::new(layer, path, &config);
        let room = config.queue_bytes.saturating_add(PUT_ROOM);
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                front: Encoder::with_capacity(room),
                front_records: 0,
                notes: Vec::with_capacity(64),
                entries: Vec::new(),
                takes: Vec::new(),
                names: BTreeMap::new(),
                stats: WriterStats::default(),
                files: Vec::new(),
                stopped: None,
                refused: None,
                woken: false,
                flushes_asked: 0,
                flushes_done: 0,
                closing: false,
            }),
            work: Condvar::new(),
            done: Condvar::new(),
        });
        let for_thread = Arc::clone(&shared);
        let flush_every = config.flush_every;
        let back = Encoder::with_capacity(room);
        let first = path.to_owned();
        let thread = std::thread::Builder::new()
            .name("fieldlab-log".to_owned())
            .spawn(move || thread::run(&for_thread, first, files, back, flush_every))
            .map_err(|error| LogError::Thread { path: path.to_owned(), reason: error.to_string() })?;
        Ok(Self { shared, thread: Some(thread), config, first: path.to_owned() })
    }

    /// Starts an entry, or answers the one that has this name. A Start is never dropped for want of room in the queue.
    ///
    /// # Errors
    /// [`LogError::TypeChanged`] when the name had another type in this log, live or finished; [`LogError::TooLong`].
    pub fn start(
        &self,
        now: Micros,
        name: &str,
        data_type: &DataType,
        metadata: &str,
    ) -> Result<EntryId, LogError> {
        for (what, text) in [("name", name), ("type", data_type.log_name()), ("metadata", metadata)] {
            if text.len() > MAX_TEXT {
                return Err(LogError::TooLong { what, limit: MAX_TEXT, found: text.len() });
            }
        }
        let state = &mut *self.shared.lock();
        let known = state.names.get(name).copied();
        let id = known.unwrap_or(state.entries.len() as u32 + 1);
        match state.entries.get_mut(id as usize - 1) {
            Some(entry) if entry.data_type != *data_type => {
                return Err(LogError::TypeChanged {
                    name: name.to_owned(),
                    expected: entry.data_type.log_name().to_owned(),
                    found: data_type.log_name().to_owned(),
                });
            }
            Some(entry) if entry.live => return Ok(EntryId(id)),
            Some(entry) => {
                entry.live = true;
                state.takes[id as usize - 1] = Some(entry.family);
                entry.started = now;
                metadata.clone_into(&mut entry.metadata);
            }
            None => {
                state.names.insert(name.to_owned(), id);
                state.takes.push(Some(data_type.family()));
                state.entries.push(EntryState {
                    data_type: data_type.clone(),
                    family: data_type.family(),
                    metadata: metadata.to_owned(),
                    started: now,
                    live: true,
                });
            }
        }
        let texts = name.len() + data_type.log_name().len() + metadata.len();
        let mut bytes = Encoder::with_capacity(PUT_ROOM + 17 + texts);
        bytes.start(now, id, name, data_type, metadata);
        self.control(state, bytes, |bytes| Note::Start { id, bytes });
        Ok(EntryId(id))
    }

    /// Replaces an entry's metadata; the same text again writes nothing.
    pub fn set_metadata(&self, now: Micros, entry: EntryId, metadata: &str) {
        let state = &mut *self.shared.lock();
        let Some(known) = state.entry(entry) else { return };
        if known.live && known.metadata != metadata && metadata.len() <= MAX_TEXT {
            metadata.clone_into(&mut known.metadata);
            let mut bytes = Encoder::records();
            bytes.set_metadata(now, entry.0, metadata);
            self.control(state, bytes, |bytes| Note::Metadata { id: entry.0, bytes });
        }
    }

    /// Ends an entry. The record is written for one second after its Start at the earliest.
    pub fn finish(&self, now: Micros, entry: EntryId) {
        let state = &mut *self.shared.lock();
        let Some(known) = state.entry(entry) else { return };
        if std::mem::replace(&mut known.live, false) {
            let time = now.max(known.started + SHORTEST_LIFE);
            state.takes[entry.0 as usize - 1] = None;
            if state.stopped.is_some() {
                state.stats.dropped += 1;
                return;
            }
            state.front.finish(time, entry.0);
            state.notes.push(Note::Finish { id: entry.0 });
            self.queued(state);
        }
    }

    /// Appends one record and answers whether it was taken. What was not taken is counted.
    pub fn append(&self, entry: EntryId, time: Micros, value: ValueRef<'_>) -> bool {
        self.batch().append(entry, time, value)
    }

    /// Takes the queue once for many appends of one turn. Nothing is written while it is held.
    #[must_use]
    pub fn batch(&self) -> Batch<'_> {
        Batch { writer: self, state: Some(self.shared.lock()) }
    }

    /// Appends one record that every later file repeats, with its time; of each entry the latest one. It is never
    /// dropped for want of room in the queue.
    pub fn append_sticky(&self, entry: EntryId, time: Micros, value: ValueRef<'_>) -> bool {
        let state = &mut *self.shared.lock();
        if !state.fits(entry, value) {
            return false;
        }
        let mut bytes = Encoder::records();
        bytes.value(time, entry.0, value);
        self.control(state, bytes, |bytes| Note::Sticky { id: entry.0, bytes })
    }

    /// Writes a struct schema as WPILib does, once a name: entry `/.schema/struct:<name>`, repeated in every file.
    ///
    /// # Errors
    /// As [`LogWriter::start`].
    pub fn schema(&self, now: Micros, name: &str, text: &str) -> Result<(), LogError> {
        let entry_name = format!("/.schema/struct:{name}");
        if self.shared.lock().names.contains_key(&entry_name) {
            return Ok(());
        }
        let entry = self.start(now, &entry_name, &DataType::Other("structschema".into()), "")?;
        self.append_sticky(entry, now, ValueRef::Raw(text.as_bytes()));
        Ok(())
    }

    /// Writes every schema that values of type `T` need.
    ///
    /// # Errors
    /// As [`LogWriter::start`].
    pub fn schemas_of<T: Published + ?Sized>(&self, now: Micros) -> Result<(), LogError> {
        let mut result = Ok(());
        T::schemas(&mut |name, text| {
            if result.is_ok() {
                result = self.schema(now, name, text);
            }
        });
        result
    }

    /// Waits until everything appended before is durable.
    ///
    /// # Errors
    /// Why the log has stopped.
    pub fn flush_and_wait(&self) -> Result<(), StopReason> {
        let mut state = self.shared.lock();
        state.flushes_asked += 1;
        let ticket = state.flushes_asked;
        self.shared.work.notify_one();
        while state.flushes_done < ticket && state.stopped.is_none() {
            state = self.shared.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.stopped.clone().map_or(Ok(()), Err)
    }

    /// The counters now. Does not allocate.
    #[must_use]
    pub fn stats(&self) -> WriterStats {
        let state = self.shared.lock();
        WriterStats { queue_bytes: state.front.len(), ..state.stats }
    }

    /// Why writing has stopped; `None` while it goes on.
    #[must_use]
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.shared.lock().stopped.clone()
    }

    /// The first file's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.first
    }

    /// Every file begun so far, in order.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        self.shared.lock().files.clone()
    }

    /// Makes everything durable and ends the thread.
    #[must_use = "says whether anything was lost"]
    pub fn close(mut self) -> Closed {
        self.end();
        let state = self.shared.lock();
        Closed { stats: state.stats, files: state.files.clone(), stopped: state.stopped.clone() }
    }

    fn end(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        self.shared.lock().closing = true;
        self.shared.work.notify_one();
        // A panic on the thread has already been reported as `StopReason::ThreadEnded`.
        thread.join().ok();
    }

    /// Queues a record that may not be dropped for want of room.
    fn control(&self, state: &mut State, bytes: Encoder, note: impl FnOnce(Vec<u8>) -> Note) -> bool {
        if state.stopped.is_some() {
            state.stats.dropped += 1;
            return false;
        }
        state.front.append(bytes.bytes());
        state.notes.push(note(bytes.into_bytes()));
        self.queued(state);
        true
    }

    fn queued(&self, state: &mut State) {
        state.front_records += 1;
        state.stats.records += 1;
        let waiting = state.front.len();
        state.stats.queue_peak_bytes = state.stats.queue_peak_bytes.max(waiting);
        if !state.woken && waiting >= self.config.queue_bytes / 2 {
            state.woken = true;
            self.shared.work.notify_one();
        }
    }
}

impl Drop for LogWriter {
    fn drop(&mut self) {
        self.end();
    }
}

impl State {
    fn entry(&mut self, entry: EntryId) -> Option<&mut EntryState> {
        self.entries.get_mut((entry.0 as usize).checked_sub(1)?)
    }

    /// Whether a value may be appended to an entry; a misfit is counted.
    fn fits(&mut self, entry: EntryId, value: ValueRef<'_>) -> bool {
        let takes = (entry.0 as usize).checked_sub(1).and_then(|at| self.takes.get(at));
        let fits = takes.is_some_and(|family| *family == Some(value.family()));
        self.stats.misfits += u64::from(!fits);
        fits
    }
}

/// The queue, taken for many appends.
#[derive(Debug)]
pub struct Batch<'a> {
    writer: &'a LogWriter,
    /// Away only while an append waits for room.
    state: Option<MutexGuard<'a, State>>,
}

impl Batch<'_> {
    /// As [`LogWriter::append`].
    pub fn append(&mut self, entry: EntryId, time: Micros, value: ValueRef<'_>) -> bool {
        let bytes = payload_len(value).saturating_add(MAX_HEAD);
        let Some(state) = &mut self.state else { return false };
        if !state.fits(entry, value) {
            return false;
        }
        if !self.writer.has_room(state, bytes) {
            let Some(state) = self.state.take() else { return false };
            self.state = Some(self.writer.room_for(state, bytes));
        }
        let Some(state) = &mut self.state else { return false };
        self.writer.put(state, entry, time, value, bytes)
    }
}

impl LogWriter {
    /// Waits until `bytes` more fit, when waiting is what this writer does.
    fn room_for<'a>(&'a self, mut state: MutexGuard<'a, State>, bytes: usize) -> MutexGuard<'a, State> {
        while self.config.overflow == Overflow::Wait
            && !self.has_room(&state, bytes)
            && state.stopped.is_none()
        {
            state.woken = true;
            self.shared.work.notify_one();
            state = self.shared.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    /// A record larger than the whole queue is taken when it is alone.
    fn has_room(&self, state: &State, bytes: usize) -> bool {
        state.front.is_empty() || state.front.len().saturating_add(bytes) <= self.config.queue_bytes
    }

    fn put(
        &self,
        state: &mut State,
        entry: EntryId,
        time: Micros,
        value: ValueRef<'_>,
        bytes: usize,
    ) -> bool {
        if state.stopped.is_some() || !self.has_room(state, bytes) {
            state.stats.dropped += 1;
            return false;
        }
        state.front.value(time, entry.0, value);
        self.queued(state);
        true
    }
}
