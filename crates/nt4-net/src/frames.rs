//! The robot loop's way in: it writes into its own buffers and hands them over without ever waiting.
//!
//! [`FramePublisher::put`] encodes into a pooled buffer, [`FramePublisher::send`] puts it into the queue. When no buffer
//! can be had at once, each topic has one slot on the robot's side: values wait there, the next tick's values replace
//! them, latest-only and counted, and a later `send` copies them into a buffer. Topics are declared and retracted the same
//! way, as orders among the values, and are never lost: the server makes them when it takes the buffer. Buffers and slots
//! keep their capacity, so a loop that sets the same topics to values of the same length allocates nothing.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fieldlab_base::Micros;
use fieldlab_nt4::Properties;
use fieldlab_nt4::server::{Encoded, LocalTopic, Server};
use fieldlab_values::{DataType, ValueRef};

/// Frames that may wait.
const FRAMES: usize = 8;
/// A buffer that could not be handed over takes more ticks up to this length; then values go to their slots.
const LONG_FRAME: usize = 256 << 10;

/// Room made for each topic in every pooled buffer; longer values find theirs within a few ticks.
const VALUE_BYTES: usize = 64;

/// A topic of the robot's, as its loop names it before the server knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameTopic {
    /// Its place in the table of the publisher that declared it.
    own: u32,
    /// Its place in the queue's table.
    shared: u32,
}

/// What the server needs to make a topic.
#[derive(Debug)]
struct Declared {
    name: String,
    data_type: DataType,
    properties: Properties,
}

#[derive(Debug)]
enum Entry {
    Value { topic: u32, time: Micros, code: u8, end: usize },
    Declare { topic: u32, what: Arc<Declared> },
    Retract { topic: u32 },
}

#[derive(Debug, Default)]
struct FrameBuffer {
    entries: Vec<Entry>,
    bytes: Vec<u8>,
}

impl FrameBuffer {
    fn push(&mut self, topic: u32, time: Micros, value: ValueRef<'_>) {
        let code = Encoded::append(&mut self.bytes, value);
        self.entries.push(Entry::Value { topic, time, code, end: self.bytes.len() });
    }

    fn push_encoded(&mut self, topic: u32, time: Micros, value: &Encoded) {
        self.bytes.extend_from_slice(value.bytes());
        self.entries.push(Entry::Value { topic, time, code: value.code(), end: self.bytes.len() });
    }

    fn reserve(&mut self, topics: usize) {
        self.entries.reserve(topics);
        self.bytes.reserve(topics * VALUE_BYTES);
    }
}

#[derive(Debug)]
struct Ring {
    filled: VecDeque<FrameBuffer>,
    free: Vec<FrameBuffer>,
    /// Topics that every free buffer has room for.
    room: usize,
}

/// Frames on their way from the robot's loop to the server.
#[derive(Debug)]
pub(crate) struct FrameQueue {
    ring: Mutex<Ring>,
    /// By [`FrameTopic`], what the server made of it. Taken only by who has the server.
    made: Mutex<Vec<Option<LocalTopic>>>,
    declared: AtomicU32,
    depth: AtomicUsize,
    sent: AtomicU64,
    replaced: AtomicU64,
    refused: AtomicU64,
}

