//! One array.

use crate::error::DrawError;

/// Longest array header that is read, bytes.
pub const MAX_HEADER_BYTES: usize = 10_000;
/// Most dimensions that are read.
pub const MAX_DIMENSIONS: usize = 4;
/// Widest text that is read, characters.
const MAX_TEXT: usize = 1 << 20;
const MAGIC: &[u8] = b"\x93NUMPY";

/// The elements of an array, in C order.
#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    /// `<f8`.
    F64(Vec<f64>),
    /// `<f4`.
    F32(Vec<f32>),
    /// `<i8`.
    I64(Vec<i64>),
    /// `<i4`.
    I32(Vec<i32>),
    /// `<u2`.
    U16(Vec<u16>),
    /// `|u1`.
    U8(Vec<u8>),
    /// `<U…`, padded with zeros to `width` characters.
    Text {
        /// Characters per element.
        width: usize,
        /// The texts without their padding.
        values: Vec<String>,
    },
}

/// An array with its shape; no dimensions mean one element.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// Length of each dimension, outermost first.
    pub shape: Vec<usize>,
    /// The elements.
    pub data: Data,
}

impl Array {
    /// An array of `data` in `shape`.
    ///
    /// # Errors
    /// When their sizes differ.
    pub fn new(shape: &[usize], data: Data) -> Result<Self, DrawError> {
        let expected = shape.iter().product::<usize>();
        let found = data.len();
        if expected != found || shape.len() > MAX_DIMENSIONS {
            return Err(DrawError::array("array", format!("{expected} elements for {shape:?}"), found));
        }
        Ok(Self { shape: shape.to_vec(), data })
    }

    /// 64-bit floats in `shape`.
    ///
    /// # Errors
    /// As [`Array::new`].
    pub fn f64(shape: &[usize], values: Vec<f64>) -> Result<Self, DrawError> {
        Self::new(shape, Data::F64(values))
    }

    /// One 64-bit float.
    #[must_use]
    pub fn scalar(value: f64) -> Self {
        Self { shape: Vec::new(), data: Data::F64(vec![value]) }
    }

    /// One 64-bit integer.
    #[must_use]
    pub fn integer(value: i64) -> Self {
        Self { shape: Vec::new(), data: Data::I64(vec![value]) }
    }

    /// One text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        let width = text.chars().count().max(1);
        Self { shape: Vec::new(), data: Data::Text { width, values: vec![text.to_owned()] } }
    }

    /// Type and shape, for refusals.
    #[must_use]
    pub fn describe(&self) -> String {
        format!("{} of shape {:?}", self.data.descr(), self.shape)
    }

    /// Reads an `.npy`, versions 1.0 to 3.0.
    ///
    /// # Errors
    /// Another magic or version; a header that is too long or not numpy's; an object, structured, boolean, complex or big-endian type;
    /// Fortran order; more than [`MAX_DIMENSIONS`] dimensions; a payload that is not exactly as long as the header says.
    pub fn parse(bytes: &[u8]) -> Result<Self, DrawError> {
        let cut = || DrawError::array("npy", "a whole header", format!("{} bytes", bytes.len()));
        let rest = bytes
            .strip_prefix(MAGIC)
            .ok_or_else(|| DrawError::array("npy", "numpy's magic", "other bytes"))?;
        let (length, at) = match rest {
            [1, 0, a, b, ..] => (usize::from(u16::from_le_bytes([*a, *b])), 10),
            [2 | 3, 0, a, b, c, d, ..] => {
                (usize::try_from(u32::from_le_bytes([*a, *b, *c, *d])).unwrap_or(usize::MAX), 12)
            }
            [major, minor, _, _, ..] => {
                return Err(DrawError::array("npy", "version 1.0, 2.0 or 3.0", format!("{major}.{minor}")));
            }
            _ => return Err(cut()),
        };
        if length > MAX_HEADER_BYTES {
            return Err(DrawError::array("npy header", format!("at most {MAX_HEADER_BYTES} bytes"), length));
        }
        let header = bytes.get(at..at + length).ok_or_else(cut)?;
        let payload = &bytes[at + length..];
        let header =
            std::str::from_utf8(header).ok().and_then(|text| Literal::read(text.trim_end())).ok_or_else(
                || DrawError::array("npy header", "descr, fortran_order and shape", "something else"),
            )?;
        if header.shape.len() > MAX_DIMENSIONS {
            let expected = format!("at most {MAX_DIMENSIONS} dimensions");
            return Err(DrawError::array("npy header", expected, header.shape.len()));
        }
        // One dimension has only one order, whatever the flag says.
        if header.fortran && header.shape.len() > 1 {
            return Err(DrawError::array("npy header", "C order", "Fortran order"));
        }
        let count = header
            .shape
            .iter()
            .try_fold(1usize, |product, &length| product.checked_mul(length))
            .ok_or_else(|| DrawError::array("npy header", "a shape that fits memory", "a larger one"))?;
        let data = decode(&header.descr, count, payload)?;
        Ok(Self { shape: header.shape, data })
    }

    /// The bytes of the `.npy`, version 1.0, data at a multiple of 64 as numpy aligns it.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let shape = match self.shape.as_slice() {
            [] => "()".to_owned(),
            [one] => format!("({one},)"),
            more => format!("({})", more.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
        };
        let mut header =
            format!("{{'descr': '{}', 'fortran_order': False, 'shape': {shape}, }}", self.data.descr());
        let unpadded = MAGIC.len() + 4 + header.len() + 1;
        header.push_str(&" ".repeat(unpadded.next_multiple_of(64) - unpadded));
        header.push('\n');
        let mut out = MAGIC.to_vec();
        out.extend([1, 0]);
        // Four dimensions of twenty digits fit well below this.
        out.extend(u16::try_from(header.len()).unwrap_or(u16::MAX).to_le_bytes());
        out.extend(header.as_bytes());
        self.data.encode(&mut out);
        out
    }
}

