//! What was banked, and what the code did about it afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Result;
use fieldlab_campaign::checkpoint::{Checkpoint, parse};
use fieldlab_campaign::{Plan, StepKind, StepOutcome};
use fieldlab_store::{Disk, Load, finished, load};

/// The counts, and what they were counted on.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) lost: u64,
    pub(super) asked_again: u64,
    pub(super) run_twice: u64,
    pub(super) unreadable: u64,
    pub(super) answers: u64,
    pub(super) campaigns: u64,
    pub(super) notes: Vec<String>,
    /// Answers whose commit was echoed in the session that runs, by key.
    echoed: BTreeMap<String, f64>,
    last_echo: String,
    /// The session's beginning was echoed, so its first save is durable.
    began: bool,
    /// Answers that the person asked to do again in this boot: the new one may be durable before anybody heard of it.
    reopened: BTreeSet<String>,
    /// How often the person had pressed Redo when the last of them was asked for.
    redos: u32,
    /// What the checkpoint held after the last cut.
    bank: Bank,
    seen_prompt: Option<i64>,
    seen_act: Option<(String, usize)>,
}

#[derive(Debug, Default)]
struct Bank {
    answers: BTreeSet<String>,
    procedures: BTreeSet<String>,
    acts: BTreeSet<(String, usize)>,
}

/// What stands on the dashboard after a turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen<'a> {
    pub(super) last_commit: &'a str,
    pub(super) prompt: &'a str,
    pub(super) prompt_key: &'a str,
    pub(super) prompt_seq: Option<i64>,
    pub(super) procedure: &'a str,
    pub(super) step: Option<usize>,
    pub(super) step_kind: &'a str,
    pub(super) moving: bool,
    /// How often the person has pressed Redo.
    pub(super) redos: u32,
}

/// What the person knows that nobody else does.
#[derive(Clone, Copy)]
pub(super) struct Person<'a> {
    /// How often it has pressed Redo.
    pub(super) redos: u32,
    /// What stands on its paper for a question: what it types when it does an answer again.
    pub(super) paper: &'a dyn Fn(&str) -> Option<f64>,
}

impl Ledger {
    /// Another campaign begins, in another folder.
    pub(super) fn next_campaign(mut self) -> Self {
        self.campaigns += 1;
        self.echoed.clear();
        self.began = false;
        self.reopened.clear();
        self.redos = 0;
        self.last_echo.clear();
        self.bank = Bank::default();
        self
    }

    /// Looks at the dashboard after a turn.
    pub(super) fn look(&mut self, seen: &Seen<'_>) {
        if seen.last_commit != self.last_echo {
            seen.last_commit.clone_into(&mut self.last_echo);
            self.began |= seen.last_commit.ends_with(" began");
            if let Some((key, value)) = echo(seen.last_commit) {
                self.reopened.remove(&key);
                self.answers += u64::from(self.echoed.insert(key, value).is_none());
            }
        }
        if seen.prompt_seq != self.seen_prompt {
            self.seen_prompt = seen.prompt_seq;
            // Only what the person asked for: one press of Redo reopens one answer, and the prompt may be shown anew.
            let pressed = seen.redos > self.redos || self.reopened.contains(seen.prompt_key);
            let wanted = seen.prompt.starts_with("Again:") && pressed;
            if wanted {
                self.redos = seen.redos;
                self.reopened.insert(seen.prompt_key.to_owned());
            }
            if self.bank.answers.contains(seen.prompt_key) && !wanted {
                self.asked_again += 1;
                self.notes.push(format!("asked again: {:?} ({})", seen.prompt, seen.prompt_key));
            }
        }
        let place = seen.step.map(|step| (seen.procedure.to_owned(), step));
        let acts = seen.moving && seen.step_kind == "act";
        if acts && place != self.seen_act {
            let twice = self.bank.procedures.contains(seen.procedure)
                || place.as_ref().is_some_and(|p| self.bank.acts.contains(p));
            if twice {
                self.run_twice += 1;
                self.notes.push(format!("run twice: {place:?}"));
            }
        }
        if acts {
            self.seen_act = place;
        }
    }

    /// Reads the checkpoint after a cut and holds it against what was echoed in `session`. Answers whether that session is
    /// over: its finished marker is there, and what it banked is in its log.
    pub(super) fn after_cut(
        &mut self,
        checkpoint: &Path,
        plan: &Plan,
        session: &str,
        person: Person<'_>,
    ) -> Result<bool> {
        // What was being done again is, after a boot, only done again when it is asked for again.
        let reopened = std::mem::take(&mut self.reopened);
        self.redos = person.redos;
        self.seen_act = None;
        self.seen_prompt = None;
        let marker = finished(&mut Disk::new(), checkpoint)?;
        if marker.is_some_and(|m| !session.is_empty() && String::from_utf8_lossy(&m).contains(session)) {
            return Ok(true);
        }
        let check = |bytes: &[u8]| parse(bytes).map(drop).map_err(|e| e.to_string());
        let mut disk = Disk::new();
        let read = match load(&mut disk, checkpoint, &check)? {
            Load::Loaded { bytes, .. } => parse(&bytes)?,
            Load::Missing => {
                // Before the first save was reported nothing has to be there.
                if self.began || !self.echoed.is_empty() {
                    self.lost += (self.echoed.len() as u64).max(1);
                    let echoed = self.echoed.len();
                    self.notes
                        .push(format!("no checkpoint of a session that began and echoed {echoed} answers"));
                }
                return Ok(false);
            }
            Load::Unreadable { reason } => {
                self.unreadable += 1;
                self.notes.push(format!("not readable: {reason}"));
                return Ok(false);
            }
        };
        for (key, value) in &mut self.echoed {
            match read.answer(key) {
                Some(found) if found == *value => {}
                // It is the old number or what the person has typed since, and nothing else.
                Some(found) if reopened.contains(key) && (person.paper)(key) == Some(found) => *value = found,
                found => {
                    self.lost += 1;
                    self.notes.push(format!("lost: {key} = {value}, found {found:?}"));
                }
            }
        }
        self.bank = bank(&read, plan);
        Ok(false)
    }
}

