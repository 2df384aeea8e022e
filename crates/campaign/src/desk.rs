//! The operator's desk: which writes to the declared inputs mean something, and when.
//!
//! A prompt goes through three moments. It is *shown*; 300 ms later it is *armed*; one *press* ends it. A press is a
//! change of a finite number on `Advance`, `Redo` or `Skip` after the prompt was armed. A question also needs a
//! *candidate*: a number written after the prompt was shown, which has stood for 300 ms.
//!
//! Clients re-send what they last wrote when they reconnect. So nothing that arrives in the first three seconds of a
//! connection is a press or a candidate, and a number equal to what its input already held is a candidate only when the
//! same connection wrote it before. Whatever is ignored is still remembered as what the input holds, so that it cannot
//! become a change later; and a candidate that it wrote over is none any more, for dashboards no longer show it.

use fieldlab_base::{ClientId, Micros, OperatorSample, OperatorValue};

use crate::inputs::{Control, InputSpec, Role};

/// A prompt takes no press before it was shown this long.
pub(crate) const ARM: Micros = Micros::from_millis(300);
/// A number is not committed before it stood this long.
pub(crate) const STAND: Micros = Micros::from_millis(300);
/// Nothing that a client sends this soon after it connected commits.
pub(crate) const NEW_CLIENT: Micros = Micros::from_millis(3000);
/// Two presses are at least this far apart.
pub(crate) const APART: Micros = Micros::from_millis(500);

/// A reason is cut off after this many characters: it goes into the checkpoint and into every log.
const LONGEST_REASON: usize = 200;

/// What the operator did.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Press {
    /// Advance, with the number that it commits when one was asked for.
    Advance(Option<f64>),
    /// Ask for the last answer again.
    Redo,
    /// Give this up, with the reason.
    Skip(String),
    /// Nothing, and this is why.
    Refused(&'static str),
}

#[derive(Debug, Clone, Copy)]
struct Held {
    number: f64,
    writer: Option<ClientId>,
    arrival: u64,
}

#[derive(Debug, Clone, Copy)]
struct Candidate {
    value: f64,
    since: Micros,
    input: usize,
}

#[derive(Debug, Clone, Copy)]
struct Prompt {
    shown: Micros,
    /// For a question: the index of its own answer input.
    answer: Option<usize>,
    asks_number: bool,
}

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Desk {
    roles: Vec<Role>,
    held: Vec<Held>,
    prompt: Option<Prompt>,
    candidate: Option<Candidate>,
    /// An Advance that waits for its candidate to have stood.
    pressed: bool,
    reason: String,
    last_press: Option<Micros>,
}

impl Desk {
    pub(crate) fn new(inputs: &[InputSpec]) -> Self {
        let held = inputs.iter().map(|i| match i.control {
            Control::Number { initial, .. } => Held { number: initial, writer: None, arrival: 0 },
            Control::Text => Held { number: 0.0, writer: None, arrival: 0 },
        });
        Self {
            roles: inputs.iter().map(|i| i.role).collect(),
            held: held.collect(),
            prompt: None,
            candidate: None,
            pressed: false,
            reason: String::new(),
            last_press: None,
        }
    }

    /// A prompt is shown now. `question` is the (procedure, step) that a number is asked for.
    pub(crate) fn show(&mut self, now: Micros, question: Option<(usize, usize)>) {
        let answer = question
            .and_then(|(p, s)| self.roles.iter().position(|r| *r == Role::Answer { procedure: p, step: s }));
        self.prompt = Some(Prompt { shown: now, answer, asks_number: question.is_some() });
        self.candidate = None;
        self.pressed = false;
        self.reason.clear();
    }

    /// No prompt is shown any more.
    pub(crate) fn hide(&mut self) {
        self.prompt = None;
        self.candidate = None;
        self.pressed = false;
    }

