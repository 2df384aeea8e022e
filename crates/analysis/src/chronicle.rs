//! Reads the story out of a session's channels: header, events, and the legacy names that carry no session.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::findings::{Measurement, Note, Progress, Provenance, Window};
use crate::names;
use crate::story::{ActStory, ProcedureStory, ShotStory, Story};
use crate::view::View;
use fieldlab_campaign::channels::{self, event};

/// The story, what the header said of the robot, and the notes.
pub(crate) fn read(view: &View<'_>) -> (Story, Provenance, Vec<Note>) {
    let mut story = Story::default();
    let mut provenance = Provenance::default();
    let scoped = view.session_keys();
    if let Some(key) = scoped.get(channels::HEADER) {
        for (t, written) in view.texts(key) {
            if let Ok(header) = serde_json::from_str::<Json>(&written) {
                read_header(&header, &mut story, &mut provenance);
                if let Some(pack) = text(&header, &["battery", "batteryName", "battery_name"]) {
                    story.packs.push((t, pack.to_owned()));
                }
            }
        }
        let always = Window { from_secs: f64::NEG_INFINITY, to_secs: f64::INFINITY };
        provenance.battery = story.packs_within(&[always]);
    }
    let last = |key: &str| view.texts(key).into_iter().rev().map(|(_, s)| s).find(|s| !s.is_empty());
    story.campaign = story.campaign.take().or_else(|| last("FieldLab/Campaign"));
    story.state = last("FieldLab/State");
    let events: Vec<(f64, Json)> = scoped
        .get(channels::EVENTS)
        .map(|key| view.texts(key))
        .unwrap_or_default()
        .into_iter()
        .filter_map(|(t, text)| Some((t, serde_json::from_str(&text).ok()?)))
        .collect();
    if events.is_empty() {
        legacy_procedures(view, &scoped, &mut story);
    } else {
        let end = view.window().map_or(0.0, |w| w.to_secs);
        Replay::new(&mut story).run(&events, &view.dark(), end);
    }
    measurements(view, &scoped, &mut story);
    run_order(&mut story);
    if story.prompts.is_empty() {
        story.prompts = legacy_prompts(view);
    }
    (story, provenance, notes(view))
}

fn text<'a>(object: &'a Json, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|n| object.get(*n)?.as_str()).filter(|s| !s.is_empty())
}

fn read_header(header: &Json, story: &mut Story, provenance: &mut Provenance) {
    if let Some(campaign) = text(header, &["campaign"]) {
        story.campaign = Some(campaign.to_owned());
    }
    let set = |slot: &mut Option<String>, names: &[&str]| {
        if let Some(found) = text(header, names) {
            *slot = Some(found.to_owned());
        }
    };
    set(&mut provenance.code_version, &["codeVersion", "code_version", "version"]);
    set(&mut provenance.plan_hash, &["campaignHash", "planHash", "plan_hash"]);
    if let Some(trusted) = header.get("clockTrusted").and_then(Json::as_bool) {
        provenance.clock_trusted = Some(trusted);
    }
    for name in ["constants", "constantsInForce", "constants_in_force"] {
        if let Some(constants) = header.get(name).and_then(Json::as_object) {
            for (key, value) in constants {
                if let Some(value) = value.as_f64() {
                    story.in_force.insert(key.clone(), value);
                    provenance.constants_in_force.insert(key.clone(), value);
                }
            }
        }
    }
    let procedures = header.get("plan").and_then(|p| p.get("procedures")).and_then(Json::as_array);
    for planned in procedures.into_iter().flatten() {
        let Some(id) = text(planned, &["id"]) else { continue };
        let procedure = procedure(story, id);
        if let Some(title) = text(planned, &["title"]) {
            title.clone_into(&mut procedure.title);
        }
        procedure.why = text(planned, &["why"]).map(str::to_owned);
        procedure.axes = planned
            .get("axes")
            .and_then(Json::as_array)
            .into_iter()
            .flatten()
            .filter_map(|axis| Some((axis.get(0)?.as_str()?.to_owned(), axis.get(1)?.as_str()?.to_owned())))
            .collect();
        let steps: Vec<&Json> = planned.get("steps").and_then(Json::as_array).into_iter().flatten().collect();
        read_steps(&steps, procedure);
        let questions: Vec<Question> = steps.iter().filter_map(|s| question(s)).collect();
        story.questions.entry(id.to_owned()).or_insert(questions);
    }
}

