//! One pass over a whole log: which entries there are, and where each one's records stand.

use std::collections::{BTreeMap, BTreeSet};

use fieldlab_base::Micros;
use fieldlab_values::DataType;

use crate::LogError;
use crate::control::Control;
use crate::entry::{Entry, MetadataAt};
use crate::header::read_header;
use crate::record::{Head, head_of};
use crate::report::{Damage, Report, Salvage};

/// Ids below this find their entry in an array; others in a map. Writers number from 1.
const DENSE_IDS: usize = 1 << 16;
/// Different ids without a Start that are held in the hope that one comes. A real log has a handful; a hostile one
/// must not turn four bytes into an entry.
const MAX_UNSTARTED: usize = 1 << 12;
/// Sixteen empty control records at time zero in a row are no records but a hole that the file system left.
pub(crate) const ZERO_RUN_BYTES: usize = 64;
/// How much is read before the pages behind are handed back.
const STRIDE: usize = 16 << 20;

const NONE: u32 = u32::MAX;

/// Where an entry's records begin in the file, four bytes a record: low halves of the offsets, and the places in the
/// list where the high half changes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Offsets {
    low: Vec<u32>,
    high: Vec<(usize, u32)>,
}

impl Offsets {
    #[inline(always)]
    fn push(&mut self, offset: u64) {
        let high = (offset >> 32) as u32;
        if high != self.high.last().map_or(0, |(_, high)| *high) {
            self.high.push((self.low.len(), high));
        }
        self.low.push(offset as u32);
    }

    pub(crate) fn len(&self) -> usize {
        self.low.len()
    }

    /// Offsets in file order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        let ends = self.high.iter().map(|(at, _)| *at).skip(1).chain([self.low.len()]);
        let first = self.high.first().map_or(self.low.len(), |(at, _)| *at);
        let runs = self.high.iter().zip(ends).map(|((from, high), to)| (*from, to, *high));
        [(0, first, 0)].into_iter().chain(runs).flat_map(|(from, to, high)| {
            let low = self.low.get(from..to).unwrap_or_default();
            low.iter().map(move |low| u64::from(high) << 32 | u64::from(*low))
        })
    }
}

/// What the pass knows of one entry's records.
#[derive(Debug)]
struct Track {
    offsets: Offsets,
    payload_bytes: u64,
    min: i64,
    max: i64,
    last: i64,
    out_of_order: u64,
    finished: bool,
    after_finish: u64,
    before_start: u64,
}

impl Track {
    fn new() -> Self {
        Self {
            offsets: Offsets::default(),
            payload_bytes: 0,
            min: i64::MAX,
            max: i64::MIN,
            last: i64::MIN,
            out_of_order: 0,
            finished: false,
            after_finish: 0,
            before_start: 0,
        }
    }

    #[inline(always)]
    fn push(&mut self, offset: u64, head: Head) {
        self.offsets.push(offset);
        self.payload_bytes += u64::from(head.size);
        self.min = self.min.min(head.time);
        self.max = self.max.max(head.time);
        self.out_of_order += u64::from(head.time < self.last);
        self.last = head.time;
        self.after_finish += u64::from(self.finished);
    }
}

struct Started {
    id: u32,
    name: String,
    raw_name: Option<Vec<u8>>,
    data_type: DataType,
    start: Micros,
    finish: Option<Micros>,
    metadata: Vec<MetadataAt>,
}

/// A log's contents: entries, their offsets, the report.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) entries: Vec<Entry>,
    pub(crate) offsets: Vec<Offsets>,
    pub(crate) report: Report,
    /// Where records begin and where the readable part ends.
    pub(crate) records_at: (u64, u64),
}

struct Builder {
    tracks: Vec<Track>,
    started: Vec<Option<Started>>,
    dense: Vec<u32>,
    sparse: BTreeMap<u32, u32>,
    unstarted: usize,
    ids: BTreeSet<u32>,
    last_time: i64,
    report: Report,
}

/// Reads all of `data`. `behind` is told, now and then, how far the pass has come.
///
/// # Errors
/// [`LogError::NotALog`] when the file's header is not a version 1 log's.
pub(crate) fn build(data: &[u8], place: &str, mut behind: impl FnMut(usize)) -> Result<Index, LogError> {
    let mut builder = Builder {
        tracks: Vec::new(),
        started: Vec::new(),
        dense: Vec::new(),
        sparse: BTreeMap::new(),
        unstarted: 0,
        ids: BTreeSet::new(),
        last_time: i64::MIN,
        report: Report::default(),
    };
    let header = read_header(data, place)?;
    builder.report.version = header.version;
    builder.report.extra_header = String::from_utf8_lossy(header.extra).into_owned();
    if header.version != crate::record::VERSION {
        builder.report.warn(|| {
            format!("version {}.{} read as 1.0: expected 1.0", header.version >> 8, header.version & 0xff)
        });
    }
    let mut at = header.len;
    while at < data.len() {
        let (next, done) = builder.records(data, at, at.saturating_add(STRIDE));
        at = next;
        behind(at);
        if done {
            break;
        }
    }
    Ok(builder.finish((header.len as u64, at as u64)))
}

