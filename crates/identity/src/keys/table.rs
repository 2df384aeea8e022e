//! The rows.

use fieldlab_values::DataType;

use super::{Group, Origin, Row};

/// Declares the keys and their rows together, so that neither can be without the other.
macro_rules! table {
    ($($(#[$doc:meta])? $key:ident $name:literal $kind:ident $group:ident $origin:ident $unit:literal
       $means:literal; $rule:literal; $sources:expr $(; $low:literal to $high:literal)?)*) => {
        /// A key of the sheet. The comments are the table's own words.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Key {
            $(#[doc = concat!("`", $name, "`: ", $means, "; ", $rule, ".")] $key,)*
        }

        pub(super) static TABLE: [Row; [$(Key::$key),*].len()] = [$(Row {
            key: Key::$key,
            name: $name,
            data_type: DataType::$kind,
            group: Group::$group,
            unit: $unit,
            means: $means,
            rule: $rule,
            sources: &$sources,
            plausible: table!(@range $($low to $high)?),
            origin: Origin::$origin,
        }),*];
    };
    (@range) => { None };
    (@range $low:literal to $high:literal) => { Some(($low, $high)) };
}

table! {
    Name "Identity/Name" String Identity Catalyst ""
        "what the team calls the robot"; "declared, trimmed; a blank name is refused"; ["declaration"]
    TeamNumber "Identity/TeamNumber" Int Identity Catalyst ""
        "the team's number"; "above 0; 0 is no reading and the next source is asked";
        ["controller", "system server", "host name"]; 1.0 to 25599.0
    Season "Identity/Season" Int Identity Catalyst ""
        "the year of the control system's software"; "the year that begins the WPILib version reported at run time";
        ["HAL", "system server"]; 2015.0 to 2099.0
    Controller "Identity/Controller" String Identity Catalyst ""
        "which controller runs the robot"; "roboRIO, roboRIO 2, Systemcore, Simulation, or the model of another machine";
        ["controller"]
    ControllerSerial "Identity/ControllerSerial" String Identity Catalyst ""
        "the controller's serial number"; "not blank and no placeholder"; ["controller"]
    RioSerial "Identity/RioSerial" String Identity Catalyst ""
        "the serial number under its older name"; "the same text as Identity/ControllerSerial"; ["controller"]
    ControllerComment "Identity/ControllerComment" String Identity Catalyst ""
        "what the team wrote on the controller while imaging it"; "not blank"; ["controller"]
    RioComment "Identity/RioComment" String Identity Catalyst ""
        "the comment under its older name"; "the same text as Identity/ControllerComment"; ["controller"]

    CatalystVersion "Software/CatalystVersion" String Software Catalyst ""
        "the version of the library that wrote the sheet, named by Software/Library"; "always: compiled in";
        ["the library's build"]
    CatalystGitSha "Software/CatalystGitSha" String Software Catalyst ""
        "the library's commit, short"; "when the library was built from its own repository"; ["the library's build"]
    CatalystGitDirty "Software/CatalystGitDirty" Boolean Software Catalyst ""
        "whether that build carried changes that were not committed"; "with the commit only"; ["the library's build"]
    CatalystCommitTime "Software/CatalystCommitTime" String Software Catalyst ""
        "when the commit was made, ISO 8601"; "with the commit only"; ["the library's build"]
    Library "Software/Library" String Software FieldLab ""
        "whose version Software/CatalystVersion is"; "always: compiled in"; ["the library's build"]
    RustVersion "Software/RustVersion" String Software FieldLab ""
        "the compiler that built the library"; "when the compiler said so"; ["the library's build"]
    RobotCodeVersion "Software/RobotCodeVersion" String Software Catalyst ""
        "the stamp of the robot code's build"; "declared; UNKNOWN and the like are stamps of nothing"; ["declaration"]
    RobotCodeBuild "Software/RobotCodeBuild" String Software Catalyst ""
        "when or by whom the robot code was built"; "declared; UNKNOWN and the like are stamps of nothing"; ["declaration"]
    WpilibVersion "Software/WPILibVersion" String Software Catalyst ""
        "the WPILib that runs"; "only when a HAL or the system server reports it"; ["HAL", "system server"]
    JavaVersion "Software/JavaVersion" String Software Foreign ""
        "the Java that runs robot code"; "never from a Rust robot; read from Java robots"; ["a Java robot"]
    ControllerImage "Software/ControllerImage" String Software Catalyst ""
        "the controller's system image"; "not blank"; ["image metadata file", "system server"]
    RioImage "Software/RioImage" String Software Catalyst ""
        "the image under its older name"; "the same text as Software/ControllerImage";
        ["image metadata file", "system server"]
    FpgaVersion "Software/FpgaVersion" Int Software Catalyst ""
        "the version of the roboRIO's FPGA"; "above 0, and only from a roboRIO: others hand out constants"; ["HAL"]

    DriveType "Drivetrain/Type" String Drivetrain Catalyst ""
        "how the robot drives"; "Swerve, when there is a swerve drive; without one the whole group is absent"; ["drivetrain"]
    Modules "Drivetrain/Modules" Int Drivetrain Catalyst ""
        "how many modules it has"; "above 0"; ["drivetrain"]; 2.0 to 16.0
    ModuleLocations "Drivetrain/ModuleLocations" DoubleArray Drivetrain Catalyst "m"
        "x0, y0, x1, y1, … of the modules in the robot's frame, x forward, y left";
        "every number finite, else absent as a whole"; ["drivetrain"]; -1.0 to 1.0
    TrackWidthMeters "Drivetrain/TrackWidthMeters" Double Drivetrain Catalyst "m"
        "distance of left from right wheels"; "modules on the four corners of one rectangle, to 1 mm"; ["drivetrain"];
        0.15 to 1.5
    WheelBaseMeters "Drivetrain/WheelBaseMeters" Double Drivetrain Catalyst "m"
        "distance of front from back wheels"; "modules on the four corners of one rectangle, to 1 mm"; ["drivetrain"];
        0.15 to 1.5
    MaxSpeedMps "Drivetrain/MaxSpeedMps" Double Drivetrain Catalyst "m/s"
        "the fastest that the drive is allowed to go"; "above 0"; ["drivetrain"]; 0.3 to 10.0
    MaxAngularRateRadPerSec "Drivetrain/MaxAngularRateRadPerSec" Double Drivetrain Catalyst "rad/s"
        "the fastest that the drive is allowed to turn"; "above 0"; ["drivetrain"]; 0.3 to 40.0
    OdometryHz "Drivetrain/OdometryHz" Double Drivetrain Catalyst "Hz"
        "how often odometry is updated"; "above 0"; ["drivetrain"]; 10.0 to 1000.0
    CanFd "Drivetrain/CanFd" Boolean Drivetrain Catalyst ""
        "whether the drive's bus is CAN FD"; "whenever a drive says; false is an answer"; ["drivetrain"]
    DriveGearRatio "Drivetrain/DriveGearRatio" Double Drivetrain Catalyst ""
        "motor turns per wheel turn"; "above 0 and the same in every module's constants"; ["module constants"]; 1.0 to 30.0
    SteerGearRatio "Drivetrain/SteerGearRatio" Double Drivetrain Catalyst ""
        "motor turns per turn of the module"; "above 0 and the same in every module's constants"; ["module constants"];
        1.0 to 100.0
    WheelRadiusMeters "Drivetrain/WheelRadiusMeters" Double Drivetrain Catalyst "m"
        "radius of the drive wheels";
        "above 0 and the same in every module's constants, else PathPlanner's, else what a campaign measured";
        ["module constants", "PathPlanner settings", "campaign"]; 0.02 to 0.12
    SlipCurrentAmps "Drivetrain/SlipCurrentAmps" Double Drivetrain Catalyst "A"
        "stator current at which a wheel slips";
        "above 0 and the same in every module's constants, else what a campaign measured"; ["module constants", "campaign"]; 10.0 to 400.0
    WheelCof "Drivetrain/WheelCof" Double Drivetrain Catalyst ""
        "grip of a wheel on the carpet"; "above 0, and there is a swerve drive"; ["PathPlanner settings"]; 0.3 to 3.0
    DriveCurrentLimitAmps "Drivetrain/DriveCurrentLimitAmps" Double Drivetrain Catalyst "A"
        "current limit of a drive motor"; "above 0, and there is a swerve drive"; ["PathPlanner settings"]; 10.0 to 400.0

    MassKg "Chassis/MassKg" Double Chassis Catalyst "kg"
        "mass with bumpers and battery"; "above 0"; ["PathPlanner settings"]; 5.0 to 80.0
    MoiKgM2 "Chassis/MoiKgM2" Double Chassis Catalyst "kg m²"
        "moment of inertia about the vertical axis"; "above 0"; ["PathPlanner settings"]; 0.2 to 30.0
    FrameLengthMeters "Chassis/FrameLengthMeters" Double Chassis Catalyst "m"
        "frame along x, without bumpers"; "declared, above 0"; ["declaration"]; 0.2 to 1.3
    FrameWidthMeters "Chassis/FrameWidthMeters" Double Chassis Catalyst "m"
        "frame along y, without bumpers"; "declared, above 0"; ["declaration"]; 0.2 to 1.3
    BumperThicknessMeters "Chassis/BumperThicknessMeters" Double Chassis Catalyst "m"
        "how far the bumpers stand out on each side"; "declared, above 0"; ["declaration"]; 0.02 to 0.2
    BumperLengthMeters "Chassis/BumperLengthMeters" Double Chassis Catalyst "m"
        "outer length over the bumpers"; "frame length + 2 × thickness, when both are declared"; ["declaration"];
        0.24 to 1.7
    BumperWidthMeters "Chassis/BumperWidthMeters" Double Chassis Catalyst "m"
        "outer width over the bumpers"; "frame width + 2 × thickness, when both are declared"; ["declaration"];
        0.24 to 1.7
    HeightMeters "Chassis/HeightMeters" Double Chassis Catalyst "m"
        "height in the starting configuration"; "declared, above 0"; ["declaration"]; 0.1 to 2.2

    BrownoutVolts "Power/BrownoutVolts" Double Power Catalyst "V"
        "below this the controller switches outputs off"; "above 0; a 3.3 V rail's constant is no reading";
        ["controller", "system server"]; 4.0 to 10.0
    PowerModule "Power/Module" String Power Catalyst ""
        "which power distribution is attached"; "CTRE PDP, REV PDH, or the name of another"; ["power distribution"]
    PowerChannels "Power/Channels" Int Power Catalyst ""
        "how many channels it has"; "above 0"; ["power distribution"]; 1.0 to 48.0
    ChannelsInUse "Power/ChannelsInUse" StringArray Power Catalyst ""
        "rows channel|what, ascending"; "declared; a blank label never enters"; ["declaration"]
    Battery "Power/Battery" String Power Catalyst ""
        "the model of battery"; "declared"; ["declaration"]

    CanDevices "Hardware/CanDevices" Int Hardware Catalyst ""
        "how many devices are known on all buses"; "at least one device"; ["CAN registry", "drivetrain"]; 1.0 to 128.0
    Inventory "Hardware/Inventory" StringArray Hardware Catalyst ""
        "rows type|count, by type"; "at least one device"; ["CAN registry", "drivetrain"]
    Devices "Hardware/Devices" StringArray Hardware Catalyst ""
        "rows bus|id|type, by bus and number"; "at least one device; one per bus, device class and id";
        ["CAN registry", "drivetrain"]
    Gyro "Hardware/Gyro" String Hardware Catalyst ""
        "the gyro's type"; "the drivetrain's, else a registered one, else the first gyro among the devices";
        ["drivetrain", "gyro", "CAN registry"]
    GyroCanId "Hardware/GyroCanId" Int Hardware Catalyst ""
        "the gyro's CAN id"; "0 to 62, with the gyro's type; 0 is an id"; ["drivetrain", "gyro", "CAN registry"]
    GyroBus "Hardware/GyroBus" String Hardware FieldLab ""
        "the gyro's bus"; "with the gyro's id"; ["drivetrain", "gyro", "CAN registry"]
    Cameras "Hardware/Cameras" StringArray Hardware Catalyst ""
        "names of the cameras"; "at least one; all sources together, by name"; ["vision"]

    InUse "Catalyst/InUse" StringArray Catalyst Catalyst ""
        "the features that came up, by name"; "at least one; without any the whole group is absent"; ["components"]
    FeatureCount "Catalyst/<Feature>/Count" Int Catalyst Catalyst ""
        "how many different names were recorded"; "with the feature; at least 1"; ["components"]
    FeatureInstances "Catalyst/<Feature>/Instances" Int Catalyst FieldLab ""
        "how many of them came up, whatever their names"; "with the feature; at least 1"; ["components"]
    FeatureNames "Catalyst/<Feature>/Names" StringArray Catalyst Catalyst ""
        "their different names, by name"; "at least one has a name"; ["components"]

    BootId "Sheet/BootId" String Sheet FieldLab ""
        "random bits of this start of the program, 16 hex digits"; "always"; ["robot program"]
    SheetCount "Sheet/Count" Int Sheet FieldLab ""
        "how many keys outside of Sheet/ the sheet has"; "always"; ["robot program"]
    SheetHash "Sheet/Hash" String Sheet FieldLab ""
        "digest of those keys, 16 hex digits: with the count it tells a reader that it has the whole sheet"; "always";
        ["robot program"]
    Provenance "Sheet/Provenance" Json Sheet FieldLab ""
        "where each fact came from and when, and why each absent one is absent"; "always"; ["robot program"]
    Retracted "Sheet/Retracted" StringArray Sheet FieldLab ""
        "keys that stood on the sheet in this boot and no longer do, for readers that keep what was taken back";
        "once anything was taken back"; ["robot program"]
    Disagreements "Sheet/Disagreements" StringArray Sheet FieldLab ""
        "rows key|source|value|source|value: two sources that differ, the first one published";
        "once two sources differed"; ["robot program"]
    Warnings "Sheet/Warnings" StringArray Sheet FieldLab ""
        "what on the sheet is hard to believe, such as millimetres published as metres"; "once there was a doubt";
        ["robot program"]
}
