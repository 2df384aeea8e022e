//! What the builder takes and refuses, and what the shipped procedures are.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{Bench, Script};
use fieldlab_campaign::procedures::{self, Drivetrain};
use fieldlab_campaign::sweep::{Axis, Setpoint, Sweep};
use fieldlab_campaign::{
    Act, ActId, Campaign, Measure, Procedure, ProcedureBuilder, Routine, State, StepKind, StepOutcome, text,
};

fn refused(builder: ProcedureBuilder<()>) -> String {
    builder.build().unwrap_err().to_string()
}

fn named(id: &str) -> ProcedureBuilder<()> {
    Procedure::builder(id, "Title")
}

#[test]
fn f31_ids_and_keys_that_something_else_would_swallow_are_refused() {
    for id in ["", "a b", "a/b", "State", "6aa1f940", "DEADBEEF", "Prompt", "ä", "a|b"] {
        assert!(refused(named(id)).contains("id: expected"), "{id}");
    }
    assert!(named("shot-map_2.0").build().is_ok());
    assert!(named("6aa1f94").build().is_ok());
    for key in [
        "",
        "a/b",
        "a b",
        "peakVolts",
        "lapCount",
        "x.unit",
        "drive.seconds",
        "Started",
        "a#",
        "a#0",
        "a#x",
        "#2",
    ] {
        let text = refused(named("p").measure(Measure::new("?", key, "m")));
        assert!(text.contains("steps[0].key"), "{key}: {text}");
    }
}

#[test]
fn f17_a_key_used_twice_is_a_build_error() {
    let twice = named("p").measure(Measure::new("?", "a", "m")).measure(Measure::new("?", "a", "m"));
    assert!(refused(twice).contains("a key used once"));
}

#[test]
fn f32_numbers_that_are_not_finite_are_refused_at_build() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(refused(named("p").needs_battery(bad)).contains("volts"));
        assert!(refused(named("p").settle("s", bad)).contains("secs"));
        assert!(refused(named("p").confirm("c").act(Act::new("a", bad, ()))).contains("timeout_secs"));
        assert!(refused(named("p").measure(Measure::new("?", "a", "m").range(bad, 1.0))).contains("min"));
        assert!(refused(named("p").measure(Measure::new("?", "a", "m").range(0.0, bad))).contains("max"));
        let drive = Drivetrain { runway_m: bad, ..Drivetrain::default() };
        let error = procedures::drivetrain_basics::<Routine>(&drive).unwrap_err();
        assert_eq!(error.path, "drivetrain.runway_m", "{error}");
    }
    assert!(refused(named("p").measure(Measure::new("?", "a", "m").range(2.0, 1.0))).contains("max"));
    assert!(refused(named("p").battery_gate(12.0, 11.0)).contains("resume_volts"));
}

#[test]
fn two_procedures_of_one_id_are_refused() {
    let p = || named("p").build().unwrap();
    let error = Campaign::builder("C").add(p()).add(p()).build().unwrap_err();
    assert_eq!(error.path, "campaign.procedures[1].id");
    assert!(Campaign::<()>::builder(" ").build().is_err());
}

#[test]
fn estimates_are_the_reference_s_vectors() {
    let p = named("p")
        .needs_battery(12.0)
        .settle("s", 12.5)
        .confirm("c")
        .measure(Measure::new("?", "a", "m"))
        .build()
        .unwrap();
    assert_eq!(p.plan().estimate_secs(), 102.5);
    assert_eq!(text::duration(300.0 + 420.0), "12 min");
    assert_eq!(text::duration(3600.0 + 720.0), "1 h 12 min");
}

#[test]
fn plausible_is_a_closed_interval_and_f9_never_what_is_not_finite() {
    let kind = |min: Option<f64>, max: Option<f64>| StepKind::Measure {
        key: "a".into(),
        unit: "m".into(),
        min,
        max,
        step: 0.001,
        estimate_secs: 60.0,
        near_robot: true,
    };
    let closed = kind(Some(2.0), Some(5.0));
    for (value, inside) in [(2.0, true), (5.0, true), (1.999, false), (5.001, false)] {
        assert_eq!(closed.plausible(value), inside, "{value}");
    }
    assert!(kind(Some(2.0), None).plausible(1e9) && kind(None, None).plausible(-1e9));
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(!kind(None, None).plausible(value) && !closed.plausible(value));
    }
}

