//! Every chore of this repository: `cargo xtask ci`, `arch`, `licences`, `peers`, `page`, `browser`, `bench`, `torture`, `fuzz`.
//!
//! It stays thin: it starts other programs, reads `cargo metadata`, and keeps score. It depends on none of our crates, so
//! that it builds in seconds on a fresh machine and still runs when one of them does not compile.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a chore talks to the person who started it")]

mod arch;
mod ci;
mod fuzz;
mod licences;
mod metadata;
mod peers;
mod picture;
mod run;
mod trials;
mod web;

use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
cargo xtask CHORE

  ci [--quick]                     everything that must pass before a change lands; --quick leaves the peers and the page out
  arch                             the floors of ARCHITECTURE.md against cargo metadata
  licences                         the licence of every dependency against the allow-list
  peers                            install the official peers under <target>/peers, the page's packages and a browser
  page                             the console's page: types, tests, build, and dist as committed
  browser                          the browser tests, in Debian's Chromium; screens in <target>/screens
  picture                          the README's picture, from a rehearsal
  bench NAME [--quick] [ARG…]      wire, loop or rehearse; exit 3 when an aim is missed
  torture NAME [--quick] [ARG…]    campaign or console; exit 3 when an aim is missed
  fuzz NAME|all [--quick]          10^7 executions or 10 minutes of processor time; --quick 20 s";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&words) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::from(1)
        }
    }
}

fn dispatch(words: &[String]) -> Result<ExitCode> {
    let Some((chore, rest)) = words.split_first() else {
        bail!("a chore is missing\n{USAGE}");
    };
    match chore.as_str() {
        "ci" => ci::run(only_quick(rest)?),
        "arch" => no_more(rest).and_then(|()| arch::run()).map(|()| ExitCode::SUCCESS),
        "licences" => no_more(rest).and_then(|()| licences::run()).map(|()| ExitCode::SUCCESS),
        "picture" => no_more(rest).and_then(|()| picture::run()).map(|()| ExitCode::SUCCESS),
        "page" => no_more(rest).and_then(|()| web::page()).map(|()| ExitCode::SUCCESS),
        "browser" => no_more(rest).and_then(|()| web::browser()).map(|()| ExitCode::SUCCESS),
        "peers" => no_more(rest).and_then(|()| peers::run()).map(|_| ExitCode::SUCCESS),
        "bench" | "torture" => trials::run(chore, rest),
        "fuzz" => fuzz::run(rest),
        "help" | "--help" | "-h" => {
            println!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        other => bail!("no chore is called `{other}`\n{USAGE}"),
    }
}

fn only_quick(words: &[String]) -> Result<bool> {
    match words {
        [] => Ok(false),
        [word] if word == "--quick" => Ok(true),
        [word, ..] => bail!("unexpected argument `{word}`\n{USAGE}"),
    }
}

fn no_more(words: &[String]) -> Result<()> {
    match words {
        [] => Ok(()),
        [word, ..] => bail!("unexpected argument `{word}`\n{USAGE}"),
    }
}
