//! What can keep a console from starting.

use std::net::SocketAddr;

use fieldlab_base::ConfigError;
use thiserror::Error;

/// Why a console did not start.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ConsoleError {
    /// The address cannot be had.
    #[error("console: listening on {addr}: {reason}")]
    Bind {
        /// What was asked for.
        addr: SocketAddr,
        /// The system's words.
        reason: String,
        /// Somebody else listens there.
        taken: bool,
    },
    /// A thread did not start.
    #[error("console: starting the thread {name}: {reason}")]
    Thread {
        /// Which.
        name: &'static str,
        /// The system's words.
        reason: String,
    },
    /// A configuration that cannot be.
    #[error("console: {0}")]
    Config(#[from] ConfigError),
    /// The client towards the robot did not start.
    #[error("console: client of the robot: {reason}")]
    Client {
        /// Its words.
        reason: String,
    },
}
