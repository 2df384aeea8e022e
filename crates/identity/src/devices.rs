//! Devices on buses: one per bus, class and id, whoever named it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::text::field;

/// What a device is on a CAN bus. An address is only unique within its class: motor 1 and encoder 1 on one bus are two
/// devices, and common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeviceClass {
    /// Motor controllers, and motors with one inside.
    Motor,
    /// Encoders.
    Encoder,
    /// Gyros and inertial units.
    Gyro,
    /// Power distributions.
    Power,
    /// Pneumatic hubs.
    Pneumatics,
    /// Distance, colour and other sensors.
    Sensor,
    /// Lights.
    Lights,
    /// Everything else.
    Other,
}

/// (a part of a type's name in small letters, what it then is); the first that fits counts.
const TYPES: [(&str, DeviceClass); 26] = [
    ("cancoder", DeviceClass::Encoder),
    ("encoder", DeviceClass::Encoder),
    ("mag", DeviceClass::Encoder),
    ("pigeon", DeviceClass::Gyro),
    ("gyro", DeviceClass::Gyro),
    ("navx", DeviceClass::Gyro),
    ("imu", DeviceClass::Gyro),
    ("pdp", DeviceClass::Power),
    ("pdh", DeviceClass::Power),
    ("power distribution", DeviceClass::Power),
    ("pcm", DeviceClass::Pneumatics),
    ("pneumatic", DeviceClass::Pneumatics),
    ("candle", DeviceClass::Lights),
    ("canrange", DeviceClass::Sensor),
    ("lasercan", DeviceClass::Sensor),
    ("canandcolor", DeviceClass::Sensor),
    ("canandmag", DeviceClass::Encoder),
    ("talon", DeviceClass::Motor),
    ("kraken", DeviceClass::Motor),
    ("falcon", DeviceClass::Motor),
    ("spark", DeviceClass::Motor),
    ("neo", DeviceClass::Motor),
    ("vortex", DeviceClass::Motor),
    ("venom", DeviceClass::Motor),
    ("victor", DeviceClass::Motor),
    ("motor", DeviceClass::Motor),
];

impl DeviceClass {
    /// What a device of this type is, by the words of its name: `TalonFX (Falcon 500)` is a motor.
    #[must_use]
    pub fn of_type(kind: &str) -> Self {
        let kind = kind.to_ascii_lowercase();
        TYPES.iter().find(|(part, _)| kind.contains(part)).map_or(Self::Other, |(_, class)| *class)
    }

    /// Its word in alerts.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Motor => "motor",
            Self::Encoder => "encoder",
            Self::Gyro => "gyro",
            Self::Power => "power distribution",
            Self::Pneumatics => "pneumatics",
            Self::Sensor => "sensor",
            Self::Lights => "lights",
            Self::Other => "device",
        }
    }
}

/// One device that somebody claimed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Device {
    /// The bus: `can_s0`, `canivore`. Blank and `rio` are the controller's own.
    pub bus: String,
    /// What it is.
    pub class: DeviceClass,
    /// Its CAN id; outside 0 to 62 there is no such device.
    pub id: i64,
    /// Its type: `TalonFX`, `CANcoder`. Blank is `Unknown`.
    pub kind: String,
}

impl Device {
    /// A device whose class is told by its type's name.
    #[must_use]
    pub fn new(bus: impl Into<String>, id: i64, kind: impl Into<String>) -> Self {
        let kind = kind.into();
        Self { bus: bus.into(), class: DeviceClass::of_type(&kind), id, kind }
    }
}

/// A gyro.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct GyroFact {
    /// Its type: `Pigeon2`. Without one there is no gyro.
    pub kind: Option<String>,
    /// Its CAN id, when it is on a bus; 0 is an id.
    pub can_id: Option<i64>,
    /// Its bus; absent and blank are the controller's own, when there is an id.
    pub bus: Option<String>,
}

/// The highest id of a device; 63 is everybody's.
pub const HIGHEST_ID: i64 = 62;
/// More devices than any robot has: what is beyond is not kept, and said.
const MOST: usize = 512;
/// What a device without a type is called.
const UNKNOWN: &str = "Unknown";
/// What the controller's own bus is called.
pub(crate) const OWN_BUS: &str = "rio";

/// A bus's name on the wire.
pub(crate) fn bus_name(bus: &str) -> Cow<'_, str> {
    let name = field(bus);
    if name.is_empty() || name.eq_ignore_ascii_case(OWN_BUS) { Cow::Borrowed(OWN_BUS) } else { name }
}

