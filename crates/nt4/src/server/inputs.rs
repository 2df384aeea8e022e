//! Declared inputs: the only topics whose clients' writes reach the robot, and only as data.

use std::collections::VecDeque;

use fieldlab_base::{InputId, Micros, OperatorSample, OperatorValue};
use fieldlab_values::{DataType, Family, Value, ValueRef};

use super::local::LocalTopic;
use super::topics::{Delivery, Owner};
use super::{Server, at};
use crate::control::Properties;
use crate::error::NtError;
use crate::msgpack::{Fault, Reader};
use crate::wire;

/// What an input takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputKind {
    /// Numbers of any scalar number type; the topic is a `double`.
    Number,
    /// Text; the topic is a `string`.
    Text,
}

/// A declared input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Input {
    /// Its number, in the order of declaration since the last [`Server::retract_inputs`].
    pub id: InputId,
    /// Its topic, for the robot's own writes.
    pub topic: LocalTopic,
}

#[derive(Debug)]
pub(super) struct Inputs {
    declared: Vec<(u32, InputKind, LocalTopic)>,
    queue: VecDeque<OperatorSample>,
    capacity: usize,
    arrivals: u64,
}

impl Inputs {
    pub(super) fn new(capacity: usize) -> Self {
        Self { declared: Vec::new(), queue: VecDeque::new(), capacity, arrivals: 0 }
    }

    /// Number and topic slot of each.
    pub(super) fn declared(&self) -> impl Iterator<Item = (u16, u32)> {
        self.declared.iter().enumerate().map(|(i, (slot, ..))| (i as u16, *slot))
    }

    /// Queues a sample; true when an older one of the same input, or the oldest of all, had to go.
    fn push(&mut self, sample: OperatorSample) -> bool {
        let full = self.queue.len() >= self.capacity;
        if full {
            let oldest = self.queue.iter().position(|s| s.input == sample.input).unwrap_or(0);
            self.queue.remove(oldest);
        }
        self.queue.push_back(sample);
        full
    }
}

impl Server {
    /// Declares an input with the value that it shows before anybody writes. It carries the time 0, which is how the
    /// protocol marks a default: readers can tell a number that nobody gave from one that was typed.
    ///
    /// A client that already published the name stays its publisher, but nothing that it wrote before counts.
    ///
    /// # Errors
    /// A bad name; a topic that the robot already owns; a seed that does not fit the kind; a full table.
    pub fn declare_input(&mut self, name: &str, kind: InputKind, seed: &Value) -> Result<Input, NtError> {
        let data_type = match kind {
            InputKind::Number => DataType::Double,
            InputKind::Text => DataType::String,
        };
        let seed_as_topic = match (kind, seed) {
            (InputKind::Number, value) => value.as_number().map(Value::Double),
            (InputKind::Text, Value::String(text)) => Some(Value::String(text.clone())),
            (InputKind::Text, _) => None,
        };
        let Some(seed) = seed_as_topic else {
            let expected = format!("a seed of type {data_type}");
            let found = seed.data_type().to_string();
            return Err(NtError::Taken { name: name.to_owned(), expected, found });
        };
        if self.inputs.declared.len() >= usize::from(u16::MAX) {
            return Err(NtError::Limit { what: "inputs", limit: usize::from(u16::MAX) });
        }
        if let Some(slot) = self.by_name.get(name)
            && !self.open_to_clients(*slot)
        {
            let found = "a topic of the robot's".to_owned();
            return Err(NtError::Taken { name: name.to_owned(), expected: "a new input".to_owned(), found });
        }
        let topic = self.publish_local(name, &data_type, &Properties::new())?;
        let id = InputId(self.inputs.declared.len() as u16);
        let slot = self.local[topic.index()].slot;
        self.topics[slot as usize].owner = Owner::Input(id);
        self.inputs.declared.push((slot, kind, topic));
        self.set_local(topic, Micros::ZERO, seed.as_ref());
        self.touch_meta(self.server_sub_meta);
        self.touch_meta(self.topics[slot as usize].sub_meta);
        self.settle_metas();
        Ok(Input { id, topic })
    }

    /// Takes all inputs back with their topics, and forgets the samples that wait: nobody is asked any more.
    pub fn retract_inputs(&mut self) {
        self.inputs.queue.clear();
        for (_, _, topic) in std::mem::take(&mut self.inputs.declared) {
            self.unpublish_local(topic);
        }
        self.touch_meta(self.server_sub_meta);
        self.settle_metas();
    }

    /// Whether samples have arrived that were not drained yet.
    #[must_use]
    pub fn has_inputs(&self) -> bool {
        !self.inputs.queue.is_empty()
    }

    /// Moves the samples that have arrived, oldest first, to the end of `into`.
    pub fn drain_inputs(&mut self, into: &mut Vec<OperatorSample>) {
        into.extend(self.inputs.queue.drain(..));
    }

    /// A client wrote to an input: a sample for the robot, and an echo for everybody else who watches.
    #[expect(clippy::too_many_arguments, reason = "the parts of one message, taken apart by the only caller")]
    pub(super) fn operator_write(
        &mut self,
        me: u32,
        slot: u32,
        input: InputId,
        family: Family,
        reader: &mut Reader<'_>,
        time: Micros,
        now: Micros,
    ) -> Result<(), Fault> {
        let kind = self.inputs.declared.get(usize::from(input.0)).map(|(_, kind, _)| *kind);
        let fits = match kind {
            Some(InputKind::Number) => matches!(family, Family::Double | Family::Int | Family::Float),
            Some(InputKind::Text) => family == Family::String,
            None => false,
        };
        if !fits {
            self.stats.type_ignored += 1;
            return reader.skip();
        }
        let value = match family {
            Family::String => {
                let Value::String(text) = wire::read_value(reader, family)? else { return Err(Fault::Kind) };
                OperatorValue::Text(text.as_ref().into())
            }
            _ => OperatorValue::Number(reader.number()?),
        };
        let topic = &self.topics[slot as usize];
        let mut bytes = Vec::new();
        wire::write_front(&mut bytes, i64::from(topic.id), time, topic.code);
        wire::write_value(
            &mut bytes,
            match &value {
                OperatorValue::Number(n) => ValueRef::Double(*n),
                OperatorValue::Text(t) => ValueRef::String(t),
            },
        );
        let Some(client) = at(&mut self.clients, me) else { return Ok(()) };
        self.inputs.arrivals += 1;
        let sample = OperatorSample {
            input,
            value,
            arrival: self.inputs.arrivals,
            received: now,
            client: client.id,
            connected_at: client.connected_at,
        };
        self.stats.values_in += 1;
        self.stats.samples_dropped += u64::from(self.inputs.push(sample));
        self.deliver(&Delivery { slot, time, bytes: &bytes, except: Some(me), force: true });
        Ok(())
    }
}
