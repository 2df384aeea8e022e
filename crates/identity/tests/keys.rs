//! Every row of the table: the value it has on a robot that knows it, and that it is absent, with a reason, on one that
//! does not.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

mod common;

use common::{at, full, of, rows};
use fieldlab_base::Micros;
use fieldlab_identity::keys::{Group, Origin, find, table};
use fieldlab_identity::{Identity, Key, RobotIdentity, version};
use fieldlab_values::{DataType, Value};

macro_rules! row {
    ($($test:ident $key:ident $name:literal $kind:ident $value:expr;)*) => {
        $(#[test]
        fn $test() {
            let row = Key::$key.row();
            assert_eq!((row.name, &row.data_type), ($name, &DataType::$kind), "name and type are the contract");
            let value: Value = $value;
            let sheet = full();
            let known = sheet.get(row.name).unwrap();
            assert_eq!(known.fact.value, value);
            assert!(row.sources.iter().all(|source| !source.is_empty()) && !known.fact.provenance.source.is_empty());
        })*

        /// Every row of the contract has a test above, or one of its own below.
        #[test]
        fn no_row_is_without_a_test() {
            let tested = [$(Key::$key),*];
            let own = [
                Key::CatalystGitSha, Key::CatalystGitDirty, Key::CatalystCommitTime, Key::RustVersion, Key::JavaVersion,
                Key::FeatureCount, Key::FeatureInstances, Key::FeatureNames,
            ];
            for row in table().iter().filter(|row| row.group != Group::Sheet) {
                assert!(tested.contains(&row.key) || own.contains(&row.key), "{}", row.name);
            }
        }
    };
}

