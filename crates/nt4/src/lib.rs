//! NetworkTables 4.1 as bytes in, bytes out: server core and client core.
pub mod client;
mod control;
mod error;
mod limits;
mod msgpack;
mod pattern;
pub mod server;
mod wire;

pub use control::{Properties, SubscribeOptions};
pub use error::{Close, NtError};
pub use limits::Limits;
