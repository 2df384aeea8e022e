//! `bench draw`: a samples file of the largest size parsed, checked and planned, beside the same law in numpy.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use fieldlab_draw::check::{CheckConfig, Checker};
use fieldlab_draw::findings::Findings;
use fieldlab_draw::plan::{PlanConfig, Start, Watch};
use fieldlab_draw::profile::{Profile, REFERENCE_RIGHT};
use fieldlab_draw::samples::{Header, Kind, Meta, Row, write};

use crate::figures::{Aim, Figures};
use crate::options::Options;

/// The word that starts the child that checks a file: its time and its peak memory are its own. The file's path follows.
pub const CHECK: &str = "bench-draw-check";
const ROWS: u32 = 250_000;
/// numpy's law takes some hundred microseconds a row, so it is timed on fewer.
const NUMPY_ROWS: u32 = 4_000;
const PERIOD_S: f64 = 0.0025;

/// The trial.
///
/// # Errors
/// No peers, no room for the files, a file that is refused.
pub fn run(options: &Options) -> Result<Figures> {
    let count = if options.quick { ROWS / 10 } else { ROWS };
    let profile = REFERENCE_RIGHT.profile()?;
    let (joints_rad, carriage_m) = profile.rest.context("the reference rig rests nowhere")?;
    let start = Start { joints_rad, carriage_m };
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("path.csv");
    let rows = circle(&profile, &start, count);
    std::fs::write(&path, write(&Meta::for_profile(&profile, Kind::Path, false), &rows)?)?;

    let (mut whole_secs, mut peak_bytes) = (f64::INFINITY, f64::INFINITY);
    let mut planner_secs = f64::INFINITY;
    for _ in 0..3 {
        let [secs, peak] = child(&path)?;
        whole_secs = whole_secs.min(secs);
        peak_bytes = peak_bytes.min(peak);
        planner_secs = planner_secs.min(planned(&profile, &start, &rows)?);
    }
    let short = folder.path().join("short.csv");
    std::fs::write(
        &short,
        write(&Meta::for_profile(&profile, Kind::Path, false), &circle(&profile, &start, NUMPY_ROWS))?,
    )?;
    let theirs = numpy(folder.path(), &profile, &start, &short)?;

    let per_row = planner_secs / f64::from(count);
    let mut figures = Figures::new("draw");
    figures
        .attached(format!("{count} rows of 19 columns, reference arm, strict rules, joint trajectory kept"));
    figures.attached(format!("numpy: interop/draw/planner.py on {NUMPY_ROWS} rows, its planning time only"));
    let scale = f64::from(ROWS) / f64::from(count);
    figures.row("parse, check and plan 250,000 rows", whole_secs * scale, "s", Aim::AtMost(1.0));
    figures.row("planner and its watch, one row", per_row * 1e6, "µs", Aim::Shown);
    figures.row("numpy's planner, one row", theirs * 1e6, "µs", Aim::Shown);
    figures.row("planner against numpy's", theirs / per_row, "times", Aim::AtLeast(100.0));
    figures.row("peak memory of the whole", peak_bytes / 1e6, "MB", Aim::AtMost(200.0));
    Ok(figures)
}

/// A slow circle of 5 mm radius from where the arm rests, drawn.
fn circle(profile: &Profile, start: &Start, count: u32) -> Vec<Row> {
    let posture = profile.chain.posture(&start.joints_rad, start.carriage_m);
    let radius_m = 0.005;
    let duration_secs = f64::from(count) * PERIOD_S;
    (1..=count)
        .map(|k| {
            let u = f64::from(k) / f64::from(count);
            // At rest at both ends, so that the plan converges.
            let turn = std::f64::consts::TAU * u * u * u * (10.0 - 15.0 * u + 6.0 * u * u);
            let rate = std::f64::consts::TAU * 30.0 * u * u * (1.0 - u) * (1.0 - u) / duration_secs;
            let (sin, cos) = turn.sin_cos();
            let [x, y, z] = posture.tip_m;
            Row {
                t_s: f64::from(k) * PERIOD_S,
                p_m: [x + radius_m * (cos - 1.0), y + radius_m * sin, z],
                v_m_s: [-radius_m * rate * sin, radius_m * rate * cos, 0.0],
                r: posture.rotation,
                pen: true,
                capture: 0,
                dip: 0,
            }
        })
        .collect()
}

