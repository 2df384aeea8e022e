//! The one way a configuration is refused.

use std::fmt;

/// A configuration that was refused: where, what was expected, what stood there.
///
/// Every `new` on the behaviour floors returns it, so that a program prints all refusals alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// The field's path, outermost first: `campaign.procedures[2].steps[0].timeout_secs`.
    pub path: String,
    /// What would have been accepted, with its unit.
    pub expected: String,
    /// What stood there.
    pub found: String,
}

impl ConfigError {
    /// A refusal of the field at `path`.
    #[must_use]
    pub fn new(path: impl Into<String>, expected: impl Into<String>, found: impl fmt::Display) -> Self {
        Self { path: path.into(), expected: expected.into(), found: found.to_string() }
    }

    /// The same refusal seen from one level further out: `outer` is put before the path.
    #[must_use]
    pub fn within(mut self, outer: &str) -> Self {
        self.path = if self.path.is_empty() { outer.to_owned() } else { format!("{outer}.{}", self.path) };
        self
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}, found {}", self.path, self.expected, self.found)
    }
}

impl std::error::Error for ConfigError {}