/// Counts of a [`FramePublisher`]; they belong into the telemetry itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FrameStats {
    /// Frames waiting now.
    pub depth: usize,
    /// Frames handed over.
    pub sent: u64,
    /// Values that the network did not get because a later one replaced them before they could be handed over.
    pub replaced: u64,
    /// Topics that the server refused to make: their names are somebody else's.
    pub refused: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Tables and buffers are whole between any two statements; going blind over a panic elsewhere would be worse.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FrameQueue {
    pub(crate) fn new() -> Self {
        let free = (0..FRAMES).map(|_| FrameBuffer::default()).collect();
        Self {
            ring: Mutex::new(Ring { filled: VecDeque::with_capacity(FRAMES), free, room: 0 }),
            made: Mutex::default(),
            declared: AtomicU32::new(0),
            depth: AtomicUsize::new(0),
            sent: AtomicU64::new(0),
            replaced: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        }
    }

    /// Whether frames wait. The server looks every few milliseconds: waking it would cost the robot's loop a system call
    /// each tick.
    pub(crate) fn waits(&self) -> bool {
        self.depth.load(Ordering::Acquire) > 0
    }

    /// Does what waits, oldest first.
    pub(crate) fn apply(&self, server: &mut Server) {
        while self.depth.load(Ordering::Acquire) > 0 {
            let next = lock(&self.ring).filled.pop_front();
            let Some(mut frame) = next else { return };
            self.depth.fetch_sub(1, Ordering::AcqRel);
            self.apply_frame(&frame, server);
            frame.entries.clear();
            frame.bytes.clear();
            // Room is made here, so that the loop does not have to.
            let topics = self.declared.load(Ordering::Relaxed) as usize;
            frame.reserve(topics);
            let mut ring = lock(&self.ring);
            if ring.room < topics {
                ring.room = topics;
                ring.free.iter_mut().for_each(|free| free.reserve(topics));
            }
            ring.free.push(frame);
        }
    }

    fn apply_frame(&self, frame: &FrameBuffer, server: &mut Server) {
        let mut made = lock(&self.made);
        let mut start = 0;
        for entry in &frame.entries {
            match entry {
                Entry::Value { topic, time, code, end } => {
                    let value = frame.bytes.get(start..*end).unwrap_or_default();
                    start = *end;
                    // One that the server refused was counted then.
                    if let Some(local) = made.get(*topic as usize).copied().flatten() {
                        server.set_local_encoded(local, *time, *code, value);
                    }
                }
                Entry::Declare { topic, what } => {
                    let local = server.publish_local(&what.name, &what.data_type, &what.properties).ok();
                    self.refused.fetch_add(u64::from(local.is_none()), Ordering::Relaxed);
                    let at = *topic as usize;
                    if made.len() <= at {
                        made.resize(at + 1, None);
                    }
                    made[at] = local;
                }
                Entry::Retract { topic } => {
                    if let Some(local) = made.get_mut(*topic as usize).and_then(Option::take) {
                        server.unpublish_local(local);
                    }
                }
            }
        }
    }
}

#[derive(Debug)]
struct Slot {
    what: Arc<Declared>,
    /// A value that could not be handed over yet.
    value: Encoded,
    time: Micros,
    changed: bool,
}

/// Declares topics of the robot's and sets them, from its loop.
#[derive(Debug)]
pub struct FramePublisher {
    queue: Arc<FrameQueue>,
    /// The buffer of this tick, when one could be had.
    open: Option<FrameBuffer>,
    slots: Vec<Slot>,
    /// By slot: the server has the topic, or will have it by the orders that were given. Apart from the rest, so that a
    /// put touches little.
    there: Vec<bool>,
    /// Topics whose slots hold a value.
    changed: Vec<FrameTopic>,
    /// Orders that could not be handed over yet; none of them is ever left out.
    orders: Vec<Entry>,
}

impl FramePublisher {
    pub(crate) fn new(queue: Arc<FrameQueue>) -> Self {
        Self {
            queue,
            open: None,
            slots: Vec::new(),
            there: Vec::new(),
            changed: Vec::new(),
            orders: Vec::new(),
        }
    }

    /// Declares a topic; the server makes it when it takes the tick. A name that the server refuses is counted then, and
    /// its values go nowhere. Names are declared once: a topic that was [retracted](FramePublisher::retract) comes back by
    /// being set.
    pub fn declare(&mut self, name: String, data_type: DataType, properties: Properties) -> FrameTopic {
        let shared = self.queue.declared.fetch_add(1, Ordering::Relaxed);
        let topic = FrameTopic { own: self.slots.len() as u32, shared };
        let what = Arc::new(Declared { name, data_type, properties });
        self.order(Entry::Declare { topic: shared, what: Arc::clone(&what) });
        let value = Encoded::default();
        self.slots.push(Slot { what, value, time: Micros::MIN, changed: false });
        self.there.push(true);
        self.changed.reserve(self.slots.len().saturating_sub(self.changed.len()));
        topic
    }

