//! `fieldlab rehearse`: the whole afternoon on a simulated robot, and its report beside the simulator's own truth.

mod outcome;
mod stage;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use clap::Args;
use fieldlab_analysis::findings::Findings;
use fieldlab_analysis::{LogSet, Options, analyse};
use fieldlab_robot::driver_station::DriverPanel;
use fieldlab_sim::faults::{self, Faults};
use fieldlab_sim::operator::Part;
use fieldlab_sim::rehearsal::{Rehearsal, RehearsalConfig, Scope, run_on};

use crate::console;
use crate::exit::{End, Failure};
use crate::out;
use crate::report::Format;
use crate::terminal::Terminal;

/// What `--plan` can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Plan {
    /// Nine procedures, an hour of afternoon.
    Full,
    /// Two of them, a few minutes.
    Short,
}

/// The words of `rehearse`.
#[derive(Debug, Args)]
pub(crate) struct Words {
    /// Keep pace with the clock, so that clients on sockets can answer in time
    #[arg(long)]
    realtime: bool,
    /// How much of the campaign
    #[arg(long, value_enum, default_value = "full")]
    plan: Plan,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Script of faults: a TOML file of schema fieldlab.faults/1
    #[arg(long, value_name = "FILE")]
    faults: Option<PathBuf>,
    /// Port of the NetworkTables server on 127.0.0.1; 0 takes any free one and prints it
    #[arg(long, value_name = "P", default_value_t = 5810)]
    nt_port: u16,
    /// Port of the page that watches it, on 127.0.0.1; 0 takes any free one and prints it. Without this word the page is there
    /// only at the pace of the clock, on port 5800 when that is free
    #[arg(long, value_name = "P")]
    console_port: Option<u16>,
    /// Folder for logs, checkpoint and report
    #[arg(long, value_name = "DIR", default_value = "out")]
    out: PathBuf,
    /// Be the driver station yourself: keys select, enable, disable, swap the pack and cut the power. Answers come from a
    /// dashboard; the pace is one to one
    #[arg(long)]
    human: bool,
    /// Answer the prompts yourself, on the page or any other dashboard; the driver station is worked for you, the pace is one to
    /// one
    #[arg(long, conflicts_with = "human")]
    dashboard: bool,
    /// Print one JSON object instead of the report
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(words: &Words) -> Result<End, Failure> {
    let mut config = RehearsalConfig::new(words.seed, &words.out);
    config.scope = match words.plan {
        Plan::Full => Scope::Full,
        Plan::Short => Scope::Short,
    };
    config.part = match (words.human, words.dashboard) {
        (true, _) => Part::Carrying,
        (_, true) => Part::AllButAnswers,
        _ => Part::Everything,
    };
    if let Some(path) = &words.faults {
        config.faults = script(path)?;
    }
    let panel = DriverPanel::new();
    let terminal = if words.human { Some(Terminal::open().map_err(Failure::Input)?) } else { None };
    let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, words.nt_port));
    let paced = words.realtime || words.human || words.dashboard;
    // A rehearsal of two seconds is over before anybody has opened a page.
    let page = match words.console_port {
        Some(port) => Some(stage::Page { port, asked: true }),
        None => paced.then_some(stage::Page { port: console::PORT, asked: false }),
    };
    let mut stage = stage::Watched::new(addr, page, paced, panel.clone(), terminal);
    out::say(&format!("seed {}; {}", words.seed, config.world.sensors));
    let started = Instant::now();
    let rehearsal = run_on(&config, &panel, &mut stage).map_err(|error| match error {
        // A port that is taken is the word's fault, and the message names it.
        error @ fieldlab_sim::rehearsal::RehearsalError::Stage(_) => Failure::input(error),
        error => Failure::from(error),
    })?;
    stage.close();
    let took = started.elapsed().as_secs_f64();
    out::say(&format!(
        "{:.0} minutes of afternoon in {took:.1} s: {} pack swaps, {} reboots, {}",
        rehearsal.secs / 60.0,
        rehearsal.swaps,
        rehearsal.reboots,
        if rehearsal.state.is_empty() { "nothing begun" } else { &rehearsal.state }
    ));
    finish(words, &rehearsal)
}

fn script(path: &Path) -> Result<Faults, Failure> {
    let place = path.display().to_string();
    let bytes = std::fs::read(path).with_context(|| format!("reading {place}")).map_err(Failure::Input)?;
    faults::parse(&bytes).with_context(|| place).map_err(Failure::Input)
}

/// Reads the logs as anybody would, writes the report beside them, and prints it with the truth.
fn finish(words: &Words, rehearsal: &Rehearsal) -> Result<End, Failure> {
    if let Some(fault) = &rehearsal.fault {
        out::say(&format!("the robot's code stopped: {fault}"));
    }
    if rehearsal.files.is_empty() {
        out::say("no log was written: the campaign was never begun");
        if words.json {
            out::result(&serde_json::to_string_pretty(&outcome::machine(rehearsal, None, &[]))?)?;
        }
        return Ok(End::Partial);
    }
    let bar = out::bar("fitting", 1000);
    let mut watch = |what: &str, share: f64| {
        bar.set_message(what.to_owned());
        bar.set_position((share.clamp(0.0, 1.0) * 1000.0) as u64);
    };
    let logs = LogSet::open(&rehearsal.files, &mut watch)?;
    let session = (!rehearsal.session.is_empty()).then(|| rehearsal.session.clone());
    let findings = analyse(&logs, &Options { session }, &mut watch)?;
    bar.finish_and_clear();
    let reports = keep_reports(&rehearsal.files, &findings)?;
    let text = if words.json {
        serde_json::to_string_pretty(&outcome::machine(rehearsal, Some(&findings), &reports))?
    } else {
        let report = fieldlab_report::markdown(&findings);
        format!("{}\n{}", report.trim_end(), outcome::table(rehearsal, &findings, &reports))
    };
    out::result(&text)?;
    Ok(if rehearsal.state == "DONE" { End::Complete } else { End::Partial })
}

/// The report in every format, in the folder of the logs.
fn keep_reports(files: &[PathBuf], findings: &Findings) -> Result<Vec<PathBuf>, Failure> {
    let Some(folder) = files.first().and_then(|file| file.parent()) else { return Ok(Vec::new()) };
    let mut kept = Vec::new();
    for (name, format) in
        [("report.html", Format::Html), ("report.json", Format::Json), ("report.md", Format::Md)]
    {
        let path = folder.join(name);
        fieldlab_store::replace(&mut fieldlab_store::Disk::new(), &path, format.write(findings).as_bytes())?;
        kept.push(path);
    }
    Ok(kept)
}
