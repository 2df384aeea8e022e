//! Several log files as one: their channels under one name each, their clocks on one line.

use std::collections::BTreeMap;
use std::path::Path;

use fieldlab_base::Micros;
use fieldlab_values::{DataType, Family, Value};
use fieldlab_wpilog::{Entry, Log, LogError};

use crate::AnalysisError;
use crate::names::{self, Spelling};
use crate::stats::median;

/// Told what is being done and how far it is, 0 to 1.
pub type Watch<'a> = dyn FnMut(&str, f64) + 'a;

/// Logs opened together. Files of one boot share that boot's clock; boots are set beside each other by wall clock.
#[derive(Debug)]
pub struct LogSet {
    files: Vec<LogFile>,
    /// What is to be said of files that hold nothing, because they were cut while they were begun.
    empty: Vec<String>,
}

/// One file of the set.
#[derive(Debug)]
pub(crate) struct LogFile {
    pub(crate) path: String,
    pub(crate) log: Log,
    tracks: BTreeMap<String, Track>,
    pub(crate) boot: Option<String>,
    /// Added to the file's own time, microseconds.
    offset: i64,
    /// First and last record on the file's own clock.
    range: Option<(i64, i64)>,
    pub(crate) clock: String,
}

/// One key of one file: the entries of its best spelling.
#[derive(Debug)]
struct Track {
    spelling: Spelling,
    entries: Vec<usize>,
    data_type: DataType,
}

/// Unix time, microseconds, before which a wall clock was plainly never set (2023-11-01).
const TRUSTED_AFTER: f64 = 1_698_796_800e6;
/// Gap put between boots whose clocks cannot be compared.
const UNKNOWN_GAP_MICROS: i64 = 1_000_000;

impl LogSet {
    /// Opens and indexes the files. `watch` hears how far it is.
    ///
    /// # Errors
    /// [`AnalysisError::NoLogs`]; [`AnalysisError::Unreadable`] for a file that is missing or is no log. A torn tail is
    /// no error, nor is a file that was cut while it was begun, beside others.
    pub fn open<P: AsRef<Path>>(paths: &[P], watch: &mut Watch<'_>) -> Result<Self, AnalysisError> {
        let mut logs = Vec::with_capacity(paths.len());
        for (i, path) in paths.iter().enumerate() {
            let path = path.as_ref();
            let name = path.display().to_string();
            watch(&format!("reading {name}"), i as f64 / paths.len() as f64);
            logs.push((name, Log::open(path)));
        }
        watch("reading", 1.0);
        Self::assemble(logs)
    }

    /// The same for logs that are already in memory: a name and the file's bytes each.
    ///
    /// # Errors
    /// As [`LogSet::open`].
    pub fn from_bytes(files: Vec<(String, Vec<u8>)>) -> Result<Self, AnalysisError> {
        let mut logs = Vec::with_capacity(files.len());
        for (name, bytes) in files {
            let log = Log::from_bytes(bytes, &name);
            logs.push((name, log));
        }
        Self::assemble(logs)
    }

    fn assemble(logs: Vec<(String, Result<Log, LogError>)>) -> Result<Self, AnalysisError> {
        let (mut files, mut empty) = (Vec::with_capacity(logs.len()), Vec::new());
        for (path, log) in logs {
            match log {
                Ok(log) => files.push(LogFile::new(path, log)),
                Err(cut @ LogError::HeaderCut { .. }) => empty.push(cut),
                Err(error) => return Err(error.into()),
            }
        }
        if files.is_empty() {
            return Err(empty.pop().map_or(AnalysisError::NoLogs, AnalysisError::from));
        }
        align(&mut files);
        Ok(Self { files, empty: empty.iter().map(ToString::to_string).collect() })
    }

    pub(crate) fn empty(&self) -> &[String] {
        &self.empty
    }

    pub(crate) fn files(&self) -> &[LogFile] {
        &self.files
    }

    /// Distinct keys over all files, duplicates by spelling counted once.
    #[must_use]
    pub fn channel_count(&self) -> usize {
        let mut keys: Vec<&String> = self.files.iter().flat_map(|f| f.tracks.keys()).collect();
        keys.sort();
        keys.dedup();
        keys.len()
    }

    /// The session ids in these logs, in the order in which they begin on the stitched clock.
    #[must_use]
    pub fn sessions(&self) -> Vec<String> {
        let mut first: BTreeMap<String, i64> = BTreeMap::new();
        for file in &self.files {
            for (id, (from, _)) in file.session_spans() {
                let at = first.entry(id).or_insert(from);
                *at = (*at).min(from);
            }
        }
        let mut ids: Vec<(i64, String)> = first.into_iter().map(|(id, at)| (at, id)).collect();
        ids.sort();
        ids.into_iter().map(|(_, id)| id).collect()
    }
}

