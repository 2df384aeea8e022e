//! A campaign end to end: robot loop, Field Lab, server, an operator who is its client; disables, reboots, full disks.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod common;

use common::rig::{Operator, Rig, site};
use common::{FakeRobot, TRUE_RADIUS_M};
use fieldlab_base::Micros;
use fieldlab_campaign::procedures::{self, Drivetrain};
use fieldlab_campaign::sweep::{Axis, Setpoint, Sweep};
use fieldlab_campaign::{Act, Campaign, Measure, Procedure};
use fieldlab_robot::acts::RobotAct;
use fieldlab_robot::hw::MechanismCommand;
use fieldlab_wpilog::Log;

fn drivetrain() -> Drivetrain {
    Drivetrain {
        wheel_radius_m: common::RADIUS_M,
        drive_base_radius_m: 0.3_f64.hypot(0.3),
        ..Drivetrain::default()
    }
}

fn basics() -> Campaign<RobotAct> {
    let procedures = procedures::drivetrain_basics(&drivetrain()).unwrap();
    Campaign::builder("Field Day").add_all(procedures).build().unwrap()
}

/// What a person would type and do.
fn person(robot: &FakeRobot) -> impl FnMut(&str, &str) -> Option<f64> + use<> {
    let robot = robot.clone();
    move |prompt, key| {
        robot.0.borrow_mut().wall_break_volts = prompt.to_lowercase().contains("wall").then_some(2.5);
        match key.rsplit_once('/')?.1 {
            "caliper-diameter-in" => Some(3.94),
            other if other.ends_with("-error-m") => Some(0.05),
            other if other.ends_with("-m") => Some(0.03),
            _ => None,
        }
    }
}

/// Runs until `done` or `minutes` have passed.
fn run(rig: &mut Rig, operator: &mut Operator, minutes: f64, mut done: impl FnMut(&Rig) -> bool) {
    let robot = rig.robot.clone();
    let mut answer = person(&robot);
    let end = rig.now + Micros::from_secs(60.0 * minutes);
    while rig.now < end {
        operator.turn(rig.now, &mut answer);
        rig.tick();
        if done(rig) {
            return;
        }
    }
    panic!(
        "not done: state {} procedure {} step {} prompt {:?} hold {:?} fault {:?} notes {:?} prearm {:?} alerts {:?}",
        rig.text("State"),
        rig.text("ProcedureId"),
        rig.text("Step"),
        rig.text("Prompt"),
        rig.text("Hold"),
        rig.text("Fault"),
        rig.rows("Notes"),
        rig.rows("PreArm"),
        rig.memory.last("/Catalyst/Alerts/Errors"),
    );
}

#[test]
fn a_campaign_of_the_first_four_procedures_is_done_and_leaves_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut rig = Rig::boot(FakeRobot::new(), basics(), site(folder.path(), 7), Micros::ZERO, true);
    let mut operator = Operator::new(&rig.hub, rig.now);
    rig.enable("Field Lab");
    run(&mut rig, &mut operator, 40.0, |rig| rig.text("State") == "DONE");

    let measured = rig.rows("Measurements");
    assert!(measured.iter().any(|row| row == "wheel-radius/caliper-diameter-in|3.94"), "{measured:?}");
    assert!(rig.robot_loop.outputs().is_neutral());
    assert!(!folder.path().join("keep/c.json").exists(), "a finished campaign leaves no checkpoint");
    assert!(folder.path().join("keep/c.json.finished").exists());

    let session = rig.text("Session");
    rig.robot_loop.site().close_log();
    let log = Log::open(folder.path().join(format!("out/{session}/{session}_b1.wpilog"))).unwrap();
    let entry =
        |name: &str| log.entries().iter().find(|e| e.name == name).unwrap_or_else(|| panic!("no {name}"));
    assert!(entry("systemTime").range.unwrap().0 < Micros::from_secs(1.0));
    assert_eq!(entry(&format!("FieldLab/{session}/Header")).records, 1);
    let radius = log.numbers(entry("Calibration/WheelRadius/CorrectedRadiusMeters")).unwrap();
    let found = radius.values.iter().copied().rfind(|v| v.is_finite()).unwrap();
    assert!((found / TRUE_RADIUS_M - 1.0).abs() < 0.002, "{found}");
    let slip = log.numbers(entry("Calibration/SlipCurrent/SlipAmps")).unwrap();
    let amps = slip.values.iter().copied().rfind(|v| v.is_finite()).unwrap();
    assert!((amps - 50.0).abs() < 2.0, "{amps}");
    let states = log.texts(entry("sysid-test-state-drive")).unwrap();
    let states: Vec<_> = states.values.iter().map(AsRef::as_ref).filter(|s| *s != "none").collect();
    let tests = ["quasistatic-forward", "quasistatic-reverse", "dynamic-forward", "dynamic-reverse"];
    assert_eq!(states, tests);
    assert!(entry("voltage-fl-drive").records > 100);
    assert_eq!(entry("velocity-br-drive").last_metadata(), r#"{"unit":"m/s"}"#);
    assert!(log.report().salvage.is_none(), "{:?}", log.report());
}

