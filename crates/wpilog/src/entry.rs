//! An entry: one life of an id, from its Start to its Finish.

use fieldlab_base::Micros;
use fieldlab_values::DataType;

/// What an entry's metadata said from an instant on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetadataAt {
    /// When it was set.
    pub time: Micros,
    /// The text, JSON by custom.
    pub text: String,
}

/// One entry of a log: one life of an id. A name that is started twice is two entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its place in [`Log::entries`](crate::Log::entries).
    pub index: usize,
    /// The id that its records carry. Ids are reused after a Finish.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// The name's bytes, when they are not UTF-8 and `name` holds replacement characters.
    pub raw_name: Option<Vec<u8>>,
    /// What it holds.
    pub data_type: DataType,
    /// The time of its Start record.
    pub start: Micros,
    /// The time of its Finish record, if it has one.
    pub finish: Option<Micros>,
    /// The Start record's metadata, then every change in file order.
    pub metadata: Vec<MetadataAt>,
    /// Its data records.
    pub records: u64,
    /// Bytes of their payloads.
    pub payload_bytes: u64,
    /// Earliest and latest data record; `None` when it has none.
    pub range: Option<(Micros, Micros)>,
    /// Data records that are earlier than the entry's record before them in the file.
    pub out_of_order: u64,
    /// Data records that stood before the Start record.
    pub before_start: u64,
    /// Data records that stood after the Finish record.
    pub after_finish: u64,
    /// Whether the same name stands elsewhere in the log with another type.
    pub type_changes: bool,
}

impl Entry {
    /// The metadata that holds at the end; empty when there was none.
    #[must_use]
    pub fn last_metadata(&self) -> &str {
        self.metadata.last().map_or("", |at| &at.text)
    }
}
