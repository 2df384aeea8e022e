//! A disk that can be full, and that a dead process cannot write to any more.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use fieldlab_store::{Disk, FileLayer};

const WELL: u8 = 0;
const FULL: u8 = 1;
const DEAD: u8 = 2;

/// What is wrong with all disks made from it.
#[derive(Debug, Clone, Default)]
pub(super) struct DiskState(Arc<AtomicU8>);

impl DiskState {
    pub(super) fn set_full(&self, full: bool) {
        let (from, to) = if full { (WELL, FULL) } else { (FULL, WELL) };
        // A dead process stays dead; then nothing is exchanged.
        self.0.compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst).ok();
    }

    pub(super) fn kill(&self) {
        self.0.store(DEAD, Ordering::SeqCst);
    }

    fn check(&self) -> io::Result<()> {
        match self.0.load(Ordering::SeqCst) {
            WELL => Ok(()),
            FULL => Err(io::Error::new(io::ErrorKind::StorageFull, "no space left (by script)")),
            _ => Err(io::Error::new(io::ErrorKind::BrokenPipe, "the process was killed (by script)")),
        }
    }
}

/// The real file system under a [`DiskState`].
#[derive(Debug)]
pub(super) struct ScriptedDisk {
    inner: Disk,
    state: DiskState,
}

impl ScriptedDisk {
    pub(super) fn new(state: DiskState) -> Self {
        Self { inner: Disk::new(), state }
    }
}

impl FileLayer for ScriptedDisk {
    fn create_dir_all(&mut self, dir: &Path) -> io::Result<()> {
        self.state.check()?;
        self.inner.create_dir_all(dir)
    }
    fn create_new(&mut self, path: &Path) -> io::Result<()> {
        self.state.check()?;
        self.inner.create_new(path)
    }
    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.state.check()?;
        self.inner.write(path, bytes)
    }
    fn fsync(&mut self, path: &Path) -> io::Result<()> {
        self.state.check()?;
        self.inner.fsync(path)
    }
    fn fsync_data(&mut self, path: &Path) -> io::Result<()> {
        self.state.check()?;
        self.inner.fsync_data(path)
    }
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.state.check()?;
        self.inner.rename(from, to)
    }
    fn fsync_dir(&mut self, dir: &Path) -> io::Result<()> {
        self.state.check()?;
        self.inner.fsync_dir(dir)
    }
    fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.state.check()?;
        self.inner.remove(path)
    }
    fn read(&mut self, path: &Path) -> io::Result<Vec<u8>> {
        self.inner.read(path)
    }
    fn list(&mut self, dir: &Path) -> io::Result<Vec<OsString>> {
        self.inner.list(dir)
    }
    /// A round number for ever, so that two runs of one seed write the same; nothing when it is full.
    fn free_space(&mut self, _dir: &Path) -> io::Result<u64> {
        Ok(if self.state.check().is_ok() { 16 << 30 } else { 0 })
    }
}
