//! The worked example compiles, runs, and has hood and flywheel the right way round.
#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "../examples/field_day.rs"]
#[allow(dead_code, unreachable_pub, reason = "the example's main is not run here")]
mod field_day;

use fieldlab::campaign::StepKind;

#[test]
fn f29_hood_and_flywheel_are_the_right_way_round() {
    let campaign = field_day::field_day().unwrap();
    let ids: Vec<_> = campaign.plan().procedures.iter().map(|p| p.id.as_str()).collect();
    assert_eq!(ids, ["wheel-radius", "slip-current", "drive-ff", "odometry-drift", "shot-map"]);
    let (_, map) = campaign.plan().find("shot-map").unwrap();
    assert_eq!(map.axes, [("hood".into(), "deg".into()), ("flywheel".into(), "rpm".into())]);
    let first = map.steps.iter().find_map(|step| match &step.kind {
        StepKind::Act { shot: Some(shot), .. } => Some(shot.clone()),
        _ => None,
    });
    assert_eq!(first.unwrap().values, [42.0, 1800.0], "42 degrees of hood, 1800 rpm of flywheel");
}

#[test]
fn the_worked_example_runs_on_the_simulated_robot() {
    let out = tempfile::tempdir().unwrap();
    let day = field_day::rehearse(out.path()).unwrap();
    assert_eq!((day.state.as_str(), day.fault.as_deref()), ("DONE", None));
    let outcomes: Vec<_> = day.procedures.iter().map(|p| (p.id.as_str(), p.outcome.as_str())).collect();
    assert_eq!(outcomes.len(), 5, "{outcomes:?}");
    assert!(day.files.iter().any(|f| f.extension().is_some_and(|e| e == "wpilog")), "{:?}", day.files);
}
