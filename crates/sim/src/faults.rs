//! Faults by script: a TOML file that says what goes wrong and when.
//!
//! ```toml
//! schema = "fieldlab.faults/1"
//! seed = 7                      # optional; moves what `within_secs` leaves to chance
//!
//! [[fault]]
//! kind = "disable"              # somebody hits the space bar …
//! procedure = "drive-ff"        # … in this procedure,
//! step_kind = "act"             # in its first act (act, measure, confirm, settle or battery_gate; optional),
//! after_secs = 1.5              # this long after the step began,
//! within_secs = 0.5             # give or take a uniformly random part of this,
//! for_secs = 4.0                # and enables again so much later
//!
//! [[fault]]
//! kind = "sensor"
//! sensor = "module-2"           # battery, gyro, vision, module-0 … module-3
//! mode = "nan"                  # nan, stale, silent
//! at_secs = 300.0               # instead of `procedure`: seconds since power on
//! for_secs = 2.0
//! ```
//!
//! The other kinds: `reboot` and `kill` (the process ends, in good order or at once; `for_secs` until it is back),
//! `nt-drop` (the dashboard's connection), `brownout` (`volts`: how deep), `disk-full`.

use fieldlab_base::{ConfigError, check};

use crate::rng::Rng;
use crate::sensors::SensorFault;
use crate::world::SensorId;

/// The schema that [`parse`] reads.
pub const SCHEMA: &str = "fieldlab.faults/1";

/// The longest file that is read.
pub const MAX_BYTES: usize = 1 << 20;

/// The most faults in a file.
pub const MAX_FAULTS: usize = 1000;

/// A script, checked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Faults {
    /// What chance is left, if the file says; the run's seed otherwise.
    pub seed: Option<u64>,
    /// In the order of the file.
    pub faults: Vec<Fault>,
}

/// One thing that goes wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// When.
    pub trigger: Trigger,
    /// … and this much later, at random, seconds.
    pub within_secs: f64,
    /// For how long, seconds; what it means is the kind's.
    pub for_secs: f64,
    /// What.
    pub kind: FaultKind,
}

/// When a fault begins.
#[derive(Debug, Clone, PartialEq)]
pub enum Trigger {
    /// So long after power on, seconds.
    At(f64),
    /// In a step of a campaign.
    Step {
        /// The procedure's id.
        procedure: String,
        /// The step's index in it; any when `None`.
        step: Option<usize>,
        /// The step's kind, as on `StepKind`; any when `None`.
        step_kind: Option<String>,
        /// So long after it began, seconds.
        after_secs: f64,
    },
}

/// What goes wrong.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FaultKind {
    /// The driver station disables, and enables again after `for_secs`.
    Disable,
    /// The robot code ends in good order and starts again after `for_secs`.
    Reboot,
    /// The robot code ends at once, as by SIGKILL or a pulled pack, and starts again after `for_secs`.
    Kill,
    /// The dashboard's connection drops for `for_secs`.
    NtDrop,
    /// The pack loses so many volts for `for_secs`.
    Brownout {
        /// How many.
        volts: f64,
    },
    /// A sensor fails for `for_secs`.
    Sensor {
        /// Which.
        sensor: SensorId,
        /// How.
        mode: SensorFault,
    },
    /// No byte can be written for `for_secs`.
    DiskFull,
}

/// Why a script was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FaultsError {
    /// Longer than [`MAX_BYTES`].
    #[error("expected at most {limit} bytes, found {found}")]
    TooLong {
        /// The limit.
        limit: usize,
        /// The length.
        found: usize,
    },
    /// Not text.
    #[error("byte {at}: expected UTF-8 text, found a byte that is none")]
    NotText {
        /// Where the first wrong byte is.
        at: usize,
    },
    /// Not TOML, or not of the schema's shape.
    #[error("line {line}, column {column}: {problem}")]
    Syntax {
        /// From 1.
        line: usize,
        /// From 1, in characters.
        column: usize,
        /// What was expected and found there.
        problem: String,
    },
    /// A value that cannot be.
    #[error("{0}")]
    Value(ConfigError),
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    schema: String,
    seed: Option<u64>,
    #[serde(default)]
    fault: Vec<RawFault>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFault {
    kind: String,
    at_secs: Option<f64>,
    procedure: Option<String>,
    step: Option<usize>,
    step_kind: Option<String>,
    after_secs: Option<f64>,
    within_secs: Option<f64>,
    for_secs: Option<f64>,
    volts: Option<f64>,
    sensor: Option<String>,
    mode: Option<String>,
}

