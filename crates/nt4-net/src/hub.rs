//! One server core, shared by whoever feeds it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use fieldlab_base::{ClientId, Micros, OperatorSample};
use fieldlab_nt4::client::Client;
use fieldlab_nt4::server::{ConnectInfo, Frame, Refused, Server, Version};
use tokio::sync::Notify;

use crate::frames::{FramePublisher, FrameQueue};

/// A server core behind a lock that is held for one call at a time, never across a wait. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Hub {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    inner: Mutex<Inner>,
    frames: Arc<FrameQueue>,
    /// Operator samples wait. Changed under the lock only; read without it, since in most turns there are none.
    inputs: AtomicBool,
}

#[derive(Debug)]
struct Inner {
    server: Server,
    sockets: BTreeMap<ClientId, Arc<Notify>>,
}

impl Hub {
    /// Shares a server core.
    #[must_use]
    pub fn new(server: Server) -> Self {
        let inner = Mutex::new(Inner { server, sockets: BTreeMap::new() });
        let (frames, inputs) = (Arc::new(FrameQueue::new()), AtomicBool::new(false));
        Self { shared: Arc::new(Shared { inner, frames, inputs }) }
    }

    /// Calls `f` with the server and wakes the sockets that have something to send afterwards. Frames that wait from a
    /// [`FramePublisher`] are applied first, so that `f` sees the robot's latest values.
    pub fn with<R>(&self, f: impl FnOnce(&mut Server) -> R) -> R {
        let mut inner = self.lock();
        let Inner { server, sockets } = &mut *inner;
        self.shared.frames.apply(server);
        let answer = f(server);
        self.note_inputs(server);
        wake(server, sockets);
        answer
    }

    /// Calls `f` with the server unless somebody else has it at this instant; then `None`. For the robot's loop, which
    /// never waits. Frames that wait are left to the server's own thread.
    pub fn try_with<R>(&self, f: impl FnOnce(&mut Server) -> R) -> Option<R> {
        let mut inner = self.try_lock()?;
        let Inner { server, sockets } = &mut *inner;
        let answer = f(server);
        self.note_inputs(server);
        wake(server, sockets);
        Some(answer)
    }

    /// Moves the operator samples that have arrived to the end of `into`, unless the server is busy at this instant; then
    /// they wait for the next call. For the robot's loop, which never waits. Answers whether it could.
    pub fn try_drain_inputs(&self, into: &mut Vec<OperatorSample>) -> bool {
        if !self.shared.inputs.load(Ordering::Acquire) {
            return true;
        }
        let Some(mut inner) = self.try_lock() else { return false };
        inner.server.drain_inputs(into);
        self.note_inputs(&inner.server);
        true
    }

    /// A handle for the robot's loop, which sets many values a tick and may never wait.
    #[must_use]
    pub fn publisher(&self) -> FramePublisher {
        FramePublisher::new(self.shared.frames.clone())
    }

    /// Attaches a client in the same process.
    ///
    /// # Errors
    /// As [`Server::connect`].
    pub fn connect_local(&self, name: &str, now: Micros) -> Result<LocalPipe, Refused> {
        self.connect_local_as(name, Version::V41, now)
    }

    /// As [`Hub::connect_local`], speaking another version of the protocol.
    ///
    /// # Errors
    /// As [`Server::connect`].
    pub fn connect_local_as(&self, name: &str, version: Version, now: Micros) -> Result<LocalPipe, Refused> {
        let info =
            ConnectInfo { name: name.to_owned(), address: "in process".to_owned(), version, immediate: true };
        let client = self.with(|server| server.connect(&info, now))?;
        Ok(LocalPipe { hub: self.clone(), client, version, greeted: false, open: true })
    }

