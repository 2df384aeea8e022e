//! One pass over a whole log: which entries there are, and where each one's records stand.

use std::collections::{BTreeMap, BTreeSet};

use fieldlab_base::Micros;
use fieldlab_values::DataType;

use crate::LogError;
use crate::control::Control;
use crate::entry::{Entry, MetadataAt};
use crate::header::read_header;
use crate::offsets::Offsets;
use crate::record::{Head, Shape, head_of};
use crate::report::{Damage, Report, Salvage};

/// Ids below this find their entry in an array; others in a map. Writers number from 1.
const DENSE_IDS: usize = 1 << 16;
/// Different ids without a Start that are held in the hope that one comes. A real log has a handful; a hostile one
/// must not turn four bytes into an entry.
const MAX_UNSTARTED: usize = 1 << 12;
/// Sixteen empty control records at time zero in a row are no records but a hole that the file system left.
pub(crate) const ZERO_RUN_BYTES: usize = 64;
/// How much is read before the pages behind are handed back.
pub(crate) const STRIDE: usize = 4 << 20;

/// Bits of an offset's low half.
const HIGH: usize = 32;

const NONE: u32 = u32::MAX;

/// What the pass keeps of one entry's records, as small as it can be: it is touched for every record.
#[derive(Debug)]
struct Track {
    offsets: Offsets,
    payload_bytes: u64,
    last: i64,
}

/// What the pass keeps of an entry beside that.
#[derive(Debug)]
struct Aside {
    started: Option<Started>,
    out_of_order: u64,
    /// Earliest time after a later one, and latest time before an earlier one.
    min: i64,
    max: i64,
    before_start: usize,
    /// Records before its Finish, once that came.
    finished: Option<usize>,
}

#[derive(Debug)]
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
    asides: Vec<Aside>,
    dense: Vec<u32>,
    sparse: BTreeMap<u32, u32>,
    unstarted: usize,
    ids: BTreeSet<u32>,
    shape: Shape,
    last_time: i64,
    report: Report,
}

/// Reads all of `data`. `behind` is told, now and then, how far the pass has come.
///
/// # Errors
/// [`LogError::NotALog`] when the file's header is not a version 1 log's, [`LogError::HeaderCut`] when it ends in there.
pub(crate) fn build(data: &[u8], place: &str, mut behind: impl FnMut(usize)) -> Result<Index, LogError> {
    let header = read_header(data, place)?;
    let mut builder = Builder {
        tracks: Vec::new(),
        asides: Vec::new(),
        dense: Vec::new(),
        sparse: BTreeMap::new(),
        unstarted: 0,
        ids: BTreeSet::new(),
        shape: Shape::of(0),
        last_time: i64::MIN,
        report: Report {
            version: header.version,
            extra_header: String::from_utf8_lossy(header.extra).into_owned(),
            ..Report::default()
        },
    };
    let (major, minor) = (header.version >> 8, header.version & 0xff);
    if minor != 0 {
        builder.report.warn(|| format!("version {major}.{minor} read as 1.0: expected 1.0"));
    }
    let mut at = header.len;
    let mut high = 0;
    loop {
        if at >> HIGH != high {
            high = at >> HIGH;
            builder.tracks.iter_mut().for_each(|track| track.offsets.cross(at));
        }
        // No stride crosses into another high half, so that an offset is its low half all the way.
        let until = at.saturating_add(STRIDE).min(((high + 1) << HIGH).max(at)).min(data.len());
        let stopped;
        (at, stopped) = builder.stride(data, at, until);
        behind(at);
        if at >= data.len() || stopped.is_some() {
            builder.report.salvage = stopped;
            return Ok(builder.finish(data, (header.len as u64, at as u64)));
        }
    }
}

