//! The two files of a capture.

use std::io;
use std::path::{Path, PathBuf};

use fieldlab_store::{FileLayer, replace};
use sha2::{Digest, Sha256};

use super::format::Capture;
use crate::constants::hex;
use crate::error::DrawError;
use crate::npz::MAX_DECODED_BYTES;

/// What stands in a folder for one capture.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// There is no marker yet: wait.
    NotYet,
    /// A whole capture.
    Whole {
        /// What it holds.
        capture: Box<Capture>,
        /// Whether the marker named the archive's digest; an empty one, of an older tool, proves nothing.
        proven: bool,
    },
}

/// The archive's and the marker's path.
#[must_use]
pub fn paths(folder: &Path, k: u32) -> (PathBuf, PathBuf) {
    (folder.join(format!("capture-{k}.npz")), folder.join(format!("capture-{k}.done")))
}

/// Writes a capture so that a reader sees it whole or not at all: an old marker goes first, then the archive is replaced, then the
/// marker is written with its digest.
///
/// # Errors
/// A capture that cannot be written, or [`DrawError::File`].
pub fn save(layer: &mut dyn FileLayer, folder: &Path, capture: &Capture) -> Result<(), DrawError> {
    let (archive, marker) = paths(folder, capture.k);
    let bytes = capture.to_bytes()?;
    let refuse = |path: &Path, error: &dyn std::fmt::Display| DrawError::File {
        path: path.to_owned(),
        reason: error.to_string(),
    };
    match layer.remove(&marker) {
        Ok(()) => layer.fsync_dir(folder).map_err(|error| refuse(folder, &error))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(refuse(&marker, &error)),
    }
    replace(layer, &archive, &bytes).map_err(|error| refuse(&archive, &error))?;
    let proof = format!("{}\n", hex(&Sha256::digest(&bytes)));
    replace(layer, &marker, proof.as_bytes()).map_err(|error| refuse(&marker, &error))
}

/// Reads capture `k`, if its marker stands.
///
/// # Errors
/// A marker that names another archive, an archive that is missing or larger than may be, everything [`Capture::parse`] refuses, and a
/// capture of another number.
pub fn load(layer: &mut dyn FileLayer, folder: &Path, k: u32) -> Result<Found, DrawError> {
    let (archive, marker) = paths(folder, k);
    let refuse = |path: &Path, reason: String| DrawError::File { path: path.to_owned(), reason };
    let proof = match layer.read(&marker) {
        Ok(proof) => proof,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::NotYet),
        Err(error) => return Err(refuse(&marker, error.to_string())),
    };
    let bytes = layer.read(&archive).map_err(|error| refuse(&archive, error.to_string()))?;
    if bytes.len() > MAX_DECODED_BYTES {
        return Err(refuse(&archive, format!("{} bytes, at most {MAX_DECODED_BYTES} are read", bytes.len())));
    }
    let proof = proof.trim_ascii();
    let digest = hex(&Sha256::digest(&bytes));
    if !proof.is_empty() && proof != digest.as_bytes() {
        let reason = "the marker names another archive: one of the two is of an earlier run".to_owned();
        return Err(refuse(&marker, reason));
    }
    let capture = Capture::parse(&bytes)?;
    if capture.k != k {
        return Err(refuse(&archive, format!("it says that it is capture {}", capture.k)));
    }
    Ok(Found::Whole { capture: Box::new(capture), proven: !proof.is_empty() })
}
