//! `fieldlab console`: the page that watches a robot.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use fieldlab_base::Micros;
use fieldlab_console::{Console, ConsoleConfig, ConsoleError, robot_address, team_addresses};

use crate::exit::{End, Failure};
use crate::out;

/// The port of the page: among those that a field's network lets through.
pub(crate) const PORT: u16 = 5800;

/// The words of `console`.
#[derive(Debug, Args)]
pub(crate) struct Words {
    /// The robot: HOST or HOST:PORT of its NetworkTables server [default: 127.0.0.1:5810]
    #[arg(long, value_name = "HOST", conflicts_with = "team")]
    robot: Option<String>,
    /// The team whose robot is looked for at the usual addresses
    #[arg(long, value_name = "N")]
    team: Option<u32>,
    /// Port of the page; 0 takes any free one
    #[arg(long, value_name = "P", default_value_t = PORT)]
    port: u16,
    /// Address to listen on. Anything but loopback lets everybody on the network watch, and answer
    #[arg(long, value_name = "ADDR", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    listen: IpAddr,
    /// A name by which others ask for the page, besides localhost and the address; may be given more than once
    #[arg(long = "host-name", value_name = "NAME")]
    host_names: Vec<String>,
    /// Open the page in this machine's browser
    #[arg(long)]
    open: bool,
}

pub(crate) fn run(words: &Words) -> Result<End, Failure> {
    let robots = match (&words.robot, words.team) {
        (Some(robot), _) => vec![robot_address(robot).map_err(Failure::input)?],
        (None, Some(team)) => team_addresses(team).map_err(Failure::input)?,
        (None, None) => vec![robot_address("127.0.0.1").map_err(Failure::input)?],
    };
    let shown = robots.join(", ");
    let started = Instant::now();
    let clock = Arc::new(move || Micros(i64::try_from(started.elapsed().as_micros()).unwrap_or(i64::MAX)));
    let mut config = ConsoleConfig::new(SocketAddr::new(words.listen, words.port), robots, clock);
    config.host_names.clone_from(&words.host_names);
    let console = Console::start(config).map_err(|error| refused(error, "--port"))?;
    out::result(&console.url())?;
    if !words.listen.is_loopback() {
        out::say("everybody who can reach this address can watch, and answer the robot's questions");
    }
    if words.open
        && let Err(error) = open(&console.url())
    {
        out::say(&format!("no browser could be opened: {error}"));
    }
    console.wait_for_end(|| out::say(&format!("watching {shown}; Ctrl-C ends it")))?;
    Ok(End::Complete)
}

/// A port that is taken is the word's fault, and the message names the word.
fn refused(error: ConsoleError, word: &str) -> Failure {
    match &error {
        ConsoleError::Bind { .. } => {
            let told = anyhow::anyhow!("{error}; {word} takes another port, 0 any free one");
            Failure::Input(told)
        }
        _ => Failure::from(error),
    }
}

fn open(url: &str) -> std::io::Result<()> {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    // It ends by itself, and what it has to say is for nobody.
    Command::new(opener)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map(drop)
}
