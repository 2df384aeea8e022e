//! What happened in a session, whoever logged it: procedures, acts, answers, waits.

use std::collections::BTreeMap;

use crate::chronicle::Question;
use crate::findings::{Measurement, Progress, Window};

/// The session as a sequence of procedures.
#[derive(Debug, Clone, Default)]
pub(crate) struct Story {
    pub(crate) campaign: Option<String>,
    pub(crate) state: Option<String>,
    pub(crate) procedures: Vec<ProcedureStory>,
    pub(crate) measurements: Vec<Measurement>,
    /// Stretches in which a person was asked, with the prompt.
    pub(crate) prompts: Vec<(Window, String)>,
    pub(crate) in_force: BTreeMap<String, f64>,
    /// Since when which pack was in, as the headers say.
    pub(crate) packs: Vec<(f64, String)>,
    /// The plan's questions by procedure.
    pub(crate) questions: BTreeMap<String, Vec<Question>>,
}

/// One procedure.
#[derive(Debug, Clone)]
pub(crate) struct ProcedureStory {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) why: Option<String>,
    pub(crate) progress: Progress,
    pub(crate) mark: Option<String>,
    pub(crate) windows: Vec<Window>,
    pub(crate) acts: Vec<ActStory>,
    pub(crate) paused: Vec<Window>,
    pub(crate) gate_volts: Option<f64>,
    /// Name and unit of a sweep's axes.
    pub(crate) axes: Vec<(String, String)>,
    /// Measure key → the shot it answers for, from the plan.
    pub(crate) shots: BTreeMap<String, ShotStory>,
}

/// A setpoint of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ShotStory {
    pub(crate) label: String,
    pub(crate) at: f64,
    pub(crate) values: Vec<f64>,
}

/// One run of an act.
#[derive(Debug, Clone)]
pub(crate) struct ActStory {
    pub(crate) label: String,
    pub(crate) window: Window,
    pub(crate) outcome: String,
    pub(crate) results: BTreeMap<String, f64>,
}

impl ActStory {
    /// Whether its data may be used: it ran to its end, or to its cap.
    pub(crate) fn usable(&self) -> bool {
        matches!(self.outcome.as_str(), "completed" | "timed_out")
    }
}

impl ProcedureStory {
    pub(crate) fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            title: id.to_owned(),
            why: None,
            progress: Progress::NotReached,
            mark: None,
            windows: Vec::new(),
            acts: Vec::new(),
            paused: Vec::new(),
            gate_volts: None,
            axes: Vec::new(),
            shots: BTreeMap::new(),
        }
    }

    /// Where its data is: the usable acts, or the whole procedure when no act is known.
    pub(crate) fn data_windows(&self) -> Vec<Window> {
        if self.acts.is_empty() {
            return self.windows.clone();
        }
        self.acts.iter().filter(|a| a.usable()).map(|a| a.window).collect()
    }
}

impl Story {
    /// The packs that were in during any of these windows, as the headers name them, in order.
    pub(crate) fn packs_within(&self, windows: &[Window]) -> Option<String> {
        let mut names: Vec<&str> = Vec::new();
        for (i, (since, pack)) in self.packs.iter().enumerate() {
            // Before the first header there is no other.
            let since = if i == 0 { f64::NEG_INFINITY } else { *since };
            let until = self.packs.get(i + 1).map_or(f64::INFINITY, |(next, _)| *next);
            let was_in = windows.iter().any(|w| since <= w.to_secs && until > w.from_secs);
            if was_in && !names.contains(&pack.as_str()) {
                names.push(pack);
            }
        }
        (!names.is_empty()).then(|| names.join(", "))
    }

    pub(crate) fn procedure(&self, id: &str) -> Option<&ProcedureStory> {
        self.procedures.iter().find(|p| p.id == id)
    }

    /// Answers of one procedure with a value.
    pub(crate) fn answers<'a>(&'a self, procedure: &'a str) -> impl Iterator<Item = (&'a Measurement, f64)> {
        self.measurements
            .iter()
            .filter(move |m| m.procedure == procedure)
            .filter_map(|m| m.value.map(|v| (m, v)))
    }

    /// The first of several names under which a constant in force is known.
    pub(crate) fn in_force(&self, names: &[&str]) -> Option<f64> {
        names.iter().find_map(|n| self.in_force.get(*n).copied())
    }

    /// The wheel radius that the robot believed, metres.
    pub(crate) fn radius_in_force_m(&self) -> Option<f64> {
        self.in_force(&["wheel_radius_m", "wheelRadiusMeters", "WheelRadiusMeters"])
    }
}
