//! Each absence rule and each vector of the published contract.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

mod common;

use common::{
    DRIVE, HAL, at, constants, corners, drive, of, of_controller, of_drive, of_hal, rows, settings, swerve,
};
use fieldlab_base::Micros;
use fieldlab_identity::{
    Controller, ControllerFacts, Declaration, Device, FactPart, Facts, Features, How, Key, ModuleConstants,
    PathPlannerSettings, PowerFacts, PowerModule, Provenance, RuntimeFacts, SpecSheet, SwerveFacts, derive,
};
use fieldlab_values::{Translation2d, Value};

fn from() -> Provenance {
    Provenance::new(How::Read, "test", Micros(1))
}

fn declared(change: impl FnOnce(&mut Declaration)) -> SpecSheet {
    let mut declared = Declaration { name: "Ratchet".into(), ..Declaration::default() };
    change(&mut declared);
    derive(&declared, &Facts::default(), &Features::default(), Micros(1))
}

#[test]
fn text_is_trimmed_and_blank_is_dropped() {
    let mut sheet = SpecSheet::default();
    for blank in [None, Some(""), Some(" \t\n")] {
        sheet.text(Key::Name, blank, &from());
        assert!(sheet.is_empty());
    }
    sheet.text(Key::Name, Some("  Ratchet\n"), &from());
    assert_eq!(at(&sheet, Key::Name), Some("Ratchet".into()));
}

#[test]
fn numbers_that_are_absent_or_not_finite_are_dropped_and_zero_survives() {
    let mut sheet = SpecSheet::default();
    for none in [None, Some(f64::NAN), Some(f64::INFINITY), Some(f64::NEG_INFINITY)] {
        sheet.number(Key::MassKg, none, &from());
        assert!(sheet.is_empty());
    }
    sheet.number(Key::MassKg, Some(0.0), &from());
    assert_eq!(at(&sheet, Key::MassKg), Some(0.0.into()));
}

#[test]
fn positive_sources_drop_zero_and_below() {
    let mut sheet = SpecSheet::default();
    for none in [None, Some(0.0), Some(-0.0), Some(-1.0), Some(f64::NAN)] {
        sheet.positive(Key::MassKg, none, &from());
        assert!(sheet.is_empty());
    }
    sheet.positive(Key::MassKg, Some(f64::MIN_POSITIVE), &from());
    assert_eq!(sheet.len(), 1);
}

#[test]
fn lists_that_are_empty_are_dropped() {
    let mut sheet = SpecSheet::default();
    sheet.list::<&str>(Key::Cameras, None, &from());
    sheet.list::<&str>(Key::Cameras, Some(&[]), &from());
    sheet.list(Key::Cameras, Some(&[" ", ""]), &from());
    assert!(sheet.is_empty());
    sheet.list(Key::Cameras, Some(&["", " front "]), &from());
    assert_eq!(at(&sheet, Key::Cameras), Some(rows(&["front"])));
}

#[test]
fn number_arrays_are_dropped_whole() {
    let mut sheet = SpecSheet::default();
    for none in [None, Some(&[][..]), Some(&[0.3, f64::NAN][..]), Some(&[f64::INFINITY][..])] {
        sheet.numbers(Key::ModuleLocations, none, &from());
        assert!(sheet.is_empty());
    }
    sheet.numbers(Key::ModuleLocations, Some(&[0.0, -0.3]), &from());
    assert_eq!(at(&sheet, Key::ModuleLocations), Some(Value::DoubleArray([0.0, -0.3].into())));
}

#[test]
fn integers_and_flags_are_dropped_when_absent_only() {
    let mut sheet = SpecSheet::default();
    sheet.integer(Key::GyroCanId, None, &from());
    sheet.flag(Key::CanFd, None, &from());
    assert!(sheet.is_empty());
    sheet.integer(Key::GyroCanId, Some(0), &from());
    sheet.flag(Key::CanFd, Some(false), &from());
    assert_eq!((at(&sheet, Key::GyroCanId), at(&sheet, Key::CanFd)), (Some(0.into()), Some(false.into())));
}

