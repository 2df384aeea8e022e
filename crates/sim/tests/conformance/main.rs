//! A campaign in real time on real sockets, answered by clients that are not ours: the official library, and the two
//! dashboards with their own habits. And the official server as the one that a Systemcore runs itself.
//!
//! Runs only with `FIELDLAB_CONFORMANCE=1` and `FIELDLAB_PEERS` naming the folder of installed peers; then an absent peer
//! is a failure. Prints the cases run per peer, fails below the expected number, and ends with `N passed, N failed`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a failed step is the case's failure, and the table of cases is the result"
)]

mod dashboards;
mod live;
mod official;
mod peer;
#[path = "../../../base/tests/support/peers.rs"]
mod peers;
mod surface;
mod system;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::thread;
use std::time::Instant;

/// Cases by name, over the evidence of one campaign.
type Cases<E> = &'static [(&'static str, fn(&E))];

fn main() -> ExitCode {
    let Some(peers) = peers::folder() else {
        println!("0 passed, 0 failed, 1 skipped");
        return ExitCode::SUCCESS;
    };
    let began = Instant::now();
    // Each has a robot of its own; they spend their time waiting, and so wait together.
    let (official, console, tab, system) = thread::scope(|scope| {
        let official = scope.spawn(|| official::run(&peers));
        let console = scope.spawn(|| dashboards::run(&peers, "console"));
        let tab = scope.spawn(|| dashboards::run(&peers, "tab"));
        let system = scope.spawn(|| system::run(&peers));
        (official.join(), console.join(), tab.join(), system.join())
    });
    println!("three campaigns in {:.1} s", began.elapsed().as_secs_f64());
    let counts = [
        judge("official client, a campaign", official.ok(), official::CASES, 8),
        judge("the console's habits, a campaign", console.ok(), dashboards::CASES, 2),
        judge("the tablet's habits, a campaign", tab.ok(), dashboards::CASES, 2),
        judge("official server, as a Systemcore's own", system.ok(), system::CASES, 2),
    ];
    let (passed, failed) = counts.iter().fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
    println!("{passed} passed, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs the cases over the evidence; a campaign that came to no end has failed them all.
fn judge<E>(peer: &str, evidence: Option<E>, cases: Cases<E>, expected: usize) -> (usize, usize) {
    let (mut passed, mut failed) = (0, 0);
    for (name, case) in cases {
        let ok = evidence.as_ref().is_some_and(|e| catch_unwind(AssertUnwindSafe(|| case(e))).is_ok());
        println!("{peer}: {name} ... {}", if ok { "ok" } else { "FAILED" });
        *(if ok { &mut passed } else { &mut failed }) += 1;
    }
    println!("{peer}: {} cases", cases.len());
    if cases.len() < expected {
        println!("{peer}: expected at least {expected} cases");
        failed += 1;
    }
    (passed, failed)
}
