//! The fuzzer's corpus, replayed.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

#[path = "../../../fuzz/bodies/faults.rs"]
mod body;
#[path = "../../base/tests/support/corpus.rs"]
mod corpus;

use fieldlab_sim::faults;

#[test]
fn every_input_of_the_corpus_passes() {
    corpus::replay("faults", 6, body::run);
}

#[test]
fn no_script_of_the_corpus_panics_and_refusals_say_where() {
    corpus::replay("faults", 6, |bytes| {
        if let Err(refused) = faults::parse(bytes) {
            assert!(refused.to_string().contains(':') || refused.to_string().contains("bytes"), "{refused}");
        }
        // Every prefix, and every byte flipped: what a torn or damaged file looks like.
        if bytes.len() < 4096 {
            for at in 0..bytes.len() {
                drop(faults::parse(&bytes[..at]));
                let mut damaged = bytes.to_vec();
                damaged[at] ^= 0x15;
                drop(faults::parse(&damaged));
            }
        }
    });
}
