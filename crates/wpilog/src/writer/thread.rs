//! The writer's thread: takes the queue, writes it, makes it durable.

use std::path::PathBuf;
use std::sync::PoisonError;
use std::time::Duration;

use super::config::StopReason;
use super::files::{Files, Note};
use super::{Shared, State};
use crate::{Encoder, LogError};

/// The thread: every `flush_every`, or when it is woken, it takes the queue, writes it, and makes it durable unless it
/// was woken only because the queue is half full.
pub(super) fn run(
    shared: &Shared,
    first: PathBuf,
    mut files: Files,
    mut back: Encoder,
    flush_every: Duration,
) {
    let _ended = Ended { shared, first };
    let opened = files.open();
    let mut state = shared.lock();
    match opened {
        Ok(()) => {
            state.files.push(files.path().to_owned());
            state.stats.files = 1;
        }
        Err((step, error)) => {
            state.stopped = Some(files.failed(step, &error));
            state.stats.stopped = true;
            state.refused = Some(LogError::io(files.path(), step, &error));
        }
    }
    drop(state);
    shared.done.notify_all();
    let mut notes = Vec::with_capacity(64);
    loop {
        let state = shared.lock();
        let wanted = |s: &mut State| !s.closing && !s.woken && s.flushes_asked == s.flushes_done;
        let (mut state, waited) = shared
            .work
            .wait_timeout_while(state, flush_every, wanted)
            .unwrap_or_else(PoisonError::into_inner);
        back.clear();
        std::mem::swap(&mut state.front, &mut back);
        std::mem::swap(&mut state.notes, &mut notes);
        let records = std::mem::take(&mut state.front_records);
        let (ticket, closing) = (state.flushes_asked, state.closing);
        let durable = waited.timed_out() || closing || ticket > state.flushes_done;
        let stopped = state.stopped.is_some();
        state.woken = false;
        drop(state);
        shared.done.notify_all();

        let written = if stopped { None } else { Some(write(&mut files, back.bytes(), &mut notes, durable)) };
        notes.clear();

        let mut state = shared.lock();
        match written {
            Some(Ok(wrote)) => {
                state.stats.bytes_written += back.len() as u64;
                if wrote.synced {
                    state.stats.bytes_durable = state.stats.bytes_written;
                    state.stats.flushes += 1;
                }
                if state.files.last().is_none_or(|last| last != files.path()) {
                    state.files.push(files.path().to_owned());
                    state.stats.files += 1;
                }
            }
            Some(Err(reason)) => {
                state.stopped = Some(reason);
                state.stats.stopped = true;
                state.stats.dropped += records;
            }
            None => state.stats.dropped += records,
        }
        state.flushes_done = ticket;
        drop(state);
        shared.done.notify_all();
        if closing {
            return;
        }
    }
}

struct Wrote {
    synced: bool,
}

fn write(files: &mut Files, batch: &[u8], notes: &mut Vec<Note>, durable: bool) -> Result<Wrote, StopReason> {
    if durable {
        files.replace_if_gone()?;
    }
    files.write(batch, notes)?;
    let synced = durable || files.must_sync();
    if synced {
        files.sync()?;
    }
    Ok(Wrote { synced })
}

/// Says that the thread is gone, whatever ended it, so that nobody waits for it.
struct Ended<'a> {
    shared: &'a Shared,
    first: PathBuf,
}

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        if !state.closing {
            state.stopped.get_or_insert(StopReason::ThreadEnded { path: std::mem::take(&mut self.first) });
            state.stats.stopped = true;
        }
        self.shared.done.notify_all();
    }
}
