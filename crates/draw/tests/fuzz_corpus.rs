//! The fuzzers' corpora, replayed: what was found once stays found, without a fuzzer.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

#[path = "../../../fuzz/bodies/draw_constants.rs"]
mod constants;
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

fn replay(name: &str, fewest: usize, run: impl Fn(&[u8])) {
    let folder = format!("{}/../../fuzz/corpus/{name}", env!("CARGO_MANIFEST_DIR"));
    let mut inputs = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        run(&std::fs::read(entry.unwrap().path()).unwrap());
        inputs += 1;
    }
    assert!(inputs >= fewest, "the corpus in {folder} holds {inputs} inputs, fewer than its {fewest} seeds");
}

#[test]
fn every_input_of_the_corpora_passes() {
    replay("draw_csv", 8, csv::run);
    replay("draw_npz", 6, npz::run);
    replay("draw_npy", 12, npy::run);
    replay("draw_urdf", 5, urdf::run);
    replay("draw_constants", 4, constants::run);
    replay("draw_profile", 6, profile::run);
}
