//! The connection to the robot and what the viewers' server is told of it.
//!
//! There is one connection for all viewers. An accepted write is a publish, the value and an unpublish on it, said at once
//! and in the order in which the viewers wrote: nothing is kept that a later connection could say again, and while there is
//! no connection nothing is kept at all. The robot does not echo what this connection wrote, so the relay does.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fieldlab_base::{ClientId, Micros};
use fieldlab_nt4::client::{Event, PublishOptions};
use fieldlab_nt4::server::{LocalTopic, Server, ServerConfig};
use fieldlab_nt4::{Limits, Properties, SubscribeOptions};
use fieldlab_nt4_net::{Clock, Hub, NetClient, NetClientConfig};
use fieldlab_values::{DataType, Value, ValueRef};

use crate::error::ConsoleError;
use crate::gate::{Rules, Write};
use crate::inputs::{Inputs, MANIFEST, fit, is_answer, short};
use crate::mirror::{Mirror, OWN};

/// What the robot's server shows us as.
const NAME: &str = "fieldlab-console";
/// How long the relay's thread waits for the robot before it looks at what else there is to do.
const PAUSE: Duration = Duration::from_millis(50);
/// Events applied under one lock of the viewers' server.
const BATCH: usize = 1024;
/// Topics for which it is remembered who wrote last.
const WRITERS: usize = 4096;

/// The console's own topics, in the order of [`Own`].
const NAMES: [&str; 5] = ["Robot", "Connected", "Viewers", "Refused", "LastRefused"];

/// The handles of the console's own topics.
#[derive(Debug, Clone, Copy)]
struct Own {
    robot: LocalTopic,
    connected: LocalTopic,
    viewers: LocalTopic,
    refused: LocalTopic,
    last_refused: LocalTopic,
}

impl Own {
    fn all(self) -> [LocalTopic; 5] {
        [self.robot, self.connected, self.viewers, self.refused, self.last_refused]
    }

    fn publish(server: &mut Server) -> Result<Self, fieldlab_nt4::NtError> {
        let mut one = |name: &str, kind: DataType| {
            server.publish_local(&format!("{OWN}{name}"), &kind, &Properties::new())
        };
        let [robot, connected, viewers, refused, last_refused] = NAMES;
        Ok(Self {
            robot: one(robot, DataType::String)?,
            connected: one(connected, DataType::Boolean)?,
            viewers: one(viewers, DataType::Int)?,
            refused: one(refused, DataType::Int)?,
            last_refused: one(last_refused, DataType::String)?,
        })
    }
}

/// Never locked while the hub is, and never across a wait.
#[derive(Debug, Default)]
struct State {
    inputs: Inputs,
    /// Which viewer wrote an answer's input last, on the connection that stands.
    writers: BTreeMap<String, ClientId>,
    /// A connection stands whose clock is known: before that nothing can be written.
    ready: bool,
}

/// See the [module](self).
pub(crate) struct Relay {
    pub(crate) hub: Hub,
    pub(crate) clock: Clock,
    client: NetClient,
    /// Locked inside the hub only.
    own: Mutex<Own>,
    /// The latest time that a topic of our own was given, microseconds of the robot's clock.
    told: AtomicI64,
    state: Mutex<State>,
    /// Tries of viewers that were refused.
    refused: AtomicI64,
    viewers: AtomicI64,
    /// The robot's clock less ours, microseconds; the last one known.
    offset: AtomicI64,
    servers: String,
}

