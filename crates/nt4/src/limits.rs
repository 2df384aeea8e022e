//! What a peer may cost, stated before anything is allocated for it.

use fieldlab_base::ConfigError;

/// Limits of a core. Every one is met before an allocation, never after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one WebSocket message, either way; official peers close above 2 MiB.
    pub message_bytes: usize,
    /// Topics, besides the metatopics that come with them.
    pub topics: usize,
    /// Bytes of a topic name, and of a type name.
    pub name_bytes: usize,
    /// Bytes of a topic's properties as JSON.
    pub properties_bytes: usize,
    /// Connections at once.
    pub clients: usize,
    /// Publishers of one client.
    pub publishers: usize,
    /// Subscriptions of one client.
    pub subscriptions: usize,
    /// Name patterns of one client, over all its subscriptions.
    pub patterns: usize,
    /// Bytes of values waiting for one client; above it that client gets only the latest value of each topic.
    pub queue_bytes: usize,
    /// Bytes of announcements waiting for one client; a client that lets so many wait is closed.
    pub control_bytes: usize,
    /// Bytes of all stored values together; above it values from clients are dropped and counted.
    pub stored_bytes: usize,
    /// Operator samples that wait for the robot.
    pub operator_samples: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 2 << 20,
            topics: 16_384,
            name_bytes: 1024,
            properties_bytes: 16 << 10,
            clients: 64,
            publishers: 8192,
            subscriptions: 2048,
            patterns: 4096,
            queue_bytes: 1 << 20,
            control_bytes: 16 << 20,
            stored_bytes: 256 << 20,
            operator_samples: 256,
        }
    }
}

impl Limits {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let all = [
            ("limits.message_bytes", self.message_bytes),
            ("limits.topics", self.topics),
            ("limits.name_bytes", self.name_bytes),
            ("limits.properties_bytes", self.properties_bytes),
            ("limits.clients", self.clients),
            ("limits.publishers", self.publishers),
            ("limits.subscriptions", self.subscriptions),
            ("limits.patterns", self.patterns),
            ("limits.queue_bytes", self.queue_bytes),
            ("limits.control_bytes", self.control_bytes),
            ("limits.stored_bytes", self.stored_bytes),
            ("limits.operator_samples", self.operator_samples),
        ];
        match all.iter().find(|(_, v)| *v == 0 || *v > u32::MAX as usize) {
            Some((path, found)) => Err(ConfigError::new(*path, "a number from 1 to 4294967295", found)),
            None => Ok(()),
        }
    }
}
