//! Where each field of a struct stands.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Declaration, MAX_DEPTH, MAX_LEAVES, MAX_SIZE, SchemaError};

/// A field's type.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// One byte, or one bit; anything but 0 is true.
    Bool,
    /// Text of one byte a place.
    Char,
    /// An integer of 1, 2, 4 or 8 bytes.
    Int {
        /// Its size in bytes.
        bytes: u8,
        /// Whether it has a sign.
        signed: bool,
    },
    /// Four bytes.
    Float,
    /// Eight bytes.
    Double,
    /// Another struct.
    Struct(Arc<StructLayout>),
}

/// The place of a bit-field in its storage unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bits {
    /// Bytes of the storage unit at the field's offset.
    pub unit_bytes: u8,
    /// Bits of the unit below the field.
    pub shift: u8,
    /// The field's bits.
    pub width: u8,
}

/// A field of a struct.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: Kind,
    /// Bytes from the struct's start.
    pub offset: usize,
    /// Array size, when it is an array.
    pub count: Option<usize>,
    /// Its place in its storage unit, when it is a bit-field.
    pub bits: Option<Bits>,
    /// Names of its values. Values without a name are ordinary: logged enums are not trusted.
    pub enum_values: Vec<(String, i64)>,
}

/// A struct whose every field has its place: packed, little-endian, no alignment.
#[derive(Debug, Clone, PartialEq)]
pub struct StructLayout {
    /// Its name.
    pub name: String,
    /// Bytes of one value.
    pub size: usize,
    /// Its fields, in schema order.
    pub fields: Vec<Field>,
    depth: usize,
}

/// A number in a struct, by its flat name.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaf {
    /// Names of the levels joined by `/`; array places are levels: `modules/0/speed`.
    pub path: String,
    /// Bytes from the outer struct's start.
    pub offset: usize,
    /// Its type; never a struct or a char.
    pub kind: Kind,
    /// Its place in its storage unit, when it is a bit-field.
    pub bits: Option<Bits>,
}

impl Kind {
    /// Bytes of one value, as declared.
    #[must_use]
    pub fn size(&self) -> usize {
        match self {
            Self::Bool | Self::Char => 1,
            Self::Int { bytes, .. } => usize::from(*bytes),
            Self::Float => 4,
            Self::Double => 8,
            Self::Struct(layout) => layout.size,
        }
    }

    pub(super) fn plain(name: &str) -> Option<Self> {
        let int = |bytes, signed| Self::Int { bytes, signed };
        Some(match name {
            "bool" => Self::Bool,
            "char" => Self::Char,
            "int8" => int(1, true),
            "int16" => int(2, true),
            "int32" => int(4, true),
            "int64" => int(8, true),
            "uint8" => int(1, false),
            "uint16" => int(2, false),
            "uint32" => int(4, false),
            "uint64" => int(8, false),
            "float" | "float32" => Self::Float,
            "double" | "float64" => Self::Double,
            _ => return None,
        })
    }
}

/// Checks what can be checked without knowing other structs.
pub(super) fn check(name: &str, declarations: &[Declaration]) -> Result<(), SchemaError> {
    let mut names = BTreeSet::new();
    for declared in declarations {
        let refuse = |expected, found: String| {
            Err(SchemaError::Field { field: declared.name.clone(), expected, found })
        };
        if !names.insert(declared.name.as_str()) {
            return refuse("each name once", "a second declaration".to_owned());
        }
        let kind = Kind::plain(&declared.type_name);
        let is_int = matches!(kind, Some(Kind::Int { .. }));
        if !declared.enum_values.is_empty() && !is_int {
            return refuse("an integer type after an enum", declared.type_name.clone());
        }
        if let Some(bits) = declared.bits {
            match &kind {
                Some(Kind::Bool) if bits == 1 => {}
                Some(Kind::Bool) => return refuse("1 bit for a bool", bits.to_string()),
                Some(Kind::Int { bytes, .. }) if bits <= u32::from(*bytes) * 8 => {}
                Some(Kind::Int { .. }) => return refuse("no more bits than its type has", bits.to_string()),
                _ => return refuse("an integer or bool type for a bit-field", declared.type_name.clone()),
            }
        }
        if declared.type_name == name {
            return Err(SchemaError::Cycle { name: name.to_owned(), chain: format!("{name} <- {name}") });
        }
    }
    Ok(())
}

