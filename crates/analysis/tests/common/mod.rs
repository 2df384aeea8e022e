//! Writes the logs of a campaign whose truth is known, as our robot, DataLogManager or AdvantageKit would.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::collections::BTreeMap;
use std::sync::Arc;

use fieldlab_base::Micros;
use fieldlab_values::{DataType, ValueRef};
use fieldlab_wpilog::Encoder;
use serde_json::{Value as Json, json};

/// Who writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spelling {
    Ours,
    DataLogManager,
    AdvantageKit,
}

pub(crate) const SESSION: &str = "6aa1f940";
const DT: f64 = 0.02;
/// 2026-09-09, microseconds.
pub(crate) const UNIX: i64 = 1_789_000_000_000_000;

/// What the fits must find.
#[derive(Debug, Clone)]
pub(crate) struct Truth {
    pub(crate) radius_m: [f64; 4],
    pub(crate) radius_in_force_m: f64,
    pub(crate) base_m: f64,
    pub(crate) gains: [f64; 3],
    pub(crate) slip_amps: f64,
    pub(crate) seed: u64,
}

impl Default for Truth {
    fn default() -> Self {
        Self {
            radius_m: [0.0497, 0.0499, 0.0498, 0.0500],
            radius_in_force_m: 0.0508,
            base_m: 0.4,
            gains: [0.2, 2.5, 0.3],
            slip_amps: 48.0,
            seed: 1,
        }
    }
}

impl Truth {
    pub(crate) fn mean_radius_m(&self) -> f64 {
        self.radius_m.iter().sum::<f64>() / 4.0
    }
}

/// A log file being written.
pub(crate) struct Recorder {
    encoder: Encoder,
    ids: BTreeMap<String, u32>,
    last: BTreeMap<String, Vec<u8>>,
    pub(crate) spelling: Spelling,
    /// The file's own clock, seconds.
    pub(crate) t: f64,
    random: u64,
}

impl Recorder {
    pub(crate) fn new(spelling: Spelling, t: f64, seed: u64) -> Self {
        let extra = if spelling == Spelling::AdvantageKit { "AdvantageKit" } else { "" };
        Self {
            encoder: Encoder::new(extra),
            ids: BTreeMap::new(),
            last: BTreeMap::new(),
            spelling,
            t,
            random: seed,
        }
    }

    pub(crate) fn bytes(self) -> Vec<u8> {
        self.encoder.into_bytes()
    }

    fn name(&self, key: &str) -> String {
        match self.spelling {
            Spelling::Ours => key.to_owned(),
            Spelling::DataLogManager => format!("NT:/Catalyst/{key}"),
            Spelling::AdvantageKit => format!("/RealOutputs/{key}"),
        }
    }

    /// One record under the name as it stands. DataLogManager and AdvantageKit write changes only.
    pub(crate) fn raw(&mut self, name: &str, kind: &DataType, metadata: &str, value: ValueRef<'_>) {
        let at = Micros::from_secs(self.t);
        let next = self.ids.len() as u32 + 1;
        let id = *self.ids.entry(name.to_owned()).or_insert_with(|| {
            self.encoder.start(at, next, name, kind, metadata);
            next
        });
        if self.spelling != Spelling::Ours {
            let shown = format!("{value:?}").into_bytes();
            if self.last.insert(name.to_owned(), shown.clone()) == Some(shown) {
                return;
            }
        }
        self.encoder.value(at, id, value);
    }

    pub(crate) fn num(&mut self, key: &str, value: f64) {
        self.raw(&self.name(key), &DataType::Double, "", ValueRef::Double(value));
    }

    pub(crate) fn text(&mut self, key: &str, value: &str) {
        self.raw(&self.name(key), &DataType::String, "", ValueRef::String(value));
    }

    pub(crate) fn json(&mut self, key: &str, value: &Json) {
        self.raw(&self.name(key), &DataType::Json, "", ValueRef::String(&value.to_string()));
    }

    pub(crate) fn list(&mut self, key: &str, items: &[&str]) {
        let items: Vec<Arc<str>> = items.iter().map(|s| Arc::from(*s)).collect();
        self.raw(&self.name(key), &DataType::StringArray, "", ValueRef::StringArray(&items));
    }

