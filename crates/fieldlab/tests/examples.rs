//! The smaller examples do what they say.
#![allow(clippy::unwrap_used, reason = "a test")]
#![allow(dead_code, unreachable_pub, reason = "the examples' mains are not run here")]

#[path = "../examples/identity.rs"]
mod identity;
#[path = "../examples/own_action.rs"]
mod own_action;
#[path = "../examples/own_hardware.rs"]
mod own_hardware;
#[path = "../examples/standalone_sysid.rs"]
mod standalone_sysid;

#[test]
fn a_robot_says_who_it_is_in_its_first_turn() {
    let sheet = identity::first_turn().unwrap();
    assert_eq!(sheet.whole(), fieldlab::identity::Whole::Yes);
    let rows = |key: &str| sheet.list(key).iter().map(|row| row.to_string()).collect::<Vec<_>>();
    assert_eq!(sheet.text("Identity/Name"), Some("Ratchet"));
    assert_eq!(rows("Power/ChannelsInUse"), ["0|Front left drive", "1|Front right drive"]);
    assert_eq!(rows("Hardware/Inventory"), ["CANcoder|4", "REV PDH|1", "TalonFX|8"]);
    for (key, expect) in [
        ("Drivetrain/TrackWidthMeters", 0.54),
        ("Drivetrain/WheelBaseMeters", 0.58),
        ("Drivetrain/DriveGearRatio", 6.75),
        ("Chassis/BumperLengthMeters", 0.90),
        ("Power/Channels", 24.0),
    ] {
        let found = sheet.number(key).unwrap();
        assert!((found - expect).abs() < 1e-9, "{key}: {found}");
    }
    for absent in ["Chassis/MassKg", "Software/JavaVersion", "Identity/TeamNumber"] {
        assert_eq!(sheet.value(absent), None, "{absent}");
    }
    assert_eq!(sheet.problems().count(), 0);
}

#[test]
fn an_action_of_ones_own_reports_what_it_found() {
    assert_eq!(own_action::procedure().unwrap().plan().id, "nudge");
    let results = own_action::on_the_bench().unwrap();
    let names: Vec<_> = results.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["forwards_rad_per_sec", "backwards_rad_per_sec"]);
    assert!(results.iter().all(|(_, speed)| *speed > 5.0), "{results:?}");
}

#[test]
fn a_robot_from_parts_spins_up_and_is_neutral_when_disabled() {
    let (enabled, disabled) = own_hardware::up_and_down().unwrap();
    assert!((enabled - 3000.0).abs() < 50.0, "{enabled}");
    assert!(disabled < 50.0, "{disabled}");
}

#[test]
fn standalone_sysid_leaves_a_log_with_the_four_tests() {
    let out = tempfile::tempdir().unwrap();
    let path = standalone_sysid::four_tests(out.path()).unwrap();
    let log = fieldlab_wpilog::Log::open(&path).unwrap();
    let state = log.named("sysid-test-state-drive").next().unwrap();
    let states = log.texts(state).unwrap();
    let tests: Vec<_> = states.values.iter().map(AsRef::as_ref).filter(|s| *s != "none").collect();
    assert_eq!(tests, ["quasistatic-forward", "quasistatic-reverse", "dynamic-forward", "dynamic-reverse"]);
    for channel in ["voltage-fl-drive", "position-bl-drive", "velocity-br-drive"] {
        assert!(log.named(channel).next().unwrap().records > 100, "{channel}");
    }
}
