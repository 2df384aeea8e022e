//! From the first enable to the finished marker, with disables, rebuilds and reboots between.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;

mod ends;
mod outcomes;
mod power;
mod saved;
mod told;