#[test]
fn f19_number_texts_follow_no_locale_and_round_as_the_reference_does() {
    for (value, expected) in
        [(2.5, "2.50"), (2.125, "2.13"), (1.005, "1.01"), (10.0, "10.00"), (-0.125, "-0.13")]
    {
        assert_eq!(text::fixed(value, 2), expected);
    }
    assert_eq!(text::safe("2.00: 2.00 -> 1800 / 42"), "2.00_2.00_-_1800_42");
    for (value, expected) in
        [(4.0, "4.0"), (1e16, "1.0E16"), (f64::NAN, "NaN"), (0.001, "0.001"), (1e7, "1.0E7")]
    {
        assert_eq!(text::java_double(value), expected);
    }
}

#[test]
fn the_plan_s_hash_sees_ids_kinds_keys_units_ranges_and_order_and_no_texts() {
    let base = || named("p").confirm("c").measure(Measure::new("?", "a", "m").range(0.0, 1.0));
    let hash = |b: ProcedureBuilder<()>| b.build().unwrap().plan().hash();
    let same = hash(base());
    assert_eq!(same.len(), 64);
    assert_eq!(
        same,
        hash(
            Procedure::builder("p", "Other")
                .why("w")
                .confirm("other")
                .measure(Measure::new("!", "a", "m").range(0.0, 1.0))
        )
    );
    for other in [
        Procedure::builder("q", "Title").confirm("c").measure(Measure::new("?", "a", "m").range(0.0, 1.0)),
        named("p").confirm("c").measure(Measure::new("?", "b", "m").range(0.0, 1.0)),
        named("p").confirm("c").measure(Measure::new("?", "a", "in").range(0.0, 1.0)),
        named("p").confirm("c").measure(Measure::new("?", "a", "m").range(0.0, 2.0)),
        named("p").confirm("c").measure(Measure::new("?", "a", "m")),
        named("p").measure(Measure::new("?", "a", "m").range(0.0, 1.0)).confirm("c"),
        base().settle("s", 1.0),
    ] {
        assert_ne!(same, hash(other));
    }
}

fn questions(procedure: &Procedure<Routine>) -> Vec<(String, String, Option<f64>, Option<f64>)> {
    procedure
        .plan()
        .steps
        .iter()
        .filter_map(|s| match &s.kind {
            StepKind::Measure { key, unit, min, max, .. } => Some((key.clone(), unit.clone(), *min, *max)),
            _ => None,
        })
        .collect()
}

fn gate(procedure: &Procedure<Routine>) -> f64 {
    match procedure.plan().steps[0].kind {
        StepKind::BatteryGate { min_volts, .. } => min_volts,
        _ => panic!("no gate first"),
    }
}

#[test]
fn ids_keys_units_ranges_and_gates_are_the_contract() {
    let drive = Drivetrain::default();
    let basics = procedures::drivetrain_basics::<Routine>(&drive).unwrap();
    let gates: Vec<(&str, f64)> = basics.iter().map(|p| (p.plan().id.as_str(), gate(p))).collect();
    assert_eq!(
        gates,
        [("wheel-radius", 12.0), ("slip-current", 12.2), ("drive-ff", 12.3), ("odometry-drift", 12.2)]
    );
    assert_eq!(questions(&basics[0]), [("caliper-diameter-in".into(), "in".into(), Some(3.0), Some(4.5))]);
    assert!(questions(&basics[1]).is_empty() && questions(&basics[2]).is_empty());
    let laps = questions(&basics[3]);
    for lap in 1..=3 {
        assert!(laps.contains(&(format!("lap{lap}-error-m"), "m".into(), Some(0.0), Some(2.0))));
        assert!(laps.contains(&(format!("lap{lap}-x-m"), "m".into(), Some(-2.0), Some(2.0))));
    }
    let soak = procedures::thermal_soak(10.0, 30.0, || Routine::Observe { secs: 30.0 }).unwrap();
    assert_eq!((soak.plan().id.as_str(), gate(&soak), soak.acts().len()), ("thermal-soak", 12.4, 20));
    assert_eq!(questions(&soak), [("hot-gearboxes".into(), "count".into(), Some(0.0), Some(8.0))]);
    assert_eq!(procedures::straight_run::<Routine>(&drive, 1).unwrap().plan().id, "straight-run");
    assert_eq!(procedures::vision_pose::<Routine>(2).unwrap().plan().id, "vision-pose");
}

