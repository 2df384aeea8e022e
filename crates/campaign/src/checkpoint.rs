//! The one file that makes a battery swap harmless: what is banked, what was answered, where the run stood.
//!
//! The first five keys are the reference's format, in its order, so that its robot code resumes from our file and ours
//! from its; what we add stands after them.
//!
//! ```
//! use fieldlab_campaign::checkpoint::{Checkpoint, parse};
//! let old = br#"{"session":"6aa1f940","campaign":"Field Day","completed":["wheel-radius"],
//!                "measurements":{"wheel-radius/caliper-diameter-in":4.02},"notes":[]}"#;
//! let read = parse(old)?;
//! assert_eq!(read.completed, ["wheel-radius"]);
//! assert_eq!(parse(read.to_text().as_bytes())?, read);
//! # Ok::<(), fieldlab_campaign::CampaignError>(())
//! ```
//!
//! Promise: no bytes make [`parse`] panic; nesting deeper than 128 and files above [`MAX_BYTES`] are refused before they
//! cost anything; what it allocates is bounded by a constant times the length of the bytes.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::Value as Json;

use crate::{CampaignError, StepOutcome};

/// The newest format that is understood.
pub const VERSION: u64 = 2;
/// Larger files are refused unread: an hour's campaign is a few kilobytes.
pub const MAX_BYTES: usize = 4 << 20;

/// How one step ended.
#[derive(Debug, Clone, PartialEq)]
pub struct StepRecord {
    /// Which step of the procedure.
    pub step: usize,
    /// How.
    pub outcome: StepOutcome,
    /// How long it took, seconds.
    pub seconds: f64,
    /// The lowest battery volts seen meanwhile.
    pub min_volts: Option<f64>,
    /// Why, when it did not complete, or what is to be known about it.
    pub reason: String,
}

/// Where a run stood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InFlight {
    /// Id of the procedure.
    pub procedure: Arc<str>,
    /// Index of its step.
    pub step: usize,
    /// How many attempts that step has had.
    pub attempt: u32,
    /// Whether it was held at a battery gate, so that only the resume mark lets it on.
    pub paused: bool,
}

/// An answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The number; always finite.
    pub value: f64,
    /// Its unit; `None` in a version 1 file.
    pub unit: Option<Arc<str>>,
    /// When it was given, seconds of the session; `None` in a version 1 file.
    pub at_secs: Option<f64>,
}

/// Everything that a run remembers.
///
/// Its keys and notes are shared with the runner that fills it, so that what is remembered costs the loop next to nothing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Checkpoint {
    /// The session's id.
    pub session: String,
    /// The campaign's name.
    pub campaign: String,
    /// Ids of the banked procedures, in the order in which they were.
    pub completed: Vec<String>,
    /// Answers by `<procedure>/<key>`; `measurements`, `units` and `answeredAt` of the file.
    pub answers: BTreeMap<Arc<str>, Answer>,
    /// Notes, oldest first.
    pub notes: Vec<Arc<str>>,
    /// Hash of the plan that wrote it; empty in a version 1 file.
    pub campaign_hash: String,
    /// Whether the wall clock was set when the session began.
    pub clock_trusted: bool,
    /// When the session began, Unix milliseconds.
    pub started_unix_ms: Option<i64>,
    /// How long the session has run enabled, seconds, over all boots.
    pub elapsed_secs: f64,
    /// Where it stands.
    pub in_flight: Option<InFlight>,
    /// How steps ended, by procedure.
    pub outcomes: BTreeMap<Arc<str>, Vec<StepRecord>>,
    /// Hash of each procedure as it was when it ran.
    pub hashes: BTreeMap<Arc<str>, Arc<str>>,
    /// Quality mark of each banked procedure.
    pub quality: BTreeMap<Arc<str>, String>,
    /// The last prompt's number, so that a prompt of the next boot is not taken for one of this.
    pub prompt_seq: i64,
}

