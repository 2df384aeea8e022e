//! Field Lab for robot programmers: one import.
