//! Twenty rehearsed afternoons: how often the fitted constants are the simulator's own, and whether the report itself flags
//! those that are not.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use fieldlab_analysis::findings::{Findings, Verdict};
use fieldlab_analysis::{LogSet, Options as AnalysisOptions, analyse};
use fieldlab_sim::rehearsal::{Rehearsal, RehearsalConfig, run as rehearse};

use crate::figures::{Aim, Figures};
use crate::options::Options;

const SEEDS: u64 = 20;
const QUICK_SEEDS: u64 = 4;
/// Of twenty, eighteen.
const GOOD_SHARE: f64 = 0.9;
/// Seconds that one rehearsal with its report may take.
const SECONDS: f64 = 40.0;
/// Name, and how far from the truth it may be, relative.
const CONSTANTS: [(&str, f64); 3] = [("kV", 0.01), ("wheel_radius_m", 0.005), ("slip_current_a", 0.05)];

/// One afternoon.
struct Afternoon {
    seed: u64,
    secs: f64,
    done: bool,
    /// Relative errors, in the order of [`CONSTANTS`]; none when no number was given.
    errors: [Option<f64>; CONSTANTS.len()],
    /// Whether the report says of each that it is not to be trusted as it stands.
    flagged: [bool; CONSTANTS.len()],
    /// The worst of them in words.
    note: String,
}

impl Afternoon {
    fn within(&self, index: usize) -> bool {
        self.errors[index].is_some_and(|error| error.abs() <= CONSTANTS[index].1)
    }

    fn good(&self) -> bool {
        (0..CONSTANTS.len()).all(|index| self.within(index))
    }

    /// Every constant that misses is one that the report warns of.
    fn honest(&self) -> bool {
        (0..CONSTANTS.len()).all(|index| self.within(index) || self.flagged[index])
    }
}

/// Runs the seeds, two or so at a time.
///
/// # Errors
/// A rehearsal that cannot be held at all, or logs that cannot be read.
pub fn run(options: &Options) -> Result<Figures> {
    let count = if options.quick { QUICK_SEEDS } else { SEEDS };
    let next = AtomicU64::new(0);
    let afternoons = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::SeqCst);
                    if index >= count {
                        break;
                    }
                    let seed = options.seed + index;
                    let result = one(seed).with_context(|| format!("seed {seed}"));
                    if let Ok(mut all) = afternoons.lock() {
                        all.push(result);
                    }
                }
            });
        }
    });
    let all = afternoons.into_inner().map_err(|_| anyhow!("a rehearsal panicked"))?;
    let mut all = all.into_iter().collect::<Result<Vec<_>>>()?;
    all.sort_by_key(|afternoon| afternoon.seed);

    let mut figures = Figures::new("rehearse");
    figures.attached(format!("{count} seeds from {}, {workers} at a time; no socket", options.seed));
    for afternoon in all.iter().filter(|afternoon| !afternoon.good() || !afternoon.done) {
        let honest = if afternoon.honest() { "flagged by the report" } else { "NOT flagged" };
        figures.attached(format!("seed {}: {} ({honest})", afternoon.seed, afternoon.note));
    }
    let share = |met: &dyn Fn(&Afternoon) -> bool| all.iter().filter(|a| met(a)).count() as f64;
    let wanted = (count as f64 * GOOD_SHARE).ceil();
    figures.row("campaigns done", share(&|a| a.done), "seeds", Aim::AtLeast(count as f64));
    figures.row("all three constants right", share(&Afternoon::good), "seeds", Aim::AtLeast(wanted));
    for (index, (name, limit)) in CONSTANTS.iter().enumerate() {
        let label = format!("{name} within {} %", limit * 100.0);
        figures.row(label, share(&|a| a.within(index)), "seeds", Aim::Shown);
        let mut errors: Vec<f64> =
            all.iter().filter_map(|a| a.errors[index]).map(|e| e.abs() * 100.0).collect();
        errors.sort_by(f64::total_cmp);
        if let (Some(median), Some(worst)) = (errors.get(errors.len() / 2), errors.last()) {
            figures.row(format!("{name} error, median"), *median, "%", Aim::Shown);
            figures.row(format!("{name} error, worst"), *worst, "%", Aim::Shown);
        }
    }
    figures.row("wrong and not flagged", share(&|a| !a.honest()), "seeds", Aim::AtMost(0.0));
    let slowest = all.iter().map(|afternoon| afternoon.secs).fold(0.0, f64::max);
    figures.row("slowest rehearsal with its report", slowest, "s", Aim::AtMost(SECONDS));
    Ok(figures)
}

fn one(seed: u64) -> Result<Afternoon> {
    let folder = tempfile::tempdir().context("making a folder for the logs")?;
    let started = Instant::now();
    let rehearsal = rehearse(&RehearsalConfig::new(seed, folder.path()))?;
    let logs = LogSet::open(&rehearsal.files, &mut |_, _| {})?;
    let session = Some(rehearsal.session.clone());
    let findings = analyse(&logs, &AnalysisOptions { session }, &mut |_, _| {})?;
    drop(fieldlab_report::markdown(&findings));
    let secs = started.elapsed().as_secs_f64();
    Ok(judge(&rehearsal, &findings, secs))
}

fn judge(rehearsal: &Rehearsal, findings: &Findings, secs: f64) -> Afternoon {
    let truth = &rehearsal.truth;
    let truths = [truth.kv_volts_per_mps, truth.wheel_radius_m, truth.slip_current_a];
    let mut errors = [None; CONSTANTS.len()];
    let mut flagged = [true; CONSTANTS.len()];
    let mut notes = Vec::new();
    for (index, ((name, limit), truth)) in CONSTANTS.iter().zip(truths).enumerate() {
        let constant = findings.constant(name);
        errors[index] = constant.and_then(|c| c.value).map(|value| (value - truth) / truth.abs());
        // What is absent or refused warns by itself; so does a flag.
        flagged[index] = constant.is_none_or(|c| !matches!(c.verdict, Verdict::Measured));
        match errors[index] {
            None => notes.push(format!("{name} not given")),
            Some(error) if error.abs() > *limit => notes.push(format!("{name} {:+.2} %", error * 100.0)),
            Some(_) => {}
        }
    }
    if rehearsal.state != "DONE" {
        let fault = rehearsal.fault.as_deref().unwrap_or("no fault said");
        notes.push(format!("ended in {} ({fault})", rehearsal.state));
    }
    Afternoon {
        seed: rehearsal.seed,
        secs,
        done: rehearsal.state == "DONE",
        errors,
        flagged,
        note: notes.join(", "),
    }
}
