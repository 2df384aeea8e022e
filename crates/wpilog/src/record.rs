//! One record's header: a bit field, then id, payload size and time in as few bytes as hold them.

/// The most bytes that a record's header takes.
pub(crate) const MAX_HEAD: usize = 17;
/// The file's first bytes.
pub(crate) const MAGIC: &[u8; 6] = b"WPILOG";
/// Bytes before the extra header's text.
pub(crate) const FIXED_HEADER: usize = 12;
/// The version that is written.
pub(crate) const VERSION: u16 = 0x0100;

/// A record's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    /// The entry; 0 for control records.
    pub(crate) id: u32,
    /// Payload bytes.
    pub(crate) size: u32,
    /// Microseconds. Eight bytes are signed, fewer are never negative.
    pub(crate) time: i64,
    /// Bytes of the header itself.
    pub(crate) len: usize,
}

/// Reads a header from a window that is long enough for any.
#[inline(always)]
pub(crate) fn head(window: &[u8; MAX_HEAD]) -> Head {
    let bits = u32::from(window[0]);
    let id_len = (bits & 3) + 1;
    let size_len = (bits >> 2 & 3) + 1;
    let time_len = (bits >> 4 & 7) + 1;
    let mut rest = [0; 16];
    rest.copy_from_slice(&window[1..]);
    let rest = u128::from_le_bytes(rest);
    let id = rest as u32 & (u32::MAX >> (32 - 8 * id_len));
    let rest = rest >> (8 * id_len);
    let size = rest as u32 & (u32::MAX >> (32 - 8 * size_len));
    let rest = rest >> (8 * size_len);
    let time = rest as u64 & (u64::MAX >> (64 - 8 * time_len));
    Head { id, size, time: time as i64, len: (1 + id_len + size_len + time_len) as usize }
}

/// Bytes that [`Shape::read`] looks at.
pub(crate) const WINDOW: usize = 24;

/// Where the parts of a header stand, for one value of its bit field. Most records of a log have the shape of the record
/// before them, so a pass keeps it and saves the processor from waiting for one load before the next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    bits: u8,
    size_at: u8,
    time_at: u8,
    len: u8,
    id_mask: u32,
    size_mask: u32,
    time_mask: u64,
}

impl Shape {
    pub(crate) const fn of(bits: u8) -> Self {
        let id_len = (bits & 3) + 1;
        let size_len = (bits >> 2 & 3) + 1;
        let time_len = (bits >> 4 & 7) + 1;
        Self {
            bits,
            size_at: 1 + id_len,
            time_at: 1 + id_len + size_len,
            len: 1 + id_len + size_len + time_len,
            id_mask: u32::MAX >> (32 - 8 * id_len as u32),
            size_mask: u32::MAX >> (32 - 8 * size_len as u32),
            time_mask: u64::MAX >> (64 - 8 * time_len as u32),
        }
    }

    /// Reads a header, and takes its shape when it has another.
    #[inline(always)]
    pub(crate) fn read(&mut self, window: &[u8; WINDOW]) -> Head {
        if window[0] != self.bits {
            *self = SHAPES[usize::from(window[0])];
        }
        Head {
            id: word(window, 1) as u32 & self.id_mask,
            size: word(window, self.size_at) as u32 & self.size_mask,
            time: (word(window, self.time_at) & self.time_mask) as i64,
            len: usize::from(self.len),
        }
    }
}

static SHAPES: [Shape; 256] = {
    let mut shapes = [Shape::of(0); 256];
    let mut bits = 0;
    while bits < 256 {
        shapes[bits] = Shape::of(bits as u8);
        bits += 1;
    }
    shapes
};

/// Eight bytes at `at`, which is below 16.
#[inline(always)]
fn word(window: &[u8; WINDOW], at: u8) -> u64 {
    let at = usize::from(at & 15);
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&window[at..at + 8]);
    u64::from_le_bytes(bytes)
}

