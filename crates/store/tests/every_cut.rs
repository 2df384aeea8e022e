//! Every step of every write, cut in every way the model knows.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;

use fieldlab_store::crash::{CrashDisk, StepKind, every_cut};
use fieldlab_store::{
    Disk, FileLayer, Load, StoreError, backup_path, clear, finished, load, lock, replace, save, set_aside,
    sweep_temps, temp_path,
};

const PATH: &str = "lab/checkpoint.json";

/// A file is whole when it ends in a full stop.
fn whole(bytes: &[u8]) -> Result<(), String> {
    if bytes.ends_with(b".") && !bytes.contains(&0) { Ok(()) } else { Err("torn".into()) }
}

fn text(disk: &mut CrashDisk) -> Option<String> {
    match load(disk, Path::new(PATH), &whole).unwrap() {
        Load::Loaded { bytes, .. } => Some(String::from_utf8(bytes).unwrap()),
        Load::Missing => None,
        Load::Unreadable { reason } => panic!("unreadable: {reason}"),
    }
}

#[test]
fn f3_a_save_cut_anywhere_leaves_the_old_file_or_the_new() {
    let path = Path::new(PATH);
    let versions = ["one.", "two, longer.", "three."];
    let mut before = CrashDisk::new();
    let mut old: Option<&str> = None;
    for new in versions {
        let cuts = every_cut(&before, |disk| drop(save(disk, path, new.as_bytes())));
        for kind in [StepKind::Create, StepKind::Write, StepKind::Fsync, StepKind::Rename, StepKind::FsyncDir]
        {
            assert!(
                cuts.iter().any(|c| c.last.as_ref().is_some_and(|s| s.kind == kind)),
                "no cut after {kind:?}"
            );
        }
        for mut cut in cuts {
            let found = text(&mut cut.disk);
            assert!(found.as_deref() == old || found.as_deref() == Some(new), "{cut:?}");
            // And the next boot can go on: the temps go, a save works, and is durable.
            sweep_temps(&mut cut.disk, path).unwrap();
            save(&mut cut.disk, path, b"after.").unwrap();
            for mut later in cut.disk.survivors() {
                assert_eq!(text(&mut later).as_deref(), Some("after."));
            }
        }
        save(&mut before, path, new.as_bytes()).unwrap();
        for mut durable in before.survivors() {
            assert_eq!(text(&mut durable).as_deref(), Some(new), "save returned, so it is durable");
        }
        old = Some(new);
    }
}

#[test]
fn a_cut_inside_a_save_after_a_cut_inside_a_save_is_no_worse() {
    let path = Path::new(PATH);
    let mut before = CrashDisk::new();
    save(&mut before, path, b"old.").unwrap();
    for first in every_cut(&before, |disk| drop(save(disk, path, b"new."))) {
        for mut second in every_cut(&first.disk, |disk| drop(save(disk, path, b"newer."))) {
            assert!(
                matches!(text(&mut second.disk).as_deref(), Some("old." | "new." | "newer.")),
                "{second:?}"
            );
        }
    }
}

#[test]
fn a_clear_cut_anywhere_never_resumes_what_was_finished() {
    let path = Path::new(PATH);
    let mut before = CrashDisk::new();
    save(&mut before, path, b"old.").unwrap();
    save(&mut before, path, b"session A.").unwrap();
    before.create_new(&temp_path(path).unwrap()).unwrap();
    for mut cut in every_cut(&before, |disk| drop(clear(disk, path, b"A"))) {
        let marked = finished(&mut cut.disk, path).unwrap();
        let resumes = text(&mut cut.disk).is_some() && marked.as_deref() != Some(b"A");
        let untouched = text(&mut cut.disk).as_deref() == Some("session A.");
        assert!(
            !resumes || untouched,
            "only a run whose marker never became durable goes on, and whole: {cut:?}"
        );
        clear(&mut cut.disk, path, b"A").unwrap();
        for mut later in cut.disk.survivors() {
            assert_eq!(text(&mut later), None);
            assert_eq!(finished(&mut later, path).unwrap().as_deref(), Some(b"A".as_slice()));
            assert_eq!(later.files().len(), 1, "only the marker is left");
        }
    }
}

