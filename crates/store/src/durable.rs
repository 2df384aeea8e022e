//! Saving a small file so that a power cut at any step leaves the old one or the new one.

use std::io;
use std::path::{Path, PathBuf};

use crate::{FileLayer, StoreError};

/// `<path><suffix>`, in the same folder.
pub(crate) fn beside(path: &Path, suffix: &str) -> Result<PathBuf, StoreError> {
    let name = path.file_name().ok_or_else(|| StoreError::NoFileName { path: path.to_owned() })?;
    let mut name = name.to_owned();
    name.push(suffix);
    Ok(path.with_file_name(name))
}

fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// Where [`save`] keeps the version before: `<path>.bak`.
///
/// # Errors
/// Refuses a path that names no file.
pub fn backup_path(path: &Path) -> Result<PathBuf, StoreError> {
    beside(path, ".bak")
}

/// Where [`save`] writes before it renames: `<path>.tmp`.
///
/// # Errors
/// Refuses a path that names no file.
pub fn temp_path(path: &Path) -> Result<PathBuf, StoreError> {
    beside(path, ".tmp")
}

/// Where [`clear`] leaves its marker: `<path>.finished`.
///
/// # Errors
/// Refuses a path that names no file.
pub fn finished_path(path: &Path) -> Result<PathBuf, StoreError> {
    beside(path, ".finished")
}

/// Replaces the contents of `path`, durably, and keeps what was there as `<path>.bak`.
///
/// The steps, in order: make `<path>.tmp`, write it, sync it; rename `path` to `<path>.bak` when there is one; rename the
/// temp to `path`; sync the folder. Between the two renames `path` is missing and `.bak` is complete, which is why
/// [`load`] falls back to it.
///
/// # Errors
/// The first step that failed. The version before is then still readable as `path` or as `.bak`, and the temp is removed.
pub fn save(layer: &mut dyn FileLayer, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let temp = write_temp(layer, path, bytes)?;
    let backup = backup_path(path)?;
    match layer.rename(path, &backup) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return give_up(layer, &temp, "keep a backup", path, &error);
        }
        _ => {}
    }
    publish(layer, &temp, path)
}

/// Replaces the contents of `path`, durably, and keeps nothing of what was there: for results that can be made again, such
/// as a report. A reader sees the old file or the new one, whole.
///
/// # Errors
/// The first step that failed. The version before is then untouched, and the temp is removed.
pub fn replace(layer: &mut dyn FileLayer, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let temp = write_temp(layer, path, bytes)?;
    publish(layer, &temp, path)
}

/// Temp beside the target, written and synced.
fn write_temp(layer: &mut dyn FileLayer, path: &Path, bytes: &[u8]) -> Result<PathBuf, StoreError> {
    let temp = temp_path(path)?;
    let dir = folder(path);
    if !dir.as_os_str().is_empty() {
        layer.create_dir_all(dir).map_err(|e| StoreError::step("make the folder", dir, &e))?;
    }
    match layer.create_new(&temp) {
        // A temp that an earlier cut left behind: it was never the truth.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            layer.remove(&temp).map_err(|e| StoreError::step("remove the stale temp", &temp, &e))?;
            layer.create_new(&temp).map_err(|e| StoreError::step("create", &temp, &e))?;
        }
        other => other.map_err(|e| StoreError::step("create", &temp, &e))?,
    }
    if let Err(error) = layer.write(&temp, bytes) {
        return give_up(layer, &temp, "write", &temp, &error).map(|()| temp);
    }
    if let Err(error) = layer.fsync(&temp) {
        return give_up(layer, &temp, "sync", &temp, &error).map(|()| temp);
    }
    Ok(temp)
}

fn publish(layer: &mut dyn FileLayer, temp: &Path, path: &Path) -> Result<(), StoreError> {
    if let Err(error) = layer.rename(temp, path) {
        return give_up(layer, temp, "rename the temp to", path, &error);
    }
    layer.fsync_dir(folder(path)).map_err(|e| StoreError::step("sync the folder of", path, &e))
}

fn give_up(
    layer: &mut dyn FileLayer,
    temp: &Path,
    step: &'static str,
    path: &Path,
    error: &io::Error,
) -> Result<(), StoreError> {
    // The temp is worth nothing; that it could not be removed says less than why it is to be removed.
    drop(layer.remove(temp));
    Err(StoreError::step(step, path, error))
}

/// What [`load`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Load {
    /// A file that passed the check.
    Loaded {
        /// Its contents.
        bytes: Vec<u8>,
        /// When it is the backup: what was wrong with the file itself.
        from_backup: Option<String>,
    },
    /// Neither the file nor a backup is there: nothing was ever saved, or it was cleared.
    Missing,
    /// Something is there and it cannot be used. Set it aside before saving anew.
    Unreadable {
        /// What was wrong, with the file and its backup each named.
        reason: String,
    },
}

