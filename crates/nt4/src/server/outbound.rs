//! What waits for one connection, and in which order it leaves.
//!
//! Answers to time synchronisation leave first. Then control messages, and the last values of topics that are gone, in
//! the order in which they came about. Then values, lane by lane: a lane is one period, and is due one period after it
//! last left. Values therefore never overtake the announcement that they need.

use std::collections::VecDeque;

use fieldlab_base::{ClientId, Micros};

use super::Server;
use super::connection::Connection;
use super::topics::Topic;
use crate::error::Close;
use crate::limits::Limits;
use crate::msgpack::Reader;

/// About one network packet: a frame is closed once it is past this, so that a ping never waits behind a long one.
const FRAME_BYTES: usize = 1380;
/// Answers to time synchronisation that may wait.
const URGENT_BYTES: usize = 64 << 10;
/// Distinct periods of one connection; further ones share the nearest shorter.
const LANES: usize = 32;

/// One WebSocket message to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame<'a> {
    /// A text message.
    Text(&'a str),
    /// A binary message.
    Binary(&'a [u8]),
}

/// What [`Server::transmit`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transmit {
    /// When to call again, unless woken before; [`Micros::MIN`] means at once, `None` that nothing waits.
    pub next: Option<Micros>,
    /// The connection must end: it is gone, or let too much wait.
    pub close: Option<Close>,
}

/// Which value of a topic waits for a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Pending {
    #[default]
    Nothing,
    /// The last one handed on, which is older than the stored one.
    Recent,
    /// The stored one.
    Stored,
}

#[derive(Debug)]
enum Segment {
    /// Items of an array that is still open.
    Text(String),
    Binary(Vec<u8>),
}

#[derive(Debug)]
struct Lane {
    period: Micros,
    last_sent: Micros,
    due: Micros,
    frames: VecDeque<Vec<u8>>,
    /// Topic slots whose newest value waits; a slot may stand here in vain.
    dirty: VecDeque<u32>,
}

impl Lane {
    fn is_empty(&self) -> bool {
        self.frames.is_empty() && self.dirty.is_empty()
    }
}

#[derive(Debug)]
pub(super) struct Outbound {
    urgent: Vec<u8>,
    ordered: VecDeque<Segment>,
    ordered_bytes: usize,
    lanes: Vec<Lane>,
    lane_bytes: usize,
    spare: Vec<Vec<u8>>,
    packing: Vec<u8>,
    /// The earliest time that the socket's owner was told.
    told: Micros,
    /// Values wait for no period: a client in the same process is pumped until quiet.
    immediate: bool,
}

impl Outbound {
    pub(super) fn new(immediate: bool) -> Self {
        Self {
            urgent: Vec::new(),
            ordered: VecDeque::new(),
            ordered_bytes: 0,
            lanes: Vec::new(),
            lane_bytes: 0,
            spare: Vec::new(),
            packing: Vec::new(),
            told: Micros::MAX,
            immediate,
        }
    }

    /// Whether there was room.
    pub(super) fn push_urgent(&mut self, bytes: &[u8]) -> bool {
        let room = self.urgent.len() + bytes.len() <= URGENT_BYTES;
        if room {
            self.urgent.extend_from_slice(bytes);
        }
        room
    }

    pub(super) fn push_text(&mut self, item: &str) {
        self.ordered_bytes += item.len() + 1;
        if let Some(Segment::Text(open)) = self.ordered.back_mut()
            && open.len() + item.len() < FRAME_BYTES
        {
            open.push(',');
            open.push_str(item);
            return;
        }
        let mut open = String::with_capacity(item.len() + 2);
        open.push('[');
        open.push_str(item);
        self.ordered.push_back(Segment::Text(open));
    }

    fn push_ordered_value(&mut self, bytes: &[u8]) {
        self.ordered_bytes += bytes.len();
        if let Some(Segment::Binary(open)) = self.ordered.back_mut()
            && open.len() + bytes.len() <= FRAME_BYTES
        {
            open.extend_from_slice(bytes);
            return;
        }
        self.ordered.push_back(Segment::Binary(bytes.to_vec()));
    }

    /// The lane for a period, rounded to 10 ms and at least 5 ms.
    pub(super) fn lane_for(&mut self, period: Micros) -> u16 {
        let period = Micros((period.0.clamp(0, i64::MAX - 5000) + 5000) / 10_000 * 10_000).max(Micros(5000));
        if let Some(found) = self.lanes.iter().position(|l| l.period == period) {
            return found as u16;
        }
        if self.lanes.len() >= LANES {
            let shorter = self
                .lanes
                .iter()
                .enumerate()
                .filter(|(_, l)| l.period <= period)
                .max_by_key(|(_, l)| l.period);
            let nearest = shorter.or_else(|| self.lanes.iter().enumerate().min_by_key(|(_, l)| l.period));
            return nearest.map_or(0, |(i, _)| i as u16);
        }
        self.lanes.push(Lane {
            period,
            last_sent: Micros::MIN,
            due: Micros::MAX,
            frames: VecDeque::new(),
            dirty: VecDeque::new(),
        });
        (self.lanes.len() - 1) as u16
    }

