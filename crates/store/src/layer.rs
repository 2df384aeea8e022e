//! The single steps of a file system.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// A file system, one step a call. Nothing here is durable before the matching `fsync` or `fsync_dir`.
///
/// Errors are the operating system's; [`StoreError`] adds which step of which file it was.
pub trait FileLayer {
    /// Makes `dir` and every folder above it, durably; fine when it is there.
    ///
    /// # Errors
    /// Whatever the file system says.
    fn create_dir_all(&mut self, dir: &Path) -> io::Result<()>;

    /// Makes an empty file.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] when the name is taken.
    fn create_new(&mut self, path: &Path) -> io::Result<()>;

    /// Appends `bytes` to a file.
    ///
    /// # Errors
    /// Whatever the file system says; some of the bytes may have been written.
    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Makes a file's contents durable. Its name is another matter: see [`FileLayer::fsync_dir`].
    ///
    /// # Errors
    /// Whatever the file system says.
    fn fsync(&mut self, path: &Path) -> io::Result<()>;

    /// Makes a file's contents durable, and of what describes it only what is needed to read them: cheaper than
    /// [`FileLayer::fsync`] for a file that grows.
    ///
    /// # Errors
    /// Whatever the file system says.
    fn fsync_data(&mut self, path: &Path) -> io::Result<()> {
        self.fsync(path)
    }

    /// Gives a file another name in the same folder, replacing what had that name.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] when there is no `from`.
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()>;

    /// Makes the names in a folder durable.
    ///
    /// # Errors
    /// Whatever the file system says.
    fn fsync_dir(&mut self, dir: &Path) -> io::Result<()>;

    /// Removes a file's name.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] when there is none.
    fn remove(&mut self, path: &Path) -> io::Result<()>;

    /// A file's contents.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] when there is none.
    fn read(&mut self, path: &Path) -> io::Result<Vec<u8>>;

    /// The names in a folder, sorted; a folder that is not there has none.
    ///
    /// # Errors
    /// Whatever else the file system says.
    fn list(&mut self, dir: &Path) -> io::Result<Vec<OsString>>;

    /// Bytes that may still be written to the volume of `dir`.
    ///
    /// # Errors
    /// Whatever the file system says.
    fn free_space(&mut self, dir: &Path) -> io::Result<u64>;
}

/// What went wrong with a file, and at which step.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// One step of the file system failed.
    #[error("{path}: could not {step}: {reason}", path = path.display())]
    Step {
        /// The step, as a verb: `create`, `write`, `sync`, `rename`, `sync the folder`, `remove`, `read`, `list`.
        step: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        reason: String,
        /// Its kind, for callers that can do something about a full disk.
        kind: io::ErrorKind,
    },
    /// Another runner holds the lock.
    #[error("{path}: expected to be the only user, found it locked by another", path = path.display())]
    Held {
        /// The lock file.
        path: PathBuf,
    },
    /// A path that names no file.
    #[error("{path}: expected the path of a file, found none", path = path.display())]
    NoFileName {
        /// The path given.
        path: PathBuf,
    },
}

impl StoreError {
    pub(crate) fn step(step: &'static str, path: &Path, error: &io::Error) -> Self {
        Self::Step { step, path: path.to_owned(), reason: error.to_string(), kind: error.kind() }
    }
}
