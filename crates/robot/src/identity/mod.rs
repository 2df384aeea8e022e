//! Who the robot is: what its machine, its parts and its people say of it, and how that reaches the network and the logs.
//!
//! One line in the robot's construction publishes it all; everything but the name is read.
//!
//! ```
//! use fieldlab_base::Micros;
//! use fieldlab_robot::driver_station::DriverPanel;
//! use fieldlab_robot::hw::Parts;
//! use fieldlab_robot::identity::RobotIdentity;
//! use fieldlab_robot::operator::NoOperator;
//! use fieldlab_robot::robot_loop::{LoopConfig, LoopParts, RobotLoop};
//! use fieldlab_robot::site::{Pace, Site};
//! use fieldlab_robot::telemetry::{Door, MemorySink};
//!
//! let (door, memory) = (Door::new(), MemorySink::new());
//! door.attach(Box::new(memory.clone()));
//! let parts = LoopParts {
//!     io: Box::new(Parts::default()),
//!     station: Box::new(DriverPanel::new()),
//!     operator: Box::new(NoOperator),
//!     door,
//!     site: Site::new("logs", Pace::Virtual, 1),
//!     op_modes: Vec::new(),
//! };
//! let mut robot = RobotLoop::new(LoopConfig::default(), parts)?;
//! robot.declare(RobotIdentity::declare("Ratchet")?);
//! robot.tick(Micros::from_millis(20), None);
//! assert_eq!(memory.last("/Catalyst/Robot/Identity/Name"), Some("Ratchet".into()));
//! assert_eq!(memory.last("/Catalyst/Robot/Chassis/MassKg"), None); // nobody knows it, so it is not there
//! # Ok::<(), fieldlab_base::ConfigError>(())
//! ```
//!
//! Which source may say what depends on the [machine](MachineKind): a roboRIO has an image metadata file, a Systemcore its
//! own NetworkTables server, somebody's computer has nothing of a controller, and a simulated robot is a `Simulation`
//! whatever computes it. A process cannot read an FPGA or a brownout threshold by itself; a program that has a HAL passes
//! its answers to [`Register::hal`].

mod controllers;
mod hardware;
mod machine;
mod pathplanner;
mod sheet;
mod system_server;

use std::cell::RefCell;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;

use fieldlab_base::{ConfigError, Feature, Micros};
use fieldlab_identity::{FactPart, FactSource, Identity, Key, Source, SpecSheet};

use crate::clock::{Clock, SystemClock};
use crate::site::Pace;

pub use fieldlab_identity::{
    ControllerFacts, Declaration, MeasuredFacts, ModuleConstants, RobotIdentity, RuntimeFacts,
};
pub use machine::{Machine, MachineKind};
pub use system_server::{SYSTEM_SERVER_PORT, SystemServer};

pub(crate) use sheet::SheetPublisher;

/// A simulation says that it is one, before anybody else is asked.
const SIMULATION: Source = Source::new(5, "simulation");
/// The answers of a HAL that the program has.
const HAL: Source = Source::new(10, "HAL");
/// The roboRIO's image metadata.
const IMAGE_FILE: Source = Source::new(20, "image metadata file");
/// The controller's environment and files.
const CONTROLLER: Source = Source::new(25, "controller");
/// The Systemcore's own server.
const SYSTEM_SERVER: Source = Source::new(30, "system server");
/// The machine's name.
const HOST_NAME: Source = Source::new(40, "host name");
/// What the mechanisms claimed.
const CAN_REGISTRY: Source = Source::new(50, "CAN registry");
/// The drive.
const DRIVETRAIN: Source = Source::new(60, "drivetrain");
/// What its modules were built from.
const MODULES: Source = Source::new(61, "module constants");
/// A gyro beside the drive.
const GYRO: Source = Source::new(62, "gyro");
/// The power distribution.
const POWER: Source = Source::new(63, "power distribution");
/// The cameras.
const VISION: Source = Source::new(64, "vision");
/// Deployed settings.
const PATHPLANNER: Source = Source::new(70, "PathPlanner settings");
/// What a campaign of this robot found.
const CAMPAIGN: Source = Source::new(80, "campaign");

/// Where facts about the robot are handed in. Clones are the same register, on the loop's thread; the loop looks at it once
/// a turn, so that however many facts come in one turn, the sheet is derived once.
///
/// The order of calls does not matter, and before the robot is [declared](Register::declare) nothing is published.
#[derive(Clone)]
pub struct Register {
    shared: Rc<RefCell<Shared>>,
}

