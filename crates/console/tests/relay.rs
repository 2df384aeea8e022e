//! What the relay lets through and what it does not, between a robot's server and viewers on sockets.
#![allow(clippy::unwrap_used, reason = "a failed step is the test's failure")]

mod common;

use common::{ROBOT_AHEAD, ROOT, Robot, Stage, Viewer, until};
use fieldlab_base::{InputId, OperatorValue};
use fieldlab_nt4::SubscribeOptions;
use fieldlab_nt4::server::InputKind;
use fieldlab_nt4_net::{NetClient, NetClientConfig};
use fieldlab_values::Value;

/// A client that watches the console, and what it has of a topic.
fn watcher(stage: &Stage) -> NetClient {
    let clock = std::sync::Arc::new(|| fieldlab_base::Micros(1));
    let client = NetClient::start(NetClientConfig::new(stage.addr().to_string(), "watcher", clock)).unwrap();
    client.with(|c| c.subscribe(&["/"], SubscribeOptions::prefix())).unwrap();
    client
}

fn shown(client: &NetClient, name: &str) -> Option<Value> {
    client.with(|c| c.value(name).map(|(_, value)| value.clone()))
}

#[track_caller]
fn shows(client: &NetClient, name: &str, expect: &Value) {
    let began = std::time::Instant::now();
    while shown(client, name).as_ref() != Some(expect) {
        let seen = shown(client, name);
        assert!(began.elapsed() < common::PATIENCE, "{name}: expected {expect:?}, seen at last {seen:?}");
        std::thread::yield_now();
    }
}

fn numbers(robot: &Robot) -> Vec<(InputId, OperatorValue)> {
    robot.samples().into_iter().map(|sample| (sample.input, sample.value)).collect()
}

/// `[uid, 0, type, …]`
fn value(uid: u8, kind: u8, rest: &[u8]) -> Vec<u8> {
    [&[0x94, uid, 0, kind], rest].concat()
}

#[test]
fn topics_values_and_times_come_through_as_the_robot_gave_them() {
    let robot = Robot::new();
    let stage = Stage::watching(robot.addr);
    let client = watcher(&stage);
    shows(&client, "/robot/speed", &Value::Double(1.5));
    assert_eq!(client.with(|c| c.value("/robot/speed").map(|(time, _)| time.0)), Some(7));
    shows(&client, "/FieldLabConsole/Robot", &Value::from(robot.addr.to_string().as_str()));
    shows(&client, "/FieldLabConsole/Connected", &Value::Boolean(true));
    shows(&client, "/FieldLabConsole/Viewers", &Value::Int(1));
    robot.publish("/.schema/struct:Pose", &Value::Raw(b"double x"[..].into()));
    shows(&client, "/.schema/struct:Pose", &Value::Raw(b"double x"[..].into()));
    // Time requests are answered with the robot's clock, half a thousand seconds ahead of ours.
    let mut viewer = stage.viewer("page");
    until("the robot's clock", || (viewer.barrier() > ROBOT_AHEAD / 2).then_some(()));
}

