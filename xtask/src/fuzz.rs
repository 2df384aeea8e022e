//! `cargo xtask fuzz NAME`: libFuzzer on the stable toolchain. The coverage pass is switched on by compiler flags, so that
//! neither nightly nor another tool is needed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};

use crate::metadata::Graph;
use crate::run::{cargo, must, root};

const TARGETS: &[&str] = &[
    "wpilog",
    "struct_schema",
    "nt_text",
    "nt_binary",
    "checkpoint",
    "faults",
    "draw_csv",
    "draw_npz",
    "draw_npy",
    "draw_urdf",
    "draw_constants",
    "draw_profile",
    "identity",
];
const TRIPLE: &str = "x86_64-unknown-linux-gnu";
const FLAGS: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
    "-Cdebug-assertions",
    "--cfg=fuzzing",
];
const EXECUTIONS: u64 = 10_000_000;
/// Seconds of processor time.
const SECONDS: f64 = 600.0;
const QUICK_SECONDS: f64 = 20.0;
/// Longest input, bytes: past it a mutation says nothing new.
const MAX_LEN: u32 = 8192;

struct Figures {
    executions: u64,
    edges: u64,
    corpus: usize,
}

pub(crate) fn run(words: &[String]) -> Result<ExitCode> {
    let (name, quick) = match words {
        [name] => (name, false),
        [name, flag] if flag == "--quick" => (name, true),
        _ => bail!("fuzz takes a target ({}) or `all`, and `--quick`", TARGETS.join(", ")),
    };
    let targets: Vec<&str> =
        TARGETS.iter().copied().filter(|target| name == "all" || name == target).collect();
    if targets.is_empty() {
        bail!("no fuzz target is called `{name}`; there are {}", TARGETS.join(", "));
    }
    let build = Graph::load()?.target.join("fuzz");
    let mut rows = Vec::new();
    for target in targets {
        println!("── fuzz {target}");
        rows.push((target, one(target, quick, &build)?));
    }
    println!("\n{:<16}{:>12}{:>9}{:>9}", "target", "executions", "edges", "corpus");
    for (target, figures) in &rows {
        println!("{target:<16}{:>12}{:>9}{:>9}", figures.executions, figures.edges, figures.corpus);
    }
    Ok(ExitCode::SUCCESS)
}

fn one(target: &str, quick: bool, build: &Path) -> Result<Figures> {
    let folder = root().join("fuzz");
    let manifest = folder.join("Cargo.toml");
    must(
        cargo(&["build", "--release", "--bin", target, "--target", TRIPLE, "--manifest-path"])
            .arg(&manifest)
            .env("CARGO_TARGET_DIR", build)
            .env("RUSTFLAGS", FLAGS.join(" ")),
    )?;
    let program = build.join(TRIPLE).join("release").join(target);
    let seeds = folder.join("corpus").join(target);
    let grown = build.join("corpus").join(target);
    let crashes = build.join("crashes").join(target);
    for path in [&seeds, &grown, &crashes] {
        fs::create_dir_all(path).with_context(|| format!("making {}", path.display()))?;
    }
    let log = build.join(format!("{target}.log"));
    let limit = if quick { QUICK_SECONDS } else { SECONDS };
    let mut executions = 0;
    let mut edges = 0;
    let spent = processor_seconds()?;
    // libFuzzer counts seconds of the wall; on a busy machine it is started again until the processor has done its share.
    loop {
        let left = limit - (processor_seconds()? - spent);
        if left < 1.0 || executions >= EXECUTIONS {
            break;
        }
        let status = Command::new(&program)
            .arg(format!("-max_total_time={}", left.ceil()))
            .arg(format!("-runs={}", EXECUTIONS - executions))
            .arg(format!("-max_len={MAX_LEN}"))
            .args(["-timeout=10", "-rss_limit_mb=1024", "-print_final_stats=1"])
            .arg(format!("-artifact_prefix={}/", crashes.display()))
            .args([&grown, &seeds])
            .stderr(Stdio::from(
                fs::File::create(&log).with_context(|| format!("writing {}", log.display()))?,
            ))
            .status()
            .with_context(|| format!("starting {}", program.display()))?;
        let text = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
        if !status.success() {
            let tail: Vec<&str> = text.lines().rev().take(30).collect();
            let tail: Vec<&str> = tail.into_iter().rev().collect();
            let input = text.lines().find_map(|line| line.split("Test unit written to ").nth(1));
            let input = input.unwrap_or("none was kept");
            bail!(
                "{target} failed; the input: {input}; the whole log: {}\n{}",
                log.display(),
                tail.join("\n")
            );
        }
        executions += last_number(&text, "stat::number_of_executed_units:")
            .context("libFuzzer printed no statistics")?;
        edges =
            last_number(&text, "cov:").with_context(|| format!("no edge was seen, see {}", log.display()))?;
    }
    let figures = Figures { executions, edges, corpus: minimise(&program, &grown, &seeds)? };
    println!("{} executions, {} edges, {} inputs kept", figures.executions, figures.edges, figures.corpus);
    Ok(figures)
}

