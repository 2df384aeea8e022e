//! Who is on which CAN bus: devices claimed by the mechanisms that talk to them.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use fieldlab_base::ConfigError;
use fieldlab_identity::{Device, DeviceClass, HIGHEST_ID};

/// The bus that a controller calls its own, which some libraries leave without a name.
const OWN_BUS: &str = "rio";

/// A device on a bus. Two devices may share a number when they are of different classes: motor 1 and encoder 1 of one bus
/// are two devices.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CanDevice {
    /// The bus: `can_s0`. Blank and `rio` are the same bus.
    pub bus: String,
    /// Its class.
    pub class: DeviceClass,
    /// Its number, 0 to 62.
    pub id: u8,
    /// What it is: `TalonFX`, `CANcoder`, `Pigeon2`.
    pub kind: String,
    /// What it does: `Front left drive`; may be empty.
    pub name: String,
}

impl CanDevice {
    /// A device without a name of its own.
    pub fn new(bus: impl Into<String>, class: DeviceClass, id: u8, kind: impl Into<String>) -> Self {
        Self { bus: bus.into(), class, id, kind: kind.into(), name: String::new() }
    }

    /// With what it does on this robot.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Whether the other one answers at the same place: on one bus, of one class, with one number.
    #[must_use]
    pub fn is_same_place(&self, other: &Self) -> bool {
        (bus_name(&self.bus), self.class, self.id) == (bus_name(&other.bus), other.class, other.id)
    }

    /// Refuses a number that no device has.
    ///
    /// # Errors
    /// Names the bus and the number.
    pub fn check(&self) -> Result<(), ConfigError> {
        if i64::from(self.id) <= HIGHEST_ID {
            return Ok(());
        }
        let path = format!("can.{}", bus_name(&self.bus));
        Err(ConfigError::new(path, format!("a device id from 0 to {HIGHEST_ID}"), self.id))
    }
}

impl From<&CanDevice> for Device {
    fn from(device: &CanDevice) -> Self {
        Self {
            bus: device.bus.clone(),
            class: device.class,
            id: i64::from(device.id),
            kind: device.kind.clone(),
        }
    }
}

/// The bus as it is shown; blank is the controller's own.
fn bus_name(bus: &str) -> &str {
    match bus.trim() {
        "" => OWN_BUS,
        named => named,
    }
}

type Place = (String, DeviceClass, u8);

/// The devices that are in use. Clones are the same registry; it lives on the loop's thread.
///
/// ```
/// use fieldlab_robot::hw::{CanDevice, CanRegistry, DeviceClass};
///
/// let can = CanRegistry::new();
/// let motor = || CanDevice::new("can_s0", DeviceClass::Motor, 3, "TalonFX");
/// let flywheel = can.claim(motor().named("Flywheel"))?;
/// assert!(can.claim(motor().named("Hood")).is_err()); // one motor, two masters
/// let encoder = can.claim(CanDevice::new("can_s0", DeviceClass::Encoder, 3, "CANcoder"))?; // another class
/// drop(flywheel); // a mechanism that is gone gives its devices back
/// assert_eq!(can.devices().len(), 1);
/// # drop(encoder);
/// # Ok::<(), fieldlab_base::ConfigError>(())
/// ```
#[derive(Clone, Default)]
pub struct CanRegistry {
    shared: Rc<Claims>,
}

#[derive(Default)]
struct Claims {
    devices: RefCell<BTreeMap<Place, CanDevice>>,
    revision: Cell<u64>,
}

impl CanRegistry {
    /// A registry without devices.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Claims a device for as long as the answer lives.
    ///
    /// # Errors
    /// A number beyond 62, or a device of this class, bus and number that is claimed already, with its name.
    pub fn claim(&self, mut device: CanDevice) -> Result<CanClaim, ConfigError> {
        device.check()?;
        device.bus = bus_name(&device.bus).to_owned();
        let place = (device.bus.clone(), device.class, device.id);
        let mut devices = self.shared.devices.borrow_mut();
        if let Some(holder) = devices.get(&place) {
            let path = format!("can.{}.{}", device.bus, device.id);
            let expected = format!("a {} that is claimed once", device.class.word());
            return Err(ConfigError::new(path, expected, format!("{} ({})", holder.name, holder.kind)));
        }
        devices.insert(place.clone(), device);
        drop(devices);
        self.shared.touch();
        Ok(CanClaim { shared: Rc::clone(&self.shared), place })
    }