/// `shot-map/at-2.00 = 1 score` → key and value.
fn echo(text: &str) -> Option<(String, f64)> {
    let (key, rest) = text.split_once(" = ")?;
    let value = rest.split(' ').next()?.parse().ok()?;
    key.contains('/').then(|| (key.to_owned(), value))
}

fn bank(read: &Checkpoint, plan: &Plan) -> Bank {
    let mut acts = BTreeSet::new();
    for (id, records) in &read.outcomes {
        let Some((_, procedure)) = plan.find(id) else { continue };
        for record in records.iter().filter(|r| r.outcome == StepOutcome::Completed) {
            // An act that only prepares is repeated with the act it prepares.
            if let Some(StepKind::Act { prepares: false, .. }) =
                procedure.steps.get(record.step).map(|s| &s.kind)
            {
                acts.insert((id.to_string(), record.step));
            }
        }
    }
    Bank {
        answers: read.answers.keys().map(ToString::to_string).collect(),
        procedures: read.completed.iter().cloned().collect(),
        acts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echo_is_an_answer_and_a_refusal_is_none() {
        assert_eq!(echo("shot-map/at-2.00#2 = 0.5 score"), Some(("shot-map/at-2.00#2".into(), 0.5)));
        assert_eq!(echo("prompt 17 confirmed"), None);
        assert_eq!(echo("no new number: type one = now"), None);
    }

    #[test]
    fn a_banked_answer_asked_again_is_counted_once_and_a_redo_is_not() {
        let mut ledger = Ledger::default();
        ledger.bank.answers.insert("p/k".into());
        let mut seen = Seen {
            last_commit: "",
            prompt: "How long?",
            prompt_key: "p/k",
            prompt_seq: Some(4),
            procedure: "p",
            step: Some(1),
            step_kind: "measure",
            moving: false,
            redos: 0,
        };
        ledger.look(&seen);
        ledger.look(&seen);
        assert_eq!(ledger.asked_again, 1);
        (seen.prompt, seen.prompt_seq) = ("Again: How long? (it was 3)", Some(5));
        ledger.look(&seen);
        assert_eq!(ledger.asked_again, 2, "nobody pressed Redo");
        (seen.redos, seen.prompt_seq) = (1, Some(6));
        ledger.look(&seen);
        seen.prompt_seq = Some(7);
        ledger.look(&seen);
        assert_eq!(ledger.asked_again, 2, "one press, one answer, however often its prompt is shown");
        ledger.bank.answers.insert("p/other".into());
        (seen.prompt_key, seen.prompt_seq) = ("p/other", Some(8));
        ledger.look(&seen);
        assert_eq!(ledger.asked_again, 3);
        ledger.bank.acts.insert(("p".into(), 2));
        (seen.step, seen.step_kind, seen.moving) = (Some(2), "act", true);
        ledger.look(&seen);
        assert_eq!(ledger.run_twice, 1);
    }

    #[test]
    fn what_is_gone_from_the_disk_is_counted_and_what_was_done_again_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("c.json");
        let plan = Plan { name: "x".into(), procedures: Vec::new() };
        let save = |text: &str| fieldlab_store::save(&mut Disk::new(), &path, text.as_bytes()).unwrap();
        let paper = std::cell::Cell::new(None);
        let person = Person { redos: 0, paper: &|_| paper.get() };
        let mut ledger = Ledger::default();
        assert!(!ledger.after_cut(&path, &plan, "6aa1f940", person).unwrap());
        assert_eq!(ledger.lost, 0, "nothing was echoed yet");
        ledger.echoed = [("p/a".to_owned(), 1.0), ("p/b".to_owned(), 2.0)].into();
        assert!(!ledger.after_cut(&path, &plan, "6aa1f940", person).unwrap());
        assert_eq!(ledger.lost, 2, "no file at all");
        save(
            r#"{"session":"6aa1f940","campaign":"x","completed":[],"measurements":{"p/a":1,"p/b":3},"notes":[]}"#,
        );
        assert!(!ledger.after_cut(&path, &plan, "6aa1f940", person).unwrap());
        assert_eq!(ledger.lost, 3, "b is another number");
        ledger.reopened.insert("p/b".into());
        paper.set(Some(4.0));
        assert!(!ledger.after_cut(&path, &plan, "6aa1f940", person).unwrap());
        assert_eq!(ledger.lost, 4, "b was being done again, but nobody typed a 3");
        ledger.reopened.insert("p/b".into());
        paper.set(Some(3.0));
        assert!(!ledger.after_cut(&path, &plan, "6aa1f940", person).unwrap());
        assert_eq!(ledger.lost, 4, "b was being done again");
        std::fs::write(&path, "{").unwrap();
        assert!(!ledger.after_cut(&path, &plan, "6aa1f940", person).unwrap());
        assert_eq!(ledger.unreadable, 1);
        fieldlab_store::clear(&mut Disk::new(), &path, b"{\"session\":\"6aa1f940\"}").unwrap();
        assert!(ledger.after_cut(&path, &plan, "6aa1f940", person).unwrap(), "over");
        assert!(!ledger.after_cut(&path, &plan, "6aa1f941", person).unwrap(), "another one is");
    }
}