#[test]
fn a_value_of_another_type_than_the_keys_is_dropped() {
    let mut sheet = SpecSheet::default();
    sheet.text(Key::TeamNumber, Some("1234"), &from());
    sheet.integer(Key::FeatureCount, Some(1), &from());
    sheet.feature_integer(Key::TeamNumber, "X", Some(1), &from());
    sheet.feature_integer(Key::FeatureCount, "A/B", Some(1), &from());
    assert!(sheet.is_empty());
}

#[test]
fn the_tables_order_is_kept_however_it_is_written() {
    let mut sheet = SpecSheet::default();
    sheet.feature_integer(Key::FeatureCount, "Zeta", Some(1), &from());
    sheet.text(Key::Battery, Some("b"), &from());
    sheet.feature_integer(Key::FeatureCount, "Alpha", Some(1), &from());
    sheet.text(Key::Name, Some("n"), &from());
    let names: Vec<&str> = sheet.entries().iter().map(|entry| &*entry.name).collect();
    assert_eq!(names, ["Identity/Name", "Power/Battery", "Catalyst/Alpha/Count", "Catalyst/Zeta/Count"]);
}

#[test]
fn no_swerve_means_no_drivetrain_group() {
    let sheet = derive(
        &common::ratchet(),
        &common::facts(vec![(HAL, common::hal())]),
        &Features::default(),
        Micros(1),
    );
    assert!(!sheet.entries().iter().any(|entry| entry.name.starts_with("Drivetrain/")));
    assert_eq!(sheet.why(Key::DriveGearRatio), Some("no swerve drive came up"));
}

#[test]
fn mass_needs_settings_and_no_drivetrain() {
    let with = |path_planner| of_hal(FactPart { path_planner, ..FactPart::default() });
    let sheet = with(Some(Ok(settings())));
    assert_eq!((at(&sheet, Key::MassKg), at(&sheet, Key::MoiKgM2)), (Some(52.5.into()), Some(4.8.into())));
    assert_eq!((at(&sheet, Key::WheelCof), at(&sheet, Key::WheelRadiusMeters)), (None, None), "no swerve");
    assert_eq!(at(&with(None), Key::MassKg), None);
    let zero = PathPlannerSettings { mass_kg: Some(0.0), moi_kg_m2: Some(-1.0), ..settings() };
    let sheet = with(Some(Ok(zero)));
    assert_eq!((at(&sheet, Key::MassKg), at(&sheet, Key::MoiKgM2)), (None, None));
}

#[test]
fn invalid_settings_count_as_none_warn_and_say_why() {
    let part = FactPart { path_planner: Some(Err("robotMass: expected a number".into())), ..drive() };
    let sheet = of(vec![(DRIVE, part)]);
    for key in [Key::MassKg, Key::MoiKgM2, Key::WheelCof, Key::DriveCurrentLimitAmps] {
        assert_eq!(at(&sheet, key), None);
        assert!(sheet.why(key).unwrap().contains("robotMass: expected a number"));
    }
    assert_eq!(sheet.warnings().len(), 1);
    assert!(sheet.warnings()[0].text.contains("robotMass"));
}

#[test]
fn vector_bumpers_are_frame_plus_twice_the_thickness() {
    let sheet = declared(|d| {
        (d.frame_length_m, d.frame_width_m, d.bumper_thickness_m) = (Some(0.74), Some(0.70), Some(0.08));
    });
    let near = |key, expect: f64| {
        let value = at(&sheet, key).unwrap().as_number().unwrap();
        assert!((value - expect).abs() < 1e-12, "{value}");
    };
    near(Key::BumperLengthMeters, 0.90);
    near(Key::BumperWidthMeters, 0.86);
}

