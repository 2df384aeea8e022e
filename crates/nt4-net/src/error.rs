//! What can go wrong around the sockets.

use std::net::SocketAddr;

use fieldlab_base::ConfigError;
use thiserror::Error;

/// A server or client that could not be started.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NetError {
    /// The address is in use or not ours.
    #[error("{addr}: expected an address that is free, found: {reason}")]
    Bind {
        /// The address asked for.
        addr: SocketAddr,
        /// The system's words.
        reason: String,
    },
    /// The thread or its runtime could not be started.
    #[error("thread {name}: expected it to start, found: {reason}")]
    Thread {
        /// The thread's name.
        name: &'static str,
        /// The system's words.
        reason: String,
    },
    /// A configuration that was refused.
    #[error("{reason}")]
    Config {
        /// Field, expected and found.
        reason: ConfigError,
    },
    /// The file of persistent topics cannot be used, and neither can its backups.
    #[error("persistent topics: {reason}")]
    Persistent {
        /// Place and reason.
        reason: String,
    },
}
