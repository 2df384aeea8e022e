//! What a process can read of the machine that it runs on: files under a root, one environment variable.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use fieldlab_identity::Controller;

/// The longest file that is read, bytes. What is longer is no file of ours.
const MOST_BYTES: u64 = 256 << 10;
/// The longest text that the environment may hold.
const MOST_TEXT: usize = 256;

/// Which kind of computer the robot's code runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MachineKind {
    /// A roboRIO, of either generation.
    RoboRio,
    /// A Systemcore.
    Systemcore,
    /// Somebody's computer: it has nothing of a controller.
    Desktop,
}

/// A machine, as its root folder and its environment show it.
///
/// ```
/// use fieldlab_robot::identity::{Machine, MachineKind};
///
/// let root = tempfile::tempdir()?;
/// let share = root.path().join("etc/natinst/share");
/// std::fs::create_dir_all(&share)?;
/// std::fs::write(share.join("scs_imagemetadata.ini"), "IMAGEVERSION = \"roboRIO2_2026_v1.2\"\n")?;
/// assert_eq!(Machine::at(root.path(), None).kind(), MachineKind::RoboRio);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    root: PathBuf,
    serial: Option<String>,
    deploy: Option<PathBuf>,
}

impl Machine {
    /// The machine that this process runs on.
    #[must_use]
    pub fn this() -> Self {
        let serial = std::env::var_os("serialnum").map(|text| text.to_string_lossy().into_owned());
        Self::at("/", serial)
    }

    /// A machine whose files stand under `root`. `serial` is what its environment says under `serialnum`, the variable in
    /// which both controllers tell their programs the serial number.
    #[must_use]
    pub fn at(root: impl Into<PathBuf>, serial: Option<String>) -> Self {
        let serial = serial.map(|text| text.chars().take(MOST_TEXT).collect());
        Self { root: root.into(), serial, deploy: None }
    }

    /// With the folder of deployed files at this place of the machine, instead of the controller's usual one.
    #[must_use]
    pub fn deploy_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.deploy = Some(folder.into());
        self
    }

    /// Which computer it is, by the file or folder that only that one has.
    #[must_use]
    pub fn kind(&self) -> MachineKind {
        if self.path(IMAGE_FILE).is_file() {
            MachineKind::RoboRio
        } else if self.path("home/systemcore").is_dir() {
            MachineKind::Systemcore
        } else {
            MachineKind::Desktop
        }
    }

    /// The serial number in the environment.
    pub(super) fn serial(&self) -> Result<&str, String> {
        self.serial.as_deref().ok_or_else(|| "the environment has no serialnum".to_owned())
    }

    /// The roboRIO's image version.
    pub(super) fn rio_image(&self) -> Result<String, String> {
        let text = self.text(IMAGE_FILE)?;
        image_version(&text).map(str::to_owned).ok_or_else(|| format!("/{IMAGE_FILE} has no IMAGEVERSION"))
    }

    /// The comments that were typed into the imaging tool; it keeps them as the pretty host name.
    pub(super) fn rio_comment(&self) -> Result<String, String> {
        const FILE: &str = "etc/machine-info";
        let text = self.text(FILE)?;
        quoted(&text, "PRETTY_HOSTNAME").ok_or_else(|| format!("/{FILE} has no PRETTY_HOSTNAME"))
    }

    /// The release of the Systemcore's operating system.
    pub(super) fn systemcore_image(&self) -> Result<String, String> {
        const FILE: &str = "etc/os-release";
        let text = self.text(FILE)?;
        let name = quoted(&text, "PRETTY_NAME").ok_or_else(|| format!("/{FILE} has no PRETTY_NAME"))?;
        // Any Linux has such a file; only the controller's own names it.
        if name.to_lowercase().contains("systemcore") {
            Ok(name)
        } else {
            Err(format!("/{FILE} names another system, {name:?}"))
        }
    }

    /// The team number in the host name.
    pub(super) fn host_team(&self) -> Result<i64, String> {
        let host = self.text("proc/sys/kernel/hostname").or_else(|_| self.text("etc/hostname"))?;
        team_of_host(host.trim())
            .ok_or_else(|| format!("the host name {:?} holds no team number", host.trim()))
    }

    /// Where PathPlanner's settings are deployed, under the root.
    fn pathplanner_file(&self) -> Option<PathBuf> {
        let folder = match (&self.deploy, self.kind()) {
            (Some(folder), _) => folder.as_path(),
            (None, MachineKind::RoboRio) => Path::new("home/lvuser/deploy"),
            (None, MachineKind::Systemcore) => Path::new("home/systemcore/deploy"),
            (None, MachineKind::Desktop) => return None,
        };
        Some(folder.join("pathplanner/settings.json"))
    }

    /// PathPlanner's settings, as they were deployed: the file's bytes or why it cannot be read; as an error, why there is
    /// no such file.
    pub(super) fn pathplanner_settings(&self) -> Result<Result<Vec<u8>, String>, String> {
        let file = self.pathplanner_file().ok_or("no folder of deployed files")?;
        if !self.path(&file).exists() {
            return Err(format!("nothing deployed as /{}", file.display()));
        }
        Ok(self.bytes(&file))
    }

    fn path(&self, under_root: impl AsRef<Path>) -> PathBuf {
        let path = under_root.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    fn text(&self, file: &str) -> Result<String, String> {
        String::from_utf8(self.bytes(Path::new(file))?).map_err(|_| format!("/{file} is no text"))
    }

    /// A regular file, whole. Anything else there, a pipe above all, could keep its reader waiting.
    fn bytes(&self, file: &Path) -> Result<Vec<u8>, String> {
        let path = self.path(file);
        let named = |what: &dyn std::fmt::Display| format!("/{}: {what}", file.display());
        let kind = path.metadata().map_err(|e| named(&e))?;
        if !kind.is_file() {
            return Err(named(&"not a file"));
        }
        let mut bytes = Vec::new();
        let opened = File::open(&path).map_err(|e| named(&e))?;
        opened.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|e| named(&e))?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(named(&format!("longer than {MOST_BYTES} bytes")));
        }
        Ok(bytes)
    }
}

