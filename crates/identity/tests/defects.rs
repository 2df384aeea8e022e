//! The defects of the reference, I1 to I13, each as the test that it does not pass. Those of a single part stand beside
//! its code as well.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

mod common;

use common::{
    DRIVE, HAL, OTHER, SERVER, at, constants, corners, drive, facts, hal, of, of_controller, of_drive,
    of_hal, pigeon, ratchet, rows, settings, swerve,
};
use fieldlab_base::{Feature, Micros};
use fieldlab_identity::{
    Controller, ControllerFacts, Declaration, Device, FactPart, FactSource, Facts, Features, Identity, Key,
    MeasuredFacts, ModuleConstants, ReadSheet, RobotIdentity, Source, SwerveFacts, To, Whole, derive,
};
use fieldlab_values::{DataType, Value};

#[test]
fn i1_devices_are_merged_per_class() {
    let registry = vec![Device::new("", 1, "TalonFX"), Device::new("rio", 5, "")];
    let drivetrain = vec![Device::new("rio", 1, "CANcoder"), Device::new("rio", 1, "TalonFX")];
    let sheet = of(vec![
        (HAL, FactPart { devices: registry, ..FactPart::default() }),
        (DRIVE, FactPart { devices: drivetrain, ..FactPart::default() }),
    ]);
    assert_eq!(at(&sheet, Key::CanDevices), Some(3.into()));
    assert_eq!(at(&sheet, Key::Devices), Some(rows(&["rio|1|CANcoder", "rio|1|TalonFX", "rio|5|Unknown"])));
    assert!(sheet.disagreements().is_empty());
}

#[test]
fn i1_a_conflict_is_one_within_a_class() {
    let named = |kind: &str| FactPart { devices: vec![Device::new("", 4, kind)], ..FactPart::default() };
    let sheet = of(vec![(HAL, named("TalonFX")), (DRIVE, named("SparkFlex"))]);
    assert_eq!(at(&sheet, Key::Devices), Some(rows(&["rio|4|TalonFX"])));
    assert_eq!(
        sheet.disagreements()[0].row(),
        "Hardware/Devices|HAL|motor 4 on rio is a TalonFX|drivetrain|it is a SparkFlex"
    );
}

#[test]
fn i2_what_goes_away_is_retracted_and_listed() {
    let mut identity = Identity::new(1);
    identity.declare(ratchet());
    identity.put(DRIVE, Micros(1), drive());
    identity.step(Micros(1));
    assert!(!identity.sheet().has(Key::Retracted));

    identity.declare(Declaration { battery: None, ..ratchet() });
    let changes = identity.step(Micros(2)).to_vec();
    let battery = changes.iter().find(|change| change.key == Key::Battery).unwrap();
    assert_eq!(battery.to, To::Retract);
    assert_eq!(at(identity.sheet(), Key::Retracted), Some(rows(&["Power/Battery"])));

    identity.forget(DRIVE);
    identity.step(Micros(3));
    let Some(Value::StringArray(gone)) = at(identity.sheet(), Key::Retracted) else { unreachable!() };
    assert!(gone.iter().any(|key| &**key == "Drivetrain/ModuleLocations") && gone.len() > 20);

    identity.declare(ratchet());
    identity.put(DRIVE, Micros(4), drive());
    identity.step(Micros(4));
    assert_eq!(
        at(identity.sheet(), Key::Retracted),
        Some(Value::StringArray([].into())),
        "an empty list replaces the old one"
    );
}

#[test]
fn i2_a_reader_that_keeps_what_was_unannounced_knows_better() {
    let mut identity = Identity::new(1);
    let mut reader = ReadSheet::default();
    let mut read = |identity: &mut Identity, now| {
        for change in identity.step(Micros(now)) {
            // A reader that ignores unannouncements.
            if let To::Set(value) = &change.to {
                let kind = if change.key == Key::Provenance { DataType::Json } else { value.data_type() };
                reader.take(&format!("/Catalyst/Robot/{}", change.name), &kind, value);
            }
        }
        assert_eq!(reader.whole(), Whole::Yes);
        reader.text("Power/Battery").map(str::to_owned)
    };
    identity.declare(ratchet());
    assert_eq!(read(&mut identity, 1).as_deref(), Some("MK ES17-12"));
    identity.declare(Declaration { battery: None, ..ratchet() });
    assert_eq!(read(&mut identity, 2), None);
    identity.declare(ratchet());
    assert_eq!(read(&mut identity, 3).as_deref(), Some("MK ES17-12"));
}

