//! From a log set to findings.

use crate::chronicle;
use crate::constants;
use crate::findings::{ActFindings, Findings, Problem, ProcedureFindings, Severity, SpanKind, TimelineSpan};
use crate::fits::{battery, drift, drive_ff, slip, straight, sweep, thermal, vision, wheel};
use crate::logset::{LogSet, Watch};
use crate::series::Series;
use crate::story::Story;
use crate::view::View;
use crate::{AnalysisError, findings::Window};
use fieldlab_campaign::channels;

/// What to analyse.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// The session; the last one in the logs when `None`.
    pub session: Option<String>,
}

/// Procedures that a model is fitted to, by id. A procedure with `at-…` answers is a sweep whatever its id.
const UNDERSTOOD: [&str; 7] = [
    "wheel-radius",
    "slip-current",
    "drive-ff",
    "odometry-drift",
    "thermal-soak",
    "straight-run",
    "vision-pose",
];

/// Finds everything one session has to tell. `watch` hears what is being done.
///
/// # Errors
/// [`AnalysisError::NoSuchSession`] when the session asked for is not there. Nothing else stops it: what cannot be
/// fitted is refused inside the findings.
pub fn analyse(logs: &LogSet, options: &Options, watch: &mut Watch<'_>) -> Result<Findings, AnalysisError> {
    let sessions = logs.sessions();
    let session = match &options.session {
        Some(asked) if sessions.contains(asked) => Some(asked.clone()),
        Some(asked) => {
            return Err(AnalysisError::NoSuchSession { asked: asked.clone(), found: sessions.join(", ") });
        }
        None => sessions.last().cloned(),
    };
    watch("finding the session", 0.0);
    let view = View::new(logs, session.clone());
    let (story, mut provenance, notes) = chronicle::read(&view);
    let facts = view.log_facts();
    for boot in facts.iter().filter_map(|f| f.boot.clone()) {
        if !provenance.boots.contains(&boot) {
            provenance.boots.push(boot);
        }
    }
    let volts = view.numbers(channels::BATTERY_VOLTS);
    let mut findings = Findings {
        other_sessions: sessions.into_iter().filter(|s| Some(s) != session.as_ref()).collect(),
        session,
        campaign: story.campaign.clone(),
        state: story.state.clone(),
        provenance,
        duration_secs: view.window().map(|w| w.to_secs),
        channels: logs.channel_count(),
        battery: volts.thinned(600),
        timeline: timeline(&view, &story),
        measurements: story.measurements.clone(),
        notes,
        logs: facts,
        ..Findings::default()
    };
    watch("wheel radius", 0.1);
    findings.wheel_radius = wheel::fit(&view, &story);
    watch("slip current", 0.2);
    findings.slip_current = slip::fit(&view, &story);
    findings.straight = straight::fit(&view, &story);
    findings.feedforward = drive_ff::fit(&view, &story, watch);
    if let Some(ff) = &mut findings.feedforward {
        drive_ff::per_true_metre(ff, findings.wheel_radius.as_ref());
    }
    watch("drift, sweeps, thermal, vision", 0.8);
    findings.drift = drift::fit(&view, &story);
    findings.sweeps = sweep::fit(&view, &story);
    findings.thermal = thermal::fit(&view, &story);
    findings.vision = vision::fit(&view, &story);
    findings.procedures = procedures(&story, &volts, &findings);
    findings.constants = constants::all(&view, &findings);
    findings.problems =
        problems(&findings, logs.empty(), dropped(&view.numbers(channels::LOOP_DROPPED_VALUES)));
    watch("done", 1.0);
    Ok(findings)
}

fn procedures(story: &Story, volts: &Series, findings: &Findings) -> Vec<ProcedureFindings> {
    story
        .procedures
        .iter()
        .map(|p| ProcedureFindings {
            id: p.id.clone(),
            title: p.title.clone(),
            why: p.why.clone(),
            progress: p.progress,
            mark: p.mark.clone(),
            windows: p.windows.clone(),
            acts: p
                .acts
                .iter()
                .map(|a| ActFindings {
                    label: a.label.clone(),
                    window: a.window,
                    outcome: a.outcome.clone(),
                    min_volts: battery::lowest(volts, a.window),
                })
                .collect(),
            pauses: p.paused.clone(),
            battery: battery::facts(volts, p, story.packs_within(&p.windows)),
            understood: UNDERSTOOD.contains(&p.id.as_str()) || findings.sweeps.iter().any(|s| s.id == p.id),
        })
        .collect()
}

