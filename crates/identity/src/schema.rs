//! The JSON Schema of a sheet as one object, made from the table.

use fieldlab_values::{DataType, Family};
use serde_json::{Map, Value, json};

use crate::keys::{self, Origin, Row};

/// The schema's identifier.
pub const ID: &str = "fieldlab.identity/1";

/// The JSON Schema (2020-12) of a sheet as an object from key to value: what `fieldlab identity --json` puts under
/// `sheet`. No key is required: absent is the answer of who does not know.
#[must_use]
pub fn schema() -> Value {
    let of =
        |pattern: bool| keys::table().iter().filter(move |row| row.is_pattern() == pattern).map(property);
    let patterns: Map<String, Value> = of(true).map(|(name, value)| (pattern(&name), value)).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": ID,
        "title": "Robot identity",
        "description": format!(
            "Facts about a robot as published under /Catalyst/{}/. A key that is not known is absent, never zero or blank.",
            keys::ROOT
        ),
        "type": "object",
        "properties": of(false).collect::<Map<String, Value>>(),
        "patternProperties": patterns,
        "additionalProperties": true,
    })
}

/// The schema as the text that is kept beside the code.
#[must_use]
pub fn schema_text() -> String {
    format!("{:#}\n", schema())
}

fn pattern(name: &str) -> String {
    format!("^{}$", name.replace("<Feature>", "[^/]+"))
}

fn property(row: &Row) -> (String, Value) {
    let mut of = json!({
        "description": format!("{}; {}", row.means, row.rule),
        "x-nt-type": row.data_type.nt_name(),
        "x-sources": row.sources,
        "x-origin": match row.origin {
            Origin::Catalyst => "catalyst",
            Origin::FieldLab => "fieldlab",
            Origin::Foreign => "other robots",
        },
    });
    let (kind, item) = match row.data_type.family() {
        Family::Boolean => ("boolean", None),
        Family::Int => ("integer", None),
        Family::Float | Family::Double => ("number", None),
        Family::String if row.data_type == DataType::Json => ("object", None),
        Family::String | Family::Raw => ("string", None),
        Family::BooleanArray => ("array", Some("boolean")),
        Family::IntArray => ("array", Some("integer")),
        Family::FloatArray | Family::DoubleArray => ("array", Some("number")),
        Family::StringArray => ("array", Some("string")),
    };
    of["type"] = kind.into();
    if let Some(item) = item {
        of["items"] = json!({ "type": item });
    }
    if kind == "string" {
        of["minLength"] = 1.into();
    }
    if !row.unit.is_empty() {
        of["x-unit"] = row.unit.into();
    }
    if let Some((low, high)) = row.plausible {
        of["x-plausible"] = json!([low, high]);
    }
    (row.name.to_owned(), of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_in_the_schema_with_its_type() {
        let schema = schema();
        for row in keys::table() {
            let found = if row.is_pattern() {
                &schema["patternProperties"][pattern(row.name)]
            } else {
                &schema["properties"][row.name]
            };
            assert_eq!(found["x-nt-type"], row.data_type.nt_name(), "{}", row.name);
        }
        let kind = |key: &str| schema["properties"][key]["type"].clone();
        for (key, expect) in [
            ("Identity/Name", "string"),
            ("Identity/TeamNumber", "integer"),
            ("Drivetrain/CanFd", "boolean"),
            ("Chassis/MassKg", "number"),
            ("Hardware/Devices", "array"),
            ("Sheet/Provenance", "object"),
        ] {
            assert_eq!(kind(key), expect, "{key}");
        }
    }

    #[test]
    fn the_schema_beside_the_code_is_current() {
        let kept = include_str!("../schema/robot-identity.schema.json");
        assert!(kept == schema_text(), "`fieldlab identity schema` prints the current one");
    }
}
