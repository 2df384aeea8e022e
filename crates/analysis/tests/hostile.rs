//! Nothing in a log's bytes, and nothing in the JSON inside it, makes the analysis panic.

#![allow(clippy::unwrap_used, reason = "a test says what broke")]

mod common;

use common::{Robot, SESSION, Spelling, Truth, first_half};
use fieldlab_analysis::{LogSet, Options, analyse};
use proptest::prelude::*;

fn survives(bytes: Vec<u8>) {
    let Ok(set) = LogSet::from_bytes(vec![("x".to_owned(), bytes)]) else { return };
    let findings = analyse(&set, &Options::default(), &mut |_, _| {}).unwrap();
    for constant in &findings.constants {
        assert!(constant.value.is_none_or(f64::is_finite), "{constant:?}");
    }
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let word = prop_oneof![
        Just("procedure_started"),
        Just("act_started"),
        Just("act_ended"),
        Just("procedure_banked"),
        Just("gate_paused"),
        Just("gate_resumed"),
        Just("answer"),
        Just("drive-ff"),
        Just("act"),
        Just("measure"),
        Just(""),
    ];
    let leaf = prop_oneof![
        word.prop_map(|w| serde_json::json!(w)),
        any::<f64>().prop_map(|v| serde_json::json!(v)),
        any::<bool>().prop_map(|v| serde_json::json!(v)),
        Just(serde_json::Value::Null),
    ];
    let key = prop_oneof![
        Just("event"),
        Just("procedure"),
        Just("label"),
        Just("kind"),
        Just("plan"),
        Just("procedures"),
        Just("steps"),
        Just("id"),
        Just("shot"),
        Just("values"),
        Just("constants"),
        Just("wheel_radius_m"),
        Just("results"),
        Just("axes"),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::Array),
            prop::collection::vec((key.clone(), inner), 0..5).prop_map(|pairs| {
                serde_json::Value::Object(pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_header_and_any_events(header in json(), events in prop::collection::vec(json(), 0..12)) {
        let mut robot = Robot::new(Spelling::Ours, Truth::default());
        robot.log.json(&format!("FieldLab/{SESSION}/Header"), &header);
        for event in &events {
            robot.log.json(&format!("FieldLab/{SESSION}/Events"), event);
            robot.log.wait(0.5);
        }
        survives(robot.log.bytes());
    }

    #[test]
    fn any_numbers_in_the_channels(values in prop::collection::vec((any::<f64>(), any::<f64>(), any::<f64>()), 0..60)) {
        let mut robot = Robot::new(Spelling::Ours, Truth::default());
        robot.head("boot-a", false);
        robot.begin("wheel-radius");
        robot.log.text("Calibration/SlipCurrent/Status", "running");
        robot.log.state("dynamic-forward");
        for (a, b, c) in &values {
            for i in 0..4 {
                robot.log.num(&format!("Swerve/Modules/{i}/PositionRadians"), *a);
                robot.log.num(&format!("Swerve/Modules/{i}/VelocityMps"), *b);
                robot.log.num(&format!("Swerve/Modules/{i}/StatorAmps"), *c);
                robot.log.num(&format!("Swerve/Modules/{i}/TemperatureC"), *c);
            }
            robot.log.num("Gyro/YawRadians", *b);
            robot.log.num("Status/BatteryVolts", *c);
            robot.log.sysid("voltage-fl-drive", "V", *a);
            robot.log.sysid("position-fl-drive", "m", *b);
            robot.log.sysid("velocity-fl-drive", "m/s", *c);
            robot.log.wait(0.02);
        }
        robot.log.text("Calibration/SlipCurrent/Status", "done");
        robot.log.state("none");
        for key in ["lap1-error-m", "pose1-x-m", "forward1-m", "at-2.00"] {
            robot.log.answer("odometry-drift", key, "m", values.first().map_or(f64::NAN, |v| v.0));
        }
        survives(robot.log.bytes());
    }
}

/// Bytes of a whole log turned over, one in a thousand.
#[test]
fn turned_bytes() {
    let mut robot = Robot::new(Spelling::Ours, Truth::default());
    robot.head("boot-a", false);
    first_half(&mut robot);
    let bytes = robot.log.bytes();
    let mut state = 7_u64;
    for _ in 0..6 {
        let mut hurt = bytes.clone();
        for byte in &mut hurt {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if (state >> 33).is_multiple_of(1000) {
                *byte ^= (state >> 50) as u8;
            }
        }
        survives(hurt);
    }
}
