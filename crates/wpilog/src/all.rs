//! Many entries decoded in one pass over the file.

use std::borrow::Cow;

use fieldlab_base::Micros;
use fieldlab_values::schema::Leaf;
use fieldlab_values::{Family, Value};

use crate::column::{ArrayColumn, Column, StructColumns};
use crate::entry::Entry;
use crate::index::STRIDE;
use crate::log::record_at;
use crate::offsets::Place;
use crate::{Log, payload};

/// An entry's values in the form that suits its type.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum AnyColumn<'a> {
    /// A double or float entry.
    Numbers(Column<f64>),
    /// An int entry.
    Ints(Column<i64>),
    /// A boolean entry.
    Booleans(Column<bool>),
    /// A string or json entry.
    Texts(Column<Cow<'a, str>>),
    /// A double[], float[], int64[] or boolean[] entry.
    NumberArrays(ArrayColumn<f64>),
    /// A string[] entry.
    TextArrays(Column<Value>),
    /// A struct entry whose schema is in the log, of one value a record.
    Structs(StructColumns),
    /// Anything else, as bytes of the file.
    Raws(Column<&'a [u8]>),
}

struct Building<'a> {
    place: Place,
    column: AnyColumn<'a>,
    family: Family,
    leaves: Vec<Leaf>,
    struct_size: usize,
}

impl Log {
    /// Decodes all of `entries` in one pass over the file, which is faster than one by one when they are many. Answers
    /// the columns in the same order. An entry of another log is empty.
    #[must_use]
    pub fn decode_all<'a, 'e>(&'a self, entries: impl IntoIterator<Item = &'e Entry>) -> Vec<AnyColumn<'a>> {
        let mut building: Vec<(usize, Building<'a>)> =
            entries.into_iter().map(|entry| (entry.index, self.begin(entry))).collect();
        let data = self.data();
        let mut from = 0;
        while from < data.len() {
            let until = from.saturating_add(STRIDE).min(data.len());
            for (index, building) in &mut building {
                let Some(offsets) = self.offsets(*index) else { continue };
                let mut place = building.place;
                offsets.each_until(&mut place, until as u64, |at| {
                    if let Some(record) = record_at(data, at) {
                        building.push(record.time, record.payload);
                    }
                });
                building.place = place;
            }
            self.release_all(from, until);
            from = until;
        }
        building.into_iter().map(|(_, building)| building.column.sort()).collect()
    }

    fn begin(&self, entry: &Entry) -> Building<'_> {
        let family = entry.data_type.family();
        let layout = self.layout(entry).ok().filter(|(layout, array)| !array && layout.size > 0);
        let leaves = layout.and_then(|(layout, _)| layout.leaves().ok());
        let room = usize::try_from(entry.records).unwrap_or(0);
        let column = match family {
            Family::Double | Family::Float => AnyColumn::Numbers(Column::with_room(room)),
            Family::Int => AnyColumn::Ints(Column::with_room(room)),
            Family::Boolean => AnyColumn::Booleans(Column::with_room(room)),
            Family::String => AnyColumn::Texts(Column::with_room(room)),
            Family::DoubleArray | Family::FloatArray | Family::IntArray | Family::BooleanArray => {
                AnyColumn::NumberArrays(ArrayColumn::default())
            }
            Family::StringArray => AnyColumn::TextArrays(Column::with_room(room)),
            Family::Raw => match &leaves {
                Some(leaves) => AnyColumn::Structs(StructColumns::with_room(leaves, room)),
                None => AnyColumn::Raws(Column::with_room(room)),
            },
        };
        let struct_size = layout.map_or(0, |(layout, _)| layout.size);
        Building { place: Place::default(), column, family, leaves: leaves.unwrap_or_default(), struct_size }
    }
}

impl<'a> Building<'a> {
    #[inline]
    fn push(&mut self, time: Micros, bytes: &'a [u8]) {
        match &mut self.column {
            AnyColumn::Numbers(column) if self.family == Family::Double => {
                column.push(time, payload::double(bytes));
            }
            AnyColumn::Numbers(column) => column.push(time, payload::float(bytes).map(f64::from)),
            AnyColumn::Ints(column) => column.push(time, payload::int(bytes)),
            AnyColumn::Booleans(column) => column.push(time, payload::boolean(bytes)),
            AnyColumn::Texts(column) => column.push(time, Some(String::from_utf8_lossy(bytes))),
            AnyColumn::TextArrays(column) => {
                column.push(time, payload::strings(bytes).map(|texts| Value::StringArray(texts.into())));
            }
            AnyColumn::NumberArrays(column) => match self.family {
                Family::DoubleArray => column.push(time, payload::chunks(bytes, f64::from_le_bytes)),
                Family::FloatArray => {
                    column.push(time, payload::chunks(bytes, f32::from_le_bytes).map(|v| v.map(f64::from)));
                }
                Family::IntArray => {
                    column
                        .push(time, payload::chunks(bytes, i64::from_le_bytes).map(|v| v.map(|v| v as f64)));
                }
                _ => column.push(time, Some(bytes.iter().map(|b| f64::from(u8::from(*b != 0))))),
            },
            AnyColumn::Structs(columns) => columns.push(time, bytes.get(..self.struct_size), &self.leaves),
            AnyColumn::Raws(column) => column.push(time, Some(bytes)),
        }
    }
}

impl AnyColumn<'_> {
    /// Number of samples.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(column) => column.len(),
            Self::Ints(column) => column.len(),
            Self::Booleans(column) => column.len(),
            Self::Texts(column) => column.len(),
            Self::NumberArrays(column) => column.len(),
            Self::TextArrays(column) => column.len(),
            Self::Structs(columns) => columns.times.len(),
            Self::Raws(column) => column.len(),
        }
    }

    /// Whether there is no sample.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn sort(self) -> Self {
        match self {
            Self::Numbers(column) => Self::Numbers(column.sort()),
            Self::Ints(column) => Self::Ints(column.sort()),
            Self::Booleans(column) => Self::Booleans(column.sort()),
            Self::Texts(column) => Self::Texts(column.sort()),
            Self::NumberArrays(column) => Self::NumberArrays(column.sort()),
            Self::TextArrays(column) => Self::TextArrays(column.sort()),
            Self::Structs(columns) => Self::Structs(columns.sort()),
            Self::Raws(column) => Self::Raws(column.sort()),
        }
    }
}
