//! `torture console`: the page in a real browser for ten minutes, behind the relay, with 500 topics at six times the rate of a
//! robot's loop. Its heap after collection must not grow.
//!
//! The browser is driven by a script beside the page, which answers one line of JSON; this side has robot and console, both
//! in release.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use fieldlab_console::{Console, ConsoleConfig};
use serde_json::Value;

use crate::console_load::{BusyRobot, clock};
use crate::figures::{Aim, Figures};
use crate::options::Options;

const TOPICS: u32 = 500;
/// Six times 50 Hz.
const HZ: u32 = 300;

/// Runs it.
///
/// # Errors
/// No port, no node, no browser, or a page that did not live to the end.
pub fn run(options: &Options) -> Result<Figures> {
    let secs: u32 = if options.quick { 60 } else { 600 };
    let robot = BusyRobot::start(TOPICS, HZ)?;
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let console = Console::start(ConsoleConfig::new(listen, vec![robot.addr().to_string()], clock()))?;
    let web = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../console/web"));
    let script = web.join("e2e/torture.mjs");
    let output = Command::new("node")
        .arg(&script)
        .args([console.url(), secs.to_string()])
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("starting node with {}", script.display()))?;
    let told = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        bail!("{} ended with {}: {}", script.display(), output.status, told.trim());
    }
    let last = told.lines().last().unwrap_or_default();
    let found: Value =
        serde_json::from_str(last).with_context(|| format!("expected JSON, found {last:?}"))?;
    let number = |key: &str| found[key].as_f64().with_context(|| format!("{key} is missing in {last}"));

    let mut figures = Figures::new("torture console");
    figures.attached(format!(
        "{TOPICS} topics at {HZ} Hz for {secs} s, one page with the live view and four plots"
    ));
    figures.row("heap slope after collection", number("heap_slope_mb_per_min")?, "MB/min", Aim::AtMost(1.0));
    figures.row("heap after collection, at the end", number("heap_mb")?, "MB", Aim::Shown);
    figures.row(
        "samples of the heap",
        number("samples")?,
        "",
        Aim::AtLeast(if options.quick { 6.0 } else { 30.0 }),
    );
    figures.row("values that the page took a second", number("values_per_sec")?, "1/s", Aim::AtLeast(1000.0));
    figures.row("frame p99", number("frame_p99_ms")?, "ms", Aim::Shown);
    figures.row("longest task", number("longest_task_ms")?, "ms", Aim::Shown);
    Ok(figures)
}
