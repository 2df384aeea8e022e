//! Taking ink.

use super::compile::{TURN_RAD_S, refuse};
use super::legs::{Builder, Pose};
use crate::constants::generated;
use crate::error::DrawError;
use crate::math::{Mat3, Vec3, add_scaled, apply, minimal_rotation, mul, unit};
use crate::profile::{Cap, DipSheet, Profile};

/// How far the tip may be from its row while it dips, metres: taken off what is left to the wall.
const TRACKING_M: f64 = 0.000_5;

/// Dips into one cap.
#[derive(Debug, Clone, PartialEq)]
pub struct DipPlan {
    /// The cap's rim in the base frame, metres.
    pub rim_m: Vec3,
    /// Unit vector into the cap, base frame.
    pub entry: Vec3,
    /// How far below the rim the tip goes, metres.
    pub plunge_m: f64,
    /// The tool's dip sheet.
    pub sheet: DipSheet,
}

impl DipPlan {
    /// A plan to dip the profile's tool into the cap of this name.
    ///
    /// # Errors
    /// [`DrawError::Refused`] with code `palette` when the rig has no palette, the palette no such cap, or the tool no dip sheet; `cap_wall`
    /// when the body would come too near the wall at the bottom of the plunge, `cap_floor` when the tip would come too near the floor.
    /// The way down is straight along the bore and the body only widens upwards, so the bottom is where it is narrowest.
    pub fn into_cap(profile: &Profile, name: &str) -> Result<Self, DrawError> {
        let refuse = |reason: String| DrawError::Refused { code: "palette", reason };
        let (palette, frame) =
            profile.palette.as_ref().ok_or_else(|| refuse("the rig has no palette".to_owned()))?;
        let cap: &Cap = palette
            .caps
            .iter()
            .find(|cap| cap.name == name)
            .ok_or_else(|| refuse(format!("the palette has no cap `{name}`")))?;
        let sheet =
            profile.tool.dip.ok_or_else(|| refuse(format!("the tool `{}` does not dip", profile.tool.id)))?;
        let plunge_m = cap.plunge_m(sheet.depth_m);
        // Above the rim there is no wall.
        let wall_m = cap.bore_radius_m - profile.tool.widest_m(plunge_m);
        let wanted_m = sheet.wall_margin_m + TRACKING_M;
        if wall_m < wanted_m {
            let reason = format!(
                "`{name}`: {wall_m:.5} m from the body to the wall at {plunge_m:.5} m below the rim, at least {wanted_m} m"
            );
            return Err(DrawError::Refused { code: "cap_wall", reason });
        }
        let floor_m = cap.inner_depth_m - plunge_m;
        if floor_m < sheet.floor_clearance_m {
            let reason = format!(
                "`{name}`: the tip would end {floor_m:.5} m above the floor, at least {} m",
                sheet.floor_clearance_m
            );
            return Err(DrawError::Refused { code: "cap_floor", reason });
        }
        Ok(Self {
            rim_m: frame.point(cap.rim_in_palette_m),
            entry: frame.direction([0.0, 0.0, -1.0]),
            plunge_m,
            sheet,
        })
    }

    /// Travel to the cap, hover, plunge, dwell, retract.
    pub(super) fn dip(
        &self,
        builder: &mut Builder,
        held: Mat3,
        tool_axis: Vec3,
        travel_m_s: f64,
    ) -> Result<(), DrawError> {
        let entry =
            unit(self.entry).ok_or_else(|| refuse("palette", "the cap has no direction".to_owned()))?;
        let held_axis = apply(&held, tool_axis);
        let turn = minimal_rotation(held_axis, entry)
            .ok_or_else(|| refuse("palette", "the tool points out of the cap".to_owned()))?;
        let rotation = mul(&turn, &held);
        let at = |along_m: f64| Pose { tip_m: add_scaled(self.rim_m, entry, along_m), rotation };
        let above = at(-self.sheet.hover_m);
        let transit = Pose { tip_m: add_scaled(above.tip_m, [0.0, 0.0, 1.0], self.sheet.lift_m), rotation };
        let descent = generated::PATH_DIP_DESCENT_SPEED_M_S;
        builder.leg(transit, travel_m_s, 4.0 * TURN_RAD_S)?;
        builder.leg(above, descent, TURN_RAD_S)?;
        builder.leg(at(self.plunge_m), descent, TURN_RAD_S)?;
        builder.dip();
        builder.hold(self.sheet.dwell_secs)?;
        builder.leg(above, descent, TURN_RAD_S)?;
        builder.leg(transit, descent, TURN_RAD_S)
    }
}