#[test]
fn additions_spins_and_laps_go_both_ways_and_the_slip_is_taken_three_times() {
    let basics = procedures::drivetrain_basics::<Routine>(&Drivetrain::default()).unwrap();
    let count = |p: usize, which: fn(&Routine) -> bool| basics[p].acts().iter().filter(|r| which(r)).count();
    assert_eq!(count(0, |r| matches!(r, Routine::WheelRadius(c) if c.direction.sign() > 0.0)), 1);
    assert_eq!(count(0, |r| matches!(r, Routine::WheelRadius(c) if c.direction.sign() < 0.0)), 1);
    assert_eq!(count(1, |r| matches!(r, Routine::SlipCurrent(_))), 3);
    for sign in [1.0, -1.0] {
        let laps = basics[3]
            .acts()
            .iter()
            .filter(|r| matches!(r, Routine::Lap { direction, .. } if direction.sign() == sign));
        assert_eq!(laps.count(), 3);
    }
    let run = procedures::straight_run::<Routine>(&Drivetrain { runway_m: 30.0, ..Drivetrain::default() }, 1)
        .unwrap();
    let ways: Vec<f64> = run
        .acts()
        .iter()
        .filter_map(|r| match r {
            Routine::Straight { distance_m, .. } => Some(*distance_m),
            _ => None,
        })
        .collect();
    assert_eq!(ways, [12.0, -12.0], "at most 12 m, both ways");
}

#[test]
fn f14_the_wheel_radius_cap_leaves_the_routine_room() {
    let p = procedures::wheel_radius::<Routine>(&Drivetrain::default()).unwrap();
    let nominal = 8.0 * std::f64::consts::PI / 0.6;
    for step in &p.plan().steps {
        if let StepKind::Act { timeout_secs, .. } = step.kind {
            assert!(timeout_secs >= 4.0 * nominal + 5.0 - 1e-9, "{timeout_secs}");
        }
    }
}

#[test]
fn f15_the_feedforward_sweep_stops_short_of_the_runway() {
    for runway_m in [3.0, 8.0, 20.0] {
        let p = procedures::drive_feedforward::<Routine>(&Drivetrain { runway_m, ..Drivetrain::default() })
            .unwrap();
        for (routine, secs) in
            p.acts().iter().zip([(1.5 * runway_m).clamp(6.0, 20.0), 0.0, (0.5 * runway_m).clamp(2.0, 6.0)])
        {
            let Routine::SysId { test, config } = routine else { panic!() };
            assert_eq!(config.stop_distance_m, runway_m - 1.5);
            if test.sign() > 0.0 && secs > 0.0 {
                assert_eq!(config.stop_secs, secs);
            }
        }
    }
}

#[test]
fn f11_every_lap_begins_with_a_confirm() {
    let p = procedures::odometry_drift(6.0, |_| ()).unwrap();
    let mut confirmed = false;
    for step in &p.plan().steps {
        match step.kind {
            StepKind::Confirm { .. } => confirmed = true,
            StepKind::Act { .. } => assert!(std::mem::take(&mut confirmed), "{}", step.label),
            _ => {}
        }
    }
}

fn shots() -> Sweep {
    Sweep::new("shot-map", "Shot map")
        .axis(Axis::new("hood", "deg", 20.0, 60.0))
        .axis(Axis::new("flywheel", "rpm", 0.0, 6000.0))
        .setpoint(Setpoint::at(2.0).set("flywheel", 1800.0).set("hood", 42.0))
        .setpoint(Setpoint::at(2.0).set("hood", 42.0).set("flywheel", 1900.0))
        .setpoint(Setpoint::at(3.0).set("hood", 38.0).set("flywheel", 2100.0))
}

