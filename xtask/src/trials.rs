//! `cargo xtask bench|torture NAME`: the long programs of `crates/trials`, in release, beside the peers.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::metadata::Graph;
use crate::peers;
use crate::run::cargo;

/// Trials that compare with a peer or drive a browser, and therefore need it.
const BESIDE_A_PEER: &[&str] = &["wire", "console"];

/// Passes the words on, and the exit code back: 3 says that an aim was missed.
pub(crate) fn run(kind: &str, words: &[String]) -> Result<ExitCode> {
    let Some(name) = words.first() else { bail!("which {kind}?\n{}", crate::USAGE) };
    let peers = if BESIDE_A_PEER.contains(&name.as_str()) {
        peers::run()?
    } else {
        Graph::load()?.target.join("peers")
    };
    let mut command =
        cargo(&["run", "--quiet", "--release", "--locked", "--package", "fieldlab-trials", "--", kind]);
    let status = command.args(words).env("FIELDLAB_PEERS", peers).status().context("starting the trials")?;
    Ok(match status.code().and_then(|code| u8::try_from(code).ok()) {
        Some(code) => ExitCode::from(code),
        None => bail!("the trials ended with {status}"),
    })
}
