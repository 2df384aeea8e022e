//! The fuzzer's corpus, replayed: what was found once stays found, without a fuzzer.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

#[path = "../../../fuzz/bodies/identity.rs"]
mod body;

#[test]
fn every_input_of_the_corpus_passes() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/identity");
    let mut inputs = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        body::run(&std::fs::read(entry.unwrap().path()).unwrap());
        inputs += 1;
    }
    assert!(inputs >= 6, "the corpus in {folder} holds {inputs} inputs, fewer than its seeds");
}
