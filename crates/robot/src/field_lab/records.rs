//! Records of the runner on their way through the door.

use fieldlab_campaign::{LogKey, LogRecord};
use fieldlab_values::{Publish, Root, TopicSpec};

use crate::telemetry::Scope;

/// The topics of the runner's records.
#[derive(Debug, Default)]
pub(super) struct Records {
    /// By the runner's key; `None` for one that another part of the robot publishes too.
    topics: Vec<Option<u32>>,
    refused: u64,
}

impl Records {
    /// Declares the topics of the keys that are new: those of a session when it begins, so that no turn of the session has
    /// to.
    pub(super) fn declare(&mut self, scope: &mut Scope, keys: &[LogKey]) {
        for LogKey { key, data_type, sticky } in keys.iter().skip(self.topics.len()) {
            let spec = TopicSpec { root: Root::Catalyst, key, data_type: data_type.clone(), unit: "" };
            let declared = if *sticky { scope.declare_sticky(&spec) } else { scope.declare(&spec) };
            self.refused += u64::from(declared.is_err());
            self.topics.push(declared.ok());
        }
    }

    /// Hands a record to the door. It is an event: a later one of the same turn does not replace it.
    pub(super) fn write(&self, scope: &Scope, record: LogRecord<'_>) {
        if let Some(topic) = self.topics.get(record.key).copied().flatten() {
            scope.append(topic, record.value);
        }
    }

    /// Keys that were taken.
    pub(super) const fn refused(&self) -> u64 {
        self.refused
    }
}
