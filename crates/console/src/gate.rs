//! The gate between one viewer and the robot: what a viewer sends comes out as what may pass.
//!
//! Subscriptions pass. A publish of a declared input passes and is remembered; its values become [`Write`]s. Everything else
//! is refused: it costs that message, is counted, and is told in words. Bytes that cannot be read are refused too.

use std::collections::BTreeMap;

use fieldlab_base::Micros;
use fieldlab_nt4::inspect::{client_messages, client_values};
use fieldlab_nt4::{ClientMessage, Close, Properties};
use fieldlab_values::Value;

use crate::inputs::{describe, short};

/// Bytes of one message of a viewer's; what a page sends is far below.
pub(crate) const MESSAGE_BYTES: usize = 64 << 10;
/// Nothing that a viewer writes so soon after it connected passes: clients re-send what they last wrote when they reconnect.
const NEW_VIEWER: Micros = Micros::from_millis(3000);
/// Publishers of one viewer.
const PUBLISHERS: usize = 256;
/// Writes that a viewer may send at once, and how long it takes to earn another: a slider sends one per frame.
const BURST: i64 = 120;
const EARN: Micros = Micros::from_millis(16);

/// What the gate asks about a topic: the robot's type for it, or why nobody may write it.
pub(crate) trait Rules {
    /// # Errors
    /// Why a viewer may not publish `name` with that type.
    fn may_publish(&self, name: &str, type_name: &str) -> Result<(), &'static str>;
}

/// A value on its way to the robot.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Write {
    pub(crate) name: String,
    pub(crate) value: Value,
}

/// What passed of one message, in order.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Passed {
    /// For the server core of the viewers.
    pub(crate) messages: Vec<ClientMessage>,
    /// For the robot.
    pub(crate) writes: Vec<Write>,
    /// What did not pass, in words; the last of them when there were many.
    pub(crate) refused: u64,
    pub(crate) last_refused: Option<String>,
}

impl Passed {
    fn refuse(&mut self, what: &str, why: &str) {
        self.refused += 1;
        self.last_refused = Some(format!("{what}: {why}"));
    }
}

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Gate {
    connected_at: Micros,
    publishers: BTreeMap<i32, String>,
    /// Writes that are left, in the time that it takes to earn them.
    credit: Micros,
    seen: Micros,
}

impl Gate {
    pub(crate) fn new(now: Micros) -> Self {
        Self { connected_at: now, publishers: BTreeMap::new(), credit: Micros(BURST * EARN.0), seen: now }
    }

    /// A text message.
    pub(crate) fn text(&mut self, text: &str, rules: &impl Rules) -> Passed {
        let mut passed = Passed::default();
        if text.len() > MESSAGE_BYTES {
            passed.refuse("a text message", "longer than 64 KiB");
            return passed;
        }
        let read = client_messages(text, |message| match message {
            Ok(message) => self.message(message, rules, &mut passed),
            Err(why) => passed.refuse("a control message", why),
        });
        if read.is_err() {
            passed.refuse("a text message", "not a JSON array");
        }
        passed
    }

    fn message(&mut self, message: ClientMessage, rules: &impl Rules, passed: &mut Passed) {
        let what = describe(&message);
        match message {
            ClientMessage::Subscribe { .. } | ClientMessage::Unsubscribe { .. } => {
                passed.messages.push(message)
            }
            ClientMessage::Publish { name, type_name, pubuid, .. } => {
                // A number that is used again means the new topic or none, never the old one.
                self.publishers.remove(&pubuid);
                let full = self.publishers.len() >= PUBLISHERS;
                let allowed =
                    if full { Err("too many publishers") } else { rules.may_publish(&name, &type_name) };
                match allowed {
                    Ok(()) => {
                        self.publishers.insert(pubuid, name.clone());
                        // Answered by the viewers' server, which then forgets it: a viewer keeps no topic alive.
                        let properties = Properties::new();
                        passed.messages.push(ClientMessage::Publish { name, type_name, pubuid, properties });
                        passed.messages.push(ClientMessage::Unpublish { pubuid });
                    }
                    Err(why) => passed.refuse(&what, why),
                }
            }
            ClientMessage::Unpublish { pubuid } => {
                if self.publishers.remove(&pubuid).is_none() {
                    passed.refuse(&what, "no such publisher");
                }
            }
            ClientMessage::SetProperties { .. } => passed.refuse(&what, "the robot's topics are the robot's"),
        }
    }

