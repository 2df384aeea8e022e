//! Writing samples files.

use std::fmt::Write as _;

use fieldlab_base::ConfigError;

use super::{COLUMNS, Kind, Row, SCHEMA};
use crate::constants::generated;
use crate::json::twelve_digits;
use crate::math::{Vec3, add, scale, sub};
use crate::profile::Profile;

/// What the header says beside the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Meta {
    /// Orbit or path.
    pub kind: Kind,
    /// The arm's prefix.
    pub arm_prefix: String,
    /// The tip in the final link at carriage zero, metres.
    pub tip_m: Vec3,
    /// How far the first row may be from the arm, metres.
    pub start_tolerance_m: f64,
    /// Whether the carriage takes part in drawing.
    pub carriage_ik: bool,
    /// The digest of the profile.
    pub profile_sha: String,
    /// Further pairs, without comma or line feed.
    pub extras: Vec<(String, String)>,
}

impl Meta {
    /// The header of a file for `profile`.
    #[must_use]
    pub fn for_profile(profile: &Profile, kind: Kind, carriage_ik: bool) -> Self {
        Self {
            kind,
            arm_prefix: profile.arm_prefix.clone(),
            tip_m: profile.chain.tip_in_final_m,
            start_tolerance_m: profile.limits.start_tolerance_m,
            carriage_ik,
            profile_sha: profile.sha().to_owned(),
            extras: Vec::new(),
        }
    }
}

/// The text of a samples file: twelve significant digits, UTF-8, line feeds.
///
/// # Errors
/// A kind other than orbit and path, no rows or more than the planner takes, a number that is not finite, an extra that cannot
/// stand in a header or repeats a key of it.
pub fn write(meta: &Meta, rows: &[Row]) -> Result<String, ConfigError> {
    let kind = match meta.kind {
        Kind::Orbit => "orbit",
        Kind::Path => "path",
        Kind::Other => return Err(ConfigError::new("kind", "orbit or path", "another")),
    };
    let most = usize::try_from(generated::PLANNER_MAX_TICKS).unwrap_or(0);
    if rows.is_empty() || rows.len() > most {
        return Err(ConfigError::new("rows", format!("1 to {most} rows"), rows.len()));
    }
    let captures = rows.iter().filter(|row| row.capture > 0).count();
    let dips = rows.iter().filter(|row| row.dip > 0).count();
    let mut pairs = vec![
        ("schema", SCHEMA.to_owned()),
        ("constants_sha", generated::SHA.to_owned()),
        ("kind", kind.to_owned()),
        ("arm", meta.arm_prefix.clone()),
        ("frame", format!("{}/base_link", meta.arm_prefix)),
        ("period_s", twelve_digits(generated::PERIOD_S)),
        ("tip_x_m", twelve_digits(meta.tip_m[0])),
        ("tip_y_m", twelve_digits(meta.tip_m[1])),
        ("tip_z_m", twelve_digits(meta.tip_m[2])),
        ("sample_count", rows.len().to_string()),
        ("capture_count", captures.to_string()),
        ("start_tolerance_m", twelve_digits(meta.start_tolerance_m)),
        ("dip_count", dips.to_string()),
        ("carriage_ik", u8::from(meta.carriage_ik).to_string()),
        ("profile_sha", meta.profile_sha.clone()),
    ];
    for (key, value) in &meta.extras {
        let plain = |text: &str| !text.contains([',', '\n', '\r']);
        let taken = key == "columns" || key.is_empty() || pairs.iter().any(|(known, _)| known == key);
        if taken || !plain(key) || !plain(value) {
            return Err(ConfigError::new(format!("extras.{key}"), "a new key and plain text", value));
        }
    }
    pairs.extend(meta.extras.iter().map(|(key, value)| (key.as_str(), value.clone())));
    let mut out = String::with_capacity(256 + rows.len() * 220);
    for (key, value) in pairs {
        let _infallible = writeln!(out, "{key},{value}");
    }
    let _infallible = writeln!(out, "columns,{}", COLUMNS.join(","));
    for (index, row) in rows.iter().enumerate() {
        let [r0, r1, r2] = row.r;
        let numbers = [&[row.t_s][..], &row.p_m, &row.v_m_s, &r0, &r1, &r2];
        for &number in numbers.into_iter().flatten() {
            if !number.is_finite() {
                return Err(ConfigError::new(format!("rows[{index}]"), "finite numbers", number));
            }
            out.push_str(&twelve_digits(number));
            out.push(',');
        }
        let _infallible = writeln!(out, "{},{},{}", u8::from(row.pen), row.capture, row.dip);
    }
    Ok(out)
}

/// Feedforward velocities of places one period apart, m/s: central differences, one-sided at the ends, then a centred moving
/// average over 21 rows with the ends repeated. A single row has velocity zero; fewer than 21 rows are not smoothed.
#[must_use]
pub fn feedforward(places_m: &[Vec3], period_s: f64) -> Vec<Vec3> {
    const TAPS: usize = 21;
    let last = places_m.len().saturating_sub(1);
    let raw: Vec<Vec3> = (0..places_m.len())
        .map(|k| {
            let (before, after) = (k.saturating_sub(1), (k + 1).min(last));
            if before == after {
                return [0.0; 3];
            }
            #[allow(clippy::cast_precision_loss)] // 1 or 2
            scale(sub(places_m[after], places_m[before]), 1.0 / ((after - before) as f64 * period_s))
        })
        .collect();
    if raw.len() < TAPS {
        return raw;
    }
    (0..raw.len())
        .map(|k| {
            let sum = (0..TAPS)
                .fold([0.0; 3], |sum, tap| add(sum, raw[(k + tap).saturating_sub(TAPS / 2).min(last)]));
            #[allow(clippy::cast_precision_loss)] // 21
            scale(sum, 1.0 / TAPS as f64)
        })
        .collect()
}
