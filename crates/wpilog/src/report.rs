//! What a log's bytes were like: counts, oddities, and what a damaged tail cost.

use std::collections::BTreeMap;
use std::fmt;

/// How a log's readable part ends when it does not end with its last record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// The last record is cut: its header, or its payload.
    Torn {
        /// Bytes that the record would take, when its header is whole.
        expected: Option<u64>,
    },
    /// From here on the file system left zeros where data was promised.
    ZeroFilled {
        /// Whether bytes other than zero follow. They cannot be read: nothing says where a record begins.
        data_follows: bool,
    },
}

/// A damaged tail: where it begins and what it cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Salvage {
    /// The first byte that could not be used; everything before it was.
    pub offset: u64,
    /// Bytes from there to the end.
    pub bytes_lost: u64,
    /// Records known to be lost. Exact for a torn record (one); for zeros nobody can know, so `None`.
    pub records_lost: Option<u64>,
    /// What is wrong there.
    pub damage: Damage,
}

impl fmt::Display for Salvage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.damage {
            Damage::Torn { expected: Some(bytes) } => {
                write!(
                    f,
                    "record torn at byte {}: expected {bytes} bytes, found {}",
                    self.offset, self.bytes_lost
                )
            }
            Damage::Torn { expected: None } => {
                write!(f, "record header torn at byte {}: found {} bytes of it", self.offset, self.bytes_lost)
            }
            Damage::ZeroFilled { data_follows } => {
                write!(f, "zeros from byte {}: {} bytes lost", self.offset, self.bytes_lost)?;
                if data_follows { f.write_str(", some of them not zero but unreadable") } else { Ok(()) }
            }
        }
    }
}

/// What was found while reading a log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// The version in the header, `0x0100` for 1.0.
    pub version: u16,
    /// The header's extra text.
    pub extra_header: String,
    /// All records, control records included.
    pub records: u64,
    /// Control records among them.
    pub control_records: u64,
    /// Start records that could be read.
    pub starts: u64,
    /// Different ids among them.
    pub started_ids: u64,
    /// Control records that said nothing: empty, of unknown kind, or shorter than their contents. Skipped.
    pub odd_controls: u64,
    /// Finish and SetMetadata records for an id that was never started.
    pub stray_controls: u64,
    /// Start records over an id that was still in use. The later entry wins from there on.
    pub restarted_live: u64,
    /// Data records that came before their entry's Start and were given to it.
    pub attached_orphans: u64,
    /// Data records whose id was never started, by id: counted, not readable.
    pub orphans: BTreeMap<u32, u64>,
    /// Data records of further ids that were never started, beyond the many that [`Report::orphans`] names.
    pub uncounted_orphans: u64,
    /// Data records after their entry's Finish; they stay with it.
    pub after_finish: u64,
    /// Data records earlier than the data record before them in the file.
    pub out_of_order: u64,
    /// Names that were started with more than one type. All their entries are kept.
    pub type_changes: Vec<String>,
    /// What was read but deserves a word, in file order; at most [`Report::MAX_WARNINGS`].
    pub warnings: Vec<String>,
    /// Warnings beyond that.
    pub more_warnings: u64,
    /// The damaged tail, if there is one.
    pub salvage: Option<Salvage>,
}

impl Report {
    /// Warnings that are kept as text.
    pub const MAX_WARNINGS: usize = 100;

    pub(crate) fn warn(&mut self, text: impl FnOnce() -> String) {
        if self.warnings.len() < Self::MAX_WARNINGS {
            self.warnings.push(text());
        } else {
            self.more_warnings += 1;
        }
    }

    /// Whether every byte of the file was used.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.salvage.is_none()
    }
}