#[test]
fn nothing_but_operator_inputs_reaches_the_robot_whatever_kind_of_message_is_tried() {
    let robot = Robot::new();
    let stage = Stage::watching(robot.addr);
    let mut viewer = stage.viewer("attacker");
    let client = watcher(&stage);
    robot.publish("/robot/text", &Value::from("x"));
    until("the robot's text", || viewer.barrier_hears("/robot/text"));
    stage.settle();
    let before = robot.hub.with(|s| (s.stats(), s.topic_names().map(str::to_owned).collect::<Vec<_>>()));

    // Publishes of names that are not inputs, of inputs in other types, and of inputs that the robot does not ask for.
    for (uid, (name, kind)) in [
        ("/robot/speed", "double"),
        ("/robot/text", "string"),
        ("/SmartDashboard/x", "double"),
        ("/Catalyst/FieldLab/State", "string"),
        ("/Catalyst/Tunables/.manifest", "string"),
        ("/Catalyst/Tuning/Shooter/kP", "double"),
        ("/FieldLabConsole/Refused", "int"),
        ("/FMSInfo/ControlWord", "int"),
        ("$clients", "msgpack"),
        ("", "double"),
        ("/Catalyst/Tuning/FieldLab/Value", "string"),
        ("/Catalyst/Tuning/FieldLab/Value", "int"),
        ("/Catalyst/Tuning/FieldLab/SkipReason", "double"),
        ("/Catalyst/Tuning/FieldLab/Answers/other/tape", "double"),
        ("/Catalyst/Tuning/FieldLab/Answers/wheel-radius/tape/x", "double"),
        ("/Catalyst/Tuning/FieldLab/value", "double"),
    ]
    .into_iter()
    .enumerate()
    {
        let uid = uid as u8 + 10;
        viewer.publish(name, kind, i32::from(uid));
        // A value follows at once, as dashboards do it.
        viewer.double(uid, 4.0);
    }
    // The other control messages, and text that is none.
    for text in [
        r#"[{"method":"setproperties","params":{"name":"/robot/speed","update":{"persistent":true}}}]"#,
        r#"[{"method":"setproperties","params":{"name":"/Catalyst/Tuning/FieldLab/Value","update":{"retained":true}}}]"#,
        r#"[{"method":"unpublish","params":{"pubuid":1}}]"#,
        r#"[{"method":"announce","params":{"name":"/x","id":1,"type":"double","properties":{}}}]"#,
        r#"[{"method":"reboot","params":{}}]"#,
        r#"[{"method":"publish"}]"#,
        r#"{"method":"publish"}"#,
        "[[[[",
        "7",
        "",
        "\u{0}\u{1}garbage",
    ] {
        viewer.text(text);
    }
    // Values for publishers that do not exist, of kinds that do not, and text where MessagePack is expected.
    for bytes in [
        value(99, 1, &[1]),
        vec![0x94, 0xfe, 0, 1, 1],
        value(0, 1, &[1]),
        value(99, 77, &[1]),
        vec![0x93, 1, 0, 1],
        vec![0xc0],
        vec![0xd3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe],
        // A text frame's words sent as binary are integers.
        b"[{}]".to_vec(),
    ] {
        viewer.binary(&bytes);
    }
    // Too long: costs the message, not the connection.
    viewer.text(&format!("[{}]", " ".repeat(64 << 10)));
    viewer.binary(&vec![0xc0; (64 << 10) + 1]);
    viewer.barrier();

    let after = robot.hub.with(|s| (s.stats(), s.topic_names().map(str::to_owned).collect::<Vec<_>>()));
    assert_eq!(after, before, "the robot saw nothing of it");
    assert!(robot.samples().is_empty());
    assert_eq!(robot.hub.with(|s| s.value("/robot/speed")).unwrap().1, Value::Double(1.5));
    let refused = until("the count", || match shown(&client, "/FieldLabConsole/Refused") {
        Some(Value::Int(count)) if count >= 50 => Some(count),
        _ => None,
    });
    // 16 publishes with their values, 11 texts, at least one of each binary message, 2 too long.
    assert!(refused >= 16 + 16 + 11 + 8 + 2, "{refused}");
    let Some(Value::String(last)) = shown(&client, "/FieldLabConsole/LastRefused") else {
        unreachable!("it is published as a string")
    };
    assert!(last.contains("attacker"), "{last}");

    // The same connection still does what it may, in order.
    viewer.publish(&format!("{ROOT}/Value"), "double", 1);
    viewer.publish(&format!("{ROOT}/Advance"), "double", 2);
    viewer.double(1, 4.02);
    viewer.double(2, 1.0);
    let seen = until("two samples", || {
        let seen = numbers(&robot);
        (!seen.is_empty()).then_some(seen)
    });
    let mut seen = seen;
    if seen.len() < 2 {
        seen.extend(until("the second", || Some(numbers(&robot)).filter(|more| !more.is_empty())));
    }
    assert_eq!(seen, [(InputId(0), OperatorValue::Number(4.02)), (InputId(1), OperatorValue::Number(1.0))]);
    // Others see what was written, although the robot does not echo to its writer.
    shows(&client, &format!("{ROOT}/Value"), &Value::Double(4.02));
}

