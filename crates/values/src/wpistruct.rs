//! Rust types that have a WPILib struct schema, and how they are published.

use std::cell::Cell;

use crate::{DataType, Published, ValueRef};

/// A plain data type with a WPILib struct schema: packed, little-endian, fixed size.
///
/// Only types of this workspace's own implement it; foreign schemas are read through [`schema`](crate::schema).
pub trait WpiStruct: Sized {
    /// The name that stands after `struct:` in the topic's type.
    const NAME: &'static str;
    /// The schema text, as WPILib writes it.
    const SCHEMA: &'static str;
    /// Bytes that one value takes.
    const SIZE: usize;

    /// Writes the value to the first [`SIZE`](Self::SIZE) bytes of `out`; a shorter `out` is filled as far as whole
    /// numbers fit and nothing is written past it.
    fn pack(&self, out: &mut [u8]);

    /// Reads a value from the first [`SIZE`](Self::SIZE) bytes; `None` when there are fewer.
    fn unpack(bytes: &[u8]) -> Option<Self>;

    /// Tells `tell` the name and schema of every struct nested in this one, innermost first, then its own.
    fn schemas(tell: &mut dyn FnMut(&'static str, &'static str));
}

thread_local! {
    // Reused for every struct that this thread publishes, so that publishing does not allocate once it has grown.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Lends `len` zeroed bytes. A nested call gets a buffer of its own.
fn with_scratch(len: usize, work: impl FnOnce(&mut [u8])) {
    let mut scratch = SCRATCH.take();
    scratch.clear();
    scratch.resize(len, 0);
    work(&mut scratch);
    SCRATCH.set(scratch);
}

impl<T: WpiStruct> Published for T {
    fn data_type() -> DataType {
        DataType::structure(T::NAME)
    }

    fn with_value(&self, take: &mut dyn FnMut(ValueRef<'_>)) {
        with_scratch(T::SIZE, |bytes| {
            self.pack(bytes);
            take(ValueRef::Raw(bytes));
        });
    }

    fn schemas(tell: &mut dyn FnMut(&'static str, &'static str)) {
        <T as WpiStruct>::schemas(tell);
    }
}

impl<T: WpiStruct> Published for [T] {
    fn data_type() -> DataType {
        DataType::structure_array(T::NAME)
    }

    fn with_value(&self, take: &mut dyn FnMut(ValueRef<'_>)) {
        with_scratch(T::SIZE * self.len(), |bytes| {
            for (value, slot) in self.iter().zip(bytes.chunks_exact_mut(T::SIZE.max(1))) {
                value.pack(slot);
            }
            take(ValueRef::Raw(bytes));
        });
    }

    fn schemas(tell: &mut dyn FnMut(&'static str, &'static str)) {
        <T as WpiStruct>::schemas(tell);
    }
}

/// Implements [`WpiStruct`] for a struct whose fields, in schema order, are `f64` or structs themselves.
macro_rules! wpi_struct {
    ($name:ident, $schema:literal, { $($field:ident: $kind:tt),* $(,)? }) => {
        impl WpiStruct for $name {
            const NAME: &'static str = stringify!($name);
            const SCHEMA: &'static str = $schema;
            const SIZE: usize = 0 $(+ wpi_struct!(@size $kind))*;

            fn pack(&self, out: &mut [u8]) {
                let mut rest = out;
                $(
                    let Some((slot, after)) = rest.split_at_mut_checked(wpi_struct!(@size $kind)) else { return };
                    wpi_struct!(@pack $kind, self.$field, slot);
                    rest = after;
                )*
                let _ = rest;
            }

            fn unpack(bytes: &[u8]) -> Option<Self> {
                let mut rest = bytes;
                $(
                    let (slot, after) = rest.split_at_checked(wpi_struct!(@size $kind))?;
                    let $field = wpi_struct!(@unpack $kind, slot);
                    rest = after;
                )*
                let _ = rest;
                Some(Self { $($field),* })
            }

            fn schemas(tell: &mut dyn FnMut(&'static str, &'static str)) {
                $( wpi_struct!(@schemas $kind, tell); )*
                tell(Self::NAME, Self::SCHEMA);
            }
        }
    };
    (@size f64) => { 8 };
    (@size $kind:ident) => { <$kind as WpiStruct>::SIZE };
    (@pack f64, $value:expr, $slot:expr) => { $slot.copy_from_slice(&$value.to_le_bytes()) };
    (@pack $kind:ident, $value:expr, $slot:expr) => { $value.pack($slot) };
    (@unpack f64, $slot:expr) => { f64::from_le_bytes($slot.try_into().ok()?) };
    (@unpack $kind:ident, $slot:expr) => { <$kind as WpiStruct>::unpack($slot)? };
    (@schemas f64, $tell:expr) => {};
    (@schemas $kind:ident, $tell:expr) => { <$kind as WpiStruct>::schemas($tell) };
}
pub(crate) use wpi_struct;
