//! One viewer's WebSocket: what it sends goes through the gate, what the server has for it goes out as it can take it.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use fieldlab_base::{ClientId, Micros};
use fieldlab_nt4::Close;
use fieldlab_nt4::server::{ConnectInfo, Frame, answer_time};
use futures_util::{Sink, Stream};
use hyper::body::Bytes;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, MissedTickBehavior};

use crate::gate::{Gate, Passed};
use crate::relay::Relay;

/// Bytes asked of the server at a time: what waits there is replaced by later values, what waits in a socket is not.
const BUDGET: usize = 32 << 10;
/// How often a viewer is pinged. A browser answers without its page.
const PING_PERIOD: Duration = Duration::from_secs(1);
/// Pings without any message from the viewer after which it is gone.
const SILENT_PINGS: u32 = 10;
/// How long a goodbye may take.
const CLOSING: Duration = Duration::from_secs(1);

enum Did {
    Flushed,
    Got(Message),
    Ended,
}

/// Reads, and meanwhile flushes when there is something to flush.
async fn either(socket: &mut WebSocket, flushing: bool) -> Did {
    poll_fn(|cx| {
        if flushing {
            match Pin::new(&mut *socket).poll_flush(cx) {
                Poll::Ready(Ok(())) => return Poll::Ready(Did::Flushed),
                Poll::Ready(Err(_)) => return Poll::Ready(Did::Ended),
                Poll::Pending => {}
            }
        }
        match Pin::new(&mut *socket).poll_next(cx) {
            Poll::Ready(Some(Ok(message))) => Poll::Ready(Did::Got(message)),
            Poll::Ready(Some(Err(_)) | None) => Poll::Ready(Did::Ended),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

/// Queues a message without waiting; call [`either`] with `flushing` afterwards. False when the socket is gone.
fn queue(socket: &mut WebSocket, message: Message) -> bool {
    Pin::new(socket).start_send(message).is_ok()
}

fn message(frame: Frame<'_>) -> Message {
    match frame {
        Frame::Text(text) => Message::Text(Utf8Bytes::from(text)),
        Frame::Binary(bytes) => Message::Binary(Bytes::copy_from_slice(bytes)),
    }
}

/// Serves a viewer until it or the console ends.
pub(crate) async fn serve(
    mut socket: WebSocket,
    relay: Arc<Relay>,
    info: ConnectInfo,
    mut stop: watch::Receiver<bool>,
) {
    let wake = Arc::new(Notify::new());
    let now = (relay.clock)();
    let id = match relay.hub.connect_socket(&info, now, wake.clone()) {
        Ok(id) => id,
        Err(refused) => return close(socket, 1013, &refused.to_string()).await,
    };
    relay.count_viewer(1);
    let viewer = Viewer { relay: relay.clone(), id, name: info.name };
    let ended = viewer.run(&mut socket, &wake, &mut stop).await;
    relay.hub.disconnect_socket(id, (relay.clock)());
    relay.count_viewer(-1);
    if let Some(why) = ended {
        close(socket, why.code, &why.reason).await;
    }
}

struct Viewer {
    relay: Arc<Relay>,
    id: ClientId,
    name: String,
}

impl Viewer {
    async fn run(
        &self,
        socket: &mut WebSocket,
        wake: &Notify,
        stop: &mut watch::Receiver<bool>,
    ) -> Option<Close> {
        let relay = &self.relay;
        let mut gate = Gate::new((relay.clock)());
        let mut answer = Vec::new();
        let mut silent = 0;
        let mut tick = tokio::time::interval(PING_PERIOD);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let due = tokio::time::sleep(Duration::ZERO);
        tokio::pin!(due);
        let mut flushing = false;
        loop {
            let mut waiting = false;
            if !flushing {
                let now = (relay.clock)();
                let mut gone = false;
                let told = relay.hub.with(|server| {
                    server.transmit(self.id, now, BUDGET, |frame| {
                        flushing = true;
                        gone |= !queue(socket, message(frame));
                    })
                });
                if gone || told.close.is_some() {
                    return told.close;
                }
                if let (false, Some(next)) = (flushing, told.next) {
                    waiting = true;
                    let wait = u64::try_from(next.since(now).0).unwrap_or(0);
                    due.as_mut().reset(Instant::now() + Duration::from_micros(wait));
                }
            }
            tokio::select! {
                did = either(socket, flushing) => match did {
                    Did::Flushed => flushing = false,
                    Did::Ended => return None,
                    Did::Got(got) => {
                        silent = 0;
                        match got {
                            Message::Text(text) => {
                                let passed = gate.text(&text, relay.as_ref());
                                if let Err(close) = self.pass(passed) {
                                    return Some(close);
                                }
                            }
                            Message::Binary(bytes) => {
                                // Time is answered ahead of everything, with the robot's clock, which values are stamped by.
                                answer.clear();
                                answer_time(&bytes, relay.robot_now(), &mut answer);
                                if !answer.is_empty() {
                                    if !queue(socket, Message::Binary(Bytes::copy_from_slice(&answer))) {
                                        return None;
                                    }
                                    flushing = true;
                                }
                                let mut passed = Passed::default();
                                let read = gate.binary(&bytes, (relay.clock)(), &mut passed);
                                if let Err(close) = self.pass(passed).and(read) {
                                    return Some(close);
                                }
                            }
                            _ => {}
                        }
                    }
                },
                () = wake.notified(), if !flushing => {}
                () = &mut due, if waiting => {}
                _ = tick.tick() => {
                    silent += 1;
                    if silent > SILENT_PINGS {
                        return Some(Close { code: 1001, reason: "connection timed out".to_owned() });
                    }
                    if !flushing {
                        if !queue(socket, Message::Ping(Bytes::new())) {
                            return None;
                        }
                        flushing = true;
                    }
                }
                _ = stop.changed() => return Some(Close { code: 1001, reason: "console stops".to_owned() }),
            }
        }
    }

    /// Does what the gate let pass, in order, and tells what it did not.
    fn pass(&self, passed: Passed) -> Result<(), Close> {
        let now: Micros = (self.relay.clock)();
        let (mut refused, mut last) = (passed.refused, passed.last_refused);
        for write in &passed.writes {
            if let Err(why) = self.relay.write(self.id, write) {
                refused += 1;
                last = Some(format!("a value for {}: {why}", write.name));
            }
        }
        if let (1.., Some(last)) = (refused, last) {
            self.relay.refuse(refused, &self.name, &last);
        }
        if passed.messages.is_empty() {
            return Ok(());
        }
        self.relay.hub.with(|server| server.receive_messages(self.id, passed.messages, now))
    }
}

/// Answers time requests and nothing else; a task of its own, so that no backlog delays it.
pub(crate) async fn serve_time(mut socket: WebSocket, relay: Arc<Relay>, mut stop: watch::Receiver<bool>) {
    const SILENCE: Duration = Duration::from_secs(30);
    let mut answer = Vec::new();
    let mut flushing = false;
    loop {
        tokio::select! {
            did = either(&mut socket, flushing) => match did {
                Did::Flushed => flushing = false,
                Did::Got(Message::Binary(bytes)) => {
                    answer.clear();
                    answer_time(&bytes, relay.robot_now(), &mut answer);
                    if !answer.is_empty() {
                        if !queue(&mut socket, Message::Binary(Bytes::copy_from_slice(&answer))) {
                            return;
                        }
                        flushing = true;
                    }
                }
                Did::Got(_) => {}
                Did::Ended => return,
            },
            () = tokio::time::sleep(SILENCE) => return close(socket, 1001, "connection timed out").await,
            _ = stop.changed() => return close(socket, 1001, "console stops").await,
        }
    }
}

/// Says goodbye and waits a moment for the answer, or the peer would see a reset and never the reason.
async fn close(mut socket: WebSocket, code: u16, reason: &str) {
    let frame = CloseFrame { code, reason: Utf8Bytes::from(reason) };
    let farewell = async {
        if queue(&mut socket, Message::Close(Some(frame))) {
            let mut flushing = true;
            loop {
                match either(&mut socket, flushing).await {
                    Did::Flushed => flushing = false,
                    Did::Got(_) => {}
                    Did::Ended => return,
                }
            }
        }
    };
    // Too slow to say goodbye is gone all the same.
    drop(tokio::time::timeout(CLOSING, farewell).await);
}