#[test]
fn each_bumper_side_needs_its_own_frame_side_and_the_thickness() {
    let sheet = declared(|d| (d.frame_length_m, d.bumper_thickness_m) = (Some(0.74), Some(0.08)));
    assert!(sheet.has(Key::BumperLengthMeters) && !sheet.has(Key::BumperWidthMeters));
    assert_eq!(sheet.why(Key::BumperWidthMeters), Some("Chassis/FrameWidthMeters is absent"));
    let sheet = declared(|d| d.frame_length_m = Some(0.74));
    assert!(!sheet.has(Key::BumperLengthMeters));
    assert_eq!(sheet.why(Key::BumperLengthMeters), Some("Chassis/BumperThicknessMeters is absent"));
}

#[test]
fn vector_frame_zero_minus_one_and_height_nan_are_no_keys() {
    let sheet = declared(|d| {
        (d.frame_length_m, d.frame_width_m, d.height_m) = (Some(0.0), Some(-1.0), Some(f64::NAN));
    });
    for key in [Key::FrameLengthMeters, Key::FrameWidthMeters, Key::HeightMeters, Key::BumperLengthMeters] {
        assert_eq!(at(&sheet, key), None, "{key}");
        assert!(sheet.why(key).is_some());
    }
}

#[test]
fn vector_channels_7_2_and_a_blank_4() {
    let sheet = declared(|d| {
        d.channels = [(7, "Climber".to_owned()), (2, "Intake".to_owned()), (4, "  ".to_owned())].into();
    });
    assert_eq!(at(&sheet, Key::ChannelsInUse), Some(rows(&["2|Intake", "7|Climber"])));
}

#[test]
fn vector_square_and_oblong_and_diamond() {
    let sheet = of_drive(SwerveFacts { modules: corners(0.3, 0.3), ..swerve() });
    assert_eq!(at(&sheet, Key::TrackWidthMeters), Some(0.6.into()));
    assert_eq!(at(&sheet, Key::WheelBaseMeters), Some(0.6.into()));
    let sheet = of_drive(swerve());
    assert_eq!(at(&sheet, Key::TrackWidthMeters), Some(0.56.into()));
    assert_eq!(at(&sheet, Key::WheelBaseMeters), Some(0.7.into()));
    let diamond =
        [(0.3, 0.0), (0.0, 0.3), (-0.3, 0.0), (0.0, -0.3)].map(|(x_m, y_m)| Translation2d { x_m, y_m });
    let sheet = of_drive(SwerveFacts { modules: diamond.to_vec(), ..swerve() });
    assert_eq!((at(&sheet, Key::TrackWidthMeters), at(&sheet, Key::WheelBaseMeters)), (None, None));
    assert_eq!(at(&sheet, Key::Modules), Some(4.into()), "positions stay");
    assert!(sheet.has(Key::ModuleLocations));
    assert_eq!(
        sheet.why(Key::TrackWidthMeters),
        Some("the modules do not sit on the four corners of one rectangle")
    );
}

#[test]
fn constants_are_published_when_all_modules_agree() {
    let modules = |of: &[ModuleConstants]| {
        let part = FactPart { module_constants: of.to_vec(), swerve: Some(swerve()), ..FactPart::default() };
        of_hal(part)
    };
    let c = constants();
    let within = ModuleConstants { drive_gear_ratio: Some(6.75 + 1e-10), ..c };
    assert!(modules(&[c, within]).has(Key::DriveGearRatio));
    for (odd, part) in [
        (
            ModuleConstants { drive_gear_ratio: Some(6.12), ..c },
            "modules differ: 6.75 and, in module 1, 6.12",
        ),
        (ModuleConstants { drive_gear_ratio: None, ..c }, "module 1 has none"),
        (ModuleConstants { drive_gear_ratio: Some(0.0), ..c }, "module 1: 0 is no reading"),
        (ModuleConstants { drive_gear_ratio: Some(f64::NAN), ..c }, "module 1: NaN is no reading"),
    ] {
        let sheet = modules(&[c, odd]);
        assert_eq!(at(&sheet, Key::DriveGearRatio), None);
        assert!(
            sheet.why(Key::DriveGearRatio).unwrap().contains(part),
            "{:?}",
            sheet.why(Key::DriveGearRatio)
        );
        assert_eq!(at(&sheet, Key::SteerGearRatio), Some(21.43.into()), "the others stand");
    }
}

