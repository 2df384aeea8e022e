//! Every way a log can be refused.

use std::io;
use std::path::{Path, PathBuf};

/// A log that cannot be read or written.
///
/// Damage inside a readable log is no error: it is counted in the [`Report`](crate::Report).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The operating system refused.
    #[error("{place}: could not {action}: {reason}")]
    Io {
        /// The file.
        place: String,
        /// What was tried, as a verb.
        action: &'static str,
        /// What the operating system said.
        reason: String,
        /// Its kind, for callers that can do something about a full disk or a missing file.
        kind: io::ErrorKind,
    },
    /// The file does not begin as a log does.
    #[error("{place}: at byte {offset}: expected {expected}, found {found}")]
    NotALog {
        /// The file.
        place: String,
        /// Where.
        offset: u64,
        /// What a log has there.
        expected: &'static str,
        /// What stood there.
        found: String,
    },
    /// The file ends in its header, or is nothing but zeros: the power was cut while it was begun. It holds nothing.
    #[error("{place}: cut in its header: expected at least 12 bytes, found {found}")]
    HeaderCut {
        /// The file.
        place: String,
        /// What is there.
        found: String,
    },
    /// A growing file became shorter than what was read of it.
    #[error("{place}: expected at least the {read} bytes already read, found {found}")]
    Shrunk {
        /// The file.
        place: String,
        /// Bytes read before.
        read: u64,
        /// Bytes there now.
        found: u64,
    },
    /// An entry was to hold another type than before.
    #[error("entry {name}: expected type {expected} as at its first start, found {found}")]
    TypeChanged {
        /// The entry's name.
        name: String,
        /// Its type so far.
        expected: String,
        /// The type asked for.
        found: String,
    },
    /// A value is asked for as something that its entry does not hold.
    #[error("entry {name}: expected {expected}, found type {found}")]
    WrongType {
        /// The entry's name.
        name: String,
        /// What was asked for.
        expected: &'static str,
        /// What it holds.
        found: String,
    },
    /// A struct entry whose schema is missing or unusable.
    #[error("entry {name}: expected a usable schema for {found}, {reason}")]
    NoSchema {
        /// The entry's name.
        name: String,
        /// Its type.
        found: String,
        /// What is wrong with the schema.
        reason: String,
    },
    /// A text too long for the format's 32-bit lengths.
    #[error("{what}: expected at most {limit} bytes, found {found}")]
    TooLong {
        /// Which text.
        what: &'static str,
        /// The limit in bytes.
        limit: usize,
        /// Its length in bytes.
        found: usize,
    },
    /// The writer's thread could not be started or has died.
    #[error("{place}: the log's thread is not there: {reason}", place = path.display())]
    Thread {
        /// The log file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

impl LogError {
    pub(crate) fn io(path: &Path, action: &'static str, error: &io::Error) -> Self {
        Self::Io { place: path.display().to_string(), action, reason: error.to_string(), kind: error.kind() }
    }
}
