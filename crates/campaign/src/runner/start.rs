//! How a session begins, or goes on.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use fieldlab_base::Micros;
use serde::{Serialize, Serializer};
use serde_json::Value as Json;

use super::names::SessionKeys;

use super::storage::Storage;
use super::{Phase, Runner, clock_trusted, session, session_id};
use crate::channels::event;
use crate::checkpoint::{self, Checkpoint};
use crate::gate::Gate;
use crate::io::CheckpointState;
use crate::text;

/// Why a start is asked for before a session begins.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AskStart {
    pub(super) text: String,
    pub(super) set_aside_first: bool,
}

impl Runner {
    pub(super) fn fresh_memory(&mut self, unix: Option<Micros>) {
        let session = session_id(unix, self.boot_random, &self.known_sessions);
        self.known_sessions.push(session.clone());
        self.memory = Checkpoint {
            session,
            campaign: self.plan.name.clone(),
            campaign_hash: self.plan_hash.clone(),
            clock_trusted: clock_trusted(unix),
            started_unix_ms: unix.filter(|u| clock_trusted(Some(*u))).map(|u| u.0 / 1000),
            // Above what a toggle between 0 and 1 writes, so that a page's `Advance` = `PromptSeq` is always a change.
            prompt_seq: self.memory.prompt_seq.max(1),
            ..Checkpoint::default()
        };
    }

    /// Decides what becomes of what was found on disk.
    pub(super) fn take_up(&mut self, found: CheckpointState, finished: Option<&str>) {
        let plan = Arc::clone(&self.plan);
        let marker = finished.map(|text| Marker::read(text, &plan.name));
        match found {
            CheckpointState::Fresh => {}
            CheckpointState::Unreadable { reason, kept_as } => self.unreadable(&reason, kept_as.as_deref()),
            CheckpointState::Loaded { text, from_backup } => match checkpoint::parse(text.as_bytes()) {
                Err(error) => self.foreign(&format!("The checkpoint could not be read ({error})")),
                Ok(old) if marker.as_ref().is_some_and(|m| m.session == old.session) => {}
                Ok(old) if old.session.is_empty() => {}
                Ok(old) if !session::is_session_id(&old.session) => {
                    self.foreign(&format!("The checkpoint's session {:?} is no session id", old.session));
                }
                Ok(old) if old.campaign != self.plan.name => {
                    let whose = format!(
                        "An unfinished session {} of campaign {:?} is there",
                        old.session, old.campaign
                    );
                    self.foreign(&whose);
                }
                Ok(old) => self.resume(old, from_backup),
            },
        }
        if !self.begun
            && self.ask_start.is_none()
            && let Some(marker) = marker
        {
            self.ask_start = Some(AskStart { text: marker.question(), set_aside_first: false });
        }
    }

    pub(super) fn unreadable(&mut self, reason: &str, kept_as: Option<&str>) {
        match kept_as {
            Some(name) => {
                let text = format!("The checkpoint could not be read ({reason}). It is kept as {name}.");
                self.fault_start = Some(text.clone());
                self.memory.notes.push(text.as_str().into());
                self.ask_start = Some(AskStart {
                    text: format!("{text} Advance: start a new session"),
                    set_aside_first: false,
                });
            }
            None => {
                let text = format!(
                    "The checkpoint could not be read ({reason}) and could not be set aside. Nothing starts, so that \
                     nothing is overwritten: copy and remove it by hand."
                );
                self.fault_start = Some(text.clone());
                self.blocked = Some(text);
            }
        }
    }

    pub(super) fn foreign(&mut self, what: &str) {
        self.memory.notes.push(format!("{what}; it was set aside when this session began").into());
        self.fault_start = Some(what.to_owned());
        self.ask_start = Some(AskStart {
            text: format!("{what}. Advance: set it aside and start a new session of {}", self.plan.name),
            set_aside_first: true,
        });
    }

    pub(super) fn resume(&mut self, old: Checkpoint, from_backup: Option<String>) {
        self.memory = old;
        // Prompts that were shown after the last save are not in it: skip over their numbers.
        self.memory.prompt_seq = self.memory.prompt_seq.clamp(1, 1 << 40) + 100;
        let mut notes = session::fit_to_plan(&mut self.memory, &self.plan, &self.names);
        if let Some(reason) = from_backup {
            let text = format!("the checkpoint's backup was used: {reason}");
            self.warning = Some(text.as_str().into());
            notes.push(text);
        }
        self.memory.notes.extend(notes.into_iter().map(Arc::from));
        self.memory.campaign_hash.clone_from(&self.plan_hash);
        self.begun = true;
        self.resumed = true;
        self.open_keys();
        // At once: a boot that never gets as far as an enable leaves a log too, and that has to say whose it is.
        self.write_header();
        self.phase = Phase::Next;
        self.storage.changed(self.now);
        let in_flight = self.memory.in_flight.clone();
        self.current = in_flight.as_ref().and_then(|f| self.plan.find(&f.procedure)).map(|(i, _)| i);
        if self.current.is_some_and(|i| self.is_banked(i)) || self.current.is_none() {
            self.current = self.next_procedure();
        }
        let Some(index) = self.current else { return };
        self.rebuild_done();
        self.cursor = in_flight.as_ref().map_or(0, |f| f.step.min(self.done.len().saturating_sub(1)));
        // What was asked for goes on being shown until somebody enables.
        let paused = in_flight.is_some_and(|f| f.paused);
        self.phase =
            match self.plan.procedures.get(index).and_then(|p| p.steps.get(self.cursor)).map(|s| &s.kind) {
                _ if paused => {
                    let (min, resume) = self.gate_in_force().unwrap_or_default();
                    Phase::Gate { gate: Gate::new(self.now, min, resume, true), before_act: false }
                }
                Some(crate::StepKind::Measure { .. }) if self.answer_to(index, self.cursor).is_none() => {
                    Phase::Measure { procedure: index, step: self.cursor }
                }
                Some(crate::StepKind::Confirm { .. }) => {
                    Phase::Confirm { step: Some(self.cursor), again: false }
                }
                Some(crate::StepKind::Act { .. }) if self.failed(self.cursor) => {
                    self.name_offer(self.cursor);
                    Phase::Offer { step: self.cursor }
                }
                _ => Phase::Next,
            };
    }

