//! `fieldlab draw constants`: one file of numbers, and what is generated from it.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Subcommand};
use fieldlab_draw::constants::{Constants, PATH, artefacts};
use fieldlab_draw::json::Json;
use fieldlab_store::{Disk, replace};

use crate::exit::{End, Failure};
use crate::out;

/// The words of `draw constants`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Words {
    /// The repository whose constants are meant
    #[arg(long, value_name = "FOLDER", default_value = ".", global = true)]
    root: PathBuf,
    /// Compare the generated files with the constants; exit with 3 when any is stale
    #[arg(long)]
    check: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write the Rust, C and Python modules from the constants file
    Render,
    /// Print every constant with its dotted key
    List {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Print one constant
    Get {
        /// Its dotted key, such as planner.dls_damping
        key: String,
    },
    /// Print the short digest that samples files carry
    Sha {
        /// Print all 64 digits
        #[arg(long)]
        full: bool,
    },
}

pub(crate) fn run(words: &Words) -> Result<End, Failure> {
    let path = words.root.join(PATH);
    let bytes = std::fs::read(&path)
        .with_context(|| format!("reading {}", path.display()))
        .map_err(Failure::input)?;
    let constants = Constants::parse(&bytes)
        .with_context(|| format!("{} is refused", path.display()))
        .map_err(Failure::input)?;
    let Some(command) = &words.command else { return check(&words.root, &constants) };
    if words.check {
        return Err(Failure::input(anyhow::anyhow!("--check stands alone, without another word")));
    }
    match command {
        Command::Render => render(&words.root, &constants),
        Command::List { json } => {
            let text = if *json {
                Json::Map(constants.leaves().to_vec()).line()
            } else {
                let rows: Vec<Vec<String>> = constants
                    .leaves()
                    .iter()
                    .map(|(key, value)| vec![key.clone(), value.canonical()])
                    .collect();
                out::table(&["key", "value"], &rows, &[])
            };
            out::result(&text)?;
            Ok(End::Complete)
        }
        Command::Get { key } => match constants.get(key) {
            Some(value) => {
                out::result(&value.canonical())?;
                Ok(End::Complete)
            }
            None => Err(Failure::input(anyhow::anyhow!("{}: no constant is called `{key}`", path.display()))),
        },
        Command::Sha { full } => {
            out::result(if *full { constants.sha_full() } else { constants.sha() })?;
            Ok(End::Complete)
        }
    }
}

fn check(root: &Path, constants: &Constants) -> Result<End, Failure> {
    let mut stale = 0;
    for artefact in artefacts(constants) {
        let found = std::fs::read(root.join(artefact.path)).unwrap_or_default();
        if found != artefact.text.as_bytes() {
            stale += 1;
            out::say(&format!(
                "{} is stale: run `fieldlab draw constants render` and commit it",
                artefact.path
            ));
        }
    }
    if stale > 0 {
        return Ok(End::Partial);
    }
    out::result(constants.sha())?;
    Ok(End::Complete)
}

fn render(root: &Path, constants: &Constants) -> Result<End, Failure> {
    for artefact in artefacts(constants) {
        let path = root.join(artefact.path);
        replace(&mut Disk::new(), &path, artefact.text.as_bytes())
            .with_context(|| format!("writing {}", path.display()))?;
        out::say(&format!("wrote {}", artefact.path));
    }
    out::result(constants.sha())?;
    Ok(End::Complete)
}
