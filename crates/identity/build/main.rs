//! Stamps the library with the commit that it is built from, and with its compiler; see `version.rs`.
#![allow(clippy::print_stdout, reason = "this is how a build script speaks to cargo")]

mod stamp;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// Set to `off`, it builds without a stamp: for whoever would rather not build again after each commit.
const SWITCH: &str = "FIELDLAB_STAMP";

fn main() {
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-env-changed={SWITCH}");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
    if let Some(version) = rustc_version(&rustc) {
        println!("cargo::rustc-env=FIELDLAB_RUSTC={version}");
    }
    let (Some(package), false) =
        (std::env::var_os("CARGO_MANIFEST_DIR"), std::env::var_os(SWITCH).is_some_and(|said| said == "off"))
    else {
        return;
    };
    let looked = stamp::look(&PathBuf::from(package).join("../.."), "git");
    for path in looked.watch.iter().filter_map(|path| path.to_str()) {
        println!("cargo::rerun-if-changed={path}");
    }
    if let Some(stamp) = looked.stamp {
        println!("cargo::rustc-env=FIELDLAB_GIT_SHA={}", stamp.sha);
        println!("cargo::rustc-env=FIELDLAB_GIT_DIRTY={}", stamp.dirty);
        println!("cargo::rustc-env=FIELDLAB_COMMIT_TIME={}", stamp.commit_time);
    }
}

/// `1.95.0` out of `rustc 1.95.0 (…)`.
fn rustc_version(rustc: &OsString) -> Option<String> {
    let output = Command::new(rustc).arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.split_whitespace().nth(1).map(str::to_owned)
}
