//! What is durable and what is not yet.

use std::sync::Arc;

use fieldlab_base::Micros;

use crate::io::{Finish, Save, SaveReport};

/// A storage that does not answer for this long no longer holds the campaign up.
const PATIENCE: Micros = Micros::from_millis(2000);
/// A failed save is tried again after this long.
const RETRY: Micros = Micros::from_millis(1000);

/// Room made for a checkpoint at first, bytes.
const ROOM: usize = 16 << 10;

/// What a [`SaveReport`] meant.
#[derive(Debug, PartialEq)]
pub(super) enum Answer {
    /// Nothing that was asked.
    Unknown,
    /// Everything up to this revision is durable.
    Durable(u64),
    /// The save failed; why.
    Failed(String),
    /// The finish was reported.
    Finished(Result<(), String>),
}

/// One save at a time; the newest contents win.
#[derive(Debug)]
pub(super) struct Storage {
    seq: u64,
    revision: u64,
    durable: u64,
    in_flight: Option<(u64, u64)>,
    dirty_since: Option<Micros>,
    retry_at: Option<Micros>,
    finishing: Option<u64>,
    /// Something stands at the path that is not ours: the first save sets it aside.
    pub(super) set_aside_first: bool,
    /// The finish was handed out: a later save would bring the checkpoint back.
    closed: bool,
    /// What was handed out last; written into again once nobody else has it.
    buffer: Arc<Vec<u8>>,
}

impl Default for Storage {
    fn default() -> Self {
        Self {
            seq: 0,
            revision: 0,
            durable: 0,
            in_flight: None,
            dirty_since: None,
            retry_at: None,
            finishing: None,
            set_aside_first: false,
            closed: false,
            buffer: Arc::new(Vec::with_capacity(ROOM)),
        }
    }
}

impl Storage {
    /// The session changed; answers the revision that holds the change.
    pub(super) fn changed(&mut self, now: Micros) -> u64 {
        self.revision += 1;
        self.dirty_since.get_or_insert(now);
        self.revision
    }

    pub(super) const fn durable(&self) -> u64 {
        self.durable
    }

    /// Whether the next step should wait: something is not durable yet, and the storage has neither failed nor gone
    /// silent.
    pub(super) fn holds(&self, now: Micros) -> bool {
        self.revision > self.durable
            && self.retry_at.is_none()
            && self.dirty_since.is_some_and(|since| now.since(since) < PATIENCE)
    }

    /// Whether it has gone silent.
    pub(super) fn is_silent(&self, now: Micros) -> bool {
        self.in_flight.is_some() && self.dirty_since.is_some_and(|since| now.since(since) >= PATIENCE)
    }

    /// Whether a save is to be handed out now.
    pub(super) fn wants(&self, now: Micros) -> bool {
        !self.closed
            && self.in_flight.is_none()
            && self.revision > self.durable
            && self.retry_at.is_none_or(|at| now >= at)
    }

    pub(super) fn hand_out(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Save {
        self.seq += 1;
        self.in_flight = Some((self.seq, self.revision));
        self.retry_at = None;
        Save { seq: self.seq, bytes: self.bytes(write), set_aside_first: self.set_aside_first }
    }

    /// The last thing: from now on nothing is saved.
    pub(super) fn close(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Finish {
        self.seq += 1;
        self.closed = true;
        self.finishing = Some(self.seq);
        Finish { seq: self.seq, marker: self.bytes(write) }
    }

    fn bytes(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Arc<Vec<u8>> {
        let room = self.buffer.capacity().max(ROOM);
        if Arc::get_mut(&mut self.buffer).is_none() {
            // Whoever has the last one still keeps it.
            self.buffer = Arc::new(Vec::with_capacity(room));
        }
        if let Some(buffer) = Arc::get_mut(&mut self.buffer) {
            buffer.clear();
            write(buffer);
        }
        Arc::clone(&self.buffer)
    }

    pub(super) fn report(&mut self, report: &SaveReport, now: Micros) -> Answer {
        if self.finishing == Some(report.seq) {
            self.finishing = None;
            return Answer::Finished(report.result.clone());
        }
        let Some((_, revision)) = self.in_flight.filter(|(seq, _)| *seq == report.seq) else {
            return Answer::Unknown;
        };
        self.in_flight = None;
        match &report.result {
            Ok(()) => {
                self.durable = revision;
                self.set_aside_first = false;
                self.dirty_since = (self.revision > revision).then_some(now);
                Answer::Durable(revision)
            }
            Err(reason) => {
                self.retry_at = Some(now + RETRY);
                Answer::Failed(reason.clone())
            }
        }
    }
}
