//! What a Systemcore's own NetworkTables server says, fetched on a thread of its own.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread::JoinHandle;
use std::time::Duration;

use fieldlab_base::Micros;
use fieldlab_identity::{FactPart, FactSource, Key, Source};
use fieldlab_nt4::SubscribeOptions;
use fieldlab_nt4::client::{Client, ClientConfig, Event};
use fieldlab_nt4_net::{Clock, NetClient, NetClientConfig, NetError};
use fieldlab_values::Value;

/// The port of the server, on the controller itself.
pub const SYSTEM_SERVER_PORT: u16 = 6810;

/// The name under which the robot's code is its client.
const NAME: &str = "fieldlab-identity";
/// How long the thread waits for news before it looks whether it should end.
const PATIENCE: Duration = Duration::from_millis(200);

/// The topics that are asked for; nothing else is subscribed.
const TEAM: &str = "/sys/team";
const BROWNOUT: &str = "/sys/vbrownout";

/// What the server said last. A value that stands for "no reading" is none: team 0 is a controller that was never given
/// one, 0 mV is the answer of a HAL that has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct SystemFacts {
    /// `/sys/team`.
    team: Option<i64>,
    /// `/sys/vbrownout`.
    brownout_millivolts: Option<i64>,
    /// Whether the server was ever reached.
    reached: bool,
}

impl SystemFacts {
    /// Takes one event in; answers whether anything that is known changed.
    fn hear(&mut self, event: &Event) -> bool {
        let before = *self;
        match event {
            Event::Connected => self.reached = true,
            Event::Value { name, value, .. } if &**name == TEAM => self.team = team(value),
            Event::Value { name, value, .. } if &**name == BROWNOUT => {
                self.brownout_millivolts = millivolts(value)
            }
            Event::Unannounced(name) if &**name == TEAM => self.team = None,
            Event::Unannounced(name) if &**name == BROWNOUT => self.brownout_millivolts = None,
            // A lost connection changes nothing of what the controller is.
            _ => {}
        }
        before != *self
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        // Whole numbers of the wire up to here are exact.
        Value::Int(n) => Some(*n as f64),
        Value::Float(n) => Some(f64::from(*n)),
        Value::Double(n) => Some(*n),
        _ => None,
    }
    .filter(|n| n.is_finite())
}

fn team(value: &Value) -> Option<i64> {
    let n = number(value)?;
    ((1.0..=99_999.0).contains(&n) && n.fract() == 0.0).then_some(n as i64)
}

fn millivolts(value: &Value) -> Option<i64> {
    number(value).filter(|mv| *mv > 0.5 && *mv < 1e6).map(|mv| mv.round() as i64)
}

/// A client of the system server. Dropping it ends its threads, which takes up to a fifth of a second.
#[derive(Debug)]
pub struct SystemServer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// The revision that was read last.
    read: Option<u64>,
}

#[derive(Debug)]
struct Shared {
    facts: Mutex<SystemFacts>,
    revision: AtomicU64,
    ended: AtomicBool,
}

impl SystemServer {
    /// Connects to the server at `address`, and goes on trying for as long as it lives.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(address: SocketAddr, clock: Clock) -> Result<Self, NetError> {
        // Two numbers: a server that says more than that is not heard.
        let config = NetClientConfig {
            client: ClientConfig { events: 64, ..ClientConfig::default() },
            ..NetClientConfig::new(address.to_string(), NAME, clock)
        };
        let client = NetClient::start(config)?;
        // Two exact names are within every limit.
        client.with(|c: &mut Client| c.subscribe(&[TEAM, BROWNOUT], SubscribeOptions::default())).ok();
        let shared = Arc::new(Shared {
            facts: Mutex::default(),
            revision: AtomicU64::new(0),
            ended: AtomicBool::new(false),
        });
        let ours = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name(NAME.to_owned()).spawn(move || listen(&ours, &client));
        let thread = thread.map_err(|e| NetError::Thread { name: NAME, reason: e.to_string() })?;
        Ok(Self { shared, thread: Some(thread), read: None })
    }

    /// What is known, or nothing while the thread writes at this instant; then it can be had in the next turn.
    fn facts(&self) -> Option<SystemFacts> {
        match self.shared.facts.try_lock() {
            Ok(facts) => Some(*facts),
            Err(TryLockError::Poisoned(poisoned)) => Some(*poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

impl FactSource for SystemServer {
    fn source(&self) -> Source {
        super::SYSTEM_SERVER
    }

    /// In steady state one atomic load.
    fn read(&mut self, _now: Micros) -> Option<FactPart> {
        let revision = self.shared.revision.load(Ordering::Acquire);
        if self.read == Some(revision) {
            return None;
        }
        let facts = self.facts()?;
        self.read = Some(revision);
        Some(facts.part())
    }
}

impl SystemFacts {
    fn part(&self) -> FactPart {
        let mut part = FactPart::default();
        part.controller.team_number = self.team;
        part.controller.brownout_millivolts = self.brownout_millivolts;
        let mut silent = |missing: bool, key: Key, topic: &str| {
            if missing {
                let reached = if self.reached { "says no number under" } else { "was not reached, for" };
                part.silent.push((key, format!("{reached} {topic}")));
            }
        };
        silent(self.team.is_none(), Key::TeamNumber, TEAM);
        silent(self.brownout_millivolts.is_none(), Key::BrownoutVolts, BROWNOUT);
        part
    }
}

impl Drop for SystemServer {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // Nothing is lost with a thread that panicked: what it knew is in the shared facts.
            thread.join().ok();
        }
    }
}

fn listen(shared: &Shared, client: &NetClient) {
    while !shared.ended.load(Ordering::Acquire) {
        let Some(event) = client.next_event(PATIENCE) else { continue };
        let mut facts = shared.facts.lock().unwrap_or_else(PoisonError::into_inner);
        if facts.hear(&event) {
            drop(facts);
            shared.revision.fetch_add(1, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(name: &str, value: Value) -> Event {
        Event::Value { name: name.into(), time: Micros::ZERO, received: Micros::ZERO, value }
    }

    #[test]
    fn i12_known_zeros_and_nonsense_are_no_reading() {
        let mut facts = SystemFacts::default();
        assert!(facts.hear(&Event::Connected));
        assert!(facts.hear(&said(TEAM, Value::Int(5805))));
        assert!(facts.hear(&said(BROWNOUT, Value::Double(6750.0))));
        assert_eq!((facts.team, facts.brownout_millivolts), (Some(5805), Some(6750)));
        assert!(!facts.hear(&said(TEAM, Value::Double(5805.0))), "the same number is no news");
        assert!(!facts.hear(&said("/sys/battery", Value::Double(12.0))));
        for nothing in
            [Value::Int(0), Value::Int(-1), Value::Double(f64::NAN), "5805".into(), Value::Double(0.5)]
        {
            let mut facts = facts;
            facts.hear(&said(TEAM, nothing.clone()));
            assert_eq!(facts.team, None, "{nothing:?}");
        }
        facts.hear(&said(BROWNOUT, Value::Double(0.0)));
        assert_eq!(facts.brownout_millivolts, None);
        assert!(facts.hear(&Event::Unannounced(TEAM.into())));
        assert_eq!(facts, SystemFacts { reached: true, ..SystemFacts::default() });
    }
}
