//! The checkpoint as it is found when the op mode is built.

use std::path::Path;

use fieldlab_campaign::{CheckpointState, checkpoint};
use fieldlab_store::{FileLayer, Load, StoreError, backup_path, finished, load, set_aside, sweep_temps};

/// What is there, and the text of the finished marker beside it.
///
/// Something that cannot be read is renamed out of the way of the next save: it is evidence, and were it left where it is,
/// that save would put it in the place of the good backup.
pub fn find(layer: &mut dyn FileLayer, path: &Path) -> (CheckpointState, Option<String>) {
    // A temp that cannot be removed is in nobody's way: the next save says so if it is.
    drop(sweep_temps(layer, path));
    let marker =
        finished(layer, path).ok().flatten().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let check = |bytes: &[u8]| checkpoint::parse(bytes).map(drop).map_err(|e| e.to_string());
    let state = match load(layer, path, &check) {
        Ok(Load::Missing) => CheckpointState::Fresh,
        Ok(Load::Loaded { bytes, from_backup }) => match from_backup.as_ref().map(|_| set_aside(layer, path))
        {
            Some(Err(error)) => CheckpointState::Unreadable { reason: error.to_string(), kept_as: None },
            _ => CheckpointState::Loaded { text: String::from_utf8_lossy(&bytes).into_owned(), from_backup },
        },
        Ok(Load::Unreadable { reason }) => {
            let kept_as = keep(layer, path);
            CheckpointState::Unreadable { reason, kept_as }
        }
        Err(error) => CheckpointState::Unreadable { reason: error.to_string(), kept_as: None },
    };
    (state, marker)
}

/// The names under which file and backup were set aside; `None` when one of them could not be.
fn keep(layer: &mut dyn FileLayer, path: &Path) -> Option<String> {
    let mut both = || -> Result<Vec<String>, StoreError> {
        let mut names = Vec::new();
        for one in [path.to_owned(), backup_path(path)?] {
            names.extend(set_aside(layer, &one)?.map(|kept| kept.display().to_string()));
        }
        Ok(names)
    };
    both().ok().map(|names| names.join(" and "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldlab_store::crash::{CrashDisk, every_cut};
    use fieldlab_store::save;

    const PATH: &str = "lab/c.json";
    const GOOD: &[u8] =
        br#"{"session":"6aa1f940","campaign":"x","completed":[],"measurements":{},"notes":[]}"#;

    #[test]
    fn f27_missing_is_not_unreadable() {
        let mut disk = CrashDisk::new();
        assert_eq!(find(&mut disk, Path::new(PATH)), (CheckpointState::Fresh, None));
        save(&mut disk, Path::new(PATH), b"{torn").unwrap();
        let (state, _) = find(&mut disk, Path::new(PATH));
        let CheckpointState::Unreadable { reason, kept_as } = state else { panic!("{state:?}") };
        assert!(reason.contains("c.json") && reason.contains("JSON"), "{reason}");
        assert_eq!(kept_as.as_deref(), Some("lab/c.json.bad"));
        assert_eq!(disk.read(Path::new("lab/c.json.bad")).unwrap(), b"{torn", "evidence is kept");
        assert_eq!(find(&mut disk, Path::new(PATH)).0, CheckpointState::Fresh);
    }

    #[test]
    fn f3_a_backup_stands_in_and_a_temp_is_swept() {
        let mut disk = CrashDisk::new();
        save(&mut disk, Path::new(PATH), GOOD).unwrap();
        save(&mut disk, Path::new(PATH), b"torn").unwrap();
        disk.create_new(Path::new("lab/c.json.tmp")).unwrap();
        let (state, _) = find(&mut disk, Path::new(PATH));
        assert!(matches!(state, CheckpointState::Loaded { from_backup: Some(_), .. }), "{state:?}");
        assert!(disk.read(Path::new("lab/c.json.tmp")).is_err());
        // The next save, cut anywhere, must not have put the torn file in the place of the good backup.
        for mut cut in every_cut(&disk, |disk| drop(save(disk, Path::new(PATH), GOOD))) {
            let (state, _) = find(&mut cut.disk, Path::new(PATH));
            assert!(matches!(state, CheckpointState::Loaded { .. }), "{state:?}");
        }
    }

    #[test]
    fn both_files_of_evidence_are_kept() {
        let mut disk = CrashDisk::new();
        save(&mut disk, Path::new(PATH), b"one").unwrap();
        save(&mut disk, Path::new(PATH), b"two").unwrap();
        let (state, _) = find(&mut disk, Path::new(PATH));
        let CheckpointState::Unreadable { kept_as, .. } = state else { panic!("{state:?}") };
        assert_eq!(kept_as.as_deref(), Some("lab/c.json.bad and lab/c.json.bak.bad"));
    }
}