    /// A binary message; time requests in it are answered by others.
    ///
    /// # Errors
    /// Where its parts end is not known: the connection must be closed.
    pub(crate) fn binary(&mut self, frame: &[u8], now: Micros, passed: &mut Passed) -> Result<(), Close> {
        if frame.len() > MESSAGE_BYTES {
            passed.refuse("a binary message", "longer than 64 KiB");
            return Ok(());
        }
        let most = Micros(BURST * EARN.0);
        self.credit = (self.credit + Micros(now.since(self.seen).0.max(0))).min(most);
        self.seen = now;
        let read = client_values(frame, |read| {
            let value = match read {
                Ok(value) => value,
                Err(why) => return passed.refuse("a value", why),
            };
            let found = i32::try_from(value.id).ok().and_then(|id| self.publishers.get(&id));
            let Some(name) = found else {
                return passed.refuse(&format!("a value for publisher {}", value.id), "no such publisher");
            };
            let what = format!("a value for {}", short(name));
            if now.since(self.connected_at) < NEW_VIEWER {
                return passed.refuse(&what, "this viewer connected less than 3 s ago");
            }
            if self.credit < EARN {
                return passed.refuse(&what, "too many values at once");
            }
            self.credit = Micros(self.credit.0 - EARN.0);
            passed.writes.push(Write { name: name.clone(), value: value.value });
        });
        if let Err(close) = &read {
            passed.refuse("a binary message", &close.reason);
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Only;
    impl Rules for Only {
        fn may_publish(&self, name: &str, type_name: &str) -> Result<(), &'static str> {
            if name == "/in" && type_name == "double" { Ok(()) } else { Err("not an operator input") }
        }
    }

    const LATER: Micros = Micros::from_millis(4000);

    fn publish(gate: &mut Gate, name: &str, uid: i32) -> Passed {
        let text = format!(
            r#"[{{"method":"publish","params":{{"name":"{name}","type":"double","pubuid":{uid},"properties":{{"retained":true}}}}}}]"#
        );
        gate.text(&text, &Only)
    }

    /// `[id, 0, 1, 2]`
    fn value(id: u8) -> [u8; 5] {
        [0x94, id, 0, 1, 2]
    }

    fn binary(gate: &mut Gate, frame: &[u8], now: Micros) -> Passed {
        let mut passed = Passed::default();
        gate.binary(frame, now, &mut passed).unwrap();
        passed
    }

    #[test]
    fn an_allowed_publish_loses_its_properties_and_keeps_no_topic() {
        let mut gate = Gate::new(Micros::ZERO);
        let passed = publish(&mut gate, "/in", 1);
        assert_eq!(passed.refused, 0);
        let expect = [
            ClientMessage::Publish {
                name: "/in".to_owned(),
                type_name: "double".to_owned(),
                pubuid: 1,
                properties: Properties::new(),
            },
            ClientMessage::Unpublish { pubuid: 1 },
        ];
        assert_eq!(passed.messages, expect);
        let wrote = binary(&mut gate, &value(1), LATER);
        assert_eq!(wrote.writes, [Write { name: "/in".to_owned(), value: Value::Double(2.0) }]);
    }

    #[test]
    fn a_number_that_was_given_to_a_refused_topic_writes_nothing() {
        let mut gate = Gate::new(Micros::ZERO);
        publish(&mut gate, "/in", 1);
        assert_eq!(publish(&mut gate, "/other", 1).refused, 1);
        let wrote = binary(&mut gate, &value(1), LATER);
        assert_eq!((wrote.refused, wrote.writes.len()), (1, 0));
    }

    #[test]
    fn what_a_reconnecting_client_sends_again_does_not_pass() {
        let mut gate = Gate::new(Micros(10));
        publish(&mut gate, "/in", 1);
        let early = binary(&mut gate, &value(1), Micros(10 + 2_999_999));
        assert_eq!((early.refused, early.writes.len()), (1, 0));
        let settled = binary(&mut gate, &value(1), Micros(10 + 3_000_000));
        assert_eq!((settled.refused, settled.writes.len()), (0, 1));
    }

    #[test]
    fn a_flood_of_values_is_cut_to_its_allowance() {
        let mut gate = Gate::new(Micros::ZERO);
        publish(&mut gate, "/in", 1);
        let flood: Vec<u8> = (0..500).flat_map(|_| value(1)).collect();
        let passed = binary(&mut gate, &flood, LATER);
        assert_eq!((passed.writes.len(), passed.refused), (120, 380));
        let later = binary(&mut gate, &flood, LATER + Micros::from_millis(160));
        assert_eq!(later.writes.len(), 10);
    }

    #[test]
    fn size_and_framing() {
        let mut gate = Gate::new(Micros::ZERO);
        let at = format!("[{}]", " ".repeat(MESSAGE_BYTES - 2));
        assert_eq!(gate.text(&at, &Only).refused, 0);
        assert_eq!(gate.text(&format!("{at} "), &Only).refused, 1);
        assert_eq!(gate.text("{}", &Only).refused, 1);
        assert_eq!(gate.text("[7, {\"method\":\"shout\"}]", &Only).refused, 2);
        assert_eq!(binary(&mut gate, &vec![0xc0; MESSAGE_BYTES + 1], LATER).refused, 1);
        let mut passed = Passed::default();
        assert!(gate.binary(&[0x94, 1], LATER, &mut passed).is_err());
        assert!(passed.refused > 0);
    }

    proptest::proptest! {
        /// Whatever is sent, what passes was published before, by an allowed name.
        #[test]
        fn no_bytes_write_to_a_publisher_that_was_not_allowed(
            text in ".{0,200}",
            bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300),
            ids in proptest::collection::vec(0_u8..0x7f, 0..20),
        ) {
            let mut gate = Gate::new(Micros::ZERO);
            publish(&mut gate, "/in", 1);
            let passed = gate.text(&text, &Only);
            proptest::prop_assert!(passed.writes.is_empty());
            let mut passed = Passed::default();
            // Bytes whose end is unknown end the connection; what stood before them has passed all the same.
            gate.binary(&bytes, LATER, &mut passed).ok();
            let frame: Vec<u8> = ids.iter().flat_map(|id| value(*id)).collect();
            let before = passed.writes.len();
            gate.binary(&frame, LATER, &mut passed).unwrap();
            proptest::prop_assert_eq!(passed.writes.len() - before, ids.iter().filter(|id| **id == 1).count());
            proptest::prop_assert!(passed.writes.iter().all(|write| write.name == "/in"));
            proptest::prop_assert!(passed.messages.is_empty());
        }
    }
}
