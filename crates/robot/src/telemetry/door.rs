//! The door: declared topics, this turn's values, and the sinks behind it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use fieldlab_base::{ConfigError, Micros};
use fieldlab_values::{DataType, Family, Publish, Root, TopicSpec, ValueRef};

use super::events::Events;
use super::frame::{Frame, Sink, SinkStats, Topic};
use super::slot::{Slot, Stored};

/// A number that is set again and again without change is repeated in the log this often, so that a reader can tell a
/// steady value from a dead source. Texts and arrays are written on change only.
const HEARTBEAT: Micros = Micros::from_millis(1000);

/// The one door. Cheap to clone; every clone is the same door, on the loop's thread.
#[derive(Clone, Default)]
pub struct Door {
    core: Rc<RefCell<Core>>,
}

#[derive(Default)]
struct Core {
    now: Micros,
    topics: Vec<Topic>,
    cells: Vec<Cell>,
    by_key: BTreeMap<Root, BTreeMap<Box<str>, u32>>,
    dirty: Vec<(u32, bool)>,
    events: Events,
    /// Whether this turn's frame holds a sticky topic.
    has_sticky: bool,
    /// Whether any value was taken back in this turn, or came back.
    has_moved: bool,
    sinks: Vec<(SinkId, Box<dyn Sink>)>,
    attached: u32,
    bad_writes: u64,
}

/// An attached sink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SinkId(u32);

/// Everything that a write to a topic touches, within one cache line: a turn is short, and between two turns other
/// threads have had the caches.
#[derive(Debug)]
pub(super) struct Cell {
    pub(super) slot: Slot,
    /// When it was last in a frame; [`Micros::MIN`] before the first value.
    written: Micros,
    /// Its place in `dirty` in this turn; [`CLEAN`] when it is not there.
    dirty: u32,
    /// Its value was taken back and none was set since.
    pub(super) retracted: bool,
    heartbeat: bool,
    sticky: bool,
    /// Somebody holds the right to publish it.
    claimed: bool,
}

const CLEAN: u32 = u32::MAX;
const _: () = assert!(size_of::<Cell>() <= 64);

impl Door {
    /// A door without topics or sinks.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a sink. It is told of every topic declared so far and hears frames from now on; values set before are
    /// given to it in the next frame.
    pub fn attach(&self, mut sink: Box<dyn Sink>) -> SinkId {
        let mut core = self.core.borrow_mut();
        for (index, topic) in core.topics.iter().enumerate() {
            sink.declare(index as u32, topic);
        }
        core.attached += 1;
        let id = SinkId(core.attached);
        core.sinks.push((id, sink));
        core.has_moved = true;
        for index in 0..core.cells.len() {
            if core.cells[index].written != Micros::MIN {
                core.mark(index as u32, true);
            }
        }
        id
    }

    /// Takes a sink away again; it hears nothing more, not even of this turn.
    pub fn detach(&self, id: SinkId) {
        self.core.borrow_mut().sinks.retain(|(sink, _)| *sink != id);
    }

    /// How many sinks were ever attached: whoever sees it change may have something to say to the new one.
    #[must_use]
    pub fn attachments(&self) -> u32 {
        self.core.borrow().attached
    }

    /// Whether both are the same door.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.core, &other.core)
    }

    /// Begins a turn; what is put from now on carries this instant.
    pub fn begin(&self, now: Micros) {
        self.core.borrow_mut().now = now;
    }

    /// Ends the turn: hands the frame to every sink.
    pub fn end(&self) {
        self.core.borrow_mut().end();
    }

    /// A value that must not be replaced by a later one of the same turn: each is delivered, in order.
    pub fn append(&self, index: u32, value: ValueRef<'_>) {
        let core = &mut *self.core.borrow_mut();
        match core.topics.get(index as usize) {
            Some(topic) if topic.data_type.family() == value.family() => {
                core.has_sticky |= topic.sticky;
                core.events.push(index, value);
            }
            _ => core.bad_writes += 1,
        }
    }

    /// As [`Publish::declare`], for a topic whose newest value a log repeats in each further file that it starts.
    ///
    /// # Errors
    /// As [`Publish::declare`].
    pub fn declare_sticky(&self, spec: &TopicSpec<'_>) -> Result<u32, ConfigError> {
        self.core.borrow_mut().declare(spec, true)
    }

    /// A part of the door that can be given back: dropping the scope frees its keys, and whoever declares one of them
    /// again, with the same type, continues the same topic. An op mode that is rebuilt needs this.
    #[must_use]
    pub fn scope(&self) -> Scope {
        Scope { door: self.clone(), indices: Vec::new() }
    }

    /// What all sinks say of themselves, summed.
    #[must_use]
    pub fn stats(&self) -> SinkStats {
        let core = self.core.borrow();
        core.sinks.iter().map(|(_, s)| s.stats()).fold(SinkStats::default(), |a, b| SinkStats {
            dropped: a.dropped.saturating_add(b.dropped),
            queued: a.queued.saturating_add(b.queued),
        })
    }

    /// Writes of the wrong family or to a topic that was never declared: counted, dropped.
    #[must_use]
    pub fn bad_writes(&self) -> u64 {
        self.core.borrow().bad_writes
    }

    /// How many topics were declared.
    #[must_use]
    pub fn topic_count(&self) -> usize {
        self.core.borrow().topics.len()
    }
}

