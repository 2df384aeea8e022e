//! A struct's value with its names.

use super::layout::{Field, Kind, mask, read_unit, select, signed};
use super::{SchemaError, StructLayout};

/// A struct's value, or a part of one.
#[derive(Debug, Clone, PartialEq)]
pub enum Tree {
    /// A `bool`.
    Bool(bool),
    /// Any signed integer.
    Int(i64),
    /// Any unsigned integer.
    UInt(u64),
    /// A `float`.
    Float(f32),
    /// A `double`.
    Double(f64),
    /// A `char` or an array of them, without the NULs at its end and without a character that was cut.
    Text(String),
    /// An array.
    Array(Vec<Tree>),
    /// A struct: names and values in schema order.
    Struct(Vec<(String, Tree)>),
}

impl Tree {
    /// The part at a path of names and array places: `translation/x`, `modules/0/speed`.
    #[must_use]
    pub fn at(&self, path: &str) -> Option<&Self> {
        path.split('/').try_fold(self, |tree, level| match tree {
            Self::Struct(fields) => fields.iter().find(|(name, _)| name == level).map(|(_, value)| value),
            Self::Array(items) => items.get(level.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// A number as `f64`, booleans as 0 or 1; `None` for anything else.
    #[must_use]
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Self::Bool(v) => Some(f64::from(u8::from(*v))),
            Self::Int(v) => Some(*v as f64),
            Self::UInt(v) => Some(*v as f64),
            Self::Float(v) => Some(f64::from(*v)),
            Self::Double(v) => Some(*v),
            _ => None,
        }
    }

    fn what(&self) -> &'static str {
        match self {
            Self::Bool(_) => "a bool",
            Self::Int(_) => "a signed integer",
            Self::UInt(_) => "an unsigned integer",
            Self::Float(_) => "a float",
            Self::Double(_) => "a double",
            Self::Text(_) => "a text",
            Self::Array(_) => "an array",
            Self::Struct(_) => "a struct",
        }
    }
}

impl StructLayout {
    /// Reads one value from the first [`size`](StructLayout::size) bytes.
    ///
    /// # Errors
    /// [`SchemaError::Short`].
    pub fn unpack(&self, bytes: &[u8]) -> Result<Tree, SchemaError> {
        let short =
            || SchemaError::Short { name: self.name.clone(), expected: self.size, found: bytes.len() };
        let bytes = bytes.get(..self.size).ok_or_else(short)?;
        self.fields
            .iter()
            .map(|field| Some((field.name.clone(), unpack_field(field, bytes)?)))
            .collect::<Option<Vec<_>>>()
            .map(Tree::Struct)
            .ok_or_else(short)
    }

    /// Reads values laid end to end, and answers how many bytes at the end are too few for one more.
    ///
    /// # Errors
    /// [`SchemaError::Short`] for a struct without fields, of which no number of bytes says how many there are.
    pub fn unpack_array(&self, bytes: &[u8]) -> Result<(Vec<Tree>, usize), SchemaError> {
        if self.size == 0 {
            return Err(SchemaError::Short { name: self.name.clone(), expected: 1, found: 0 });
        }
        let chunks = bytes.chunks_exact(self.size);
        let rest = chunks.remainder().len();
        Ok((chunks.map(|chunk| self.unpack(chunk)).collect::<Result<_, _>>()?, rest))
    }

    /// Writes a value. Texts are cut at their array size, at a whole character; integers and array lengths must fit.
    ///
    /// # Errors
    /// [`SchemaError::Shape`] with the first place where the tree differs.
    pub fn pack(&self, tree: &Tree) -> Result<Vec<u8>, SchemaError> {
        let mut bytes = vec![0; self.size];
        self.pack_into(tree, &mut bytes, "")?;
        Ok(bytes)
    }