    fn arm(&mut self, lane: u16) {
        let immediate = self.immediate;
        if let Some(lane) = self.lanes.get_mut(usize::from(lane))
            && lane.due == Micros::MAX
        {
            lane.due = if immediate { Micros::MIN } else { lane.last_sent + lane.period };
        }
    }

    /// Marks a lane due at once: a snapshot does not wait for a period.
    pub(super) fn hurry(&mut self, lane: u16) {
        if let Some(lane) = self.lanes.get_mut(usize::from(lane)) {
            lane.due = Micros::MIN;
        }
    }

    pub(super) fn push_dirty(&mut self, lane: u16, slot: u32) {
        if let Some(lane) = self.lanes.get_mut(usize::from(lane)) {
            lane.dirty.push_back(slot);
        }
        self.arm(lane);
    }

    /// Appends to a lane when the limit allows.
    pub(super) fn push_lane(&mut self, lane: u16, bytes: &[u8], limit: usize) -> bool {
        if self.lane_bytes + bytes.len() > limit {
            return false;
        }
        let Some(found) = self.lanes.get_mut(usize::from(lane)) else { return false };
        self.lane_bytes += bytes.len();
        match found.frames.back_mut() {
            Some(open) if open.len() + bytes.len() <= FRAME_BYTES => open.extend_from_slice(bytes),
            _ => {
                let mut fresh = self.spare.pop().unwrap_or_else(|| Vec::with_capacity(FRAME_BYTES));
                fresh.extend_from_slice(bytes);
                found.frames.push_back(fresh);
            }
        }
        self.arm(lane);
        true
    }

    fn recycle(spare: &mut Vec<Vec<u8>>, mut frame: Vec<u8>) {
        if spare.len() < 64 && frame.capacity() <= 2 * FRAME_BYTES {
            frame.clear();
            spare.push(frame);
        }
    }

    /// When something is next due.
    fn next(&self) -> Option<Micros> {
        if !self.urgent.is_empty() || !self.ordered.is_empty() {
            return Some(Micros::MIN);
        }
        self.lanes.iter().filter(|l| !l.is_empty()).map(|l| l.due).min()
    }
}

/// Puts a connection on the list of wakes when it is due earlier than its owner was told.
pub(super) fn wake(client: &mut Connection, wakes: &mut Vec<ClientId>) {
    if let Some(due) = client.out.next()
        && due < client.out.told
    {
        client.out.told = due;
        wakes.push(client.id);
    }
}

impl Connection {
    /// Queues a value; true when it replaced one that a subscriber to all values should have got.
    pub(super) fn queue_value(&mut self, slot: u32, bytes: &[u8], pending: Pending, limit: usize) -> bool {
        let Some(state) = self.states.get_mut(slot as usize) else { return false };
        // While one value waits as "the newest", later ones join it: appended they would overtake it.
        if state.all && state.pending == Pending::Nothing && self.out.push_lane(state.lane, bytes, limit) {
            return false;
        }
        let shed = state.all;
        let fresh = state.pending == Pending::Nothing;
        state.pending = state.pending.max(pending);
        if fresh {
            self.out.push_dirty(state.lane, slot);
        }
        shed
    }

    /// Moves the values of a topic that is about to go in front of the message that says so. They may stand in any
    /// lane, and may be there although the client has unsubscribed since. A client that is already slow loses them.
    pub(super) fn flush_before_gone(&mut self, slot: u32, topic: &Topic, limits: &Limits) {
        let Some(state) = self.states.get_mut(slot as usize) else { return };
        let pending = std::mem::take(&mut state.pending);
        let out = &mut self.out;
        let roomy = out.ordered_bytes < limits.queue_bytes;
        for lane in &mut out.lanes {
            if roomy {
                while let Some(frame) = lane.frames.pop_front() {
                    out.lane_bytes -= frame.len();
                    out.ordered_bytes += frame.len();
                    out.ordered.push_back(Segment::Binary(frame));
                }
            } else {
                for frame in &mut lane.frames {
                    out.lane_bytes -= remove_id(frame, i64::from(topic.id));
                }
                lane.frames.retain(|frame| !frame.is_empty());
            }
            if lane.is_empty() {
                lane.due = Micros::MAX;
            }
        }
        if roomy && let Some(bytes) = waiting(topic, pending) {
            self.out.push_ordered_value(bytes);
        }
    }
}