/// What the plan says of one question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Question {
    pub(crate) key: String,
    pub(crate) label: String,
    pub(crate) unit: Option<String>,
    pub(crate) min: Option<f64>,
    pub(crate) max: Option<f64>,
}

fn question(step: &Json) -> Option<Question> {
    (text(step, &["kind"])? == "measure").then(|| Question {
        key: text(step, &["key"]).unwrap_or_default().to_owned(),
        label: text(step, &["label"]).unwrap_or_default().to_owned(),
        unit: text(step, &["unit"]).map(str::to_owned),
        min: step.get("min").and_then(Json::as_f64),
        max: step.get("max").and_then(Json::as_f64),
    })
}

/// The gate, and for each question of a sweep the shot of its group.
fn read_steps(steps: &[&Json], procedure: &mut ProcedureStory) {
    let mut shots: BTreeMap<u64, ShotStory> = BTreeMap::new();
    for step in steps {
        let group = step.get("group").and_then(Json::as_u64).unwrap_or(0);
        match text(step, &["kind"]) {
            Some("battery_gate") if procedure.gate_volts.is_none() => {
                procedure.gate_volts = step.get("min_volts").and_then(Json::as_f64);
            }
            Some("act") => {
                if let Some(shot) = step.get("shot") {
                    let values = shot.get("values").and_then(Json::as_array).into_iter().flatten();
                    shots.insert(
                        group,
                        ShotStory {
                            label: String::new(),
                            at: shot.get("at").and_then(Json::as_f64).unwrap_or(f64::NAN),
                            values: values.filter_map(Json::as_f64).collect(),
                        },
                    );
                }
            }
            Some("measure") => {
                if let (Some(shot), Some(key)) = (shots.get(&group), text(step, &["key"])) {
                    let label = key.strip_prefix("at-").unwrap_or(key).to_owned();
                    procedure.shots.insert(key.to_owned(), ShotStory { label, ..shot.clone() });
                }
            }
            _ => {}
        }
    }
}

fn procedure<'a>(story: &'a mut Story, id: &str) -> &'a mut ProcedureStory {
    let place = story.procedures.iter().position(|p| p.id == id).unwrap_or_else(|| {
        story.procedures.push(ProcedureStory::new(id));
        story.procedures.len() - 1
    });
    &mut story.procedures[place]
}

/// Plays the events in the order of their instants.
struct Replay<'a> {
    story: &'a mut Story,
    /// The procedure that is open, and since when.
    open: Option<(String, f64)>,
    act: Option<(String, f64)>,
    prompt: Option<(String, f64)>,
    pause: Option<f64>,
}

impl<'a> Replay<'a> {
    fn new(story: &'a mut Story) -> Self {
        Self { story, open: None, act: None, prompt: None, pause: None }
    }

    fn run(&mut self, events: &[(f64, Json)], dark: &[Window], end: f64) {
        let mut gaps = dark.iter().peekable();
        for (t, event) in events {
            while let Some(gap) = gaps.next_if(|g| g.to_secs <= *t + 1e-9) {
                // A reboot ends everything that was open; what follows opens it again.
                self.close_all(gap.from_secs);
            }
            self.event(*t, event);
        }
        for gap in gaps {
            self.close_all(gap.from_secs);
        }
        self.close_all(end);
    }

    fn event(&mut self, t: f64, told: &Json) {
        let Some(word) = text(told, &["event"]) else { return };
        if told.get("resumed").and_then(Json::as_bool) == Some(true) {
            // Answers kept over a reboot are told again; they were given before.
            return;
        }
        if let Some(id) = text(told, &["procedure"])
            && self.open.as_ref().is_none_or(|(open, _)| open != id)
            && word != event::PROCEDURE_BANKED
        {
            // After a reboot a procedure goes on without being started again.
            self.close_all(t);
            let procedure = procedure(self.story, id);
            if procedure.progress == Progress::NotReached {
                procedure.progress = Progress::CutShort;
            }
            self.open = Some((id.to_owned(), t));
        }
        match word {
            event::PROCEDURE_BANKED => {
                self.close_all(t);
                if let Some(id) = text(told, &["procedure"]) {
                    let quality = text(told, &["quality"]).unwrap_or_default();
                    let procedure = procedure(self.story, id);
                    procedure.progress =
                        if quality.starts_with("empty") { Progress::Skipped } else { Progress::Banked };
                    procedure.mark = Some(quality.to_owned()).filter(|q| !q.is_empty() && q != "good");
                }
            }
            event::ACT_STARTED => {
                self.close_act(t, "open", BTreeMap::new());
                self.act = Some((text(told, &["label"]).unwrap_or_default().to_owned(), t));
            }
            event::ACT_ENDED => {
                let results = told
                    .get("results")
                    .and_then(Json::as_object)
                    .map(|r| r.iter().filter_map(|(k, v)| Some((k.clone(), v.as_f64()?))).collect())
                    .unwrap_or_default();
                self.close_act(t, text(told, &["outcome"]).unwrap_or("open"), results);
            }
            event::PROMPT => {
                self.close_prompt(t);
                self.prompt = Some((text(told, &["text"]).unwrap_or_default().to_owned(), t));
            }
            event::ANSWER | event::CONFIRMED | event::RETRY | event::DISABLED => self.close_prompt(t),
            event::GATE_PAUSED => self.pause = Some(t),
            event::GATE_RESUMED | event::GATE_PASSED => self.close_pause(t),
            event::ABORTED | event::FINISHED => self.close_all(t),
            _ => {}
        }
    }

