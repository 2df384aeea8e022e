//! The robot's account of itself: what it is called, made of, made to do, and how each of these facts is known.
//!
//! A team declares a name and what nothing can measure; everything else is read by sources and derived. What nobody knows
//! is absent from the sheet, with the reason beside it, never zero or blank.
//!
//! ```
//! use fieldlab_base::Micros;
//! use fieldlab_identity::{ControllerFacts, FactPart, Facts, Features, Key, RobotIdentity, Source, derive};
//!
//! let declared = RobotIdentity::named("Ratchet").frame_m(0.74, 0.70).bumper_thickness_m(0.08).declare()?;
//! let mut facts = Facts::default();
//! let controller = ControllerFacts { team_number: Some(0), ..ControllerFacts::default() };
//! facts.put(Source::new(1, "HAL"), Micros(5), FactPart { controller, ..FactPart::default() });
//!
//! let sheet = derive(&declared, &facts, &Features::default(), Micros(7));
//! assert_eq!(sheet.value("Chassis/BumperLengthMeters"), Some(&0.9.into()));
//! assert_eq!(sheet.value("Identity/TeamNumber"), None);
//! assert_eq!(sheet.why(Key::TeamNumber), Some("HAL: 0 is no reading, it can only be above 0"));
//! # Ok::<(), fieldlab_base::ConfigError>(())
//! ```
//!
//! Promises: the same facts give the same sheet in any order; no text or number from a source or a stranger's sheet makes
//! it panic or grow without bound. It knows no socket, file, clock or hardware, and never invents a value.

mod card;
mod declaration;
mod derive;
mod devices;
mod diff;
mod digest;
mod facts;
mod features;
mod identity;
pub mod keys;
mod read;
mod schema;
mod sheet;
mod text;
pub mod version;

pub use card::{Card, CardGroup, Units, card};
pub use declaration::{Builder, Declaration, RobotIdentity};
pub use derive::{DECLARATION, Rectangle, derive, rectangle};
pub use devices::{Device, DeviceClass, GyroFact, HIGHEST_ID};
pub use diff::{Difference, diff};
pub use digest::{Digest, digest};
pub use facts::{
    Controller, ControllerFacts, FactPart, FactSource, Facts, MeasuredFacts, ModuleConstants,
    PathPlannerSettings, PowerFacts, PowerModule, RuntimeFacts, Source, SwerveFacts,
};
pub use features::{Features, Present};
pub use identity::{Change, Identity, To, changes};
pub use keys::Key;
pub use read::{ReadProvenance, ReadSheet, Whole};
pub use schema::{ID as SCHEMA, schema, schema_text};
pub use sheet::{Disagreement, Entry, Fact, How, Provenance, SpecSheet, Warning};