#[test]
fn evidence_is_never_overwritten() {
    let path = Path::new(PATH);
    let mut disk = CrashDisk::new();
    assert_eq!(set_aside(&mut disk, path).unwrap(), None);
    for (n, name) in ["lab/checkpoint.json.bad", "lab/checkpoint.json.bad.2", "lab/checkpoint.json.bad.3"]
        .iter()
        .enumerate()
    {
        save(&mut disk, path, format!("garbage {n}").as_bytes()).unwrap();
        assert!(matches!(load(&mut disk, path, &whole).unwrap(), Load::Unreadable { .. }));
        assert_eq!(set_aside(&mut disk, path).unwrap().as_deref(), Some(Path::new(name)));
    }
    let files = disk.files();
    for n in 0..3 {
        assert!(files.values().any(|bytes| bytes == format!("garbage {n}").as_bytes()));
    }
}

#[test]
fn f27_unreadable_is_not_missing_and_a_backup_is_said() {
    let path = Path::new(PATH);
    let mut disk = CrashDisk::new();
    assert_eq!(load(&mut disk, path, &whole).unwrap(), Load::Missing);
    save(&mut disk, path, b"good.").unwrap();
    save(&mut disk, path, b"torn").unwrap();
    let Load::Loaded { bytes, from_backup: Some(reason) } = load(&mut disk, path, &whole).unwrap() else {
        panic!()
    };
    assert_eq!(bytes, b"good.");
    assert!(reason.contains("checkpoint.json: torn"), "{reason}");
    disk.remove(&backup_path(path).unwrap()).unwrap();
    assert!(
        matches!(load(&mut disk, path, &whole).unwrap(), Load::Unreadable { reason } if reason.contains("torn"))
    );
}

#[test]
fn a_full_disk_costs_the_save_and_nothing_else() {
    let path = Path::new(PATH);
    let mut disk = CrashDisk::new();
    save(&mut disk, path, b"old.").unwrap();
    disk.set_capacity(Some(8));
    let error = save(&mut disk, path, b"much too long.").unwrap_err();
    assert!(
        matches!(error, StoreError::Step { step: "write", kind: std::io::ErrorKind::StorageFull, .. }),
        "{error}"
    );
    assert_eq!(text(&mut disk).as_deref(), Some("old."));
    assert_eq!(disk.files().len(), 1, "the temp is gone");
    disk.set_capacity(None);
    save(&mut disk, path, b"fits again.").unwrap();
    assert_eq!(text(&mut disk).as_deref(), Some("fits again."));
}

#[test]
fn the_real_disk_does_the_same_steps() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er/checkpoint.json");
    let mut disk = Disk::new();
    assert_eq!(load(&mut disk, &path, &whole).unwrap(), Load::Missing);
    for version in ["one.", "two.", "three."] {
        save(&mut disk, &path, version.as_bytes()).unwrap();
    }
    assert_eq!(disk.read(&path).unwrap(), b"three.");
    assert_eq!(disk.read(&backup_path(&path).unwrap()).unwrap(), b"two.");
    assert!(disk.free_space(folder.path()).unwrap() > 0);
    for stale in ["checkpoint.json.1f.tmp", "checkpoint.json.tmp"] {
        std::fs::write(path.with_file_name(stale), b"x").unwrap();
    }
    std::fs::write(path.with_file_name("other.tmp"), b"x").unwrap();
    assert_eq!(sweep_temps(&mut disk, &path).unwrap(), 2);
    clear(&mut disk, &path, b"done").unwrap();
    let left = disk.list(path.parent().unwrap()).unwrap();
    assert_eq!(left, ["checkpoint.json.finished", "other.tmp"]);
}

#[test]
fn f6_a_second_lock_is_refused_in_the_same_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint.json");
    let held = lock(&path).unwrap();
    assert!(matches!(lock(&path), Err(StoreError::Held { .. })));
    drop(held);
    assert!(lock(&path).is_ok());
    assert!(matches!(lock(Path::new("/")), Err(StoreError::NoFileName { .. })));
}

#[test]
fn replace_leaves_the_old_file_or_the_new_one_and_no_backup() {
    let path = Path::new("/out/report.md");
    let mut before = CrashDisk::new();
    save(&mut before, path, b"old").unwrap();
    for cut in every_cut(&before, |disk| drop(replace(disk, path, b"newer"))) {
        let files = cut.disk.files();
        let found = files.get(path).map(Vec::as_slice);
        assert!(matches!(found, Some(b"old" | b"newer")), "after {} ({:?}): {found:?}", cut.after, cut.last);
        assert!(
            !files.keys().any(|file| file.extension().is_some_and(|ext| ext == "bak")),
            "after {}",
            cut.after
        );
    }
}
