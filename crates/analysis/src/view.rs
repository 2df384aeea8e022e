//! One session's part of a log set: channels merged over its files, on seconds since its first record.

use std::collections::{BTreeMap, BTreeSet};

use fieldlab_values::{Pose2d, WpiStruct};

use crate::findings::{Evidence, LogFacts, Window};
use crate::logset::LogSet;
use crate::names;
use crate::series::Series;

/// A session, or everything when the logs name none.
pub(crate) struct View<'a> {
    set: &'a LogSet,
    /// For each file the stretch that belongs to the session, stitched microseconds.
    spans: Vec<Option<(i64, i64)>>,
    zero: i64,
    /// The session id.
    pub(crate) session: Option<String>,
}

/// Poses over time.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Poses {
    pub(crate) t: Vec<f64>,
    pub(crate) pose: Vec<(f64, f64, f64)>,
}

impl Poses {
    /// Poses with `from <= t <= to`.
    pub(crate) fn within(&self, from: f64, to: f64) -> &[(f64, f64, f64)] {
        let (first, last) = (self.t.partition_point(|t| *t < from), self.t.partition_point(|t| *t <= to));
        self.pose.get(first..last).unwrap_or_default()
    }

    /// The pose that holds at `at`.
    pub(crate) fn at(&self, at: f64) -> Option<(f64, f64, f64)> {
        let next = self.t.partition_point(|t| *t <= at);
        self.pose.get(next.checked_sub(1)?).copied()
    }
}

impl<'a> View<'a> {
    pub(crate) fn new(set: &'a LogSet, session: Option<String>) -> Self {
        let spans: Vec<Option<(i64, i64)>> = set
            .files()
            .iter()
            .map(|file| match &session {
                Some(id) => file.session_spans().get(id).copied(),
                None => file.range(),
            })
            .collect();
        let zero = spans.iter().flatten().map(|s| s.0).min().unwrap_or(0);
        Self { set, spans, zero, session }
    }

    fn secs(&self, micros: i64) -> f64 {
        micros.saturating_sub(self.zero) as f64 / 1e6
    }

    /// First and last record, seconds.
    pub(crate) fn window(&self) -> Option<Window> {
        let to = self.spans.iter().flatten().map(|s| s.1).max()?;
        Some(Window { from_secs: 0.0, to_secs: self.secs(to) })
    }

    fn parts(&self) -> impl Iterator<Item = (&'a crate::logset::LogFile, (i64, i64))> {
        self.set.files().iter().zip(&self.spans).filter_map(|(file, span)| span.map(|s| (file, s)))
    }

    fn collect<T>(&self, read: impl Fn(&crate::logset::LogFile) -> Vec<(i64, T)>) -> Vec<(f64, T)> {
        let mut all: Vec<(i64, T)> = Vec::new();
        for (file, (from, to)) in self.parts() {
            let mut part = read(file);
            part.sort_by_key(|(t, _)| *t);
            // What held when the session began belongs to it: a change-only channel may have spoken before.
            let held = part.iter().rposition(|(t, _)| *t < from);
            all.extend(
                part.into_iter()
                    .enumerate()
                    .filter(|(i, (t, _))| *t <= to && (*t >= from || Some(*i) == held))
                    .map(|(_, (t, v))| (t.max(from), v)),
            );
        }
        all.sort_by_key(|(t, _)| *t);
        all.into_iter().map(|(t, v)| (self.secs(t), v)).collect()
    }

    /// A number channel, found under its key or an alias of it.
    pub(crate) fn numbers(&self, key: &str) -> Series {
        let keys = names::candidates(key);
        Series::new(self.collect(|file| {
            keys.iter().map(|k| file.numbers(k)).find(|samples| !samples.is_empty()).unwrap_or_default()
        }))
    }

    /// A text channel.
    pub(crate) fn texts(&self, key: &str) -> Vec<(f64, String)> {
        self.collect(|file| file.texts(key))
    }

    /// A number array channel.
    pub(crate) fn arrays(&self, key: &str) -> Vec<(f64, Vec<f64>)> {
        self.collect(|file| file.arrays(key))
    }

