//! So many connections at a time, whoever serves them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How long a listener that cannot accept waits before its next try.
const PAUSE: Duration = Duration::from_millis(50);
/// How long connections may take over their goodbyes when a server stops.
const FAREWELL: Duration = Duration::from_secs(1);

/// The room that a server has for connections.
#[derive(Debug)]
pub struct Room {
    places: Arc<Semaphore>,
    all: u32,
}

/// A connection's place in a [`Room`]; dropping the last clone gives it back.
#[derive(Debug, Clone)]
pub struct Place {
    _held: Arc<OwnedSemaphorePermit>,
}

impl Room {
    /// Room for so many connections.
    #[must_use]
    pub fn new(connections: usize) -> Self {
        let all = u32::try_from(connections).unwrap_or(u32::MAX);
        Self { places: Arc::new(Semaphore::new(connections)), all }
    }

    /// The next connection for which there is room; above the limit one is dropped at once. Nothing is lost when the wait
    /// is given up.
    pub async fn next(&self, listener: &TcpListener) -> (TcpStream, SocketAddr, Place) {
        loop {
            let Ok((stream, peer)) = listener.accept().await else {
                // Out of descriptors, most likely: let some close before the next try.
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            if let Ok(permit) = Arc::clone(&self.places).try_acquire_owned() {
                return (stream, peer, Place { _held: Arc::new(permit) });
            }
        }
    }

    /// Waits until every connection has said goodbye, a second at most.
    pub async fn emptied(&self) {
        // Every connection holds a place: all back means that all are gone.
        drop(tokio::time::timeout(FAREWELL, self.places.acquire_many(self.all)).await);
    }
}