/// Until the robot turns on the spot: the first act.
fn until_motion(rig: &mut Rig, operator: &mut Operator) {
    run(rig, operator, 5.0, |rig| rig.text("StepKind") == "act" && !rig.robot_loop.outputs().is_neutral());
}

fn wheel_radius_only() -> Campaign<RobotAct> {
    let procedure = procedures::wheel_radius(&drivetrain()).unwrap();
    Campaign::builder("Field Day").add(procedure).build().unwrap()
}

#[test]
fn f6_a_disable_in_mid_act_gives_no_output_freezes_and_the_act_is_done_again() {
    for rebuild in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let site = site(folder.path(), 7);
        let mut rig = Rig::boot(FakeRobot::new(), wheel_radius_only(), site, Micros::ZERO, rebuild);
        let mut operator = Operator::new(&rig.hub, rig.now);
        rig.enable("Field Lab");
        until_motion(&mut rig, &mut operator);
        rig.panel.set_enabled(false);
        rig.tick();
        rig.robot.take_applied();
        for _ in 0..50 * 120 {
            rig.tick();
        }
        assert!(rig.robot.take_applied().iter().all(|o| o.is_neutral()), "rebuild {rebuild}");
        assert!(!rig.robot_loop.hardware().any_held());
        // F5: the dashboard tells what was going on, not IDLE.
        assert_eq!(rig.text("State"), "AWAITING_OPERATOR", "rebuild {rebuild}");
        assert!(rig.text("Prompt").contains("nable"), "{}", rig.text("Prompt"));
        assert_eq!(rig.text("Procedure"), "Wheel radius");
        rig.panel.set_enabled(true);
        run(&mut rig, &mut operator, 10.0, |rig| rig.text("State") == "DONE");
        let typed: Vec<_> = operator.answered.iter().filter(|(_, key)| !key.is_empty()).collect();
        assert_eq!(typed.len(), 1, "asked once: {typed:?}");
    }
}

#[test]
fn f1_f2_a_power_cut_after_the_first_answer_costs_nothing_that_was_banked() {
    let folder = tempfile::tempdir().unwrap();
    let campaign = || {
        let drive = drivetrain();
        Campaign::builder("Field Day").add(procedures::straight_run(&drive, 1).unwrap()).build().unwrap()
    };
    let robot = FakeRobot::new();
    let mut rig = Rig::boot(robot.clone(), campaign(), site(folder.path(), 7), Micros::ZERO, true);
    let mut operator = Operator::new(&rig.hub, rig.now);
    rig.enable("Field Lab");
    run(&mut rig, &mut operator, 10.0, |rig| rig.rows("Measurements").len() == 1);
    run(&mut rig, &mut operator, 1.0, |rig| !rig.text("LastCommit").is_empty());
    let (session, measured) = (rig.text("Session"), rig.rows("Measurements"));
    // The power goes: nothing is told, nothing ends in order.
    drop(rig);

    let mut rig = Rig::boot(robot, campaign(), site(folder.path(), 8), Micros::ZERO, true);
    rig.select("Field Lab");
    rig.tick();
    assert_eq!(rig.text("Session"), session, "F5: shown before anybody enables");
    assert_eq!(rig.rows("Measurements"), measured);
    let mut operator = Operator::new(&rig.hub, rig.now);
    rig.enable("Field Lab");
    run(&mut rig, &mut operator, 10.0, |rig| rig.text("State") == "DONE");
    let first = measured[0].split('|').next().unwrap();
    assert!(operator.answered.iter().all(|(_, key)| key != first), "{first} was asked again");
    rig.robot_loop.site().close_log();
    for boot in [1, 2] {
        let path = folder.path().join(format!("out/{session}/{session}_b{boot}.wpilog"));
        let log = Log::open(&path).unwrap();
        let header = log.named(&format!("FieldLab/{session}/Header")).next().unwrap().records;
        assert!(header >= 1, "every file can be read alone");
    }
}

