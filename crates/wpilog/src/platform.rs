//! What needs the operating system: memory maps.

#![allow(
    unsafe_code,
    reason = "a memory map is unsound when its file shrinks under it, which no safe interface can rule out"
)]

use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::{Advice, Mmap, UncheckedAdvice};

/// A finished log in memory.
#[derive(Debug)]
pub(crate) enum Bytes {
    Mapped(Mmap),
    Owned(Vec<u8>),
}

/// The first pages of a map stay in memory; of what is behind them, pages that were read are handed back, so that memory
/// grows with what is decoded and not with the file.
const KEEP_BYTES: usize = 32 << 20;

impl Bytes {
    /// Maps a file. An empty file is an empty slice.
    pub(crate) fn map(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        if file.metadata()?.len() == 0 {
            return Ok(Self::Owned(Vec::new()));
        }
        // SAFETY: the map is read-only and private to this value. A file that is cut by another process while it is
        // mapped ends this process with SIGBUS, it does not corrupt it; `Log::open` says to use it on finished files
        // only, and growing ones are read by `Tail`, which does not map.
        let map = unsafe { Mmap::map(&file)? };
        Ok(Self::Mapped(map))
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Owned(bytes) => bytes,
        }
    }

    /// Tells the system that a pass from front to back begins. Advice only: a refusal changes nothing.
    pub(crate) fn sequential(&self) {
        if let Self::Mapped(map) = self {
            map.advise(Advice::Sequential).ok();
        }
    }

    /// Hands back the pages of `from..to` that are not kept.
    pub(crate) fn release(&self, from: usize, to: usize) {
        self.release_all(from.max(KEEP_BYTES), to);
    }

    /// Hands back the pages of `from..to`; they are read again when touched.
    pub(crate) fn release_all(&self, from: usize, to: usize) {
        let Self::Mapped(map) = self else { return };
        if to <= from || to > map.len() {
            return;
        }
        // SAFETY: DONTNEED on a read-only shared file map drops the pages from this process; the next touch maps the
        // same bytes of the file again.
        unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, from, to - from) }.ok();
    }
}
