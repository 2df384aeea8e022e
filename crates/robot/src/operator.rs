//! The way in: declared inputs, and what people wrote to them. Nothing else comes back from the network.

use fieldlab_base::{ConfigError, Micros, OperatorSample};

/// An input that a person may write, as an op mode declares it.
#[derive(Debug, Clone, PartialEq)]
pub struct InputSpec {
    /// The absolute topic: `/Catalyst/Tuning/FieldLab/Advance`.
    pub topic: String,
    /// What it holds before anybody wrote.
    pub seed: InputSeed,
}

/// The seed of an input, which also says its type.
#[derive(Debug, Clone, PartialEq)]
pub enum InputSeed {
    /// A number, shown as `double`; a client may write any number type.
    Number(f64),
    /// A text.
    Text(String),
}

/// Where inputs are declared and samples come from.
pub trait OperatorPort {
    /// Declares the inputs of the op mode that is selected; their samples carry the index in this list. Replaces the
    /// list before.
    ///
    /// # Errors
    /// When a topic cannot be an input: a bad name, or one that the robot publishes. When that is only known later,
    /// [`OperatorPort::refused`] says it.
    fn declare(&mut self, inputs: &[InputSpec]) -> Result<(), ConfigError>;

    /// Takes the inputs back: no op mode wants any.
    fn withdraw(&mut self);

    /// Moves everything that arrived since the last call to the end of `into`, in order of arrival. Never waits.
    fn drain(&mut self, now: Micros, into: &mut Vec<OperatorSample>);

    /// Why inputs that were declared earlier could not be made, told once. A port that always knows at once has nothing to
    /// say here.
    fn refused(&mut self) -> Option<ConfigError> {
        None
    }
}

/// A robot without a network: nobody can write anything.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoOperator;

impl OperatorPort for NoOperator {
    fn declare(&mut self, _inputs: &[InputSpec]) -> Result<(), ConfigError> {
        Ok(())
    }
    fn withdraw(&mut self) {}
    fn drain(&mut self, _now: Micros, _into: &mut Vec<OperatorSample>) {}
}