impl LogFile {
    fn new(path: String, log: Log) -> Self {
        let mut tracks: BTreeMap<String, Track> = BTreeMap::new();
        let mut range: Option<(i64, i64)> = None;
        for entry in log.entries() {
            let (key, spelling) = names::canonical(&entry.name);
            if let Some((from, to)) = entry.range {
                let (low, high) = range.unwrap_or((from.0, to.0));
                range = Some((low.min(from.0), high.max(to.0)));
            }
            let track = tracks.entry(key.to_owned()).or_insert_with(|| Track {
                spelling,
                entries: Vec::new(),
                data_type: entry.data_type.clone(),
            });
            // T13: one quantity under two spellings counts once; a spelling with records beats an empty one.
            let has =
                |t: &Track| t.entries.iter().any(|i| log.entries().get(*i).is_some_and(|e| e.records > 0));
            if spelling == track.spelling {
                track.entries.push(entry.index);
            } else if (spelling < track.spelling && entry.records > 0) || !has(track) {
                *track = Track { spelling, entries: vec![entry.index], data_type: entry.data_type.clone() };
            }
        }
        let boot = boot_of(&log, &tracks, &path);
        Self { path, log, tracks, boot, offset: 0, range, clock: String::new() }
    }

    pub(crate) fn records(&self) -> u64 {
        self.log.report().records
    }

    /// What a damaged tail cost, in words.
    pub(crate) fn torn(&self) -> Option<String> {
        self.log.report().salvage.as_ref().map(ToString::to_string)
    }

    /// First and last record on the stitched clock, microseconds.
    pub(crate) fn range(&self) -> Option<(i64, i64)> {
        self.range.map(|(from, to)| (from.saturating_add(self.offset), to.saturating_add(self.offset)))
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.tracks.keys().map(String::as_str)
    }

    pub(crate) fn data_type(&self, key: &str) -> Option<&DataType> {
        self.tracks.get(key).map(|t| &t.data_type)
    }

    /// The metadata of a key's first entry.
    pub(crate) fn metadata(&self, key: &str) -> Option<&str> {
        let entry = *self.tracks.get(key)?.entries.first()?;
        self.log.entries().get(entry).map(Entry::last_metadata)
    }

    fn entries(&self, key: &str) -> impl Iterator<Item = &Entry> {
        let indices = self.tracks.get(key).map(|t| t.entries.as_slice()).unwrap_or_default();
        indices.iter().filter_map(|i| self.log.entries().get(*i))
    }

    fn stitched(&self, time: Micros) -> i64 {
        time.0.saturating_add(self.offset)
    }

    /// Samples of a number channel (booleans as 0 and 1), or nothing when it holds something else.
    pub(crate) fn numbers(&self, key: &str) -> Vec<(i64, f64)> {
        self.entries(key)
            .filter_map(|e| self.log.numbers(e).ok())
            .flat_map(|c| c.times.into_iter().zip(c.values))
            .map(|(t, v)| (self.stitched(t), v))
            .collect()
    }

    /// Samples of a text or JSON channel.
    pub(crate) fn texts(&self, key: &str) -> Vec<(i64, String)> {
        let mut out = Vec::new();
        for entry in self.entries(key) {
            if let Ok(column) = self.log.texts(entry) {
                out.extend(column.iter().map(|(t, v)| (self.stitched(t), v.clone().into_owned())));
            }
        }
        out
    }

    /// Samples of a number array channel.
    pub(crate) fn arrays(&self, key: &str) -> Vec<(i64, Vec<f64>)> {
        let mut out = Vec::new();
        for entry in self.entries(key) {
            if let Ok(column) = self.log.number_arrays(entry) {
                out.extend(column.iter().map(|(t, v)| (self.stitched(t), v.to_vec())));
            }
        }
        out
    }

    /// Samples of a text list channel.
    pub(crate) fn text_lists(&self, key: &str) -> Vec<(i64, Vec<String>)> {
        let mut out = Vec::new();
        for entry in self.entries(key).filter(|e| e.data_type.family() == Family::StringArray) {
            for (t, value) in self.log.values(entry).iter() {
                if let Value::StringArray(items) = value {
                    out.push((self.stitched(t), items.iter().map(|s| s.to_string()).collect()));
                }
            }
        }
        out
    }

    /// Raw payloads of a channel whose type is `struct:<name>`. T14: nothing else is ever read as that struct.
    pub(crate) fn structs(&self, key: &str, name: &str) -> Vec<(i64, Vec<u8>)> {
        let mut out = Vec::new();
        for entry in self.entries(key) {
            if entry.data_type.struct_name() == Some((name, false)) {
                out.extend(self.log.raws(entry).iter().map(|(t, v)| (self.stitched(t), v.to_vec())));
            }
        }
        out
    }