    /// Takes a topic away until it is set again.
    pub fn retract(&mut self, topic: FrameTopic) {
        let at = topic.own as usize;
        let (Some(slot), Some(there)) = (self.slots.get_mut(at), self.there.get_mut(at)) else { return };
        if std::mem::replace(there, false) {
            if std::mem::replace(&mut slot.changed, false) {
                self.changed.retain(|waiting| *waiting != topic);
            }
            self.order(Entry::Retract { topic: topic.shared });
        }
    }

    /// Sets a topic's value for this tick. A value that could not be handed over yet is replaced and counted.
    pub fn put(&mut self, topic: FrameTopic, time: Micros, value: ValueRef<'_>) {
        let at = topic.own as usize;
        let Some(there) = self.there.get_mut(at) else { return };
        if !std::mem::replace(there, true)
            && let Some(slot) = self.slots.get(at)
        {
            let what = Arc::clone(&slot.what);
            self.order(Entry::Declare { topic: topic.shared, what });
        }
        // Values that wait in slots go first, or a topic's older value would overtake its newer one.
        if self.is_even()
            && self.open_frame()
            && let Some(frame) = &mut self.open
        {
            return frame.push(topic.shared, time, value);
        }
        let Some(slot) = self.slots.get_mut(topic.own as usize) else { return };
        slot.value.set(value);
        slot.time = time;
        if slot.changed {
            self.queue.replaced.fetch_add(1, Ordering::Relaxed);
        } else {
            slot.changed = true;
            self.changed.push(topic);
        }
    }

    /// Whether nothing waits on this side, so that what comes now may go straight into the tick's buffer.
    fn is_even(&self) -> bool {
        self.changed.is_empty() && self.orders.is_empty()
    }

    fn order(&mut self, order: Entry) {
        if self.is_even()
            && self.open_frame()
            && let Some(frame) = &mut self.open
        {
            frame.entries.push(order);
        } else {
            self.orders.push(order);
        }
    }

    /// Takes a buffer for this tick; false when none can be had at once.
    fn open_frame(&mut self) -> bool {
        if let Some(frame) = &self.open {
            return frame.bytes.len() < LONG_FRAME;
        }
        if let Ok(mut ring) = self.queue.ring.try_lock() {
            self.open = ring.free.pop();
        }
        self.open.is_some()
    }

    /// Hands the tick over. Never waits; false when it could not be done and the values wait for the next tick.
    pub fn send(&mut self) -> bool {
        if self.open.is_none() && self.is_even() {
            return true;
        }
        let mut sent = 0;
        {
            let Ok(mut ring) = self.queue.ring.try_lock() else { return false };
            if let Some(frame) = self.open.take() {
                ring.filled.push_back(frame);
                sent += 1;
            }
            if !(self.changed.is_empty() && self.orders.is_empty())
                && let Some(mut frame) = ring.free.pop()
            {
                frame.entries.append(&mut self.orders);
                for topic in self.changed.drain(..) {
                    if let Some(slot) = self.slots.get_mut(topic.own as usize) {
                        slot.changed = false;
                        frame.push_encoded(topic.shared, slot.time, &slot.value);
                    }
                }
                ring.filled.push_back(frame);
                sent += 1;
            }
            self.queue.depth.fetch_add(sent, Ordering::AcqRel);
        }
        if sent > 0 {
            self.queue.sent.fetch_add(sent as u64, Ordering::Relaxed);
        }
        self.is_even()
    }

