//! The pre-arm list as this robot can answer it. A verdict's text is made anew only when what it says has changed.

use std::borrow::Cow;

use fieldlab_base::Micros;
use fieldlab_campaign::inputs::MANIFEST_BYTES;
use fieldlab_campaign::runner::clock_trusted;
use fieldlab_campaign::{PreArmFact, PreArmItem, PreArmVerdict};
use fieldlab_wpilog::WriterStats;

use crate::hw::{Inputs, MODULE_NAMES, MODULES};
use crate::site::{LogHealth, Pace, Site};

/// Readings older than this come from a sensor that is gone.
const ALIVE_SECS: f64 = 0.25;
/// How often it looks: the list is for a person, and what it asks of the log takes the writer's lock.
const EVERY: Micros = Micros::from_millis(100);
/// A log that took nothing durable for so long does not grow.
const LOG_GROWS_WITHIN: Micros = Micros::from_millis(2000);
const MIB: u64 = 1 << 20;

/// What is wrong with one item, as plain numbers, so that two turns can be compared without text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Finding {
    Well,
    NoLog,
    LogStopped,
    LogNotDurable,
    LogNotGrowing,
    DiskUnknown,
    DiskShort { free_mib: u64 },
    NoVolts,
    NoGyro,
    NoModule(usize),
    NoChannel(usize, &'static str),
    ClockUnset,
    ManifestLong { bytes: usize },
}

const COUNT: usize = PreArmItem::ALL.len();
const ITEMS: [PreArmItem; COUNT] = PreArmItem::ALL;

/// Keeps the list.
#[derive(Debug)]
pub(super) struct PreArm {
    found: [Finding; COUNT],
    facts: [PreArmFact; COUNT],
    has_drive: bool,
    manifest_bytes: usize,
    grown: Option<(Micros, u64)>,
    looked: Option<Micros>,
}

impl PreArm {
    /// `manifest_bytes` is how long the tunables manifest is.
    pub(super) fn new(has_drive: bool, manifest_bytes: usize) -> Self {
        let facts =
            ITEMS.map(|item| PreArmFact { item, verdict: PreArmVerdict::Fail("not checked yet".into()) });
        // `Well` beside a failed verdict would be wrong if it were ever compared equal; the first look replaces all.
        Self { found: [Finding::NoLog; COUNT], facts, has_drive, manifest_bytes, grown: None, looked: None }
    }

    /// Looks at everything, ten times a second.
    pub(super) fn look(&mut self, inputs: &Inputs, unix: Option<Micros>, site: &Site, free: Option<u64>) {
        if self.looked.is_some_and(|at| inputs.now.since(at) < EVERY) {
            return;
        }
        self.looked = Some(inputs.now);
        let log = site.log_stats();
        let found = ITEMS.map(|item| match item {
            PreArmItem::Log => self.log(inputs.now, site.pace, log),
            PreArmItem::FreeDisk => match free {
                Some(free) if free >= site.needed_bytes => Finding::Well,
                Some(free) => Finding::DiskShort { free_mib: free / MIB },
                None => Finding::DiskUnknown,
            },
            PreArmItem::Volts => match inputs.battery_volts {
                Some(r) if r.value.is_finite() && r.age_secs(inputs.now) <= ALIVE_SECS => Finding::Well,
                _ => Finding::NoVolts,
            },
            PreArmItem::Gyro => match inputs.fresh_gyro(ALIVE_SECS) {
                Some(gyro) if gyro.yaw_rad.is_finite() => Finding::Well,
                _ if self.has_drive => Finding::NoGyro,
                _ => Finding::Well,
            },
            PreArmItem::Modules => self.modules(inputs),
            PreArmItem::Channels => self.channels(inputs),
            PreArmItem::Clock if clock_trusted(unix) => Finding::Well,
            PreArmItem::Clock => Finding::ClockUnset,
            PreArmItem::Manifest if self.manifest_bytes < MANIFEST_BYTES => Finding::Well,
            PreArmItem::Manifest => Finding::ManifestLong { bytes: self.manifest_bytes },
        });
        for ((fact, old), new) in self.facts.iter_mut().zip(&mut self.found).zip(found) {
            let first = matches!(&fact.verdict, PreArmVerdict::Fail(text) if text == "not checked yet");
            if first || *old != new {
                *old = new;
                fact.verdict = verdict(new, site);
            }
        }
    }

