//! What a campaign's acts run on this robot: the shipped routines, and what a team wrote itself.

pub(crate) mod calibrations;
mod hold;
mod points;
mod sensors;
mod spin;
mod topics;
mod wait;

use std::fmt;
use std::future::Future;
use std::rc::Rc;

use fieldlab_base::Action;
use fieldlab_campaign::Routine;

use crate::actions::{Ticks, routine};
use crate::hw::Hardware;

use calibrations::Calibration;
use hold::Hold;
use points::{Points, Route};
use spin::Spin;
use wait::Wait;

pub use topics::ActTopics;

/// Makes an action of its own each time the act runs.
pub type Factory = Rc<dyn Fn(&Hardware) -> Result<Box<dyn Action>, String>>;

/// The payload of a campaign's act on a robot.
#[derive(Clone)]
#[non_exhaustive]
pub enum RobotAct {
    /// A shipped motion.
    Routine(Routine),
    /// A team's own.
    Custom(Factory),
}

impl RobotAct {
    /// An act that `make` builds anew each time it runs. Its error is the reason why it cannot, for a person.
    pub fn custom(make: impl Fn(&Hardware) -> Result<Box<dyn Action>, String> + 'static) -> Self {
        Self::Custom(Rc::new(make))
    }

    /// An act that is an `async` routine.
    ///
    /// ```
    /// use fieldlab_robot::acts::RobotAct;
    /// use fieldlab_robot::hw::MechanismCommand;
    ///
    /// let feed_once = RobotAct::routine(|robot, ticks| async move {
    ///     let feeder = robot.mechanism("feeder").ok_or("no feeder")?.lease().map_err(|busy| busy.to_string())?;
    ///     feeder.set(MechanismCommand::Volts(6.0));
    ///     ticks.wait_secs(0.5).await;
    ///     Ok(()) // the lease ends here, and so does the feeder
    /// });
    /// # let _ = feed_once;
    /// ```
    pub fn routine<F>(make: impl Fn(Hardware, Ticks) -> F + 'static) -> Self
    where
        F: Future<Output = Result<(), String>> + 'static,
    {
        Self::custom(move |hardware| {
            let hardware = hardware.clone();
            Ok(Box::new(routine(|ticks| make(hardware, ticks))))
        })
    }

    /// Brings mechanisms to setpoints, each in its own unit, and is done when all say that they are there. They stay
    /// there until the next act has ended: what a sweep does before it fires.
    ///
    /// A mechanism that the robot has not, or a setpoint outside its limits, fails the act before anything moves.
    pub fn hold<N: Into<String>>(setpoints: impl IntoIterator<Item = (N, f64)>) -> Self {
        let setpoints: Vec<_> = setpoints.into_iter().map(|(name, value)| (name.into(), value)).collect();
        Self::custom(move |hardware| Ok(Box::new(Hold::new(hardware, &setpoints)?)))
    }

    /// Builds the action.
    ///
    /// # Errors
    /// The reason for a person: something is in use, or this robot has it not.
    pub fn build(&self, hardware: &Hardware, topics: &Rc<ActTopics>) -> Result<Box<dyn Action>, String> {
        match self {
            Self::Routine(routine) => build_routine(*routine, hardware, topics),
            Self::Custom(make) => make(hardware),
        }
    }
}

impl From<Routine> for RobotAct {
    fn from(routine: Routine) -> Self {
        Self::Routine(routine)
    }
}

impl fmt::Debug for RobotAct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Routine(routine) => write!(f, "{routine:?}"),
            Self::Custom(_) => f.write_str("Custom"),
        }
    }
}

fn build_routine(
    routine: Routine,
    hardware: &Hardware,
    topics: &Rc<ActTopics>,
) -> Result<Box<dyn Action>, String> {
    Ok(match routine {
        Routine::WheelRadius(config) => {
            Box::new(Calibration::new(hardware, topics, calibrations::wheel_radius(config)?)?)
        }
        Routine::SlipCurrent(config) => {
            Box::new(Calibration::new(hardware, topics, calibrations::slip_current(config)?)?)
        }
        Routine::SysId { test, config } => {
            Box::new(Calibration::new(hardware, topics, calibrations::sys_id(test, config)?)?)
        }
        Routine::Spin { direction, rotations, omega_rad_per_sec } => {
            Box::new(Spin::new(hardware, direction, rotations, omega_rad_per_sec)?)
        }
        Routine::Straight { distance_m, speed_mps, wheel_radius_m } => {
            Box::new(Points::new(hardware, Route::straight(distance_m), speed_mps, wheel_radius_m)?)
        }
        Routine::Lap { direction, side_m, speed_mps, wheel_radius_m } => {
            Box::new(Points::new(hardware, Route::square(direction, side_m), speed_mps, wheel_radius_m)?)
        }
        Routine::Soak { stroke_m, speed_mps, secs, wheel_radius_m } => {
            Box::new(Points::new(hardware, Route::shuttle(stroke_m, secs), speed_mps, wheel_radius_m)?)
        }
        Routine::Observe { secs } => Box::new(Wait::new(secs)),
        other => return Err(format!("this robot does not know the routine {other:?}")),
    })
}
