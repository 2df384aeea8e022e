//! One value on the wire: `[id, microseconds, type number, value]`.

use std::sync::Arc;

use fieldlab_base::Micros;
use fieldlab_values::{Family, Value, ValueRef};

use crate::msgpack::{
    Fault, Reader, write_array, write_binary, write_bool, write_f32, write_f64, write_int, write_text,
};

/// The id of a time-synchronisation message.
pub(crate) const RTT_ID: i64 = -1;

/// The type number of a family.
pub(crate) const fn code_of(family: Family) -> u8 {
    match family {
        Family::Boolean => 0,
        Family::Double => 1,
        Family::Int => 2,
        Family::Float => 3,
        Family::String => 4,
        Family::Raw => 5,
        Family::BooleanArray => 16,
        Family::DoubleArray => 17,
        Family::IntArray => 18,
        Family::FloatArray => 19,
        Family::StringArray => 20,
    }
}

/// The family of a type number.
pub(crate) const fn family_of(code: i64) -> Option<Family> {
    Some(match code {
        0 => Family::Boolean,
        1 => Family::Double,
        2 => Family::Int,
        3 => Family::Float,
        4 => Family::String,
        5 => Family::Raw,
        16 => Family::BooleanArray,
        17 => Family::DoubleArray,
        18 => Family::IntArray,
        19 => Family::FloatArray,
        20 => Family::StringArray,
        _ => return None,
    })
}

/// The front of a message; the reader stands at its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Front {
    pub(crate) id: i64,
    pub(crate) time: Micros,
    pub(crate) code: i64,
}

pub(crate) fn read_front(reader: &mut Reader<'_>) -> Result<Front, Fault> {
    if reader.array()? != 4 {
        return Err(Fault::Kind);
    }
    Ok(Front { id: reader.int()?, time: Micros(reader.int()?), code: reader.int()? })
}

pub(crate) fn write_front(out: &mut Vec<u8>, id: i64, time: Micros, code: u8) {
    out.push(0x94);
    write_int(out, id);
    write_int(out, time.0);
    out.push(code);
}

/// Reads a value of `family` and writes it in that family's own encoding, so that strict peers can read what tolerant
/// ones sent. On a fault `out` holds a partial value: the caller truncates it.
pub(crate) fn transcode(reader: &mut Reader<'_>, family: Family, out: &mut Vec<u8>) -> Result<(), Fault> {
    match family {
        Family::Boolean => write_bool(out, reader.boolean()?),
        Family::Double => write_f64(out, reader.number()?),
        Family::Int => write_int(out, reader.int()?),
        Family::Float => write_f32(out, reader.number()? as f32),
        Family::String => write_text(out, utf8(reader.text()?)?.as_bytes()),
        Family::Raw => write_binary(out, reader.binary()?),
        Family::BooleanArray => elements(reader, out, |r, o| r.boolean().map(|v| write_bool(o, v)))?,
        Family::DoubleArray => elements(reader, out, |r, o| r.number().map(|v| write_f64(o, v)))?,
        Family::IntArray => elements(reader, out, |r, o| r.int().map(|v| write_int(o, v)))?,
        Family::FloatArray => elements(reader, out, |r, o| r.number().map(|v| write_f32(o, v as f32)))?,
        Family::StringArray => {
            elements(reader, out, |r, o| r.text().and_then(utf8).map(|v| write_text(o, v.as_bytes())))?;
        }
    }
    Ok(())
}

fn elements(
    reader: &mut Reader<'_>,
    out: &mut Vec<u8>,
    mut each: impl FnMut(&mut Reader<'_>, &mut Vec<u8>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let len = reader.array()?;
    write_array(out, len);
    (0..len).try_for_each(|_| each(reader, out))
}

/// Text that is not UTF-8 is refused: forwarded, it kills some peers' readers.
fn utf8(bytes: &[u8]) -> Result<&str, Fault> {
    std::str::from_utf8(bytes).map_err(|_| Fault::Kind)
}

/// Reads a value of `family`, tolerant as [`transcode`].
pub(crate) fn read_value(reader: &mut Reader<'_>, family: Family) -> Result<Value, Fault> {
    Ok(match family {
        Family::Boolean => Value::Boolean(reader.boolean()?),
        Family::Double => Value::Double(reader.number()?),
        Family::Int => Value::Int(reader.int()?),
        Family::Float => Value::Float(reader.number()? as f32),
        Family::String => Value::String(utf8(reader.text()?)?.into()),
        Family::Raw => Value::Raw(reader.binary()?.into()),
        Family::BooleanArray => Value::BooleanArray(list(reader, Reader::boolean)?),
        Family::DoubleArray => Value::DoubleArray(list(reader, Reader::number)?),
        Family::IntArray => Value::IntArray(list(reader, Reader::int)?),
        Family::FloatArray => Value::FloatArray(list(reader, |r| r.number().map(|v| v as f32))?),
        Family::StringArray => Value::StringArray(list(reader, |r| r.text().and_then(utf8).map(Arc::from))?),
    })
}

/// The array's length was compared with the bytes left, so it cannot ask for more than 16 times their number.
fn list<'a, T>(
    reader: &mut Reader<'a>,
    mut each: impl FnMut(&mut Reader<'a>) -> Result<T, Fault>,
) -> Result<Arc<[T]>, Fault> {
    let len = reader.array()?;
    (0..len).map(|_| each(reader)).collect()
}

/// Writes a value in its family's encoding.
pub(crate) fn write_value(out: &mut Vec<u8>, value: ValueRef<'_>) {
    match value {
        ValueRef::Boolean(v) => write_bool(out, v),
        ValueRef::Int(v) => write_int(out, v),
        ValueRef::Float(v) => write_f32(out, v),
        ValueRef::Double(v) => write_f64(out, v),
        ValueRef::String(v) => write_text(out, v.as_bytes()),
        ValueRef::Raw(v) => write_binary(out, v),
        ValueRef::BooleanArray(v) => each(out, v, |o, v| write_bool(o, *v)),
        ValueRef::IntArray(v) => each(out, v, |o, v| write_int(o, *v)),
        ValueRef::FloatArray(v) => each(out, v, |o, v| write_f32(o, *v)),
        ValueRef::DoubleArray(v) => each(out, v, |o, v| write_f64(o, *v)),
        ValueRef::StringArray(v) => each(out, v, |o, v| write_text(o, v.as_bytes())),
    }
}

fn each<T>(out: &mut Vec<u8>, items: &[T], write: fn(&mut Vec<u8>, &T)) {
    write_array(out, items.len());
    for item in items {
        write(out, item);
    }
}

/// An upper bound of the encoded length of a value, without encoding it.
pub(crate) fn size_bound(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::Boolean(_) | ValueRef::Int(_) | ValueRef::Float(_) | ValueRef::Double(_) => 9,
        ValueRef::String(v) => v.len() + 5,
        ValueRef::Raw(v) => v.len() + 5,
        ValueRef::BooleanArray(v) => v.len() + 5,
        ValueRef::IntArray(v) => v.len() * 9 + 5,
        ValueRef::FloatArray(v) => v.len() * 5 + 5,
        ValueRef::DoubleArray(v) => v.len() * 9 + 5,
        ValueRef::StringArray(v) => v.iter().map(|s| s.len() + 5).sum::<usize>() + 5,
    }
}
