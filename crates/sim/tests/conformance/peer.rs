//! A peer as a child process that says one JSON line for each thing it sees.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value as Json;

/// How long a peer may be silent. A person on a busy machine reads, waits out the robot's guards, and types.
const PATIENCE: Duration = Duration::from_secs(40);

/// The repository's folder of these peers.
pub(crate) fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../interop/campaign").join(name)
}

pub(crate) struct Peer {
    child: Child,
    said: Receiver<String>,
}

impl Peer {
    pub(crate) fn start(program: &OsStr, script: &Path, words: &[String], modules: &Path) -> Self {
        let mut child = Command::new(program)
            .arg(script)
            .args(words)
            .env("NODE_PATH", modules)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("{}: {e}", program.display()));
        let stdout = child.stdout.take().unwrap();
        let (sender, said) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, said }
    }

    fn next(&mut self, awaited: &str) -> Json {
        let line = self.said.recv_timeout(PATIENCE).unwrap_or_else(|e| panic!("waiting for {awaited}: {e}"));
        let said: Json = serde_json::from_str(&line).unwrap();
        assert_ne!(said["event"], "failed", "{line}");
        said
    }

    /// The next thing that it says, which must be of this kind.
    pub(crate) fn hear(&mut self, event: &str) -> Json {
        let said = self.next(event);
        assert_eq!(said["event"], event, "{said}");
        said
    }

    /// Everything up to and with the first of this kind.
    pub(crate) fn hear_until(&mut self, event: &str) -> Vec<Json> {
        let mut all = Vec::new();
        while all.last().is_none_or(|said: &Json| said["event"] != event) {
            all.push(self.next(event));
        }
        all
    }

    /// Dead at once, with nothing said to anybody.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
