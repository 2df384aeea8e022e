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
    /// What the op mode wants.
    wanted: Vec<InputSpec>,
    /// The server has not been told yet.
    untold: bool,
    refused: Option<ConfigError>,
    /// Whether this may wait for the server's lock, as it may by a virtual clock.
    direct: bool,
}

impl NtOperator {
    /// For a robot: when the server is busy, inputs are declared and what people wrote is fetched in the next turn.
    #[must_use]
    pub fn queued(hub: Hub) -> Self {
        Self { hub, wanted: Vec::new(), untold: false, refused: None, direct: false }
    }

    /// For a virtual clock: what was written before the turn is seen in the turn.
    #[must_use]
    pub fn direct(hub: Hub) -> Self {
        Self { direct: true, ..Self::queued(hub) }
    }

    /// Tells the server what is wanted, if it can be had now. An error is the server's refusal.
    fn tell(&mut self) -> Result<(), ConfigError> {
        if !self.untold {
            return Ok(());
        }
        let wanted = &self.wanted;
        let told = if self.direct {
            Some(self.hub.with(|server| replace_inputs(server, wanted)))
        } else {
            self.hub.try_with(|server| replace_inputs(server, wanted))
        };
        let Some(result) = told else { return Ok(()) };
        self.untold = false;
        if result.is_err() {
            self.wanted.clear();
        }
        result
    }
}

fn replace_inputs(server: &mut Server, inputs: &[InputSpec]) -> Result<(), ConfigError> {
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
}

impl OperatorPort for NtOperator {
    fn declare(&mut self, inputs: &[InputSpec]) -> Result<(), ConfigError> {
        // An op mode that is built anew asks for what it had: dashboards must not see it go and come.
        if self.wanted == inputs {
            return Ok(());
        }
        self.wanted = inputs.to_vec();
        self.untold = true;
        self.tell()
    }

    fn withdraw(&mut self) {
        if !std::mem::take(&mut self.wanted).is_empty() {
            self.untold = true;
            // Taking inputs back is never refused.
            self.tell().ok();
        }
    }

    fn drain(&mut self, _now: Micros, into: &mut Vec<OperatorSample>) {
        if let Err(refused) = self.tell() {
            self.refused = Some(refused);
        }
        // Until the server knows the new list, what it has are samples of the old one.
        if self.untold || self.wanted.is_empty() {
            return;
        }
        if self.direct {
            self.hub.with(|server| server.drain_inputs(into));
        } else {
            self.hub.try_drain_inputs(into);
        }
    }

    fn refused(&mut self) -> Option<ConfigError> {
        self.refused.take()
    }
}

#[cfg(test)]
mod tests {
    use fieldlab_nt4::Properties;
    use fieldlab_values::DataType;

    use super::*;

    fn input(name: &str) -> InputSpec {
        InputSpec { topic: format!("/Catalyst/Tuning/{name}"), seed: InputSeed::Number(0.0) }
    }

    #[test]
    fn inputs_are_declared_without_waiting_for_the_server() {
        let hub = hub().unwrap();
        let mut port = NtOperator::queued(hub.clone());
        let there = |name: &str| hub.with(|s| s.value(&format!("/Catalyst/Tuning/{name}"))).is_some();
        // Whoever has the server keeps it until the port has come back.
        hub.with(|_| port.declare(&[input("A")])).unwrap();
        assert!(!there("A"));
        hub.with(|_| port.drain(Micros(1), &mut Vec::new()));
        assert!(!there("A"));
        port.drain(Micros(2), &mut Vec::new());
        assert!(there("A") && port.refused().is_none());
        hub.with(|_| port.withdraw());
        assert!(there("A"));
        port.drain(Micros(3), &mut Vec::new());
        assert!(!there("A"));
    }

    #[test]
    fn a_refusal_that_comes_late_is_told_late() {
        let hub = hub().unwrap();
        let mut port = NtOperator::queued(hub.clone());
        let taken = InputSpec { topic: "/FMSInfo/X".into(), ..input("") };
        hub.with(|s| s.publish_local("/FMSInfo/X", &DataType::Int, &Properties::new())).unwrap();
        hub.with(|_| port.declare(std::slice::from_ref(&taken))).unwrap();
        assert!(port.refused().is_none());
        port.drain(Micros(1), &mut Vec::new());
        assert_eq!(port.refused().unwrap().path, "inputs[0].topic");
        assert!(NtOperator::direct(hub).declare(&[taken]).is_err(), "by a virtual clock at once");
    }
}
