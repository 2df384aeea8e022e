//! The .wpilog file format: streaming decoder, index, decode by column, crash-safe writer.
//!
//! Reads every version 1 log, whole or damaged, and writes logs that a power cut shortens by a quarter second at most.
//!
//! ```
//! use fieldlab_base::Micros;
//! use fieldlab_values::{DataType, ValueRef};
//! use fieldlab_wpilog::{Encoder, Log};
//!
//! let mut bytes = Encoder::new("example");
//! bytes.start(Micros(0), 1, "Gyro/YawRadians", &DataType::Double, "");
//! bytes.value(Micros(20_000), 1, ValueRef::Double(0.25));
//!
//! let mut torn = bytes.into_bytes();
//! torn.extend_from_slice(&[0x20, 1, 8]);
//! let log = Log::from_bytes(torn, "example")?;
//! assert_eq!(log.numbers(&log.entries()[0])?.values, [0.25]);
//! assert_eq!(log.report().salvage.map(|tail| tail.bytes_lost), Some(3));
//! # Ok::<(), fieldlab_wpilog::LogError>(())
//! ```
//!
//! Promises: no byte sequence makes it panic; memory for a file is bounded by a constant factor of its length, and for
//! a well-formed one it is four bytes a record and what is decoded. A torn or zero-filled tail costs that tail, and the
//! [`Report`] says where it begins. It never maps a file that still grows, never repairs a file in place, never knows
//! what a robot is.

mod all;
mod column;
mod control;
mod decoder;
mod encoder;
mod entry;
mod error;
mod header;
mod index;
mod log;
mod offsets;
mod payload;
mod platform;
mod record;
mod report;
mod structs;
mod tail;
mod writer;

pub use all::AnyColumn;
pub use column::{ArrayColumn, Column, StructColumns};
pub use control::{Control, Odd, Text};
pub use decoder::{Decoder, Event};
pub use encoder::Encoder;
pub use entry::{Entry, MetadataAt};
pub use error::LogError;
pub use log::{Log, Record};
pub use payload::decode;
pub use report::{Damage, Report, Salvage};
pub use tail::Tail;
pub use writer::{Batch, Closed, EntryId, LogWriter, Overflow, StopReason, WriterConfig, WriterStats};
