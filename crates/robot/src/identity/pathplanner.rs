//! PathPlanner's settings: the mass that a team has typed already, and that its paths are followed with.

use fieldlab_identity::PathPlannerSettings;
use serde_json::Value as Json;

/// Reads the text of `pathplanner/settings.json`; every number that comes back is there, finite and above zero. One that is
/// missing or cannot be makes the whole file invalid, as it does for PathPlanner itself: half of a person's settings are
/// nobody's.
///
/// # Errors
/// Which field, and what was found there.
pub(super) fn parse(json: &[u8]) -> Result<PathPlannerSettings, String> {
    let json: Json = serde_json::from_slice(json).map_err(|e| format!("is no JSON: {e}"))?;
    let fields = json.as_object().ok_or("is no JSON object")?;
    let positive = |name: &str| match fields.get(name) {
        Some(Json::Number(number)) => match number.as_f64() {
            Some(value) if value.is_finite() && value > 0.0 => Ok(value),
            _ => Err(format!("{name}: expected a number above 0, found {number}")),
        },
        Some(other) => Err(format!("{name}: expected a number above 0, found {}", kind(other))),
        None => Err(format!("{name}: expected a number above 0, found nothing")),
    };
    // Not on the sheet, but without them the settings are not those of a robot that drives.
    positive("driveGearing")?;
    positive("maxDriveSpeed")?;
    Ok(PathPlannerSettings {
        mass_kg: Some(positive("robotMass")?),
        moi_kg_m2: Some(positive("robotMOI")?),
        wheel_radius_m: Some(positive("driveWheelRadius")?),
        wheel_cof: Some(positive("wheelCOF")?),
        drive_current_limit_amps: Some(positive("driveCurrentLimit")?),
    })
}

fn kind(json: &Json) -> &'static str {
    match json {
        Json::Null => "null",
        Json::Bool(_) => "a flag",
        Json::Number(_) => "a number",
        Json::String(_) => "a text",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fields that a deployed file has, with round numbers.
    const GOOD: &str = r#"{
        "robotWidth": 0.9, "robotLength": 0.9, "holonomicMode": true, "robotMass": 54, "robotMOI": 6.883,
        "robotTrackwidth": 0.546, "driveWheelRadius": 0.0508, "driveGearing": 6.03, "maxDriveSpeed": 5.24,
        "driveMotorType": "krakenX60FOC", "driveCurrentLimit": 60.0, "wheelCOF": 1.2
    }"#;

    #[test]
    fn good_settings_are_read_and_whole_numbers_are_numbers() {
        let settings = parse(GOOD.as_bytes()).unwrap();
        let expected = PathPlannerSettings {
            mass_kg: Some(54.0),
            moi_kg_m2: Some(6.883),
            wheel_radius_m: Some(0.0508),
            wheel_cof: Some(1.2),
            drive_current_limit_amps: Some(60.0),
        };
        assert_eq!(settings, expected);
    }

    #[test]
    fn one_bad_field_makes_the_file_invalid_and_is_named() {
        let check = |good: &str, bad: &str, reason: &str| {
            let text = GOOD.replacen(good, bad, 1);
            let refused = parse(text.as_bytes()).unwrap_err();
            assert!(refused.contains(reason), "{refused}");
        };
        check("\"robotMass\": 54", "\"robotMass\": 0", "robotMass: expected a number above 0, found 0");
        check("\"robotMass\": 54", "\"robotMass\": -1.5", "robotMass");
        check("\"robotMass\": 54", "\"robotMass\": null", "found null");
        check("\"robotMass\": 54", "\"robotMass\": \"54\"", "found a text");
        check("\"robotMass\": 54", "\"robotMass\": 1e999", "is no JSON");
        check("\"wheelCOF\": 1.2", "\"wheelCof\": 1.2", "wheelCOF: expected a number above 0, found nothing");
        check("\"driveGearing\": 6.03", "\"driveGearing\": 0.0", "driveGearing");
        assert!(parse(b"").unwrap_err().contains("no JSON"));
        assert!(parse(b"[1]").unwrap_err().contains("object"));
        assert!(parse("{\"a\":".repeat(200).as_bytes()).is_err(), "deep nesting ends");
    }
}