    fn close_act(&mut self, t: f64, outcome: &str, results: BTreeMap<String, f64>) {
        let Some((label, from)) = self.act.take() else { return };
        let Some((id, _)) = &self.open else { return };
        let window = Window { from_secs: from, to_secs: t };
        procedure(self.story, id).acts.push(ActStory { label, window, outcome: outcome.to_owned(), results });
    }

    fn close_prompt(&mut self, t: f64) {
        if let Some((label, from)) = self.prompt.take() {
            self.story.prompts.push((Window { from_secs: from, to_secs: t }, label));
        }
    }

    fn close_pause(&mut self, t: f64) {
        if let (Some(from), Some((id, _))) = (self.pause.take(), &self.open) {
            procedure(self.story, id).paused.push(Window { from_secs: from, to_secs: t });
        }
    }

    fn close_all(&mut self, t: f64) {
        self.close_act(t, "open", BTreeMap::new());
        self.close_prompt(t);
        self.close_pause(t);
        if let Some((id, from)) = self.open.take() {
            procedure(self.story, &id).windows.push(Window { from_secs: from, to_secs: t });
        }
    }
}

/// T6: times of records, not the zeros the reference stored. Both layouts: with and without the session in the name.
fn legacy_procedures(view: &View<'_>, scoped: &BTreeMap<&str, &str>, story: &mut Story) {
    let mut marks: BTreeMap<(String, bool), Vec<f64>> = BTreeMap::new();
    let plain = view.keys().into_iter().filter_map(|key| {
        let rest = key.strip_prefix("FieldLab/")?;
        names::session_of(key).is_none().then_some((rest, key))
    });
    for (rest, key) in plain.chain(scoped.iter().map(|(rest, key)| (*rest, *key))) {
        let Some((id, leaf)) = rest.split_once('/') else { continue };
        let started = match leaf {
            "Started" => true,
            "Finished" => false,
            _ => continue,
        };
        let mut times = view.numbers(key).t;
        let known = marks.entry((id.to_owned(), started)).or_default();
        times.retain(|t| !known.iter().any(|k| (k - t).abs() < 0.05));
        known.extend(times);
    }
    let end = view.window().map_or(0.0, |w| w.to_secs);
    let all_starts: Vec<f64> =
        marks.iter().filter(|((_, s), _)| *s).flat_map(|(_, t)| t.iter().copied()).collect();
    let ids: Vec<String> = marks.keys().map(|(id, _)| id.clone()).collect();
    for id in ids {
        let times = |started| {
            let mut t = marks.get(&(id.clone(), started)).cloned().unwrap_or_default();
            t.sort_by(f64::total_cmp);
            t
        };
        let (starts, finishes) = (times(true), times(false));
        let procedure = procedure(story, &id);
        for (i, start) in starts.iter().enumerate() {
            let next = starts.get(i + 1).copied().unwrap_or(f64::INFINITY);
            let finish = finishes.iter().copied().find(|f| f >= start && *f <= next);
            // Cut short: it lasted until anything else began.
            let other = all_starts.iter().copied().filter(|s| s > start).fold(end, f64::min);
            procedure.windows.push(Window { from_secs: *start, to_secs: finish.unwrap_or(other) });
        }
        if starts.is_empty() {
            procedure.windows.extend(finishes.iter().map(|f| Window { from_secs: *f, to_secs: *f }));
        }
        procedure.progress = if finishes.is_empty() { Progress::CutShort } else { Progress::Banked };
    }
}

