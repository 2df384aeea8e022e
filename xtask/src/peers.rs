//! The official peers that the conformance tests talk to: a Python environment and a folder of npm packages, both under the
//! target folder; and what the browser tests need, the page's own npm packages and Debian's Chromium. A second run finds them
//! in place and does nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::metadata::Graph;
use crate::run::{must, output, root};
use crate::web;

/// Python packages, exactly.
const PYTHON: &[&str] = &["pyntcore==2026.2.2", "numpy==2.4.6"];
/// Loads what the tests load; an installation that cannot is no installation.
const PYTHON_PROOF: &str = "import ntcore, wpiutil.log, numpy";
/// Where the npm lock file is kept in the repository.
const NPM: &str = "interop/nt4";
const ATTEMPTS: u32 = 4;

/// Installs the page's packages alone.
pub(crate) fn page() -> Result<()> {
    let folder = Graph::load()?.target.join("peers");
    fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    page_packages(&folder)
}

/// Installs what is missing and returns the folder.
pub(crate) fn run() -> Result<PathBuf> {
    let folder = Graph::load()?.target.join("peers");
    fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    python(&folder.join("venv"))?;
    npm(&folder.join("npm"))?;
    page_packages(&folder)?;
    browser()?;
    println!("peers: ready in {}", folder.display());
    Ok(folder)
}

fn python(venv: &Path) -> Result<()> {
    let inside = venv.join("bin/python");
    let stamp = venv.join("fieldlab-packages.txt");
    let wanted = PYTHON.join("\n");
    let works = || output(Command::new(&inside).args(["-c", PYTHON_PROOF])).is_ok();
    if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) && works() {
        return Ok(());
    }
    retry("the Python peers", || {
        // A folder that is half made is not mended, it is made again.
        if venv.exists() {
            fs::remove_dir_all(venv)?;
        }
        must(Command::new(system_python()?).arg("-m").arg("venv").arg(venv))?;
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "5"];
        must(Command::new(&inside).args(pip).args(PYTHON))
    })?;
    output(Command::new(&inside).args(["-c", PYTHON_PROOF]))
        .context("the Python peers are installed but do not load")?;
    fs::write(&stamp, wanted).with_context(|| format!("writing {}", stamp.display()))
}

fn system_python() -> Result<&'static str> {
    ["python3.11", "python3"]
        .into_iter()
        .find(|name| output(Command::new(name).arg("--version")).is_ok())
        .context("neither python3.11 nor python3 can be started")
}

fn npm(folder: &Path) -> Result<()> {
    let source = root().join(NPM);
    let lock = fs::read(source.join("package-lock.json"))
        .with_context(|| format!("reading {}", source.join("package-lock.json").display()))?;
    let stamp = folder.join("fieldlab-lock.json");
    if fs::read(&stamp).is_ok_and(|found| found == lock) {
        return Ok(());
    }
    fs::create_dir_all(folder)?;
    for name in ["package.json", "package-lock.json"] {
        fs::copy(source.join(name), folder.join(name)).with_context(|| format!("copying {NPM}/{name}"))?;
    }
    retry("the npm peers", || {
        must(
            Command::new("npm")
                .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
                .current_dir(folder),
        )
    })?;
    fs::write(&stamp, lock).with_context(|| format!("writing {}", stamp.display()))
}

/// The page's packages stand where its tools look for them, beside its sources.
fn page_packages(folder: &Path) -> Result<()> {
    let web = web::folder();
    let lock = fs::read(web.join("package-lock.json")).context("reading the page's package-lock.json")?;
    let stamp = folder.join("page-lock.json");
    if web.join("node_modules").is_dir() && fs::read(&stamp).is_ok_and(|found| found == lock) {
        return Ok(());
    }
    retry("the page's packages", || {
        must(
            Command::new("npm").args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(&web),
        )
    })?;
    fs::write(&stamp, lock).with_context(|| format!("writing {}", stamp.display()))
}

/// Debian's browser; the one that the tests drive is the one that the system keeps up to date.
fn browser() -> Result<()> {
    if Path::new(web::CHROMIUM).exists() {
        return Ok(());
    }
    retry("Chromium", || {
        must(Command::new("apt-get").arg("update"))?;
        must(Command::new("apt-get").args(["install", "--yes", "--no-install-recommends", "chromium"]))
    })
    .with_context(|| format!("{} is missing, and installing it needs the rights of root", web::CHROMIUM))
}

/// A registry may be slow or away for a moment; a chore of half an hour should not end on that.
fn retry(what: &str, mut attempt: impl FnMut() -> Result<()>) -> Result<()> {
    for round in 1..=ATTEMPTS {
        match attempt() {
            Ok(()) => return Ok(()),
            Err(error) if round == ATTEMPTS => {
                return Err(error.context(format!("installing {what}, {ATTEMPTS} attempts")));
            }
            Err(error) => {
                eprintln!("peers: {error:#}; attempt {} of {ATTEMPTS} follows", round + 1);
                std::thread::sleep(std::time::Duration::from_secs(u64::from(round) * 5));
            }
        }
    }
    bail!("no attempt was made to install {what}")
}
