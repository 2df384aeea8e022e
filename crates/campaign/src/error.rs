//! What can be wrong with bytes that this crate reads.

/// Bytes that are not what they should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CampaignError {
    /// A checkpoint that cannot be used.
    #[error("checkpoint, {place}: expected {expected}, found {found}")]
    Checkpoint {
        /// Line and column, or the field.
        place: String,
        /// What would have been accepted.
        expected: &'static str,
        /// What stood there.
        found: String,
    },
}
