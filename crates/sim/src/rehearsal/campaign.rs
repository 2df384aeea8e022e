//! The campaign that is rehearsed.

use std::rc::Rc;

use fieldlab_base::ConfigError;
use fieldlab_robot::opmode::OpModeEntry;

use super::RehearsalConfig;
use crate::battery::BatteryConfig;

/// The op mode's name on the driver station.
pub const FIELD_LAB: &str = "Field Lab";

/// How much of the campaign is rehearsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Nine procedures: the drivetrain basics, straight run, vision pose, two sweeps, thermal soak.
    Full,
    /// Two of them, for tests of the rehearsal itself.
    Short,
}

impl Scope {
    /// Where the usual reboot happens: procedure and step kind.
    pub(super) const fn reboots_in(self) -> (&'static str, &'static str) {
        match self {
            Self::Full => ("odometry-drift", "act"),
            Self::Short => ("straight-run", "act"),
        }
    }
}

/// A pack that has seen better days: it comes charged to nine tenths and holds a fifth of what it held new.
pub(super) fn tired_pack(name: &str) -> BatteryConfig {
    BatteryConfig { capacity_ah: 3.5, charge: 0.9, ohms: 0.018, ..BatteryConfig::healthy(name) }
}

pub(super) fn op_modes(_config: &RehearsalConfig) -> Result<Vec<OpModeEntry>, ConfigError> {
    let _: Rc<()> = Rc::new(());
    Ok(Vec::new())
}
