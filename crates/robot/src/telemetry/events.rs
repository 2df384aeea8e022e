//! Values of a turn that are all delivered: what happened, in order. The memory is used again in the next turn.

use fieldlab_values::{Value, ValueRef};

/// What was appended in a turn.
#[derive(Debug, Default)]
pub(super) struct Events {
    said: Vec<(u32, Said)>,
    /// Texts and bytes of this turn, one after another.
    bytes: Vec<u8>,
}

#[derive(Debug)]
enum Said {
    Boolean(bool),
    Int(i64),
    Float(f32),
    Double(f64),
    /// From here to there in the bytes.
    String(usize, usize),
    Raw(usize, usize),
    /// Arrays have no place in the bytes; nothing that happens often is one.
    Array(Value),
}

impl Events {
    pub(super) fn push(&mut self, topic: u32, value: ValueRef<'_>) {
        let said = match value {
            ValueRef::Boolean(value) => Said::Boolean(value),
            ValueRef::Int(value) => Said::Int(value),
            ValueRef::Float(value) => Said::Float(value),
            ValueRef::Double(value) => Said::Double(value),
            ValueRef::String(text) => {
                let (from, to) = self.keep(text.as_bytes());
                Said::String(from, to)
            }
            ValueRef::Raw(bytes) => {
                let (from, to) = self.keep(bytes);
                Said::Raw(from, to)
            }
            array => Said::Array(array.to_value()),
        };
        self.said.push((topic, said));
    }

    fn keep(&mut self, bytes: &[u8]) -> (usize, usize) {
        let from = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        (from, self.bytes.len())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, ValueRef<'_>)> {
        let bytes = |from: usize, to: usize| self.bytes.get(from..to).unwrap_or_default();
        self.said.iter().map(move |(topic, said)| {
            let value = match said {
                Said::Boolean(value) => ValueRef::Boolean(*value),
                Said::Int(value) => ValueRef::Int(*value),
                Said::Float(value) => ValueRef::Float(*value),
                Said::Double(value) => ValueRef::Double(*value),
                // The bytes of a `str`, whole.
                Said::String(from, to) => {
                    ValueRef::String(std::str::from_utf8(bytes(*from, *to)).unwrap_or_default())
                }
                Said::Raw(from, to) => ValueRef::Raw(bytes(*from, *to)),
                Said::Array(value) => value.as_ref(),
            };
            (*topic, value)
        })
    }

    pub(super) fn clear(&mut self) {
        self.said.clear();
        self.bytes.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_comes_back_in_order() {
        let rows: [std::sync::Arc<str>; 2] = ["a".into(), "b".into()];
        let values = [
            ValueRef::String("\u{e9}t\u{e9}"),
            ValueRef::Double(-0.5),
            ValueRef::Raw(&[0xff, 0]),
            ValueRef::String(""),
            ValueRef::StringArray(&rows),
            ValueRef::Boolean(true),
            ValueRef::Int(-7),
            ValueRef::Float(2.5),
        ];
        let mut events = Events::default();
        for _ in 0..2 {
            for (topic, value) in values.iter().enumerate() {
                events.push(topic as u32, *value);
            }
            let back: Vec<_> = events.iter().collect();
            assert_eq!(back, (0..).zip(values).collect::<Vec<_>>());
            events.clear();
            assert_eq!(events.iter().count(), 0);
        }
    }
}
