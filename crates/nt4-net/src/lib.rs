//! The sockets around the NetworkTables cores.
mod frames;
mod hub;

pub use frames::{FramePublisher, FrameStats};
pub use hub::{Hub, LocalPipe};
