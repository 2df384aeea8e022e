//! How large and heavy it is, and what feeds it.

use std::borrow::Cow;

use crate::declaration::Declaration;
use crate::keys::Key;
use crate::sheet::{How, Provenance, Warning};
use crate::text::{field, telling};

use super::choose::{Deriving, above_zero};

/// What a HAL answers for a rail that it cannot measure, in millivolts: no threshold.
const RAIL_CONSTANT_MILLIVOLTS: i64 = 3300;

impl Deriving<'_> {
    pub(super) fn chassis(&mut self, declared: &Declaration) {
        self.setting(Key::MassKg, |settings| settings.mass_kg);
        self.setting(Key::MoiKgM2, |settings| settings.moi_kg_m2);
        let invalid = self.facts.parts().find_map(|(source, _, part)| {
            let reason = part.path_planner.as_ref()?.as_ref().err()?;
            let text =
                format!("PathPlanner's settings are invalid and count as none: {reason} ({})", source.name);
            Some(Warning { key: Key::MassKg, text })
        });
        self.sheet.warnings.extend(invalid);

        let length = self.declared_length(Key::FrameLengthMeters, declared.frame_length_m);
        let width = self.declared_length(Key::FrameWidthMeters, declared.frame_width_m);
        let thickness = self.declared_length(Key::BumperThicknessMeters, declared.bumper_thickness_m);
        self.declared_length(Key::HeightMeters, declared.height_m);
        let from = Provenance { how: How::Derived, ..self.declared() };
        for (key, side, name) in [
            (Key::BumperLengthMeters, length, Key::FrameLengthMeters),
            (Key::BumperWidthMeters, width, Key::FrameWidthMeters),
        ] {
            match (side, thickness) {
                (Some(side), Some(thickness)) => {
                    self.sheet.positive(key, Some(side + 2.0 * thickness), &from);
                }
                (None, _) => self.absent(key, &[format!("{name} is absent")]),
                (_, None) => self.absent(key, &[format!("{} is absent", Key::BumperThicknessMeters)]),
            }
        }
    }

    pub(super) fn power(&mut self, declared: &Declaration) {
        let candidates = self.ask(How::Read, |part| {
            let millivolts = part.controller.brownout_millivolts?;
            Some(if millivolts == RAIL_CONSTANT_MILLIVOLTS {
                Err(Cow::Borrowed("3.3 V is a constant, no threshold"))
            } else {
                above_zero(millivolts)
            })
        });
        let show = |millivolts: &i64| format!("{millivolts} mV");
        if let Some((millivolts, from)) = self.choose(&[Key::BrownoutVolts], candidates, |a, b| a == b, show)
        {
            self.sheet.positive(Key::BrownoutVolts, Some(millivolts as f64 / 1000.0), &from);
        }

        let candidates = self.ask(How::Read, |part| {
            let module = part.power.as_ref()?.module.as_ref()?;
            Some(telling(module.wire()).map(str::to_owned).map_err(Cow::Borrowed))
        });
        if let Some((module, from)) =
            self.choose(&[Key::PowerModule], candidates, |a, b| a == b, String::clone)
        {
            self.sheet.text(Key::PowerModule, Some(&module), &from);
        }
        let candidates = self.ask(How::Read, |part| part.power.as_ref()?.channels.map(above_zero));
        let channels = self.choose(&[Key::PowerChannels], candidates, |a, b| a == b, i64::to_string);
        if let Some((channels, from)) = &channels {
            self.sheet.integer(Key::PowerChannels, Some(*channels), from);
        }
        self.wired(declared, channels.map(|(channels, _)| channels));

        let from = self.declared();
        self.sheet.text(Key::Battery, declared.battery.as_deref(), &from);
        self.absent(Key::Battery, &["declaration: not declared".to_owned()]);
    }

    /// Rows `channel|what` of the channels whose label is not blank.
    fn wired(&mut self, declared: &Declaration, channels: Option<i64>) {
        let labelled = declared.channels.iter().map(|(channel, what)| (*channel, field(what)));
        let used: Vec<(u8, Cow<'_, str>)> = labelled.filter(|(_, what)| !what.is_empty()).collect();
        let rows: Vec<String> = used.iter().map(|(channel, what)| format!("{channel}|{what}")).collect();
        let from = self.declared();
        self.sheet.list(Key::ChannelsInUse, Some(&rows), &from);
        self.absent(Key::ChannelsInUse, &["declaration: no channel was named".to_owned()]);
        // No power distribution has more than 24; with one attached its own count says better.
        let limit = channels.unwrap_or(24);
        if let Some((channel, _)) = used.iter().find(|(channel, _)| i64::from(*channel) >= limit) {
            let text = format!("channel {channel} is named, the channels go from 0 to {}", limit - 1);
            self.sheet.warnings.push(Warning { key: Key::ChannelsInUse, text });
        }
    }
}
