//! The part of MessagePack that NetworkTables uses, and the skipping of all the rest.
//!
//! Reading borrows; a length is compared with the bytes that are left before anything is done with it. Nothing here
//! recurses: nesting is counted, so a frame of two million open arrays costs its own length in time and nothing else.

/// Why an item could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The bytes end inside the item: where the next one would begin is not known.
    Truncated,
    /// A well-formed item of a kind that was not expected here.
    Kind,
}

#[derive(Debug, Clone)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

macro_rules! take {
    ($self:ident, $of:ty) => {{
        let (head, _) = $self.bytes[$self.at..].split_first_chunk().ok_or(Fault::Truncated)?;
        $self.at += head.len();
        <$of>::from_be_bytes(*head)
    }};
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.at >= self.bytes.len()
    }

    pub(crate) const fn position(&self) -> usize {
        self.at
    }

    pub(crate) fn seek(&mut self, at: usize) {
        self.at = at.min(self.bytes.len());
    }

    pub(crate) const fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    fn marker(&mut self) -> Result<u8, Fault> {
        let marker = *self.bytes.get(self.at).ok_or(Fault::Truncated)?;
        self.at += 1;
        Ok(marker)
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn slice(&mut self, len: usize) -> Result<&'a [u8], Fault> {
        if len > self.left() {
            return Err(Fault::Truncated);
        }
        let found = &self.bytes[self.at..self.at + len];
        self.at += len;
        Ok(found)
    }

    /// An integer that fits `i64`, in any encoding.
    pub(crate) fn int(&mut self) -> Result<i64, Fault> {
        Ok(match self.marker()? {
            m @ 0x00..=0x7f => i64::from(m),
            m @ 0xe0..=0xff => i64::from(m.cast_signed()),
            0xcc => i64::from(take!(self, u8)),
            0xcd => i64::from(take!(self, u16)),
            0xce => i64::from(take!(self, u32)),
            0xcf => i64::try_from(take!(self, u64)).map_err(|_| Fault::Kind)?,
            0xd0 => i64::from(take!(self, i8)),
            0xd1 => i64::from(take!(self, i16)),
            0xd2 => i64::from(take!(self, i32)),
            0xd3 => take!(self, i64),
            _ => return Err(Fault::Kind),
        })
    }

    /// A number in any encoding: peers written in JavaScript send 3.0 as the integer 3.
    pub(crate) fn number(&mut self) -> Result<f64, Fault> {
        match self.peek().ok_or(Fault::Truncated)? {
            0xca => {
                self.at += 1;
                Ok(f64::from(take!(self, f32)))
            }
            0xcb => {
                self.at += 1;
                Ok(take!(self, f64))
            }
            0xcf => {
                self.at += 1;
                Ok(take!(self, u64) as f64)
            }
            _ => self.int().map(|v| v as f64),
        }
    }

    pub(crate) fn boolean(&mut self) -> Result<bool, Fault> {
        match self.marker()? {
            0xc2 => Ok(false),
            0xc3 => Ok(true),
            _ => Err(Fault::Kind),
        }
    }

    /// Text as bytes; a peer may send invalid UTF-8.
    pub(crate) fn text(&mut self) -> Result<&'a [u8], Fault> {
        let len = match self.marker()? {
            m @ 0xa0..=0xbf => usize::from(m & 0x1f),
            0xd9 => usize::from(take!(self, u8)),
            0xda => usize::from(take!(self, u16)),
            0xdb => take!(self, u32) as usize,
            _ => return Err(Fault::Kind),
        };
        self.slice(len)
    }

    pub(crate) fn binary(&mut self) -> Result<&'a [u8], Fault> {
        let len = match self.marker()? {
            0xc4 => usize::from(take!(self, u8)),
            0xc5 => usize::from(take!(self, u16)),
            0xc6 => take!(self, u32) as usize,
            _ => return Err(Fault::Kind),
        };
        self.slice(len)
    }

    /// An array's length. Refused when fewer bytes are left than elements, since each takes at least one.
    pub(crate) fn array(&mut self) -> Result<usize, Fault> {
        let len = match self.marker()? {
            m @ 0x90..=0x9f => usize::from(m & 0x0f),
            0xdc => usize::from(take!(self, u16)),
            0xdd => take!(self, u32) as usize,
            _ => return Err(Fault::Kind),
        };
        if len > self.left() { Err(Fault::Truncated) } else { Ok(len) }
    }

    /// Passes one whole item of any kind.
    pub(crate) fn skip(&mut self) -> Result<(), Fault> {
        let mut open: u64 = 1;
        while open > 0 {
            open -= 1;
            let fixed = match self.marker()? {
                0x00..=0x7f | 0xe0..=0xff | 0xc0 | 0xc1 | 0xc2 | 0xc3 => 0,
                m @ 0x80..=0x8f => {
                    open += 2 * u64::from(m & 0x0f);
                    0
                }
                m @ 0x90..=0x9f => {
                    open += u64::from(m & 0x0f);
                    0
                }
                m @ 0xa0..=0xbf => usize::from(m & 0x1f),
                0xc4 | 0xd9 => usize::from(take!(self, u8)),
                0xc5 | 0xda => usize::from(take!(self, u16)),
                0xc6 | 0xdb => take!(self, u32) as usize,
                0xc7 => usize::from(take!(self, u8)) + 1,
                0xc8 => usize::from(take!(self, u16)) + 1,
                0xc9 => take!(self, u32) as usize + 1,
                0xcc | 0xd0 => 1,
                0xcd | 0xd1 => 2,
                0xce | 0xd2 | 0xca => 4,
                0xcf | 0xd3 | 0xcb => 8,
                0xd4 => 2,
                0xd5 => 3,
                0xd6 => 5,
                0xd7 => 9,
                0xd8 => 17,
                0xdc => {
                    open += u64::from(take!(self, u16));
                    0
                }
                0xdd => {
                    open += u64::from(take!(self, u32));
                    0
                }
                0xde => {
                    open += 2 * u64::from(take!(self, u16));
                    0
                }
                0xdf => {
                    open += 2 * u64::from(take!(self, u32));
                    0
                }
            };
            self.slice(fixed)?;
            if open > self.left() as u64 {
                return Err(Fault::Truncated);
            }
        }
        Ok(())
    }
}

