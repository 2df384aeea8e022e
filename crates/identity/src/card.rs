//! The sheet for a person: groups and rows in the order of the dashboards, absent rows absent, a published zero shown.

use fieldlab_values::{Value, ValueRef};

use crate::keys::{self, Group, Key};
use crate::read::ReadSheet;

/// In which units lengths, masses and speeds are shown. The wire is SI whatever this says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Units {
    /// Metres, kilograms.
    #[default]
    Metric,
    /// Inches, feet, pounds: the units of the game's manual.
    Imperial,
}

/// A robot on a page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Card {
    /// Its name; absent when it did not give one.
    pub name: Option<String>,
    /// Team, season and controller, as far as they are known.
    pub subtitle: Vec<String>,
    /// Groups that have rows.
    pub groups: Vec<CardGroup>,
}

/// A group of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardGroup {
    /// Its heading.
    pub title: &'static str,
    /// (label, what is said), one line each.
    pub rows: Vec<(String, String)>,
}

/// What stands in the groups after the features, as (heading, keys).
const GROUPS: [(&str, &[(Key, &str)]); 6] = [
    (
        "Software",
        &[
            (Key::CatalystVersion, "Library"),
            (Key::CatalystCommitTime, "Library commit"),
            (Key::RobotCodeVersion, "Robot code"),
            (Key::RobotCodeBuild, "Robot code build"),
            (Key::WpilibVersion, "WPILib"),
            (Key::RustVersion, "Rust"),
            (Key::JavaVersion, "Java"),
        ],
    ),
    (
        "Controller",
        &[
            (Key::ControllerSerial, "Serial"),
            (Key::ControllerComment, "Comment"),
            (Key::ControllerImage, "Image"),
            (Key::FpgaVersion, "FPGA"),
        ],
    ),
    (
        "Drivetrain",
        &[
            (Key::DriveType, "Type"),
            (Key::Modules, "Modules"),
            (Key::ModuleLocations, "Module locations"),
            (Key::TrackWidthMeters, "Track width"),
            (Key::WheelBaseMeters, "Wheelbase"),
            (Key::MaxSpeedMps, "Top speed"),
            (Key::MaxAngularRateRadPerSec, "Top turn rate"),
            (Key::OdometryHz, "Odometry"),
            (Key::CanFd, "CAN FD"),
            (Key::DriveGearRatio, "Drive ratio"),
            (Key::SteerGearRatio, "Steer ratio"),
            (Key::WheelRadiusMeters, "Wheel radius"),
        ],
    ),
    (
        "Chassis",
        &[
            (Key::MassKg, "Mass"),
            (Key::MoiKgM2, "Moment of inertia"),
            (Key::FrameLengthMeters, "Frame length"),
            (Key::FrameWidthMeters, "Frame width"),
            (Key::BumperThicknessMeters, "Bumper thickness"),
            (Key::BumperLengthMeters, "Length over bumpers"),
            (Key::BumperWidthMeters, "Width over bumpers"),
            (Key::HeightMeters, "Height"),
        ],
    ),
    (
        "Traction",
        &[
            (Key::WheelCof, "Wheel grip"),
            (Key::SlipCurrentAmps, "Slip current"),
            (Key::DriveCurrentLimitAmps, "Drive current limit"),
        ],
    ),
    (
        "Power",
        &[
            (Key::BrownoutVolts, "Brownout"),
            (Key::PowerModule, "Module"),
            (Key::PowerChannels, "Channels"),
            (Key::Battery, "Battery"),
        ],
    ),
];

/// Keys that are shown in a way of their own, or under another name.
const ELSEWHERE: [Key; 15] = [
    Key::Name,
    Key::TeamNumber,
    Key::Season,
    Key::Controller,
    Key::RioSerial,
    Key::RioComment,
    Key::RioImage,
    Key::CatalystGitSha,
    Key::CatalystGitDirty,
    Key::Library,
    Key::ChannelsInUse,
    Key::CanDevices,
    Key::Inventory,
    Key::Devices,
    Key::Cameras,
];
const GYRO: [Key; 3] = [Key::Gyro, Key::GyroCanId, Key::GyroBus];