/// Keeps in the repository only what adds coverage, under names that are the same for the same bytes.
fn minimise(program: &Path, grown: &Path, seeds: &Path) -> Result<usize> {
    let merged = grown.with_extension("merged");
    if merged.exists() {
        fs::remove_dir_all(&merged)?;
    }
    fs::create_dir_all(&merged)?;
    must(
        Command::new(program)
            .args(["-merge=1", "-rss_limit_mb=1024"])
            .arg(format!("-max_len={MAX_LEN}"))
            .args([&merged, seeds, grown])
            .stderr(Stdio::null()),
    )?;
    let kept = files(&merged)?;
    // Seeds that a person named stay; what the fuzzer found is kept while it is few and small.
    let mut named: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    let mut bytes = 0;
    for path in &kept {
        let size = fs::metadata(path)?.len();
        if size <= KEEP_INPUT && bytes + size <= KEEP_TOTAL && named.len() < KEEP_FILES {
            bytes += size;
            if let Some(name) = path.file_name() {
                named.insert(seeds.join(name), path.clone());
            }
        }
    }
    for path in files(seeds)? {
        if is_hash(&path) && !named.contains_key(&path) {
            fs::remove_file(&path)?;
        }
    }
    for (to, from) in &named {
        fs::copy(from, to)?;
    }
    Ok(kept.len())
}

/// Largest input and largest folder, in bytes and in files, that the repository keeps of what the fuzzer found.
const KEEP_INPUT: u64 = 1024;
const KEEP_TOTAL: u64 = 32 * 1024;
const KEEP_FILES: usize = 64;

/// Processor seconds of the programs that we started and that have ended.
fn processor_seconds() -> Result<f64> {
    /// The kernel's unit in /proc, the same on every Linux that has this triple.
    const TICKS_PER_SECOND: f64 = 100.0;
    let text = fs::read_to_string("/proc/self/stat").context("reading /proc/self/stat")?;
    // The second field is a name in parentheses and may hold anything; cutime and cstime are the 16th and 17th.
    let rest = text.rsplit(')').next().unwrap_or_default();
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let ticks = |index: usize| -> Result<f64> {
        let field = fields.get(index).context("/proc/self/stat is too short")?;
        field.parse().with_context(|| format!("/proc/self/stat: `{field}` is no number"))
    };
    Ok((ticks(13)? + ticks(14)?) / TICKS_PER_SECOND)
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths: Vec<(u64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let entry = entry?;
        paths.push((entry.metadata()?.len(), entry.path()));
    }
    paths.sort();
    Ok(paths.into_iter().map(|(_, path)| path).collect())
}

/// libFuzzer names inputs by their SHA-1; people name them by what they show.
fn is_hash(path: &Path) -> bool {
    path.file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| name.len() == 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn last_number(text: &str, label: &str) -> Option<u64> {
    text.rsplit(label).next().filter(|rest| rest.len() < text.len())?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_from_libfuzzers_last_line() {
        let text = "#2 INITED cov: 12 ft: 3\n#9 NEW    cov: 40 ft: 7 corp: 4/9b\nstat::number_of_executed_units: 991\n";
        assert_eq!(last_number(text, "cov:"), Some(40));
        assert_eq!(last_number(text, "stat::number_of_executed_units:"), Some(991));
        assert_eq!(last_number(text, "absent:"), None);
    }

    #[test]
    fn only_names_that_libfuzzer_gave_are_replaced() {
        assert!(is_hash(Path::new("a/da39a3ee5e6b4b0d3255bfef95601890afd80709")));
        assert!(!is_hash(Path::new("a/spec-example-a")));
    }
}