    pub(crate) fn array(&mut self, key: &str, items: &[f64]) {
        self.raw(&self.name(key), &DataType::DoubleArray, "", ValueRef::DoubleArray(items));
    }

    pub(crate) fn pose(&mut self, key: &str, x: f64, y: f64, heading: f64) {
        let bytes: Vec<u8> = [x, y, heading].iter().flat_map(|v| v.to_le_bytes()).collect();
        self.raw(&self.name(key), &DataType::structure("Pose2d"), "", ValueRef::Raw(&bytes));
    }

    /// SysId data: straight into the log, in WPILib's shape, whoever writes the rest.
    pub(crate) fn sysid(&mut self, name: &str, unit: &str, value: f64) {
        let metadata = format!("{{\"unit\":\"{unit}\"}}");
        self.raw(name, &DataType::Double, &metadata, ValueRef::Double(value));
    }

    pub(crate) fn state(&mut self, value: &str) {
        self.raw("sysid-test-state-drive", &DataType::String, "", ValueRef::String(value));
    }

    pub(crate) fn event(&mut self, event: &str, mut more: Json) {
        more["event"] = json!(event);
        more["t"] = json!(self.t);
        self.json(&format!("FieldLab/{SESSION}/Events"), &more);
    }

    pub(crate) fn answer(&mut self, procedure: &str, key: &str, unit: &str, value: f64) {
        let name = format!("FieldLab/{SESSION}/{procedure}/{key}");
        self.text(&format!("{name}.unit"), unit);
        self.num(&name, value);
        let full = format!("{procedure}/{key}");
        self.event("answer", json!({"procedure": procedure, "key": full, "value": value, "unit": unit}));
        self.wait(0.5);
    }

    /// Uniform in -1 .. 1, the same for the same seed.
    pub(crate) fn random(&mut self) -> f64 {
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub(crate) fn wait(&mut self, secs: f64) {
        self.t += secs;
    }
}

/// A robot on a field, writing.
pub(crate) struct Robot {
    pub(crate) log: Recorder,
    pub(crate) truth: Truth,
    /// Wheel travel, radians.
    phi: [f64; 4],
    yaw: f64,
    x: f64,
    battery: f64,
}

impl Robot {
    pub(crate) fn new(spelling: Spelling, truth: Truth) -> Self {
        let log = Recorder::new(spelling, 100.0, truth.seed);
        Self { log, truth, phi: [0.0; 4], yaw: 0.3, x: 2.0, battery: 12.7 }
    }

    /// The head of every file of a session.
    pub(crate) fn head(&mut self, boot: &str, resumed: bool) {
        let header = json!({
            "schema": "fieldlab.header/1",
            "session": SESSION,
            "campaign": "Field Day",
            "campaignHash": "0123456789abcdef0123",
            "clockTrusted": true,
            "resumed": resumed,
            "boot_id": boot,
            "code_version": "2026.11.30",
            "battery": "pack 7",
            "constants": {
                "wheel_radius_m": self.truth.radius_in_force_m,
                "drive_base_radius_m": self.truth.base_m,
                "slip_current_a": 60.0,
                "kV": 2.2,
            },
            "plan": plan(),
        });
        self.log.json(&format!("FieldLab/{SESSION}/Header"), &header);
        self.log.text("FieldLab/Session", SESSION);
        self.log.text("FieldLab/Campaign", "Field Day");
        self.log.text("FieldLab/State", "RUNNING");
        let t = self.log.t;
        self.log.raw(
            "systemTime",
            &DataType::Int,
            r#"{"source":"DataLogManager","format":"time_t_us"}"#,
            ValueRef::Int(UNIX + Micros::from_secs(t).0),
        );
    }

