//! JSON with the strictness that a digest needs: integers and floats kept apart, floats exact, duplicate keys refused.
//!
//! Members keep the order of the file; the canonical form sorts them. TOML files are converted to the same tree, so one
//! reader of fields serves both.

mod fields;
mod parse;
mod write;

pub use fields::Fields;
pub use parse::{MAX_BYTES, MAX_DEPTH};
pub use write::{python_float, twelve_digits};

use crate::error::DrawError;

/// A JSON value; members of an object in file order.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number written without fraction and exponent.
    Int(i64),
    /// Any other number; finite when it came from a file.
    Float(f64),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Json>),
    /// An object.
    Map(Vec<(String, Json)>),
}

impl Json {
    /// Parses one JSON document.
    ///
    /// Hostile bytes cost time and memory in proportion to their length, which [`MAX_BYTES`] bounds; nesting is bounded by
    /// [`MAX_DEPTH`].
    ///
    /// # Errors
    /// [`DrawError::Json`] with line and column: not JSON, not UTF-8, a repeated key, a number outside `i64` or `f64`.
    pub fn parse(bytes: &[u8]) -> Result<Self, DrawError> {
        parse::document(bytes)
    }

    /// Parses a TOML document into the same tree.
    ///
    /// # Errors
    /// [`DrawError::Toml`] for what is not TOML, holds a date, or holds a number that is not finite.
    pub fn parse_toml(text: &str) -> Result<Self, DrawError> {
        let refuse = |reason: String| DrawError::Toml { reason };
        if text.len() > MAX_BYTES {
            return Err(refuse(format!("{} bytes, at most {MAX_BYTES} are read", text.len())));
        }
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            refuse(error.to_string().lines().map(str::trim).collect::<Vec<_>>().join(" "))
        })?;
        from_toml(toml::Value::Table(table), 0).map_err(refuse)
    }

    /// An object from pairs, in their order.
    #[must_use]
    pub fn map<K: Into<String>>(members: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Map(members.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    /// A string.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A count.
    #[must_use]
    pub fn count(count: usize) -> Self {
        Self::Int(i64::try_from(count).unwrap_or(i64::MAX))
    }

    /// A list of floats.
    #[must_use]
    pub fn floats(values: &[f64]) -> Self {
        Self::List(values.iter().map(|&value| Self::Float(value)).collect())
    }

    /// The number if there is one and it is finite, else `null`.
    #[must_use]
    pub fn number_or_null(value: Option<f64>) -> Self {
        value.filter(|value| value.is_finite()).map_or(Self::Null, Self::Float)
    }

    /// The member `key` of an object.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Map(members) => members.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The number as a float, whichever way it was written.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            #[allow(clippy::cast_precision_loss)] // a reader that wants a float takes the nearest
            Self::Int(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// What kind of value this is, for refusals.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Int(_) => "an integer",
            Self::Float(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "an object",
        }
    }
}

fn from_toml(value: toml::Value, depth: usize) -> Result<Json, String> {
    if depth > MAX_DEPTH {
        return Err(format!("nested deeper than {MAX_DEPTH}"));
    }
    Ok(match value {
        toml::Value::String(text) => Json::Text(text),
        toml::Value::Integer(value) => Json::Int(value),
        toml::Value::Float(value) if value.is_finite() => Json::Float(value),
        toml::Value::Float(value) => return Err(format!("{value} is not a finite number")),
        toml::Value::Boolean(value) => Json::Bool(value),
        toml::Value::Datetime(value) => return Err(format!("dates are not used here, found {value}")),
        toml::Value::Array(items) => {
            Json::List(items.into_iter().map(|item| from_toml(item, depth + 1)).collect::<Result<_, _>>()?)
        }
        toml::Value::Table(members) => Json::Map(
            members
                .into_iter()
                .map(|(key, value)| Ok((key, from_toml(value, depth + 1)?)))
                .collect::<Result<_, String>>()?,
        ),
    })
}
