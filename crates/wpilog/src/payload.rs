//! A data record's payload as a value.

use std::sync::Arc;

use fieldlab_values::{DataType, Family, Value};

/// The value that `payload` holds when its entry is of type `data_type`; `None` when the size does not fit the type.
/// Text that is not UTF-8 is read with replacement characters.
#[must_use]
pub fn decode(data_type: &DataType, payload: &[u8]) -> Option<Value> {
    Some(match data_type.family() {
        Family::Boolean => Value::Boolean(boolean(payload)?),
        Family::Int => Value::Int(int(payload)?),
        Family::Float => Value::Float(float(payload)?),
        Family::Double => Value::Double(double(payload)?),
        Family::String => Value::String(String::from_utf8_lossy(payload).into()),
        Family::Raw => Value::Raw(payload.into()),
        Family::BooleanArray => Value::BooleanArray(payload.iter().map(|b| *b != 0).collect()),
        Family::IntArray => Value::IntArray(chunks(payload, i64::from_le_bytes)?.collect()),
        Family::FloatArray => Value::FloatArray(chunks(payload, f32::from_le_bytes)?.collect()),
        Family::DoubleArray => Value::DoubleArray(chunks(payload, f64::from_le_bytes)?.collect()),
        Family::StringArray => Value::StringArray(strings(payload)?.into()),
    })
}

pub(crate) fn boolean(payload: &[u8]) -> Option<bool> {
    match payload {
        [byte] => Some(*byte != 0),
        _ => None,
    }
}

pub(crate) fn int(payload: &[u8]) -> Option<i64> {
    Some(i64::from_le_bytes(payload.try_into().ok()?))
}

pub(crate) fn float(payload: &[u8]) -> Option<f32> {
    Some(f32::from_le_bytes(payload.try_into().ok()?))
}

pub(crate) fn double(payload: &[u8]) -> Option<f64> {
    Some(f64::from_le_bytes(payload.try_into().ok()?))
}

/// Items of `N` bytes; `None` when bytes are left over.
pub(crate) fn chunks<T, const N: usize>(
    payload: &[u8],
    item: fn([u8; N]) -> T,
) -> Option<impl ExactSizeIterator<Item = T>> {
    let (items, rest) = payload.as_chunks::<N>();
    rest.is_empty().then(|| items.iter().map(move |bytes| item(*bytes)))
}

/// A count, then texts. A count that the bytes cannot hold, a text past the end, or bytes left over are corrupt.
pub(crate) fn strings(payload: &[u8]) -> Option<Vec<Arc<str>>> {
    let (count, mut rest) = payload.split_first_chunk::<4>()?;
    let count = u32::from_le_bytes(*count) as usize;
    if count > rest.len() / 4 {
        return None;
    }
    let mut texts = Vec::with_capacity(count);
    for _ in 0..count {
        let (len, after) = rest.split_first_chunk::<4>()?;
        let (text, after) = after.split_at_checked(u32::from_le_bytes(*len) as usize)?;
        texts.push(String::from_utf8_lossy(text).into());
        rest = after;
    }
    rest.is_empty().then_some(texts)
}
