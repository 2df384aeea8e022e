//! `fieldlab`: the command line. Words in, exit codes out; it holds no maths of its own.
//!
//! stdout carries a command's result, stderr the conversation. Exit codes: 0 complete, 1 failed, 2 wrong words or an input
//! that cannot be read, 3 finished with loss or with something asked for missing or refused. A reader that closes the pipe has
//! what it wanted. It never changes or deletes a log.

mod channels;
mod console;
mod diff;
mod draw;
mod exit;
mod identity;
mod out;
mod rehearse;
mod report;
mod terminal;

use std::process::ExitCode;
use std::sync::OnceLock;

use clap::{Parser, Subcommand};

/// Plan a measuring afternoon, let the robot run it, and turn its logs into constants that can be trusted.
///
/// Exit codes: 0 complete, 1 failed, 2 wrong words or an input that cannot be read, 3 finished with loss or with something
/// that was asked for missing or refused. Results go to stdout, everything else to stderr.
#[derive(Debug, Parser)]
#[command(name = "fieldlab", version = version(), propagate_version = true, arg_required_else_help = true)]
struct Words {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a whole campaign on a simulated robot, then report on its logs beside the simulator's own truth
    Rehearse(rehearse::Words),
    /// Turn logs into constants: what was measured, how well, and what is missing
    Report(report::Words),
    /// The report's numbers as JSON; the same bytes as `report --format json`
    Json(report::Input),
    /// Compare the constants that a robot believes with what the logs measured
    Diff(diff::Words),
    /// List every entry of the logs with type, count and time range
    Channels(channels::Words),
    /// Watch a robot in a browser, and answer what its campaign asks
    Console(console::Words),
    /// What a robot says about itself: from the robot or from a log, and what two of them say differently
    Identity(identity::Words),
    /// Surfaces, samples, captures and constants of robots that draw
    Draw(draw::Words),
}

/// The version with the commit that it was built from, when there was one.
fn version() -> &'static str {
    static DESCRIBED: OnceLock<String> = OnceLock::new();
    DESCRIBED.get_or_init(fieldlab_identity::version::describe)
}

fn main() -> ExitCode {
    let words = Words::parse();
    let end = match words.command {
        Command::Rehearse(words) => rehearse::run(&words),
        Command::Report(words) => report::run(&words),
        Command::Json(input) => report::run_json(&input),
        Command::Diff(words) => diff::run(&words),
        Command::Channels(words) => channels::run(&words),
        Command::Console(words) => console::run(&words),
        Command::Identity(words) => identity::run(&words),
        Command::Draw(words) => draw::run(&words),
    };
    end.map_or_else(exit::Failure::tell, ExitCode::from)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_words_are_consistent() {
        super::Words::command().debug_assert();
    }
}
