//! A component that came up says so.

/// The proof that a component was built and its configuration accepted; the robot records it on the identity sheet.
///
/// A component whose configuration was refused returns no feature, and so is absent from the sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feature {
    /// The kind of component: `Campaign`, `Goal Director`.
    pub name: &'static str,
    /// Which one, when there may be several; empty when it has no name of its own.
    pub label: String,
}
