//! A client that writes to every topic it can see and to a thousand others gets nothing out of the robot.
//!
//! Each scenario runs twice, with and without the attacker; the command streams must be equal bit for bit.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::FakeRobot;
use common::rig::{Operator, Rig, site};
use fieldlab_base::Micros;
use fieldlab_campaign::procedures::{self, Drivetrain};
use fieldlab_campaign::{Act, Campaign, Measure, Procedure, Routine};
use fieldlab_nt4::SubscribeOptions;
use fieldlab_nt4::client::{Client, ClientConfig, PublishOptions, PublisherId};
use fieldlab_nt4_net::{Hub, LocalPipe};
use fieldlab_robot::acts::RobotAct;
use fieldlab_robot::hw::Outputs;
use fieldlab_values::{DataType, Value, ValueRef};

const INPUTS: &str = "/Catalyst/Tuning/";
/// Numbers that neither the operator types nor the robot says.
const POISON: [f64; 6] = [f64::NAN, f64::INFINITY, -1.0, 987_654.5, 1.0, f64::MIN_POSITIVE];

struct Attacker {
    client: Client,
    pipe: LocalPipe,
    publishers: BTreeMap<String, PublisherId>,
    names: BTreeSet<String>,
    round: usize,
    values_sent: u64,
}

impl Attacker {
    fn new(hub: &Hub, now: Micros) -> Self {
        let mut client = Client::new(ClientConfig::default()).unwrap();
        client
            .subscribe(&["", "$"], SubscribeOptions { prefix: true, ..SubscribeOptions::default() })
            .unwrap();
        let pipe = hub.connect_local("attacker", now).unwrap();
        let mut others = BTreeSet::new();
        for root in ["/Catalyst", "/SmartDashboard", "/FMSInfo", "/Catalyst/FieldLab", ""] {
            for i in 0..200 {
                let leaf = match i {
                    0 => "Enabled".to_owned(),
                    1 => "Start".to_owned(),
                    2 => "Command".to_owned(),
                    3 => "OpMode/Select".to_owned(),
                    4 => "Drive/Command".to_owned(),
                    5 => ".command".to_owned(),
                    6 => "Mechanisms/hood/Setpoint".to_owned(),
                    _ => format!("x{i}"),
                };
                others.insert(format!("{root}/{leaf}"));
            }
        }
        assert_eq!(others.len(), 1000);
        Self { client, pipe, publishers: BTreeMap::new(), names: others, round: 0, values_sent: 0 }
    }

    /// Writes to everything, but to the declared inputs only when `inputs`.
    fn strike(&mut self, now: Micros, inputs: bool) {
        self.pipe.pump(&mut self.client, now);
        let visible: BTreeMap<String, DataType> =
            self.client.topics().map(|t| (t.name.to_string(), t.data_type.clone())).collect();
        self.names.extend(visible.keys().filter(|name| !name.starts_with('$')).cloned());
        for name in self.names.clone() {
            if name.starts_with(INPUTS) && !inputs {
                continue;
            }
            let data_type = visible.get(&name).cloned().unwrap_or(DataType::Double);
            let client = &mut self.client;
            let publisher = *self
                .publishers
                .entry(name.clone())
                .or_insert_with(|| client.publish(&name, &data_type, PublishOptions::default()).unwrap());
            let number = POISON[self.round % POISON.len()];
            let value = match data_type {
                DataType::Double => ValueRef::Double(number),
                DataType::Int => ValueRef::Int(self.round as i64 + 1),
                DataType::Boolean => ValueRef::Boolean(true),
                DataType::String | DataType::Json => ValueRef::String("RUNNING"),
                DataType::DoubleArray => ValueRef::DoubleArray(&[1.0, 2.0, 3.0, 4.0]),
                DataType::StringArray => ValueRef::StringArray(&[]),
                _ => ValueRef::Raw(&[0xff; 24]),
            };
            self.client.set(publisher, now, value);
            self.values_sent += 1;
        }
        self.round += 1;
        self.pipe.pump(&mut self.client, now);
    }
}

struct Scenario {
    rig: Rig,
    operator: Operator,
    attacker: Option<Attacker>,
    states: BTreeSet<String>,
}

impl Scenario {
    fn new(attack: bool, folder: &std::path::Path) -> Self {
        let mut rig = Rig::boot(FakeRobot::new(), campaign(), site(folder, 7), Micros::ZERO, true);
        rig.tick();
        let operator = Operator::new(&rig.hub, rig.now);
        let attacker = attack.then(|| Attacker::new(&rig.hub, rig.now));
        Self { rig, operator, attacker, states: BTreeSet::new() }
    }

    /// Some seconds; the attacker strikes five times a second. The operator works when `person`.
    fn go(&mut self, secs: f64, inputs: bool, person: bool) {
        for turn in 0..(secs * 50.0) as usize {
            self.turn(turn, inputs, person);
        }
    }

    fn turn(&mut self, turn: usize, inputs: bool, person: bool) {
        if let Some(attacker) = &mut self.attacker
            && turn.is_multiple_of(10)
        {
            attacker.strike(self.rig.now, inputs);
        }
        if person {
            self.operator.turn(self.rig.now, &mut |_, key| (!key.is_empty()).then_some(3.94));
        }
        self.rig.tick();
        if let Some(Value::String(state)) = self.rig.memory.last("/Catalyst/FieldLab/State") {
            self.states.insert(state.to_string());
        }
        self.rig.memory.clear_but_last();
    }