#[test]
fn a_second_runner_on_one_checkpoint_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let boot = || {
        let rig =
            Rig::boot(FakeRobot::new(), wheel_radius_only(), site(folder.path(), 7), Micros::ZERO, true);
        rig.enable("Field Lab");
        rig
    };
    let (mut first, mut second) = (boot(), boot());
    first.tick();
    second.tick();
    assert_eq!(first.robot_loop.fault(), None);
    let fault = second.robot_loop.fault().unwrap();
    assert!(fault.contains("one runner at a time") && fault.contains("c.json.lock"), "{fault}");
    second.tick();
    assert!(second.robot_loop.outputs().is_neutral());
    drop(first);
    second.panel.set_enabled(false);
    second.tick();
    second.tick();
    assert_eq!(second.robot_loop.fault(), None, "a disable tries again");
}

#[test]
fn an_unreadable_checkpoint_is_kept_said_and_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("keep")).unwrap();
    std::fs::write(folder.path().join("keep/c.json"), "{\"session\": \"6aa1").unwrap();
    let mut rig =
        Rig::boot(FakeRobot::new(), wheel_radius_only(), site(folder.path(), 7), Micros::ZERO, true);
    rig.enable("Field Lab");
    for _ in 0..100 {
        rig.tick();
    }
    assert!(rig.text("Fault").contains("could not be read"), "{}", rig.text("Fault"));
    let errors = format!("{:?}", rig.memory.last("/Catalyst/Alerts/Errors"));
    assert!(errors.contains("[FieldLab]"), "{errors}");
    assert_eq!(std::fs::read(folder.path().join("keep/c.json.bad")).unwrap(), b"{\"session\": \"6aa1");
    assert!(rig.robot_loop.outputs().is_neutral());
}

#[test]
fn nothing_moves_before_the_pre_arm_list_passes_and_each_item_says_why() {
    let check = |break_it: &dyn Fn(&mut fieldlab_robot::site::Site, &FakeRobot), row: &str| {
        let folder = tempfile::tempdir().unwrap();
        let robot = FakeRobot::new();
        let mut site = site(folder.path(), 7);
        break_it(&mut site, &robot);
        let mut rig = Rig::boot(robot, wheel_radius_only(), site, Micros::ZERO, true);
        let mut operator = Operator::new(&rig.hub, rig.now);
        let mut answer = person(&rig.robot);
        rig.enable("Field Lab");
        for _ in 0..50 * 30 {
            operator.turn(rig.now, &mut answer);
            rig.tick();
        }
        let rows = rig.rows("PreArm");
        assert!(rows.iter().any(|r| r.starts_with(row)), "expected {row:?} in {rows:?}");
        assert!(rig.robot.take_applied().iter().all(|o| o.is_neutral()), "{row}");
    };
    check(&|site, _| site.needed_bytes = u64::MAX / 2, "disk|fail|");
    check(&|site, _| site.log.free_floor_bytes = u64::MAX / 2, "log|fail|");
    check(&|_, robot| robot.0.borrow_mut().gyro_alive = false, "gyro|fail|no reading from the gyro");
    check(
        &|_, robot| robot.0.borrow_mut().modules_alive[2] = false,
        "modules|fail|no reading from module 2 (bl)",
    );
}

