//! The part of the zip format that numpy uses.
//!
//! Sizes are believed only from the central directory, and only after they met the limits; local headers may be ZIP64 (numpy's
//! are). Members that overlap cost no more than their declared sizes, which the limit on the sum bounds.

use std::collections::BTreeSet;

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;

use crate::error::DrawError;

/// Most members that are read.
pub const MAX_MEMBERS: usize = 64;
/// Most bytes that are decoded from one archive, all members together.
pub const MAX_DECODED_BYTES: usize = 128 << 20;

const LOCAL: u32 = 0x0403_4B50;
const CENTRAL: u32 = 0x0201_4B50;
const END: u32 = 0x0605_4B50;
const END64: u32 = 0x0606_4B50;
const LOCATOR64: u32 = 0x0706_4B50;
/// 1980-01-01, as numpy writes, so that equal arrays give equal bytes.
const DATE: u16 = 0x21;

pub(super) struct Member {
    /// Without `.npy`.
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
}

fn refuse(place: &str, expected: impl Into<String>, found: impl std::fmt::Display) -> DrawError {
    DrawError::array(format!("zip {place}"), expected, found)
}

struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn slice(&self, at: u64, length: u64) -> Result<&'a [u8], DrawError> {
        let range = usize::try_from(at).ok().zip(usize::try_from(at.saturating_add(length)).ok());
        range
            .and_then(|(from, to)| self.0.get(from..to))
            .ok_or_else(|| refuse("structure", "an offset inside the file", at))
    }

    fn u16(&self, at: u64) -> Result<u16, DrawError> {
        let bytes = self.slice(at, 2)?;
        Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    fn u32(&self, at: u64) -> Result<u32, DrawError> {
        Ok(u32::from(self.u16(at)?) | u32::from(self.u16(at + 2)?) << 16)
    }

    fn u64(&self, at: u64) -> Result<u64, DrawError> {
        Ok(u64::from(self.u32(at)?) | u64::from(self.u32(at + 4)?) << 32)
    }
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<Member>, DrawError> {
    let file = Bytes(bytes);
    let (count, mut at) = directory(&file)?;
    if count > MAX_MEMBERS as u64 {
        return Err(refuse("directory", format!("at most {MAX_MEMBERS} members"), count));
    }
    let mut entries = Vec::new();
    let mut names = BTreeSet::new();
    let mut total = 0u64;
    for _ in 0..count {
        let (entry, next) = Entry::read(&file, at)?;
        at = next;
        total = total.saturating_add(entry.size);
        if total > MAX_DECODED_BYTES as u64 {
            return Err(refuse("directory", format!("at most {MAX_DECODED_BYTES} bytes decoded"), total));
        }
        if !names.insert(entry.name.clone()) {
            return Err(refuse(&entry.name, "one member of this name", "two"));
        }
        entries.push(entry);
    }
    entries.into_iter().map(|entry| entry.decode(&file)).collect()
}

/// Number of members and offset of the central directory.
fn directory(file: &Bytes<'_>) -> Result<(u64, u64), DrawError> {
    let length = file.0.len();
    let earliest = length.saturating_sub(22 + 65_535);
    let end = (earliest..=length.saturating_sub(22))
        .rev()
        .find(|&at| file.0[at..].starts_with(&END.to_le_bytes()))
        .ok_or_else(|| refuse("structure", "a zip archive", "no end record"))? as u64;
    let (count, offset) = (file.u16(end + 10)?, file.u32(end + 16)?);
    if file.u16(end + 4)? != 0 || file.u16(end + 8)? != count {
        return Err(refuse("structure", "one archive on one disk", "a split one"));
    }
    let wide = count == u16::MAX || offset == u32::MAX;
    if wide && end >= 20 && file.u32(end - 20)? == LOCATOR64 {
        let end64 = file.u64(end - 20 + 8)?;
        if file.u32(end64)? != END64 {
            return Err(refuse("structure", "a ZIP64 end record", "other bytes"));
        }
        return Ok((file.u64(end64 + 32)?, file.u64(end64 + 48)?));
    }
    Ok((u64::from(count), u64::from(offset)))
}

struct Entry {
    name: String,
    method: u16,
    checksum: u32,
    packed: u64,
    size: u64,
    local: u64,
}

impl Entry {
    /// The directory entry at `at`, and where the next one begins.
    fn read(file: &Bytes<'_>, at: u64) -> Result<(Self, u64), DrawError> {
        if file.u32(at)? != CENTRAL {
            return Err(refuse("directory", "an entry", "other bytes"));
        }
        let (name_length, extra_length, comment) =
            (file.u16(at + 28)?, file.u16(at + 30)?, file.u16(at + 32)?);
        let raw = file.slice(at + 46, u64::from(name_length))?;
        let name = std::str::from_utf8(raw)
            .ok()
            .and_then(|name| name.strip_suffix(".npy"))
            .filter(|name| !name.is_empty() && name.len() <= 200)
            .filter(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'))
            .ok_or_else(|| {
                refuse(
                    "directory",
                    "flat names that end in .npy",
                    String::from_utf8_lossy(raw).escape_debug(),
                )
            })?
            .to_owned();
        let flags = file.u16(at + 8)?;
        if flags & 0x2041 != 0 {
            return Err(refuse(&name, "a member that is not encrypted", format!("flags {flags:#06x}")));
        }
        let mut entry = Self {
            name,
            method: file.u16(at + 10)?,
            checksum: file.u32(at + 16)?,
            packed: u64::from(file.u32(at + 20)?),
            size: u64::from(file.u32(at + 24)?),
            local: u64::from(file.u32(at + 42)?),
        };
        entry.widen(file, at + 46 + u64::from(name_length), extra_length)?;
        Ok((entry, at + 46 + u64::from(name_length) + u64::from(extra_length) + u64::from(comment)))
    }

    /// Takes what is too large for 32 bits from the ZIP64 field, in its fixed order.
    fn widen(&mut self, file: &Bytes<'_>, mut at: u64, extra_length: u16) -> Result<(), DrawError> {
        let end = at + u64::from(extra_length);
        while at + 4 <= end {
            let (kind, length) = (file.u16(at)?, u64::from(file.u16(at + 2)?));
            if kind == 1 {
                let mut from = at + 4;
                for field in [&mut self.size, &mut self.packed, &mut self.local] {
                    if *field == u64::from(u32::MAX) && from + 8 <= at + 4 + length {
                        *field = file.u64(from)?;
                        from += 8;
                    }
                }
            }
            at += 4 + length;
        }
        Ok(())
    }

    fn decode(self, file: &Bytes<'_>) -> Result<Member, DrawError> {
        if file.u32(self.local)? != LOCAL {
            return Err(refuse(&self.name, "a local header", "other bytes"));
        }
        let (name_length, extra_length) = (file.u16(self.local + 26)?, file.u16(self.local + 28)?);
        let stated = file.slice(self.local + 30, u64::from(name_length))?;
        if stated.strip_suffix(b".npy") != Some(self.name.as_bytes()) {
            return Err(refuse(&self.name, "the same name in the local header", "another"));
        }
        let start = self.local + 30 + u64::from(name_length) + u64::from(extra_length);
        let packed = file.slice(start, self.packed)?;
        let size = usize::try_from(self.size).unwrap_or(usize::MAX);
        let bytes = match self.method {
            0 if self.packed == self.size => packed.to_vec(),
            8 => decompress_to_vec_with_limit(packed, size)
                .map_err(|_| refuse(&self.name, format!("{size} bytes deflated"), "broken or longer data"))?,
            0 => return Err(refuse(&self.name, "equal sizes for a stored member", self.packed)),
            other => {
                return Err(refuse(&self.name, "a stored or deflated member", format!("method {other}")));
            }
        };
        if bytes.len() != size || crc32(&bytes) != self.checksum {
            return Err(refuse(&self.name, "data of the stated size and checksum", "other data"));
        }
        Ok(Member { name: self.name, bytes })
    }
}

pub(super) fn write(members: &[(&str, Vec<u8>)], deflate: bool) -> Result<Vec<u8>, DrawError> {
    let total: usize = members.iter().map(|(_, bytes)| bytes.len()).sum();
    if total > MAX_DECODED_BYTES || members.len() > MAX_MEMBERS {
        let expected = format!("at most {MAX_MEMBERS} members and {MAX_DECODED_BYTES} bytes");
        return Err(refuse("archive", expected, format!("{} members, {total} bytes", members.len())));
    }
    let mut out = Vec::new();
    let mut central = Vec::new();
    // Every offset and size is below 2^32 by the limit above.
    let narrow = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    for (name, bytes) in members {
        let name = format!("{name}.npy");
        let packed = if deflate { compress_to_vec(bytes, 6) } else { bytes.clone() };
        let offset = narrow(out.len());
        let mut common = Vec::new();
        common.extend(20u16.to_le_bytes());
        common.extend(0u16.to_le_bytes());
        common.extend(if deflate { 8u16 } else { 0 }.to_le_bytes());
        common.extend(0u16.to_le_bytes());
        common.extend(DATE.to_le_bytes());
        common.extend(crc32(bytes).to_le_bytes());
        common.extend(narrow(packed.len()).to_le_bytes());
        common.extend(narrow(bytes.len()).to_le_bytes());
        common.extend(u16::try_from(name.len()).unwrap_or(u16::MAX).to_le_bytes());
        common.extend(0u16.to_le_bytes());
        out.extend(LOCAL.to_le_bytes());
        out.extend(&common);
        out.extend(name.as_bytes());
        out.extend(&packed);
        central.extend(CENTRAL.to_le_bytes());
        central.extend(20u16.to_le_bytes());
        central.extend(&common);
        central.extend([0; 10]);
        central.extend(offset.to_le_bytes());
        central.extend(name.as_bytes());
    }
    let (offset, length) = (narrow(out.len()), narrow(central.len()));
    let count = u16::try_from(members.len()).unwrap_or(u16::MAX);
    out.extend(&central);
    out.extend(END.to_le_bytes());
    out.extend([0; 4]);
    out.extend(count.to_le_bytes());
    out.extend(count.to_le_bytes());
    out.extend(length.to_le_bytes());
    out.extend(offset.to_le_bytes());
    out.extend([0; 2]);
    Ok(out)
}

/// The CRC-32 of zip, a byte at a time.
fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = table();
    !bytes.iter().fold(!0u32, |crc, &byte| {
        #[allow(clippy::cast_possible_truncation)] // the lowest byte is wanted
        let index = usize::from((crc as u8) ^ byte);
        TABLE[index] ^ (crc >> 8)
    })
}

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut value = index as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { 0xEDB8_8320 ^ (value >> 1) } else { value >> 1 };
            bit += 1;
        }
        table[index] = value;
        index += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_published_one() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    fn refused(bytes: &[u8]) -> String {
        match read(bytes) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_lying_archive_is_refused() {
        let good = write(&[("a", vec![7; 100]), ("b", vec![8; 10])], true).unwrap();
        assert_eq!(refused(&good), "");
        for cut in 0..good.len() {
            assert_ne!(refused(&good[..cut]), "", "cut at {cut}");
        }
        let twice = write(&[("a", vec![7; 100]), ("a", vec![8; 10])], false).unwrap();
        assert!(refused(&twice).contains("one member of this name"));
        assert!(refused(&write(&[("a/b", vec![])], false).unwrap()).contains("flat names"));
        let many: Vec<(String, Vec<u8>)> = (0..64).map(|k| (format!("m{k}"), vec![])).collect();
        let many: Vec<(&str, Vec<u8>)> =
            many.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
        assert_eq!(refused(&write(&many, false).unwrap()), "");
        let directory = good.len() - 22 - 2 * (46 + 5);
        let patched = |at: usize, bytes: &[u8]| {
            let mut copy = good.clone();
            copy[directory + at..directory + at + bytes.len()].copy_from_slice(bytes);
            copy
        };
        assert!(refused(&patched(8, &[1, 0])).contains("encrypted"));
        assert!(refused(&patched(10, &[9, 0])).contains("method 9"));
        assert!(refused(&patched(16, &[0; 4])).contains("checksum"));
        assert!(refused(&patched(24, &[99, 0, 0, 0])).contains("99 bytes"));
        assert!(refused(&patched(24, &[0xFF, 0xFF, 0xFF, 0x7F])).contains("bytes decoded"));
        assert!(refused(&patched(42, &[0xFF, 0xFF, 0xFF, 0x7F])).contains("inside the file"));
    }
}
