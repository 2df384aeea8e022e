//! The page that watches a robot, and the relay in front of the robot that lets nothing through but an operator's answers.
//!
//! A [`Console`] holds one NetworkTables connection to the robot, shows all its topics to any number of viewers on a port of
//! its own, and serves the page that is built into the binary. `GET /` is the page, `/assets/…` are its files, and
//! `/nt/<client name>` is a WebSocket that speaks NetworkTables 4.1, 4.0 or time synchronisation alone; there is nothing else.
//! Beside the robot's topics viewers see the relay's own: `/FieldLabConsole/Robot` (string, its address), `Connected`
//! (boolean: there is a robot and its clock is known; when it turns true the clock may be another one), `Viewers` and `Refused`
//! (int), `LastRefused` (string).
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Instant;
//!
//! use fieldlab_base::Micros;
//! use fieldlab_console::{Console, ConsoleConfig};
//!
//! let started = Instant::now();
//! let clock = Arc::new(move || Micros::from_secs(started.elapsed().as_secs_f64()));
//! let config = ConsoleConfig::new("127.0.0.1:0".parse()?, vec!["127.0.0.1:5810".to_owned()], clock);
//! let console = Console::start(config)?;
//! assert!(console.url().starts_with("http://127.0.0.1:"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Promises, whatever a viewer sends: the robot gets nothing but values of the declared operator inputs, in the type that it
//! asked for, in the order in which they were written, each once: nothing is written again after either connection was lost,
//! and nothing that was written while the robot was away is kept for it. A refused message costs itself, is counted and shown;
//! a slow viewer gets the latest values only; what one viewer costs is bounded. Times are the robot's: values carry those that
//! it gave them, and time requests are answered with the estimate of its clock.
//!
//! Requests whose `Host` is a stranger's name, or whose `Origin` is not the console's own, are refused. That is for the
//! console's port; it is not an access control for the robot, whose own code is what makes the guarantee.
//!
//! Never does: change a property, create a topic on the robot, or send it anything of its own accord beyond one subscription
//! and time requests.

mod assets;
mod error;
mod gate;
mod hosts;
mod inputs;
mod listener;
mod mirror;
mod relay;
mod team;
mod viewer;

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use fieldlab_base::ConfigError;
use fieldlab_nt4_net::Clock;
use tokio::net::TcpListener;
use tokio::sync::watch;

pub use error::ConsoleError;
pub use team::{robot_address, team_addresses};

use crate::assets::Page;
use crate::hosts::Hosts;
use crate::listener::Shared;
use crate::relay::Relay;

/// What a console watches and where it listens.
#[derive(Clone)]
pub struct ConsoleConfig {
    /// The address of the page; port 0 takes any free one. Anything but loopback lets the whole network watch and answer.
    pub listen: SocketAddr,
    /// Names by which the page may be asked for, besides `localhost` and the address itself.
    pub host_names: Vec<String>,
    /// `host:port` of the robot's server; of several, the first that answers, tried in turn.
    pub robots: Vec<String>,
    /// The local time.
    pub clock: Clock,
}

impl ConsoleConfig {
    /// Watches the first of `robots` that answers, and listens on `listen`.
    #[must_use]
    pub fn new(listen: SocketAddr, robots: Vec<String>, clock: Clock) -> Self {
        Self { listen, host_names: Vec::new(), robots, clock }
    }
}

impl fmt::Debug for ConsoleConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConsoleConfig")
            .field("listen", &self.listen)
            .field("host_names", &self.host_names)
            .field("robots", &self.robots)
            .finish_non_exhaustive()
    }
}

/// A console on threads of its own; dropping it closes every connection.
pub struct Console {
    addr: SocketAddr,
    stop: watch::Sender<bool>,
    ended: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Console {
    /// Listens, starts to connect to the robot, and goes on trying for as long as it lives.
    ///
    /// # Errors
    /// An address that cannot be had, a thread that does not start, no robot to watch.
    pub fn start(config: ConsoleConfig) -> Result<Self, ConsoleError> {
        if config.robots.is_empty() {
            return Err(ConfigError::new("robots", "at least one host:port", "none").into());
        }
        let bad_addr = |e: io::Error| ConsoleError::Bind {
            addr: config.listen,
            taken: e.kind() == io::ErrorKind::AddrInUse,
            reason: e.to_string(),
        };
        let listener = std::net::TcpListener::bind(config.listen).map_err(bad_addr)?;
        listener.set_nonblocking(true).map_err(bad_addr)?;
        let addr = listener.local_addr().map_err(bad_addr)?;
        let relay = Arc::new(Relay::start(config.robots.clone(), config.clock.clone())?);
        let (stop, stopped) = watch::channel(false);
        let shared = Shared {
            relay: relay.clone(),
            page: Arc::new(Page::new()),
            hosts: Arc::new(Hosts::new(addr, &config.host_names)),
            stop: stopped,
        };
        let mut console =
            Self { addr, stop, ended: Arc::new(AtomicBool::new(false)), threads: Vec::with_capacity(2) };
        let ended = console.ended.clone();
        console.spawn("console-relay", move || relay.run(&ended))?;
        let no_runtime = |e: io::Error| ConsoleError::Thread { name: "console", reason: e.to_string() };
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(no_runtime)?;
        let listener = {
            let _entered = runtime.enter();
            TcpListener::from_std(listener).map_err(bad_addr)?
        };
        console.spawn("console", move || {
            runtime.block_on(listener::listen(listener, shared));
            // What still says goodbye is cut off here.
            runtime.shutdown_timeout(Duration::from_millis(100));
        })?;
        Ok(console)
    }

    fn spawn(
        &mut self,
        name: &'static str,
        work: impl FnOnce() + Send + 'static,
    ) -> Result<(), ConsoleError> {
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work);
        self.threads.push(thread.map_err(|e| ConsoleError::Thread { name, reason: e.to_string() })?);
        Ok(())
    }

    /// Where it listens.
    #[must_use]
    pub const fn local_addr(&self) -> SocketAddr {
        self.addr
    }

    /// What to open in a browser on this machine.
    #[must_use]
    pub fn url(&self) -> String {
        let ip =
            if self.addr.ip().is_unspecified() { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { self.addr.ip() };
        format!("http://{}/", SocketAddr::new(ip, self.addr.port()))
    }

    /// Waits until the process is asked to end, by Ctrl-C or a termination signal; calls `ready` once it would notice.
    ///
    /// # Errors
    /// When signals cannot be waited for.
    pub fn wait_for_end(&self, ready: impl FnOnce()) -> Result<(), ConsoleError> {
        use tokio::signal::unix::{SignalKind, signal};
        let bad = |e: io::Error| ConsoleError::Thread { name: "signals", reason: e.to_string() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(bad)?;
        runtime.block_on(async {
            let mut interrupt = signal(SignalKind::interrupt()).map_err(bad)?;
            let mut terminate = signal(SignalKind::terminate()).map_err(bad)?;
            ready();
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            Ok(())
        })
    }
}

impl fmt::Debug for Console {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Console").field("addr", &self.addr).finish_non_exhaustive()
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        self.ended.store(true, Ordering::Release);
        for thread in self.threads.drain(..) {
            // A panic there has already been printed; there is nobody to hand it to.
            drop(thread.join());
        }
    }
}