    /// One write, in the order of arrival.
    pub(crate) fn take(&mut self, sample: &OperatorSample) -> Option<Press> {
        let index = usize::from(sample.input.0);
        let role = *self.roles.get(index)?;
        let settled = sample.received.since(sample.connected_at) >= NEW_CLIENT;
        let number = match (&sample.value, role) {
            (OperatorValue::Text(text), Role::SkipReason) => {
                if settled && self.prompt.is_some() {
                    self.reason = text.trim().chars().take(LONGEST_REASON).collect();
                }
                return None;
            }
            (OperatorValue::Number(number), role) if role != Role::SkipReason => *number,
            _ => return None,
        };
        let held = self.held.get_mut(index)?;
        let before = *held;
        if number.is_finite() {
            *held = Held { number, writer: Some(sample.client), arrival: sample.arrival };
        }
        let prompt = self.prompt?;
        match role {
            Role::Value | Role::Answer { .. } => {
                if !prompt.asks_number || (role != Role::Value && prompt.answer != Some(index)) {
                    return None;
                }
                let again = number == before.number && before.writer.is_some_and(|w| w != sample.client);
                self.candidate_from(index, number, sample, settled && sample.received >= prompt.shown, again)
            }
            _ if !number.is_finite() || number == before.number => None,
            _ if !settled => Some(Press::Refused("ignored: this client connected less than 3 s ago")),
            _ if sample.received.since(prompt.shown) < ARM => {
                Some(Press::Refused("ignored: the prompt had only just appeared; press again"))
            }
            _ if self.last_press.is_some_and(|last| sample.received.since(last) < APART) => {
                Some(Press::Refused("ignored: too soon after the press before"))
            }
            role => self.press(role, sample, prompt),
        }
    }

    fn candidate_from(
        &mut self,
        input: usize,
        value: f64,
        sample: &OperatorSample,
        counts: bool,
        again: bool,
    ) -> Option<Press> {
        let moved = self.pressed;
        if !value.is_finite() {
            // What the dashboard shows is no number: what it showed before is not meant any more.
            if self.candidate.is_some_and(|c| c.input == input) {
                self.candidate = None;
                self.pressed = false;
            }
            return Some(Press::Refused("not a number: type a finite number"));
        }
        // Somebody else wrote over it: what the dashboards show is not what was typed for this prompt any more, and an
        // equal number is what a client re-sends when it reconnects.
        let lost = !counts || again;
        let voided = lost && self.candidate.is_some_and(|c| c.input == input);
        if voided {
            self.candidate = None;
            self.pressed = false;
        }
        if !counts {
            return voided.then_some(Press::Refused(
                "the number was written over by a client that has just connected: type it again, or press SameAgain",
            ));
        }
        if again {
            return Some(Press::Refused("the same number as before: press SameAgain if it is meant"));
        }
        if self.candidate.is_some_and(|c| c.input == input && c.value == value) {
            return None;
        }
        self.candidate = Some(Candidate { value, since: sample.received, input });
        self.pressed = false;
        moved.then_some(Press::Refused("the number changed after Advance: press Advance again"))
    }

    fn press(&mut self, role: Role, sample: &OperatorSample, prompt: Prompt) -> Option<Press> {
        match role {
            Role::Advance if !prompt.asks_number => Some(self.commit(sample.received, Press::Advance(None))),
            Role::Advance if self.candidate.is_none() => {
                Some(Press::Refused("no new number: type one, or press SameAgain, then Advance"))
            }
            Role::Advance => {
                self.pressed = true;
                None
            }
            Role::SameAgain if !prompt.asks_number => {
                Some(Press::Refused("SameAgain: no number is asked for"))
            }
            Role::SameAgain => {
                let value = self.roles.iter().position(|r| *r == Role::Value);
                let written = value
                    .into_iter()
                    .chain(prompt.answer)
                    .filter_map(|i| Some((i, *self.held.get(i)?)))
                    .filter(|(_, h)| h.writer.is_some())
                    .max_by_key(|(_, h)| h.arrival);
                let Some((input, held)) = written else {
                    return Some(Press::Refused("SameAgain: no number was typed before"));
                };
                self.candidate = Some(Candidate { value: held.number, since: sample.received, input });
                self.pressed = false;
                None
            }
            Role::Redo => Some(self.commit(sample.received, Press::Redo)),
            Role::Skip if self.reason.is_empty() => {
                Some(Press::Refused("Skip needs a reason: set SkipReason, then Skip"))
            }
            Role::Skip => {
                let reason = std::mem::take(&mut self.reason);
                Some(self.commit(sample.received, Press::Skip(reason)))
            }
            Role::Value | Role::Answer { .. } | Role::SkipReason => None,
        }
    }

    /// Once per prompt: whatever ends it takes it away.
    fn commit(&mut self, at: Micros, press: Press) -> Press {
        self.last_press = Some(at);
        self.hide();
        press
    }

    /// Called once a loop: an Advance whose candidate has now stood long enough.
    pub(crate) fn poll(&mut self, now: Micros) -> Option<Press> {
        let candidate = self.candidate.filter(|_| self.pressed)?;
        if now.since(candidate.since) < STAND {
            return None;
        }
        Some(self.commit(now, Press::Advance(Some(candidate.value))))
    }
}
