//! `fieldlab identity`: what a robot says about itself.

mod compare;
mod show;
mod source;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use fieldlab_identity::{ReadSheet, Units, Whole};

use crate::exit::{End, Failure};
use crate::out;
use source::Place;

/// The words of `identity`.
///
/// Exits with 3 when there is no sheet, when a part of it is missing, or when a part of it cannot be read.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Words {
    #[command(subcommand)]
    command: Option<Command>,
    /// A log in which a robot said who it is
    #[arg(value_name = "LOG", conflicts_with_all = ["robot", "team"])]
    log: Option<PathBuf>,
    /// The robot: HOST or HOST:PORT of its NetworkTables server [default: 127.0.0.1:5810]
    #[arg(long, value_name = "HOST", conflicts_with = "team")]
    robot: Option<String>,
    /// The team whose robot is looked for at the usual addresses
    #[arg(long, value_name = "N")]
    team: Option<u32>,
    #[command(flatten)]
    patience: Patience,
    /// Print JSON instead of the page; what is under `sheet` is as `fieldlab identity schema` says
    #[arg(long)]
    json: bool,
    /// Say where each fact came from, and for each absent one which source was silent
    #[arg(long)]
    why: bool,
    /// Show inches, feet and pounds; the robot says metres and kilograms
    #[arg(long, conflicts_with = "json")]
    imperial: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// What two robots, builds or logs say differently
    Diff(compare::Words),
    /// The JSON Schema of a sheet, from the table of keys
    Schema,
    /// The table of keys, for whoever writes a dashboard
    Keys,
}

/// How long a robot may take.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Patience {
    /// How long to wait for a robot and its whole sheet
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    wait: f64,
}

impl Patience {
    fn duration(self) -> Result<Duration, Failure> {
        let secs = self.wait;
        Duration::try_from_secs_f64(secs)
            .ok()
            .filter(|wait| *wait > Duration::ZERO && *wait <= Duration::from_secs(3600))
            .ok_or_else(|| {
                Failure::input(anyhow!("--wait: expected seconds above 0 and up to 3600, found {secs}"))
            })
    }
}

pub(crate) fn run(words: &Words) -> Result<End, Failure> {
    match &words.command {
        Some(Command::Diff(words)) => return compare::run(words),
        Some(Command::Schema) => {
            out::result(&fieldlab_identity::schema_text())?;
            return Ok(End::Complete);
        }
        Some(Command::Keys) => {
            out::result(&fieldlab_identity::keys::markdown())?;
            return Ok(End::Complete);
        }
        None => {}
    }
    let place = match (&words.log, &words.robot, words.team) {
        (Some(log), _, _) => Place::Log(log.clone()),
        (None, Some(robot), _) => Place::robot(robot)?,
        (None, None, Some(team)) => Place::team(team)?,
        (None, None, None) => Place::robot("127.0.0.1")?,
    };
    let sheet = place.read(words.patience.duration()?)?;
    let end = judge(&place, &sheet);
    let units = if words.imperial { Units::Imperial } else { Units::Metric };
    if words.json {
        out::result(&serde_json::to_string_pretty(&show::json(&place.name(), &sheet))?)?;
    } else if !sheet.is_empty() {
        out::result(&show::text(&sheet, units, words.why, out::stdout_takes_colour()))?;
    }
    Ok(end)
}

/// Says what is missing or cannot be read, and how the command is to end for it.
fn judge(place: &Place, sheet: &ReadSheet) -> End {
    let name = place.name();
    let mut end = End::Complete;
    let mut trouble = |text: String| {
        out::say(&format!("{name}: {text}"));
        end = End::Partial;
    };
    for (key, problem) in sheet.problems() {
        trouble(format!("{}: {}", out::printable(key), out::printable(problem)));
    }
    if sheet.more_problems() > 0 {
        trouble(format!("and {} more like these", sheet.more_problems()));
    }
    if sheet.is_empty() {
        trouble("no robot said here who it is".to_owned());
    } else if let Whole::No { have, said } = sheet.whole() {
        trouble(if have == said {
            format!("all {said} keys are here, but not all of them as the robot said them last")
        } else {
            format!("{have} keys are here, the robot has {said}")
        });
    }
    end
}