impl Builder {
    /// Reads records that begin before `until`; answers where it stopped, and why when it can go no further.
    fn stride(&mut self, data: &[u8], mut at: usize, until: usize) -> (usize, Option<Salvage>) {
        loop {
            at = self.common(data, at, until);
            if at >= until {
                return (at, None);
            }
            let rest = data.get(at..).unwrap_or_default();
            let Some(head) = head_of(rest) else { return (at, Some(torn(data, at, None))) };
            let len = head.len + head.size as usize;
            if len > rest.len() {
                return (at, Some(torn(data, at, Some(len as u64))));
            }
            if head.id == 0 {
                let payload = rest.get(head.len..len).unwrap_or_default();
                if payload.is_empty()
                    && head.time == 0
                    && let Some(salvage) = zeros(data, at)
                {
                    return (at, Some(salvage));
                }
                self.control(Micros(head.time), payload, at);
            } else {
                self.rare(at, head);
            }
            self.report.records += 1;
            at += len;
        }
    }

    /// The common case in a tight loop: data records of entries in the dense table, away from the file's end. Answers
    /// where it met anything else.
    #[inline(never)]
    fn common(&mut self, data: &[u8], mut at: usize, until: usize) -> usize {
        let dense = self.dense.as_slice();
        let tracks = self.tracks.as_mut_slice();
        let mut shape = self.shape;
        let mut last = self.last_time;
        let mut records = 0;
        let mut out_of_order = 0;
        while at < until {
            let Some(window) = data.get(at..).and_then(|rest| rest.first_chunk()) else { break };
            let head = shape.read(window);
            let end = at + head.len + head.size as usize;
            let slot = dense.get(head.id as usize).copied().unwrap_or(NONE);
            let Some(track) = tracks.get_mut(slot as usize) else { break };
            if end > data.len() {
                break;
            }
            if head.time < track.last {
                late(&mut self.asides, slot, track.last, head.time);
            }
            track.push(at, head);
            out_of_order += u64::from(head.time < last);
            last = head.time;
            records += 1;
            at = end;
        }
        self.shape = shape;
        self.last_time = last;
        self.report.records += records;
        self.report.out_of_order += out_of_order;
        at
    }

    /// A data record outside the common case: of an id that is not in the dense table, or near the file's end.
    #[cold]
    fn rare(&mut self, at: usize, head: Head) {
        self.report.out_of_order += u64::from(head.time < self.last_time);
        self.last_time = head.time;
        let slot = match self.slot(head.id) {
            Some(slot) => slot,
            None if self.unstarted < MAX_UNSTARTED => {
                self.unstarted += 1;
                self.occupy(head.id, None, at)
            }
            None => {
                self.report.uncounted_orphans += 1;
                return;
            }
        };
        if let Some(track) = self.tracks.get_mut(slot as usize) {
            if head.time < track.last {
                late(&mut self.asides, slot, track.last, head.time);
            }
            track.push(at, head);
        }
    }

