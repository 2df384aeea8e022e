//! Samples files: `orbit.csv` and `path.csv`, one row per control tick.
//!
//! Header lines `key,value`, one `columns,…` line, then rows. Places and speeds are the tool tip's in the arm's base frame, the
//! rotation is the final link's. The reader takes bytes in pieces of any size and holds one line of them; see [`Decoder`].

mod decoder;
mod header;
mod number;
mod rules;
mod writer;

pub use decoder::{Decoder, Event, MAX_HEADER_LINES, MAX_LINE_BYTES};
pub use header::{Expected, Header};
pub use number::{c_number, strict_number};
pub use rules::{Caps, Rules, SampleCounts};
pub use writer::{Meta, feedforward, write};

use crate::math::{Mat3, Vec3};

/// The schema value of a samples file.
pub const SCHEMA: &str = "tatbot.draw-samples/1";
/// The columns, in their order; the last may be absent in old files.
pub const COLUMNS: [&str; 19] = [
    "t_s", "px", "py", "pz", "vx", "vy", "vz", "r00", "r01", "r02", "r10", "r11", "r12", "r20", "r21", "r22",
    "pen", "capture", "dip",
];

/// How strictly a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// What the reference parser accepts: for parity, not for a robot.
    Reference,
    /// Every rule. The default.
    #[default]
    Strict,
}

/// What a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A flight round the surface with numbered captures; the pen never touches.
    Orbit,
    /// A drawing.
    Path,
    /// Another word; only the reference mode knows it.
    Other,
}

impl Kind {
    /// The word of the header.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        match text {
            "orbit" => Self::Orbit,
            "path" => Self::Path,
            _ => Self::Other,
        }
    }
}

/// One control tick.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// When, seconds from the start.
    pub t_s: f64,
    /// The tip in the base frame, metres.
    pub p_m: Vec3,
    /// The tip's feedforward velocity in the base frame, m/s.
    pub v_m_s: Vec3,
    /// The final link's target rotation in the base frame.
    pub r: Mat3,
    /// Whether this row draws.
    pub pen: bool,
    /// The number of the capture that is taken on this row; 0 for none.
    pub capture: u32,
    /// The number of the dip that is deepest on this row; 0 for none.
    pub dip: u32,
}
