//! One durable writer and the file layers under it.
