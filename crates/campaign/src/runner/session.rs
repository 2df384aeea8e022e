//! Session ids, and what of an old session goes on in this plan.

use fieldlab_base::Micros;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json};

use super::names::PlanNames;
use crate::checkpoint::Checkpoint;
use crate::model::Plan;

/// Wall clocks before November 2023 were never set.
pub(super) const TRUSTED_FROM: Micros = Micros(1_698_796_800_000_000);
/// Ids from here up say that the clock was not to be trusted.
const UNTRUSTED: u32 = 0xf000_0000;

/// Whether `unix` is a clock that somebody set.
#[must_use]
pub fn clock_trusted(unix: Option<Micros>) -> bool {
    unix.is_some_and(|u| u >= TRUSTED_FROM)
}

/// A session id: eight lower-case hex digits that no known session has. The Unix seconds when the clock is trusted;
/// otherwise `f0000000` up, from the boot's random bits, so that two boots of an unset clock do not share one.
///
/// ```
/// use fieldlab_base::Micros;
/// use fieldlab_campaign::runner::session_id;
/// assert_eq!(session_id(Some(Micros::from_secs(1_789_000_000.0)), 7, &[]), "6aa1f940");
/// assert_eq!(session_id(Some(Micros::from_secs(12.0)), 0x1234_5678_9abc, &[]), "f6789abc");
/// ```
#[must_use]
pub fn session_id(unix: Option<Micros>, boot_random: u64, known: &[String]) -> String {
    let trusted = unix.filter(|u| clock_trusted(Some(*u)));
    // Truncation is meant: any 28 bits of the random number serve.
    let mut id = match trusted.and_then(|u| u32::try_from(u.0 / 1_000_000).ok()).filter(|id| *id < UNTRUSTED)
    {
        Some(seconds) => seconds,
        None => UNTRUSTED | (boot_random as u32 & !UNTRUSTED),
    };
    loop {
        let text = format!("{id:08x}");
        if !known.contains(&text) {
            return text;
        }
        let top = id & UNTRUSTED;
        id = if top == UNTRUSTED { UNTRUSTED | (id.wrapping_add(1) & !UNTRUSTED) } else { id + 1 };
    }
}

/// Whether a checkpoint's session id can be used in names of topics and files.
pub(super) fn is_session_id(id: &str) -> bool {
    id.len() == 8 && id.bytes().all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase())
}

/// Fits an old session to the plan, and answers what to tell the operator.
///
/// The rule: a procedure whose [hash](crate::ProcedurePlan::hash) is what it was keeps everything. One whose hash changed
/// asks other questions or takes other data, so it runs again, and its old answers go into the notes. One that is no
/// longer in the plan keeps what it has and counts for nothing. A version 1 file has no hashes; its ids are believed.
pub(super) fn fit_to_plan(memory: &mut Checkpoint, plan: &Plan, names: &PlanNames) -> Vec<String> {
    let mut notes = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    memory.completed.retain(|id| {
        let new = !seen.contains(id);
        seen.push(id.clone());
        new
    });
    for procedure in names.iter() {
        let id = &procedure.id;
        if memory.hashes.get(id).is_none_or(|old| *old == procedure.hash) {
            continue;
        }
        let prefix = format!("{id}/");
        let old: Vec<String> = memory
            .answers
            .iter()
            .filter(|(key, _)| key.starts_with(&prefix))
            .map(|(key, answer)| format!("{key} = {}", answer.value))
            .collect();
        memory.answers.retain(|key, _| !key.starts_with(&prefix));
        memory.outcomes.remove(id);
        memory.quality.remove(id);
        memory.hashes.remove(id);
        memory.completed.retain(|done| **done != **id);
        memory.in_flight = memory.in_flight.take().filter(|f| f.procedure != *id);
        let answers =
            if old.is_empty() { String::new() } else { format!("; its old answers: {}", old.join(", ")) };
        notes.push(format!("{id} was edited since this session began and runs again{answers}"));
    }
    for id in &memory.completed {
        if plan.find(id).is_none() {
            notes.push(format!("{id} was banked and is no longer in the plan"));
        }
    }
    notes
}

/// The JSON object at the head of every log of the session.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Header<'a> {
    schema: &'static str,
    session: &'a str,
    campaign: &'a str,
    campaign_hash: &'a str,
    resumed: bool,
    clock_trusted: bool,
    started_unix_ms: Option<i64>,
    estimated_seconds: f64,
    completed: &'a [String],
    plan: &'a Plan,
    procedure_hashes: Hashes<'a>,
    #[serde(flatten)]
    extra: Extra<'a>,
}

/// The header's own keys: what the robot adds under one of them is left out.
const OWN: [&str; 11] = [
    "schema",
    "session",
    "campaign",
    "campaignHash",
    "resumed",
    "clockTrusted",
    "startedUnixMs",
    "estimatedSeconds",
    "completed",
    "plan",
    "procedureHashes",
];

struct Hashes<'a>(&'a PlanNames);

impl Serialize for Hashes<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|p| (&*p.id, &*p.hash)))
    }
}

struct Extra<'a>(&'a Map<String, Json>);

impl Serialize for Extra<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().filter(|(key, _)| !OWN.contains(&key.as_str())))
    }
}

/// The header as it stands now; `extra` is what the robot adds.
pub(super) fn header<'a>(
    plan: &'a Plan,
    plan_hash: &'a str,
    names: &'a PlanNames,
    memory: &'a Checkpoint,
    extra: &'a Map<String, Json>,
    resumed: bool,
) -> Header<'a> {
    Header {
        schema: "fieldlab.header/1",
        session: &memory.session,
        campaign: &plan.name,
        campaign_hash: plan_hash,
        resumed,
        clock_trusted: memory.clock_trusted,
        started_unix_ms: memory.started_unix_ms,
        estimated_seconds: plan.estimate_secs(),
        completed: &memory.completed,
        plan,
        procedure_hashes: Hashes(names),
        extra: Extra(extra),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f24_an_unset_clock_never_repeats_an_id() {
        let boot = |random| session_id(Some(Micros::from_secs(12.0)), random, &[]);
        assert_ne!(boot(1), boot(2));
        assert!(boot(1).starts_with('f'));
        assert_eq!(session_id(None, 1, &[boot(1)]), "f0000002");
        assert_eq!(session_id(None, 0x0fff_ffff, &["ffffffff".into()]), "f0000000", "wraps inside its range");
        let taken = ["6aa1f940".to_owned()];
        assert_eq!(session_id(Some(Micros::from_secs(1_789_000_000.9)), 0, &taken), "6aa1f941");
    }
}