#[test]
fn f29_axes_are_named_so_a_hood_never_gets_a_flywheel_s_number() {
    let p = shots().build(|s| s.values.clone(), |_| Vec::new()).unwrap();
    assert_eq!(p.acts()[0], [42.0, 1800.0]);
    let swapped = Sweep::new("s", "S")
        .axis(Axis::new("hood", "deg", 20.0, 60.0))
        .setpoint(Setpoint::at(1.0).set("hood", 1800.0));
    let error = swapped.build(|_| (), |_| ()).unwrap_err();
    assert_eq!((error.path.as_str(), error.found.as_str()), ("sweep[s].setpoints[0].hood", "1800"));
    let missing = Sweep::new("s", "S").axis(Axis::new("hood", "deg", 0.0, 60.0)).setpoint(Setpoint::at(1.0));
    assert!(missing.build(|_| (), |_| ()).is_err());
    let unknown = Sweep::new("s", "S")
        .axis(Axis::new("hood", "deg", 0.0, 60.0))
        .setpoint(Setpoint::at(1.0).set("hod", 1.0));
    assert!(unknown.build(|_| (), |_| ()).unwrap_err().expected.contains("hood"));
}

#[test]
fn f17_sweep_keys_cannot_collide() {
    let p = shots()
        .repeats(2)
        .build(|_| Routine::Observe { secs: 1.0 }, |_| Routine::Observe { secs: 1.0 })
        .unwrap();
    let keys: Vec<String> = questions(&p).into_iter().map(|q| q.0).collect();
    assert_eq!(keys, ["at-2.00", "at-2.00#2", "at-2.00#3", "at-2.00#4", "at-3.00", "at-3.00#2"]);
    assert_eq!(p.plan().estimate_secs(), 6.0 * 74.0 + 2.0 * 30.0, "a Confirm only where `at` changes");
}

#[test]
fn a_sweep_banks_each_shot_and_repeats_none() {
    let p = shots().build(|_| (), |_| ()).unwrap();
    let mut b = Bench::go(common::campaign([p]));
    b.until_prompt("Robot at 2.00 m");
    b.advance();
    b.until_prompt("did it score");
    assert_eq!(b.runner.board().prompt_key.as_str(), "shot-map/at-2.00");
    b.answer(1.0);
    // The second shot was fired and not scored when the pack came loose.
    b.until_prompt("#2: did it score");
    b.reboot();
    b.enabled = true;
    b.run(3.0);
    b.until_prompt("#2: did it score");
    assert_eq!(b.started.len(), 4, "no shot is fired twice");
    b.answer(0.5);
    b.until_prompt("Robot at 3.00 m");
    b.advance();
    // The third was set and not fired.
    b.until(9.0, |b| b.started.len() == 5);
    b.run(0.5);
    b.reboot();
    b.enabled = true;
    b.until_prompt("Robot at 3.00 m");
    b.advance();
    b.until_prompt("did it score");
    assert_eq!(b.started[4..], [ActId(4), ActId(4), ActId(5)], "its setpoints were gone, so it is set again");
    b.answer(0.0);
    b.until(9.0, |b| b.state() == State::Done);
    let rows: Vec<_> = b.logged("FieldLab/6aa1f940/shot-map/Row");
    assert_eq!(rows, [0.into(), 1.into(), 2.into(), 2.into()]);
    assert_eq!(b.logged("FieldLab/shot-map/First")[0], 42.0.into());
    assert_eq!(b.logged("FieldLab/shot-map/Second")[0], 1800.0.into());
}

#[test]
fn f18_a_shot_that_is_not_ready_is_not_fired_and_can_be_left_out() {
    let p = shots().build(|_| (), |_| ()).unwrap();
    let mut b = Bench::go(common::campaign([p]));
    b.scripts.entry(ActId(0)).or_default().push_back(Script::Never);
    b.until_prompt("Robot at 2.00 m");
    b.advance();
    b.until_prompt("hit its cap of 8.0 s");
    assert_eq!(b.started, [ActId(0)]);
    b.skip("flywheel slips");
    b.until_prompt("#2: did it score");
    assert_eq!(b.started, [ActId(0), ActId(2), ActId(3)], "the next shot goes on");
    b.answer(1.0);
    b.until_prompt("Robot at 3.00 m");
    b.advance();
    b.until_prompt("did it score");
    b.answer(1.0);
    b.until(9.0, |b| b.state() == State::Done);
    assert!(b.runner.memory().quality["shot-map"].starts_with("partial"), "{:?}", b.runner.memory().quality);
    assert_eq!(b.runner.memory().outcomes["shot-map"][1].outcome, StepOutcome::TimedOut);
    assert!(!b.runner.memory().answers.contains_key("shot-map/at-2.00"));
}
