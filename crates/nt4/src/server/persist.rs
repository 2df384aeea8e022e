//! Persistent topics as a file, in the official layout.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use fieldlab_base::Micros;
use fieldlab_values::{DataType, Family, Value};
use serde_json::Value as Json;

use super::Server;
use super::topics::Delivery;
use crate::control::Properties;
use crate::error::NtError;
use crate::wire;

/// What [`Server::restore`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Restored {
    /// Topics restored with their values.
    pub topics: usize,
    /// Entries that could not be used.
    pub refused: usize,
}

impl Server {
    /// Grows with every change of what [`Server::persistent_json`] would say; save when it has grown.
    #[must_use]
    pub const fn persistent_changes(&self) -> u64 {
        self.persistent_changes
    }

    /// The persistent topics as JSON: an array of `{name, type, value, properties}` in the order of names.
    ///
    /// Values that JSON has no numbers for are written as `"NaN"`, `"Infinity"` and `"-Infinity"`, so that they are
    /// not lost; an official server refuses such an entry, as it refuses the `null` that it would have written itself.
    #[must_use]
    pub fn persistent_json(&self) -> String {
        let mut rows = Vec::new();
        for slot in self.by_name.values() {
            let topic = &self.topics[*slot as usize];
            if !topic.persistent {
                continue;
            }
            let Some((_, value)) = self.value(&topic.name) else { continue };
            let mut row = Properties::new();
            row.insert("name".into(), topic.name.as_ref().into());
            row.insert("type".into(), topic.data_type.nt_name().into());
            row.insert("value".into(), value_to_json(&value));
            row.insert("properties".into(), Json::Object(topic.properties.clone()));
            rows.push(Json::Object(row));
        }
        // A list of plain JSON values always serialises.
        let mut text = serde_json::to_string_pretty(&rows).unwrap_or_else(|_| "[]".to_owned());
        text.push('\n');
        text
    }

    /// Restores persistent topics; their values get the time `now`. Entries that cannot be used are counted.
    ///
    /// # Errors
    /// The bytes are not a JSON array at all: nothing was restored.
    pub fn restore(&mut self, json: &[u8], now: Micros) -> Result<Restored, NtError> {
        self.see(now);
        let expected = "a JSON array of {name, type, value, properties}";
        let bad = |found: String| NtError::BadFile { expected, found };
        let rows: Json = serde_json::from_slice(json).map_err(|e| bad(e.to_string()))?;
        let Json::Array(rows) = rows else { return Err(bad("another kind of JSON".to_owned())) };
        let mut done = Restored::default();
        for row in rows {
            if self.restore_one(row, now).is_some() { done.topics += 1 } else { done.refused += 1 }
        }
        Ok(done)
    }

    fn restore_one(&mut self, row: Json, now: Micros) -> Option<()> {
        let Json::Object(mut row) = row else { return None };
        let Some(Json::Object(properties)) = row.remove("properties") else { return None };
        if properties.get("persistent").and_then(Json::as_bool) != Some(true) {
            return None;
        }
        let name = row.get("name")?.as_str()?;
        let data_type = DataType::from_nt(row.get("type")?.as_str()?);
        let value = value_from_json(data_type.family(), row.get("value")?)?;
        if self.by_name.contains_key(name) {
            return None;
        }
        let slot = self.create(name, data_type, properties).ok()?;
        let topic = &self.topics[slot as usize];
        let mut bytes = Vec::new();
        wire::write_front(&mut bytes, i64::from(topic.id), now, topic.code);
        wire::write_value(&mut bytes, value.as_ref());
        let before = self.persistent_changes;
        self.deliver(&Delivery { slot, time: now, bytes: &bytes, except: None, force: true });
        // What has just been read need not be saved.
        self.persistent_changes = before;
        if let Some(stored) = &mut self.topics[slot as usize].stored {
            stored.restored = true;
        }
        Some(())
    }
}

fn float_to_json(value: f64) -> Json {
    match serde_json::Number::from_f64(value) {
        Some(number) => Json::Number(number),
        None if value.is_nan() => "NaN".into(),
        None if value > 0.0 => "Infinity".into(),
        None => "-Infinity".into(),
    }
}

fn float_from_json(json: &Json) -> Option<f64> {
    match json.as_str() {
        Some("NaN") => Some(f64::NAN),
        Some("Infinity") => Some(f64::INFINITY),
        Some("-Infinity") => Some(f64::NEG_INFINITY),
        Some(_) => None,
        None => json.as_f64(),
    }
}

fn value_to_json(value: &Value) -> Json {
    match value {
        Value::Boolean(v) => (*v).into(),
        Value::Int(v) => (*v).into(),
        Value::Float(v) => float_to_json(f64::from(*v)),
        Value::Double(v) => float_to_json(*v),
        Value::String(v) => v.as_ref().into(),
        Value::Raw(v) => BASE64.encode(v).into(),
        Value::BooleanArray(v) => v.iter().copied().collect(),
        Value::IntArray(v) => v.iter().copied().collect(),
        Value::FloatArray(v) => v.iter().map(|f| float_to_json(f64::from(*f))).collect(),
        Value::DoubleArray(v) => v.iter().map(|f| float_to_json(*f)).collect(),
        Value::StringArray(v) => v.iter().map(|s| Json::from(s.as_ref())).collect(),
    }
}

fn value_from_json(family: Family, json: &Json) -> Option<Value> {
    fn list<T>(json: &Json, each: impl Fn(&Json) -> Option<T>) -> Option<std::sync::Arc<[T]>> {
        json.as_array()?.iter().map(each).collect()
    }
    Some(match family {
        Family::Boolean => Value::Boolean(json.as_bool()?),
        Family::Int => Value::Int(json.as_i64()?),
        Family::Float => Value::Float(float_from_json(json)? as f32),
        Family::Double => Value::Double(float_from_json(json)?),
        Family::String => Value::String(json.as_str()?.into()),
        Family::Raw => Value::Raw(BASE64.decode(json.as_str()?).ok()?.into()),
        Family::BooleanArray => Value::BooleanArray(list(json, Json::as_bool)?),
        Family::IntArray => Value::IntArray(list(json, Json::as_i64)?),
        Family::FloatArray => Value::FloatArray(list(json, |j| float_from_json(j).map(|f| f as f32))?),
        Family::DoubleArray => Value::DoubleArray(list(json, float_from_json)?),
        Family::StringArray => Value::StringArray(list(json, |j| j.as_str().map(std::sync::Arc::from))?),
    })
}
