//! The sockets around the NetworkTables cores.
mod alive;
mod client;
mod error;
mod frames;
mod http;
mod hub;
mod io;
mod name;
mod persistent;
mod server;
mod socket;

pub use client::{ConnectionState, NetClient, NetClientConfig};
pub use error::NetError;
pub use frames::{FramePublisher, FrameStats};
pub use hub::{Hub, LocalPipe};
pub use persistent::PersistentReport;
pub use server::{Clock, NetServer, NetServerConfig};
