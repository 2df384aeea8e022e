//! Making paths: strokes on a surface, dips between them, and orbits with captures.
//!
//! Rows are made in the arm's base frame, one per control period. What cannot be drawn is refused with a code before a row is
//! given out; the same checks as for any file follow, so that a path made here has no easier judge.

mod camera_orbit;
mod compile;
mod curves;
mod design;
mod dips;
mod legs;
mod orbit;
mod parts;
mod retime;
mod strokes;
mod svg;
mod transform;

pub use camera_orbit::{CameraOrbit, CameraOrbitConfig, camera_orbit};
pub use compile::{Drawn, Hold, PathConfig, compile};
pub use design::{Polyline, from_csv};
pub use dips::DipPlan;
pub use legs::{Builder, Pose, ease};
pub use orbit::{OrbitConfig, orbit};
pub use parts::compile_parts;
pub use strokes::{Stroke, Timing};
pub use svg::from_svg;
