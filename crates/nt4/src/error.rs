//! What can go wrong, and what a bad peer costs.

use thiserror::Error;

/// A call of the owner of a core that was refused. Nothing that a peer sends ends up here.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NtError {
    /// A topic name that cannot be served.
    #[error("topic name {name:?}: expected {expected}")]
    BadName {
        /// The name, cut to its first 64 characters.
        name: String,
        /// What would have been accepted.
        expected: &'static str,
    },
    /// The robot itself already holds that topic in another role or with another type.
    #[error("topic {name}: expected {expected}, found {found}")]
    Taken {
        /// The topic's name.
        name: String,
        /// What was asked for.
        expected: String,
        /// What the topic is.
        found: String,
    },
    /// A table is full.
    #[error("{what}: expected at most {limit}")]
    Limit {
        /// Which table.
        what: &'static str,
        /// Its limit.
        limit: usize,
    },
    /// A handle whose topic, publisher or connection is gone.
    #[error("{what} is no longer there")]
    Gone {
        /// What the handle meant.
        what: &'static str,
    },
    /// A saved file of persistent topics that is not one.
    #[error("persistent topics: expected {expected}, found {found}")]
    BadFile {
        /// What would have been read.
        expected: &'static str,
        /// What stood there, or the parser's words with line and column.
        found: String,
    },
}

/// A connection must end: the WebSocket close code and the reason to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Close {
    /// WebSocket close code.
    pub code: u16,
    /// For the peer's log; at most 120 bytes.
    pub reason: String,
}

impl Close {
    pub(crate) fn new(code: u16, reason: impl Into<String>) -> Self {
        let mut reason = reason.into();
        let mut cut = reason.len().min(120);
        while !reason.is_char_boundary(cut) {
            cut -= 1;
        }
        reason.truncate(cut);
        Self { code, reason }
    }

    /// Framing of a binary message was lost.
    pub(crate) fn framing(reason: &str) -> Self {
        Self::new(1001, format!("binary decode error: {reason}"))
    }

    /// A limit that the peer must not pass.
    pub(crate) fn policy(reason: impl Into<String>) -> Self {
        Self::new(1008, reason)
    }

    /// A message over the size limit.
    #[must_use]
    pub fn too_big() -> Self {
        Self::new(1009, "message too large")
    }
}