/// Lays a checked struct out. `nested` answers the layouts of the structs that it names.
pub(super) fn lay_out<'a>(
    name: &str,
    declarations: &[Declaration],
    nested: impl Fn(&str) -> Option<&'a Arc<StructLayout>>,
) -> Result<StructLayout, SchemaError> {
    let too_large = |what, limit| SchemaError::TooLarge { name: name.to_owned(), what, limit };
    let mut fields = Vec::with_capacity(declarations.len());
    let mut offset = 0_usize;
    let mut depth = 1;
    // The storage unit that further bit-fields may share: its bytes and its used bits. `offset` is its start.
    let mut unit: Option<(u8, u8)> = None;
    for declared in declarations {
        let kind = match Kind::plain(&declared.type_name) {
            Some(kind) => kind,
            None => match nested(&declared.type_name) {
                Some(layout) => {
                    depth = depth.max(layout.depth + 1);
                    Kind::Struct(Arc::clone(layout))
                }
                None => {
                    return Err(SchemaError::Field {
                        field: declared.name.clone(),
                        expected: "a registered struct",
                        found: declared.type_name.clone(),
                    });
                }
            },
        };
        let mut field = Field {
            name: declared.name.clone(),
            kind,
            offset,
            count: None,
            bits: None,
            enum_values: declared.enum_values.clone(),
        };
        if let Some(width) = declared.bits {
            let (unit_bytes, shift) = place(&field.kind, width as u8, &mut unit, &mut offset);
            field.offset = offset;
            field.bits = Some(Bits { unit_bytes, shift, width: width as u8 });
        } else {
            offset += unit.take().map_or(0, |(bytes, _)| usize::from(bytes));
            field.offset = offset;
            let count = declared.count.unwrap_or(1);
            let bytes = usize::try_from(count).ok().and_then(|count| count.checked_mul(field.kind.size()));
            field.count = declared.count.map(|count| usize::try_from(count).unwrap_or(usize::MAX));
            offset = bytes
                .and_then(|bytes| bytes.checked_add(offset))
                .filter(|end| *end <= MAX_SIZE)
                .ok_or_else(|| too_large("bytes", MAX_SIZE))?;
            if field.kind.size() == 0 && count > 1 {
                // Nothing would bound the places of such an array.
                return Err(SchemaError::Field {
                    field: field.name,
                    expected: "a struct with at least one field in an array",
                    found: declared.type_name.clone(),
                });
            }
        }
        fields.push(field);
    }
    offset += unit.map_or(0, |(bytes, _)| usize::from(bytes));
    if offset > MAX_SIZE {
        return Err(too_large("bytes", MAX_SIZE));
    }
    if depth > MAX_DEPTH {
        return Err(too_large("levels", MAX_DEPTH));
    }
    Ok(StructLayout { name: name.to_owned(), size: offset, fields, depth })
}

/// The storage unit and shift of a bit-field: the unit before it when it has the same size and room, else a new one.
/// A bool takes whatever unit stands before it.
fn place(kind: &Kind, width: u8, unit: &mut Option<(u8, u8)>, offset: &mut usize) -> (u8, u8) {
    let bytes = kind.size() as u8;
    if let Some((unit_bytes, used)) = unit {
        let shares = *unit_bytes == bytes || *kind == Kind::Bool;
        if shares && *used + width <= *unit_bytes * 8 {
            let shift = *used;
            *used += width;
            return (*unit_bytes, shift);
        }
        *offset += usize::from(*unit_bytes);
    }
    *unit = Some((bytes, width));
    (bytes, 0)
}

impl StructLayout {
    /// Every number in it by its flat name, in schema order. Texts (`char`) are no numbers.
    ///
    /// # Errors
    /// [`SchemaError::TooLarge`] for more than [`MAX_LEAVES`].
    pub fn leaves(&self) -> Result<Vec<Leaf>, SchemaError> {
        let mut leaves = Vec::new();
        if self.collect("", 0, &mut leaves) {
            Ok(leaves)
        } else {
            Err(SchemaError::TooLarge { name: self.name.clone(), what: "numbers", limit: MAX_LEAVES })
        }
    }

