//! The file's header: magic, version, extra text.

use crate::LogError;
use crate::record::{FIXED_HEADER, MAGIC};

/// A file's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header<'a> {
    pub(crate) version: u16,
    pub(crate) extra: &'a [u8],
    /// Bytes that it takes; the first record stands there.
    pub(crate) len: usize,
}

/// The fixed part of a header: version, and length of the extra text.
///
/// # Errors
/// [`LogError::NotALog`]; what is there of a header that is cut is still compared.
pub(crate) fn read_fixed(data: &[u8], place: &str) -> Result<(u16, u32), LogError> {
    let refuse =
        |offset, expected, found| LogError::NotALog { place: place.to_owned(), offset, expected, found };
    let magic = data.get(..MAGIC.len()).unwrap_or(data);
    if magic != MAGIC {
        return Err(refuse(0, "the six letters WPILOG", format!("{:?}", String::from_utf8_lossy(magic))));
    }
    let Some([_, _, _, _, _, _, v0, v1, e0, e1, e2, e3]) = data.first_chunk::<FIXED_HEADER>() else {
        return Err(refuse(0, "a header of at least 12 bytes", format!("a file of {} bytes", data.len())));
    };
    let version = u16::from_le_bytes([*v0, *v1]);
    if version >> 8 != 1 {
        return Err(refuse(6, "version 1.x", format!("version {}.{}", version >> 8, version & 0xff)));
    }
    Ok((version, u32::from_le_bytes([*e0, *e1, *e2, *e3])))
}

/// What is left of a header that a power cut kept from being written; `None` for anything else.
fn cut_header(data: &[u8]) -> Option<String> {
    if data.is_empty() {
        return Some("none".to_owned());
    }
    if data.iter().all(|byte| *byte == 0) {
        return Some(format!("{} bytes, all zeros", data.len()));
    }
    // Magic, any minor version, major version 1.
    let begins = |(at, byte): (usize, &u8)| match MAGIC.get(at) {
        Some(magic) => magic == byte,
        None => at != 7 || *byte == 1,
    };
    (data.len() < FIXED_HEADER && data.iter().enumerate().all(begins))
        .then(|| format!("{} of them", data.len()))
}

/// A whole header.
///
/// # Errors
/// [`LogError::HeaderCut`]; [`LogError::NotALog`], also when the extra text is longer than the file.
pub(crate) fn read_header<'a>(data: &'a [u8], place: &str) -> Result<Header<'a>, LogError> {
    if let Some(found) = cut_header(data) {
        return Err(LogError::HeaderCut { place: place.to_owned(), found });
    }
    let (version, extra) = read_fixed(data, place)?;
    let rest = data.get(FIXED_HEADER..).unwrap_or_default();
    let extra = rest.get(..extra as usize).ok_or_else(|| LogError::NotALog {
        place: place.to_owned(),
        offset: 8,
        expected: "an extra header that ends before the file does",
        found: format!("a length of {extra} with {} bytes left", rest.len()),
    })?;
    Ok(Header { version, extra, len: FIXED_HEADER + extra.len() })
}
