//! What the person at the dashboard sees: only topics, as any other client gets them.

use fieldlab_nt4::client::Client;
use fieldlab_values::{Value, ValueRef};

const ROOT: &str = "/Catalyst/FieldLab/";

/// What is asked right now.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Prompt {
    /// Counts the prompts.
    pub(crate) seq: i64,
    /// What stands there.
    pub(crate) text: String,
    /// The question as `<procedure>/<key>`; empty when no number is asked for.
    pub(crate) key: String,
    pub(crate) unit: String,
    pub(crate) min: Option<f64>,
    pub(crate) max: Option<f64>,
}

/// The screen, as the client core holds it now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Screen<'a>(pub(crate) &'a Client);

impl Prompt {
    /// The question's procedure and key.
    pub(crate) fn question(&self) -> Option<(&str, &str)> {
        self.key.split_once('/')
    }

    /// Whether it offers to try again or to leave out.
    pub(crate) fn is_offer(&self) -> bool {
        self.key.is_empty() && self.text.contains("SkipReason")
    }
}

impl<'a> Screen<'a> {
    fn value(self, key: &str) -> Option<&'a Value> {
        self.0.value(&format!("{ROOT}{key}")).map(|(_, value)| value)
    }

    pub(crate) fn text(self, key: &str) -> &'a str {
        match self.value(key).map(Value::as_ref) {
            Some(ValueRef::String(text)) => text,
            _ => "",
        }
    }

    pub(crate) fn number(self, key: &str) -> Option<f64> {
        self.value(key)?.as_number().filter(|n| n.is_finite())
    }

    /// Whether the robot code has said anything on this connection.
    pub(crate) fn is_live(self) -> bool {
        self.value("State").is_some()
    }

    pub(crate) fn prompt(self) -> Option<Prompt> {
        let text = self.text("Prompt");
        if text.is_empty() {
            return None;
        }
        let key = self.text("PromptKey").to_owned();
        let bound = |name: &str| if key.is_empty() { None } else { self.number(name) };
        Some(Prompt {
            seq: self.number("PromptSeq")? as i64,
            text: text.to_owned(),
            unit: self.text("PromptUnit").to_owned(),
            min: bound("PromptMin"),
            max: bound("PromptMax"),
            key,
        })
    }
}
