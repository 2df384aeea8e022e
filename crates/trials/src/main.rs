//! `fieldlab-trials bench|torture NAME`: starts a trial, prints its figures last. Exit 0 when every aim was met, 3 when one was
//! missed, 1 when the trial failed, 2 for wrong words.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a trial talks to the person who started it")]

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use fieldlab_trials::bench_draw;
use fieldlab_trials::bench_loop;
use fieldlab_trials::bench_nt4;
use fieldlab_trials::bench_rehearse;
use fieldlab_trials::bench_wpilog;
use fieldlab_trials::console_load;
use fieldlab_trials::figures::Figures;
use fieldlab_trials::options::Options;
use fieldlab_trials::torture_campaign;
use fieldlab_trials::torture_console;
use fieldlab_trials::torture_kill;

/// One part of a trial; several parts of one name print one table.
struct Trial {
    kind: &'static str,
    name: &'static str,
    run: fn(&Options) -> Result<Figures>,
}

const TRIALS: &[Trial] = &[
    Trial { kind: "bench", name: "draw", run: bench_draw::run },
    Trial { kind: "bench", name: "loop", run: bench_loop::run },
    Trial { kind: "bench", name: "rehearse", run: bench_rehearse::run },
    Trial { kind: "bench", name: "wire", run: bench_wpilog::run },
    Trial { kind: "torture", name: "campaign", run: torture_campaign::run },
    Trial { kind: "torture", name: "console", run: torture_console::run },
    Trial { kind: "bench", name: "wire", run: bench_nt4::run },
    Trial { kind: "torture", name: "campaign", run: torture_kill::run },
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let child = match words.as_slice() {
        [word] if word == bench_nt4::SERVE => Some(bench_nt4::serve()),
        [word, topics, hz] if word == console_load::SERVE => Some(console_load::serve(topics, hz)),
        [word, path] if word == bench_draw::CHECK => Some(bench_draw::check_in_child(path.as_ref())),
        [word, path] if word == bench_wpilog::DECODE => Some(bench_wpilog::decode_in_child(path.as_ref())),
        _ => None,
    };
    match child {
        Some(Ok(())) => return ExitCode::SUCCESS,
        Some(Err(error)) => {
            eprintln!("fieldlab-trials: {error:#}");
            return ExitCode::from(1);
        }
        None => {}
    }
    if let [word, out, seed, boot] = words.as_slice()
        && word == torture_kill::child::WORD
    {
        return torture_child(out, seed, boot);
    }
    let [kind, name, rest @ ..] = words.as_slice() else {
        eprintln!("fieldlab-trials: expected `bench NAME` or `torture NAME`{}", known());
        return ExitCode::from(2);
    };
    let parts: Vec<&Trial> = TRIALS.iter().filter(|trial| trial.kind == kind && trial.name == name).collect();
    if parts.is_empty() {
        eprintln!("fieldlab-trials: no {kind} is called `{name}`{}", known());
        return ExitCode::from(2);
    }
    let options = match Options::parse(rest) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("fieldlab-trials: {error:#}");
            return ExitCode::from(2);
        }
    };
    match all(&parts, &options) {
        Ok(figures) => {
            print!("\n{}", figures.render());
            if figures.met() { ExitCode::SUCCESS } else { ExitCode::from(3) }
        }
        Err(error) => {
            eprintln!("fieldlab-trials: {error:#}");
            ExitCode::from(1)
        }
    }
}

fn torture_child(out: &str, seed: &str, boot: &str) -> ExitCode {
    let (Ok(seed), Ok(boot)) = (seed.parse(), boot.parse()) else { return ExitCode::from(2) };
    match torture_kill::child::run(Path::new(out), seed, boot) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("torture child: {error:#}");
            ExitCode::from(1)
        }
    }
}

fn all(parts: &[&Trial], options: &Options) -> Result<Figures> {
    let title = parts.first().map_or_else(String::new, |trial| format!("{} {}", trial.kind, trial.name));
    let mut figures = Figures::new(title);
    figures.attached(format!("seed {}{}", options.seed, if options.quick { ", --quick" } else { "" }));
    for part in parts {
        figures.append((part.run)(options).with_context(|| format!("{} {}", part.kind, part.name))?);
    }
    Ok(figures)
}

fn known() -> String {
    TRIALS.iter().map(|trial| format!("\n  {} {}", trial.kind, trial.name)).collect()
}
