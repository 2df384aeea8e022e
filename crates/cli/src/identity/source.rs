//! Where a sheet is read: on a robot's server, or in a log.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use fieldlab_analysis::names::canonical;
use fieldlab_base::Micros;
use fieldlab_console::{robot_address, team_addresses};
use fieldlab_identity::{ReadSheet, Whole, keys};
use fieldlab_nt4::SubscribeOptions;
use fieldlab_nt4::client::Event;
use fieldlab_nt4_net::{NetClient, NetClientConfig};
use fieldlab_values::Value;
use fieldlab_wpilog::{Entry, Log};

use crate::exit::Failure;
use crate::out;

/// A robot that does not say how large its sheet is has said all of it when it said nothing for so long.
const QUIET: Duration = Duration::from_millis(500);
/// What stands beside a whole sheet (where its facts came from, which sources differ) has come when nothing came for so
/// long.
const SETTLED: Duration = Duration::from_millis(100);

/// A place where a robot says who it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// A log.
    Log(PathBuf),
    /// A robot at one of these addresses.
    Robot(Vec<String>),
}

impl Place {
    pub(super) fn robot(typed: &str) -> Result<Self, Failure> {
        Ok(Self::Robot(vec![robot_address(typed).map_err(Failure::input)?]))
    }

    pub(super) fn team(number: u32) -> Result<Self, Failure> {
        Ok(Self::Robot(team_addresses(number).map_err(Failure::input)?))
    }

    /// A place by one word: a log is a file that is there or a name that ends in `.wpilog`, a team is a number, anything
    /// else is a host.
    pub(super) fn typed(word: &str) -> Result<Self, Failure> {
        if Path::new(word).is_file() || word.ends_with(".wpilog") {
            return Ok(Self::Log(word.into()));
        }
        word.parse().map_or_else(|_| Self::robot(word), Self::team)
    }

    /// What it is called in messages.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Log(path) => path.display().to_string(),
            Self::Robot(addresses) => addresses.join(", "),
        }
    }

    /// Reads the sheet. A place where nobody said anything has an empty one.
    pub(super) fn read(&self, wait: Duration) -> Result<ReadSheet, Failure> {
        match self {
            Self::Log(path) => from_log(path),
            Self::Robot(addresses) => from_robot(addresses, wait),
        }
    }
}

/// The newest value of each key, unless it was taken back before the log's end: a fact that went away is absent. Where a log
/// holds a key in several spellings, the robot's own writer is believed before a capture of the network.
fn from_log(path: &Path) -> Result<ReadSheet, Failure> {
    let log = Log::open(path).map_err(Failure::input)?;
    if let Some(salvage) = &log.report().salvage {
        out::say(&format!("{}: {salvage}; everything before it was used", path.display()));
    }
    let mut entries: Vec<(&Entry, String)> = log
        .entries()
        .iter()
        .filter_map(|entry| {
            let (key, _) = canonical(&entry.name);
            ReadSheet::key_of(key).map(|_| (entry, key.to_owned()))
        })
        .collect();
    let last = |entry: &Entry| entry.range.map(|(_, last)| last);
    entries.sort_by_key(|(entry, _)| (std::cmp::Reverse(canonical(&entry.name).1), last(entry), entry.index));
    // Some writers finish every entry when they close: that says nothing of the facts.
    let end = log.entries().iter().filter_map(last).max();
    let mut sheet = ReadSheet::default();
    for (entry, key) in entries {
        if entry.finish.is_some_and(|finish| end.is_some_and(|end| finish < end)) {
            sheet.retract(&key);
            continue;
        }
        // One record of each entry is decoded, however many a stranger's log holds.
        if let Some(record) = log.records(entry).max_by_key(|record| record.time) {
            let value = fieldlab_wpilog::decode(&entry.data_type, record.payload);
            sheet.take(&key, &entry.data_type, &value.unwrap_or_else(|| Value::Raw(record.payload.into())));
        }
    }
    Ok(sheet)
}

fn from_robot(addresses: &[String], wait: Duration) -> Result<ReadSheet, Failure> {
    let began = Instant::now();
    let clock = Arc::new(move || Micros(i64::try_from(began.elapsed().as_micros()).unwrap_or(i64::MAX)));
    let mut config = NetClientConfig::new("", "fieldlab-identity", clock);
    config.servers = addresses.to_vec();
    let client = NetClient::start(config)?;
    let prefix = format!("/Catalyst/{}/", keys::ROOT);
    client.with(|core| core.subscribe(&[&prefix], SubscribeOptions::prefix()))?;

    let mut sheet = ReadSheet::default();
    let mut connected = false;
    let mut heard = began;
    loop {
        let now = Instant::now();
        let left = wait.saturating_sub(now - began);
        let silence = match sheet.whole() {
            Whole::Yes => SETTLED,
            Whole::Unsaid if connected => QUIET,
            Whole::Unsaid | Whole::No { .. } => wait,
        };
        let left = left.min(silence.saturating_sub(now - heard));
        if left.is_zero() {
            break;
        }
        let Some(event) = client.next_event(left) else { continue };
        heard = Instant::now();
        match event {
            Event::Connected => {
                connected = true;
                sheet = ReadSheet::default();
            }
            Event::Value { name, value, .. } => {
                let announced = client.with(|core| core.topic(&name).map(|topic| topic.data_type.clone()));
                sheet.take(&name, &announced.unwrap_or_else(|| value.data_type()), &value);
            }
            Event::Unannounced(name) => sheet.retract(&name),
            _ => {}
        }
    }
    if !connected {
        let problem = client.state().last_problem.unwrap_or_else(|| "no answer".to_owned());
        return Err(Failure::input(anyhow!("no robot at {}: {problem}", addresses.join(", "))));
    }
    Ok(sheet)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_a_log_a_team_or_a_host() {
        let robot = |address: &str| Place::Robot(vec![address.to_owned()]);
        assert_eq!(Place::typed("gone.wpilog").ok(), Some(Place::Log("gone.wpilog".into())));
        assert_eq!(Place::typed("robot.local").ok(), Some(robot("robot.local:5810")));
        assert_eq!(Place::typed("127.0.0.1:5811").ok(), Some(robot("127.0.0.1:5811")));
        assert!(matches!(Place::typed("1234"), Ok(Place::Robot(all)) if all.len() > 2));
        assert!(Place::typed("no host").is_err());
    }
}
