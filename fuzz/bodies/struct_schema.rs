//! Any texts as schemas in any order, and any bytes as their values: what is laid out reads, writes and reads the same.

use fieldlab_values::schema::{Registry, State};

/// Larger structs are laid out but not read: they say nothing new and take long.
const LARGEST: usize = 4096;

/// One input: `name NUL text NUL name NUL text … NUL NUL bytes`.
pub(crate) fn run(data: &[u8]) {
    let end = data.windows(2).position(|pair| pair == [0, 0]).unwrap_or(data.len());
    let (texts, bytes) = data.split_at(end);
    let bytes = bytes.get(2..).unwrap_or_default();
    let texts: Vec<&str> =
        texts.split(|byte| *byte == 0).filter_map(|text| std::str::from_utf8(text).ok()).collect();
    let mut schemas = Registry::default();
    for pair in texts.chunks_exact(2).take(32) {
        drop(schemas.add(pair[0], pair[1]));
    }
    let names: Vec<&str> = schemas.texts().map(|(name, _)| name).collect();
    for name in names {
        let layout = match schemas.state(name) {
            State::Ready(layout) => layout,
            State::Waiting { missing } => {
                assert!(!missing.is_empty(), "{name} waits for nothing");
                continue;
            }
            _ => continue,
        };
        if layout.size > LARGEST {
            continue;
        }
        let mut padded = bytes.to_vec();
        padded.resize(layout.size, 0xa5);
        assert!(layout.size == 0 || layout.unpack(&padded[1..]).is_err());
        let tree = layout.unpack(&padded).expect("enough bytes");
        let once = layout.pack(&tree).expect("its own shape");
        assert_eq!(once.len(), layout.size);
        let again = layout.pack(&layout.unpack(&once).expect("enough bytes")).expect("its own shape");
        assert_eq!(once, again);
        for leaf in layout.leaves().unwrap_or_default() {
            assert_eq!(layout.leaf(&leaf.path).as_ref(), Some(&leaf), "{}", leaf.path);
            let read = leaf.read(&padded).expect("enough bytes");
            let named = tree.at(&leaf.path).and_then(|part| part.as_number()).expect("a number of that name");
            assert!(read == named || (read.is_nan() && named.is_nan()), "{}: {read} {named}", leaf.path);
        }
    }
}
