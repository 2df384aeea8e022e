//! The server core beyond the table of rows.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed step is the test's failure")]

#[path = "../common/mod.rs"]
mod common;

mod delivery;
mod hostile;
mod keeping;
mod metatopics;
mod order;
mod owned;
