//! A finished log: indexed once, decoded field by field.

use std::borrow::Cow;
use std::path::Path;

use fieldlab_base::Micros;
use fieldlab_values::schema::Registry;
use fieldlab_values::{Family, Value};

use crate::LogError;
use crate::column::{ArrayColumn, Column};
use crate::entry::Entry;
use crate::index::{self, Index, STRIDE};
use crate::offsets::Offsets;
use crate::payload;
use crate::platform::Bytes;
use crate::record::head_of;
use crate::report::Report;

/// A finished log. Opening it reads it once and keeps four bytes a record; a column is decoded when asked for, without
/// touching other entries' payloads.
#[derive(Debug)]
pub struct Log {
    bytes: Bytes,
    index: Index,
    pub(crate) schemas: Registry,
}

/// One record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    /// Where it begins in the file.
    pub offset: u64,
    /// The entry's id; 0 for control records.
    pub id: u32,
    /// When.
    pub time: Micros,
    /// Its bytes.
    pub payload: &'a [u8],
}

impl Log {
    /// Maps and indexes a finished file. A damaged tail is no error: see [`Report::salvage`].
    ///
    /// A file that another program may still cut must not be opened so; read a growing one with
    /// [`Tail`](crate::Tail), one on a stick that may be pulled with [`Log::read`].
    ///
    /// # Errors
    /// [`LogError::Io`]; [`LogError::NotALog`] when the header is not a version 1 log's; [`LogError::HeaderCut`] when there is
    /// too little of it to tell.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, LogError> {
        let path = path.as_ref();
        let bytes = Bytes::map(path).map_err(|error| LogError::io(path, "open", &error))?;
        Self::index(bytes, &path.display().to_string())
    }

    /// Reads a file into memory and indexes it.
    ///
    /// # Errors
    /// As [`Log::open`].
    pub fn read(path: impl AsRef<Path>) -> Result<Self, LogError> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|error| LogError::io(path, "read", &error))?;
        Self::from_bytes(bytes, &path.display().to_string())
    }

    /// Indexes bytes that are already in memory; `place` is what errors call them.
    ///
    /// # Errors
    /// [`LogError::NotALog`], [`LogError::HeaderCut`].
    pub fn from_bytes(bytes: Vec<u8>, place: &str) -> Result<Self, LogError> {
        Self::index(Bytes::Owned(bytes), place)
    }

    fn index(bytes: Bytes, place: &str) -> Result<Self, LogError> {
        bytes.sequential();
        let mut released = 0;
        let index = index::build(bytes.as_slice(), place, |at| {
            bytes.release(released, at);
            released = at;
        })?;
        let mut log = Self { bytes, index, schemas: Registry::default() };
        log.collect_schemas();
        Ok(log)
    }

    /// Bytes of the file, readable or not.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        self.bytes.as_slice().len() as u64
    }

    /// What was found while reading.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.index.report
    }

    /// All entries, in the order in which their first record stands.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.index.entries
    }

    /// The entries of one name; more than one when it was started again.
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Entry> {
        self.index.entries.iter().filter(move |entry| entry.name == name)
    }

    /// One entry's records in file order, as bytes.
    pub fn records<'a>(&'a self, entry: &Entry) -> impl Iterator<Item = Record<'a>> {
        let data = self.bytes.as_slice();
        self.index
            .offsets
            .get(entry.index)
            .into_iter()
            .flat_map(|offsets| offsets.iter())
            .filter_map(move |at| record_at(data, at))
    }

    /// Every record of the readable part in file order, control records included.
    pub fn all_records(&self) -> impl Iterator<Item = Record<'_>> {
        let data = self.bytes.as_slice();
        let (mut at, end) = self.index.records_at;
        std::iter::from_fn(move || {
            let record = (at < end).then(|| record_at(data, at)).flatten()?;
            let head = head_of(data.get(usize::try_from(at).ok()?..)?)?;
            at += head.len as u64 + u64::from(head.size);
            Some(record)
        })
    }

    /// Any entry's values.
    #[must_use]
    pub fn values(&self, entry: &Entry) -> Column<Value> {
        self.map(entry, |payload| payload::decode(&entry.data_type, payload))
    }

    /// A number entry's values as `f64`: double, float, int, and boolean as 0 or 1.
    ///
    /// # Errors
    /// [`LogError::WrongType`] for entries that hold anything else.
    pub fn numbers(&self, entry: &Entry) -> Result<Column<f64>, LogError> {
        Ok(match entry.data_type.family() {
            Family::Double => self.map(entry, payload::double),
            Family::Float => self.map(entry, |p| payload::float(p).map(f64::from)),
            Family::Int => self.map(entry, |p| payload::int(p).map(|v| v as f64)),
            Family::Boolean => self.map(entry, |p| payload::boolean(p).map(|v| f64::from(u8::from(v)))),
            _ => return Err(wrong(entry, "a number or boolean")),
        })
    }

    /// An int entry's values.
    ///
    /// # Errors
    /// [`LogError::WrongType`].
    pub fn ints(&self, entry: &Entry) -> Result<Column<i64>, LogError> {
        self.typed(entry, Family::Int, "int64", payload::int)
    }

    /// A boolean entry's values.
    ///
    /// # Errors
    /// [`LogError::WrongType`].
    pub fn booleans(&self, entry: &Entry) -> Result<Column<bool>, LogError> {
        self.typed(entry, Family::Boolean, "boolean", payload::boolean)
    }

    /// A text entry's values, borrowed where they are UTF-8 and with replacement characters where not.
    ///
    /// # Errors
    /// [`LogError::WrongType`].
    pub fn texts(&self, entry: &Entry) -> Result<Column<Cow<'_, str>>, LogError> {
        self.typed(entry, Family::String, "string or json", |p| Some(String::from_utf8_lossy(p)))
    }

    /// Any entry's payloads as they stand.
    #[must_use]
    pub fn raws(&self, entry: &Entry) -> Column<&[u8]> {
        self.map(entry, Some)
    }

    /// A number array entry's values as `f64`: double[], float[], int64[], and boolean[] as 0 or 1.
    ///
    /// # Errors
    /// [`LogError::WrongType`].
    pub fn number_arrays(&self, entry: &Entry) -> Result<ArrayColumn<f64>, LogError> {
        Ok(match entry.data_type.family() {
            Family::DoubleArray => self.arrays(entry, |p| payload::chunks(p, f64::from_le_bytes)),
            Family::FloatArray => {
                self.arrays(entry, |p| Some(payload::chunks(p, f32::from_le_bytes)?.map(f64::from)))
            }
            Family::IntArray => {
                self.arrays(entry, |p| Some(payload::chunks(p, i64::from_le_bytes)?.map(|v| v as f64)))
            }
            Family::BooleanArray => {
                self.arrays(entry, |p| Some(p.iter().map(|b| f64::from(u8::from(*b != 0)))))
            }
            _ => return Err(wrong(entry, "an array of numbers or booleans")),
        })
    }

    /// One entry's times and payloads in file order. Pages of the file behind are handed back on the way, so that a
    /// decode takes the memory of its columns and not of the file.
    pub(crate) fn each<'a>(&'a self, entry: &Entry, mut take: impl FnMut(Micros, &'a [u8])) {
        let data = self.bytes.as_slice();
        let Some(offsets) = self.index.offsets.get(entry.index) else { return };
        let mut released = 0;
        offsets.iter().for_each(|at| {
            let at = at as usize;
            if at - released > STRIDE {
                self.bytes.release(released, at);
                released = at;
            }
            if let Some(record) = record_at(data, at as u64) {
                take(record.time, record.payload);
            }
        });
        self.bytes.release(released, data.len());
    }

    pub(crate) fn data(&self) -> &[u8] {
        self.bytes.as_slice()
    }

    pub(crate) fn release_all(&self, from: usize, to: usize) {
        self.bytes.release_all(from, to);
    }

    pub(crate) fn offsets(&self, index: usize) -> Option<&Offsets> {
        self.index.offsets.get(index)
    }

    pub(crate) fn report_mut(&mut self) -> &mut Report {
        &mut self.index.report
    }

    fn typed<'a, T>(
        &'a self,
        entry: &Entry,
        family: Family,
        expected: &'static str,
        read: impl Fn(&'a [u8]) -> Option<T>,
    ) -> Result<Column<T>, LogError> {
        if entry.data_type.family() == family {
            Ok(self.map(entry, read))
        } else {
            Err(wrong(entry, expected))
        }
    }

    /// Decodes one entry's payloads by `read`; what it answers `None` to is left out and counted. The payloads of other
    /// entries are not looked at.
    pub fn map<'a, T>(&'a self, entry: &Entry, read: impl Fn(&'a [u8]) -> Option<T>) -> Column<T> {
        let mut column = Column::with_room(self.offsets(entry.index).map_or(0, Offsets::len));
        self.each(entry, |time, payload| column.push(time, read(payload)));
        column.sort()
    }

    fn arrays<'a, T: Clone, I: Iterator<Item = T>>(
        &'a self,
        entry: &Entry,
        read: impl Fn(&'a [u8]) -> Option<I>,
    ) -> ArrayColumn<T> {
        let mut column = ArrayColumn::default();
        self.each(entry, |time, payload| column.push(time, read(payload)));
        column.sort()
    }
}

pub(crate) fn record_at(data: &[u8], at: u64) -> Option<Record<'_>> {
    let rest = data.get(usize::try_from(at).ok()?..)?;
    let head = head_of(rest)?;
    let payload = rest.get(head.len..head.len + head.size as usize)?;
    Some(Record { offset: at, id: head.id, time: Micros(head.time), payload })
}

fn wrong(entry: &Entry, expected: &'static str) -> LogError {
    LogError::WrongType { name: entry.name.clone(), expected, found: entry.data_type.log_name().to_owned() }
}