#[test]
fn bytes_whose_end_is_unknown_cost_their_sender_the_connection_and_nobody_else() {
    let robot = Robot::new();
    let stage = Stage::watching(robot.addr);
    let mut viewer = stage.viewer("broken");
    let mut other = stage.viewer("other");
    viewer.binary(&[0x94, 1]);
    assert_eq!(viewer.read_to_end(), Some(1001));
    let mut huge = stage.viewer("huge");
    huge.binary_while_read(&vec![0xc0; (1 << 20) + 1]);
    huge.read_to_end();
    other.barrier();
    assert!(robot.samples().is_empty());
}

#[test]
fn a_viewer_that_reconnects_and_sends_again_what_it_last_wrote_commits_nothing() {
    let robot = Robot::new();
    let stage = Stage::watching(robot.addr);
    let write = |viewer: &mut Viewer, number: f64| {
        viewer.publish(&format!("{ROOT}/Value"), "double", 1);
        viewer.publish(&format!("{ROOT}/Advance"), "double", 2);
        viewer.double(1, number);
        viewer.double(2, number);
        viewer.barrier();
    };
    let mut viewer = stage.viewer("page");
    stage.settle();
    write(&mut viewer, 4.0);
    until("both writes", || robot.samples().iter().any(|s| s.input == InputId(1)).then_some(()));
    drop(viewer);
    let mut again = stage.viewer("page");
    write(&mut again, 4.0);
    assert!(robot.samples().is_empty(), "within three seconds nothing passes");
    stage.settle();
    again.double(1, 4.0);
    again.barrier();
    assert!(
        robot.samples().is_empty(),
        "the number that another connection wrote is not an answer of this one"
    );
    again.double(1, 5.0);
    until("a new number", || robot.samples().iter().any(|s| s.input == InputId(0)).then_some(()));
}

#[test]
fn what_was_written_before_or_while_the_robot_was_away_is_not_written_when_it_is_back() {
    let mut robot = Robot::new();
    let stage = Stage::watching(robot.addr);
    let client = watcher(&stage);
    let mut viewer = stage.viewer("page");
    stage.settle();
    viewer.publish(&format!("{ROOT}/Value"), "double", 1);
    viewer.double(1, 4.0);
    until("the first write", || (!robot.samples().is_empty()).then_some(()));
    let addr = robot.addr;
    let port = robot.switch_off();
    shows(&client, "/FieldLabConsole/Connected", &Value::Boolean(false));
    shows(&client, "/robot/speed", &Value::Double(1.5));
    viewer.double(1, 5.0);
    viewer.barrier();
    let told = "a value for /Catalyst/Tuning/FieldLab/Value: the robot is not connected (page)";
    shows(&client, "/FieldLabConsole/LastRefused", &Value::from(told));

    drop(port);
    let back = Robot::rebooted(addr);
    shows(&client, "/FieldLabConsole/Connected", &Value::Boolean(true));
    shows(&client, "/FieldLabConsole/LastRefused", &Value::from(told));
    back.publish("/robot/back", &Value::Int(1));
    shows(&client, "/robot/back", &Value::Int(1));
    assert!(back.samples().is_empty(), "no phantom answers");
    // A rebooted robot's input holds what the robot says, and what is written now arrives.
    shows(&client, &format!("{ROOT}/Value"), &Value::Double(0.0));
    until("a write once the clock is known", || {
        viewer.double(1, 6.0);
        viewer.barrier();
        back.samples().iter().any(|s| s.value == OperatorValue::Number(6.0)).then_some(())
    });
}