    /// A new track that `id` means from here on.
    fn occupy(&mut self, id: u32, started: Option<Started>, at: usize) -> u32 {
        let slot = self.tracks.len() as u32;
        let mut offsets = Offsets::default();
        offsets.cross(at);
        self.tracks.push(Track { offsets, payload_bytes: 0, last: i64::MIN });
        self.asides.push(Aside {
            started,
            out_of_order: 0,
            min: i64::MAX,
            max: i64::MIN,
            before_start: 0,
            finished: None,
        });
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

    fn slot(&self, id: u32) -> Option<u32> {
        let slot = match self.dense.get(id as usize) {
            Some(slot) => *slot,
            None => *self.sparse.get(&id)?,
        };
        (slot != NONE).then_some(slot)
    }

    /// What an id means now: its track and what is kept beside.
    fn current(&mut self, id: u32) -> Option<(&mut Track, &mut Aside)> {
        let slot = self.slot(id)? as usize;
        self.tracks.get_mut(slot).zip(self.asides.get_mut(slot))
    }

    fn control(&mut self, time: Micros, payload: &[u8], at: usize) {
        self.report.control_records += 1;
        match Control::parse(payload) {
            Ok(Control::Start { id, name, type_name, metadata }) if id != 0 => {
                self.report.starts += 1;
                self.ids.insert(id);
                let readable = name.lossy().into_owned();
                let is_utf8 = std::str::from_utf8(name.raw).is_ok();
                if !is_utf8 {
                    self.report.warn(|| format!("byte {at}: name {readable:?} is not UTF-8"));
                }
                let started = Started {
                    id,
                    raw_name: (!is_utf8).then(|| name.raw.to_vec()),
                    name: readable,
                    data_type: DataType::from_log(&type_name.lossy()),
                    start: time,
                    finish: None,
                    metadata: vec![MetadataAt { time, text: metadata.lossy().into_owned() }],
                };
                self.start(id, started, at);
            }
            Ok(Control::Start { .. }) => self.odd(at, &"Start of id 0"),
            Ok(Control::Finish { id }) => match self.current(id) {
                Some((track, Aside { started: Some(started), finished: finished @ None, .. })) => {
                    started.finish = Some(time);
                    *finished = Some(track.offsets.len());
                }
                _ => self.stray(at, "Finish", id),
            },
            Ok(Control::SetMetadata { id, metadata }) => match self.current(id) {
                Some((_, Aside { started: Some(started), .. })) => {
                    started.metadata.push(MetadataAt { time, text: metadata.lossy().into_owned() });
                }
                _ => self.stray(at, "SetMetadata", id),
            },
            Err(odd) => self.odd(at, &odd),
        }
    }

    fn start(&mut self, id: u32, started: Started, at: usize) {
        match self.current(id) {
            // Its data came first: an official segment after a roll begins so.
            Some((track, aside)) if aside.started.is_none() => {
                aside.before_start = track.offsets.len();
                let attached = aside.before_start as u64;
                aside.started = Some(started);
                self.report.attached_orphans += attached;
                self.unstarted -= 1;
                return;
            }
            Some((_, aside)) if aside.finished.is_none() => {
                self.report.restarted_live += 1;
                let name = &started.name;
                self.report.warn(|| format!("byte {at}: id {id} started as {name:?} while still in use"));
            }
            _ => {}
        }
        self.occupy(id, Some(started), at);
    }

    fn odd(&mut self, at: usize, what: &dyn std::fmt::Display) {
        self.report.odd_controls += 1;
        self.report.warn(|| format!("byte {at}: {what}, skipped"));
    }

    fn stray(&mut self, at: usize, kind: &str, id: u32) {
        self.report.stray_controls += 1;
        self.report.warn(|| format!("byte {at}: {kind} of id {id}, which is not in use, skipped"));
    }

    fn finish(mut self, data: &[u8], records_at: (u64, u64)) -> Index {
        self.report.started_ids = self.ids.len() as u64;
        for (id, slot) in self.unstarted_ids() {
            if let Some(track) = self.tracks.get(slot) {
                self.report.orphans.insert(id, track.offsets.len() as u64);
            }
        }
        let mut entries = Vec::new();
        let mut offsets = Vec::new();
        for (track, aside) in self.tracks.into_iter().zip(self.asides) {
            let Some(started) = aside.started else { continue };
            let records = track.offsets.len();
            let after_finish = aside.finished.map_or(0, |at_finish| records - at_finish) as u64;
            self.report.after_finish += after_finish;
            let first = track.offsets.iter().next().and_then(|at| head_of(data.get(at as usize..)?));
            entries.push(Entry {
                index: entries.len(),
                id: started.id,
                name: started.name,
                raw_name: started.raw_name,
                data_type: started.data_type,
                start: started.start,
                finish: started.finish,
                metadata: started.metadata,
                records: records as u64,
                payload_bytes: track.payload_bytes,
                range: first
                    .map(|head| (Micros(head.time.min(aside.min)), Micros(track.last.max(aside.max)))),
                out_of_order: aside.out_of_order,
                before_start: aside.before_start as u64,
                after_finish,
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
            .filter(|(_, slot)| self.asides.get(*slot).is_some_and(|aside| aside.started.is_none()))
            .collect()
    }
}

impl Track {
    #[inline(always)]
    fn push(&mut self, at: usize, head: Head) {
        self.offsets.push(at);
        self.payload_bytes += u64::from(head.size);
        self.last = head.time;
    }
}

/// A record earlier than the one before it of the same entry.
#[cold]
fn late(asides: &mut [Aside], slot: u32, before: i64, time: i64) {
    if let Some(aside) = asides.get_mut(slot as usize) {
        aside.out_of_order += 1;
        aside.min = aside.min.min(time);
        aside.max = aside.max.max(before);
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
