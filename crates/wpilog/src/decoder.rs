//! Bytes in, events out: a log read as it arrives.

use fieldlab_base::Micros;

use crate::LogError;
use crate::control::{Control, Odd};
use crate::header::read_fixed;
use crate::index::ZERO_RUN_BYTES;
use crate::record::{FIXED_HEADER, head_of};
use crate::report::{Damage, Salvage};

/// What a log says next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event<'a> {
    /// The file's header.
    Header {
        /// Version, `0x0100` for 1.0. A minor version above 0 is read as 1.0.
        version: u16,
        /// The extra text's bytes.
        extra: &'a [u8],
    },
    /// An entry begins, ends, or is described anew.
    Control {
        /// The record's time.
        time: Micros,
        /// What it says.
        control: Control<'a>,
    },
    /// A control record that says nothing.
    Odd {
        /// The record's time.
        time: Micros,
        /// Why it says nothing.
        odd: Odd,
    },
    /// A value.
    Data {
        /// The entry's id. Its Start may come later.
        id: u32,
        /// When.
        time: Micros,
        /// The value's bytes; [`decode`](crate::decode) reads them.
        payload: &'a [u8],
    },
}

/// Where the decoder stands.
///
/// ```text
/// Fixed ──12 bytes──▶ Extra ──extra text──▶ Records ──16 empty control records at time 0──▶ Zeros
///   └───── bad magic or version ─────▶ Refused
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// Before the 12 fixed bytes. Ends when they are there; refused when they are wrong. Input that stops here is not a
    /// log: nothing is kept.
    Fixed,
    /// Inside the extra text. Ends when its stated length is there. Input that stops here is not a log.
    Extra { version: u16, len: u32 },
    /// Between records. Ends only at a run of zeros. Input that stops inside a record keeps every record before it.
    Records,
    /// In a hole that the file system left. Never ends: nothing says where a record begins after it. Everything before
    /// the first zero record is kept.
    Zeros { from: u64, data_follows: bool },
    /// Not a log. Never ends; the error is told again.
    Refused,
}

/// A streaming decoder: push bytes, take events until there is none, push more.
///
/// Any bytes are accepted in pieces of any size; the same bytes give the same events however they are cut. It holds no
/// more than the bytes of one record that is not complete, plus what was pushed and not yet taken; a size that a record
/// claims is never allocated before the bytes are there. No input makes it panic.
///
/// ```
/// use fieldlab_wpilog::{Decoder, Encoder, Event};
///
/// let bytes = Encoder::new("hello").into_bytes();
/// let mut decoder = Decoder::new("example");
/// decoder.push(&bytes[..9]);
/// assert_eq!(decoder.next()?, None);
/// decoder.push(&bytes[9..]);
/// assert_eq!(decoder.next()?, Some(Event::Header { version: 0x0100, extra: b"hello" }));
/// assert_eq!(decoder.finish()?, None);
/// # Ok::<(), fieldlab_wpilog::LogError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Decoder {
    place: String,
    at: At,
    buffer: Vec<u8>,
    /// Bytes of `buffer` that were turned into events.
    used: usize,
    /// Where `buffer` begins in the input.
    base: u64,
}

impl Decoder {
    /// A decoder at the start of a log; `place` is what errors call the input.
    #[must_use]
    pub fn new(place: impl Into<String>) -> Self {
        Self { place: place.into(), at: At::Fixed, buffer: Vec::new(), used: 0, base: 0 }
    }