/// Seconds of the planner and its watch alone.
fn planned(profile: &Profile, start: &Start, rows: &[Row]) -> Result<f64> {
    let mut findings = Findings::default();
    let header = Header { carriage_ik: Some(false), period_s: Some(PERIOD_S), ..Header::default() };
    let begun = Instant::now();
    let mut watch = Watch::new(PlanConfig::strict(profile, *start)?, &header, &mut findings);
    for (index, row) in rows.iter().enumerate() {
        watch.row(index as u64, row, &mut findings);
    }
    let report = watch.finish(&mut findings);
    let secs = begun.elapsed().as_secs_f64();
    ensure!(findings.is_empty() && report.planned == rows.len() as u64, "the circle is refused");
    Ok(secs)
}

/// Seconds and peak bytes of a process that checks `path`.
fn child(path: &Path) -> Result<[f64; 2]> {
    let output = Command::new(std::env::current_exe()?).arg(CHECK).arg(path).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    match numbers[..] {
        [secs, peak] => Ok([secs, peak]),
        _ => bail!("the child that checks: {}{text}", String::from_utf8_lossy(&output.stderr)),
    }
}

/// What the child does: one pass over the file, then its seconds and its peak memory.
///
/// # Errors
/// A file that cannot be read or is refused.
#[expect(clippy::print_stdout, reason = "how the child answers")]
pub fn check_in_child(path: &Path) -> Result<()> {
    let profile = REFERENCE_RIGHT.profile()?;
    let (joints_rad, carriage_m) = profile.rest.context("the reference rig rests nowhere")?;
    let plan = PlanConfig::strict(&profile, Start { joints_rad, carriage_m })?;
    let begun = Instant::now();
    let mut checker = Checker::new(CheckConfig::for_profile(&profile, Some(plan)))?;
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 256 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            count => checker.push(&buffer[..count]),
        }
    }
    let report = checker.finish();
    let secs = begun.elapsed().as_secs_f64();
    ensure!(report.accepted(), "{}", report.text());
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM in the status")?;
    let kib: u64 = peak.trim().trim_end_matches("kB").trim().parse()?;
    println!("{secs} {}", kib * 1024);
    Ok(())
}

/// Seconds per row of the law in numpy.
fn numpy(folder: &Path, profile: &Profile, start: &Start, samples: &Path) -> Result<f64> {
    let peers = std::env::var_os("FIELDLAB_PEERS").map(PathBuf::from);
    let python = peers.context("FIELDLAB_PEERS: expected the folder of peers")?.join("venv/bin/python");
    let urdf = folder.join("arm.urdf");
    std::fs::write(&urdf, REFERENCE_RIGHT.file("reference.urdf")?)?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../interop/draw/planner.py");
    let mut command = Command::new(python);
    command.arg(script).arg(samples).arg(&urdf).args([profile.frame().as_str(), "right/link_6"]);
    let tip = profile.chain.tip_in_final_m.iter().map(|value| format!("{value:?}"));
    command.args(tip).arg(profile.carriage_name.as_deref().unwrap_or("-"));
    command.args(start.joints_rad.iter().chain([&start.carriage_m]).map(|value| format!("{value:?}")));
    let output = command.output()?;
    ensure!(output.status.success(), "planner.py: {}", String::from_utf8_lossy(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let secs = report["seconds"].as_f64().context("planner.py gave no seconds")?;
    Ok(secs / f64::from(NUMPY_ROWS))
}
