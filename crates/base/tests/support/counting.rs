//! An allocator that counts what a thread asks of it, for the tests that hold the loop to its promise of allocating nothing.
//! A test program takes it in with `#[path]`; it becomes that program's allocator.
#![allow(unsafe_code, reason = "an allocator cannot be had otherwise")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call goes to the system's allocator as it came; the counter is a plain cell of the calling thread.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as the caller promised.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count() {
    COUNT.with(|count| count.set(count.get() + 1));
}

/// How often this thread has asked for memory, or for more of it, so far.
pub(crate) fn allocations() -> u64 {
    COUNT.with(Cell::get)
}
