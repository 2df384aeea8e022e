//! The fuzz corpus of fault scripts, replayed.

use std::path::Path;

use fieldlab_sim::faults;

#[test]
fn no_script_of_the_corpus_panics_and_refusals_say_where() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/faults");
    let mut read = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        if let Err(refused) = faults::parse(&bytes) {
            assert!(refused.to_string().contains(':') || refused.to_string().contains("bytes"), "{refused}");
        }
        // Every prefix, and every byte flipped: what a torn or damaged file looks like.
        if bytes.len() < 4096 {
            for at in 0..bytes.len() {
                drop(faults::parse(&bytes[..at]));
                let mut damaged = bytes.clone();
                damaged[at] ^= 0x15;
                drop(faults::parse(&damaged));
            }
        }
        read += 1;
    }
    assert!(read >= 4, "{read} files in {}", folder.display());
}