/// The card of a sheet.
///
/// No text on it holds a control character, whatever the robot published.
#[must_use]
pub fn card(sheet: &ReadSheet, units: Units) -> Card {
    let it = Drawing { sheet, units };
    let mut card = Card { name: sheet.text(Key::Name.name()).map(plain), ..Card::default() };
    let labelled = [(Key::TeamNumber, "team "), (Key::Season, "season "), (Key::Controller, "")];
    card.subtitle
        .extend(labelled.iter().filter_map(|(key, label)| Some(format!("{label}{}", it.value(*key)?))));
    let mut add = |title: &'static str, rows: Vec<(String, String)>| {
        if !rows.is_empty() {
            card.groups.push(CardGroup { title, rows });
        }
    };
    add("Features", it.features());
    for (title, rows) in GROUPS {
        let mut found: Vec<(String, String)> =
            rows.iter().filter_map(|(key, label)| Some(((*label).to_owned(), it.value(*key)?))).collect();
        if title == "Chassis" {
            found.extend(it.outline());
        }
        add(title, found);
    }
    add("Hardware", it.hardware());
    add("Power channels", it.pairs(Key::ChannelsInUse));
    add("Devices", it.devices());
    add("Other", it.other());
    card
}

struct Drawing<'a> {
    sheet: &'a ReadSheet,
    units: Units,
}

impl Drawing<'_> {
    /// What is said about a key; `None` when it is absent. The Rio names stand in for the newer ones on older robots.
    fn value(&self, key: Key) -> Option<String> {
        let older = || keys::table().iter().find(|row| row.key.newer() == Some(key));
        let value = self.sheet.value(key.name()).or_else(|| self.sheet.value(older()?.name))?;
        let said = self.show(value, key.row().unit);
        Some(match key {
            Key::CatalystVersion => self.library(&said),
            Key::PowerChannels => match self.sheet.list(Key::ChannelsInUse.name()).len() {
                0 => said,
                used => format!("{used} of {said} in use"),
            },
            _ => said,
        })
    }

    /// `fieldlab 0.1.0 (d604d51, dirty)`.
    fn library(&self, version: &str) -> String {
        let name = self.sheet.text(Key::Library.name()).map_or_else(|| "Catalyst".to_owned(), plain);
        let mut text = format!("{name} {version}");
        if let Some(sha) = self.sheet.text(Key::CatalystGitSha.name()) {
            let dirty = self.sheet.value(Key::CatalystGitDirty.name()) == Some(&Value::Boolean(true));
            text.push_str(&format!(" ({}{})", plain(sha), if dirty { ", dirty" } else { "" }));
        }
        text
    }

    fn features(&self) -> Vec<(String, String)> {
        let in_use = self.sheet.list(Key::InUse.name()).iter();
        in_use
            .map(|name| {
                let segment = name.replace(' ', "");
                let names = self.sheet.list(&format!("Catalyst/{segment}/Names"));
                let count = self.sheet.number(&format!("Catalyst/{segment}/Count"));
                let said = match (names.len(), count) {
                    (1..=3, _) => names.iter().map(|name| plain(name)).collect::<Vec<_>>().join(", "),
                    (0, None) => "yes".to_owned(),
                    (0, Some(count)) => trimmed(count, 0),
                    (many, _) => many.to_string(),
                };
                (plain(name), said)
            })
            .collect()
    }

    /// What the rules of the game ask for: the perimeter in both units, and the diagonal.
    fn outline(&self) -> Vec<(String, String)> {
        let both = |a: Key, b: Key| Some((self.sheet.number(a.name())?, self.sheet.number(b.name())?));
        let diagonal = both(Key::BumperLengthMeters, Key::BumperWidthMeters)
            .map(|(l, w)| ("Diagonal over bumpers".to_owned(), self.quantity(l.hypot(w), "m")));
        let perimeter = both(Key::FrameLengthMeters, Key::FrameWidthMeters).map(|(l, w)| {
            let metres = 2.0 * (l + w);
            let text = format!("{} m ({} in)", trimmed(metres, 3), trimmed(metres / 0.0254, 1));
            ("Frame perimeter".to_owned(), text)
        });
        diagonal.into_iter().chain(perimeter).collect()
    }

    fn hardware(&self) -> Vec<(String, String)> {
        let mut rows = Vec::new();
        if let Some(count) = self.value(Key::CanDevices) {
            rows.push(("CAN devices".to_owned(), count));
        }
        rows.extend(self.pairs(Key::Inventory));
        let gyro = GYRO.map(|key| self.value(key));
        let said: Vec<String> = gyro
            .iter()
            .zip(["", "id ", "on "])
            .filter_map(|(value, label)| Some(format!("{label}{}", value.as_ref()?)))
            .collect();
        if !said.is_empty() {
            rows.push(("Gyro".to_owned(), said.join(", ")));
        }
        let cameras: Vec<String> =
            self.sheet.list(Key::Cameras.name()).iter().map(|name| plain(name)).collect();
        if !cameras.is_empty() {
            rows.push(("Cameras".to_owned(), cameras.join(", ")));
        }
        rows
    }

    fn pairs(&self, key: Key) -> Vec<(String, String)> {
        let rows = self.sheet.list(key.name()).iter();
        rows.filter_map(|row| row.split_once('|')).map(|(a, b)| (plain(a), plain(b))).collect()
    }

    fn devices(&self) -> Vec<(String, String)> {
        let rows = self.sheet.list(Key::Devices.name()).iter();
        let parts = rows.filter_map(|row| {
            let (bus, rest) = row.split_once('|')?;
            let (id, kind) = rest.split_once('|')?;
            Some((format!("{} {}", plain(bus), plain(id)), plain(kind)))
        });
        parts.collect()
    }

    /// What the robot says beyond what has a place of its own.
    fn other(&self) -> Vec<(String, String)> {
        let placed = |key: Key| {
            ELSEWHERE.contains(&key)
                || GYRO.contains(&key)
                || key.row().group == Group::Catalyst
                || GROUPS.iter().any(|(_, rows)| rows.iter().any(|(placed, _)| *placed == key))
        };
        let facts = self.sheet.facts().into_iter();
        facts
            .filter(|(_, row, _)| row.is_none_or(|row| !placed(row.key)))
            .map(|(key, row, value)| (plain(key), self.show(value, row.map_or("", |row| row.unit))))
            .collect()
    }

    fn show(&self, value: &Value, unit: &str) -> String {
        match value.as_ref() {
            ValueRef::Boolean(flag) => if flag { "yes" } else { "no" }.to_owned(),
            ValueRef::Int(number) => with(&number.to_string(), unit),
            ValueRef::Float(number) => self.quantity(f64::from(number), unit),
            ValueRef::Double(number) => self.quantity(number, unit),
            ValueRef::String(text) => plain(text),
            ValueRef::DoubleArray(all) if unit == "m" => {
                all.chunks(2)
                    .map(|pair| {
                        let of: Vec<String> = pair.iter().map(|v| self.bare(*v, unit).0).collect();
                        format!("({})", of.join(", "))
                    })
                    .collect::<Vec<_>>()
                    .join(" ")
                    + &format!(" {}", self.bare(0.0, unit).1)
            }
            ValueRef::DoubleArray(all) => list(all.iter().map(|v| trimmed(*v, 4))),
            ValueRef::FloatArray(all) => list(all.iter().map(|v| trimmed(f64::from(*v), 4))),
            ValueRef::IntArray(all) => list(all.iter().map(i64::to_string)),
            ValueRef::BooleanArray(all) => list(all.iter().map(bool::to_string)),
            ValueRef::StringArray(all) => list(all.iter().map(|text| plain(text))),
            ValueRef::Raw(bytes) => format!("{} bytes", bytes.len()),
        }
    }

    fn quantity(&self, value: f64, unit: &str) -> String {
        let (number, unit) = self.bare(value, unit);
        with(&number, unit)
    }

    /// A number in the units of the display.
    fn bare<'u>(&self, value: f64, unit: &'u str) -> (String, &'u str) {
        match (self.units, unit) {
            (Units::Imperial, "m") => (trimmed(value / 0.0254, 2), "in"),
            (Units::Imperial, "kg") => (trimmed(value / 0.453_592_37, 1), "lb"),
            (Units::Imperial, "m/s") => (trimmed(value / 0.3048, 2), "ft/s"),
            (Units::Imperial, "kg m²") => (trimmed(value * 23.730_360_404, 1), "lb ft²"),
            _ => (trimmed(value, 4), unit),
        }
    }
}

