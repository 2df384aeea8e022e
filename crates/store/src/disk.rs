//! The real file system.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::FileLayer;

/// The real file system.
///
/// A file that it created stays open until it is renamed or removed, so that a write error which the kernel reports only
/// at `fsync` is reported to the same handle.
#[derive(Debug, Default)]
pub struct Disk {
    open: BTreeMap<PathBuf, File>,
}

impl Disk {
    /// The real file system.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

/// The folder that a relative file name without a folder stands in.
fn folder(dir: &Path) -> &Path {
    if dir.as_os_str().is_empty() { Path::new(".") } else { dir }
}

impl FileLayer for Disk {
    fn create_dir_all(&mut self, dir: &Path) -> io::Result<()> {
        let mut missing = Vec::new();
        let mut at = folder(dir);
        while !at.exists() {
            missing.push(at);
            match at.parent() {
                Some(parent) if !parent.as_os_str().is_empty() => at = parent,
                _ => break,
            }
        }
        for one in missing.into_iter().rev() {
            match fs::create_dir(one) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => self.fsync_dir(one.parent().unwrap_or(Path::new(".")))?,
            }
        }
        Ok(())
    }

    fn create_new(&mut self, path: &Path) -> io::Result<()> {
        let file = OpenOptions::new().write(true).create_new(true).open(path)?;
        self.open.insert(path.to_owned(), file);
        Ok(())
    }

    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if let Some(file) = self.open.get_mut(path) {
            return file.write_all(bytes);
        }
        OpenOptions::new().append(true).open(path)?.write_all(bytes)
    }

    fn fsync(&mut self, path: &Path) -> io::Result<()> {
        if let Some(file) = self.open.get(path) {
            return file.sync_all();
        }
        File::open(path)?.sync_all()
    }

    fn fsync_data(&mut self, path: &Path) -> io::Result<()> {
        if let Some(file) = self.open.get(path) {
            return file.sync_data();
        }
        File::open(path)?.sync_data()
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.open.remove(from);
        fs::rename(from, to)
    }

    fn fsync_dir(&mut self, dir: &Path) -> io::Result<()> {
        File::open(folder(dir))?.sync_all()
    }

    fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.open.remove(path);
        fs::remove_file(path)
    }

    fn read(&mut self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }

    fn list(&mut self, dir: &Path) -> io::Result<Vec<OsString>> {
        let entries = match fs::read_dir(folder(dir)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other?,
        };
        let mut names = entries.map(|e| e.map(|e| e.file_name())).collect::<io::Result<Vec<_>>>()?;
        names.sort();
        Ok(names)
    }

    fn free_space(&mut self, dir: &Path) -> io::Result<u64> {
        let stats = rustix::fs::statvfs(folder(dir))?;
        Ok(stats.f_bavail.saturating_mul(stats.f_frsize))
    }
}
