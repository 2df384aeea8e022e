//! Publishers and the values that wait to be sent.

use std::collections::VecDeque;

use fieldlab_base::Micros;
use fieldlab_values::{DataType, ValueRef};

use super::{Client, Out};
use crate::control::{ClientMessage, Properties};
use crate::error::NtError;
use crate::server::Frame;
use crate::wire;

/// About one network packet.
const FRAME_BYTES: usize = 1380;

/// A publisher of this client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublisherId(i32);

/// How a publisher behaves.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PublishOptions {
    /// Properties of the topic, should this publisher create it.
    pub properties: Properties,
    /// A value equal to the last one sent is not sent again.
    pub skip_duplicates: bool,
}

#[derive(Debug)]
struct Kept {
    /// By the local clock; absent for a default, which has time 0 everywhere.
    time: Option<Micros>,
    bytes: Vec<u8>,
}

#[derive(Debug)]
pub(super) struct Publisher {
    name: String,
    data_type: DataType,
    options: PublishOptions,
    last: Option<Kept>,
}

impl Publisher {
    pub(super) fn message(&self, pubuid: i32) -> ClientMessage {
        ClientMessage::Publish {
            name: self.name.clone(),
            type_name: self.data_type.nt_name().to_owned(),
            pubuid,
            properties: self.options.properties.clone(),
        }
    }
}

/// A value that waits; never of a publisher that is gone.
#[derive(Debug)]
pub(super) struct Waiting {
    pubuid: i32,
    time: Option<Micros>,
    code: u8,
    bytes: Vec<u8>,
}

impl Waiting {
    fn cost(&self) -> usize {
        self.bytes.len() + 24
    }
}

impl Client {
    /// Publishes a topic.
    ///
    /// # Errors
    /// A bad name or a full table.
    pub fn publish(
        &mut self,
        name: &str,
        data_type: &DataType,
        options: PublishOptions,
    ) -> Result<PublisherId, NtError> {
        if name.is_empty() || name.starts_with('$') || name.len() > self.limits.name_bytes {
            let expected = "one that is not empty, does not begin with $ and is within the length limit";
            return Err(NtError::BadName { name: name.chars().take(64).collect(), expected });
        }
        if self.publishers.len() >= self.limits.publishers {
            return Err(NtError::Limit { what: "publishers", limit: self.limits.publishers });
        }
        let uid = self.next_pub;
        self.next_pub = self.next_pub.wrapping_add(1).max(1);
        let publisher =
            Publisher { name: name.to_owned(), data_type: data_type.clone(), options, last: None };
        if self.is_connected() {
            self.say(&publisher.message(uid));
        }
        self.publishers.insert(uid, publisher);
        Ok(PublisherId(uid))
    }

    /// Ends a publisher. Values that it still had waiting are sent before.
    pub fn unpublish(&mut self, publisher: PublisherId) {
        if self.publishers.remove(&publisher.0).is_none() {
            return;
        }
        // Values that must still wait for the server's clock would arrive at a publisher that is gone.
        if self.sync.best().is_none() {
            let mut freed = 0;
            self.out.retain(|out| match out {
                Out::Value(v) if v.pubuid == publisher.0 && v.time.is_some() => {
                    freed += v.cost();
                    false
                }
                _ => true,
            });
            self.value_bytes -= freed;
        }
        if self.is_connected() {
            self.say(&ClientMessage::Unpublish { pubuid: publisher.0 });
        }
    }

    /// Sets a value at the local time `now`. Without a connection the last one set is kept for the next.
    ///
    /// A value of another family than the topic's, or above the message limit, is dropped and counted.
    pub fn set(&mut self, publisher: PublisherId, now: Micros, value: ValueRef<'_>) {
        self.set_at(publisher, Some(now), value);
    }

    /// Sets a value that gives way to any other: it has time 0, here and on every reconnection.
    pub fn set_default(&mut self, publisher: PublisherId, value: ValueRef<'_>) {
        self.set_at(publisher, None, value);
    }

    /// Forgets the largest value kept for the next connection, and answers its topic: for a server that closed with
    /// 1009, which would close again as soon as it got that value again. The publisher stays and may set another.
    pub fn drop_largest_value(&mut self) -> Option<String> {
        let kept = self.publishers.values_mut().filter(|p| p.last.is_some());
        let largest = kept.max_by_key(|p| p.last.as_ref().map_or(0, |l| l.bytes.len()))?;
        largest.last = None;
        self.stats.refused += 1;
        Some(largest.name.clone())
    }