    /// Attaches a client whose socket somebody else owns; `wake` is told when [`Server::transmit`] has become due for it
    /// earlier than it last said. To be ended with [`Hub::disconnect_socket`].
    ///
    /// # Errors
    /// As [`Server::connect`].
    pub fn connect_socket(
        &self,
        info: &ConnectInfo,
        now: Micros,
        wake: Arc<Notify>,
    ) -> Result<ClientId, Refused> {
        let mut inner = self.lock();
        let client = inner.server.connect(info, now)?;
        inner.sockets.insert(client, wake);
        Ok(client)
    }

    /// The socket of such a client is gone.
    pub fn disconnect_socket(&self, client: ClientId, now: Micros) {
        self.lock().sockets.remove(&client);
        self.with(|server| server.disconnect(client, now));
    }

    pub(crate) fn frames(&self) -> &Arc<FrameQueue> {
        &self.shared.frames
    }

    fn note_inputs(&self, server: &Server) {
        self.shared.inputs.store(server.has_inputs(), Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic in another thread leaves the core in a state that its own checks accept; going blind would be worse.
        self.shared.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_lock(&self) -> Option<MutexGuard<'_, Inner>> {
        match self.shared.inner.try_lock() {
            Ok(inner) => Some(inner),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// Tells the sockets of the clients that have something to hear.
fn wake(server: &mut Server, sockets: &BTreeMap<ClientId, Arc<Notify>>) {
    server.take_wakes(|client| {
        if let Some(socket) = sockets.get(&client) {
            socket.notify_one();
        }
    });
}

/// The wire between a client core and the hub in the same process: no socket, no thread, no clock.
#[derive(Debug)]
pub struct LocalPipe {
    hub: Hub,
    client: ClientId,
    version: Version,
    greeted: bool,
    open: bool,
}

enum Owned {
    Text(String),
    Binary(Vec<u8>),
}

fn own(frame: Frame<'_>) -> Owned {
    match frame {
        Frame::Text(text) => Owned::Text(text.to_owned()),
        Frame::Binary(bytes) => Owned::Binary(bytes.to_vec()),
    }
}

impl LocalPipe {
    /// Carries messages both ways at the instant `now` until neither side has more to say.
    ///
    /// Answers how many messages were carried. The first call tells the client that it is connected; when either side
    /// asks for an end the pipe closes and tells both.
    pub fn pump(&mut self, client: &mut Client, now: Micros) -> usize {
        if !self.open {
            return 0;
        }
        if !self.greeted {
            self.greeted = true;
            client.connected(self.version);
        }
        let mut carried = 0;
        loop {
            let mut up = Vec::new();
            client.transmit(now, |frame| up.push(own(frame)));
            let mut down = Vec::new();
            let id = self.client;
            let ended = self.hub.with(|server| {
                let mut ended = false;
                for frame in &up {
                    let taken = match frame {
                        Owned::Text(text) => server.receive_text(id, text, now),
                        Owned::Binary(bytes) => server.receive_binary(id, bytes, now),
                    };
                    ended |= taken.is_err();
                }
                let told = server.transmit(id, now, usize::MAX, |frame| down.push(own(frame)));
                ended || told.close.is_some()
            });
            let refused = down.iter().any(|frame| {
                match frame {
                    Owned::Text(text) => client.receive_text(text),
                    Owned::Binary(bytes) => client.receive_binary(bytes, now),
                }
                .is_err()
            });
            carried += up.len() + down.len();
            if ended || refused {
                self.close(client, now);
                return carried;
            }
            if up.is_empty() && down.is_empty() {
                return carried;
            }
        }
    }

    /// Ends the connection and tells both sides.
    pub fn close(&mut self, client: &mut Client, now: Micros) {
        if self.open {
            self.open = false;
            self.hub.with(|server| server.disconnect(self.client, now));
            client.disconnected();
        }
    }

    /// Whether it still carries anything.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.open
    }

    /// The connection's number, as operator samples name it.
    #[must_use]
    pub const fn client_id(&self) -> ClientId {
        self.client
    }
}

impl Drop for LocalPipe {
    fn drop(&mut self) {
        if self.open {
            // The server keeps the latest instant that it has seen.
            self.hub.with(|server| server.disconnect(self.client, Micros::MIN));
        }
    }
}