    pub(super) fn facts(&self) -> &[PreArmFact] {
        &self.facts
    }

    /// Why the log has stopped, when it has.
    pub(super) fn log_stopped(&self) -> Option<&str> {
        let log = ITEMS.iter().position(|item| *item == PreArmItem::Log)?;
        match (self.found.get(log)?, &self.facts.get(log)?.verdict) {
            (Finding::LogStopped, PreArmVerdict::Fail(reason)) => Some(reason),
            _ => None,
        }
    }

    fn log(&mut self, now: Micros, pace: Pace, stats: Option<WriterStats>) -> Finding {
        let Some(stats) = stats else {
            self.grown = None;
            return Finding::NoLog;
        };
        if stats.stopped {
            return Finding::LogStopped;
        }
        if stats.bytes_durable == 0 {
            return Finding::LogNotDurable;
        }
        // By a virtual clock the disk is not on the robot's time; there what the writer took is what counts.
        let measure = if pace == Pace::Virtual { stats.records } else { stats.bytes_durable };
        match self.grown {
            Some((at, seen)) if seen == measure => {
                if now.since(at) > LOG_GROWS_WITHIN {
                    Finding::LogNotGrowing
                } else {
                    Finding::Well
                }
            }
            _ => {
                self.grown = Some((now, measure));
                Finding::Well
            }
        }
    }

    fn modules(&self, inputs: &Inputs) -> Finding {
        let silent = (0..MODULES).find(|i| inputs.fresh_module(*i, ALIVE_SECS).is_none());
        match silent {
            Some(module) if self.has_drive => Finding::NoModule(module),
            _ => Finding::Well,
        }
    }

    fn channels(&self, inputs: &Inputs) -> Finding {
        if !self.has_drive {
            return Finding::Well;
        }
        for module in 0..MODULES {
            let Some(reading) = inputs.fresh_module(module, ALIVE_SECS) else {
                return Finding::NoChannel(module, "anything");
            };
            let needed = [
                (reading.angle_rad, "an angle"),
                (reading.position_rad, "a position"),
                (reading.velocity_rad_per_sec, "a velocity"),
                (reading.applied_volts, "applied volts"),
                (reading.stator_amps, "stator amps"),
            ];
            if let Some((_, what)) = needed.iter().find(|(value, _)| value.is_none_or(|v| !v.is_finite())) {
                return Finding::NoChannel(module, what);
            }
        }
        Finding::Well
    }
}

fn verdict(finding: Finding, site: &Site) -> PreArmVerdict {
    let fail = |text: &'static str| PreArmVerdict::Fail(Cow::Borrowed(text));
    match finding {
        Finding::Well => PreArmVerdict::Pass,
        Finding::NoLog => fail("no log file is open"),
        Finding::LogStopped => {
            let reason = site.log_health().and_then(|LogHealth { stopped, .. }| stopped);
            PreArmVerdict::Fail(reason.map_or(Cow::Borrowed("the log has stopped"), Cow::Owned))
        }
        Finding::LogNotDurable => fail("nothing of the log is on the disk yet"),
        Finding::LogNotGrowing => fail("the log file does not grow"),
        Finding::DiskUnknown => fail("the free space is not known yet"),
        Finding::DiskShort { free_mib } => {
            let needed = site.needed_bytes / MIB;
            PreArmVerdict::Fail(format!("{free_mib} MiB free, a session needs {needed} MiB").into())
        }
        Finding::NoVolts => fail("no battery reading"),
        Finding::NoGyro => fail("no reading from the gyro"),
        Finding::NoModule(module) => {
            PreArmVerdict::Fail(format!("no reading from module {module} ({})", MODULE_NAMES[module]).into())
        }
        Finding::NoChannel(module, what) => PreArmVerdict::Fail(
            format!("module {module} ({}) does not say {what}", MODULE_NAMES[module]).into(),
        ),
        Finding::ClockUnset => PreArmVerdict::Warn(Cow::Borrowed("the wall clock is not set")),
        Finding::ManifestLong { bytes } => PreArmVerdict::Warn(
            format!(
                "the list of inputs has {bytes} bytes, a tablet reads {} and shows none of a longer one: fewer \
                 questions or shorter keys",
                MANIFEST_BYTES - 1
            )
            .into(),
        ),
    }
}
