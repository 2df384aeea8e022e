//! A TCP stream that knows whether its peer lives, and the polling of both directions at once.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use futures_util::{Sink, Stream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::{Error as WsError, Message};

pub(crate) type Socket = WebSocketStream<Watched>;

/// Counts signs of life: bytes received, and bytes accepted by a send buffer that was full, which only a peer that
/// still reads can cause.
#[derive(Debug)]
pub(crate) struct Watched {
    stream: TcpStream,
    signs: Arc<AtomicU64>,
    blocked: bool,
}

impl Watched {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self { stream, signs: Arc::new(AtomicU64::new(0)), blocked: false }
    }

    pub(crate) fn signs(&self) -> Arc<AtomicU64> {
        self.signs.clone()
    }

    fn note_write(&mut self, outcome: &Poll<io::Result<usize>>) {
        match outcome {
            Poll::Pending => self.blocked = true,
            Poll::Ready(Ok(_)) if self.blocked => {
                self.blocked = false;
                self.signs.fetch_add(1, Ordering::Relaxed);
            }
            Poll::Ready(_) => {}
        }
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let outcome = Pin::new(&mut self.stream).poll_read(cx, buf);
        if buf.filled().len() > before {
            self.signs.fetch_add(1, Ordering::Relaxed);
        }
        outcome
    }
}

impl AsyncWrite for Watched {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.note_write(&outcome);
        outcome
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// What a socket did.
#[derive(Debug)]
pub(crate) enum Did {
    /// Everything queued was given to the network.
    Flushed,
    /// A message came.
    Got(Message),
    /// It is over: closed, broken, or a message against the rules.
    Ended(Option<WsError>),
}

/// Waits for either direction: a long send must not keep pings and time requests from being read.
pub(crate) async fn either(socket: &mut Socket, flushing: bool) -> Did {
    std::future::poll_fn(|cx| {
        if flushing {
            match Pin::new(&mut *socket).poll_flush(cx) {
                Poll::Ready(Ok(())) => return Poll::Ready(Did::Flushed),
                Poll::Ready(Err(error)) => return Poll::Ready(Did::Ended(Some(error))),
                Poll::Pending => {}
            }
        }
        match Pin::new(&mut *socket).poll_next(cx) {
            Poll::Ready(Some(Ok(message))) => Poll::Ready(Did::Got(message)),
            Poll::Ready(Some(Err(error))) => Poll::Ready(Did::Ended(Some(error))),
            Poll::Ready(None) => Poll::Ready(Did::Ended(None)),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

/// Queues a message without waiting; call [`either`] with `flushing` afterwards.
pub(crate) fn queue(socket: &mut Socket, message: Message) -> Result<(), WsError> {
    Pin::new(socket).start_send(message)
}
