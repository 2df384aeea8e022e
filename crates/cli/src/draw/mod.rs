//! `fieldlab draw`: surfaces, samples, captures and constants of robots that draw.

mod constants;

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
    /// The motion constants: render the generated files, check them, look values up
    Constants(constants::Words),
}

pub(crate) fn run(words: &Words) -> Result<End, Failure> {
    match &words.command {
        Command::Constants(words) => constants::run(words),
    }
}