/// Reads `path`, or its backup when `path` is missing or does not pass `check`.
///
/// # Errors
/// Only when the path names no file; every failure to read is an answer, not an error.
pub fn load(
    layer: &mut dyn FileLayer,
    path: &Path,
    check: &dyn Fn(&[u8]) -> Result<(), String>,
) -> Result<Load, StoreError> {
    let backup = backup_path(path)?;
    let mut one = |at: &Path| match layer.read(at) {
        Ok(bytes) => match check(&bytes) {
            Ok(()) => Ok(bytes),
            Err(reason) => Err(Some(format!("{}: {reason}", at.display()))),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(None),
        Err(error) => Err(Some(format!("{}: could not read: {error}", at.display()))),
    };
    let main = match one(path) {
        Ok(bytes) => return Ok(Load::Loaded { bytes, from_backup: None }),
        Err(reason) => reason,
    };
    Ok(match (main, one(&backup)) {
        (main, Ok(bytes)) => {
            let reason = main.unwrap_or_else(|| format!("{}: missing beside its backup", path.display()));
            Load::Loaded { bytes, from_backup: Some(reason) }
        }
        (None, Err(None)) => Load::Missing,
        (Some(main), Err(None)) => Load::Unreadable { reason: main },
        (None, Err(Some(backup))) => Load::Unreadable { reason: backup },
        (Some(main), Err(Some(backup))) => Load::Unreadable { reason: format!("{main}; {backup}") },
    })
}

/// Renames a file that could not be used to `<path>.bad`, or `.bad.2`, `.bad.3`: evidence is never overwritten. Answers
/// the new name, or `None` when there is no such file.
///
/// # Errors
/// The step that failed.
pub fn set_aside(layer: &mut dyn FileLayer, path: &Path) -> Result<Option<PathBuf>, StoreError> {
    let dir = folder(path);
    let taken = layer.list(dir).map_err(|e| StoreError::step("list", dir, &e))?;
    let mut aside = beside(path, ".bad")?;
    let mut number = 1_u32;
    while aside.file_name().is_some_and(|name| taken.iter().any(|t| t == name)) {
        number += 1;
        aside = beside(path, &format!(".bad.{number}"))?;
    }
    match layer.rename(path, &aside) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(|e| StoreError::step("set aside", path, &e))?,
    }
    layer.fsync_dir(dir).map_err(|e| StoreError::step("sync the folder of", path, &e))?;
    Ok(Some(aside))
}

/// Removes temps that cuts left beside `path`: `<path>.tmp` and `<path>.*.tmp`. Answers how many.
///
/// # Errors
/// The step that failed.
pub fn sweep_temps(layer: &mut dyn FileLayer, path: &Path) -> Result<usize, StoreError> {
    let dir = folder(path);
    let name = path.file_name().ok_or_else(|| StoreError::NoFileName { path: path.to_owned() })?;
    let prefix = format!("{}.", name.to_string_lossy());
    let mut removed = 0;
    for found in layer.list(dir).map_err(|e| StoreError::step("list", dir, &e))? {
        let text = found.to_string_lossy();
        // `<path>.finished.tmp` and the like match too, as they should.
        if text.starts_with(&prefix) && text.ends_with(".tmp") {
            let at = path.with_file_name(&found);
            layer.remove(&at).map_err(|e| StoreError::step("remove", &at, &e))?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// The marker that [`clear`] left, if any. A file whose contents belong to what the marker names is finished, however
/// much of it is still there.
///
/// # Errors
/// A marker that is there and cannot be read.
pub fn finished(layer: &mut dyn FileLayer, path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    let marker = finished_path(path)?;
    match layer.read(&marker) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::step("read", &marker, &error)),
    }
}

/// Ends the life of `path`: the marker `<path>.finished` goes first, durably; then the file, its backup and its temps.
///
/// Cut anywhere in between, [`finished`] says so, and calling again completes it. The marker stays.
///
/// # Errors
/// The step that failed; nothing is removed unless the marker is durable.
pub fn clear(layer: &mut dyn FileLayer, path: &Path, marker: &[u8]) -> Result<(), StoreError> {
    let marker_path = finished_path(path)?;
    let temp = write_temp(layer, &marker_path, marker)?;
    publish(layer, &temp, &marker_path)?;
    for gone in [path.to_owned(), backup_path(path)?] {
        match layer.remove(&gone) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(StoreError::step("remove", &gone, &error));
            }
            _ => {}
        }
    }
    sweep_temps(layer, path)?;
    layer.fsync_dir(folder(path)).map_err(|e| StoreError::step("sync the folder of", path, &e))
}
