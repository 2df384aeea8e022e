//! How a log is written, and what its writer says about itself.

use std::path::PathBuf;
use std::time::Duration;

/// What an append does when the queue to the disk is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// The record is dropped and counted: for a robot loop, which never waits.
    Drop,
    /// The append waits for the disk: for a virtual clock, which may not lose a record.
    Wait,
}

/// How a log is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriterConfig {
    /// Text for the file's extra header; `AdvantageKit` makes its tools open the log.
    pub extra_header: String,
    /// What an append does when the queue is full.
    pub overflow: Overflow,
    /// Bytes that may wait for the disk. Twice as much is allocated, once.
    pub queue_bytes: usize,
    /// How often what waits is written and made durable.
    pub flush_every: Duration,
    /// A file that would grow beyond this is followed by the next one. Tools with 32-bit offsets read files up to 2 GiB.
    pub roll_bytes: u64,
    /// Free bytes that the volume keeps. Writing stops, at a record's end, before there are fewer.
    pub free_floor_bytes: u64,
}

impl Default for WriterConfig {
    /// A robot's: drop when full, a 2 MiB queue, 0.25 s, files up to 1.8 GB, 64 MiB kept free.
    fn default() -> Self {
        Self {
            extra_header: String::new(),
            overflow: Overflow::Drop,
            queue_bytes: 2 << 20,
            flush_every: Duration::from_millis(250),
            roll_bytes: 1_800_000_000,
            free_floor_bytes: 64 << 20,
        }
    }
}

/// Counters of a writer, since it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WriterStats {
    /// Records taken into the queue, control records included.
    pub records: u64,
    /// Records lost: the queue was full, or the log had stopped, or the write failed.
    pub dropped: u64,
    /// Records refused because the value does not fit the entry's type or the entry is finished.
    pub misfits: u64,
    /// Bytes handed to the file system, in all files.
    pub bytes_written: u64,
    /// Bytes that are known to survive a power cut.
    pub bytes_durable: u64,
    /// Bytes that wait in the queue now.
    pub queue_bytes: usize,
    /// The most that waited.
    pub queue_peak_bytes: usize,
    /// Times that everything written so far was made durable.
    pub flushes: u64,
    /// Files begun.
    pub files: u32,
    /// Whether writing has stopped; see [`LogWriter::stop_reason`](crate::LogWriter::stop_reason).
    pub stopped: bool,
}

/// Why a log is no longer written. Everything that is durable stays.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StopReason {
    /// The volume is nearly full.
    #[error("{path}: log stopped: expected at least {floor_bytes} bytes free, found {free_bytes}", path = path.display())]
    FreeSpace {
        /// The file that was being written.
        path: PathBuf,
        /// The floor.
        floor_bytes: u64,
        /// What is free.
        free_bytes: u64,
    },
    /// The file system refused.
    #[error("{path}: log stopped: could not {step}: {reason}", path = path.display())]
    Failed {
        /// The file.
        path: PathBuf,
        /// What was tried, as a verb.
        step: &'static str,
        /// What the operating system said.
        reason: String,
    },
    /// The writer's thread ended early.
    #[error("{path}: log stopped: its thread ended", path = path.display())]
    ThreadEnded {
        /// The first file.
        path: PathBuf,
    },
}

/// How a log ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    /// The last counters.
    pub stats: WriterStats,
    /// The files, in order.
    pub files: Vec<PathBuf>,
    /// Why it had stopped before, if it had.
    pub stopped: Option<StopReason>,
}
