//! Making paths: strokes on a surface, dips between them, and orbits with captures.
//!
//! Rows are made in the arm's base frame, one per control period. What cannot be drawn is refused with a code before a row is
//! given out; the same checks as for any file follow, so that a path made here has no easier judge.

mod compile;
mod legs;
mod orbit;
mod strokes;
mod svg;

pub use compile::{DipPlan, Drawn, Hold, PathConfig, compile};
pub use legs::{Builder, Pose, ease};
pub use orbit::{OrbitConfig, orbit};
pub use strokes::{Stroke, Timing};
pub use svg::{Polyline, from_csv, from_svg};
