//! The fuzzer's corpus, replayed.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

#[path = "../../../fuzz/bodies/struct_schema.rs"]
mod body;
#[path = "../../base/tests/support/corpus.rs"]
mod corpus;

#[test]
fn every_input_of_the_corpus_passes() {
    corpus::replay("struct_schema", 9, body::run);
}
