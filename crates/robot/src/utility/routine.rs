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
        Ok(Self { name, routines, next, topics, site: setup.site.clone(), action: None, _scope: scope })
    }

    /// Its numbers are worth nothing unlogged: it runs only with a log.
    fn open_log(&self, turn: &mut Turn<'_>) -> Result<(), String> {
        if self.site.log_stats().is_some() {
            return Ok(());
        }
        let session = session_id(turn.unix, self.site.boot_random, &self.site.known_sessions());
        self.site.open_log(&session, turn.tick.now, turn.door).map_err(|e| e.to_string())
    }

    fn begin(&self, turn: &mut Turn<'_>) -> Result<Box<dyn Action>, String> {
        self.open_log(turn)?;
        let routine = self.routines.get(self.next.get()).ok_or("nothing to run")?;
        RobotAct::from(*routine).build(turn.hardware, &self.topics)
    }
}

impl OpMode for RoutineMode {
    fn start(&mut self, turn: &mut Turn<'_>) {
        turn.alerts.clear_source(self.name);
        match self.begin(turn) {
            Ok(action) => self.action = Some(action),
            Err(reason) => turn.alerts.raise(AlertLevel::Error, self.name, &reason),
        }
    }

    fn periodic(&mut self, turn: &mut Turn<'_>) {
        let Some(action) = &mut self.action else { return };
        let (level, text) = match action.step(turn.tick) {
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
        self.action = None;
    }

    fn deselected(&mut self, turn: &mut Turn<'_>) {
        turn.alerts.clear_source(self.name);
    }
}