impl Publish for Door {
    fn declare(&mut self, spec: &TopicSpec<'_>) -> Result<u32, ConfigError> {
        self.core.borrow_mut().declare(spec, false)
    }

    fn schema(&mut self, name: &str, text: &str) {
        self.core.borrow_mut().schema(name, text);
    }

    fn put(&mut self, index: u32, value: ValueRef<'_>) {
        self.core.borrow_mut().put(index, value);
    }

    fn retract(&mut self, index: u32) {
        self.core.borrow_mut().retract(index);
    }
}

impl std::fmt::Debug for Door {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Door({} topics)", self.topic_count())
    }
}

impl Core {
    fn declare(&mut self, spec: &TopicSpec<'_>, sticky: bool) -> Result<u32, ConfigError> {
        let bare = spec.root == Root::Bare;
        if spec.key.is_empty() || (spec.key.starts_with('/') && !bare) {
            return Err(ConfigError::new(
                "telemetry.key",
                "a key without a leading slash",
                format!("{:?}", spec.key),
            ));
        }
        if let Some(index) = self.find(spec.root, spec.key) {
            let at = index as usize;
            let path = format!("telemetry.{}", spec.key);
            if self.cells[at].claimed {
                return Err(ConfigError::new(path, "a key that is declared once", "declared before"));
            }
            if self.topics[at].data_type != spec.data_type {
                let expected = format!("type {}, as before", self.topics[at].data_type);
                return Err(ConfigError::new(path, expected, &spec.data_type));
            }
            self.cells[at].claimed = true;
            return Ok(index);
        }
        Ok(self.add(spec, sticky))
    }

    fn find(&self, root: Root, key: &str) -> Option<u32> {
        self.by_key.get(&root)?.get(key).copied()
    }

    fn add(&mut self, spec: &TopicSpec<'_>, sticky: bool) -> u32 {
        let index = self.topics.len() as u32;
        let topic = Topic {
            root: spec.root,
            key: spec.key.into(),
            data_type: spec.data_type.clone(),
            unit: spec.unit.into(),
            sticky,
        };
        for (_, sink) in &mut self.sinks {
            sink.declare(index, &topic);
        }
        let family = spec.data_type.family();
        let heartbeat = matches!(family, Family::Boolean | Family::Int | Family::Float | Family::Double)
            || spec.data_type.struct_name().is_some_and(|(_, array)| !array);
        self.by_key.entry(spec.root).or_default().insert(spec.key.into(), index);
        let slot = Slot::new(family);
        let (written, dirty, retracted, claimed) = (Micros::MIN, CLEAN, false, true);
        self.cells.push(Cell { slot, written, dirty, retracted, heartbeat, sticky, claimed });
        self.topics.push(topic);
        // Room for every topic to change in one turn, so that the turn itself never grows it.
        let missing = self.topics.len().saturating_sub(self.dirty.len());
        self.dirty.reserve(missing);
        index
    }

    /// Publishes a struct's schema, once for the life of the door.
    fn schema(&mut self, name: &str, text: &str) {
        let key = format!("struct:{name}");
        if self.find(Root::Schema, &key).is_some() {
            return;
        }
        let data_type = DataType::Other("structschema".into());
        let index = self.add(&TopicSpec { root: Root::Schema, key: &key, data_type, unit: "" }, true);
        self.put(index, ValueRef::Raw(text.as_bytes()));
    }

    fn put(&mut self, index: u32, value: ValueRef<'_>) {
        let Some(cell) = self.cells.get_mut(index as usize) else {
            self.bad_writes += 1;
            return;
        };
        match cell.slot.store(value) {
            Stored::WrongFamily => self.bad_writes += 1,
            Stored::Changed | Stored::Same if std::mem::take(&mut cell.retracted) => {
                self.has_moved = true;
                self.mark(index, true);
            }
            Stored::Changed => self.mark(index, true),
            Stored::Same if cell.written == Micros::MIN => self.mark(index, true),
            Stored::Same if cell.heartbeat && self.now - cell.written >= HEARTBEAT => self.mark(index, false),
            Stored::Same => {}
        }
    }

