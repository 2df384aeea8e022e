//! The comparison with the constants in force.

use fieldlab_analysis::DiffRow;

use crate::document::{Block, Table, num, text};
use crate::markdown;
use crate::text::number;

/// The comparison as Markdown.
#[must_use]
pub fn diff_markdown(rows: &[DiffRow]) -> String {
    let mut out = vec![Block::Heading(1, "Believed against measured".to_owned())];
    if rows.is_empty() {
        out.push(Block::Text("Neither side names a constant.".to_owned()));
        return markdown::render(&out);
    }
    let optional = |v: Option<f64>, half: f64| v.map_or("-".to_owned(), |v| number(v, half));
    let cells = |r: &DiffRow| {
        let half = r.uncertainty.unwrap_or(0.0);
        vec![
            text(&r.name),
            num(optional(r.believed, half)),
            num(optional(r.measured, half)),
            num(r.uncertainty.map_or("-".to_owned(), |h| format!("± {}", number(h, h)))),
            num(r.percent.filter(|p| p.is_finite()).map_or("-".to_owned(), |p| format!("{p:+.1} %"))),
            text(r.unit.clone().unwrap_or_default()),
            text(r.advice.words()),
            text(r.reason.clone().unwrap_or_default()),
        ]
    };
    out.push(Block::Table(Table::with(
        &["name", "believed", "measured", "95 %", "difference", "unit", "advice", "why"],
        rows.iter().map(cells).collect(),
    )));
    markdown::render(&out)
}

/// The comparison as JSON: an array of objects with sorted keys.
#[must_use]
pub fn diff_json(rows: &[DiffRow]) -> String {
    let value = serde_json::to_value(rows).unwrap_or_default();
    let mut text = serde_json::to_string_pretty(&value).unwrap_or_default();
    text.push('\n');
    text
}
