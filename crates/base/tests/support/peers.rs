//! Whether official peers were asked for, and where they are; one door for every conformance target. Taken in with `#[path]`.
#![allow(
    dead_code,
    clippy::expect_used,
    reason = "each target uses its part; a failed expectation is its failure"
)]

use std::path::PathBuf;

/// The peers' folder, or `None` when this is not a conformance run. In one, an absent peer is a failure and never a skip.
pub(crate) fn folder() -> Option<PathBuf> {
    std::env::var("FIELDLAB_CONFORMANCE").is_ok_and(|asked| asked == "1").then(|| {
        let folder = std::env::var_os("FIELDLAB_PEERS").expect("FIELDLAB_PEERS names the peers' folder");
        PathBuf::from(folder)
    })
}

/// The peers' Python, as [`folder`].
pub(crate) fn python() -> Option<PathBuf> {
    folder().map(|folder| folder.join("venv/bin/python"))
}