/// All devices, merged.
#[derive(Debug, Default)]
pub(crate) struct Merged {
    /// (bus, id, class) → type, and who named it first.
    pub(crate) devices: BTreeMap<(String, i64, DeviceClass), (String, &'static str)>,
    /// Two types at one address: (address in words, first source, first type, second source, second type).
    pub(crate) conflicts: Vec<(String, &'static str, String, &'static str, String)>,
    /// What was refused.
    pub(crate) refused: Vec<String>,
}

/// Merges what sources named, in the order in which they are asked. A device named twice is one device; one that was
/// named without a type takes the type from whoever knows it.
pub(crate) fn merge<'a>(named: impl Iterator<Item = (&'static str, &'a Device)>) -> Merged {
    let mut merged = Merged::default();
    for (source, device) in named {
        let (bus, kind) = (bus_name(&device.bus), field(&device.kind));
        let kind = if kind.is_empty() { Cow::Borrowed(UNKNOWN) } else { kind };
        if !(0..=HIGHEST_ID).contains(&device.id) {
            merged.refused.push(format!(
                "{source} names {} {} on {bus}; ids go from 0 to {HIGHEST_ID}",
                device.class.word(),
                device.id
            ));
            continue;
        }
        let room = merged.devices.len() < MOST;
        match merged.devices.get_mut(&(bus.clone().into_owned(), device.id, device.class)) {
            None if room => {
                let address = (bus.into_owned(), device.id, device.class);
                merged.devices.insert(address, (kind.into_owned(), source));
            }
            None => merged.refused.push(format!("{source} names more than {MOST} devices")),
            Some((known, by)) if *known == UNKNOWN => (*known, *by) = (kind.into_owned(), source),
            Some((known, by)) => {
                if *known != kind && kind != UNKNOWN {
                    let address = format!("{} {} on {bus}", device.class.word(), device.id);
                    merged.conflicts.push((address, by, known.clone(), source, kind.into_owned()));
                }
            }
        }
    }
    merged
}

impl Merged {
    /// Rows `bus|id|type`, by bus, then number, then type.
    pub(crate) fn rows(&self) -> Vec<String> {
        let mut rows: Vec<_> =
            self.devices.iter().map(|((bus, id, _), (kind, _))| (bus.as_str(), *id, kind.as_str())).collect();
        rows.sort_unstable();
        rows.iter().map(|(bus, id, kind)| format!("{bus}|{id}|{kind}")).collect()
    }

    /// Rows `type|count`, by type.
    pub(crate) fn inventory(&self) -> Vec<String> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (kind, _) in self.devices.values() {
            *counts.entry(kind).or_default() += 1;
        }
        counts.iter().map(|(kind, count)| format!("{kind}|{count}")).collect()
    }

    /// The first gyro by bus and number.
    pub(crate) fn gyro(&self) -> Option<(&'static str, GyroFact)> {
        self.devices.iter().find(|((_, _, class), _)| *class == DeviceClass::Gyro).map(
            |((bus, id, _), (kind, source))| {
                (*source, GyroFact { kind: Some(kind.clone()), can_id: Some(*id), bus: Some(bus.clone()) })
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i1_motor_one_and_encoder_one_on_one_bus_are_two_devices() {
        let named = [
            Device::new("", 1, "TalonFX"),
            Device::new("rio", 1, "CANcoder"),
            Device::new(" RIO ", 1, "TalonFX"),
            Device::new("can_s2", 1, ""),
        ];
        let merged = merge(named.iter().map(|d| ("registry", d)));
        assert_eq!(merged.rows(), ["can_s2|1|Unknown", "rio|1|CANcoder", "rio|1|TalonFX"]);
        assert_eq!(merged.inventory(), ["CANcoder|1", "TalonFX|1", "Unknown|1"]);
        assert!(merged.conflicts.is_empty());
    }

    #[test]
    fn two_types_at_one_address_are_told_and_the_first_stays() {
        let motor = |kind: &str| Device { class: DeviceClass::Motor, ..Device::new("", 4, kind) };
        let named = [motor(""), motor("TalonFX"), motor("SparkFlex"), motor("")];
        let merged = merge(named.iter().map(|d| ("registry", d)));
        assert_eq!(merged.rows(), ["rio|4|TalonFX"]);
        assert_eq!(merged.conflicts.len(), 1);
        assert_eq!(merged.conflicts[0].0, "motor 4 on rio");
    }

    #[test]
    fn ids_are_sorted_as_numbers_and_checked() {
        let named: Vec<Device> = [10, 9, 62, 63, -1].map(|id| Device::new("b", id, "Spark|Max")).to_vec();
        let merged = merge(named.iter().map(|d| ("registry", d)));
        assert_eq!(merged.rows(), ["b|9|Spark/Max", "b|10|Spark/Max", "b|62|Spark/Max"]);
        assert_eq!(merged.refused.len(), 2);
    }

    #[test]
    fn a_class_is_told_by_the_words_of_a_type() {
        for (kind, class) in [
            ("TalonFX (Falcon 500)", DeviceClass::Motor),
            ("CANcoder", DeviceClass::Encoder),
            ("Canandmag", DeviceClass::Encoder),
            ("Pigeon2", DeviceClass::Gyro),
            ("REV PDH", DeviceClass::Power),
            ("CANdle", DeviceClass::Lights),
            ("", DeviceClass::Other),
        ] {
            assert_eq!(DeviceClass::of_type(kind), class, "{kind}");
        }
    }
}