/// The smallest encoding of an integer; positives in the unsigned forms.
pub(crate) fn write_int(out: &mut Vec<u8>, value: i64) {
    match value {
        -32..=0x7f => out.push(value as u8),
        0x80..=0xff => out.extend_from_slice(&[0xcc, value as u8]),
        0x100..=0xffff => {
            out.push(0xcd);
            out.extend_from_slice(&(value as u16).to_be_bytes());
        }
        0x1_0000..=0xffff_ffff => {
            out.push(0xce);
            out.extend_from_slice(&(value as u32).to_be_bytes());
        }
        0x1_0000_0000..=i64::MAX => {
            out.push(0xcf);
            out.extend_from_slice(&value.to_be_bytes());
        }
        -0x80..=-33 => out.extend_from_slice(&[0xd0, value as u8]),
        -0x8000..=-0x81 => {
            out.push(0xd1);
            out.extend_from_slice(&(value as i16).to_be_bytes());
        }
        -0x8000_0000..=-0x8001 => {
            out.push(0xd2);
            out.extend_from_slice(&(value as i32).to_be_bytes());
        }
        i64::MIN..=-0x8000_0001 => {
            out.push(0xd3);
            out.extend_from_slice(&value.to_be_bytes());
        }
    }
}

pub(crate) fn write_bool(out: &mut Vec<u8>, value: bool) {
    out.push(if value { 0xc3 } else { 0xc2 });
}

pub(crate) fn write_f32(out: &mut Vec<u8>, value: f32) {
    out.push(0xca);
    out.extend_from_slice(&value.to_be_bytes());
}