fn legacy_prompts(view: &View<'_>) -> Vec<(Window, String)> {
    let mut prompts = Vec::new();
    let mut open: Option<(String, f64)> = None;
    for (t, prompt) in view.texts("FieldLab/Prompt") {
        if let Some((label, from)) = open.take_if(|(label, _)| *label != prompt) {
            prompts.push((Window { from_secs: from, to_secs: t }, label));
        }
        if open.is_none() && !prompt.is_empty() {
            open = Some((prompt, t));
        }
    }
    prompts
}

/// T7: an answer is a session-scoped number with a `.unit` beside it; the `Measurements` rows fill what is missing.
fn measurements(view: &View<'_>, scoped: &BTreeMap<&str, &str>, story: &mut Story) {
    let mut found: Vec<Measurement> = Vec::new();
    for (rest, key) in scoped {
        let Some((procedure, leaf)) = rest.split_once('/') else { continue };
        let Some(unit_key) = scoped.get(format!("{rest}.unit").as_str()) else { continue };
        let unit = view.texts(unit_key).into_iter().rev().map(|(_, u)| u).next();
        let series = view.numbers(key);
        let value = series.v.last().copied();
        // A kept answer is logged again after every reboot: it was given when its last value first stood there.
        let given = series.v.iter().rposition(|v| Some(*v) != value).map_or(0, |i| i + 1);
        found.push(Measurement {
            procedure: procedure.to_owned(),
            key: leaf.to_owned(),
            value,
            unit,
            at_secs: series.t.get(given).copied(),
            out_of_range: false,
            label: None,
        });
    }
    let rows = view.text_lists("FieldLab/Measurements");
    for (t, row) in rows.iter().flat_map(|(t, rows)| rows.iter().map(move |r| (*t, r))) {
        let Some((name, value)) = row.split_once('|') else { continue };
        let Some((procedure, key)) = name.split_once('/') else { continue };
        let value =
            value.split('|').next().and_then(|v| v.trim().parse::<f64>().ok()).filter(|v| v.is_finite());
        if !found.iter().any(|m| m.procedure == procedure && m.key == key) {
            found.push(Measurement {
                procedure: procedure.to_owned(),
                key: key.to_owned(),
                value,
                unit: None,
                at_secs: Some(t),
                out_of_range: false,
                label: None,
            });
        }
    }
    for measurement in &mut found {
        let questions = story.questions.get(&measurement.procedure);
        if let Some(q) = questions.and_then(|q| q.iter().find(|q| q.key == measurement.key)) {
            measurement.unit = measurement.unit.take().or_else(|| q.unit.clone());
            measurement.label = Some(q.label.clone()).filter(|l| !l.is_empty());
            measurement.out_of_range = measurement
                .value
                .is_some_and(|v| q.min.is_some_and(|m| v < m) || q.max.is_some_and(|m| v > m));
        }
    }
    found.sort_by(|a, b| {
        let when = |m: &Measurement| m.at_secs.unwrap_or(f64::INFINITY);
        when(a).total_cmp(&when(b)).then_with(|| (&a.procedure, &a.key).cmp(&(&b.procedure, &b.key)))
    });
    story.measurements = found;
}

/// T18: procedures that ran stand in the order in which they began; the rest keep the plan's order behind them.
fn run_order(story: &mut Story) {
    let first = |p: &ProcedureStory| p.windows.iter().map(|w| w.from_secs).fold(f64::INFINITY, f64::min);
    story.procedures.sort_by(|a, b| first(a).total_cmp(&first(b)));
}

/// T18: repeats are counted, not folded away. The `Notes` list only grows, so its longest state holds them all; a single
/// `LastNote` channel stands in where the list was not logged.
fn notes(view: &View<'_>) -> Vec<Note> {
    let lists = view.text_lists("FieldLab/Notes");
    let mut all: Vec<String> = Vec::new();
    for (_, list) in &lists {
        // A resumed or rebuilt runner starts its list anew; only what goes beyond the known part is new.
        let known = all.len().min(list.len());
        if list[..known] == all[..known] {
            all.extend_from_slice(&list[known..]);
        } else {
            all.extend(list.iter().filter(|n| !all.contains(n)).cloned().collect::<Vec<_>>());
        }
    }
    if lists.is_empty() {
        all = view.texts("FieldLab/LastNote").into_iter().map(|(_, n)| n).filter(|n| !n.is_empty()).collect();
    }
    let mut notes: Vec<Note> = Vec::new();
    for text in all {
        match notes.iter_mut().find(|n| n.text == text) {
            Some(note) => note.count += 1,
            None => notes.push(Note { text, count: 1 }),
        }
    }
    notes
}