/// Where the roboRIO keeps what the imaging tool wrote about itself.
const IMAGE_FILE: &str = "etc/natinst/share/scs_imagemetadata.ini";

/// The right side of the first line that begins with `IMAGEVERSION`, in any case, and has a `=`; without its quotes.
fn image_version(text: &str) -> Option<&str> {
    let line = text
        .lines()
        .map(str::trim_start)
        .find(|line| line.to_ascii_uppercase().starts_with("IMAGEVERSION") && line.contains('='))?;
    let (_, version) = line.split_once('=')?;
    let version = version.trim().trim_matches('"').trim();
    (!version.is_empty()).then_some(version)
}

/// The model that an image is for: `roboRIO2_2026_v1.2`, with or without `FRC_` before it, as tools that deploy to a
/// roboRIO tell them apart too.
pub(super) fn rio_model(image: &str) -> Option<Controller> {
    let image = image.strip_prefix("FRC_").unwrap_or(image);
    if image.starts_with("roboRIO2_") {
        Some(Controller::RoboRio2)
    } else if image.starts_with("roboRIO_") {
        Some(Controller::RoboRio)
    } else {
        None
    }
}

/// The value of `key="value"` in a file of such lines, with the escapes of a shell undone.
fn quoted(text: &str, key: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(key)?.strip_prefix('='))?;
    let mut value = String::new();
    let mut chars = line.trim().trim_start_matches('"').chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => value.extend(chars.next()),
            _ => value.push(c),
        }
        if value.len() > MOST_TEXT {
            break;
        }
    }
    let value = value.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