    /// The devices, by bus, class and number.
    #[must_use]
    pub fn devices(&self) -> Vec<CanDevice> {
        self.shared.devices.borrow().values().cloned().collect()
    }

    /// Counts claims and releases: whoever sees it unchanged has nothing new to read.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.shared.revision.get()
    }
}

impl Claims {
    fn touch(&self) {
        self.revision.set(self.revision.get().wrapping_add(1));
    }
}

/// The right to a device; dropping it gives the device back.
#[must_use = "dropping it gives the device back"]
pub struct CanClaim {
    shared: Rc<Claims>,
    place: Place,
}

impl Drop for CanClaim {
    fn drop(&mut self) {
        self.shared.devices.borrow_mut().remove(&self.place);
        self.shared.touch();
    }
}

/// The rows of `/Catalyst/CAN/Devices`: `bus|id|type|name`, by bus and number. A `|` inside a field would make a reader
/// count one field too many, and becomes `/`.
#[must_use]
pub fn rows(devices: &[CanDevice]) -> Vec<Arc<str>> {
    let clean = |text: &str| text.trim().replace('|', "/");
    let mut sorted: Vec<&CanDevice> = devices.iter().collect();
    sorted.sort_by(|a, b| {
        (bus_name(&a.bus), a.id, a.class, &a.kind).cmp(&(bus_name(&b.bus), b.id, b.class, &b.kind))
    });
    let row = |d: &CanDevice| {
        format!("{}|{}|{}|{}", clean(bus_name(&d.bus)), d.id, clean(&d.kind), clean(&d.name)).into()
    };
    sorted.into_iter().map(row).collect()
}

impl fmt::Debug for CanRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.shared.devices.borrow().values()).finish()
    }
}

impl fmt::Debug for CanClaim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CanClaim({:?})", self.place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn motor(bus: &str, id: u8) -> CanDevice {
        CanDevice::new(bus, DeviceClass::Motor, id, "TalonFX")
    }

    #[test]
    fn i1_a_conflict_is_within_one_class_on_one_bus() {
        let can = CanRegistry::new();
        let first = can.claim(motor("can_s0", 7).named("Elevator")).unwrap();
        let refused = can.claim(motor("can_s0", 7).named("Arm")).unwrap_err();
        assert_eq!(refused.path, "can.can_s0.7");
        assert!(refused.to_string().ends_with("found Elevator (TalonFX)"), "{refused}");
        let _second = can.claim(motor("can_s1", 7)).unwrap();
        let _third = can.claim(CanDevice::new("can_s0", DeviceClass::Encoder, 7, "CANcoder")).unwrap();
        assert_eq!(can.devices().len(), 3);
        let before = can.revision();
        drop(first);
        assert!(can.revision() != before);
        assert!(can.claim(motor("can_s0", 7).named("Arm")).is_ok(), "given back");
    }

    #[test]
    fn ids_are_from_0_to_62_and_a_bus_without_a_name_is_the_controllers_own() {
        let can = CanRegistry::new();
        let _zero = can.claim(motor("", 0)).unwrap();
        let _last = can.claim(motor("  ", 62)).unwrap();
        assert!(can.claim(motor("rio", 0)).is_err(), "blank and rio are one bus");
        let refused = can.claim(motor("", 63)).unwrap_err();
        assert_eq!((&*refused.path, can.devices().len()), ("can.rio", 2));
    }

    #[test]
    fn i6_no_field_of_a_row_splits_it() {
        let devices = [
            motor("can_s2", 10).named("left|right"),
            motor("can_s2", 9).named(" Hood "),
            CanDevice::new("", DeviceClass::Gyro, 1, "Pigeon|2"),
        ];
        let rows = rows(&devices);
        let text: Vec<&str> = rows.iter().map(|r| &**r).collect();
        assert_eq!(text, ["can_s2|9|TalonFX|Hood", "can_s2|10|TalonFX|left/right", "rio|1|Pigeon/2|"]);
    }
}