row! {
    identity_name Name "Identity/Name" String "Ratchet".into();
    identity_team_number TeamNumber "Identity/TeamNumber" Int 1234.into();
    identity_season Season "Identity/Season" Int 2026.into();
    identity_controller Controller "Identity/Controller" String "roboRIO 2".into();
    identity_controller_serial ControllerSerial "Identity/ControllerSerial" String "031E3A2F".into();
    identity_rio_serial RioSerial "Identity/RioSerial" String "031E3A2F".into();
    identity_controller_comment ControllerComment "Identity/ControllerComment" String "practice bot".into();
    identity_rio_comment RioComment "Identity/RioComment" String "practice bot".into();
    software_catalyst_version CatalystVersion "Software/CatalystVersion" String version::version().into();
    software_library Library "Software/Library" String "fieldlab".into();
    software_robot_code_version RobotCodeVersion "Software/RobotCodeVersion" String "abc1234".into();
    software_robot_code_build RobotCodeBuild "Software/RobotCodeBuild" String "2026-11-30T09:00:00Z".into();
    software_wpilib_version WpilibVersion "Software/WPILibVersion" String "2026.2.1".into();
    software_controller_image ControllerImage "Software/ControllerImage" String "FRC_roboRIO2_2026_v1.2".into();
    software_rio_image RioImage "Software/RioImage" String "FRC_roboRIO2_2026_v1.2".into();
    software_fpga_version FpgaVersion "Software/FpgaVersion" Int 2026.into();
    drivetrain_type DriveType "Drivetrain/Type" String "Swerve".into();
    drivetrain_modules Modules "Drivetrain/Modules" Int 4.into();
    drivetrain_module_locations ModuleLocations "Drivetrain/ModuleLocations" DoubleArray
        Value::DoubleArray([0.35, 0.28, 0.35, -0.28, -0.35, 0.28, -0.35, -0.28].into());
    drivetrain_track_width TrackWidthMeters "Drivetrain/TrackWidthMeters" Double 0.56.into();
    drivetrain_wheel_base WheelBaseMeters "Drivetrain/WheelBaseMeters" Double 0.7.into();
    drivetrain_max_speed MaxSpeedMps "Drivetrain/MaxSpeedMps" Double 4.7.into();
    drivetrain_max_angular_rate MaxAngularRateRadPerSec "Drivetrain/MaxAngularRateRadPerSec" Double 9.4.into();
    drivetrain_odometry_hz OdometryHz "Drivetrain/OdometryHz" Double 250.0.into();
    drivetrain_can_fd CanFd "Drivetrain/CanFd" Boolean true.into();
    drivetrain_drive_gear_ratio DriveGearRatio "Drivetrain/DriveGearRatio" Double 6.75.into();
    drivetrain_steer_gear_ratio SteerGearRatio "Drivetrain/SteerGearRatio" Double 21.43.into();
    drivetrain_wheel_radius WheelRadiusMeters "Drivetrain/WheelRadiusMeters" Double 0.0508.into();
    drivetrain_slip_current SlipCurrentAmps "Drivetrain/SlipCurrentAmps" Double 80.0.into();
    drivetrain_wheel_cof WheelCof "Drivetrain/WheelCof" Double 1.2.into();
    drivetrain_drive_current_limit DriveCurrentLimitAmps "Drivetrain/DriveCurrentLimitAmps" Double 60.0.into();
    chassis_mass MassKg "Chassis/MassKg" Double 52.5.into();
    chassis_moi MoiKgM2 "Chassis/MoiKgM2" Double 4.8.into();
    chassis_frame_length FrameLengthMeters "Chassis/FrameLengthMeters" Double 0.74.into();
    chassis_frame_width FrameWidthMeters "Chassis/FrameWidthMeters" Double 0.70.into();
    chassis_bumper_thickness BumperThicknessMeters "Chassis/BumperThicknessMeters" Double 0.08.into();
    chassis_bumper_length BumperLengthMeters "Chassis/BumperLengthMeters" Double (0.74 + 2.0 * 0.08).into();
    chassis_bumper_width BumperWidthMeters "Chassis/BumperWidthMeters" Double (0.70 + 2.0 * 0.08).into();
    chassis_height HeightMeters "Chassis/HeightMeters" Double 0.52.into();
    power_brownout BrownoutVolts "Power/BrownoutVolts" Double 6.75.into();
    power_module PowerModule "Power/Module" String "REV PDH".into();
    power_channels PowerChannels "Power/Channels" Int 24.into();
    power_channels_in_use ChannelsInUse "Power/ChannelsInUse" StringArray
        rows(&["0|Front left drive", "1|Front right drive"]);
    power_battery Battery "Power/Battery" String "MK ES17-12".into();
    hardware_can_devices CanDevices "Hardware/CanDevices" Int 9.into();
    hardware_inventory Inventory "Hardware/Inventory" StringArray rows(&["CANcoder|4", "Pigeon2|1", "TalonFX|4"]);
    hardware_devices Devices "Hardware/Devices" StringArray rows(&[
        "can_s2|1|CANcoder", "can_s2|1|TalonFX", "can_s2|2|CANcoder", "can_s2|2|TalonFX", "can_s2|3|CANcoder",
        "can_s2|3|TalonFX", "can_s2|4|CANcoder", "can_s2|4|TalonFX", "can_s2|20|Pigeon2",
    ]);
    hardware_gyro Gyro "Hardware/Gyro" String "Pigeon2".into();
    hardware_gyro_can_id GyroCanId "Hardware/GyroCanId" Int 20.into();
    hardware_gyro_bus GyroBus "Hardware/GyroBus" String "can_s2".into();
    hardware_cameras Cameras "Hardware/Cameras" StringArray rows(&["front", "rear"]);
    catalyst_in_use InUse "Catalyst/InUse" StringArray
        rows(&["Goal Director", "Physics Core", "Sequence", "Strategist"]);
}