pub(crate) fn write_f64(out: &mut Vec<u8>, value: f64) {
    out.push(0xcb);
    out.extend_from_slice(&value.to_be_bytes());
}

/// Lengths above `u32` cannot occur: no core takes a value above its message limit, which is a `u32`.
fn length(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

pub(crate) fn write_text(out: &mut Vec<u8>, text: &[u8]) {
    let len = length(text.len());
    match len {
        0..=31 => out.push(0xa0 | len as u8),
        32..=0xff => out.extend_from_slice(&[0xd9, len as u8]),
        0x100..=0xffff => {
            out.push(0xda);
            out.extend_from_slice(&(len as u16).to_be_bytes());
        }
        _ => {
            out.push(0xdb);
            out.extend_from_slice(&len.to_be_bytes());
        }
    }
    out.extend_from_slice(text);
}

pub(crate) fn write_binary(out: &mut Vec<u8>, bytes: &[u8]) {
    let len = length(bytes.len());
    match len {
        0..=0xff => out.extend_from_slice(&[0xc4, len as u8]),
        0x100..=0xffff => {
            out.push(0xc5);
            out.extend_from_slice(&(len as u16).to_be_bytes());
        }
        _ => {
            out.push(0xc6);
            out.extend_from_slice(&len.to_be_bytes());
        }
    }
    out.extend_from_slice(bytes);
}

pub(crate) fn write_array(out: &mut Vec<u8>, len: usize) {
    let len = length(len);
    match len {
        0..=15 => out.push(0x90 | len as u8),
        16..=0xffff => {
            out.push(0xdc);
            out.extend_from_slice(&(len as u16).to_be_bytes());
        }
        _ => {
            out.push(0xdd);
            out.extend_from_slice(&len.to_be_bytes());
        }
    }
}

pub(crate) fn write_map(out: &mut Vec<u8>, len: usize) {
    let len = length(len);
    match len {
        0..=15 => out.push(0x80 | len as u8),
        16..=0xffff => {
            out.push(0xde);
            out.extend_from_slice(&(len as u16).to_be_bytes());
        }
        _ => {
            out.push(0xdf);
            out.extend_from_slice(&len.to_be_bytes());
        }
    }
}

/// A JSON value as MessagePack, for options that this server does not know but must show. Deep values become nil.
pub(crate) fn write_json(out: &mut Vec<u8>, value: &serde_json::Value, depth: u8) {
    use serde_json::Value as Json;
    match value {
        Json::Bool(v) => write_bool(out, *v),
        Json::Number(n) => match (n.as_i64(), n.as_f64()) {
            (Some(v), _) => write_int(out, v),
            (None, Some(v)) => write_f64(out, v),
            (None, None) => out.push(0xc0),
        },
        Json::String(s) => write_text(out, s.as_bytes()),
        Json::Array(items) if depth > 0 => {
            write_array(out, items.len());
            for item in items {
                write_json(out, item, depth - 1);
            }
        }
        Json::Object(map) if depth > 0 => {
            write_map(out, map.len());
            for (key, item) in map {
                write_text(out, key.as_bytes());
                write_json(out, item, depth - 1);
            }
        }
        Json::Null | Json::Array(_) | Json::Object(_) => out.push(0xc0),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn oracle(bytes: &[u8]) -> rmpv::Value {
        let mut rest = bytes;
        let value = rmpv::decode::read_value(&mut rest).unwrap();
        assert!(rest.is_empty(), "bytes left over");
        value
    }

    fn any_value() -> impl Strategy<Value = rmpv::Value> {
        let leaf = prop_oneof![
            Just(rmpv::Value::Nil),
            any::<bool>().prop_map(rmpv::Value::from),
            any::<i64>().prop_map(rmpv::Value::from),
            any::<u64>().prop_map(rmpv::Value::from),
            any::<f32>().prop_map(rmpv::Value::from),
            any::<f64>().prop_map(rmpv::Value::from),
            ".{0,40}".prop_map(rmpv::Value::from),
            prop::collection::vec(any::<u8>(), 0..300).prop_map(rmpv::Value::from),
            (any::<i8>(), prop::collection::vec(any::<u8>(), 0..20))
                .prop_map(|(t, b)| rmpv::Value::Ext(t, b)),
        ];
        leaf.prop_recursive(3, 40, 20, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..20).prop_map(rmpv::Value::Array),
                prop::collection::vec((inner.clone(), inner), 0..5).prop_map(rmpv::Value::Map),
            ]
        })
    }

    proptest! {
        #[test]
        fn ints_agree_with_rmpv(v: i64) {
            let mut out = Vec::new();
            write_int(&mut out, v);
            prop_assert_eq!(oracle(&out).as_i64(), Some(v));
            let mut theirs = Vec::new();
            rmpv::encode::write_value(&mut theirs, &rmpv::Value::from(v)).unwrap();
            prop_assert_eq!(&out, &theirs, "smallest encoding");
            prop_assert_eq!(Reader::new(&theirs).int(), Ok(v));
            prop_assert_eq!(Reader::new(&theirs).number(), Ok(v as f64));
        }

        #[test]
        fn skip_passes_exactly_what_rmpv_wrote(v in any_value(), cut in any::<prop::sample::Index>()) {
            let mut bytes = Vec::new();
            rmpv::encode::write_value(&mut bytes, &v).unwrap();
            let whole = bytes.len();
            bytes.extend_from_slice(b"rest");
            let mut reader = Reader::new(&bytes);
            prop_assert_eq!(reader.skip(), Ok(()));
            prop_assert_eq!(reader.position(), whole);
            let cut = cut.index(whole);
            prop_assert_eq!(Reader::new(&bytes[..cut]).skip(), Err(Fault::Truncated));
        }

        #[test]
        fn json_agrees_with_rmpv(text in ".{0,40}", n: i64, f in any::<f64>().prop_filter("finite", |f| f.is_finite())) {
            let mut out = Vec::new();
            write_json(&mut out, &serde_json::json!({"a": [text, n], "b": f, "c": null}), 4);
            let back = oracle(&out);
            prop_assert_eq!(back["a"][0].as_str(), Some(text.as_str()));
            prop_assert_eq!(back["a"][1].as_i64(), Some(n));
            prop_assert_eq!(back["b"].as_f64(), Some(f));
        }
    }

    #[test]
    fn lengths_agree_with_rmpv_at_every_step_of_the_header() {
        for len in [0_usize, 1, 15, 16, 31, 32, 255, 256, 65_535, 65_536] {
            let mut out = Vec::new();
            write_text(&mut out, &vec![b'x'; len]);
            assert_eq!(oracle(&out).as_str().map(str::len), Some(len));
            assert_eq!(Reader::new(&out).text().map(<[u8]>::len), Ok(len));
            out.clear();
            write_binary(&mut out, &vec![7; len]);
            assert_eq!(oracle(&out).as_slice().map(<[u8]>::len), Some(len));
            assert_eq!(Reader::new(&out).binary().map(<[u8]>::len), Ok(len));
            out.clear();
            write_array(&mut out, len);
            out.resize(out.len() + len, 0xc0);
            assert_eq!(oracle(&out).as_array().map(Vec::len), Some(len));
            assert_eq!(Reader::new(&out).array(), Ok(len));
        }
    }

    #[test]
    fn a_length_meets_the_bytes_left_before_anything_else() {
        assert_eq!(Reader::new(&[0xdd, 0xff, 0xff, 0xff, 0xff]).array(), Err(Fault::Truncated));
        assert_eq!(Reader::new(&[0xdd, 0xff, 0xff, 0xff, 0xff, 0]).skip(), Err(Fault::Truncated));
        assert_eq!(Reader::new(&[0xc6, 0xff, 0xff, 0xff, 0xff]).binary(), Err(Fault::Truncated));
        assert_eq!(Reader::new(&vec![0x91; 2_000_000]).skip(), Err(Fault::Truncated));
    }
}
