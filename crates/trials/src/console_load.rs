//! A robot that publishes many topics often, for trials of the console.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use fieldlab_base::Micros;
use fieldlab_nt4::Properties;
use fieldlab_nt4::server::{Server, ServerConfig};
use fieldlab_nt4_net::{Clock, Hub, NetServer, NetServerConfig};
use fieldlab_values::{DataType, ValueRef};

/// The hidden word that makes this program such a robot: `serve-topics COUNT HZ`.
pub const SERVE: &str = "serve-topics";

/// A robot of `topics` doubles, each set `hz` times a second, on a port of this machine.
#[derive(Debug)]
pub struct BusyRobot {
    server: NetServer,
    stop: Arc<AtomicBool>,
    loop_thread: Option<JoinHandle<()>>,
}

/// Microseconds since the first call's caller was made.
#[must_use]
pub fn clock() -> Clock {
    let started = Instant::now();
    Arc::new(move || Micros(i64::try_from(started.elapsed().as_micros()).unwrap_or(i64::MAX)))
}

impl BusyRobot {
    /// Starts to serve and to publish.
    ///
    /// # Errors
    /// No free port, no thread, or more topics than a server takes.
    pub fn start(topics: u32, hz: u32) -> Result<Self> {
        let hub =
            Hub::new(Server::new(ServerConfig::default()).context("the default is a good configuration")?);
        let clock = clock();
        let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let server = NetServer::bind(hub.clone(), NetServerConfig::new(addr, clock.clone()))?;
        let handles = hub.with(|server| {
            (0..topics)
                .map(|n| {
                    let name = format!("/Load/group{:02}/topic{n:03}", n / 25);
                    server.publish_local(&name, &DataType::Double, &Properties::new())
                })
                .collect::<Result<Vec<_>, _>>()
        })?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let period = Duration::from_secs(1) / hz.max(1);
        let loop_thread = std::thread::Builder::new().name("busy robot".to_owned()).spawn(move || {
            let mut due = Instant::now();
            let mut tick = 0_u64;
            while !stopped.load(Ordering::Acquire) {
                let now = clock();
                hub.with(|server| {
                    for (n, topic) in handles.iter().enumerate() {
                        let phase = now.as_secs() * (0.2 + n as f64 * 0.01);
                        server.set_local(*topic, now, ValueRef::Double(phase.sin() + n as f64));
                    }
                });
                tick += 1;
                due += period;
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
                // A machine that could not keep up does not make it up in a burst.
                if tick.is_multiple_of(64) {
                    due = due.max(Instant::now());
                }
            }
        })?;
        Ok(Self { server, stop, loop_thread: Some(loop_thread) })
    }

    /// Where it serves.
    #[must_use]
    pub const fn addr(&self) -> SocketAddr {
        self.server.local_addr()
    }
}

impl Drop for BusyRobot {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.loop_thread.take() {
            // A panic there has already been printed.
            drop(thread.join());
        }
    }
}

/// Is such a robot until standard input ends; its address is the first line of standard output.
///
/// # Errors
/// As [`BusyRobot::start`]; words that are no numbers.
pub fn serve(topics: &str, hz: &str) -> Result<()> {
    let robot = BusyRobot::start(topics.parse().context("topics")?, hz.parse().context("hz")?)?;
    let mut out = std::io::stdout();
    writeln!(out, "{}", robot.addr())?;
    out.flush()?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