    pub(crate) fn begin(&mut self, procedure: &str) {
        let t = self.log.t;
        self.log.num(&format!("FieldLab/{procedure}/Started"), t);
        self.log.num(&format!("FieldLab/{SESSION}/{procedure}/Started"), t);
        self.log.event("procedure_started", json!({"procedure": procedure, "why": ""}));
        self.log.num("Status/BatteryVolts", self.battery);
        self.log.wait(2.0);
        self.log
            .event("gate_passed", json!({"procedure": procedure, "volts": self.battery, "minVolts": 12.0}));
    }

    pub(crate) fn bank(&mut self, procedure: &str) {
        let t = self.log.t;
        self.log.num(&format!("FieldLab/{procedure}/Finished"), t);
        self.log.num(&format!("FieldLab/{SESSION}/{procedure}/Finished"), t);
        self.log.event("procedure_banked", json!({"procedure": procedure, "quality": "good"}));
        self.log.wait(3.0);
    }

    pub(crate) fn act(&mut self, procedure: &str, label: &str, body: impl FnOnce(&mut Self)) {
        self.log.event("act_started", json!({"procedure": procedure, "kind": "act", "label": label}));
        self.log.wait(DT);
        body(self);
        self.log.event(
            "act_ended",
            json!({"procedure": procedure, "kind": "act", "label": label, "outcome": "completed", "results": {}}),
        );
        self.log.wait(1.0);
    }

    /// One loop's channels.
    fn tick(&mut self, volts: f64, amps: [f64; 4], speeds: [f64; 4]) {
        for i in 0..4 {
            let noise = 2e-4 * self.log.random();
            let root = format!("Swerve/Modules/{i}");
            let in_force = self.truth.radius_in_force_m;
            self.log.num(&format!("{root}/PositionRadians"), self.phi[i] + noise);
            self.log.num(&format!("{root}/VelocityRadPerSec"), speeds[i]);
            self.log.num(&format!("{root}/VelocityMps"), speeds[i] * in_force);
            self.log.num(&format!("{root}/AppliedVolts"), volts);
            self.log.num(&format!("{root}/StatorAmps"), amps[i]);
        }
        let noise = 2e-4 * self.log.random();
        self.log.num("Gyro/YawRadians", self.yaw + noise);
        self.log.pose("Odometry/Pose", self.x, 1.0, self.yaw);
        let load: f64 = amps.iter().map(|a| a.abs()).sum();
        self.log.num("Status/BatteryVolts", self.battery - 0.004 * load);
        self.log.wait(DT);
    }

    fn roll(&mut self, speeds: [f64; 4]) {
        for (phi, speed) in self.phi.iter_mut().zip(speeds) {
            *phi += speed * DT;
        }
    }

    /// Spins at `omega` for `turns`.
    pub(crate) fn spin(&mut self, omega: f64, turns: f64) {
        let steps = (turns * std::f64::consts::TAU / omega.abs() / DT) as usize;
        for _ in 0..25 {
            self.tick(0.0, [0.0; 4], [0.0; 4]);
        }
        for _ in 0..steps {
            self.yaw += omega * DT;
            let speeds = self.truth.radius_m.map(|r| omega * self.truth.base_m / r);
            self.roll(speeds);
            self.tick(1.0 * omega.signum(), [4.0; 4], speeds);
        }
        for _ in 0..25 {
            self.tick(0.0, [0.0; 4], [0.0; 4]);
        }
    }

    /// Drives `metres` by true distance.
    pub(crate) fn straight(&mut self, metres: f64) {
        let steps = (metres.abs() / 1.0 / DT) as usize;
        let step = metres / steps as f64;
        self.tick(0.0, [0.0; 4], [0.0; 4]);
        for _ in 0..steps {
            self.x += step;
            let speeds = self.truth.radius_m.map(|r| step / DT / r);
            self.roll(speeds);
            self.tick(2.7, [6.0; 4], speeds);
        }
        for _ in 0..10 {
            self.tick(0.0, [0.0; 4], [0.0; 4]);
        }
    }