fn timeline(view: &View<'_>, story: &Story) -> Vec<TimelineSpan> {
    let mut spans = Vec::new();
    let mut add = |kind: SpanKind, label: &str, window: Window| {
        spans.push(TimelineSpan { kind, label: label.to_owned(), window });
    };
    for procedure in &story.procedures {
        for window in &procedure.windows {
            add(SpanKind::Procedure, &procedure.title, *window);
        }
        for act in &procedure.acts {
            add(SpanKind::Act, &act.label, act.window);
        }
        for pause in &procedure.paused {
            add(SpanKind::Battery, "waiting for a battery", *pause);
        }
    }
    for (window, prompt) in &story.prompts {
        add(SpanKind::Operator, prompt, *window);
    }
    for gap in view.dark() {
        add(SpanKind::Dark, "no log", gap);
    }
    spans.sort_by(|a, b| {
        (a.kind, &a.label).cmp(&(b.kind, &b.label)).then(a.window.from_secs.total_cmp(&b.window.from_secs))
    });
    spans.sort_by(|a, b| a.window.from_secs.total_cmp(&b.window.from_secs));
    spans
}

/// By how much a counter rose, over the reboots that began it anew. What it stood at first is from before the session.
fn dropped(counter: &Series) -> f64 {
    let rises = counter.v.iter().zip(counter.v.iter().skip(1));
    rises.map(|(before, now)| if now < before { *now } else { now - before }).sum()
}

fn problems(findings: &Findings, empty: &[String], dropped: f64) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut add = |severity, text: String| problems.push(Problem { severity, text });
    if dropped > 0.0 {
        let key = channels::LOOP_DROPPED_VALUES;
        add(Severity::Warning, format!("{key}: {dropped:.0} values did not reach a log or the dashboards"));
    }
    for file in empty {
        add(Severity::Loss, format!("{file}; nothing was logged in it"));
    }
    for log in &findings.logs {
        if let Some(torn) = &log.torn {
            add(Severity::Loss, format!("{}: {torn}; everything before it was used", log.path));
        }
        if log.clock.starts_with("no wall clock") {
            add(Severity::Warning, format!("{}: {}", log.path, log.clock));
        }
    }
    if findings.session.is_none() {
        add(Severity::Info, "no session id is in these logs: everything in them was taken as one".to_owned());
    }
    if !findings.other_sessions.is_empty() {
        add(
            Severity::Info,
            format!("other sessions in these logs, left out here: {}", findings.other_sessions.join(", ")),
        );
    }
    for procedure in findings.procedures.iter().filter(|p| !p.banked()) {
        let how = match procedure.progress {
            crate::findings::Progress::CutShort => "was begun and is not banked",
            crate::findings::Progress::Skipped => "was skipped",
            _ => "was not reached",
        };
        let mark = procedure.mark.as_ref().map_or(String::new(), |m| format!(" ({m})"));
        add(Severity::Warning, format!("{} {how}{mark}", procedure.title));
    }
    for constant in &findings.constants {
        if let crate::findings::Verdict::Refused { reason } = &constant.verdict {
            add(Severity::Refusal, format!("{} is not given: {reason}", constant.name));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_were_dropped_are_counted_over_reboots_and_told() {
        let counter = |values: &[f64]| {
            Series::new(values.iter().enumerate().map(|(i, v)| (i as f64, *v)).collect::<Vec<_>>())
        };
        assert_eq!(dropped(&counter(&[])), 0.0);
        assert_eq!(dropped(&counter(&[0.0, 0.0])), 0.0);
        assert_eq!(dropped(&counter(&[4.0, 7.0, 9.0, 0.0, 2.0])), 7.0, "the second boot began at none");
        let told = problems(&Findings::default(), &[], 7.0);
        assert_eq!(told[0].severity, Severity::Warning);
        assert_eq!(told[0].text, "Loop/DroppedValues: 7 values did not reach a log or the dashboards");
        assert!(problems(&Findings::default(), &[], 0.0).iter().all(|p| !p.text.contains("Dropped")));
    }
}
