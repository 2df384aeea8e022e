//! How the floors above say numbers without knowing who listens.

use std::marker::PhantomData;

use fieldlab_base::ConfigError;

use crate::{DataType, ValueRef};

/// Under which root a key is published. On NetworkTables the root stands before the key; in our log file the key of a
/// Catalyst topic stands alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Root {
    /// `/Catalyst/<key>` on the network, `<key>` in the log.
    Catalyst,
    /// `/SmartDashboard/<key>` on the network, `NT:/SmartDashboard/<key>` in the log.
    SmartDashboard,
    /// `/.schema/<key>`, for struct schemas.
    Schema,
    /// The key is the whole topic, in the log too; never shown on the network when it does not begin with `/`.
    Bare,
}

/// A topic to be declared.
#[derive(Debug, Clone, PartialEq)]
pub struct TopicSpec<'a> {
    /// Where it stands.
    pub root: Root,
    /// Its key under the root, no leading slash; under [`Root::Bare`] the whole topic, with its slash if it has one.
    pub key: &'a str,
    /// What it holds.
    pub data_type: DataType,
    /// The unit of its numbers, for tools that show it; empty when it has none.
    pub unit: &'a str,
}

/// The one door through which numbers leave, as floors below the robot see it.
///
/// Topics are declared once; a write names its topic by index and neither looks anything up nor allocates.
pub trait Publish {
    /// Declares a topic and answers its index.
    ///
    /// # Errors
    /// Refuses a key that is empty, begins with `/` under a root other than [`Root::Bare`], or was declared before under
    /// this root.
    fn declare(&mut self, spec: &TopicSpec<'_>) -> Result<u32, ConfigError>;

    /// Hears the schema of a struct that a declared topic carries, nested ones first; the same one may come again.
    /// A sink that has no place for schemas leaves this out.
    fn schema(&mut self, _name: &str, _text: &str) {}

    /// Sets the topic's value for this turn. A value of the wrong family, or an index that was never declared, is
    /// counted and dropped: a robot does not stop over a number.
    fn put(&mut self, index: u32, value: ValueRef<'_>);

    /// Takes the topic's value back: until it is set again, nobody sees the topic at all. For what is not known any more;
    /// absent is not zero, and NaN is no answer. An index that was never declared is counted and dropped.
    fn retract(&mut self, index: u32);
}

/// A Rust type that can be published.
pub trait Published {
    /// The topic type.
    fn data_type() -> DataType;
    /// Hands the value, borrowed, to `take`.
    fn with_value(&self, take: &mut dyn FnMut(ValueRef<'_>));
    /// Tells `tell` the name and schema text of every struct that a reader needs, nested ones first; plain types have
    /// none.
    fn schemas(_tell: &mut dyn FnMut(&'static str, &'static str)) {}
}

/// A declared topic of type `T`.
#[derive(Debug)]
pub struct Publisher<T: ?Sized> {
    index: u32,
    of: PhantomData<fn(&T)>,
}

impl<T: ?Sized> Clone for Publisher<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Publisher<T> {}

impl<T: Published + ?Sized> Publisher<T> {
    /// Declares `key` under `/Catalyst/` with the type that `T` is published as.
    ///
    /// # Errors
    /// As [`Publish::declare`].
    pub fn catalyst(to: &mut dyn Publish, key: &str) -> Result<Self, ConfigError> {
        Self::declare(to, Root::Catalyst, key, "")
    }

    /// Declares `key` under `root`, with a unit.
    ///
    /// # Errors
    /// As [`Publish::declare`].
    pub fn declare(to: &mut dyn Publish, root: Root, key: &str, unit: &str) -> Result<Self, ConfigError> {
        T::schemas(&mut |name, text| to.schema(name, text));
        let index = to.declare(&TopicSpec { root, key, data_type: T::data_type(), unit })?;
        Ok(Self { index, of: PhantomData })
    }

    /// Sets the value for this turn.
    pub fn set(self, to: &mut dyn Publish, value: &T) {
        value.with_value(&mut |v| to.put(self.index, v));
    }

    /// Takes the value back; see [`Publish::retract`].
    pub fn retract(self, to: &mut dyn Publish) {
        to.retract(self.index);
    }
}

macro_rules! published {
    ($($of:ty, $variant:ident, $value:expr;)*) => {$(
        impl Published for $of {
            fn data_type() -> DataType {
                DataType::$variant
            }
            fn with_value(&self, take: &mut dyn FnMut(ValueRef<'_>)) {
                let value: fn(&Self) -> ValueRef<'_> = $value;
                take(value(self));
            }
        }
    )*};
}
published! {
    bool, Boolean, |v| ValueRef::Boolean(*v);
    i64, Int, |v| ValueRef::Int(*v);
    f32, Float, |v| ValueRef::Float(*v);
    f64, Double, |v| ValueRef::Double(*v);
    str, String, |v| ValueRef::String(v);
    [bool], BooleanArray, |v| ValueRef::BooleanArray(v);
    [i64], IntArray, |v| ValueRef::IntArray(v);
    [f32], FloatArray, |v| ValueRef::FloatArray(v);
    [f64], DoubleArray, |v| ValueRef::DoubleArray(v);
    [std::sync::Arc<str>], StringArray, |v| ValueRef::StringArray(v);
}