    /// The counts so far.
    #[must_use]
    pub fn stats(&self) -> FrameStats {
        FrameStats {
            depth: self.queue.depth.load(Ordering::Acquire),
            sent: self.queue.sent.load(Ordering::Relaxed),
            replaced: self.queue.replaced.load(Ordering::Relaxed),
            refused: self.queue.refused.load(Ordering::Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use fieldlab_nt4::server::ServerConfig;
    use fieldlab_values::Value;

    use super::*;
    use crate::Hub;

    fn hub() -> Hub {
        Hub::new(Server::new(ServerConfig::default()).unwrap())
    }

    fn double(publisher: &mut FramePublisher, name: &str) -> FrameTopic {
        publisher.declare(name.to_owned(), DataType::Double, Properties::new())
    }

    #[test]
    fn a_full_queue_keeps_the_latest_value_and_counts() {
        let hub = hub();
        let mut publisher = hub.publisher();
        let topic = double(&mut publisher, "/t");
        for tick in 0..20 {
            publisher.put(topic, Micros(tick), ValueRef::Double(tick as f64));
            assert_eq!(publisher.send(), tick < FRAMES as i64);
        }
        let stats = publisher.stats();
        assert_eq!((stats.depth, stats.sent, stats.replaced), (FRAMES, FRAMES as u64, 11));
        let seen = hub.with(|s| s.value("/t"));
        assert_eq!(seen, Some((Micros(7), Value::Double(7.0))));
        assert!(publisher.send());
        assert_eq!(hub.with(|s| s.value("/t")), Some((Micros(19), Value::Double(19.0))));
        assert_eq!(publisher.stats().depth, 0);
    }

    #[test]
    fn a_topic_that_is_retracted_is_gone_until_it_is_set_again() {
        let hub = hub();
        let mut publisher = hub.publisher();
        let topic = double(&mut publisher, "/t");
        publisher.send();
        assert!(hub.with(|s| s.value("/t")).is_none());
        // In one tick, over several ticks, and while the queue is full: what stands last is what is seen.
        for stuffed in [0, 0, FRAMES + 3] {
            publisher.put(topic, Micros(1), ValueRef::Double(1.0));
            for _ in 0..stuffed {
                publisher.put(topic, Micros(2), ValueRef::Double(2.0));
                publisher.send();
            }
            publisher.retract(topic);
            publisher.put(topic, Micros(3), ValueRef::Double(3.0));
            publisher.send();
            assert!(stuffed > 0 || hub.with(|s| s.value("/t")) == Some((Micros(3), Value::Double(3.0))));
            publisher.retract(topic);
            publisher.retract(topic);
            publisher.send();
            hub.with(|_| ());
            assert!(publisher.send(), "whatever waited has been handed over");
            assert!(hub.with(|s| s.value("/t")).is_none());
        }
        assert_eq!(publisher.stats().refused, 0);
    }

    #[test]
    fn orders_outlast_a_full_queue_and_a_name_that_is_taken_is_counted() {
        let hub = hub();
        hub.with(|s| s.publish_local("/taken", &DataType::Int, &Properties::new()).unwrap());
        let mut publisher = hub.publisher();
        let busy = double(&mut publisher, "/busy");
        for tick in 0..=FRAMES {
            publisher.put(busy, Micros(tick as i64), ValueRef::Double(0.0));
            publisher.send();
        }
        let late: Vec<_> = (0..50).map(|i| double(&mut publisher, &format!("/late/{i}"))).collect();
        let taken = double(&mut publisher, "/taken");
        for topic in late.iter().chain([&taken]) {
            publisher.put(*topic, Micros(100), ValueRef::Double(4.0));
        }
        assert!(!publisher.send());
        hub.with(|_| ());
        assert!(publisher.send());
        for i in 0..50 {
            let value = hub.with(|s| s.value(&format!("/late/{i}")));
            assert_eq!(value, Some((Micros(100), Value::Double(4.0))), "{i}");
        }
        assert_eq!(hub.with(|s| s.value("/taken")), None, "the other one's topic is as it was");
        assert_eq!(publisher.stats().refused, 1);
    }
}
