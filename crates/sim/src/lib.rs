//! Robots that are not there.