    fn retract(&mut self, index: u32) {
        match self.cells.get_mut(index as usize) {
            None => self.bad_writes += 1,
            Some(cell) if cell.retracted => {}
            Some(cell) => {
                cell.retracted = true;
                self.has_moved = true;
                self.mark(index, true);
            }
        }
    }

    fn mark(&mut self, index: u32, changed: bool) {
        let cell = &mut self.cells[index as usize];
        cell.written = self.now;
        self.has_sticky |= cell.sticky;
        if cell.dirty == CLEAN {
            cell.dirty = self.dirty.len() as u32;
            self.dirty.push((index, changed));
        } else {
            self.dirty[cell.dirty as usize].1 |= changed;
        }
    }

    fn end(&mut self) {
        let frame = Frame {
            at: self.now,
            topics: &self.topics,
            cells: &self.cells,
            dirty: &self.dirty,
            events: &self.events,
            has_sticky: std::mem::take(&mut self.has_sticky),
            has_moved: std::mem::take(&mut self.has_moved),
        };
        for (_, sink) in &mut self.sinks {
            sink.frame(&frame);
        }
        for (index, _) in &self.dirty {
            self.cells[*index as usize].dirty = CLEAN;
        }
        self.dirty.clear();
        self.events.clear();
    }
}

/// Keys that one owner declared; see [`Door::scope`].
#[derive(Debug)]
pub struct Scope {
    door: Door,
    indices: Vec<u32>,
}

impl Scope {
    /// The door that this is a part of.
    #[must_use]
    pub fn door(&self) -> &Door {
        &self.door
    }

    /// As [`Door::declare_sticky`], within this scope.
    ///
    /// # Errors
    /// As [`Publish::declare`].
    pub fn declare_sticky(&mut self, spec: &TopicSpec<'_>) -> Result<u32, ConfigError> {
        let index = self.door.declare_sticky(spec)?;
        self.indices.push(index);
        Ok(index)
    }

    /// As [`Door::append`].
    pub fn append(&self, index: u32, value: ValueRef<'_>) {
        self.door.append(index, value);
    }
}

impl Publish for Scope {
    fn declare(&mut self, spec: &TopicSpec<'_>) -> Result<u32, ConfigError> {
        let index = self.door.declare(spec)?;
        self.indices.push(index);
        Ok(index)
    }

    fn schema(&mut self, name: &str, text: &str) {
        self.door.schema(name, text);
    }

    fn put(&mut self, index: u32, value: ValueRef<'_>) {
        self.door.put(index, value);
    }

