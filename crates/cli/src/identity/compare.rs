//! `fieldlab identity diff`: what two sheets say differently.

use clap::Args;
use fieldlab_identity::{Difference, diff};
use fieldlab_values::Value;
use serde_json::json;

use crate::exit::{End, Failure};
use crate::out;

use super::show::{Page, value_json};
use super::source::Place;
use super::{Patience, judge};

/// The words of `identity diff`.
///
/// Each side is a log (a file, or a name that ends in .wpilog), a team number, or HOST or HOST:PORT of a robot. That they
/// differ is a result and exits with 0; `--strict` makes it 3, as a sheet that is missing or not whole always is.
#[derive(Debug, Args)]
pub(crate) struct Words {
    /// The one: a log, a team number or a host
    #[arg(value_name = "A")]
    a: String,
    /// The other
    #[arg(value_name = "B")]
    b: String,
    #[command(flatten)]
    patience: Patience,
    /// Exit with 3 when they differ
    #[arg(long)]
    strict: bool,
    /// Print JSON instead of a list
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(words: &Words) -> Result<End, Failure> {
    let wait = words.patience.duration()?;
    let places = (Place::typed(&words.a)?, Place::typed(&words.b)?);
    let (a, b) = (places.0.read(wait)?, places.1.read(wait)?);
    let ends = [judge(&places.0, &a), judge(&places.1, &b)];
    let found = diff(&a, &b);
    if words.json {
        let rows: Vec<serde_json::Value> = found
            .iter()
            .map(|d| json!({ "key": d.key, "a": d.a.as_ref().map(value_json), "b": d.b.as_ref().map(value_json) }))
            .collect();
        let all = json!({ "a": places.0.name(), "b": places.1.name(), "differences": rows });
        out::result(&serde_json::to_string_pretty(&all)?)?;
    } else if found.is_empty() {
        out::say("they say the same");
    } else {
        let mut page = Page::new(out::stdout_takes_colour());
        page.line(&format!("- {}", places.0.name()));
        page.line(&format!("+ {}", places.1.name()));
        found.iter().for_each(|difference| tell(&mut page, difference));
        out::result(&page.into_text())?;
    }
    let differ = words.strict && !found.is_empty();
    Ok(if differ || ends.contains(&End::Partial) { End::Partial } else { End::Complete })
}

fn tell(page: &mut Page, difference: &Difference) {
    page.line("");
    let unit = difference.row.map_or("", |row| row.unit);
    page.heading(&out::printable(&difference.key));
    if let Some([only_a, only_b]) = difference.lists() {
        only_a.iter().for_each(|text| page.line(&format!("  - {}", out::printable(text))));
        only_b.iter().for_each(|text| page.line(&format!("  + {}", out::printable(text))));
        if only_a.is_empty() && only_b.is_empty() {
            page.line("  the same entries in another order or number");
        }
        return;
    }
    for (sign, value) in [("-", &difference.a), ("+", &difference.b)] {
        let said = value.as_ref().map_or_else(|| "(absent)".to_owned(), |value| plain(value, unit));
        page.line(&format!("  {sign} {said}"));
    }
}

/// A value as the robot said it, on one line: a comparison must not round.
fn plain(value: &Value, unit: &str) -> String {
    let text = match value {
        Value::String(text) => out::printable(text),
        other => out::printable(&value_json(other).to_string()),
    };
    if unit.is_empty() { text } else { format!("{text} {unit}") }
}