impl Checkpoint {
    /// The answer to the question `<procedure>/<key>`.
    #[must_use]
    pub fn answer(&self, key: &str) -> Option<f64> {
        self.answers.get(key).map(|answer| answer.value)
    }

    /// Appends the file's text to `out`: two-space indent, the reference's keys first and in its order, a newline at the
    /// end. Nothing else is allocated.
    pub fn write_to(&self, out: &mut Vec<u8>) {
        // Maps with string keys and plain scalars into memory: nothing in here can fail.
        serde_json::to_writer_pretty(&mut *out, &File(self)).ok();
        out.push(b'\n');
    }

    /// What [`Checkpoint::write_to`] writes.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut bytes = Vec::new();
        self.write_to(&mut bytes);
        String::from_utf8(bytes).unwrap_or_default()
    }
}

/// Reads a checkpoint of version 1 or 2.
///
/// As in the reference a section of the wrong type is ignored, items of a list that are no text become text, and answers
/// that are no number are dropped. Unknown keys are ignored.
///
/// # Errors
/// Bytes that are not one JSON object, a file that is too long or nested too deep, and a version newer than [`VERSION`].
pub fn parse(bytes: &[u8]) -> Result<Checkpoint, CampaignError> {
    let refuse =
        |place: String, expected, found: String| Err(CampaignError::Checkpoint { place, expected, found });
    if bytes.len() > MAX_BYTES {
        return refuse("length".into(), "at most 4 MiB", format!("{} bytes", bytes.len()));
    }
    let json: Json = match serde_json::from_slice(bytes) {
        Ok(json) => json,
        Err(error) => {
            let place = format!("line {} column {}", error.line(), error.column());
            return refuse(place, "one JSON object, nested at most 128 deep", error.to_string());
        }
    };
    let Json::Object(file) = json else {
        return refuse("top level".into(), "an object", kind(&json).into());
    };
    let version = file.get("version").map_or(1.0, |v| v.as_f64().unwrap_or(1.0));
    if version > VERSION as f64 {
        return refuse("version".into(), "1 or 2", version.to_string());
    }
    let text = |key: &str| file.get(key).map(to_text).unwrap_or_default();
    let of = |section: &str, key: &str| file.get(section).and_then(|s| s.get(key));
    let number = |key: &str| file.get(key).and_then(Json::as_f64).filter(|n| n.is_finite());
    Ok(Checkpoint {
        session: text("session"),
        campaign: text("campaign"),
        completed: list(file.get("completed")),
        answers: map(file.get("measurements"), |key, v| {
            Some(Answer {
                value: v.as_f64().filter(|n| n.is_finite())?,
                unit: of("units", key).and_then(Json::as_str).map(Arc::from),
                at_secs: of("answeredAt", key).and_then(Json::as_f64),
            })
        }),
        notes: list(file.get("notes")).into_iter().map(Arc::from).collect(),
        campaign_hash: text("campaignHash"),
        clock_trusted: file.get("clockTrusted").and_then(Json::as_bool).unwrap_or(false),
        started_unix_ms: file.get("startedUnixMs").and_then(Json::as_i64),
        elapsed_secs: number("elapsedSeconds").unwrap_or(0.0).max(0.0),
        in_flight: file.get("inFlight").and_then(in_flight),
        outcomes: map(file.get("outcomes"), |_, v| {
            let mut records: Vec<_> = v.as_array()?.iter().filter_map(record).collect();
            // One a step, in their order.
            records.sort_by_key(|r: &StepRecord| r.step);
            records.dedup_by_key(|r| r.step);
            Some(records)
        }),
        hashes: map(file.get("procedureHashes"), |_, v| v.as_str().map(Arc::from)),
        quality: map(file.get("quality"), |_, v| v.as_str().map(str::to_owned)),
        prompt_seq: file.get("promptSeq").and_then(Json::as_i64).unwrap_or(0).max(0),
    })
}