    /// One slip ramp against a wall; the robot's own routine publishes as it should.
    pub(crate) fn slip(&mut self, done: bool) {
        let root = "Calibration/SlipCurrent";
        self.log.text(&format!("{root}/Status"), "running");
        self.log.num(&format!("{root}/SlipAmps"), f64::NAN);
        let breaks = [55.0, 52.0, self.truth.slip_amps, 60.0];
        for i in 0..2000 {
            let held = 10.0 * f64::from(i) * DT;
            let mut amps = [held; 4];
            let mut speeds = [0.0; 4];
            let slipping = held - self.truth.slip_amps;
            if slipping > 0.0 {
                amps[2] = 0.8 * breaks[2];
                speeds[2] = slipping * 4.0;
                self.phi[2] += speeds[2] * DT;
            }
            self.tick(held * 0.05, amps, speeds);
            if slipping > 3.0 {
                break;
            }
        }
        if done {
            let amps = self.truth.slip_amps + 0.3 * self.log.random();
            self.log.num(&format!("{root}/SlipAmps"), amps);
            self.log.num(&format!("{root}/RecommendedAmps"), (amps / 5.0).floor() * 5.0);
            self.log.array(&format!("{root}/BreakAmps"), &[f64::NAN, f64::NAN, amps, f64::NAN]);
            self.log.text(&format!("{root}/Status"), "done");
        } else {
            self.log.text(&format!("{root}/Status"), "stopped: no slip by cap");
        }
        self.log.wait(2.0);
    }

    /// One SysId test: exact motion in true metres, logged in the metres that the robot believes.
    pub(crate) fn sysid(&mut self, state: &str, sign: f64, ramp: bool) {
        let [ks, kv, ka] = self.truth.gains;
        let steps = if ramp { 250 } else { 75 };
        let (mut v, mut x) = (0.0_f64, [0.0_f64; 4]);
        self.log.state(state);
        for k in 0..steps {
            let t = f64::from(k) * DT;
            let volts = sign * if ramp { t } else { 7.0 };
            for (i, name) in ["fl", "fr", "bl", "br"].iter().enumerate() {
                let believed = self.truth.radius_in_force_m / self.truth.radius_m[i];
                let noise = 0.01 * (self.log.random() + self.log.random());
                self.log.sysid(&format!("voltage-{name}-drive"), "V", volts);
                self.log.sysid(&format!("position-{name}-drive"), "m", x[i]);
                self.log.sysid(&format!("velocity-{name}-drive"), "m/s", v * believed + noise);
            }
            self.log.wait(DT);
            for _ in 0..20 {
                let moving = if v != 0.0 { v.signum() } else { sign };
                let push = if v == 0.0 && volts.abs() <= ks { 0.0 } else { volts - ks * moving };
                v += (push - kv * v) / ka * DT / 20.0;
                for (x, radius) in x.iter_mut().zip(self.truth.radius_m) {
                    *x += v * DT / 20.0 * self.truth.radius_in_force_m / radius;
                }
            }
        }
        self.log.state("none");
        self.log.wait(3.0);
    }