impl Data {
    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::F64(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::I32(values) => values.len(),
            Self::U16(values) => values.len(),
            Self::U8(values) => values.len(),
            Self::Text { values, .. } => values.len(),
        }
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// numpy's name of the type.
    #[must_use]
    pub fn descr(&self) -> String {
        match self {
            Self::F64(_) => "<f8".to_owned(),
            Self::F32(_) => "<f4".to_owned(),
            Self::I64(_) => "<i8".to_owned(),
            Self::I32(_) => "<i4".to_owned(),
            Self::U16(_) => "<u2".to_owned(),
            Self::U8(_) => "|u1".to_owned(),
            Self::Text { width, .. } => format!("<U{width}"),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::F64(values) => values.iter().for_each(|value| out.extend(value.to_le_bytes())),
            Self::F32(values) => values.iter().for_each(|value| out.extend(value.to_le_bytes())),
            Self::I64(values) => values.iter().for_each(|value| out.extend(value.to_le_bytes())),
            Self::I32(values) => values.iter().for_each(|value| out.extend(value.to_le_bytes())),
            Self::U16(values) => values.iter().for_each(|value| out.extend(value.to_le_bytes())),
            Self::U8(values) => out.extend(values),
            Self::Text { width, values } => {
                for text in values {
                    let characters = text.chars().chain(std::iter::repeat('\0')).take(*width);
                    characters.for_each(|character| out.extend(u32::from(character).to_le_bytes()));
                }
            }
        }
    }
}

fn decode(descr: &str, count: usize, payload: &[u8]) -> Result<Data, DrawError> {
    let exact = |size: usize| {
        let expected = count.checked_mul(size);
        if expected == Some(payload.len()) {
            Ok(())
        } else {
            let expected = format!("{count} elements of {size} bytes");
            Err(DrawError::array("npy data", expected, format!("{} bytes", payload.len())))
        }
    };
    macro_rules! numbers {
        ($variant:ident, $kind:ty, $size:literal) => {{
            exact($size)?;
            let (chunks, _) = payload.as_chunks::<$size>();
            Data::$variant(chunks.iter().map(|bytes| <$kind>::from_le_bytes(*bytes)).collect())
        }};
    }
    Ok(match descr {
        "<f8" => numbers!(F64, f64, 8),
        "<f4" => numbers!(F32, f32, 4),
        "<i8" => numbers!(I64, i64, 8),
        "<i4" => numbers!(I32, i32, 4),
        "<u2" => numbers!(U16, u16, 2),
        "|u1" => numbers!(U8, u8, 1),
        other => {
            let width = other
                .strip_prefix("<U")
                .and_then(|width| width.parse::<usize>().ok())
                .filter(|&width| (1..=MAX_TEXT).contains(&width))
                .ok_or_else(|| {
                    let expected = "a little-endian number type of this format, or text";
                    DrawError::array("npy header", expected, format!("`{}`", other.escape_debug()))
                })?;
            exact(width * 4)?;
            let mut values = Vec::with_capacity(count.min(payload.len()));
            for element in payload.chunks_exact(width * 4) {
                values.push(text_of(element)?);
            }
            Data::Text { width, values }
        }
    })
}

