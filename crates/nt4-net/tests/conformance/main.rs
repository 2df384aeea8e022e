//! Official and independent peers against our server and our client.
//!
//! Runs only with `FIELDLAB_CONFORMANCE=1` and `FIELDLAB_PEERS` naming the folder of installed peers; then an absent peer
//! is a failure. Prints the cases run per peer, fails below the expected number, and ends with `N passed, N failed`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a failed step is the case's failure, and the table of cases is the result"
)]

mod as_client;
mod as_server;
mod dashboards;
mod peer;
#[path = "../../../base/tests/support/peers.rs"]
mod peers;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// A case: what it shows, and how.
type Case = (&'static str, fn(&Path));

fn main() -> ExitCode {
    if let Some(port) = std::env::args().skip_while(|a| a != "--serve").nth(1) {
        return as_server::serve_until_killed(port.parse().unwrap());
    }
    let Some(peers) = peers::folder() else {
        println!("0 passed, 0 failed, 1 skipped");
        return ExitCode::SUCCESS;
    };
    let groups: [(&str, &[Case], usize); 4] = [
        ("official client, our server", as_server::CASES, 9),
        ("official server, our client", as_client::CASES, 9),
        ("ntcore-ts-client, our server", dashboards::TYPESCRIPT, 1),
        ("dashboards' habits, our server", dashboards::HABITS, 4),
    ];
    let (mut passed, mut failed) = (0, 0);
    for (peer, cases, expected) in groups {
        let mut ran = 0;
        for (name, case) in cases {
            let began = Instant::now();
            let outcome = catch_unwind(AssertUnwindSafe(|| case(&peers)));
            ran += 1;
            let word = if outcome.is_ok() { "ok" } else { "FAILED" };
            println!("{peer}: {name} ... {word} ({:.1} s)", began.elapsed().as_secs_f64());
            *(if outcome.is_ok() { &mut passed } else { &mut failed }) += 1;
        }
        println!("{peer}: {ran} cases");
        if ran < expected {
            println!("{peer}: expected at least {expected} cases");
            failed += 1;
        }
    }
    println!("{passed} passed, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
