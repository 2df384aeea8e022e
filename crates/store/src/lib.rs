//! The one durable writer: a small file is either the old one or the new one, whatever moment the power goes.
//!
//! Checkpoints, persistent topics and the like are saved through [`save`] and read back through [`load`], over a
//! [`FileLayer`] whose calls are the single steps of a file system, so that [`crash`] can cut between any two of them.
//!
//! ```
//! use std::path::Path;
//! use fieldlab_store::{Load, crash::CrashDisk, load, save};
//!
//! let mut disk = CrashDisk::new();
//! let path = Path::new("lab/checkpoint.json");
//! save(&mut disk, path, b"first")?;
//! save(&mut disk, path, b"second")?;
//! let read = load(&mut disk, path, &|_| Ok(()))?;
//! assert!(matches!(read, Load::Loaded { bytes, .. } if bytes == b"second"));
//! # Ok::<(), fieldlab_store::StoreError>(())
//! ```
//!
//! Promises: after [`save`] returned, the bytes survive a power cut; cut at any step before that, the file reads as what
//! it was before or as the new bytes, never as a mixture, and never as missing once it had been saved. Evidence that was
//! set aside is never overwritten.
//!
//! Never does: guess what damaged bytes meant, or delete a file that it could not read.

pub mod crash;
mod disk;
mod durable;
mod layer;
mod lock;

pub use disk::Disk;
pub use durable::{
    Load, backup_path, clear, finished, finished_path, load, replace, save, set_aside, sweep_temps, temp_path,
};
pub use layer::{FileLayer, StoreError};
pub use lock::{Lock, lock};
