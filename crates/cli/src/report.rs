//! `fieldlab report` and `json`: logs in, constants out.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fieldlab_analysis::findings::{Findings, Severity};
use fieldlab_analysis::{AnalysisError, LogSet, Options, analyse};

use crate::exit::{End, Failure};
use crate::out;

/// Logs of one afternoon.
#[derive(Debug, Args)]
pub(crate) struct Input {
    /// .wpilog files of one campaign, in any order; torn files are used up to the tear
    #[arg(required = true, value_name = "LOG")]
    pub(crate) logs: Vec<PathBuf>,
    /// Session id; the last one in the logs when it is not given
    #[arg(long, value_name = "S")]
    pub(crate) session: Option<String>,
    /// Write to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Exit with 3 when anything was lost, such as the tail of a torn log
    #[arg(long)]
    pub(crate) strict: bool,
}

/// The words of `report`.
#[derive(Debug, Args)]
pub(crate) struct Words {
    #[command(flatten)]
    input: Input,
    /// How to write it
    #[arg(long, value_enum, default_value_t = Format::Md)]
    format: Format,
}

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Markdown
    Md,
    /// One HTML page with plots
    Html,
    /// JSON with sorted keys
    Json,
}

impl Format {
    pub(crate) fn write(self, findings: &Findings) -> String {
        match self {
            Self::Md => fieldlab_report::markdown(findings),
            Self::Html => fieldlab_report::html(findings),
            Self::Json => fieldlab_report::json(findings),
        }
    }
}

pub(crate) fn run(words: &Words) -> Result<End, Failure> {
    write(&words.input, words.format)
}

/// The same bytes as `report --format json`.
pub(crate) fn run_json(input: &Input) -> Result<End, Failure> {
    write(input, Format::Json)
}

fn write(input: &Input, format: Format) -> Result<End, Failure> {
    let Some(findings) = find(input)? else { return Ok(End::Partial) };
    out::result_or_file(&format.write(&findings), input.output.as_deref())?;
    Ok(end(input, &findings))
}

/// What the logs have to tell; `None`, after saying so, when the session that was asked for is not in them.
pub(crate) fn find(input: &Input) -> Result<Option<Findings>, Failure> {
    let bar = out::bar("opening the logs", 1000);
    let mut watch = |what: &str, share: f64| {
        bar.set_message(what.to_owned());
        bar.set_position((share.clamp(0.0, 1.0) * 1000.0) as u64);
    };
    let logs = LogSet::open(&input.logs, &mut watch).map_err(Failure::input)?;
    let found = analyse(&logs, &Options { session: input.session.clone() }, &mut watch);
    bar.finish_and_clear();
    match found {
        Ok(findings) => {
            conversation(&findings);
            Ok(Some(findings))
        }
        Err(error @ AnalysisError::NoSuchSession { .. }) => {
            out::say(&format!("fieldlab: {error}"));
            Ok(None)
        }
        Err(error) => Err(Failure::input(error)),
    }
}

/// What somebody who redirects the report should still see.
fn conversation(findings: &Findings) {
    if !findings.other_sessions.is_empty() {
        let others = findings.other_sessions.join(", ");
        out::say(&format!("these logs also hold {others}, which --session asks for"));
    }
    for problem in findings.problems.iter().filter(|problem| problem.severity == Severity::Loss) {
        out::say(&format!("lost: {}", problem.text));
    }
}

/// Loss is worth an exit code only to those who asked for strictness.
pub(crate) fn end(input: &Input, findings: &Findings) -> End {
    if input.strict && findings.finished_with_loss() { End::Partial } else { End::Complete }
}
