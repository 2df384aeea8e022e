//! What a person typed, as it reached the robot.

use crate::Micros;

/// Which declared input a sample is for: the index in the order in which the robot declared them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InputId(pub u16);

/// One connection of one client. A client that reconnects gets another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientId(pub u64);

/// The value of a sample.
#[derive(Debug, Clone, PartialEq)]
pub enum OperatorValue {
    /// A number of any wire type; may be NaN or infinite, since anybody may send it.
    Number(f64),
    /// A text.
    Text(Box<str>),
}

/// One write to a declared input, judged by arrival and by connection, never by the sender's clock.
#[derive(Debug, Clone, PartialEq)]
pub struct OperatorSample {
    /// The input written.
    pub input: InputId,
    /// What was written.
    pub value: OperatorValue,
    /// Counts every write that the server took, from any client, in the order of arrival.
    pub arrival: u64,
    /// The loop's clock when it arrived.
    pub received: Micros,
    /// Who wrote.
    pub client: ClientId,
    /// When that connection was made, by the loop's clock.
    pub connected_at: Micros,
}
