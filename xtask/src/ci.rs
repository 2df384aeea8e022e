//! `cargo xtask ci`: everything that must pass, in order, with a table of seconds at the end.

use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::metadata::Graph;
use crate::run::{cargo, must};
use crate::{arch, licences, peers, web};

/// Conformance tests are the targets of this name; they read [`SWITCH`] and talk to the peers.
const CONFORMANCE: &str = "conformance";
const SWITCH: &str = "FIELDLAB_CONFORMANCE";
const PROPTEST_SEED: &str = "20261130";

type Stage = (&'static str, fn() -> Result<()>);

const DEVELOPER: &[Stage] = &[
    ("fmt", || must(&mut cargo(&["fmt", "--all", "--check"]))),
    ("arch", arch::run),
    ("licences", licences::run),
    ("clippy", || {
        must(&mut cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]))
    }),
    ("constants", || {
        must(&mut cargo(&[
            "run",
            "--quiet",
            "--locked",
            "-p",
            "fieldlab-cli",
            "--",
            "draw",
            "constants",
            "--check",
        ]))
    }),
    ("test", || {
        // A change is judged by itself, not by luck: CI draws the same cases each time. A developer's own runs draw new ones.
        println!("PROPTEST_RNG_SEED={PROPTEST_SEED}");
        let mut test = cargo(&["test", "--workspace", "--locked", "--no-fail-fast"]);
        must(test.env("PROPTEST_RNG_SEED", PROPTEST_SEED))
    }),
    ("doc", || {
        must(cargo(&["doc", "--workspace", "--no-deps", "--locked"]).env("RUSTDOCFLAGS", "-D warnings"))
    }),
];
const INTEROP: &[Stage] = &[
    ("peers", || peers::run().map(drop)),
    ("page", web::page),
    ("browser", web::browser),
    ("conformance", conformance),
];

pub(crate) fn run(quick: bool) -> Result<ExitCode> {
    let interop = if quick { &[] } else { INTEROP };
    let mut rows = Vec::new();
    for (name, stage) in DEVELOPER.iter().chain(interop) {
        println!("── {name}");
        let started = Instant::now();
        let outcome = stage();
        if let Err(error) = &outcome {
            eprintln!("ci: {name}: {error:#}");
        }
        rows.push((*name, started.elapsed().as_secs_f64(), outcome.is_ok()));
    }
    println!("\n{:<14}{:>9}  outcome", "stage", "seconds");
    for (name, seconds, passed) in &rows {
        println!("{name:<14}{seconds:>9.1}  {}", if *passed { "passed" } else { "FAILED" });
    }
    let total: f64 = rows.iter().map(|row| row.1).sum();
    let failed = rows.iter().filter(|row| !row.2).count();
    println!(
        "{:<14}{total:>9.1}  {}",
        "all",
        if failed == 0 { "passed".to_owned() } else { format!("{failed} FAILED") }
    );
    if quick {
        println!("--quick: the official peers, the page and the browser were left out");
    }
    println!("stages: {} passed, {failed} failed", rows.len() - failed);
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The ordinary test run passes conformance targets by; here they run with the peers in place. A test that asks for the
/// switch under another name would never run, and is a failure.
fn conformance() -> Result<()> {
    let graph = Graph::load()?;
    let peers = graph.target.join("peers");
    let mut targets = Vec::new();
    for package in graph.packages.values().filter(|package| package.ours) {
        for (name, path) in &package.tests {
            let source =
                std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
            if name.starts_with(CONFORMANCE) {
                targets.push((package.name.clone(), name.clone()));
            } else if source.contains(SWITCH) {
                bail!("{} test `{name}` reads {SWITCH} but is not called `{CONFORMANCE}…`", package.name);
            }
        }
    }
    if targets.is_empty() {
        bail!("no test target is called `{CONFORMANCE}…`");
    }
    let mut failed = Vec::new();
    for (package, name) in targets {
        let mut command: Command =
            cargo(&["test", "--locked", "--package", &package, "--test", &name, "--", "--nocapture"]);
        if let Err(error) = must(command.env(SWITCH, "1").env("FIELDLAB_PEERS", &peers)) {
            failed.push(format!("{error:#}"));
        }
    }
    if !failed.is_empty() {
        bail!("{}", failed.join("; "));
    }
    Ok(())
}