    /// A text list channel.
    pub(crate) fn text_lists(&self, key: &str) -> Vec<(f64, Vec<String>)> {
        self.collect(|file| file.text_lists(key))
    }

    /// A `struct:Pose2d` channel; poses that are not finite are left out.
    pub(crate) fn poses(&self, key: &str) -> Poses {
        let keys = names::candidates(key);
        let mut poses = Poses::default();
        let samples = self.collect(|file| {
            keys.iter().map(|k| file.structs(k, Pose2d::NAME)).find(|s| !s.is_empty()).unwrap_or_default()
        });
        for (t, bytes) in samples {
            let Some(pose) = Pose2d::unpack(&bytes) else { continue };
            let (x, y, heading) = (pose.translation.x_m, pose.translation.y_m, pose.rotation.angle_rad);
            if x.is_finite() && y.is_finite() && heading.is_finite() {
                poses.t.push(t);
                poses.pose.push((x, y, heading));
            }
        }
        poses
    }

    /// Every key in the session's files.
    pub(crate) fn keys(&self) -> BTreeSet<&'a str> {
        self.parts().flat_map(|(file, _)| file.keys()).collect()
    }

    /// A channel's metadata, from the first file that has any.
    pub(crate) fn metadata(&self, key: &str) -> Option<&'a str> {
        self.parts().filter_map(|(file, _)| file.metadata(key)).find(|m| !m.is_empty())
    }

    /// Whether any file has the key with a text type.
    pub(crate) fn is_text(&self, key: &str) -> bool {
        use fieldlab_values::Family;
        self.parts().any(|(file, _)| file.data_type(key).is_some_and(|t| t.family() == Family::String))
    }

    /// The file that covers an instant; gaps belong to the file before them.
    pub(crate) fn file_at(&self, secs: f64) -> &'a str {
        let covering = self.parts().filter(|(_, span)| self.secs(span.0) <= secs + 1e-9).last();
        covering.or_else(|| self.parts().next()).map_or("", |(file, _)| file.path.as_str())
    }

    /// Evidence for a window.
    pub(crate) fn evidence(&self, window: Window, channels: &[&str]) -> Evidence {
        Evidence {
            file: self.file_at(window.from_secs).to_owned(),
            window,
            channels: channels.iter().map(|c| (*c).to_owned()).collect(),
        }
    }

    /// Facts about the files that hold this session.
    pub(crate) fn log_facts(&self) -> Vec<LogFacts> {
        self.parts()
            .map(|(file, _)| {
                let (from, to) = file.range().unwrap_or((self.zero, self.zero));
                LogFacts {
                    path: file.path.clone(),
                    bytes: file.log.file_bytes(),
                    records: file.records(),
                    boot: file.boot.clone(),
                    from_secs: self.secs(from),
                    to_secs: self.secs(to),
                    clock: file.clock.clone(),
                    torn: file.torn(),
                }
            })
            .collect()
    }

    /// Stretches between files of the session that no log covers.
    pub(crate) fn dark(&self) -> Vec<Window> {
        let mut spans: Vec<(i64, i64)> = self.parts().map(|(_, span)| span).collect();
        spans.sort_unstable();
        let mut dark = Vec::new();
        let mut end: Option<i64> = None;
        for (from, to) in spans {
            if let Some(e) = end.filter(|e| *e < from) {
                dark.push(Window { from_secs: self.secs(e), to_secs: self.secs(from) });
            }
            end = Some(end.map_or(to, |e| e.max(to)));
        }
        dark
    }

    /// Channels `FieldLab/<session>/…` by what follows the session; without a session id nothing.
    pub(crate) fn session_keys(&self) -> BTreeMap<&'a str, &'a str> {
        let Some(session) = &self.session else { return BTreeMap::new() };
        self.keys()
            .into_iter()
            .filter_map(|key| {
                names::session_of(key).filter(|(id, _)| id == session).map(|(_, rest)| (rest, key))
            })
            .collect()
    }
}
