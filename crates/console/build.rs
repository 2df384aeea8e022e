//! Makes a table of the files of `web/dist`, so that the binary carries the page.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let variable =
        |name: &str| env::var_os(name).ok_or_else(|| io::Error::other(format!("{name} is not set")));
    let dist = PathBuf::from(variable("CARGO_MANIFEST_DIR")?).join("web/dist");
    println!("cargo::rerun-if-changed={}", dist.display());
    let mut files = Vec::new();
    collect(&dist, &mut files)?;
    files.sort();
    let mut table = String::from("&[\n");
    for file in files {
        let name = file.strip_prefix(&dist).map_err(io::Error::other)?;
        let path =
            name.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
        writeln!(table, "    ({path:?}, include_bytes!({:?})),", file.display().to_string())
            .map_err(io::Error::other)?;
    }
    table.push(']');
    fs::write(PathBuf::from(variable("OUT_DIR")?).join("page.rs"), table)
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, into)?;
        } else {
            into.push(path);
        }
    }
    Ok(())
}
