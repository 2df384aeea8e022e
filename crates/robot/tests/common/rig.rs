//! A whole robot program around the fake: loop, Field Lab, server, and an operator who is a client of it.

use std::path::Path;

use fieldlab_base::Micros;
use fieldlab_campaign::Campaign;
use fieldlab_nt4::SubscribeOptions;
use fieldlab_nt4::client::{Client, ClientConfig, PublishOptions, PublisherId};
use fieldlab_nt4_net::{Hub, LocalPipe};
use fieldlab_robot::acts::RobotAct;
use fieldlab_robot::driver_station::DriverPanel;
use fieldlab_robot::field_lab::FieldLabOpMode;
use fieldlab_robot::network::{self, NtOperator};
use fieldlab_robot::opmode::{OpModeEntry, OpModeInfo, OpModeKind};
use fieldlab_robot::robot_loop::{LoopConfig, LoopParts, RobotLoop};
use fieldlab_robot::site::{Pace, Site};
use fieldlab_robot::telemetry::{Door, MemorySink, NtSink};
use fieldlab_values::{DataType, Value, ValueRef};

use super::FakeRobot;

/// A clock that somebody set: 2026-11-30 in the afternoon.
pub const UNIX: Micros = Micros(1_796_047_200_000_000);

/// The loop, the world it moves, and the panel that enables it.
pub struct Rig {
    pub robot: FakeRobot,
    pub panel: DriverPanel,
    pub memory: MemorySink,
    pub hub: Hub,
    pub robot_loop: RobotLoop,
    pub now: Micros,
}

/// An op mode that does nothing, to be selected instead.
pub struct Idle;

impl fieldlab_robot::opmode::OpMode for Idle {
    fn periodic(&mut self, _: &mut fieldlab_robot::opmode::Turn<'_>) {}
}

pub fn site(folder: &Path, boot_random: u64) -> Site {
    let mut site = Site::new(folder.join("out"), Pace::Virtual, boot_random);
    site.checkpoint = folder.join("keep").join("c.json");
    site.log.free_floor_bytes = 0;
    site.needed_bytes = 1 << 20;
    site
}

impl Rig {
    /// A robot program that has just booted, with the clock at `now`.
    pub fn boot(
        robot: FakeRobot,
        campaign: Campaign<RobotAct>,
        site: Site,
        now: Micros,
        rebuild_on_disable: bool,
    ) -> Self {
        let (panel, memory, hub) = (DriverPanel::new(), MemorySink::new(), network::hub().unwrap());
        let door = Door::new();
        door.attach(Box::new(memory.clone()));
        door.attach(Box::new(NtSink::direct(hub.clone())));
        let other = OpModeInfo { kind: OpModeKind::Teleop, name: "Drive", group: "", description: "" };
        let parts = LoopParts {
            io: Box::new(robot.clone()),
            station: Box::new(panel.clone()),
            operator: Box::new(NtOperator::direct(hub.clone())),
            door,
            site,
            op_modes: vec![FieldLabOpMode::new(campaign).into(), OpModeEntry::new(other, |_| Ok(Idle))],
        };
        let config = LoopConfig { rebuild_on_disable, ..LoopConfig::default() };
        let robot_loop = RobotLoop::new(config, parts).unwrap();
        Self { robot, panel, memory, hub, robot_loop, now }
    }

    pub fn tick(&mut self) {
        self.now += Micros::from_millis(20);
        self.robot_loop.tick(self.now, Some(UNIX + self.now));
    }

    pub fn select(&self, name: &str) {
        self.panel.select(Some(self.robot_loop.find(name).unwrap()));
    }

    pub fn enable(&self, name: &str) {
        self.select(name);
        self.panel.set_enabled(true);
    }

    /// The newest text of a topic under `/Catalyst/FieldLab/`.
    pub fn text(&self, key: &str) -> String {
        match self.memory.last(&format!("/Catalyst/FieldLab/{key}")) {
            Some(Value::String(text)) => text.to_string(),
            None => String::new(),
            other => panic!("{key}: {other:?}"),
        }
    }

    pub fn rows(&self, key: &str) -> Vec<String> {
        match self.memory.last(&format!("/Catalyst/FieldLab/{key}")) {
            Some(Value::StringArray(rows)) => rows.iter().map(ToString::to_string).collect(),
            other => panic!("{key}: {other:?}"),
        }
    }
}

/// A person at a dashboard: reads the prompt, types, presses.
pub struct Operator {
    client: Client,
    pipe: LocalPipe,
    value: PublisherId,
    advance: PublisherId,
    seen: Option<(i64, Micros)>,
    typed: bool,
    pressed: bool,
    /// Prompts answered: text, key.
    pub answered: Vec<(String, String)>,
}

impl Operator {
    pub fn new(hub: &Hub, now: Micros) -> Self {
        let mut client = Client::new(ClientConfig::default()).unwrap();
        client
            .subscribe(&["/Catalyst/"], SubscribeOptions { prefix: true, ..SubscribeOptions::default() })
            .unwrap();
        let mut publish = |key: &str| {
            let topic = format!("/Catalyst/Tuning/FieldLab/{key}");
            client.publish(&topic, &DataType::Double, PublishOptions::default()).unwrap()
        };
        let (value, advance) = (publish("Value"), publish("Advance"));
        let pipe = hub.connect_local("operator", now).unwrap();
        Self { client, pipe, value, advance, seen: None, typed: false, pressed: false, answered: Vec::new() }
    }

    fn text(&self, key: &str) -> String {
        match self.client.value(&format!("/Catalyst/FieldLab/{key}")) {
            Some((_, Value::String(text))) => text.to_string(),
            _ => String::new(),
        }
    }

    /// One turn: `answer` says the number for a question's key, and is told of every prompt.
    pub fn turn(&mut self, now: Micros, answer: &mut dyn FnMut(&str, &str) -> Option<f64>) {
        self.pipe.pump(&mut self.client, now);
        let seq = match self.client.value("/Catalyst/FieldLab/PromptSeq") {
            Some((_, Value::Int(seq))) => *seq,
            _ => return,
        };
        let (prompt, key) = (self.text("Prompt"), self.text("PromptKey"));
        if prompt.is_empty() {
            self.seen = None;
            return;
        }
        if self.seen.is_none_or(|(s, _)| s != seq) {
            self.seen = Some((seq, now));
            (self.typed, self.pressed) = (false, false);
        }
        let since = self.seen.map_or(0.0, |(_, at)| now.since(at).as_secs());
        if since > 3.2 && !self.typed {
            self.typed = true;
            if let Some(number) = answer(&prompt, &key) {
                self.client.set(self.value, now, ValueRef::Double(number));
            }
        }
        if since > 4.0 && !self.pressed {
            self.pressed = true;
            self.client.set(self.advance, now, ValueRef::Double(seq as f64));
            self.answered.push((prompt, key));
        }
        self.pipe.pump(&mut self.client, now);
    }
}
