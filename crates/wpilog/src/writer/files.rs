//! The file side of the writer: what goes to which file, when it is durable, when to stop.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use fieldlab_store::FileLayer;

use super::config::{StopReason, WriterConfig};
use crate::Encoder;

/// Bytes written without an fsync between them, at most, when the log is so busy that the thread never comes to rest:
/// what a quick disk writes in about a quarter second.
const MAX_UNSYNCED: u64 = 64 << 20;
/// Names tried for the next file before giving up.
const MAX_SUFFIX: u32 = 10_000;

/// What a later file must repeat, told with the batch in which it happened.
#[derive(Debug)]
pub(super) enum Note {
    /// A Start record.
    Start { id: u32, bytes: Vec<u8> },
    /// A SetMetadata record.
    Metadata { id: u32, bytes: Vec<u8> },
    /// A data record that every file repeats; the latest one of its entry.
    Sticky { id: u32, bytes: Vec<u8> },
    /// The entry is over.
    Finish { id: u32 },
}

/// The files of one log, the newest open.
pub(super) struct Files {
    layer: Box<dyn FileLayer + Send>,
    first: PathBuf,
    folder: PathBuf,
    path: PathBuf,
    suffix: u32,
    extra_header: String,
    roll_bytes: u64,
    free_floor_bytes: u64,
    /// Bytes in the newest file, and how many of them begin it.
    file_bytes: u64,
    preamble_bytes: u64,
    unsynced: u64,
    starts: BTreeMap<u32, Vec<u8>>,
    sticky: BTreeMap<u32, Vec<u8>>,
}

impl Files {
    /// The files of a log that begins at `path`; none is made before [`Files::open`].
    pub(super) fn new(layer: Box<dyn FileLayer + Send>, path: &Path, config: &WriterConfig) -> Self {
        Self {
            layer,
            first: path.to_owned(),
            folder: path.parent().unwrap_or(Path::new("")).to_owned(),
            path: path.to_owned(),
            suffix: 1,
            extra_header: config.extra_header.clone(),
            roll_bytes: config.roll_bytes,
            free_floor_bytes: config.free_floor_bytes,
            file_bytes: 0,
            preamble_bytes: 0,
            unsynced: 0,
            starts: BTreeMap::new(),
            sticky: BTreeMap::new(),
        }
    }

    /// Makes the folder and the first file, with its header, durably. An error comes with what was tried, as a verb.
    pub(super) fn open(&mut self) -> Result<(), (&'static str, io::Error)> {
        self.layer.create_dir_all(&self.folder).map_err(|error| ("create the folder", error))?;
        self.layer.create_new(&self.path).map_err(|error| ("create", error))?;
        self.begin()
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes header and preamble of a file that was just created, durably.
    fn begin(&mut self) -> Result<(), (&'static str, io::Error)> {
        let mut out = Encoder::new(&self.extra_header).into_bytes();
        for bytes in self.starts.values().chain(self.sticky.values()) {
            out.extend_from_slice(bytes);
        }
        self.layer.write(&self.path, &out).map_err(|error| ("write", error))?;
        self.layer.fsync(&self.path).map_err(|error| ("sync", error))?;
        self.layer.fsync_dir(&self.folder).map_err(|error| ("sync the folder", error))?;
        self.preamble_bytes = out.len() as u64;
        self.file_bytes = self.preamble_bytes;
        self.unsynced = 0;
        Ok(())
    }

    /// Writes one batch of whole records, to the next file if this one would grow too large.
    pub(super) fn write(&mut self, batch: &[u8], notes: &mut Vec<Note>) -> Result<(), StopReason> {
        if !batch.is_empty() {
            self.check_space(batch.len() as u64)?;
            let full = self.file_bytes.saturating_add(batch.len() as u64) > self.roll_bytes;
            if full && self.file_bytes > self.preamble_bytes {
                self.sync()?;
                self.next_file()?;
            }
            self.layer.write(&self.path, batch).map_err(|error| self.failed("write", &error))?;
            self.file_bytes += batch.len() as u64;
            self.unsynced += batch.len() as u64;
        }
        for note in notes.drain(..) {
            self.remember(note);
        }
        Ok(())
    }

    pub(super) fn must_sync(&self) -> bool {
        self.unsynced >= MAX_UNSYNCED
    }

    /// Makes everything written so far durable.
    pub(super) fn sync(&mut self) -> Result<(), StopReason> {
        if self.unsynced > 0 {
            self.layer.fsync_data(&self.path).map_err(|error| self.failed("sync", &error))?;
            self.unsynced = 0;
        }
        Ok(())
    }

    /// Begins another file when somebody removed the newest one: the records from now on are not lost with it.
    pub(super) fn replace_if_gone(&mut self) -> Result<(), StopReason> {
        let name = self.path.file_name();
        match self.layer.list(&self.folder) {
            Ok(names) if !names.iter().any(|n| Some(n.as_os_str()) == name) => self.next_file(),
            _ => Ok(()),
        }
    }

    fn next_file(&mut self) -> Result<(), StopReason> {
        loop {
            self.suffix += 1;
            self.path = numbered(&self.first, self.suffix);
            match self.layer.create_new(&self.path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && self.suffix < MAX_SUFFIX => {}
                Err(error) => return Err(self.failed("create", &error)),
                Ok(()) => break,
            }
        }
        self.begin().map_err(|(step, error)| self.failed(step, &error))
    }

    fn check_space(&mut self, wanted: u64) -> Result<(), StopReason> {
        let free_bytes = self
            .layer
            .free_space(&self.folder)
            .map_err(|error| self.failed("ask for the free space", &error))?;
        if free_bytes < self.free_floor_bytes.saturating_add(wanted) {
            let floor_bytes = self.free_floor_bytes;
            return Err(StopReason::FreeSpace { path: self.path.clone(), floor_bytes, free_bytes });
        }
        Ok(())
    }

    fn remember(&mut self, note: Note) {
        match note {
            Note::Start { id, bytes } => {
                self.starts.insert(id, bytes);
            }
            Note::Metadata { id, bytes } => {
                if let Some(start) = self.starts.get_mut(&id) {
                    start.extend_from_slice(&bytes);
                }
            }
            Note::Sticky { id, bytes } => {
                self.sticky.insert(id, bytes);
            }
            Note::Finish { id } => {
                self.starts.remove(&id);
                self.sticky.remove(&id);
            }
        }
    }

    pub(super) fn failed(&self, step: &'static str, error: &io::Error) -> StopReason {
        StopReason::Failed { path: self.path.clone(), step, reason: error.to_string() }
    }
}

/// `stem.2.wpilog`, `stem.3.wpilog`, …
fn numbered(first: &Path, number: u32) -> PathBuf {
    let stem = first.file_stem().unwrap_or_default().to_string_lossy();
    let extension = first.extension().map_or_else(String::new, |e| format!(".{}", e.to_string_lossy()));
    first.with_file_name(format!("{stem}.{number}{extension}"))
}
