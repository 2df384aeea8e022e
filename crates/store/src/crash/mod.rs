//! A file system that loses its power, in memory.
//!
//! What it assumes, which is the least that a journalling file system promises: contents not yet `fsync`ed may be lost,
//! kept, torn or zero-filled; names made, changed or removed since the folder's `fsync_dir` may each be lost or kept,
//! in any combination; one rename is never half done; folders themselves are durable once made.
//!
//! ```
//! use std::path::Path;
//! use fieldlab_store::{Load, crash::{CrashDisk, every_cut}, load, save};
//!
//! let path = Path::new("checkpoint.json");
//! let mut before = CrashDisk::new();
//! save(&mut before, path, b"old")?;
//! for mut cut in every_cut(&before, |disk| drop(save(disk, path, b"new"))) {
//!     let read = load(&mut cut.disk, path, &|_| Ok(()))?;
//!     assert!(matches!(read, Load::Loaded { bytes, .. } if bytes == b"old" || bytes == b"new"));
//! }
//! # Ok::<(), fieldlab_store::StoreError>(())
//! ```

mod disk;

pub use disk::{CrashDisk, Step, StepKind};

/// One state in which a power cut can leave the disk.
#[derive(Debug, Clone)]
pub struct Cut {
    /// How many steps of the program were done.
    pub after: usize,
    /// The last of them; `None` when the power went before the first.
    pub last: Option<Step>,
    /// What stands on the disk at the next boot.
    pub disk: CrashDisk,
}

/// Runs `program` on a copy of `start` again and again, cutting the power before its first step, after its first, and so
/// on until it runs through, and answers every state that each cut can leave.
///
/// After the cut every call of the layer fails, so the program should simply end. It must do the same steps each time.
pub fn every_cut(start: &CrashDisk, mut program: impl FnMut(&mut CrashDisk)) -> Vec<Cut> {
    let mut cuts = Vec::new();
    for after in 0.. {
        let mut disk = start.clone();
        disk.cut_after(after);
        program(&mut disk);
        let last = after.checked_sub(1).and_then(|i| disk.steps().get(i).cloned());
        for survivor in disk.survivors() {
            cuts.push(Cut { after, last: last.clone(), disk: survivor });
        }
        if !disk.is_cut() {
            break;
        }
    }
    cuts
}
