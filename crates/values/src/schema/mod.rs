//! WPILib struct schemas: text to layout, bytes to numbers and back.
//!
//! ```
//! use fieldlab_values::schema::{Registry, Tree};
//!
//! let mut schemas = Registry::default();
//! // The outer one first: it waits for the inner one.
//! schemas.add("Module", "double speed;Angle angle")?;
//! assert!(schemas.get("Module").is_none());
//! schemas.add("Angle", "double value")?;
//! let module = schemas.get("Module").ok_or("still waiting")?;
//! let leaves = module.leaves()?;
//! let names: Vec<&str> = leaves.iter().map(|leaf| leaf.path.as_str()).collect();
//! assert_eq!(names, ["speed", "angle/value"]);
//!
//! let mut bytes = 1.5_f64.to_le_bytes().to_vec();
//! bytes.extend(0.25_f64.to_le_bytes());
//! let tree = module.unpack(&bytes)?;
//! assert_eq!(tree.at("angle/value"), Some(&Tree::Double(0.25)));
//! assert_eq!(module.pack(&tree)?, bytes);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Promises: no schema text and no bytes make it panic or recurse without end. Structs above [`MAX_SIZE`], nested deeper
//! than [`MAX_DEPTH`], and cycles are refused with the reason; a registry holds at most [`MAX_SCHEMAS`].

mod layout;
mod parse;
mod registry;
mod tree;

pub use layout::{Bits, Field, Kind, Leaf, StructLayout};
pub use parse::{Declaration, parse};
pub use registry::{Registry, State};
pub use tree::Tree;

/// The largest struct that is laid out, in bytes.
pub const MAX_SIZE: usize = 1 << 20;
/// The deepest nesting that is laid out.
pub const MAX_DEPTH: usize = 32;
/// The most numbers of one struct that are listed by name.
pub const MAX_LEAVES: usize = 1 << 16;
/// The most schemas that one registry holds.
pub const MAX_SCHEMAS: usize = 4096;
/// The longest schema text that is parsed, in bytes.
pub const MAX_TEXT: usize = 1 << 16;

/// A schema, or bytes, that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The text does not follow the grammar.
    #[error("schema byte {offset}: expected {expected}, found {found}")]
    Syntax {
        /// Where in the text.
        offset: usize,
        /// What the grammar has there.
        expected: &'static str,
        /// What stood there.
        found: String,
    },
    /// A declaration that follows the grammar and makes no sense.
    #[error("field {field}: expected {expected}, found {found}")]
    Field {
        /// The field's name.
        field: String,
        /// What would have been accepted.
        expected: &'static str,
        /// What stood there.
        found: String,
    },
    /// Structs that contain each other.
    #[error("struct {name}: expected no struct inside itself, found {chain}")]
    Cycle {
        /// The struct whose schema closed the cycle.
        name: String,
        /// The way back to it.
        chain: String,
    },
    /// One of the limits above.
    #[error("struct {name}: expected at most {limit} {what}, found more")]
    TooLarge {
        /// The struct.
        name: String,
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// The name is registered with another text.
    #[error("struct {name}: expected the schema registered before, {expected:?}, found {found:?}")]
    Conflict {
        /// The struct.
        name: String,
        /// The text that stays.
        expected: String,
        /// The text that was refused.
        found: String,
    },
    /// Fewer bytes than the struct takes.
    #[error("struct {name}: expected {expected} bytes, found {found}")]
    Short {
        /// The struct.
        name: String,
        /// Its size.
        expected: usize,
        /// Bytes there were.
        found: usize,
    },
    /// A tree that does not have the struct's shape.
    #[error("{path}: expected {expected}, found {found}")]
    Shape {
        /// The field's path.
        path: String,
        /// What the schema has there.
        expected: String,
        /// What the tree has there.
        found: String,
    },
}
