//! One user of a file at a time.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::StoreError;
use crate::durable::beside;

/// The right to be the only user of a file; given up when dropped, and by the kernel when the process dies.
#[derive(Debug)]
pub struct Lock {
    _file: File,
    path: PathBuf,
}

impl Lock {
    /// The lock file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Takes the advisory lock of `path`, on the file `<path>.lock` beside it: the file itself is replaced at every save,
/// and a lock on a replaced file protects nothing. A second lock in the same process is refused too.
///
/// # Errors
/// [`StoreError::Held`] when somebody has it; [`StoreError::Step`] when the lock file cannot be made.
pub fn lock(path: &Path) -> Result<Lock, StoreError> {
    let path = beside(path, ".lock")?;
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(|e| StoreError::step("open the lock file", &path, &e))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Lock { _file: file, path }),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(StoreError::Held { path }),
        Err(error) => Err(StoreError::step("lock", &path, &error.into())),
    }
}
