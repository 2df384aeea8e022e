//! The explicit enable signal: which op mode a person selected, and whether it may move anything.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use fieldlab_base::Micros;

/// An op mode, by the order in which the robot registered it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpModeId(pub u16);

/// What the driver station says in one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DriverState {
    /// The op mode selected, if any.
    pub selected: Option<OpModeId>,
    /// Whether a person enabled the robot.
    pub enabled: bool,
    /// Whether the emergency stop is pressed; the robot is then disabled whatever `enabled` says.
    pub estop: bool,
    /// Whether a driver station is attached at all; without one the robot is disabled.
    pub attached: bool,
    /// Whether the field management system is connected.
    pub fms: bool,
}

impl DriverState {
    /// Whether motion is allowed: an attached station, an op mode, enabled, no emergency stop.
    #[must_use]
    pub const fn may_move(&self) -> bool {
        self.enabled && self.attached && !self.estop && self.selected.is_some()
    }
}

/// Where the enable signal comes from. Never the network tables.
pub trait DriverStation {
    /// The state for this turn.
    fn poll(&mut self, now: Micros) -> DriverState;
}

/// A driver station in the same process: a terminal, a rehearsal, a test. Clones are one panel and may be used from
/// other threads.
#[derive(Debug, Clone)]
pub struct DriverPanel {
    bits: Arc<AtomicU32>,
}

const ENABLED: u32 = 1 << 16;
const ESTOP: u32 = 1 << 17;
const ATTACHED: u32 = 1 << 18;
const FMS: u32 = 1 << 19;
const SELECTED: u32 = 1 << 20;
const ID: u32 = 0xffff;

impl DriverPanel {
    /// An attached station with nothing selected, disabled.
    #[must_use]
    pub fn new() -> Self {
        Self { bits: Arc::new(AtomicU32::new(ATTACHED)) }
    }

    /// Selects an op mode, or none. Selecting another one disables, as driver stations do.
    pub fn select(&self, id: Option<OpModeId>) {
        self.update(|bits| {
            let wanted = id.map_or(0, |id| u32::from(id.0) | SELECTED);
            let enabled = if bits & (ID | SELECTED) == wanted { bits & ENABLED } else { 0 };
            bits & !(ID | SELECTED | ENABLED) | wanted | enabled
        });
    }

    /// Enables or disables.
    pub fn set_enabled(&self, enabled: bool) {
        self.update(|bits| if enabled { bits | ENABLED } else { bits & !ENABLED });
    }

    /// Presses the emergency stop: disabled until the program starts again.
    pub fn emergency_stop(&self) {
        self.update(|bits| bits & !ENABLED | ESTOP);
    }

    /// Attaches or detaches the station.
    pub fn set_attached(&self, attached: bool) {
        self.update(|bits| if attached { bits | ATTACHED } else { bits & !(ATTACHED | ENABLED) });
    }

    /// Connects or disconnects the field management system.
    pub fn set_fms(&self, fms: bool) {
        self.update(|bits| if fms { bits | FMS } else { bits & !FMS });
    }

    /// What the panel shows.
    #[must_use]
    pub fn state(&self) -> DriverState {
        let bits = self.bits.load(Ordering::SeqCst);
        DriverState {
            selected: (bits & SELECTED != 0).then_some(OpModeId((bits & ID) as u16)),
            enabled: bits & ENABLED != 0,
            estop: bits & ESTOP != 0,
            attached: bits & ATTACHED != 0,
            fms: bits & FMS != 0,
        }
    }

    fn update(&self, change: impl Fn(u32) -> u32) {
        self.bits.update(Ordering::SeqCst, Ordering::SeqCst, change);
    }
}

impl Default for DriverPanel {
    fn default() -> Self {
        Self::new()
    }
}

impl DriverStation for DriverPanel {
    fn poll(&mut self, _now: Micros) -> DriverState {
        self.state()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selecting_another_op_mode_disables() {
        let panel = DriverPanel::new();
        panel.set_enabled(true);
        assert!(!panel.state().may_move(), "nothing is selected");
        panel.select(Some(OpModeId(3)));
        panel.set_enabled(true);
        assert!(panel.state().may_move());
        panel.select(Some(OpModeId(3)));
        assert!(panel.state().enabled);
        panel.select(Some(OpModeId(4)));
        assert!(!panel.state().enabled);
    }

    #[test]
    fn without_a_station_nothing_moves_and_a_stop_stays() {
        let panel = DriverPanel::new();
        panel.select(Some(OpModeId(0)));
        panel.set_enabled(true);
        panel.set_attached(false);
        panel.set_attached(true);
        assert!(!panel.state().enabled);
        panel.emergency_stop();
        panel.set_enabled(true);
        assert!(!panel.state().may_move());
    }
}