    fn until(&mut self, inputs: bool, person: bool, done: impl Fn(&Rig) -> bool) {
        for turn in 0..50 * 60 * 10 {
            if done(&self.rig) {
                return;
            }
            self.turn(turn, inputs, person);
        }
        panic!("never: state {} prompt {:?}", self.rig.text("State"), self.rig.text("Prompt"));
    }
}

fn campaign() -> Campaign<RobotAct> {
    let drive = Drivetrain { wheel_radius_m: common::RADIUS_M, ..Drivetrain::default() };
    let straight = Routine::Straight { distance_m: 6.0, speed_mps: 0.5, wheel_radius_m: common::RADIUS_M };
    let two = Procedure::builder("two", "Two")
        .confirm("clear ahead")
        .act(Act::new("ahead", 60.0, RobotAct::from(straight)))
        .measure(Measure::new("how far", "far-m", "m").range(0.0, 8.0))
        .build()
        .unwrap();
    Campaign::builder("Attacked").add(procedures::wheel_radius(&drive).unwrap()).add(two).build().unwrap()
}

/// Through all six states, attacked in each.
fn all_six(attack: bool) -> (Vec<Outputs>, BTreeSet<String>, u64) {
    let folder = tempfile::tempdir().unwrap();
    let mut s = Scenario::new(attack, folder.path());
    s.go(2.0, true, false); // no op mode
    s.rig.select("Field Lab");
    s.go(2.0, true, false); // IDLE: selected, disabled
    s.rig.select("Drive");
    s.rig.panel.set_enabled(true);
    s.go(2.0, true, false); // another op mode, enabled
    s.rig.robot.0.borrow_mut().volts = Some(11.0);
    s.rig.enable("Field Lab");
    s.until(true, false, |rig| rig.text("State") == "PAUSED_BATTERY");
    s.go(5.0, true, false); // PAUSED_BATTERY
    s.rig.robot.0.borrow_mut().volts = Some(12.9);
    s.until(false, false, |rig| rig.text("State") == "AWAITING_OPERATOR");
    s.go(5.0, false, false); // AWAITING_OPERATOR: all but the declared inputs
    s.until(false, true, |rig| rig.text("State") == "RUNNING" && rig.text("StepKind") == "act");
    s.go(5.0, true, false); // RUNNING: the robot turns
    s.rig.panel.set_enabled(false);
    s.go(3.0, true, false); // disabled in mid-step
    s.rig.enable("Drive");
    s.go(3.0, true, false); // ABORTED: a person chose another op mode
    s.rig.enable("Field Lab");
    s.until(false, true, |rig| rig.text("State") == "RUNNING" && rig.text("StepKind") == "act");
    s.until(false, true, |rig| rig.text("State") == "DONE");
    s.go(5.0, true, false); // DONE
    let sent = s.attacker.as_ref().map_or(0, |a| a.values_sent);
    (s.rig.robot.take_applied(), s.states, sent)
}

#[test]
fn no_publish_on_any_topic_changes_the_command_stream_in_any_of_the_six_states() {
    let (calm, states, _) = all_six(false);
    let (attacked, under_attack, sent) = all_six(true);
    let expected: BTreeSet<String> =
        ["IDLE", "RUNNING", "AWAITING_OPERATOR", "PAUSED_BATTERY", "DONE", "ABORTED"]
            .map(String::from)
            .into();
    assert_eq!(states, expected);
    assert_eq!(under_attack, expected);
    assert!(sent > 100_000, "{sent}");
    assert!(calm.iter().any(|o| !o.is_neutral()), "the robot did move");
    let differs = calm.iter().zip(&attacked).position(|(a, b)| a != b);
    assert_eq!(differs, None, "at turn {differs:?} of {}", calm.len());
    assert_eq!(calm.len(), attacked.len());
}

#[test]
fn without_field_lab_enabled_nothing_gives_an_output() {
    let folder = tempfile::tempdir().unwrap();
    let mut s = Scenario::new(true, folder.path());
    s.go(2.0, true, true);
    s.rig.select("Field Lab");
    s.go(5.0, true, true);
    s.rig.select("Drive");
    s.go(2.0, true, true);
    s.rig.panel.set_enabled(true);
    s.go(5.0, true, true);
    s.rig.panel.select(None);
    s.go(2.0, true, true);
    assert!(s.rig.robot.take_applied().iter().all(Outputs::is_neutral));
    let stats = s.rig.hub.with(|server| server.stats());
    assert!(stats.owned_ignored > 1000, "{stats:?}");
}

#[test]
fn while_a_person_is_asked_the_declared_inputs_do_no_more_than_finish_that_step() {
    let folder = tempfile::tempdir().unwrap();
    let mut s = Scenario::new(true, folder.path());
    s.rig.enable("Field Lab");
    s.until(false, true, |rig| rig.text("StepKind") == "measure");
    s.rig.robot.take_applied();
    // The question is the last step before a Confirm: whatever is typed and pressed, nothing moves before that Confirm.
    let mut turns = 0;
    while s.rig.text("StepKind") == "measure" && turns < 50 * 20 {
        s.turn(turns, true, false);
        turns += 1;
    }
    assert!(s.rig.robot.take_applied().iter().all(Outputs::is_neutral));
}
