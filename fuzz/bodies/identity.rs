//! Any topics under the root of a sheet: they cost their rows, and neither memory nor a terminal.

use fieldlab_identity::{ReadSheet, Units, Whole, card, diff, keys};
use fieldlab_values::{DataType, Family, Value};

/// One input: a topic a line, as name, type and value with tabs between; a name without a slash in front is a key.
pub(crate) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut sheet = ReadSheet::default();
    let mut before = ReadSheet::default();
    for (i, line) in text.lines().enumerate() {
        let mut parts = line.splitn(3, '\t');
        let (name, kind) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let name = if name.starts_with('/') { name.to_owned() } else { format!("/Catalyst/Robot/{name}") };
        let kind = DataType::from_nt(kind);
        let Some(rest) = parts.next() else {
            sheet.retract(&name);
            continue;
        };
        let value = value(kind.family(), rest);
        assert_eq!(sheet.take(&name, &kind, &value), ReadSheet::key_of(&name).is_some());
        if i % 2 == 0 {
            before.take(&name, &kind, &value);
        }
    }
    check(&sheet);
    assert!(diff(&sheet, &sheet).is_empty());
    for difference in diff(&before, &sheet) {
        assert_ne!(difference.a, difference.b);
        assert_eq!(difference.a.as_ref(), before.value(&difference.key));
        assert_eq!(difference.b.as_ref(), sheet.value(&difference.key));
    }
}

fn check(sheet: &ReadSheet) {
    let facts = sheet.facts();
    assert!(facts.len() <= 512 && sheet.problems().count() <= 128);
    for (key, row, value) in &facts {
        assert_eq!(*row, keys::find(key));
        assert!(row.is_none_or(|row| row.data_type.family() == value.family()), "{key}");
    }
    if sheet.whole() == Whole::Yes {
        assert_eq!(sheet.number("Sheet/Count"), Some(facts.len() as f64));
    }
    for units in [Units::Metric, Units::Imperial] {
        let card = card(sheet, units);
        let rows = card.groups.iter().flat_map(|group| &group.rows).flat_map(|(label, value)| [label, value]);
        assert!(
            card.name.iter().chain(&card.subtitle).chain(rows).all(|text| !text.contains(char::is_control))
        );
    }
    assert!(sheet.why().iter().all(|(key, reason)| sheet.value(key).is_none() && !reason.is_empty()));
}

fn value(family: Family, text: &str) -> Value {
    let items = || text.split(',');
    match family {
        Family::Boolean => Value::Boolean(text == "true"),
        Family::Int => Value::Int(text.parse().unwrap_or(0)),
        Family::Float => Value::Float(text.parse().unwrap_or(f32::NAN)),
        Family::Double => Value::Double(text.parse().unwrap_or(f64::NAN)),
        Family::String => Value::String(text.into()),
        Family::Raw => Value::Raw(text.as_bytes().into()),
        Family::BooleanArray => Value::BooleanArray(items().map(|item| item == "true").collect()),
        Family::IntArray => Value::IntArray(items().map(|item| item.parse().unwrap_or(0)).collect()),
        Family::FloatArray => {
            Value::FloatArray(items().map(|item| item.parse().unwrap_or(f32::NAN)).collect())
        }
        Family::DoubleArray => {
            Value::DoubleArray(items().map(|item| item.parse().unwrap_or(f64::NAN)).collect())
        }
        Family::StringArray => Value::StringArray(items().map(Into::into).collect()),
    }
}
