//! The sockets around the NetworkTables cores: a server for HTTP and WebSockets on one port, a client that reconnects,
//! and two ways in for the process itself that need no socket at all.
//!
//! A [`Hub`] shares one server core. Attach to it as many of these as are needed: a [`NetServer`] for sockets, the
//! robot's loop through [`Hub::publisher`] or [`Hub::with`], and clients in process through [`Hub::connect_local`],
//! which are pumped at instants of the caller's choice and are therefore repeatable in virtual time.
//!
//! ```
//! use std::net::{Ipv4Addr, SocketAddr};
//! use std::sync::Arc;
//! use std::time::{Duration, Instant};
//!
//! use fieldlab_base::Micros;
//! use fieldlab_nt4::client::Event;
//! use fieldlab_nt4::server::{Server, ServerConfig};
//! use fieldlab_nt4::{Properties, SubscribeOptions};
//! use fieldlab_nt4_net::{Clock, Hub, NetClient, NetClientConfig, NetServer, NetServerConfig};
//! use fieldlab_values::{DataType, Value, ValueRef};
//!
//! let hub = Hub::new(Server::new(ServerConfig::default())?);
//! let start = Instant::now();
//! let clock: Clock = Arc::new(move || Micros::from_secs(start.elapsed().as_secs_f64()));
//! let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
//! let server = NetServer::bind(hub.clone(), NetServerConfig::new(any, clock.clone()))?;
//!
//! // The robot's loop sets values without ever waiting.
//! let mut frame = hub.publisher();
//! let speed = frame.declare("/robot/speed".into(), DataType::Double, Properties::new());
//! frame.put(speed, Micros(20_000), ValueRef::Double(1.5));
//! frame.send();
//!
//! // Somebody watches.
//! let client = NetClient::start(NetClientConfig::new(server.local_addr().to_string(), "watcher", clock))?;
//! client.with(|c| c.subscribe(&["/robot/"], SubscribeOptions::prefix()))?;
//! let seen = loop {
//!     match client.next_event(Duration::from_secs(10)).expect("a value within ten seconds") {
//!         Event::Value { value, .. } => break value,
//!         _ => continue,
//!     }
//! };
//! assert_eq!(seen, Value::Double(1.5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Promises: the hub's lock is never held across a wait, and the robot's side of a [`FramePublisher`] neither waits nor
//! allocates once its values have found their lengths. A message above the limit, an unmasked or broken frame closes its
//! connection with the code and reason of the standard. A 4.1 peer that sends nothing for a second is gone, but never
//! because this process itself paused. Time requests are answered ahead of everything queued, and time sockets by tasks
//! of their own. Persistent topics are saved so that a power cut leaves the old file or the new one, and a file that
//! cannot be read is put aside, never written over.
//!
//! Never does: negotiate a WebSocket extension, send a ping to a 4.0 peer, or let anything from the network reach the
//! robot other than samples of declared inputs.

mod alive;
mod client;
mod error;
mod frames;
mod http;
mod hub;
mod io;
mod name;
mod persistent;
mod pump;
mod room;
mod server;
mod socket;

pub use client::{ConnectionState, NetClient, NetClientConfig};
pub use error::NetError;
pub use frames::{FramePublisher, FrameStats, FrameTopic};
pub use hub::{Hub, LocalPipe};
pub use persistent::PersistentReport;
pub use room::{Place, Room};
pub use server::{Clock, NetServer, NetServerConfig};