    pub(crate) fn soak(&mut self, secs: u32) {
        for s in 0..secs {
            let t = f64::from(s);
            for i in 0..4 {
                let steady = 70.0 + 4.0 * f64::from(i);
                let c = (25.0 + (steady - 25.0) * (1.0 - (-t / 150.0).exp())).round();
                self.log.num(&format!("Swerve/Modules/{i}/TemperatureC"), c);
                self.log
                    .num(&format!("Swerve/Modules/{i}/StatorAmps"), if s % 2 == 0 { 40.0 } else { -40.0 });
            }
            self.log.wait(1.0);
        }
    }
}

fn measure(key: &str, unit: &str, min: f64, max: f64) -> Json {
    json!({"kind": "measure", "label": format!("type {key}"), "group": 0, "key": key, "unit": unit, "min": min, "max": max})
}

pub(crate) fn plan() -> Json {
    let gate = |v: f64| json!({"kind": "battery_gate", "label": "battery", "group": 0, "min_volts": v, "resume_volts": v + 0.3});
    let procedure = |id: &str, title: &str, steps: Vec<Json>| json!({"id": id, "title": title, "why": format!("because {title} matters"), "steps": steps});
    let mut shots = Vec::new();
    for (row, (at, first)) in [(10.0, 3200.0), (2.0, 1800.0), (2.5, 1800.0)].iter().enumerate() {
        shots.push(json!({"kind": "act", "label": format!("set {at}"), "group": row + 1, "shot": {"row": row, "at": at, "values": [first, 42.0]}}));
        let mut m = measure(&format!("at-{at:.2}"), "score", 0.0, 1.0);
        m["group"] = json!(row + 1);
        shots.push(m);
    }
    let mut sweep = procedure("shot-map", "Shot map", shots);
    sweep["axes"] = json!([["speed", "rpm"], ["hood", "deg"]]);
    json!({"name": "Field Day", "procedures": [
        procedure("wheel-radius", "Wheel radius", vec![gate(12.0), measure("caliper-diameter-in", "in", 3.0, 4.5)]),
        procedure("slip-current", "Slip current", vec![gate(12.2)]),
        procedure("drive-ff", "Drive feedforward", vec![gate(12.3)]),
        procedure("straight-run", "Straight run", vec![gate(12.2), measure("forward-m", "m", 0.5, 12.0)]),
        procedure("odometry-drift", "Odometry drift", vec![gate(12.2), measure("lap1-error-m", "m", 0.0, 2.0)]),
        sweep,
        procedure("vision-pose", "Vision pose", vec![gate(12.0)]),
        procedure("gremlin-hunt", "Gremlin | <hunt>", vec![measure("gremlins", "count", 0.0, 3.0)]),
        procedure("thermal-soak", "Thermal soak", vec![gate(12.4), measure("hot-gearboxes", "count", 0.0, 8.0)]),
    ]})
}

/// The first half of the afternoon: wheel radius, slip current, feedforward.
pub(crate) fn first_half(robot: &mut Robot) {
    robot.begin("wheel-radius");
    robot.act("wheel-radius", "spin counter-clockwise", |r| r.spin(1.2, 3.0));
    robot.act("wheel-radius", "spin clockwise", |r| r.spin(-1.2, 3.0));
    let diameter = robot.truth.mean_radius_m() * 1.01 * 2.0 / 0.0254;
    robot.log.answer("wheel-radius", "caliper-diameter-in", "in", diameter);
    robot.bank("wheel-radius");
    robot.begin("slip-current");
    for i in 0..3 {
        robot.act("slip-current", &format!("ramp {i}"), |r| r.slip(true));
    }
    robot.bank("slip-current");
    robot.begin("drive-ff");
    for (state, sign, ramp) in [
        ("quasistatic-forward", 1.0, true),
        ("quasistatic-reverse", -1.0, true),
        ("dynamic-forward", 1.0, false),
        ("dynamic-reverse", -1.0, false),
    ] {
        robot.act("drive-ff", state, |r| r.sysid(state, sign, ramp));
    }
    robot.bank("drive-ff");
}

/// The rest: straight run, laps, sweep, parked poses, something unknown, soak.
pub(crate) fn second_half(robot: &mut Robot) {
    robot.begin("straight-run");
    robot.act("straight-run", "drive forwards", |r| r.straight(6.0));
    robot.log.answer("straight-run", "forward-m", "m", 6.001);
    robot.act("straight-run", "drive backwards", |r| r.straight(-6.0));
    robot.log.answer("straight-run", "reverse-m", "m", 5.998);
    robot.bank("straight-run");
    robot.begin("odometry-drift");
    for (i, way, sign) in [
        (1, "counter-clockwise", 1.0),
        (2, "clockwise", -1.0),
        (3, "counter-clockwise", 1.0),
        (4, "clockwise", -1.0),
    ] {
        robot.act("odometry-drift", &format!("lap {i}, {way}"), |r| r.straight(1.0));
        let (x, y) = (0.05 * sign + 0.002 * f64::from(i), 0.03 * sign);
        robot.log.answer("odometry-drift", &format!("lap{i}-error-m"), "m", x.hypot(y));
        robot.log.answer("odometry-drift", &format!("lap{i}-x-m"), "m", x);
        robot.log.answer("odometry-drift", &format!("lap{i}-y-m"), "m", y);
    }
    robot.bank("odometry-drift");
    robot.begin("shot-map");
    for (at, first, score) in [(10.0, 3200.0, 0.0), (2.0, 1800.0, 1.0), (2.5, 1800.0, 0.5)] {
        robot.act("shot-map", &format!("set {at}"), |r| {
            r.log.num("FieldLab/shot-map/At", at);
            r.log.num("FieldLab/shot-map/First", first);
            r.log.num("FieldLab/shot-map/Second", 42.0);
        });
        robot.log.answer("shot-map", &format!("at-{at:.2}"), "score", score);
    }
    robot.bank("shot-map");
    robot.begin("vision-pose");
    for (i, (x, y, heading)) in [(2.0, 3.0, 0.0_f64), (5.0, 1.0, 3.1)].iter().enumerate() {
        robot.act("vision-pose", &format!("observe {i}"), |r| {
            for _ in 0..50 {
                let noise = 0.005 * r.log.random();
                r.log.pose("Vision/Pose", x + 0.03 + noise, y - 0.01 + noise, *heading);
                r.log.wait(DT);
            }
        });
        robot.log.answer("vision-pose", &format!("pose{}-x-m", i + 1), "m", *x);
        robot.log.answer("vision-pose", &format!("pose{}-y-m", i + 1), "m", *y);
        robot.log.answer("vision-pose", &format!("pose{}-heading-deg", i + 1), "deg", heading.to_degrees());
    }
    robot.bank("vision-pose");
    robot.begin("gremlin-hunt");
    robot.log.answer("gremlin-hunt", "gremlins", "count", 7.0);
    robot.log.list("FieldLab/Notes", &["paused at 11.90 V", "smells | of <b>smoke</b>", "paused at 11.90 V"]);
    robot.bank("gremlin-hunt");
    robot.begin("thermal-soak");
    robot.act("thermal-soak", "soak", |r| r.soak(500));
    robot.log.answer("thermal-soak", "hot-gearboxes", "count", 1.0);
    robot.bank("thermal-soak");
    robot.log.text("FieldLab/State", "DONE");
}

/// A whole campaign in one file.
pub(crate) fn whole(spelling: Spelling, truth: &Truth) -> Vec<(String, Vec<u8>)> {
    let mut robot = Robot::new(spelling, truth.clone());
    robot.head("boot-a", false);
    first_half(&mut robot);
    second_half(&mut robot);
    vec![("one.wpilog".to_owned(), robot.log.bytes())]
}

/// The same with a reboot between the halves: two files, two clocks.
pub(crate) fn two_boots(truth: &Truth) -> Vec<(String, Vec<u8>)> {
    let mut robot = Robot::new(Spelling::Ours, truth.clone());
    robot.head("boot-a", false);
    first_half(&mut robot);
    let at = robot.log.t;
    let mut after = Robot::new(Spelling::Ours, truth.clone());
    // The second boot's clock starts anew; its wall clock says 60 s have passed.
    after.log.t = 5.0;
    after.log.raw("systemTime", &DataType::Int, "", ValueRef::Int(UNIX + Micros::from_secs(at + 60.0).0));
    after.head_of_second_boot();
    second_half(&mut after);
    vec![("b2.wpilog".to_owned(), after.log.bytes()), ("b1.wpilog".to_owned(), robot.log.bytes())]
}

impl Robot {
    fn head_of_second_boot(&mut self) {
        let header = json!({
            "schema": "fieldlab.header/1", "session": SESSION, "campaign": "Field Day", "boot_id": "boot-b",
            "constants": {"wheel_radius_m": self.truth.radius_in_force_m, "drive_base_radius_m": self.truth.base_m},
            "plan": plan(),
        });
        self.log.json(&format!("FieldLab/{SESSION}/Header"), &header);
        self.log.text("FieldLab/Session", SESSION);
        self.log.event("session_resumed", json!({}));
        let name = format!("FieldLab/{SESSION}/wheel-radius/caliper-diameter-in");
        self.log.text(&format!("{name}.unit"), "in");
        let diameter = self.truth.mean_radius_m() * 1.01 * 2.0 / 0.0254;
        self.log.num(&name, diameter);
    }
}
