//! What stops an analysis before it starts.

use fieldlab_wpilog::LogError;
use thiserror::Error;

/// Why there are no findings at all. Everything milder is a [`Problem`](crate::findings::Problem) among the findings.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AnalysisError {
    /// No log was named.
    #[error("no log was given: expected at least one .wpilog file")]
    NoLogs,
    /// A log could not be opened, or is none.
    #[error(transparent)]
    Unreadable(#[from] LogError),
    /// The session asked for is not in the logs.
    #[error("session {asked} is not in these logs: expected one of [{found}]")]
    NoSuchSession {
        /// The id asked for.
        asked: String,
        /// The ids that are there.
        found: String,
    },
    /// A constants file is not a flat JSON object of numbers.
    #[error("{path}: expected a JSON object of name: number, found {found}")]
    Constants {
        /// The file.
        path: String,
        /// What was found.
        found: String,
    },
}
