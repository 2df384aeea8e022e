//! One task per socket.

use std::sync::Arc;
use std::time::Duration;

use fieldlab_base::{ClientId, Micros};
use fieldlab_nt4::Close;
use fieldlab_nt4::server::{ConnectInfo, Frame, Version, answer_time};
use futures_util::{SinkExt, StreamExt};
use tokio::io::AsyncReadExt;
use tokio::sync::{Notify, watch};
use tokio::time::MissedTickBehavior;
use tokio_tungstenite::tungstenite::error::{CapacityError, ProtocolError};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Bytes, Error as WsError, Message, Utf8Bytes};

use crate::Hub;
use crate::alive::{Alive, PING_PERIOD};
use crate::io::{Did, Socket, either, queue};
use crate::pump::{Core, pump};
use crate::server::Clock;

/// Bytes taken from the core at a time: little enough that an answer to a time request never waits for more.
const BUDGET: usize = 64 << 10;
/// Seconds of silence after which a time socket is gone; tools ask several times a second.
const TIME_SILENCE_SECS: u32 = 30;
/// How long a closing handshake may take.
const CLOSING: Duration = Duration::from_secs(1);

pub(crate) fn message(frame: Frame<'_>) -> Message {
    match frame {
        Frame::Text(text) => Message::Text(Utf8Bytes::from(text)),
        Frame::Binary(bytes) => Message::Binary(Bytes::copy_from_slice(bytes)),
    }
}

/// Serves a client until it or the server ends.
pub(crate) async fn serve(
    mut socket: Socket,
    hub: Hub,
    clock: Clock,
    info: ConnectInfo,
    mut stop: watch::Receiver<bool>,
) {
    let wake = Arc::new(Notify::new());
    let client = match hub.connect_socket(&info, clock(), wake.clone()) {
        Ok(client) => client,
        Err(refused) => {
            let reason = refused.to_string();
            return close(socket, &Close { code: 1013, reason }).await;
        }
    };
    let alive = (info.version == Version::V41).then(|| Alive::second(socket.get_ref().signs()));
    let core = Served { hub: &hub, clock: &clock, client };
    let ended = pump(&mut socket, &core, info.version, alive, &wake, &mut stop).await;
    hub.disconnect_socket(client, clock());
    if let Some(why) = ended.farewell(&Close { code: 1001, reason: "server stops".to_owned() }) {
        close(socket, &why).await;
    }
}

/// The server's end of one connection.
struct Served<'a> {
    hub: &'a Hub,
    clock: &'a Clock,
    client: ClientId,
}

impl Core for Served<'_> {
    fn transmit(&self, sink: &mut dyn FnMut(Frame<'_>)) -> (Option<Micros>, Option<Close>) {
        let now = (self.clock)();
        let told = self.hub.with(|server| server.transmit(self.client, now, BUDGET, sink));
        (told.next.map(|next| next.since(now)), told.close)
    }

    fn text(&self, text: &str) -> Result<(), Close> {
        self.hub.with(|server| server.receive_text(self.client, text, (self.clock)()))
    }

    fn binary(&self, bytes: &[u8]) -> Result<(), Close> {
        self.hub.with(|server| server.receive_binary(self.client, bytes, (self.clock)()))
    }
}

/// Answers time requests and nothing else. A task of its own, so that no backlog of the main socket delays it.
pub(crate) async fn serve_time(mut socket: Socket, clock: Clock, mut stop: watch::Receiver<bool>) {
    let mut flushing = false;
    let mut answer = Vec::new();
    let mut alive = Alive::seconds(socket.get_ref().signs(), TIME_SILENCE_SECS);
    let mut tick = tokio::time::interval(PING_PERIOD);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            did = either(&mut socket, flushing) => match did {
                Did::Flushed => flushing = false,
                Did::Got(Message::Binary(bytes)) => {
                    answer.clear();
                    answer_time(&bytes, clock(), &mut answer);
                    if !answer.is_empty() {
                        if queue(&mut socket, Message::Binary(Bytes::copy_from_slice(&answer))).is_err() {
                            return;
                        }
                        flushing = true;
                    }
                }
                Did::Got(_) => {}
                Did::Ended(error) => {
                    if let Some(reason) = error.as_ref().and_then(reason) {
                        close(socket, &reason).await;
                    }
                    return;
                }
            },
            _ = tick.tick() => {
                if !alive.tick() {
                    return close(socket, &Close { code: 1001, reason: "connection timed out".to_owned() }).await;
                }
            }
            _ = stop.changed() => {
                return close(socket, &Close { code: 1001, reason: "server stops".to_owned() }).await;
            }
        }
    }
}

/// What to tell a peer that broke the rules; nothing when it is simply gone.
pub(crate) fn reason(error: &WsError) -> Option<Close> {
    match error {
        WsError::Capacity(CapacityError::MessageTooLong { .. }) => Some(Close::too_big()),
        WsError::Protocol(ProtocolError::ResetWithoutClosingHandshake) => None,
        WsError::Protocol(broken) => Some(Close { code: 1002, reason: broken.to_string() }),
        WsError::Utf8(_) => Some(Close { code: 1007, reason: "text is not UTF-8".to_owned() }),
        _ => None,
    }
}

/// Closes with code and reason, and reads on for a moment: bytes left unread would turn the close into a reset, and the
/// peer would never see why.
pub(crate) async fn close(mut socket: Socket, why: &Close) {
    let frame = CloseFrame { code: CloseCode::from(why.code), reason: why.reason.as_str().into() };
    let farewell = async {
        if socket.send(Message::Close(Some(frame))).await.is_err() {
            return;
        }
        while let Some(Ok(_)) = socket.next().await {}
        let mut stream = socket.into_inner();
        let mut rest = [0_u8; 4096];
        while matches!(stream.read(&mut rest).await, Ok(1..)) {}
    };
    // Too slow to say goodbye is gone all the same.
    drop(tokio::time::timeout(CLOSING, farewell).await);
}
