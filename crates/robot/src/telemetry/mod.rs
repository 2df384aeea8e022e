//! The one door through which numbers leave the robot.
//!
//! Topics are declared once; each turn the robot sets values through typed publishers; at the end of the turn the door
//! hands one [`Frame`] with what changed to every sink: the NetworkTables server, the log file, an AdvantageKit-shaped
//! log file, memory. Every sink hears every frame: the door is the tee. A sink never makes the loop wait: what it cannot take it counts.
//!
//! ```
//! use fieldlab_base::Micros;
//! use fieldlab_robot::telemetry::{Door, MemorySink};
//! use fieldlab_values::{Publisher, Value};
//!
//! let mut door = Door::new();
//! let memory = MemorySink::new();
//! door.attach(Box::new(memory.clone()));
//! let volts = Publisher::<f64>::catalyst(&mut door, "Status/BatteryVolts")?;
//! door.begin(Micros::from_millis(20));
//! volts.set(&mut door, &12.4);
//! door.end();
//! assert_eq!(memory.last("/Catalyst/Status/BatteryVolts"), Some(Value::Double(12.4)));
//! # Ok::<(), fieldlab_base::ConfigError>(())
//! ```

mod akit;
mod alerts;
mod door;
mod entries;
mod events;
mod frame;
mod log;
mod memory;
mod nt;
mod slot;

pub use akit::AkitSink;
pub use alerts::{AlertLevel, Alerts};
pub use door::{Door, Scope, SinkId};
pub use frame::{Frame, FrameEntry, Sink, SinkStats, Topic};
pub use log::LogSink;
pub use memory::{MemorySink, Record};
pub use nt::NtSink;
