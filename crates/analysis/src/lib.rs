//! Log sets, sessions, segments, fits with intervals, findings with evidence.
