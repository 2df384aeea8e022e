//! Any bytes as an array: refused, or read, written and read with the same bits.
use fieldlab_draw::npz::Array;

/// One input.
pub(crate) fn run(data: &[u8]) {
    let Ok(array) = Array::parse(data) else { return };
    let bytes = array.to_bytes();
    assert_eq!(Array::parse(&bytes).expect("our own array").to_bytes(), bytes);
    assert_eq!(array.shape.iter().product::<usize>(), array.data.len());
}
