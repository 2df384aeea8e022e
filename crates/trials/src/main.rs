//! The long programs.
fn main() {}
