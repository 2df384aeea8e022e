//! One loop of campaign and telemetry on this machine, paced like a robot's: a campaign that runs, two hundred topics that
//! change every turn, the NetworkTables server with a client on a socket, and a log file.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use fieldlab_base::{Feature, Micros};
use fieldlab_campaign::{Act, Campaign, Procedure, Routine};
use fieldlab_nt4::SubscribeOptions;
use fieldlab_nt4_net::{NetClient, NetClientConfig, NetServer, NetServerConfig};
use fieldlab_robot::acts::RobotAct;
use fieldlab_robot::clock::{Clock, SystemClock};
use fieldlab_robot::driver_station::DriverPanel;
use fieldlab_robot::field_lab::FieldLabOpMode;
use fieldlab_robot::hw::{
    GyroReading, HardwareFacts, Inputs, ModuleReading, Outputs, Reading, RobotDescription, RobotIo,
    SwerveConstants,
};
use fieldlab_robot::network::{NtOperator, hub};
use fieldlab_robot::robot_loop::{LoopConfig, LoopParts, RobotLoop};
use fieldlab_robot::site::{Pace, Site};
use fieldlab_robot::telemetry::{Door, NtSink};
use fieldlab_sim::{World, WorldConfig, declaration};
use fieldlab_values::{Publisher, Root};

use crate::figures::{Aim, Figures};
use crate::options::Options;

/// Topics that change every turn.
const TOPICS: usize = 200;
const SECONDS: f64 = 30.0;
const QUICK_SECONDS: f64 = 6.0;
/// Every so many turns a component comes up, and the identity sheet is derived again: once a second.
const NEW_FACT_TURNS: i64 = 50;
/// Turns before the figures count: the op mode is built, the log opened, the session begun.
const WARM_UP: usize = 100;

/// Sensors of which every one says something new each turn. What they say is worked out before the turn, as the threads of
/// real devices do.
struct BusyRobot {
    facts: HardwareFacts,
    sensors: Rc<Cell<Inputs>>,
}

impl RobotIo for BusyRobot {
    fn description(&self) -> RobotDescription {
        let drive = self.facts.drive.as_ref().map(SwerveConstants::geometry);
        RobotDescription { name: "busy".into(), drive, mechanisms: Vec::new() }
    }

    fn facts(&self) -> HardwareFacts {
        self.facts.clone()
    }

    fn read(&mut self, _now: Micros, inputs: &mut Inputs) {
        *inputs = self.sensors.get();
    }

    fn apply(&mut self, _now: Micros, _outputs: &Outputs) {}
}

/// What the sensors say at `now`.
fn sensors(now: Micros) -> Inputs {
    let t = now.as_secs();
    let gyro = GyroReading { yaw_rad: 0.3 * t, rate_rad_per_sec: Some(0.3 + 0.001 * t.sin()) };
    let module = |i: usize| {
        let phase = t + i as f64;
        let reading = ModuleReading {
            angle_rad: Some(phase.sin()),
            position_rad: Some(10.0 * phase),
            velocity_rad_per_sec: Some(10.0 + phase.cos()),
            applied_volts: Some(3.0 + phase.sin()),
            stator_amps: Some(20.0 + phase.cos()),
            temperature_c: Some(40.0 + 0.01 * phase),
        };
        Some(Reading::new(reading, now))
    };
    Inputs {
        battery_volts: Some(Reading::new(12.6 + 0.01 * t.sin(), now)),
        gyro: Some(Reading::new(gyro, now)),
        modules: std::array::from_fn(module),
        ..Inputs::NONE
    }
}

fn campaign(secs: f64) -> Result<Campaign<RobotAct>> {
    let observe = Act::new("watch", secs + 60.0, RobotAct::from(Routine::Observe { secs: secs + 50.0 }));
    let procedure = Procedure::builder("watch", "Watch").act(observe.stands_still()).build()?;
    Ok(Campaign::builder("Bench").add(procedure).build()?)
}