struct Shared {
    identity: Identity,
    /// Asked once a turn.
    sources: Vec<(Source, Box<dyn FactSource>)>,
    /// Whether somebody said which machine this is.
    has_machine: bool,
    /// What experiments found in this boot.
    measured: MeasuredFacts,
    now: Micros,
}

impl Register {
    /// A register of a robot that nobody knows. `boot_id` are random bits of this start of the program.
    pub(crate) fn new(boot_id: u64) -> Self {
        let shared = Shared {
            identity: Identity::new(boot_id),
            sources: Vec::new(),
            has_machine: false,
            measured: MeasuredFacts::default(),
            now: Micros::ZERO,
        };
        Self { shared: Rc::new(RefCell::new(shared)) }
    }

    /// Declares the robot; from the next turn on its sheet is published. A second declaration replaces the first.
    pub fn declare(&self, declaration: Declaration) {
        self.shared.borrow_mut().identity.declare(declaration);
    }

    /// Records a component that came up.
    ///
    /// # Errors
    /// A name that differs from a recorded one in its spaces only; more kinds or names than a sheet should hold.
    pub fn record(&self, feature: &Feature) -> Result<(), ConfigError> {
        self.shared.borrow_mut().identity.record(feature)
    }

    /// Takes back a component that is gone.
    pub fn remove(&self, feature: &Feature) {
        self.shared.borrow_mut().identity.remove(feature);
    }

    /// What a HAL that the program has answers. Whatever of it is a HAL's way to say "no reading", zeros above all, counts
    /// as silence; the WPILib version and the season exist only from here.
    pub fn hal(&self, controller: ControllerFacts, runtime: RuntimeFacts) {
        self.put(HAL, FactPart { controller, runtime, ..FactPart::default() });
    }

    /// What an experiment on this robot found, beside what others found before. The constants in force go before it, and a
    /// difference is told.
    pub fn measured(&self, found: MeasuredFacts) {
        let measured = {
            let known = &mut self.shared.borrow_mut().measured;
            known.wheel_radius_m = found.wheel_radius_m.or(known.wheel_radius_m);
            known.slip_current_amps = found.slip_current_amps.or(known.slip_current_amps);
            *known
        };
        self.put(CAMPAIGN, FactPart { measured, ..FactPart::default() });
    }

    /// Says which machine this is, and reads its files: once, now, a few bounded ones. Without it a robot that is declared
    /// reads the machine that it runs on, unless it is simulated.
    pub fn machine(&self, machine: &Machine) {
        self.shared.borrow_mut().has_machine = true;
        for (source, part) in controllers::parts(machine) {
            self.put(source, part);
        }
    }

    /// Reads the machine that the program runs on. By a virtual clock nothing is asked over a network.
    pub(crate) fn this_machine(&self, pace: Pace) {
        let machine = Machine::this();
        self.machine(&machine);
        if machine.kind() == MachineKind::Systemcore && pace == Pace::Realtime {
            let clock = SystemClock::new();
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, SYSTEM_SERVER_PORT));
            match SystemServer::start(address, Arc::new(move || clock.clone().now())) {
                Ok(server) => self.source(Box::new(server)),
                Err(refused) => {
                    let silent = [Key::TeamNumber, Key::BrownoutVolts].map(|key| (key, refused.to_string()));
                    self.put(SYSTEM_SERVER, FactPart { silent: silent.to_vec(), ..FactPart::default() });
                }
            }
        }
    }

    /// Adds a source of a team's own, or a [`SystemServer`]; it is asked once a turn.
    pub fn source(&self, source: Box<dyn FactSource>) {
        let who = source.source();
        self.shared.borrow_mut().sources.push((who, source));
    }

    /// The sheet as of the last turn.
    #[must_use]
    pub fn sheet(&self) -> SpecSheet {
        self.shared.borrow().identity.sheet().clone()
    }

    /// Whether somebody said which machine this is.
    pub(crate) fn has_machine(&self) -> bool {
        self.shared.borrow().has_machine
    }

    fn put(&self, source: Source, part: FactPart) {
        let shared = &mut *self.shared.borrow_mut();
        shared.identity.put(source, shared.now, part);
    }
}

impl fmt::Debug for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.shared.try_borrow() {
            Ok(shared) => write!(f, "Register({} lines)", shared.identity.sheet().len()),
            Err(_) => f.write_str("Register(in use)"),
        }
    }
}
