//! The 20 ms loop, op modes, hardware traits and telemetry.