    fn set_at(&mut self, id: PublisherId, time: Option<Micros>, value: ValueRef<'_>) {
        let room = self.limits.message_bytes.saturating_sub(32);
        let connected = self.is_connected();
        let Some(publisher) = self
            .publishers
            .get_mut(&id.0)
            .filter(|p| p.data_type.family() == value.family() && wire::size_bound(value) <= room)
        else {
            self.stats.refused += 1;
            return;
        };
        if time.is_none() && publisher.last.is_some() {
            return;
        }
        let mut bytes = Vec::new();
        wire::write_value(&mut bytes, value);
        let same = publisher.last.as_ref().is_some_and(|l| l.bytes == bytes);
        if same && publisher.options.skip_duplicates {
            return;
        }
        publisher.last = Some(Kept { time, bytes: bytes.clone() });
        if connected {
            self.queue(Waiting { pubuid: id.0, time, code: wire::code_of(value.family()), bytes });
        }
    }

    fn queue(&mut self, waiting: Waiting) {
        self.value_bytes += waiting.cost();
        self.out.push_back(Out::Value(waiting));
        // Over the limit the oldest value that a later one of its publisher replaces goes first.
        while self.value_bytes > self.limits.queue_bytes {
            let of = |out: &Out| if let Out::Value(v) = out { Some(v.pubuid) } else { None };
            let replaced = (0..self.out.len()).find(|i| {
                let uid = of(&self.out[*i]);
                uid.is_some() && self.out.iter().skip(i + 1).any(|later| of(later) == uid)
            });
            let Some(Out::Value(gone)) = replaced.and_then(|i| self.out.remove(i)) else { return };
            self.value_bytes -= gone.cost();
            self.stats.replaced += 1;
        }
    }

    pub(super) fn clear_out(&mut self) {
        self.out.clear();
        self.value_bytes = 0;
    }

    pub(super) fn queue_retained(&mut self) {
        let retained: Vec<Waiting> = self
            .publishers
            .iter()
            .filter_map(|(uid, p)| {
                let last = p.last.as_ref()?;
                let code = wire::code_of(p.data_type.family());
                Some(Waiting { pubuid: *uid, time: last.time, code, bytes: last.bytes.clone() })
            })
            .collect();
        for waiting in retained {
            self.queue(waiting);
        }
    }

    /// Before the server's clock is known only defaults may be sent.
    pub(super) fn sendable(&self, waiting: &Waiting) -> bool {
        waiting.time.is_none() || self.sync.best().is_some()
    }

    pub(super) fn transmit_queue(&mut self, sink: &mut impl FnMut(Frame<'_>)) {
        let offset = self.sync.best().map(|b| b.offset);
        let mut frame = Vec::new();
        let mut kept = VecDeque::new();
        while let Some(out) = self.out.pop_front() {
            let waiting = match out {
                Out::Value(waiting) => waiting,
                Out::Control(mut open) => {
                    flush(&mut frame, sink);
                    open.push(']');
                    sink(Frame::Text(&open));
                    continue;
                }
            };
            let time = match (waiting.time, offset) {
                (None, _) => Micros::ZERO,
                // 0 means "default" on the wire; a real value set at the server's very zero is one microsecond off.
                (Some(local), Some(offset)) => match local + offset {
                    Micros::ZERO => Micros(1),
                    time => time,
                },
                (Some(_), None) => {
                    kept.push_back(Out::Value(waiting));
                    continue;
                }
            };
            self.value_bytes -= waiting.cost();
            if frame.len() + waiting.bytes.len() > FRAME_BYTES {
                flush(&mut frame, sink);
            }
            wire::write_front(&mut frame, i64::from(waiting.pubuid), time, waiting.code);
            frame.extend_from_slice(&waiting.bytes);
        }
        self.out = kept;
        flush(&mut frame, sink);
    }
}

fn flush(frame: &mut Vec<u8>, sink: &mut impl FnMut(Frame<'_>)) {
    if !frame.is_empty() {
        sink(Frame::Binary(frame));
        frame.clear();
    }
}
