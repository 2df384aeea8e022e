//! The fuzzers' corpora, replayed.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

#[path = "../../../fuzz/bodies/draw_constants.rs"]
mod constants;
#[path = "../../base/tests/support/corpus.rs"]
mod corpus;
#[path = "../../../fuzz/bodies/draw_csv.rs"]
mod csv;
#[path = "../../../fuzz/bodies/draw_npy.rs"]
mod npy;
#[path = "../../../fuzz/bodies/draw_npz.rs"]
mod npz;
#[path = "../../../fuzz/bodies/draw_profile.rs"]
mod profile;
#[path = "../../../fuzz/bodies/draw_urdf.rs"]
mod urdf;

#[test]
fn every_input_of_the_corpora_passes() {
    corpus::replay("draw_csv", 8, csv::run);
    corpus::replay("draw_npz", 6, npz::run);
    corpus::replay("draw_npy", 12, npy::run);
    corpus::replay("draw_urdf", 5, urdf::run);
    corpus::replay("draw_constants", 4, constants::run);
    corpus::replay("draw_profile", 6, profile::run);
}
