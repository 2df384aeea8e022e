//! What each machine may be asked, and what is known not to be worth asking.
//!
//! | fact | roboRIO | Systemcore | desktop, simulation |
//! |---|---|---|---|
//! | model | image metadata file | its folder | - |
//! | image | image metadata file | `/etc/os-release` | - |
//! | serial number | environment | environment | - |
//! | comment | `/etc/machine-info` | none: its HAL answers a blank constant | - |
//! | team | host name | system server, then host name | - |
//! | brownout threshold | HAL only | system server | - |
//! | FPGA version | HAL only | none: it has no FPGA | - |
//! | PathPlanner settings | deploy folder | deploy folder | a folder that the program names |

use fieldlab_identity::{Controller, FactPart, Key, Source};

use super::machine::rio_model;
use super::{CONTROLLER, HOST_NAME, IMAGE_FILE, Machine, MachineKind, PATHPLANNER, pathplanner};

const ONLY_A_HAL: &str = "a process cannot read it, only a HAL can";

/// Reads everything that this machine may be asked.
pub(super) fn parts(machine: &Machine) -> Vec<(Source, FactPart)> {
    let mut parts = match machine.kind() {
        MachineKind::RoboRio => vec![rio_image(machine), rio(machine), host(machine)],
        MachineKind::Systemcore => vec![systemcore(machine), host(machine)],
        MachineKind::Desktop => vec![desktop()],
    };
    parts.push(settings(machine));
    parts
}

/// Keeps what was read, or notes why it was not.
fn take<T>(part: &mut FactPart, keys: &[Key], read: Result<T, String>) -> Option<T> {
    match read {
        Ok(value) => Some(value),
        Err(reason) => {
            part.silent.extend(keys.iter().map(|key| (*key, reason.clone())));
            None
        }
    }
}

fn rio_image(machine: &Machine) -> (Source, FactPart) {
    let mut part = FactPart::default();
    let image = machine.rio_image();
    let model = image
        .as_ref()
        .map_err(String::clone)
        .and_then(|image| rio_model(image).ok_or_else(|| format!("the image {image:?} names no roboRIO")));
    part.controller.model = take(&mut part, &[Key::Controller], model);
    part.controller.image = take(&mut part, &[Key::ControllerImage, Key::RioImage], image);
    (IMAGE_FILE, part)
}

fn rio(machine: &Machine) -> (Source, FactPart) {
    let mut part = FactPart::default();
    part.controller.serial = serial(&mut part, machine);
    part.controller.comment =
        take(&mut part, &[Key::ControllerComment, Key::RioComment], machine.rio_comment());
    part.silent.push((Key::FpgaVersion, ONLY_A_HAL.to_owned()));
    part.silent.push((Key::BrownoutVolts, ONLY_A_HAL.to_owned()));
    (CONTROLLER, part)
}

fn systemcore(machine: &Machine) -> (Source, FactPart) {
    let mut part = FactPart::default();
    part.controller.model = Some(Controller::Systemcore);
    part.controller.serial = serial(&mut part, machine);
    part.controller.image =
        take(&mut part, &[Key::ControllerImage, Key::RioImage], machine.systemcore_image());
    let comment = "a Systemcore keeps none; its HAL answers a blank text";
    part.silent.extend([Key::ControllerComment, Key::RioComment].map(|key| (key, comment.to_owned())));
    part.silent.push((Key::FpgaVersion, "a Systemcore has no FPGA".to_owned()));
    (CONTROLLER, part)
}

fn desktop() -> (Source, FactPart) {
    let keys = [
        Key::Controller,
        Key::ControllerSerial,
        Key::RioSerial,
        Key::ControllerComment,
        Key::RioComment,
        Key::ControllerImage,
        Key::RioImage,
        Key::TeamNumber,
        Key::FpgaVersion,
        Key::BrownoutVolts,
    ];
    let silent = keys.map(|key| (key, "this machine is no robot controller".to_owned())).to_vec();
    (CONTROLLER, FactPart { silent, ..FactPart::default() })
}

fn host(machine: &Machine) -> (Source, FactPart) {
    let mut part = FactPart::default();
    part.controller.team_number = take(&mut part, &[Key::TeamNumber], machine.host_team());
    (HOST_NAME, part)
}