impl Relay {
    /// Starts to connect to the first of `servers` that answers.
    pub(crate) fn start(servers: Vec<String>, clock: Clock) -> Result<Self, ConsoleError> {
        let limits =
            Limits { clients: 32, queue_bytes: 256 << 10, control_bytes: 8 << 20, ..Limits::default() };
        let hub = Hub::new(Server::new(ServerConfig { limits, reserved: Vec::new() })?);
        let refused = |error: &dyn std::fmt::Display| ConsoleError::Client { reason: error.to_string() };
        let own = hub.with(Own::publish).map_err(|error| refused(&error))?;
        let shown = servers.join(" or ");
        let mut config = NetClientConfig::new("", NAME, clock.clone());
        config.servers = servers;
        let client = NetClient::start(config).map_err(|error| refused(&error))?;
        let everything = SubscribeOptions::prefix().all().every(Micros::from_millis(20));
        client.with(|c| c.subscribe(&[""], everything)).map_err(|error| refused(&error))?;
        let relay = Self {
            hub,
            clock,
            client,
            own: Mutex::new(own),
            told: AtomicI64::new(i64::MIN),
            state: Mutex::default(),
            refused: AtomicI64::new(0),
            viewers: AtomicI64::new(0),
            offset: AtomicI64::new(0),
            servers: shown,
        };
        relay.tell(|own| own.robot, ValueRef::String(&relay.servers));
        relay.tell(|own| own.connected, ValueRef::Boolean(false));
        relay.tell(|own| own.viewers, ValueRef::Int(0));
        relay.tell(|own| own.refused, ValueRef::Int(0));
        relay.tell(|own| own.last_refused, ValueRef::String(""));
        Ok(relay)
    }

    /// Shows what the robot says, until told to stop.
    pub(crate) fn run(&self, stop: &AtomicBool) {
        let mut mirror = Mirror::default();
        let mut batch = Vec::with_capacity(BATCH);
        while !stop.load(Ordering::Acquire) {
            let mut next = self.client.next_event(PAUSE);
            while let Some(event) = next {
                batch.push(event);
                next = if batch.len() < BATCH { self.client.next_event(Duration::ZERO) } else { None };
            }
            let now = (self.clock)();
            self.hub.with(|server| {
                for event in &batch {
                    if *event == Event::Disconnected {
                        mirror.disconnected();
                    }
                    mirror.apply(server, event, now);
                }
                mirror.settle(server, now);
            });
            for event in batch.drain(..) {
                self.note(&event);
            }
        }
    }

    /// What the relay itself learns from an event.
    fn note(&self, event: &Event) {
        match event {
            Event::Connected => {
                self.lock().writers.clear();
                let state = self.client.state();
                let address = state.connected.map_or_else(|| self.servers.clone(), |(server, _)| server);
                self.tell(|own| own.robot, ValueRef::String(&address));
            }
            Event::Disconnected => {
                self.lock().ready = false;
                self.tell(|own| own.connected, ValueRef::Boolean(false));
            }
            Event::Clock { estimate, .. } => {
                self.offset.store(estimate.offset.0, Ordering::Release);
                // Told once time requests are answered by the new clock, so that viewers can ask for it anew.
                if !std::mem::replace(&mut self.lock().ready, true) {
                    if self.robot_now().0 < self.told.load(Ordering::Acquire) {
                        self.announce_anew();
                    }
                    self.tell(|own| own.connected, ValueRef::Boolean(true));
                }
            }
            Event::Value { name, value: Value::String(text), .. } if name.as_ref() == MANIFEST => {
                self.lock().inputs.read_manifest(text);
            }
            Event::Unannounced(name) if name.as_ref() == MANIFEST => self.lock().inputs.forget_manifest(),
            _ => {}
        }
    }

    /// The robot's clock now, by the last estimate; ours while there was none.
    pub(crate) fn robot_now(&self) -> Micros {
        (self.clock)() + Micros(self.offset.load(Ordering::Acquire))
    }

