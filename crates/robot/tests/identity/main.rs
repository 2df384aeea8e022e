//! The identity sheet through the loop: what reaches the door, the server and the logs, and when.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod bench;
#[path = "../common/mod.rs"]
mod common;

mod lasting;
mod order;
mod truth;
