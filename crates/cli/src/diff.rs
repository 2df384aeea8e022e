//! `fieldlab diff`: what the robot believes beside what the field measured.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use fieldlab_analysis::{Advice, diff, parse_constants};

use crate::exit::{End, Failure};
use crate::out;
use crate::report::{self, Input};

/// The words of `diff`.
#[derive(Debug, Args)]
pub(crate) struct Words {
    #[command(flatten)]
    input: Input,
    /// Flat JSON object from a constant's name to its number
    #[arg(long, value_name = "FILE")]
    constants: PathBuf,
    /// Print JSON instead of Markdown
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(words: &Words) -> Result<End, Failure> {
    let place = words.constants.display().to_string();
    let text = std::fs::read_to_string(&words.constants)
        .with_context(|| format!("reading {place}"))
        .map_err(Failure::Input)?;
    let believed = parse_constants(&place, &text).map_err(Failure::input)?;
    let Some(findings) = report::find(&words.input)? else { return Ok(End::Partial) };
    let rows = diff(&findings, &believed);
    let text =
        if words.json { fieldlab_report::diff_json(&rows) } else { fieldlab_report::diff_markdown(&rows) };
    out::result_or_file(&text, words.input.output.as_deref())?;
    // Whoever brings a constants file asks for each of its names.
    let missing = rows.iter().filter(|row| row.advice == Advice::NotMeasured).count();
    if missing > 0 {
        out::say(&format!("{missing} of {} constants were not measured in these logs", believed.len()));
        return Ok(End::Partial);
    }
    Ok(report::end(&words.input, &findings))
}
