//! Surfaces to draw on: a plane or cylinder chart with a displacement grid, measured, anchored where the tool touched it.
//!
//! Everything stands in the robot's root frame. `u` runs along columns and `v` along rows; on a cylinder `u` is the axis and `v` is
//! arc length. A surface that passes the checks of this module is consistent; that says nothing about where the real thing is.

mod chart;
mod cylinder;
mod fit;
mod fuse;
mod grid;
mod intervals;
mod io;
mod mesh;
mod model;

pub use chart::{Chart, Shape};
pub use fit::{Fit, FitConfig, Prefer, fit};
pub(crate) use fuse::median;
pub use fuse::{FuseConfig, fuse};
pub use grid::{Grid, catmull_rom};
pub use io::{SCHEMA, sidecar};
pub use mesh::obj;
pub use model::{Anchor, Frame, Projection, Surface};