    /// Every session in this file with the stretch it covers on the stitched clock.
    ///
    /// A session covers the whole file when it is the only one; with several, each runs from its first sign of life to
    /// the next one's.
    pub(crate) fn session_spans(&self) -> BTreeMap<String, (i64, i64)> {
        let Some((first, last)) = self.range() else { return BTreeMap::new() };
        let mut starts: BTreeMap<String, i64> = BTreeMap::new();
        let mut see = |id: &str, at: i64| {
            let from = starts.entry(id.to_owned()).or_insert(at);
            *from = (*from).min(at);
        };
        for (at, id) in self.texts("FieldLab/Session") {
            if names::is_session(&id) {
                see(&id, at);
            }
        }
        for (key, track) in &self.tracks {
            if let Some((id, _)) = names::session_of(key) {
                let begins =
                    track.entries.iter().filter_map(|i| self.log.entries().get(*i)?.range).map(|r| r.0).min();
                if let Some(at) = begins {
                    see(id, self.stitched(at));
                }
            }
        }
        let mut order: Vec<(i64, String)> = starts.into_iter().map(|(id, at)| (at, id)).collect();
        order.sort();
        if order.len() == 1 {
            return order.into_iter().map(|(_, id)| (id, (first, last))).collect();
        }
        let ends: Vec<i64> = order.iter().skip(1).map(|(at, _)| at - 1).chain([last]).collect();
        order.into_iter().zip(ends).map(|((from, id), to)| (id, (from, to))).collect()
    }

    /// Wall clock minus the file's own clock, microseconds, when the wall clock was set.
    fn wall_offset(&self) -> Option<i64> {
        let offsets: Vec<f64> = names::candidates("systemTime")
            .iter()
            .flat_map(|key| self.numbers(key))
            .filter(|(_, unix)| *unix > TRUSTED_AFTER)
            .map(|(t, unix)| unix - t as f64)
            .collect();
        (!offsets.is_empty()).then(|| median(&offsets) as i64)
    }
}

/// Which boot wrote a file: what the session header says, else the `_b<n>` of our file names.
fn boot_of(log: &Log, tracks: &BTreeMap<String, Track>, path: &str) -> Option<String> {
    let from_header = tracks
        .iter()
        .filter(|(key, _)| names::session_of(key).is_some_and(|(_, rest)| rest == "Header"))
        .flat_map(|(_, track)| &track.entries)
        .filter_map(|i| log.texts(log.entries().get(*i)?).ok()?.values.last().map(|text| text.to_string()))
        .find_map(|text| {
            let header: serde_json::Value = serde_json::from_str(&text).ok()?;
            ["boot_id", "bootId", "boot"].iter().find_map(|k| match header.get(*k)? {
                serde_json::Value::String(s) => Some(s.clone()),
                serde_json::Value::Number(n) => Some(n.to_string()),
                _ => None,
            })
        });
    from_header.or_else(|| {
        let name = Path::new(path).file_name()?.to_str()?;
        let digits: String = name.split_once("_b")?.1.chars().take_while(char::is_ascii_digit).collect();
        (!digits.is_empty()).then(|| format!("b{digits}"))
    })
}

/// Puts every file on one clock. Files of one boot keep their distances; boots with a trusted wall clock are placed by
/// it; a boot without one follows the boot before it after an unknown gap, and says so.
fn align(files: &mut [LogFile]) {
    let mut groups: Vec<(Option<String>, Vec<usize>)> = Vec::new();
    for (i, file) in files.iter().enumerate() {
        match groups.iter_mut().find(|(boot, _)| boot.is_some() && *boot == file.boot) {
            Some((_, members)) => members.push(i),
            None => groups.push((file.boot.clone(), vec![i])),
        }
    }
    let wall: Vec<Option<i64>> = groups
        .iter()
        .map(|(_, members)| {
            let offsets: Vec<f64> =
                members.iter().filter_map(|i| files[*i].wall_offset()).map(|o| o as f64).collect();
            (!offsets.is_empty()).then(|| median(&offsets) as i64)
        })
        .collect();
    let zero = groups
        .iter()
        .zip(&wall)
        .filter_map(|((_, members), wall)| {
            let first = members.iter().filter_map(|i| files[*i].range).map(|r| r.0).min()?;
            wall.map(|w| first.saturating_add(w))
        })
        .min();
    let mut end: Option<i64> = None;
    for ((_, members), wall) in groups.iter().zip(&wall) {
        let Some(first) = members.iter().filter_map(|i| files[*i].range).map(|r| r.0).min() else { continue };
        let (offset, clock) = match (wall, zero) {
            (Some(wall), Some(zero)) => (wall.saturating_sub(zero), "placed by wall clock"),
            _ if groups.len() == 1 => (first.saturating_neg(), "its own clock"),
            _ => {
                let after = end.map_or(0, |e| e.saturating_add(UNKNOWN_GAP_MICROS));
                (
                    after.saturating_sub(first),
                    "no wall clock: placed after the boot before it, the gap is unknown",
                )
            }
        };
        for i in members {
            files[*i].offset = offset;
            clock.clone_into(&mut files[*i].clock);
        }
        let last = members.iter().filter_map(|i| files[*i].range()).map(|r| r.1).max();
        end = end.max(last);
    }
    files.sort_by(|a, b| (a.range(), &a.path).cmp(&(b.range(), &b.path)));
}