const fn kind(json: &Json) -> &'static str {
    match json {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a text",
        Json::Array(_) => "an array",
        Json::Object(_) => "an object",
    }
}

fn to_text(json: &Json) -> String {
    match json {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn list(json: Option<&Json>) -> Vec<String> {
    json.and_then(Json::as_array).map(|items| items.iter().map(to_text).collect()).unwrap_or_default()
}

fn map<T>(json: Option<&Json>, read: impl Fn(&str, &Json) -> Option<T>) -> BTreeMap<Arc<str>, T> {
    json.and_then(Json::as_object)
        .map(|o| o.iter().filter_map(|(k, v)| Some((k.as_str().into(), read(k, v)?))).collect())
        .unwrap_or_default()
}

fn in_flight(json: &Json) -> Option<InFlight> {
    Some(InFlight {
        procedure: json.get("procedure")?.as_str()?.into(),
        step: usize::try_from(json.get("step")?.as_u64()?).ok()?,
        attempt: json.get("attempt").and_then(Json::as_u64).and_then(|a| u32::try_from(a).ok()).unwrap_or(0),
        paused: json.get("paused").and_then(Json::as_bool).unwrap_or(false),
    })
}

fn record(json: &Json) -> Option<StepRecord> {
    Some(StepRecord {
        step: usize::try_from(json.get("step")?.as_u64()?).ok()?,
        outcome: StepOutcome::from_token(json.get("outcome")?.as_str()?)?,
        seconds: json.get("seconds").and_then(Json::as_f64).unwrap_or(0.0),
        min_volts: json.get("minVolts").and_then(Json::as_f64),
        reason: json.get("reason").map(to_text).unwrap_or_default(),
    })
}

/// The file as it is written, key by key.
struct File<'a>(&'a Checkpoint);

impl Serialize for File<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let of = self.0;
        let answers = of.answers.iter();
        let units = answers.clone().filter_map(|(k, a)| Some((k, a.unit.as_deref()?)));
        let times = answers.clone().filter_map(|(k, a)| Some((k, Number(a.at_secs?))));
        let mut file = to.serialize_struct("Checkpoint", 17)?;
        file.serialize_field("session", &of.session)?;
        file.serialize_field("campaign", &of.campaign)?;
        file.serialize_field("completed", &of.completed)?;
        file.serialize_field("measurements", &Pairs(answers.clone().map(|(k, a)| (k, Number(a.value)))))?;
        file.serialize_field("notes", &Notes(&of.notes))?;
        file.serialize_field("version", &VERSION)?;
        file.serialize_field("campaignHash", &of.campaign_hash)?;
        file.serialize_field("clockTrusted", &of.clock_trusted)?;
        file.serialize_field("startedUnixMs", &of.started_unix_ms)?;
        file.serialize_field("elapsedSeconds", &Number(of.elapsed_secs))?;
        file.serialize_field("inFlight", &of.in_flight.as_ref().map(FileInFlight::from))?;
        file.serialize_field("outcomes", &Pairs(of.outcomes.iter().map(|(k, r)| (k, Records(r)))))?;
        file.serialize_field("units", &Pairs(units))?;
        file.serialize_field("answeredAt", &Pairs(times))?;
        file.serialize_field("procedureHashes", &Pairs(of.hashes.iter().map(|(k, h)| (k, &**h))))?;
        file.serialize_field("quality", &Pairs(of.quality.iter()))?;
        file.serialize_field("promptSeq", &of.prompt_seq)?;
        file.end()
    }
}

struct Records<'a>(&'a [StepRecord]);

impl Serialize for Records<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.iter().map(FileRecord::from))
    }
}

/// An object whose entries are made while it is written.
struct Pairs<I>(I);

