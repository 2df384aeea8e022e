//! The preflight of [`fieldlab_draw`] for programs in C and for what speaks C's language; `include/fieldlab_draw.h` is its page.
//!
//! A caller opens a rig, begins a check, pushes the bytes of a samples file in pieces of any size, finishes, and reads the
//! verdict. Everything is decided by the same code as in Rust: this crate only carries values across the border.
//!
//! Promises: no panic crosses the border, it becomes status 1 with its text; a null pointer or an impossible length is status 2 and
//! changes nothing. What cannot be checked is the caller's to keep, as everywhere in C: that a handle came from here and was not
//! freed, and that a buffer is as long as was said.
//!
//! Never does: move a robot or grant authority to.

mod border;
mod error;
mod verdict;
