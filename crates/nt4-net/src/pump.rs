//! The loop that both ends of a connection run: out what the core has, in what the peer sends, and a look for life.

use std::time::Duration;

use fieldlab_base::Micros;
use fieldlab_nt4::Close;
use fieldlab_nt4::server::{Frame, Version};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{Bytes, Error as WsError, Message};

use crate::alive::{Alive, PING_PERIOD};
use crate::io::{Did, Socket, either, queue};
use crate::socket::{message, reason};

/// The core behind one end, locked for one call at a time.
pub(crate) trait Core {
    /// Hands out what is due; answers how long nothing more will be, and the end when the core wants one.
    fn transmit(&self, sink: &mut dyn FnMut(Frame<'_>)) -> (Option<Micros>, Option<Close>);
    fn text(&self, text: &str) -> Result<(), Close>;
    fn binary(&self, bytes: &[u8]) -> Result<(), Close>;
    /// Called once a message has been taken.
    fn took(&self) {}
}

/// Why the loop is over.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The peer is to be told why.
    Tell(Close),
    /// The peer closed.
    ByPeer(Option<CloseFrame>),
    /// The connection broke, or the peer broke the rules.
    Broken(Option<WsError>),
    /// Nothing can be sent any more.
    Mute,
    /// Our side stops.
    Stopped,
}

impl Ended {
    /// What the peer is still to be told.
    pub(crate) fn farewell(&self, stopping: &Close) -> Option<Close> {
        match self {
            Self::Tell(close) => Some(close.clone()),
            Self::Broken(error) => error.as_ref().and_then(reason),
            Self::Stopped => Some(stopping.clone()),
            Self::ByPeer(_) | Self::Mute => None,
        }
    }
}

/// Seconds of silence after which a 4.0 peer that has shown that it synchronises its time is gone.
const V40_SILENCE_SECS: u32 = 10;

/// Serves one connection until it ends.
///
/// A peer that speaks 4.1 is pinged; one of 4.0 never, since old ones break on pings. `alive` tells how long it may be
/// silent; without, that is looked at from its first binary message on, the sign that it synchronises its time. One that
/// never does is left to TCP's own probes.
pub(crate) async fn pump(
    socket: &mut Socket,
    core: &impl Core,
    version: Version,
    mut alive: Option<Alive>,
    wake: &Notify,
    stop: &mut watch::Receiver<bool>,
) -> Ended {
    let mut tick = tokio::time::interval(PING_PERIOD);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let due = tokio::time::sleep(Duration::ZERO);
    tokio::pin!(due);
    let mut flushing = false;
    // Once the peer has said that it closes, nothing more is sent but the answer, which the socket makes by itself.
    let mut closed = None;
    loop {
        let mut waiting = false;
        if !flushing && closed.is_none() {
            let mut failed = false;
            let (next, close) = core.transmit(&mut |frame| {
                flushing = true;
                failed |= queue(socket, message(frame)).is_err();
            });
            if let Some(close) = close {
                return Ended::Tell(close);
            }
            if failed {
                return Ended::Mute;
            }
            if let (false, Some(next)) = (flushing, next) {
                waiting = true;
                due.as_mut().reset(Instant::now() + span(next));
            }
        }
        tokio::select! {
            did = either(socket, flushing) => match did {
                Did::Flushed => match closed {
                    Some(why) => return Ended::ByPeer(why),
                    None => flushing = false,
                },
                Did::Got(got) => {
                    let took = match &got {
                        Message::Text(text) => core.text(text),
                        Message::Binary(bytes) => {
                            let signs = socket.get_ref().signs();
                            alive.get_or_insert_with(|| Alive::seconds(signs, V40_SILENCE_SECS));
                            core.binary(bytes)
                        }
                        Message::Close(why) => {
                            (closed, flushing) = (Some(why.clone()), true);
                            Ok(())
                        }
                        _ => Ok(()),
                    };
                    core.took();
                    if let Err(close) = took {
                        return Ended::Tell(close);
                    }
                }
                Did::Ended(error) => return closed.map_or(Ended::Broken(error), Ended::ByPeer),
            },
            () = wake.notified(), if !flushing => {}
            () = &mut due, if waiting => {}
            _ = tick.tick() => {
                if alive.as_mut().is_some_and(|a| !a.tick()) {
                    return Ended::Tell(Close { code: 1001, reason: "connection timed out".to_owned() });
                }
                if version == Version::V41 && !flushing && closed.is_none() {
                    if queue(socket, Message::Ping(Bytes::new())).is_err() {
                        return Ended::Mute;
                    }
                    flushing = true;
                }
            }
            _ = stop.changed() => return Ended::Stopped,
        }
    }
}

fn span(of: Micros) -> Duration {
    Duration::from_micros(u64::try_from(of.0).unwrap_or(0))
}
