//! The robot loop's way in: it writes into its own buffers and hands them over without ever waiting.
//!
//! [`FramePublisher::put`] encodes into a pooled buffer, [`FramePublisher::send`] puts it into the queue. When no buffer
//! can be had at once, each topic has one slot on the robot's side: values wait there, the next tick's values replace
//! them, latest-only and counted, and a later `send` copies them into a buffer. Buffers and slots keep their capacity, so
//! a loop that sets the same topics to values of the same length allocates nothing.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fieldlab_base::Micros;
use fieldlab_nt4::server::{Encoded, LocalTopic, Server};
use fieldlab_values::ValueRef;

/// Frames that may wait.
const FRAMES: usize = 8;
/// A buffer that could not be handed over takes more ticks up to this length; then values go to their slots.
const LONG_FRAME: usize = 256 << 10;

/// Room made for each reserved topic in every pooled buffer; longer values find theirs within a few ticks.
const VALUE_BYTES: usize = 64;

#[derive(Debug, Clone, Copy)]
struct Entry {
    topic: LocalTopic,
    time: Micros,
    code: u8,
    end: usize,
}

#[derive(Debug, Default)]
struct FrameBuffer {
    entries: Vec<Entry>,
    bytes: Vec<u8>,
}

impl FrameBuffer {
    fn push(&mut self, topic: LocalTopic, time: Micros, value: &Encoded) {
        self.bytes.extend_from_slice(value.bytes());
        self.entries.push(Entry { topic, time, code: value.code(), end: self.bytes.len() });
    }
}

#[derive(Debug)]
struct Ring {
    filled: VecDeque<FrameBuffer>,
    free: Vec<FrameBuffer>,
}

/// Frames on their way from the robot's loop to the server.
#[derive(Debug)]
pub(crate) struct FrameQueue {
    ring: Mutex<Ring>,
    depth: AtomicUsize,
    sent: AtomicU64,
    replaced: AtomicU64,
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
}

impl FrameQueue {
    pub(crate) fn new() -> Self {
        let free = (0..FRAMES).map(|_| FrameBuffer::default()).collect();
        Self {
            ring: Mutex::new(Ring { filled: VecDeque::with_capacity(FRAMES), free }),
            depth: AtomicUsize::new(0),
            sent: AtomicU64::new(0),
            replaced: AtomicU64::new(0),
        }
    }

    /// Whether frames wait. The server looks every few milliseconds: waking it would cost the robot's loop a system call
    /// each tick.
    pub(crate) fn waits(&self) -> bool {
        self.depth.load(Ordering::Acquire) > 0
    }

    /// Sets what waits, oldest first.
    pub(crate) fn apply(&self, server: &mut Server) {
        while self.depth.load(Ordering::Acquire) > 0 {
            let next = self.ring.lock().unwrap_or_else(PoisonError::into_inner).filled.pop_front();
            let Some(mut frame) = next else { return };
            self.depth.fetch_sub(1, Ordering::AcqRel);
            let mut start = 0;
            for entry in &frame.entries {
                let value = frame.bytes.get(start..entry.end).unwrap_or_default();
                server.set_local_encoded(entry.topic, entry.time, entry.code, value);
                start = entry.end;
            }
            frame.entries.clear();
            frame.bytes.clear();
            self.ring.lock().unwrap_or_else(PoisonError::into_inner).free.push(frame);
        }
    }
}

#[derive(Debug, Default)]
struct Slot {
    value: Encoded,
    time: Micros,
    changed: bool,
}

/// Sets topics of the robot's from its loop.
#[derive(Debug)]
pub struct FramePublisher {
    queue: Arc<FrameQueue>,
    /// The buffer of this tick, when one could be had.
    open: Option<FrameBuffer>,
    one: Encoded,
    slots: Vec<Slot>,
    changed: Vec<LocalTopic>,
}

impl FramePublisher {
    pub(crate) fn new(queue: Arc<FrameQueue>) -> Self {
        Self { queue, open: None, one: Encoded::default(), slots: Vec::new(), changed: Vec::new() }
    }

    /// Makes room for a topic, so that no tick has to. Waits for the queue; call it when topics are declared.
    pub fn reserve(&mut self, topic: LocalTopic) {
        if self.slots.len() <= topic.index() {
            self.slots.resize_with(topic.index() + 1, Slot::default);
            self.changed.reserve(self.slots.len());
            let mut ring = self.queue.ring.lock().unwrap_or_else(PoisonError::into_inner);
            for frame in &mut ring.free {
                frame.entries.reserve(self.slots.len());
                frame.bytes.reserve(self.slots.len() * VALUE_BYTES);
            }
        }
    }

    /// Sets a topic's value for this tick. A value that could not be handed over yet is replaced and counted.
    pub fn put(&mut self, topic: LocalTopic, time: Micros, value: ValueRef<'_>) {
        // Values that wait in slots go first, or a topic's older value would overtake its newer one.
        if self.changed.is_empty() && self.open_frame() {
            self.one.set(value);
            if let Some(frame) = &mut self.open {
                frame.push(topic, time, &self.one);
                return;
            }
        }
        self.reserve(topic);
        let slot = &mut self.slots[topic.index()];
        slot.value.set(value);
        slot.time = time;
        if slot.changed {
            self.queue.replaced.fetch_add(1, Ordering::Relaxed);
        } else {
            slot.changed = true;
            self.changed.push(topic);
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
        if self.open.is_none() && self.changed.is_empty() {
            return true;
        }
        let mut sent = 0;
        {
            let Ok(mut ring) = self.queue.ring.try_lock() else { return false };
            if let Some(frame) = self.open.take() {
                ring.filled.push_back(frame);
                sent += 1;
            }
            if !self.changed.is_empty()
                && let Some(mut frame) = ring.free.pop()
            {
                for topic in self.changed.drain(..) {
                    let slot = &mut self.slots[topic.index()];
                    slot.changed = false;
                    frame.push(topic, slot.time, &slot.value);
                }
                ring.filled.push_back(frame);
                sent += 1;
            }
            self.queue.depth.fetch_add(sent, Ordering::AcqRel);
        }
        if sent > 0 {
            self.queue.sent.fetch_add(sent as u64, Ordering::Relaxed);
        }
        self.changed.is_empty()
    }

    /// The counts so far.
    #[must_use]
    pub fn stats(&self) -> FrameStats {
        FrameStats {
            depth: self.queue.depth.load(Ordering::Acquire),
            sent: self.queue.sent.load(Ordering::Relaxed),
            replaced: self.queue.replaced.load(Ordering::Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use fieldlab_nt4::Properties;
    use fieldlab_nt4::server::ServerConfig;
    use fieldlab_values::{DataType, Value};

    use super::*;
    use crate::Hub;

    #[test]
    fn a_full_queue_keeps_the_latest_value_and_counts() {
        let hub = Hub::new(Server::new(ServerConfig::default()).unwrap());
        let topic = hub.with(|s| s.publish_local("/t", &DataType::Double, &Properties::new()).unwrap());
        let mut publisher = hub.publisher();
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
}
