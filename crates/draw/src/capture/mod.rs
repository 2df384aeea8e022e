//! Wrist captures: depth pictures with what is needed to turn them into points, and the marker that says they are whole.
//!
//! `capture-<k>.npz` is complete when `capture-<k>.done` stands beside it. Our marker carries the archive's SHA-256, so that an archive
//! and a marker of two different runs are told apart; an empty marker, as older tools write it, is accepted and said so. Depth is
//! turned into points with the stored units and intrinsics, never with what a camera's name suggests.

mod cloud;
mod files;
mod format;
mod frames;
mod lens;

pub use cloud::{CloudConfig, CloudPoint, tool_mask};
pub use files::{Found, load, paths, save};
pub use format::{Capture, SCHEMA, View};
pub use frames::{Merged, RawDepth};
pub use lens::Lens;
