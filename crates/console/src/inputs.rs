//! Which topics a viewer may write: the declared operator inputs and nothing else.

use std::collections::BTreeSet;

use fieldlab_nt4::ClientMessage;
use fieldlab_values::{DataType, Family, Value};
use serde::Deserialize;

/// Where the robot publishes what dashboards may set; a string topic.
pub(crate) const MANIFEST: &str = "/Catalyst/Tunables/.manifest";
/// What every input's topic begins with.
const ROOT: &str = "/Catalyst/Tuning/FieldLab/";
const NUMBERS: [&str; 5] = ["Value", "Advance", "SameAgain", "Redo", "Skip"];
const TEXT: &str = "SkipReason";
const ANSWERS: &str = "Answers/";
/// A manifest above this is not read: dashboards on the robot's side stop at 8 KiB.
const MANIFEST_BYTES: usize = 64 << 10;
/// Keys taken from one manifest.
const MANIFEST_KEYS: usize = 1024;
/// Bytes of a text input; a reason is cut to 200 characters by the robot.
const TEXT_BYTES: usize = 1024;

/// The allow-list. See [`Inputs::check`].
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    declared: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Row {
    key: String,
}

impl Inputs {
    /// Takes over what a manifest declares below the inputs' prefix; a text that is no manifest declares nothing.
    pub(crate) fn read_manifest(&mut self, text: &str) {
        self.declared.clear();
        if text.len() <= MANIFEST_BYTES
            && let Ok(rows) = serde_json::from_str::<Vec<serde_json::Value>>(text)
        {
            let keys =
                rows.into_iter().filter_map(|row| serde_json::from_value::<Row>(row).ok()).map(|row| row.key);
            self.declared.extend(keys.filter(|key| key.starts_with(ROOT)).take(MANIFEST_KEYS));
        }
    }

    /// The manifest is gone.
    pub(crate) fn forget_manifest(&mut self) {
        self.declared.clear();
    }

    /// Whether a viewer may write `name`, which the robot announces with `robots_type` when it does at all.
    ///
    /// # Errors
    /// Why not, in words for a person.
    pub(crate) fn check(&self, name: &str, robots_type: Option<&str>) -> Result<(), &'static str> {
        let fixed = fixed_type(name);
        if fixed.is_none() && !self.declared.contains(name) {
            return Err("not an operator input");
        }
        let Some(found) = robots_type else { return Err("the robot asks for nothing there") };
        match fixed {
            Some(expected) if expected != found => {
                Err("the robot's topic has another type than this input has")
            }
            None if !matches!(found, "double" | "string" | "boolean") => {
                Err("the robot's topic is neither double, string nor boolean")
            }
            _ => Ok(()),
        }
    }
}

/// The type of an input that every campaign has.
fn fixed_type(name: &str) -> Option<&'static str> {
    let rest = name.strip_prefix(ROOT)?;
    if rest == TEXT {
        return Some("string");
    }
    if NUMBERS.contains(&rest) {
        return Some("double");
    }
    let (procedure, key) = rest.strip_prefix(ANSWERS)?.split_once('/')?;
    (!procedure.is_empty() && !key.is_empty() && !key.contains('/')).then_some("double")
}

/// Whether equal numbers of two writers are two answers or one client that re-sends what it last saw.
pub(crate) fn is_answer(name: &str) -> bool {
    name.strip_prefix(ROOT).is_some_and(|rest| rest == "Value" || rest.starts_with(ANSWERS))
}

/// The value as the robot's topic holds it.
///
/// # Errors
/// Why it does not fit, in words for a person.
pub(crate) fn fit(value: &Value, robots_type: &str) -> Result<Value, &'static str> {
    match (DataType::from_nt(robots_type).family(), value) {
        (Family::Double, Value::Double(_) | Value::Float(_) | Value::Int(_)) => {
            value.as_number().map(Value::Double).ok_or("a number is expected there")
        }
        (Family::Double, _) => Err("a number is expected there"),
        (Family::String, Value::String(text)) if text.len() <= TEXT_BYTES => Ok(value.clone()),
        (Family::String, Value::String(_)) => Err("the text is too long"),
        (Family::String, _) => Err("a text is expected there"),
        (Family::Boolean, Value::Boolean(_)) => Ok(value.clone()),
        _ => Err("a boolean is expected there"),
    }
}

/// What a message would have done, and to what, for a person.
pub(crate) fn describe(message: &ClientMessage) -> String {
    match message {
        ClientMessage::Publish { name, type_name, .. } => {
            format!("publish {} as {}", short(name), short(type_name))
        }
        ClientMessage::Unpublish { pubuid } => format!("unpublish {pubuid}"),
        ClientMessage::SetProperties { name, .. } => format!("setproperties of {}", short(name)),
        ClientMessage::Subscribe { .. } => "subscribe".to_owned(),
        ClientMessage::Unsubscribe { subuid } => format!("unsubscribe {subuid}"),
    }
}

/// A stranger's text, short enough to be shown.
pub(crate) fn short(text: &str) -> String {
    const MOST: usize = 64;
    let mut cut: String = text.chars().take(MOST).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_declared_inputs_pass() {
        let mut inputs = Inputs::default();
        inputs.read_manifest(
            r#"[{"key":"/Catalyst/Tuning/FieldLab/Extra"},{"key":"/Catalyst/Tuning/Shooter/kP"},{"name":"x"},3]"#,
        );
        let at = |rest: &str| format!("{ROOT}{rest}");
        for name in ["Value", "Advance", "SameAgain", "Redo", "Skip", "Answers/wheel-radius/tape", "Extra"] {
            assert_eq!(inputs.check(&at(name), Some("double")), Ok(()), "{name}");
        }
        assert_eq!(inputs.check(&at("SkipReason"), Some("string")), Ok(()));
        for name in [
            "/Catalyst/Tuning/Shooter/kP",
            "/Catalyst/Tuning/FieldLab",
            "/Catalyst/Tuning/FieldLab/",
            "/Catalyst/Tuning/FieldLab/value",
            "/Catalyst/Tuning/FieldLab/Value/",
            "/Catalyst/Tuning/FieldLab/Answers/a",
            "/Catalyst/Tuning/FieldLab/Answers//a",
            "/Catalyst/Tuning/FieldLab/Answers/a/",
            "/Catalyst/Tuning/FieldLab/Answers/a/b/c",
            "Catalyst/Tuning/FieldLab/Value",
            "/Catalyst/FieldLab/State",
            "",
        ] {
            assert_eq!(inputs.check(name, Some("double")), Err("not an operator input"), "{name}");
        }
        assert!(inputs.check(&at("Value"), None).is_err());
        assert!(inputs.check(&at("Value"), Some("boolean")).is_err());
        assert!(inputs.check(&at("SkipReason"), Some("double")).is_err());
        assert!(inputs.check(&at("Extra"), Some("int[]")).is_err());
        inputs.read_manifest("no manifest");
        assert!(inputs.check(&at("Extra"), Some("double")).is_err());
    }

    #[test]
    fn values_fit_their_topic_or_are_refused() {
        assert_eq!(fit(&Value::Int(3), "double"), Ok(Value::Double(3.0)));
        assert_eq!(fit(&Value::from("x"), "string"), Ok(Value::from("x")));
        assert!(fit(&Value::from("3"), "double").is_err());
        assert!(fit(&Value::Boolean(true), "double").is_err());
        assert!(fit(&Value::Double(1.0), "string").is_err());
        assert!(fit(&Value::from("x".repeat(1025).as_str()), "string").is_err());
        assert!(fit(&Value::Double(1.0), "boolean").is_err());
    }
}
