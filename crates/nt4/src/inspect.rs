//! What a client's messages say, for whoever stands between a client and a server and lets only some of them pass.
//!
//! Promises what the cores promise: no panic from any byte, no length allocated for before it was compared with the bytes
//! that are left, and a message that cannot be read costs only itself as long as its end is known.
//!
//! ```
//! use fieldlab_nt4::ClientMessage;
//! use fieldlab_nt4::inspect::{client_messages, client_values};
//! use fieldlab_values::Value;
//!
//! let mut asked = Vec::new();
//! client_messages(r#"[{"method": "unpublish", "params": {"pubuid": 3}}, 7]"#, |read| asked.push(read))?;
//! assert_eq!(asked[0], Ok(ClientMessage::Unpublish { pubuid: 3 }));
//! assert!(asked[1].is_err());
//!
//! let mut values = Vec::new();
//! client_values(&[0x94, 7, 0, 2, 42], |read| values.push(read)).unwrap();
//! let value = values[0].clone()?;
//! assert_eq!((value.id, value.value), (7, Value::Int(42)));
//! # Ok::<(), String>(())
//! ```

use fieldlab_base::Micros;
use fieldlab_values::Value;

use crate::control::{self, ClientMessage};
use crate::error::Close;
use crate::msgpack::{Fault, Reader};
use crate::wire;

/// A value as a client sent it.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientValue {
    /// The client's number of the publisher.
    pub id: i64,
    /// Its time, by what the client takes for the server's clock.
    pub time: Micros,
    /// The value, in the family that its type number names.
    pub value: Value,
}

/// Hands `each` the items of a text message, those that are no message of the protocol with the reason.
///
/// # Errors
/// The text is no JSON array; the parser's words. What stood before the fault has been handed on.
pub fn client_messages(
    text: &str,
    mut each: impl FnMut(Result<ClientMessage, &'static str>),
) -> Result<(), String> {
    control::items(text, |item| {
        each(ClientMessage::parse(&item));
        true
    })
}

/// Hands `each` the values of a binary message, those that cannot be read with the reason. Time requests are passed over:
/// they are for [`crate::server::answer_time`].
///
/// # Errors
/// Where its parts end is not known, so that the connection must be closed.
pub fn client_values(
    frame: &[u8],
    mut each: impl FnMut(Result<ClientValue, &'static str>),
) -> Result<(), Close> {
    let mut reader = Reader::new(frame);
    while !reader.is_empty() {
        let start = reader.position();
        match one_value(&mut reader) {
            Ok(Some(value)) => each(Ok(value)),
            Ok(None) => {}
            Err(_) => {
                each(Err("not [id, time, type, value]"));
                reader.seek(start);
                reader.skip().map_err(|_| Close::framing("truncated"))?;
            }
        }
    }
    Ok(())
}

fn one_value(reader: &mut Reader<'_>) -> Result<Option<ClientValue>, Fault> {
    let front = wire::read_front(reader)?;
    if front.id == wire::RTT_ID {
        return reader.skip().map(|()| None);
    }
    let family = wire::family_of(front.code).ok_or(Fault::Kind)?;
    Ok(Some(ClientValue { id: front.id, time: front.time, value: wire::read_value(reader, family)? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_requests_pass_and_a_bad_value_costs_itself() {
        // [-1, 0, 2, 5], then an array of three, then [1, 0, 4, "a"].
        let frame = [0x94, 0xff, 0, 2, 5, 0x93, 1, 0, 4, 0x94, 1, 0, 4, 0xa1, b'a'];
        let mut seen = Vec::new();
        client_values(&frame, |read| seen.push(read)).unwrap();
        assert_eq!(seen.len(), 2);
        assert!(seen[0].is_err());
        assert_eq!(seen[1].as_ref().unwrap().value, Value::from("a"));
        let mut bad = 0;
        assert!(client_values(&frame[..13], |read| bad += u32::from(read.is_err())).is_err());
        assert_eq!(bad, 2);
    }

    #[test]
    fn text_that_is_no_array_is_told() {
        for text in ["", "{}", "[{", "7", "[] x"] {
            assert!(client_messages(text, |_| ()).is_err(), "{text}");
        }
        assert!(client_messages("[]", |_| ()).is_ok());
    }
}
