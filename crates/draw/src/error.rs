//! What this crate can refuse, apart from configurations (those are [`fieldlab_base::ConfigError`]) and samples (those are lists
//! of findings).

use std::path::PathBuf;

use fieldlab_base::ConfigError;

/// A file or value that was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DrawError {
    /// Not JSON, or JSON that this crate does not take.
    #[error("line {line}, column {column}: {reason}")]
    Json {
        /// Counted from one.
        line: usize,
        /// Counted from one, in bytes.
        column: usize,
        /// What was wrong.
        reason: String,
    },
    /// Not TOML, or TOML that this crate does not take.
    #[error("not a TOML file that can be read: {reason}")]
    Toml {
        /// What was wrong.
        reason: String,
    },
    /// A field of a file is not what it must be.
    #[error("{0}")]
    Config(ConfigError),
    /// A robot description is not what it must be.
    #[error("URDF, {place}: expected {expected}, found {found}")]
    Urdf {
        /// The element or joint.
        place: String,
        /// What would have been accepted.
        expected: String,
        /// What stood there.
        found: String,
    },
    /// A `.npy` array or a `.npz` archive is not what it must be.
    #[error("{place}: expected {expected}, found {found}")]
    Array {
        /// The archive's part or the member's name.
        place: String,
        /// What would have been accepted.
        expected: String,
        /// What stood there.
        found: String,
    },
    /// A geometric question without an answer.
    #[error("{what}: {reason}")]
    Geometry {
        /// The question.
        what: &'static str,
        /// Why there is no answer.
        reason: String,
    },
    /// A drawing that cannot be drawn; nothing was written.
    #[error("{code}: {reason}")]
    Refused {
        /// The stable code of the refusal.
        code: &'static str,
        /// Place, value and limit.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
}

impl From<ConfigError> for DrawError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl DrawError {
    pub(crate) fn array(
        place: impl Into<String>,
        expected: impl Into<String>,
        found: impl std::fmt::Display,
    ) -> Self {
        Self::Array { place: place.into(), expected: expected.into(), found: found.to_string() }
    }
}