/// Reads a script.
///
/// # Errors
/// Refuses what is not UTF-8, not TOML, of another schema, or names a key or a value that does not belong there; the error
/// says where. Never panics, whatever the bytes; memory is bounded by [`MAX_BYTES`].
pub fn parse(bytes: &[u8]) -> Result<Faults, FaultsError> {
    if bytes.len() > MAX_BYTES {
        return Err(FaultsError::TooLong { limit: MAX_BYTES, found: bytes.len() });
    }
    let text = std::str::from_utf8(bytes).map_err(|e| FaultsError::NotText { at: e.valid_up_to() })?;
    let raw: RawFile = toml::from_str(text).map_err(|e| {
        let at = e.span().map_or(0, |s| s.start);
        let (line, column) = position(text, at);
        FaultsError::Syntax { line, column, problem: e.message().replace('\n', ", ") }
    })?;
    check_file(raw).map_err(FaultsError::Value)
}

fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |l| l.chars().count()) + 1;
    (line, column)
}

fn check_file(raw: RawFile) -> Result<Faults, ConfigError> {
    if raw.schema != SCHEMA {
        return Err(ConfigError::new("schema", format!("{SCHEMA:?}"), format!("{:?}", raw.schema)));
    }
    if raw.fault.len() > MAX_FAULTS {
        return Err(ConfigError::new("fault", format!("at most {MAX_FAULTS} faults"), raw.fault.len()));
    }
    let faults = raw
        .fault
        .into_iter()
        .enumerate()
        .map(|(i, f)| check_fault(f).map_err(|e| e.within(&format!("fault[{i}]"))))
        .collect::<Result<_, _>>()?;
    Ok(Faults { seed: raw.seed, faults })
}

/// A week: longer than any rehearsal, short enough for exact milliseconds.
const LONGEST_SECS: f64 = 604_800.0;

fn check_fault(raw: RawFault) -> Result<Fault, ConfigError> {
    let secs = |path: &str, value: Option<f64>, default: f64| {
        check::within(path, value.unwrap_or(default), 0.0, LONGEST_SECS)
    };
    let trigger = match (&raw.at_secs, &raw.procedure) {
        (Some(at), None) => {
            for (path, there) in [
                ("step", raw.step.is_some()),
                ("step_kind", raw.step_kind.is_some()),
                ("after_secs", raw.after_secs.is_some()),
            ] {
                if there {
                    return Err(ConfigError::new(path, "no such key beside `at_secs`", "one"));
                }
            }
            Trigger::At(check::within("at_secs", *at, 0.0, LONGEST_SECS)?)
        }
        (None, Some(procedure)) => Trigger::Step {
            procedure: procedure.clone(),
            step: raw.step,
            step_kind: raw.step_kind.as_deref().map(step_kind).transpose()?,
            after_secs: secs("after_secs", raw.after_secs, 0.0)?,
        },
        (Some(_), Some(_)) => {
            return Err(ConfigError::new("procedure", "either `at_secs` or `procedure`", "both"));
        }
        (None, None) => return Err(ConfigError::new("at_secs", "`at_secs` or `procedure`", "neither")),
    };
    let kind = check_kind(&raw)?;
    Ok(Fault {
        trigger,
        within_secs: secs("within_secs", raw.within_secs, 0.0)?,
        for_secs: secs("for_secs", raw.for_secs, 2.0)?,
        kind,
    })
}

fn step_kind(word: &str) -> Result<String, ConfigError> {
    const WORDS: [&str; 5] = ["act", "measure", "confirm", "settle", "battery_gate"];
    if WORDS.contains(&word) {
        Ok(word.to_owned())
    } else {
        Err(ConfigError::new("step_kind", format!("one of {}", WORDS.join(", ")), format!("{word:?}")))
    }
}

