//! `torture campaign`, part (b): the robot's code runs as a process of its own and is killed with SIGKILL at random moments,
//! while the world and the person live on here. After each cut the checkpoint is read, the code started again, and what
//! it asks and does is held against what was banked.

pub mod child;
mod ledger;
mod parent;
mod wire;

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Result, bail};
use fieldlab_robot::site::Saves;
use fieldlab_sim::Rng;

use crate::figures::{Aim, Figures};
use crate::options::Options;
use parent::{Bench, Turn};
use wire::FilePhase;

/// What the code was at when it was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// A step of a save.
    File(FilePhase),
    /// Something was commanded to move.
    Motion,
    /// A person was asked.
    Prompt,
    /// Neither.
    Idle,
}

impl Phase {
    const ALL: [Self; 7] = [
        Self::File(FilePhase::Temp),
        Self::File(FilePhase::Fsync),
        Self::File(FilePhase::Rename),
        Self::File(FilePhase::Folder),
        Self::Motion,
        Self::Prompt,
        Self::Idle,
    ];

    /// How many chances are let pass at most before the cut.
    const fn patience(self) -> u64 {
        match self {
            Self::File(_) => 12,
            Self::Motion => 60,
            Self::Prompt => 80,
            Self::Idle => 120,
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File(FilePhase::Temp) => "temp",
            Self::File(FilePhase::Fsync) => "fsync",
            Self::File(FilePhase::Rename) => "rename",
            Self::File(FilePhase::Folder) => "folder",
            Self::Motion => "motion",
            Self::Prompt => "prompt",
            Self::Idle => "idle",
        })
    }
}

/// Where and when the next cut is to be made.
#[derive(Debug, Clone, Copy)]
struct Target {
    phase: Phase,
    /// So many chances are let pass first.
    chances: u64,
    /// … and so many microseconds within the chance.
    micros: u64,
}

const CUTS: u64 = 300;
const QUICK_CUTS: u64 = 70;
/// An hour of the world's time.
const LAST_TURNS: u64 = 180_000;

/// Runs it.
///
/// # Errors
/// When a child cannot be started, or ends by itself.
#[allow(clippy::print_stderr, reason = "a trial talks to the person who started it")]
pub fn run(options: &Options) -> Result<Figures> {
    let cuts = options.cuts.unwrap_or(if options.quick { QUICK_CUTS } else { CUTS });
    let least = 20.min(cuts / 7);
    let mut rng = Rng::stream(options.seed, "cuts");
    let mut made: BTreeMap<Phase, u64> = Phase::ALL.map(|p| (p, 0)).into();
    let mut bench = Bench::start(options.seed)?;
    let mut target = choose(&made, &mut rng);
    let (mut turns, mut threaded) = (0_u64, 0);
    while made.values().sum::<u64>() < cuts || made.values().any(|n| *n < least) {
        turns += 1;
        match bench.turn(&mut target)? {
            Turn::Lived => {}
            Turn::Done => bench = bench.next_campaign()?,
            Turn::Cut(phase) => {
                *made.entry(phase).or_default() += 1;
                threaded += u64::from(bench.saves() == Saves::Thread);
                if bench.after_cut()? {
                    bench = bench.next_campaign()?;
                }
                target = choose(&made, &mut rng);
                let total: u64 = made.values().sum();
                if total.is_multiple_of(50) {
                    eprintln!("torture campaign: {total} cuts, {}", table(&made));
                }
            }
        }
        if turns > 40_000 * cuts {
            bail!(
                "{turns} turns and only {}: the code no longer gets to where it is to be cut",
                table(&made)
            );
        }
    }
    // What was cut last must still come to its end.
    let mut never = Target { phase: Phase::Idle, chances: u64::MAX, micros: 0 };
    let mut left = LAST_TURNS;
    while !matches!(bench.turn(&mut never)?, Turn::Done) {
        left -= 1;
        if left == 0 {
            bail!("the campaign that was cut last does not come to its end in {LAST_TURNS} turns");
        }
    }
    let ledger = bench.next_campaign()?.finish()?;
    eprintln!("torture campaign: cuts by phase: {}", table(&made));
    let mut figures = Figures::new("torture campaign");
    figures.attached(format!("(b) SIGKILL of a child process, seed {}", options.seed));
    figures.attached(format!("(b) {} campaigns, {} banked answers", ledger.campaigns, ledger.answers));
    for (phase, count) in &made {
        figures.row(format!("(b) cuts in {phase}"), *count as f64, "", Aim::AtLeast(least as f64));
    }
    // Boots take turns, and some boots are cut in the other's share of a phase.
    let share = (cuts / 3) as f64;
    figures.row("(b) cuts with the storage thread at work", threaded as f64, "", Aim::AtLeast(share));
    figures.row("(b) cuts in all", made.values().sum::<u64>() as f64, "", Aim::AtLeast(cuts as f64));
    figures.row("(b) banked answers lost", ledger.lost as f64, "", Aim::AtMost(0.0));
    figures.row("(b) banked answers asked again", ledger.asked_again as f64, "", Aim::AtMost(0.0));
    figures.row("(b) banked procedures or shots run twice", ledger.run_twice as f64, "", Aim::AtMost(0.0));
    figures.row("(b) checkpoints not readable", ledger.unreadable as f64, "", Aim::AtMost(0.0));
    figures.row("(b) campaigns that went on to their end", ledger.campaigns as f64, "", Aim::AtLeast(1.0));
    for note in &ledger.notes {
        eprintln!("torture campaign: {note}");
    }
    Ok(figures)
}

fn table(made: &BTreeMap<Phase, u64>) -> String {
    made.iter().map(|(phase, count)| format!("{phase} {count}")).collect::<Vec<_>>().join(", ")
}

/// A random moment in the phase that was cut least.
fn choose(made: &BTreeMap<Phase, u64>, rng: &mut Rng) -> Target {
    let fewest = made.values().min().copied().unwrap_or(0);
    let candidates: Vec<Phase> = made.iter().filter(|(_, n)| **n <= fewest + 1).map(|(p, _)| *p).collect();
    let phase = candidates.get(rng.below(candidates.len() as u64) as usize).copied().unwrap_or(Phase::Idle);
    let most = if matches!(phase, Phase::File(_)) { 60 } else { 600 };
    Target { phase, chances: rng.below(phase.patience()), micros: rng.below(most) }
}
