//! How a session begins, or goes on.

use fieldlab_base::Micros;
use serde_json::{Value as Json, json};

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
        let marker = finished.map(|text| Marker::read(text, &self.plan.name));
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
                self.memory.notes.push(text.clone());
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
        self.memory.notes.push(format!("{what}; it was set aside when this session began"));
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
        let mut notes = session::fit_to_plan(&mut self.memory, &self.plan, &self.hashes);
        if let Some(reason) = from_backup {
            let text = format!("the checkpoint's backup was used: {reason}");
            self.warning = Some(text.clone());
            notes.push(text);
        }
        self.memory.notes.extend(notes);
        self.memory.campaign_hash.clone_from(&self.plan_hash);
        self.begun = true;
        self.resumed = true;
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
                Some(crate::StepKind::Measure { key, .. }) if !self.is_answered(index, key) => {
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

    /// A new session.
    pub(super) fn begin(&mut self) {
        self.begun = true;
        let revision = self.storage.changed(self.now);
        self.echoes.push((revision, format!("session {} began", self.memory.session)));
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
            self.header_written = false;
            self.resumed = false;
        }
        self.storage.set_aside_first = ask.is_some_and(|a| a.set_aside_first);
        self.begin();
    }

    /// From the gate of the procedure in flight.
    pub(super) fn enter_again(&mut self) {
        if self.resumed && !self.header_written {
            self.write_header();
            self.event(event::SESSION_RESUMED, &[]);
            self.log_kept_answers();
        }
        if self.procedure().is_some_and(|p| self.memory.hashes.contains_key(&p.id)) {
            self.event(event::PROCEDURE_RESUMED, &[]);
        }
        self.rebuild_done();
        self.cursor = 0;
        self.sags = 0;
        self.go(Phase::PreArm);
    }

    pub(super) fn write_header(&mut self) {
        self.header_written = true;
        let m = &self.memory;
        let header =
            session::header(&self.plan, &self.plan_hash, &self.hashes, m, &self.header, self.resumed);
        self.book.json(crate::channels::session(&m.session, crate::channels::HEADER), &header, true);
    }
}

/// The finished marker: which session is over, and what the next start tells of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Marker {
    pub(super) session: String,
    campaign: String,
    summary: String,
}

impl Marker {
    pub(super) fn of(memory: &Checkpoint, campaign: &str) -> Self {
        let summary = format!(
            "{} procedures, {} measurements, {}",
            memory.completed.len(),
            memory.measurements.len(),
            text::duration(memory.elapsed_secs)
        );
        Self { session: memory.session.clone(), campaign: campaign.to_owned(), summary }
    }

    pub(super) fn text(&self) -> String {
        let marker = json!({ "session": self.session, "campaign": self.campaign, "summary": self.summary });
        format!("{marker}\n")
    }

    /// Any text is some marker: one that cannot be read names no session and still asks before a start.
    pub(super) fn read(text: &str, campaign: &str) -> Self {
        let json: Json = serde_json::from_str(text).unwrap_or(Json::Null);
        let field = |key: &str| json.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
        let read = Self { session: field("session"), campaign: field("campaign"), summary: field("summary") };
        if read.campaign.is_empty() { Self { campaign: campaign.to_owned(), ..read } } else { read }
    }

    pub(super) fn question(&self) -> String {
        format!(
            "Session {} of {} is done ({}). Advance: start a new session",
            self.session, self.campaign, self.summary
        )
    }
}
