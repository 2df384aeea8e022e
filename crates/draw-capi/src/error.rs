//! Statuses, and the last error of a thread.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a call says: the exit codes of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// Done.
    Ok = 0,
    /// A defect of this library; the text says where.
    Failed = 1,
    /// The caller's input cannot be used.
    Input = 2,
}

/// Longest text that is kept, bytes: an error may quote its input, and the input may be long.
const MOST_BYTES: usize = 4096;

thread_local! {
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps `text` as this thread's last error, cut at a character's end when it is long.
fn keep(text: &str) {
    let end = (0..=text.len().min(MOST_BYTES)).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    // A zero byte would end the text early in C.
    let text = text[..end].replace('\0', "\u{fffd}");
    LAST.with(|last| last.replace(text));
}

/// This thread's last error; empty when the last call went well.
pub(crate) fn last() -> String {
    LAST.with(|last| last.borrow().clone())
}

/// Runs a call's body: an error is kept as text, a panic is caught and kept, and success clears what was kept.
pub(crate) fn guarded(body: impl FnOnce() -> Result<(), String>) -> i32 {
    let status = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => {
            keep("");
            Status::Ok
        }
        Ok(Err(reason)) => {
            keep(&reason);
            Status::Input
        }
        Err(panic) => {
            let text = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied());
            keep(&format!("the library failed: {}", text.unwrap_or("without a word")));
            Status::Failed
        }
    };
    status as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::panic, reason = "the panic is what is tested")]
    fn a_panic_becomes_a_status_and_a_text() {
        assert_eq!(guarded(|| panic!("row {}", 7)), 1);
        assert_eq!(last(), "the library failed: row 7");
        assert_eq!(guarded(|| Err("no rig".to_owned())), 2);
        assert_eq!(last(), "no rig");
        assert_eq!(guarded(|| Ok(())), 0);
        assert_eq!(last(), "");
    }

    #[test]
    fn long_texts_are_cut_at_a_character_and_hold_no_zero() {
        keep(&"ä".repeat(5000));
        assert!(last().len() <= MOST_BYTES && last().ends_with('ä'));
        keep("a\0b");
        assert_eq!(last(), "a\u{fffd}b");
    }
}
