//! The file of persistent topics.

use std::path::{Path, PathBuf};

use fieldlab_base::Micros;
use fieldlab_nt4::server::{Server, ServerConfig};
use fieldlab_store::{Disk, FileLayer, Load, load, save, set_aside};

use crate::{Hub, NetError};

/// What was found when the server started.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PersistentReport {
    /// Topics restored.
    pub topics: usize,
    /// Entries in the file that could not be used; the file is kept beside as evidence when there were any.
    pub refused: usize,
    /// Why the file itself was not used, when a backup was.
    pub from_backup: Option<String>,
    /// Where an unusable file was put.
    pub set_aside: Option<PathBuf>,
}

/// Where official servers keep the version before.
fn official_backup(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".bck");
    name.into()
}

/// Whether bytes would restore; tried on a server of its own, so that a bad file has no half effect.
fn usable(bytes: &[u8]) -> Result<(), String> {
    let mut trial = Server::new(ServerConfig::default()).map_err(|e| e.to_string())?;
    trial.restore(bytes, Micros::ZERO).map(drop).map_err(|e| e.to_string())
}

/// Restores the topics of `path`, or of its backup; an unreadable file is set aside, never written over.
pub(crate) fn restore(
    hub: &Hub,
    layer: &mut dyn FileLayer,
    path: &Path,
    now: Micros,
) -> Result<PersistentReport, NetError> {
    let problem = |e: &dyn std::fmt::Display| NetError::Persistent { reason: e.to_string() };
    let mut report = PersistentReport::default();
    let found = load(layer, path, &usable).map_err(|e| problem(&e))?;
    let bytes = match found {
        Load::Loaded { bytes, from_backup } => {
            if from_backup.is_some() {
                // Damaged but there: keep it. Merely missing: nothing to keep.
                report.set_aside = set_aside(layer, path).map_err(|e| problem(&e))?;
            }
            report.from_backup = from_backup;
            Some(bytes)
        }
        Load::Missing | Load::Unreadable { .. } => {
            let bytes = layer.read(&official_backup(path)).ok().filter(|b| usable(b).is_ok());
            let reason = match found {
                Load::Unreadable { reason } => {
                    report.set_aside = set_aside(layer, path).map_err(|e| problem(&e))?;
                    reason
                }
                _ => format!("{}: missing beside its backup", path.display()),
            };
            if bytes.is_some() || report.set_aside.is_some() {
                report.from_backup = Some(reason);
            }
            bytes
        }
    };
    if let Some(bytes) = bytes {
        let done = hub.with(|s| s.restore(&bytes, now)).map_err(|e| problem(&e))?;
        (report.topics, report.refused) = (done.topics, done.refused);
        if done.refused > 0 && report.set_aside.is_none() {
            // The next save will not hold those entries.
            let copy = path.with_extension("refused.json");
            save(layer, &copy, &bytes).map_err(|e| problem(&e))?;
            report.set_aside = Some(copy);
        }
    }
    Ok(report)
}

/// Saves when something has changed since `saved`; answers the new mark.
pub(crate) fn save_changes(hub: &Hub, path: &Path, saved: u64) -> Result<u64, String> {
    let (mark, json) = hub.with(|s| {
        let mark = s.persistent_changes();
        (mark, (mark != saved).then(|| s.persistent_json()))
    });
    if let Some(json) = json {
        save(&mut Disk::new(), path, json.as_bytes()).map_err(|e| e.to_string())?;
    }
    Ok(mark)
}

#[cfg(test)]
mod tests {
    use fieldlab_nt4::Properties;
    use fieldlab_store::crash::CrashDisk;
    use fieldlab_values::{DataType, Value, ValueRef};

    use super::*;

    fn hub() -> Hub {
        Hub::new(Server::new(ServerConfig::default()).unwrap())
    }

    fn json(value: f64) -> String {
        let hub = hub();
        let mut properties = Properties::new();
        properties.insert("persistent".into(), true.into());
        hub.with(|s| {
            let topic = s.publish_local("/p", &DataType::Double, &properties).unwrap();
            s.set_local(topic, Micros(5), ValueRef::Double(value));
            s.persistent_json()
        })
    }

    #[test]
    fn report_16_a_damaged_file_falls_back_to_its_backup_and_is_kept() {
        let path = Path::new("nt/networktables.json");
        let mut disk = CrashDisk::new();
        save(&mut disk, path, json(1.0).as_bytes()).unwrap();
        save(&mut disk, path, json(2.0).as_bytes()).unwrap();
        disk.remove(path).unwrap();
        disk.create_new(path).unwrap();
        disk.write(path, b"[{\"name\": \"/p\"").unwrap();
        let hub = hub();
        let report = restore(&hub, &mut disk, path, Micros(9)).unwrap();
        assert_eq!(report.topics, 1);
        assert!(report.from_backup.is_some());
        assert_eq!(report.set_aside.as_deref(), Some(Path::new("nt/networktables.json.bad")));
        assert_eq!(hub.with(|s| s.value("/p")), Some((Micros(9), Value::Double(1.0))));
    }

    #[test]
    fn report_16_an_official_backup_is_used_when_a_cut_fell_between_its_renames() {
        let path = Path::new("nt/networktables.json");
        let mut disk = CrashDisk::new();
        let backup = official_backup(path);
        disk.create_dir_all(Path::new("nt")).unwrap();
        disk.create_new(&backup).unwrap();
        disk.write(&backup, json(3.0).as_bytes()).unwrap();
        let hub = hub();
        let report = restore(&hub, &mut disk, path, Micros(9)).unwrap();
        assert_eq!(report.topics, 1);
        assert_eq!(hub.with(|s| s.value("/p")), Some((Micros(9), Value::Double(3.0))));
    }

    #[test]
    fn nothing_saved_is_no_error() {
        let report = restore(&hub(), &mut CrashDisk::new(), Path::new("nt/x.json"), Micros(0)).unwrap();
        assert_eq!(report, PersistentReport::default());
    }
}