#[test]
fn a_manifest_that_no_tablet_reads_is_a_warning_and_stops_nothing() {
    let row = |questions: usize| {
        let mut many = Procedure::<RobotAct>::builder("many", "Many questions");
        for i in 0..questions {
            many = many
                .measure(Measure::new(format!("number {i}"), format!("number-{i}-m"), "m").range(0.0, 2.0));
        }
        let folder = tempfile::tempdir().unwrap();
        let campaign = Campaign::builder("Long").add(many.build().unwrap()).build().unwrap();
        let mut rig = Rig::boot(FakeRobot::new(), campaign, site(folder.path(), 7), Micros::ZERO, true);
        rig.enable("Field Lab");
        for _ in 0..50 {
            rig.tick();
        }
        assert!(!rig.text("PromptKey").is_empty(), "it asks its first question all the same");
        rig.rows("PreArm").into_iter().find(|row| row.starts_with("manifest")).unwrap()
    };
    assert_eq!(row(5), "manifest|pass");
    assert!(row(80).starts_with("manifest|warn|the list of inputs has 1"), "{}", row(80));
}

#[test]
fn f12_an_act_that_fails_or_panics_is_offered_again_and_not_banked() {
    let folder = tempfile::tempdir().unwrap();
    let tries = std::rc::Rc::new(std::cell::Cell::new(0));
    let count = std::rc::Rc::clone(&tries);
    let act = RobotAct::routine(move |robot, ticks| {
        let nth = count.replace(count.get() + 1);
        async move {
            let _drive = robot.drive().map_err(|busy| busy.to_string())?;
            ticks.wait_secs(0.1).await;
            match nth {
                0 => Err("jammed".into()),
                1 => panic!("a bug of the team's"),
                _ => Ok(()),
            }
        }
    });
    let procedure = Procedure::builder("custom", "Custom")
        .confirm("clear")
        .act(Act::new("try", 5.0, act))
        .build()
        .unwrap();
    let campaign = Campaign::builder("Field Day").add(procedure).build().unwrap();
    let mut rig = Rig::boot(FakeRobot::new(), campaign, site(folder.path(), 7), Micros::ZERO, true);
    let mut operator = Operator::new(&rig.hub, rig.now);
    rig.enable("Field Lab");
    run(&mut rig, &mut operator, 5.0, |rig| rig.text("State") == "DONE");
    assert_eq!(tries.get(), 3);
    let prompts: Vec<_> = operator.answered.iter().map(|(text, _)| text.as_str()).collect();
    assert!(prompts.iter().any(|p| p.contains("jammed")), "{prompts:?}");
    assert!(prompts.iter().any(|p| p.contains("panicked")), "{prompts:?}");
    assert_eq!(rig.robot_loop.fault(), None, "an act's panic does not end the campaign");
}

#[test]
fn f29_a_sweep_holds_its_axes_until_the_shot_and_notes_what_they_had() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = Sweep::new("shot-map", "Shot map")
        .axis(Axis::new("hood", "deg", 20.0, 60.0))
        .axis(Axis::new("flywheel", "rpm", 0.0, 6000.0))
        .setpoint(Setpoint::at(2.0).set("hood", 42.0).set("flywheel", 1800.0))
        .build(
            |shot| RobotAct::hold(["hood", "flywheel"].into_iter().zip(shot.values.iter().copied())),
            |_| {
                RobotAct::routine(|_, ticks| async move {
                    ticks.wait_secs(0.2).await;
                    Ok(())
                })
            },
        )
        .unwrap();
    let campaign = Campaign::builder("Field Day").add(sweep).build().unwrap();
    let mut rig = Rig::boot(FakeRobot::new(), campaign, site(folder.path(), 7), Micros::ZERO, true);
    let mut operator = Operator::new(&rig.hub, rig.now);
    rig.enable("Field Lab");
    let mut fired_with = None;
    run(&mut rig, &mut operator, 5.0, |rig| {
        if rig.text("Step").ends_with("fire") && rig.text("State") == "RUNNING" {
            fired_with.get_or_insert(rig.robot_loop.outputs().mechanisms);
        }
        rig.text("StepKind") == "measure"
    });
    let fired_with = fired_with.unwrap();
    assert_eq!(fired_with[0], MechanismCommand::Setpoint(42.0), "the hood");
    assert_eq!(fired_with[1], MechanismCommand::Setpoint(1800.0), "the flywheel");
    rig.tick();
    assert!(rig.robot_loop.outputs().is_neutral(), "after the shot they are let go");
    let events =
        format!("{:?}", rig.memory.all(&format!("/Catalyst/FieldLab/{}/Events", rig.text("Session"))));
    assert!(events.contains(r#"\"flywheel.achieved\":1800"#), "{events}");
}
