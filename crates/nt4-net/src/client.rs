//! A client on a socket: its own thread, reconnecting.

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use fieldlab_base::{ConfigError, Micros};
use fieldlab_nt4::Close;
use fieldlab_nt4::client::{Client, ClientConfig, Event};
use fieldlab_nt4::server::{Frame, Version};
use tokio::net::TcpStream;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::{HeaderValue, header};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use crate::alive::Alive;
use crate::error::NetError;
use crate::io::{Socket, Watched};
use crate::name::{Protocol, encode_name};
use crate::pump::{Core, Ended, pump};
use crate::server::Clock;
use crate::socket;

/// How long a connection may take to stand, handshake included.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Waits between attempts: doubled from the first to the last, and back to the first after a connection that stood.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LAST_WAIT: Duration = Duration::from_secs(2);
/// A connection that stood so long was a good one.
const STOOD: Duration = Duration::from_secs(5);

/// Where a client connects and as whom.
#[derive(Clone)]
pub struct NetClientConfig {
    /// `host:port` of each server to try, in turn.
    pub servers: Vec<String>,
    /// The name that the server shows.
    pub name: String,
    /// The local time.
    pub clock: Clock,
    /// Offer 4.0 only, as old dashboards do.
    pub only_4_0: bool,
    /// The core's limits.
    pub client: ClientConfig,
}

impl NetClientConfig {
    /// Connects to one server.
    #[must_use]
    pub fn new(server: impl Into<String>, name: impl Into<String>, clock: Clock) -> Self {
        Self {
            servers: vec![server.into()],
            name: name.into(),
            clock,
            only_4_0: false,
            client: ClientConfig::default(),
        }
    }
}

impl fmt::Debug for NetClientConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NetClientConfig")
            .field("servers", &self.servers)
            .field("name", &self.name)
            .field("only_4_0", &self.only_4_0)
            .finish_non_exhaustive()
    }
}

/// Where a client stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ConnectionState {
    /// The server and protocol in use; absent while there is no connection.
    pub connected: Option<(String, Version)>,
    /// Connections that stood so far.
    pub connections: u64,
    /// Why the last connection ended or could not be made, in the peer's words when it gave some.
    pub last_problem: Option<String>,
}

#[derive(Debug)]
struct Shared {
    client: Mutex<Client>,
    events: Condvar,
    wake: Notify,
    state: Mutex<ConnectionState>,
}

/// A client core kept connected by a thread of its own; dropping it ends the connection.
#[derive(Debug)]
pub struct NetClient {
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl NetClient {
    /// Starts to connect, and goes on trying for as long as it lives.
    ///
    /// # Errors
    /// A thread that does not start; a bad limit, named.
    pub fn start(config: NetClientConfig) -> Result<Self, NetError> {
        const NAME: &str = "nt4-client";
        let bad_config = |e: ConfigError| NetError::Config { reason: e };
        if config.servers.is_empty() {
            return Err(bad_config(ConfigError::new("servers", "at least one host:port", "none")));
        }
        let client = Client::new(config.client.clone()).map_err(bad_config)?;
        let shared = Arc::new(Shared {
            client: Mutex::new(client),
            events: Condvar::new(),
            wake: Notify::new(),
            state: Mutex::new(ConnectionState::default()),
        });
        let (stop, stopped) = watch::channel(false);
        let bad_thread = |e: std::io::Error| NetError::Thread { name: NAME, reason: e.to_string() };
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(bad_thread)?;
        let ours = shared.clone();
        let thread = std::thread::Builder::new()
            .name(NAME.to_owned())
            .spawn(move || {
                runtime.block_on(keep_connected(&ours, &config, stopped));
                runtime.shutdown_timeout(Duration::from_millis(100));
            })
            .map_err(bad_thread)?;
        Ok(Self { shared, stop, thread: Some(thread) })
    }

    /// Calls `f` with the core, then sends what it left to be sent.
    pub fn with<R>(&self, f: impl FnOnce(&mut Client) -> R) -> R {
        let answer = f(&mut lock(&self.shared.client));
        self.shared.wake.notify_one();
        answer
    }

    /// The next event, waiting for it up to `timeout`.
    #[must_use]
    pub fn next_event(&self, timeout: Duration) -> Option<Event> {
        let mut client = lock(&self.shared.client);
        if let Some(event) = client.poll_event() {
            return Some(event);
        }
        let waited = self.shared.events.wait_timeout_while(client, timeout, |client| !client.has_events());
        client = waited.unwrap_or_else(PoisonError::into_inner).0;
        client.poll_event()
    }

    /// Where it stands.
    #[must_use]
    pub fn state(&self) -> ConnectionState {
        lock(&self.shared.state).clone()
    }
}

impl Drop for NetClient {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // A panic there has already been printed; there is nobody to hand it to.
            drop(thread.join());
        }
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn keep_connected(shared: &Shared, config: &NetClientConfig, mut stop: watch::Receiver<bool>) {
    let mut wait = FIRST_WAIT;
    for server in config.servers.iter().cycle() {
        let began = Instant::now();
        let attempt = tokio::select! {
            attempt = tokio::time::timeout(CONNECT_TIMEOUT, connect(server, config)) => attempt,
            _ = stop.changed() => return,
        };
        let problem = match attempt {
            Ok(Ok((socket, version))) => {
                {
                    let mut state = lock(&shared.state);
                    state.connected = Some((server.clone(), version));
                    state.connections += 1;
                }
                lock(&shared.client).connected(version);
                shared.events.notify_all();
                let ended = run(socket, version, shared, &config.clock, &mut stop).await;
                {
                    let mut state = lock(&shared.state);
                    state.connected = None;
                    state.last_problem = Some(format!("{server}: {ended}"));
                }
                lock(&shared.client).disconnected();
                shared.events.notify_all();
                if began.elapsed() > STOOD {
                    wait = FIRST_WAIT;
                }
                ended
            }
            Ok(Err(problem)) => problem,
            Err(_) => "no answer in time".to_owned(),
        };
        lock(&shared.state).last_problem = Some(format!("{server}: {problem}"));
        if *stop.borrow() {
            return;
        }
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            _ = stop.changed() => return,
        }
        wait = (wait * 2).min(LAST_WAIT);
    }
}

