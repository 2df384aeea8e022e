//! Records of the runner on their way through the door: topics that are known only once a session has begun.

use std::collections::BTreeMap;

use fieldlab_campaign::LogRecord;
use fieldlab_values::{Publish, Root, TopicSpec};

use crate::telemetry::Scope;

/// The topics of the session's records, declared when the first record of a key comes.
#[derive(Debug, Default)]
pub(super) struct Records {
    known: BTreeMap<String, u32>,
    refused: u64,
}

impl Records {
    /// Hands a record to the door. It is an event: a later one of the same turn does not replace it.
    pub(super) fn write(&mut self, scope: &mut Scope, record: LogRecord) {
        let index = match self.known.get(&record.key) {
            Some(index) => *index,
            None => {
                let spec = TopicSpec {
                    root: Root::Catalyst,
                    key: &record.key,
                    data_type: record.data_type.clone(),
                    unit: "",
                };
                let declared = if record.sticky { scope.declare_sticky(&spec) } else { scope.declare(&spec) };
                let Ok(index) = declared else {
                    // Only a key that another part of the robot publishes too comes here.
                    self.refused += 1;
                    return;
                };
                self.known.insert(record.key, index);
                index
            }
        };
        scope.append(index, record.value);
    }

    /// Records whose key was taken.
    pub(super) const fn refused(&self) -> u64 {
        self.refused
    }
}