#[test]
fn a_desktop_has_no_rio() {
    let sheet =
        of_controller(ControllerFacts { model: Some(Controller::Simulation), ..ControllerFacts::default() });
    assert_eq!(at(&sheet, Key::Controller), Some("Simulation".into()));
    for key in [Key::RioSerial, Key::RioComment, Key::RioImage, Key::ControllerSerial, Key::FpgaVersion] {
        assert_eq!(at(&sheet, key), None);
    }
}

#[test]
fn controllers_have_the_names_of_the_contract() {
    for (model, wire) in [
        (Controller::RoboRio, "roboRIO"),
        (Controller::RoboRio2, "roboRIO 2"),
        (Controller::Systemcore, "Systemcore"),
        (Controller::Simulation, "Simulation"),
    ] {
        let sheet = of_controller(ControllerFacts { model: Some(model), ..ControllerFacts::default() });
        assert_eq!(at(&sheet, Key::Controller), Some(wire.into()));
    }
}

#[test]
fn power_modules_have_the_names_of_the_contract() {
    for (module, wire) in [(PowerModule::CtrePdp, "CTRE PDP"), (PowerModule::RevPdh, "REV PDH")] {
        let power = Some(PowerFacts { module: Some(module), channels: Some(0) });
        let sheet = of_hal(FactPart { power, ..FactPart::default() });
        assert_eq!((at(&sheet, Key::PowerModule), at(&sheet, Key::PowerChannels)), (Some(wire.into()), None));
    }
}

#[test]
fn season_needs_a_year_at_the_front_of_the_version() {
    let with = |version: &str| {
        let runtime = RuntimeFacts { wpilib_version: Some(version.into()) };
        of_hal(FactPart { runtime, ..FactPart::default() })
    };
    assert_eq!(at(&with("2027.0.0-alpha-6"), Key::Season), Some(2027.into()));
    let sheet = with("unreleased-1");
    assert_eq!((at(&sheet, Key::Season), at(&sheet, Key::WpilibVersion).is_some()), (None, true));
    assert_eq!(at(&with("unknown"), Key::WpilibVersion), None);
}

#[test]
fn nothing_recorded_means_no_catalyst_group() {
    let sheet = of(Vec::new());
    assert!(!sheet.entries().iter().any(|entry| entry.name.starts_with("Catalyst/")));
    assert!(sheet.why(Key::InUse).is_some());
}

#[test]
fn a_blank_bus_and_rio_are_one_and_ids_sort_as_numbers() {
    let devices = ["", "rio", " RIO "].map(|bus| Device::new(bus, 10, "TalonFX"));
    let more = [Device::new("", 9, ""), Device::new("canivore", 1, "TalonFX")];
    let sheet = of_hal(FactPart { devices: [&devices[..], &more[..]].concat(), ..FactPart::default() });
    assert_eq!(
        at(&sheet, Key::Devices),
        Some(rows(&["canivore|1|TalonFX", "rio|9|Unknown", "rio|10|TalonFX"]))
    );
    assert_eq!(at(&sheet, Key::CanDevices), Some(3.into()));
    assert_eq!(at(&sheet, Key::Inventory), Some(rows(&["TalonFX|2", "Unknown|1"])));
}

