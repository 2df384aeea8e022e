//! The handle that actions are built from.

use std::any::Any;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use fieldlab_base::{Busy, Claim, ConfigError, Lease};

use super::{
    DriveCommand, DriveGeometry, Inputs, MAX_MECHANISMS, MechanismCommand, MechanismInfo, MechanismReading,
    Outputs, Reading, RobotDescription,
};

/// A robot as actions see it: this turn's snapshot and the right to ask for leases. Cheap to clone.
///
/// It lives on the loop's thread only. Nothing that arrives over the network can reach it.
#[derive(Clone)]
pub struct Hardware {
    shared: Rc<Shared>,
}

struct Shared {
    description: RobotDescription,
    inputs: Cell<Inputs>,
    drive: Claim<DriveCommand>,
    mechanisms: Vec<Claim<MechanismCommand>>,
    zero: Cell<[bool; super::MODULES]>,
    kept: RefCell<Vec<Rc<dyn Any>>>,
    results: RefCell<Vec<(Cow<'static, str>, f64)>>,
    pack: RefCell<Option<Arc<str>>>,
    pack_changes: Cell<u32>,
}

impl Hardware {
    /// A handle on a robot of this description, with nothing read yet and nothing held.
    ///
    /// # Errors
    /// As [`RobotDescription::check`].
    pub fn new(description: RobotDescription) -> Result<Self, ConfigError> {
        description.check()?;
        let mechanisms = description.mechanisms.iter().map(|m| Claim::new(m.name)).collect();
        Ok(Self {
            shared: Rc::new(Shared {
                description,
                inputs: Cell::new(Inputs::NONE),
                drive: Claim::new("drive"),
                mechanisms,
                zero: Cell::new([false; super::MODULES]),
                kept: RefCell::new(Vec::with_capacity(MAX_MECHANISMS + 1)),
                results: RefCell::default(),
                pack: RefCell::default(),
                pack_changes: Cell::new(0),
            }),
        })
    }

    /// What the robot is.
    #[must_use]
    pub fn description(&self) -> &RobotDescription {
        &self.shared.description
    }

    /// This turn's snapshot.
    #[must_use]
    pub fn inputs(&self) -> Inputs {
        self.shared.inputs.get()
    }

    /// The drive's constants, when the robot has a drive.
    #[must_use]
    pub fn geometry(&self) -> Option<DriveGeometry> {
        self.shared.description.drive
    }

    /// Takes the drive.
    ///
    /// # Errors
    /// [`Busy`] while another action holds it, or when there is no drive.
    pub fn drive(&self) -> Result<Lease<DriveCommand>, Busy> {
        if self.shared.description.drive.is_none() {
            return Err(Busy { name: "drive (this robot has none)" });
        }
        self.shared.drive.lease()
    }

    /// The mechanism called `name`.
    #[must_use]
    pub fn mechanism(&self, name: &str) -> Option<MechanismHandle> {
        let index = self.shared.description.mechanisms.iter().position(|m| m.name == name)?;
        Some(MechanismHandle { shared: Rc::clone(&self.shared), index })
    }

    /// Asks that the module's present steering angle become straight forward, at the end of this turn.
    pub fn zero_module(&self, module: usize) {
        let mut zero = self.shared.zero.get();
        if let Some(flag) = zero.get_mut(module) {
            *flag = true;
        }
        self.shared.zero.set(zero);
    }

    /// Keeps something alive, a lease above all, beyond the end of the act that took it: a flywheel that an act spun up
    /// for the next one. It is let go when the next act has ended, and at once on a disable.
    pub fn keep(&self, held: impl Any) {
        self.keep_shared(Rc::new(held));
    }

    /// As [`Hardware::keep`], for what has its place in memory already.
    pub(crate) fn keep_shared(&self, held: Rc<dyn Any>) {
        self.shared.kept.borrow_mut().push(held);
    }

    /// Lets go of everything [kept](Hardware::keep).
    pub fn release_kept(&self) {
        // Taken out first: what is dropped may itself look at the robot.
        let mut kept = std::mem::take(&mut *self.shared.kept.borrow_mut());
        kept.clear();
        // The room goes back, unless what was dropped kept something itself.
        let mut now = self.shared.kept.borrow_mut();
        if now.is_empty() {
            *now = kept;
        }
    }

    /// Says a result of the act that runs, by name: a fitted radius, the speed at the shot. It is logged with the act's
    /// end, under the name that came last when one comes twice.
    pub fn report(&self, name: impl Into<Cow<'static, str>>, value: f64) {
        let name = name.into();
        let mut results = self.shared.results.borrow_mut();
        match results.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => {
                // One allocation for all that an act usually has to say.
                if results.capacity() == 0 {
                    results.reserve(8);
                }
                results.push((name, value));
            }
        }
    }

