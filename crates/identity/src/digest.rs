//! How a reader knows that it has the whole sheet.

use fieldlab_values::ValueRef;

/// Count and digest of a sheet's facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest {
    /// How many keys.
    pub count: u64,
    /// FNV-1a, 64 bits. It tells a whole sheet from a partial one; it is no protection against a forger.
    pub hash: u64,
}

impl Digest {
    /// The hash as it stands on the wire: 16 small hex digits.
    #[must_use]
    pub fn hex(&self) -> String {
        format!("{:016x}", self.hash)
    }
}

/// Digests facts, whose keys must come in ascending order of their bytes for two sides to agree; `digest` sorts.
///
/// The bytes under the hash, fact after fact: the key in UTF-8, a zero byte, one byte for the type (NetworkTables' own
/// code: boolean 0, double 1, int 2, float 3, string 4, raw 5, arrays of these 16, 17, 18, 19, 20), then the value: 8
/// bytes little-endian for numbers and integers (a float is widened), 1 for a flag, texts with their length in bytes
/// before them as 4 bytes little-endian, arrays with their length before them likewise.
pub fn digest<'a>(facts: impl Iterator<Item = (&'a str, ValueRef<'a>)>) -> Digest {
    let mut sorted: Vec<(&str, ValueRef<'_>)> = facts.collect();
    sorted.sort_unstable_by(|a, b| a.0.cmp(b.0));
    let mut hash = Fnv::default();
    for (key, value) in &sorted {
        hash.feed(key.as_bytes());
        hash.feed(&[0]);
        hash.value(*value);
    }
    Digest { count: sorted.len() as u64, hash: hash.0 }
}

struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn length(&mut self, length: usize) {
        self.feed(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.length(text.len());
        self.feed(text.as_bytes());
    }

    fn value(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::Boolean(v) => self.feed(&[0, u8::from(v)]),
            ValueRef::Double(v) => {
                self.feed(&[1]);
                self.feed(&v.to_le_bytes());
            }
            ValueRef::Int(v) => {
                self.feed(&[2]);
                self.feed(&v.to_le_bytes());
            }
            ValueRef::Float(v) => {
                self.feed(&[3]);
                self.feed(&f64::from(v).to_le_bytes());
            }
            ValueRef::String(v) => {
                self.feed(&[4]);
                self.text(v);
            }
            ValueRef::Raw(v) => {
                self.feed(&[5]);
                self.length(v.len());
                self.feed(v);
            }
            ValueRef::BooleanArray(all) => {
                self.feed(&[16]);
                self.length(all.len());
                all.iter().for_each(|v| self.feed(&[u8::from(*v)]));
            }
            ValueRef::DoubleArray(all) => {
                self.feed(&[17]);
                self.length(all.len());
                all.iter().for_each(|v| self.feed(&v.to_le_bytes()));
            }
            ValueRef::IntArray(all) => {
                self.feed(&[18]);
                self.length(all.len());
                all.iter().for_each(|v| self.feed(&v.to_le_bytes()));
            }
            ValueRef::FloatArray(all) => {
                self.feed(&[19]);
                self.length(all.len());
                all.iter().for_each(|v| self.feed(&f64::from(*v).to_le_bytes()));
            }
            ValueRef::StringArray(all) => {
                self.feed(&[20]);
                self.length(all.len());
                all.iter().for_each(|v| self.text(v));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_vectors_of_fnv_1a() {
        for (text, hash) in
            [("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)]
        {
            let mut fnv = Fnv::default();
            fnv.feed(text.as_bytes());
            assert_eq!(fnv.0, hash, "{text}");
        }
    }

    /// From a program of a few lines in another language, written from the description above.
    #[test]
    fn a_sheet_whose_digest_was_computed_elsewhere() {
        let cameras: [std::sync::Arc<str>; 2] = ["front".into(), "rear".into()];
        let found = digest(
            [
                ("Identity/Name", ValueRef::String("Ratchet é")),
                ("Identity/TeamNumber", ValueRef::Int(1234)),
                ("Drivetrain/CanFd", ValueRef::Boolean(true)),
                ("Chassis/FrameLengthMeters", ValueRef::Double(0.74)),
                ("Hardware/Cameras", ValueRef::StringArray(&cameras)),
                ("Drivetrain/ModuleLocations", ValueRef::DoubleArray(&[0.35, -0.28])),
            ]
            .into_iter(),
        );
        assert_eq!((found.count, &*found.hex()), (6, "cbcae8184b1eda83"));
    }

    #[test]
    fn order_does_not_matter_and_type_and_value_do() {
        let one = digest([("A", ValueRef::Int(1)), ("B", ValueRef::Boolean(true))].into_iter());
        let other = digest([("B", ValueRef::Boolean(true)), ("A", ValueRef::Int(1))].into_iter());
        assert_eq!(one, other);
        assert_eq!((one.count, one.hex().len()), (2, 16));
        for changed in [ValueRef::Int(2), ValueRef::Double(1.0), ValueRef::String("1")] {
            assert_ne!(digest([("A", changed), ("B", ValueRef::Boolean(true))].into_iter()).hash, one.hash);
        }
    }
}
