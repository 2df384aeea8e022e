//! Struct entries of a log, read by the schemas that the log itself holds.

use std::sync::Arc;

use fieldlab_values::schema::{Registry, State, StructLayout, Tree};

use crate::column::{Column, StructColumns};
use crate::entry::Entry;
use crate::{Log, LogError};

/// What follows in a schema entry's name is the struct's; captures of NetworkTables put `NT:` before it.
const SCHEMA_PREFIX: &str = "/.schema/struct:";

impl Log {
    /// The struct schemas found in the log, wherever they stood.
    #[must_use]
    pub fn schemas(&self) -> &Registry {
        &self.schemas
    }

    /// Registers every schema of the log; what is unusable or contradicts an earlier one becomes a warning.
    pub(crate) fn collect_schemas(&mut self) {
        let mut schemas = Registry::default();
        let mut refused = Vec::new();
        for entry in self.entries().iter().filter(|entry| entry.data_type.log_name() == "structschema") {
            let Some((_, name)) = entry.name.split_once(SCHEMA_PREFIX) else { continue };
            for record in self.records(entry) {
                let text = String::from_utf8_lossy(record.payload);
                if let Err(error) = schemas.add(name, &text) {
                    refused.push(format!("byte {}: schema of {name} refused: {error}", record.offset));
                }
            }
        }
        self.schemas = schemas;
        for text in refused {
            self.report_mut().warn(|| text);
        }
    }

    /// The layout of a struct entry, and whether its records hold many values each.
    ///
    /// # Errors
    /// [`LogError::WrongType`] for entries that are no struct's, [`LogError::NoSchema`] when the log holds no usable
    /// schema for it.
    pub fn layout(&self, entry: &Entry) -> Result<(&Arc<StructLayout>, bool), LogError> {
        let (name, array) = entry.data_type.struct_name().ok_or_else(|| LogError::WrongType {
            name: entry.name.clone(),
            expected: "a struct",
            found: entry.data_type.log_name().to_owned(),
        })?;
        let layout = self.schemas.get(name).ok_or_else(|| {
            no_schema(
                entry,
                match self.schemas.state(name) {
                    State::Waiting { missing } => format!("found it without those of {}", missing.join(", ")),
                    State::Refused(error) => format!("which was refused: {error}"),
                    State::Ready(_) | State::Unknown => "found none in the log".to_owned(),
                },
            )
        })?;
        Ok((layout, array))
    }

    /// A struct entry's numbers, one column a field. Of an array entry, the first item of each record; see
    /// [`Log::struct_item`] for the others.
    ///
    /// # Errors
    /// As [`Log::layout`]; [`LogError::NoSchema`] too for a struct of more numbers than can be listed.
    pub fn struct_columns(&self, entry: &Entry) -> Result<StructColumns, LogError> {
        self.struct_item(entry, 0)
    }

    /// As [`Log::struct_columns`], for the item at `place` of each record of an array entry. Records that are too short
    /// to have it are left out and counted.
    ///
    /// # Errors
    /// As [`Log::struct_columns`].
    pub fn struct_item(&self, entry: &Entry, place: usize) -> Result<StructColumns, LogError> {
        let (layout, _) = self.layout(entry)?;
        let leaves = layout.leaves().map_err(|error| no_schema(entry, error.to_string()))?;
        let room = usize::try_from(entry.records).unwrap_or(0);
        let mut out = StructColumns::with_room(&leaves, room);
        let from = place.checked_mul(layout.size);
        self.each(entry, |time, payload| {
            let value = from.and_then(|from| payload.get(from..)?.get(..layout.size));
            out.push(time, value, &leaves);
        });
        Ok(out.sort())
    }

    /// One number of a struct entry by its flat name, such as `translation/x`, without decoding the others.
    ///
    /// # Errors
    /// As [`Log::layout`]; [`LogError::NoSchema`] too when the struct has no such number.
    pub fn struct_numbers(&self, entry: &Entry, path: &str) -> Result<Column<f64>, LogError> {
        let (layout, _) = self.layout(entry)?;
        let leaf =
            layout.leaf(path).ok_or_else(|| no_schema(entry, format!("found no number {path} in it")))?;
        Ok(self.map(entry, |payload| leaf.read(payload)))
    }

    /// A struct entry's values with their names: one a record, or all items of an array record. Bytes at an array's end
    /// that are too few for one more item are ignored.
    ///
    /// # Errors
    /// As [`Log::layout`].
    pub fn struct_values(&self, entry: &Entry) -> Result<Column<Vec<Tree>>, LogError> {
        let (layout, array) = self.layout(entry)?;
        Ok(self.map(entry, |payload| {
            if array {
                layout.unpack_array(payload).ok().map(|(items, _)| items)
            } else {
                layout.unpack(payload).ok().map(|value| vec![value])
            }
        }))
    }
}

fn no_schema(entry: &Entry, reason: String) -> LogError {
    LogError::NoSchema { name: entry.name.clone(), found: entry.data_type.log_name().to_owned(), reason }
}