    /// Adds input.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.used > 0 {
            self.buffer.drain(..self.used);
            self.base += self.used as u64;
            self.used = 0;
        }
        match &mut self.at {
            // Only the length still matters.
            At::Refused => self.base += bytes.len() as u64,
            At::Zeros { data_follows, .. } => {
                self.base += bytes.len() as u64;
                *data_follows |= bytes.iter().any(|byte| *byte != 0);
            }
            At::Fixed | At::Extra { .. } | At::Records => self.buffer.extend_from_slice(bytes),
        }
    }

    /// The next event, or `None` when more input is needed.
    ///
    /// # Errors
    /// [`LogError::NotALog`]. After it, nothing more is decoded and every call answers `None`.
    #[expect(
        clippy::should_implement_trait,
        reason = "an event borrows the decoder, which no Iterator can say"
    )]
    pub fn next(&mut self) -> Result<Option<Event<'_>>, LogError> {
        loop {
            match self.at {
                At::Fixed if self.rest().len() < FIXED_HEADER => return Ok(None),
                At::Fixed => match read_fixed(self.rest(), &self.place) {
                    Ok((version, len)) => {
                        self.used += FIXED_HEADER;
                        self.at = At::Extra { version, len };
                    }
                    Err(error) => {
                        self.at = At::Refused;
                        self.used = self.buffer.len();
                        return Err(error);
                    }
                },
                At::Extra { len, .. } if self.rest().len() < len as usize => return Ok(None),
                At::Extra { version, len } => {
                    self.at = At::Records;
                    return Ok(Some(Event::Header { version, extra: self.take(len as usize) }));
                }
                At::Records => return Ok(self.record()),
                At::Zeros { .. } | At::Refused => return Ok(None),
            }
        }
    }

    fn record(&mut self) -> Option<Event<'_>> {
        let rest = self.rest();
        let head = head_of(rest)?;
        let len = head.len + head.size as usize;
        if rest.len() < len {
            return None;
        }
        if rest.starts_with(&[0; 4]) {
            let run = rest.iter().take(ZERO_RUN_BYTES).take_while(|byte| **byte == 0).count();
            if run == ZERO_RUN_BYTES {
                let data_follows = rest.iter().any(|byte| *byte != 0);
                self.at = At::Zeros { from: self.consumed(), data_follows };
                self.used = self.buffer.len();
                return None;
            }
            if run == rest.len() {
                // A hole's beginning or an odd record: what follows will tell.
                return None;
            }
        }
        let (id, time) = (head.id, Micros(head.time));
        let record = self.take(len);
        let payload = record.get(head.len..).unwrap_or_default();
        Some(if id == 0 {
            match Control::parse(payload) {
                Ok(control) => Event::Control { time, control },
                Err(odd) => Event::Odd { time, odd },
            }
        } else {
            Event::Data { id, time, payload }
        })
    }

    fn rest(&self) -> &[u8] {
        self.buffer.get(self.used..).unwrap_or_default()
    }

    fn take(&mut self, len: usize) -> &[u8] {
        let from = self.used;
        self.used += len;
        self.buffer.get(from..self.used).unwrap_or_default()
    }

    /// Bytes of the input that were turned into events.
    #[must_use]
    pub fn consumed(&self) -> u64 {
        self.base + self.used as u64
    }

    /// Bytes that were pushed.
    #[must_use]
    pub fn pushed(&self) -> u64 {
        self.base + self.buffer.len() as u64
    }

    /// What of the input could not be used, if it ends here. Take all events first.
    ///
    /// # Errors
    /// [`LogError::NotALog`] when the input ended inside the header or had none.
    pub fn finish(&self) -> Result<Option<Salvage>, LogError> {
        let rest = self.rest();
        let (offset, bytes_lost) = (self.consumed(), rest.len() as u64);
        match self.at {
            At::Fixed | At::Extra { .. } | At::Refused => Err(LogError::NotALog {
                place: self.place.clone(),
                offset: 0,
                expected: "a whole header of a version 1 log",
                found: format!("{} bytes that are none", self.pushed()),
            }),
            At::Zeros { from, data_follows } => Ok(Some(Salvage {
                offset: from,
                bytes_lost: self.pushed() - from,
                records_lost: None,
                damage: Damage::ZeroFilled { data_follows },
            })),
            At::Records if rest.is_empty() => Ok(None),
            At::Records if rest.len() >= 4 && rest.iter().all(|byte| *byte == 0) => Ok(Some(Salvage {
                offset,
                bytes_lost,
                records_lost: None,
                damage: Damage::ZeroFilled { data_follows: false },
            })),
            At::Records => {
                let expected = head_of(rest).map(|head| head.len as u64 + u64::from(head.size));
                let damage = Damage::Torn { expected };
                Ok(Some(Salvage { offset, bytes_lost, records_lost: Some(1), damage }))
            }
        }
    }
}