/// The team number of a host name in three parts, `roboRIO-1234-FRC`: the middle one, as WPILib's own HAL reads it.
fn team_of_host(host: &str) -> Option<i64> {
    let mut parts = host.splitn(3, '-');
    let (_, team, _) = (parts.next()?, parts.next()?, parts.next()?);
    team.parse::<u16>().ok().filter(|team| *team > 0).map(i64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> (tempfile::TempDir, Machine) {
        let root = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let machine = Machine::at(root.path(), None);
        (root, machine)
    }

    #[test]
    fn the_image_version_by_the_rule() {
        let check = |text, expected| assert_eq!(image_version(text), expected, "{text:?}");
        check("[info]\nIMAGEVERSION = \"FRC_roboRIO_2024_v2.1\"\n", Some("FRC_roboRIO_2024_v2.1"));
        check("imageversion=roboRIO2_2026_v1.2", Some("roboRIO2_2026_v1.2"));
        check("IMAGEVERSION without a sign\nImageVersion = b = c", Some("b = c"));
        check("IMAGETITLE = \"x\"\n", None);
        check("IMAGEVERSION = \"\"", None);
        check("", None);
        assert_eq!(rio_model("FRC_roboRIO_2024_v2.1"), Some(Controller::RoboRio));
        assert_eq!(rio_model("roboRIO2_2026_v1.2"), Some(Controller::RoboRio2));
        assert_eq!(rio_model("something else"), None);
    }

    #[test]
    fn a_host_name_in_three_parts_holds_the_team() {
        assert_eq!(team_of_host("roboRIO-5805-FRC"), Some(5805));
        assert_eq!(team_of_host("frc-254-roborio-2"), Some(254));
        for none in ["robot", "roboRIO-FRC", "a--c", "a-0-c", "a-x-c", "a--5-c", "a-99999-c", ""] {
            assert_eq!(team_of_host(none), None, "{none}");
        }
    }

    #[test]
    fn comments_are_unescaped_and_bounded() {
        assert_eq!(
            quoted("X=1\nPRETTY_HOSTNAME=\"practice \\\"bot\\\"\" \n", "PRETTY_HOSTNAME"),
            Some("practice \"bot\"".into())
        );
        assert_eq!(quoted("PRETTY_HOSTNAME=\"\"", "PRETTY_HOSTNAME"), None);
        let long = format!("PRETTY_HOSTNAME=\"{}", "x".repeat(10_000));
        assert!(quoted(&long, "PRETTY_HOSTNAME").unwrap().len() <= MOST_TEXT + 1);
    }

    #[test]
    fn each_machine_is_known_by_what_only_it_has() {
        let (_rio, rio) = machine(&[(IMAGE_FILE, "IMAGEVERSION = \"roboRIO_2025_v2.0\"\n")]);
        assert_eq!((rio.kind(), rio.rio_image()), (MachineKind::RoboRio, Ok("roboRIO_2025_v2.0".into())));
        let os =
            [("home/systemcore/robotCommand", ""), ("etc/os-release", "PRETTY_NAME=\"Systemcore OS 14\"\n")];
        let (_core, core) = machine(&os);
        assert_eq!(
            (core.kind(), core.systemcore_image()),
            (MachineKind::Systemcore, Ok("Systemcore OS 14".into()))
        );
        let (_desk, desk) = machine(&[("etc/os-release", "PRETTY_NAME=\"Debian GNU/Linux 12\"\n")]);
        assert_eq!(desk.kind(), MachineKind::Desktop);
        assert!(desk.systemcore_image().unwrap_err().contains("another system"));
        assert!(desk.host_team().unwrap_err().contains("etc/hostname"));
        assert_eq!(desk.pathplanner_settings(), Err("no folder of deployed files".into()));
        assert!(core.pathplanner_settings().unwrap_err().contains("home/systemcore/deploy/pathplanner"));
    }

    #[test]
    fn what_is_no_file_or_too_long_or_no_text_is_silent_with_its_reason() {
        let long = "x".repeat(MOST_BYTES as usize + 1);
        let (root, machine) = machine(&[(IMAGE_FILE, &long)]);
        assert!(machine.rio_image().unwrap_err().contains("longer than"));
        std::fs::create_dir_all(root.path().join("etc/machine-info")).unwrap();
        assert!(machine.rio_comment().unwrap_err().contains("not a file"));
        std::fs::write(root.path().join("etc/hostname"), [0xff, 0xfe]).unwrap();
        assert!(machine.host_team().unwrap_err().contains("no text"));
        assert!(machine.serial().is_err());
    }
}