async fn connect(server: &str, config: &NetClientConfig) -> Result<(Socket, Version), String> {
    let words = |e: &dyn fmt::Display| e.to_string();
    let stream = TcpStream::connect(server).await.map_err(|e| words(&e))?;
    stream.set_nodelay(true).map_err(|e| words(&e))?;
    let url = format!("ws://{server}/nt/{}", encode_name(&config.name));
    let mut request = url.into_client_request().map_err(|e| words(&e))?;
    let (first, second) = (Protocol::Topics(Version::V41).name(), Protocol::Topics(Version::V40).name());
    let offered = if config.only_4_0 { second.to_owned() } else { format!("{first}, {second}") };
    let offered = HeaderValue::from_str(&offered).map_err(|e| words(&e))?;
    request.headers_mut().insert(header::SEC_WEBSOCKET_PROTOCOL, offered);
    let limit = config.client.limits.message_bytes;
    let limits = WebSocketConfig::default()
        .max_message_size(Some(limit))
        .max_frame_size(Some(limit))
        .read_buffer_size(32 << 10)
        .write_buffer_size(64 << 10);
    let (socket, response) =
        tokio_tungstenite::client_async_with_config(request, Watched::new(stream), Some(limits))
            .await
            .map_err(|e| words(&e))?;
    let chosen = response.headers().get(header::SEC_WEBSOCKET_PROTOCOL).and_then(|v| v.to_str().ok());
    match chosen.and_then(Protocol::from_name) {
        Some(Protocol::Topics(version)) => Ok((socket, version)),
        _ => Err("the server chose no protocol that was offered".to_owned()),
    }
}

/// Serves one connection; answers why it ended.
async fn run(
    mut socket: Socket,
    version: Version,
    shared: &Shared,
    clock: &Clock,
    stop: &mut watch::Receiver<bool>,
) -> String {
    let signs = socket.get_ref().signs();
    // To a server of 4.0 the answers to our time requests, one a second, are the sign of life.
    let alive = match version {
        Version::V41 => Alive::second(signs),
        Version::V40 => Alive::seconds(signs, 3),
    };
    let core = Connected { shared, clock };
    let ended = pump(&mut socket, &core, version, Some(alive), &shared.wake, stop).await;
    let words = match &ended {
        Ended::Tell(close) => close.reason.clone(),
        Ended::ByPeer(Some(frame)) => {
            let code = u16::from(frame.code);
            let mut words = format!("closed by the server: {code} {}", frame.reason);
            // Sent again on the next connection it would end that one too.
            let too_big = (code == 1009).then(|| lock(&shared.client).drop_largest_value());
            if let Some(topic) = too_big.flatten() {
                words.push_str(&format!("; the value of {topic} is not sent again"));
            }
            words
        }
        Ended::Broken(Some(error)) => error.to_string(),
        Ended::ByPeer(None) | Ended::Broken(None) => "connection ended".to_owned(),
        Ended::Mute => "could not send".to_owned(),
        Ended::Stopped => "stopped".to_owned(),
    };
    if let Some(why) = ended.farewell(&Close { code: 1000, reason: "bye".to_owned() }) {
        socket::close(socket, &why).await;
    }
    words
}

/// The client's end of a connection.
struct Connected<'a> {
    shared: &'a Shared,
    clock: &'a Clock,
}

impl Core for Connected<'_> {
    fn transmit(&self, sink: &mut dyn FnMut(Frame<'_>)) -> (Option<Micros>, Option<Close>) {
        let now = (self.clock)();
        let mut client = lock(&self.shared.client);
        client.transmit(now, sink);
        (client.next_due().map(|next| next.since(now)), None)
    }

    fn text(&self, text: &str) -> Result<(), Close> {
        lock(&self.shared.client).receive_text(text)
    }

    fn binary(&self, bytes: &[u8]) -> Result<(), Close> {
        let now = (self.clock)();
        lock(&self.shared.client).receive_binary(bytes, now)
    }

    fn took(&self) {
        self.shared.events.notify_all();
    }
}