fn text_of(element: &[u8]) -> Result<String, DrawError> {
    let (codes, _) = element.as_chunks::<4>();
    let used = codes.iter().rposition(|code| *code != [0; 4]).map_or(0, |last| last + 1);
    codes[..used]
        .iter()
        .map(|code| char::from_u32(u32::from_le_bytes(*code)))
        .collect::<Option<String>>()
        .ok_or_else(|| DrawError::array("npy data", "Unicode text", "a code point that is none"))
}

struct Literal {
    descr: String,
    fortran: bool,
    shape: Vec<usize>,
}

impl Literal {
    /// Reads the Python literal that numpy writes: a dict of exactly three entries, in any order.
    fn read(text: &str) -> Option<Self> {
        let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        while !rest.is_empty() {
            let (key, after) = quoted(rest)?;
            rest = after.trim_start().strip_prefix(':')?.trim_start();
            match key {
                "descr" if descr.is_none() => {
                    let (value, after) = quoted(rest)?;
                    descr = Some(value.to_owned());
                    rest = after;
                }
                "fortran_order" if fortran.is_none() => {
                    let (value, after) = match rest.strip_prefix("False") {
                        Some(after) => (false, after),
                        None => (true, rest.strip_prefix("True")?),
                    };
                    fortran = Some(value);
                    rest = after;
                }
                "shape" if shape.is_none() => {
                    let (inside, after) = rest.strip_prefix('(')?.split_once(')')?;
                    shape = Some(numbers(inside)?);
                    rest = after;
                }
                _ => return None,
            }
            rest = rest.trim_start();
            match rest.strip_prefix(',') {
                Some(after) => rest = after.trim_start(),
                None if rest.is_empty() => {}
                None => return None,
            }
        }
        Some(Self { descr: descr?, fortran: fortran?, shape: shape? })
    }
}

fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    text[1..].split_once(quote)
}

fn numbers(inside: &str) -> Option<Vec<usize>> {
    let inside = inside.trim();
    let inside = inside.strip_suffix(',').unwrap_or(inside);
    if inside.is_empty() {
        return Some(Vec::new());
    }
    inside
        .split(',')
        .map(|word| {
            let word = word.trim();
            word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok())?
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_header(header: &str, payload: &[u8]) -> Vec<u8> {
        let mut out = b"\x93NUMPY\x01\x00".to_vec();
        out.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
        out.extend(header.as_bytes());
        out.extend(payload);
        out
    }

    #[test]
    fn headers_are_those_of_numpy() {
        // np.save of np.zeros((25, 21)) and np.array("cylinder"), numpy 2.4.
        let array = Array::f64(&[25, 21], vec![0.0; 525]).unwrap();
        let bytes = array.to_bytes();
        let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (25, 21), }";
        assert_eq!(&bytes[10..10 + header.len()], header.as_bytes());
        assert_eq!(bytes.len() - 525 * 8, 128);
        let text = Array::text("cylinder").to_bytes();
        assert!(String::from_utf8_lossy(&text).contains("'<U8'"));
        assert_eq!(Array::parse(&text).unwrap(), Array::text("cylinder"));
    }

    #[test]
    fn surprises_are_refused() {
        let refused = |header: &str, payload: &[u8]| {
            Array::parse(&with_header(header, payload)).unwrap_err().to_string()
        };
        let one = [0u8; 8];
        assert!(refused("{'descr': '|O', 'fortran_order': False, 'shape': (), }", &one).contains("|O"));
        assert!(refused("{'descr': '>f8', 'fortran_order': False, 'shape': (), }", &one).contains(">f8"));
        assert!(
            refused("{'descr': '<f8', 'fortran_order': True, 'shape': (1, 1), }", &one).contains("Fortran")
        );
        assert!(
            refused("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", &one).contains("2 elements")
        );
        assert!(
            refused("{'descr': '<f8', 'fortran_order': False, 'shape': (1,1,1,1,1), }", &one)
                .contains("at most 4")
        );
        let huge = "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296, 2), }";
        assert!(refused(huge, &one).contains("fits memory"));
        for header in [
            "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (), }",
            "{'descr': '<f8', 'shape': (), }",
            "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (), }",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }",
            "{'descr': '<f8', 'fortran_order': 0, 'shape': (), }",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (), 'x': 1}",
        ] {
            refused(header, &one);
        }
        refused("{'descr': '<U1', 'fortran_order': False, 'shape': (), }", &[0, 0, 0x11, 0]);
        assert!(Array::parse(b"\x93NUMPY\x04\x00\x00\x00").is_err());
        assert!(Array::parse(b"\x93NUM").is_err());
    }
}
