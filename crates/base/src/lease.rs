//! Who may command a mechanism: one holder at a time, neutral when it lets go.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

/// What can be asked of a mechanism, as plain data.
pub trait Command: Copy {
    /// The command that leaves the mechanism without output.
    const NEUTRAL: Self;
}

/// A mechanism's command slot. The robot loop reads it once a turn; whoever holds the [`Lease`] writes it.
///
/// ```
/// use fieldlab_base::{Claim, Command};
/// #[derive(Clone, Copy, PartialEq, Debug)]
/// struct Volts(f64);
/// impl Command for Volts { const NEUTRAL: Self = Volts(0.0); }
///
/// let hood = Claim::<Volts>::new("hood");
/// let lease = hood.lease()?;
/// lease.set(Volts(4.0));
/// assert!(hood.lease().is_err());      // one holder at a time
/// drop(lease);
/// assert_eq!(hood.get(), Volts(0.0));  // letting go is stopping
/// # Ok::<(), fieldlab_base::Busy>(())
/// ```
pub struct Claim<C: Command> {
    slot: Rc<Slot<C>>,
}

struct Slot<C: Command> {
    name: &'static str,
    command: Cell<C>,
    held: Cell<bool>,
}

impl<C: Command> fmt::Debug for Slot<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.name, if self.held.get() { " (held)" } else { "" })
    }
}

impl<C: Command> fmt::Debug for Claim<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Claim({:?})", self.slot)
    }
}

impl<C: Command> fmt::Debug for Lease<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lease({:?})", self.slot)
    }
}

impl<C: Command> Clone for Claim<C> {
    fn clone(&self) -> Self {
        Self { slot: Rc::clone(&self.slot) }
    }
}

impl<C: Command> Claim<C> {
    /// A free, neutral slot; `name` is what [`Busy`] says.
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        Self { slot: Rc::new(Slot { name, command: Cell::new(C::NEUTRAL), held: Cell::new(false) }) }
    }

    /// Takes the mechanism.
    ///
    /// # Errors
    /// [`Busy`] while another lease lives.
    pub fn lease(&self) -> Result<Lease<C>, Busy> {
        if self.slot.held.replace(true) {
            return Err(Busy { name: self.slot.name });
        }
        Ok(Lease { slot: Rc::clone(&self.slot) })
    }

    /// What is asked of the mechanism now; neutral while nobody holds it.
    #[must_use]
    pub fn get(&self) -> C {
        self.slot.command.get()
    }

    /// Commands neutral, whoever holds it: what was asked before a disable is not asked any more after it.
    pub fn neutralise(&self) {
        self.slot.command.set(C::NEUTRAL);
    }

    /// Whether somebody holds it.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.slot.held.get()
    }
}

/// The right to command one mechanism. Dropping it commands neutral.
pub struct Lease<C: Command> {
    slot: Rc<Slot<C>>,
}

impl<C: Command> Lease<C> {
    /// Asks for `command` from the next read on.
    pub fn set(&self, command: C) {
        self.slot.command.set(command);
    }
}

impl<C: Command> Drop for Lease<C> {
    fn drop(&mut self) {
        self.slot.command.set(C::NEUTRAL);
        self.slot.held.set(false);
    }
}

/// A mechanism that somebody else holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Busy {
    /// The mechanism's name.
    pub name: &'static str,
}

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is in use by another action", self.name)
    }
}

impl std::error::Error for Busy {}
