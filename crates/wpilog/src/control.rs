//! Control records: what begins, ends and describes an entry.

use std::borrow::Cow;

/// A control record's meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Control<'a> {
    /// From here on `id` means this entry.
    Start {
        /// The id that data records carry; never 0.
        id: u32,
        /// The entry's name.
        name: Text<'a>,
        /// The type's name in a log file.
        type_name: Text<'a>,
        /// Free text, JSON by custom.
        metadata: Text<'a>,
    },
    /// The entry is over and its id is free.
    Finish {
        /// The entry's id.
        id: u32,
    },
    /// The entry's metadata is replaced.
    SetMetadata {
        /// The entry's id.
        id: u32,
        /// The new text.
        metadata: Text<'a>,
    },
}

/// Text from a file: the bytes as they stand, readable with replacement characters where they are not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text<'a> {
    /// The bytes in the file.
    pub raw: &'a [u8],
}

impl<'a> Text<'a> {
    /// Readable, with replacement characters where needed.
    #[must_use]
    pub fn lossy(self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.raw)
    }
}

/// Why a control record says nothing. It is skipped and counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Odd {
    /// No payload at all.
    Empty,
    /// A first byte that no version 1 writer writes.
    UnknownKind(u8),
    /// Too short for its kind, or a text that runs past the payload.
    Malformed(&'static str),
}

impl std::fmt::Display for Odd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => f.write_str("control record without payload"),
            Self::UnknownKind(kind) => write!(f, "control record of unknown kind {kind}"),
            Self::Malformed(which) => write!(f, "{which} record shorter than its contents"),
        }
    }
}

impl<'a> Control<'a> {
    /// Reads a control record's payload. Bytes after the last text are tolerated, as the official reader does.
    ///
    /// # Errors
    /// [`Odd`] when it says nothing that version 1 knows.
    pub fn parse(payload: &'a [u8]) -> Result<Self, Odd> {
        let (&kind, rest) = payload.split_first().ok_or(Odd::Empty)?;
        let mut rest = Rest(rest);
        match kind {
            0 => rest.start().ok_or(Odd::Malformed("Start")),
            1 if rest.0.len() == 4 => {
                rest.u32().map(|id| Self::Finish { id }).ok_or(Odd::Malformed("Finish"))
            }
            1 => Err(Odd::Malformed("Finish")),
            2 => rest.set_metadata().ok_or(Odd::Malformed("SetMetadata")),
            unknown => Err(Odd::UnknownKind(unknown)),
        }
    }
}

struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn u32(&mut self) -> Option<u32> {
        let (bytes, rest) = self.0.split_first_chunk::<4>()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*bytes))
    }

    fn text(&mut self) -> Option<Text<'a>> {
        let len = self.u32()?;
        let (raw, rest) = self.0.split_at_checked(usize::try_from(len).ok()?)?;
        self.0 = rest;
        Some(Text { raw })
    }

    fn start(&mut self) -> Option<Control<'a>> {
        Some(Control::Start {
            id: self.u32()?,
            name: self.text()?,
            type_name: self.text()?,
            metadata: self.text()?,
        })
    }

    fn set_metadata(&mut self) -> Option<Control<'a>> {
        Some(Control::SetMetadata { id: self.u32()?, metadata: self.text()? })
    }
}
