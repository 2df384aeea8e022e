//! numpy's files: `.npy` arrays and `.npz` archives of them.
//!
//! The reader takes what numpy writes without pickling: little-endian numbers and fixed-width text in C order, stored or deflated.
//! Whatever the bytes are, it does not panic, allocates nothing that the limits ([`MAX_MEMBERS`], [`MAX_DECODED_BYTES`]) have not
//! allowed, and believes no size that the data does not bear out. The writer's bytes depend on the arrays only.

mod npy;
mod zip;

pub use npy::{Array, Data, MAX_DIMENSIONS, MAX_HEADER_BYTES};
pub use zip::{MAX_DECODED_BYTES, MAX_MEMBERS};

use crate::error::DrawError;

/// An archive: arrays by name, in the order of the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Archive {
    members: Vec<(String, Array)>,
}

impl Archive {
    /// Reads an `.npz`.
    ///
    /// # Errors
    /// Not a zip archive, or one with encrypted, nested, repeated, foreign or too many members; a member that is no
    /// acceptable array; a checksum that does not match; more than [`MAX_DECODED_BYTES`] in all.
    ///
    /// ```
    /// use fieldlab_draw::npz::{Archive, Array};
    ///
    /// let mut archive = Archive::default();
    /// archive.push("height", Array::f64(&[2, 2], vec![0.0, 1.0, 2.0, f64::NAN])?);
    /// let back = Archive::parse(&archive.to_bytes(true)?)?;
    /// assert_eq!(back.names().collect::<Vec<_>>(), ["height"]);
    /// # Ok::<(), fieldlab_draw::DrawError>(())
    /// ```
    pub fn parse(bytes: &[u8]) -> Result<Self, DrawError> {
        let mut members = Vec::new();
        for member in zip::read(bytes)? {
            let array = Array::parse(&member.bytes).map_err(|error| in_member(&member.name, error))?;
            members.push((member.name, array));
        }
        Ok(Self { members })
    }

    /// Adds an array; a name that is already there is replaced.
    pub fn push(&mut self, name: impl Into<String>, array: Array) {
        let name = name.into();
        match self.members.iter_mut().find(|(known, _)| *known == name) {
            Some(member) => member.1 = array,
            None => self.members.push((name, array)),
        }
    }

    /// The bytes of the `.npz`, members deflated or stored.
    ///
    /// # Errors
    /// More members or bytes than the reader would take.
    pub fn to_bytes(&self, deflate: bool) -> Result<Vec<u8>, DrawError> {
        let members: Vec<(&str, Vec<u8>)> =
            self.members.iter().map(|(name, array)| (name.as_str(), array.to_bytes())).collect();
        zip::write(&members, deflate)
    }

    /// The names, in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|(name, _)| name.as_str())
    }

    /// The array of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Array> {
        self.members.iter().find(|(known, _)| known == name).map(|(_, array)| array)
    }

    /// The array of this name.
    ///
    /// # Errors
    /// When it is missing.
    pub fn require(&self, name: &str) -> Result<&Array, DrawError> {
        self.get(name).ok_or_else(|| DrawError::array(name, "a member of this name", "none"))
    }

    /// The 64-bit floats of a member that must have exactly this shape.
    ///
    /// # Errors
    /// When it is missing, of another type or of another shape.
    pub fn f64s(&self, name: &str, shape: &[usize]) -> Result<&[f64], DrawError> {
        let array = self.require(name)?;
        match &array.data {
            Data::F64(values) if array.shape == shape => Ok(values),
            _ => Err(DrawError::array(name, format!("float64 of shape {shape:?}"), array.describe())),
        }
    }

    /// The one 64-bit float of a member without dimensions.
    ///
    /// # Errors
    /// As [`Archive::f64s`].
    pub fn f64(&self, name: &str) -> Result<f64, DrawError> {
        self.f64s(name, &[]).map(|values| values.first().copied().unwrap_or(f64::NAN))
    }

    /// The one text of a member without dimensions.
    ///
    /// # Errors
    /// When it is missing or anything else.
    pub fn text(&self, name: &str) -> Result<&str, DrawError> {
        let array = self.require(name)?;
        match &array.data {
            Data::Text { values, .. } if array.shape.is_empty() => {
                Ok(values.first().map_or("", String::as_str))
            }
            _ => Err(DrawError::array(name, "one text", array.describe())),
        }
    }
}

fn in_member(name: &str, error: DrawError) -> DrawError {
    match error {
        DrawError::Array { place, expected, found } => {
            DrawError::Array { place: format!("{name}: {place}"), expected, found }
        }
        other => other,
    }
}
