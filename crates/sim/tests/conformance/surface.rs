//! Every topic that a campaign owes to dashboards, with its type as the official client says it.

use std::collections::BTreeMap;

use serde_json::Value as Json;

/// Under `/Catalyst/FieldLab/`.
const FIELD_LAB: &[(&str, &str)] = &[
    ("State", "string"),
    ("Session", "string"),
    ("Campaign", "string"),
    ("Procedure", "string"),
    ("ProcedureIndex", "int"),
    ("ProcedureCount", "int"),
    ("Step", "string"),
    ("StepIndex", "int"),
    ("StepCount", "int"),
    ("Progress", "double"),
    ("ElapsedSeconds", "double"),
    ("RemainingSeconds", "double"),
    ("EstimatedSeconds", "double"),
    ("BatteryVolts", "double"),
    ("Notes", "string[]"),
    ("LastNote", "string"),
    ("Measurements", "string[]"),
    ("Prompt", "string"),
    ("PromptUnit", "string"),
    // Beyond the reference.
    ("PromptSeq", "int"),
    ("PromptKey", "string"),
    ("PromptMin", "double"),
    ("PromptMax", "double"),
    ("LastCommit", "string"),
    ("ProcedureId", "string"),
    ("StepKind", "string"),
    ("Banked", "string[]"),
    ("Enabled", "boolean"),
    ("Hold", "string"),
    ("Fault", "string"),
    ("Plan", "json"),
    ("GateMinVolts", "double"),
    ("GateResumeVolts", "double"),
    ("PreArm", "string[]"),
    // The log's own channels of the two procedures.
    ("tape-check/Started", "double"),
    ("tape-check/Finished", "double"),
    ("spin/Started", "double"),
    ("spin/Finished", "double"),
];

/// Under `/Catalyst/FieldLab/<session>/`.
const SESSION: &[(&str, &str)] = &[
    ("Header", "json"),
    ("Events", "json"),
    ("tape-check/mark-m", "double"),
    ("tape-check/mark-m.unit", "string"),
    ("tape-check/second-m", "double"),
    ("tape-check/Looking.seconds", "double"),
    ("spin/caliper-diameter-in", "double"),
    ("spin/caliper-diameter-in.unit", "string"),
    ("spin/Half_a_turn.seconds", "double"),
];

/// Under `/Catalyst/Tuning/FieldLab/`.
const INPUTS: &[(&str, &str)] = &[
    ("Value", "double"),
    ("Advance", "double"),
    ("SameAgain", "double"),
    ("Redo", "double"),
    ("Skip", "double"),
    ("SkipReason", "string"),
    ("Answers/tape-check/mark-m", "double"),
    ("Answers/tape-check/second-m", "double"),
    ("Answers/spin/caliper-diameter-in", "double"),
];

/// Anywhere else.
const ELSEWHERE: &[(&str, &str)] = &[
    ("/Catalyst/Tunables/.manifest", "string"),
    ("/Catalyst/Calibration/WheelRadius/Status", "string"),
    ("/Catalyst/Calibration/WheelRadius/AccumRotations", "double"),
    ("/Catalyst/Calibration/WheelRadius/CorrectedRadiusMeters", "double"),
    ("/Catalyst/Calibration/WheelRadius/CorrectedRadiusInches", "double"),
    ("/Catalyst/Calibration/WheelRadius/PercentChange", "double"),
    ("/Catalyst/Calibration/WheelRadius/Snippet", "string"),
    ("/Catalyst/Calibration/SlipCurrent/Status", "string"),
    ("/Catalyst/Calibration/SlipCurrent/Volts", "double"),
    ("/Catalyst/Calibration/SlipCurrent/PeakAmps", "double"),
    ("/Catalyst/Calibration/SlipCurrent/WheelAmps", "double[]"),
    ("/Catalyst/Calibration/SlipCurrent/WheelMps", "double[]"),
    ("/Catalyst/Calibration/SlipCurrent/BreakAmps", "double[]"),
    ("/Catalyst/Calibration/SlipCurrent/SlipAmps", "double"),
    ("/Catalyst/Calibration/SlipCurrent/RecommendedAmps", "double"),
    ("/Catalyst/Calibration/SlipCurrent/Result", "string"),
    ("/Catalyst/Calibration/SlipCurrent/Snippet", "string"),
    ("/Catalyst/Alerts/Errors", "string[]"),
    ("/Catalyst/Alerts/Warnings", "string[]"),
    ("/Catalyst/Alerts/Info", "string[]"),
    ("/Catalyst/Alerts/ErrorCount", "int"),
    ("/Catalyst/Alerts/WarningCount", "int"),
    ("/Catalyst/Alerts/HasFaults", "boolean"),
    ("/SmartDashboard/Alerts/.type", "string"),
    ("/Catalyst/OpMode/Active", "string"),
    ("/Catalyst/OpMode/Running", "boolean"),
    ("/Catalyst/Status/BatteryVolts", "double"),
    ("/FMSInfo/FMSControlData", "int"),
    ("/Catalyst/Gyro/YawRadians", "double"),
    ("/Catalyst/Gyro/RateRadPerSec", "double"),
    ("/Catalyst/Odometry/Pose", "struct:Pose2d"),
    ("/Catalyst/Vision/Pose", "struct:Pose2d"),
    ("/.schema/struct:Pose2d", "structschema"),
    ("/.schema/struct:Translation2d", "structschema"),
    ("/.schema/struct:Rotation2d", "structschema"),
];

/// Under `/Catalyst/Swerve/Modules/<i>/`, all double.
const MODULE: &[&str] = &[
    "AngleRadians",
    "PositionRadians",
    "VelocityRadPerSec",
    "AppliedVolts",
    "StatorAmps",
    "TemperatureC",
    "PositionMeters",
    "VelocityMps",
];

/// Compares what the client lists with all of it.
pub(crate) fn check(done: &Json) {
    let session = done["session"].as_str().unwrap();
    let mut expect = BTreeMap::new();
    let tables = [
        ("/Catalyst/FieldLab/".to_owned(), FIELD_LAB),
        (format!("/Catalyst/FieldLab/{session}/"), SESSION),
        ("/Catalyst/Tuning/FieldLab/".to_owned(), INPUTS),
        (String::new(), ELSEWHERE),
    ];
    for (root, table) in tables {
        expect.extend(table.iter().map(|(key, kind)| (format!("{root}{key}"), *kind)));
    }
    for module in 0..4 {
        expect
            .extend(MODULE.iter().map(|key| (format!("/Catalyst/Swerve/Modules/{module}/{key}"), "double")));
    }
    let found = done["topics"].as_object().unwrap();
    let wrong: Vec<String> = expect
        .iter()
        .filter_map(|(name, kind)| match found.get(name).and_then(Json::as_str) {
            Some(found) if found == *kind => None,
            Some(found) => Some(format!("{name}: expected {kind}, found {found}")),
            None => Some(format!("{name}: expected {kind}, found no such topic")),
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
