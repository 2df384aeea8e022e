//! The robot's topics as the viewers' server shows them.
//!
//! A topic is *confirmed* when the robot announced it on the connection that stands. After a reconnection what is not
//! confirmed is still shown, for a robot that was out of reach for a moment brings it back; once the robot has announced
//! nothing more for a second, it goes. A topic that came back without its value loses the old one then: a robot that has
//! rebooted does not hold it any more. One that came back with an older time is announced anew, for the robot's clock has
//! begun again and clients would take its values for late ones.

use std::collections::BTreeMap;
use std::sync::Arc;

use fieldlab_base::Micros;
use fieldlab_nt4::Properties;
use fieldlab_nt4::client::{Event, RemoteTopic};
use fieldlab_nt4::server::{LocalTopic, Server};
use fieldlab_values::{DataType, Family, Value, ValueRef};

/// Names below this are the console's own; a robot's are not shown.
pub(crate) const OWN: &str = "/FieldLabConsole/";
/// Announcements have come to an end when none came for so long.
const QUIET: Micros = Micros::from_millis(1000);
/// Topics published over the console's whole life: a number of each is kept, eight bytes, also of those that are gone.
const MOST_PUBLISHED: usize = 4_000_000;

#[derive(Debug)]
struct Mirrored {
    local: LocalTopic,
    data_type: DataType,
    properties: Properties,
    confirmed: bool,
    /// It has a value of the connection that stands.
    current: bool,
}

/// See the [module](self).
#[derive(Debug, Default)]
pub(crate) struct Mirror {
    topics: BTreeMap<Arc<str>, Mirrored>,
    published: usize,
    /// While what is not confirmed is still shown: when the last announcement came.
    settling: Option<Micros>,
}

impl Mirror {
    /// Takes over what the robot said. `now` is the local time.
    pub(crate) fn apply(&mut self, server: &mut Server, event: &Event, now: Micros) {
        match event {
            Event::Connected => {
                self.settling = Some(now);
                for topic in self.topics.values_mut() {
                    (topic.confirmed, topic.current) = (false, false);
                }
            }
            Event::Announced(topic) => {
                if self.settling.is_some() {
                    self.settling = Some(now);
                }
                self.announced(server, topic);
            }
            Event::Unannounced(name) => {
                if let Some(gone) = self.topics.remove(name) {
                    retire(server, &gone);
                }
            }
            Event::Properties { name, update } => {
                if let Some(topic) = self.topics.get_mut(name) {
                    server.set_local_properties(topic.local, update);
                    for (key, value) in update {
                        if value.is_null() {
                            topic.properties.remove(key);
                        } else {
                            topic.properties.insert(key.clone(), value.clone());
                        }
                    }
                }
            }
            Event::Value { name, time, value, .. } => self.value(server, name, *time, value),
            _ => {}
        }
    }

    fn value(&mut self, server: &mut Server, name: &Arc<str>, time: Micros, value: &Value) {
        let Some(topic) = self.topics.get_mut(name) else { return };
        let first = !std::mem::replace(&mut topic.current, true);
        // The robot's clock began anew. Clients hold on to the value with the latest time, until a topic is another one.
        if first
            && server.value(name).is_some_and(|(shown, _)| shown > time)
            && let Some(old) = self.topics.remove(name)
        {
            retire(server, &old);
            self.publish(server, name.clone(), old.data_type, old.properties);
        }
        if let Some(topic) = self.topics.get_mut(name) {
            topic.current = true;
            set(server, topic, time, value);
        }
    }

    /// Called now and then: lets go of what a reconnected robot no longer has.
    pub(crate) fn settle(&mut self, server: &mut Server, now: Micros) {
        if self.settling.is_none_or(|last| now.since(last) < QUIET) {
            return;
        }
        self.settling = None;
        let gone: Vec<Arc<str>> =
            self.topics.iter().filter(|(_, topic)| !topic.confirmed).map(|(name, _)| name.clone()).collect();
        for name in gone {
            if let Some(topic) = self.topics.remove(&name) {
                retire(server, &topic);
            }
        }
        let stale: Vec<Arc<str>> = self
            .topics
            .iter()
            .filter(|(name, topic)| !topic.current && server.value(name).is_some())
            .map(|(name, _)| name.clone())
            .collect();
        for name in stale {
            if let Some(topic) = self.topics.remove(&name) {
                retire(server, &topic);
                self.publish(server, name, topic.data_type, topic.properties);
            }
        }
    }

    /// The connection is gone: until the next one has settled nothing more is let go of.
    pub(crate) fn disconnected(&mut self) {
        self.settling = None;
    }

    fn announced(&mut self, server: &mut Server, topic: &RemoteTopic) {
        if topic.name.starts_with(OWN) {
            return;
        }
        match self.topics.get_mut(&topic.name) {
            Some(known) if known.data_type == topic.data_type => {
                known.confirmed = true;
                let mut update = topic.properties.clone();
                update.retain(|key, value| known.properties.get(key) != Some(value));
                for key in known.properties.keys().filter(|key| !topic.properties.contains_key(*key)) {
                    update.insert(key.clone(), serde_json::Value::Null);
                }
                if !update.is_empty() {
                    server.set_local_properties(known.local, &update);
                    known.properties = topic.properties.clone();
                }
            }
            _ => {
                if let Some(other) = self.topics.remove(&topic.name) {
                    retire(server, &other);
                }
                self.publish(server, topic.name.clone(), topic.data_type.clone(), topic.properties.clone());
            }
        }
    }

