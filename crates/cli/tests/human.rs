//! `fieldlab rehearse --human` at a real terminal: the keys are a driver station's, and nothing else is.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// A person's eyes and fingers.
struct Person {
    terminal: File,
    seen: String,
}

impl Person {
    /// Reads until `what` stands on the screen after everything that was awaited before.
    fn wait_for(&mut self, what: &str) {
        loop {
            if let Some(at) = self.seen.find(what) {
                self.seen.drain(..at + what.len());
                return;
            }
            let mut bytes = [0; 4096];
            match self.terminal.read(&mut bytes) {
                Ok(count) if count > 0 => self.seen.push_str(&String::from_utf8_lossy(&bytes[..count])),
                ended => panic!("{ended:?} before `{what}` in {}", self.seen),
            }
        }
    }

    fn press(&mut self, key: &str) {
        self.terminal.write_all(key.as_bytes()).unwrap();
    }
}

#[test]
fn a_person_selects_enables_disables_swaps_cuts_and_quits() {
    let folder = tempfile::tempdir().unwrap();
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let slave = || OpenOptions::new().read(true).write(true).open(&name).unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_fieldlab"))
        .args(["rehearse", "--human", "--json", "--nt-port", "0", "--out"])
        .arg(folder.path())
        .stdin(slave())
        .stdout(Stdio::piped())
        .stderr(slave())
        .spawn()
        .unwrap();
    let mut person = Person { terminal: File::from(master), seen: String::new() };
    person.wait_for("keys: s select");
    person.wait_for("NetworkTables on 127.0.0.1:");
    person.wait_for("disabled · ");
    person.press("s");
    person.press("e");
    person.wait_for("ENABLED · ");
    person.wait_for("asks: ");
    person.press(" ");
    person.wait_for("disabled · ");
    person.press("b");
    person.press("p");
    person.wait_for("down · ");
    person.wait_for("disabled · ");
    person.press("q");
    person.wait_for("1 pack swaps, 1 reboots");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "a campaign cut short is not complete");
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["pack_swaps"], 1);
    assert_eq!(found["reboots"], 1);
    assert_eq!(found["procedures"].as_array().unwrap().len(), 0);
    assert_eq!(found["not_banked"].as_array().unwrap().len(), 9, "{found}");
}
