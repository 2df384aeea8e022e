//! Whether a peer still lives.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How often pings are sent and life is looked for.
pub(crate) const PING_PERIOD: Duration = Duration::from_millis(200);

/// Ticks without a sign of life after which a peer is gone: one second.
const QUIET_TICKS: u32 = 5;

/// Looks for signs of life, in ticks of [`PING_PERIOD`]. Ticks and not time are counted, so that a pause of our own
/// process, in which nobody was read, kills nobody.
#[derive(Debug)]
pub(crate) struct Alive {
    signs: Arc<AtomicU64>,
    seen: u64,
    quiet: u32,
    limit: u32,
}

impl Alive {
    /// A second without any received byte.
    pub(crate) fn second(signs: Arc<AtomicU64>) -> Self {
        Self { signs, seen: 0, quiet: 0, limit: QUIET_TICKS }
    }

    /// So many seconds, for peers that cannot be pinged.
    pub(crate) fn seconds(signs: Arc<AtomicU64>, seconds: u32) -> Self {
        Self { signs, seen: 0, quiet: 0, limit: QUIET_TICKS * seconds }
    }

    /// A tick has passed: false when the peer is gone.
    pub(crate) fn tick(&mut self) -> bool {
        let signs = self.signs.load(Ordering::Relaxed);
        if signs == self.seen {
            self.quiet += 1;
        } else {
            self.seen = signs;
            self.quiet = 0;
        }
        self.quiet < self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_3_and_6_only_silence_over_five_ticks_is_death() {
        let signs = Arc::new(AtomicU64::new(0));
        let mut alive = Alive::second(signs.clone());
        for round in 1..10 {
            for _ in 0..4 {
                assert!(alive.tick());
            }
            signs.store(round, Ordering::Relaxed);
        }
        assert!((0..5).all(|_| alive.tick()), "the first of these sees the last byte");
        assert!(!alive.tick());
    }
}