    fn retract(&mut self, index: u32) {
        self.door.retract(index);
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        let mut core = self.door.core.borrow_mut();
        for index in &self.indices {
            if let Some(cell) = core.cells.get_mut(*index as usize) {
                cell.claimed = false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use fieldlab_values::{Pose2d, Publisher, Value};

    use super::super::MemorySink;
    use super::*;

    fn bench() -> (Door, MemorySink) {
        let door = Door::new();
        let memory = MemorySink::new();
        door.attach(Box::new(memory.clone()));
        (door, memory)
    }

    #[test]
    fn a_key_is_declared_once() {
        let (mut door, _) = bench();
        Publisher::<f64>::catalyst(&mut door, "A").unwrap();
        assert!(Publisher::<f64>::catalyst(&mut door, "A").is_err());
        assert!(Publisher::<f64>::catalyst(&mut door, "/A").is_err());
        assert!(Publisher::<f64>::catalyst(&mut door, "").is_err());
        assert!(Publisher::<i64>::declare(&mut door, Root::Bare, "/FMSInfo/X", "").is_ok());
        assert!(Publisher::<f64>::declare(&mut door, Root::SmartDashboard, "A", "").is_ok());
    }

    #[test]
    fn f5_a_scope_that_is_rebuilt_continues_its_topics() {
        let (door, memory) = bench();
        let mut first = door.scope();
        let a = Publisher::<f64>::catalyst(&mut first, "A").unwrap();
        a.set(&mut first, &1.0);
        door.end();
        drop(first);
        let mut second = door.scope();
        assert!(Publisher::<i64>::catalyst(&mut second, "A").is_err(), "another type is another topic");
        let b = Publisher::<f64>::catalyst(&mut second, "A").unwrap();
        b.set(&mut second, &2.0);
        door.end();
        assert_eq!(memory.all("/Catalyst/A"), [Value::Double(1.0), Value::Double(2.0)]);
        assert_eq!(memory.topics().len(), 1);
    }

    #[test]
    fn f26_a_steady_number_is_repeated_once_a_second_and_a_steady_text_never() {
        struct Count(Rc<RefCell<Vec<(i64, bool)>>>);
        impl Sink for Count {
            fn declare(&mut self, _: u32, _: &Topic) {}
            fn frame(&mut self, frame: &Frame<'_>) {
                let mut seen = self.0.borrow_mut();
                seen.extend(frame.entries().map(|e| (frame.at.0, e.changed)));
            }
            fn stats(&self) -> SinkStats {
                SinkStats::default()
            }
        }
        let seen = Rc::new(RefCell::new(Vec::new()));
        let mut door = Door::new();
        door.attach(Box::new(Count(Rc::clone(&seen))));
        let number = Publisher::<f64>::catalyst(&mut door, "N").unwrap();
        for turn in 0..=100 {
            door.begin(Micros::from_millis(20 * turn));
            number.set(&mut door, &5.0);
            door.end();
        }
        assert_eq!(*seen.borrow(), [(0, true), (1_000_000, false), (2_000_000, false)]);
        seen.borrow_mut().clear();
        let text = Publisher::<str>::catalyst(&mut door, "T").unwrap();
        for turn in 101..=300 {
            door.begin(Micros::from_millis(20 * turn));
            text.set(&mut door, "steady");
            door.end();
        }
        assert_eq!(*seen.borrow(), [(2_020_000, true)]);
    }

    #[test]
    fn the_last_value_of_a_turn_counts_and_events_are_all_kept() {
        let (mut door, memory) = bench();
        let a = Publisher::<f64>::catalyst(&mut door, "A").unwrap();
        let spec = TopicSpec { root: Root::Catalyst, key: "E", data_type: DataType::Json, unit: "" };
        let events = door.declare(&spec).unwrap();
        a.set(&mut door, &1.0);
        a.set(&mut door, &2.0);
        door.append(events, ValueRef::String("{}"));
        door.append(events, ValueRef::String("{}"));
        door.append(events, ValueRef::Int(1));
        door.put(99, ValueRef::Int(1));
        door.put(events, ValueRef::Int(1));
        door.end();
        assert_eq!(memory.all("/Catalyst/A"), [Value::Double(2.0)]);
        assert_eq!(memory.all("/Catalyst/E").len(), 2);
        assert_eq!(door.bad_writes(), 3);
    }

    #[test]
    fn what_is_not_known_any_more_is_not_there() {
        let (mut door, memory) = bench();
        let a = Publisher::<f64>::catalyst(&mut door, "A").unwrap();
        let mut turn = |values: &[Option<f64>]| {
            for value in values {
                match value {
                    Some(value) => a.set(&mut door, value),
                    None => a.retract(&mut door),
                }
            }
            door.end();
            memory.last("/Catalyst/A")
        };
        let one = Some(Value::Double(1.0));
        assert_eq!(turn(&[Some(1.0)]), one);
        assert_eq!(turn(&[None]), None);
        assert_eq!(turn(&[None, Some(1.0)]), one, "the same value is there again");
        assert_eq!(turn(&[Some(2.0), None]), None, "the last word of a turn counts");
        let late = MemorySink::new();
        door.attach(Box::new(late.clone()));
        door.end();
        assert_eq!(late.last("/Catalyst/A"), None);
        door.retract(99);
        assert_eq!(door.bad_writes(), 1);
    }

    #[test]
    fn a_struct_topic_brings_its_schemas_once() {
        let (mut door, memory) = bench();
        let pose = Publisher::<Pose2d>::catalyst(&mut door, "Odometry/Pose").unwrap();
        Publisher::<Pose2d>::catalyst(&mut door, "Vision/Pose").unwrap();
        pose.set(&mut door, &Pose2d::new(1.0, 2.0, 3.0));
        door.end();
        let topics = memory.topics();
        let names: Vec<_> = topics.iter().map(Topic::log_name).collect();
        assert_eq!(
            names,
            [
                "/.schema/struct:Translation2d",
                "/.schema/struct:Rotation2d",
                "/.schema/struct:Pose2d",
                "Odometry/Pose",
                "Vision/Pose"
            ]
        );
        let text = memory.last("/.schema/struct:Pose2d").unwrap();
        assert_eq!(text, Value::Raw(b"Translation2d translation;Rotation2d rotation"[..].into()));
    }

    #[test]
    fn a_sink_that_comes_late_hears_what_stands() {
        let mut door = Door::new();
        let a = Publisher::<f64>::catalyst(&mut door, "A").unwrap();
        a.set(&mut door, &1.0);
        door.end();
        let memory = MemorySink::new();
        door.attach(Box::new(memory.clone()));
        door.end();
        assert_eq!(memory.last("/Catalyst/A"), Some(Value::Double(1.0)));
    }
}
