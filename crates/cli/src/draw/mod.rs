//! `fieldlab draw`: surfaces, samples, captures and constants of robots that draw.

mod check;
mod constants;
mod rig;

use clap::{Args, Subcommand};

use crate::exit::{End, Failure};

/// The words of `draw`.
#[derive(Debug, Args)]
pub(crate) struct Words {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Judge a samples file, and plan it when a rig and its joints are given; exit with 3 when it is refused
    Check(check::Words),
    /// The motion constants: render the generated files, check them, look values up
    Constants(constants::Words),
    /// The reference's offline planner: its arguments, its report, its exit codes
    PathPlanCheck(check::ReferenceWords),
}

pub(crate) fn run(words: &Words) -> Result<End, Failure> {
    match &words.command {
        Command::Check(words) => check::run(words),
        Command::Constants(words) => constants::run(words),
        Command::PathPlanCheck(words) => check::path_plan_check(words),
    }
}
