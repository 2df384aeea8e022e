//! The one alert registry: what a person should know, by source, cleared by source.

use std::sync::Arc;

use fieldlab_base::ConfigError;
use fieldlab_values::{Publish, Publisher, Root};

/// How loud an alert is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AlertLevel {
    /// Data or a function is lost.
    Error,
    /// Degraded, complete.
    Warning,
    /// For the operator to know.
    Info,
}

const LEVELS: [AlertLevel; 3] = [AlertLevel::Error, AlertLevel::Warning, AlertLevel::Info];

/// Active alerts, published as `/Catalyst/Alerts/{Errors,Warnings,Info}` with rows `[Source] text`, and in the form of
/// the dashboards' alert widget at `/SmartDashboard/Alerts`.
///
/// An alert stands until its source clears it; a source that starts over clears all of its own first.
#[derive(Debug)]
pub struct Alerts {
    active: Vec<Alert>,
    changed: bool,
    /// Where a row is put together.
    scratch: String,
    rows: [Vec<Arc<str>>; 3],
    catalyst: [Publisher<[Arc<str>]>; 3],
    dashboard: [Publisher<[Arc<str>]>; 3],
    dashboard_type: Publisher<str>,
    error_count: Publisher<i64>,
    warning_count: Publisher<i64>,
    has_faults: Publisher<bool>,
}

#[derive(Debug)]
struct Alert {
    level: AlertLevel,
    /// `[source] text`.
    row: Arc<str>,
    /// Length of the source.
    source: usize,
}

impl Alert {
    fn is(&self, level: AlertLevel, source: &str, text: &str) -> bool {
        self.level == level && self.is_of(source) && self.row.get(self.source + 3..) == Some(text)
    }

    fn is_of(&self, source: &str) -> bool {
        self.row.get(1..=self.source) == Some(source)
    }
}

impl Alerts {
    /// An empty registry that publishes through `to`.
    ///
    /// # Errors
    /// When the topics were declared before: one robot has one registry.
    pub fn new(to: &mut dyn Publish) -> Result<Self, ConfigError> {
        let dash = |to: &mut dyn Publish, key| Publisher::declare(to, Root::SmartDashboard, key, "");
        Ok(Self {
            active: Vec::with_capacity(16),
            changed: true,
            scratch: String::with_capacity(200),
            rows: std::array::from_fn(|_| Vec::with_capacity(16)),
            catalyst: [
                Publisher::catalyst(to, "Alerts/Errors")?,
                Publisher::catalyst(to, "Alerts/Warnings")?,
                Publisher::catalyst(to, "Alerts/Info")?,
            ],
            dashboard: [dash(to, "Alerts/errors")?, dash(to, "Alerts/warnings")?, dash(to, "Alerts/infos")?],
            dashboard_type: Publisher::declare(to, Root::SmartDashboard, "Alerts/.type", "")?,
            error_count: Publisher::catalyst(to, "Alerts/ErrorCount")?,
            warning_count: Publisher::catalyst(to, "Alerts/WarningCount")?,
            has_faults: Publisher::catalyst(to, "Alerts/HasFaults")?,
        })
    }

    /// Raises an alert; raising it again changes nothing and allocates nothing.
    pub fn raise(&mut self, level: AlertLevel, source: &str, text: &str) {
        if self.active.iter().any(|a| a.is(level, source, text)) {
            return;
        }
        self.scratch.clear();
        for part in ["[", source, "] ", text] {
            self.scratch.push_str(part);
        }
        self.active.push(Alert { level, row: Arc::from(self.scratch.as_str()), source: source.len() });
        self.changed = true;
    }

    /// Takes one alert back.
    pub fn clear(&mut self, level: AlertLevel, source: &str, text: &str) {
        self.keep(|a| !a.is(level, source, text));
    }

    /// Takes back everything that `source` raised.
    pub fn clear_source(&mut self, source: &str) {
        self.keep(|a| !a.is_of(source));
    }

    /// Takes back what `source` raised at this level.
    pub fn clear_level(&mut self, level: AlertLevel, source: &str) {
        self.keep(|a| a.level != level || !a.is_of(source));
    }

    /// Whether any error stands.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.active.iter().any(|a| a.level == AlertLevel::Error)
    }

    fn keep(&mut self, keep: impl FnMut(&Alert) -> bool) {
        let before = self.active.len();
        self.active.retain(keep);
        self.changed |= self.active.len() != before;
    }

    /// Publishes what changed since the last call.
    pub fn publish(&mut self, to: &mut dyn Publish) {
        if !std::mem::take(&mut self.changed) {
            return;
        }
        for (rows, level) in self.rows.iter_mut().zip(LEVELS) {
            rows.clear();
            rows.extend(self.active.iter().filter(|a| a.level == level).map(|a| Arc::clone(&a.row)));
        }
        for i in 0..LEVELS.len() {
            self.catalyst[i].set(to, &self.rows[i]);
            self.dashboard[i].set(to, &self.rows[i]);
        }
        self.dashboard_type.set(to, "Alerts");
        self.error_count.set(to, &(self.rows[0].len() as i64));
        self.warning_count.set(to, &(self.rows[1].len() as i64));
        self.has_faults.set(to, &!self.rows[0].is_empty());
    }
}

#[cfg(test)]
mod tests {
    use fieldlab_base::Micros;
    use fieldlab_values::Value;

    use super::super::{Door, MemorySink};
    use super::*;

    fn rows(texts: &[&str]) -> Option<Value> {
        Some(Value::StringArray(texts.iter().map(|t| Arc::from(*t)).collect()))
    }

    #[test]
    fn f30_a_source_clears_its_own_and_no_other() {
        let mut door = Door::new();
        let memory = MemorySink::new();
        door.attach(Box::new(memory.clone()));
        let mut alerts = Alerts::new(&mut door).unwrap();
        alerts.raise(AlertLevel::Info, "FieldLab", "resumed");
        alerts.raise(AlertLevel::Info, "FieldLab", "resumed");
        alerts.raise(AlertLevel::Error, "Loop", "gyro lost");
        door.begin(Micros(1));
        alerts.publish(&mut door);
        door.end();
        assert_eq!(memory.last("/Catalyst/Alerts/Info"), rows(&["[FieldLab] resumed"]));
        assert_eq!(memory.last("/Catalyst/Alerts/Errors"), rows(&["[Loop] gyro lost"]));
        assert_eq!(memory.last("/Catalyst/Alerts/ErrorCount"), Some(Value::Int(1)));
        assert_eq!(memory.last("/Catalyst/Alerts/HasFaults"), Some(Value::Boolean(true)));
        assert_eq!(memory.last("/SmartDashboard/Alerts/.type"), Some("Alerts".into()));
        assert_eq!(memory.last("/SmartDashboard/Alerts/errors"), rows(&["[Loop] gyro lost"]));

        alerts.clear_source("FieldLab");
        door.begin(Micros(2));
        alerts.publish(&mut door);
        door.end();
        assert_eq!(memory.last("/Catalyst/Alerts/Info"), rows(&[]));
        assert_eq!(memory.last("/Catalyst/Alerts/ErrorCount"), Some(Value::Int(1)));
    }
}
