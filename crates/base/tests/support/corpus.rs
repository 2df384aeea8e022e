//! A fuzzer's corpus, replayed by an ordinary test: what was found once stays found, without a fuzzer. A test program takes
//! it in with `#[path]`.
#![allow(clippy::unwrap_used, reason = "a helper of tests")]

use std::path::Path;

/// Runs every input of the target's corpus, of which there are at least the seeds that a person wrote.
pub(crate) fn replay(target: &str, fewest: usize, run: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut inputs = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        run(&std::fs::read(entry.unwrap().path()).unwrap());
        inputs += 1;
    }
    let folder = folder.display();
    assert!(inputs >= fewest, "the corpus in {folder} holds {inputs} inputs, fewer than its {fewest} seeds");
}
