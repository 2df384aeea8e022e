//! The server's thread: one port for plain HTTP and WebSockets.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use fieldlab_base::Micros;
use fieldlab_store::Disk;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;

use crate::Hub;
use crate::error::NetError;
use crate::http::{self, Context};
use crate::persistent::{self, PersistentReport};
use crate::room::Room;

/// The server's time: called for every message, from the server's thread.
pub type Clock = Arc<dyn Fn() -> Micros + Send + Sync>;

/// How often it looks for frames of the robot's loop: ntcore's shortest period.
const LOOK_PERIOD: Duration = Duration::from_millis(5);
/// How often changed persistent topics are saved, at most.
const SAVE_PERIOD: Duration = Duration::from_secs(1);

/// How a server listens.
#[derive(Clone)]
pub struct NetServerConfig {
    /// The address; port 0 takes any free one.
    pub addr: SocketAddr,
    /// The server's time, in microseconds from whatever zero the robot counts from.
    pub clock: Clock,
    /// The file of persistent topics, when they are to outlive the process.
    pub persistent: Option<PathBuf>,
    /// TCP connections at once, of any kind.
    pub connections: usize,
    /// A WebSocket that names no protocol is taken for 4.0, as official servers do. One that names only unknown
    /// protocols is refused in any case.
    pub accept_unnamed_protocol: bool,
}

impl NetServerConfig {
    /// Listens on `addr` with the time of `clock`, without a file.
    #[must_use]
    pub fn new(addr: SocketAddr, clock: Clock) -> Self {
        Self { addr, clock, persistent: None, connections: 256, accept_unnamed_protocol: true }
    }
}

impl fmt::Debug for NetServerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NetServerConfig")
            .field("addr", &self.addr)
            .field("persistent", &self.persistent)
            .field("connections", &self.connections)
            .field("accept_unnamed_protocol", &self.accept_unnamed_protocol)
            .finish_non_exhaustive()
    }
}

/// A listening server on its own thread; dropping it closes every socket and saves persistent topics.
#[derive(Debug)]
pub struct NetServer {
    addr: SocketAddr,
    restored: PersistentReport,
    stop: watch::Sender<bool>,
    save_error: Arc<Mutex<Option<String>>>,
    thread: Option<JoinHandle<()>>,
}

impl NetServer {
    /// Restores persistent topics, binds, and serves the hub.
    ///
    /// # Errors
    /// An address that cannot be had (named), a thread that does not start, a file whose folder cannot be read.
    pub fn bind(hub: Hub, config: NetServerConfig) -> Result<Self, NetError> {
        const NAME: &str = "nt4-net";
        let restored = match &config.persistent {
            Some(path) => persistent::restore(&hub, &mut Disk::new(), path, (config.clock)())?,
            None => PersistentReport::default(),
        };
        let bad_addr = |e: io::Error| NetError::Bind { addr: config.addr, reason: e.to_string() };
        let listener = std::net::TcpListener::bind(config.addr).map_err(bad_addr)?;
        listener.set_nonblocking(true).map_err(bad_addr)?;
        let addr = listener.local_addr().map_err(bad_addr)?;
        let bad_thread = |e: io::Error| NetError::Thread { name: NAME, reason: e.to_string() };
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(bad_thread)?;
        let listener = {
            let _entered = runtime.enter();
            TcpListener::from_std(listener).map_err(bad_addr)?
        };
        let (stop, stopped) = watch::channel(false);
        let save_error = Arc::new(Mutex::new(None));
        let errors = save_error.clone();
        let thread = std::thread::Builder::new()
            .name(NAME.to_owned())
            .spawn(move || {
                let path = config.persistent.clone();
                let last = hub.clone();
                let saved = runtime.block_on(listen(listener, hub, config, stopped, errors.clone()));
                if let Some(path) = path {
                    note(&errors, persistent::save_changes(&last, &path, saved).err());
                }
                // What still says goodbye is cut off here.
                runtime.shutdown_timeout(Duration::from_millis(100));
            })
            .map_err(bad_thread)?;
        Ok(Self { addr, restored, stop, save_error, thread: Some(thread) })
    }

    /// Where it listens.
    #[must_use]
    pub const fn local_addr(&self) -> SocketAddr {
        self.addr
    }

    /// What was restored at the start.
    #[must_use]
    pub const fn restored(&self) -> &PersistentReport {
        &self.restored
    }

    /// Why the last save of persistent topics failed, when it did.
    #[must_use]
    pub fn save_error(&self) -> Option<String> {
        self.save_error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for NetServer {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // A panic there has already been printed; there is nobody to hand it to.
            drop(thread.join());
        }
    }
}

/// Bytes that the system may hold for one peer. Left to itself it grows to megabytes, and on a slow link everything in
/// it is old before it arrives; what waits in the core is replaced by later values instead.
const SEND_BUFFER: usize = 256 << 10;

/// Bounds what the system holds back, and asks TCP itself to look after peers that may be silent for long: after 10 s,
/// then every 5 s, gone after three.
fn tune(stream: &TcpStream) -> io::Result<()> {
    use rustix::net::sockopt;
    stream.set_nodelay(true)?;
    sockopt::set_socket_send_buffer_size(stream, SEND_BUFFER)?;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, Duration::from_secs(10))?;
    sockopt::set_tcp_keepintvl(stream, Duration::from_secs(5))?;
    Ok(sockopt::set_tcp_keepcnt(stream, 3)?)
}

fn note(errors: &Mutex<Option<String>>, error: Option<String>) {
    *errors.lock().unwrap_or_else(PoisonError::into_inner) = error;
}

/// Accepts until told to stop; answers the mark of the last save.
async fn listen(
    listener: TcpListener,
    hub: Hub,
    config: NetServerConfig,
    mut stop: watch::Receiver<bool>,
    errors: Arc<Mutex<Option<String>>>,
) -> u64 {
    let context = Arc::new(Context {
        hub: hub.clone(),
        clock: config.clock.clone(),
        accept_unnamed: config.accept_unnamed_protocol,
        stop: stop.clone(),
    });
    let room = Room::new(config.connections);
    let mut saved = hub.with(|s| s.persistent_changes());
    let mut save = tokio::time::interval(SAVE_PERIOD);
    let frames = hub.frames().clone();
    let mut look = tokio::time::interval(LOOK_PERIOD);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            (stream, peer, place) = room.next(&listener) => {
                // A connection that cannot be tuned works all the same, only slower.
                drop(tune(&stream));
                tokio::spawn(http::serve(stream, peer, context.clone(), place));
            }
            _ = look.tick() => {
                if frames.waits() {
                    hub.with(|_| ());
                }
            }
            _ = save.tick() => {
                if let Some(path) = config.persistent.clone() {
                    let hub = hub.clone();
                    let done = tokio::task::spawn_blocking(move || persistent::save_changes(&hub, &path, saved)).await;
                    match done {
                        Ok(Ok(mark)) => {
                            saved = mark;
                            note(&errors, None);
                        }
                        Ok(Err(reason)) => note(&errors, Some(reason)),
                        Err(stopped) => note(&errors, Some(stopped.to_string())),
                    }
                }
            }
            _ = stop.changed() => {
                room.emptied().await;
                return saved;
            }
        }
    }
}
