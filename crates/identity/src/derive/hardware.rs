//! What hangs on its buses.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::devices::{GyroFact, HIGHEST_ID, bus_name, merge};
use crate::keys::Key;
use crate::sheet::{Disagreement, How, Provenance, Warning};
use crate::text::telling;

use super::choose::{Candidate, Deriving};

/// More cameras than any robot has.
const MOST_CAMERAS: usize = 64;

impl Deriving<'_> {
    pub(super) fn hardware(&mut self) {
        let named = self
            .facts
            .parts()
            .flat_map(|(source, _, part)| part.devices.iter().map(move |device| (source.name, device)));
        let merged = merge(named);
        let from =
            Provenance::new(How::Derived, sources(merged.devices.values().map(|(_, by)| *by)), self.now);
        let count = Some(merged.devices.len()).filter(|count| *count > 0);
        self.sheet.integer(Key::CanDevices, count.and_then(|count| i64::try_from(count).ok()), &from);
        self.sheet.list(Key::Inventory, Some(&merged.inventory()), &from);
        self.sheet.list(Key::Devices, Some(&merged.rows()), &from);
        for (address, taken, taken_kind, other, other_kind) in &merged.conflicts {
            self.sheet.disagreements.push(Disagreement {
                key: Key::Devices,
                taken: Cow::Borrowed(taken),
                taken_value: format!("{address} is a {taken_kind}"),
                other: Cow::Borrowed(other),
                other_value: format!("it is a {other_kind}"),
            });
        }
        let refused = merged.refused.iter();
        self.sheet.warnings.extend(refused.map(|text| Warning { key: Key::Devices, text: text.clone() }));

        self.gyro(merged.gyro());
        self.cameras();
    }

    /// The drive's gyro, else a registered one, else the first among the devices. A second gyro is no disagreement: a
    /// robot may have two.
    fn gyro(&mut self, among_devices: Option<(&'static str, GyroFact)>) {
        type Found = (String, GyroFact);
        let known = |gyro: &GyroFact| {
            let kind = telling(gyro.kind.as_deref()?);
            Some(kind.map(|kind| (kind.to_owned(), gyro.clone())).map_err(Cow::Borrowed))
        };
        let mut candidates: Vec<Candidate<Found>> =
            self.ask(How::Read, |part| known(part.swerve.as_ref()?.gyro.as_ref()?));
        candidates.extend(self.ask(How::Read, |part| known(part.gyro.as_ref()?)));
        if let Some((source, gyro)) = among_devices
            && let Some(reading) = known(&gyro)
        {
            candidates.push(Candidate { from: Provenance::new(How::Derived, source, self.now), reading });
        }
        let keys = [Key::Gyro, Key::GyroCanId, Key::GyroBus];
        let Some(((kind, gyro), from)) =
            self.choose(&keys, candidates, |_, _| true, |(kind, _)| kind.clone())
        else {
            return;
        };
        self.sheet.text(Key::Gyro, Some(&kind), &from);
        let id = gyro.can_id.filter(|id| (0..=HIGHEST_ID).contains(id));
        self.sheet.integer(Key::GyroCanId, id, &from);
        let bus = id.map(|_| bus_name(gyro.bus.as_deref().unwrap_or_default()));
        self.sheet.text(Key::GyroBus, bus.as_deref(), &from);
        if id.is_none() {
            let reason = match gyro.can_id {
                Some(id) => format!("{}: {id} is no CAN id", from.source),
                None => format!("{}: the gyro has no CAN id", from.source),
            };
            self.absent(Key::GyroCanId, std::slice::from_ref(&reason));
            self.absent(Key::GyroBus, &[reason]);
        }
    }

    /// All sources together, by name.
    fn cameras(&mut self) {
        let mut names = BTreeSet::new();
        let mut by = BTreeSet::new();
        for (source, _, part) in self.facts.parts() {
            for name in part.cameras.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
                names.insert(name);
                by.insert(source.name);
            }
        }
        let names: Vec<&str> = names.into_iter().take(MOST_CAMERAS).collect();
        let from = Provenance::new(How::Read, sources(by.into_iter()), self.now);
        self.sheet.list(Key::Cameras, Some(&names), &from);
    }
}

/// Several sources by name, once each.
fn sources(all: impl Iterator<Item = &'static str>) -> Cow<'static, str> {
    let all: BTreeSet<&str> = all.collect();
    let mut all = all.into_iter();
    match (all.next(), all.next()) {
        (None, _) => Cow::Borrowed("nobody"),
        (Some(one), None) => Cow::Borrowed(one),
        (Some(one), Some(two)) => {
            let mut text = format!("{one}, {two}");
            for more in all {
                text.push_str(", ");
                text.push_str(more);
            }
            Cow::Owned(text)
        }
    }
}
