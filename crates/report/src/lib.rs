//! Reports from findings: Markdown for the terminal, one HTML page with pictures for the pit, JSON for machines.
//!
//! ```
//! use fieldlab_analysis::findings::Findings;
//!
//! let nothing = Findings::default();
//! assert!(fieldlab_report::markdown(&nothing).contains("Nothing of Field Lab is in these logs"));
//! assert!(fieldlab_report::html(&nothing).starts_with("<!DOCTYPE html>"));
//! assert!(fieldlab_report::json(&nothing).contains("\"session\": \"\""));
//! ```
//!
//! Promises: every word from a log is escaped, so no label, note or file name can break a table or run in a browser;
//! the same findings give the same bytes; numbers that are not finite are printed as a dash and as `null`.
//! It never reads a log, asks for the time, or needs a network: the HTML page stands alone.

mod diff;
mod document;
mod figures;
mod html;
mod json;
mod markdown;
mod sections;
mod svg;
mod text;

pub use diff::{diff_json, diff_markdown};
pub use html::html;
pub use json::{json, json_value};
pub use markdown::markdown;