fn check_kind(raw: &RawFault) -> Result<FaultKind, ConfigError> {
    let only = |path: &str, there: bool, owner: &str| {
        if there && raw.kind != owner {
            let expected = format!("this key with kind {owner:?} only");
            Err(ConfigError::new(path, expected, format!("kind {:?}", raw.kind)))
        } else {
            Ok(())
        }
    };
    only("volts", raw.volts.is_some(), "brownout")?;
    only("sensor", raw.sensor.is_some(), "sensor")?;
    only("mode", raw.mode.is_some(), "sensor")?;
    Ok(match raw.kind.as_str() {
        "disable" => FaultKind::Disable,
        "reboot" => FaultKind::Reboot,
        "kill" => FaultKind::Kill,
        "nt-drop" => FaultKind::NtDrop,
        "disk-full" => FaultKind::DiskFull,
        "brownout" => {
            FaultKind::Brownout { volts: check::within("volts", raw.volts.unwrap_or(7.0), 0.0, 20.0)? }
        }
        "sensor" => FaultKind::Sensor {
            sensor: sensor(raw.sensor.as_deref().unwrap_or_default())?,
            mode: mode(raw.mode.as_deref().unwrap_or_default())?,
        },
        other => {
            let expected = "one of disable, reboot, kill, nt-drop, brownout, sensor, disk-full";
            return Err(ConfigError::new("kind", expected, format!("{other:?}")));
        }
    })
}

fn sensor(name: &str) -> Result<SensorId, ConfigError> {
    match name {
        "battery" => Ok(SensorId::Battery),
        "gyro" => Ok(SensorId::Gyro),
        "vision" => Ok(SensorId::Vision),
        "module-0" => Ok(SensorId::Module(0)),
        "module-1" => Ok(SensorId::Module(1)),
        "module-2" => Ok(SensorId::Module(2)),
        "module-3" => Ok(SensorId::Module(3)),
        _ => {
            let expected = "one of battery, gyro, vision, module-0, module-1, module-2, module-3";
            Err(ConfigError::new("sensor", expected, format!("{name:?}")))
        }
    }
}

fn mode(name: &str) -> Result<SensorFault, ConfigError> {
    match name {
        "nan" => Ok(SensorFault::Nan),
        "stale" => Ok(SensorFault::Stale),
        "silent" => Ok(SensorFault::Silent),
        _ => Err(ConfigError::new("mode", "one of nan, stale, silent", format!("{name:?}"))),
    }
}

/// Where the campaign is, as the faults' triggers see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The procedure's id.
    pub procedure: String,
    /// The step's index.
    pub step: usize,
    /// The step's kind, as on `StepKind`.
    pub step_kind: String,
}

/// The script as it is played: says which faults begin now. Each fires once.
#[derive(Debug, Clone)]
pub struct Player {
    waiting: Vec<(Fault, f64, Option<f64>)>,
    place: Option<(Place, f64)>,
}

impl Player {
    /// Plays `script`; `seed` is used when the file names none.
    #[must_use]
    pub fn new(script: &Faults, seed: u64) -> Self {
        let mut rng = Rng::stream(script.seed.unwrap_or(seed), "faults");
        let waiting = script
            .faults
            .iter()
            .map(|f| (f.clone(), rng.uniform(0.0, f.within_secs.max(f64::MIN_POSITIVE)), None))
            .collect();
        Self { waiting, place: None }
    }

    /// The faults that begin at `now_secs`, in the order of the file. `place` is where the campaign is, if anywhere.
    pub fn due(&mut self, now_secs: f64, place: Option<&Place>) -> Vec<Fault> {
        if self.place.as_ref().map(|(p, _)| p) != place {
            self.place = place.map(|p| (p.clone(), now_secs));
        }
        let here = self.place.as_ref();
        let mut begun = Vec::new();
        self.waiting.retain_mut(|(fault, chance, due)| {
            match &fault.trigger {
                Trigger::At(at) => *due = Some(at + *chance),
                Trigger::Step { procedure, step, step_kind, after_secs } => {
                    let there = here.filter(|(p, _)| {
                        p.procedure == *procedure
                            && step.is_none_or(|s| s == p.step)
                            && step_kind.as_ref().is_none_or(|k| *k == p.step_kind)
                    });
                    // A step that ends before its time comes leaves the fault waiting for the next one that fits.
                    *due = there.map(|(_, since)| since + after_secs + *chance);
                }
            }
            let fires = due.is_some_and(|t| t <= now_secs);
            if fires {
                begun.push(fault.clone());
            }
            !fires
        });
        begun
    }

