//! The console's page in CI: built, tested, compared with what is committed, and driven in a browser.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};

use crate::metadata::Graph;
use crate::peers;
use crate::run::{cargo, must, output, root};

/// Where Debian puts its browser.
pub(crate) const CHROMIUM: &str = "/usr/bin/chromium";

/// The page's sources.
pub(crate) fn folder() -> PathBuf {
    root().join("crates/console/web")
}

fn npm(words: &[&str]) -> Command {
    let mut command = Command::new("npm");
    command.args(words).current_dir(folder());
    command
}

/// Types and form, unit tests, build and size; what is committed must be what the sources build.
pub(crate) fn page() -> Result<()> {
    peers::page()?;
    must(&mut npm(&["run", "check"]))?;
    must(&mut npm(&["test"]))?;
    must(&mut npm(&["run", "build"]))?;
    must(&mut npm(&["run", "size"]))?;
    let changed = output(
        Command::new("git")
            .args(["status", "--porcelain", "--", "crates/console/web/dist"])
            .current_dir(root()),
    )?;
    if !changed.is_empty() {
        bail!("web/dist is not what its sources build; commit it:\n{}", String::from_utf8_lossy(&changed));
    }
    Ok(())
}

/// The browser tests, with the real binary and an official server. Screens are left in `<target>/screens`.
pub(crate) fn browser() -> Result<()> {
    let peers = peers::run()?;
    must(&mut cargo(&["build", "--locked", "--package", "fieldlab-cli", "--package", "fieldlab-trials"]))?;
    let target = Graph::load()?.target;
    must(
        npm(&["run", "e2e"])
            .env("FIELDLAB_TARGET", &target)
            .env("FIELDLAB_PEERS", &peers)
            .env("FIELDLAB_CHROMIUM", CHROMIUM),
    )?;
    println!("browser: screens are in {}", target.join("screens").display());
    Ok(())
}