/// Takes the messages of one topic out of a frame of our own making; answers how many bytes that were.
fn remove_id(frame: &mut Vec<u8>, id: i64) -> usize {
    let before = frame.len();
    let mut kept = 0;
    let mut at = 0;
    while at < frame.len() {
        let mut reader = Reader::new(&frame[at..]);
        let found = crate::wire::read_front(&mut reader).map(|front| front.id);
        reader.seek(0);
        // A frame that we made is well-formed; were it not, the rest would stay as it is.
        let len = if reader.skip().is_ok() { reader.position() } else { frame.len() - at };
        if found != Ok(id) {
            frame.copy_within(at..at + len, kept);
            kept += len;
        }
        at += len;
    }
    frame.truncate(kept);
    before - kept
}

/// The bytes that a mark means.
fn waiting(topic: &Topic, pending: Pending) -> Option<&[u8]> {
    let stored = topic.stored.as_ref().map(|s| s.bytes.as_slice());
    match pending {
        Pending::Nothing => None,
        Pending::Stored => stored,
        Pending::Recent => Some(topic.recent.as_slice()).filter(|b| !b.is_empty()).or(stored),
    }
}

impl Server {
    /// Hands `sink` what is due for a connection at `now`, until about `budget` bytes have been handed out.
    ///
    /// Call it only when the socket can take bytes: what is not asked for stays here, where later values replace it.
    pub fn transmit(
        &mut self,
        client: ClientId,
        now: Micros,
        budget: usize,
        mut sink: impl FnMut(Frame<'_>),
    ) -> Transmit {
        self.see(now);
        let Some(slot) = self.slot_of(client) else {
            return Transmit { next: None, close: Some(Close::new(1000, "gone")) };
        };
        let Some(connection) = super::at(&mut self.clients, slot) else {
            return Transmit { next: None, close: Some(Close::new(1000, "gone")) };
        };
        let over = connection.out.ordered_bytes > self.limits.control_bytes;
        let close = over.then(|| Close::policy("too many announcements left unread"));
        let mut sent = 0;
        if !connection.out.urgent.is_empty() {
            sent += connection.out.urgent.len();
            sink(Frame::Binary(&connection.out.urgent));
            connection.out.urgent.clear();
        }
        while sent < budget
            && let Some(segment) = connection.out.ordered.pop_front()
        {
            match segment {
                Segment::Text(mut open) => {
                    connection.out.ordered_bytes -= open.len();
                    sent += open.len();
                    open.push(']');
                    sink(Frame::Text(&open));
                }
                Segment::Binary(bytes) => {
                    connection.out.ordered_bytes -= bytes.len();
                    sent += bytes.len();
                    sink(Frame::Binary(&bytes));
                    Outbound::recycle(&mut connection.out.spare, bytes);
                }
            }
        }
        if connection.out.ordered.is_empty() {
            for lane in 0..connection.out.lanes.len() {
                if sent < budget && connection.out.lanes[lane].due <= now {
                    sent += connection.drain_lane(lane, now, budget - sent, &self.topics, &mut sink);
                }
            }
        }
        let next = connection.out.next();
        connection.out.told = next.unwrap_or(Micros::MAX);
        Transmit { next, close }
    }
}

impl Connection {
    fn drain_lane(
        &mut self,
        lane: usize,
        now: Micros,
        budget: usize,
        topics: &[Topic],
        sink: &mut impl FnMut(Frame<'_>),
    ) -> usize {
        let out = &mut self.out;
        let lane = &mut out.lanes[lane];
        let mut sent = 0;
        while sent < budget
            && let Some(frame) = lane.frames.pop_front()
        {
            sent += frame.len();
            out.lane_bytes -= frame.len();
            sink(Frame::Binary(&frame));
            Outbound::recycle(&mut out.spare, frame);
        }
        while sent < budget
            && let Some(slot) = lane.dirty.pop_front()
        {
            let Some(state) = self.states.get_mut(slot as usize) else { continue };
            let topic = &topics[slot as usize];
            let pending = std::mem::take(&mut state.pending);
            if state.announced != topic.id || topic.id == 0 || !state.wants {
                continue;
            }
            let Some(bytes) = waiting(topic, pending) else { continue };
            sent += bytes.len();
            if !out.packing.is_empty() && out.packing.len() + bytes.len() > FRAME_BYTES {
                sink(Frame::Binary(&out.packing));
                out.packing.clear();
            }
            out.packing.extend_from_slice(bytes);
        }
        if !out.packing.is_empty() {
            sink(Frame::Binary(&out.packing));
            out.packing.clear();
            out.packing.shrink_to(4 * FRAME_BYTES);
        }
        if lane.is_empty() {
            lane.last_sent = now;
            lane.due = Micros::MAX;
        } else {
            lane.due = Micros::MIN;
        }
        sent
    }
}
