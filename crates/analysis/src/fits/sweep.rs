//! Sweeps: setpoint, answers, and what may be said about them.

use std::collections::BTreeMap;

use crate::findings::{Setpoint, Sweep, Window};
use crate::series::Series;
use crate::stats::{self, wilson};
use crate::story::{ProcedureStory, Story};
use crate::view::View;

const PREFIX: &str = "at-";

pub(crate) fn fit(view: &View<'_>, story: &Story) -> Vec<Sweep> {
    story.procedures.iter().filter_map(|p| one(view, story, p)).collect()
}

fn one(view: &View<'_>, story: &Story, procedure: &ProcedureStory) -> Option<Sweep> {
    let answers: Vec<_> = story.answers(&procedure.id).filter(|(m, _)| m.key.starts_with(PREFIX)).collect();
    if answers.is_empty() {
        return None;
    }
    let unit = answers.iter().find_map(|(m, _)| m.unit.clone()).unwrap_or_else(|| "score".to_owned());
    let scores = unit == "score";
    let commands = Commands::read(view, &procedure.id);
    let mut setpoints: BTreeMap<String, Setpoint> = BTreeMap::new();
    let mut order: Vec<String> = Vec::new();
    let mut before = f64::NEG_INFINITY;
    for (measurement, value) in &answers {
        let at_time = measurement.at_secs;
        // T8: joined through the plan's row, else by time: the last command given before this answer and after the one before.
        let planned = procedure.shots.get(&measurement.key);
        let timed = at_time.and_then(|t| commands.before(t, before));
        let (label, at, first, second) = match (planned, timed) {
            (Some(shot), _) => {
                (shot.label.clone(), Some(shot.at), shot.values.first().copied(), shot.values.get(1).copied())
            }
            (None, Some((at, first, second))) => (label_of(&measurement.key), at, first, second),
            (None, None) => (label_of(&measurement.key), None, None, None),
        };
        let at = at.or_else(|| leading_number(&label));
        let name = match (at, planned) {
            // Repeats of one setpoint have keys of their own and one command.
            (Some(at), Some(shot)) => format!("{at:?} {:?}", shot.values),
            _ => label.clone(),
        };
        if !setpoints.contains_key(&name) {
            order.push(name.clone());
        }
        let setpoint = setpoints.entry(name).or_insert_with(|| Setpoint {
            at,
            label,
            first,
            second,
            answers: Vec::new(),
            mean: None,
            probability: None,
            settled_error: (None, None),
            windows: Vec::new(),
        });
        setpoint.answers.push(*value);
        if let Some(t) = at_time {
            let act = procedure
                .acts
                .iter()
                .rev()
                .find(|a| a.window.to_secs <= t + 0.1 && a.window.to_secs > before);
            setpoint.windows.extend(act.map(|a| a.window));
            before = before.max(t);
        }
    }
    let mut setpoints: Vec<Setpoint> = order.iter().filter_map(|name| setpoints.remove(name)).collect();
    for setpoint in &mut setpoints {
        finish(setpoint, procedure, scores);
    }
    // T8: 2.00 stands before 10.00.
    setpoints.sort_by(|a, b| match (a.at, b.at) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (a, b) => a.is_none().cmp(&b.is_none()),
    });
    let remarks = remarks(&setpoints, scores);
    let axes = procedure.axes.clone();
    Some(Sweep {
        id: procedure.id.clone(),
        title: procedure.title.clone(),
        unit,
        axes,
        setpoints,
        scores,
        remarks,
    })
}

