//! The shipped calibrations as op modes of their own.

use std::cell::Cell;
use std::rc::Rc;

use fieldlab_base::{Action, ConfigError, Progress};
use fieldlab_campaign::runner::session_id;
use fieldlab_campaign::{Routine, SlipCurrentConfig, SysIdConfig, SysIdTest, WheelRadiusConfig};

use super::info;
use crate::acts::{ActTopics, RobotAct};
use crate::opmode::{OpMode, OpModeEntry, OpModeInfo, Setup, Turn};
use crate::site::Site;
use crate::telemetry::{AlertLevel, Scope};

/// Wheel radius: the robot spins on the spot. Topics under `Calibration/WheelRadius`.
#[must_use]
pub fn wheel_radius(config: WheelRadiusConfig) -> OpModeEntry {
    let about = info("Wheel radius", "Spins on the spot and compares wheel travel with the gyro; 2 m clear");
    one_at_a_time(about, vec![Routine::WheelRadius(config)])
}

/// Slip current: the robot pushes against a wall. Topics under `Calibration/SlipCurrent`.
#[must_use]
pub fn slip_current(config: SlipCurrentConfig) -> OpModeEntry {
    let about = info("Slip current", "Pushes against a wall until a wheel slips; bumper square on the wall");
    one_at_a_time(about, vec![Routine::SlipCurrent(config)])
}

/// SysId: each enable runs the next of the four tests, in WPILib's order. Disable in between and put the robot back.
#[must_use]
pub fn sys_id(config: SysIdConfig) -> OpModeEntry {
    let about = info("SysId", "Runs the next of the four drive tests at each enable; a clear runway");
    let tests = [
        SysIdTest::QuasistaticForward,
        SysIdTest::QuasistaticReverse,
        SysIdTest::DynamicForward,
        SysIdTest::DynamicReverse,
    ];
    one_at_a_time(about, tests.map(|test| Routine::SysId { test, config }).to_vec())
}

fn one_at_a_time(about: OpModeInfo, routines: Vec<Routine>) -> OpModeEntry {
    // Outlives the object, which is built anew at every disable.
    let next = Rc::new(Cell::new(0));
    OpModeEntry::new(about, move |setup| {
        RoutineMode::build(about.name, routines.clone(), Rc::clone(&next), setup)
    })
}

struct RoutineMode {
    name: &'static str,
    routines: Vec<Routine>,
    next: Rc<Cell<usize>>,
    topics: Rc<ActTopics>,
    site: Site,
    /// It was enabled and waits for its log.
    pending: bool,
    action: Option<Box<dyn Action>>,
    // Holds the topics' keys for as long as this op mode lives.
    _scope: Scope,
}

impl RoutineMode {
    fn build(
        name: &'static str,
        routines: Vec<Routine>,
        next: Rc<Cell<usize>>,
        setup: &mut Setup<'_>,
    ) -> Result<Self, ConfigError> {
        let mut scope = setup.door.scope();
        let topics = Rc::new(ActTopics::declare(&mut scope)?);
        let site = setup.site.clone();
        Ok(Self { name, routines, next, topics, site, pending: false, action: None, _scope: scope })
    }

    /// Its numbers are worth nothing unlogged: it runs only with a log. One that never had a file is tried anew.
    fn open_log(&self, turn: &mut Turn<'_>) -> Result<(), String> {
        if self.site.log_stats().is_some_and(|log| !log.stopped) {
            return Ok(());
        }
        let session = session_id(turn.unix, self.site.boot_random, &self.site.known_sessions());
        self.site.open_log(&session, turn.tick.now, turn.door).map_err(|e| e.to_string())
    }

    /// The act, once its log has a file; `None` while that is being made.
    fn begin(&self, turn: &mut Turn<'_>) -> Result<Option<Box<dyn Action>>, String> {
        let Some(log) = self.site.log_health() else { return Err("no log is open".into()) };
        if let Some(reason) = log.stopped {
            return Err(reason);
        }
        if log.stats.files == 0 {
            return Ok(None);
        }
        let routine = self.routines.get(self.next.get()).ok_or("nothing to run")?;
        RobotAct::from(*routine).build(turn.hardware, &self.topics).map(Some)
    }
}

impl OpMode for RoutineMode {
    fn start(&mut self, turn: &mut Turn<'_>) {
        turn.alerts.clear_source(self.name);
        match self.open_log(turn) {
            Ok(()) => self.pending = true,
            Err(reason) => turn.alerts.raise(AlertLevel::Error, self.name, &reason),
        }
    }

    fn periodic(&mut self, turn: &mut Turn<'_>) {
        if self.pending {
            match self.begin(turn) {
                Ok(action) => {
                    self.pending = action.is_none();
                    self.action = action;
                }
                Err(reason) => {
                    self.pending = false;
                    turn.alerts.raise(AlertLevel::Error, self.name, &reason);
                }
            }
        }
        let Some(action) = &mut self.action else { return };
        let logged = self.site.log_stats().is_some_and(|log| !log.stopped);
        let progress =
            if logged { action.step(turn.tick) } else { Progress::Failed("the log has stopped".into()) };
        let (level, text) = match progress {
            Progress::Running => return,
            Progress::Done => {
                self.next.set((self.next.get() + 1) % self.routines.len().max(1));
                (AlertLevel::Info, "done; disable before the next".to_owned())
            }
            Progress::Failed(reason) => (AlertLevel::Warning, reason),
        };
        self.action = None;
        turn.alerts.raise(level, self.name, &text);
    }

    fn end(&mut self, _turn: &mut Turn<'_>) {
        self.pending = false;
        self.action = None;
    }

    fn deselected(&mut self, turn: &mut Turn<'_>) {
        turn.alerts.clear_source(self.name);
    }
}