impl Builder {
    /// Reads records from `at` until `until` is passed or nothing more can be read; answers where it stopped and
    /// whether it stopped for good.
    fn records(&mut self, data: &[u8], mut at: usize, until: usize) -> (usize, bool) {
        let mut records = 0;
        let mut out_of_order = 0;
        let mut last = self.last_time;
        let stopped = loop {
            let Some(rest) = data.get(at..).filter(|rest| at < until && !rest.is_empty()) else { break None };
            let Some(head) = head_of(rest) else { break Some(torn(data, at, None)) };
            let len = head.len + head.size as usize;
            if len > rest.len() {
                break Some(torn(data, at, Some(len as u64)));
            }
            if head.id != 0 {
                out_of_order += u64::from(head.time < last);
                last = head.time;
                let slot = self.dense.get(head.id as usize).copied().unwrap_or(NONE);
                match self.tracks.get_mut(slot as usize) {
                    Some(track) => track.push(at as u64, head),
                    None => self.rare(at as u64, head),
                }
            } else {
                let payload = rest.get(head.len..len).unwrap_or_default();
                if payload.is_empty()
                    && head.time == 0
                    && let Some(salvage) = zeros(data, at)
                {
                    break Some(salvage);
                }
                self.control(Micros(head.time), payload, at);
            }
            records += 1;
            at += len;
        };
        self.last_time = last;
        self.report.records += records;
        self.report.out_of_order += out_of_order;
        self.report.salvage = stopped;
        (at, stopped.is_some())
    }

    /// A data record whose id is not in the dense table.
    #[cold]
    fn rare(&mut self, offset: u64, head: Head) {
        let slot = match self.sparse.get(&head.id) {
            Some(slot) => *slot,
            None if self.unstarted < MAX_UNSTARTED => {
                self.unstarted += 1;
                self.occupy(head.id, None)
            }
            None => {
                self.report.uncounted_orphans += 1;
                return;
            }
        };
        if let Some(track) = self.tracks.get_mut(slot as usize) {
            track.push(offset, head);
        }
    }

    /// A new track that `id` means from here on.
    fn occupy(&mut self, id: u32, started: Option<Started>) -> u32 {
        let slot = self.tracks.len() as u32;
        self.tracks.push(Track::new());
        self.started.push(started);
        let dense = id as usize;
        if dense < DENSE_IDS {
            if self.dense.len() <= dense {
                self.dense.resize(dense + 1, NONE);
            }
            if let Some(place) = self.dense.get_mut(dense) {
                *place = slot;
            }
        } else {
            self.sparse.insert(id, slot);
        }
        slot
    }

    fn slot(&self, id: u32) -> Option<usize> {
        let slot = match self.dense.get(id as usize) {
            Some(slot) => *slot,
            None => *self.sparse.get(&id)?,
        };
        (slot != NONE).then_some(slot as usize)
    }

    #[cold]
    fn control(&mut self, time: Micros, payload: &[u8], at: usize) {
        self.report.control_records += 1;
        match Control::parse(payload) {
            Ok(Control::Start { id, name, type_name, metadata }) if id != 0 => {
                self.report.starts += 1;
                self.ids.insert(id);
                let readable = name.lossy().into_owned();
                if std::str::from_utf8(name.raw).is_err() {
                    self.report.warn(|| format!("byte {at}: name {readable:?} is not UTF-8"));
                }
                let started = Started {
                    id,
                    raw_name: std::str::from_utf8(name.raw).is_err().then(|| name.raw.to_vec()),
                    name: readable,
                    data_type: DataType::from_log(&type_name.lossy()),
                    start: time,
                    finish: None,
                    metadata: vec![MetadataAt { time, text: metadata.lossy().into_owned() }],
                };
                self.start(id, started, at);
            }
            Ok(Control::Start { .. }) => self.odd(at, &"Start of id 0"),
            Ok(Control::Finish { id }) => {
                let Some(slot) = self.slot(id) else { return self.stray(at, "Finish", id) };
                match (self.started.get_mut(slot), self.tracks.get_mut(slot)) {
                    (Some(Some(started)), Some(track)) if !track.finished => {
                        started.finish = Some(time);
                        track.finished = true;
                    }
                    _ => self.stray(at, "Finish", id),
                }
            }
            Ok(Control::SetMetadata { id, metadata }) => {
                let started =
                    self.slot(id).and_then(|slot| self.started.get_mut(slot)).and_then(Option::as_mut);
                match started {
                    Some(started) => {
                        started.metadata.push(MetadataAt { time, text: metadata.lossy().into_owned() });
                    }
                    None => self.stray(at, "SetMetadata", id),
                }
            }
            Err(odd) => self.odd(at, &odd),
        }
    }

