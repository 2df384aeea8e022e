//! The robot's side of its NetworkTables server: telemetry out, declared inputs in.

use fieldlab_base::{ConfigError, Micros, OperatorSample};
use fieldlab_nt4::server::{InputKind, Server, ServerConfig};
use fieldlab_nt4_net::Hub;
use fieldlab_values::Value;

use crate::operator::{InputSeed, InputSpec, OperatorPort};

/// Prefixes under which clients may not even make topics of their own. `/.schema/` is not among them: a coprocessor
/// publishes the schemas of its own structs, and the robot's own schemas are the robot's topics anyway.
const RESERVED: [&str; 1] = ["/FMSInfo/"];

/// A server for a robot, with the default limits.
///
/// # Errors
/// Never with these settings; the type says so for the sake of the caller's `?`.
pub fn hub() -> Result<Hub, ConfigError> {
    let reserved = RESERVED.map(str::to_owned).into();
    Ok(Hub::new(Server::new(ServerConfig { reserved, ..ServerConfig::default() })?))
}

/// The declared inputs, by way of the server.
#[derive(Debug, Clone)]
pub struct NtOperator {
    hub: Hub,
    declared: Vec<InputSpec>,
    /// Whether draining may wait for the server's lock, as it may by a virtual clock.
    direct: bool,
}

impl NtOperator {
    /// For a robot: when the server is busy, what people wrote is fetched in the next turn.
    #[must_use]
    pub fn queued(hub: Hub) -> Self {
        Self { hub, declared: Vec::new(), direct: false }
    }

    /// For a virtual clock: what was written before the turn is seen in the turn.
    #[must_use]
    pub fn direct(hub: Hub) -> Self {
        Self { hub, declared: Vec::new(), direct: true }
    }
}

impl OperatorPort for NtOperator {
    fn declare(&mut self, inputs: &[InputSpec]) -> Result<(), ConfigError> {
        // An op mode that is built anew asks for what it had: dashboards must not see it go and come.
        if self.declared == inputs {
            return Ok(());
        }
        self.declared.clear();
        self.hub.with(|server| {
            server.retract_inputs();
            for (i, input) in inputs.iter().enumerate() {
                let (kind, seed) = match &input.seed {
                    InputSeed::Number(n) => (InputKind::Number, Value::Double(*n)),
                    InputSeed::Text(text) => (InputKind::Text, Value::from(text.as_str())),
                };
                server.declare_input(&input.topic, kind, &seed).map_err(|refused| {
                    ConfigError::new(format!("inputs[{i}].topic"), "a topic that can be an input", refused)
                })?;
            }
            Ok(())
        })?;
        self.declared = inputs.to_vec();
        Ok(())
    }

    fn withdraw(&mut self) {
        if !std::mem::take(&mut self.declared).is_empty() {
            self.hub.with(Server::retract_inputs);
        }
    }

    fn drain(&mut self, _now: Micros, into: &mut Vec<OperatorSample>) {
        if self.declared.is_empty() {
            return;
        }
        if self.direct {
            self.hub.with(|server| server.drain_inputs(into));
        } else {
            self.hub.try_drain_inputs(into);
        }
    }
}
