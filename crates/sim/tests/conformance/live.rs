//! A short campaign on the simulated robot, one to one with the clock, watched over sockets; nobody scripted answers it.

use std::any::Any;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fieldlab_base::{ConfigError, Micros};
use fieldlab_campaign::{Act, Campaign, Measure, Procedure, Routine, WheelRadiusConfig};
use fieldlab_nt4_net::{Clock, Hub, NetServer, NetServerConfig};
use fieldlab_robot::acts::RobotAct;
use fieldlab_robot::driver_station::DriverPanel;
use fieldlab_robot::field_lab::FieldLabOpMode;
use fieldlab_robot::opmode::OpModeEntry;
use fieldlab_sim::WorldConfig;
use fieldlab_sim::operator::Part;
use fieldlab_sim::rehearsal::{Deed, Progress, Rehearsal, RehearsalConfig, Stage, drivetrain, run_with};
use tempfile::TempDir;

/// The campaign's world ends by itself after this long, whoever hangs.
const MOST_SECS: f64 = 90.0;

/// A campaign that runs, and the person at the driver station.
pub(crate) struct Live {
    pub(crate) port: u16,
    enabled: Arc<AtomicBool>,
    over: Arc<AtomicBool>,
    robot: Option<JoinHandle<Rehearsal>>,
    _files: TempDir,
}

impl Live {
    /// Switches the robot on and selects Field Lab; it stays disabled.
    pub(crate) fn begin(seed: u64) -> Self {
        let files = TempDir::new().unwrap();
        let mut config = RehearsalConfig::new(seed, files.path());
        config.world = WorldConfig::seeded(seed);
        // Somebody else answers and enables; the scripted person only carries the robot to where it is wanted.
        config.part = Part::Carrying;
        config.reboot = false;
        config.most_secs = MOST_SECS;
        let (enabled, over) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let (ports, port) = channel();
        let panel = DriverPanel::new();
        let mut stage = Watched {
            started: Instant::now(),
            at: Micros::ZERO,
            panel: panel.clone(),
            enabled: Arc::clone(&enabled),
            over: Arc::clone(&over),
            ports,
        };
        let robot = std::thread::spawn(move || {
            run_with(&config, &panel, &mut stage, &|| Ok(vec![entry()?])).unwrap()
        });
        let port = port_of(&port);
        Self { port, enabled, over, robot: Some(robot), _files: files }
    }

    pub(crate) fn enable(&self) {
        self.enabled.store(true, Ordering::SeqCst);
    }

    /// Waits for the campaign's own end.
    pub(crate) fn end(mut self) -> Rehearsal {
        self.robot.take().unwrap().join().unwrap()
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        if let Some(robot) = self.robot.take() {
            drop(robot.join());
        }
    }
}

fn port_of(ports: &Receiver<u16>) -> u16 {
    ports.recv_timeout(Duration::from_secs(20)).unwrap()
}

/// Two procedures: one in which nothing moves, one that turns on the spot for two seconds.
fn entry() -> Result<OpModeEntry, ConfigError> {
    let tape = Procedure::<RobotAct>::builder("tape-check", "Tape check")
        .why("two numbers off a tape")
        .needs_battery(11.5)
        .confirm("Tape laid out, everybody clear")
        .act(Act::new("Looking", 5.0, Routine::Observe { secs: 0.4 }.into()).stands_still())
        .measure(Measure::new("Length of the first mark", "mark-m", "m").range(0.0, 2.0))
        .measure(Measure::new("Length of the second mark", "second-m", "m").range(0.0, 2.0))
        .build()?;
    let drive = drivetrain();
    let turn = WheelRadiusConfig {
        current_radius_m: drive.wheel_radius_m,
        drive_base_radius_m: drive.drive_base_radius_m,
        rotations: 0.5,
        omega_rad_per_sec: 2.0,
        ..WheelRadiusConfig::default()
    };
    let spin = Procedure::<RobotAct>::builder("spin", "Spin")
        .why("half a turn, and the calibration's topics")
        .needs_battery(11.5)
        .confirm("A 2 m circle is clear; everybody out of it")
        .act(Act::new("Half a turn", 10.0, Routine::WheelRadius(turn).into()))
        .measure(Measure::new("Diameter of a drive wheel", "caliper-diameter-in", "in").range(3.0, 4.5))
        .build()?;
    Ok(FieldLabOpMode::new(Campaign::builder("Live Day").add(tape).add(spin).build()?).into())
}

struct Watched {
    started: Instant,
    at: Micros,
    panel: DriverPanel,
    enabled: Arc<AtomicBool>,
    over: Arc<AtomicBool>,
    ports: Sender<u16>,
}

impl Stage for Watched {
    fn booted(&mut self, hub: &Hub) -> Result<Option<Box<dyn Any>>, String> {
        let booted = self.started + Duration::from_micros(self.at.0.unsigned_abs());
        let clock: Clock = Arc::new(move || Micros(i64::try_from(booted.elapsed().as_micros()).unwrap()));
        let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let server =
            NetServer::bind(hub.clone(), NetServerConfig::new(addr, clock)).map_err(|e| e.to_string())?;
        self.ports.send(server.local_addr().port()).map_err(|e| e.to_string())?;
        Ok(Some(Box::new(server)))
    }

    fn wait_until(&mut self, at: Micros) {
        self.at = at;
        let due = self.started + Duration::from_micros(at.0.unsigned_abs());
        loop {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::park_timeout(left);
        }
    }

    fn progress(&mut self, progress: &Progress) -> Vec<Deed> {
        if self.over.load(Ordering::SeqCst) {
            return vec![Deed::Quit];
        }
        if progress.running && self.panel.state().selected.is_none() {
            return vec![Deed::Select];
        }
        if self.enabled.load(Ordering::SeqCst) {
            self.panel.set_enabled(true);
        }
        Vec::new()
    }
}