    /// Makes the keys of the session's records, and room for what it will remember.
    fn open_keys(&mut self) {
        self.session_keys = Some(SessionKeys::of(&self.plan, &self.memory.session, &mut self.keys));
        self.memory.notes.reserve(64);
        self.memory.completed.reserve(self.plan.procedures.len());
    }

    /// A new session.
    pub(super) fn begin(&mut self) {
        self.begun = true;
        self.open_keys();
        let revision = self.storage.changed(self.now);
        self.echoes.push((revision, format!("session {} began", self.memory.session).into()));
        self.write_header();
        self.event(event::SESSION_STARTED, &[]);
        self.current = self.next_procedure();
        self.enter_again();
    }

    /// The session asked for by [`AskStart`].
    pub(super) fn begin_asked(&mut self, unix: Option<Micros>) {
        let ask = self.ask_start.take();
        // Who pressed has read it; the notes keep it.
        self.fault_start = None;
        if self.storage.durable() > 0 || self.phase == Phase::Done || self.memory.elapsed_secs > 0.0 {
            // This object has already run a session: everything of it is forgotten.
            self.storage = Storage::default();
            self.bank_revision = 0;
            self.fresh_memory(unix);
            self.echoes.clear();
            self.resumed = false;
        }
        self.storage.set_aside_first = ask.is_some_and(|a| a.set_aside_first);
        self.begin();
    }

    /// From the gate of the procedure in flight.
    pub(super) fn enter_again(&mut self) {
        if self.resumed && !self.resume_told {
            self.resume_told = true;
            self.event(event::SESSION_RESUMED, &[]);
            self.log_kept_answers();
        }
        if self.procedure().is_some_and(|p| self.memory.hashes.contains_key(p.id.as_str())) {
            self.event(event::PROCEDURE_RESUMED, &[]);
        }
        self.rebuild_done();
        self.cursor = 0;
        self.sags = 0;
        self.go(Phase::PreArm);
    }

    /// Says something anew that the robot adds to the header: another pack is in. A session that goes on logs its header
    /// again.
    pub fn amend_header(&mut self, key: &str, text: &str) {
        if self.header.get(key).and_then(Json::as_str) != Some(text) {
            self.header.insert(key.to_owned(), text.into());
            if self.begun {
                self.write_header();
            }
        }
    }

    pub(super) fn write_header(&mut self) {
        let m = &self.memory;
        let header = session::header(&self.plan, &self.plan_hash, &self.names, m, &self.header, self.resumed);
        if let Some(keys) = &self.session_keys {
            // The plan is most of it.
            self.book.json(keys.header, &header, self.board.plan.as_str().len() + 4096);
        }
    }
}

/// The finished marker: which session is over, and what the next start tells of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Marker<'a> {
    campaign: Cow<'a, str>,
    pub(super) session: Cow<'a, str>,
    #[serde(serialize_with = "as_text")]
    summary: Summary,
}

/// What a session came to.
#[derive(Debug, Clone, PartialEq)]
enum Summary {
    Counted {
        procedures: usize,
        measurements: usize,
        elapsed_secs: f64,
    },
    /// As it stood in a marker.
    Read(String),
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Counted { procedures, measurements, elapsed_secs } => {
                let elapsed = text::Duration(*elapsed_secs);
                write!(f, "{procedures} procedures, {measurements} measurements, {elapsed}")
            }
            Self::Read(text) => f.write_str(text),
        }
    }
}

fn as_text<S: Serializer>(text: &impl fmt::Display, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(text)
}

impl<'a> Marker<'a> {
    pub(super) fn of(memory: &'a Checkpoint, campaign: &'a str) -> Self {
        Self {
            campaign: campaign.into(),
            session: memory.session.as_str().into(),
            summary: Summary::Counted {
                procedures: memory.completed.len(),
                measurements: memory.answers.len(),
                elapsed_secs: memory.elapsed_secs,
            },
        }
    }

    pub(super) fn write_to(&self, out: &mut Vec<u8>) {
        // Texts into memory: it cannot fail.
        serde_json::to_writer(&mut *out, self).ok();
        out.push(b'\n');
    }

    /// Any text is some marker: one that cannot be read names no session and still asks before a start.
    pub(super) fn read(text: &str, campaign: &'a str) -> Self {
        let json: Json = serde_json::from_str(text).unwrap_or(Json::Null);
        let field = |key: &str| json.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
        let named = Some(field("campaign")).filter(|name| !name.is_empty());
        Self {
            campaign: named.map_or(Cow::Borrowed(campaign), Cow::Owned),
            session: field("session").into(),
            summary: Summary::Read(field("summary")),
        }
    }

    pub(super) fn question(&self) -> String {
        format!(
            "Session {} of {} is done ({}). Advance: start a new session",
            self.session, self.campaign, self.summary
        )
    }
}
