//! A bench for the runner: a clock, a battery, acts, an operator and a disk, all made up.
// Each test binary uses its own part of the bench, and a module of a binary has no outside.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::panic)]

use std::collections::{BTreeMap, VecDeque};

use fieldlab_base::{ClientId, Micros, OperatorSample, OperatorValue};
use fieldlab_campaign::inputs::{self, Role};
use fieldlab_campaign::{
    Act, ActId, ActReport, ActRequest, BatteryReading, Campaign, CheckpointState, Measure, Plan, PreArmFact,
    Procedure, Runner, RunnerConfig, RunnerInput, SaveReport, Start, State,
};

pub const TICK: Micros = Micros::from_millis(20);
pub const UNIX_AT_START: f64 = 1_789_000_000.0;

/// How the next run of an act shall end.
#[derive(Debug, Clone, PartialEq)]
pub enum Script {
    Complete,
    Fail(&'static str),
    Interrupt(&'static str),
    Never,
    /// Completes, with this many volts meanwhile.
    SagTo(f64),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Disk {
    Works,
    Fails(&'static str),
    Silent,
}

/// One record of the runner's.
#[derive(Debug, Clone, PartialEq)]
pub struct Logged {
    pub key: String,
    pub value: fieldlab_values::Value,
    pub sticky: bool,
}

pub struct Bench {
    pub plan: Plan,
    pub runner: Runner,
    pub now: Micros,
    pub enabled: bool,
    pub ended: bool,
    pub volts: Option<f64>,
    pub volts_age: f64,
    pub unix: Option<Micros>,
    pub disk: Disk,
    /// What is durable.
    pub saved: Option<String>,
    pub saves: Vec<String>,
    pub set_aside: Vec<String>,
    pub finished: Option<String>,
    pub pre_arm: Vec<PreArmFact>,
    pub started: Vec<ActId>,
    pub scripts: BTreeMap<ActId, VecDeque<Script>>,
    pub act_secs: f64,
    pub log: Vec<Logged>,
    pub client: u64,
    pub connected_at: Micros,
    pub moving_ticks: usize,
    pub states: Vec<State>,
    running: Option<(ActId, u32, Micros, Script)>,
    report: ActReport,
    reports: Vec<SaveReport>,
    operator: Vec<OperatorSample>,
    arrival: u64,
    flip: BTreeMap<usize, f64>,
}

impl Bench {
    pub fn new<A>(campaign: Campaign<A>) -> Self {
        Self::with(campaign.plan().clone(), RunnerConfig::default(), |_| {})
    }

    pub fn with(plan: Plan, config: RunnerConfig, change: impl FnOnce(&mut Start)) -> Self {
        let unix = Some(Micros::from_secs(UNIX_AT_START));
        let mut start = Start::fresh(Micros::ZERO, unix);
        change(&mut start);
        let runner = Runner::new(plan.clone(), config, start).unwrap();
        Self {
            plan,
            runner,
            now: Micros::ZERO,
            enabled: false,
            ended: false,
            volts: Some(12.8),
            volts_age: 0.0,
            unix,
            disk: Disk::Works,
            saved: None,
            saves: Vec::new(),
            set_aside: Vec::new(),
            finished: None,
            pre_arm: PreArmFact::ALL_PASS.to_vec(),
            started: Vec::new(),
            scripts: BTreeMap::new(),
            act_secs: 1.0,
            log: Vec::new(),
            client: 1,
            connected_at: Micros::from_secs(-100.0),
            moving_ticks: 0,
            states: Vec::new(),
            running: None,
            report: ActReport::Idle,
            reports: Vec::new(),
            operator: Vec::new(),
            arrival: 0,
            flip: BTreeMap::new(),
        }
    }

    /// Enabled from the first tick.
    pub fn go<A>(campaign: Campaign<A>) -> Self {
        let mut bench = Self::new(campaign);
        bench.enabled = true;
        bench
    }

    pub fn tick(&mut self) {
        self.now += TICK;
        self.unix = self.unix.map(|u| u + TICK);
        self.work();
        let sag = match &self.running {
            Some((_, _, _, Script::SagTo(volts))) => Some(*volts),
            _ => None,
        };
        let operator = std::mem::take(&mut self.operator);
        let reports = std::mem::take(&mut self.reports);
        let out = self.runner.step(&RunnerInput {
            now: self.now,
            unix: self.unix,
            enabled: self.enabled,
            ended: self.ended,
            battery: sag.or(self.volts).map(|volts| BatteryReading { volts, age_secs: self.volts_age }),
            drive_neutral: self.running.is_none(),
            act: &self.report,
            operator: &operator,
            saved: &reports,
            pre_arm: &self.pre_arm,
        });
        match out.act {
            ActRequest::None => {
                self.running = None;
                self.report = ActReport::Idle;
            }
            ActRequest::Run { act, attempt } if self.running.as_ref().is_none_or(|r| r.1 != attempt) => {
                let script = self.scripts.entry(act).or_default().pop_front().unwrap_or(Script::Complete);
                self.started.push(act);
                self.running = Some((act, attempt, self.now, script));
                self.report = ActReport::Running { attempt };
            }
            ActRequest::Run { .. } => {}
        }
        self.moving_ticks += usize::from(self.running.is_some());
        let before = self.log.len();
        for record in self.runner.log() {
            let key = &self.runner.log_keys()[record.key];
            let value = record.value.to_value();
            assert_eq!(value.family(), key.data_type.family(), "{}", key.key);
            assert!(!self.log[before..].iter().any(|r| r.key == *key.key), "one value a loop: {}", key.key);
            self.log.push(Logged { key: key.key.to_string(), value, sticky: key.sticky });
        }
        if let Some(save) = out.save {
            let text = String::from_utf8(save.bytes.to_vec()).unwrap();
            if save.set_aside_first
                && let Some(old) = self.saved.take()
            {
                self.set_aside.push(old);
            }
            self.saves.push(text.clone());
            match self.disk {
                Disk::Works => {
                    self.saved = Some(text);
                    self.reports.push(SaveReport { seq: save.seq, result: Ok(()) });
                }
                Disk::Fails(why) => self.reports.push(SaveReport { seq: save.seq, result: Err(why.into()) }),
                Disk::Silent => {}
            }
        }
        if let Some(finish) = out.finish {
            self.finished = Some(String::from_utf8(finish.marker.to_vec()).unwrap());
            self.saved = None;
            self.reports.push(SaveReport { seq: finish.seq, result: Ok(()) });
        }
        let state = self.runner.board().state;
        if self.states.last() != Some(&state) {
            self.states.push(state);
        }
    }

    fn work(&mut self) {
        let Some((_, attempt, since, script)) = &self.running else { return };
        let attempt = *attempt;
        if self.now.since(*since) < Micros::from_secs(self.act_secs) {
            return;
        }
        self.report = match script {
            Script::Complete | Script::SagTo(_) => ActReport::Completed { attempt, results: Vec::new() },
            Script::Fail(why) => ActReport::Failed { attempt, reason: (*why).into() },
            Script::Interrupt(why) => ActReport::Interrupted { attempt, reason: (*why).into() },
            Script::Never => ActReport::Running { attempt },
        };
    }

    pub fn run(&mut self, secs: f64) {
        let until = self.now + Micros::from_secs(secs);
        while self.now < until {
            self.tick();
        }
    }

    /// Ticks until it is so; fails after `secs`.
    #[track_caller]
    pub fn until(&mut self, secs: f64, what: impl Fn(&Self) -> bool) {
        let until = self.now + Micros::from_secs(secs);
        while !what(self) {
            assert!(self.now < until, "not so after {secs} s: {}", self.describe());
            self.tick();
        }
    }

    #[track_caller]
    pub fn until_prompt(&mut self, part: &str) {
        self.until(60.0, |b| b.state() == State::AwaitingOperator && b.prompt().contains(part));
    }

    pub fn describe(&self) -> String {
        let b = self.runner.board();
        format!(
            "{} procedure {:?} step {:?} prompt {:?} hold {:?} fault {:?} commit {:?} notes {:?}",
            b.state.token(),
            b.procedure_id.as_str(),
            b.step.as_str(),
            b.prompt.as_str(),
            b.hold.as_str(),
            b.fault.as_str(),
            b.last_commit.as_str(),
            b.notes.rows()
        )
    }

    pub fn state(&self) -> State {
        self.runner.board().state
    }

    pub fn prompt(&self) -> &str {
        self.runner.board().prompt.as_str()
    }

    pub fn commit(&self) -> &str {
        self.runner.board().last_commit.as_str()
    }

    pub fn notes(&self) -> String {
        self.runner.board().notes.rows().join("\n")
    }

    pub fn index(&self, role: Role) -> usize {
        self.runner.inputs().iter().position(|i| i.role == role).unwrap()
    }

    pub fn answer_index(&self, key: &str) -> usize {
        let topic = format!("{}/Answers/{key}", inputs::ROOT);
        self.runner.inputs().iter().position(|i| i.topic == topic).unwrap()
    }

    /// A write that reaches the runner in the next tick.
    pub fn write(&mut self, index: usize, value: f64) {
        self.send(index, OperatorValue::Number(value));
    }

    pub fn send(&mut self, index: usize, value: OperatorValue) {
        self.arrival += 1;
        self.operator.push(OperatorSample {
            input: inputs::id(index),
            value,
            arrival: self.arrival,
            received: self.now + TICK,
            client: ClientId(self.client),
            connected_at: self.connected_at,
        });
    }

    /// A change of a toggle.
    pub fn press(&mut self, role: Role) {
        let index = self.index(role);
        let value = self.flip.entry(index).or_insert(0.0);
        *value = 1.0 - *value;
        let value = *value;
        self.write(index, value);
    }

    pub fn type_number(&mut self, value: f64) {
        let index = self.index(Role::Value);
        self.write(index, value);
    }

    /// A client that has just connected is not listened to yet, and neither is a prompt that has just appeared.
    fn settle(&mut self) {
        self.run(0.6);
        while self.now.since(self.connected_at) < Micros::from_secs(3.1) {
            self.tick();
        }
    }

    /// As a person does it: reads, types, waits, presses.
    pub fn answer(&mut self, value: f64) {
        self.settle();
        self.type_number(value);
        self.run(0.5);
        self.press(Role::Advance);
        self.run(0.1);
    }

    pub fn advance(&mut self) {
        self.settle();
        self.press(Role::Advance);
        self.run(0.1);
    }

    pub fn skip(&mut self, reason: &str) {
        self.settle();
        let index = self.index(Role::SkipReason);
        self.send(index, OperatorValue::Text(reason.into()));
        self.press(Role::Skip);
        self.run(0.1);
    }

    pub fn redo(&mut self) {
        self.settle();
        self.press(Role::Redo);
        self.run(0.1);
    }

    /// The radio drops and comes back: another connection.
    pub fn reconnect(&mut self) {
        self.client += 1;
        self.connected_at = self.now;
    }

    /// The process is gone; what was durable is what the next finds.
    pub fn reboot(&mut self) {
        let checkpoint = match &self.saved {
            Some(text) => CheckpointState::Loaded { text: text.clone(), from_backup: None },
            None => CheckpointState::Fresh,
        };
        self.reboot_with(checkpoint);
    }

    pub fn reboot_with(&mut self, checkpoint: CheckpointState) {
        let mut start = Start::fresh(self.now, self.unix);
        start.checkpoint = checkpoint;
        start.finished = self.finished.clone();
        self.runner = Runner::new(self.plan.clone(), RunnerConfig::default(), start).unwrap();
        self.running = None;
        self.report = ActReport::Idle;
        self.reports.clear();
        self.operator.clear();
        self.flip.clear();
        self.enabled = false;
        self.reconnect();
    }

    /// The process lives, the op mode object is another, as on WPILib's main line at a disable.
    pub fn rebuild(&mut self) {
        self.reboot();
        self.client -= 1;
    }

    pub fn all_events(&self) -> Vec<serde_json::Value> {
        let events = self.log.iter().filter(|r| r.key.ends_with("/Events"));
        events
            .filter_map(|r| match &r.value {
                fieldlab_values::Value::String(text) => serde_json::from_str(text).ok(),
                _ => None,
            })
            .collect()
    }

    /// Events of that name.
    pub fn events(&self, name: &str) -> Vec<serde_json::Value> {
        self.all_events().into_iter().filter(|e| e["event"] == name).collect()
    }

    pub fn logged(&self, key: &str) -> Vec<fieldlab_values::Value> {
        self.log.iter().filter(|r| r.key == key).map(|r| r.value.clone()).collect()
    }
}

/// Confirm, act, question.
pub fn tape() -> Procedure<()> {
    tape_called("tape")
}

pub fn tape_called(id: &str) -> Procedure<()> {
    Procedure::builder(id, format!("Title of {id}"))
        .why("to measure")
        .needs_battery(12.0)
        .confirm("clear?")
        .act(Act::new("drive", 30.0, ()))
        .measure(Measure::new("how far", "far-m", "m").range(0.0, 5.0))
        .build()
        .unwrap()
}

pub fn campaign(procedures: impl IntoIterator<Item = Procedure<()>>) -> Campaign<()> {
    Campaign::builder("Field Day").add_all(procedures).build().unwrap()
}
