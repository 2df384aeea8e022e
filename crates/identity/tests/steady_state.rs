//! What it costs: nothing when nothing is new, and little when something is.
#![allow(unsafe_code, reason = "a counting allocator is an unsafe trait")]
#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::{Duration, Instant};

use common::{DRIVE, HAL, drive, hal, ratchet};
use fieldlab_base::Micros;
use fieldlab_identity::{FactPart, FactSource, Identity, Source};

/// Counts what this thread asks for.
struct Counting;

thread_local! {
    static ASKED: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is handed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ASKED.with(|asked| asked.set(asked.get() + 1));
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Silent;

impl FactSource for Silent {
    fn source(&self) -> Source {
        HAL
    }
    fn read(&mut self, _now: Micros) -> Option<FactPart> {
        None
    }
}

fn robot() -> Identity {
    let mut identity = Identity::new(1);
    identity.declare(ratchet());
    identity.put(HAL, Micros(1), hal());
    identity.put(DRIVE, Micros(1), drive());
    identity.record(&fieldlab_base::Feature::campaign("Field Day")).unwrap();
    identity
}

#[test]
fn steady_state_allocates_nothing() {
    let mut identity = robot();
    assert!(identity.step(Micros(2)).len() > 50);
    identity.step(Micros(3));
    let before = ASKED.with(Cell::get);
    let mut changed = 0;
    for turn in 4..10_000 {
        identity.ask(&mut Silent, Micros(turn));
        changed += identity.step(Micros(turn)).len();
    }
    assert_eq!((ASKED.with(Cell::get) - before, changed), (0, 0));
}

/// The best of many: what it costs when nobody else has the processor.
#[test]
fn deriving_again_costs_under_200_microseconds() {
    let mut identity = robot();
    identity.step(Micros(2));
    let mut best = Duration::MAX;
    for turn in 3..400 {
        let mut part = drive();
        part.cameras.push(format!("camera {turn}"));
        identity.put(DRIVE, Micros(turn), part);
        let began = Instant::now();
        let changes = identity.step(Micros(turn)).len();
        best = best.min(began.elapsed());
        assert!(changes > 0);
    }
    println!("deriving again, comparing and digesting: {:.1} µs", best.as_secs_f64() * 1e6);
    assert!(best < Duration::from_micros(200), "{best:?}");
}