impl<'a, V: Serialize, I: Iterator<Item = (&'a Arc<str>, V)> + Clone> Serialize for Pairs<I> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.clone().map(|(key, value)| (&**key, value)))
    }
}

struct Notes<'a>(&'a [Arc<str>]);

impl Serialize for Notes<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.iter().map(|note| &**note))
    }
}

#[derive(Serialize)]
struct FileInFlight<'a> {
    procedure: &'a str,
    step: usize,
    attempt: u32,
    paused: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FileRecord<'a> {
    step: usize,
    outcome: &'static str,
    seconds: Number,
    min_volts: Option<Number>,
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'a str,
}

impl<'a> From<&'a InFlight> for FileInFlight<'a> {
    fn from(of: &'a InFlight) -> Self {
        Self { procedure: &of.procedure, step: of.step, attempt: of.attempt, paused: of.paused }
    }
}

impl<'a> From<&'a StepRecord> for FileRecord<'a> {
    fn from(of: &'a StepRecord) -> Self {
        Self {
            step: of.step,
            outcome: of.outcome.token(),
            seconds: Number(of.seconds),
            min_volts: of.min_volts.map(Number),
            reason: &of.reason,
        }
    }
}

/// A number as the reference writes it: whole ones without a fraction, what is not finite as `null`.
struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        // Below 1e15 the conversion is exact; minus zero keeps its sign as a double.
        if self.0.fract() == 0.0 && self.0.abs() < 1e15 && !(self.0 == 0.0 && self.0.is_sign_negative()) {
            to.serialize_i64(self.0 as i64)
        } else {
            to.serialize_f64(self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_format_comes_first_and_in_its_order() {
        let mut c =
            Checkpoint { session: "6aa1f940".into(), campaign: "Field Day".into(), ..Checkpoint::default() };
        c.completed.push("wheel-radius".into());
        let answer = |value| Answer { value, unit: None, at_secs: None };
        c.answers.insert("a/b".into(), answer(4.0));
        c.answers.insert("a/c".into(), answer(4.02));
        c.notes.push("paused at 11.00 V".into());
        let text = c.to_text();
        let expected = "{\n  \"session\": \"6aa1f940\",\n  \"campaign\": \"Field Day\",\n  \"completed\": [\n    \
            \"wheel-radius\"\n  ],\n  \"measurements\": {\n    \"a/b\": 4,\n    \"a/c\": 4.02\n  },\n  \"notes\": [\n    \
            \"paused at 11.00 V\"\n  ],\n  \"version\": 2,";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.ends_with("}\n"));
    }

    #[test]
    fn wrong_types_cost_their_section_and_no_more() {
        let read = parse(
            br#"{"session":null,"campaign":7,"completed":["a",3,null],"measurements":{"x/y":1.5,"x/z":"n","x/w":null},
                "notes":"no","inFlight":[],"outcomes":{"a":[{"step":1,"outcome":"completed"},{"step":-1},5]},"more":{}}"#,
        )
        .unwrap();
        assert_eq!((read.session.as_str(), read.campaign.as_str()), ("", "7"));
        assert_eq!(read.completed, ["a", "3", ""]);
        assert_eq!(read.answers.len(), 1);
        assert!(read.notes.is_empty() && read.in_flight.is_none());
        assert_eq!(read.outcomes["a"].len(), 1);
    }

    #[test]
    fn f25_deep_nesting_is_an_error_and_not_a_stack_overflow() {
        for bad in [&b"[1]"[..], b"{", b"", b"{} trailing", b"\xff\xfe", b"{\"version\":3}", b"{\"a\":1e999}"]
        {
            assert!(parse(bad).is_err(), "{}", String::from_utf8_lossy(bad));
        }
        assert!(parse(&b"[".repeat(1_000_000)).is_err());
        assert!(parse(&b"{\"a\":".repeat(1_000_000)).is_err());
        assert!(parse(&vec![b' '; MAX_BYTES + 1]).is_err());
    }
}
