//! The robot side: the 20 ms loop, op modes, hardware traits, and the one door through which numbers leave.
pub mod hw;
pub mod telemetry;
