//! NetworkTables 4.1 as bytes in, bytes out: a server core and a client core without sockets, clocks or tasks.
//!
//! ```
//! use fieldlab_base::Micros;
//! use fieldlab_nt4::server::{ConnectInfo, Frame, InputKind, Server, ServerConfig, Version};
//! use fieldlab_nt4::Properties;
//! use fieldlab_values::{DataType, Value, ValueRef};
//!
//! let mut server = Server::new(ServerConfig::default())?;
//! let speed = server.publish_local("/robot/speed", &DataType::Double, &Properties::new())?;
//! let answer = server.declare_input("/robot/answer", InputKind::Number, &Value::Double(0.0))?;
//! server.set_local(speed, Micros(20_000), ValueRef::Double(1.5));
//!
//! // A dashboard connects, subscribes, and writes to the input.
//! let info = ConnectInfo {
//!     name: "dashboard".into(),
//!     address: "10.0.0.5:4000".into(),
//!     version: Version::V41,
//!     immediate: false,
//! };
//! let client = server.connect(&info, Micros(30_000))?;
//! let text = r#"[{"method": "subscribe", "params": {"topics": ["/robot/speed"], "subuid": 1}},
//!                {"method": "publish", "params": {"name": "/robot/answer", "type": "int", "pubuid": 7}}]"#;
//! server.receive_text(client, text, Micros(31_000)).unwrap();
//! server.receive_binary(client, &[0x94, 7, 0, 2, 42], Micros(32_000)).unwrap();
//!
//! let mut samples = Vec::new();
//! server.drain_inputs(&mut samples);
//! assert_eq!((samples[0].input, samples[0].client), (answer.id, client));
//!
//! let (mut announcements, mut values) = (0, 0);
//! server.transmit(client, Micros(33_000), 64 << 10, |frame| match frame {
//!     Frame::Text(_) => announcements += 1,
//!     Frame::Binary(_) => values += 1,
//! });
//! assert_eq!((announcements, values), (1, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Promises, whatever bytes arrive: no panic; no length is allocated for before it was compared with a [`Limits`] entry
//! or with the bytes that are left; a message that cannot be used is skipped and counted when its end is known, and
//! otherwise costs its sender the connection, never anybody else. What waits for one client is bounded: a slow one gets
//! the latest values only. The robot's topics take no value from a client, declared inputs excepted, and an input is data
//! for the robot, nothing more.
//!
//! Never does: open a socket, ask for the time, write a file, or guess at text that is not UTF-8.
//!
//! Time is [`fieldlab_base::Micros`], signed; a time on the wire may be negative, and 0 there means "a default".

pub mod client;
mod control;
mod error;
pub mod inspect;
mod limits;
mod msgpack;
mod pattern;
pub mod server;
mod wire;

pub use control::{ClientMessage, Properties, SubscribeOptions};
pub use error::{Close, NtError};
pub use limits::Limits;