fn with(number: &str, unit: &str) -> String {
    if unit.is_empty() { number.to_owned() } else { format!("{number} {unit}") }
}

fn list(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

/// At most `digits` after the point, and none that say nothing. A number too small for that many is shown whole: it
/// must not read as zero.
fn trimmed(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if value != 0.0 && matches!(text, "0" | "-0") { format!("{value}") } else { text.to_owned() }
}

/// A robot's text on one line: it must not drive a terminal, nor turn the line around.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
        if c.is_control() || turns || matches!(c, '\u{2028}' | '\u{2029}') {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn sheet(facts: &[(&str, Value)]) -> ReadSheet {
        let mut sheet = ReadSheet::default();
        for (key, value) in facts {
            assert!(sheet.take(&format!("Robot/{key}"), &value.data_type(), value));
        }
        sheet
    }

    fn rows(all: &[&str]) -> Value {
        Value::StringArray(all.iter().map(|row| Arc::from(*row)).collect())
    }

    fn lines(card: &Card) -> Vec<String> {
        let line = |title: &str, (label, value): &(String, String)| format!("{title}/{label}: {value}");
        card.groups.iter().flat_map(|g| g.rows.iter().map(|row| line(g.title, row))).collect()
    }

    #[test]
    fn every_key_of_the_table_has_a_place() {
        for row in keys::table().iter().filter(|row| row.group != Group::Sheet) {
            let placed = ELSEWHERE.contains(&row.key)
                || GYRO.contains(&row.key)
                || row.group == Group::Catalyst
                || GROUPS.iter().any(|(_, rows)| rows.iter().any(|(key, _)| *key == row.key));
            assert!(placed, "{}", row.name);
        }
    }

    #[test]
    fn a_name_alone_is_a_name_alone() {
        let card = card(&sheet(&[("Identity/Name", "Ratchet".into())]), Units::Metric);
        assert_eq!((card.name.as_deref(), card.subtitle.len(), card.groups.len()), (Some("Ratchet"), 0, 0));
    }

    #[test]
    fn a_published_zero_is_shown_and_an_absent_row_is_absent() {
        let found = card(
            &sheet(&[("Drivetrain/OdometryHz", 0.0.into()), ("Drivetrain/CanFd", false.into())]),
            Units::Metric,
        );
        assert_eq!(lines(&found), ["Drivetrain/Odometry: 0 Hz", "Drivetrain/CAN FD: no"]);
    }

    #[test]
    fn both_units_and_the_perimeter_in_both() {
        let sheet = sheet(&[
            ("Chassis/MassKg", 45.359_237.into()),
            ("Chassis/FrameLengthMeters", 0.762.into()),
            ("Chassis/FrameWidthMeters", 0.6858.into()),
            ("Drivetrain/ModuleLocations", Value::DoubleArray([0.254, -0.254].into())),
        ]);
        assert_eq!(
            lines(&card(&sheet, Units::Metric)),
            [
                "Drivetrain/Module locations: (0.254, -0.254) m",
                "Chassis/Mass: 45.3592 kg",
                "Chassis/Frame length: 0.762 m",
                "Chassis/Frame width: 0.6858 m",
                "Chassis/Frame perimeter: 2.896 m (114 in)",
            ]
        );
        assert_eq!(
            lines(&card(&sheet, Units::Imperial)),
            [
                "Drivetrain/Module locations: (10, -10) in",
                "Chassis/Mass: 100 lb",
                "Chassis/Frame length: 30 in",
                "Chassis/Frame width: 27 in",
                "Chassis/Frame perimeter: 2.896 m (114 in)",
            ]
        );
    }

    #[test]
    fn features_channels_and_an_older_robots_names() {
        let found = card(
            &sheet(&[
                ("Catalyst/InUse", rows(&["Goal Director", "Sequence", "Strategist"])),
                ("Catalyst/GoalDirector/Count", 1.into()),
                ("Catalyst/Sequence/Count", 4.into()),
                ("Catalyst/Sequence/Names", rows(&["a", "b", "c", "d"])),
                ("Catalyst/Strategist/Names", rows(&["X1 co-pilot"])),
                ("Software/CatalystVersion", "1.11.0".into()),
                ("Software/CatalystGitSha", "d604d51".into()),
                ("Software/CatalystGitDirty", true.into()),
                ("Identity/RioSerial", "031E3A2F".into()),
                ("Power/Channels", 24.into()),
                ("Power/ChannelsInUse", rows(&["0|Front left drive"])),
                ("Hardware/Gyro", "Pigeon2".into()),
                ("Hardware/GyroCanId", 0.into()),
                ("Future/Key", "kept".into()),
            ]),
            Units::Metric,
        );
        assert_eq!(
            lines(&found),
            [
                "Features/Goal Director: 1",
                "Features/Sequence: 4",
                "Features/Strategist: X1 co-pilot",
                "Software/Library: Catalyst 1.11.0 (d604d51, dirty)",
                "Controller/Serial: 031E3A2F",
                "Power/Channels: 1 of 24 in use",
                "Hardware/Gyro: Pigeon2, id 0",
                "Power channels/0: Front left drive",
                "Other/Future/Key: kept",
            ]
        );
    }

    #[test]
    fn no_text_of_a_robot_drives_a_terminal() {
        let found = card(&sheet(&[("Identity/Name", "\u{1b}[2Jx\u{202e}y\n".into())]), Units::Metric);
        assert_eq!(found.name.as_deref(), Some("\\u{1b}[2Jx\\u{202e}y\\u{a}"));
        assert_eq!([trimmed(1e-9, 4), trimmed(0.0, 4), trimmed(12.5, 0)], ["0.000000001", "0", "12"]);
    }
}