    /// The number of this flat name.
    #[must_use]
    pub fn leaf(&self, path: &str) -> Option<Leaf> {
        let (name, rest) = path.split_once('/').map_or((path, None), |(name, rest)| (name, Some(rest)));
        let field = self.fields.iter().find(|field| field.name == name)?;
        let (place, rest) = match (field.count, rest) {
            (None, rest) => (0, rest),
            (Some(count), Some(rest)) => {
                let (place, rest) = rest.split_once('/').map_or((rest, None), |(p, rest)| (p, Some(rest)));
                (place.parse::<usize>().ok().filter(|place| *place < count)?, rest)
            }
            (Some(_), None) => return None,
        };
        let offset = field.offset + place * field.kind.size();
        match (&field.kind, rest) {
            (Kind::Struct(layout), Some(rest)) => {
                let leaf = layout.leaf(rest)?;
                Some(Leaf { path: path.to_owned(), offset: offset + leaf.offset, ..leaf })
            }
            (Kind::Struct(_) | Kind::Char, _) | (_, Some(_)) => None,
            (kind, None) => {
                Some(Leaf { path: path.to_owned(), offset, kind: kind.clone(), bits: field.bits })
            }
        }
    }

    /// Answers whether all fitted.
    fn collect(&self, prefix: &str, base: usize, leaves: &mut Vec<Leaf>) -> bool {
        for field in &self.fields {
            if field.kind == Kind::Char {
                continue;
            }
            for place in 0..field.count.unwrap_or(1) {
                let mut path = format!("{prefix}{}", field.name);
                if field.count.is_some() {
                    path.push_str(&format!("/{place}"));
                }
                let offset = base + field.offset + place * field.kind.size();
                match &field.kind {
                    Kind::Struct(layout) => {
                        if !layout.collect(&format!("{path}/"), offset, leaves) {
                            return false;
                        }
                    }
                    _ if leaves.len() >= MAX_LEAVES => return false,
                    kind => leaves.push(Leaf { path, offset, kind: kind.clone(), bits: field.bits }),
                }
            }
        }
        true
    }
}

impl Leaf {
    /// The number in a struct's bytes, booleans as 0 or 1; `None` when there are too few.
    #[must_use]
    pub fn read(&self, bytes: &[u8]) -> Option<f64> {
        let raw =
            read_unit(bytes, self.offset, self.bits.map_or(self.kind.size(), |b| usize::from(b.unit_bytes)))?;
        Some(match &self.kind {
            Kind::Float => f64::from(f32::from_bits(raw as u32)),
            Kind::Double => f64::from_bits(raw),
            Kind::Int { bytes, signed: true } => signed(select(raw, self.bits), *bytes) as f64,
            Kind::Int { signed: false, .. } => select(raw, self.bits) as f64,
            Kind::Bool => f64::from(u8::from(select(raw, self.bits) != 0)),
            Kind::Char | Kind::Struct(_) => return None,
        })
    }
}

/// A storage unit of 1, 2, 4 or 8 bytes, widened.
pub(super) fn read_unit(bytes: &[u8], offset: usize, size: usize) -> Option<u64> {
    let bytes = bytes.get(offset..offset.checked_add(size)?)?;
    let mut wide = [0; 8];
    wide.get_mut(..size)?.copy_from_slice(bytes);
    Some(u64::from_le_bytes(wide))
}

/// A bit-field's bits, or the whole unit.
pub(super) fn select(raw: u64, bits: Option<Bits>) -> u64 {
    bits.map_or(raw, |bits| raw >> bits.shift & mask(bits.width))
}

pub(super) fn mask(width: u8) -> u64 {
    u64::MAX >> (64 - u32::from(width.clamp(1, 64)))
}

/// The value as an integer of `bytes` bytes. A signed bit-field narrower than its type is never negative: neither the
/// official reader nor AdvantageScope extends its sign, and what they write they read back so.
pub(super) fn signed(raw: u64, bytes: u8) -> i64 {
    match bytes {
        1 => i64::from(raw as i8),
        2 => i64::from(raw as i16),
        4 => i64::from(raw as i32),
        _ => raw as i64,
    }
}