fn serial(part: &mut FactPart, machine: &Machine) -> Option<String> {
    take(part, &[Key::ControllerSerial, Key::RioSerial], machine.serial().map(str::to_owned))
}

/// Read once; a file that was deployed and is invalid counts as none and is told.
fn settings(machine: &Machine) -> (Source, FactPart) {
    let mut part = FactPart::default();
    let keys = [Key::MassKg, Key::MoiKgM2, Key::WheelCof, Key::DriveCurrentLimitAmps];
    let read = take(&mut part, &keys, machine.pathplanner_settings());
    part.path_planner = read.map(|bytes| bytes.and_then(|bytes| pathplanner::parse(&bytes)));
    (PATHPLANNER, part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[(&str, &str)], serial: Option<&str>) -> Vec<(Source, FactPart)> {
        let root = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        parts(&Machine::at(root.path(), serial.map(str::to_owned)))
    }

    fn part(parts: &[(Source, FactPart)], source: Source) -> &FactPart {
        parts.iter().find(|(named, _)| *named == source).map(|(_, part)| part).unwrap()
    }

    fn why(part: &FactPart, key: Key) -> &str {
        part.silent.iter().find(|(silent, _)| *silent == key).map(|(_, reason)| &**reason).unwrap()
    }

    #[test]
    fn a_roborio_is_read_from_its_files_and_its_environment() {
        let files = [
            ("etc/natinst/share/scs_imagemetadata.ini", "IMAGEVERSION = \"FRC_roboRIO2_2026_v1.2\"\n"),
            ("etc/machine-info", "PRETTY_HOSTNAME=\"comp bot\"\n"),
            ("etc/hostname", "roboRIO-5805-FRC\n"),
        ];
        let parts = read(&files, Some("031E3A2F"));
        let image = &part(&parts, IMAGE_FILE).controller;
        assert_eq!(image.model, Some(Controller::RoboRio2));
        assert_eq!(image.image.as_deref(), Some("FRC_roboRIO2_2026_v1.2"));
        let rio = part(&parts, CONTROLLER);
        assert_eq!(rio.controller.serial.as_deref(), Some("031E3A2F"));
        assert_eq!(rio.controller.comment.as_deref(), Some("comp bot"));
        assert_eq!(part(&parts, HOST_NAME).controller.team_number, Some(5805));
        assert_eq!(why(rio, Key::FpgaVersion), ONLY_A_HAL);
        let settings = part(&parts, PATHPLANNER);
        assert_eq!(settings.path_planner, None);
        assert!(why(settings, Key::MassKg).contains("home/lvuser/deploy/pathplanner/settings.json"));
    }

    #[test]
    fn a_systemcore_is_known_by_its_folder_and_its_comment_is_not_asked() {
        let files = [
            ("home/systemcore/deploy/pathplanner/settings.json", "{\"robotMass\": 0}"),
            ("etc/os-release", "NAME=Buildroot\nPRETTY_NAME=\"Systemcore OS 14\"\n"),
            ("proc/sys/kernel/hostname", "robot\n"),
        ];
        let parts = read(&files, None);
        let core = part(&parts, CONTROLLER);
        assert_eq!(core.controller.model, Some(Controller::Systemcore));
        assert_eq!(core.controller.image.as_deref(), Some("Systemcore OS 14"));
        assert_eq!((&core.controller.serial, &core.controller.comment), (&None, &None));
        assert!(why(core, Key::ControllerSerial).contains("serialnum"));
        assert!(why(part(&parts, HOST_NAME), Key::TeamNumber).contains("\"robot\""));
        let invalid = part(&parts, PATHPLANNER).path_planner.as_ref().unwrap().as_ref().unwrap_err();
        assert!(invalid.contains("driveGearing"), "{invalid}");
    }

    #[test]
    fn a_desktop_has_nothing_of_a_controller_whatever_it_is_called() {
        let parts = read(&[("etc/hostname", "roboRIO-5805-FRC\n")], Some("031E3A2F"));
        assert_eq!(parts.len(), 2);
        let desktop = part(&parts, CONTROLLER);
        assert_eq!(desktop.controller, fieldlab_identity::ControllerFacts::default());
        assert!(why(desktop, Key::TeamNumber).contains("no robot controller"));
    }
}
