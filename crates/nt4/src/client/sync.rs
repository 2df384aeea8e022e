//! The server's clock as seen from here: the best of several measurements.

use std::collections::VecDeque;

use fieldlab_base::Micros;

/// Measurements older than this no longer count: clocks drift.
const WINDOW: Micros = Micros(30_000_000);
/// Measurements kept at most.
const SAMPLES: usize = 64;
/// Spacing of the first measurements of a connection, and of the later ones.
const QUICK: Micros = Micros(100_000);
const STEADY: Micros = Micros(1_000_000);
/// How many measurements are quick.
const QUICK_COUNT: u32 = 8;

/// What is known of the server's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockEstimate {
    /// Server time minus local time.
    pub offset: Micros,
    /// The round trip of the measurement that `offset` comes from; the offset is wrong by at most half of it.
    pub round_trip: Micros,
    /// When, by the local clock, that measurement was made.
    pub measured: Micros,
}

#[derive(Debug, Default)]
pub(super) struct TimeSync {
    samples: VecDeque<ClockEstimate>,
    asked: Option<Micros>,
    count: u32,
}

impl TimeSync {
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// When to ask next.
    pub(super) fn due(&self) -> Micros {
        let spacing = if self.count < QUICK_COUNT { QUICK } else { STEADY };
        self.asked.map_or(Micros::MIN, |asked| asked + spacing)
    }

    pub(super) fn asked(&mut self, now: Micros) {
        self.asked = Some(now);
        self.count = self.count.saturating_add(1);
    }

    /// An answer: `sent` is our time in it, `server` the server's. True when it became the best one.
    pub(super) fn answer(&mut self, sent: Micros, server: Micros, now: Micros) -> bool {
        // An answer from before the question, or to a question never asked, measures nothing.
        if sent > now || self.asked.is_none_or(|asked| sent > asked) {
            return false;
        }
        let round_trip = now.since(sent);
        let offset = Micros(server.0.saturating_add(round_trip.0 / 2).saturating_sub(now.0));
        let before = self.best();
        while self.samples.front().is_some_and(|s| now.since(s.measured) > WINDOW)
            || self.samples.len() >= SAMPLES
        {
            self.samples.pop_front();
        }
        self.samples.push_back(ClockEstimate { offset, round_trip, measured: now });
        self.best() != before
    }

    /// The measurement with the shortest round trip; of equals the newest.
    pub(super) fn best(&self) -> Option<ClockEstimate> {
        self.samples.iter().copied().rev().min_by_key(|s| s.round_trip)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn report_9_offset_error_is_at_most_half_the_round_trip(
            truth in -1_000_000_000_i64..1_000_000_000,
            trips in prop::collection::vec((0_i64..200_000, 0_i64..200_000), 1..100),
        ) {
            let mut sync = TimeSync::default();
            let mut now = Micros(5_000_000);
            for (out, back) in trips {
                sync.asked(now);
                let sent = now;
                let server = Micros(now.0 + out + truth);
                now = Micros(now.0 + out + back);
                sync.answer(sent, server, now);
                let best = sync.best().unwrap();
                prop_assert!((best.offset.0 - truth).abs() <= best.round_trip.0 / 2 + 1);
                now += Micros(1000);
            }
        }
    }

    #[test]
    fn a_worse_round_trip_does_not_replace_a_better_one_until_it_is_old() {
        let mut sync = TimeSync::default();
        sync.asked(Micros(0));
        assert!(sync.answer(Micros(0), Micros(1050), Micros(100)));
        sync.asked(Micros(1_000_000));
        assert!(!sync.answer(Micros(1_000_000), Micros(1_900_000), Micros(1_900_000)));
        assert_eq!(sync.best().map(|b| b.offset), Some(Micros(1000)));
        sync.asked(Micros(40_000_000));
        assert!(sync.answer(Micros(40_000_000), Micros(40_003_000), Micros(40_002_000)));
        assert_eq!(sync.best().map(|b| b.offset), Some(Micros(2000)));
    }

    #[test]
    fn an_answer_to_no_question_measures_nothing() {
        let mut sync = TimeSync::default();
        assert!(!sync.answer(Micros(0), Micros(5), Micros(1)));
        sync.asked(Micros(10));
        assert!(!sync.answer(Micros(50), Micros(5), Micros(20)));
        assert_eq!(sync.best(), None);
    }
}
