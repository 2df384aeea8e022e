//! Schemas by name, in whatever order they arrive.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::layout::{Kind, check, lay_out};
use super::{Declaration, MAX_SCHEMAS, SchemaError, StructLayout, parse};

/// What is known of a struct.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    /// It can be used.
    Ready(Arc<StructLayout>),
    /// Its schema is there, but it names structs whose schemas are not.
    Waiting {
        /// The structs that are missing, sorted.
        missing: Vec<String>,
    },
    /// Its schema is there and cannot be used.
    Refused(SchemaError),
    /// No schema came for it.
    Unknown,
}

/// Schemas by name. Any order will do: a struct whose parts are not known yet waits for them.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    schemas: BTreeMap<String, Schema>,
    /// For a struct that is not ready, the structs that wait for it.
    waiting_for: BTreeMap<String, BTreeSet<String>>,
}

#[derive(Debug, Clone)]
struct Schema {
    text: String,
    declarations: Vec<Declaration>,
    state: Laid,
}

#[derive(Debug, Clone)]
enum Laid {
    Waiting,
    Ready(Arc<StructLayout>),
    Refused(SchemaError),
}

impl Registry {
    /// Registers a struct. The same text again changes nothing.
    ///
    /// A schema that follows the grammar and is refused all the same keeps its name, and what contains it keeps waiting.
    ///
    /// # Errors
    /// Any [`SchemaError`]; [`SchemaError::Conflict`] leaves the text registered first in place.
    pub fn add(&mut self, name: &str, text: &str) -> Result<(), SchemaError> {
        if let Some(known) = self.schemas.get(name) {
            if known.text != text {
                return Err(SchemaError::Conflict {
                    name: name.to_owned(),
                    expected: known.text.clone(),
                    found: text.to_owned(),
                });
            }
            return match &known.state {
                Laid::Refused(error) => Err(error.clone()),
                _ => Ok(()),
            };
        }
        if self.schemas.len() >= MAX_SCHEMAS {
            return Err(SchemaError::TooLarge { name: name.to_owned(), what: "schemas", limit: MAX_SCHEMAS });
        }
        let declarations = parse(text)?;
        let checked = check(name, &declarations).and_then(|()| self.check_cycle(name, &declarations));
        for inner in structs(&declarations) {
            if self.get(inner).is_none() {
                self.waiting_for.entry(inner.to_owned()).or_default().insert(name.to_owned());
            }
        }
        let state = checked.clone().map_or_else(Laid::Refused, |()| Laid::Waiting);
        self.schemas.insert(name.to_owned(), Schema { text: text.to_owned(), declarations, state });
        checked?;
        self.settle(name);
        match self.schemas.get(name).map(|schema| &schema.state) {
            Some(Laid::Refused(error)) => Err(error.clone()),
            _ => Ok(()),
        }
    }

    /// A struct that can be used.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<StructLayout>> {
        match &self.schemas.get(name)?.state {
            Laid::Ready(layout) => Some(layout),
            _ => None,
        }
    }

    /// What is known of a struct.
    #[must_use]
    pub fn state(&self, name: &str) -> State {
        let Some(schema) = self.schemas.get(name) else { return State::Unknown };
        match &schema.state {
            Laid::Ready(layout) => State::Ready(Arc::clone(layout)),
            Laid::Refused(error) => State::Refused(error.clone()),
            Laid::Waiting => {
                let missing: BTreeSet<&str> =
                    structs(&schema.declarations).filter(|inner| self.get(inner).is_none()).collect();
                State::Waiting { missing: missing.into_iter().map(str::to_owned).collect() }
            }
        }
    }

    /// Every registered name with its text, sorted by name.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.schemas.iter().map(|(name, schema)| (name.as_str(), schema.text.as_str()))
    }

    /// Lays out `name` if all its parts are ready, then whatever waited for it.
    fn settle(&mut self, name: &str) {
        let mut open = vec![name.to_owned()];
        while let Some(name) = open.pop() {
            let Some(schema) = self.schemas.get(&name) else { continue };
            let waits = matches!(schema.state, Laid::Waiting);
            if !waits || structs(&schema.declarations).any(|inner| self.get(inner).is_none()) {
                continue;
            }
            let laid = lay_out(&name, &schema.declarations, |inner| self.get(inner));
            let state = laid.map_or_else(Laid::Refused, |layout| Laid::Ready(Arc::new(layout)));
            if matches!(state, Laid::Ready(_)) {
                open.extend(self.waiting_for.remove(&name).unwrap_or_default());
            }
            if let Some(schema) = self.schemas.get_mut(&name) {
                schema.state = state;
            }
        }
    }

    /// Refuses a schema that would contain itself through structs that are registered already.
    fn check_cycle(&self, name: &str, declarations: &[Declaration]) -> Result<(), SchemaError> {
        if !self.waiting_for.contains_key(name) {
            return Ok(());
        }
        // From each struct on the way, the one that led there.
        let mut from: BTreeMap<&str, &str> = BTreeMap::new();
        let mut open: Vec<&str> = Vec::new();
        for inner in structs(declarations) {
            from.entry(inner).or_insert_with(|| {
                open.push(inner);
                name
            });
        }
        while let Some(outer) = open.pop() {
            // What is ready contains only what is ready, and `name` is not.
            let Some(schema) = self.schemas.get(outer).filter(|s| !matches!(s.state, Laid::Ready(_))) else {
                continue;
            };
            for inner in structs(&schema.declarations) {
                if inner == name {
                    let mut chain = vec![name, outer];
                    let mut at = outer;
                    while let Some(before) = from.get(at).filter(|_| at != name) {
                        at = before;
                        chain.push(at);
                    }
                    return Err(SchemaError::Cycle { name: name.to_owned(), chain: chain.join(" <- ") });
                }
                from.entry(inner).or_insert_with(|| {
                    open.push(inner);
                    outer
                });
            }
        }
        Ok(())
    }
}

/// The structs that declarations name.
fn structs(declarations: &[Declaration]) -> impl Iterator<Item = &str> {
    declarations.iter().map(|d| d.type_name.as_str()).filter(|name| Kind::plain(name).is_none())
}
