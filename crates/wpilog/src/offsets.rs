//! Where an entry's records stand, in four bytes a record.

/// Offsets in a block: few for a quiet entry, at most this many.
const LARGEST: usize = 1 << 14;
const SMALLEST: usize = 1 << 4;

/// Where an entry's records begin in the file, in file order: blocks of low halves that share their high half.
///
/// Blocks are never moved once made, so that an index of millions of records leaves no outgrown lists behind.
#[derive(Debug, Clone, Default)]
pub(crate) struct Offsets {
    current: Vec<u32>,
    high: u32,
    full: Vec<Block>,
}

#[derive(Debug, Clone)]
struct Block {
    high: u32,
    low: Vec<u32>,
}

impl Offsets {
    /// Adds an offset whose high half is the one of the last [`Offsets::cross`], or zero.
    #[inline(always)]
    pub(crate) fn push(&mut self, offset: usize) {
        if self.current.len() == self.current.capacity() {
            self.next_block();
        }
        self.current.push(offset as u32);
    }

    /// From here on offsets have the high half of `offset`.
    pub(crate) fn cross(&mut self, offset: usize) {
        let high = (offset as u64 >> 32) as u32;
        if high != self.high {
            self.next_block();
            self.high = high;
        }
    }

    #[cold]
    fn next_block(&mut self) {
        let capacity = (self.current.capacity() * 2).clamp(SMALLEST, LARGEST);
        let low = std::mem::replace(&mut self.current, Vec::with_capacity(capacity));
        if !low.is_empty() {
            self.full.push(Block { high: self.high, low });
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.full.iter().map(|block| block.low.len()).sum::<usize>() + self.current.len()
    }

    /// Offsets in file order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        let full = self.full.iter().map(|block| (block.high, block.low.as_slice()));
        full.chain([(self.high, self.current.as_slice())])
            .flat_map(|(high, low)| low.iter().map(move |low| u64::from(high) << 32 | u64::from(*low)))
    }

    /// Hands over the offsets below `until` that `place` has not passed, and moves it behind them.
    pub(crate) fn each_until(&self, place: &mut Place, until: u64, mut take: impl FnMut(u64)) {
        loop {
            let (high, low, last) = match self.full.get(place.block) {
                Some(block) => (block.high, block.low.as_slice(), false),
                None => (self.high, self.current.as_slice(), true),
            };
            for low in low.get(place.item..).unwrap_or_default() {
                let offset = u64::from(high) << 32 | u64::from(*low);
                if offset >= until {
                    return;
                }
                place.item += 1;
                take(offset);
            }
            if last {
                return;
            }
            *place = Place { block: place.block + 1, item: 0 };
        }
    }
}

/// A place in a list of offsets.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Place {
    block: usize,
    item: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_come_back_across_blocks_and_4_gib() {
        let mut offsets = Offsets::default();
        offsets.cross(12);
        let mut expect = Vec::new();
        for turn in 0..4_u64 {
            let base = (turn * turn) << 32;
            offsets.cross(base as usize);
            for at in (base..base + 3_000_000).step_by(101) {
                offsets.push(at as usize);
                expect.push(at);
            }
        }
        assert_eq!(offsets.len(), expect.len());
        assert!(offsets.iter().eq(expect.iter().copied()));
        let (mut place, mut pieces) = (Place::default(), Vec::new());
        for until in [0, 5, 102, 2_999_999, 1 << 32, (1 << 32) + 7, 5 << 32, u64::MAX] {
            let from = pieces.len();
            offsets.each_until(&mut place, until, |at| pieces.push(at));
            assert!(pieces[from..].iter().all(|at| *at < until));
            assert!(expect[pieces.len()..].first().is_none_or(|at| *at >= until));
        }
        assert_eq!(pieces, expect);
    }
}
