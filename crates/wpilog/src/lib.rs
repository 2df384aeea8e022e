//! The .wpilog file format: decoder, index, columnar decode, crash-safe writer.