#[test]
fn i3_a_place_that_is_not_finite_is_no_layout() {
    let mut modules = corners(0.3, 0.3);
    modules[2].x_m = f64::NAN;
    let sheet = of_drive(SwerveFacts { modules, ..swerve() });
    assert_eq!(at(&sheet, Key::ModuleLocations), None);
    assert_eq!(at(&sheet, Key::TrackWidthMeters), None);
    assert_eq!(at(&sheet, Key::Modules), Some(4.into()));
    assert_eq!(sheet.why(Key::ModuleLocations), Some("drivetrain: the place of module 2 is not finite"));
}

#[test]
fn i4_names_and_cameras_do_not_depend_on_order() {
    let cameras = |names: &[&str]| FactPart {
        cameras: names.iter().map(|n| (*n).to_owned()).collect(),
        ..Default::default()
    };
    let (a, b) = ((HAL, cameras(&["rear", "front"])), (OTHER, cameras(&["left", " front ", ""])));
    let expect = Some(rows(&["front", "left", "rear"]));
    assert_eq!(at(&of(vec![a.clone(), b.clone()]), Key::Cameras), expect);
    assert_eq!(at(&of(vec![b, a]), Key::Cameras), expect);

    let named = |order: [&str; 2]| {
        let mut features = Features::default();
        order.iter().for_each(|name| features.record(&Feature::sequence(name)).unwrap());
        let sheet = derive(&ratchet(), &Facts::default(), &features, Micros(1));
        sheet.value("Catalyst/Sequence/Names").cloned()
    };
    assert_eq!(named(["Zig", "Ace"]), Some(rows(&["Ace", "Zig"])));
    assert_eq!(named(["Ace", "Zig"]), Some(rows(&["Ace", "Zig"])));
}

#[test]
fn i5_instances_stand_beside_the_count() {
    let mut features = Features::default();
    for label in ["ThreePiece", "ThreePiece", ""] {
        features.record(&Feature::sequence(label)).unwrap();
    }
    let sheet = derive(&ratchet(), &Facts::default(), &features, Micros(1));
    assert_eq!(sheet.value("Catalyst/Sequence/Count"), Some(&1.into()));
    assert_eq!(sheet.value("Catalyst/Sequence/Instances"), Some(&3.into()));
}

#[test]
fn i6_no_bar_inside_a_field_of_a_row() {
    let declared = RobotIdentity::named("Ratchet").channel(3, "Intake | left").declare().unwrap();
    let part = FactPart { devices: vec![Device::new("can|s0", 1, "Talon|FX\n")], ..FactPart::default() };
    let sheet = derive(&declared, &facts(vec![(HAL, part)]), &Features::default(), Micros(1));
    assert_eq!(at(&sheet, Key::ChannelsInUse), Some(rows(&["3|Intake / left"])));
    assert_eq!(at(&sheet, Key::Devices), Some(rows(&["can/s0|1|Talon/FX"])));
    assert_eq!(at(&sheet, Key::Inventory), Some(rows(&["Talon/FX|1"])));
}

#[test]
fn i7_modules_that_differ_do_not_suppress_path_planner() {
    let odd = ModuleConstants { wheel_radius_m: Some(0.0495), ..constants() };
    let mut part = FactPart {
        swerve: Some(swerve()),
        module_constants: vec![constants(), odd],
        path_planner: Some(Ok(settings())),
        ..FactPart::default()
    };
    let sheet = of_hal(part.clone());
    let radius = sheet.get("Drivetrain/WheelRadiusMeters").unwrap();
    assert_eq!(radius.fact.value, 0.0508.into());
    assert_eq!(radius.fact.provenance.how.word(), "declared", "a person typed it into PathPlanner");
    let passed = sheet.passed_over().iter().find(|(key, _)| *key == Key::WheelRadiusMeters).unwrap();
    assert_eq!(passed.1, "HAL: modules differ: 0.0508 and, in module 1, 0.0495");
    assert!(sheet.warnings().iter().any(|warning| warning.key == Key::WheelRadiusMeters));

    part.path_planner = None;
    let sheet = of_hal(part.clone());
    assert!(sheet.why(Key::WheelRadiusMeters).unwrap().contains("modules differ"));
    part.measured = MeasuredFacts { wheel_radius_m: Some(0.0501), slip_current_amps: None };
    let sheet = of_hal(part);
    let radius = sheet.get("Drivetrain/WheelRadiusMeters").unwrap();
    assert_eq!((&radius.fact.value, radius.fact.provenance.how.word()), (&0.0501.into(), "measured"));
}

