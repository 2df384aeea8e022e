//! Starting the binary, and logs written by hand from the format's own text rather than by our writer.
#![allow(dead_code, reason = "each test target uses its own part")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The binary under test, with nothing on stdin.
pub(crate) fn fieldlab<S: AsRef<std::ffi::OsStr>>(words: &[S]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fieldlab")).args(words).stdin(Stdio::null()).output().unwrap()
}

/// Exit code, stdout, stderr.
pub(crate) fn outcome<S: AsRef<std::ffi::OsStr>>(words: &[S]) -> (i32, String, String) {
    let output = fieldlab(words);
    (
        output.status.code().unwrap_or(-1),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

fn text(out: &mut Vec<u8>, value: &str) {
    out.extend((value.len() as u32).to_le_bytes());
    out.extend(value.as_bytes());
}

/// One record with the widest fields: 4 bytes of id, 4 of size, 8 of time.
pub(crate) fn record(id: u32, time: i64, payload: &[u8]) -> Vec<u8> {
    let mut out = vec![0b0111_1111];
    out.extend(id.to_le_bytes());
    out.extend((payload.len() as u32).to_le_bytes());
    out.extend(time.to_le_bytes());
    out.extend(payload);
    out
}

/// A Start record.
pub(crate) fn start(id: u32, name: &str, kind: &str) -> Vec<u8> {
    let mut payload = vec![0];
    payload.extend(id.to_le_bytes());
    for value in [name, kind, ""] {
        text(&mut payload, value);
    }
    record(0, 0, &payload)
}

/// Header, two entries, three data records.
pub(crate) fn small_log() -> Vec<u8> {
    let mut log = b"WPILOG\x00\x01\x00\x00\x00\x00".to_vec();
    log.extend(start(1, "Status/BatteryVolts", "double"));
    log.extend(start(2, "NT:/Catalyst/FieldLab/State", "string"));
    log.extend(record(1, 1_000_000, &12.5f64.to_le_bytes()));
    log.extend(record(1, 2_500_000, &12.4f64.to_le_bytes()));
    log.extend(record(2, -250_000, b"RUNNING"));
    log
}

pub(crate) fn write(folder: &Path, name: &str, bytes: &[u8]) -> String {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}