#[test]
fn catalyst_feature_keys() {
    let sheet = full();
    for (name, value) in [
        ("Catalyst/Sequence/Count", 1.into()),
        ("Catalyst/Sequence/Instances", 2.into()),
        ("Catalyst/Sequence/Names", rows(&["ThreePiece"])),
        ("Catalyst/GoalDirector/Count", 1.into()),
        ("Catalyst/PhysicsCore/Names", rows(&["BALANCED"])),
        ("Catalyst/Strategist/Names", rows(&["X1 co-pilot"])),
    ] {
        assert_eq!(sheet.value(name), Some(&value), "{name}");
        assert_eq!(find(name).unwrap().data_type.family(), value.family());
    }
    assert_eq!(sheet.value("Catalyst/GoalDirector/Names"), None, "an instance without a name adds none");
}

#[test]
fn software_of_the_librarys_own_build() {
    let sheet = full();
    let text = |text: Option<&str>| text.map(Value::from);
    assert_eq!(at(&sheet, Key::CatalystGitSha), text(version::git_sha()));
    assert_eq!(at(&sheet, Key::CatalystGitDirty), version::git_dirty().map(Value::from));
    assert_eq!(at(&sheet, Key::CatalystCommitTime), text(version::commit_time()));
    assert_eq!(at(&sheet, Key::RustVersion), text(version::rust_version()));
}

#[test]
fn software_java_version_is_never_ours() {
    assert_eq!(Key::JavaVersion.row().origin, Origin::Foreign);
    assert_eq!(at(&full(), Key::JavaVersion), None);
}

#[test]
fn a_name_alone_has_a_name_the_library_and_a_reason_for_each_other_key() {
    let sheet = of(Vec::new());
    let always = [
        Key::Name,
        Key::CatalystVersion,
        Key::CatalystGitSha,
        Key::CatalystGitDirty,
        Key::CatalystCommitTime,
    ];
    let always = [&always[..], &[Key::Library, Key::RustVersion]].concat();
    assert!(sheet.entries().iter().all(|entry| always.contains(&entry.key)), "{:?}", sheet.entries());
    for row in table().iter().filter(|row| row.group != Group::Sheet && !row.is_pattern()) {
        assert_eq!(sheet.has(row.key), sheet.why(row.key).is_none(), "{}", row.name);
    }
    assert_eq!(
        sheet.why(Key::TeamNumber),
        Some("nobody says; it could come from: controller, system server, host name")
    );
}

#[test]
fn a_full_sheet_has_no_reason_left_but_java() {
    let sheet = full();
    let unexplained: Vec<Key> = sheet.absent().iter().map(|(key, _)| *key).collect();
    let stamps = [Key::CatalystGitSha, Key::CatalystGitDirty, Key::CatalystCommitTime, Key::RustVersion];
    assert!(
        unexplained.iter().all(|key| *key == Key::JavaVersion || stamps.contains(key)),
        "{unexplained:?}"
    );
    assert_eq!((sheet.disagreements(), sheet.warnings()), (&[][..], &[][..]));
}

#[test]
fn the_sheet_about_itself() {
    let mut identity = Identity::new(0xabc);
    identity.declare(RobotIdentity::declare("Ratchet").unwrap());
    identity.step(Micros(5));
    let sheet = identity.sheet();
    assert_eq!(at(sheet, Key::BootId), Some("0000000000000abc".into()));
    let facts = sheet.entries().iter().filter(|entry| entry.key.row().group != Group::Sheet).count();
    assert_eq!(at(sheet, Key::SheetCount), Some((facts as i64).into()));
    assert_eq!(at(sheet, Key::SheetHash), Some(sheet.digest().hex().into()));
    for quiet in [Key::Retracted, Key::Disagreements, Key::Warnings] {
        assert_eq!(at(sheet, quiet), None);
    }
    let Some(Value::String(json)) = at(sheet, Key::Provenance) else { unreachable!() };
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["facts"]["Identity/Name"], serde_json::json!(["declared", "declaration", 5]));
    assert!(json["absent"]["Chassis/MassKg"].as_str().unwrap().contains("PathPlanner"));
}