/// Runs it.
///
/// # Errors
/// A server that cannot be bound, a folder that cannot be made.
pub fn run(options: &Options) -> Result<Figures> {
    let secs = if options.quick { QUICK_SECONDS } else { SECONDS };
    let folder = tempfile::tempdir().context("a folder for the log")?;
    let mut site = Site::new(folder.path().join("out"), Pace::Realtime, options.seed);
    site.checkpoint = folder.path().join("checkpoint.json");
    site.needed_bytes = 1 << 20;

    let hub = hub()?;
    let start = Instant::now();
    let server_clock = move || Micros(i64::try_from(start.elapsed().as_micros()).unwrap_or(i64::MAX));
    let config = NetServerConfig::new(([127, 0, 0, 1], 0).into(), Arc::new(server_clock));
    let server = NetServer::bind(hub.clone(), config).context("the server")?;
    let watcher = format!("127.0.0.1:{}", server.local_addr().port());
    let client = NetClient::start(NetClientConfig::new(watcher, "watcher", Arc::new(server_clock)))?;
    client.with(|core| {
        core.subscribe(&["/"], SubscribeOptions { prefix: true, all: true, ..SubscribeOptions::default() })
    })?;

    let spoken = Rc::new(Cell::new(Inputs::NONE));
    let facts = World::new(WorldConfig::standard(), options.seed)?.facts();
    let (panel, mut door) = (DriverPanel::new(), Door::new());
    door.attach(Box::new(NtSink::queued(&hub)));
    let parts = LoopParts {
        io: Box::new(BusyRobot { facts, sensors: Rc::clone(&spoken) }),
        station: Box::new(panel.clone()),
        operator: Box::new(NtOperator::queued(hub)),
        door: door.clone(),
        site: site.clone(),
        op_modes: vec![FieldLabOpMode::new(campaign(secs)?).into()],
    };
    let mut robot = RobotLoop::new(LoopConfig::default(), parts)?;
    robot.declare(declaration());
    // Sensors alone are about forty; the rest is what a robot's own mechanisms would say.
    let own = 4 * 8 + 4;
    let extra: Vec<Publisher<f64>> = (own..TOPICS)
        .map(|i| Publisher::declare(&mut door, Root::Catalyst, &format!("Bench/Signal{i}"), "V"))
        .collect::<Result<_, _>>()?;
    panel.select(robot.find("Field Lab"));
    panel.set_enabled(true);

    let (mut took, mut with_new_fact) = (Vec::new(), Vec::new());
    let mut clock = SystemClock::new();
    let turns = (secs * 50.0) as i64;
    for turn in 1..=turns {
        clock.wait_until(Micros::from_millis(20 * turn));
        let now = clock.now();
        let unix = clock.unix();
        let new_fact = turn % NEW_FACT_TURNS == 0;
        if new_fact {
            robot.register().record(&Feature::sequence(&format!("auto {turn}")))?;
        }
        spoken.set(sensors(now));
        let before = Instant::now();
        for (i, publisher) in extra.iter().enumerate() {
            publisher.set(&mut door, &(turn as f64 + i as f64));
        }
        robot.tick(now, unix);
        let elapsed = before.elapsed();
        robot.note_duration(Micros(i64::try_from(elapsed.as_micros()).unwrap_or(i64::MAX)));
        if new_fact { with_new_fact.push(elapsed) } else { took.push(elapsed) }
    }

    let heard = client.with(|core| core.stats().values_in);
    let log = site.log_health().context("no log was opened")?;
    let dropped = robot.door().stats().dropped;
    let topics = robot.door().topic_count();
    robot.stop(clock.now());
    site.close_log();

    let mut figures = Figures::new("bench loop");
    figures.attached(format!("{turns} turns of 20 ms, campaign in state RUNNING, {topics} topics declared"));
    figures.attached(format!("{TOPICS} topics that change every turn, written through typed publishers"));
    figures.attached(format!("NT sink: server thread, one client on a socket, which heard {heard} values"));
    figures.attached(format!(
        "log sink: {} records, {} bytes written",
        log.stats.records, log.stats.bytes_written
    ));
    took.drain(..WARM_UP.min(took.len()));
    took.sort_unstable();
    let at = |share: f64| -> f64 {
        let index = ((took.len() as f64 * share) as usize).min(took.len().saturating_sub(1));
        took.get(index).copied().unwrap_or(Duration::MAX).as_secs_f64() * 1e6
    };
    figures.row("median of one turn", at(0.5), "µs", Aim::AtMost(50.0));
    figures.row("p99 of one turn", at(0.99), "µs", Aim::Shown);
    figures.row("longest turn", at(1.0), "µs", Aim::Shown);
    with_new_fact.sort_unstable();
    let middle = with_new_fact.get(with_new_fact.len() / 2).copied().unwrap_or(Duration::MAX);
    let sheet = middle.as_secs_f64() * 1e6 - at(0.5);
    figures.row("identity sheet derived, compared and published", sheet, "µs", Aim::AtMost(200.0));
    figures.row("values dropped or replaced", dropped as f64, "", Aim::AtMost(0.0));
    let running = robot.fault().is_none() && log.stopped.is_none() && heard > 0;
    figures.row("everything attached was alive", f64::from(u8::from(running)), "", Aim::AtLeast(1.0));
    Ok(figures)
}