#[test]
fn i7_the_radius_in_force_and_a_different_one_are_both_told() {
    let part = FactPart {
        swerve: Some(swerve()),
        module_constants: vec![constants(); 4],
        measured: MeasuredFacts { wheel_radius_m: Some(0.0495), slip_current_amps: None },
        ..FactPart::default()
    };
    let sheet = of_hal(part);
    assert_eq!(at(&sheet, Key::WheelRadiusMeters), Some(0.0508.into()), "what the robot runs with");
    assert_eq!(sheet.disagreements()[0].row(), "Drivetrain/WheelRadiusMeters|HAL|0.0508|HAL|0.0495");
}

#[test]
fn i8_a_refused_feature_is_absent() {
    let mut identity = Identity::new(1);
    identity.declare(RobotIdentity::declare("Ratchet").unwrap());
    identity.record(&Feature::goal_director(Some("STOW"))).unwrap();
    assert!(identity.record(&Feature::own("GoalDirector", "other").unwrap()).is_err());
    identity.step(Micros(1));
    assert_eq!(at(identity.sheet(), Key::InUse), Some(rows(&["Goal Director"])));
    assert_eq!(identity.sheet().value("Catalyst/GoalDirector/Names"), Some(&rows(&["STOW"])));
}

/// A source that counts how often it was asked for its facts.
struct Counting(u32);

impl FactSource for Counting {
    fn source(&self) -> Source {
        OTHER
    }
    fn read(&mut self, _now: Micros) -> Option<FactPart> {
        self.0 += 1;
        (self.0 == 1).then(hal)
    }
}

#[test]
fn i9_a_turn_derives_once_and_writes_only_what_changed() {
    let mut identity = Identity::new(1);
    identity.declare(ratchet());
    let mut source = Counting(0);
    identity.ask(&mut source, Micros(1));
    let first = identity.step(Micros(1)).len();
    assert!(first > 30);
    // Thirty claims in one turn are one derivation, and it writes the device keys and the sheet's word about itself.
    for id in 0..30 {
        let devices = (0..=id).map(|id| Device::new("", id, "TalonFX")).collect();
        identity.put(DRIVE, Micros(2), FactPart { devices, ..FactPart::default() });
    }
    let keys: Vec<Key> = identity.step(Micros(2)).iter().map(|change| change.key).collect();
    assert_eq!(
        keys,
        [Key::CanDevices, Key::Inventory, Key::Devices, Key::SheetCount, Key::SheetHash, Key::Provenance]
    );
    identity.ask(&mut source, Micros(3));
    identity.declare(ratchet());
    let devices = (0..30).map(|id| Device::new("", id, "TalonFX")).collect();
    identity.put(DRIVE, Micros(3), FactPart { devices, ..FactPart::default() });
    assert!(identity.step(Micros(3)).is_empty(), "what was said again is nothing new");
}

#[test]
fn i10_one_owner_derives_from_everything_that_is_known() {
    // Facts from several threads meet in one place and are derived by one step: an older sheet cannot come last.
    let mut one = Identity::new(1);
    let mut other = Identity::new(1);
    one.declare(ratchet());
    one.put(HAL, Micros(1), hal());
    one.put(DRIVE, Micros(2), drive());
    one.step(Micros(3));
    other.put(DRIVE, Micros(2), drive());
    other.step(Micros(2));
    other.put(HAL, Micros(1), hal());
    other.declare(ratchet());
    other.step(Micros(3));
    assert_eq!(one.sheet(), other.sheet());
}