/// Reads a header from the start of `bytes`; `None` when more bytes are needed.
#[inline(always)]
pub(crate) fn head_of(bytes: &[u8]) -> Option<Head> {
    match bytes.first_chunk::<MAX_HEAD>() {
        Some(window) => Some(head(window)),
        None => short_head(bytes),
    }
}

#[cold]
fn short_head(bytes: &[u8]) -> Option<Head> {
    let mut window = [0; MAX_HEAD];
    window.get_mut(..bytes.len())?.copy_from_slice(bytes);
    let head = head(&window);
    (!bytes.is_empty() && head.len <= bytes.len()).then_some(head)
}

/// Bytes that [`put`] may need room for beyond what it leaves.
pub(crate) const PUT_ROOM: usize = 32;

/// Writes the shortest header.
pub(crate) fn put_head(out: &mut Vec<u8>, id: u32, size: u32, time: i64) {
    put(out, id, size, time, []);
}

/// Writes the shortest header and a payload's first `N` bytes. The bytes are put together in one place of fixed size,
/// because copies of a size that the compiler knows are what makes it quick.
#[inline(always)]
pub(crate) fn put<const N: usize>(out: &mut Vec<u8>, id: u32, size: u32, time: i64, payload: [u8; N]) {
    const { assert!(MAX_HEAD + N <= PUT_ROOM) };
    let id_len = bytes_of(u64::from(id)).min(4);
    let size_len = bytes_of(u64::from(size)).min(4);
    let time_len = bytes_of(time as u64);
    let mut record = [0; PUT_ROOM];
    record[0] = (id_len - 1) as u8 | ((size_len - 1) as u8) << 2 | ((time_len - 1) as u8) << 4;
    // Each part overwrites the zeros that the one before left behind its last byte.
    let mut at = 1;
    record[at..at + 4].copy_from_slice(&id.to_le_bytes());
    at += id_len;
    record[at..at + 4].copy_from_slice(&size.to_le_bytes());
    at += size_len;
    record[at..at + 8].copy_from_slice(&time.to_le_bytes());
    at += time_len;
    record[at..at + N].copy_from_slice(&payload);
    let len = out.len() + at + N;
    out.extend_from_slice(&record);
    out.truncate(len);
}

/// Fewest bytes that hold `value`, at least one.
#[inline(always)]
fn bytes_of(value: u64) -> usize {
    8 - (value | 1).leading_zeros() as usize / 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_round_trip_in_the_fewest_bytes() {
        for (id, size, time, len) in [
            (1, 8, 1_000_000, 6),
            (0, 26, 0, 4),
            (255, 255, 255, 4),
            (256, 256, 256, 7),
            (u32::MAX, u32::MAX, i64::MIN, 17),
            (1, 0, -1, 11),
            (1, 0, i64::MAX, 11),
        ] {
            let mut out = Vec::new();
            put_head(&mut out, id, size, time);
            assert_eq!(out.len(), len, "{id} {size} {time}");
            assert_eq!(head_of(&out), Some(Head { id, size, time, len }));
            for cut in 0..out.len() {
                assert_eq!(head_of(&out[..cut]), None);
            }
        }
    }

    #[test]
    fn a_kept_shape_reads_the_same_for_every_bit_field() {
        let mut window: [u8; WINDOW] = std::array::from_fn(|i| (i * 37 + 201) as u8);
        let mut shape = Shape::of(0);
        for bits in 0..=255 {
            window[0] = bits;
            assert_eq!(Some(shape.read(&window)), head_of(&window), "{bits}");
        }
    }

    #[test]
    fn any_width_reads_and_the_spare_bit_is_ignored() {
        // 4-byte id 1, 4-byte size 2, 8-byte time 3, spare bit set.
        let bytes = [0xff, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(head_of(&bytes), Some(Head { id: 1, size: 2, time: 3, len: 17 }));
    }
}
