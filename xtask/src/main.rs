//! The chores.
fn main() {}