#[test]
fn a_topic_that_the_robot_takes_away_is_gone_although_viewers_publish_it() {
    let robot = Robot::new();
    let stage = Stage::watching(robot.addr);
    let mut viewer = stage.viewer("page");
    stage.settle();
    viewer.publish(&format!("{ROOT}/Value"), "double", 1);
    viewer.double(1, 4.0);
    until("the write", || (!robot.samples().is_empty()).then_some(()));
    robot.hub.with(fieldlab_nt4::server::Server::retract_inputs);
    viewer.read_until(|heard| {
        heard.contains("\"unannounce\"")
            && heard.rsplit("unannounce").any(|part| part.contains("FieldLab/Value"))
    });
    assert_eq!(robot.hub.with(|s| s.topic_type(&format!("{ROOT}/Value")).map(str::to_owned)), None);
    viewer.double(1, 5.0);
    viewer.barrier();
    assert!(robot.samples().is_empty());
}

#[test]
fn what_the_manifest_declares_below_the_inputs_prefix_may_be_written_and_nothing_else_of_it() {
    let robot = Robot::new();
    let extra = format!("{ROOT}/Extra");
    robot.hub.with(|s| s.declare_input(&extra, InputKind::Number, &Value::Double(0.0))).unwrap();
    let stage = Stage::watching(robot.addr);
    let client = watcher(&stage);
    shows(&client, &extra, &Value::Double(0.0));
    let mut viewer = stage.viewer("page");
    stage.settle();
    viewer.publish(&extra, "double", 1);
    viewer.double(1, 4.0);
    viewer.barrier();
    assert!(robot.samples().is_empty(), "nobody has declared it");
    robot.publish("/Catalyst/Tuning/Shooter/kP", &Value::Double(1.0));
    let manifest = format!(r#"[{{"key":"{extra}"}},{{"key":"/Catalyst/Tuning/Shooter/kP"}}]"#);
    robot.publish("/Catalyst/Tunables/.manifest", &Value::from(manifest.as_str()));
    shows(&client, "/Catalyst/Tunables/.manifest", &Value::from(manifest.as_str()));
    let sample = until("the declared input", || {
        viewer.publish(&extra, "double", 2);
        viewer.double(2, 5.0);
        viewer.barrier();
        robot.samples().pop()
    });
    assert_eq!(sample.value, OperatorValue::Number(5.0));
    viewer.publish("/Catalyst/Tuning/Shooter/kP", "double", 3);
    viewer.double(3, 9.0);
    viewer.barrier();
    assert_eq!(robot.hub.with(|s| s.value("/Catalyst/Tuning/Shooter/kP")).unwrap().1, Value::Double(1.0));
}

#[test]
fn a_viewer_that_does_not_read_gets_the_latest_and_costs_the_others_nothing() {
    const VALUES: usize = 1500;
    let robot = Robot::new();
    let stage = Stage::watching(robot.addr);
    let subscribe = r#"[{"method":"subscribe","params":{"topics":["/big"],"subuid":1,"options":{"all":true,"periodic":0.01}}}]"#;
    let mut slow = Viewer::connect(stage.addr(), "slow");
    slow.text(subscribe);
    slow.barrier();
    let client = watcher(&stage);
    let text = |n: usize| format!("v={n:06};{}", "x".repeat(10_000));
    for n in 0..VALUES {
        robot.publish("/big", &Value::from(text(n).as_str()));
        // The robot's own queue for the relay holds a megabyte.
        if n % 50 == 49 {
            shows(&client, "/big", &Value::from(text(n).as_str()));
        }
    }
    let last = format!("v={:06};", VALUES - 1);
    slow.read_until_bytes(last.as_bytes());
    let got = slow.values.windows(2).filter(|two| two == b"v=").count();
    assert!(got < VALUES, "what was not read was replaced: {got} of {VALUES}");
}