    /// Passes a viewer's value on to the robot.
    ///
    /// # Errors
    /// Why not, in words.
    pub(crate) fn write(&self, viewer: ClientId, write: &Write) -> Result<(), &'static str> {
        let (data_type, held) = self.hub.with(|server| {
            (
                server.topic_type(&write.name).map(str::to_owned),
                server.value(&write.name).map(|(_, value)| value),
            )
        });
        let mut state = self.lock();
        state.inputs.check(&write.name, data_type.as_deref())?;
        let data_type = data_type.ok_or("the robot asks for nothing there")?;
        let value = fit(&write.value, &data_type)?;
        let other = state.writers.get(&write.name).is_some_and(|writer| *writer != viewer);
        // The robot tells answers of one client from those that another re-sends; to it all viewers are one client.
        if other && is_answer(&write.name) && held.as_ref() == Some(&value) {
            return Err("the same number as another viewer wrote: press SameAgain");
        }
        if state.writers.len() >= WRITERS && !state.writers.contains_key(&write.name) {
            return Err("too many inputs");
        }
        let data_type = DataType::from_nt(&data_type);
        let local = (self.clock)();
        // The state stays locked, so that the robot and the viewers see writes in one order.
        let said = self.client.with(|client| {
            if !client.is_connected() || client.clock().is_none() {
                return Err("the robot is not connected");
            }
            let publisher = client
                .publish(&write.name, &data_type, PublishOptions::default())
                .map_err(|_| "the robot's topic cannot be written")?;
            client.set(publisher, local, value.as_ref());
            client.unpublish(publisher);
            Ok(())
        });
        said?;
        state.writers.insert(write.name.clone(), viewer);
        let time = self.robot_now();
        self.hub.with(|server| {
            let shown = server.topic_type(&write.name).is_some_and(|now| now == data_type.nt_name());
            // What the robot already publishes is answered with its handle.
            if shown && let Ok(topic) = server.publish_local(&write.name, &data_type, &Properties::new()) {
                // Never older than what is shown: clients would drop it.
                let held = server.value(&write.name).map_or(Micros::MIN, |(held, _)| held);
                server.set_local(topic, time.max(held + Micros(1)), value.as_ref());
            }
        });
        Ok(())
    }

    /// Counts and shows what was refused.
    pub(crate) fn refuse(&self, count: u64, viewer: &str, last: &str) {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let add = |refused: i64| Some(refused.saturating_add(count));
        // It never answers none, so it never fails.
        self.refused.fetch_update(Ordering::AcqRel, Ordering::Acquire, add).ok();
        self.tell_count(|own| own.refused, &self.refused);
        self.tell(|own| own.last_refused, ValueRef::String(&format!("{last} ({})", short(viewer))));
    }

    /// A viewer came (1) or went (-1).
    pub(crate) fn count_viewer(&self, change: i64) {
        self.viewers.fetch_add(change, Ordering::AcqRel);
        self.tell_count(|own| own.viewers, &self.viewers);
    }

    fn tell(&self, topic: impl FnOnce(&Own) -> LocalTopic, value: ValueRef<'_>) {
        self.hub.with(|server| self.set(server, topic, value));
    }

    /// The count is read where it is told, so that two viewers' threads cannot tell an older one last.
    fn tell_count(&self, topic: impl FnOnce(&Own) -> LocalTopic, count: &AtomicI64) {
        self.hub.with(|server| self.set(server, topic, ValueRef::Int(count.load(Ordering::Acquire))));
    }

    fn set(&self, server: &mut Server, topic: impl FnOnce(&Own) -> LocalTopic, value: ValueRef<'_>) {
        // A better estimate of the robot's clock may set it back a little; clients drop what is older than what they have.
        let now = self.robot_now().0.max(self.told.load(Ordering::Acquire).saturating_add(1));
        self.told.store(now, Ordering::Release);
        server.set_local(topic(&unpoisoned(&self.own)), Micros(now), value);
    }

    /// The robot's clock began anew. Clients hold on to the value with the latest time, until a topic is another one.
    fn announce_anew(&self) {
        let now = self.robot_now();
        self.told.store(now.0, Ordering::Release);
        self.hub.with(|server| {
            let mut own = unpoisoned(&self.own);
            let held = NAMES.map(|name| server.value(&format!("{OWN}{name}")).map(|(_, value)| value));
            for topic in own.all() {
                server.unpublish_local(topic);
            }
            // They were there a moment ago, so there is room for them and nobody else has the names.
            let Ok(fresh) = Own::publish(server) else { return };
            *own = fresh;
            for (topic, value) in fresh.all().into_iter().zip(&held) {
                if let Some(value) = value {
                    server.set_local(topic, now, value.as_ref());
                }
            }
        });
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        unpoisoned(&self.state)
    }
}

/// What a panic of another thread left is still good: every change under these locks is one step.
fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Rules for Relay {
    fn may_publish(&self, name: &str, type_name: &str) -> Result<(), &'static str> {
        let robots = self.hub.with(|server| server.topic_type(name).map(str::to_owned));
        self.lock().inputs.check(name, robots.as_deref())?;
        if robots.as_deref() == Some(type_name) {
            Ok(())
        } else {
            Err("not the type that the robot asks for")
        }
    }
}
