//! One value, owned or borrowed.

use std::sync::Arc;

use crate::{DataType, Family};

/// One value, cheap to clone: everything longer than a word is shared.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// True or false.
    Boolean(bool),
    /// A signed 64-bit integer.
    Int(i64),
    /// A 32-bit float.
    Float(f32),
    /// A 64-bit float.
    Double(f64),
    /// Text, also JSON.
    String(Arc<str>),
    /// Bytes of any type that is carried as bytes.
    Raw(Arc<[u8]>),
    /// Booleans.
    BooleanArray(Arc<[bool]>),
    /// Signed 64-bit integers.
    IntArray(Arc<[i64]>),
    /// 32-bit floats.
    FloatArray(Arc<[f32]>),
    /// 64-bit floats.
    DoubleArray(Arc<[f64]>),
    /// Texts.
    StringArray(Arc<[Arc<str>]>),
}

/// One value that somebody else holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ValueRef<'a> {
    /// True or false.
    Boolean(bool),
    /// A signed 64-bit integer.
    Int(i64),
    /// A 32-bit float.
    Float(f32),
    /// A 64-bit float.
    Double(f64),
    /// Text, also JSON.
    String(&'a str),
    /// Bytes of any type that is carried as bytes.
    Raw(&'a [u8]),
    /// Booleans.
    BooleanArray(&'a [bool]),
    /// Signed 64-bit integers.
    IntArray(&'a [i64]),
    /// 32-bit floats.
    FloatArray(&'a [f32]),
    /// 64-bit floats.
    DoubleArray(&'a [f64]),
    /// Texts, shared.
    StringArray(&'a [Arc<str>]),
}

impl Value {
    /// How it is carried.
    #[must_use]
    pub fn family(&self) -> Family {
        self.as_ref().family()
    }

    /// The plain type of this family (`String` for text, `Raw` for bytes).
    #[must_use]
    pub fn data_type(&self) -> DataType {
        match self.family() {
            Family::Boolean => DataType::Boolean,
            Family::Int => DataType::Int,
            Family::Float => DataType::Float,
            Family::Double => DataType::Double,
            Family::String => DataType::String,
            Family::Raw => DataType::Raw,
            Family::BooleanArray => DataType::BooleanArray,
            Family::IntArray => DataType::IntArray,
            Family::FloatArray => DataType::FloatArray,
            Family::DoubleArray => DataType::DoubleArray,
            Family::StringArray => DataType::StringArray,
        }
    }

    /// The same value, borrowed.
    #[must_use]
    pub fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Self::Boolean(v) => ValueRef::Boolean(*v),
            Self::Int(v) => ValueRef::Int(*v),
            Self::Float(v) => ValueRef::Float(*v),
            Self::Double(v) => ValueRef::Double(*v),
            Self::String(v) => ValueRef::String(v),
            Self::Raw(v) => ValueRef::Raw(v),
            Self::BooleanArray(v) => ValueRef::BooleanArray(v),
            Self::IntArray(v) => ValueRef::IntArray(v),
            Self::FloatArray(v) => ValueRef::FloatArray(v),
            Self::DoubleArray(v) => ValueRef::DoubleArray(v),
            Self::StringArray(v) => ValueRef::StringArray(v),
        }
    }

    /// A number of any scalar number type, widened; anything else is `None`.
    #[must_use]
    pub fn as_number(&self) -> Option<f64> {
        self.as_ref().as_number()
    }
}

impl ValueRef<'_> {
    /// How it is carried.
    #[must_use]
    pub const fn family(&self) -> Family {
        match self {
            Self::Boolean(_) => Family::Boolean,
            Self::Int(_) => Family::Int,
            Self::Float(_) => Family::Float,
            Self::Double(_) => Family::Double,
            Self::String(_) => Family::String,
            Self::Raw(_) => Family::Raw,
            Self::BooleanArray(_) => Family::BooleanArray,
            Self::IntArray(_) => Family::IntArray,
            Self::FloatArray(_) => Family::FloatArray,
            Self::DoubleArray(_) => Family::DoubleArray,
            Self::StringArray(_) => Family::StringArray,
        }
    }

    /// A number of any scalar number type, widened; anything else is `None`.
    #[must_use]
    pub fn as_number(&self) -> Option<f64> {
        match *self {
            Self::Int(v) => Some(v as f64),
            Self::Float(v) => Some(f64::from(v)),
            Self::Double(v) => Some(v),
            _ => None,
        }
    }

    /// An owned copy.
    #[must_use]
    pub fn to_value(self) -> Value {
        match self {
            Self::Boolean(v) => Value::Boolean(v),
            Self::Int(v) => Value::Int(v),
            Self::Float(v) => Value::Float(v),
            Self::Double(v) => Value::Double(v),
            Self::String(v) => Value::String(v.into()),
            Self::Raw(v) => Value::Raw(v.into()),
            Self::BooleanArray(v) => Value::BooleanArray(v.into()),
            Self::IntArray(v) => Value::IntArray(v.into()),
            Self::FloatArray(v) => Value::FloatArray(v.into()),
            Self::DoubleArray(v) => Value::DoubleArray(v.into()),
            Self::StringArray(v) => Value::StringArray(v.into()),
        }
    }
}

macro_rules! from {
    ($($from:ty => $variant:ident),* $(,)?) => {$(
        impl From<$from> for Value {
            fn from(value: $from) -> Self {
                Self::$variant(value.into())
            }
        }
    )*};
}
from!(bool => Boolean, i64 => Int, f32 => Float, f64 => Double, &str => String, String => String);