fn finish(setpoint: &mut Setpoint, procedure: &ProcedureStory, scores: bool) {
    let n = setpoint.answers.len();
    setpoint.mean = Some(stats::mean(&setpoint.answers));
    if scores && n >= 2 {
        let successes: f64 = setpoint.answers.iter().map(|a| a.clamp(0.0, 1.0)).sum();
        setpoint.probability = wilson(successes, n);
    }
    // An act tells what an axis really was at the shot as a result of the axis's name.
    let error = |axis: usize, commanded: Option<f64>| {
        let measured: Vec<f64> = setpoint
            .windows
            .iter()
            .filter_map(|w| procedure.acts.iter().find(|a| a.window == *w))
            .filter_map(|a| procedure.axes.get(axis).and_then(|(name, _)| a.results.get(name)).copied())
            .collect();
        commanded.filter(|_| !measured.is_empty()).map(|c| c - stats::mean(&measured))
    };
    setpoint.settled_error = (error(0, setpoint.first), error(1, setpoint.second));
}

fn remarks(setpoints: &[Setpoint], scores: bool) -> Vec<String> {
    let mut out = Vec::new();
    let single = setpoints.iter().filter(|s| s.answers.len() < 2).count();
    if scores && single > 0 {
        out.push(format!("{single} setpoint(s) were shot once: one shot is a result, not a probability"));
    }
    if scores {
        let scored: Vec<&Setpoint> = setpoints.iter().filter(|s| s.mean.is_some_and(|m| m >= 0.99)).collect();
        let best = setpoints.iter().max_by(|a, b| a.mean.unwrap_or(-1.0).total_cmp(&b.mean.unwrap_or(-1.0)));
        if !scored.is_empty() {
            let labels: Vec<&str> = scored.iter().map(|s| s.label.as_str()).collect();
            out.push(format!("scored every time: {}", labels.join(", ")));
        } else if let Some(best) = best {
            out.push(format!(
                "no setpoint scored every time; best: {} ({:.2})",
                best.label,
                best.mean.unwrap_or(0.0)
            ));
        }
    }
    let places: Vec<f64> = setpoints.iter().filter_map(|s| s.at).collect();
    for pair in places.windows(2).filter(|w| w[1] - w[0] > 1.0) {
        out.push(format!("nothing between {:.2} and {:.2}: do not interpolate across it", pair[0], pair[1]));
    }
    out
}

/// T8: the prefix goes once, so that `at-flat-2` stays `flat-2`.
fn label_of(key: &str) -> String {
    key.strip_prefix(PREFIX).unwrap_or(key).to_owned()
}

fn leading_number(label: &str) -> Option<f64> {
    let end = label.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(label.len());
    label.get(..end)?.trim_end_matches('.').parse().ok()
}

/// Commands as the legacy layout logs them: three channels, without a session in their names.
struct Commands {
    at: Series,
    first: Series,
    second: Series,
}

impl Commands {
    fn read(view: &View<'_>, procedure: &str) -> Self {
        let scoped = view.session.as_ref().map(|s| format!("FieldLab/{s}/{procedure}"));
        let read = |name: &str| {
            let own = scoped.as_ref().map(|root| view.numbers(&format!("{root}/{name}"))).unwrap_or_default();
            if own.is_empty() { view.numbers(&format!("FieldLab/{procedure}/{name}")) } else { own }
        };
        Self { at: read("At"), first: read("First"), second: read("Second") }
    }

    /// What was commanded between `after` and `until`; axes that did not change are held.
    fn before(&self, until: f64, after: f64) -> Option<(Option<f64>, Option<f64>, Option<f64>)> {
        let window = Window { from_secs: after, to_secs: until };
        let last = self.at.t.iter().rev().find(|t| **t <= window.to_secs && **t > window.from_secs);
        let at = last.copied().unwrap_or(until);
        self.at.at(at).map(|a| (Some(a), self.first.at(until), self.second.at(until)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t8_labels_lose_their_prefix_once_and_sort_as_numbers() {
        assert_eq!(label_of("at-flat-2"), "flat-2");
        assert_eq!(leading_number("10.00"), Some(10.0));
        assert_eq!(leading_number("2.00_2.00_-_1800_42"), Some(2.0));
        assert_eq!(leading_number("flat-2"), None);
    }
}