    fn pack_into(&self, tree: &Tree, bytes: &mut [u8], path: &str) -> Result<(), SchemaError> {
        let Tree::Struct(values) = tree else {
            return Err(shape(path, format!("struct {}", self.name), tree.what()));
        };
        if values.len() != self.fields.len() {
            let expected = format!("{} fields", self.fields.len());
            return Err(shape(path, expected, &format!("{}", values.len())));
        }
        for (field, (name, value)) in self.fields.iter().zip(values) {
            if field.name != *name {
                return Err(shape(path, format!("field {}", field.name), name));
            }
            let path = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
            pack_field(field, value, bytes, &path)?;
        }
        Ok(())
    }
}

fn unpack_field(field: &Field, bytes: &[u8]) -> Option<Tree> {
    if field.kind == Kind::Char {
        let text = bytes.get(field.offset..)?.get(..field.count.unwrap_or(1))?;
        return Some(Tree::Text(text_of(text)));
    }
    let one = |place: usize| -> Option<Tree> {
        let size = field.kind.size();
        let offset = field.offset + place * size;
        if let Kind::Struct(layout) = &field.kind {
            return layout.unpack(bytes.get(offset..)?).ok();
        }
        let raw = read_unit(bytes, offset, field.bits.map_or(size, |bits| usize::from(bits.unit_bytes)))?;
        let raw = select(raw, field.bits);
        Some(match field.kind {
            Kind::Bool => Tree::Bool(raw != 0),
            Kind::Int { bytes, signed: true } => Tree::Int(signed(raw, bytes)),
            Kind::Int { signed: false, .. } => Tree::UInt(raw),
            Kind::Float => Tree::Float(f32::from_bits(raw as u32)),
            Kind::Double => Tree::Double(f64::from_bits(raw)),
            Kind::Char | Kind::Struct(_) => return None,
        })
    };
    match field.count {
        None => one(0),
        Some(count) => (0..count).map(one).collect::<Option<Vec<_>>>().map(Tree::Array),
    }
}

fn pack_field(field: &Field, value: &Tree, bytes: &mut [u8], path: &str) -> Result<(), SchemaError> {
    if field.kind == Kind::Char {
        let Tree::Text(text) = value else { return Err(shape(path, "a text".to_owned(), value.what())) };
        let room = field.count.unwrap_or(1);
        let mut len = text.len().min(room);
        while !text.is_char_boundary(len) {
            len -= 1;
        }
        put(bytes, field.offset, text.as_bytes().get(..len).unwrap_or_default());
        return Ok(());
    }
    let Some(count) = field.count else { return pack_one(field, value, bytes, 0, path) };
    match value {
        Tree::Array(items) if items.len() == count => {
            for (place, item) in items.iter().enumerate() {
                pack_one(field, item, bytes, place, &format!("{path}/{place}"))?;
            }
            Ok(())
        }
        Tree::Array(items) => Err(shape(path, format!("{count} items"), &items.len().to_string())),
        other => Err(shape(path, "an array".to_owned(), other.what())),
    }
}

fn pack_one(
    field: &Field,
    value: &Tree,
    bytes: &mut [u8],
    place: usize,
    path: &str,
) -> Result<(), SchemaError> {
    let size = field.kind.size();
    let offset = field.offset + place * size;
    let wrong = |expected: &str| Err(shape(path, expected.to_owned(), value.what()));
    let raw = match (&field.kind, value) {
        (Kind::Struct(layout), value) => {
            let end = (offset + size).min(bytes.len());
            return layout.pack_into(value, bytes.get_mut(offset..end).unwrap_or_default(), path);
        }
        (Kind::Bool, Tree::Bool(v)) => u64::from(*v),
        (Kind::Bool, _) => return wrong("a bool"),
        (Kind::Float, Tree::Float(v)) => u64::from(v.to_bits()),
        (Kind::Float, _) => return wrong("a float"),
        (Kind::Double, Tree::Double(v)) => v.to_bits(),
        (Kind::Double, _) => return wrong("a double"),
        (Kind::Int { bytes, signed: true }, Tree::Int(v)) => {
            let raw = *v as u64 & field.bits.map_or(u64::MAX, |bits| mask(bits.width));
            if signed(raw, *bytes) != *v {
                return Err(shape(path, format!("an integer that {} hold", room(field)), &v.to_string()));
            }
            raw
        }
        (Kind::Int { signed: true, .. }, _) => return wrong("a signed integer"),
        (Kind::Int { bytes, signed: false }, Tree::UInt(v)) => {
            let width = field.bits.map_or(*bytes * 8, |bits| bits.width);
            if *v & mask(width) != *v {
                return Err(shape(path, format!("an integer that {} hold", room(field)), &v.to_string()));
            }
            *v
        }
        (Kind::Int { signed: false, .. }, _) => return wrong("an unsigned integer"),
        (Kind::Char, _) => return wrong("a text"),
    };
    match field.bits {
        None => put(bytes, offset, raw.to_le_bytes().get(..size).unwrap_or_default()),
        Some(bits) => {
            let unit = usize::from(bits.unit_bytes);
            let held = read_unit(bytes, offset, unit).unwrap_or(0) & !(mask(bits.width) << bits.shift);
            let raw = held | (raw & mask(bits.width)) << bits.shift;
            put(bytes, offset, raw.to_le_bytes().get(..unit).unwrap_or_default());
        }
    }
    Ok(())
}

fn room(field: &Field) -> String {
    match field.bits {
        Some(bits) => format!("{} bits", bits.width),
        None => format!("{} bytes", field.kind.size()),
    }
}

fn put(bytes: &mut [u8], offset: usize, from: &[u8]) {
    if let Some(place) = bytes.get_mut(offset..).and_then(|rest| rest.get_mut(..from.len())) {
        place.copy_from_slice(from);
    }
}

fn shape(path: &str, expected: String, found: &str) -> SchemaError {
    let path = if path.is_empty() { "the value".to_owned() } else { path.to_owned() };
    SchemaError::Shape { path, expected, found: found.to_owned() }
}

/// Text without the NULs at its end; a character that the array's end cut is left off, other bytes that are not UTF-8
/// become replacement characters.
fn text_of(bytes: &[u8]) -> String {
    let end = bytes.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1);
    let bytes = bytes.get(..end).unwrap_or_default();
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(error) if error.error_len().is_none() => {
            String::from_utf8_lossy(bytes.get(..error.valid_up_to()).unwrap_or_default()).into_owned()
        }
        Err(_) => {
            // Cut off an unfinished last character, then replace what else is wrong.
            let whole = bytes
                .utf8_chunks()
                .last()
                .filter(|c| std::str::from_utf8(c.invalid()).is_err_and(|e| e.error_len().is_none()));
            let cut = whole.map_or(0, |chunk| chunk.invalid().len());
            String::from_utf8_lossy(bytes.get(..end - cut).unwrap_or_default()).into_owned()
        }
    }
}