    fn start(&mut self, id: u32, started: Started, at: usize) {
        if let Some(slot) = self.slot(id) {
            match (self.started.get_mut(slot), self.tracks.get_mut(slot)) {
                (Some(place @ None), Some(track)) => {
                    // Its data came first: an official segment after a roll begins so.
                    self.unstarted -= 1;
                    track.before_start = track.offsets.len() as u64;
                    self.report.attached_orphans += track.before_start;
                    *place = Some(started);
                    return;
                }
                (_, Some(track)) if !track.finished => {
                    self.report.restarted_live += 1;
                    let name = &started.name;
                    self.report.warn(|| format!("byte {at}: id {id} started as {name:?} while still in use"));
                }
                _ => {}
            }
        }
        self.occupy(id, Some(started));
    }

    fn odd(&mut self, at: usize, what: &dyn std::fmt::Display) {
        self.report.odd_controls += 1;
        self.report.warn(|| format!("byte {at}: {what}, skipped"));
    }

    fn stray(&mut self, at: usize, kind: &str, id: u32) {
        self.report.stray_controls += 1;
        self.report.warn(|| format!("byte {at}: {kind} of id {id}, which is not in use, skipped"));
    }

    fn finish(mut self, records_at: (u64, u64)) -> Index {
        self.report.started_ids = self.ids.len() as u64;
        let mut entries = Vec::new();
        let mut offsets = Vec::new();
        for (id, slot) in self.unstarted_ids() {
            if let Some(track) = self.tracks.get(slot) {
                self.report.orphans.insert(id, track.offsets.len() as u64);
            }
        }
        for (track, started) in self.tracks.into_iter().zip(self.started) {
            let Some(started) = started else { continue };
            self.report.after_finish += track.after_finish;
            entries.push(Entry {
                index: entries.len(),
                id: started.id,
                name: started.name,
                raw_name: started.raw_name,
                data_type: started.data_type,
                start: started.start,
                finish: started.finish,
                metadata: started.metadata,
                records: track.offsets.len() as u64,
                payload_bytes: track.payload_bytes,
                range: (track.offsets.len() > 0).then_some((Micros(track.min), Micros(track.max))),
                out_of_order: track.out_of_order,
                before_start: track.before_start,
                after_finish: track.after_finish,
                type_changes: false,
            });
            offsets.push(track.offsets);
        }
        self.report.type_changes = flag_type_changes(&mut entries);
        Index { entries, offsets, report: self.report, records_at }
    }

    fn unstarted_ids(&self) -> Vec<(u32, usize)> {
        let dense = self.dense.iter().enumerate().map(|(id, slot)| (id as u32, *slot));
        let sparse = self.sparse.iter().map(|(id, slot)| (*id, *slot));
        dense
            .chain(sparse)
            .map(|(id, slot)| (id, slot as usize))
            .filter(|(_, slot)| matches!(self.started.get(*slot), Some(None)))
            .collect()
    }
}

/// Marks every entry whose name is also started with another type; answers those names, sorted.
fn flag_type_changes(entries: &mut [Entry]) -> Vec<String> {
    let mut types: BTreeMap<&str, BTreeSet<&DataType>> = BTreeMap::new();
    for entry in &*entries {
        types.entry(&entry.name).or_default().insert(&entry.data_type);
    }
    let changed: Vec<String> =
        types.into_iter().filter(|(_, types)| types.len() > 1).map(|(name, _)| name.to_owned()).collect();
    for entry in entries {
        entry.type_changes = changed.binary_search(&entry.name).is_ok();
    }
    changed
}

fn torn(data: &[u8], at: usize, expected: Option<u64>) -> Salvage {
    Salvage {
        offset: at as u64,
        bytes_lost: (data.len() - at) as u64,
        records_lost: Some(1),
        damage: Damage::Torn { expected },
    }
}

/// Whether the zeros at `at` are a hole that the file system left rather than an odd record.
#[cold]
fn zeros(data: &[u8], at: usize) -> Option<Salvage> {
    let rest = data.get(at..)?;
    let run = rest.iter().position(|byte| *byte != 0);
    if run.is_some_and(|run| run < ZERO_RUN_BYTES) {
        return None;
    }
    Some(Salvage {
        offset: at as u64,
        bytes_lost: rest.len() as u64,
        records_lost: None,
        damage: Damage::ZeroFilled { data_follows: run.is_some() },
    })
}
