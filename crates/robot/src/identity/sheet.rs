//! From the register to the door, once a turn.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use fieldlab_base::{ConfigError, Micros};
use fieldlab_identity::{Change, To, keys};
use fieldlab_values::{Publish, Publisher, Root, TopicSpec};

use crate::hw::{self, DriveGeometry, RobotIo};
use crate::telemetry::{AlertLevel, Alerts, Door};

use super::{Register, hardware};

const SOURCE: &str = "Identity";

/// Publishes the sheet, and who is on which bus. In steady state it compares two numbers.
pub(crate) struct SheetPublisher {
    register: Register,
    geometry: Option<DriveGeometry>,
    /// The revision of the hardware's facts that was read last.
    seen: Option<u64>,
    can: Publisher<[Arc<str>]>,
    /// The door's topic of each key that was ever on the sheet; held for the life of the process.
    topics: BTreeMap<Cow<'static, str>, u32>,
    /// What is told of the sheet now.
    told: Vec<String>,
}

impl SheetPublisher {
    pub(crate) fn new(
        register: Register,
        geometry: Option<DriveGeometry>,
        door: &mut Door,
    ) -> Result<Self, ConfigError> {
        let can = Publisher::catalyst(door, "CAN/Devices")?;
        Ok(Self { register, geometry, seen: None, can, topics: BTreeMap::new(), told: Vec::new() })
    }

    pub(crate) fn register(&self) -> &Register {
        &self.register
    }

    /// Takes in what is new, and publishes what that changes.
    pub(crate) fn turn(&mut self, now: Micros, io: &dyn RobotIo, door: &mut Door, alerts: &mut Alerts) {
        self.register.shared.borrow_mut().now = now;
        self.look_at_hardware(io, door);
        self.ask_sources(now, alerts);
        let register = self.register.clone();
        let shared = &mut *register.shared.borrow_mut();
        let changes = shared.identity.step(now);
        if changes.is_empty() {
            return;
        }
        for change in changes {
            if let Err(refused) = self.publish(change, door) {
                alerts.raise(AlertLevel::Error, SOURCE, &refused.to_string());
            }
        }
        if self.told != shared.identity.alerts() {
            shared.identity.alerts().clone_into(&mut self.told);
            alerts.clear_level(AlertLevel::Warning, SOURCE);
            for text in &self.told {
                alerts.raise(AlertLevel::Warning, SOURCE, text);
            }
        }
    }

    /// A source is a team's code: it may use the register while it is asked, and one that panics costs its facts and not the
    /// robot.
    fn ask_sources(&self, now: Micros, alerts: &mut Alerts) {
        let mut sources = std::mem::take(&mut self.register.shared.borrow_mut().sources);
        if sources.is_empty() {
            return;
        }
        sources.retain_mut(|(who, source)| {
            let asked = catch_unwind(AssertUnwindSafe(|| {
                if let Some(part) = source.read(now) {
                    self.register.put(*who, part);
                }
            }));
            if asked.is_err() {
                self.register.shared.borrow_mut().identity.forget(*who);
                let text = format!("the source {} panicked and is left out", who.name);
                alerts.raise(AlertLevel::Error, SOURCE, &text);
            }
            asked.is_ok()
        });
        let shared = &mut *self.register.shared.borrow_mut();
        sources.append(&mut shared.sources);
        shared.sources = sources;
    }

    fn look_at_hardware(&mut self, io: &dyn RobotIo, door: &mut Door) {
        let revision = io.facts_revision();
        if self.seen.replace(revision) == Some(revision) {
            return;
        }
        let facts = io.facts();
        for (source, part) in hardware::parts(&facts, self.geometry) {
            self.register.put(source, part);
        }
        let rows = hw::can_rows(&hardware::devices(&facts));
        // No device that anybody knows of is not "no device".
        if rows.is_empty() {
            self.can.retract(door);
        } else {
            self.can.set(door, &rows);
        }
    }

    /// Topics are sticky: a log that begins another file begins it with them.
    fn publish(&mut self, change: &Change, door: &mut Door) -> Result<(), ConfigError> {
        let known = self.topics.get(&change.name).copied();
        match &change.to {
            To::Set(value) => {
                let index = match known {
                    Some(index) => index,
                    None => {
                        let row = change.key.row();
                        let key = format!("{}/{}", keys::ROOT, change.name);
                        let (root, data_type) = (Root::Catalyst, row.data_type.clone());
                        let spec = TopicSpec { root, key: &key, data_type, unit: row.unit };
                        let index = door.declare_sticky(&spec)?;
                        self.topics.insert(change.name.clone(), index);
                        index
                    }
                };
                door.put(index, value.as_ref());
            }
            To::Retract => {
                if let Some(index) = known {
                    door.retract(index);
                }
            }
        }
        Ok(())
    }
}