    /// The results said since the last call.
    #[must_use]
    pub fn take_results(&self) -> Vec<(Cow<'static, str>, f64)> {
        std::mem::take(&mut *self.shared.results.borrow_mut())
    }

    /// The name of the pack that is in, when the robot can tell.
    #[must_use]
    pub fn pack(&self) -> Option<Arc<str>> {
        self.shared.pack.borrow().clone()
    }

    /// How often the pack's name changed.
    #[must_use]
    pub fn pack_changes(&self) -> u32 {
        self.shared.pack_changes.get()
    }

    /// Sets the pack's name; the loop does this once a turn, and a test bench may.
    pub fn set_pack(&self, pack: Option<Arc<str>>) {
        let known = &mut *self.shared.pack.borrow_mut();
        if *known != pack {
            *known = pack;
            self.shared.pack_changes.set(self.shared.pack_changes.get().wrapping_add(1));
        }
    }

    /// Sets the snapshot; the loop does this once a turn, and a test bench may.
    pub fn set_inputs(&self, inputs: Inputs) {
        self.shared.inputs.set(inputs);
    }

    /// What all leases ask for now, with numbers that are not finite turned to neutral.
    #[must_use]
    pub fn outputs(&self) -> Outputs {
        let mut outputs = Outputs { drive: self.shared.drive.get().finite_or_neutral(), ..Outputs::NEUTRAL };
        for (slot, claim) in outputs.mechanisms.iter_mut().zip(&self.shared.mechanisms) {
            *slot = claim.get().finite_or_neutral();
        }
        outputs
    }

    /// Turns what every lease asks for to neutral; the leases stay held. The loop does so in every turn in which nothing may
    /// move, so that a command from before a disable is not carried out after it.
    pub fn neutralise(&self) {
        self.shared.drive.neutralise();
        for mechanism in &self.shared.mechanisms {
            mechanism.neutralise();
        }
    }

    /// Whether any lease is held.
    #[must_use]
    pub fn any_held(&self) -> bool {
        self.shared.drive.is_held() || self.shared.mechanisms.iter().any(Claim::is_held)
    }

    /// The modules whose zero was asked for since the last call; the loop passes them to the hardware.
    #[must_use]
    pub fn take_zero_requests(&self) -> [bool; super::MODULES] {
        self.shared.zero.replace([false; super::MODULES])
    }
}

impl std::fmt::Debug for Hardware {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hardware")
            .field("name", &self.shared.description.name)
            .field("drive", &self.shared.drive)
            .field("mechanisms", &self.shared.mechanisms)
            .finish()
    }
}

/// One named mechanism of a robot.
#[derive(Clone)]
pub struct MechanismHandle {
    shared: Rc<Shared>,
    index: usize,
}

impl MechanismHandle {
    /// Its name, unit and limits.
    #[must_use]
    pub fn info(&self) -> &MechanismInfo {
        // The index came from a search of this very list, which never changes.
        &self.shared.description.mechanisms[self.index]
    }

    /// Its reading in this turn's snapshot.
    #[must_use]
    pub fn reading(&self) -> Option<Reading<MechanismReading>> {
        debug_assert!(self.index < MAX_MECHANISMS);
        self.shared.inputs.get().mechanisms[self.index]
    }

    /// Takes the mechanism.
    ///
    /// # Errors
    /// [`Busy`] while another action holds it.
    pub fn lease(&self) -> Result<Lease<MechanismCommand>, Busy> {
        self.shared.mechanisms[self.index].lease()
    }
}

impl std::fmt::Debug for MechanismHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MechanismHandle({})", self.info().name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bench() -> Hardware {
        let hood = MechanismInfo { name: "hood", unit: "deg", min: 20.0, max: 60.0 };
        Hardware::new(RobotDescription { name: "bench".into(), drive: None, mechanisms: vec![hood] }).unwrap()
    }

    #[test]
    fn dropping_the_lease_is_neutral() {
        let robot = bench();
        let hood = robot.mechanism("hood").unwrap();
        let lease = hood.lease().unwrap();
        lease.set(MechanismCommand::Setpoint(42.0));
        assert_eq!(robot.outputs().mechanisms[0], MechanismCommand::Setpoint(42.0));
        assert!(hood.lease().is_err());
        drop(lease);
        assert!(robot.outputs().is_neutral());
        assert!(!robot.any_held());
    }

    #[test]
    fn what_the_robot_has_not_cannot_be_taken() {
        let robot = bench();
        assert!(robot.drive().unwrap_err().to_string().contains("has none"));
        assert!(robot.mechanism("arm").is_none());
    }

    #[test]
    fn two_mechanisms_of_one_name_are_refused() {
        let m = MechanismInfo { name: "hood", unit: "deg", min: 0.0, max: 1.0 };
        let twice = RobotDescription { name: String::new(), drive: None, mechanisms: vec![m.clone(), m] };
        assert_eq!(Hardware::new(twice).unwrap_err().path, "mechanisms[1].name");
    }
}