#[test]
fn i11_gyro_id_zero_is_an_id_and_the_bus_is_told() {
    let sheet = of_drive(SwerveFacts { gyro: Some(pigeon(0)), ..swerve() });
    assert_eq!(at(&sheet, Key::GyroCanId), Some(0.into()));
    assert_eq!(at(&sheet, Key::GyroBus), Some("can_s2".into()));
    let sheet = of_drive(SwerveFacts { gyro: Some(pigeon(-1)), ..swerve() });
    assert_eq!((at(&sheet, Key::Gyro), at(&sheet, Key::GyroCanId)), (Some("Pigeon2".into()), None));
    assert_eq!(sheet.why(Key::GyroCanId), Some("drivetrain: -1 is no CAN id"));
}

#[test]
fn i12_the_first_team_number_that_is_one() {
    let team = |number| FactPart {
        controller: ControllerFacts { team_number: number, ..ControllerFacts::default() },
        ..FactPart::default()
    };
    let sheet = of(vec![(HAL, team(Some(0))), (SERVER, team(Some(4321)))]);
    let known = sheet.get("Identity/TeamNumber").unwrap();
    assert_eq!((&known.fact.value, &*known.fact.provenance.source), (&4321.into(), "system server"));
    assert_eq!(
        sheet.passed_over(),
        [(Key::TeamNumber, "HAL: 0 is no reading, it can only be above 0".to_owned())]
    );
    assert!(sheet.disagreements().is_empty(), "a zero is no opinion");

    let sheet = of(vec![(SERVER, team(Some(4321))), (HAL, team(Some(1234)))]);
    assert_eq!(at(&sheet, Key::TeamNumber), Some(1234.into()), "rank, not arrival");
    assert_eq!(sheet.disagreements()[0].row(), "Identity/TeamNumber|HAL|1234|system server|4321");
}

#[test]
fn i12_hardware_that_nobody_knows_is_called_by_its_model() {
    let model = Some(Controller::Other("Raspberry Pi 5 Model B".into()));
    let sheet = of_controller(ControllerFacts { model, ..ControllerFacts::default() });
    assert_eq!(at(&sheet, Key::Controller), Some("Raspberry Pi 5 Model B".into()));
}

#[test]
fn i13_millimetres_and_inches_are_published_with_a_warning() {
    let inches = RobotIdentity::named("R").frame_m(29.0, 0.7).height_m(520.0).declare().unwrap();
    let mut modules = corners(0.3, 0.3);
    modules.iter_mut().for_each(|m| m.x_m *= 1000.0);
    let part = FactPart {
        swerve: Some(SwerveFacts { modules, ..swerve() }),
        controller: ControllerFacts { brownout_millivolts: Some(6_750_000), ..ControllerFacts::default() },
        ..FactPart::default()
    };
    let sheet = derive(&inches, &facts(vec![(HAL, part)]), &Features::default(), Micros(1));
    assert_eq!(at(&sheet, Key::FrameLengthMeters), Some(29.0.into()), "still published");
    let texts: Vec<String> = sheet.warnings().iter().map(|warning| warning.sentence()).collect();
    for (key, guess) in [
        ("Chassis/FrameLengthMeters: 29 m is hard to believe", "in centimetres or inches it would be"),
        ("Chassis/HeightMeters: 520 m is hard to believe", "in millimetres it would be"),
        ("Drivetrain/ModuleLocations: 300 m is hard to believe", "in millimetres it would be"),
        ("Power/BrownoutVolts: 6750 V is hard to believe", "in millivolts it would be"),
    ] {
        assert!(texts.iter().any(|text| text.starts_with(key) && text.contains(guess)), "{key}: {texts:#?}");
    }
    assert!(!texts.iter().any(|text| text.starts_with("Chassis/FrameWidth")), "{texts:#?}");
}

#[test]
fn i13_a_channel_beyond_the_module_is_told() {
    let declared = RobotIdentity::named("R").channel(23, "a").channel(24, "b").declare().unwrap();
    let sheet = derive(&declared, &Facts::default(), &Features::default(), Micros(1));
    let warning = &sheet.warnings()[0];
    assert_eq!(
        (warning.key, &*warning.text),
        (Key::ChannelsInUse, "channel 24 is named, the channels go from 0 to 23")
    );
}