    /// How many faults have not begun.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        parse(text.as_bytes()).unwrap_err().to_string()
    }

    const HEAD: &str = "schema = \"fieldlab.faults/1\"\n";

    #[test]
    fn a_script_of_every_kind_is_read() {
        let text = include_str!("../../../fuzz/corpus/faults/every-kind.toml");
        let script = parse(text.as_bytes()).unwrap();
        assert_eq!(script.seed, Some(7));
        assert_eq!(script.faults.len(), 8);
        assert_eq!(script.faults[1].kind, FaultKind::Reboot);
        assert_eq!(script.faults[4].kind, FaultKind::Brownout { volts: 7.5 });
    }

    #[test]
    fn what_does_not_belong_is_refused_with_its_place() {
        let cases = [
            (
                "schema = \"fieldlab.faults/2\"",
                "schema: expected \"fieldlab.faults/1\", found \"fieldlab.faults/2\"",
            ),
            (
                &format!("{HEAD}[[fault]]\nkind = \"lightning\"\nat_secs = 1"),
                "fault[0].kind: expected one of disable",
            ),
            (
                &format!("{HEAD}[[fault]]\nkind = \"kill\"\nat_secs = nan"),
                "fault[0].at_secs: expected a number from 0",
            ),
            (
                &format!("{HEAD}[[fault]]\nkind = \"kill\""),
                "fault[0].at_secs: expected `at_secs` or `procedure`",
            ),
            (
                &format!("{HEAD}[[fault]]\nkind = \"kill\"\nat_secs = 1.0\nvolts = 3.0"),
                "fault[0].volts: expected this key with kind \"brownout\" only, found kind \"kill\"",
            ),
            (&format!("{HEAD}\nfualt = 1"), "line 3, column 1: unknown field `fualt`"),
            (&format!("{HEAD}[[fault]]\nkind = 3"), "line 3, column 8: invalid type: integer"),
            ("schema = ", "line 1, column 10:"),
        ];
        for (text, expect) in cases {
            let found = refused(text);
            assert!(found.starts_with(expect), "{text:?}: {found}");
        }
        assert_eq!(
            parse(b"\xff").unwrap_err().to_string(),
            "byte 0: expected UTF-8 text, found a byte that is none"
        );
        assert!(matches!(parse(&vec![b' '; MAX_BYTES + 1]), Err(FaultsError::TooLong { .. })));
    }

    #[test]
    fn a_fault_in_a_step_waits_for_that_step() {
        let text = format!(
            "{HEAD}[[fault]]\nkind = \"disable\"\nprocedure = \"p\"\nstep_kind = \"act\"\nafter_secs = 1.0\n\
             [[fault]]\nkind = \"kill\"\nat_secs = 5.0"
        );
        let mut player = Player::new(&parse(text.as_bytes()).unwrap(), 1);
        let place = |step, kind: &str| Place { procedure: "p".into(), step, step_kind: kind.into() };
        assert!(player.due(0.0, None).is_empty());
        assert!(player.due(1.0, Some(&place(0, "confirm"))).is_empty());
        assert!(player.due(3.0, Some(&place(1, "act"))).is_empty());
        assert!(player.due(3.9, Some(&place(1, "act"))).is_empty());
        assert_eq!(player.due(4.1, Some(&place(1, "act"))).len(), 1);
        assert!(player.due(4.9, Some(&place(1, "act"))).is_empty(), "only once");
        assert_eq!(player.due(5.1, None)[0].kind, FaultKind::Kill);
        assert_eq!(player.waiting(), 0);
    }
}