#[test]
fn the_drives_gyro_then_a_registered_one_then_the_first_device() {
    let registered = Some(fieldlab_identity::GyroFact { kind: Some("navX".into()), ..Default::default() });
    let devices = vec![Device::new("b", 3, "Pigeon2"), Device::new("a", 7, "Pigeon2")];
    let mut part = FactPart { swerve: Some(swerve()), gyro: registered, devices, ..FactPart::default() };
    let found = |part: &FactPart| {
        let sheet = of_hal(part.clone());
        (at(&sheet, Key::Gyro), at(&sheet, Key::GyroCanId), at(&sheet, Key::GyroBus))
    };
    assert_eq!(found(&part), (Some("Pigeon2".into()), Some(20.into()), Some("can_s2".into())));
    part.swerve = None;
    assert_eq!(found(&part), (Some("navX".into()), None, None));
    part.gyro = None;
    assert_eq!(found(&part), (Some("Pigeon2".into()), Some(7.into()), Some("a".into())));
    part.devices.clear();
    assert_eq!(found(&part), (None, None, None));
}

#[test]
fn versions_of_vendors_are_never_published() {
    for row in fieldlab_identity::keys::table() {
        let name = row.name.to_ascii_lowercase();
        assert!(!["phoenix", "pathplanner", "photon"].iter().any(|vendor| name.contains(vendor)), "{name}");
    }
}

/// The sheet of a real robot of the 2.x line, as a dashboard captured it: what it published is what its facts give here.
#[test]
fn vector_catalyst_x1() {
    let device = |id, kind: &str| Device::new("can_s2", id, kind);
    let motors = (1..=8).map(|id| device(id, "TalonFX (Falcon 500)"));
    let encoders = (1..=4).map(|id| device(id, "CANcoder"));
    let devices = motors.chain(encoders).chain([device(0, "Pigeon2")]).collect();
    let controller = ControllerFacts {
        model: Some(Controller::Systemcore),
        team_number: Some(0),
        brownout_millivolts: Some(0),
        ..ControllerFacts::default()
    };
    let runtime = RuntimeFacts { wpilib_version: Some("2027.0.0-alpha-6".into()) };
    let mut features = Features::default();
    for feature in [
        fieldlab_base::Feature::strategist("X1 co-pilot"),
        fieldlab_base::Feature::physics_core(fieldlab_base::PhysicsProfile::Balanced),
    ] {
        features.record(&feature).unwrap();
    }
    let declared = Declaration { name: "Catalyst X1".into(), ..Declaration::default() };
    let part = FactPart { controller, runtime, devices, swerve: Some(swerve()), ..FactPart::default() };
    let sheet = derive(&declared, &common::facts(vec![(HAL, part)]), &features, Micros(1));
    for (key, value) in [
        (Key::Name, "Catalyst X1".into()),
        (Key::Controller, "Systemcore".into()),
        (Key::Season, 2027.into()),
        (Key::CanDevices, 13.into()),
        (Key::Inventory, rows(&["CANcoder|4", "Pigeon2|1", "TalonFX (Falcon 500)|8"])),
        (Key::InUse, rows(&["Physics Core", "Strategist"])),
    ] {
        assert_eq!(at(&sheet, key), Some(value), "{key}");
    }
    let Some(Value::StringArray(devices)) = at(&sheet, Key::Devices) else { unreachable!() };
    assert!(devices.iter().any(|row| &**row == "can_s2|4|TalonFX (Falcon 500)"));
    assert_eq!(sheet.value("Catalyst/PhysicsCore/Names"), Some(&rows(&["BALANCED"])));
    assert_eq!(sheet.value("Catalyst/Strategist/Names"), Some(&rows(&["X1 co-pilot"])));
    for absent in [
        Key::TeamNumber,
        Key::MassKg,
        Key::BrownoutVolts,
        Key::PowerModule,
        Key::PowerChannels,
        Key::HeightMeters,
    ] {
        assert_eq!(at(&sheet, absent), None, "{absent}");
    }
}
