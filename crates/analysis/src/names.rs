//! One table of names: whoever wrote the log, a channel has one key here.
//!
//! A key is what our own log writer uses: no root, no leading slash (`Gyro/YawRadians`). DataLogManager's capture says
//! `NT:/Catalyst/Gyro/YawRadians`, AdvantageKit `/RealOutputs/Gyro/YawRadians`. Roots are matched as whole segments, so
//! `/CatalystX/…` keeps its name.

/// How a channel came into the log. Ordered by how much we trust it to hold every sample: the direct writer appends
/// each call, AdvantageKit each changed cycle, DataLogManager drops a value equal to the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spelling {
    /// Written straight into the file.
    Direct,
    /// An AdvantageKit log.
    AdvantageKit,
    /// WPILib's DataLogManager captured it from NetworkTables.
    Captured,
}

/// The key of an entry name, and how it was spelt.
#[must_use]
pub fn canonical(name: &str) -> (&str, Spelling) {
    let (mut rest, mut spelling) = match name.strip_prefix("NT:") {
        Some(topic) => (topic.trim_start_matches('/'), Spelling::Captured),
        None => (name.trim_start_matches('/'), Spelling::Direct),
    };
    if spelling == Spelling::Captured
        && let Some(inner) = after(rest, "AdvantageKit")
    {
        rest = inner;
    }
    for root in ["RealOutputs", "ReplayOutputs"] {
        if let Some(inner) = after(rest, root) {
            rest = inner;
            spelling = spelling.max(Spelling::AdvantageKit);
        }
    }
    (after(rest, "Catalyst").unwrap_or(rest), spelling)
}

/// What follows `segment/`, if `name` starts with exactly that segment.
fn after<'a>(name: &'a str, segment: &str) -> Option<&'a str> {
    name.strip_prefix(segment)?.strip_prefix('/').map(|rest| rest.trim_start_matches('/'))
}

/// Other keys under which the same quantity is found, best first.
const ALIASES: &[(&str, &[&str])] = &[
    (
        "Status/BatteryVolts",
        &[
            "Brownout/MeasuredVoltage",
            "Systemcore/BatteryVolts",
            "SystemStats/BatteryVoltage",
            "PowerDistribution/Voltage",
            "FieldLab/BatteryVolts",
        ],
    ),
    ("Gyro/YawRadians", &["Drive/Gyro/YawPositionRad", "Drive/Gyro/YawPosition"]),
    ("Odometry/Pose", &["Swerve/Pose", "Odometry/Robot", "Drive/Pose"]),
    ("Vision/Pose", &["Vision/RobotPose", "Vision/EstimatedPose"]),
    ("systemTime", &["SystemStats/EpochTimeMicros"]),
];

/// The key itself, then its aliases.
pub(crate) fn candidates(key: &str) -> Vec<String> {
    let mut all = vec![key.to_owned()];
    if let Some((_, others)) = ALIASES.iter().find(|(name, _)| *name == key) {
        all.extend(others.iter().map(|o| (*o).to_owned()));
    }
    // AdvantageKit's template numbers modules as `Drive/Module0/DrivePositionRad`.
    if let Some((module, field)) = key.strip_prefix("Swerve/Modules/").and_then(|rest| rest.split_once('/')) {
        let theirs = match field {
            "PositionRadians" => Some("DrivePositionRad"),
            "VelocityRadPerSec" => Some("DriveVelocityRadPerSec"),
            "AppliedVolts" => Some("DriveAppliedVolts"),
            "StatorAmps" => Some("DriveCurrentAmps"),
            _ => None,
        };
        all.extend(theirs.map(|t| format!("Drive/Module{module}/{t}")));
    }
    all
}

/// The session id of a key `FieldLab/<8 lower-case hex digits>/…` and what follows it.
#[must_use]
pub fn session_of(key: &str) -> Option<(&str, &str)> {
    let (id, rest) = key.strip_prefix("FieldLab/")?.split_once('/')?;
    is_session(id).then_some((id, rest))
}

/// Whether a text has the shape of a session id.
#[must_use]
pub fn is_session(id: &str) -> bool {
    id.len() == 8 && id.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t16_roots_are_whole_segments() {
        for (name, key, spelling) in [
            ("FieldLab/State", "FieldLab/State", Spelling::Direct),
            ("/FieldLab/State", "FieldLab/State", Spelling::Direct),
            ("NT:/Catalyst/FieldLab/State", "FieldLab/State", Spelling::Captured),
            ("/Catalyst/FieldLab/State", "FieldLab/State", Spelling::Direct),
            ("/RealOutputs/FieldLab/State", "FieldLab/State", Spelling::AdvantageKit),
            ("NT:/AdvantageKit/RealOutputs/FieldLab/State", "FieldLab/State", Spelling::Captured),
            ("/RealOutputs/Catalyst/FieldLab/State", "FieldLab/State", Spelling::AdvantageKit),
            ("/CatalystX/State", "CatalystX/State", Spelling::Direct),
            ("NT:/CatalystX/State", "CatalystX/State", Spelling::Captured),
            ("NT:/RealOutputsX/State", "RealOutputsX/State", Spelling::Captured),
            ("Catalyst", "Catalyst", Spelling::Direct),
            ("", "", Spelling::Direct),
        ] {
            assert_eq!(canonical(name), (key, spelling), "{name}");
        }
    }

    #[test]
    fn session_ids_are_eight_lower_case_hex_digits() {
        assert_eq!(session_of("FieldLab/6aa1f940/drive-ff/x"), Some(("6aa1f940", "drive-ff/x")));
        assert_eq!(session_of("FieldLab/6AA1F940/x"), None);
        assert_eq!(session_of("FieldLab/wheel-radius/Started"), None);
        assert_eq!(session_of("Other/6aa1f940/x"), None);
    }

    #[test]
    fn modules_are_found_under_advantagekits_names() {
        assert!(
            candidates("Swerve/Modules/2/PositionRadians")
                .contains(&"Drive/Module2/DrivePositionRad".to_owned())
        );
        assert_eq!(candidates("No/Such"), ["No/Such"]);
    }
}
