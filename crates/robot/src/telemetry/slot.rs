//! Where a topic's newest value rests: storage of a fixed type that is reused, so that a write does not allocate.

use std::sync::Arc;

use fieldlab_values::{Family, ValueRef};

/// The newest value of one topic.
#[derive(Debug, Clone)]
pub(crate) enum Slot {
    Boolean(bool),
    Int(i64),
    Float(f32),
    Double(f64),
    String(String),
    Raw(Vec<u8>),
    BooleanArray(Vec<bool>),
    IntArray(Vec<i64>),
    FloatArray(Vec<f32>),
    DoubleArray(Vec<f64>),
    StringArray(Vec<Arc<str>>),
}

/// What became of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stored {
    /// The value is the one that stood there.
    Same,
    /// The value is another.
    Changed,
    /// The topic holds another kind of value; nothing was stored.
    WrongFamily,
}

impl Slot {
    /// Room for what most topics hold, so that the turn that first says it does not make any.
    pub(crate) fn new(family: Family) -> Self {
        match family {
            Family::Boolean => Self::Boolean(false),
            Family::Int => Self::Int(0),
            Family::Float => Self::Float(0.0),
            Family::Double => Self::Double(0.0),
            Family::String => Self::String(String::with_capacity(128)),
            Family::Raw => Self::Raw(Vec::with_capacity(64)),
            Family::BooleanArray => Self::BooleanArray(Vec::new()),
            Family::IntArray => Self::IntArray(Vec::new()),
            Family::FloatArray => Self::FloatArray(Vec::new()),
            Family::DoubleArray => Self::DoubleArray(Vec::with_capacity(8)),
            Family::StringArray => Self::StringArray(Vec::with_capacity(16)),
        }
    }

    /// Stores `value`. Floats are compared bit by bit: a steady NaN is no change, and -0 differs from 0.
    pub(crate) fn store(&mut self, value: ValueRef<'_>) -> Stored {
        let same = match (&mut *self, value) {
            (Self::Boolean(old), ValueRef::Boolean(new)) => std::mem::replace(old, new) == new,
            (Self::Int(old), ValueRef::Int(new)) => std::mem::replace(old, new) == new,
            (Self::Float(old), ValueRef::Float(new)) => {
                std::mem::replace(old, new).to_bits() == new.to_bits()
            }
            (Self::Double(old), ValueRef::Double(new)) => {
                std::mem::replace(old, new).to_bits() == new.to_bits()
            }
            (Self::String(old), ValueRef::String(new)) => {
                let same = old == new;
                if !same {
                    old.clear();
                    old.push_str(new);
                }
                same
            }
            (Self::Raw(old), ValueRef::Raw(new)) => refill(old, new, |a, b| a == b),
            (Self::BooleanArray(old), ValueRef::BooleanArray(new)) => refill(old, new, |a, b| a == b),
            (Self::IntArray(old), ValueRef::IntArray(new)) => refill(old, new, |a, b| a == b),
            (Self::FloatArray(old), ValueRef::FloatArray(new)) => {
                refill(old, new, |a, b| a.to_bits() == b.to_bits())
            }
            (Self::DoubleArray(old), ValueRef::DoubleArray(new)) => {
                refill(old, new, |a, b| a.to_bits() == b.to_bits())
            }
            (Self::StringArray(old), ValueRef::StringArray(new)) => {
                refill(old, new, |a, b| Arc::ptr_eq(a, b) || a == b)
            }
            _ => return Stored::WrongFamily,
        };
        if same { Stored::Same } else { Stored::Changed }
    }

    pub(crate) fn get(&self) -> ValueRef<'_> {
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
}

/// Makes `old` equal to `new` in its own storage; answers whether it was already.
fn refill<T: Clone>(old: &mut Vec<T>, new: &[T], equal: fn(&T, &T) -> bool) -> bool {
    let same = old.len() == new.len() && old.iter().zip(new).all(|(a, b)| equal(a, b));
    if !same {
        old.clear();
        old.extend_from_slice(new);
    }
    same
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(family: Family, writes: &[(ValueRef<'_>, Stored)]) {
        let mut slot = Slot::new(family);
        for (value, expected) in writes {
            assert_eq!(slot.store(*value), *expected, "{value:?}");
        }
    }

    #[test]
    fn a_write_says_whether_it_changed_anything() {
        use Stored::{Changed, Same, WrongFamily};
        use ValueRef as V;
        check(Family::Double, &[(V::Double(1.0), Changed), (V::Double(1.0), Same), (V::Int(1), WrongFamily)]);
        check(Family::Double, &[(V::Double(f64::NAN), Changed), (V::Double(f64::NAN), Same)]);
        check(Family::Double, &[(V::Double(-0.0), Changed)]);
        check(Family::String, &[(V::String("a"), Changed), (V::String("a"), Same), (V::String(""), Changed)]);
        check(Family::Raw, &[(V::Raw(&[1, 2]), Changed), (V::Raw(&[1, 2]), Same), (V::Raw(&[1]), Changed)]);
        let rows: [Arc<str>; 1] = ["row".into()];
        check(Family::StringArray, &[(V::StringArray(&rows), Changed), (V::StringArray(&rows), Same)]);
    }
}
