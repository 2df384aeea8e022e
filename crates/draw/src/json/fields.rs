//! A typed view of one object that knows which members were asked for, so that an unknown one is refused.

use std::collections::BTreeSet;

use fieldlab_base::ConfigError;

use super::Json;

/// One object of a configuration, read field by field.
///
/// ```
/// use fieldlab_draw::json::{Fields, Json};
///
/// let json = Json::parse(br#"{"speed_m_s": 0.02, "sped": 1}"#)?;
/// let mut fields = Fields::new("limits", &json)?;
/// assert_eq!(fields.number("speed_m_s")?, 0.02);
/// assert_eq!(fields.finish().unwrap_err().to_string(), "limits.sped: expected no such field, found an integer");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Fields<'a> {
    path: String,
    members: &'a [(String, Json)],
    asked: BTreeSet<&'static str>,
}

impl<'a> Fields<'a> {
    /// A view of `json`, which must be an object; `path` is put before the fields' names in refusals.
    ///
    /// # Errors
    /// When `json` is not an object.
    pub fn new(path: impl Into<String>, json: &'a Json) -> Result<Self, ConfigError> {
        let path = path.into();
        match json {
            Json::Map(members) => Ok(Self { path, members, asked: BTreeSet::new() }),
            other => Err(ConfigError::new(path, "an object", other.kind())),
        }
    }

    /// The full path of `key`.
    #[must_use]
    pub fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// A refusal of `key`.
    #[must_use]
    pub fn refuse(
        &self,
        key: &str,
        expected: impl Into<String>,
        found: impl std::fmt::Display,
    ) -> ConfigError {
        ConfigError::new(self.path_of(key), expected, found)
    }

    /// The member `key`, if present.
    pub fn optional(&mut self, key: &'static str) -> Option<&'a Json> {
        self.asked.insert(key);
        self.members.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The member `key`.
    ///
    /// # Errors
    /// When it is missing.
    pub fn required(&mut self, key: &'static str) -> Result<&'a Json, ConfigError> {
        self.optional(key).ok_or_else(|| self.refuse(key, "a value", "nothing"))
    }

    /// A finite number, if present.
    ///
    /// # Errors
    /// When it is something else.
    pub fn optional_number(&mut self, key: &'static str) -> Result<Option<f64>, ConfigError> {
        let Some(value) = self.optional(key) else { return Ok(None) };
        match value.as_f64().filter(|value| value.is_finite()) {
            Some(number) => Ok(Some(number)),
            None => Err(self.refuse(key, "a finite number", value.kind())),
        }
    }

    /// A finite number.
    ///
    /// # Errors
    /// When it is missing or something else.
    pub fn number(&mut self, key: &'static str) -> Result<f64, ConfigError> {
        self.required(key)?;
        self.optional_number(key)?.ok_or_else(|| self.refuse(key, "a number", "nothing"))
    }

    /// A finite number above zero, or `default` when the field is absent.
    ///
    /// # Errors
    /// When it is something else.
    pub fn positive_or(&mut self, key: &'static str, default: f64) -> Result<f64, ConfigError> {
        let value = self.optional_number(key)?.unwrap_or(default);
        fieldlab_base::check::positive(&self.path_of(key), value)
    }

    /// A finite number above zero, if present.
    ///
    /// # Errors
    /// When it is something else.
    pub fn optional_positive(&mut self, key: &'static str) -> Result<Option<f64>, ConfigError> {
        let value = self.optional_number(key)?;
        value.map(|value| fieldlab_base::check::positive(&self.path_of(key), value)).transpose()
    }

    /// A string, if present.
    ///
    /// # Errors
    /// When it is something else.
    pub fn optional_text(&mut self, key: &'static str) -> Result<Option<&'a str>, ConfigError> {
        match self.optional(key) {
            None => Ok(None),
            Some(Json::Text(text)) => Ok(Some(text)),
            Some(other) => Err(self.refuse(key, "a string", other.kind())),
        }
    }

    /// A string.
    ///
    /// # Errors
    /// When it is missing or something else.
    pub fn text(&mut self, key: &'static str) -> Result<&'a str, ConfigError> {
        self.required(key)?;
        self.optional_text(key)?.ok_or_else(|| self.refuse(key, "a string", "nothing"))
    }

    /// A boolean, or `default` when the field is absent.
    ///
    /// # Errors
    /// When it is something else.
    pub fn flag_or(&mut self, key: &'static str, default: bool) -> Result<bool, ConfigError> {
        match self.optional(key) {
            None => Ok(default),
            Some(Json::Bool(value)) => Ok(*value),
            Some(other) => Err(self.refuse(key, "true or false", other.kind())),
        }
    }

    /// A list, if present.
    ///
    /// # Errors
    /// When it is something else.
    pub fn optional_list(&mut self, key: &'static str) -> Result<Option<&'a [Json]>, ConfigError> {
        match self.optional(key) {
            None => Ok(None),
            Some(Json::List(items)) => Ok(Some(items)),
            Some(other) => Err(self.refuse(key, "a list", other.kind())),
        }
    }

    /// Exactly `N` finite numbers, if present.
    ///
    /// # Errors
    /// When it is something else.
    pub fn optional_numbers<const N: usize>(
        &mut self,
        key: &'static str,
    ) -> Result<Option<[f64; N]>, ConfigError> {
        let Some(items) = self.optional_list(key)? else { return Ok(None) };
        let mut out = [0.0; N];
        if items.len() != N {
            return Err(self.refuse(key, format!("{N} numbers"), format!("{} values", items.len())));
        }
        for (slot, item) in out.iter_mut().zip(items) {
            *slot = item
                .as_f64()
                .filter(|value| value.is_finite())
                .ok_or_else(|| self.refuse(key, format!("{N} finite numbers"), item.kind()))?;
        }
        Ok(Some(out))
    }

    /// Exactly `N` finite numbers.
    ///
    /// # Errors
    /// When they are missing or something else.
    pub fn numbers<const N: usize>(&mut self, key: &'static str) -> Result<[f64; N], ConfigError> {
        self.required(key)?;
        self.optional_numbers(key)?.ok_or_else(|| self.refuse(key, format!("{N} numbers"), "nothing"))
    }

    /// The schema value, which must be `expected`.
    ///
    /// # Errors
    /// When it is missing or another one.
    pub fn schema(&mut self, expected: &str) -> Result<(), ConfigError> {
        match self.text("schema")? {
            found if found == expected => Ok(()),
            found => Err(self.refuse("schema", format!("`{expected}`"), format!("`{found}`"))),
        }
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// When a member was never asked for.
    pub fn finish(self) -> Result<(), ConfigError> {
        match self.members.iter().find(|(name, _)| !self.asked.contains(name.as_str())) {
            Some((name, value)) => Err(self.refuse(name, "no such field", value.kind())),
            None => Ok(()),
        }
    }
}