    fn publish(&mut self, server: &mut Server, name: Arc<str>, data_type: DataType, properties: Properties) {
        if self.published >= MOST_PUBLISHED {
            return;
        }
        // A name that cannot be served, or one topic above the limit, is not shown; the others are.
        if let Ok(local) = server.publish_local(&name, &data_type, &properties) {
            self.published += 1;
            self.topics
                .insert(name, Mirrored { local, data_type, properties, confirmed: true, current: false });
        }
    }
}

/// Takes a topic away, whatever its properties would keep.
fn retire(server: &mut Server, topic: &Mirrored) {
    let mut update = Properties::new();
    for key in ["retained", "persistent"] {
        if topic.properties.contains_key(key) {
            update.insert(key.to_owned(), serde_json::Value::Null);
        }
    }
    if !update.is_empty() {
        server.set_local_properties(topic.local, &update);
    }
    server.unpublish_local(topic.local);
}

/// Sets a value at the robot's time; one of another number type than the topic's is shown as the topic's.
fn set(server: &mut Server, topic: &Mirrored, time: Micros, value: &Value) {
    let family = topic.data_type.family();
    let number = value.as_number().filter(|_| value.as_ref().family() != family);
    match (family, number) {
        (Family::Double, Some(number)) => server.set_local(topic.local, time, ValueRef::Double(number)),
        (Family::Float, Some(number)) => server.set_local(topic.local, time, ValueRef::Float(number as f32)),
        (Family::Int, Some(number)) if number.fract() == 0.0 && number.abs() < 9.0e15 => {
            server.set_local(topic.local, time, ValueRef::Int(number as i64));
        }
        // Of another kind altogether: refused and counted by the server.
        _ => server.set_local(topic.local, time, value.as_ref()),
    }
}

#[cfg(test)]
mod tests {
    use fieldlab_nt4::server::ServerConfig;
    use serde_json::json;

    use super::*;

    struct Stage {
        mirror: Mirror,
        server: Server,
    }

    impl Stage {
        fn new() -> Self {
            Self { mirror: Mirror::default(), server: Server::new(ServerConfig::default()).unwrap() }
        }

        fn apply(&mut self, event: &Event, now: i64) {
            self.mirror.apply(&mut self.server, event, Micros(now));
        }

        fn settle(&mut self, now: i64) {
            self.mirror.settle(&mut self.server, Micros(now));
        }

        fn names(&self) -> Vec<&str> {
            self.server.topic_names().filter(|name| !name.starts_with('$')).collect()
        }
    }

    fn announced(name: &str, data_type: DataType, properties: serde_json::Value) -> Event {
        let properties = properties.as_object().cloned().unwrap_or_default();
        Event::Announced(Arc::new(RemoteTopic { name: name.into(), id: 1, data_type, properties }))
    }

    fn value(name: &str, time: i64, value: Value) -> Event {
        Event::Value { name: name.into(), time: Micros(time), received: Micros(0), value }
    }

    #[test]
    fn values_keep_the_robots_times_also_after_a_reboot_turned_its_clock_back() {
        let mut stage = Stage::new();
        stage.apply(&Event::Connected, 0);
        stage.apply(&announced("/a", DataType::Double, json!({})), 0);
        stage.apply(&value("/a", 9_000_000, Value::Double(1.0)), 0);
        assert_eq!(stage.server.value("/a"), Some((Micros(9_000_000), Value::Double(1.0))));
        stage.apply(&value("/a", 20, Value::Double(2.0)), 0);
        assert_eq!(stage.server.value("/a"), Some((Micros(20), Value::Double(2.0))));
        stage.apply(&value("/a", 30, Value::Int(3)), 0);
        assert_eq!(stage.server.value("/a"), Some((Micros(30), Value::Double(3.0))));
    }

    #[test]
    fn what_a_rebooted_robot_no_longer_has_goes_after_a_second_of_quiet_and_not_before() {
        let mut stage = Stage::new();
        stage.apply(&Event::Connected, 0);
        for name in ["/both", "/old", "/valueless"] {
            stage.apply(&announced(name, DataType::Int, json!({"retained": true, "persistent": true})), 0);
            stage.apply(&value(name, 5, Value::Int(1)), 0);
        }
        stage.settle(2_000_000);
        stage.apply(&Event::Disconnected, 3_000_000);
        stage.mirror.disconnected();
        stage.settle(9_000_000);
        assert_eq!(
            stage.names(),
            ["/both", "/old", "/valueless"],
            "values stay while the robot is out of reach"
        );
        stage.apply(&Event::Connected, 10_000_000);
        stage.apply(&announced("/both", DataType::Int, json!({})), 10_500_000);
        stage.apply(&announced("/valueless", DataType::Int, json!({})), 10_500_000);
        stage.apply(&value("/both", 7, Value::Int(2)), 10_500_000);
        stage.settle(11_499_999);
        assert_eq!(stage.names(), ["/both", "/old", "/valueless"]);
        stage.settle(11_500_000);
        assert_eq!(stage.names(), ["/both", "/valueless"]);
        assert_eq!(stage.server.value("/both"), Some((Micros(7), Value::Int(2))));
        assert_eq!(stage.server.value("/valueless"), None, "the new boot has not set it");
    }

    #[test]
    fn types_change_topics_go_and_the_consoles_own_names_are_not_taken() {
        let mut stage = Stage::new();
        stage.apply(&Event::Connected, 0);
        stage.apply(&announced("/a", DataType::Double, json!({"retained": true})), 0);
        stage.apply(&announced("/FieldLabConsole/Refused", DataType::Int, json!({})), 0);
        assert_eq!(stage.names(), ["/a"]);
        stage.apply(&announced("/a", DataType::String, json!({})), 0);
        assert_eq!(stage.server.topic_type("/a"), Some("string"));
        stage.apply(&Event::Unannounced("/a".into()), 0);
        assert!(stage.names().is_empty());
    }
}
